"""LDA: a document's proportions are Dirichlet(a0), with a0 given or learned."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import digamma, gammaln

from diln.engine.base import Engine
from diln.inference.data import Array
from diln.inference.variational.documents import DocumentBeliefs, DocumentSums, even_start
from diln.inference.variational.stick_step import LEAST
from diln.inference.weights.base import RunningTables, Tensors, Weights, not_worse, profile


class DirichletWeights(Weights):
    """LDA: a document's proportions are Dirichlet(a0), with a0 given or learned."""

    def __init__(self, a0: Array, learned: bool) -> None:
        self.a0, self.learned = np.asarray(a0, np.float64), learned
        self.running = RunningTables()

    def start(self, lengths: Array, dtype: Any) -> DocumentBeliefs:
        """Spread evenly."""
        return even_start(lengths, len(self.a0), 0, np.zeros(len(lengths)), dtype)

    def completed(self, sums: DocumentSums, beliefs: DocumentBeliefs, lengths: Array) -> DocumentSums:
        """The Dirichlet's normaliser, and the lifts that follow from it."""
        total = self.a0.sum()
        weights = sums.weights + float((gammaln(total) - gammaln(total + lengths)).sum())
        lifts = np.full(len(self.a0), (digamma(total + lengths) - digamma(total)).sum())
        return replace(sums, weights=weights, lifts=lifts)

    def update(self, sums: DocumentSums, beliefs: DocumentBeliefs, rho: float, scale: float, engine: Engine) -> None:
        """Minka's fixed point: a0_k = t_k / h."""  # L1
        if not self.learned:
            return
        self.running.move(sums, self.a0, rho, scale)
        tables, lifts = self.running.tensors()["tables"], self.running.tensors()["lifts"]
        best = np.maximum(tables / np.maximum(lifts, np.finfo(float).tiny), LEAST)
        lengths = beliefs.tokens.sum(axis=1, dtype=np.float64)

        def rest(a0: Array) -> float:
            total = a0.sum()
            return float((gammaln(total) - gammaln(total + lengths)).sum())

        def objective(a0: Array) -> float:
            return profile(a0, beliefs.tokens, engine) + rest(a0)

        if rho == 1:
            best = not_worse(self.a0, best, objective, sums.profile + rest(self.a0))
        self.a0 = best

    def terms(self) -> dict[str, float]:
        """None: a0 has no prior."""
        return {}

    def tensors(self) -> Tensors:
        """The Dirichlet parameters and what they are learned from."""
        return {"a0": self.a0, **self.running.tensors()}

    def restore(self, tensors: Tensors) -> None:
        """Take them back."""
        self.a0, self.running = tensors["a0"], RunningTables.restored(tensors)
