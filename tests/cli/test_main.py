"""What every command has: described options, one sentence for errors and warnings, JSON without odd numbers."""

import io
import json
import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
import typer
from commands import diln, in_its_own_process

from diln.cli import console
from diln.cli.console import plain_warnings, say_json, told_of_interrupts
from diln.cli.main import app
from diln.errors import WorkerError
from diln.models.fitted import Fitted


@pytest.fixture
def fails_with(monkeypatch):
    """Have every command that reads a model fail with an error."""

    def fail(error: BaseException) -> None:
        def load(*_: object) -> None:
            raise error

        monkeypatch.setattr(Fitted, "load", load)

    return fail


def test_a_bad_value_is_one_sentence_and_exit_code_2(fails_with):
    fails_with(ValueError("n_words is 0; give a number from 1 on"))
    assert diln("topics", "model") == (2, "", "error: n_words is 0; give a number from 1 on\n")


@pytest.mark.parametrize("detail", ["", "Unable to allocate 8 TiB"])
def test_too_little_memory_is_one_sentence_and_exit_code_1(detail, fails_with):
    fails_with(MemoryError(detail) if detail else MemoryError())
    done = diln("topics", "model")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: there is not enough memory")
    assert detail in done.err
    assert "use fewer topics (--topics)" in done.err
    assert done.err.count("\n") == 1


def test_a_worker_that_died_is_one_sentence_and_exit_code_1(fails_with):
    fails_with(WorkerError("a worker process died; run again with fewer processes"))
    assert diln("topics", "model") == (1, "", "error: a worker process died; run again with fewer processes\n")


@pytest.mark.parametrize(
    "error",
    [RuntimeError("it is\nbroken"), KeyError("broken"), np.linalg.LinAlgError("broken"), RecursionError("broken")],
)
def test_other_errors_are_one_sentence_and_show_where_they_came_from_if_asked(error, fails_with):
    fails_with(error)
    done = diln("topics", "model")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"error: {type(error).__name__}: ")
    assert done.err.endswith("please report it with what diln --debug and the same command show\n")
    assert done.err.count("\n") == 1
    with pytest.raises(type(error), match="broken"):
        diln("--debug", "topics", "model")


