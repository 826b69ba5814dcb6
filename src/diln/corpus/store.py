"""The corpus on disk: a directory of memory-mapped shards and a manifest that says what belongs to it.

Files are only ever added under new names; replacing the manifest, in one step, is what makes them the corpus. A
process killed at any moment leaves the old manifest and so the old corpus, or none where there was none; what it left
behind is removed by the next that writes there.
"""

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from diln.corpus.shards import Shard
from diln.corpus.strings import Strings
from diln.errors import StoreError

SCHEMA = 1
FORMAT = "diln-corpus"
MANIFEST = "manifest.json"
LOCK = ".lock"
LITTER = (".DS_Store", "Thumbs.db", "desktop.ini")  # what file managers leave everywhere
MAPPED_AT_ONCE = 32  # shards: every mapped array takes a file descriptor, of which a process may have 256
OURS = re.compile(r"(g\d{4,}-.*|\.raw-.*|\.lock|manifest\.json(\.new)?)")

Entry = dict[str, Any]  # of the manifest: a file's bytes, checksum and, for arrays, type and shape


def write_array(path: Path, array: NDArray[Any]) -> Entry:
    """Write an array as .npy and say what was written."""
    array = np.ascontiguousarray(array)
    header = BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(array))
    entry = write_parts(path, header.getvalue(), array.data)
    return {**entry, "dtype": array.dtype.str, "shape": list(array.shape)}


def write_parts(path: Path, *parts: bytes | memoryview) -> Entry:
    """Write a file and say what was written."""
    digest = sha256()
    with path.open("wb") as file:
        for part in parts:
            digest.update(part)
            file.write(part)
    return {"bytes": path.stat().st_size, "sha256": digest.hexdigest()}


def write_columns(directory: Path, columns: Mapping[str, Strings]) -> dict[str, Entry]:
    """Write columns of strings, two files each."""
    files = {}
    for name, column in columns.items():
        files[f"{name}.npy"] = write_array(directory / f"{name}.npy", column.data)
        files[f"{name}.offsets.npy"] = write_array(directory / f"{name}.offsets.npy", column.offsets)
    return files


def write_rows(directory: Path, shard: Shard) -> dict[str, Entry]:
    """Write a shard's rows of counts."""
    arrays = {"offsets.npy": shard.offsets, "terms.npy": shard.terms, "counts.npy": shard.counts}
    return {name: write_array(directory / name, array) for name, array in arrays.items()}


