"""Shards of a few numbers, with steps whose results depend on every call before them, on any worker."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from diln.engine.base import ByPiece, Home


class Numbers(NamedTuple):
    """A shard: numbers that steps change."""

    values: np.ndarray


@dataclass
class NumbersHome(Home):
    """Of shard ``number``, with ``weight`` numbers; ``source`` must be there if it is given."""

    number: int
    weight: float
    source: str | None = None

    def make(self):
        if self.source is not None:
            Path(self.source).read_bytes()
        return Numbers(np.arange(int(self.weight), dtype=np.int64) + 1000 * self.number)

    def write(self, shard, path):
        beside = path.with_name(f"{path.name}.new")
        with beside.open("wb") as file:
            np.save(file, shard.values)
        beside.replace(path)
        return {"sum": int(shard.values.sum())}

    def read(self, path, note):
        with path.open("rb") as file:
            shard = Numbers(np.load(file))
        assert int(shard.values.sum()) == note["sum"]
        return shard


class Given(NamedTuple):
    """What steps share."""

    factor: int
    table: np.ndarray


class Tally(NamedTuple):
    counts: np.ndarray


def homes(n=7, source=None):
    return [NumbersHome(number, 10.0 + number, source) for number in range(n)]


def given(factor, size=20_000):
    return Given(factor, np.arange(size, dtype=np.float64))


def grow(shard, shared):
    """Changes its shard; what it returns tells the order of calls."""
    shard.values[:] = (shard.values * shared.factor + int(shared.table[-1])) % 1_000_003
    return int(shard.values[0]), float(shard.values.sum())


def count(shard, shared, tally):
    tally.counts[:] += np.bincount(shard.values % 5, minlength=5)
    return len(shard.values)


def nothing(shared):
    return Tally(np.zeros(5, np.int64))


def longer(shard, shared):
    return Numbers(np.append(shard.values, shared.factor))


class Killing(NamedTuple):
    """``grow`` that kills the process of these shards, each once."""

    numbers: tuple[int, ...]
    folder: str

    def __call__(self, shard, shared):
        first = int(shard.values.size) - 10  # weights are 10 + number: see homes
        if first in self.numbers:
            mark = Path(self.folder) / f"killed-{first}"
            if not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return grow(shard, shared)


def failing(shard, shared):
    raise ValueError("this step fails")


def slow(shard, shared):
    time.sleep(shared)
    return os.getpid()


def kind_of(shard, shared):
    """How the shared table lies in memory, which decides what a compiled loop does with it."""
    flags = shared.table.flags
    return flags.aligned, flags.writeable, flags.c_contiguous, flags.f_contiguous, float(shared.table.sum())


def halves(shard):
    return [Numbers(shard.values[: len(shard.values) // 2]), Numbers(shard.values[len(shard.values) // 2 :])]


def joined(found):
    return [one for part in found for one in part]


by_halves = ByPiece(halves, grow, joined)
