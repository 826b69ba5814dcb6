"""Compiling inner loops: once on a machine where compiled code can be kept, in every process where it cannot."""

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a loop, to run without Python's lock and to be found compiled next time.

    numba refuses to cache where neither the installation nor the user's cache folder can be written to (a read-only
    container, say); the loop is then compiled anew in each process.
    """
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:
        return njit(nogil=True)(function)
