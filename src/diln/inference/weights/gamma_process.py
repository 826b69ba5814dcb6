"""HDP: a document's weights are Gamma(beta p_k, 1), with sticks p and beta learned."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import xlogy

from diln.engine.base import Engine
from diln.inference.data import Array
from diln.inference.variational.documents import FAR_BELOW, DocumentBeliefs, DocumentSums, even_start
from diln.inference.variational.stick_step import best_a0, best_alpha, gamma_term, stick_term
from diln.inference.weights.base import RunningTables, Tensors, Weights, not_worse, profile

START_BETA = 10.0


class StickWeights(Weights):
    """HDP: a document's weights are Gamma(beta p_k, 1), with sticks p and beta learned."""

    def __init__(self, n_topics: int, alpha_prior: tuple[float, float], beta_prior: tuple[float, float]) -> None:
        self.alpha_prior, self.beta_prior = alpha_prior, beta_prior
        self._alpha = 1.0
        self.a0 = np.full(n_topics, START_BETA / n_topics)
        self.running = RunningTables()

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

    def start(self, lengths: Array, dtype: Any) -> DocumentBeliefs:
        """Spread evenly."""
        return even_start(lengths, len(self.a0), 0, self.intercepts(lengths), dtype)

    def completed(self, sums: DocumentSums, beliefs: DocumentBeliefs, lengths: Array) -> DocumentSums:
        """Without a gate, psi = s is the same for all topics and has a closed form."""  # D5
        beliefs.intercepts[:] = self.intercepts(lengths)
        soft = np.log1p(lengths / self.beta)
        gate = np.where(lengths > 0, lengths * beliefs.intercepts - (lengths + self.beta) * soft, 0.0)
        weights = sums.weights + (float(gate.sum()) + rate_constant(lengths))
        return replace(sums, weights=weights, lifts=np.full(len(self.a0), soft.sum()))

    def update(self, sums: DocumentSums, beliefs: DocumentBeliefs, rho: float, scale: float, engine: Engine) -> None:
        """Sticks and beta together, then alpha."""
        self.running.move(sums, self.a0, rho, scale)
        stats = self.running.tensors()
        best = best_a0(stats["tables"], stats["lifts"], self.a0, self.alpha, self.beta_prior)

        def rest(a0: Array) -> float:
            prior = stick_term(a0[-1] / a0.sum(), len(a0), self.alpha) + gamma_term(a0.sum(), *self.beta_prior)
            return prior - scale * float(a0 @ sums.lifts)

        def objective(a0: Array) -> float:
            return scale * profile(a0, beliefs.tokens, engine) + rest(a0)

        if rho == 1:
            best = not_worse(self.a0, best, objective, scale * sums.profile + rest(self.a0))
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
        self.running = RunningTables.restored(tensors)


def rate_constant(lengths: Array) -> float:
    """sum_m N_m - N_m ln N_m: what profiling out xi leaves of the bound."""  # D5
    return float((lengths - xlogy(lengths, lengths)).sum())
