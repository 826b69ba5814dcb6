"""Interrupts (Ctrl-C, SIGTERM) while something is made on disk or cleaned up: they wait until that is done.

Python calls the handler of a signal between any two instructions of the main thread, so a ``try`` that begins after a
file was made, or a ``finally`` that removes it, is no guard: the interrupt may come just before. A guard puts a handler
of its own in front of the one that is there. It looks where the main thread is, and keeps the signal while that is in
the guard's own code; as soon as this is done, the handler that was there gets it. Other threads are never interrupted.
"""

import inspect
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import wraps
from types import FrameType, TracebackType
from typing import Any, Generic, ParamSpec, TypeVar

SIGNALS = (signal.SIGINT, signal.SIGTERM)

Handler = Callable[[int, FrameType | None], Any]
Made = TypeVar("Made")
Given = ParamSpec("Given")


class _Guard(AbstractContextManager[Made], Generic[Made]):
    """Enters and leaves another context manager without being interrupted; ``throughout``, not within it either."""

    def __init__(self, steps: AbstractContextManager[Made], *, throughout: bool = False) -> None:
        self.steps, self.throughout = steps, throughout
        self.before: dict[int, Handler] = {}  # what each signal is otherwise handled by
        self.waiting: list[int] = []

    def __enter__(self) -> Made:
        try:
            self._hold()
            made = self.steps.__enter__()
            if not self.throughout:
                self._let_through()
            return made
        except BaseException:
            self._release()
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> Any:
        try:
            return self.steps.__exit__(kind, error, at)
        finally:
            self._release()

    def deliver(self) -> None:
        """Have signals that came meanwhile do what they do; mostly that raises KeyboardInterrupt."""
        while self.waiting:
            number = self.waiting.pop(0)
            self.before[number](number, inspect.currentframe())

    def _let_through(self) -> None:
        """Deliver before the context is used; it is left again where that raises."""
        try:
            self.deliver()
        except BaseException as error:
            self.steps.__exit__(type(error), error, error.__traceback__)
            raise

    def _hold(self) -> None:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                handler = signal.getsignal(number)
                if callable(handler):
                    self.before[number] = handler
                    signal.signal(number, self._came)

    def _release(self) -> None:
        for number, handler in reversed(self.before.items()):
            if signal.getsignal(number) == self._came:
                signal.signal(number, handler)
        self.throughout = False
        self.deliver()

    def _came(self, number: int, frame: FrameType | None) -> None:
        if self.throughout or self._runs_in(frame):
            self.waiting.append(number)
        else:
            self.before[number](number, frame)

    def _runs_in(self, frame: FrameType | None) -> bool:
        """Whether the main thread is in the code that must not be broken off."""
        while frame is not None:
            if frame.f_code in GUARDED and frame.f_locals.get("self") is self:
                return True
            frame = frame.f_back
        return False


GUARDED = (_Guard.__enter__.__code__, _Guard.__exit__.__code__)


def guarded(function: Callable[Given, Iterator[Made]]) -> Callable[Given, AbstractContextManager[Made]]:
    """A ``contextmanager`` that no interrupt breaks off before its ``yield`` or after it; only what is done within."""
    steps = contextmanager(function)

    @wraps(function)
    def made(*args: Given.args, **kwargs: Given.kwargs) -> AbstractContextManager[Made]:
        return _Guard(steps(*args, **kwargs))

    return made


def uninterrupted() -> AbstractContextManager[None]:
    """Let no interrupt come through until the context is left."""
    return _Guard(nullcontext(), throughout=True)


def let_through() -> None:
    """Where a guard is at work, have the interrupts that it keeps come now: there is a good place to break off."""
    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            guard = getattr(signal.getsignal(number), "__self__", None)
            if isinstance(guard, _Guard):
                guard.deliver()
