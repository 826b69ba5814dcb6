"""The probability of words not yet seen, given topics and a document's proportions of them."""

from collections.abc import Iterable
from math import log

import numpy as np
from scipy.sparse import csr_array

from diln.engine.compile import kernel
from diln.engine.threads import Threads
from diln.inference.data import Array, TermCounts
from diln.inference.variational.posterior import shares

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


def log_likelihood(topic_word: Array, theta: Array, counts: TermCounts | csr_array, threads: Threads) -> Array:
    """Log probability of each document's counts (n_docs,), given its proportions of topics."""
    batch = TermCounts.of(counts)
    out = np.empty(len(batch))
    eta, theta = np.ascontiguousarray(topic_word, np.float32), np.ascontiguousarray(theta, np.float32)

    def step(number: int, first: int, last: int) -> None:
        held_out(batch.indptr, batch.indices, batch.counts, eta, theta, first, last, out)

    threads.run(step, shares(len(batch)))
    return out


def mean_log_likelihood(
    draws: Iterable[tuple[Array, Array]], counts: TermCounts | csr_array, threads: Threads
) -> Array:
    """Log of each document's probability, averaged over draws of topics and proportions."""
    values = [log_likelihood(eta, theta, counts, threads) for eta, theta in draws]
    return np.asarray(np.logaddexp.reduce(values, axis=0) - np.log(len(values)))
