"""Shards that are held where steps run: by threads of this process."""

import json
import threading
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from diln.engine.base import ByPiece, Home
from diln.engine.threads import Threads


class Sums(NamedTuple):
    table: np.ndarray


@dataclass
class Numbers(Home):
    """Some numbers from ``number`` on."""

    number: int
    weight: float = 1.0
    divisible: bool = True

    def make(self):
        return np.arange(self.number, self.number + 6)

    def write(self, shard, path):
        path.write_text(json.dumps(shard.tolist()))
        return {"bytes": path.stat().st_size}

    def read(self, path, note):
        assert path.stat().st_size == note["bytes"]
        return np.array(json.loads(path.read_text()))


class Watched(Numbers):
    """Notes what it is told."""

    told: list = []  # noqa: RUF012

    def soon(self, shard):
        self.told.append(("soon", self.number))

    def done(self, shard):
        self.told.append(("done", self.number))


def sum_of(shard, factor):
    return int(shard.sum() * factor)


def count(shard, shape, tally):
    tally.table[shard] += 1
    return threading.get_ident()


def zero(shape):
    return Sums(np.zeros(shape, np.int64))


def twice(shard, factor):
    return np.concatenate([shard, shard]) * factor


def add_one(shard, shared):
    shard += 1


def halves(shard):
    return [shard[:3], shard[3:]]


@pytest.fixture(params=[1, 3])
def held(request):
    with Threads(request.param) as threads, threads.hold([Numbers(i) for i in range(5)]) as found:
        yield found


def test_a_step_finds_every_shard_in_order(held):
    assert list(held.map(sum_of, 2)) == [2 * (15 + 6 * i) for i in range(5)]


def test_a_step_sees_what_the_one_before_has_written(held):
    assert list(held.map(add_one, None)) == [None] * 5
    assert list(held.map(sum_of, 1)) == [21 + 6 * i for i in range(5)]


def test_tallies_add_up_over_all_shards_and_threads(held):
    found, tally = held.total(count, 12, zero)
    right = np.zeros(12, np.int64)
    for i in range(5):
        right[i : i + 6] += 1
    np.testing.assert_array_equal(tally.table, right)
    assert len(found) == 5


def test_a_step_may_put_another_shard_in_the_place_of_one(held):
    held.replace(twice, 3)
    assert list(held.map(sum_of, 1)) == [6 * (15 + 6 * i) for i in range(5)]


def test_pieces_are_added_up_shard_by_shard(held):
    step = ByPiece(halves, sum_of, sum)
    assert list(held.map(step, 1)) == [15 + 6 * i for i in range(5)]


def test_an_error_of_a_step_is_raised_and_leaves_no_step_running(held):
    with pytest.raises(ZeroDivisionError):
        list(held.map(lambda shard, _: 1 // int(shard[0] != 2), None))
    assert list(held.map(sum_of, 1)) == [15 + 6 * i for i in range(5)]


def test_shards_come_back_to_what_was_written(held, tmp_path):
    list(held.map(add_one, None))
    notes = held.write(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [str(i) for i in range(5)]
    held.replace(twice, 5)
    held.read(tmp_path, notes)
    assert list(held.map(sum_of, 1)) == [21 + 6 * i for i in range(5)]
    held.read(None, [])
    assert list(held.map(sum_of, 1)) == [15 + 6 * i for i in range(5)]


def test_homes_are_told_which_shard_comes_next_and_which_is_done():
    Watched.told.clear()
    with Threads(1) as threads, threads.hold([Watched(i, divisible=False) for i in range(3)]) as held:
        list(held.map(ByPiece(halves, sum_of, sum), 1))
    assert Watched.told == [("soon", 1), ("done", 0), ("soon", 2), ("done", 1), ("done", 2)]
