"""Whether loops are being compiled, for whoever waits for them."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

MESSAGE = "compiling the inner loops, once on this machine: this takes 10 to 30 seconds"
logger = logging.getLogger("diln.compiling")

listener: Any = None  # counts the loops that are being compiled, once numba is there
_hearers: list[Callable[[], None]] = []
_told = Event()


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
def telling_of_compiling() -> Iterator[None]:
    """Log a line when a loop is compiled, once in a process: without it a first fit looks as if it hung."""
    _hearers.append(_tell)
    try:
        yield
    finally:
        _hearers.remove(_tell)


def _tell() -> None:
    if not _told.is_set():
        _told.set()
        logger.warning(MESSAGE)
