"""New documents given the topics: the point at which expected tokens, location and intercept agree with each other.

Tokens are spread over topics by their probabilities instead of being drawn, so the result follows from the document and
the model alone. It predicts better than averages of draws, which take long to come by for a document.
"""

import numpy as np
from scipy.sparse import csr_array

from diln.engine.compile import kernel
from diln.engine.threads import Threads
from diln.inference.data import Array, TermCounts
from diln.inference.variational.document_step import token_step
from diln.inference.variational.posterior import shares
from diln.inference.weights.gate import gate_step, located, open_gate, packed_pairs

GATE_EVERY = 2  # turns from one step of a document's location to the next
GATE_NATS = 1e-2  # a location step that promises less is the last


@kernel
def settle_documents(  # type: ignore[no-untyped-def]
    indptr, indices, counts, topics, a0, ells, pairs, first, last, most, tolerance, proportions, locations
):
    """Set proportions (n_docs, n_topics) and locations (n_docs, d) of documents first to last.

    In turn: n_k = sum over tokens of p(topic k), proportional to (a0_k + n_k) sigma(psi_k) topic_k(term)  # G9; every
    few turns a Newton step of (u, s) given n  # D6. A document ends when the mean change of n falls below
    ``tolerance`` and its location is at rest, or after ``most`` turns; one without tokens is left at the prior.
    """
    size, dims = a0.size, ells.shape[0] - 1
    gated = dims > 0
    real = topics.dtype.type
    a, n = np.empty(size), np.empty(size)
    fresh, weight = np.empty(size, topics.dtype), np.empty(size, topics.dtype)
    ratio = np.empty(counts.size, topics.dtype)
    bits64 = np.empty(size, np.int64)
    powers64 = bits64.view(np.float64)
    psi, sigma, soft = np.empty(size), np.ones(size), np.empty(size)
    x, gradient, step, moved = np.zeros(dims + 1), np.empty(dims + 1), np.empty(dims + 1), np.empty(dims + 1)
    rest, column = np.empty(size), np.empty((dims // 4 + 1) * 4)
    matrix = np.zeros((dims + 1, column.size))
    row, used = np.empty(pairs.shape[1], pairs.dtype), np.empty(size, np.int64)
    beta = 0.0
    for k in range(size):
        beta += a0[k]
    for m in range(first, last):
        start, stop = indptr[m], indptr[m + 1]
        length = 0.0
        for j in range(start, stop):
            length += counts[j]
        for k in range(size):
            n[k] = length * a0[k] / beta
            a[k] = a0[k] + n[k]
            sigma[k] = 1.0
        for i in range(dims):
            x[i] = 0.0
        x[dims] = np.log(max(length, 1e-300) / beta)
        if gated:
            open_gate(ells, x, psi, sigma, soft, bits64, powers64)
        for turn in range(most if stop > start else 0):
            for k in range(size):
                weight[k] = real(a[k] * sigma[k])
            token_step(indices, counts, start, stop, topics, weight, fresh, ratio)
            change = 0.0
            for k in range(size):
                change += abs(fresh[k] - n[k])
            for k in range(size):
                n[k] = fresh[k]
                a[k] = a0[k] + n[k]
            settled = change < tolerance * length
            if gated and (settled or turn % GATE_EVERY == GATE_EVERY - 1):
                promised = gate_step(
                    ells, pairs, n, a, x, psi, sigma, soft, bits64, powers64, gradient, step, moved, matrix, row, used,
                    rest, column,
                )  # fmt: skip
                settled = settled and promised < GATE_NATS
            if settled:
                break
        if stop == start:
            for k in range(size):
                sigma[k] = 1.0
        total = 0.0
        for k in range(size):
            total += a[k] * sigma[k]
        for k in range(size):
            proportions[m, k] = a[k] * sigma[k] / total
        for i in range(dims):
            locations[m, i] = x[i]


def settle(
    topics: Array,
    a0: Array,
    locations: Array,
    counts: TermCounts | csr_array,
    most: int,
    tolerance: float,
    threads: Threads,
) -> tuple[Array, Array]:
    """Proportions (n_docs, n_topics), whose rows sum to 1, and locations (n_docs, d), given topics (n_terms, n_topics).

    ``tolerance`` is a share of a document's tokens.
    """
    batch, ells = TermCounts.of(counts), located(locations)
    proportions, places = np.empty((len(batch), len(a0))), np.empty((len(batch), locations.shape[1]))
    pairs = packed_pairs(ells, np.float32)

    def step(number: int, first: int, last: int) -> None:
        settle_documents(
            batch.indptr, batch.indices, batch.counts, topics, a0, ells, pairs, first, last, most, tolerance,
            proportions, places,
        )  # fmt: skip

    threads.run(step, shares(len(batch)))
    return proportions, places
