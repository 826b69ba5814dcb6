"""The folder run as a program: python benchmarks/peers."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).parents[1])

from peers.command import main  # noqa: E402  (found by the line above)

main()
