"""Documents as lists of tokens, each with its topic, and the loop that draws those topics."""

from dataclasses import dataclass
from math import exp, log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.engine.compile import kernel
from diln.engine.fetch import fetch_row
from diln.engine.lanes import LANES, running_sums
from diln.prob.polya_gamma import gate_terms
from diln.prob.streams import GOLD, stream, uniform32

NO_TOPIC = 65535  # of a token that was not drawn yet
SMALL = 1e-200  # product of probabilities of which the logarithm is taken: one for many tokens
MOST_TOPICS = 65520  # that fit, in whole lanes, into the 16 bits of a token's topic


@dataclass(slots=True)
class Tokens:
    """Counts of some documents; the tokens of a document lie together, those of one term side by side."""

    indptr: NDArray[np.int64]  # (n_docs + 1,) where a document's terms begin
    indices: NDArray[np.int32]  # (n_entries,) terms
    counts: NDArray[np.int32]  # (n_entries,) how often
    starts: NDArray[np.int64]  # (n_docs + 1,) where a document's tokens begin
    n_terms: int

    @classmethod
    def of(cls, counts: Any) -> "Tokens":
        """Whole counts (n_docs, n_terms) of a sparse matrix, each term once in a document."""
        rows = csr_array(counts)
        ends = np.concatenate([[0], np.cumsum(rows.data, dtype=np.int64)])
        indptr = rows.indptr.astype(np.int64)
        return cls(indptr, rows.indices.astype(np.int32), rows.data.astype(np.int32), ends[indptr], rows.shape[1])

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def size(self) -> int:
        """Number of tokens."""
        return int(self.starts[-1])

    def cut(self, first: int, last: int) -> "Tokens":
        """Documents first to last, sharing the entries; their tokens are counted from 0."""
        start, stop = self.indptr[first], self.indptr[last]
        return Tokens(
            self.indptr[first : last + 1] - start,
            self.indices[start:stop],
            self.counts[start:stop],
            self.starts[first : last + 1] - self.starts[first],
            self.n_terms,
        )


def padded(n_topics: int) -> int:
    """The next whole number of lanes."""
    return -(-n_topics // LANES) * LANES


@kernel
def open_gate(ells, u, s, psi):  # type: ignore[no-untyped-def]
    """Set psi = ell . u + s. Equals ``psi[:] = ells.T @ u + s``."""
    for k in range(psi.size):
        psi[k] = s
    for i in range(u.size):
        for k in range(psi.size):
            psi[k] += u[i] * ells[i, k]


@kernel
def open_wide(a0, eta, scale):  # type: ignore[no-untyped-def]
    """Set scale = e^(eta - top), top being the largest eta of a topic with a0 above 0."""
    top = -np.inf
    for k in range(a0.size):
        if a0[k] > 0:
            top = max(top, eta[k])
    for k in range(a0.size):
        scale[k] = exp(eta[k] - top) if a0[k] > 0 else 0.0


@kernel
def count_topics(topics, first, last, n):  # type: ignore[no-untyped-def]
    """Set n to the tokens of each topic among tokens first to last; those without a topic are left out."""
    for k in range(n.size):
        n[k] = 0
    for t in range(first, last):
        if topics[t] != NO_TOPIC:
            n[topics[t]] += 1


@kernel
def pick(sums, x):  # type: ignore[no-untyped-def]
    """The topic that a number x, from 0 to below the total, falls on, given the running sums in lanes."""
    last = sums.size - LANES
    lane = 0
    while lane < LANES and x >= sums[last + lane]:
        x -= sums[last + lane]
        lane += 1
    if lane == LANES:  # by rounding beyond the total: the first topic that has any weight
        lane, x = 0, np.float32(0)
        while lane < LANES - 1 and sums[last + lane] <= 0:
            lane += 1
    k = lane
    while k < last and x >= sums[k]:
        k += LANES
    return k


@kernel
def draw_topics(  # type: ignore[no-untyped-def]
    indptr, indices, counts, starts, topics, first, last,
    a0, ells, u, s,
    table, totals, prior, learning, key, names,
    histogram, softs, scratch, bits, powers,
):  # fmt: skip
    """Draw the topic of every token of documents first to last, given all others.

    p(topic k) is proportional to (a0_k + n_mk) sigma(psi_mk) (n_kw + prior) / (n_k + V prior), the token itself left
    out. Where ``u`` has a column for each topic, and not for each row of ``ells``, these are log weights, and
    a0_k e^u_mk takes the place of the first two factors.  # G1

    Where ``learning``, ``table`` (n_terms, n_topics) and ``totals`` (n_topics,) are the corpus' counts and follow every
    draw; else they are given and stay. Randomness is that of stream ``names[m]`` under ``key``. Adds to ``histogram``
    (n_topics, J) how often a document has so many tokens of a topic (all from J-1 on in the last column), and to
    ``softs`` (n_topics,) the documents' ln(1 + e^psi). Returns the sum of ln p(token's term | all other tokens).
    """
    n, q, psi, sigma, soft, rate, inverse, sums = (
        scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5], scratch[6], scratch[7]
    )  # fmt: skip
    real = np.float32
    size, one, low = n.size, real(1), real(prior)
    base = real(table.shape[0] * prior)
    most = histogram.shape[1] - 1
    weighed = u.shape[1] > ells.shape[0]
    own = real(0) if weighed else one  # what a token of the document adds to its weight of the topic
    for k in range(size):
        inverse[k] = one / (real(totals[k]) + base)
    score = 0.0
    for m in range(first, last):
        if starts[m] == starts[m + 1]:
            continue
        state = stream(key, names[m])
        if weighed:
            open_wide(a0, u[m], sigma)
            for k in range(size):
                n[k] = 0
        else:
            open_gate(ells, u[m], s[m], psi)
            gate_terms(psi, sigma, soft, rate, bits, powers, size)
            for k in range(size):
                softs[k] += soft[k]
            count_topics(topics, starts[m], starts[m + 1], n)
        weight, likelihood = 0.0, 1.0
        for k in range(size):
            q[k] = (a0[k] + n[k]) * sigma[k] * inverse[k]
        for k in range(size):
            weight += (a0[k] + n[k]) * sigma[k]
        t = starts[m]
        for e in range(indptr[m], indptr[m + 1]):
            row = table[indices[e]]
            if e + 1 < indptr[last]:
                fetch_row(table, indices[e + 1])
            for _ in range(counts[e]):
                k = topics[t] + 0  # as wide as other places in a row
                if k != NO_TOPIC:
                    n[k] -= own
                    weight -= own * sigma[k]
                    if learning:
                        row[k] -= one
                        totals[k] -= 1.0
                        inverse[k] = one / (real(totals[k]) + base)
                    q[k] = (a0[k] + n[k]) * sigma[k] * inverse[k]
                running_sums(q, row, low, sums, size)
                total = real(0)
                for j in range(size - LANES, size):
                    total += sums[j]
                likelihood *= float(total / weight)
                if likelihood < SMALL:
                    score += log(likelihood)
                    likelihood = 1.0
                state += GOLD
                k = pick(sums, uniform32(state) * total)
                topics[t] = k
                n[k] += own
                weight += own * sigma[k]
                if learning:
                    row[k] += one
                    totals[k] += 1.0
                    inverse[k] = one / (real(totals[k]) + base)
                q[k] = (a0[k] + n[k]) * sigma[k] * inverse[k]
                t += 1
        score += log(likelihood)
        for k in range(size):
            if n[k] > 0:
                histogram[k, min(np.int64(n[k]), most)] += 1
    return score
