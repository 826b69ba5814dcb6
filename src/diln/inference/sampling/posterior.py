"""What sampling has found: the mean of late states as one model, what it goes on learning from, and the states."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.engine.threads import Threads
from diln.inference.data import Array, TermCounts
from diln.inference.posterior import Inferred, Posterior
from diln.inference.sampling.corpus_step import Places, Prior, precisions
from diln.inference.sampling.fold_in import fold_in
from diln.inference.sampling.log_weights import LIFT
from diln.inference.sampling.online import Running, step
from diln.inference.sampling.state import State
from diln.inference.variational.documents import Limits
from diln.inference.variational.posterior import first_beliefs
from diln.inference.weights.gaussian import GaussianWeights

OVER_STATES = ("products", "spread")  # what is known of several states beside their mean


@dataclass
class SampledPosterior(Posterior):
    """A corpus as the mean of states of a chain, or as a stream has left it."""

    state: State
    running: Running
    spec: Prior  # what is learned, and the priors of it
    seed: int
    n_states: int = 1  # states that were averaged
    states: list[State] = field(default_factory=list)  # those kept
    products: Array | None = None  # (n_topics, n_topics) float32: mean of ell_i . ell_j over the states averaged
    spread: Array | None = None  # (n_topics, n_topics) float32: deviation of the covariance over the states averaged
    _topics: Array | None = field(default=None, init=False, repr=False)
    _weights: GaussianWeights | None = field(default=None, init=False, repr=False)

    @property
    def statistics(self) -> Array:  # type: ignore[override]
        """Expected tokens of each term in each topic (n_terms, n_topics)."""
        return self.state.table[:, : self.state.n_topics]

    @property
    def prior(self) -> float:  # type: ignore[override]
        """gamma_0."""
        return self.state.prior

    @property
    def a0(self) -> Array:
        """What a document's weight of a topic is before its tokens are seen (n_topics,)."""
        return self.weights.a0 if self.state.weighed else self.state.a0[: self.state.n_topics]

    @property
    def weights(self) -> GaussianWeights:
        """Mean and covariance of documents' log weights, of a model that has them."""
        if self._weights is None:
            prior = self.spec.covariance or 0.0
            self._weights = GaussianWeights(self.state.mean, self.state.covariance, prior, lift=LIFT)
        return self._weights

    @property
    def locations(self) -> Array:
        """Topic locations (n_topics, d)."""
        return self.state.ells[:, : self.state.n_topics].T.astype(np.float64)

    @property
    def covariance(self) -> Array | None:
        """Covariance of the topics' log weights (n_topics, n_topics), of a model that has it."""
        if self.state.weighed:
            return self.weights.covariance
        if self.products is not None:
            return self.products.astype(np.float64)
        return self.locations @ self.locations.T if self.state.n_dims else None

    @property
    def placed(self) -> NDArray[np.bool_]:
        """For each topic whether its location is told from the origin (n_topics,).

        It is where the mean location is longer than what the states are apart: where its square is more than half the
        mean square of the location's length. Where only one location is known, that is told from the origin unless it
        is there.
        """
        if self.state.weighed:
            return np.ones(self.n_topics, bool)
        squares = (self.locations**2).sum(axis=1)
        return np.asarray(squares > (0 if self.products is None else np.diag(self.products) / 2))

    def some_spread(self) -> Array | None:
        """The spread over states; of a stream that of the posterior, given where its documents are."""
        if self.spread is not None:
            return self.spread
        if self.state.weighed:
            return spread_of_scatter(self.weights.covariance, float(self.running.moments[0, 0]))
        size, dims = self.state.n_topics, self.state.n_dims
        if not dims:
            return None
        places = Places(self.running.precision[:size], self.running.linear[:, :size])
        return spread_of_products(self.locations, np.linalg.inv(precisions(places, dims, self.state.variance)))

    @property
    def alpha(self) -> float | None:
        """Mass of the gamma process that the topics' weights come from, where they are learned."""
        return self.state.alpha if self.spec.learn_weights else None

    @property
    def beta(self) -> float | None:
        """Concentration of a document's weights, where they are learned."""
        return self.state.beta if self.spec.learn_weights else None

    def refresh(self, threads: Threads) -> None:
        """Nothing follows from the rest but the topics and the weights, which are made when they are asked for."""
        self._topics = self._weights = None

    @property
    def topics(self) -> Array:
        """Expected topics (n_terms, n_topics) in single precision."""
        if self._topics is None:
            self._topics = self.state.expected_topics
        return self._topics

    def infer(self, counts: TermCounts | csr_array, most: int, tolerance: float, threads: Threads) -> Inferred:
        """Each document settled by itself, given the expected topics."""
        limits = Limits(most, tolerance)
        if self.state.weighed:
            beliefs = first_beliefs(self.topics, self.weights, TermCounts.of(counts), limits, threads)
            return Inferred(self.weights.proportions(beliefs), beliefs.locations)
        return Inferred(*fold_in(self.topics, self.a0, self.locations, counts, limits, threads))

    def draws(
        self, counts: csr_array, most: int, tolerance: float, number: int, rng: np.random.Generator, threads: Threads
    ) -> Iterator[tuple[Array, Array]]:
        """Topics of the states that were kept, and the documents' proportions in each."""
        if not self.states:
            raise ValueError("no state of the chain was kept; fit with keep_states, or use method='plug-in'")
        for state in self.states[-number:]:
            one = SampledPosterior(state, self.running, self.spec, self.seed)
            yield one.topics, one.infer(counts, most, tolerance, threads).proportions

    def learn(self, counts: csr_array, number: int, rho: float, scale: float, threads: Threads) -> float:
        """One stochastic step, the ``number``-th, with these documents; returns the mean score of a token."""
        self._topics = self._weights = None
        self.states.clear()  # which know nothing of these documents
        self.products = self.spread = None
        return step(self.state, self.running, counts, (self.seed, number), rho, scale, self.spec, threads)

    def tensors(self) -> dict[str, Array]:
        """All arrays, by name."""
        return {
            **self.state.tensors(),
            **self.running.tensors(),
            **{name: getattr(self, name) for name in OVER_STATES if getattr(self, name) is not None},
            **{f"{name}.{i}": value for i, state in enumerate(self.states) for name, value in state.tensors().items()},
        }

    def numbers(self) -> dict[str, Any]:
        """All else, as JSON."""
        return {
            "state": self.state.numbers(),
            "states": [state.numbers() for state in self.states],
            "spec": _fields(self.spec),
            "n_states": self.n_states,
        }

    @classmethod
    def restored(cls, tensors: dict[str, Array], numbers: dict[str, Any], seed: int) -> "SampledPosterior":
        """Take back what ``tensors`` and ``numbers`` gave."""
        spec: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in numbers["spec"].items()
        }
        running = Running(**{one.name: tensors[one.name] for one in fields(Running) if one.name in tensors})
        states = [State.restored(tensors, one, f".{i}") for i, one in enumerate(numbers["states"])]
        state = State.restored(tensors, numbers["state"])
        found = {name: tensors.get(name) for name in OVER_STATES}
        return cls(state, running, Prior(**spec), seed, numbers["n_states"], states, **found)


def spread_of_products(locations: Array, covariances: Array) -> Array:
    """Deviation of ell_i . ell_j (n_topics, n_topics), independent Gaussians of means (n_topics, d) and covariances.

    Its variance is ell_i' S_j ell_i + ell_j' S_i ell_j + tr S_i S_j.
    """
    size = len(locations)
    flat = covariances.reshape(size, -1)
    one_sided = np.einsum("ia,ib->iab", locations, locations).reshape(size, -1) @ flat.T
    return np.asarray(np.sqrt(one_sided + one_sided.T + flat @ flat.T), np.float32)


def spread_of_scatter(covariance: Array, n_docs: float) -> Array:
    """Deviation of a covariance (n_topics, n_topics) that is learned from so many Gaussian documents."""
    variances = np.diag(covariance)
    return np.asarray(np.sqrt((np.outer(variances, variances) + covariance**2) / max(n_docs, 1.0)), np.float32)


def _fields(record: Any) -> dict[str, Any]:
    return {one.name: getattr(record, one.name) for one in fields(record)}
