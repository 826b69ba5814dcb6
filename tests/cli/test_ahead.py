"""What a first fit needs is compiled beside reading, by processes that nobody has to look after."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import write_texts

from diln.cli import ahead
from diln.cli.ahead import Ahead
from diln.engine.compile import is_to_keep
from diln.models.parameters import parameters_of

SCRIPT = Path(__file__).with_name("ahead_script.py")
COUNTED = """if True:
    import json, sys
    from numba.core import event
    from diln.cli.main import app
    with event.install_recorder("numba:compile") as heard:
        app(sys.argv[1:], standalone_mode=False)
    names = {one.data["dispatcher"].py_func.__module__ for _, one in heard.buffer}
    sys.stderr.write("compiled: " + json.dumps(sorted(name for name in names if name.startswith("diln"))))
"""


def with_caches(folder: Path) -> dict[str, str]:
    return {**os.environ, "NUMBA_CACHE_DIR": str(folder)}


def gone(number: int) -> bool:
    """Whether there is no such process; one that nobody has asked for yet has ended, too."""
    try:
        return Path(f"/proc/{number}/stat").read_text("utf-8").rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def wait_until(condition, seconds=60.0):
    late = time.monotonic() + seconds
    while not condition() and time.monotonic() < late:
        time.sleep(0.05)
    return condition()


@pytest.fixture
def two_cores(monkeypatch):
    monkeypatch.setattr(ahead, "cores", lambda: 2)


@pytest.fixture
def nothing_kept(monkeypatch):
    monkeypatch.setattr(ahead, "to_compile", lambda parameters: True)


def test_the_command_compiles_nothing_that_was_compiled_beside_it(tmp_path):
    if ahead.cores() < 2:
        pytest.skip("on one core nothing is compiled beside reading")
    texts, caches = write_texts(tmp_path / "texts.jsonl", 60), tmp_path / "caches"
    line = ["fit", texts, "-o", tmp_path / "m", "--topics", 5, "--passes", 8, "--no-index", "-qj1"]
    command = [sys.executable, "-c", COUNTED, *map(str, line)]
    done = subprocess.run(command, env=with_caches(caches), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    compiled = json.loads(done.stderr.rpartition("compiled: ")[2])
    assert [name for name in compiled if name.startswith(("diln.inference", "diln.prob"))] == []
    assert list(caches.rglob("*draw_topics*.nbc"))
    assert list(caches.rglob("*place_documents*.nbc"))


def test_processes_end_when_the_one_that_started_them_is_killed(tmp_path):
    if ahead.cores() < 2:
        pytest.skip("on one core nothing is compiled beside reading")
    command = [sys.executable, str(SCRIPT)]
    with subprocess.Popen(command, env=with_caches(tmp_path), stdout=subprocess.PIPE, text=True) as parent:
        numbers = [int(word) for word in parent.stdout.readline().split()]
        assert len(numbers) == 2
        assert wait_until(lambda: list(tmp_path.rglob("*.nbc"))), "they have not begun to compile"
        assert not any(map(gone, numbers))
        parent.send_signal(signal.SIGKILL)
    assert wait_until(lambda: all(map(gone, numbers))), "they are still there"
    assert not list(tmp_path.rglob("*.tmp.*")), "something is half written"


def test_leaving_ends_the_processes_at_once(two_cores, nothing_kept, monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    with Ahead(parameters_of("DILN", {})) as beside:
        assert len(beside.processes) == 2
        assert beside.busy
    assert all(process.returncode is not None for process in beside.processes)


def test_whatever_goes_wrong_in_them_is_left_to_the_fit(two_cores, nothing_kept, monkeypatch, capfd):
    monkeypatch.setattr(ahead, "LISTEN", "raise SystemExit('broken')")
    with Ahead(parameters_of("DILN", {})) as beside:
        beside.wait()
        assert not beside.busy
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with Ahead(parameters_of("DILN", {})) as beside:
        beside.wait()
        assert not beside.busy
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("cores", "kept", "wanted"), [(1, False, True), (2, True, True), (2, False, False)], ids=["cores", "kept", "wanted"]
)
def test_no_process_is_started_for_nothing(cores, kept, wanted, monkeypatch):
    monkeypatch.setattr(ahead, "cores", lambda: cores)
    monkeypatch.setattr(ahead, "to_compile", lambda parameters: not kept)
    with Ahead(parameters_of("DILN", {}), wanted=wanted) as beside:
        assert beside.processes == []
        assert not beside.busy


def test_what_the_processes_fit_is_small_and_can_be_sent_to_them():
    given = {"n_components": 400, "inference": "variational", "init": object()}
    few = ahead.small(parameters_of("DILN", given))
    assert few.n_components == 3
    assert few.init == parameters_of("DILN", {"inference": "variational"}).init


def test_a_loop_that_cannot_be_kept_is_not_to_be_compiled_ahead(monkeypatch):
    from numba.core import caching

    from diln.engine.compile import compiled

    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    assert not is_to_keep(compiled(lambda x: x))
