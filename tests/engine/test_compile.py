import os
import pickle
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numba.core import caching
from numba.core import config as numba_config

from diln.engine import compile as compiling
from diln.engine.compile import compiled
from diln.engine.compiling import MESSAGE
from diln.inference.data import Tokens
from diln.prob.streams import mix


def double(x):
    return 2 * x


def test_a_loop_is_compiled_and_kept():
    loop = compiled(double)
    assert loop(21) == 42
    assert loop.nopython_signatures
    assert sum(loop.stats.cache_hits.values()) + sum(loop.stats.cache_misses.values()) == 1


def test_where_nothing_can_be_written_a_loop_is_compiled_all_the_same(monkeypatch):
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    loop = compiled(double)
    assert loop(21) == 42
    assert not loop.stats.cache_path


def test_numba_keeps_the_stamp_where_it_is_looked_for():
    stamp = compiled(double)._cache._cache_file._source_stamp
    assert stamp[1] == compiling._digest(Path(__file__).parent)


def test_the_digest_knows_every_file_that_holds_a_loop():
    """The rooms' own, at any depth; a loop elsewhere is known by its folder, and calls none of a third folder."""
    for file in compiling.PACKAGE.rglob("*.py"):
        called = re.findall(r"^from diln\.(\w+)", file.read_text("utf-8"), re.MULTILINE)
        if "engine" in called and "engine.compile import" in file.read_text("utf-8"):
            room = file.relative_to(compiling.PACKAGE).parts[0]
            assert room in compiling.ROOMS or set(called) <= {room, "errors", *compiling.ROOMS}, file


def test_the_digest_takes_milliseconds():
    compiling.digest_of.cache_clear()
    begun = time.process_time()
    compiling._digest.__wrapped__(Path(__file__).parent)
    assert time.process_time() - begun < 0.02  # about 2 ms on a quiet machine


def test_where_numba_has_no_stamp_a_loop_is_compiled_all_the_same(monkeypatch):
    monkeypatch.setattr(caching, "IndexDataCacheFile", lambda **_: None)
    loop = compiled(double)
    loop._cache.disable()
    assert loop(21) == 42


def test_a_loop_is_made_when_it_is_first_called():
    """Until then there is no need of numba."""
    code = (
        "import sys\nfrom diln.prob.streams import stream\nbefore = 'numba' in sys.modules\n"
        "stream(1, 2)\nprint(before, 'numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_a_loop_is_pickled_by_its_name():
    assert pickle.loads(pickle.dumps(mix)) is mix


def test_a_loop_that_is_left_out_does_nothing_until_it_is_back():
    loop = compiled(double)
    with compiling.leave_out(loop):
        assert loop(21) == 0
    assert loop(21) == 42


def test_one_process_at_a_time_writes_what_is_compiled(tmp_path, monkeypatch):
    """numba gives two versions of a loop that are written at a time the same file."""
    monkeypatch.setattr(compiling, "PATIENCE", 0.5)
    begun = time.monotonic()
    with compiling._alone(tmp_path):
        assert time.monotonic() - begun < 0.4
        with compiling._alone(tmp_path):  # the file is opened once more, as by another process
            assert time.monotonic() - begun >= 0.5
    with compiling._alone(tmp_path / "nowhere"):
        pass


TWICE = """if True:
    import sys
    import numpy as np
    from diln import LDA
    counts = np.random.default_rng(0).poisson(1.0, (12, 20))
    for _ in range(2):
        LDA(3, max_iter=2, inference="variational").fit(counts)
"""


def test_a_first_fit_says_once_that_it_compiles_and_later_ones_do_not(tmp_path):
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run([sys.executable, "-c", TWICE], env=env, capture_output=True, text=True, check=True).stderr
        for _ in range(2)
    )
    assert first == f"{MESSAGE}\n"
    assert second == ""


CALLER = (
    "from house.engine.compile import kernel\nfrom {callee} import add\n@kernel\ndef total(x):\n    return add(x)\n"
)
CALLEE = "from house.engine.compile import kernel\n@kernel\ndef add(x):\n    return x + {number}\n"
RUN = "from house.room.caller import total; print(total(1), sum(total.stats.cache_hits.values()))"


def rewrite(file: Path, number: int) -> None:
    """Other content, and the same size and time: only who reads the file can tell."""
    file.write_text(CALLEE.format(number=number))
    os.utime(file, (1e9, 1e9))


def run(folder: Path) -> tuple[int, int]:
    """The result in a new process, and how many loops were found compiled."""
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "kept"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", RUN], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result, hits = map(int, done.stdout.split())
    return result, hits


@pytest.mark.parametrize("room", ["room", "inference.deep"])
def test_a_loop_is_compiled_anew_when_one_that_it_calls_has_changed(room, tmp_path):
    house = tmp_path / "house"
    for name in ("room", "engine", room.replace(".", "/")):
        (house / name).mkdir(parents=True, exist_ok=True)
    shutil.copy(compiling.__file__, house / "engine" / "compile.py")
    (house / "room" / "caller.py").write_text(CALLER.format(callee=f"house.{room}.callee"))
    callee = house / room.replace(".", "/") / "callee.py"
    rewrite(callee, 1)
    assert run(tmp_path) == (2, 0)
    assert run(tmp_path) == (2, 1)
    rewrite(callee, 5)
    assert run(tmp_path) == (6, 0)
    assert run(tmp_path) == (6, 1)


class Foreign(NamedTuple):
    """A record of a file that other processes may not be able to import."""

    x: int


def test_what_takes_records_of_other_packages_is_compiled_and_not_kept(tmp_path, monkeypatch):
    """Kept code names its records' classes: one that cannot be imported would make all of it unreadable."""
    monkeypatch.setattr(numba_config, "CACHE_DIR", str(tmp_path))

    loop = compiled(lambda record: record.x)
    assert loop(Foreign(3)) == 3
    assert sum(loop.stats.cache_misses.values()) == 1
    assert not list(tmp_path.rglob("*.nbi"))
    own = compiled(lambda record: record.indptr[0])
    assert own(Tokens(np.array([7]), np.zeros(1, np.int32), np.zeros(1, np.int32), np.array([0]), 1)) == 7
    assert list(tmp_path.rglob("*.nbi"))


def test_what_names_a_record_that_is_gone_is_taken_for_nothing(tmp_path, monkeypatch):
    """As after an upgrade in which a record has another name."""
    monkeypatch.setattr(numba_config, "CACHE_DIR", str(tmp_path))
    assert compiled(double)(21) == 42
    (index,) = tmp_path.rglob("*.nbi")
    with index.open("rb") as file:
        version = pickle.load(file)
    index.write_bytes(pickle.dumps(version) + b"cdiln.nowhere\nGone\n.")
    again = compiled(double)
    assert again(21) == 42
    assert sum(again.stats.cache_misses.values()) == 1
    assert sum(compiled(double).stats.cache_hits.values()) == 0
    third = compiled(double)
    assert third(21) == 42
    assert sum(third.stats.cache_hits.values()) == 1
