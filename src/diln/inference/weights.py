"""The topics' weights, in the corpus and in a document: the one thing in which the models differ.

All share a0, what a document's weight of a topic is before its tokens are seen: a0 = beta p with sticks, or LDA's
Dirichlet parameters. With q(Z) profiled out, its part of the bound is

    sum_mk ln Gamma(a0_k + n_mk) - ln Gamma(a0_k) - sum_k a0_k h_k + ln p(a0).                                # D9

Expected tables t and lifts h give a step: the maximum of sum_k t_k ln a0_k - a0_k h_k + ln p(a0). For whole n that is
a minorant of the above; n are expectations, so batch inference checks the step and halves it where it must.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln, polygamma, xlogy

from diln.engine.threads import Threads, cut
from diln.inference.document_step import gated_step, weight_terms
from diln.inference.documents import FAR_BELOW, Array, Documents, Step, Summary, Visit, even_start
from diln.inference.location_step import location_step
from diln.inference.stick_step import LEAST, best_a0, best_alpha, gamma_term, stick_term

TOPICS_AT_ONCE = 8
DOCS_AT_ONCE = 512
HALVINGS = 12
START_BETA = 10.0
LN_2PI = float(np.log(2 * np.pi))

Tensors = dict[str, NDArray[Any]]


class Weights(ABC):
    """What a model knows of its topics' weights."""

    a0: Array  # (n_topics,)
    n_dims = 0

    @property
    def alpha(self) -> float | None:
        """Top-level concentration, of a model that has it."""
        return None

    @property
    def beta(self) -> float | None:
        """Second-level concentration, of a model that has it."""
        return None

    @property
    def locations(self) -> Array:
        """Topic locations ell (n_topics, d)."""
        return np.zeros((len(self.a0), 0))

    @property
    def covariance(self) -> Array | None:
        """Covariance of the topics' log weights (n_topics, n_topics), of a model that has it."""
        return self.locations @ self.locations.T if self.n_dims else None

    def step(self, visit: Visit) -> Step:
        """The document step."""
        return gated_step(visit, self.a0, known_of(self.a0), self.locations)

    @abstractmethod
    def start(self, lengths: Array, dtype: Any) -> Documents:
        """Documents of these lengths before anything is known of them."""

    @abstractmethod
    def completed(self, summary: Summary, documents: Documents, lengths: Array) -> Summary:
        """The summary with what the document step leaves to closed forms."""

    @abstractmethod
    def update(self, summary: Summary, documents: Documents, rho: float, scale: float, threads: Threads) -> None:
        """Move by a step ``rho`` to where these documents, counted ``scale`` times, are explained best."""

    @abstractmethod
    def terms(self) -> dict[str, float]:
        """The weights' own terms of the bound."""

    def scales(self, documents: Documents) -> Array | float:
        """What a0 + n is multiplied by to be proportional to the topics' expected proportions; 1 without a gate."""
        return 1.0

    def proportions(self, documents: Documents) -> Array:
        """Expected proportions of the topics (n_docs, n_topics); those of the prior for a document without tokens."""
        weights = (self.a0 + documents.tokens) * self.scales(documents)  # D12
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def drawing(self, documents: Documents, rng: np.random.Generator) -> Callable[[], Array]:
        """Draws the weights of the topics (n_docs, n_topics) from q."""
        shape, scale = self.a0 + documents.tokens, self.scales(documents)
        return lambda: rng.standard_gamma(shape) * scale + np.finfo(float).tiny

    @abstractmethod
    def tensors(self) -> Tensors:
        """All of the state, by name."""

    @abstractmethod
    def restore(self, tensors: Tensors) -> None:
        """Take back what ``tensors`` gave."""


class Running:
    """Expected tables and lifts, averaged over steps."""

    def __init__(self, tables: Array | None = None, lifts: Array | None = None) -> None:
        self.tables, self.lifts = tables, lifts

    def move(self, summary: Summary, a0: Array, rho: float, scale: float) -> None:
        """Take in a summary; before the first, a0 is taken as having been learned from tables and lifts alike."""
        tables, lifts = scale * summary.tables, scale * summary.lifts
        if self.tables is None or self.lifts is None:
            self.tables, self.lifts = a0 * lifts, lifts
        self.tables = (1 - rho) * self.tables + rho * tables
        self.lifts = (1 - rho) * self.lifts + rho * lifts

    def tensors(self) -> Tensors:
        """Both, if there are any yet."""
        return {} if self.tables is None or self.lifts is None else {"tables": self.tables, "lifts": self.lifts}

    @classmethod
    def restored(cls, tensors: Tensors) -> "Running":
        """Take back what ``tensors`` gave."""
        return cls(tensors.get("tables"), tensors.get("lifts"))


