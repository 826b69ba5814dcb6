"""Documents that are still to come: files of a folder that grows, or lines of a pipe that goes on."""

import os
import select
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from diln.corpus.batches import Batch, joined, of_source
from diln.corpus.readers import ReadOptions
from diln.corpus.readers.detect import open_as
from diln.corpus.readers.folder import FileBlock, Found
from diln.corpus.readers.lines import LONGEST, LONGEST_SAID, check_encoding
from diln.corpus.rules import TextRule
from diln.corpus.shards import Shard
from diln.corpus.strings import Strings
from diln.errors import SourceError
from diln.files import temporary_folder

POLL = 0.5  # seconds from one look at a folder or a pipe to the next
READ_BYTES = 1 << 20
KINDS = ("lines", "jsonl")  # of pipes that can be followed: whatever their documents, a line is one


class Pace(NamedTuple):
    """When documents are a batch: as soon as there are so many, or some for so many seconds; and when to end."""

    size: int
    seconds: float
    stop: Callable[[], bool]


@dataclass(slots=True)
class FolderFollower:
    """Takes .txt files as they come; one that is still being written waits until it has not changed for a moment."""

    root: Path
    rule: TextRule
    reading: ReadOptions
    known: Callable[[Strings], NDArray[np.bool_]]  # for each id whether its document was learned before
    taken: set[Path] = field(default_factory=set)
    looked_at: dict[Path, tuple[int, int]] = field(default_factory=dict)  # size and time of files not taken yet

    def batches(self, pace: Pace) -> Iterator[Batch]:
        """Batches until told to stop."""
        check_encoding(self.reading.get("encoding", "utf-8"), self.reading.get("errors", "strict"))
        waiting: list[Path] = []
        since = time.monotonic()
        while not pace.stop():
            if not waiting:
                since = time.monotonic()
            waiting += self._ready()
            while len(waiting) >= pace.size or (waiting and time.monotonic() - since >= pace.seconds):
                yield self._batch(waiting[: pace.size])
                waiting, since = waiting[pace.size :], time.monotonic()
                if pace.stop():
                    return
            time.sleep(POLL)

    def _ready(self) -> list[Path]:
        """Files that have come since the last look, and not changed."""
        found = Found()
        found.look_into(self.root)
        if not self.root.is_dir():
            raise SourceError(f"{self.root}: is no longer there; make the folder again, and follow it again")
        sizes = {path: self._state(path) for path, _ in found.files if path not in self.taken}
        ready = sorted(path for path, state in sizes.items() if state is not None and self.looked_at.get(path) == state)
        self.looked_at = {path: state for path, state in sizes.items() if state is not None and path not in ready}
        self.taken.update(ready)
        if not ready:
            return ready
        old = self.known(Strings.pack(path.relative_to(self.root).as_posix() for path in ready))
        return [path for path, learned in zip(ready, old.tolist(), strict=True) if not learned]

    @staticmethod
    def _state(path: Path) -> tuple[int, int] | None:
        try:
            status = path.stat()
        except OSError:
            return None
        return status.st_size, status.st_mtime_ns

    def _batch(self, paths: list[Path]) -> Batch:
        encoding, errors = self.reading.get("encoding", "utf-8"), self.reading.get("errors", "strict")
        block = FileBlock(self.root, paths, encoding, errors, skip_unreadable=True)  # a file may be gone by now
        counted = block.count(self.rule)
        counts = counted.counts
        rows = Shard(counts.offsets, counts.ids, counts.counts, counted.columns)
        return Batch(cast(list[str], counts.terms), rows)


@dataclass(slots=True)
class PipeFollower:
    """Takes lines as they come from a pipe, until it ends."""

    descriptor: int
    name: Path
    kind: str
    rule: TextRule
    reading: ReadOptions
    lines: list[bytes] = field(default_factory=list)  # whole ones
    rest: bytes = b""  # of a line whose end has not come

    def batches(self, pace: Pace) -> Iterator[Batch]:
        """Batches until the pipe ends, or told to stop: what has come by then is the last."""
        if self.kind not in KINDS:
            raise SourceError(
                f"{self.name}: a {self.kind} pipe cannot be followed; give a document a line, with --format "
                f"{' or '.join(KINDS)}"
            )
        since, ended = time.monotonic(), False
        while not ended:
            if not self.lines:
                since = time.monotonic()
            ended = self._read() or pace.stop()
            while len(self.lines) >= pace.size or (self.lines and (ended or time.monotonic() - since >= pace.seconds)):
                yield from self._batch(pace.size)
                since = time.monotonic()
                ended = ended or pace.stop()

    def _read(self) -> bool:
        """Take what there is, or wait a moment; returns whether the pipe has ended."""
        if not select.select([self.descriptor], [], [], POLL)[0]:
            return False
        data = os.read(self.descriptor, READ_BYTES)
        *whole, self.rest = (self.rest + data).split(b"\n")
        if len(self.rest) > LONGEST:
            raise SourceError(f"{self.name}: has a line of more than {LONGEST_SAID}, the most that one can have")
        if not data and self.rest:
            whole, self.rest = [*whole, self.rest], b""
        self.lines += [line for line in whole if line.strip()]
        return not data

    def _batch(self, size: int) -> Iterator[Batch]:
        """The first lines that have come; of several blocks one batch."""
        now, self.lines = self.lines[:size], self.lines[size:]
        with temporary_folder() as folder:
            kept = folder / "batch"
            kept.write_bytes(b"\n".join(now) + b"\n")
            source = open_as(self.name, kept, self.kind, self.reading)
            parts = list(of_source(source.with_dates(self.reading.get("date_order")), self.rule))
        if source.columns_read is not None:
            self.reading = cast(ReadOptions, {**self.reading, "columns": cast(Any, source.columns_read)})
        if parts:
            yield joined(parts)
