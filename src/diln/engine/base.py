"""Where steps run: an engine calls a step on every shard of the work and brings back what each has found, in order."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, Self, TypeVar

Shard = TypeVar("Shard")
Shared = TypeVar("Shared")
Found = TypeVar("Found")


class Engine(ABC):
    """Runs steps, in this process or in others; which of them, and how many at a time, changes no result.

    A step is a function of a module, ``step(shard, shared)``, so that another process can find it by name. Shards and
    what they share are plain records: named tuples of arrays and numbers. A step may write into the arrays of its
    shard, and the next step on that shard sees what it wrote; it never writes into what is shared. What it returns
    belongs to the caller. Cut shards by the work alone, not by how much runs at a time: then sums of what steps return,
    taken in order, have the same bits on any engine.
    """

    @abstractmethod
    def map(self, step: Callable[[Shard, Shared], Found], shards: Iterable[Shard], shared: Shared) -> Iterator[Found]:
        """Yield ``step(shard, shared)`` of every shard, in order. Steps may not begin before the first is asked for.

        When the iterator is exhausted, or has raised the error of a step, no step is running any more.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of threads, processes and memory; it may be used again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def run(engine: Engine, step: Callable[[Shard, Shared], Any], shards: Iterable[Shard], shared: Shared) -> None:
    """Call a step that returns nothing on every shard."""
    for _ in engine.map(step, shards, shared):
        pass
