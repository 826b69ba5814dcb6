"""The step of the topics' locations: against a NumPy twin, slopes by differences, and scipy's optimum."""

import numpy as np
import oracle
import pytest
from scipy.optimize import minimize
from twins import each_real

from diln.engine.threads import Threads
from diln.inference.variational.documents import FAR_BELOW, DocumentBeliefs, DocumentSums
from diln.inference.variational.location_step import (
    TILE,
    LocatedDocuments,
    Slopes,
    TopicShard,
    location_step,
    topic_values,
)
from diln.inference.weights.gamma_process import StickWeights
from diln.inference.weights.located import LocatedWeights


class Topics:
    """Some documents, and topics whose locations are wanted."""

    def __init__(self, tokens, a0, u, s, precision=20.0, scale=1.0):
        self.tokens, self.a0, self.s = tokens, a0, s
        self.precision, self.scale = precision, scale
        self.covariates = np.ascontiguousarray(u.T, tokens.dtype)
        self.u = self.covariates.T.astype(np.float64)

    def values(self, k, ell, slopes=True):
        """Objective, gradient and whole negative Hessian of topic k."""
        dims = len(ell)
        gradient, matrix = np.full(dims, np.nan), np.full((dims, dims), np.nan)
        work, bits = np.full((5, TILE), np.nan), np.empty(TILE, np.int64)
        found = Slopes(gradient, matrix, work, np.full(TILE, np.nan, self.covariates.dtype), bits)
        value = topic_values(self.tokens[k], self.a0[k], ell, self.documents, slopes, found)
        return value, gradient, np.tril(matrix) + np.tril(matrix, -1).T

    def move(self, ells):
        out = np.full_like(ells, np.nan)
        location_step(TopicShard(self.tokens, self.a0, ells, out), self.documents)
        return out

    @property
    def documents(self):
        longest = float(np.sqrt((self.covariates.astype(float) ** 2).sum(axis=0).max(initial=0)))
        return LocatedDocuments(self.covariates, self.s, longest, self.precision, self.scale)

    def twin(self, k, ell):
        """Objective, gradient and negative Hessian; the sum over documents counts ``scale`` times."""
        given = ell, self.tokens[k].astype(np.float64), self.a0[k], self.u, self.s
        parts = oracle.topic_objective, oracle.grad_topic, oracle.hess_topic
        prior = [-0.5 * ell @ ell, -ell, np.eye(len(ell))]
        return [
            self.scale * part(*given, np.inf) + self.precision * one for part, one in zip(parts, prior, strict=True)
        ]

    def size(self, k, ell):
        """The size of what the objective sums: the measure of its rounding."""
        psi, n = self.u @ ell + self.s, self.tokens[k]
        return 1 + self.scale * (np.abs(n * psi) + (self.a0[k] + n) * np.logaddexp(0, psi)).sum()


def some_topics(rng, n_docs=40, n_topics=3, n_dims=4, spread=1.0, real=np.float64, **options):
    tokens = rng.gamma(0.3, 10.0, size=(n_topics, n_docs)).astype(real)
    u, s = rng.normal(size=(n_docs, n_dims)) * spread, rng.normal(1.0, 1.0, n_docs)
    return Topics(tokens, rng.gamma(0.5, size=n_topics) + 1e-8, u, s, **options)


@each_real
@pytest.mark.parametrize("n_docs", [0, 1, 7, TILE - 1, TILE, TILE + 1, 600])
@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_topic_values_are_their_numpy_lines(real, n_docs, scale):
    rng = np.random.default_rng(1)
    topics = some_topics(rng, n_docs, real=real, scale=scale)
    for k, ell in enumerate(rng.normal(size=(3, 4))):
        value, gradient, matrix = topics.values(k, ell)
        right = topics.twin(k, ell)
        assert value == pytest.approx(right[0], rel=1e-13)
        np.testing.assert_allclose(gradient, right[1], rtol=1e-12, atol=1e-13 * topics.size(k, ell))
        tolerance = 1e-12 if real is np.float64 else 1e-6  # the Hessian is summed in the covariates' precision
        np.testing.assert_allclose(matrix, right[2], rtol=tolerance, atol=tolerance * np.abs(right[2]).max())


