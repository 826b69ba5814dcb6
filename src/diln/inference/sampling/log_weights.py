"""Documents' log weights, drawn one by one given Polya-Gamma variables, and their mean and covariance given them.

Given all but one of a document's log weights, its n_k tokens of topic k are binomial: each of N is of the topic with
probability sigma(psi_k), psi_k = eta_k - ln sum_{j != k} e^eta_j. Given omega_k of PolyaGamma(N, psi_k) that is
Gaussian in eta_k, as is its prior given the others.
"""

from itertools import pairwise
from math import exp, log, sqrt, tanh

import numpy as np

from diln.engine.compile import kernel
from diln.engine.threads import Threads
from diln.inference.documents import Array
from diln.inference.gaussian_weights import best_gaussian
from diln.inference.log_weight_step import times
from diln.inference.sampling.places import TOGETHER
from diln.inference.sampling.state import Documents, State
from diln.inference.sampling.sweep import Omega, pieces
from diln.inference.sampling.tokens import count_topics
from diln.prob.streams import fill_normals, stream

UNSEEN = 0.1  # tokens of a topic that a document has none of, where its log weights begin
AT_ONCE = 4  # documents whose products are added up with one store


@kernel
def lay_out(topics, starts, first, last, u, mean, precision, key, names, n, eta, pull, tops, sums, normals):  # type: ignore[no-untyped-def]
    """Set, for documents first to last, a row each: n, eta, pull = P (eta - mu), and normal numbers for the draws.

    ``tops`` is each document's largest eta, and ``sums`` the sum of e^(eta - top).
    """
    size = mean.size
    off = np.empty(size)
    for m in range(first, last):
        row = m - first
        count_topics(topics, starts[m], starts[m + 1], n[row])
        top = -np.inf
        for k in range(size):
            eta[row, k] = u[m, k]
            top = max(top, eta[row, k])
        for k in range(size):
            off[k] = eta[row, k] - mean[k]
        times(precision, off, pull[row])
        total = 0.0
        for k in range(size):
            total += exp(eta[row, k] - top)
        tops[row] = top
        sums[row] = total
        fill_normals(stream(key, names[m]), normals[row])


@kernel
def gates(starts, first, last, k, eta, tops, sums, psi):  # type: ignore[no-untyped-def]
    """Set psi_k of documents first to last. Equals ``eta[:, k] - np.log(np.exp(np.delete(eta, k, 1)).sum(axis=1))``."""
    for m in range(first, last):
        row = m - first
        others = max(sums[row] - exp(eta[row, k] - tops[row]), 1e-300)
        psi[row] = eta[row, k] - tops[row] - log(others)


@kernel
def draw_log_weights(  # type: ignore[no-untyped-def]
    starts, first, last, low, high, precision, omega, drawn, n, eta, pull, tops, sums, normals
):
    """Draw eta_k, k from low to below high, of documents first to last, each given the others.

    Precision P_kk + omega_k and linear term P_kk eta_k - pull_k + n_k - N/2 + omega_k ln sum_{j != k} e^eta_j, where
    the first two do not depend on eta_k itself.  # G13

    ``omega`` (n_docs,) are draws for one topic where ``drawn``; else they are set to their means,
    ``length * np.tanh(psi / 2) / (2 * psi)``.  # G12
    """
    size = precision.shape[0]
    for m in range(first, last):
        row, length = m - first, float(starts[m + 1] - starts[m])
        if length == 0:
            continue
        top, total, row_pull = tops[row], sums[row], pull[row]
        for k in range(low, high):
            old, rate = eta[row, k], precision[k, k]
            linear = rate * old - row_pull[k]
            others = total - exp(old - top)
            if others > 0:  # else the topic is all there is of the document, wherever eta_k is
                offset = top + log(others)
                psi = old - offset
                weight = 0.25 * length
                if drawn:
                    weight = omega[row]
                elif abs(psi) > 1e-6:
                    weight = length * tanh(0.5 * psi) / (2.0 * psi)
                rate += weight
                linear += n[row, k] - 0.5 * length + weight * offset
            new = linear / rate + normals[row, k] / sqrt(rate)
            moved = new - old
            total = max(others, 0.0) + exp(new - top)
            eta[row, k] = new
            for j in range(size):
                row_pull[j] += moved * precision[k, j]
        sums[row] = total


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


def open_log_weights(state: State, docs: Documents, size: int, prior: float) -> None:
    """Give all documents log weights: the first ``size`` by their tokens' topics, the others the mean of those."""
    state.a0[:] = np.arange(state.width) < state.n_topics
    docs.u = np.zeros((len(docs), state.width), np.float32)
    some, moments = docs.first(size), np.zeros((1 + state.n_topics, 1 + state.n_topics))
    for m, (start, stop) in enumerate(pairwise(some.tokens.starts)):
        n = np.bincount(some.topics[start:stop], minlength=state.n_topics)[: state.n_topics]
        logs = np.log(n + UNSEEN)
        docs.u[m, : state.n_topics] = logs - logs.mean()
    known = np.ascontiguousarray(docs.u[:size, : state.n_topics], np.float64)
    whole = np.vstack([known, np.zeros((-size % AT_ONCE, state.n_topics))])
    gather_moments(some.tokens.starts, 0, size, whole, moments)
    state.mean, state.covariance = best_gaussian(moments, prior)
    docs.u[size:, : state.n_topics] = state.mean


def draw_all_log_weights(
    state: State, docs: Documents, key: np.uint64, threads: Threads, omega: Omega | None = None
) -> Array:
    """Draw every document's log weights given its tokens' topics; returns the sum of (1, eta)(1, eta)'.

    With ``omega`` exact draws of the Polya-Gamma variables, else their means.
    """
    ranges, size, tokens = pieces(len(docs)), state.n_topics, docs.tokens
    inverse = np.linalg.inv(state.covariance)
    precision = np.ascontiguousarray((inverse + inverse.T) / 2)
    moments = np.zeros((len(ranges), 1 + size, 1 + size))

    def step(number: int, first: int, last: int) -> None:
        n = np.zeros((TOGETHER, state.width), np.float32)
        eta, pull, normals = np.zeros((3, TOGETHER, size))
        tops, sums, rates = np.zeros((3, TOGETHER))
        for start in range(first, last, TOGETHER):
            stop = min(start + TOGETHER, last)
            where, known = (tokens.starts, start, stop), (n, eta, pull, tops, sums, normals)
            lay_out(docs.topics, *where, docs.u, state.mean, precision, key, docs.names, *known)
            if omega is None:
                draw_log_weights(*where, 0, size, precision, rates, False, *known)
            else:
                _draw_exactly(where, precision, rates, known, omega)
            docs.u[start:stop, :size] = eta[: stop - start]
            gather_moments(*where, eta, moments[number])

    threads.run(step, ranges)
    return np.asarray(moments.sum(axis=0))


def _draw_exactly(
    where: tuple[Array, int, int], precision: Array, rates: Array, known: tuple[Array, ...], omega: Omega
) -> None:
    """Draw each topic's omega for all documents given, then its log weights."""
    starts, first, last = where
    lengths = np.diff(starts[first : last + 1]).astype(np.float64)
    full, psi = np.flatnonzero(lengths), np.zeros(last - first)
    _, eta, _, tops, sums, _ = known
    for k in range(len(precision)):
        gates(*where, k, eta, tops, sums, psi)
        rates[full] = omega(lengths[full], psi[full], first * len(precision) + k)
        draw_log_weights(*where, k, k + 1, precision, rates, True, *known)


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
