"""What a posterior says of documents: proportions of topics, and the probability of words not yet seen."""

from collections.abc import Iterator
from math import log

import numpy as np
from scipy.sparse import csr_array

from diln.engine.compile import kernel
from diln.engine.threads import Threads
from diln.inference.batch import Batch
from diln.inference.documents import Array, Documents
from diln.inference.posterior import Posterior, shares

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
            total += counts[j] * log(np.float64(min(max(p, real(LEAST)), real(1))))
        out[m] = total


def infer(posterior: Posterior, counts: Batch | csr_array, most: int, tolerance: float, threads: Threads) -> Documents:
    """The document step of documents seen for the first time; the posterior's expectations must be up to date."""
    batch = Batch.of(counts)
    documents = posterior.weights.start(batch.lengths, posterior.statistics.dtype)
    posterior.visit(batch, documents, most, tolerance, threads)
    return documents


def proportions(posterior: Posterior, documents: Documents) -> Array:
    """Expected proportions of topics (n_docs, n_topics); rows sum to 1, an empty document's are the prior's."""  # D12
    weights = (posterior.weights.a0 + documents.tokens) * posterior.weights.scales(documents)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def log_likelihood(topic_word: Array, theta: Array, counts: Batch | csr_array, threads: Threads) -> Array:
    """Log probability of each document's counts (n_docs,), given its proportions of topics."""
    batch = Batch.of(counts)
    out = np.empty(len(batch))
    eta, theta = np.ascontiguousarray(topic_word, np.float32), np.ascontiguousarray(theta, np.float32)

    def step(number: int, first: int, last: int) -> None:
        held_out(batch.indptr, batch.indices, batch.counts, eta, theta, first, last, out)

    threads.run(step, shares(len(batch)))
    return out


def drawn_log_likelihood(
    posterior: Posterior,
    documents: Documents,
    counts: Batch | csr_array,
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
        eta = rng.standard_gamma(lam) + np.finfo(float).tiny
        weights = rng.standard_gamma(shape) * scale + np.finfo(float).tiny
        yield eta / eta.sum(axis=0), weights / weights.sum(axis=1, keepdims=True)