def test_sigterm_is_an_interrupt_with_an_exit_code_of_its_own(monkeypatch):
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(Fitted, "load", lambda *_: signal.raise_signal(signal.SIGTERM))
    assert diln("topics", "model") == (143, "", "")
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize(
    "line", [("topics", "{shelf}/diln"), ("info", "{shelf}/diln", "--json"), ("fit", "--help")], ids=" ".join
)
def test_output_that_nobody_reads_is_no_error(line, shelf):
    command = [sys.executable, "-m", "diln", *(word.format(shelf=shelf) for word in line)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()
    process.stdout = None
    assert (process.communicate(timeout=60)[1], process.returncode) == ("", 0)


@pytest.mark.parametrize(
    ("line", "closed", "code"),
    [("info {shelf}/diln --json", ">&-", 0), ("info nowhere", "<&- >&-", 2), ("info nowhere", "<&- >&- 2>&-", 2)],
)
def test_a_command_without_streams_does_what_it_does_otherwise(line, closed, code, shelf):
    words = line.format(shelf=shelf)
    shell = ["/bin/sh", "-c", f"exec {sys.executable} -m diln {words} {closed}"]
    done = subprocess.run(shell, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr == ("" if "2>&-" in closed else diln(*words.split()).err)


@pytest.mark.parametrize("number", [1, 2])
def test_no_file_of_ours_gets_the_number_of_a_closed_stream(number, monkeypatch, tmp_path):
    kept = os.dup(number)
    monkeypatch.setattr(sys, "stdout", None)
    try:
        os.close(number)
        console.have_streams()
        with (tmp_path / "file").open("w") as file:
            assert file.fileno() > 2
        sys.stdout.close()
    finally:
        os.dup2(kept, number)
        os.close(kept)


@pytest.mark.parametrize("name", ["COLUMNS", "LINES"])
@pytest.mark.parametrize("size", ["0", "00", "\u00b2", "-5", "", "wide", "99999999999", "9" * 5000])
def test_a_size_of_the_terminal_that_is_none_is_not_taken(size, name, monkeypatch):
    monkeypatch.setenv(name, size)
    console.forget_odd_sizes()
    assert name not in os.environ


@pytest.mark.parametrize("size", ["1", "080", "40", "10000"])
def test_a_size_of_the_terminal_is_taken(size, monkeypatch):
    monkeypatch.setenv("COLUMNS", size)
    console.forget_odd_sizes()
    assert console.output(io.StringIO()).width == int(size)


def test_a_terminal_of_no_columns_does_not_make_errors_empty():
    done = in_its_own_process("info", "nowhere", env={**os.environ, "COLUMNS": "0"})
    assert (done.code, done.err) == (2, diln("info", "nowhere").err)


def test_what_a_terminal_cannot_show_is_drawn_with_what_it_has(shelf, tmp_path):
    assert "\u2501\u2581\u2588 5\xb11 caf\xe9\u2026 \u03c9".encode("ascii", "plain") == b"=.@ 5+-1 caf\\xe9~ \\u03c9"
    assert "\u2501 5\xb11 caf\xe9 \u03c9".encode("latin-1", "plain") == b"= 5\xb11 caf\xe9 \\u03c9"
    (tmp_path / "t.txt").write_text("caf\xe9 th\xe9\n" * 5, encoding="utf-8")
    assert diln("corpus", "build", tmp_path / "t.txt", "-o", tmp_path / "c", "--max-df", "1.0", "-qj1").code == 0
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for line, shown in ((("corpus", "info", tmp_path / "c"), "caf\\xe9"), (("info", shelf / "diln"), "score -")):
        done = in_its_own_process(*line, env=env)
        assert (done.code, done.err, "\\u" in done.out, shown in done.out) == (0, "", False, True)


@pytest.mark.parametrize("width", [1, 20, 500])
@pytest.mark.parametrize("line", [("topics",), ("correlations",), ("info",)], ids=" ".join)
def test_lines_of_any_width_are_filled(line, width, shelf, monkeypatch):
    monkeypatch.setattr(console.OUT, "width", width)
    assert diln(*line, shelf / "diln").code == 0


def hit_in_compiled_code(*_: object) -> None:
    """As when Ctrl-C comes while NumPy's or numba's code is about to return."""
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt as error:
        raise SystemError("returned a result with an exception set") from error


def test_an_interrupt_stays_one_whatever_compiled_code_makes_of_it(monkeypatch, capsys):
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(Fitted, "load", hit_in_compiled_code)
    assert diln("topics", "model") == (130, "", "")
    with pytest.raises(KeyboardInterrupt), told_of_interrupts("nothing was lost"):
        hit_in_compiled_code()
    assert capsys.readouterr().err == "error: interrupted; nothing was lost\n"
    assert signal.getsignal(signal.SIGINT) is before


class Interrupted:
    """Something whose finalizer is interrupted; Python ignores what that raises."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def test_an_interrupt_that_python_ignores_comes_again(monkeypatch):
    def load(*_: object) -> None:
        Interrupted()
        time.sleep(60)

    monkeypatch.setattr(Fitted, "load", load)
    begun, hook = time.monotonic(), sys.unraisablehook
    assert diln("topics", "model") == (130, "", "")
    assert time.monotonic() - begun < 30
    assert sys.unraisablehook is hook


def test_an_interrupt_that_is_lost_comes_at_the_end_of_the_work(monkeypatch, capsys):
    monkeypatch.setattr(sys, "unraisablehook", lambda ignored: None)
    done = []
    with pytest.raises(KeyboardInterrupt), told_of_interrupts("nothing was lost"):
        Interrupted()
        done.append("the rest")
    assert done == ["the rest"]
    assert capsys.readouterr().err == "error: interrupted; nothing was lost\n"


@pytest.mark.parametrize(
    ("kind", "shown"),
    [(UserWarning, True), (RuntimeWarning, True), (FutureWarning, True), (ResourceWarning, False),
     (DeprecationWarning, False), (PendingDeprecationWarning, False), (ImportWarning, False)],
)  # fmt: skip
def test_warnings_are_a_line_each_and_those_for_programmers_none(kind, shown, capsys):
    with plain_warnings():
        warnings.warn("something is odd", kind, stacklevel=1)
    assert capsys.readouterr().err == ("warning: something is odd\n" if shown else "")


def test_json_has_null_for_numbers_that_are_none(capsys):
    say_json({"a": float("nan"), "b": [1.5, float("inf")], "c": {"d": (np.float64("-inf"), 2)}, "e": "NaN", "f": True})
    printed = capsys.readouterr().out
    assert json.loads(printed, parse_constant=pytest.fail) == {
        "a": None, "b": [1.5, None], "c": {"d": [None, 2]}, "e": "NaN", "f": True,
    }  # fmt: skip
    assert printed.count("\n") == 1


def commands(group, name="diln"):
    """Every command, by its words."""
    for part, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{name} {part}")
        else:
            yield f"{name} {part}", command


COMMANDS = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_argument_and_option_is_described_in_a_sentence(name):
    texts = {None: COMMANDS[name].help, **{one.name: one.help for one in COMMANDS[name].params}}
    assert {part: text for part, text in texts.items() if not text or text.strip()[-1] not in ".)"} == {}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_of_its_use(name):
    assert name in COMMANDS[name].epilog


@pytest.mark.parametrize(
    "line",
    [
        "topics {model} -o {long}.csv", "documents {model} -o {long}.csv", "report {model} -o {long}.html",
        "plot {model} map -o {long}.svg", "evaluate {model} {long}", "info {long}", "fit {texts} -o {long}",
        "corpus build {texts} -o {long}", "compare {texts} -o {long}", "corpus info {long}",
    ],
)  # fmt: skip
def test_a_name_that_is_too_long_is_said_to_be_and_not_to_need_room(line, shelf, tmp_path):
    long = tmp_path / ("x" * 300)
    done = diln(*line.format(model=shelf / "diln", texts=shelf / "texts.jsonl", long=long).split())
    assert done.code == 2
    (said,) = [text for text in done.err.splitlines() if text.startswith("error: ")]
    assert said.endswith(": the name is too long; give a shorter one")


@pytest.mark.parametrize(("number", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_an_interrupt_of_code_in_a_string_ends_with_its_exit_code(number, code, tmp_path):
    """Libraries have such code as they are imported, and Python remembers an interrupt of it beyond its handling."""
    struck = f"exec('import signal; signal.raise_signal(signal.{number})')"
    run = f"from diln.cli import main\ndef app():\n    {struck}\nmain.app = app\nmain.main()"
    (tmp_path / "struck.py").write_text(run)
    done = subprocess.run([sys.executable, "-m", "struck"], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (code, "")
