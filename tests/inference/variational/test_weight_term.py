"""The weights' term of the bound against SciPy, and where it turns to a series."""

import numpy as np
import pytest
from scipy.special import digamma, gammaln, polygamma
from twins import each_real

from diln.inference.variational.document_step import (
    SMALL,
    log_gamma_derivatives,
    weight_term,
    weight_terms,
)

A0 = np.array([1e-8, 1e-6, 1e-4, 1e-2, 0.1, 0.5, 1.0, 1.46, 3.0, 10.0, 100.0, 1e4])


def weight_term_of(a0, n, tables):
    size = a0.size
    work = np.full((5, size), np.nan)
    used, bits = np.empty(size, np.int64), work[3:].view(np.int64)
    return weight_term(a0, log_gamma_derivatives(a0), n, tables, used, work, bits)


def one_by_one(a0, n):
    """Value and tables of weight_term, a topic at a time."""
    values, tables = np.empty(a0.size), np.zeros((a0.size, 1))
    for k in range(a0.size):
        values[k] = weight_term_of(a0[k : k + 1], n[k : k + 1], tables[k])
    return values, tables[:, 0]


def series(a0, n):
    """What weight_term gives, to five terms of the series in n: for n well below a0."""
    psi = [digamma(a0), *(polygamma(i, a0) for i in range(1, 5))]
    value = n * (psi[0] + n * (psi[1] / 2 + n * (psi[2] / 6 + n * (psi[3] / 24 + n * psi[4] / 120))))
    return value, a0 * n * (psi[1] + n * (psi[2] / 2 + n * (psi[3] / 6 + n * psi[4] / 24)))


@pytest.mark.parametrize("n_over_a0", [SMALL, 0.1, 1.0, 1e3, 1e8])
def test_weight_term_is_scipys_where_n_is_not_small(n_over_a0):
    n = A0 * n_over_a0
    values, tables = one_by_one(A0, n)
    right = gammaln(A0 + n) - gammaln(A0)
    assert (np.abs(values - right) <= 1e-13 * (1 + np.abs(gammaln(A0 + n)) + np.abs(gammaln(A0)))).all()
    tabled = A0 * (digamma(A0 + n) - digamma(A0))
    np.testing.assert_allclose(tables, tabled, rtol=0, atol=1e-13 * (1 + A0 * np.log(1 + A0 + n)).max())


@pytest.mark.parametrize("share", [0.0, 1e-6, 1e-3, 0.1, 0.5, 0.999])
def test_weight_term_is_close_in_nats_where_n_is_small(share):
    """The series' third term, n^3 digamma''(a0) / 6, is below max(1, a0) SMALL^3 / 2."""
    n = A0 * SMALL * share
    values, _ = one_by_one(A0, n)
    right, _ = series(A0, n)
    assert (np.abs(values - right) <= 5e-10 * np.maximum(1, A0)).all()


@pytest.mark.parametrize("share", [1e-6, 1e-3, 0.1, 0.5, 0.999])
def test_tables_are_right_to_a_millionth_where_n_is_small(share):
    n = A0 * SMALL * share
    _, tables = one_by_one(A0, n)
    np.testing.assert_allclose(tables, series(A0, n)[1], rtol=1.1e-6)


def test_weight_term_does_not_jump_where_it_turns_to_the_series():
    above, below = A0 * SMALL, np.nextafter(A0 * SMALL, 0)
    assert (below < SMALL * A0).all()
    jump = np.abs(one_by_one(A0, below)[0] - one_by_one(A0, above)[0])
    assert (jump <= 5e-10 * np.maximum(1, A0) + 1e-13 * np.abs(gammaln(A0))).all()


def test_tables_do_not_jump_where_they_turn_to_the_series():
    above, below = A0 * SMALL, np.nextafter(A0 * SMALL, 0)
    np.testing.assert_allclose(one_by_one(A0, below)[1], one_by_one(A0, above)[1], rtol=1.1e-6)


@each_real
@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 50])
def test_weight_term_sums_over_topics_and_adds_to_the_tables(real, size):
    """Topics of small n and of large n, in any order."""
    rng = np.random.default_rng(size)
    a0 = rng.gamma(1.0, size=size) * 0.01 + 1e-4
    n = (a0 * 10.0 ** rng.uniform(-6, 3, size)).astype(real)
    tables, exact = np.ones(size), n.astype(np.float64)
    small = exact < SMALL * a0
    assert small.any() or size < 7
    value = weight_term_of(a0, n, tables)
    by_series = series(a0, exact)
    values = np.where(small, by_series[0], gammaln(a0 + exact) - gammaln(a0))
    assert value == pytest.approx(values.sum(), rel=1e-12, abs=4e-10 * size)
    right = np.where(small, by_series[1], a0 * (digamma(a0 + exact) - digamma(a0)))
    np.testing.assert_allclose(tables, 1 + right, rtol=1e-8)


@each_real
def test_weight_terms_sum_over_documents(real):
    rng = np.random.default_rng(8)
    a0, tokens = rng.gamma(1.0, size=13) + 0.05, rng.gamma(0.5, 4.0, size=(9, 13)).astype(real) + real(0.1)
    right = gammaln(a0 + tokens.astype(np.float64)) - gammaln(a0)
    for first, last in ((0, 9), (3, 7), (4, 4)):
        value = weight_terms(a0, log_gamma_derivatives(a0), tokens[first:last])
        assert value == pytest.approx(right[first:last].sum(), rel=1e-12)
