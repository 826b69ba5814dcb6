"""Compiling inner loops: once on a machine where compiled code can be kept, in every process where it cannot."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, update_wrapper
from hashlib import sha256
from pathlib import Path
from threading import RLock
from time import monotonic, sleep
from typing import Any

from diln.engine import compiling
from diln.files.lock import LOCK, claimed

# Sums may be reordered, which is what lets a loop run on all lanes of the processor; infinities and NaN keep their
# meaning.
REORDER = {"reassoc", "contract", "nsz", "arcp"}
OPTIONS: Any = {"fastmath": REORDER, "error_model": "numpy", "forceinline": True, "no_cfunc_wrapper": True}
LANES = 16  # numbers of single precision that a loop written by hand adds at a time
PATIENCE = 5.0  # seconds that a process waits for another one to have written a loop
PACKAGE = Path(__file__).parents[1]
ROOMS = ("engine", "prob", "inference")  # the folders whose loops, and the records that these take, others may call


_lock = RLock()
_overloads: list[tuple[Any, Callable[..., Any]]] = []  # for numba to be told


class Later:
    """What numba makes of Python code, made when it is first used: until then numba is not imported.

    In compiled code it stands for what is made.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._made: Any = None

    @property
    def made(self) -> Any:
        """What numba made."""
        if self._made is None:
            with _lock:
                if self._made is None:
                    compiling.listen()
                    _tell_overloads()
                    self._made = self._make()
        return self._made

    @property
    def _numba_type_(self) -> Any:
        """The type that numba sees in its place."""
        from numba.core.registry import cpu_target

        self.made  # noqa: B018 - what numba has made is known to it once it looks for what is new
        cpu_target.typing_context.refresh()
        return cpu_target.typing_context.resolve_value_type(self.made)


class Loop(Later):
    """A function that is compiled when it is first called; what else there is to ask, numba's dispatcher knows."""

    def __init__(self, function: Callable[..., Any], make: Callable[[], Any]) -> None:
        super().__init__(make)
        update_wrapper(self, function)
        self.py_func = function

    def __call__(self, *given: Any) -> Any:
        """Run it; compile it before, if it never had arguments of these types."""
        return self.made(*given)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.made, name)

    def __reduce__(self) -> str:
        """For pickles: found by its name."""
        return str(self.__qualname__)


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


def inlined(function: Callable[..., Any]) -> Any:
    """Put a function's code wherever a compiled loop calls it."""

    def make() -> Any:
        from numba import njit

        return njit(inline="always")(function)

    return Loop(function, make)


def overloads(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Choose what kernels compile for calls of ``function`` by the types of its arguments: numba's ``overload``."""

    def keep(choice: Callable[..., Any]) -> Callable[..., Any]:
        with _lock:
            _overloads.append((function, choice))
            if compiling.listener is not None:
                _tell_overloads()
        return choice

    return keep


def _compile(function: Callable[..., Any], **options: Any) -> Any:
    file = Path(function.__code__.co_filename)
    digest = _digest(file.parent) if file.is_file() else None  # of files as they were when the function was read

    def make() -> Any:
        from numba import njit

        try:
            loop = njit(cache=True, nogil=True, **options)(function)
        except RuntimeError:
            return njit(nogil=True, **options)(function)
        _stamp(loop, digest)
        _keep_own(loop)
        return loop

    return Loop(function, make)


def _tell_overloads() -> None:
    from numba.extending import overload

    while _overloads:
        function, choice = _overloads.pop()
        overload(function, jit_options=OPTIONS)(choice)


def _stamp(loop: Any, digest: str | None) -> None:
    """Have compiled code taken for stale when any file changed that it may have been compiled from.

    numba looks at the function's own file only, but compiles into it the functions that it calls, wherever they stand.
    There is no public way to tell it so: should its insides be others one day, it does as it does by itself.
    """
    kept: Any = getattr(getattr(loop, "_cache", None), "_cache_file", None)
    if hasattr(kept, "_source_stamp") and digest is not None:
        kept._source_stamp = (kept._source_stamp, digest)


def _keep_own(loop: Any) -> None:
    """Have compiled code kept only where all records that it takes are of this package, and read where they are there.

    What is kept names the classes of its records. Were one of a script or a notebook among them, a process that cannot
    import it could not read what is kept of the loop at all; nor could this version what another has left, if a record
    has another name. Then the loop is compiled as if nothing were kept.
    """
    kept: Any = getattr(loop, "_cache", None)
    if hasattr(kept, "save_overload"):
        save = kept.save_overload

        def save_own(signature: Any, data: Any) -> None:
            if _own(signature):
                with keeping, _alone(Path(kept.cache_path)):
                    save(signature, data)

        kept.save_overload = save_own
    index: Any = getattr(kept, "_cache_file", None)
    if hasattr(index, "_load_index"):
        load = index._load_index

        def load_index() -> Any:
            try:
                return load()
            except (ImportError, AttributeError):
                return {}

        index._load_index = load_index


keeping = RLock()  # held while what was compiled is written: a process is not to end meanwhile


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other processes out while a loop is written: numba gives two that write at a time the same file.

    Where the system has no such locks, or one is held for long, it goes on as numba does by itself.
    """
    with ExitStack() as stack:
        with suppress(OSError):
            descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
            stack.callback(os.close, descriptor)
            late = monotonic() + PATIENCE
            while not claimed(descriptor) and monotonic() < late:
                sleep(0.01)
        yield


def is_to_keep(loop: Loop) -> bool:
    """Whether a loop is still to be compiled on this machine, and can be kept then."""
    kept: Any = getattr(getattr(loop.made, "_cache", None), "_cache_file", None)
    return hasattr(kept, "_load_index") and not kept._load_index()


@contextmanager
def leave_out(*loops: Loop) -> Iterator[None]:
    """Have calls of loops from Python do nothing, and give 0."""
    for loop in loops:
        loop._made = lambda *_: 0.0
    try:
        yield
    finally:
        for loop in loops:
            loop._made = None


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
