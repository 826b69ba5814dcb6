"""The topics: statistics gathered term by term, their expectations, their part of the bound."""

import numpy as np

from diln.engine.compile import kernel
from diln.prob.gamma import exp_digamma, log_gamma_digamma

FLOOR = 1e-30  # of exp E ln eta: float32 has smaller numbers, but not their products with small weights


@kernel
def gather_statistics(  # type: ignore[no-untyped-def]
    indptr, rows, places, ratio, theta, topics, first, last, share, keep, out
):
    """Set ``out`` of terms first to last to keep * out + share * expected tokens of each topic.

    ``indptr, rows, places`` list, for each term, the documents that have it and where their ``ratio`` is. Every term
    is summed by one thread in the order of the documents, so the bits do not depend on the number of threads.

    Equals ``out = keep * out + share * topics * (ratio.T @ theta)`` with ratio as a matrix (n_docs, n_terms).  # D7
    """
    real = topics.dtype.type
    size = topics.shape[1]
    total = np.empty(size, topics.dtype)
    for w in range(first, last):
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
def expected_topics(statistics, prior, scale, first, last, out, whole):  # type: ignore[no-untyped-def]
    """Set ``out`` of terms first to last to exp E ln eta, with lam = prior + statistics.

    ``scale`` is exp(-digamma(sum_w lam)), a number for each topic. Equals ``np.exp(digamma(lam)) * scale``.   # D8
    """
    real = out.dtype.type
    size = out.shape[1]
    lam, row = np.empty(size, out.dtype), np.empty(size, out.dtype)
    bits = np.empty(size, whole.dtype)
    powers = bits.view(out.dtype)
    for w in range(first, last):
        for k in range(size):
            lam[k] = real(prior) + statistics[w, k]
        exp_digamma(lam, 0.0, row, bits, powers, size)
        for k in range(size):
            out[w, k] = max(row[k] * real(scale[k]), real(FLOOR))


@kernel
def topic_term(statistics, prior, first, last, out):  # type: ignore[no-untyped-def]
    """Add to ``out``, for each topic, sum_w ln Gamma(lam) - (lam - prior) digamma(lam) over terms first to last.

    Equals ``(gammaln(lam) - statistics * digamma(lam)).sum(axis=0)`` with lam = prior + statistics.          # B4
    """
    size = out.size
    work, used = np.empty((5, size)), np.empty(size, np.int64)
    bits = work[3:].view(np.int64)
    lam, gammas, digammas = work[0], work[1], work[2]
    for k in range(size):
        lam[k] = prior
    log_gamma_digamma(lam, gammas, digammas, work[3:], bits, size)
    bare = gammas[0]
    for w in range(first, last):
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
