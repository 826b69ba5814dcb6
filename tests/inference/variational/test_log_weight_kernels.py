"""The kernels of documents' log weights against NumPy twins, and what they maximise against finite differences."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.special import logsumexp, softmax

from diln.inference.data import TermCounts
from diln.inference.variational.documents import DocumentBeliefs, DocumentShard, Limits
from diln.inference.variational.log_weight_step import (
    GaussianCorpus,
    LogWeightBelief,
    direction,
    dot,
    log_weight_steps,
    mean_step,
    mean_value,
    new_log_weights,
    soften,
    times,
    variance_step,
)
from diln.models.counts import as_rows


class Case:
    """Expected tokens, a Gaussian prior, and a place to start from."""

    def __init__(self, seed, size, length=None, spread=1.0):
        rng = np.random.default_rng(seed)
        root = rng.normal(size=(size, size)) / np.sqrt(size)
        self.precision = np.linalg.inv(spread * (root @ root.T + 0.1 * np.eye(size)))
        self.precision = (self.precision + self.precision.T) / 2
        self.length = float(rng.integers(1, 300)) if length is None else length
        self.n = self.length * rng.dirichlet(np.full(size, 0.3))
        self.mean, self.x = rng.normal(size=size), rng.normal(size=size) * spread
        self.spread = rng.gamma(1.0, 1.0, size) + 1e-3

    def f(self, x, v):
        off = x - self.mean
        value = self.n @ x - self.length * logsumexp(x + v / 2) - off @ self.precision @ off / 2
        return value + (np.log(v) - np.diag(self.precision) * v).sum() / 2

    def known(self):
        off = self.x - self.mean
        share = np.empty_like(off)
        soften(self.x, self.spread, share)
        return off, self.precision @ off, share

    def move(self):
        """A step of the means, then of the variances; what the first promised."""
        size = len(self.x)
        off, pull, share = self.known()
        q = LogWeightBelief(
            self.x, self.spread, off, pull, share, *np.full((4, size), np.nan), np.full((4, size), np.nan)
        )
        promised = mean_step(self.precision, self.n, self.length, q)
        between, known = self.f(self.x, self.spread), (off, pull)
        variance_step(self.precision, self.length, self.x, self.spread, share)
        return promised, between, (*known, share)


SHAPES = [
    (0, 1, None, 1.0), (1, 2, None, 1.0), (2, 5, 1.0, 30.0), (3, 17, 5000.0, 1.0), (4, 64, None, 1e-3),
    (5, 7, None, 100.0),
]  # fmt: skip
each_shape = pytest.mark.parametrize("shape", SHAPES, ids=lambda one: f"{one[1]}-topics")


@pytest.mark.parametrize("size", [1, 3, 4, 9, 100])
def test_products_are_those_of_numpy(size):
    rng = np.random.default_rng(size)
    matrix, x, out = rng.normal(size=(size, size)), rng.normal(size=size), np.empty(size)
    matrix += matrix.T
    times(matrix, x, out)
    np.testing.assert_allclose(out, matrix @ x, rtol=1e-12, atol=1e-12)
    assert dot(x, out) == pytest.approx(x @ out)


@pytest.mark.parametrize("far", [0.0, 1.0, 300.0, 1e5])
def test_shares_are_a_softmax_however_far_apart(far):
    rng = np.random.default_rng(3)
    x, spread, share = far * rng.normal(size=12), rng.gamma(1.0, 1.0, 12), np.empty(12)
    assert soften(x, spread, share) == pytest.approx(logsumexp(x + spread / 2), rel=1e-13)
    np.testing.assert_allclose(share, softmax(x + spread / 2), rtol=1e-10, atol=1e-300)


@each_shape
def test_the_value_is_what_numpy_says(shape):
    case = Case(*shape)
    off, pull, share = case.known()
    value = mean_value(case.x, case.spread, case.n, case.length, off, pull, share)
    rest = (np.log(case.spread) - np.diag(case.precision) * case.spread).sum() / 2
    assert value + rest == pytest.approx(case.f(case.x, case.spread), rel=1e-11)


@each_shape
def test_a_direction_solves_newtons_equations_and_always_climbs(shape):
    case = Case(*shape)
    off, pull, share = case.known()
    gradient = case.n - case.length * share - pull
    hessian = case.precision + case.length * (np.diag(share) - np.outer(share, share))
    step, pushed, work = np.empty_like(off), np.empty_like(off), np.empty((4, len(off)))
    direction(case.precision, share, case.length, gradient, step, pushed, work)
    assert step @ gradient > 0
    np.testing.assert_allclose(pushed, case.precision @ step, rtol=1e-7, atol=1e-7 * np.abs(pushed).max())
    if len(off) <= 5:  # conjugate gradients are done after as many directions as there are dimensions
        rest = gradient - hessian @ step
        scale = np.diag(case.precision) + case.length * share
        assert rest @ (rest / scale) <= 0.011 * gradient @ (gradient / scale)


@each_shape
def test_the_gradient_is_that_of_finite_differences(shape):
    case = Case(*shape)
    off, pull, share = case.known()
    gradient = case.n - case.length * share - pull
    bend = (1 / case.spread - np.diag(case.precision) - case.length * share) / 2
    for k in range(len(off)):
        step = 1e-5 * np.eye(len(off))[k]
        slope = (case.f(case.x + step, case.spread) - case.f(case.x - step, case.spread)) / 2e-5
        assert slope == pytest.approx(gradient[k], rel=1e-3, abs=1e-3)
        step *= min(1.0, case.spread[k])
        slope = (case.f(case.x, case.spread + step) - case.f(case.x, case.spread - step)) / (2 * step[k])
        assert slope == pytest.approx(bend[k], rel=1e-3, abs=1e-3)


def test_no_step_of_means_or_variances_lowers_the_value():
    for seed in range(300):
        case = Case(seed, 1 + seed % 13, spread=[0.01, 1.0, 50.0][seed % 3])
        before = case.f(case.x, case.spread)
        for _ in range(6):
            _, between, (off, pull, share) = case.move()
            np.testing.assert_allclose(off, case.x - case.mean, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(pull, case.precision @ off, rtol=1e-7, atol=1e-7)
            np.testing.assert_allclose(share, softmax(case.x + case.spread / 2), rtol=1e-12, atol=1e-300)
            after = case.f(case.x, case.spread)
            assert between >= before - 1e-11 * abs(before), seed
            assert after >= between - 1e-11 * abs(between), seed
            before = after


@each_shape
def test_steps_end_where_no_optimiser_finds_better(shape):
    case = Case(*shape)
    for _ in range(200):
        promised, _, _ = case.move()
    assert promised < 1e-8
    size = len(case.x)

    def loss(y):
        return -case.f(y[:size], np.exp(y[size:]))

    start = np.concatenate([case.x, np.log(case.spread)])
    best = minimize(loss, start, method="BFGS")
    assert best.fun >= loss(start) - 1e-6 * abs(best.fun)
    share = softmax(case.x + case.spread / 2)
    np.testing.assert_allclose(1 / case.spread, np.diag(case.precision) + case.length * share, rtol=1e-6)


@pytest.mark.parametrize("start", [1e-12, 1e-3, 1.0, 1e6])
def test_a_variance_is_found_from_anywhere(start):
    precision, x = np.diag([1e-2, 1.0, 50.0]), np.array([0.0, -3.0, 2.0])
    for length in (1.0, 1e5):
        spread, share = np.full(3, min(start, 100.0)), np.empty(3)
        zeta = np.exp(x + spread / 2).sum()
        variance_step(precision, length, x, spread, share)
        np.testing.assert_allclose(spread * (np.diag(precision) + length / zeta * np.exp(x + spread / 2)), 1, rtol=1e-9)


@pytest.mark.parametrize("variance", [1.0, 50.0, 200.0, 1e3, 1e4, 1e6, 1e12])
@pytest.mark.parametrize("start", [1e-9, 1.0, 1e4])
def test_a_variance_is_found_however_wide_the_prior_is(variance, start):
    x = np.array([0.0, -5.0, -30.0, -900.0, -4e5])
    precision = np.eye(len(x)) / variance
    for length in (1.0, 100.0, 1e6):
        spread, share = np.full(len(x), min(start, variance)), np.empty(len(x))
        pressure = np.log(length) + x - logsumexp(x + spread / 2)
        variance_step(precision, length, x, spread, share)
        for v, p in zip(spread, pressure, strict=True):
            root = brentq(lambda v, p=p: np.log(v) + np.logaddexp(-np.log(variance), p + v / 2), 1e-13, variance)
            assert v == pytest.approx(root, rel=1e-9)


def plain_steps(counts, topics, mean, precision, lift, turns):
    """The document step of one document, its tokens by NumPy."""
    words = np.flatnonzero(counts)
    x, v = mean.copy(), 1 / (np.diag(precision) + counts.sum() / len(mean))
    for _ in range(turns):
        phi = topics[words] * softmax(x + lift * v)
        phi /= phi.sum(axis=1, keepdims=True)
        n = counts[words] @ phi
        case = Case.__new__(Case)
        case.precision, case.mean, case.n, case.length, case.x, case.spread = precision, mean, n, counts.sum(), x, v
        for _ in range(3):
            case.move()
        x, v = case.x, case.spread
    return n, x, v


@pytest.mark.parametrize("lift", [0.0, 0.5], ids=["climbing", "of-means"])
@pytest.mark.parametrize("real", [np.float32, np.float64], ids=["single", "double"])
def test_documents_come_to_rest_where_a_plain_loop_does(real, lift):
    rng = np.random.default_rng(5)
    size, n_terms = 6, 25
    case = Case(1, size)
    counts = rng.poisson(1.5, (4, n_terms)).astype(float)
    counts[2] = 0
    topics = rng.dirichlet(np.full(n_terms, 0.2), size).T.astype(real) + real(1e-6)
    batch = TermCounts.of(as_rows(counts))
    tokens, theta = np.zeros((4, size), real), np.empty((4, size), real)
    means = np.tile(case.mean, (4, 1))
    spreads = 1 / (np.diag(case.precision) + batch.lengths[:, np.newaxis] / size)
    terms = np.full((4, 4), np.nan)
    beliefs, nothing = DocumentBeliefs(tokens, means, np.zeros(4), spreads), np.zeros(size)
    ratio = np.empty(len(batch.indices), real)
    shard = DocumentShard(batch.entries(0, 4), beliefs, theta, ratio, terms, nothing, nothing)
    log_weight_steps(shard, GaussianCorpus(topics, case.mean, case.precision, lift, Limits(3000, 1e-9)))
    for m in (0, 1, 3):
        n, x, v = plain_steps(counts[m], topics.astype(float), case.mean, case.precision, lift, 500)
        np.testing.assert_allclose(tokens[m], n, rtol=2e-3, atol=2e-3)
        np.testing.assert_allclose(means[m], x, rtol=2e-3, atol=2e-3)
        np.testing.assert_allclose(spreads[m], v, rtol=2e-3, atol=2e-3)
    assert not tokens[2].any()
    assert not terms[2].any()
    np.testing.assert_array_equal(means[2], case.mean)
    np.testing.assert_allclose(spreads[2], 1 / np.diag(case.precision))


@pytest.mark.parametrize("size", [1, 5, 40])
def test_arrays_of_few_topics_lie_as_far_apart_as_those_of_many(size):
    """Else where they happen to lie decides the last digits: a loop whose arrays are close goes one by one."""
    q = new_log_weights(size)
    arrays = [*q[:-1], *(row[:size] for row in q.work)]
    ends = sorted((one.ctypes.data, one.ctypes.data + one.nbytes) for one in arrays)
    assert all(start - before >= 512 for (_, before), (start, _) in pairwise(ends))
