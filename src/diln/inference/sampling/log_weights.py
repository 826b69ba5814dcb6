"""Documents' log weights, drawn one by one, and their mean and covariance given them.

Given all but one of a document's log weights, its n_k tokens of topic k are binomial: each of N is of the topic with
probability sigma(psi_k), psi_k = eta_k - ln sum_{j != k} e^eta_j. Its prior given the others is Gaussian, so that ln p
of eta_k is concave: a bell at its mode is near, and Metropolis and Hastings' rule makes draws of it exact.
"""

from itertools import pairwise
from math import exp, log, log1p, sqrt

import numpy as np

from diln.engine.compile import kernel
from diln.engine.threads import Threads, cut
from diln.inference.data import Array, TermCounts
from diln.inference.sampling.places import TOGETHER
from diln.inference.sampling.state import SampledDocuments, State
from diln.inference.sampling.sweep import pieces
from diln.inference.sampling.tokens import count_topics
from diln.inference.variational.documents import Limits
from diln.inference.variational.log_weight_step import times
from diln.inference.variational.posterior import first_beliefs
from diln.inference.weights.gaussian import GaussianWeights, best_gaussian
from diln.prob.streams import GOLD, fill_normals, stream, uniform64

UNSEEN = 0.1  # tokens of a topic that a document has none of, where its log weights begin
AT_ONCE = 4  # documents whose products are added up with one store
NEWTON = 5  # steps to a mode at most
FAR = 2.0  # a longer step is cut: where few tokens are expected, ln(1 + e^psi) is no parabola
CLOSE = 1e-3  # a step this short is the last
LIFT = 0.5  # of the variance that is added to a log weight: new documents' tokens see the mean of its exponential
FIRST_UPDATES, FIRST_CHANGE = (
    20,
    1e-2,
)  # updates at most, and change of its tokens, where a document that was never seen begins
ENTER_AT_ONCE = 4096  # documents that are drawn at once as they come in
SCALE = 0.62  # of the logistic distribution that is most like the standard normal one


@kernel
def lay_out(topics, starts, first, last, u, mean, precision, key, names, n, eta, pull, bells, chances):  # type: ignore[no-untyped-def]
    """Set, for documents first to last, a row each: n, eta, pull = P (eta - mu), and random numbers for the draws.

    ``bells`` are of the logistic distribution, ``chances`` logarithms of uniform numbers.
    """
    size = mean.size
    off = np.empty(size)
    for m in range(first, last):
        row = m - first
        count_topics(topics, starts[m], starts[m + 1], n[row])
        for k in range(size):
            eta[row, k] = u[m, k]
        for k in range(size):
            off[k] = eta[row, k] - mean[k]
        times(precision, off, pull[row])
        state = stream(key, names[m])
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
def draw_log_weights(starts, first, last, precision, n, eta, pull, bells, chances):  # type: ignore[no-untyped-def]
    """Draw eta_k, one topic after the other, of documents first to last, each given the others.

    Given those, ln p is n_k eta_k - N ln(1 + e^psi_k) and the prior's linear eta_k - P_kk eta_k^2/2, where linear =
    P_kk eta_k - pull_k does not depend on eta_k itself. Proposed is a draw of a logistic distribution about the mode,
    as wide as the curvature there says, neither of which depends on eta_k; unlike a Gaussian, it has tails that no
    chain is left behind in.  # G13
    """
    size = precision.shape[0]
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


def open_log_weights(state: State, docs: SampledDocuments, size: int, prior: float, rng: np.random.Generator) -> None:
    """Give the first ``size`` documents log weights, by their tokens' topics; others get theirs when they come in.

    What all of a document's log weights have in common no token tells. It is spread as the prior has it: were it the
    same of all documents, Sigma would hold each log weight where the others of its document are.
    """
    state.a0[:] = np.arange(state.width) < state.n_topics
    docs.u = np.zeros((len(docs), state.width), np.float32)
    some, moments = docs.first(size), np.zeros((1 + state.n_topics, 1 + state.n_topics))
    levels = rng.standard_normal(size) / sqrt(state.n_topics)
    for m, (start, stop) in enumerate(pairwise(some.tokens.starts)):
        n = np.bincount(some.topics[start:stop], minlength=state.n_topics)[: state.n_topics]
        logs = np.log(n + UNSEEN)
        docs.u[m, : state.n_topics] = logs - logs.mean() + levels[m]
    known = np.ascontiguousarray(docs.u[:size, : state.n_topics], np.float64)
    whole = np.vstack([known, np.zeros((-size % AT_ONCE, state.n_topics))])
    gather_moments(some.tokens.starts, 0, size, whole, moments)
    state.mean, state.covariance = best_gaussian(moments, prior)


