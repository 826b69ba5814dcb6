"""LDA in sampling: a document's proportions are Dirichlet(a0), with a0 given. Where it is learned, see the HDP's."""

from dataclasses import dataclass
from typing import ClassVar

from diln.inference.sampling.documents import HeldDocuments
from diln.inference.sampling.state import State
from diln.inference.sampling.token_step import TokenSums
from diln.inference.stats import Stats
from diln.inference.weights.draws import Sweep
from diln.inference.weights.gamma_process_draws import GatedDraws


@dataclass(frozen=True, slots=True)
class DirichletDraws(GatedDraws):
    """LDA whose a0 is given."""

    learned: ClassVar[bool] = False

    weight: float | None = None  # a0 of each topic; None: 1 / n_topics

    def start_weight(self, n_topics: int) -> float:
        """a0 of each topic."""
        return 1 / n_topics if self.weight is None else self.weight

    def draw(self, state: State, docs: HeldDocuments, found: TokenSums, sweep: Sweep) -> None:
        """Nothing: a0 is given, and without a gate documents are nowhere."""

    def learn(self, state: State, sums: Stats) -> None:
        """Nothing."""
