"""The corpus on disk: a directory of memory-mapped shards and a manifest that says what belongs to it."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import diln.files
from diln.corpus.shards import Shard
from diln.corpus.strings import Strings
from diln.files import Entry, Kind, StoredFiles, next_generation, write_manifest, write_parts

MAPPED_AT_ONCE = 32  # shards: every mapped array takes a file descriptor, of which a process may have 256


def _parts(content: dict[str, Any]) -> set[str]:
    return {content["vocabulary"]["file"], *(shard["name"] for shard in content["shards"])}


CORPUS = Kind(
    format="diln-corpus",
    schema=1,
    noun="corpus",
    make="build one with: diln corpus build SOURCE -o DIR",
    mend="build it again, or restore it from a copy",
    part=re.compile(r"g\d{4,}-(\d{5,}|vocabulary\.json)|\.raw-[0-9a-f]{8}-\d{6,}(\.numbers\.npy)?"),
    parts=_parts,
    inside=re.compile(r"(?s).+\.npy"),
)


def write_array(path: Path, array: NDArray[Any]) -> Entry:
    """Write an array as .npy and say what was written."""
    array = np.ascontiguousarray(array)
    header = BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(array))
    entry = write_parts(path, header.getvalue(), array.data)
    return {**entry, "dtype": array.dtype.str, "shape": list(array.shape)}


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

    def write(self, directory: Path) -> None:
        """Make this the directory's manifest, in one step."""
        write_manifest(directory, self.content)


def read_manifest(directory: Path) -> Manifest:
    """The manifest of a corpus directory, or an error that says why there is none to be had."""
    return Manifest(diln.files.read_manifest(directory, CORPUS))


def map_array(stored: StoredFiles, name: str) -> NDArray[Any]:
    """An array of a stored shard, mapped into memory."""
    mapped: NDArray[Any] = np.load(stored.check(name), mmap_mode="r", allow_pickle=False)
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
            self.mapped[name] = Strings(*(map_array(self.files, f"{name}{kind}.npy") for kind in ("", ".offsets")))
        return self.mapped[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


class StoredShards(Sequence[Shard]):
    """The shards of a corpus directory, each mapped when first asked for."""

    def __init__(self, directory: Path, manifest: Manifest) -> None:
        self.files = [StoredFiles(directory / shard["name"], shard["files"], CORPUS) for shard in manifest.shards]
        self.mapped: dict[int, Shard] = {}
        for files in self.files:
            files.check_sizes()

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, number: Any) -> Any:
        if number not in self.mapped:
            files = self.files[number]
            offsets, terms, counts = (map_array(files, name) for name in ("offsets.npy", "terms.npy", "counts.npy"))
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
    files = StoredFiles(directory, {entry["file"]: entry}, CORPUS)
    files.check_sizes()
    terms: list[str] = json.loads(files.check(entry["file"]).read_text(encoding="utf-8"))
    return terms


def writing(directory: Path, mode: Literal["new", "replace", "extend"]) -> AbstractContextManager[None]:
    """Hold a corpus directory for writing: a new one, or one whose corpus is replaced or extended."""
    return diln.files.writing(directory, CORPUS, mode)


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
        "format": CORPUS.format,
        "schema": CORPUS.schema,
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
