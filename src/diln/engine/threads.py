"""Run steps on several threads of this process."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import pairwise

from diln.engine.base import Engine, Found, Shard, Shared
from diln.engine.processes import count_jobs


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
        """Yield ``step(shard, shared)`` of every shard, in order; with one thread, each when it is asked for."""
        every = list(shards)
        if self.n_jobs == 1 or len(every) < 2:
            for shard in every:
                yield step(shard, shared)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.n_jobs)
        under_way = [self._pool.submit(step, shard, shared) for shard in every]
        try:
            for one in under_way:
                yield one.result()
        finally:
            wait(under_way)  # they write into the caller's arrays


def even_cut(size: int, piece: int) -> list[tuple[int, int]]:
    """As many ranges as ``cut`` makes, all of about the same size."""
    number = -(-size // piece)
    edges = [size * i // max(number, 1) for i in range(number + 1)]
    return list(pairwise(edges))


def cut(size: int, piece: int) -> list[tuple[int, int]]:
    """The ranges (first, last) of at most ``piece`` that make up ``range(size)``."""
    return [(first, min(first + piece, size)) for first in range(0, size, piece)]
