"""Compiling inner loops: once on a machine where compiled code can be kept, in every process where it cannot."""

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import njit

# Sums may be reordered, which is what lets a loop run on all lanes of the processor; infinities and NaN keep their
# meaning.
REORDER = {"reassoc", "contract", "nsz", "arcp"}
HERE = Path(__file__)
SHARED = HERE.parents[1] / "prob"  # the folder whose loops those of other folders call


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a loop, to run without Python's lock and to be found compiled next time.

    numba refuses to cache where neither the installation nor the user's cache folder can be written to (a read-only
    container, say); the loop is then compiled anew in each process.
    """
    return _compile(function)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a loop over numbers as ``compiled`` does, with sums in whatever order is fastest.

    The order is fixed when the loop is compiled: the same input gives the same bits each time. Two things see to it:

    - What a kernel calls is compiled into it. Otherwise every kernel that calls another has a copy of it, optimised by
      itself, with sums in its own order; all copies have one name, and the first that a process loads serves them all.
    - Keep sums and stores in loops of their own: a loop that has both is compiled in two versions, with sums in
      different orders, and where the arrays happen to lie in memory decides which of them runs.
    """
    return _compile(function, fastmath=REORDER, error_model="numpy", forceinline=True)


def _compile(function: Callable[..., Any], **options: Any) -> Any:
    try:
        loop = njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:
        return njit(nogil=True, **options)(function)
    _stamp(loop, Path(function.__code__.co_filename))
    return loop


def _stamp(loop: Any, file: Path) -> None:
    """Have compiled code taken for stale when any file changed that it may have been compiled from.

    numba looks at the function's own file only, but compiles into it the functions that it calls, wherever they stand.
    There is no public way to tell it so: should its insides be others one day, it does as it does by itself.
    """
    kept: Any = getattr(getattr(loop, "_cache", None), "_cache_file", None)
    if hasattr(kept, "_source_stamp") and file.is_file():
        kept._source_stamp = (kept._source_stamp, _digest(file.parent))


@cache
def _digest(folder: Path) -> str:
    """What stands in the files that a loop of this folder may be compiled from: those of four folders."""
    folders = (folder, folder.parent, SHARED, HERE.parent)
    files = [file for one in folders for file in sorted(one.glob("*.py"))]
    contents = (file.read_bytes() for file in files if file.is_file())  # an editor's lock is a link to nowhere
    return sha256(b"".join(sha256(content).digest() for content in contents)).hexdigest()
