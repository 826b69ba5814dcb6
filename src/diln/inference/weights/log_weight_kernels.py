"""A document's log weights, drawn one by one given the others.

Given all but one of a document's log weights, its n_k tokens of topic k are binomial: each of N is of the topic with
probability sigma(psi_k), psi_k = eta_k - ln sum_{j != k} e^eta_j. Its prior given the others is Gaussian, so that ln p
of eta_k is concave: a bell at its mode is near, and Metropolis and Hastings' rule makes draws of it exact.
"""

from math import exp, log, log1p, sqrt
from typing import NamedTuple

import numpy as np

from diln.engine.compile import kernel, overloads
from diln.inference.data import Array
from diln.inference.sampling.documents import TOGETHER
from diln.inference.sampling.tokens import count_topics, open_document
from diln.inference.variational.log_weight_step import times
from diln.prob.streams import GOLD, fill_normals, stream, uniform64

AT_ONCE = 4  # documents whose products are added up with one store
NEWTON = 5  # steps to a mode at most
FAR = 2.0  # a longer step is cut: where few tokens are expected, ln(1 + e^psi) is no parabola
CLOSE = 1e-3  # a step this short is the last
SCALE = 0.62  # of the logistic distribution that is most like the standard normal one


class LogWeightRecord(NamedTuple):
    """The corpus as the token step takes it."""

    a0: Array  # (width,) float32: 1 of every topic


class LogWeights(NamedTuple):
    """What is known of documents."""

    eta: Array  # (n_docs, width) float32


class Gaussian(NamedTuple):
    """What log weights are drawn from before tokens are seen."""

    mean: Array  # (n_topics,)
    precision: Array  # (n_topics, n_topics)


class LogWeightRoom(NamedTuple):
    """Memory for some documents, a row each."""

    n: Array  # (TOGETHER, width) float32: tokens of each topic
    eta: Array  # (TOGETHER, n_topics)
    pull: Array
    bells: Array
    chances: Array

    @classmethod
    def of(cls, width: int, n_topics: int) -> "LogWeightRoom":
        """Memory for so many topics."""
        return cls(np.zeros((TOGETHER, width), np.float32), *np.zeros((4, TOGETHER, n_topics)))


@kernel
def open_wide(a0, eta, scale):  # type: ignore[no-untyped-def]
    """Set scale = e^(eta - top), top being the largest eta of a topic with a0 above 0."""
    top = -np.inf
    for k in range(a0.size):
        if a0[k] > 0:
            top = max(top, eta[k])
    for k in range(a0.size):
        scale[k] = exp(eta[k] - top) if a0[k] > 0 else 0.0


@overloads(open_document)
def _open_log_weights(weights, docs, m, n, sigma, softs, room):  # type: ignore[no-untyped-def]
    """Of log weights: sigma is e^eta beside the largest, and the document's own tokens add nothing."""
    if getattr(weights, "instance_class", None) is not LogWeightRecord:
        return None

    def opened(weights, docs, m, n, sigma, softs, room):  # type: ignore[no-untyped-def]
        open_wide(weights.a0, docs.places.eta[m], sigma)
        for k in range(n.size):
            n[k] = 0
        return np.float32(0)

    return opened


@kernel
def lay_out(docs, first, last, known, key, room):  # type: ignore[no-untyped-def]
    """Set, for documents first to last, a row each: n, eta, pull = P (eta - mu), and random numbers for the draws.

    ``bells`` are of the logistic distribution, ``chances`` logarithms of uniform numbers.
    """
    starts, eta, mean, bells, chances = docs.tokens.starts, room.eta, known.mean, room.bells, room.chances
    size = mean.size
    off = np.empty(size)
    for m in range(first, last):
        row = m - first
        count_topics(docs.topics, starts[m], starts[m + 1], room.n[row])
        for k in range(size):
            eta[row, k] = docs.places.eta[m, k]
        for k in range(size):
            off[k] = eta[row, k] - mean[k]
        times(known.precision, off, room.pull[row])
        state = stream(key, docs.names[m])
        for k in range(size):
            state += GOLD
            uniform = uniform64(state)
            bells[row, k] = log((uniform + 2.0**-53) / (1.0 - uniform))
            state += GOLD
            chances[row, k] = log(uniform64(state) + 2.0**-53)  # of a number in (0, 1]


@kernel
def add_logs(a, b):  # type: ignore[no-untyped-def]
    """ln(e^a + e^b), either of which may be 0. Equals ``np.logaddexp(a, b)``."""
    low, top = min(a, b), max(a, b)
    return top if low == -np.inf else top + log1p(exp(low - top))


@kernel
def chance_of(psi):  # type: ignore[no-untyped-def]
    """sigma(psi). Equals ``scipy.special.expit(psi)``."""
    small = exp(-abs(psi))
    return 1.0 / (1.0 + small) if psi >= 0 else small / (1.0 + small)


@kernel
def bell(z):  # type: ignore[no-untyped-def]
    """ln p of the standard logistic distribution. Equals ``scipy.stats.logistic.logpdf(z)``."""
    return -abs(z) - 2.0 * log1p(exp(-abs(z)))


