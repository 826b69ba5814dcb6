"""Draws of documents' log weights, and of their mean and covariance, against NumPy twins and known distributions."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp, softmax
from small import counts_by_document, draw, some_counts, some_documents, some_state

from diln.engine.lanes import LANES
from diln.engine.threads import Threads
from diln.inference.sampling.log_weights import (
    UNSEEN,
    draw_all_log_weights,
    draw_gaussian,
    draw_log_weights,
    gates,
    gather_moments,
    lay_out,
    open_log_weights,
)
from diln.inference.sampling.places import TOGETHER
from diln.inference.sampling.tokens import Tokens, open_wide
from diln.prob.polya_gamma import draw_polya_gamma
from diln.prob.streams import key_of

LEAST = 1e-4  # p-value of a test: of ten thousand right ones, one is lower
ONE = Threads(1)


def some_gaussian(rng, size):
    root = rng.normal(size=(size, size))
    return rng.normal(size=size), root @ root.T / size + 0.3 * np.eye(size)


def weighed(seed, n_docs=11, size=5, empty=(2,), spread=1.0):
    """A state whose documents have log weights, and the documents."""
    rng = np.random.default_rng(seed)
    docs = some_documents(rng, some_counts(rng, n_docs, 30, empty=empty), size)
    state = some_state(rng, docs, size)
    state.mean, state.covariance = some_gaussian(rng, size)
    state.a0[:] = np.arange(state.width) < size
    docs.u = np.zeros((n_docs, state.width), np.float32)
    docs.u[:, :size] = spread * rng.normal(size=(n_docs, size))
    return state, docs


def laid_out(state, docs, key):
    size, n_docs = state.n_topics, len(docs)
    n = np.zeros((n_docs, state.width), np.float32)
    eta, pull, normals = np.zeros((3, n_docs, size))
    tops, sums = np.zeros((2, n_docs))
    precision = np.linalg.inv(state.covariance)
    known = (n, eta, pull, tops, sums, normals)
    lay_out(docs.topics, docs.tokens.starts, 0, n_docs, docs.u, state.mean, precision, key, docs.names, *known)
    return precision, known


@pytest.mark.parametrize("size", [1, 2, 5, 20])
def test_documents_are_laid_out_as_numpy_says(size):
    state, docs = weighed(size, size=size)
    precision, (n, eta, pull, tops, sums, normals) = laid_out(state, docs, key_of(1))
    np.testing.assert_array_equal(n, counts_by_document(docs, state.width))
    np.testing.assert_array_equal(eta, docs.u[:, :size])
    np.testing.assert_allclose(pull, (eta - state.mean) @ precision, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(tops + np.log(sums), logsumexp(eta, axis=1))
    assert len(np.unique(normals)) == normals.size
    if size > 1:
        psi = np.empty(len(docs))
        gates(docs.tokens.starts, 0, len(docs), 1, eta, tops, sums, psi)
        np.testing.assert_allclose(psi, eta[:, 1] - logsumexp(np.delete(eta, 1, axis=1), axis=1), rtol=1e-9, atol=1e-9)


def plain_draws(state, lengths, n, eta, normals, rates=None):
    """One log weight after the other, each given the others as they are by then."""
    eta, precision = eta.copy(), np.linalg.inv(state.covariance)
    for m in np.flatnonzero(lengths):
        for k in range(eta.shape[1]):
            rest = np.delete(np.arange(eta.shape[1]), k)
            rate = precision[k, k]
            linear = rate * state.mean[k] - precision[k, rest] @ (eta[m, rest] - state.mean[rest])
            if len(rest):
                offset = logsumexp(eta[m, rest])
                psi = eta[m, k] - offset
                omega = lengths[m] * np.tanh(psi / 2) / (2 * psi) if rates is None else rates[m]
                rate, linear = rate + omega, linear + n[m, k] - lengths[m] / 2 + omega * offset
            eta[m, k] = linear / rate + normals[m, k] / np.sqrt(rate)
    return eta


@pytest.mark.parametrize(("size", "spread"), [(1, 1.0), (2, 1.0), (5, 1e-9), (20, 1.0), (7, 9.0)])
def test_draws_are_those_of_a_plain_loop(size, spread):
    state, docs = weighed(size, size=size, spread=spread)
    precision, (n, eta, pull, tops, sums, normals) = laid_out(state, docs, key_of(2))
    lengths = np.diff(docs.tokens.starts).astype(float)
    before = np.where(np.abs(eta) < 1e-6, 1e-6 * np.arange(1, size + 1), eta) if spread < 1e-6 else eta
    expected = plain_draws(state, lengths, n, before, normals)
    draw_log_weights(
        docs.tokens.starts, 0, len(docs), 0, size, precision, np.empty(0), False, n, eta, pull, tops, sums, normals
    )  # fmt: skip
    np.testing.assert_allclose(
        eta, expected, rtol=1e-4 if spread < 1e-6 else 1e-7, atol=1e-4 if spread < 1e-6 else 1e-7
    )
    full = lengths > 0
    np.testing.assert_allclose(pull[full], ((eta - state.mean) @ precision)[full], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose((tops + np.log(sums))[full], logsumexp(eta, axis=1)[full], rtol=1e-6)
    np.testing.assert_array_equal(eta[2], docs.u[2, :size])  # without tokens


def test_moments_are_those_of_documents_with_tokens():
    for n_docs in (1, 4, 7):
        _, docs = weighed(n_docs, n_docs=n_docs, empty=(0,) if n_docs > 1 else ())
        full = np.diff(docs.tokens.starts) > 0
        eta = np.zeros((8, 5))
        eta[:n_docs] = docs.u[:, :5]
        out = np.ones((6, 6))
        gather_moments(docs.tokens.starts, 0, n_docs, eta, out)
        longer = np.hstack([np.ones((full.sum(), 1)), docs.u[full, :5]])
        np.testing.assert_allclose(out, 1 + longer.T @ longer, rtol=1e-6)


def test_what_is_beyond_the_topics_has_no_weight():
    a0, eta, scale = np.zeros(LANES, np.float32), np.zeros(LANES, np.float32), np.empty(LANES, np.float32)
    a0[:3], eta[:3] = 1, [-500.0, -501.0, -600.0]
    open_wide(a0, eta, scale)
    np.testing.assert_allclose(scale[:3], np.exp([0.0, -1.0, -100.0]), rtol=1e-6, atol=1e-38)
    assert not scale[3:].any()


def test_tokens_are_drawn_by_log_weights_whatever_the_others_of_the_document_are():
    """One document given fixed topics: p(topic) is e^eta_k (n_kw + gamma_0)/(n_k + V gamma_0), token by token."""
    rng = np.random.default_rng(0)
    counts = np.full((1, 4), 5000)
    docs = some_documents(rng, counts, 3)
    state = some_state(rng, docs, 3, prior=0.3, a0=np.ones(3))
    state.table[:, :3] = rng.integers(0, 50, (4, 3))
    state.totals[:3] = state.table[:, :3].sum(axis=0)
    table, eta = state.table.copy(), np.array([0.5, -1.0, 0.2])
    docs.u = np.zeros((1, state.width), np.float32)
    docs.u[0, :3] = eta
    histogram, softs, score = draw(state, docs, key_of(5), learning=False)
    np.testing.assert_array_equal(state.table, table)
    p = np.exp(eta) * (table[:, :3] + 0.3) / (state.totals[:3] + 1.2)
    for w in range(4):
        found = np.bincount(docs.topics[5000 * w : 5000 * (w + 1)], minlength=3)
        assert stats.chisquare(found, 5000 * p[w] / p[w].sum()).pvalue > LEAST
    assert score == pytest.approx(5000 * np.log(p.sum(axis=1) / np.exp(eta).sum()).sum(), rel=1e-5)
    assert not histogram[:, 1:].any()
    assert not softs.any()


def posterior_of_two(n, mean, covariance):
    """Density over a grid of eta_1 - eta_2 of a document with n tokens of two topics."""
    grid = np.linspace(-12, 12, 4001)
    centre, variance = mean[0] - mean[1], covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    logs = n[0] * -np.logaddexp(0, -grid) + n[1] * -np.logaddexp(0, grid) - (grid - centre) ** 2 / (2 * variance)
    density = np.exp(logs - logs.max())
    return grid, np.cumsum(density) / density.sum()


@pytest.mark.parametrize("n", [(3, 1), (0, 6), (40, 2)])
def test_log_weights_of_two_topics_have_the_posterior_that_quadrature_finds(n):
    rng = np.random.default_rng(1)
    n_docs, sweeps = 1500, 8
    counts = np.full((n_docs, 1), sum(n))
    docs = some_documents(rng, counts, 2)
    docs.topics[:] = np.tile(np.repeat([0, 1], n), n_docs)
    state = some_state(rng, docs, 2)
    state.mean, state.covariance = np.array([0.3, -0.4]), np.array([[1.5, -0.3], [-0.3, 0.8]])
    docs.u = np.zeros((n_docs, state.width), np.float32)

    def omega(shape, psi, start):
        return draw_polya_gamma(shape, psi, rng)

    for sweep in range(sweeps):
        draw_all_log_weights(state, docs, key_of(3, sweep), ONE, omega)
    grid, cumulative = posterior_of_two(n, state.mean, state.covariance)
    found = docs.u[:, 0] - docs.u[:, 1]
    assert stats.kstest(found, lambda x: np.interp(x, grid, cumulative)).pvalue > LEAST
    _, without_tokens = posterior_of_two((0, 0), state.mean, state.covariance)
    assert stats.kstest(found, lambda x: np.interp(x, grid, without_tokens)).pvalue < LEAST


def test_means_of_omega_come_near_the_posterior_of_long_documents():
    rng = np.random.default_rng(2)
    n = (30, 70)
    docs = some_documents(rng, np.full((1500, 1), 100), 2)
    docs.topics[:] = np.tile(np.repeat([0, 1], n), 1500)
    state = some_state(rng, docs, 2)
    state.mean, state.covariance = np.zeros(2), np.eye(2)
    docs.u = np.zeros((1500, state.width), np.float32)
    for sweep in range(12):
        draw_all_log_weights(state, docs, key_of(4, sweep), ONE)
    grid, cumulative = posterior_of_two(n, state.mean, state.covariance)
    found = docs.u[:, 0] - docs.u[:, 1]
    assert stats.kstest(found, lambda x: np.interp(x, grid, cumulative)).statistic < 0.06


def test_the_number_of_threads_and_the_other_documents_change_no_draw():
    state, docs = weighed(3, n_docs=3 * TOGETHER, empty=(0, 40))
    _, again = weighed(3, n_docs=3 * TOGETHER, empty=(0, 40))
    moments = draw_all_log_weights(state, docs, key_of(6), ONE)
    with Threads(3) as three:
        np.testing.assert_array_equal(draw_all_log_weights(state, again, key_of(6), three), moments)
    np.testing.assert_array_equal(again.u, docs.u)
    _, few = weighed(3, n_docs=3 * TOGETHER, empty=(0, 40))
    few = few.first(50)
    draw_all_log_weights(state, few, key_of(6), ONE)
    np.testing.assert_array_equal(few.u, docs.u[:50])


def test_mean_and_covariance_have_their_normal_inverse_wishart_posterior():
    rng = np.random.default_rng(0)
    eta = rng.multivariate_normal([1.0, -1.0, 0.0], some_gaussian(rng, 3)[1], 9)
    longer = np.hstack([np.ones((9, 1)), eta])
    moments, c, kappa = longer.T @ longer, 4.0, 0.5
    drawn = [draw_gaussian(moments, c, kappa, rng) for _ in range(4000)]
    means, sigmas = np.array([one[0] for one in drawn]), np.array([one[1] for one in drawn])
    centre = eta.sum(axis=0) / 9.5
    scale = c * np.eye(3) + eta.T @ eta - 9.5 * np.outer(centre, centre)
    degrees = 3 + 1 + c + 9
    np.testing.assert_allclose(sigmas, np.swapaxes(sigmas, 1, 2), atol=1e-12)
    np.testing.assert_allclose(sigmas.mean(axis=0), scale / (degrees - 4), rtol=0.1, atol=0.05)
    log_dets = np.linalg.slogdet(sigmas)[1]
    reference = stats.invwishart(degrees, scale).rvs(4000, random_state=1)
    assert stats.ks_2samp(log_dets, np.linalg.slogdet(reference)[1]).pvalue > LEAST
    assert stats.ks_2samp(sigmas[:, 0, 1], reference[:, 0, 1]).pvalue > LEAST
    scaled = (means - centre)[:, 0] * np.sqrt(9.5 / sigmas[:, 0, 0])
    assert stats.kstest(scaled, "norm").pvalue > LEAST


def test_log_weights_begin_by_the_documents_topics_and_at_the_mean_without():
    state, docs = weighed(7, n_docs=6, empty=(1,))
    state.mean, state.covariance, docs.u = np.zeros(0), np.zeros((0, 0)), np.zeros((6, 0), np.float32)
    assert not state.weighed
    open_log_weights(state, docs, 4, 5.0)
    n = counts_by_document(docs, state.width)[:, :5]
    logs = np.log(n[:4] + UNSEEN)
    np.testing.assert_allclose(docs.u[:4, :5], logs - logs.mean(axis=1, keepdims=True), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(docs.u[4:, :5], np.tile(state.mean, (2, 1)), rtol=1e-6)
    np.testing.assert_array_equal(state.a0, np.arange(state.width) < 5)
    assert state.weighed
    assert np.linalg.eigvalsh(state.covariance)[0] > 0
    order = np.array([3, 0, 4])
    fewer = state.chosen(order)
    np.testing.assert_array_equal(fewer.covariance, state.covariance[np.ix_(order, order)])
    assert softmax(docs.u[0, :5]).argmax() == n[0].argmax()
    assert isinstance(docs.tokens, Tokens)
