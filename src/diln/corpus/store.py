"""The corpus on disk: a directory of memory-mapped shards and a manifest that says what belongs to it."""

import json
import mmap
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import diln.files
from diln.corpus.dates import DateForm
from diln.corpus.layout import manifest_content
from diln.corpus.npy import as_npy, map_array
from diln.corpus.shards import FIELDS, Shard
from diln.corpus.stored import check_different, check_rows, check_strings, header_of
from diln.corpus.strings import Strings
from diln.corpus.vocabulary import check_vocabulary
from diln.files import (
    Entry,
    Held,
    Kind,
    StoredFiles,
    inside,
    make_folder,
    next_generation,
    write_parts,
)
from diln.files.frame import checking, versions

ARRAYS = 3 + 2 * len(FIELDS)  # of a shard; each that is mapped takes a file descriptor
FEWEST, MOST = 8, 256  # shards that are mapped at once


def mapped_at_once() -> int:
    """How many shards may be mapped with three quarters of the file descriptors that this process may have."""
    try:
        import resource
    except ImportError:  # on Windows, where mapped files take none
        return MOST
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MOST if allowed < 0 else min(max(3 * allowed // 4 // ARRAYS, FEWEST), MOST)


MAPPED_AT_ONCE = mapped_at_once()
RESIDENT = 4  # shards whose mapped pages may stay in memory when others are read
ROWS = "rows"  # of counts, among what was looked at


def _parts(content: dict[str, Any]) -> set[str]:
    return {content["vocabulary"]["file"], *(shard["name"] for shard in content["shards"])}


CORPUS = Kind(
    format="diln-corpus",
    schema=3,
    noun="corpus",
    make="build one with: diln corpus build SOURCE -o DIR",
    mend="build it again, or restore it from a copy",
    part=re.compile(r"g\d{4,}-(\d{5,}|vocabulary\.json)|\.raw-[0-9a-f]{8}-\d{6,}(\.numbers\.npy)?"),
    parts=_parts,
    inside=re.compile(r"(?s).+\.npy"),
    migrations={1: dict, 2: dict},  # what came in has defaults
)


def write_array(path: Path, array: NDArray[Any]) -> Entry:
    """Write an array as .npy and say what was written."""
    return {**write_parts(path, *as_npy(array)), "dtype": array.dtype.str, "shape": list(array.shape)}


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

    @property
    def dates(self) -> DateForm:
        """How dates are kept."""
        return DateForm(self.content.get("date_order"), self.content.get("dates") is None)


def read_manifest(directory: Path) -> Manifest:
    """The manifest of a corpus directory, or an error that says why there is none to be had."""
    content = diln.files.read_manifest(directory, CORPUS)
    with checking(CORPUS, directory, content):
        return Manifest(manifest_content(content))


def map_stored(stored: StoredFiles, name: str) -> NDArray[Any]:
    """An array of a stored shard, mapped into memory."""
    path = stored.check(name)
    with _told(path):
        return map_array(path, header_of(path, stored.files[name]))


def forget_pages(*arrays: NDArray[Any]) -> None:
    """Have pages of mapped files leave this process's memory; they come back when they are read."""
    for array in arrays:
        pages: Any = array
        while pages is not None and not hasattr(pages, "madvise"):
            pages = getattr(pages, "base", None)
        if pages is not None and hasattr(mmap, "MADV_DONTNEED"):
            pages.madvise(mmap.MADV_DONTNEED)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Say of a file that it is not as it must be."""
    try:
        yield
    except ValueError as error:
        raise CORPUS.damaged(path, str(error)) from None


class StoredColumns(Mapping[str, Strings]):
    """The columns of a stored shard, each mapped when first asked for."""

    def __init__(self, files: StoredFiles, n_docs: int, sound: set[str]) -> None:
        self.files, self.n_docs, self.sound = files, n_docs, sound
        self.names = [name.removesuffix(".offsets.npy") for name in files.files if name.endswith(".offsets.npy")]
        self.mapped: dict[str, Strings] = {}

    def __getitem__(self, name: str) -> Strings:
        if name not in self.names:
            raise KeyError(name)
        if name not in self.mapped:
            column = Strings(*(map_stored(self.files, f"{name}{kind}.npy") for kind in ("", ".offsets")))
            self._check(name, column)
            self.mapped[name] = column
        return self.mapped[name]

    def _check(self, name: str, column: Strings) -> None:
        if name in self.sound:
            return
        with _told(self.files.directory / f"{name}.npy"):
            check_strings(column, self.n_docs)
            if name == "id":
                check_different(column)
        self.sound.add(name)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


class StoredShards(Sequence[Shard]):
    """The shards of a corpus directory, each mapped when first asked for, and looked at once."""

    def __init__(self, directory: Path, manifest: Manifest) -> None:
        self.files = [
            StoredFiles(inside(directory, shard["name"], CORPUS), shard["files"], CORPUS) for shard in manifest.shards
        ]
        self.entries, self.n_terms = manifest.shards, manifest.content["terms"]
        self.sound: list[set[str]] = [set() for _ in self.files]  # of each shard, what was found to be as it must be
        self.mapped: dict[int, Shard] = {}
        self.resident: dict[int, None] = {}  # shards that were read last, the latest at the end
        for files in self.files:
            files.check_sizes()

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, number: Any) -> Any:
        shard = self.mapped.get(number)
        if shard is None:
            shard = self.mapped[number] = self._map(number)
            for oldest in list(self.mapped)[:-MAPPED_AT_ONCE]:
                self.mapped.pop(oldest, None)  # another thread may be at the same
        self._let_go(number)
        return shard

    def _let_go(self, number: int) -> None:
        """Have the system forget the pages of a shard that was read before others: it has them at hand, or on disk."""
        self.resident.pop(number, None)
        self.resident[number] = None
        for oldest in list(self.resident)[:-RESIDENT]:
            self.resident.pop(oldest, None)  # another thread may be at the same
            if (shard := self.mapped.get(oldest)) is not None:
                forget_pages(shard.offsets, shard.terms, shard.counts)

    def _map(self, number: int) -> Shard:
        files, entry = self.files[number], self.entries[number]
        offsets, terms, counts = (map_stored(files, name) for name in ("offsets.npy", "terms.npy", "counts.npy"))
        shard = Shard(offsets, terms, counts, self._columns(number))
        if ROWS not in self.sound[number]:
            with _told(files.directory):
                check_rows(shard, entry["documents"], entry["tokens"], self.n_terms)
            self.sound[number].add(ROWS)
        return shard

    def _columns(self, number: int) -> StoredColumns:
        return StoredColumns(self.files[number], self.entries[number]["documents"], self.sound[number])

    def ids(self) -> list[Strings]:
        """The ids of each shard's documents, in memory."""
        columns = (self._columns(number)["id"] for number in range(len(self)))
        return [Strings(np.array(column.data), np.array(column.offsets)) for column in columns]

    def check(self) -> None:
        """Read every file and raise if one is not as it was written, or holds what it cannot."""
        for files in self.files:
            for name in files.files:
                files.check(name)
        for shard in self:
            for column in shard.columns:
                _ = shard.columns[column]


def read_terms(directory: Path, manifest: Manifest) -> list[str]:
    """The vocabulary of a corpus directory."""
    entry = manifest.content["vocabulary"]
    files = StoredFiles(directory, {entry["file"]: entry}, CORPUS)
    files.check_sizes()
    path = files.check(entry["file"])
    try:
        terms = check_vocabulary(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError, RecursionError):
        raise CORPUS.damaged(path, "is not a list of terms that differ") from None
    if len(terms) != manifest.content["terms"]:
        raise CORPUS.damaged(path, f"has {len(terms):,} terms in place of {manifest.content['terms']:,}")
    return terms


def writing(directory: Path, mode: Literal["new", "replace", "extend"]) -> AbstractContextManager[Held]:
    """Hold a corpus directory for writing: a new one, or one whose corpus is replaced or extended."""
    return diln.files.writing(directory, CORPUS, mode)


def commit(
    held: Held,
    generation: int,
    shards: list[dict[str, Any]],
    vocabulary: list[str],
    rule: dict[str, Any] | None,
    tally: dict[str, int],
    dates: DateForm,
) -> None:
    """Write the vocabulary and then the manifest: from here on the shards are the corpus."""
    name = f"g{generation:04}-vocabulary.json"
    entry = write_parts(held.directory / name, json.dumps(vocabulary, indent=0).encode())
    content = {
        "format": CORPUS.format,
        "schema": CORPUS.schema,
        "versions": versions(),
        "documents": sum(shard["documents"] for shard in shards),
        "tokens": sum(shard["tokens"] for shard in shards),
        "terms": len(vocabulary),
        "rule": rule,
        "tally": tally,
        "dates": None if dates.as_given else "iso",
        "date_order": dates.order,
        "vocabulary": {"file": name, **entry},
        "shards": shards,
    }
    held.commit(content)


def shard_name(generation: int, number: int) -> str:
    """Name of a shard's folder."""
    return f"g{generation:04}-{number:05}"


def write_shard(directory: Path, name: str, shard: Shard) -> dict[str, Any]:
    """Write a shard into a folder of its own; returns what the manifest says of it."""
    folder = directory / name
    make_folder(folder, new=True)
    files = {**write_columns(folder, shard.columns), **write_rows(folder, shard)}
    tokens = int(shard.counts.sum(dtype=np.int64))
    return {"name": name, "documents": len(shard), "tokens": tokens, "files": files}


def write_corpus(
    directory: Path,
    shards: Iterable[Shard],
    vocabulary: list[str],
    rule: dict[str, Any] | None,
    tally: dict[str, int],
    dates: DateForm,
    *,
    overwrite: bool,
) -> None:
    """Write finished shards as a corpus."""
    with writing(directory, "replace" if overwrite else "new") as held:
        generation = next_generation(directory)
        names = (shard_name(generation, number) for number in count())
        entries = [write_shard(directory, name, shard) for name, shard in zip(names, shards, strict=False)]
        commit(held, generation, entries, vocabulary, rule, tally, dates)
