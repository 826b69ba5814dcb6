"""One fit: of what, with what, and who looks on."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from diln.inference.progress import Look, Progress, See, Sight
from diln.models.checkpoints import Keeper
from diln.models.counts import Rows
from diln.models.files import Tensors, WriteShards
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
    see: See | None = None
    on_disk: bool = False  # whether a chain's documents are kept there
    scratch: Path | None = None  # the folder that they are kept in; None: one of the system's

    @classmethod
    def of(cls, parameters: Parameters, rows: Rows, vocabulary: list[str], seed: int, method: str) -> "Job":
        """A fit to all documents."""
        told = parameters.total_samples if method == "online" else None
        return cls(parameters, rows, vocabulary, seed, method, float(told or rows.n_docs))

    def of_chain(self, number: int, seed: int, look: Look | None, keeper: Keeper) -> "Job":
        """The same for a chain, from 0 on; the topics of the first are looked at."""
        job = replace(self, seed=seed, look=look, keeper=keeper)
        if number == 0:
            return job
        scratch = None if self.scratch is None else self.scratch.with_name(f"{self.scratch.name}.{number + 1}")
        return replace(job, see=None, scratch=scratch)

    def show(self, progress: Progress) -> None:
        """Have progress looked at."""
        if self.look is not None:
            self.look.look(progress)

    def watch(
        self,
        history: History,
        phase: str,
        stored: Stored,
        ends: Callable[[Progress], bool],
        sight: Callable[[], Sight],
        shards: WriteShards | None = None,
    ) -> "Watched":
        """Follows the sweeps or steps; ``ends`` says whether one was the last, because nothing or no time is left."""
        return Watched(self, history, phase, stored, ends, sight, shards)

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
    sight: Callable[[], Sight]
    shards: WriteShards | None = None  # writes what is kept of documents
    over: bool = False
    stopped: bool = False  # before the last

    def __call__(self, progress: Progress) -> bool:
        """A sweep or a step is done."""
        self.history.append(asdict(progress))
        self.job.show(progress)
        if self.job.see is not None:
            self.job.see(self.sight)
        done = self.ends(progress)
        self.stopped = not done and self.job.stop()
        self.job.keeper.keep(self.job.seed, self.phase, self.stored, self.shards, done=done, stopped=self.stopped)
        self.over = done or self.stopped
        return self.over
