"""One fit: of what, with what, and who looks on."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from diln.inference.loops import Watch
from diln.inference.progress import Look, Progress
from diln.models.checkpoints import Keeper
from diln.models.counts import Rows
from diln.models.files import Tensors
from diln.models.parameters import Parameters

History = list[dict[str, Any]]
Stored = Callable[[], tuple[dict[str, Any], Tensors]]


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

    @classmethod
    def of(
        cls, parameters: Parameters, rows: Rows, vocabulary: list[str], seed: int, look: Look | None, keeper: Keeper
    ) -> "Job":
        """A fit to all documents, by the method that suits them."""
        method = parameters.method(rows.n_docs, rows.n_tokens)
        told = parameters.total_samples if method == "online" else None
        return cls(parameters, rows, vocabulary, seed, method, float(told or rows.n_docs), look, keeper)

    def with_seed(self, seed: int, look: Look | None, keeper: Keeper) -> "Job":
        """The same with another seed, for a chain beside the first."""
        return replace(self, seed=seed, look=look, keeper=keeper)

    def show(self, progress: Progress) -> None:
        """Have progress looked at."""
        if self.look is not None:
            self.look.look(progress)

    def watch(self, history: History, phase: str, stored: Stored, ends: Callable[[Progress], bool]) -> Watch:
        """Notes every sweep or step, shows it, and writes down how far the fit is; ends where ``ends`` says so.

        ``ends`` also says that nothing is left to do, so that the last state is written where it is to be.
        """

        def watch(progress: Progress) -> bool:
            history.append(asdict(progress))
            self.show(progress)
            done = ends(progress)
            self.keeper.keep(self.seed, phase, done, stored)
            return done

        return watch

    def late(self, progress: Progress) -> bool:
        """Whether the time that the fit was given is over."""
        most = self.parameters.max_time
        return most is not None and progress.seconds >= most