@kernel
def find_mode(n, length, offset, rate, linear):  # type: ignore[no-untyped-def]
    """Nearly where (n + linear) x - length ln(1 + e^(x - offset)) - rate x^2/2 is largest, and how it bends there.

    The slope of the tokens' part is between n - length and n, which says where the mode can be. Newton's method starts
    from the place among these that is nearest to the mode of the tokens' part alone.  # G12
    """
    believed = linear / rate
    x = offset + log((n + 0.5) / (length - n + 0.5))
    x = min(max(x, believed - (length - n) / rate), believed + n / rate)
    for _ in range(NEWTON):
        share = chance_of(x - offset)
        step = (n - length * share + linear - rate * x) / (rate + length * share * (1.0 - share))
        step = min(max(step, -FAR), FAR)
        x += step
        if abs(step) < CLOSE:
            break
    share = chance_of(x - offset)
    return x, rate + length * share * (1.0 - share)


@kernel
def draw_log_weights(starts, first, last, precision, room):  # type: ignore[no-untyped-def]
    """Draw eta_k, one topic after the other, of documents first to last, each given the others.

    Given those, ln p is n_k eta_k - N ln(1 + e^psi_k) and the prior's linear eta_k - P_kk eta_k^2/2, where linear =
    P_kk eta_k - pull_k does not depend on eta_k itself. Proposed is a draw of a logistic distribution about the mode,
    as wide as the curvature there says, neither of which depends on eta_k; unlike a Gaussian, it has tails that no
    chain is left behind in.  # G13
    """
    size, n, eta, pull, bells, chances = precision.shape[0], room.n, room.eta, room.pull, room.bells, room.chances
    after = np.full(size + 1, -np.inf)  # ln sum of e^eta_j, j from k on
    for m in range(first, last):
        row, length = m - first, float(starts[m + 1] - starts[m])
        if length == 0:
            continue
        row_pull, before = pull[row], -np.inf
        for k in range(size - 1, -1, -1):
            after[k] = add_logs(after[k + 1], eta[row, k])
        for k in range(size):
            old, rate, count = eta[row, k], precision[k, k], float(n[row, k])
            linear, offset = rate * old - row_pull[k], add_logs(before, after[k + 1])
            if size == 1:  # the topic is all there is of the document, wherever eta_k is
                count, length, offset = 0.0, 0.0, 0.0
            mode, bend = find_mode(count, length, offset, rate, linear)
            wide = SCALE / sqrt(bend)
            new = mode + wide * bells[row, k]
            gain = (new - old) * (count + linear - 0.5 * rate * (new + old))
            gain -= length * (add_logs(0.0, new - offset) - add_logs(0.0, old - offset))
            gain += bell((old - mode) / wide) - bell(bells[row, k])
            if chances[row, k] <= gain:
                eta[row, k] = new
                for j in range(size):
                    row_pull[j] += (new - old) * precision[k, j]
            before = add_logs(before, eta[row, k])


@kernel
def gather_moments(starts, first, last, eta, out):  # type: ignore[no-untyped-def]
    """Add (1, eta)(1, eta)' of documents first to last that have tokens to ``out`` (1 + n_topics, 1 + n_topics).

    ``eta`` has as many rows as documents, in whole AT_ONCE.  # G14
    """
    size = out.shape[0]
    rows = np.zeros((AT_ONCE, size))
    for start in range(first, last, AT_ONCE):
        for i in range(AT_ONCE):
            known = start + i < last and starts[start + i] < starts[start + i + 1]
            rows[i, 0] = 1.0 if known else 0.0
            for k in range(1, size):
                rows[i, k] = eta[start - first + i, k - 1] if known else 0.0
        for j in range(size):
            w0, w1, w2, w3 = rows[0, j], rows[1, j], rows[2, j], rows[3, j]
            for k in range(size):
                out[j, k] += w0 * rows[0, k] + w1 * rows[1, k] + w2 * rows[2, k] + w3 * rows[3, k]


@kernel
def spread_out(means, spreads, key, names, out):  # type: ignore[no-untyped-def]
    """Draw a row of ``out`` for each document: normal, with these means and variances, by the document's stream."""
    size = means.shape[1]
    normals = np.empty(size)
    for m in range(means.shape[0]):
        fill_normals(stream(key, names[m]), normals)
        for k in range(size):
            out[m, k] = means[m, k] + sqrt(spreads[m, k]) * normals[k]


@kernel
def draw_entering(mean, root, key, names, out):  # type: ignore[no-untyped-def]
    """Draw a row of ``out`` for each document: normal, with this mean and a root of the covariance, by its stream.

    Equals ``out[m, :size] = mean + root @ normals``, root being lower triangular.
    """
    size = mean.size
    normals = np.empty(size)
    for m in range(names.size):
        fill_normals(stream(key, names[m]), normals)
        for k in range(size):
            total = 0.0
            for j in range(k + 1):
                total += root[k, j] * normals[j]
            out[m, k] = mean[k] + total
