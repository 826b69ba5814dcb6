"""A document's log weights, Gaussian before its tokens are seen: q(eta) = N(lambda, diag(nu^2)) given expected tokens.

With n_k expected tokens of topic k, N in all, precision P and mean mu of the corpus, they maximise, jointly concave,

    f = n . lambda - N ln sum_k e^(lambda_k + nu_k^2/2) - (lambda - mu)' P (lambda - mu) / 2
        + sum_k (ln nu_k^2 - P_kk nu_k^2) / 2                                                          # C1

which is Blei and Lafferty's bound with zeta, the point of its tangent, at its optimum.
"""

from math import exp, log

import numpy as np

from diln.engine.compile import kernel
from diln.inference.variational.document_step import token_step, word_term

NATS = 1e-2  # a step of log weights that promises less is the last
CONJUGATE = 8  # directions of a step at most
FORCING = 0.1  # a direction's residual, as a share of the gradient, at which a step is taken
HALVINGS = 12
ROUNDING = 1e-14  # of f: without it the last steps, of which f knows nothing, would be refused
NEWTON = 50  # steps for a variance at most; a few do, and these to 1/P_kk of 1e15
AT_REST = 1e-13


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

    Wherever the solution is left, it is an ascent direction. ``work`` (4, n_topics) is scratch.
    """
    size = gradient.size
    rest, ahead, turned, scaled = work[0], work[1], work[2], work[3]
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


@kernel
def mean_step(precision, n, length, x, spread, off, pull, share, gradient, step, pushed, moved, work):  # type: ignore[no-untyped-def]
    """One Newton step of lambda = x, halved until f does not fall.

    off, pull and share are those of x, before and after. Returns what a full step promised, in nats.  # C2
    """
    size = x.size
    before = mean_value(x, spread, n, length, off, pull, share)
    for k in range(size):
        gradient[k] = n[k] - length * share[k] - pull[k]
    direction(precision, share, length, gradient, step, pushed, work)
    promised = dot(gradient, step)
    part = 1.0
    ahead, away, turned = moved, work[0], work[1]
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


@kernel
def log_weight_steps(  # type: ignore[no-untyped-def]
    indptr, indices, counts, topics, mean, precision, lift, first, last, most, tolerance,
    tokens, locations, spreads, theta, ratio, terms,
):  # fmt: skip
    """Optimise q(C) and q(eta) of documents first to last, from the means (locations) and variances (spreads) given.

    In turn: theta = e^(lambda + lift nu^2); n by ``token_step``; ``mean_step``; ``variance_step``. A document ends when
    the mean change of n falls below ``tolerance`` and its log weights are at rest, or after ``most`` turns. One without
    tokens is left with the prior's mean and 1/P_kk, the variances of each log weight given the others, and says
    nothing: its terms are 0.

    ``lift`` is 0 where the bound is to rise, for which theta is e^(E eta), or 1/2, for which theta is E e^eta.

    Sets tokens (n), locations, spreads, theta and ratio of the last token step, and terms: B1, E ln p(C | eta), and
    E ln p(eta) + H[q(eta)] without what all documents share.  # C1
    """
    real = topics.dtype.type
    size = mean.size
    n, x, spread, off, pull = np.zeros(size), np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    share, gradient, step, pushed, moved = (
        np.empty(size), np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    )  # fmt: skip
    fresh, weight, work = np.zeros(size, topics.dtype), np.zeros(size, topics.dtype), np.empty((4, size))
    for m in range(first, last):
        start, stop = indptr[m], indptr[m + 1]
        if stop == start:
            for k in range(size):
                tokens[m, k] = real(0)
                theta[m, k] = real(0)
                locations[m, k] = mean[k]
                spreads[m, k] = 1.0 / precision[k, k]
            for i in range(4):
                terms[m, i] = 0.0
            continue
        length = 0.0
        for j in range(start, stop):
            length += counts[j]
        for k in range(size):
            x[k] = locations[m, k]
            spread[k] = spreads[m, k]
            off[k] = x[k] - mean[k]
        times(precision, off, pull)
        for _ in range(most):
            top = -np.inf
            for k in range(size):
                top = max(top, x[k] + lift * spread[k])
            for k in range(size):
                weight[k] = real(exp(x[k] + lift * spread[k] - top))
            token_step(indices, counts, start, stop, topics, weight, fresh, ratio)
            change, total = 0.0, 0.0
            for k in range(size):
                change += abs(fresh[k] - tokens[m, k])
                total += fresh[k]
            part = length / total if total > 0.0 else 1.0  # n of single precision do not quite add up to N: what is
            for k in range(size):  # missing of a long document would move all log weights alike, without end
                n[k] = part * fresh[k]
                tokens[m, k] = fresh[k]
            promised = mean_step(
                precision, n, length, x, spread, off, pull, share, gradient, step, pushed, moved, work
            )  # fmt: skip
            variance_step(precision, length, x, spread, share)
            if change < tolerance * size and promised < NATS:
                break
        for k in range(size):
            theta[m, k] = weight[k]
            locations[m, k] = x[k]
            spreads[m, k] = spread[k]
        terms[m, 0] = word_term(counts, start, stop, ratio, weight, fresh)
        terms[m, 1] = dot(n, x) - length * soften(x, spread, share)
        prior = dot(off, pull)
        for k in range(size):
            prior += precision[k, k] * spread[k] - log(spread[k])
        terms[m, 2] = -0.5 * prior
        terms[m, 3] = 0.0
