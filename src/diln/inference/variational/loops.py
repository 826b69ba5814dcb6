"""The two algorithms: batch (all documents, then the corpus) and stochastic (some documents, then a step)."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from diln.engine.threads import Threads, cut
from diln.inference.data import TermCounts
from diln.inference.progress import Progress, topics_in_use
from diln.inference.variational.documents import Documents, Summary
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
    threads: Threads,
    note: Callable[[Progress], None],
    perplexity: Callable[[], float | None],
) -> int:
    """Algorithm 1: visit all documents, then update the corpus, until the bound is at rest; returns passes made."""
    everything = TermCounts.of(counts)
    slabs = [(everything.cut(*piece), slice(*piece)) for piece in cut(len(everything), SLAB)]
    documents = posterior.weights.start(everything.lengths, posterior.statistics.dtype)
    begun, last_bound = time.perf_counter(), -np.inf
    for iteration in range(1, plan.max_iter + 1):
        posterior.refresh(threads)
        terms = {"topics": posterior.topic_term(threads), **posterior.weights.terms()}
        summary = sweep(posterior, slabs, documents, plan, threads)
        terms |= {"words": summary.words, "weights": summary.weights, "doc_locations": summary.locations}
        posterior.weights.update(summary, documents, 1.0, 1.0, threads)
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
    slabs: list[tuple[TermCounts, slice]],
    documents: Documents,
    plan: Plan,
    threads: Threads,
) -> Summary:
    """Visit all documents; the topics' statistics become theirs."""
    sums: list[Summary] = []
    for counts, rows in slabs:
        visited = posterior.visit(counts, documents[rows], TURNS, plan.mean_change_tol, threads)
        posterior.gather(counts, visited, 1.0 if sums else 0.0, 1.0, threads)
        sums.append(visited.summary)
    return total(sums)


def step(
    posterior: VariationalPosterior,
    counts: TermCounts | csr_array,
    rho: float,
    scale: float,
    plan: Plan,
    threads: Threads,
) -> Summary:
    """One step of Algorithm 2: visit these documents as if new, then move the corpus by rho towards them."""
    posterior.refresh(threads)
    batch = TermCounts.of(counts)
    documents = posterior.weights.start(batch.lengths, posterior.statistics.dtype)
    visited = posterior.visit(batch, documents, plan.max_doc_update_iter, plan.mean_change_tol, threads)
    posterior.gather(batch, visited, 1 - rho, rho * scale, threads)  # S2
    posterior.weights.update(visited.summary, documents, rho, scale, threads)  # S3, S4
    return visited.summary


def total(sums: Iterable[Summary]) -> Summary:
    """The sum of summaries, in their order."""
    first, *others = sums
    for other in others:
        first = Summary(
            first.tables + other.tables,
            first.lifts + other.lifts,
            first.words + other.words,
            first.weights + other.weights,
            first.locations + other.locations,
            first.profile + other.profile,
        )
    return first


def describe(posterior: VariationalPosterior, iteration: int, documents: int, seconds: float) -> Progress:
    """How far inference is."""
    weights = posterior.weights
    return Progress(
        iteration, documents, seconds, topics_in_use(posterior.topic_tokens),
        alpha=weights.alpha, beta=weights.beta,
    )  # fmt: skip
