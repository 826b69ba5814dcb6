"""Compiling inner loops: once on a machine where compiled code can be kept, in every process where it cannot."""

from collections.abc import Callable
from typing import Any

from numba import njit

# Sums may be reordered, which is what lets a loop run on all lanes of the processor; infinities and NaN keep their
# meaning.
REORDER = {"reassoc", "contract", "nsz", "arcp"}


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a loop, to run without Python's lock and to be found compiled next time.

    numba refuses to cache where neither the installation nor the user's cache folder can be written to (a read-only
    container, say); the loop is then compiled anew in each process.
    """
    return _compile(function)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a loop over numbers as ``compiled`` does, with sums in whatever order is fastest.

    The order is fixed when the loop is compiled: the same input gives the same bits each time. Keep sums and stores in
    loops of their own: a loop that has both is compiled in two versions, with sums in different orders, and where the
    arrays happen to lie in memory decides which of them runs.
    """
    return _compile(function, fastmath=REORDER, error_model="numpy")


def _compile(function: Callable[..., Any], **options: Any) -> Any:
    try:
        return njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:
        return njit(nogil=True, **options)(function)
