"""Memory is bounded by the size of a block, not by the number of documents."""

import subprocess
import sys

import numpy as np
import pytest

resource = pytest.importorskip("resource")

MEASURE = """
import resource, sys
from diln.corpus import build
build(sys.argv[1], sys.argv[2], max_df=1.0)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak(source, directory) -> int:
    command = [sys.executable, "-c", MEASURE, str(source), str(directory)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_five_times_the_documents_take_no_more_than_a_tenth_more_memory(tmp_path):
    rng = np.random.default_rng(0)
    words = np.array(["".join(rng.choice(list("abcdefgh"), 6)) for _ in range(5000)])
    lines = "".join(" ".join(words[rng.integers(0, 5000, 100)]) + "\n" for _ in range(30_000))  # 21 MB, several shards
    (tmp_path / "once.txt").write_text(lines)
    (tmp_path / "five.txt").write_text(lines * 5)
    once = peak(tmp_path / "once.txt", tmp_path / "once")
    assert peak(tmp_path / "five.txt", tmp_path / "five") < 1.1 * once
