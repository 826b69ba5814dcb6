"""Some thousand cases of a fixed seed, in processes of their own: a crash is a failing test that names the case."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_spoilt_inputs_are_refused_or_give_sound_results():
    command = [sys.executable, "fuzz", "--seed", "1", "--count", "4500"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=ROOT)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