@each_real
@pytest.mark.parametrize("spread", [1e-6, 1.0, 100.0, 1e4])
def test_topic_values_hold_at_tiny_and_huge_covariates(real, spread):
    rng = np.random.default_rng(2)
    topics = some_topics(rng, spread=spread, real=real)
    for k, ell in enumerate(rng.normal(size=(3, 4))):
        value, gradient, matrix = topics.values(k, ell)
        right = topics.twin(k, ell)
        assert value == pytest.approx(right[0], rel=1e-12)
        np.testing.assert_allclose(gradient, right[1], rtol=1e-10, atol=1e-12 * np.abs(right[1]).max())
        tolerance = 1e-12 if real is np.float64 else 1e-6
        np.testing.assert_allclose(matrix, right[2], rtol=tolerance, atol=tolerance * np.abs(right[2]).max())


def test_topic_values_need_no_slopes_for_the_objective():
    rng = np.random.default_rng(3)
    topics, ell = some_topics(rng, 600), rng.normal(size=4)
    value, gradient, matrix = topics.values(0, ell, slopes=False)
    assert value == topics.values(0, ell)[0]
    assert np.isnan(gradient).all()
    assert np.isnan(matrix).all()


def test_the_gradient_is_the_slope_of_the_values_and_the_hessian_that_of_the_gradient():
    rng = np.random.default_rng(4)
    topics, h = some_topics(rng, 600, scale=3.0), 1e-5
    for k, ell in enumerate(rng.normal(size=(3, 4)) * 0.5):
        _, gradient, matrix = topics.values(k, ell)
        sides = [(topics.values(k, ell + h * e), topics.values(k, ell - h * e)) for e in np.eye(4)]
        slope = [(up[0] - down[0]) / (2 * h) for up, down in sides]
        np.testing.assert_allclose(gradient, slope, rtol=1e-7, atol=1e-6)
        bend = [(down[1] - up[1]) / (2 * h) for up, down in sides]
        np.testing.assert_allclose(matrix, bend, rtol=1e-6, atol=1e-5)


def test_an_empty_document_has_no_part_in_it():
    rng = np.random.default_rng(5)
    topics, ell = some_topics(rng), rng.normal(size=4)
    with_empty = Topics(
        np.ascontiguousarray(np.hstack([topics.tokens, np.zeros((3, 2))])),
        topics.a0,
        np.vstack([topics.u, np.zeros((2, 4))]),
        np.append(topics.s, [FAR_BELOW, FAR_BELOW]),
    )
    for one, other in zip(topics.values(0, ell), with_empty.values(0, ell), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)


def random_topics(rng, real):
    """From a topic of next to no tokens to one of millions, with documents near and far."""
    n_docs, n_dims = int(rng.integers(1, 2 * TILE + 50)), int(rng.integers(1, 8))
    tokens = (rng.gamma(0.1, size=(1, n_docs)) * 10.0 ** rng.uniform(-6, 4)).astype(real)
    a0 = np.array([10.0 ** rng.uniform(-8, 3)])
    u, s = rng.normal(size=(n_docs, n_dims)) * 10.0 ** rng.uniform(-3, 1), rng.normal(size=n_docs) * 3
    s[rng.random(n_docs) < 0.05] = FAR_BELOW
    tokens[:, s == FAR_BELOW], u[s == FAR_BELOW] = 0, 0
    topics = Topics(tokens, a0, u, s, 10.0 ** rng.uniform(-1, 2), 10.0 ** rng.uniform(0, 3))
    return topics, rng.normal(size=(1, n_dims)) * 10.0 ** rng.uniform(-3, 1)


