"""A tokenizer that kills the first process to come upon a word, as long as a file says so."""

import os
import signal
from pathlib import Path

WORD, FLAG = "gammaword", "DILN_TEST_DEADLY"


def deadly(text):
    words = text.lower().split()
    if WORD in words:
        try:
            Path(os.environ[FLAG]).unlink()  # by one process
        except (KeyError, FileNotFoundError):
            return words
        os.kill(os.getpid(), signal.SIGKILL)
    return words
