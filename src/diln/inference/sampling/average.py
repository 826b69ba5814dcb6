"""The mean of late states of a chain: one model, as small as one state, and how far the states are apart."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diln.engine.compile import compiled
from diln.inference.data import Array
from diln.inference.sampling.state import State

PRODUCTS, SQUARES = "products", "squares"  # mean of the topics' covariances, and squared deviations from it


@dataclass(slots=True)
class Average:
    """The mean of some states. Topics keep their columns along a chain, so their counts can be averaged.

    The space of locations may turn from state to state, and nothing that can be seen changes: ell_i . ell_j is the
    same. So each state's locations are turned to fit the sum of those before, and inner products have a mean, and
    squared deviations from it, of their own. Of log weights these are of the covariance that documents tell of.
    """

    n_states: int = 0
    sums: dict[str, Any] = field(default_factory=dict)

    def add(self, state: State) -> None:
        """Take a state in."""
        for name, value in state.numbers().items():
            if isinstance(value, float):
                self.sums[name] = self.sums.get(name, 0.0) + value
        for name, array in state.tensors().items():
            before = self.sums.get(name)
            fitted = state.weights.fitted(name, array, before)
            if before is None:
                self.sums[name] = fitted.copy()
            else:
                before += fitted
        self.n_states += 1
        self._follow(state)

    def _follow(self, state: State) -> None:
        size = state.n_topics
        found = {name: self.sums.get(name, np.zeros((size, size), np.float32)) for name in (PRODUCTS, SQUARES)}
        if state.weights.follow(size, self.n_states, found[PRODUCTS], found[SQUARES]):
            self.sums |= found

    def state(self, like: State) -> State:
        """The mean, in the form of this state, which is the last one; locations are turned to fit it."""
        out = like.copy()
        for part in (out.counts, out.weights):
            for name, array in part.tensors().items():
                mean = self.sums[name] / self.n_states
                fitted = out.weights.fitted(name, mean, array if self.n_states > 1 else None)
                setattr(part, name, fitted.astype(array.dtype))
            for name, value in part.numbers().items():
                if isinstance(value, float):
                    setattr(part, name, self.sums[name] / self.n_states)
        return out

    def products(self, like: State) -> Array | None:
        """Mean of ell_i . ell_j (n_topics, n_topics), of two states or more, where that is not the means' product."""
        known = self.n_states > 1 and PRODUCTS in self.sums and like.weights.turns
        return mirrored(self.sums[PRODUCTS]) if known else None

    @property
    def spread(self) -> Array | None:
        """Standard deviation of the topics' covariances (n_topics, n_topics), of two states or more."""
        if self.n_states < 2 or SQUARES not in self.sums:
            return None
        return np.asarray(np.sqrt(mirrored(self.sums[SQUARES]) / np.float32(self.n_states - 1)))


def turned(ells: Array, like: Array) -> Array:
    """Locations (d, width), turned or mirrored as a whole to come as near as can be to others: Procrustes' problem.

    Without BLAS, whose sums may depend on its number of threads.
    """  # G16
    left, _, right = np.linalg.svd(np.einsum("ik,jk->ij", like, ells))
    return np.asarray(np.einsum("ij,jk->ik", np.einsum("ij,jk->ik", left, right), ells))


def mirrored(lower: Array) -> Array:
    """A symmetric matrix from its lower triangle."""
    return np.asarray(np.tril(lower) + np.tril(lower, -1).T)


@compiled
def follow_products(ells, number, mean, squares):  # type: ignore[no-untyped-def]
    """Take the inner products of locations (d, n_topics) into their mean and squared deviations, as ``follow`` does.

    Equals ``follow(ells.T @ ells, number, mean, squares)``.
    """  # G17
    n_dims, size = ells.shape
    row = np.empty(size, np.float32)
    share = np.float32(1 / number)
    for i in range(size):
        row[: i + 1] = 0
        for k in range(n_dims):
            factor = ells[k, i]
            for j in range(i + 1):
                row[j] += factor * ells[k, j]
        for j in range(i + 1):
            off = row[j] - mean[i, j]
            mean[i, j] += share * off
            squares[i, j] += off * (row[j] - mean[i, j])


@compiled
def follow(values, number, mean, squares):  # type: ignore[no-untyped-def]
    """Take the ``number``-th matrix into a mean and the sums of squared deviations from it, lower triangles only.

    After all of them, equals ``mean = all.mean(axis=0); squares = ((all - mean) ** 2).sum(axis=0)``.
    """
    share = np.float32(1 / number)
    for i in range(values.shape[0]):
        for j in range(i + 1):
            off = values[i, j] - mean[i, j]
            mean[i, j] += share * off
            squares[i, j] += off * (values[i, j] - mean[i, j])
