"""Whether loops are being compiled, for whoever waits for them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

listener: Any = None  # counts the loops that are being compiled, once numba is there
_hearers: list[Callable[[], None]] = []


def listen() -> None:
    """Import numba, and have it say when it compiles."""
    global listener
    if listener is not None:
        return
    from numba.core import event

    class Listener(event.Listener):
        """Counts the loops that are being compiled, and those that they call."""

        def __init__(self) -> None:
            self.now = 0

        def on_start(self, event: Any) -> None:
            """One more."""
            self.now += 1
            for hear in tuple(_hearers):
                hear()

        def on_end(self, event: Any) -> None:
            """One less."""
            self.now -= 1

    listener = Listener()
    event.register("numba:compile", listener)  # type: ignore[no-untyped-call]


def is_compiling() -> bool:
    """Whether a loop is being compiled now, on any thread."""
    return listener is not None and listener.now > 0


@contextmanager
def hearing(hear: Callable[[], None]) -> Iterator[None]:
    """Call ``hear`` when the compiling of a loop begins: never for one that is kept."""
    _hearers.append(hear)
    try:
        yield
    finally:
        _hearers.remove(hear)