def draw_entering(state: State, docs: SampledDocuments, first: int, last: int, rng: np.random.Generator) -> None:
    """Log weights of documents that come into play: from N(mu, Sigma), since nobody knows their topics yet."""
    root = np.linalg.cholesky(state.covariance)
    for start, stop in cut(last - first, ENTER_AT_ONCE):
        normals = rng.standard_normal((stop - start, state.n_topics))
        docs.u[first + start : first + stop, : state.n_topics] = state.mean + normals @ root.T


@kernel
def spread_out(means, spreads, key, names, out):  # type: ignore[no-untyped-def]
    """Draw a row of ``out`` for each document: normal, with these means and variances, by the document's stream."""
    size = means.shape[1]
    normals = np.empty(size)
    for m in range(means.shape[0]):
        fill_normals(stream(key, names[m]), normals)
        for k in range(size):
            out[m, k] = means[m, k] + sqrt(spreads[m, k]) * normals[k]


def draw_first_log_weights(state: State, docs: SampledDocuments, key: np.uint64, threads: Threads) -> None:
    """Log weights of documents that are visited for some draws alone: from what variational inference makes of them.

    From the mean, so few draws would not come to where a document's log weights are, and Sigma would shrink.
    """
    tokens = docs.tokens
    batch = TermCounts(tokens.indptr, tokens.indices, tokens.counts.astype(np.float32), tokens.n_terms)
    weights = GaussianWeights(state.mean, state.covariance, 1.0, lift=LIFT)
    found = first_beliefs(state.expected_topics, weights, batch, Limits(FIRST_UPDATES, FIRST_CHANGE), threads)
    docs.u = np.zeros((len(docs), state.width), np.float32)
    spread_out(found.locations, found.spreads, key, docs.names, docs.u)


def draw_all_log_weights(state: State, docs: SampledDocuments, key: np.uint64, threads: Threads) -> Array:
    """Draw every document's log weights given its tokens' topics; returns the sum of (1, eta)(1, eta)'."""
    ranges, size, tokens = pieces(len(docs)), state.n_topics, docs.tokens
    inverse = np.linalg.inv(state.covariance)
    precision = np.ascontiguousarray((inverse + inverse.T) / 2)
    moments = np.zeros((len(ranges), 1 + size, 1 + size))

    def step(number: int, first: int, last: int) -> None:
        n = np.zeros((TOGETHER, state.width), np.float32)
        eta, pull, bells, chances = np.zeros((4, TOGETHER, size))
        for start in range(first, last, TOGETHER):
            stop = min(start + TOGETHER, last)
            where, known = (tokens.starts, start, stop), (n, eta, pull, bells, chances)
            lay_out(docs.topics, *where, docs.u, state.mean, precision, key, docs.names, *known)
            draw_log_weights(*where, precision, *known)
            docs.u[start:stop, :size] = eta[: stop - start]
            gather_moments(*where, eta, moments[number])

    threads.run(step, ranges)
    return np.asarray(moments.sum(axis=0))


def draw_gaussian(moments: Array, prior: float, at_zero: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Mean and covariance of log weights from their normal-inverse-Wishart distribution given all documents'.  # G15"""
    number, total, size = moments[0, 0], moments[0, 1:], len(moments) - 1
    counted = number + at_zero
    scale = moments[1:, 1:] - np.outer(total, total) / counted + prior * np.eye(size)
    root = np.linalg.cholesky((scale + scale.T) / 2)
    chances = np.tril(rng.standard_normal((size, size)), -1)
    chances[np.diag_indices(size)] = np.sqrt(rng.chisquare(size + 1 + prior + number - np.arange(size)))
    factor = np.linalg.solve(chances, root.T).T
    return total / counted + factor @ rng.standard_normal(size) / np.sqrt(counted), factor @ factor.T
