import os
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from diln.engine.processes import WORTHWHILE, Processes, count_jobs
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
    with Processes(2, os.getpid()) as processes, pytest.raises(WorkerError, match="a worker process died") as raised:
        for _ in range(20):
            list(processes.map(die_at_seven, [7] * 20))
    assert "__main__" not in str(raised.value)


def test_work_that_cannot_be_sent_says_so():
    with Processes(2, lambda: None) as processes, pytest.raises(WorkerError, match="n_jobs=1"):
        list(processes.map(times, range(50)))


def fail_at_many(context, item):
    if item in (5, 9, 23):
        raise ValueError(f"item {item}")
    return item


def items_that_end_badly():
    yield from range(30)
    raise OSError("the disk is gone")


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_of_several_errors_the_first_is_raised_whoever_met_it(n_jobs):
    for _ in range(3):
        with Processes(n_jobs) as processes, pytest.raises(ValueError, match="item 5"):
            list(processes.map(fail_at_many, items_that_end_badly()))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_drawing_items_comes_after_the_results_before_it(n_jobs):
    found = []
    with Processes(n_jobs, 1) as processes, pytest.raises(OSError, match="the disk is gone"):
        for result, _ in processes.map(times, items_that_end_badly()):
            found.append(result)
    assert found == list(range(30))


def test_minus_one_is_all_cores_and_zero_is_refused():
    assert count_jobs(-1) >= 1
    assert count_jobs(-1000) == 1
    assert count_jobs(3) == 3
    with pytest.raises(ValueError, match="-1 for one for each core"):
        Processes(0)


class NeedyError(Exception):
    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def raise_needy(context, item):
    raise NeedyError("this", "that")


def test_an_error_that_cannot_be_sent_is_said_all_the_same():
    for _ in range(3):
        with Processes(2) as processes, pytest.raises((NeedyError, WorkerError), match="this and that"):
            list(processes.map(raise_needy, range(30)))


class Unloadable:
    def __reduce__(self):
        return (int, ("no number",))


def test_work_that_cannot_be_loaded_by_a_worker_says_so():
    with Processes(2, Unloadable()) as processes, pytest.raises(WorkerError, match="use n_jobs=1"):
        list(processes.map(times_nothing, range(60)))


def times_nothing(context, item):
    return item


def test_nothing_is_left_in_the_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for _ in range(4):
        with Processes(3) as processes, pytest.raises(ValueError, match="item 5"):
            list(processes.map(fail_at_many, range(40)))
        with Processes(2, 1) as processes:
            list(processes.map(times, range(40)))
    assert list(tmp_path.iterdir()) == []


SCRIPT = """
import sys, time
from pathlib import Path
from diln.engine.processes import Processes

if __name__ == "__mp_main__":  # a worker, in its imports
    Path(sys.argv[1]).touch()
    time.sleep(0.5)

def wait(context, item):
    time.sleep(0.02)

if __name__ == "__main__":
    try:
        with Processes(2) as processes:
            list(processes.map(wait, range(10_000)))
    except KeyboardInterrupt:
        print("interrupted")
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="interrupts cannot be held back here")
def test_an_interrupt_of_all_processes_is_for_the_first_even_while_workers_start(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, str(tmp_path / "script.py"), str(tmp_path / "started")]
    process = subprocess.Popen(
        command, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while process.poll() is None and not (tmp_path / "started").exists():
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    assert process.communicate(timeout=60) == ("interrupted\n", "")


TWICE = """
import os, sys, time
from pathlib import Path
from diln.engine.processes import Processes

def wait(context, item):
    (Path(sys.argv[1]) / str(os.getpid())).touch()
    time.sleep(60)

if __name__ == "__main__":
    try:
        with Processes(3) as processes:
            try:
                list(processes.map(wait, range(10)))
            except KeyboardInterrupt:
                print("once", flush=True)
                raise
    except KeyboardInterrupt:
        print("ended", flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="interrupts cannot be held back here")
def test_a_second_interrupt_ends_workers_that_are_waited_for(tmp_path):
    (tmp_path / "script.py").write_text(TWICE)
    for folder in ("pids", "temporary"):
        (tmp_path / folder).mkdir()
    process = subprocess.Popen(
        [sys.executable, str(tmp_path / "script.py"), str(tmp_path / "pids")], start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
    )  # fmt: skip
    while process.poll() is None and len(list((tmp_path / "pids").iterdir())) < 3:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    assert process.stdout.readline() == "once\n"
    time.sleep(0.3)  # until it waits
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    try:
        assert process.communicate(timeout=20) == ("ended\n", "")
    finally:
        process.kill()
    for path in (tmp_path / "pids").iterdir():
        with pytest.raises(ProcessLookupError):
            os.kill(int(path.name), 0)
    assert list((tmp_path / "temporary").iterdir()) == []


def hit_in_compiled_code(context, item):
    """In the first process as when Ctrl-C comes while NumPy's or numba's code is about to return."""
    if os.getpid() != context:
        time.sleep(0.5)
        return
    BEGUN_HERE.append(item)
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt as error:
        raise SystemError("returned a result with an exception set") from error


BEGUN_HERE = []


def test_an_interrupt_of_the_first_process_does_not_wait_for_its_turn():
    BEGUN_HERE.clear()
    with Processes(2, os.getpid(), worthwhile=2) as processes, pytest.raises(KeyboardInterrupt):
        next(processes.map(hit_in_compiled_code, range(4)))
    assert len(BEGUN_HERE) == 1


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="interrupts cannot be held back here")
def test_starting_processes_leaves_interrupts_as_they_were():
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    with Processes(2, 1) as processes:
        list(processes.map(times, range(50)))
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before