@each_real
def test_location_step_never_lowers_the_objective(real):
    rng = np.random.default_rng(6)
    raised = 0
    for _ in range(300):
        topics, ells = random_topics(rng, real)
        for _ in range(2):
            moved = topics.move(ells)
            assert np.isfinite(moved).all()
            before, after = topics.twin(0, ells[0])[0], topics.twin(0, moved[0])[0]
            assert after >= before - 1e-13 * topics.size(0, moved[0])
            raised += after > before
            ells = moved
    assert raised > 400


def at_rest(topics, k, ell):
    """Whether all that a Newton step promises is below the rounding of the objective."""
    _, slope, bend = topics.twin(k, ell)
    return slope @ np.linalg.solve(bend, slope) <= 1e-13 * topics.size(k, ell)


@each_real
@pytest.mark.parametrize("n_docs", [3, 40, 600])
def test_location_steps_end_at_scipys_optimum(real, n_docs):
    rng = np.random.default_rng(7)
    topics = some_topics(rng, n_docs, n_topics=5, real=real, scale=2.0)
    ells = np.zeros((5, 4))
    for _ in range(30):
        ells = topics.move(ells)
    for k, ell in enumerate(ells):
        best = minimize(
            lambda x, k=k: -topics.twin(k, x)[0],
            np.zeros(4),
            jac=lambda x, k=k: -topics.twin(k, x)[1],
            method="BFGS",
            options={"gtol": 1e-6},
        )
        assert topics.twin(k, ell)[0] >= -best.fun - 1e-12 * topics.size(k, ell)
        np.testing.assert_allclose(ell, best.x, rtol=1e-5, atol=1e-6)
        assert at_rest(topics, k, ell)


@each_real
def test_topics_used_by_no_document_go_where_the_documents_are_not(real):
    """Without tokens every document pushes, a0 sigma at a time; without a0 either, the prior draws them to 0."""
    rng = np.random.default_rng(8)
    u, s = rng.normal(1.0, 1.0, size=(300, 4)), rng.normal(1.0, 1.0, 300)
    topics = Topics(np.zeros((3, 300), real), np.array([1.0, 1e-8, 1e-8]), u, s)
    ells = rng.normal(size=(3, 4))
    for _ in range(20):
        ells = topics.move(ells)
    assert topics.u.mean(axis=0) @ ells[0] < -0.1
    assert np.abs(ells[1:]).max() < 1e-5
    assert at_rest(topics, 0, ells[0])


def test_location_step_moves_the_topics_of_its_shard():
    rng = np.random.default_rng(9)
    topics, ells, out = some_topics(rng), rng.normal(size=(3, 4)), np.full((3, 4), -1.0)
    location_step(TopicShard(*(array[1:2] for array in (topics.tokens, topics.a0, ells, out))), topics.documents)
    np.testing.assert_array_equal(out[1], topics.move(ells)[1])
    assert (out[[0, 2]] == -1).all()


@each_real
def test_weights_move_their_locations_by_this_step_whatever_the_number_of_threads(real):
    rng = np.random.default_rng(10)
    topics = some_topics(rng, 50, n_topics=20, real=real, precision=4.0, scale=7.0)
    beliefs = DocumentBeliefs(np.ascontiguousarray(topics.tokens.T), topics.u, topics.s)
    sums = DocumentSums(rng.gamma(1.0, size=20), rng.gamma(10.0, size=20), 0.0, 0.0, 0.0, 0.0)
    found, ells = [], rng.normal(size=(20, 4))
    for n_jobs in (1, 2):
        weights = LocatedWeights(StickWeights(20, (1.0, 1e-3), (1.0, 1e-3)), ells, 0.25)
        with Threads(n_jobs) as threads:
            weights.update(sums, beliefs, 0.3, 7.0, threads)
        found.append(weights)
    np.testing.assert_array_equal(found[0].locations, found[1].locations)
    topics.a0 = found[0].a0
    np.testing.assert_allclose(found[0].locations, 0.7 * ells + 0.3 * topics.move(ells), rtol=1e-12)
