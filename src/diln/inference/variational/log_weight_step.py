"""A document's log weights, Gaussian before its tokens are seen: q(eta) = N(lambda, diag(nu^2)) given expected tokens.

With n_k expected tokens of topic k, N in all, precision P and mean mu of the corpus, they maximise, jointly concave,

    f = n . lambda - N ln sum_k e^(lambda_k + nu_k^2/2) - (lambda - mu)' P (lambda - mu) / 2
        + sum_k (ln nu_k^2 - P_kk nu_k^2) / 2                                                          # C1

which is Blei and Lafferty's bound with zeta, the point of its tangent, at its optimum.
"""

from math import exp, log
from typing import NamedTuple

import numpy as np

from diln.engine.compile import kernel
from diln.inference.data import Array
from diln.inference.variational.document_step import token_step, word_term
from diln.inference.variational.documents import DocumentShard, Limits

NATS = 1e-2  # a step of log weights that promises less is the last
CONJUGATE = 8  # directions of a step at most
FORCING = 0.1  # a direction's residual, as a share of the gradient, at which a step is taken
HALVINGS = 12
ROUNDING = 1e-14  # of f: without it the last steps, of which f knows nothing, would be refused
NEWTON = 50  # steps for a variance at most; a few do, and these to 1/P_kk of 1e15
AT_REST = 1e-13
APART = 64  # numbers on either side of an array: see ``new_log_weights``


@kernel
def times(matrix, x, out):  # type: ignore[no-untyped-def]
    """Set ``out`` to a symmetric matrix times x. Equals ``out[:] = matrix @ x``; four rows go together."""
    size = x.size
    middle = size // 4 * 4
    for i in range(0, middle, 4):
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for j in range(size):
            s0 += matrix[i, j] * x[j]
            s1 += matrix[i + 1, j] * x[j]
            s2 += matrix[i + 2, j] * x[j]
            s3 += matrix[i + 3, j] * x[j]
        out[i], out[i + 1], out[i + 2], out[i + 3] = s0, s1, s2, s3
    for i in range(middle, size):
        s0 = 0.0
        for j in range(size):
            s0 += matrix[i, j] * x[j]
        out[i] = s0


@kernel
def dot(x, y):  # type: ignore[no-untyped-def]
    """The inner product. Equals ``x @ y``."""
    total = 0.0
    for k in range(x.size):
        total += x[k] * y[k]
    return total


@kernel
def soften(x, spread, share):  # type: ignore[no-untyped-def]
    """Set ``share`` to softmax(x + spread/2) and return ln sum_k e^(x_k + spread_k/2).

    Equals ``scipy.special.softmax(x + spread / 2), scipy.special.logsumexp(x + spread / 2)``.
    """
    top = -np.inf
    for k in range(x.size):
        top = max(top, x[k] + 0.5 * spread[k])
    for k in range(x.size):
        share[k] = exp(x[k] + 0.5 * spread[k] - top)
    total = 0.0
    for k in range(x.size):
        total += share[k]
    for k in range(x.size):
        share[k] /= total
    return top + log(total)


@kernel
def mean_value(x, spread, n, length, off, pull, share):  # type: ignore[no-untyped-def]
    """The terms of f in lambda, where ``off`` = lambda - mu and ``pull`` = P off; sets ``share`` as ``soften`` does.

    Equals ``n @ x - length * logsumexp(x + spread / 2) - off @ pull / 2``.
    """
    soft = soften(x, spread, share)
    return dot(n, x) - length * soft - 0.5 * dot(off, pull)


@kernel
def direction(precision, share, length, gradient, step, pushed, work):  # type: ignore[no-untyped-def]
    """Solve (P + N (diag(share) - share share')) step = gradient, roughly, by conjugate gradients; pushed = P step.

    Wherever the solution is left, it is an ascent direction. ``work`` (4, n_topics or more) is scratch.
    """
    size = gradient.size
    rest, ahead, turned, scaled = work[0, :size], work[1, :size], work[2, :size], work[3, :size]
    for k in range(size):
        step[k] = 0.0
        pushed[k] = 0.0
        rest[k] = gradient[k]
        scaled[k] = gradient[k] / (precision[k, k] + length * share[k])
        ahead[k] = scaled[k]
    slope = dot(rest, scaled)
    least = FORCING * FORCING * slope
    for _ in range(CONJUGATE):
        if not slope > least:
            break
        times(precision, ahead, turned)
        mean = length * dot(share, ahead)
        bend = dot(ahead, turned)
        for k in range(size):
            bend += length * share[k] * ahead[k] * ahead[k]
        bend -= mean * mean / max(length, 1e-300)
        along = slope / bend
        for k in range(size):
            step[k] += along * ahead[k]
            pushed[k] += along * turned[k]
            rest[k] -= along * (turned[k] + share[k] * (length * ahead[k] - mean))
            scaled[k] = rest[k] / (precision[k, k] + length * share[k])
        before, slope = slope, dot(rest, scaled)
        for k in range(size):
            ahead[k] = scaled[k] + slope / before * ahead[k]


