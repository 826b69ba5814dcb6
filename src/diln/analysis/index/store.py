"""An index on disk: arrays that are mapped, and a manifest that says what belongs to it."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diln.analysis.index.layout import INDEX, INDEX_ARRAYS
from diln.corpus.npy import as_npy, map_array, read_header
from diln.errors import StoreError
from diln.fields import MismatchError, Tensor, UnknownError, read, shown
from diln.files import Content, Kind, StoredFiles, next_generation, read_manifest, write_parts, writing
from diln.files.frame import FILE, checking, versions

Array = NDArray[Any]
Arrays = Mapping[str, Array]

AGAIN = "make it again with: diln index MODEL"
SIZES = ("documents", "topics", "dims", "terms", "entries", "word_dims", "labels")
DECLARED = {one.name: one for one in INDEX_ARRAYS}


def _parts(content: Content) -> set[str]:
    return {entry["file"] for entry in content["files"].values()}


KIND = Kind(
    format="diln-index",
    schema=2,
    noun="document index",
    make="make one with: diln index MODEL",
    mend=AGAIN,
    part=re.compile(r"g\d{4,}-[a-z_]+\.npy"),
    parts=_parts,
    migrations={1: dict},  # there are none of it
)


def write_index(directory: Path, numbers: Content, arrays: Arrays) -> None:
    """Write an index in place of the one that is there: the old one or the new one, whenever the process ends."""
    with writing(directory, KIND, "replace") as held:
        generation, files = next_generation(directory), {}
        for name, array in arrays.items():
            file = f"g{generation:04}-{name}.npy"
            stored = np.asarray(array, np.dtype(DECLARED[name].dtype).newbyteorder("<"))
            files[name] = {"file": file, **write_parts(directory / file, *as_npy(stored))}
        frame = {"format": KIND.format, "schema": KIND.schema, "versions": versions()}
        held.commit({**frame, **numbers, "files": files})


def read_index(directory: Path) -> tuple[Content, "StoredArrays"]:
    """What an index's manifest says, and its arrays, each of them mapped and checked when it is asked for first."""
    content = read_manifest(directory, KIND)
    while True:
        try:
            with checking(KIND, directory, content):
                found = _content(content)
            return found, StoredArrays(directory, found)
        except StoreError:
            before, content = content, read_manifest(directory, KIND)
            if content == before:  # else it was replaced meanwhile, and its files with it
                raise


def _content(content: Content) -> Content:
    found = read(INDEX, content)
    for name in found["files"]:
        if name not in DECLARED:
            raise UnknownError(f"an array {shown(name)}")
    missing = set(DECLARED) - set(found["files"]) - ({"locations"} if not found["dims"] else set())
    if missing:
        raise MismatchError(f"lacks files.{min(missing)}")
    files = {name: read(FILE, entry, f"files.{name}") for name, entry in found["files"].items()}
    return {**found, "files": files}


class StoredArrays(Mapping[str, Array]):
    """The arrays of an index on disk."""

    def __init__(self, directory: Path, content: Content) -> None:
        self.names = {name: entry["file"] for name, entry in content["files"].items()}
        self.files = StoredFiles(directory, {entry["file"]: entry for entry in content["files"].values()}, KIND)
        self.sizes = {name: int(content[name]) for name in SIZES}
        self.sizes |= {f"{name} + 1": self.sizes[name] + 1 for name in ("documents", "topics", "labels")}
        self.mapped: dict[str, Array] = {}
        self.files.check_sizes()

    def __getitem__(self, name: str) -> Array:
        if name not in self.mapped:
            self.mapped[name] = self._map(DECLARED[name], self.files.check(self.names[name]))
        return self.mapped[name]

    def _map(self, declared: Tensor, path: Path) -> Array:
        with _told(path):
            with path.open("rb") as file:
                header = read_header(file)
                size = file.seek(0, 2)
            if header.n_bytes != size:
                raise ValueError(f"has {size:,} bytes and its array {header.n_bytes:,}")
            mapped = map_array(path, header)
            sizes = self.sizes | ({"label bytes": len(mapped)} if declared.name == "label_bytes" else {})
            declared.check(mapped, sizes, declared.name)
            self._check(declared.name, mapped)
        return mapped

    def _check(self, name: str, array: Array) -> None:
        """Raise unless numbers that lead to other places lead somewhere."""
        last = {"topics": "topics", "topic_rows": "documents", "label_codes": "labels"}.get(name)
        if last is not None and array.size and int(array.max()) >= self.sizes[last]:
            raise ValueError(f"has the number {array.max()}, and there are {self.sizes[last]:,} {last}")
        if name.endswith("offsets"):
            end = len(self["label_bytes"]) if name == "label_offsets" else self.sizes["entries"]
            if array[0] != 0 or array[-1] != end or (np.diff(array) < 0).any():
                raise ValueError(f"does not lead from 0 to {end:,} without a step back")

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Say of a file that it is not as it must be."""
    try:
        yield
    except ValueError as error:  # MismatchError too
        raise KIND.damaged(path, str(error)) from None
