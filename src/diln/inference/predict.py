"""The probability of words not yet seen, given topics and a document's proportions of them."""

from collections.abc import Iterable
from math import log
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from diln.engine.base import Engine
from diln.engine.compile import kernel
from diln.inference.data import Array, Entries, TermCounts

LEAST = 1e-37  # probability that float32 can hold


class HeldOut(NamedTuple):
    """Documents that one call of ``held_out`` is for."""

    entries: Entries
    proportions: Array  # (n_docs, n_topics)


@kernel
def held_out(entries, topic_word, proportions):  # type: ignore[no-untyped-def]
    """The log probability of documents' counts, (n_docs,), given ``topic_word`` (n_terms, n_topics).

    Equals ``(counts * np.log(proportions @ topic_word.T)).sum(axis=1)``.
    """
    indptr, indices, counts = entries
    out = np.empty(proportions.shape[0])
    real = topic_word.dtype.type
    for m in range(out.size):
        total = 0.0
        for j in range(indptr[m], indptr[m + 1]):
            w = indices[j]
            p = real(0)
            for k in range(topic_word.shape[1]):
                p += proportions[m, k] * topic_word[w, k]
            total += counts[j] * log(np.float64(min(max(p, real(LEAST)), real(1))))
        out[m] = total
    return out


def step_held_out(shard: HeldOut, topic_word: Array) -> Array:
    """``held_out`` of some documents."""
    return np.asarray(held_out(shard.entries, topic_word, shard.proportions))


def log_likelihood(topic_word: Array, theta: Array, counts: TermCounts | csr_array, engine: Engine) -> Array:
    """Log probability of each document's counts (n_docs,), given its proportions of topics."""
    batch = TermCounts.of(counts)
    eta, theta = np.ascontiguousarray(topic_word, np.float32), np.ascontiguousarray(theta, np.float32)
    shards = [HeldOut(batch.entries(first, last), theta[first:last]) for first, last in batch.pieces]
    return np.concatenate([np.empty(0), *engine.map(step_held_out, shards, eta)])


def mean_log_likelihood(draws: Iterable[tuple[Array, Array]], counts: TermCounts | csr_array, engine: Engine) -> Array:
    """Log of each document's probability, averaged over draws of topics and proportions."""
    values = [log_likelihood(eta, theta, counts, engine) for eta, theta in draws]
    return np.asarray(np.logaddexp.reduce(values, axis=0) - np.log(len(values)))
