"""Have memory go back to the system as soon as it is free."""

import ctypes
import sys
from contextlib import suppress

LARGE = 1 << 20  # bytes of an array that gets pages of its own
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # as mallopt has them: free bytes that a heap may end with, and LARGE


def give_back_large() -> None:
    """Have large arrays of this process, from here on, leave its memory when they are let go of.

    glibc gives every thread a heap of its own, and takes ever larger arrays from these heaps, in whose gaps what comes
    later does not fit: a process that makes and drops large arrays for hours comes to keep tens of megabytes that
    nobody uses. Other systems are left as they are.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # of another C library
            library = ctypes.CDLL(None)
            library.mallopt(MMAP_THRESHOLD, LARGE)
            library.mallopt(TRIM_THRESHOLD, LARGE)
            library.malloc_trim(0)
