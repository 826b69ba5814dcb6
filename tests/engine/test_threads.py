"""Threads call a step once on every shard of the work, whatever their number."""

import threading
import time
from threading import Barrier, Lock, current_thread, main_thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diln.engine.base import run
from diln.engine.threads import AHEAD, Threads, cut

each_number = pytest.mark.parametrize("n_jobs", [1, 2, 4])


class Recorder:
    """Remembers its calls, from whatever thread."""

    def __init__(self):
        self.calls, self.lock = [], Lock()

    def __call__(self, shard, shared):
        with self.lock:
            self.calls.append((shard, shared))


def square(shard, shared):
    """A step that writes into its shard and returns something of it."""
    values, filled = shard
    filled += values**2
    return float(values.sum()) * shared


@each_number
@pytest.mark.parametrize("size", [0, 1, 7, 8, 100])
def test_every_shard_is_given_to_the_step_once_with_what_is_shared(n_jobs, size):
    recorder, pieces = Recorder(), cut(size, 7)
    with Threads(n_jobs) as threads:
        run(threads, recorder, pieces, "shared")
    assert sorted(recorder.calls) == [(piece, "shared") for piece in pieces]


@each_number
def test_results_come_in_order_and_shards_may_come_from_a_generator(n_jobs):
    with Threads(n_jobs) as threads:
        found = list(threads.map(lambda shard, shared: shard + shared, (i for i in range(50)), 100))
    assert found == list(range(100, 150))


@each_number
def test_what_a_step_writes_into_its_shard_is_seen_by_the_next(n_jobs):
    values, filled = np.random.default_rng(0).normal(size=1_000), np.zeros(1_000)
    shards = [(values[first:last], filled[first:last]) for first, last in cut(1_000, 13)]
    with Threads(n_jobs) as threads:
        for times in (1, 2, 3):
            assert sum(threads.map(square, shards, 2.0)) == pytest.approx(2 * values.sum())
            np.testing.assert_allclose(filled, times * values**2, rtol=1e-15)


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_as_many_shards_as_threads_are_under_way_at_once(n_jobs):
    """None gets past the barrier before all are there."""
    together = Barrier(n_jobs)
    with Threads(n_jobs) as threads:
        run(threads, lambda shard, shared: together.wait(timeout=30), range(2 * n_jobs), None)


@pytest.mark.parametrize(("n_jobs", "size"), [(1, 5), (4, 1)])
def test_one_thread_or_one_shard_runs_where_it_is_called(n_jobs, size):
    with Threads(n_jobs) as threads:
        assert list(threads.map(lambda shard, shared: current_thread(), range(size), None)) == [main_thread()] * size


@each_number
@pytest.mark.parametrize("broken", [0, 3, 9])
def test_an_error_of_any_step_is_raised(n_jobs, broken):
    def fail(shard, shared):
        if shard == broken:
            raise ArithmeticError(f"shard {shard}")

    with Threads(n_jobs) as threads, pytest.raises(ArithmeticError, match=f"shard {broken}"):
        run(threads, fail, range(10), None)


@each_number
def test_of_several_errors_that_of_the_first_shard_is_raised(n_jobs):
    def fail(shard, shared):
        if shard >= 4:
            raise ArithmeticError(f"shard {shard}")

    with Threads(n_jobs) as threads, pytest.raises(ArithmeticError, match="shard 4"):
        run(threads, fail, range(10), None)


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_no_step_is_running_when_an_error_is_raised(n_jobs):
    running = []

    def step(shard, shared):
        if shard == 0:
            raise ArithmeticError
        running.append(shard)
        time.sleep(0.05)
        running.remove(shard)

    with Threads(n_jobs) as threads, pytest.raises(ArithmeticError):
        run(threads, step, range(8), None)
    assert running == []


@each_number
def test_work_goes_on_after_an_error(n_jobs):
    recorder = Recorder()

    def fail(shard, shared):
        raise ArithmeticError

    with Threads(n_jobs) as threads:
        with pytest.raises(ArithmeticError):
            run(threads, fail, range(10), None)
        run(threads, recorder, range(10), None)
    assert len(recorder.calls) == 10


def test_threads_end_with_the_block_and_start_again_when_needed():
    before, recorder, threads = threading.active_count(), Recorder(), Threads(2)
    for _ in range(2):
        with threads:
            run(threads, recorder, range(10), None)
            assert threading.active_count() > before
        assert threading.active_count() == before
    assert len(recorder.calls) == 20
    threads.close()


def test_a_number_of_threads_that_makes_no_sense_is_refused():
    for n_jobs in (0, 1.5, None):
        with pytest.raises(ValueError, match="n_jobs is"):
            Threads(n_jobs)
    assert Threads(-1).n_jobs >= 1


def test_cut_of_nothing_is_nothing():
    assert cut(0, 5) == []


@settings(deadline=None, derandomize=True)
@given(st.integers(0, 300), st.integers(1, 64))
def test_cut_makes_up_the_range_from_pieces_of_one_size_and_a_rest(size, piece):
    ranges = cut(size, piece)
    assert [i for first, last in ranges for i in range(first, last)] == list(range(size))
    sizes = [last - first for first, last in ranges]
    assert all(one == piece for one in sizes[:-1])
    assert all(0 < one <= piece for one in sizes[-1:])


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_what_steps_return_is_not_gathered_up_before_it_is_asked_for(n_jobs):
    begun = []
    with Threads(n_jobs) as threads:
        found = threads.map(lambda shard, _: begun.append(shard), range(1_000), None)
        next(found)
        assert len(begun) <= AHEAD * n_jobs + 1
        assert len(list(found)) == 999
    assert sorted(begun) == list(range(1_000))


def test_an_error_ends_the_work_when_its_turn_comes_and_no_step_runs_on():
    running = set()

    def step(shard, _):
        running.add(shard)
        try:
            if shard == 40:
                raise ValueError("forty")
            return shard
        finally:
            running.discard(shard)

    with Threads(2) as threads:
        found = threads.map(step, range(1_000), None)
        assert [next(found) for _ in range(40)] == list(range(40))
        with pytest.raises(ValueError, match="forty"):
            next(found)
        assert not running
