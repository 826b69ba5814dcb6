"""Progress where there is no terminal, and what of it a terminal shows while loops are compiled."""

import io
import json
import signal
import subprocess
import sys
import time

import pytest
from commands import write_texts
from numba.core import event
from rich.console import Console

from diln.cli import lines
from diln.cli.console import ProgressLine
from diln.cli.fitline import FitLine, Passes
from diln.cli.interrupts import StopSign
from diln.cli.lines import NowAndThen
from diln.engine import compiling
from diln.inference.progress import Progress

MOST = 60  # seconds that anything may take

OFTEN = """if True:
    import sys
    from diln.cli import lines
    from diln.cli.main import main
    lines.FIRST, lines.NEXT = 0.0, 0.05
    main()
"""


def begun(*args: object) -> subprocess.Popen:
    """The command in a process of its own, which says often how far it is."""
    command = [sys.executable, "-c", OFTEN, *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_without_a_terminal_a_fit_says_now_and_then_how_far_it_is(tmp_path):
    texts = write_texts(tmp_path / "many.jsonl", 1000)
    process = begun("fit", texts, "-o", tmp_path / "m", "--passes", 200000, "--states", 100000, "-j1")
    said = []
    while "averaging" not in (said or [""])[-1]:
        said.append(process.stderr.readline())
        assert said[-1], said
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=MOST)
    assert process.returncode == 130
    for part in ("sweep ", " documents/s", "score -", " topics", "learning: batch", " left"):
        assert part in said[-1]
    assert "\x1b" not in "".join([*said, rest])


def test_quiet_means_no_progress(tmp_path):
    texts = write_texts(tmp_path / "many.jsonl", 100)
    process = begun("fit", texts, "-o", tmp_path / "m", "--passes", 30, "--json", "-j1")
    printed, said = process.communicate(timeout=MOST)
    assert (process.returncode, said, json.loads(printed)["stopped"]) == (0, "", None)


def waited_for(stream: io.StringIO, number: int) -> list[str]:
    """The first lines of a stream, when there are so many."""
    end = time.perf_counter() + MOST
    while stream.getvalue().count("\n") < number:
        assert time.perf_counter() < end
        time.sleep(0.005)
    return stream.getvalue().splitlines()[:number]


def test_a_line_comes_first_after_ten_seconds_and_then_every_minute(monkeypatch):
    assert (lines.FIRST, lines.NEXT) == (10, 60)
    now, stream = 0.0, io.StringIO()
    monkeypatch.setattr(lines, "LOOKS", 0.001)
    monkeypatch.setattr(lines.time, "monotonic", lambda: now)
    told = NowAndThen(lambda elapsed: f"after {elapsed:.0f} s", Console(file=stream))
    told.start()
    for elapsed, number in ((9.9, 0), (10.0, 1), (69.0, 1), (70.0, 2), (130.0, 3)):
        now = elapsed
        waited_for(stream, number)
    told.stop()
    assert stream.getvalue() == "after 10 s\nafter 70 s\nafter 130 s\n"


def test_that_a_fit_is_stopping_is_said_at_once():
    stream, stop = io.StringIO(), StopSign()
    with FitLine(Passes(100, 1000, at_most=True), console=Console(file=stream), stop=stop) as line:
        line.look(Progress(iteration=20, documents=20_000, seconds=10.0, n_topics=43))
        assert stop.armed
        stop.number = signal.SIGINT
        said = waited_for(stream, 1)
    assert said[0].startswith("stopping after this sweep, pass or step; Ctrl-C again abandons the fit")


def test_counting_says_how_far_it_is(monkeypatch):
    monkeypatch.setattr(lines, "FIRST", 0.0)
    stream = io.StringIO()
    with ProgressLine("counting", stream=stream) as line:
        line.step(250, 1000, 5000)
        said = waited_for(stream, 1)
    assert said[0].startswith("counting  5,000 documents  ")
    assert said[0].endswith(" left")
    assert ProgressLine("counting", stream=stream, quiet=True).lines is None


def test_loops_that_are_compiled_are_told_from_a_first_sweep():
    compiling.listen()
    with (
        FitLine(Passes(100, 1000, at_most=True), quiet=True) as line,
        ProgressLine("transforming", quiet=True) as other,
    ):
        with event.trigger_event("numba:compile"):
            assert line.parts(3.0) == [(1, "compiling (once)"), (1, "0:03")]
            assert other.doing == "transforming: compiling (once)"
        assert line.parts(3.0) == [(1, "finding a start"), (1, "0:03")]
        assert other.doing == "transforming"
        line.look(Progress(iteration=20, documents=20_000, seconds=10.0, n_topics=43))
        with event.trigger_event("numba:compile"):
            assert (1, "compiling (once)") in line.parts(3.0)
        assert (1, "compiling (once)") not in line.parts(3.0)


@pytest.mark.parametrize("error", [OSError("no space left"), BrokenPipeError()])
def test_a_line_that_cannot_be_written_ends_nothing(error, monkeypatch):
    class Full(io.StringIO):
        tried = 0

        def write(self, text: str) -> int:
            self.tried += 1
            raise error

    monkeypatch.setattr(lines, "FIRST", 0.0)
    stream, end = Full(), time.monotonic() + MOST
    with ProgressLine("counting", stream=stream):
        while not stream.tried:
            assert time.monotonic() < end
            time.sleep(0.005)