class LogWeightBelief(NamedTuple):
    """q(eta) of one document, and where a step of it is computed; all but the last (n_topics,)."""

    x: Array  # lambda, the means
    spread: Array  # nu^2, the variances
    off: Array  # lambda - mu
    pull: Array  # P (lambda - mu)
    share: Array  # softmax(lambda + nu^2/2)
    gradient: Array
    step: Array
    pushed: Array  # P step
    moved: Array
    work: Array  # (4, n_topics + 2 APART)


@kernel
def new_log_weights(size):  # type: ignore[no-untyped-def]
    """Memory for the log weights of documents, each array far from all others.

    Before a loop runs on all lanes, compiled code looks whether what it writes lies within some lanes of what it reads;
    if so, it goes one by one, with other last digits. Arrays of few topics would be as close as that, or not, depending
    on what was in memory before.
    """
    room, stop = np.empty((13, size + 2 * APART)), APART + size
    return LogWeightBelief(
        room[0, APART:stop], room[1, APART:stop], room[2, APART:stop], room[3, APART:stop], room[4, APART:stop],
        room[5, APART:stop], room[6, APART:stop], room[7, APART:stop], room[8, APART:stop], room[9:],
    )  # fmt: skip


@kernel
def mean_step(precision, n, length, q):  # type: ignore[no-untyped-def]
    """One Newton step of lambda, halved until f does not fall.

    off, pull and share are those of lambda, before and after. Returns what a full step promised, in nats.  # C2
    """
    x, spread, off, pull, share, gradient, step, pushed, ahead, work = q
    size = x.size
    before = mean_value(x, spread, n, length, off, pull, share)
    for k in range(size):
        gradient[k] = n[k] - length * share[k] - pull[k]
    direction(precision, share, length, gradient, step, pushed, work)
    promised = dot(gradient, step)
    part = 1.0
    away, turned = work[0, :size], work[1, :size]
    for _ in range(HALVINGS):
        for k in range(size):
            ahead[k] = x[k] + part * step[k]
            away[k] = off[k] + part * step[k]
            turned[k] = pull[k] + part * pushed[k]
        if mean_value(ahead, spread, n, length, away, turned, share) >= before - ROUNDING * abs(before):
            for k in range(size):
                x[k] = ahead[k]
                off[k] = away[k]
                pull[k] = turned[k]
            return promised
        part *= 0.5
    soften(x, spread, share)
    return promised


@kernel
def variance_step(precision, length, x, spread, share):  # type: ignore[no-untyped-def]
    """The variances nu^2 = ``spread`` that maximise f given lambda = x and the tangent at zeta; share follows.

    Each is the root of v (P_kk + c e^(v/2)) - 1, c = N e^lambda / zeta, which is convex and rises: from wherever it
    starts, Newton's method is right of the root after a step, and falls to it from there, by no more than about 2 a
    step. So v is kept below ``most``, which is right of the root too: at 1/P_kk the first part of the sum alone is 1,
    at -2 ln c the second is v, and at 1 it is more than 1 if -2 ln c is less.  # C3
    """
    soft = soften(x, spread, share)
    for k in range(x.size):
        rate = precision[k, k]
        pressure = log(length) + x[k] - soft  # ln c
        most = min(max(-2.0 * pressure, 1.0), 1.0 / rate)
        v = min(spread[k], most)
        for _ in range(NEWTON):
            weight = exp(pressure + 0.5 * v)
            over = v * (rate + weight) - 1.0
            if abs(over) < AT_REST:
                break
            v = min(v - over / (rate + weight * (1.0 + 0.5 * v)), most)
        spread[k] = v
    soften(x, spread, share)


class GaussianCorpus(NamedTuple):
    """What the document step takes as given, of weights whose logarithms are Gaussian."""

    topics: Array  # (n_terms, n_topics) exp E ln eta, or expected topics
    mean: Array  # (n_topics,) mu
    precision: Array  # (n_topics, n_topics) P
    lift: float  # 0 where the bound is to rise, for which theta is e^(E eta), or 1/2, for which theta is E e^eta
    limits: Limits


