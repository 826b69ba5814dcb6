"""The folder run as a program: python fuzz."""

import os
import sys
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "1"  # processes with threads cannot be forked safely, and cases are too small for them
sys.path[0] = str(Path(__file__).parents[1])

from fuzz.command import main  # noqa: E402  (found by the line above)

main()
