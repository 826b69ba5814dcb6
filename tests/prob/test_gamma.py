"""The gamma function's relatives against scipy's, from the least numbers they know to huge ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from diln.prob.gamma import exp_digamma, log_gamma_digamma, log_in_place, sigmoid_softplus, steps_down

LEAST = {np.float32: 0.0133, np.float64: 0.00144}  # about where exp(digamma) leaves the numbers of the type
WHOLE = {np.float32: np.int32, np.float64: np.int64}
# Type of the argument and of the result, as the document step and the topic step use them.
KINDS = [(np.float32, np.float32), (np.float64, np.float32), (np.float64, np.float64)]

each_kind = pytest.mark.parametrize(("given_as", "real"), KINDS, ids=lambda kind: kind.__name__)


def exp_digamma_of(a, real, lift=0.0):
    out, bits = np.full(a.size, np.nan, real), np.empty(a.size, WHOLE[real])
    exp_digamma(a, lift, out, bits, bits.view(real), a.size)
    return out


def assert_exp_digamma(a, real):
    """Close to scipy's at the value that the type can hold.

    Rounding of digamma, about -1/a, is a relative error of its exponential: hence 1 + 1/a. In double precision the
    series round z = a + 7.5 ends at 2e-11.
    """
    seen = a.astype(real).astype(np.float64)
    right = np.exp(special.digamma(seen))
    error = np.abs(exp_digamma_of(a, real) / right - 1)
    allowed = 4 * np.finfo(np.float32).eps * (1 + 1 / seen) if real is np.float32 else np.full(a.size, 2e-11)
    assert (error <= allowed).all(), seen[(error / allowed).argmax()]


@each_kind
def test_exp_digamma_is_scipys_from_the_least_value_to_huge_ones(given_as, real):
    a = np.geomspace(LEAST[real] * 1.0001, 1e8, 20_011).astype(given_as)
    assert_exp_digamma(a, real)


@each_kind
def test_exp_digamma_of_a_huge_value_is_the_value_less_a_half(given_as, real):
    a = np.array([1e8, 1e9, 1e10, 1e12, 1e13, 1e20, 1e30, 1e38], given_as)
    np.testing.assert_allclose(exp_digamma_of(a, real), a - 0.5, rtol=2 * np.finfo(real).eps)


@each_kind
def test_exp_digamma_is_zero_below_the_least_value_and_only_there(given_as, real):
    below = np.array([0.0, 1e-300, 1e-30, 1e-8, 1e-3, LEAST[real] * 0.9], given_as)
    assert (exp_digamma_of(below, real) == 0).all()
    above = np.array([LEAST[real] * 1.01], given_as)
    assert exp_digamma_of(above, real)[0] > np.finfo(real).tiny


@each_kind
def test_a_lift_keeps_the_largest_of_small_values(given_as, real):
    for largest in (2e-5, 1e-3, 0.01, 0.3, 5.0, 1e4):
        a = largest * np.array([1.0, 0.9, 0.5, 0.1], given_as)
        lift = steps_down(largest)
        assert lift == pytest.approx(special.digamma(largest + 8) - special.digamma(largest))
        found, right = exp_digamma_of(a, real, lift), np.exp(special.digamma(a.astype(np.float64)) + lift)
        exact = 4 * np.finfo(real).eps * (1 + 10 / a) + 2e-11
        assert (np.abs(found - right) <= exact * right + 1e-30).all()
        assert found[0] > 1


@each_kind
def test_exp_digamma_fills_as_many_as_told_and_no_more(given_as, real):
    for size in range(41):
        a = np.random.default_rng(size).gamma(1.0, 3.0, 41).astype(given_as) + LEAST[real] * 2
        out, bits = np.full(41, -1, real), np.empty(41, WHOLE[real])
        exp_digamma(a, 0.0, out, bits, bits.view(real), size)
        right = np.exp(special.digamma(a[:size].astype(np.float64)))
        np.testing.assert_allclose(out[:size], right, rtol=1e-4 if real is np.float32 else 2e-11)
        assert (out[size:] == -1).all()


@settings(deadline=None, max_examples=200, derandomize=True)
@given(st.lists(st.floats(0.0135, 1e8), min_size=1, max_size=20))
def test_exp_digamma_is_scipys_wherever_it_is_asked(values):
    for given_as, real in KINDS:
        assert_exp_digamma(np.array(values, given_as), real)


def gates_of(psi):
    sigma, soft, bits = np.full(psi.size, np.nan), np.full(psi.size, np.nan), np.empty(psi.size, np.int64)
    sigmoid_softplus(psi, sigma, soft, bits, bits.view(np.float64), psi.size)
    return sigma, soft


def test_sigmoid_and_softplus_are_scipys_to_the_last_digits():
    psi = np.concatenate([np.linspace(-700, 700, 40_001), np.linspace(-40, 40, 40_001), np.geomspace(1e-300, 1, 99)])
    sigma, soft = gates_of(psi)
    np.testing.assert_allclose(sigma, special.expit(psi), rtol=1e-13)
    np.testing.assert_allclose(soft, np.logaddexp(0, psi), rtol=1e-13)


def test_sigmoid_and_softplus_go_to_their_limits_far_out():
    psi = np.array([-1e4, -5e3, -745.0, -701.0, 701.0, 745.0, 5e3, 1e4])
    sigma, soft = gates_of(psi)
    np.testing.assert_allclose(sigma, special.expit(psi), rtol=1e-15, atol=1e-300)
    np.testing.assert_allclose(soft, np.logaddexp(0, psi), rtol=1e-15, atol=1e-300)


@settings(deadline=None, max_examples=200, derandomize=True)
@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=20))
def test_sigmoid_and_softplus_are_finite_and_in_range_wherever_they_are_asked(values):
    psi = np.array(values)
    sigma, soft = gates_of(psi)
    assert ((sigma >= 0) & (sigma <= 1)).all()
    assert (soft >= np.maximum(psi, 0)).all()
    np.testing.assert_allclose(sigma, special.expit(psi), rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(soft, np.logaddexp(0, psi), rtol=1e-13, atol=1e-300)


def test_sigmoid_and_softplus_fill_as_many_as_told_and_no_more():
    for size in range(13):
        psi = np.linspace(-3, 3, 13)
        sigma, soft, bits = np.full(13, -1.0), np.full(13, -1.0), np.empty(13, np.int64)
        sigmoid_softplus(psi, sigma, soft, bits, bits.view(np.float64), size)
        np.testing.assert_allclose(sigma[:size], special.expit(psi[:size]), rtol=1e-14)
        np.testing.assert_allclose(soft[:size], np.logaddexp(0, psi[:size]), rtol=1e-13)
        assert (sigma[size:] == -1).all()
        assert (soft[size:] == -1).all()


def log_of(x, size=None):
    found = x.copy()
    log_in_place(found, found.view(np.int64), x.size if size is None else size)
    return found


def test_logarithms_are_numpys_wherever_doubles_are():
    x = np.concatenate(
        [np.geomspace(3e-308, 1e308, 40_001), np.linspace(0.5, 2, 40_001), 2.0 ** np.arange(-1000, 1000)]
    )
    assert np.abs(log_of(x) - np.log(x)).max() <= 2.3e-13
    near = np.abs(np.log(x)) < 100
    assert (np.abs(log_of(x) - np.log(x))[near] <= 4e-16 + 4e-16 * np.abs(np.log(x[near]))).all()


def test_logarithms_near_one_are_as_exact_as_the_number_is():
    x = 1 + np.concatenate([-np.geomspace(1e-15, 0.2, 301), np.geomspace(1e-15, 0.4, 301)])
    np.testing.assert_allclose(log_of(x), np.log(x), rtol=4e-16 * 2)
    assert log_of(np.ones(1))[0] == 0


def test_logarithms_replace_as_many_as_told_and_no_more():
    for size in range(13):
        x = np.linspace(0.1, 9, 13)
        found = log_of(x, size)
        np.testing.assert_allclose(found[:size], np.log(x[:size]), rtol=1e-14)
        np.testing.assert_array_equal(found[size:], x[size:])


def gammas_of(a, size=None):
    size = a.size if size is None else size
    gammas, digammas, scratch = np.full(a.size, np.nan), np.full(a.size, np.nan), np.empty((2, a.size))
    log_gamma_digamma(a, gammas, digammas, scratch, scratch.view(np.int64), size)
    return gammas, digammas


def assert_close_beside_one(values, right, tolerance):
    """Relative where the function is large, absolute near its roots."""
    assert (np.abs(values - right) <= tolerance * np.maximum(1, np.abs(right))).all()


def test_log_gamma_and_digamma_are_scipys():
    a = np.concatenate([np.geomspace(1e-8, 1e8, 40_001), np.linspace(0.5, 12, 5_001), np.nextafter(1, [0, 2])])
    gammas, digammas = gammas_of(a)
    assert_close_beside_one(gammas, special.gammaln(a), 2e-14)
    assert_close_beside_one(digammas, special.digamma(a), 5e-15)


def test_log_gamma_and_digamma_are_scipys_at_tiny_and_huge_values():
    a = np.array([1e-300, 1e-100, 1e-30, 1e-12, 1e12, 1e20, 1e30])
    gammas, digammas = gammas_of(a)
    np.testing.assert_allclose(gammas, special.gammaln(a), rtol=1e-14)
    np.testing.assert_allclose(digammas, special.digamma(a), rtol=1e-14)


def test_log_gamma_and_digamma_fill_as_many_as_told_and_no_more():
    a = np.random.default_rng(1).gamma(1.0, 3.0, 21) + 0.01
    for size in range(22):
        gammas, digammas = gammas_of(a, size)
        assert_close_beside_one(gammas[:size], special.gammaln(a[:size]), 2e-14)
        assert_close_beside_one(digammas[:size], special.digamma(a[:size]), 5e-15)
        assert np.isnan(gammas[size:]).all()
        assert np.isnan(digammas[size:]).all()


@settings(deadline=None, max_examples=200, derandomize=True)
@given(st.floats(1e-8, 1e6))
def test_log_gamma_and_digamma_step_by_their_recurrences(x):
    """ln Gamma(x + 1) = ln Gamma(x) + ln x, digamma(x + 1) = digamma(x) + 1/x."""
    gammas, digammas = gammas_of(np.array([x, x + 1]))
    size = max(1, 1 / x, x * np.log(x + 1))
    assert gammas[1] == pytest.approx(gammas[0] + np.log(x), rel=0, abs=1e-14 * size)
    assert digammas[1] == pytest.approx(digammas[0] + 1 / x, rel=0, abs=1e-14 * size)
