"""How far a comparison is, in one line."""

from typing import TYPE_CHECKING, Self

from rich.console import Console

from diln.cli.console import ERR
from diln.cli.lines import OneLine, Parts, clock
from diln.errors import StoreError

if TYPE_CHECKING:
    from types import TracebackType

    from diln.study import ResultsFolder
    from diln.study.runs import Run

A_SECOND = 2  # times that it looks what is there


class CompareLine:
    """Shows how many runs are done, which are under way, and what came of the last.

    It looks into the directory of the comparison: there is all that any process has done.
    """

    def __init__(self, folder: "ResultsFolder", *, quiet: bool = False, console: Console = ERR) -> None:
        self.folder = folder
        self.runs: dict[str, Run] = {}
        self.later = 0
        self.before: set[str] | None = None  # runs that were done before this began, known by then or not
        self.shown = OneLine(self.parts, console, quiet=quiet, a_second=A_SECOND)

    def __enter__(self) -> Self:
        self.shown.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: "TracebackType | None"
    ) -> None:
        self.shown.__exit__(kind, error, at)

    def expect(self, runs: "list[Run]", later: int) -> None:
        """The runs that are known by now, done or not, and the number of runs that will follow."""
        self.runs, self.later = {run.name: run for run in runs}, later
        if self.before is None:
            self.before = set(self.folder.done())

    def done(self) -> list[str]:
        """The runs that are done, the last one last."""
        return [name for name in self.folder.done() if name in self.runs]

    def parts(self, elapsed: float) -> Parts:
        """What there is to show."""
        if self.before is None:
            return [(1, "reading"), (1, clock(elapsed))]
        done, total = self.done(), len(self.runs) + self.later
        here = len(set(done) - self.before)
        left = [(1, f"about {clock(elapsed / here * (total - len(done)))} left")] if here > 0 else []
        under_way = [self.runs[name].label for name in self.folder.under_way() if name in self.runs]
        return [
            (1, f"{len(done):,} of {total:,} runs"),
            (1, clock(elapsed)),
            *left,
            *self._last(done),
            *([(2, f"now: {'; '.join(under_way)}")] if under_way else []),
        ]

    def _last(self, done: list[str]) -> Parts:
        if not done:
            return []
        try:
            result = self.folder.read_named(done[-1])
        except StoreError:  # reported by the process that does the runs
            return []
        values = [result["perplexity"]] if "perplexity" in result else result.get("perplexities", [])
        return [(3, f"last: {self.runs[done[-1]].model} {values[-1]:,.1f}")] if values else []
