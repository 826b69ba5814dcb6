"""Run steps on several threads of this process."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any

from diln.engine.base import ByPiece, Engine, Found, Held, Home, Note, Shard, Shared, Tally, check_engine, summed
from diln.engine.processes import count_jobs

AHEAD = 8  # steps for each thread that begin before what the first of them has found is asked for


class Threads(Engine):
    """``n_jobs`` threads; one calls steps where it is asked to. Worthwhile for steps that run without Python's lock."""

    def __init__(self, n_jobs: int = 1) -> None:
        self.n_jobs = count_jobs(n_jobs)
        self._pool: ThreadPoolExecutor | None = None

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def map(self, step: Callable[[Shard, Shared], Found], shards: Iterable[Shard], shared: Shared) -> Iterator[Found]:
        """Yield ``step(shard, shared)`` of every shard, in order; with one thread, each when it is asked for.

        What steps return is kept no longer than until it is asked for, and few steps begin before that.
        """
        every = iter(shards)
        first = list(islice(every, 2))
        if self.n_jobs == 1 or len(first) < 2:
            for shard in chain(first, every):
                yield step(shard, shared)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.n_jobs)
        under_way: deque[Future[Found]] = deque()
        try:
            for shard in chain(first, every):
                under_way.append(self._pool.submit(step, shard, shared))
                if len(under_way) > AHEAD * self.n_jobs:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            wait(under_way)  # they write into the caller's arrays

    def hold(self, homes: Sequence[Home]) -> "HeldHere":
        """The shards in this process."""
        return HeldHere(self, homes)


class HeldHere(Held):
    """Shards in this process, on which an engine's threads run steps."""

    def __init__(self, engine: Threads, homes: Sequence[Home]) -> None:
        self.engine, self.homes = engine, list(homes)
        self.shards: list[Any] = []
        self.read(None, [])

    def map(self, step: Callable[[Any, Shared], Found], shared: Shared) -> Iterator[Found]:
        """Yield ``step(shard, shared)`` of every shard, in order; pieces of a shard run side by side where they can."""
        if isinstance(step, ByPiece) and all(home.divisible for home in self.homes):
            return self._pieces(step, shared)
        return self._each(lambda number: step(self.shards[number], shared))

    def _pieces(self, step: ByPiece, shared: Any) -> Iterator[Any]:
        pieces = [step.cut(shard) for shard in self.shards]
        found = self.engine.map(step.step, [piece for some in pieces for piece in some], shared)
        for some in pieces:
            yield step.add([next(found) for _ in some])
        for _ in found:  # which ends what map has begun
            pass

    def _each(self, work: Callable[[int], Found]) -> Iterator[Found]:
        """Yield ``work(number)`` of every shard, the shard that comes after those under way made ready."""

        def visited(number: int, ahead: int) -> Found:
            if number + ahead < len(self.homes):
                self.homes[number + ahead].soon(self.shards[number + ahead])
            try:
                return work(number)
            finally:
                self.homes[number].done(self.shards[number])

        return self.engine.map(visited, range(len(self.homes)), self.engine.n_jobs)

    def total(
        self, step: Callable[[Any, Shared, Tally], Found], shared: Shared, zero: Callable[[Shared], Tally]
    ) -> tuple[list[Found], Tally]:
        """``step(shard, shared, tally)`` of every shard, in order, and the sum of the tallies: each thread has one."""
        tallies: dict[int, Tally] = {}

        def work(number: int) -> Found:
            own = threading.get_ident()
            if own not in tallies:
                tallies[own] = zero(shared)
            return step(self.shards[number], shared, tallies[own])

        found = list(self._each(work))
        return found, summed(tallies.values())

    def replace(self, step: Callable[[Any, Shared], Any], shared: Shared) -> None:
        """Put ``step(shard, shared)`` in the place of every shard."""

        def work(number: int) -> None:
            self.shards[number] = step(self.shards[number], shared)

        for _ in self._each(work):
            pass

    def write(self, folder: Path) -> list[Note]:
        """Write every shard, one after the other: a disk is no faster for two."""
        return [
            home.write(shard, folder / str(home.number)) for home, shard in zip(self.homes, self.shards, strict=True)
        ]

    def read(self, folder: Path | None, notes: Sequence[Note]) -> None:
        """Bring every shard to what was written, or to how it was made."""
        self.shards = []
        for home in self.homes:
            self.shards.append(
                home.make() if folder is None else home.read(folder / str(home.number), notes[home.number])
            )

    def close(self) -> None:
        """Let go of the shards."""
        self.shards = []


def even_cut(size: int, piece: int) -> list[tuple[int, int]]:
    """As many ranges as ``cut`` makes, all of about the same size."""
    number = -(-size // piece)
    edges = [size * i // max(number, 1) for i in range(number + 1)]
    return list(pairwise(edges))


def cut(size: int, piece: int) -> list[tuple[int, int]]:
    """The ranges (first, last) of at most ``piece`` that make up ``range(size)``."""
    return [(first, min(first + piece, size)) for first in range(0, size, piece)]


def engine_or_threads(engine: Engine | None, n_jobs: int) -> AbstractContextManager[Engine]:
    """The engine, which stays open; or else so many threads, for as long as they are needed."""
    check_engine(engine)
    return Threads(n_jobs) if engine is None else nullcontext(engine)
