"""The topics: statistics gathered term by term, their expectations, their part of the bound."""

from typing import NamedTuple

import numpy as np

from diln.engine.compile import kernel
from diln.inference.data import Array
from diln.prob.gamma import exp_digamma, log_gamma_digamma

FLOOR = 1e-30  # of exp E ln eta: float32 has smaller numbers, but not their products with small weights


class TermShard(NamedTuple):
    """Terms that one call of ``gather_statistics`` is for."""

    indptr: Array  # (n_terms + 1,) where a term's documents begin
    rows: Array  # (n_entries,) documents
    places: Array  # (n_entries,) where their ``ratio`` is
    topics: Array  # (n_terms, n_topics) that the documents were visited with
    statistics: Array  # (n_terms, n_topics) which it changes


class TokenSteps(NamedTuple):
    """What documents' last token steps left behind, and how they count."""

    ratio: Array  # (n_entries,) count / normaliser of each term of each document
    theta: Array  # (n_docs, n_topics) proportional to exp E ln Z
    share: float  # what expected tokens are multiplied by
    keep: float  # what old statistics are multiplied by


@kernel
def gather_statistics(shard, steps):  # type: ignore[no-untyped-def]
    """Set a shard's statistics to keep * statistics + share * expected tokens of each topic.

    Every term is summed in the order of the documents, so the bits do not depend on how terms are shared out. Equals
    ``statistics = keep * statistics + share * topics * (ratio.T @ theta)``, ratio as a matrix (n_docs, n_terms).  # D7
    """
    indptr, rows, places, topics, out = shard
    ratio, theta, share, keep = steps
    real = topics.dtype.type
    size = topics.shape[1]
    total = np.empty(size, topics.dtype)
    for w in range(topics.shape[0]):
        start, stop = indptr[w], indptr[w + 1]
        middle = start + (stop - start) // 4 * 4
        for k in range(size):
            total[k] = real(0)
        for j in range(start, middle, 4):
            m0, m1, m2, m3 = rows[j], rows[j + 1], rows[j + 2], rows[j + 3]
            r0, r1, r2, r3 = ratio[places[j]], ratio[places[j + 1]], ratio[places[j + 2]], ratio[places[j + 3]]
            for k in range(size):
                total[k] += r0 * theta[m0, k] + r1 * theta[m1, k] + r2 * theta[m2, k] + r3 * theta[m3, k]
        for j in range(middle, stop):
            m0, r0 = rows[j], ratio[places[j]]
            for k in range(size):
                total[k] += r0 * theta[m0, k]
        for k in range(size):
            out[w, k] = real(keep) * out[w, k] + real(share) * (topics[w, k] * total[k])


@kernel
def expected_topics(statistics, prior, scale, integers, out):  # type: ignore[no-untyped-def]
    """Set ``out`` to exp E ln eta of some terms, with lam = prior + statistics.

    ``scale`` is exp(-digamma(sum_w lam)), one for each topic, and ``integers`` any array of integers as wide as the
    floats of ``out``. Equals ``out = np.exp(digamma(lam)) * scale``.   # D8
    """
    real = out.dtype.type
    size = out.shape[1]
    lam, row = np.empty(size, out.dtype), np.empty(size, out.dtype)
    bits = np.empty(size, integers.dtype)
    powers = bits.view(out.dtype)
    for w in range(out.shape[0]):
        for k in range(size):
            lam[k] = real(prior) + statistics[w, k]
        exp_digamma(lam, 0.0, row, bits, powers, size)
        for k in range(size):
            out[w, k] = max(row[k] * real(scale[k]), real(FLOOR))


@kernel
def topic_terms(statistics, prior):  # type: ignore[no-untyped-def]
    """For each topic sum_w ln Gamma(lam) - (lam - prior) digamma(lam) over some terms.

    Equals ``(gammaln(lam) - statistics * digamma(lam)).sum(axis=0)`` with lam = prior + statistics.          # B4
    """
    size = statistics.shape[1]
    out = np.zeros(size)
    work, used = np.empty((5, size)), np.empty(size, np.int64)
    bits = work[3:].view(np.int64)
    lam, gammas, digammas = work[0], work[1], work[2]
    for k in range(size):
        lam[k] = prior
    log_gamma_digamma(lam, gammas, digammas, work[3:], bits, size)
    bare = gammas[0]
    for w in range(statistics.shape[0]):
        n_used = size - size  # of the type of a size: no second version is compiled
        for k in range(size):
            extra = np.float64(statistics[w, k])
            if extra < 1e-9 * prior:  # to first order the two terms cancel
                out[k] += bare
            else:
                used[n_used] = k
                lam[n_used] = prior + extra
                n_used += 1
        log_gamma_digamma(lam, gammas, digammas, work[3:], bits, n_used)
        for i in range(n_used):
            out[used[i]] += gammas[i] - (lam[i] - prior) * digammas[i]
    return out
