"""How far a fit is, in one line on a terminal."""

from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import Progress as Live
from rich.progress import ProgressColumn, SpinnerColumn, Task
from rich.text import Text

from diln.cli.console import ERR

if TYPE_CHECKING:
    from diln.inference.loops import Progress

GAP = "  "


class FitLine:
    """Shows on a terminal how far a fit is, and what it has found so far. Quiet elsewhere.

    ``at_most``: whether the fit may be done before all ``passes`` over the ``documents``.
    """

    def __init__(
        self, passes: int, documents: int, *, at_most: bool, quiet: bool = False, console: Console = ERR
    ) -> None:
        self.passes, self.documents, self.at_most = passes, documents, at_most
        self.last: Progress | None = None
        self.live = Live(
            SpinnerColumn(),
            _Parts(self, console),
            console=console,
            transient=True,
            disable=quiet or not console.is_terminal,
        )
        self.live.add_task("fitting", total=None)

    def __enter__(self) -> Self:
        self.live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.live.stop()

    def look(self, progress: "Progress") -> None:
        """Show that a pass, or a step, is done."""
        self.last = progress

    def parts(self, elapsed: float) -> list[tuple[int, str]]:
        """What there is to show, and how much each matters (1 the most)."""
        seen = self.last
        if seen is None:
            return [(1, "finding a start"), (1, clock(elapsed))]
        left = (self.passes * self.documents - seen.documents) * seen.seconds / max(1, seen.documents)
        parts = [(1, f"pass {seen.iteration} of {'at most ' if self.at_most else ''}{self.passes}")]
        parts += [(4, f"{seen.documents / max(seen.seconds, 1e-9):,.0f} documents/s")]
        parts += [] if seen.bound is None else [(3, f"bound {seen.bound:,.0f}")]
        parts += [] if seen.perplexity is None else [(2, f"perplexity {seen.perplexity:,.0f}")]
        parts += [(2, f"{seen.n_topics:,} topics"), (1, clock(elapsed))]
        return [*parts, (1, f"{'at most ' if self.at_most else ''}{clock(max(0.0, left))} left")]


class _Parts(ProgressColumn):
    """The parts that matter most of those that there is room for, in their order."""

    def __init__(self, line: FitLine, console: Console) -> None:
        super().__init__()
        self.line, self.console = line, console

    def render(self, task: Task) -> Text:
        """The line as it is now."""
        return Text(fitting(self.line.parts(task.elapsed or 0.0), self.console.width - 4), no_wrap=True)


def fitting(parts: list[tuple[int, str]], width: int) -> str:
    """The parts in one line of this width, without those that matter least if there is no room for them."""
    while len(parts) > 1 and len(GAP.join(text for _, text in parts)) > width:
        least = max(rank for rank, _ in parts)
        parts = [part for part in parts if part[0] != least] if least > 1 else parts[:-1]
    return GAP.join(text for _, text in parts)


def clock(seconds: float) -> str:
    """A time as in 1:05 or 2:00:00."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
