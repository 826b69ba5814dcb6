"""Ctrl-C at any moment ends the command quietly, with its exit code, also while its modules are imported."""

import signal
import subprocess
import sys
import time

import pytest

STARTED = "import os; from diln.__main__ import main; os.write(1, b'.'); main()"
# Interrupts itself when so many modules of the command have been imported.
AT_IMPORT = """if True:
    import os, signal, sys
    left = int(sys.argv.pop(1))
    class Interrupting:
        def find_spec(name, path=None, target=None):
            global left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGINT)
    from diln.__main__ import main
    sys.meta_path.insert(0, Interrupting)
    main()
"""
QUIET = (128 + signal.SIGINT, "")


def run(code, *args):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, args)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, restore_signals=True,
    )  # fmt: skip


@pytest.mark.parametrize("number", [1, 2, 5, 20, 60, 150])
def test_an_interrupt_amid_an_import_ends_the_command_without_a_traceback(number, tmp_path):
    process = run(AT_IMPORT, number, "corpus", "build", "builtin:docs", "-o", tmp_path / "corpus")
    err = process.communicate(timeout=120)[1]
    assert (process.returncode, err) == QUIET
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("moment", [0.01, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6])
def test_an_interrupt_in_the_first_moments_ends_the_command_without_a_traceback(moment, tmp_path):
    process = run(STARTED, "corpus", "build", "builtin:docs", "-o", tmp_path / "corpus", "-q")
    assert process.stdout.read(1) == "."
    time.sleep(moment)
    process.send_signal(signal.SIGINT)
    err = process.communicate(timeout=120)[1]
    assert process.returncode == 128 + signal.SIGINT
    assert err in ("", "error: interrupted; nothing was changed\n")


def test_an_interrupt_when_all_is_done_ends_the_command_without_a_traceback(tmp_path):
    last = "import atexit, os, signal; atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT)); " + STARTED
    process = run(last, "--version")
    assert (process.communicate(timeout=120)[1], process.returncode) == ("", 128 + signal.SIGINT)


def test_a_command_whose_interrupts_are_ignored_goes_on(tmp_path):
    ignoring = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); " + STARTED
    process = run(ignoring, "--version")
    process.stdout.read(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    assert out.startswith("diln ")
