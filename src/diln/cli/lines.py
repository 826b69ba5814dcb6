"""Progress in one line: on a terminal one that changes, elsewhere a new one now and then."""

import time
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task
from rich.text import Text

GAP = "  "
FIRST, NEXT = 10.0, 60.0  # seconds until the first line where there is no terminal, and from one to the next
LOOKS = 0.1  # seconds from one look whether there is something to say to the next
COMPILING = "compiling (once)"

Parts = list[tuple[int, str]]  # what there is to show, and how much each matters (1 the most)


class NowAndThen:
    """Prints a line of progress now and then, where there is no terminal; at once when it becomes ``urgent``."""

    def __init__(
        self, line: Callable[[float], str], console: Console, urgent: Callable[[], bool] = lambda: False
    ) -> None:
        self.line, self.console, self.urgent = line, console, urgent
        self.over = Event()
        self.thread = Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin."""
        self.thread.start()

    def stop(self) -> None:
        """End; no line is printed after this."""
        self.over.set()
        self.thread.join()

    def _run(self) -> None:
        begun, due, told = time.monotonic(), FIRST, False
        while not self.over.wait(LOOKS):
            elapsed, urgent = time.monotonic() - begun, not told and self.urgent()
            if urgent or elapsed >= due:
                due, told = (due if urgent else due + NEXT), told or urgent
                with suppress(OSError):
                    self.console.print(self.line(elapsed), soft_wrap=True, markup=False)


class OneLine:
    """Shows parts of a line: on a terminal those that there is room for, elsewhere all of them now and then."""

    def __init__(
        self,
        parts: Callable[[float], Parts],
        console: Console,
        *,
        quiet: bool = False,
        a_second: float = 10,
        urgent: Callable[[], bool] = lambda: False,
    ) -> None:
        self.shown: list[Progress | NowAndThen] = []
        if not quiet and console.is_terminal:
            live = Progress(
                SpinnerColumn(), Room(parts, console), console=console, transient=True, refresh_per_second=a_second
            )
            live.add_task("", total=None)
            self.shown = [live]
        elif not quiet:
            self.shown = [NowAndThen(lambda elapsed: joined(parts(elapsed)), console, urgent)]

    def __enter__(self) -> Self:
        for one in self.shown:
            one.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for one in self.shown:
            one.stop()


class Room(ProgressColumn):
    """The parts that matter most of those that there is room for, in their order."""

    def __init__(self, parts: Callable[[float], Parts], console: Console) -> None:
        super().__init__()
        self.parts, self.console = parts, console

    def render(self, task: Task) -> Text:
        """The line as it is now."""
        return Text(fitting(self.parts(task.elapsed or 0.0), self.console.width - 4), no_wrap=True)


def fitting(parts: Parts, width: int) -> str:
    """The parts in one line of this width, without those that matter least if there is no room for them."""
    while len(parts) > 1 and len(joined(parts)) > width:
        least = max(rank for rank, _ in parts)
        parts = [part for part in parts if part[0] != least] if least > 1 else parts[:-1]
    return joined(parts)


def joined(parts: Parts) -> str:
    """All parts in one line."""
    return GAP.join(text for _, text in parts)


def clock(seconds: float) -> str:
    """A time as in 1:05 or 2:00:00."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
