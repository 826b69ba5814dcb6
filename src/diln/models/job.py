"""One fit: of what, with what, and who looks on."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from diln.inference.progress import Look, Progress
from diln.models.checkpoints import Keeper
from diln.models.counts import Rows
from diln.models.files import Tensors
from diln.models.parameters import Parameters

History = list[dict[str, Any]]
Stored = Callable[[], tuple[dict[str, Any], Tensors]]
Stop = Callable[[], bool]  # whether whoever looks on wants the fit to end after the sweep or step under way


def never() -> bool:
    """Nobody wants it to end."""
    return False


@dataclass(frozen=True, slots=True)
class Job:
    """What a fit is given."""

    parameters: Parameters
    rows: Rows
    vocabulary: list[str]
    seed: int
    method: str  # batch, grow or online
    population: float  # documents that the model stands for
    look: Look | None = None
    keeper: Keeper = field(default_factory=Keeper)
    stop: Stop = never

    @classmethod
    def of(
        cls, parameters: Parameters, rows: Rows, vocabulary: list[str], seed: int, look: Look | None, stop: Stop
    ) -> "Job":
        """A fit to all documents, by the method that suits them."""
        method = parameters.method(rows.n_docs, rows.n_tokens)
        told = parameters.total_samples if method == "online" else None
        return cls(parameters, rows, vocabulary, seed, method, float(told or rows.n_docs), look, stop=stop)

    def with_seed(self, seed: int, look: Look | None, keeper: Keeper) -> "Job":
        """The same with another seed, for a chain beside the first."""
        return replace(self, seed=seed, look=look, keeper=keeper)

    def show(self, progress: Progress) -> None:
        """Have progress looked at."""
        if self.look is not None:
            self.look.look(progress)

    def watch(self, history: History, phase: str, stored: Stored, ends: Callable[[Progress], bool]) -> "Watched":
        """Follows the sweeps or steps; ``ends`` says whether one was the last, because nothing or no time is left."""
        return Watched(self, history, phase, stored, ends)

    def late(self, progress: Progress) -> bool:
        """Whether the time that the fit was given is over."""
        most = self.parameters.max_time
        return most is not None and progress.seconds >= most


@dataclass(slots=True)
class Watched:
    """Notes every sweep or step, shows it, and writes down how far the fit is; ends it after the last, or if told to.

    The last state is written where it is to be, and one that a fit was stopped at always is.
    """

    job: Job
    history: History
    phase: str
    stored: Stored
    ends: Callable[[Progress], bool]
    over: bool = False
    stopped: bool = False  # before the last

    def __call__(self, progress: Progress) -> bool:
        """A sweep or a step is done."""
        self.history.append(asdict(progress))
        self.job.show(progress)
        done = self.ends(progress)
        self.stopped = not done and self.job.stop()
        self.job.keeper.keep(self.job.seed, self.phase, self.stored, done=done, stopped=self.stopped)
        self.over = done or self.stopped
        return self.over