@dataclass(frozen=True, slots=True)
class Manifest:
    """What belongs to a corpus directory: ``content`` is the JSON, checked when it was read."""

    content: dict[str, Any]

    @property
    def shards(self) -> list[dict[str, Any]]:
        """Name, number of documents, and files of each shard."""
        return list(self.content["shards"])

    def names(self) -> set[str]:
        """The files and folders, directly in the directory, that belong to the corpus."""
        return {MANIFEST, LOCK, self.content["vocabulary"]["file"], *(shard["name"] for shard in self.shards)}

    def write(self, directory: Path) -> None:
        """Make this the directory's manifest, in one step."""
        text = json.dumps({**self.content, "checksum": _checksum(self.content)}, indent=1, sort_keys=True)
        fresh = directory / f"{MANIFEST}.new"
        with fresh.open("w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(directory / MANIFEST)


def _checksum(content: dict[str, Any]) -> str:
    return sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def read_manifest(directory: Path) -> Manifest:
    """The manifest of a corpus directory, or an error that says why there is none to be had."""
    path = directory / MANIFEST
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(
            f"{directory}: there is no corpus here (no {MANIFEST}); build one with: diln corpus build SOURCE -o DIR"
        ) from None
    except (OSError, UnicodeDecodeError):
        raise _damaged(path, "cannot be read") from None
    try:
        content = json.loads(text)
        kind, schema, checksum = content["format"], content["schema"], content.pop("checksum")
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _damaged(path, "is not the JSON that was written") from None
    if kind != FORMAT:
        raise StoreError(f"{directory}: holds a {kind!r}, not a corpus; name a corpus directory")
    if schema != SCHEMA:
        raise StoreError(
            f"{directory}: is of format {schema} and this version of diln reads format {SCHEMA}; install a newer diln"
        )
    if checksum != _checksum(content):
        raise _damaged(path, "does not match its checksum")
    return Manifest(content)


def _damaged(path: Path, how: str) -> StoreError:
    return StoreError(f"{path}: the file {how}; the corpus is damaged: build it again, or restore it from a copy")


class StoredFiles:
    """A directory's files, each checked when first touched: there, of the right size, and unchanged."""

    def __init__(self, directory: Path, files: Mapping[str, Entry]) -> None:
        self.directory, self.files = directory, files
        self.checked: set[str] = set()

    def check_sizes(self) -> None:
        """Raise if a file is missing or cut off; quick, for opening."""
        for name, entry in self.files.items():
            path = self.directory / name
            if not path.is_file():
                raise _damaged(path, "is missing")
            if path.stat().st_size != entry["bytes"]:
                raise _damaged(path, f"has {path.stat().st_size} bytes in place of {entry['bytes']}")

    def check(self, name: str) -> Path:
        """The path of a file whose bytes are those that were written."""
        path = self.directory / name
        if name not in self.checked:
            with path.open("rb") as file:
                digest = sha256()
                while piece := file.read(1 << 20):
                    digest.update(piece)
            if digest.hexdigest() != self.files[name]["sha256"]:
                raise _damaged(path, "does not match its checksum")
            self.checked.add(name)
        return path

    def array(self, name: str) -> NDArray[Any]:
        """An array, mapped into memory."""
        mapped: NDArray[Any] = np.load(self.check(name), mmap_mode="r", allow_pickle=False)
        return mapped.view(np.ndarray)


class StoredColumns(Mapping[str, Strings]):
    """The columns of a stored shard, each mapped when first asked for."""

    def __init__(self, files: StoredFiles) -> None:
        self.files = files
        self.names = [name.removesuffix(".offsets.npy") for name in files.files if name.endswith(".offsets.npy")]
        self.mapped: dict[str, Strings] = {}

    def __getitem__(self, name: str) -> Strings:
        if name not in self.names:
            raise KeyError(name)
        if name not in self.mapped:
            self.mapped[name] = Strings(self.files.array(f"{name}.npy"), self.files.array(f"{name}.offsets.npy"))
        return self.mapped[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


class StoredShards(Sequence[Shard]):
    """The shards of a corpus directory, each mapped when first asked for."""

    def __init__(self, directory: Path, manifest: Manifest) -> None:
        self.files = [StoredFiles(directory / shard["name"], shard["files"]) for shard in manifest.shards]
        self.mapped: dict[int, Shard] = {}
        for files in self.files:
            files.check_sizes()

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, number: Any) -> Any:
        if number not in self.mapped:
            files = self.files[number]
            offsets, terms, counts = (files.array(name) for name in ("offsets.npy", "terms.npy", "counts.npy"))
            self.mapped[number] = Shard(offsets, terms, counts, StoredColumns(files))
            if len(self.mapped) > MAPPED_AT_ONCE:
                del self.mapped[next(iter(self.mapped))]
        return self.mapped[number]

    def ids(self) -> list[Strings]:
        """The ids of each shard's documents, in memory."""
        columns = (StoredColumns(files)["id"] for files in self.files)
        return [Strings(np.array(column.data), np.array(column.offsets)) for column in columns]

    def check(self) -> None:
        """Read every file and raise if one is not as it was written."""
        for files in self.files:
            for name in files.files:
                files.check(name)


def read_terms(directory: Path, manifest: Manifest) -> list[str]:
    """The vocabulary of a corpus directory."""
    entry = manifest.content["vocabulary"]
    files = StoredFiles(directory, {entry["file"]: entry})
    files.check_sizes()
    terms: list[str] = json.loads(files.check(entry["file"]).read_text(encoding="utf-8"))
    return terms


@contextmanager
def writing(directory: Path, mode: Literal["new", "replace", "extend"]) -> Iterator[None]:
    """Hold a corpus directory for writing, and leave nothing in it that does not belong to the corpus it has then.

    "new" wants a directory without a corpus, "extend" one with a sound corpus, "replace" takes either, and a damaged
    one too. A directory that holds anything else is refused.
    """
    if mode == "extend":
        read_manifest(directory)
    made = not directory.exists()
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{directory}: cannot be made ({error.strerror}); name another directory") from None
    foreign = [path.name for path in directory.iterdir() if not OURS.fullmatch(path.name) and path.name not in LITTER]
    if foreign and not (directory / MANIFEST).exists():
        raise StoreError(f"{directory}: holds {foreign[0]!r}, which is no part of a corpus; name another directory")
    if mode == "new" and (directory / MANIFEST).exists():
        raise StoreError(f"{directory}: there is a corpus already; pass --force (overwrite=True) to replace it")
    with _locked(directory):
        _sweep(directory)
        try:
            yield
        finally:
            _sweep(directory)
            if made and not (directory / MANIFEST).exists():
                shutil.rmtree(directory)


def _sound_manifest(directory: Path) -> Manifest | None:
    try:
        return read_manifest(directory)
    except StoreError:
        return None


def _sweep(directory: Path) -> None:
    """Remove what unfinished or replaced builds left behind; beside a damaged manifest, touch nothing."""
    manifest = _sound_manifest(directory)
    if manifest is None and (directory / MANIFEST).exists():
        return
    kept = {LOCK} if manifest is None else manifest.names()
    for path in directory.iterdir():
        if path.name not in kept and OURS.fullmatch(path.name):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def next_generation(directory: Path) -> int:
    """A number that no file in the directory bears yet."""
    names = (re.match(r"g(\d{4,})-", path.name) for path in directory.iterdir())
    return max((int(found[1]) for found in names if found), default=0) + 1


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Keep other writers out; the lock ends with the process, however it ends."""
    try:
        import fcntl
    except ImportError:  # no such locks on Windows: two writers at once are then the user's to avoid
        yield
        return
    with (directory / LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreError(f"{directory}: another process is writing here; wait until it is done") from None
        except OSError as error:
            raise StoreError(f"{directory}: cannot be locked ({error.strerror}); use a local disk") from None
        yield


def commit(
    directory: Path,
    generation: int,
    shards: list[dict[str, Any]],
    vocabulary: list[str],
    rule: dict[str, Any] | None,
    tally: dict[str, int],
) -> None:
    """Write the vocabulary and then the manifest: from here on the shards are the corpus."""
    name = f"g{generation:04}-vocabulary.json"
    entry = write_parts(directory / name, json.dumps(vocabulary, indent=0).encode())
    content = {
        "format": FORMAT,
        "schema": SCHEMA,
        "documents": sum(shard["documents"] for shard in shards),
        "tokens": sum(shard["tokens"] for shard in shards),
        "terms": len(vocabulary),
        "rule": rule,
        "tally": tally,
        "vocabulary": {"file": name, **entry},
        "shards": shards,
    }
    Manifest(content).write(directory)


def shard_name(generation: int, number: int) -> str:
    """Name of a shard's folder."""
    return f"g{generation:04}-{number:05}"


def write_shard(directory: Path, name: str, shard: Shard) -> dict[str, Any]:
    """Write a shard into a folder of its own; returns what the manifest says of it."""
    folder = directory / name
    folder.mkdir()
    files = {**write_columns(folder, shard.columns), **write_rows(folder, shard)}
    tokens = int(shard.counts.sum(dtype=np.int64))
    return {"name": name, "documents": len(shard), "tokens": tokens, "files": files}


def write_corpus(
    directory: Path,
    shards: Iterable[Shard],
    vocabulary: list[str],
    rule: dict[str, Any] | None,
    tally: dict[str, int],
    *,
    overwrite: bool,
) -> None:
    """Write finished shards as a corpus."""
    with writing(directory, "replace" if overwrite else "new"):
        generation = next_generation(directory)
        names = (shard_name(generation, number) for number in count())
        entries = [write_shard(directory, name, shard) for name, shard in zip(names, shards, strict=False)]
        commit(directory, generation, entries, vocabulary, rule, tally)
