"""Memory of large arrays leaves the process when they are let go of, wherever they lie among others."""

import subprocess
import sys
from pathlib import Path

import pytest

CHILD = """
import threading
import numpy as np
from diln.engine.freed import give_back_large

def resident():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("RssAnon"))

give_back_large()
for size in (2, 8, 24):  # which has glibc take arrays as large as these from its heaps
    np.ones(size << 17)
begun = resident()
kept = []

def work():
    large = [np.ones(3 << 17) for _ in range(20)]  # 60 MB
    kept.append(np.ones(1000))  # above them

for _ in range(2):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
print(resident() - begun)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell")
def test_large_arrays_leave_no_gaps_behind_in_the_heaps():
    found = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, timeout=120, check=True)
    assert float(found.stdout) < 10  # glibc as it is by itself: 60
