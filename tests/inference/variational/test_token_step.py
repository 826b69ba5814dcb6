"""The token step, and the words' term of the bound, against their NumPy lines."""

import numpy as np
import pytest
from twins import each_real, token_twin

from diln.inference.variational.document_step import (
    token_step,
    word_term,
)


def assert_token_step(indices, counts, first, last, topics, theta):
    """Sums of positive numbers: the relative error is a few roundings for each summand."""
    n, ratio = np.full(theta.size, np.nan, theta.dtype), np.full(len(indices), -1, theta.dtype)
    token_step(indices, counts, first, last, topics, theta, n, ratio)
    right_n, right_ratio = token_twin(topics[indices[first:last]], counts[first:last], theta)
    tolerance = 5e-6 if theta.dtype == np.float32 else 1e-14
    np.testing.assert_allclose(ratio[first:last], right_ratio, rtol=tolerance)
    np.testing.assert_allclose(n, right_n, rtol=tolerance)
    assert n.sum(dtype=np.float64) == pytest.approx(counts[first:last].sum(), rel=tolerance)
    assert (np.delete(ratio, slice(first, last)) == -1).all()


@each_real
@pytest.mark.parametrize("n_topics", [1, 2, 7, 8, 37, 200])
@pytest.mark.parametrize("n_terms", range(10))
def test_token_step_is_its_numpy_line(real, n_topics, n_terms):
    rng = np.random.default_rng(n_terms)
    topics, theta = rng.gamma(0.5, size=(30, n_topics)).astype(real) + real(1e-6), rng.gamma(0.5, size=n_topics)
    indices, counts = rng.permutation(30)[:15].astype(np.int32), rng.integers(1, 9, 15).astype(np.float32)
    assert_token_step(indices, counts, 3, 3 + n_terms, topics, theta.astype(real))


@each_real
@pytest.mark.parametrize(
    ("topic_scale", "weight_scale"), [(1, 1e-30), (1, 1e30), (1e-30, 1), (1e-30, 1e8), (1e-16, 1e-16), (1e-8, 1e8)]
)
def test_token_step_holds_at_tiny_and_huge_weights(real, topic_scale, weight_scale):
    rng = np.random.default_rng(5)
    topics = (rng.uniform(0.5, 1, size=(30, 37)) * topic_scale).astype(real)
    theta = (rng.uniform(0.5, 1, size=37) * weight_scale).astype(real)
    indices, counts = rng.permutation(30)[:9].astype(np.int32), rng.integers(1, 9, 9).astype(np.float32)
    assert_token_step(indices, counts, 0, 9, topics, theta)


@each_real
def test_token_step_holds_where_weights_of_one_document_differ_by_many_orders(real):
    rng = np.random.default_rng(6)
    topics = (10.0 ** rng.uniform(-12, 0, size=(30, 37))).astype(real)
    theta = (10.0 ** rng.uniform(-18, 3, size=37)).astype(real)
    theta[::5] = 0
    indices, counts = np.arange(30, dtype=np.int32), np.ones(30, np.float32)
    assert_token_step(indices, counts, 0, 30, topics, theta)


@each_real
def test_word_term_is_its_numpy_line(real):
    rng = np.random.default_rng(7)
    for n_terms in (0, 1, 2, 50):
        theta, rows = (10.0 ** rng.uniform(-20, 3, 37)).astype(real), rng.gamma(1.0, size=(n_terms, 37))
        theta[::5] = 0
        counts = rng.integers(1, 1_000, n_terms).astype(np.float32)
        n, ratio = (part.astype(real) for part in token_twin(rows, counts, theta))
        used = n > 0
        pieces = counts * np.log(counts / ratio.astype(np.float64)), n[used] * np.log(theta[used].astype(np.float64))
        size = 1 + sum(np.abs(piece).sum() for piece in pieces)
        tolerance = 1e-14 if real is np.float64 else 1e-6
        value = word_term(counts, 0, n_terms, ratio, theta, n)
        assert abs(value - (pieces[0].sum() - pieces[1].sum())) <= tolerance * size
