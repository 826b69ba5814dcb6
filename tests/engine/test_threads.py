"""Threads call a function once on every piece of the work, whatever their number."""

import threading
from threading import Barrier, Lock, current_thread, main_thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diln.engine.threads import Threads, cut

each_number = pytest.mark.parametrize("n_jobs", [1, 2, 4])


class Recorder:
    """Remembers its calls, from whatever thread."""

    def __init__(self):
        self.calls, self.lock = [], Lock()

    def __call__(self, number, first, last):
        with self.lock:
            self.calls.append((number, first, last))


@each_number
@pytest.mark.parametrize("size", [0, 1, 7, 8, 100])
def test_every_piece_is_called_once_with_its_number(n_jobs, size):
    recorder, pieces = Recorder(), cut(size, 7)
    with Threads(n_jobs) as threads:
        threads.run(recorder, pieces)
    assert sorted(recorder.calls) == [(number, *piece) for number, piece in enumerate(pieces)]


@each_number
def test_pieces_may_come_from_a_generator(n_jobs):
    recorder = Recorder()
    with Threads(n_jobs) as threads:
        threads.run(recorder, ((i, i + 1) for i in range(5)))
    assert sorted(recorder.calls) == [(i, i, i + 1) for i in range(5)]


@each_number
def test_all_is_done_when_run_returns_and_it_can_run_again(n_jobs):
    values, filled = np.random.default_rng(0).normal(size=1_000), np.zeros(1_000)

    def square(number, first, last):
        filled[first:last] += values[first:last] ** 2

    with Threads(n_jobs) as threads:
        for times in (1, 2, 3):
            threads.run(square, cut(1_000, 13))
            np.testing.assert_allclose(filled, times * values**2, rtol=1e-15)


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_as_many_pieces_as_threads_are_under_way_at_once(n_jobs):
    """None gets past the barrier before all are there."""
    together = Barrier(n_jobs)
    with Threads(n_jobs) as threads:
        threads.run(lambda number, first, last: together.wait(timeout=30), cut(2 * n_jobs, 1))


@pytest.mark.parametrize(("n_jobs", "size"), [(1, 5), (4, 1)])
def test_one_thread_or_one_piece_runs_where_it_is_called(n_jobs, size):
    places = []
    with Threads(n_jobs) as threads:
        threads.run(lambda number, first, last: places.append(current_thread()), cut(size, 1))
    assert places == [main_thread()] * size


@each_number
@pytest.mark.parametrize("broken", [0, 3, 9])
def test_an_error_of_any_call_is_raised(n_jobs, broken):
    def fail(number, first, last):
        if number == broken:
            raise ArithmeticError(f"piece {number}")

    with Threads(n_jobs) as threads, pytest.raises(ArithmeticError, match=f"piece {broken}"):
        threads.run(fail, cut(10, 1))


@each_number
def test_of_several_errors_the_first_pieces_is_raised(n_jobs):
    def fail(number, first, last):
        if number >= 4:
            raise ArithmeticError(f"piece {number}")

    with Threads(n_jobs) as threads, pytest.raises(ArithmeticError, match="piece 4"):
        threads.run(fail, cut(10, 1))


@each_number
def test_work_goes_on_after_an_error(n_jobs):
    recorder = Recorder()

    def fail(number, first, last):
        raise ArithmeticError

    with Threads(n_jobs) as threads:
        with pytest.raises(ArithmeticError):
            threads.run(fail, cut(10, 1))
        threads.run(recorder, cut(10, 1))
    assert len(recorder.calls) == 10


def test_threads_end_with_the_block_and_start_again_when_needed():
    before, recorder, threads = threading.active_count(), Recorder(), Threads(2)
    for _ in range(2):
        with threads:
            threads.run(recorder, cut(10, 1))
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
