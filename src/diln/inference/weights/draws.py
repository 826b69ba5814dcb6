"""What sampling asks of a model's weights: how documents weigh topics, how that is drawn, and what it comes to.

A model is one of these and an emission. Each kind has a file of its own with its record for compiled loops, its state,
its sums and its steps; nothing outside that file knows which kind it is.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from diln.engine.base import Engine
from diln.inference.data import Array, TermCounts
from diln.inference.lifts import gated_moments, log_lifts, roots_of
from diln.inference.posterior import Inferred
from diln.inference.sampling.documents import HeldDocuments, Share, documents_a_piece
from diln.inference.sampling.state import SampledDocuments, State
from diln.inference.sampling.token_step import TokenSums
from diln.inference.stats import Stats, layout


class Sweep(NamedTuple):
    """Where a chain is as weights are drawn."""

    number: int  # sweeps made before
    opened: int | None  # the sweep before which the weights were opened, if they were on the way
    seed: int
    key: np.uint64  # of what is drawn for documents
    rng: np.random.Generator  # for what is drawn for the corpus


class Visited(NamedTuple):
    """What some draws of documents leave behind."""

    late: Array  # (n_draws, n_tokens) topics of the tokens in the draws that count
    score: float  # sum over these of ln p(token's term | the document's other tokens)
    sums: Stats  # over documents and these draws, what the weights learn from


@dataclass(slots=True)
class WeightState(Stats):
    """What is known of the topics' weights in the corpus."""

    turns: ClassVar[bool] = False  # whether means over states are of a space that may turn from state to state

    @abstractmethod
    def record(self, width: int) -> Any:
        """For the token step, with a0 (width,): a record that ``open_document`` knows."""

    def joined(self, groups: Array, first: Array) -> Self:
        """With the topics of a group made one; ``first`` are the first of each group."""
        return self.chosen(first)

    def halved(self, topics: Array, n_topics: int) -> None:
        """These topics, some of which are new, have half the weight they had; there are so many now."""

    def fitted(self, name: str, array: Array, like: Array | None) -> Array:
        """An array of this name, for a mean with others like it."""
        return array

    def follow(self, n_topics: int, number: int, mean: Array, squares: Array) -> bool:
        """Take the covariances into their mean and squared deviations, as the ``number``-th; False if none."""
        return False


@dataclass(frozen=True, slots=True)
class WeightDraws(ABC):
    """A model's weights in sampling: what is given, as fields, and the steps that find the rest."""

    states: ClassVar[tuple[type[WeightState], ...]]  # of the corpus: once the weights are open, and before
    places: ClassVar[tuple[type[Any], ...]]  # records of documents: once the weights are open, and before
    sums: ClassVar[type[Stats]] = Stats  # what a stream goes on learning from
    learned: ClassVar[bool] = True  # whether topics that are alike can be made one before the weights open
    start_sweeps: ClassVar[int] = 40  # of the chain that a stream starts from
    bears: ClassVar[bool] = False  # whether topics can come in later
    start_whole: ClassVar[bool] = False  # whether that chain makes all of them

    def state_of(self, tensors: dict[str, Array]) -> type[WeightState]:
        """Which of its states these arrays are."""
        return next(one for one in self.states if set(layout(one)) <= set(tensors))

    @abstractmethod
    def start(self, n_topics: int, width: int) -> WeightState:
        """The corpus before the first sweep."""

    @abstractmethod
    def documents(self, state: State, n_docs: int) -> Any:
        """A record of so many documents of which nothing is known; of the state, its counts are not asked."""

    def closed(self, state: State) -> bool:
        """Whether there is more to the weights than is in play yet: topics take shape first."""
        return False

    def open(self, state: State, docs: HeldDocuments, seed: tuple[int, ...]) -> None:  # noqa: B027
        """Bring in what was left out, for all documents, of which those in play have topics."""

    def enter(self, state: State, docs: HeldDocuments, before: Share, seed: tuple[int, ...]) -> None:  # noqa: B027
        """More documents have come into play than there were before."""

    @abstractmethod
    def draw(self, state: State, docs: HeldDocuments, found: TokenSums, sweep: Sweep) -> None:
        """Draw all but tokens' topics: weights of documents, then of the corpus."""

    @abstractmethod
    def gather(self, state: State, docs: HeldDocuments, found: TokenSums, sweep: Sweep) -> Stats:
        """The sums that a stream goes on from: those of one more draw of all documents."""

    def piece_size(self, n_docs: int) -> int:
        """Documents of a piece of so many, where these are visited."""
        return documents_a_piece(n_docs)

    @abstractmethod
    def visiting(self, state: State, key: tuple[int, ...], draws: int, burn: int) -> Any:
        """What ``visit`` is given to draw documents ``draws`` times, of which the first ``burn`` do not count.

        It can be pickled, and whoever has it needs no linear algebra whose last digits depend on threads.
        """

    @abstractmethod
    def visit(self, given: Any, docs: SampledDocuments, size: int, engine: Engine) -> list[Any]:
        """Draw documents given the corpus: what is found of each piece of ``size`` documents."""

    @abstractmethod
    def visited(self, state: State, found: list[Any]) -> Visited:
        """The same of all documents, given what was found of all pieces, in order."""

    @abstractmethod
    def learn(self, state: State, sums: Stats) -> None:
        """The corpus at its mean given sums over documents."""

    def bear(self, state: State, sums: Stats, tables: float) -> tuple[State, Stats]:
        """The corpus, and what a stream goes on from, with one more topic, which so many tables have, at the end."""
        raise ValueError("such a model has the topics that it began with")

    def folding(self, state: State) -> Any:
        """What ``fold_in`` is given of the corpus beside its topics, which can be pickled."""
        return state.uncounted()

    @abstractmethod
    def fold_in(
        self, given: Any, topics: Array, counts: TermCounts, most: int, tolerance: float, engine: Engine
    ) -> Inferred:
        """Documents seen for the first time, given expected topics (n_terms, n_topics)."""

    @abstractmethod
    def prior_weights(self, state: State) -> Array:
        """What a document's weight of a topic is before its tokens are seen (n_topics,)."""

    def locations(self, state: State) -> Array:
        """Topic locations (n_topics, d); d is 0 for a model without."""
        return np.zeros((state.n_topics, 0))

    def covariance(self, state: State) -> Array | None:
        """Covariance of the topics' log weights over documents (n_topics, n_topics), of a model that has it."""
        return None

    def log_lift(self, state: State, covariance: Array) -> Array:
        """Log lifts of pairs of topics (n_topics, n_topics) if their log weights have this covariance."""
        n_dims = self.locations(state).shape[1]
        return log_lifts(gated_moments(self.prior_weights(state), roots_of(covariance, n_dims)))

    def placed(self, state: State, products: Array | None) -> NDArray[np.bool_]:
        """For each topic whether it takes part in correlations (n_topics,), given mean products of states, if any."""
        return np.ones(state.n_topics, bool)

    def expected_spread(self, state: State, sums: Stats) -> Array | None:
        """Deviation of the covariance (n_topics, n_topics) that is expected where no states tell of it."""
        return None

    def concentrations(self, state: State) -> tuple[float | None, float | None]:
        """Alpha and beta, of a model that learns them."""
        return None, None

    def described(self, state: State) -> dict[str, Any]:
        """What progress shows of the weights, by the names it has there."""
        alpha, beta = self.concentrations(state)
        return {"alpha": alpha, "beta": beta}

    def spread(self, state: State) -> float | None:
        """A number that must have settled, as the score must, before states are averaged; None if there is none."""
        return None
