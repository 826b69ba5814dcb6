"""Lifts of proportions: moments are those of drawn documents, and what is by chance has a lift of 1."""

import numpy as np
import pytest

from diln import simulate
from diln.inference.lifts import POINTS, Moments, even_points, gated_moments, log_lifts, roots_of, softmax_moments

DRAWN = 200_000


def places(size, n_dims, seed=0, scale=1.0):
    return scale * np.random.default_rng(seed).standard_normal((size, n_dims))


def pairs(matrix):
    return matrix[np.triu_indices(len(matrix), k=1)]


def moments_of(theta):
    return Moments(theta.mean(axis=0), theta.T @ theta / len(theta))


@pytest.mark.parametrize("beta", [0.4, 3.0, 40.0])
def test_moments_are_those_of_drawn_documents(beta):
    p, ell = np.random.default_rng(1).dirichlet(np.full(6, 2.0)), places(6, 3)
    drawn = simulate.diln_weights(p, ell, DRAWN, beta=beta, rng=2).doc_topics
    expected, found = moments_of(drawn), gated_moments(beta * p, ell)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=0.02)
    np.testing.assert_allclose(found.products, expected.products, rtol=0.05)
    np.testing.assert_allclose(log_lifts(found), log_lifts(expected), atol=0.05)


def test_moments_of_log_weights_are_those_of_drawn_documents():
    mean, root = np.linspace(-1, 1, 5), places(5, 5, scale=0.6)
    drawn = simulate.ctm_weights(mean, root @ root.T, DRAWN, rng=3).doc_topics
    expected, found = moments_of(drawn), softmax_moments(mean, root)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=0.02)
    np.testing.assert_allclose(found.products, expected.products, rtol=0.06)


def test_a_documents_proportions_sum_to_one():
    for found in (
        gated_moments(np.linspace(0.01, 2, 30), places(30, 4)),
        softmax_moments(np.zeros(30), places(30, 30, scale=0.2)),
    ):
        assert found.mean.sum() == pytest.approx(1)
        np.testing.assert_allclose(found.products.sum(axis=1), found.mean, rtol=0.1)
        assert found.products.sum() == pytest.approx(1, rel=0.01)


@pytest.mark.parametrize("size", [1, 2, 3, 12])
def test_without_locations_all_lifts_are_one(size):
    a0 = np.linspace(0.02, 3, size)
    found = gated_moments(a0, np.zeros((size, 2)))
    np.testing.assert_allclose(found.mean, a0 / a0.sum(), rtol=1e-9)
    dirichlet = (np.outer(a0, a0) + np.diag(a0)) / (a0.sum() * (a0.sum() + 1))
    np.testing.assert_allclose(found.products, dirichlet, rtol=2e-3)
    assert (pairs(log_lifts(found)) == 0).all()


def test_a_shift_of_all_locations_changes_no_lift():
    a0, ell = np.full(10, 0.3), places(10, 2)
    shifted = log_lifts(gated_moments(a0, ell + np.array([1.5, -1.0])))
    np.testing.assert_allclose(shifted, log_lifts(gated_moments(a0, ell)), atol=0.05)


def test_by_chance_is_what_keeps_each_topic_with_all_others_as_often():
    found = gated_moments(np.linspace(0.1, 1, 9), places(9, 3))
    expected = np.exp(log_lifts(found))
    chances = found.products / expected
    for matrix in (chances, found.products):
        np.fill_diagonal(matrix, 0)
    np.testing.assert_allclose(chances.sum(axis=1), found.products.sum(axis=1), rtol=1e-6)
    np.testing.assert_allclose(chances[0, 1] * chances[2, 3], chances[0, 3] * chances[1, 2], rtol=1e-9)


@pytest.mark.parametrize("beta", [3.0, 12.0])
@pytest.mark.parametrize("apart", [0, 6])
def test_signs_are_those_of_strong_correlations_and_independent_pairs_are_near_one(beta, apart):
    for seed in range(8):
        ell = places(12, 3, seed)
        ell[:apart] = 0
        ell[apart:] -= ell[apart:].mean(axis=0)
        lengths = np.maximum(np.linalg.norm(ell, axis=1), 1e-9)
        cosines = pairs(ell @ ell.T / np.outer(lengths, lengths))
        found = pairs(log_lifts(gated_moments(np.full(12, beta / 12), ell)))
        strong = np.abs(cosines) > 0.5
        assert (np.sign(found) == np.sign(cosines))[strong].all()
        if apart:
            assert np.abs(found[cosines == 0]).mean() < 0.25 * np.abs(found[strong]).mean()


def test_lifts_are_small_where_weights_lifts_are_absurd():
    ell = places(40, 5, scale=1.5)
    assert pairs(ell @ ell.T).max() > 10
    found = log_lifts(gated_moments(np.full(40, 0.2), ell))
    assert 1 < pairs(found).max() < np.log(40)


@pytest.mark.parametrize("a0", [0.0, 1e-300, 1e-8, 1e-3, 1e4])
def test_lifts_are_finite_whatever_the_weights(a0):
    ell = places(20, 4, scale=4.0)
    even = gated_moments(np.full(20, a0), ell)
    uneven = gated_moments(np.r_[np.full(10, a0), np.ones(10)], ell)
    for found in (even, uneven):
        assert np.isfinite(found.mean).all()
        assert np.isfinite(log_lifts(found)).all()


def test_roots_give_a_covariance_back_and_the_nearest_of_fewer_dimensions():
    ell = places(12, 4)
    roots = roots_of(ell @ ell.T, 4)
    assert roots.shape == (12, 4)
    np.testing.assert_allclose(roots @ roots.T, ell @ ell.T, atol=1e-10)
    left, sizes, _ = np.linalg.svd(ell, full_matrices=False)
    nearest = (left[:, :2] * sizes[:2] ** 2) @ left[:, :2].T
    np.testing.assert_allclose(roots_of(ell @ ell.T, 2) @ roots_of(ell @ ell.T, 2).T, nearest, atol=1e-10)
    assert roots_of(np.eye(3), 7).shape == (3, 3)


def test_points_fill_the_cube_evenly():
    found = even_points(3)
    assert found.shape == (POINTS, 3)
    for column in found.T:
        np.testing.assert_allclose(np.sort(column), (np.arange(POINTS) + 0.5) / POINTS)
