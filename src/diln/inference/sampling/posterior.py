"""What sampling has found: the mean of late states as one model, what it goes on learning from, and the states."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.engine.base import Engine
from diln.inference.data import Array, Batch, BatchPart, CountedBatch, TermCounts, Tokens
from diln.inference.posterior import FoldIn, Inferred, OnlineStep, Posterior
from diln.inference.sampling.state import SampledDocuments, State
from diln.inference.stats import Stats
from diln.inference.weights.draws import Visited, WeightDraws

OVER_STATES = ("products", "spread")  # what is known of several states beside their mean
DRAWS = 8  # of the documents of a step of a stream
BURN = 3  # of them that do not count


@dataclass(frozen=True, slots=True)
class SampledFoldIn(FoldIn):
    """What documents are inferred from given expected topics."""

    weights: WeightDraws
    given: Any  # what the weights' ``fold_in`` takes
    topics: Array  # (n_terms, n_topics)
    most: int
    tolerance: float

    def infer(self, counts: TermCounts | csr_array, engine: Engine) -> Inferred:
        """Each document by itself."""
        return self.weights.fold_in(self.given, self.topics, TermCounts.of(counts), self.most, self.tolerance, engine)


class VisitGiven(NamedTuple):
    """What a visit of documents is given."""

    weights: WeightDraws
    state: State  # without counts
    given: Any  # what the weights' ``visit`` takes


def step_visit(part: BatchPart, given: VisitGiven, engine: Engine) -> list[Any]:
    """Draw documents some times: what is found of each piece of them."""
    tokens = Tokens.of(part.batch.counts())
    places = given.weights.documents(given.state, tokens.n_docs)
    docs = SampledDocuments.new(tokens, places, np.arange(part.first, part.first + tokens.n_docs))
    return given.weights.visit(given.given, docs, part.size, engine)


@dataclass
class SampledPosterior(Posterior):
    """A corpus as the mean of states of a chain, or as a stream has left it."""

    state: State
    sums: Stats  # over the documents that the model stands for: what a stream goes on from
    weights: WeightDraws
    seed: int
    n_states: int = 1  # states that were averaged
    states: list[State] = field(default_factory=list)  # those kept
    products: Array | None = None  # (n_topics, n_topics) float32: mean of ell_i . ell_j over the states averaged
    spread: Array | None = None  # (n_topics, n_topics) float32: deviation of the covariance over the states averaged
    _topics: Array | None = field(default=None, init=False, repr=False)

    @property
    def statistics(self) -> Array:  # type: ignore[override]
        """Expected tokens of each term in each topic (n_terms, n_topics)."""
        return self.state.counts.table[:, : self.state.n_topics]

    @property
    def prior(self) -> float:  # type: ignore[override]
        """gamma_0."""
        return self.state.counts.prior

    @property
    def a0(self) -> Array:
        """What a document's weight of a topic is before its tokens are seen (n_topics,)."""
        return self.weights.prior_weights(self.state)

    @property
    def locations(self) -> Array:
        """Topic locations (n_topics, d)."""
        return self.weights.locations(self.state)

    @property
    def covariance(self) -> Array | None:
        """Covariance of the topics' log weights (n_topics, n_topics), of a model that has it."""
        return self.weights.covariance(self.state) if self.products is None else self.products.astype(np.float64)

    def log_lift(self, covariance: Array) -> Array:
        """Log lifts of pairs of topics (n_topics, n_topics) if their log weights have this covariance."""
        return self.weights.log_lift(self.state, covariance)

    @property
    def placed(self) -> NDArray[np.bool_]:
        """For each topic whether it takes part in correlations (n_topics,): whether it is told from the origin."""
        return self.weights.placed(self.state, self.products)

    def some_spread(self) -> Array | None:
        """The spread over states; of a stream what is expected of it."""
        return self.weights.expected_spread(self.state, self.sums) if self.spread is None else self.spread

    @property
    def alpha(self) -> float | None:
        """Mass of the gamma process that the topics' weights come from, where they are learned."""
        return self.weights.concentrations(self.state)[0]

    @property
    def beta(self) -> float | None:
        """Concentration of a document's weights, where they are learned."""
        return self.weights.concentrations(self.state)[1]

    def refresh(self, engine: Engine) -> None:
        """Nothing follows from the rest but the topics, which are made when they are asked for."""
        self._topics = None

    @property
    def topics(self) -> Array:
        """Expected topics (n_terms, n_topics) in single precision."""
        if self._topics is None:
            self._topics = self.state.expected_topics
        return self._topics

    def fold_in(self, most: int, tolerance: float) -> "SampledFoldIn":
        """The expected topics, and what the weights need."""
        return SampledFoldIn(self.weights, self.weights.folding(self.state), self.topics, most, tolerance)

    def draws(
        self, counts: csr_array, most: int, tolerance: float, number: int, rng: np.random.Generator, engine: Engine
    ) -> Iterator[tuple[Array, Array]]:
        """Topics of the states that were kept, and the documents' proportions in each."""
        for one in self.fold_ins(most, tolerance, number):
            yield one.topics, one.infer(counts, engine).proportions

    def fold_ins(self, most: int, tolerance: float, number: int) -> list["SampledFoldIn"]:
        """What documents are inferred from in each of the last states that were kept."""
        if not self.states:
            raise ValueError("no state of the chain was kept; fit with keep_states, or use method='plug-in'")
        kept = (SampledPosterior(state, self.sums, self.weights, self.seed) for state in self.states[-number:])
        return [one.fold_in(most, tolerance) for one in kept]

    def learn(self, documents: Batch | csr_array, step: OnlineStep, engine: Engine) -> float:
        """Draw documents some times given the corpus, and move that towards the mean of these draws.

        Returns the mean of ln p(token's term | the document's other tokens).
        """
        self._topics = self.products = self.spread = None
        self.states.clear()  # which know nothing of these documents
        batch = CountedBatch.of(documents).loaded()
        tokens, visited = Tokens.of(batch.counts()), self.visit(batch, (self.seed, step.number), engine)
        share = step.rho * step.scale / len(visited.late)
        self.state.counts.move_to(tokens, visited.late, 1 - step.rho, share)
        self.sums.move(visited.sums, 1 - step.rho, share)  # G10
        self.weights.learn(self.state, self.sums)
        return visited.score / max(tokens.size * len(visited.late), 1)

    def visit(self, batch: Batch, key: tuple[int, ...], engine: Engine) -> Visited:
        """Draw documents some times given the corpus."""
        weights, size = self.weights, self.weights.piece_size(batch.n_docs)
        given = VisitGiven(weights, self.state.uncounted(), weights.visiting(self.state, key, DRAWS, BURN))
        found = engine.each(step_visit, batch.parts(size, engine.ways), given)
        return weights.visited(self.state, [piece for part in found for piece in part])

    def bear(self, counts: Array, tables: float) -> int:
        """Take in a topic with so many tokens of each term (n_terms,), in so many tables; returns its number."""
        self._topics = self.products = self.spread = None
        self.states.clear()  # which know nothing of it
        number = self.state.n_topics
        self.state, self.sums = self.weights.bear(self.state, self.sums, tables)
        self.state.counts.table[:, number] = counts
        self.state.counts.totals[number] = self.state.counts.table[:, number].sum(dtype=np.float64)
        return number

    def grow_terms(self, n_terms: int) -> None:
        """Have so many terms, in the states that are kept too."""
        for state in (self.state, *self.states):
            state.counts.grow_terms(n_terms)
        self._topics = None

    def tensors(self) -> dict[str, Array]:
        """All arrays, by name."""
        return {
            **self.state.tensors(),
            **self.sums.tensors(),
            **{name: getattr(self, name) for name in OVER_STATES if getattr(self, name) is not None},
            **{f"{name}.{i}": value for i, state in enumerate(self.states) for name, value in state.tensors().items()},
        }

    def numbers(self) -> dict[str, Any]:
        """All else, as JSON."""
        return {
            "state": self.state.numbers(),
            "states": [state.numbers() for state in self.states],
            "n_states": self.n_states,
        }

    @classmethod
    def restored(
        cls, tensors: dict[str, Array], numbers: dict[str, Any], weights: WeightDraws, seed: int
    ) -> "SampledPosterior":
        """Take back what ``tensors`` and ``numbers`` gave."""
        kind = weights.state_of(tensors)
        state = State.restored(kind, tensors, numbers["state"])
        states = [State.restored(kind, tensors, one, f".{i}") for i, one in enumerate(numbers["states"])]
        sums = weights.sums.restored(tensors, {})
        found = {name: tensors.get(name) for name in OVER_STATES}
        return cls(state, sums, weights, seed, numbers["n_states"], states, **found)
