"""Shards of documents on disk: in memory only while a step is on them.

A shard is three files of a scratch folder: tokens, their topics, and what the weights know of documents. A step finds
them read, and what it has changed is written when it leaves. So memory is that of as many shards as there are threads,
however many documents there are. Scratch outlives no fit: what a killed one has left, the next removes.
"""

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import gettempdir
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from diln.engine.base import Note
from diln.errors import StoreError
from diln.files import Kind, create, guarded, remove, writing
from diln.inference.data import Array, Tokens
from diln.inference.sampling.state import SampledDocuments
from diln.models.homes import RowsHome

SCRATCH = Kind(
    format="diln-scratch",
    schema=1,
    noun="scratch folder",
    make="fit from disk, which makes one",
    mend="remove it",
    part=re.compile(r"\d+\.(tokens|topics|places)"),
    parts=lambda _: set(),
)
TRIES = 1000  # folders for fits side by side


class Stored(NamedTuple):
    """A file of arrays, one after the other."""

    path: Path
    arrays: tuple[tuple[str, tuple[int, ...]], ...]  # type and shape of each
    checksum: int

    @classmethod
    def write(cls, path: Path, arrays: list[Array]) -> "Stored":
        """Write a file, in place of one that is there."""
        checksum = 0
        path.unlink(missing_ok=True)
        with create(path) as file:
            for array in arrays:
                data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
                checksum = crc32(data, checksum)
                file.write(data)
        return cls(path, tuple((array.dtype.str, array.shape) for array in arrays), checksum)

    def read(self) -> list[Array]:
        """The arrays, in memory."""
        try:
            with self.path.open("rb", buffering=0) as file:
                found = [_read(file, dtype, shape) for dtype, shape in self.arrays]
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise self._broken(f"cannot be read ({reason})") from None
        checksum = 0
        for array in found:
            checksum = crc32(array.reshape(-1).view(np.uint8).data, checksum)
        if checksum != self.checksum:
            raise self._broken("is not as it was written")
        return found

    def soon(self) -> None:
        """Have the system read the file ahead, where it can."""
        with suppress(OSError, AttributeError):
            descriptor = os.open(self.path, os.O_RDONLY)
            try:
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_WILLNEED)
            finally:
                os.close(descriptor)

    def _broken(self, how: str) -> StoreError:
        return StoreError(
            f"{self.path}: the scratch file {how}; see that nothing else writes to its folder, and fit again (with "
            "--resume, from the last checkpoint)"
        )


def _read(file: Any, dtype: str, shape: tuple[int, ...]) -> Array:
    array = np.empty(shape, dtype)
    rest = array.reshape(-1).view(np.uint8).data
    while rest:
        size = file.readinto(rest)
        if not size:
            raise ValueError("it has been cut off")
        rest = rest[size:]
    return array


@dataclass(slots=True)
class DiskShard:
    """Documents on disk; between ``opened`` and ``closed`` in memory, too."""

    tokens: Stored
    topics: Stored
    places: Stored
    record: type[Any]  # of places
    n_terms: int
    start: int
    docs: SampledDocuments | None = None
    before: tuple[Array, ...] = field(default=())  # topics and places as they were read

    @classmethod
    def of(cls, docs: SampledDocuments, folder: Path, number: int) -> "DiskShard":
        """Put documents on disk."""
        tokens = docs.tokens
        narrow = [one.astype(np.min_scalar_type(int(one.max(initial=0)))) for one in (tokens.indices, tokens.counts)]
        arrays = [tokens.indptr, tokens.starts, docs.names, *narrow]
        return cls(
            Stored.write(folder / f"{number}.tokens", arrays),
            Stored.write(folder / f"{number}.topics", [docs.topics]),
            Stored.write(folder / f"{number}.places", list(docs.places)),
            type(docs.places),
            tokens.n_terms,
            docs.start,
        )

    def opened(self) -> SampledDocuments:
        """The documents in memory; steps may write into their topics and places."""
        if self.docs is None:
            indptr, starts, names, indices, counts = self.tokens.read()
            tokens = Tokens(indptr, indices.astype(np.int32), counts.astype(np.int32), starts, self.n_terms)
            (topics,), places = self.topics.read(), self.places.read()
            self.before = (topics.copy(), *(array.copy() for array in places))
            self.docs = SampledDocuments(tokens, topics, self.record(*places), names, self.start)
        return self.docs

    def placed(self, places: Any) -> "DiskShard":
        """The same documents with another record of what the weights know of each."""
        return self.restored(self.opened().topics, places)

    def restored(self, topics: Array, places: Any) -> "DiskShard":
        """The same documents with other topics of their tokens, too."""
        self.docs = self.opened().restored(topics, places)
        return self

    def closed(self) -> None:
        """Write what has changed, and let go of the memory."""
        docs, self.docs = self.docs, None
        if docs is None:
            return
        topics, *places = self.before
        self.before = ()
        if not np.array_equal(docs.topics, topics):
            self.topics = Stored.write(self.topics.path, [docs.topics])
        now = list(docs.places)
        if type(docs.places) is not self.record or not all(map(_same_bytes, now, places)):
            self.places, self.record = Stored.write(self.places.path, now), type(docs.places)


def _same_bytes(one: Array, other: Array) -> bool:
    return one.shape == other.shape and one.tobytes() == other.tobytes()


@dataclass(frozen=True)
class DiskHome(RowsHome):
    """A shard that is kept in a scratch folder."""

    folder: Path
    divisible: bool = False  # its pieces would each have it read

    def make(self) -> DiskShard:
        """Documents whose tokens have no topic yet, on disk."""
        return DiskShard.of(RowsHome.make(self), self.folder, self.number)

    def write(self, shard: DiskShard, path: Path) -> Note:
        """Write the tokens' topics, and what the weights know of documents."""
        try:
            return RowsHome.write(self, shard, path)
        finally:
            shard.closed()

    def read(self, path: Path, note: Note) -> DiskShard:
        """Documents as they were when they were written."""
        shard: DiskShard = RowsHome.read(self, path, note)
        shard.closed()
        return shard

    def soon(self, shard: DiskShard) -> None:
        """Have the files read ahead."""
        for one in (shard.tokens, shard.topics, shard.places):
            one.soon()

    def done(self, shard: DiskShard) -> None:
        """Write what has changed."""
        shard.closed()


@guarded
def scratch_folder(given: Path | None) -> Iterator[Path]:
    """A folder for a fit's scratch, empty at first and gone at the end: the one given, or one in the system's own."""
    with ExitStack() as stack:
        folder = _free_folder(stack) if given is None else given
        if given is not None:
            stack.enter_context(writing(folder, SCRATCH, "replace"))
        yield folder
    with suppress(StoreError, OSError):  # one that a killed fit had made
        remove(folder, SCRATCH)


def _free_folder(stack: ExitStack) -> Path:
    """Hold a folder that no other fit has; what a killed one has left there is removed."""
    within = Path(gettempdir())
    for number in range(TRIES):
        with suppress(StoreError):
            folder = within / f"diln-scratch-{number}"
            stack.enter_context(writing(folder, SCRATCH, "replace"))
            return folder
    raise StoreError(f"{within}: no scratch folder can be had here; see that you may write to it, or set TMPDIR")
