"""The fuzzer sees what it is there to see, and names the case."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
KINDS = {
    "crash": "crash: SIGSEGV",
    "killed": "crash: SIGKILL",
    "hang": "slow: more than 1 s",
    "memory": "MemoryError",
    "nan": "result: nan",
    "infinite": "result: inf",
    "key": "KeyError",
    "empty": "ValueError with an empty message",
    "lines": "ValueError with a message of several lines",
    "bare": "foreign TypeError",
    "warned": "RuntimeWarning",
    "read": "touched: open",
    "written": "touched: open",
    "left": "touched: open",
}


@pytest.fixture(scope="module")
def seen():
    command = [sys.executable, str(HERE / "faulty.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("fault", KINDS)
def test_a_fault_is_seen_and_its_case_named(seen, fault):
    (found,) = seen[fault]["found"].items()
    assert found[0].startswith(KINDS[fault])
    assert found[1] == 1


@pytest.mark.parametrize("name", ["sound", "refused", "inside"])
def test_what_is_allowed_is_no_finding(seen, name):
    assert seen[name] == {"cases": 3, "found": {}}


@pytest.mark.parametrize("fault", KINDS)
def test_cases_behind_a_fault_are_run(seen, fault):
    assert seen[fault]["cases"] == 3


def test_a_fault_of_the_fuzzer_itself_is_told_and_ends_nothing(seen):
    assert seen["clumsy"]["found"] == ["a fault of the fuzzer: KeyError"]
