"""The loop that draws every token's topic, given all others."""

from math import log
from typing import Any, NamedTuple

import numpy as np

from diln.engine.by_hand import fetch_row, running_sums
from diln.engine.compile import LANES, kernel
from diln.inference.data import Array, Tokens
from diln.prob.streams import GOLD, stream, uniform32

NO_TOPIC = 65535  # of a token that was not drawn yet
SMALL = 1e-200  # product of probabilities of which the logarithm is taken: one for many tokens
MOST_TOPICS = 65520  # that fit, in whole lanes, into the 16 bits of a token's topic


class SampledShard(NamedTuple):
    """Some documents: their tokens, the topics of these, and what the model's weights know of each document."""

    tokens: Tokens
    topics: Array  # (n_tokens,) uint16
    names: Array  # (n_docs,) uint64: numbers of the streams that the documents' draws come from
    places: Any  # a record of the model's weights, a row for each document
    first: int  # number of the first document among all


class TopicTable(NamedTuple):
    """Counts of terms in topics, as the loop takes them."""

    table: Array  # (n_terms, width) float32
    totals: Array  # (width,) float64
    prior: float  # gamma_0


class Histograms(NamedTuple):
    """What the loop adds up over documents."""

    tokens: Array  # (width, J) documents that have so many tokens of a topic, all from J-1 on in the last column
    softs: Array  # (width,) of weights with a gate, sum of ln(1 + e^psi)


class Room(NamedTuple):
    """Memory for loops over topics: rows, and one of integers that is seen as floats, too."""

    rows: Array  # (8, width) float32
    bits: Array  # (width,) int32
    powers: Array  # the same memory as float32

    @classmethod
    def of(cls, width: int) -> "Room":
        """Memory for so many topics."""
        bits = np.zeros(width, np.int32)
        return cls(np.zeros((8, width), np.float32), bits, bits.view(np.float32))


def open_document(weights, docs, m, n, sigma, softs, room):  # type: ignore[no-untyped-def]
    """Set what a document multiplies topics by, (a0 + n) sigma, and return what one of its own tokens adds to n.

    A model's weights say how, for their own record, with ``numba.extending.overload``: sets ``n`` and ``sigma``
    (width,), and may add to ``softs`` (width,). ``weights`` has a field ``a0``.
    """
    raise NotImplementedError


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


# Long: the innermost loop shares its running values with all around it.
@kernel
def draw_topics(docs, first, last, weights, known, learning, key, sums, room):  # type: ignore[no-untyped-def]
    """Draw the topic of every token of documents first to last, given all others.

    p(topic k) is proportional to (a0_k + n_mk) sigma_mk (n_kw + prior) / (n_k + V prior), the token itself left out;
    the first two factors are as ``open_document`` sets them for the model's weights.  # G1

    Where ``learning``, the table and totals of ``known`` are the corpus' counts and follow every draw; else they are
    given and stay. Randomness is that of stream ``names[m]`` under ``key``. Adds to ``sums`` (Histograms). Returns the
    sum of ln p(token's term | all other tokens).
    """
    tokens, topics, a0, totals = docs.tokens, docs.topics, weights.a0, known.totals
    rows, histogram = room.rows, sums.tokens
    n, q, sigma, inverse, running = rows[0], rows[1], rows[3], rows[6], rows[7]
    real = np.float32
    size, one, low = n.size, real(1), real(known.prior)
    base = real(known.table.shape[0] * known.prior)
    most = histogram.shape[1] - 1
    for k in range(size):
        inverse[k] = one / (real(totals[k]) + base)
    score = 0.0
    for m in range(first, last):
        if tokens.starts[m] == tokens.starts[m + 1]:
            continue
        state = stream(key, docs.names[m])
        own = open_document(weights, docs, m, n, sigma, sums.softs, room)  # type: ignore[no-untyped-call]
        weight, likelihood = 0.0, 1.0
        for k in range(size):
            q[k] = (a0[k] + n[k]) * sigma[k] * inverse[k]
        for k in range(size):
            weight += (a0[k] + n[k]) * sigma[k]
        t = tokens.starts[m]
        for e in range(tokens.indptr[m], tokens.indptr[m + 1]):
            row = known.table[tokens.indices[e]]
            if e + 1 < tokens.indptr[last]:
                fetch_row(known.table, tokens.indices[e + 1])
            for _ in range(tokens.counts[e]):
                k = topics[t] + 0  # as wide as other places in a row
                if k != NO_TOPIC:
                    n[k] -= own
                    weight -= own * sigma[k]
                    if learning:
                        row[k] -= one
                        totals[k] -= 1.0
                        inverse[k] = one / (real(totals[k]) + base)
                    q[k] = (a0[k] + n[k]) * sigma[k] * inverse[k]
                running_sums(q, row, low, running, size)
                total = real(0)
                for j in range(size - LANES, size):
                    total += running[j]
                likelihood *= float(total / weight)
                if likelihood < SMALL:
                    score += log(likelihood)
                    likelihood = 1.0
                state += GOLD
                k = pick(running, uniform32(state) * total)
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
