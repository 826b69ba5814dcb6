"""How far a fit is, in one line."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from rich.console import Console

from diln.cli.ahead import Ahead
from diln.cli.console import ERR
from diln.cli.interrupts import StopSign
from diln.cli.lines import COMPILING, GAP, OneLine, Parts, clock
from diln.engine.compiling import is_compiling

if TYPE_CHECKING:
    from diln.inference.progress import Progress
    from diln.inference.sampling.run import ChainPlan

RECENT = 11  # passes, sweeps or steps that say how fast it goes
STOPPING = "stopping after this sweep, pass or step; Ctrl-C again abandons the fit"


@dataclass(frozen=True)
class Seen:
    """What is known of a fit under way."""

    last: "Progress"
    pace: float  # seconds a document of late
    swept: int  # documents that its sweeps have visited, each as often as they have


class Course(Protocol):
    """What lies before a fit."""

    @property
    def start(self) -> str:
        """What is done before there is anything to show."""

    def parts(self, seen: Seen, elapsed: float) -> Parts:
        """What to show of a fit that has come this far."""


@dataclass(frozen=True)
class Passes:
    """Variational inference: a number of passes over the documents, which may be a maximum (``at_most``)."""

    passes: int
    documents: int
    at_most: bool
    start: str = "finding a start"

    def parts(self, seen: Seen, elapsed: float) -> Parts:
        """What to show."""
        last, pace = seen.last, seen.pace
        most = "at most " if self.at_most else ""
        left = pace * (self.passes * self.documents - last.documents)
        return [
            (1, f"pass {last.iteration} of {most}{self.passes}"),
            (4, f"{1 / pace:,.0f} documents/s"),
            *([] if last.bound is None else [(3, f"bound {last.bound:,.0f}")]),
            *([] if last.perplexity is None else [(2, f"perplexity {last.perplexity:,.0f}")]),
            (2, f"{last.n_topics:,} topics"),
            (1, clock(elapsed)),
            time_left(left, last, None, self.at_most),
        ]


@dataclass(frozen=True)
class Sweeps:
    """Sampling, of all documents at once (batch) or of more and more of them (grow): sweeps as planned."""

    plan: "ChainPlan"
    documents: int
    learning: str
    chains: int = 1

    @property
    def start(self) -> str:
        """What is done before the first sweep is."""
        return f"learning: {self.learning}{GAP}first sweep"

    def parts(self, seen: Seen, elapsed: float) -> Parts:
        """What to show."""
        last, plan = seen.last, self.plan
        number, size = last.iteration, plan.size(last.iteration - 1, self.documents)
        to_come = plan.max_iter - number
        where = [(1, f"sweep {number} of at most {plan.max_iter}")]
        if last.n_states:
            to_come = min(to_come, plan.n_states - last.n_states)
            where = [(1, f"sweep {number}"), (2, f"averaging {last.n_states} of {last.n_states + to_come}")]
        if size < self.documents:
            where += [(2, f"{size:,} of {self.documents:,} documents")]
        left = seen.pace * sum(plan.size(one, self.documents) for one in range(number, number + to_come))
        ends = time_left(left, last, plan.max_time, at_most=not last.n_states)
        return [*chained(last, self.chains), *where, *sampled(seen, self.learning), (1, clock(elapsed)), ends]


@dataclass(frozen=True)
class Steps:
    """Sampling, of some documents at a time (online): sweeps over some as planned, then passes over all in steps."""

    plan: "ChainPlan"
    documents: int
    passes: int
    start: str = f"learning: online{GAP}first sweep"
    chains: int = 1

    def parts(self, seen: Seen, elapsed: float) -> Parts:
        """What to show."""
        last, shown = seen.last, [*sampled(seen, "online"), (1, clock(elapsed))]
        if last.n_states is not None:  # how long a pass will take, a sweep does not tell
            where = [(1, f"starting: sweep {last.iteration} of at most {self.plan.max_iter}")]
            return [*chained(last, self.chains), *where, *shown]
        visited = last.documents - seen.swept
        here = visited - (last.iteration - 1) * self.documents
        where = [(1, f"pass {last.iteration} of {self.passes}"), (2, f"{here:,} of {self.documents:,} documents")]
        left = seen.pace * (self.passes * self.documents - visited)
        ends = time_left(left, last, self.plan.max_time, at_most=False)
        return [*chained(last, self.chains), *where, *shown, ends]


def chained(last: "Progress", chains: int) -> Parts:
    """Which of several chains is shown, and how many are done."""
    return [] if last.chain is None else [(1, f"chain {last.chain}, {last.chains_done} of {chains} done")]


def sampled(seen: Seen, learning: str) -> Parts:
    """What sampling has found, and how."""
    score = [] if seen.last.score is None else [(3, f"score {seen.last.score:.3f}")]
    speed, topics = f"{1 / seen.pace:,.0f} documents/s", f"{seen.last.n_topics:,} topics"
    return [(5, speed), *score, (2, topics), (4, f"learning: {learning}")]


def time_left(seconds: float, last: "Progress", max_time: float | None, at_most: bool) -> tuple[int, str]:
    """How long it will take yet."""
    if max_time is not None:
        at_most, seconds = True, min(seconds, max_time - last.seconds)
    of = "" if last.chain is None else " of this chain"
    return 1, f"{'at most ' if at_most else ''}{clock(max(0.0, seconds))} left{of}"


class FitLine:
    """Shows how far a fit is on its course, and what it has found so far."""

    def __init__(
        self,
        course: Course,
        *,
        quiet: bool = False,
        console: Console = ERR,
        stop: StopSign | None = None,
        workers: Callable[[float], str] | None = None,
        ahead: Ahead | None = None,
    ) -> None:
        self.course, self.stop = course, stop or StopSign()
        self.workers = workers  # says how fast those of a cluster are, given documents a second
        self.recent: deque[Progress] = deque(maxlen=RECENT)
        self.swept, self.ahead = 0, ahead
        self.shown = OneLine(self.parts, console, quiet=quiet, urgent=self.stop)

    def __enter__(self) -> Self:
        self.shown.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.shown.__exit__(kind, error, at)

    @property
    def compiling(self) -> bool:
        """Whether loops are being compiled, here or ahead."""
        return is_compiling() or (self.ahead is not None and self.ahead.busy)

    def look(self, progress: "Progress") -> None:
        """Show that a pass, a sweep or a step is done; from then on the fit may be stopped."""
        self.stop.arm()
        if self.recent and self.recent[-1].chain != progress.chain:  # the first is done, and others go on
            self.recent.clear()
        if self.recent and self.recent[-1].documents >= progress.documents:  # a worker was lost: sweeps are made again
            self.recent.clear()
        if progress.n_states is not None:
            self.swept = progress.documents
        elif self.recent and self.recent[-1].n_states is not None:
            self.recent = deque([self.recent[-1]], RECENT)  # a step is not as fast as a sweep
        self.recent.append(progress)

    def parts(self, elapsed: float) -> Parts:
        """What there is to show."""
        recent = list(self.recent)  # which another thread may change
        if not recent:
            return [(1, COMPILING if self.compiling else self.course.start), (1, clock(elapsed))]
        pace = pace_of(recent)
        parts = self.course.parts(Seen(recent[-1], pace, self.swept), elapsed)
        parts += [] if self.workers is None else [(3, self.workers(1 / pace))]
        if self.stop():
            return [(1, STOPPING), (2, clock(elapsed))]
        return [*parts[:1], (1, COMPILING), *parts[1:]] if self.compiling else parts


def pace_of(recent: "list[Progress]") -> float:
    """Seconds a document of late."""
    first, last = recent[0], recent[-1]
    documents, seconds = last.documents - first.documents, last.seconds - first.seconds
    if not documents:
        documents, seconds = last.documents, last.seconds
    return max(seconds, 1e-9) / max(documents, 1)
