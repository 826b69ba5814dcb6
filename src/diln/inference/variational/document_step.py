"""The document step: what each document says of its topics, given topics and their weights in the corpus."""

from math import log
from typing import NamedTuple

import numpy as np
from scipy.special import digamma, gammaln, polygamma

from diln.engine.compile import kernel
from diln.inference.data import Array
from diln.inference.variational.documents import DocumentShard, Limits, integers_like
from diln.inference.weights.gate import gate_step, new_gate, open_gate, packed_pairs, with_intercepts
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
def weight_term(a0, derivatives, n, tables, used, work, bits):  # type: ignore[no-untyped-def]
    """sum_k ln Gamma(a0_k + n_k) - ln Gamma(a0_k); adds to ``tables`` a0_k (digamma(a0_k + n_k) - digamma(a0_k)).

    ``derivatives`` (5, n_topics) are those of ``log_gamma_derivatives``. Where n is small beside a0 the series in
    n does; the other topics are gathered first, so that their functions run on all lanes. ``used`` (n_topics,) of
    integers and ``work`` (5, n_topics), whose last two rows are seen as integers by ``bits``, are scratch.    # B2, D9
    """
    value, size = 0.0, a0.size - a0.size  # of the type of a size: no second version is compiled
    a, gammas, digammas = work[0], work[1], work[2]
    for k in range(a0.size):
        if n[k] < SMALL * a0[k]:
            x = n[k]
            value += x * (
                derivatives[1, k]
                + x / 2 * (derivatives[2, k] + x / 3 * (derivatives[3, k] + x / 4 * derivatives[4, k]))
            )
            tables[k] += a0[k] * x * (derivatives[2, k] + x / 2 * (derivatives[3, k] + x / 3 * derivatives[4, k]))
        else:
            used[size] = k
            a[size] = a0[k] + n[k]
            size += 1
    log_gamma_digamma(a, gammas, digammas, work[3:], bits, size)
    for i in range(size):
        value += gammas[i] - derivatives[0, used[i]]
    for i in range(size):
        k = used[i]
        tables[k] += a0[k] * (digammas[i] - derivatives[1, k])
    return value


@kernel
def weight_terms(a0, derivatives, tokens):  # type: ignore[no-untyped-def]
    """The sum of ``weight_term`` over documents, of ``tokens`` (n_docs, n_topics)."""
    value, size = 0.0, a0.size
    tables, used, work, n = np.zeros(size), np.empty(size, np.int64), np.empty((5, size)), np.empty(size)
    bits = work[3:].view(np.int64)
    for m in range(tokens.shape[0]):
        for k in range(size):
            n[k] = tokens[m, k]
        value += weight_term(a0, derivatives, n, tables, used, work, bits)
    return value


class GammaCorpus(NamedTuple):
    """What the document step takes as given, of weights that are gamma or Dirichlet numbers."""

    topics: Array  # (n_terms, n_topics) exp E ln eta, or expected topics
    a0: Array  # (n_topics,)
    derivatives: Array  # (5, n_topics) of ln Gamma, at a0
    ells: Array  # (d+1, n_topics) topic locations over a last row of ones; with d = 0 there is no gate
    pairs: Array  # (n_topics, d(d+1)/2 + d) as ``packed_pairs`` has them
    integers: Array  # any array of integers as wide as the floats of ``topics``
    limits: Limits

    @classmethod
    def of(cls, topics: Array, a0: Array, locations: Array, limits: Limits) -> "GammaCorpus":
        """Given topics (n_terms, n_topics), their weights and their locations (n_topics, d)."""
        ells = with_intercepts(locations)
        pairs = packed_pairs(ells, topics.dtype)
        return cls(topics, a0, log_gamma_derivatives(a0), ells, pairs, integers_like(topics), limits)


def log_gamma_derivatives(a0: Array) -> Array:
    """ln Gamma and its first four derivatives at a0 (5, n_topics)."""
    return np.vstack([gammaln(a0), digamma(a0), *(polygamma(order, a0) for order in (1, 2, 3))])


class Workspace(NamedTuple):
    """Where a document's turns are computed; all but the last of each group (n_topics,)."""

    n: Array  # expected tokens
    a: Array  # a0 + n
    shapes: Array  # a in the precision of the topics, as are the next three
    theta: Array  # proportional to exp E ln Z
    fresh: Array  # expected tokens of the last token step
    bits: Array  # of integers as wide
    powers: Array  # the same memory, seen as floats
    used: Array  # scratch of ``weight_term``, as are the next two
    work: Array  # (5, n_topics)
    work_bits: Array  # (2, n_topics)


@kernel
def new_workspace(topics, integers):  # type: ignore[no-untyped-def]
    """Memory for the turns of documents."""
    size = topics.shape[1]
    bits, work = np.empty(size, integers.dtype), np.empty((5, size))
    shapes, theta, fresh = np.empty(size, topics.dtype), np.empty(size, topics.dtype), np.empty(size, topics.dtype)
    return Workspace(
        np.empty(size), np.empty(size), shapes, theta, fresh, bits, bits.view(topics.dtype),
        np.empty(size, np.int64), work, work[3:].view(np.int64),
    )  # fmt: skip


