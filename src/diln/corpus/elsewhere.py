"""Counting on workers elsewhere, which read files themselves: the same corpus as that of this machine's processes.

Workers see the directory of the corpus. What they write there has names of its own until the one who builds the corpus
has heard of it: a part that was lost with its worker is done again by another, and what the first has left, or still
writes, is nobody's.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from secrets import randbelow
from typing import Any

from diln.corpus.assemble import CountedBlock, Elsewhere, Finish, Finishing, Part, count_block, finish_shard
from diln.corpus.building import DiskSink, Spilled
from diln.corpus.dates import Unread
from diln.corpus.readers.columns import ColumnsRead
from diln.corpus.readers.folder import FolderSource
from diln.corpus.readers.many import FileAt, ManyFiles, Opener, with_columns
from diln.corpus.rules import TextRule
from diln.corpus.shards import Shard
from diln.corpus.sources import Block, Counted, Source
from diln.corpus.store import shard_name, write_shard
from diln.engine.base import Engine
from diln.errors import SourceError, StoreError
from diln.files import LOCK
from diln.files.safe import told

OWN = 10**9  # names that what is written under one number may have: no two tries have the same
IN_A_FILE = 10**6  # blocks at most

Blocks = list[CountedBlock[Spilled]]
Done = tuple[dict[str, Any], int, int, Unread]


class SharedSink(DiskSink):
    """Keeps blocks and shards in a directory that all workers see, under names that no other try has."""

    def check_seen(self) -> None:
        """Raise if the directory is not here."""
        if not (self.directory / LOCK).exists():
            raise not_seen(self.directory)

    def keep(self, number: int, counted: Counted) -> Spilled:
        """Write a block to a file that is removed in the end."""
        return super().keep(_own(number), counted)

    def write(self, number: int, shard: Shard) -> dict[str, Any]:
        """Write a finished shard, which is not in its place yet."""
        return write_shard(self.directory, f".raw-{self.token}-{_own(number):06}", shard)

    def settled(self, number: int, entry: dict[str, Any]) -> dict[str, Any]:
        """Put a shard in its place; returns its manifest entry."""
        name = shard_name(self.generation, number)
        with told(self.directory / name):
            (self.directory / entry["name"]).rename(self.directory / name)
        return {**entry, "name": name}


def _own(number: int) -> int:
    return number * OWN + randbelow(OWN)


def not_seen(path: Path) -> StoreError:
    """What to raise on a worker that does not see a path."""
    return StoreError(f"does not see {path}; give a path on a file system that all workers share, or a URL")


Context = tuple[TextRule, SharedSink]


@dataclass(frozen=True, slots=True)
class BlockPart:
    """A block as it is, and the folder that it is read from, if any."""

    number: int
    block: Block
    folder: Path | None

    def opened(self) -> AbstractContextManager[Any]:
        """What has the block."""
        if self.folder is not None and not self.folder.is_dir():
            raise not_seen(self.folder)
        return nullcontext(self)

    check_file = None

    def blocks(self) -> Iterator[Block]:
        """The block."""
        yield self.block


@dataclass(frozen=True, slots=True)
class FilePart:
    """One of many files, of which only the address is sent."""

    number: int
    name: str
    at: FileAt
    opener: Opener
    columns: ColumnsRead | None  # those that all files must have
    first: str  # the file that has them

    def opened(self) -> "AbstractContextManager[Any]":
        """The source of the file, here."""
        return self.at.opened(self._source)

    def _source(self, path: Path) -> Source:
        if not path.exists():
            raise not_seen(path)
        return with_columns(self.opener(self.name, path, self.columns), self.columns, self.name, self.first)


def count_part(part: BlockPart | FilePart, context: Context, engine: Engine) -> Blocks | SourceError:
    """Count a part, on whatever worker; an error is of the documents, and is to be raised when its turn comes."""
    _, sink = context
    sink.check_seen()
    try:
        with part.opened() as source:
            try:
                numbers = count(part.number * IN_A_FILE)
                return [count_block(context, (next(numbers), block)) for block in source.blocks()]
            except SourceError:
                if source.check_file is not None:
                    source.check_file()
                raise
    except SourceError as error:
        return error


@dataclass(frozen=True, slots=True)
class ShardPart:
    """The blocks of a shard."""

    number: int
    parts: list[Part[Spilled, Path]]


def finish_part(part: ShardPart, given: tuple[Context, Finishing], engine: Engine) -> Done:
    """Make a shard, on whatever worker."""
    context, same = given
    context[1].check_seen()
    return finish_shard(context, Finish(part.number, part.parts, *same))


@dataclass(frozen=True, slots=True)
class Crew(Elsewhere[Spilled, Path, dict[str, Any]]):
    """Workers of an engine, which count and finish."""

    engine: Engine
    context: Context

    def counted(self, source: Source) -> Iterator[CountedBlock[Spilled]]:
        """The blocks of a source, in order."""
        parts, sizes = parts_of(source)
        for number, found in enumerate(self.engine.each(count_part, parts, self.context)):
            if isinstance(found, SourceError):
                raise found
            source.position += sizes[number] if sizes else 0
            yield from found

    def finished(self, shards: list[list[Part[Spilled, Path]]], same: Finishing) -> Iterator[Done]:
        """The shards, in order and in their places."""
        parts = (ShardPart(number, blocks) for number, blocks in enumerate(shards))
        for number, (entry, *numbers) in enumerate(self.engine.each(finish_part, parts, (self.context, same))):
            yield self.context[1].settled(number, entry), *numbers  # type: ignore[misc]


def parts_of(source: Source) -> tuple[Iterator[BlockPart | FilePart], list[int]]:
    """What workers are given of a source, and how much of it each part is, if the source does not tell by itself."""
    if isinstance(source, ManyFiles):
        files = source.files
        same = (source.opened, source.columns_read, files.names[0])
        return (FilePart(number, name, files.at(number), *same) for number, name in enumerate(files.names)), files.sizes
    folder = source.root if isinstance(source, FolderSource) else None
    return (BlockPart(number, block, folder) for number, block in enumerate(source.blocks())), []
