import os
import signal

import pytest

from diln.engine.processes import WORTHWHILE, Processes
from diln.errors import WorkerError


def times(context, item):
    return context * item, os.getpid()


def fail_at_seven(context, item):
    if item == 7:
        raise ValueError("seven")
    return item


def die_at_seven(context, item):
    if item == 7 and os.getpid() != context:
        os.kill(os.getpid(), signal.SIGKILL)
    return item


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_results_come_in_order_whatever_the_number_of_processes(n_jobs):
    with Processes(n_jobs, 3) as processes:
        found = list(processes.map(times, range(50)))
        again = list(processes.map(times, range(10)))
    assert [result for result, _ in found] == [3 * item for item in range(50)]
    assert [result for result, _ in again] == [3 * item for item in range(10)]
    assert len({pid for _, pid in found}) <= n_jobs
    if n_jobs == 1:
        assert {pid for _, pid in found} == {os.getpid()}


def test_few_items_start_no_process():
    with Processes(4, 1) as processes:
        assert [pid for _, pid in processes.map(times, range(WORTHWHILE - 1))] == [os.getpid()] * (WORTHWHILE - 1)


def test_items_are_drawn_only_as_they_are_needed():
    drawn = []

    def items():
        for item in range(1000):
            drawn.append(item)
            yield item

    with Processes(2, 1) as processes:
        results = processes.map(times, items())
        next(results)
        assert len(drawn) < 30
        results.close()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_first_error_in_order_is_raised(n_jobs):
    with Processes(n_jobs) as processes, pytest.raises(ValueError, match="seven"):
        list(processes.map(fail_at_seven, range(100)))


def test_a_worker_that_is_killed_ends_in_a_named_error_and_no_hang():
    with Processes(2, os.getpid()) as processes, pytest.raises(WorkerError, match="a worker process died"):
        for _ in range(20):
            list(processes.map(die_at_seven, [7] * 20))


def test_work_that_cannot_be_sent_says_so():
    with Processes(2, lambda: None) as processes, pytest.raises(WorkerError, match="n_jobs=1"):
        list(processes.map(times, range(50)))
