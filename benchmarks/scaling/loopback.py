"""What the cluster engine takes on this machine: a table sent to all workers and summed up again, and whole sweeps."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from psutil import Process
from scipy.sparse import csr_array

from diln.engine.base import Engine, Home, Note
from diln.engine.threads import Threads
from diln.inference.data import Array
from diln.inference.weights.located_draws import LocatedDraws
from sampling_speed import chain_of, seconds

ROUNDS, DIMS = 6, 10


class Empty(Home):
    """A shard without documents."""

    weight = 1.0

    def __init__(self, number: int) -> None:
        self.number = number

    def make(self) -> int:
        """Nothing but a number."""
        return self.number

    def write(self, shard: int, path: Path) -> Note:
        """Nothing to write."""
        return {}

    def read(self, path: Path, note: Note) -> int:
        """What it was."""
        return self.number


class Tables(NamedTuple):
    """What is sent, and what comes back: a table of counts."""

    table: Array


def tally_of(given: Tables) -> Tables:
    return Tables(np.zeros_like(given.table))


def count_once(shard: int, given: Tables, tally: Tables) -> int:
    """A step that takes no time but for the table: every count goes into the tally."""
    tally.table[:] += given.table
    return shard


@contextmanager
def cluster(workers: int) -> Iterator[Engine]:
    """The cluster engine with so many worker processes of one thread each."""
    from distributed import Client, LocalCluster

    from diln.engine.dask.engine import Dask

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as local,
        Client(local) as client,
        Dask(client) as engine,
    ):
        yield engine


def exchange(engine: Engine, workers: int, terms: int, topics: int) -> dict[str, Any]:
    """Least seconds to send a table to all workers and to sum up theirs: of the clock, and of all processors."""
    rng, best, least = np.random.default_rng(0), np.inf, np.inf
    processes = [Process(), *map(Process, engine.client.run(os.getpid).values())]  # type: ignore[attr-defined]
    with engine.hold([Empty(number) for number in range(workers)]) as held:
        for _ in range(ROUNDS):
            table = rng.integers(0, 1000, (terms, topics)).astype(np.float32)
            begun, busy = time.perf_counter(), busy_seconds(processes)
            _, total = held.total(count_once, Tables(table), tally_of)
            best = min(best, time.perf_counter() - begun)
            least = min(least, busy_seconds(processes) - busy)
            if not np.array_equal(total.table, workers * table):
                raise SystemExit("the sum is not that of all workers")
    return {"workers": workers, "bytes": table.nbytes, "seconds": best, "processor_seconds": least}


def busy_seconds(processes: list[Process]) -> float:
    """Seconds that processors have worked for these."""
    return float(sum(sum(process.cpu_times()[:2]) for process in processes))


def sweeps(engine: Engine, counts: csr_array, topics: int, workers: int) -> dict[str, Any]:
    """Least seconds of a sweep of DILN."""
    chain = chain_of(counts, topics, LocatedDraws(n_dims=DIMS), engine, warm=4, opened=1)
    best = min(seconds(chain.sweep) for _ in range(ROUNDS))
    chain.docs.close()
    return {"workers": workers, "topics": topics, "tokens": chain.docs.n_tokens, "seconds": best}


def measured(counts: csr_array, topics: int) -> dict[str, Any]:
    """Exchanges of three sizes and sweeps, with 1, 2 and 4 workers; workers = 0 are threads of one process."""
    exchanges, swept = [], []
    with Threads(1) as one:
        swept.append(sweeps(one, counts, topics, 0))
    for workers in (1, 2, 4):
        with cluster(workers) as engine:
            exchanges += [exchange(engine, workers, terms, 400) for terms in (10_000, 40_000)]
            swept.append(sweeps(engine, counts, topics, workers))
        print(*exchanges[-2:], swept[-1], sep="\n", flush=True)
    return {"exchanges": exchanges, "sweeps": swept, "terms": counts.shape[1]}
