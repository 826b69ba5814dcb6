"""An engine of two processes, as small as one can be.

What a step of ``map`` needs goes there, and what it changed comes back; shards that are held stay there.
"""

from concurrent.futures import ProcessPoolExecutor
from itertools import count
from multiprocessing import get_context

import numpy as np

from diln.engine.base import Engine, Held, summed

HERE = {}  # in the other processes: the shards that are held, by who holds them and their numbers
NUMBERS = count()


def arrays_of(record):
    """The arrays of a record, at any depth, in order."""
    if isinstance(record, np.ndarray):
        return [record]
    return [array for part in record for array in arrays_of(part)] if isinstance(record, tuple) else []


def call(step, shard, shared):
    """In the other process: what the step found, and the arrays of its shard as it left them."""
    return step(shard, shared), arrays_of(shard)


def make(name, home, folder, note):
    HERE[name, home.number] = home.make() if folder is None else home.read(folder / str(home.number), note)


def visit(name, number, step, shared):
    return step(HERE[name, number], shared)


def tally(name, numbers, step, shared, zero):
    own = zero(shared)
    return [step(HERE[name, number], shared, own) for number in numbers], own


def put(name, number, step, shared):
    HERE[name, number] = step(HERE[name, number], shared)


def write(name, home, folder):
    return home.write(HERE[name, home.number], folder / str(home.number))


def forget(name):
    for key in [key for key in HERE if key[0] == name]:
        del HERE[key]


def name_of(step):
    """The name of a step, or of the one inside."""
    return step.__name__ if hasattr(step, "__name__") else name_of(step.step)


class HeldThere(Held):
    """Shards in two processes, every other one in each."""

    def __init__(self, engine, homes):
        self.engine, self.homes, self.name = engine, list(homes), next(NUMBERS)
        self.read(None, [])

    def every(self, function, *given):
        pools = self.engine.pools
        under_way = [pools[home.number % 2].submit(function, self.name, home.number, *given) for home in self.homes]
        return [one.result() for one in under_way]

    def map(self, step, shared):
        self.engine.shipped.add(name_of(step))
        return iter(self.every(visit, step, shared))

    def total(self, step, shared, zero):
        self.engine.shipped.add(name_of(step))
        numbers = [home.number for home in self.homes]
        parts = [part for part in (numbers[::2], numbers[1::2]) if part]
        given = (step, shared, zero)
        under_way = [
            pool.submit(tally, self.name, part, *given) for pool, part in zip(self.engine.pools, parts, strict=False)
        ]
        found, tallies = zip(*(one.result() for one in under_way), strict=True)
        by_number = {
            number: one for part, some in zip(parts, found, strict=True) for number, one in zip(part, some, strict=True)
        }
        return [by_number[number] for number in numbers], summed(tallies)

    def replace(self, step, shared):
        self.engine.shipped.add(name_of(step))
        self.every(put, step, shared)

    def write(self, folder):
        return [
            self.engine.pools[home.number % 2].submit(write, self.name, home, folder).result() for home in self.homes
        ]

    def read(self, folder, notes):
        for home in self.homes:
            note = None if folder is None else notes[home.number]
            self.engine.pools[home.number % 2].submit(make, self.name, home, folder, note).result()

    def close(self):
        for pool in self.engine.pools:
            pool.submit(forget, self.name).result()


class TwoProcesses(Engine):
    """Ships every shard of ``map`` and brings its arrays back; those held stay in one of its processes."""

    def __init__(self):
        self.pools = [ProcessPoolExecutor(1, get_context("spawn")) for _ in range(2)]
        self.shipped = set()

    def map(self, step, shards, shared):
        every = list(shards)
        self.shipped.add(step.__name__)
        under_way = [self.pools[i % 2].submit(call, step, shard, shared) for i, shard in enumerate(every)]
        for shard, one in zip(every, under_way, strict=True):
            found, changed = one.result()
            for mine, theirs in zip(arrays_of(shard), changed, strict=True):
                mine[...] = theirs
            yield found

    def hold(self, homes):
        return HeldThere(self, homes)

    def close(self):
        for pool in self.pools:
            pool.shutdown()
