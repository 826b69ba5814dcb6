"""Batch inference: all documents, then the corpus, again and again; stochastic steps are the posterior's."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from scipy.sparse import csr_array

from diln.engine.base import Engine
from diln.engine.threads import cut
from diln.inference.data import TermCounts
from diln.inference.progress import Progress, topics_in_use
from diln.inference.variational.documents import DocumentBeliefs, DocumentSums, Limits
from diln.inference.variational.posterior import SLAB, VariationalPosterior

TURNS = 3  # of a document in a batch pass: it goes on from where it was, and early topics are not worth more


@dataclass(frozen=True, slots=True)
class Plan:
    """How long to go on, and in what steps."""

    max_iter: int
    tol: float  # relative change of the bound between two passes that ends batch inference
    batch_size: int
    decay: float  # kappa
    offset: float  # zeta
    max_doc_update_iter: int
    mean_change_tol: float
    evaluate_every: int

    def rho(self, step: int) -> float:
        """Length of a stochastic step."""
        return float((self.offset + step) ** -self.decay)  # S1


def batch(
    posterior: VariationalPosterior,
    counts: TermCounts | csr_array,
    plan: Plan,
    engine: Engine,
    note: Callable[[Progress], None],
    perplexity: Callable[[], float | None],
) -> int:
    """Algorithm 1: visit all documents, then update the corpus, until the bound is at rest; returns passes made."""
    everything = TermCounts.of(counts)
    beliefs = posterior.weights.start(everything.lengths, posterior.statistics.dtype)
    slabs = [(everything.cut(*piece), beliefs.cut(*piece)) for piece in cut(len(everything), SLAB)]
    begun, last_bound = time.perf_counter(), -np.inf
    for iteration in range(1, plan.max_iter + 1):
        posterior.refresh(engine)
        terms = {"topics": posterior.topic_term(engine), **posterior.weights.terms()}
        sums = sweep(posterior, slabs, plan.mean_change_tol, engine)
        terms |= {"words": sums.words, "weights": sums.weights, "doc_locations": sums.locations}
        posterior.weights.update(sums, beliefs, 1.0, 1.0, engine)
        bound = sum(terms.values())
        done = abs(bound - last_bound) < plan.tol * abs(bound) or iteration == plan.max_iter
        last_bound = bound
        progress = describe(posterior, iteration, iteration * len(everything), time.perf_counter() - begun)
        progress.bound, progress.terms = bound, terms
        if plan.evaluate_every > 0 and (done or iteration % plan.evaluate_every == 0):
            progress.perplexity = perplexity()
        note(progress)
        if done:
            break
    return iteration


def sweep(
    posterior: VariationalPosterior,
    slabs: list[tuple[TermCounts, DocumentBeliefs]],
    tolerance: float,
    engine: Engine,
) -> DocumentSums:
    """Visit all documents; the topics' statistics become theirs."""
    found: list[DocumentSums] = []
    for counts, beliefs in slabs:
        visited = posterior.visit(counts, beliefs, Limits(TURNS, tolerance), engine)
        posterior.gather(counts, visited, 1.0 if found else 0.0, 1.0, engine)
        found.append(visited.sums)
    return reduce(add, found)


def describe(posterior: VariationalPosterior, iteration: int, documents: int, seconds: float) -> Progress:
    """How far inference is."""
    weights = posterior.weights
    return Progress(
        iteration, documents, seconds, topics_in_use(posterior.topic_tokens),
        alpha=weights.alpha, beta=weights.beta,
    )  # fmt: skip
