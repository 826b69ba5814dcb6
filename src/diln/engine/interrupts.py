"""Interrupts (Ctrl-C): they stay what they are, and reach only the process that they are for."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def true_interrupts() -> Iterator[list[int]]:
    """Raise KeyboardInterrupt where compiled code that an interrupt hits makes another error of it.

    Yields the interrupts that came. One that raised nothing is lost: it hit a finalizer, whose errors Python ignores.
    """
    seen: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield seen  # interrupts are not for this program, or not for this thread
        return

    def note(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        before(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield seen
    except Exception as error:
        if seen:
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Hold interrupts back from processes that are started here, and for as long as that takes from this thread.

    A terminal sends Ctrl-C to all processes. It is for the one that the user has started: that one ends the others.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
