"""The document step: what each document says of its topics, given topics and their weights in the corpus."""

from math import log

import numpy as np

from diln.engine.compile import kernel
from diln.inference.data import Array
from diln.inference.variational.documents import Step, Visit
from diln.inference.weights.gate import gate_step, located, open_gate, packed_pairs
from diln.prob.gamma import exp_digamma, log_gamma_digamma, steps_down

GATE_EVERY = 4  # token steps between two steps of a document's location
GATE_NATS = 1e-2  # a location step that promises less is the last
SMALL = 1e-2  # n below this share of a0: four terms of the series do instead of gamma functions


@kernel
def token_step(indices, counts, first, last, topics, theta, n, ratio):  # type: ignore[no-untyped-def]
    """Expected tokens of each topic in one document, of terms ``indices[first:last]``: q(C) given q(Z) and q(eta).

    ``topics`` (n_terms, n_topics) is exp E ln eta, ``theta`` is proportional to exp E ln Z; sets ``n`` and, for each
    term, ``ratio`` = count / normaliser. Four terms go together, so that theta and n are read a quarter as often.

    Equals ``rows = topics[indices]; ratio = counts / (rows @ theta); n = theta * (ratio @ rows)``.          # D1, D2
    """
    real = topics.dtype.type
    size = theta.size
    middle = first + (last - first) // 4 * 4
    for k in range(size):
        n[k] = real(0)
    for j in range(first, middle, 4):
        w0, w1, w2, w3 = indices[j], indices[j + 1], indices[j + 2], indices[j + 3]
        s0, s1, s2, s3 = real(0), real(0), real(0), real(0)
        for k in range(size):
            t = theta[k]
            s0 += t * topics[w0, k]
            s1 += t * topics[w1, k]
            s2 += t * topics[w2, k]
            s3 += t * topics[w3, k]
        s0, s1 = real(counts[j]) / s0, real(counts[j + 1]) / s1
        s2, s3 = real(counts[j + 2]) / s2, real(counts[j + 3]) / s3
        ratio[j], ratio[j + 1], ratio[j + 2], ratio[j + 3] = s0, s1, s2, s3
        for k in range(size):
            n[k] += s0 * topics[w0, k] + s1 * topics[w1, k] + s2 * topics[w2, k] + s3 * topics[w3, k]
    for j in range(middle, last):
        w0 = indices[j]
        s0 = real(0)
        for k in range(size):
            s0 += theta[k] * topics[w0, k]
        s0 = real(counts[j]) / s0
        ratio[j] = s0
        for k in range(size):
            n[k] += s0 * topics[w0, k]
    for k in range(size):
        n[k] *= theta[k]


@kernel
def word_term(counts, first, last, ratio, theta, n):  # type: ignore[no-untyped-def]
    """E ln p(X | eta) + H[q(C)] of one document, after its token step.

    Equals ``counts @ np.log(counts / ratio) - n @ np.log(theta)``.                                          # B1
    """
    value = 0.0
    for j in range(first, last):
        count = np.float64(counts[j])
        value += count * (log(count) - log(np.float64(ratio[j])))
    for k in range(theta.size):
        if n[k] > 0:
            value -= n[k] * log(np.float64(theta[k]))
    return value


@kernel
def weight_term(a0, known, n, tables, used, work, bits):  # type: ignore[no-untyped-def]
    """sum_k ln Gamma(a0_k + n_k) - ln Gamma(a0_k); adds to ``tables`` a0_k (digamma(a0_k + n_k) - digamma(a0_k)).

    ``known`` (5, n_topics) are ln Gamma and its first four derivatives at a0. Where n is small beside a0 the series in
    n does; the other topics are gathered first, so that their functions run on all lanes. ``used`` (n_topics,) of
    integers and ``work`` (5, n_topics), whose last two rows are seen as integers by ``bits``, are scratch.    # B2, D9
    """
    value, size = 0.0, a0.size - a0.size  # of the type of a size: no second version is compiled
    a, gammas, digammas = work[0], work[1], work[2]
    for k in range(a0.size):
        if n[k] < SMALL * a0[k]:
            x = n[k]
            value += x * (known[1, k] + x / 2 * (known[2, k] + x / 3 * (known[3, k] + x / 4 * known[4, k])))
            tables[k] += a0[k] * x * (known[2, k] + x / 2 * (known[3, k] + x / 3 * known[4, k]))
        else:
            used[size] = k
            a[size] = a0[k] + n[k]
            size += 1
    log_gamma_digamma(a, gammas, digammas, work[3:], bits, size)
    for i in range(size):
        value += gammas[i] - known[0, used[i]]
    for i in range(size):
        k = used[i]
        tables[k] += a0[k] * (digammas[i] - known[1, k])
    return value


@kernel
def weight_terms(a0, known, tokens, first, last):  # type: ignore[no-untyped-def]
    """The sum of ``weight_term`` over documents first to last of ``tokens`` (n_docs, n_topics)."""
    value, size = 0.0, a0.size
    tables, used, work, n = np.zeros(size), np.empty(size, np.int64), np.empty((5, size)), np.empty(size)
    bits = work[3:].view(np.int64)
    for m in range(first, last):
        for k in range(size):
            n[k] = tokens[m, k]
        value += weight_term(a0, known, n, tables, used, work, bits)
    return value


