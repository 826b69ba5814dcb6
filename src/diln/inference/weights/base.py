"""The topics' weights, in the corpus and in a document: the one thing in which the models differ.

All share a0, what a document's weight of a topic is before its tokens are seen: a0 = beta p with sticks, or LDA's
Dirichlet parameters. With q(Z) profiled out, its part of the bound is

    sum_mk ln Gamma(a0_k + n_mk) - ln Gamma(a0_k) - sum_k a0_k h_k + ln p(a0).                                # D9

Expected tables t and lifts h give a step: the maximum of sum_k t_k ln a0_k - a0_k h_k + ln p(a0). For whole n that is
a minorant of the above; n are expectations, so batch inference checks the step and halves it where it must.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diln.engine.base import Engine
from diln.engine.threads import cut
from diln.inference.data import Array
from diln.inference.lifts import gated_moments, log_lifts, roots_of
from diln.inference.variational.document_step import GammaCorpus, log_gamma_derivatives, step_documents, weight_terms
from diln.inference.variational.documents import DocumentBeliefs, DocumentShard, DocumentSums, Limits

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

    def log_lift(self, covariance: Array) -> Array:
        """Log lifts of pairs of topics (n_topics, n_topics) if their log weights have this covariance."""
        return log_lifts(gated_moments(self.a0, roots_of(covariance, self.n_dims)))

    def document_step(self, topics: Array, limits: Limits) -> tuple[Callable[[DocumentShard, Any], None], Any]:
        """The document step, as an engine takes it, and what it shares, given topics (n_terms, n_topics)."""
        return step_documents, GammaCorpus.of(topics, self.a0, self.locations, limits)

    @abstractmethod
    def start(self, lengths: Array, dtype: Any) -> DocumentBeliefs:
        """Documents of these lengths before anything is known of them."""

    @abstractmethod
    def completed(self, sums: DocumentSums, beliefs: DocumentBeliefs, lengths: Array) -> DocumentSums:
        """The sums with what the document step leaves to closed forms."""

    @abstractmethod
    def update(self, sums: DocumentSums, beliefs: DocumentBeliefs, rho: float, scale: float, engine: Engine) -> None:
        """Move by a step ``rho`` to where these documents, counted ``scale`` times, are explained best."""

    @abstractmethod
    def terms(self) -> dict[str, float]:
        """The weights' own terms of the bound."""

    def scales(self, beliefs: DocumentBeliefs) -> Array | float:
        """What a0 + n is multiplied by to be proportional to the topics' expected proportions; 1 without a gate."""
        return 1.0

    def proportions(self, beliefs: DocumentBeliefs) -> Array:
        """Expected proportions of the topics (n_docs, n_topics); those of the prior for a document without tokens."""
        weights = (self.a0 + beliefs.tokens) * self.scales(beliefs)  # D12
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def drawing(self, beliefs: DocumentBeliefs, rng: np.random.Generator) -> Callable[[], Array]:
        """Draws the weights of the topics (n_docs, n_topics) from q."""
        shape, scale = self.a0 + beliefs.tokens, self.scales(beliefs)
        return lambda: rng.standard_gamma(shape) * scale + np.finfo(float).tiny

    @abstractmethod
    def tensors(self) -> Tensors:
        """All of the state, by name."""

    @abstractmethod
    def restore(self, tensors: Tensors) -> None:
        """Take back what ``tensors`` gave."""


class RunningTables:
    """Expected tables and lifts, averaged over steps."""

    def __init__(self, tables: Array | None = None, lifts: Array | None = None) -> None:
        self.tables, self.lifts = tables, lifts

    def move(self, sums: DocumentSums, a0: Array, rho: float, scale: float) -> None:
        """Take in the sums of some documents; before the first, a0 counts as learned from tables and lifts alike."""
        tables, lifts = scale * sums.tables, scale * sums.lifts
        if self.tables is None or self.lifts is None:
            self.tables, self.lifts = a0 * lifts, lifts
        self.tables = (1 - rho) * self.tables + rho * tables
        self.lifts = (1 - rho) * self.lifts + rho * lifts

    def tensors(self) -> Tensors:
        """Both, if there are any yet."""
        return {} if self.tables is None or self.lifts is None else {"tables": self.tables, "lifts": self.lifts}

    @classmethod
    def restored(cls, tensors: Tensors) -> "RunningTables":
        """Take back what ``tensors`` gave."""
        return cls(tensors.get("tables"), tensors.get("lifts"))


class WeightsAt(NamedTuple):
    """a0, and what its terms of the bound need of it."""

    a0: Array  # (n_topics,)
    derivatives: Array  # (5, n_topics) of ln Gamma


def step_weight_terms(tokens: Array, at: WeightsAt) -> float:
    """``weight_terms`` of some documents."""
    return float(weight_terms(at.a0, at.derivatives, tokens))


def profile(a0: Array, tokens: Array, engine: Engine) -> float:
    """sum_mk ln Gamma(a0_k + n_mk) - ln Gamma(a0_k)."""
    shards = [tokens[first:last] for first, last in cut(len(tokens), DOCS_AT_ONCE)]
    return float(np.sum(list(engine.map(step_weight_terms, shards, WeightsAt(a0, log_gamma_derivatives(a0))))))


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