@kernel
def take_log_weights(n, length, fresh, q, corpus):  # type: ignore[no-untyped-def]
    """Set n to the fresh ones, and take a step of q given them. Returns what the step of the means promised."""
    total = 0.0
    for k in range(n.size):
        total += fresh[k]
    part = length / total if total > 0.0 else 1.0  # n of single precision do not quite add up to N: what is missing
    for k in range(n.size):  # of a long document would move all log weights alike, without end
        n[k] = part * fresh[k]
    promised = mean_step(corpus.precision, n, length, q)
    variance_step(corpus.precision, length, q.x, q.spread, q.share)
    return promised


@kernel
def leave_at_prior(m, shard, corpus):  # type: ignore[no-untyped-def]
    """A document without tokens: the prior's mean, and 1/P_kk, the variances of each log weight given the others."""
    tokens, locations, _, spreads = shard.beliefs
    real = corpus.topics.dtype.type
    for k in range(corpus.mean.size):
        tokens[m, k] = real(0)
        shard.theta[m, k] = real(0)
        locations[m, k] = corpus.mean[k]
        spreads[m, k] = 1.0 / corpus.precision[k, k]
    for i in range(4):
        shard.terms[m, i] = 0.0


@kernel
def take_log_weight_turns(m, n, length, theta, fresh, q, shard, corpus):  # type: ignore[no-untyped-def]
    """The turns of one document: theta = e^(lambda + lift nu^2); n by ``token_step``; ``mean_step``; ``variance_step``.

    It ends when the mean change of n falls below the tolerance and its log weights have settled, or after the most
    turns.
    """
    entries, tokens, lift, (most, tolerance) = shard.entries, shard.beliefs.tokens, corpus.lift, corpus.limits
    real, size = corpus.topics.dtype.type, n.size
    start, stop = entries.indptr[m], entries.indptr[m + 1]
    for _ in range(most):
        top = -np.inf
        for k in range(size):
            top = max(top, q.x[k] + lift * q.spread[k])
        for k in range(size):
            theta[k] = real(exp(q.x[k] + lift * q.spread[k] - top))
        token_step(entries.indices, entries.counts, start, stop, corpus.topics, theta, fresh, shard.ratio)
        change = 0.0
        for k in range(size):
            change += abs(fresh[k] - tokens[m, k])
        for k in range(size):
            tokens[m, k] = fresh[k]
        promised = take_log_weights(n, length, fresh, q, corpus)
        if change < tolerance * size and promised < NATS:
            break


@kernel
def log_weight_steps(shard, corpus):  # type: ignore[no-untyped-def]
    """Optimise q(C) and q(eta) of a shard's documents, from the means (locations) and variances (spreads) it has.

    Sets its beliefs, theta and ratio of the last token step, and terms: B1, E ln p(C | eta), and E ln p(eta) +
    H[q(eta)] without what all documents share. A document without tokens says nothing: its terms are 0.  # C1
    """
    entries, (_, locations, _, spreads), precision = shard.entries, shard.beliefs, corpus.precision
    size = corpus.mean.size
    n, q = np.zeros(size + 2 * APART)[APART : APART + size], new_log_weights(size)
    fresh, theta = np.zeros(size, corpus.topics.dtype), np.zeros(size, corpus.topics.dtype)
    for m in range(locations.shape[0]):
        start, stop = entries.indptr[m], entries.indptr[m + 1]
        if stop == start:
            leave_at_prior(m, shard, corpus)
            continue
        length = 0.0
        for j in range(start, stop):
            length += entries.counts[j]
        for k in range(size):
            q.x[k] = locations[m, k]
            q.spread[k] = spreads[m, k]
            q.off[k] = q.x[k] - corpus.mean[k]
        times(precision, q.off, q.pull)
        take_log_weight_turns(m, n, length, theta, fresh, q, shard, corpus)
        for k in range(size):
            shard.theta[m, k] = theta[k]
            locations[m, k] = q.x[k]
            spreads[m, k] = q.spread[k]
        terms = shard.terms[m]
        terms[0] = word_term(entries.counts, start, stop, shard.ratio, theta, fresh)
        terms[1] = dot(n, q.x) - length * soften(q.x, q.spread, q.share)
        prior = dot(q.off, q.pull)
        for k in range(size):
            prior += precision[k, k] * q.spread[k] - log(q.spread[k])
        terms[2] = -0.5 * prior
        terms[3] = 0.0


def step_log_weights(shard: DocumentShard, corpus: GaussianCorpus) -> None:
    """``log_weight_steps`` as an engine takes it: a function that another process finds by its name."""
    log_weight_steps(shard, corpus)
