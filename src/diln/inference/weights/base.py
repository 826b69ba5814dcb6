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
from scipy.special import digamma, gammaln, polygamma

from diln.engine.threads import Threads, cut
from diln.inference.data import Array
from diln.inference.variational.document_step import gated_step, weight_terms
from diln.inference.variational.documents import Documents, Step, Summary, Visit

DOCS_AT_ONCE = 512
HALVINGS = 12
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
