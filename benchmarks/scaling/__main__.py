"""The folder run as a program: python benchmarks/scaling."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).parents[1])

from scaling.command import main  # noqa: E402  (found by the line above)

if __name__ == "__main__":
    main()
