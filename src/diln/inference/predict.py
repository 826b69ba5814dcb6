"""What a posterior says of documents: proportions of topics, and the probability of words not yet seen."""

from collections.abc import Iterator
from math import log

import numpy as np
from scipy.sparse import csr_array

from diln.engine.compile import kernel
from diln.engine.threads import Threads, cut
from diln.inference.documents import Array, Documents
from diln.inference.posterior import DOCS_AT_ONCE, SLAB, Posterior

LEAST = 1e-37  # probability that float32 can hold


@kernel
def held_out(indptr, indices, counts, topic_word, proportions, first, last, out):  # type: ignore[no-untyped-def]
    """Set ``out`` of documents first to last to the log probability of their counts.

    ``topic_word`` (n_terms, n_topics). Equals ``(counts * np.log(proportions @ topic_word.T)).sum(axis=1)``.
    """
    real = topic_word.dtype.type
    for m in range(first, last):
        total = 0.0
        for j in range(indptr[m], indptr[m + 1]):
            w = indices[j]
            p = real(0)
            for k in range(topic_word.shape[1]):
                p += proportions[m, k] * topic_word[w, k]
            total += counts[j] * log(np.float64(max(p, real(LEAST))))
        out[m] = total


def infer(posterior: Posterior, counts: csr_array, most: int, tolerance: float, threads: Threads) -> Documents:
    """The document step of documents seen for the first time; the posterior's expectations must be up to date."""
    lengths = np.asarray(counts.sum(axis=1), np.float64)
    documents = posterior.weights.start(lengths, posterior.statistics.dtype)
    for first, last in cut(len(documents), SLAB):
        posterior.visit(counts[first:last], documents[slice(first, last)], most, tolerance, threads)
    return documents


def proportions(posterior: Posterior, documents: Documents) -> Array:
    """Expected proportions of topics (n_docs, n_topics); rows sum to 1, an empty document's are the prior's."""  # D12
    weights = (posterior.weights.a0 + documents.tokens) * posterior.weights.scales(documents)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def log_likelihood(topic_word: Array, theta: Array, counts: csr_array, threads: Threads) -> Array:
    """Log probability of each document's counts (n_docs,), given its proportions of topics."""
    out = np.empty(counts.shape[0])
    eta, theta = np.ascontiguousarray(topic_word, np.float32), np.ascontiguousarray(theta, np.float32)

    def step(number: int, first: int, last: int) -> None:
        held_out(counts.indptr, counts.indices, counts.data, eta, theta, first, last, out)

    threads.run(step, cut(counts.shape[0], DOCS_AT_ONCE))
    return out


def drawn_log_likelihood(
    posterior: Posterior,
    documents: Documents,
    counts: csr_array,
    draws: int,
    rng: np.random.Generator,
    threads: Threads,
) -> Array:
    """Log of the probability of each document's counts averaged over draws from q(Z) and q(eta)."""  # P1
    values = [log_likelihood(eta, theta, counts, threads) for eta, theta in _drawn(posterior, documents, draws, rng)]
    return np.asarray(np.logaddexp.reduce(values, axis=0) - np.log(draws))


def _drawn(
    posterior: Posterior, documents: Documents, draws: int, rng: np.random.Generator
) -> Iterator[tuple[Array, Array]]:
    """Topics (n_terms, n_topics) and proportions (n_docs, n_topics) from q."""
    lam = posterior.statistics.astype(np.float64) + posterior.prior
    shape, scale = posterior.weights.a0 + documents.tokens, posterior.weights.scales(documents)
    for _ in range(draws):
        eta, weights = rng.standard_gamma(lam), rng.standard_gamma(shape) * scale + np.finfo(float).tiny
        yield eta / eta.sum(axis=0), weights / weights.sum(axis=1, keepdims=True)
