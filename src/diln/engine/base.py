"""Where steps run: an engine calls a step on every shard of the work and brings back what each has found, in order.

Work comes in three forms. What is in this process' memory goes through ``map``, in small pieces. Parts that are long
work and told in few words, such as where documents are, go through ``each``: whoever works on one finds what it needs.
What lives where steps run, for as long as a fit takes, is held: a home says how to make a shard there, and steps come
to it again and again.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

Part = TypeVar("Part")
Shard = TypeVar("Shard")
Shared = TypeVar("Shared")
Found = TypeVar("Found")
Tally = TypeVar("Tally", bound=tuple[Any, ...])
Note = dict[str, Any]  # what must be known of a file that a shard was written to, as JSON


class Home(ABC):
    """How to make one shard where it is to live. It is small and can be pickled; the shard need not be.

    ``number`` counts homes from 0, and ``weight`` says how much work a shard is beside others.
    """

    number: int
    weight: float
    divisible: bool = True  # whether pieces of the shard may be worked on by several threads

    @abstractmethod
    def make(self) -> Any:
        """The shard as it is at the start."""

    @abstractmethod
    def write(self, shard: Any, path: Path) -> Note:
        """Write what steps have changed to a file, whole or not at all; returns what must be known to read it."""

    @abstractmethod
    def read(self, path: Path, note: Note) -> Any:
        """The shard as it was when it was written; raises StoreError if the file is not as noted."""

    def soon(self, shard: Any) -> None:  # noqa: B027
        """A step comes to the shard next."""

    def done(self, shard: Any) -> None:  # noqa: B027
        """A step has left the shard; the next one takes a while to come."""


class Held(ABC):
    """Shards that live where steps run: numbers 0, 1, ... of the homes that they were made by.

    A step is a function of a module, or a small record that can be pickled and called. It may write into the arrays of
    its shard, and the next step on that shard sees what it wrote; it never writes into what is shared. ``Lost`` is
    raised where shards are gone, by any method but ``read`` and ``close``: then ``read`` brings all of them back to
    what they were at some time.
    """

    may_lose: bool = False  # whether ``Lost`` is ever raised

    @abstractmethod
    def map(self, step: Callable[[Any, Shared], Found], shared: Shared) -> Iterator[Found]:
        """Yield ``step(shard, shared)`` of every shard, in order of their numbers."""

    @abstractmethod
    def total(
        self, step: Callable[[Any, Shared, Tally], Found], shared: Shared, zero: Callable[[Shared], Tally]
    ) -> tuple[list[Found], Tally]:
        """``step(shard, shared, tally)`` of every shard, in order, and the sum of what steps have added to tallies.

        A tally, as ``zero(shared)`` makes it, is a tuple of arrays of whole numbers; several steps, not all of them,
        share one. Whole numbers have the same sum in any order.
        """

    @abstractmethod
    def replace(self, step: Callable[[Any, Shared], Any], shared: Shared) -> None:
        """Put ``step(shard, shared)`` in the place of every shard."""

    @abstractmethod
    def write(self, folder: Path) -> list[Note]:
        """Write every shard to a file of the folder, which is there: its name is the shard's number."""

    @abstractmethod
    def read(self, folder: Path | None, notes: Sequence[Note]) -> None:
        """Bring every shard to what ``write`` left in the folder and told; without a folder, to how it was made."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the shards."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


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

    def each(
        self, step: "Callable[[Part, Shared, Engine], Found]", parts: Iterable[Part], shared: Shared
    ) -> Iterator[Found]:
        """Yield ``step(part, shared, engine)`` of every part, in order; the engine is one of wherever the step runs.

        A part is a record that can be pickled, and small where it only says what it is of; ``weight`` is how many
        documents it has. What is shared can be pickled, too. A step writes into neither, so that one which was begun
        and lost can be made again. Parts are asked for as they are needed. Here they are worked on one after the other.
        """
        for part in parts:
            yield step(part, shared, self)

    @property
    def ways(self) -> int:
        """How many parts are worked on side by side: work that is cut for ``each`` is cut into so many, or more."""
        return 1

    @abstractmethod
    def hold(self, homes: Sequence[Home]) -> Held:
        """Make a shard of every home, where steps on it will run."""

    def scratch(self) -> Path | None:
        """A folder that is seen wherever steps run, for shards to be written to; None where there is none."""
        return None

    @abstractmethod
    def close(self) -> None:
        """Let go of threads, processes and memory; it may be used again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class ByPiece:
    """A step on a shard that is one on each of its pieces, which may be worked on at the same time.

    What is found of a shard is the same whether its pieces are: ``add`` takes what was found of all, in order.
    """

    cut: Callable[[Any], list[Any]]
    step: Callable[[Any, Any], Any]
    add: Callable[[list[Any]], Any]

    def __call__(self, shard: Any, shared: Any) -> Any:
        """One piece after the other."""
        return self.add([self.step(piece, shared) for piece in self.cut(shard)])


def run(engine: Engine, step: Callable[[Shard, Shared], Any], shards: Iterable[Shard], shared: Shared) -> None:
    """Call a step that returns nothing on every shard."""
    for _ in engine.map(step, shards, shared):
        pass


def summed(tallies: Iterable[Tally]) -> Tally:
    """The sum of tallies, in the place of the first."""
    first, *others = tallies
    for one in others:
        for array, more in zip(first, one, strict=True):
            array += more
    return first


def check_engine(engine: Any) -> None:
    """Raise unless this is an engine, or None."""
    if engine is None or isinstance(engine, Engine):
        return
    kind = type(engine).__name__
    client = type(engine).__module__.partition(".")[0] == "distributed" or isinstance(engine, str)
    say = "give Dask(client), of 'from diln import Dask'" if client else "give an engine, such as Dask(client)"
    raise TypeError(f"engine is a {kind}; {say}")