class DirichletWeights(Weights):
    """LDA: a document's proportions are Dirichlet(a0), with a0 given or learned."""

    def __init__(self, a0: Array, learned: bool) -> None:
        self.a0, self.learned = np.asarray(a0, np.float64), learned
        self.running = Running()

    def start(self, lengths: Array, dtype: Any) -> Documents:
        """Spread evenly."""
        return even_start(lengths, len(self.a0), 0, np.zeros(len(lengths)), dtype)

    def completed(self, summary: Summary, documents: Documents, lengths: Array) -> Summary:
        """The Dirichlet's normaliser, and the lifts that follow from it."""
        total = self.a0.sum()
        summary.weights += float((gammaln(total) - gammaln(total + lengths)).sum())
        summary.lifts = np.full(len(self.a0), (digamma(total + lengths) - digamma(total)).sum())
        return summary

    def update(self, summary: Summary, documents: Documents, rho: float, scale: float, threads: Threads) -> None:
        """Minka's fixed point: a0_k = t_k / h."""  # L1
        if not self.learned:
            return
        self.running.move(summary, self.a0, rho, scale)
        tables, lifts = self.running.tensors()["tables"], self.running.tensors()["lifts"]
        best = np.maximum(tables / np.maximum(lifts, np.finfo(float).tiny), LEAST)
        lengths = documents.tokens.sum(axis=1, dtype=np.float64)

        def rest(a0: Array) -> float:
            total = a0.sum()
            return float((gammaln(total) - gammaln(total + lengths)).sum())

        def objective(a0: Array) -> float:
            return profile(a0, documents.tokens, threads) + rest(a0)

        if rho == 1:
            best = not_worse(self.a0, best, objective, summary.profile + rest(self.a0))
        self.a0 = best

    def terms(self) -> dict[str, float]:
        """None: a0 has no prior."""
        return {}

    def tensors(self) -> Tensors:
        """The Dirichlet parameters and what they are learned from."""
        return {"a0": self.a0, **self.running.tensors()}

    def restore(self, tensors: Tensors) -> None:
        """Take them back."""
        self.a0, self.running = tensors["a0"], Running.restored(tensors)


class StickWeights(Weights):
    """HDP: a document's weights are Gamma(beta p_k, 1), with sticks p and beta learned."""

    def __init__(self, n_topics: int, alpha_prior: tuple[float, float], beta_prior: tuple[float, float]) -> None:
        self.alpha_prior, self.beta_prior = alpha_prior, beta_prior
        self._alpha = 1.0
        self.a0 = np.full(n_topics, START_BETA / n_topics)
        self.running = Running()

    @property
    def alpha(self) -> float:
        """Top-level concentration."""
        return self._alpha

    @property
    def beta(self) -> float:
        """Second-level concentration."""
        return float(self.a0.sum())

    @property
    def p(self) -> Array:
        """Top-level weights."""
        return np.asarray(self.a0 / self.a0.sum())

    def intercepts(self, lengths: Array) -> Array:
        """s where all locations are 0: e^s = N / beta."""
        return np.where(lengths > 0, np.log(np.maximum(lengths, 1e-300) / self.beta), FAR_BELOW)

    def start(self, lengths: Array, dtype: Any) -> Documents:
        """Spread evenly."""
        return even_start(lengths, len(self.a0), 0, self.intercepts(lengths), dtype)

    def completed(self, summary: Summary, documents: Documents, lengths: Array) -> Summary:
        """Without a gate, psi = s is the same for all topics and has a closed form."""  # D5
        documents.intercepts[:] = self.intercepts(lengths)
        soft = np.log1p(lengths / self.beta)
        gate = np.where(lengths > 0, lengths * documents.intercepts - (lengths + self.beta) * soft, 0.0)
        summary.weights += float(gate.sum()) + rate_constant(lengths)
        summary.lifts = np.full(len(self.a0), soft.sum())
        return summary

    def update(self, summary: Summary, documents: Documents, rho: float, scale: float, threads: Threads) -> None:
        """Sticks and beta together, then alpha."""
        self.running.move(summary, self.a0, rho, scale)
        stats = self.running.tensors()
        best = best_a0(stats["tables"], stats["lifts"], self.a0, self.alpha, self.beta_prior)

        def rest(a0: Array) -> float:
            prior = stick_term(a0[-1] / a0.sum(), len(a0), self.alpha) + gamma_term(a0.sum(), *self.beta_prior)
            return prior - scale * float(a0 @ summary.lifts)

        def objective(a0: Array) -> float:
            return scale * profile(a0, documents.tokens, threads) + rest(a0)

        if rho == 1:
            best = not_worse(self.a0, best, objective, scale * summary.profile + rest(self.a0))
        self.a0 = best
        self._alpha = best_alpha(self.p[-1], len(self.a0), self.alpha, self.alpha_prior)

    def terms(self) -> dict[str, float]:
        """ln p(V | alpha), ln p(alpha), ln p(beta)."""  # B5
        return {
            "sticks": stick_term(self.p[-1], len(self.a0), self.alpha),
            "alpha": gamma_term(self.alpha, *self.alpha_prior),
            "beta": gamma_term(self.beta, *self.beta_prior),
        }

    def tensors(self) -> Tensors:
        """a0 = beta p, alpha, and what a0 is learned from."""
        return {"a0": self.a0, "alpha": np.array([self.alpha]), **self.running.tensors()}

    def restore(self, tensors: Tensors) -> None:
        """Take them back."""
        self.a0, self._alpha = tensors["a0"], float(tensors["alpha"][0])
        self.running = Running.restored(tensors)