@kernel
def document_step(  # type: ignore[no-untyped-def]
    indptr, indices, counts, topics, a0, known, ells, pairs, first, last, most, tolerance,
    tokens, locations, intercepts, theta, ratio, terms, tables, lifts, whole,
):  # fmt: skip
    """Optimise q(C), q(Z) and q(u) of documents first to last, from the tokens, locations and intercepts given.

    In turn: theta = exp(digamma(a0 + n)) sigma(psi) # D3; n by ``token_step``; every few turns (u, s) by ``gate_step``.
    A document ends when the mean change of n falls below ``tolerance`` and its location is at rest, or after ``most``
    turns. ``ells`` (d+1, n_topics) are the topic locations under a last row of ones; with d = 0 there is no gate.

    Sets tokens (n), locations (u), intercepts (s), theta and ratio of the last token step, and terms (B1, B2, B3, and
    of B2 the part without the gate); adds expected tables to ``tables`` and, with a gate, ln(1 + e^psi) to ``lifts``.
    ``whole`` is any array of integers as wide as the floats of ``topics``.
    """
    real = topics.dtype.type
    size = a0.size
    dims = ells.shape[0] - 1
    gated = dims > 0
    a, n = np.empty(size), np.empty(size)
    shapes, fresh = np.empty(size, topics.dtype), np.empty(size, topics.dtype)
    weight = np.empty(size, topics.dtype)
    bits, bits64 = np.empty(size, whole.dtype), np.empty(size, np.int64)
    powers, powers64 = bits.view(topics.dtype), bits64.view(np.float64)
    psi, sigma, soft = np.empty(size), np.ones(size), np.empty(size)
    x, gradient, step, moved = np.zeros(dims + 1), np.empty(dims + 1), np.empty(dims + 1), np.empty(dims + 1)
    rest, column = np.empty(size), np.empty((dims // 4 + 1) * 4)
    matrix = np.zeros((dims + 1, column.size))
    row = np.empty(pairs.shape[1], pairs.dtype)
    used, work = np.empty(size, np.int64), np.empty((5, size))
    work_bits = work[3:].view(np.int64)
    for m in range(first, last):
        start, stop = indptr[m], indptr[m + 1]
        for k in range(size):
            n[k] = tokens[m, k]
            a[k] = a0[k] + n[k]
        for i in range(dims):
            x[i] = locations[m, i]
        x[dims] = intercepts[m]
        turns = most if stop > start else 0
        if gated:
            open_gate(ells, x, psi, sigma, soft, bits64, powers64)
        since = 0
        for turn in range(turns):
            largest = 0.0
            for k in range(size):
                largest = max(largest, a[k])
            for k in range(size):
                shapes[k] = real(a[k])
            exp_digamma(shapes, steps_down(largest), weight, bits, powers, size)
            if gated:
                for k in range(size):
                    weight[k] *= real(sigma[k])
            token_step(indices, counts, start, stop, topics, weight, fresh, ratio)
            change = 0.0
            for k in range(size):
                change += abs(fresh[k] - n[k])
            for k in range(size):
                n[k] = fresh[k]
                a[k] = a0[k] + n[k]
            settled = change < tolerance * size
            since += 1
            if gated and (settled or since == GATE_EVERY or turn == turns - 1):
                since = 0
                promised = gate_step(
                    ells,
                    pairs,
                    n,
                    a,
                    x,
                    psi,
                    sigma,
                    soft,
                    bits64,
                    powers64,
                    gradient,
                    step,
                    moved,
                    matrix,
                    row,
                    used,
                    rest,
                    column,
                )
                settled = settled and promised < GATE_NATS
            if settled:
                break
        if turns == 0:
            for k in range(size):
                fresh[k] = real(0)
                weight[k] = real(0)
                n[k] = 0.0
        for k in range(size):
            tokens[m, k] = fresh[k]
            theta[m, k] = weight[k]
        terms[m, 0] = word_term(counts, start, stop, ratio, weight, fresh)
        profile = weight_term(a0, known, n, tables, used, work, work_bits)
        terms[m, 1] = profile
        terms[m, 2] = 0.0
        terms[m, 3] = profile
        intercepts[m] = x[dims]
        if gated and turns > 0:
            for i in range(dims):
                locations[m, i] = x[i]
                terms[m, 2] -= 0.5 * x[i] * x[i]
            gate = 0.0
            for k in range(size):
                gate += n[k] * psi[k] - (a0[k] + n[k]) * soft[k]
            terms[m, 1] += gate
            for k in range(size):
                lifts[k] += soft[k]


def gated_step(visit: Visit, a0: Array, known: Array, locations: Array) -> Step:
    """The document step of weights that are gamma or Dirichlet numbers; ``known`` as ``weight_term`` has it."""
    batch, q, ells = visit.batch, visit.documents, located(locations)
    common = (batch.indptr, batch.indices, batch.counts, visit.topics, a0, known)
    gate = (ells, packed_pairs(ells, visit.topics.dtype))
    out = (q.tokens, q.locations, q.intercepts, visit.theta, visit.ratio, visit.terms)
    whole = visit.whole

    def step(number: int, first: int, last: int) -> None:
        document_step(
            *common, *gate, first, last, visit.most, visit.tolerance, *out, visit.tables[number], visit.lifts[number],
            whole,
        )  # fmt: skip

    return step
