"""The stochastic algorithm: some documents are visited given the corpus, then the corpus moves a step towards them."""

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from diln.engine.compile import kernel
from diln.engine.threads import Threads
from diln.inference.data import Array
from diln.inference.sampling.corpus_step import Places, Prior, expect_alpha, expect_tables, precisions
from diln.inference.sampling.state import LEAST_WEIGHT, SampledDocuments, State
from diln.inference.sampling.tokens import Tokens, padded
from diln.inference.sampling.visit import Visited, visit
from diln.inference.weights.gaussian import best_gaussian

DRAWS = 8  # of the documents of a step
BURN = 3  # of them that do not count


@dataclass(slots=True)
class Running:
    """Sums over as many documents as the model stands for, beside the corpus' counts."""

    tables: Array  # (width,) expected tables
    softs: Array  # (width,) ln(1 + e^psi)
    precision: Array  # (width, d(d+1)/2)
    linear: Array  # (d, width)
    moments: Array = field(default_factory=lambda: np.zeros((0, 0)))  # (1 + T, 1 + T) (1, eta)(1, eta)' of log weights

    def tensors(self) -> dict[str, Array]:
        """The sums by name, without those that the model has not."""
        sums = {one.name: np.asarray(getattr(self, one.name)) for one in fields(self)}
        return {name: value for name, value in sums.items() if name != "moments" or value.size}

    def chosen(self, topics: Array, scale: float) -> "Running":
        """The sums of these topics, in this order, over ``scale`` times as many documents."""
        width = padded(len(topics))

        def taken(array: Array, axis: int) -> Array:
            out = scale * np.take(array, topics, axis)
            edges = [(0, 0)] * out.ndim
            edges[axis] = (0, width - len(topics))
            return np.pad(out, edges)

        places = np.append(0, np.asarray(topics) + 1)
        return Running(
            taken(self.tables, 0), taken(self.softs, 0), taken(self.precision, 0), taken(self.linear, 1),
            scale * self.moments[np.ix_(places, places)] if self.moments.size else self.moments,
        )  # fmt: skip


@kernel
def scatter(indptr, indices, counts, starts, late, share, table):  # type: ignore[no-untyped-def]
    """Add ``share`` to the table (n_terms, n_topics) for every token's topic in each row of ``late``."""
    share = np.float32(share)
    for m in range(indptr.size - 1):
        t = starts[m]
        for e in range(indptr[m], indptr[m + 1]):
            for _ in range(counts[e]):
                for row in range(late.shape[0]):
                    table[indices[e], late[row, t]] += share
                t += 1


def step(
    state: State, running: Running, counts: Any, key: tuple[int, ...], rho: float, scale: float, prior: Prior,
    threads: Threads,
) -> float:  # fmt: skip
    """Visit documents, then move the corpus by rho towards what ``scale`` times as many would say.

    Returns the mean of ln p(token's term | the document's other tokens).
    """
    tokens = Tokens.of(counts)
    docs = SampledDocuments.new(tokens, state.n_dims, np.arange(len(tokens)))
    visited = visit(state, docs, key, DRAWS, BURN, threads)
    move(state, running, visited, rho, scale)
    settle_weights(state, running, prior)
    return visited.sums.score / max(tokens.size * (DRAWS - BURN), 1)


def move(state: State, running: Running, visited: Visited, rho: float, scale: float) -> None:
    """Every sum <- (1 - rho) sum + rho scale (mean of the visit's draws)."""  # G10
    tokens, share = visited.docs.tokens, rho * scale / len(visited.late)
    state.table *= np.float32(1 - rho)
    scatter(tokens.indptr, tokens.indices, tokens.counts, tokens.starts, visited.late, share, state.table)
    state.totals *= 1 - rho
    state.totals += share * np.bincount(visited.late.ravel(), minlength=state.width)
    sums, found = visited.sums, visited.found
    new = (expect_tables(sums, state.a0), sums.softs, found.precision, found.linear, visited.moments)
    before = (running.tables, running.softs, running.precision, running.linear, running.moments)
    for old, added in zip(before, new, strict=True):
        old *= 1 - rho
        old += share * added


def settle_weights(state: State, running: Running, prior: Prior) -> None:
    """Alpha, weights and locations at their means given the sums, or the mean and covariance of log weights."""  # G11
    if state.weighed:
        state.mean, state.covariance = best_gaussian(running.moments, prior.covariance or 0.0)
        return
    size, dims = state.n_topics, state.n_dims
    if prior.learn_weights:
        tables, softs = running.tables[:size], running.softs[:size]
        state.alpha = expect_alpha(state, tables, softs, prior)
        state.a0[:size] = np.maximum((state.alpha / state.truncation + tables) / (prior.rate + softs), LEAST_WEIGHT)
    if dims:
        places = Places(running.precision[:size], running.linear[:, :size])
        matrices = precisions(places, dims, state.variance)
        state.ells[:, :size] = np.linalg.solve(matrices, places.linear.T[:, :, np.newaxis])[:, :, 0].T
