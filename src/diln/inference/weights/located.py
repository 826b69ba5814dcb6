"""DILN: a document's weights are Gamma(beta p_k, exp(-ell_k . u)), with sticks, beta and locations learned."""

from dataclasses import replace
from typing import Any

import numpy as np

from diln.engine.base import Engine, run
from diln.engine.threads import cut
from diln.inference.data import Array
from diln.inference.variational.documents import DocumentBeliefs, DocumentSums, even_start
from diln.inference.variational.location_step import LocatedDocuments, TopicShard, step_locations
from diln.inference.weights.base import LN_2PI, Tensors, Weights
from diln.inference.weights.gamma_process import StickWeights, rate_constant

TOPICS_AT_ONCE = 8


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

    def start(self, lengths: Array, dtype: Any) -> DocumentBeliefs:
        """Spread evenly, at the origin."""
        return even_start(lengths, len(self.a0), self.n_dims, self.sticks.intercepts(lengths), dtype)

    def completed(self, sums: DocumentSums, beliefs: DocumentBeliefs, lengths: Array) -> DocumentSums:
        """The constants of the gate and of the document locations' prior."""  # B3, D5
        locations = sums.locations - 0.5 * self.n_dims * LN_2PI * len(lengths)
        return replace(sums, weights=sums.weights + rate_constant(lengths), locations=locations)

    def update(self, sums: DocumentSums, beliefs: DocumentBeliefs, rho: float, scale: float, engine: Engine) -> None:
        """Sticks, beta and alpha, then locations."""
        self.sticks.update(sums, beliefs, rho, scale, engine)
        self.locate(beliefs, rho, scale, engine)

    def locate(self, beliefs: DocumentBeliefs, rho: float, scale: float, engine: Engine) -> None:
        """Move each topic's location by rho times a Newton step."""  # D10, S4
        tokens = np.ascontiguousarray(beliefs.tokens.T)
        covariates = np.ascontiguousarray(beliefs.locations.T, tokens.dtype)
        longest, best = np.sqrt((beliefs.locations**2).sum(axis=1).max(initial=0)), np.empty_like(self.locations)
        documents = LocatedDocuments(covariates, beliefs.intercepts, float(longest), 1 / self.variance, scale)
        rows = (tokens, self.a0, self.locations, best)
        pieces = cut(len(self.a0), TOPICS_AT_ONCE)
        shards = [TopicShard(*(array[first:last] for array in rows)) for first, last in pieces]
        run(engine, step_locations, shards, documents)
        self._locations = (1 - rho) * self.locations + rho * best

    def terms(self) -> dict[str, float]:
        """The sticks' terms and ln p(ell)."""  # B6
        n_topics = len(self.a0)
        value = -0.5 * (self.locations**2).sum() / self.variance
        value -= 0.5 * n_topics * self.n_dims * (LN_2PI + np.log(self.variance))
        return {**self.sticks.terms(), "topic_locations": float(value)}

    def scales(self, beliefs: DocumentBeliefs) -> Array | float:
        """The gate sigma(ell_k . u + s), beside the widest."""
        psi = np.repeat(beliefs.intercepts[:, np.newaxis], len(self.a0), axis=1)
        for u, ell in zip(beliefs.locations.T, self.locations.T, strict=True):  # a matrix product's bits would depend
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
