"""Ctrl-C and SIGTERM: the first ends a fit with the model that it has by then, the second the command."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

Handler = Callable[[int, FrameType | None], Any]
SOON = 0.05  # seconds after which an interrupt comes again


def leave(number: int, frame: FrameType | None) -> None:
    """Handle a signal by ending the process at once, as one that it has ended, and without a word."""
    os._exit(128 + number)


@contextmanager
def interruptible() -> Iterator[None]:
    """Have Ctrl-C raise KeyboardInterrupt within; before and after it the command may just ``leave``."""
    if signal.getsignal(signal.SIGINT) is not leave:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, leave)


@contextmanager
def terminable() -> Iterator[list[int]]:
    """Have SIGTERM do what Ctrl-C does; yields what it came as, for the exit code."""
    came: list[int] = []

    def end(number: int, frame: FrameType | None) -> None:
        came.append(number)
        interrupt = signal.getsignal(signal.SIGINT)  # not for this program where a shell runs it in the background
        if interrupt is leave:
            leave(number, frame)
        (interrupt if callable(interrupt) else signal.default_int_handler)(signal.SIGINT, frame)

    before = signal.getsignal(signal.SIGTERM)
    if before != signal.SIG_DFL or threading.current_thread() is not threading.main_thread():
        yield came
        return
    signal.signal(signal.SIGTERM, end)
    try:
        yield came
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def repeated() -> Iterator[None]:
    """Have an interrupt that Python ignores, as all that finalizers raise, come again a little later."""
    before, timers = sys.unraisablehook, []

    def repeat(ignored: Any) -> None:
        if isinstance(ignored.exc_value, KeyboardInterrupt):
            timers.append(threading.Timer(SOON, os.kill, (os.getpid(), signal.SIGINT)))
            timers[-1].start()
        else:
            before(ignored)

    sys.unraisablehook = repeat
    try:
        yield
    finally:
        sys.unraisablehook = before
        for timer in timers:
            timer.cancel()


class StopSign:
    """Knows whether a fit is to end: by the first Ctrl-C or SIGTERM once there is a model, which ``arm`` tells.

    Whatever comes before or after that goes its usual way.
    """

    def __init__(self) -> None:
        self.armed = False
        self.number: int | None = None  # of the signal
        self.before: dict[int, Handler] = {}

    def arm(self) -> None:
        """From now on there is a model."""
        self.armed = True

    def __call__(self) -> bool:
        """Whether the fit is to end."""
        return self.number is not None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                handler = signal.getsignal(number)
                if callable(handler):
                    self.before[number] = handler
                    signal.signal(number, self._came)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def _came(self, number: int, frame: FrameType | None) -> None:
        if self.armed and self.number is None:
            self.number = number
        else:
            self.before[number](number, frame)