class LocatedWeights(Weights):
    """DILN: a document's weights are Gamma(beta p_k, exp(-ell_k . u)), with sticks, beta and locations learned."""

    def __init__(self, sticks: StickWeights, locations: Array, variance: float) -> None:
        self.sticks, self.variance = sticks, variance
        self._locations = np.ascontiguousarray(locations, np.float64)

    @property
    def n_dims(self) -> int:  # type: ignore[override]
        """Dimensions of the locations."""
        return int(self._locations.shape[1])

    @property
    def a0(self) -> Array:  # type: ignore[override]
        """The sticks'."""
        return self.sticks.a0

    @property
    def alpha(self) -> float:
        """The sticks'."""
        return self.sticks.alpha

    @property
    def beta(self) -> float:
        """The sticks'."""
        return self.sticks.beta

    @property
    def locations(self) -> Array:
        """Topic locations ell (n_topics, d)."""
        return self._locations

    def start(self, lengths: Array, dtype: Any) -> Documents:
        """Spread evenly, at the origin."""
        return even_start(lengths, len(self.a0), self.n_dims, self.sticks.intercepts(lengths), dtype)

    def completed(self, summary: Summary, documents: Documents, lengths: Array) -> Summary:
        """The constants of the gate and of the document locations' prior."""  # B3, D5
        summary.weights += rate_constant(lengths)
        summary.locations -= 0.5 * self.n_dims * LN_2PI * len(lengths)
        return summary

    def update(self, summary: Summary, documents: Documents, rho: float, scale: float, threads: Threads) -> None:
        """Sticks, beta and alpha, then locations."""
        self.sticks.update(summary, documents, rho, scale, threads)
        self.locate(documents, rho, scale, threads)

    def locate(self, documents: Documents, rho: float, scale: float, threads: Threads) -> None:
        """Move each topic's location by rho times a Newton step."""  # D10, S4
        tokens = np.ascontiguousarray(documents.tokens.T)
        covariates = np.ascontiguousarray(documents.locations.T, tokens.dtype)
        offsets, longest = documents.intercepts, float(np.sqrt((documents.locations**2).sum(axis=1).max(initial=0)))
        best, precision = np.empty_like(self.locations), 1 / self.variance

        def step(number: int, first: int, last: int) -> None:
            location_step(
                tokens, self.a0, covariates, offsets, longest, precision, scale, first, last, self.locations, best
            )

        threads.run(step, cut(len(self.a0), TOPICS_AT_ONCE))
        self._locations = (1 - rho) * self.locations + rho * best

    def terms(self) -> dict[str, float]:
        """The sticks' terms and ln p(ell)."""  # B6
        n_topics = len(self.a0)
        value = -0.5 * (self.locations**2).sum() / self.variance
        value -= 0.5 * n_topics * self.n_dims * (LN_2PI + np.log(self.variance))
        return {**self.sticks.terms(), "topic_locations": float(value)}

    def scales(self, documents: Documents) -> Array | float:
        """The gate sigma(ell_k . u + s), beside the widest."""
        psi = np.repeat(documents.intercepts[:, np.newaxis], len(self.a0), axis=1)
        for u, ell in zip(documents.locations.T, self.locations.T, strict=True):  # a matrix product's bits would depend
            psi += u[:, np.newaxis] * ell  # on how many documents there are
        logs = -np.logaddexp(0, -psi)
        return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))

    def tensors(self) -> Tensors:
        """The sticks' and the locations."""
        return {**self.sticks.tensors(), "locations": self.locations}

    def restore(self, tensors: Tensors) -> None:
        """Take them back."""
        self.sticks.restore(tensors)
        self._locations = tensors["locations"]


def known_of(a0: Array) -> Array:
    """ln Gamma and its first four derivatives at a0 (5, n_topics)."""
    return np.vstack([gammaln(a0), digamma(a0), *(polygamma(order, a0) for order in (1, 2, 3))])


def profile(a0: Array, tokens: Array, threads: Threads) -> float:
    """sum_mk ln Gamma(a0_k + n_mk) - ln Gamma(a0_k)."""
    pieces = cut(len(tokens), DOCS_AT_ONCE)
    sums = np.zeros(len(pieces))
    known = known_of(a0)

    def step(number: int, first: int, last: int) -> None:
        sums[number] = weight_terms(a0, known, tokens, first, last)

    threads.run(step, pieces)
    return float(sums.sum())


def not_worse(old: Array, new: Array, objective: Callable[[Array], float], before: float) -> Array:
    """The new value, or as much of the way to it, halved again and again in ln a0, as does not lower the objective.

    ``before`` is the objective of the old value.
    """
    for halvings in range(HALVINGS):
        share = 0.5**halvings
        moved = new if share == 1 else old ** (1 - share) * new**share
        if objective(moved) >= before:
            return moved
    return old


def rate_constant(lengths: Array) -> float:
    """sum_m N_m - N_m ln N_m: what profiling out xi leaves of the bound."""  # D5
    return float((lengths - xlogy(lengths, lengths)).sum())
