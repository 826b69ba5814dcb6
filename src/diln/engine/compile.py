"""Compiling inner loops: once on a machine where compiled code can be kept, in every process where it cannot."""

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import njit

# Sums may be reordered, which is what lets a loop run on all lanes of the processor; infinities and NaN keep their
# meaning.
REORDER = {"reassoc", "contract", "nsz", "arcp"}
OPTIONS: Any = {"fastmath": REORDER, "error_model": "numpy", "forceinline": True}
PACKAGE = Path(__file__).parents[1]
ROOMS = ("engine", "prob", "inference")  # the folders whose loops, and the records that these take, others may call


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
    return _compile(function, **OPTIONS)


def _compile(function: Callable[..., Any], **options: Any) -> Any:
    try:
        loop = njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:
        return njit(nogil=True, **options)(function)
    _stamp(loop, Path(function.__code__.co_filename))
    _keep_own(loop)
    return loop


def _stamp(loop: Any, file: Path) -> None:
    """Have compiled code taken for stale when any file changed that it may have been compiled from.

    numba looks at the function's own file only, but compiles into it the functions that it calls, wherever they stand.
    There is no public way to tell it so: should its insides be others one day, it does as it does by itself.
    """
    kept: Any = getattr(getattr(loop, "_cache", None), "_cache_file", None)
    if hasattr(kept, "_source_stamp") and file.is_file():
        kept._source_stamp = (kept._source_stamp, _digest(file.parent))


def _keep_own(loop: Any) -> None:
    """Have compiled code kept only where all records that it takes are of this package, and read where they are there.

    What is kept names the classes of its records. Were one of a script or a notebook among them, a process that cannot
    import it could not read what is kept of the loop at all; nor could this version what another has left, if a record
    has another name. Then the loop is compiled as if nothing were kept.
    """
    kept: Any = getattr(loop, "_cache", None)
    if hasattr(kept, "save_overload"):
        save = kept.save_overload
        kept.save_overload = lambda signature, data: save(signature, data) if _own(signature) else None
    index: Any = getattr(kept, "_cache_file", None)
    if hasattr(index, "_load_index"):
        load = index._load_index

        def load_index() -> Any:
            try:
                return load()
            except (ImportError, AttributeError):
                return {}

        index._load_index = load_index


def _own(kind: Any) -> bool:
    """Whether all records in a type, or in a signature, are of this package."""
    record = getattr(kind, "instance_class", None)
    inside = getattr(kind, "args", kind if isinstance(kind, tuple) else getattr(kind, "types", ()))
    return (record is None or record.__module__.startswith("diln.")) and all(map(_own, inside))


@cache
def _digest(folder: Path) -> str:
    """What stands in the files that a loop of this folder may be compiled from: its own, and those of ``ROOMS``."""
    return sha256("".join([digest_of(folder), *(digest_of(PACKAGE / room) for room in ROOMS)]).encode()).hexdigest()


@cache
def digest_of(folder: Path) -> str:
    """What stands in the Python files of a folder and of those in it, but for an editor's locks: links to nowhere."""
    found = sha256()
    for inside, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(name for name in names if name.endswith(".py")):
            path = f"{inside}/{name}"
            with suppress(FileNotFoundError), open(path, "rb", 0) as file:  # noqa: PTH123 - twice as fast as Path's
                found.update(sha256(file.read()).digest())
    return found.hexdigest()
