"""Shards go to workers evenly, and stay where they are if they can."""

from hypothesis import given
from hypothesis import strategies as st

from diln.engine.dask.spread import spread

WORKERS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8, unique=True)
WEIGHTS = st.lists(st.floats(0.5, 2.0), min_size=1, max_size=40)


def loads(weights, where, workers):
    return {one: sum(weights[number] for number in where if where[number] == one) for one in workers}


@given(WEIGHTS, WORKERS, WORKERS)
def test_every_shard_has_a_worker_that_is_there_and_no_one_has_much_more_than_others(sizes, before, after):
    weights = dict(enumerate(sizes))
    first = spread(weights, before, {})
    where = spread(weights, after, first)
    assert set(where) == set(weights) and set(where.values()) <= set(after)
    busy = loads(weights, where, after)
    assert max(busy.values()) - min(busy.values()) <= 2.0 + 1e-9


def test_shards_of_a_lost_worker_go_to_others_and_the_rest_stay():
    weights = dict.fromkeys(range(12), 1.0)
    before = spread(weights, ["a", "b", "c"], {})
    after = spread(weights, ["a", "b"], before)
    assert all(after[number] == one for number, one in before.items() if one != "c")
    assert loads(weights, after, "ab") == {"a": 6, "b": 6}


def test_a_worker_that_comes_gets_its_part_and_no_more_is_moved():
    weights = dict.fromkeys(range(12), 1.0)
    before = spread(weights, ["a", "b"], {})
    after = spread(weights, ["a", "b", "c"], before)
    assert loads(weights, after, "abc") == {"a": 4, "b": 4, "c": 4}
    assert sum(after[number] != before[number] for number in weights) == 4


def test_workers_beyond_the_shards_get_none():
    assert set(spread({0: 1.0, 1: 1.0}, "abcd", {}).values()) == {"a", "b"}