@kernel
def set_theta(sigma, gated, space):  # type: ignore[no-untyped-def]
    """Set theta, but for a factor. Equals ``theta = np.exp(digamma(a)) * sigma``, without sigma if not gated."""  # D3
    size = space.a.size
    real = space.theta.dtype.type
    largest = 0.0
    for k in range(size):
        largest = max(largest, space.a[k])
    for k in range(size):
        space.shapes[k] = real(space.a[k])
    exp_digamma(space.shapes, steps_down(largest), space.theta, space.bits, space.powers, size)
    if gated:
        for k in range(size):
            space.theta[k] *= real(sigma[k])


@kernel
def take_tokens(fresh, a0, n, a):  # type: ignore[no-untyped-def]
    """Set n to the fresh ones, and a to a0 + n. Returns ``np.abs(fresh - n).sum()`` of n as it was."""
    change = 0.0
    for k in range(n.size):
        change += abs(fresh[k] - n[k])
    for k in range(n.size):
        n[k] = fresh[k]
        a[k] = a0[k] + n[k]
    return change


@kernel
def take_turns(m, shard, corpus, space, gate):  # type: ignore[no-untyped-def]
    """The turns of one document: theta  # D3; n by ``token_step``; every few turns (u, s) by ``gate_step``.

    It ends when the mean change of n falls below the tolerance and its location has settled, or after the most turns.
    """
    entries, (most, tolerance) = shard.entries, corpus.limits
    start, stop = entries.indptr[m], entries.indptr[m + 1]
    gated = gate.x.size > 1
    since = 0
    for turn in range(most):
        set_theta(gate.sigma, gated, space)
        token_step(
            entries.indices, entries.counts, start, stop, corpus.topics, space.theta, space.fresh, shard.ratio
        )  # fmt: skip
        settled = take_tokens(space.fresh, corpus.a0, space.n, space.a) < tolerance * space.n.size
        since += 1
        if gated and (settled or since == GATE_EVERY or turn == most - 1):
            since = 0
            promised = gate_step(corpus.ells, corpus.pairs, space.n, space.a, gate)
            settled = settled and promised < GATE_NATS
        if settled:
            break


@kernel
def leave_terms(m, shard, corpus, space, gate):  # type: ignore[no-untyped-def]
    """Set the terms of one document (B1, B2, B3, and of B2 the part without the gate); add to tables and lifts."""
    entries, terms, size, dims = shard.entries, shard.terms, space.n.size, gate.x.size - 1
    start, stop = entries.indptr[m], entries.indptr[m + 1]
    terms[m, 0] = word_term(entries.counts, start, stop, shard.ratio, space.theta, space.fresh)
    profile = weight_term(
        corpus.a0, corpus.derivatives, space.n, shard.tables, space.used, space.work, space.work_bits
    )  # fmt: skip
    terms[m, 1] = profile
    terms[m, 2] = 0.0
    terms[m, 3] = profile
    if dims > 0 and stop > start:
        for i in range(dims):
            terms[m, 2] -= 0.5 * gate.x[i] * gate.x[i]
        value = 0.0
        for k in range(size):
            value += space.n[k] * gate.psi[k] - (corpus.a0[k] + space.n[k]) * gate.soft[k]
        terms[m, 1] += value
        for k in range(size):
            shard.lifts[k] += gate.soft[k]


@kernel
def document_step(shard, corpus):  # type: ignore[no-untyped-def]
    """Optimise q(C), q(Z) and q(u) of a shard's documents, from the beliefs that it has of them.

    Sets its beliefs, theta and ratio of the last token step, and terms; adds expected tables to ``tables`` and, with a
    gate, ln(1 + e^psi) to ``lifts``. A document without tokens says nothing, and its location is left as it is.
    """
    tokens, locations, intercepts, _ = shard.beliefs
    real = corpus.topics.dtype.type
    space, gate = new_workspace(corpus.topics, corpus.integers), new_gate(corpus.ells, corpus.pairs)
    size, dims = corpus.a0.size, gate.x.size - 1
    for m in range(intercepts.size):
        for k in range(size):
            space.n[k] = tokens[m, k]
            space.a[k] = corpus.a0[k] + space.n[k]
        for i in range(dims):
            gate.x[i] = locations[m, i]
        gate.x[dims] = intercepts[m]
        if dims > 0:
            open_gate(corpus.ells, gate.x, gate)
        if shard.entries.indptr[m + 1] > shard.entries.indptr[m]:
            take_turns(m, shard, corpus, space, gate)
        else:
            for k in range(size):
                space.fresh[k] = real(0)
                space.theta[k] = real(0)
                space.n[k] = 0.0
        for k in range(size):
            tokens[m, k] = space.fresh[k]
            shard.theta[m, k] = space.theta[k]
        leave_terms(m, shard, corpus, space, gate)
        for i in range(dims):
            locations[m, i] = gate.x[i]
        intercepts[m] = gate.x[dims]


def step_documents(shard: DocumentShard, corpus: GammaCorpus) -> None:
    """``document_step`` as an engine takes it: a function that another process finds by its name."""
    document_step(shard, corpus)
