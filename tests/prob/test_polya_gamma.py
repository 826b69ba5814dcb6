"""Polya-Gamma numbers against their Laplace transform, and the terms of a gate against scipy's."""

import platform
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llvmlite import binding as llvm
from numba import float32, int32, int64, njit, uint64
from scipy import special

from diln.prob.polya_gamma import FAR, _moments, _parts, draw_matched, draw_polya_gamma, gate_terms
from diln.prob.streams import key_of

FLOATS, WHOLES = float32[::1], int32[::1]
LEAST = float(np.exp(np.float64(-87)))  # where sigma and soft stop to fall


def terms_of(psi, size=None):
    psi = np.asarray(psi, np.float32)
    sigma, soft, omega = (np.full(psi.size, -1, np.float32) for _ in range(3))
    bits = np.empty(psi.size, np.int32)
    gate_terms(psi, sigma, soft, omega, bits, bits.view(np.float32), psi.size if size is None else size)
    return sigma, soft, omega


def twin(psi):
    """The same in double precision, at the numbers that single precision can hold."""
    psi = np.asarray(psi, np.float32).astype(np.float64)
    y = np.maximum(np.abs(psi), 1e-30)
    return special.expit(psi), np.logaddexp(0, psi), np.tanh(y / 2) / (2 * y)


def assert_terms(psi, rtol=5e-7):
    for found, right in zip(terms_of(psi), twin(psi), strict=True):
        np.testing.assert_allclose(found, np.maximum(right, LEAST), rtol=rtol)


def test_gate_terms_are_scipys_at_ordinary_values():
    assert_terms(np.linspace(-86.9, 86.9, 200_003))
    assert_terms(np.linspace(-3, 3, 200_003))


def test_gate_terms_are_scipys_at_tiny_values():
    tiny = np.geomspace(1e-44, 1, 5_001)
    assert_terms(np.concatenate([tiny, -tiny, [0.0, -0.0]]))
    assert terms_of([0.0])[2][0] == 0.25


def test_gate_terms_are_scipys_or_at_their_limit_at_huge_values():
    huge = np.geomspace(80, 1e4, 5_001)
    assert_terms(np.concatenate([huge, -huge]), rtol=5e-7)
    assert all((term > 0).all() for term in terms_of([-1e4, -88.0, -87.0]))


@settings(deadline=None, max_examples=200, derandomize=True)
@given(st.lists(st.floats(-1e4, 1e4, width=32), min_size=1, max_size=40))
def test_gate_terms_are_scipys_wherever_they_are_asked(values):
    assert_terms(values)


def test_gate_terms_fill_as_many_as_told_and_no_more():
    psi = np.linspace(-4, 4, 41)
    for size in range(42):
        for found, right in zip(terms_of(psi, size), twin(psi), strict=True):
            np.testing.assert_allclose(found[:size], right[:size], rtol=5e-7)
            assert (found[size:] == -1).all()


def has_vectors():
    features = llvm.get_host_cpu_features() if platform.machine().lower() in ("x86_64", "amd64") else {}
    return features.get("avx2", False) and features.get("fma", False)


def assembly_of(loop, signature):
    """Compiled anew: numba shows no assembly of what it read from its cache."""
    options = {key: loop.targetoptions[key] for key in ("nogil", "fastmath", "error_model")}
    fresh = njit(**options)(loop.py_func)
    fresh.compile(signature)
    (assembly,) = fresh.inspect_asm().values()
    return assembly


@pytest.mark.skipif(not has_vectors(), reason="a processor with AVX2 and FMA is needed")
def test_gate_terms_are_computed_on_all_lanes():
    assembly = assembly_of(gate_terms, (FLOATS,) * 4 + (WHOLES, FLOATS, int64))
    register = "[yz]mm"
    for instruction in ("vfn?m(add|sub)\\d+ps", "vdivps", "vcvttps2dq", "vpslld"):
        assert re.search(rf"\b{instruction}\b.*{register}", assembly), instruction
    assert not re.search(r"\bv?(div|add|mul)[ps]d\b", assembly)
    assert "expf" not in assembly


@pytest.mark.skipif(not has_vectors(), reason="a processor with AVX2 and FMA is needed")
def test_matched_draws_are_made_on_all_lanes():
    assembly = assembly_of(draw_matched, (uint64, *(FLOATS,) * 6, WHOLES, FLOATS, int64))
    for instruction in ("vsqrtps", "vdivps", "vpmulld", "vcvtdq2ps", "vpsrld"):
        assert re.search(rf"\b{instruction}\b.*[yz]mm", assembly), instruction
    assert not re.search(r"\bv?(div|add|mul)[ps]d\b", assembly)
    assert "logf" not in assembly


def log_laplace(t, psi):
    """ln E exp(-t w) of PG(1, psi): ln cosh(psi/2) - ln cosh(sqrt((psi^2/2 + t)/2)), for complex t, too."""

    def log_cosh_twice(x):
        return x + np.log1p(np.exp(-2 * x))

    return log_cosh_twice(psi / 2) - log_cosh_twice(np.sqrt((psi**2 / 2 + t) / 2))


def log_laplace_as_drawn(t, psi):
    """The same of the law that is drawn from: gamma numbers, and an inverse Gaussian one for the rest."""
    scales, mean, variance = (part.squeeze(-1) for part in _parts(np.array([psi])))
    gammas = -np.log1p(np.multiply.outer(t, scales)).sum(axis=-1)
    return gammas + mean**2 / variance * (1 - np.sqrt(1 + 2 * variance * t / mean))


def moments(psi):
    """Mean and variance of PG(1, psi) by summing its terms, all but the last 1e-13 of the variance."""
    places = np.pi * (np.arange(20_000) + 0.5)
    variance = (0.25 / (places**2 + psi**2 / 4) ** 2).sum()
    return (0.5 * np.tanh(psi / 2) / psi if psi else 0.25), variance


@pytest.mark.parametrize("psi", [0.0, 1e-9, 1e-3, 0.0199, 0.0201, 0.3, 3.0, 12.0, 15.9])
def test_the_rest_of_the_sum_has_its_mean_and_variance(psi):
    mean, variance = moments(psi)
    np.testing.assert_allclose(np.ravel(_moments(np.array([psi]))), [mean, variance], rtol=1e-11)
    places = np.pi * (np.arange(24, 400_000) + 0.5)
    rest = 0.5 / (places**2 + psi**2 / 4)
    _, mean, variance = (part.squeeze(-1) for part in _parts(np.array([psi])))
    assert mean == pytest.approx(rest.sum() + 0.5 / np.pi**2 / 400_000, rel=1e-9)
    assert variance == pytest.approx((rest**2).sum(), rel=1e-5)


@pytest.mark.parametrize("psi", [0.0, 0.5, 3.0, 12.0, 15.99])
def test_the_law_that_is_drawn_from_is_the_true_one(psi):
    """Distances of the distribution functions, by inverting the difference of the transforms."""
    for shape, allowed in ((0.01, 0.017), (0.1, 1.1e-4), (0.5, 6e-7), (1.0, 2e-7), (5.0, 2e-7)):
        mean = shape * moments(psi)[0]
        t = np.geomspace(1e-3, 1e6, 20_001) / mean
        true, drawn = (np.exp(shape * law(-1j * t, psi)) for law in (log_laplace, log_laplace_as_drawn))
        values = mean * np.geomspace(1e-4, 30, 61)
        waves = np.exp(-1j * np.multiply.outer(values, t)) * (true - drawn)
        error = np.abs(np.trapezoid(waves.imag, np.log(t), axis=1)) / np.pi
        assert error.max() < allowed
        near = np.geomspace(1e-3, 10, 100) / moments(psi)[0]  # what numbers about the mean and beyond decide
        true, drawn = (np.exp(shape * law(near, psi)) for law in (log_laplace, log_laplace_as_drawn))
        np.testing.assert_allclose(drawn, true, rtol=0, atol=1e-6)


def test_far_out_the_law_is_inverse_gaussian():
    t = np.geomspace(1e-3, 1e3, 100) * FAR
    far = 2 * 0.25 * FAR * (1 - np.sqrt(1 + 2 * t / FAR**2))  # mean 1/(2 FAR), scale 1/4
    np.testing.assert_allclose(far, log_laplace(t, FAR), rtol=0, atol=2e-7)


SHAPES = [0.01, 0.1, 0.5, 1.0, 1.7, 5.0, 60.0]
MANY = 40_000


@pytest.mark.parametrize("psi", [0.0, 0.5, -3.0, 12.0, -25.0, 300.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_draws_have_the_mean_the_variance_and_the_laplace_transform(shape, psi):
    """Within four and a half Monte Carlo errors; at shape 0.01 that is about 20 percent of the mean, at 60 0.1 percent.

    The errors are those of the true law, from its cumulants: in rare events a sample underrates its own.
    """
    drawn = draw_polya_gamma(np.full(MANY, shape), psi, np.random.default_rng([int(shape * 100), int(abs(psi))]))
    scales = 0.5 / ((np.pi * (np.arange(20_000) + 0.5)) ** 2 + psi**2 / 4)
    mean = shape * moments(abs(psi))[0]
    variance, fourth = shape * (scales**2).sum(), 6 * shape * (scales**4).sum()
    assert abs(drawn.mean() - mean) < 4.5 * np.sqrt(variance / MANY)
    if shape >= 0.1:
        assert abs(drawn.var() - variance) < 4.5 * np.sqrt((fourth + 2 * variance**2) / MANY)
    for t in np.array([0.2, 1.0, 5.0]) / max(mean, 0.1 * np.sqrt(variance)):
        once, twice = np.exp(shape * log_laplace(np.array([t, 2 * t]), abs(psi)))
        assert abs(np.exp(-t * drawn).mean() - once) < 4.5 * np.sqrt((twice - once**2) / MANY) + 1e-6


def test_draws_broadcast_and_come_from_the_generator_alone():
    shape, psi = np.array([[0.3], [7.0]]), np.array([-20.0, 0.0, 2.0])
    first, second = (draw_polya_gamma(shape, psi, np.random.default_rng(1)) for _ in range(2))
    assert first.shape == (2, 3)
    assert (first > 0).all()
    np.testing.assert_array_equal(first, second)
    assert draw_polya_gamma(1.0, 0.0, np.random.default_rng(1)).shape == ()


def test_draws_at_tiny_and_huge_shapes_are_finite():
    drawn = draw_polya_gamma(np.array([[1e-300], [1e-12], [1e9]]), [0.0, 5.0, 1e4], np.random.default_rng(1))
    assert np.isfinite(drawn).all()
    assert (drawn >= 0).all()
    np.testing.assert_allclose(drawn[2], 1e9 * np.array([0.25, np.tanh(2.5) / 10, 0.5e-4]), rtol=1e-3)


@pytest.mark.parametrize("shape", [0.0, -1.0, np.nan])
def test_a_shape_that_is_not_above_zero_is_refused(shape):
    with pytest.raises(ValueError, match="must be above 0"):
        draw_polya_gamma([1.0, shape], 0.0, np.random.default_rng(1))


# Draws with the right mean and variance, in lanes


def matched(shape, psi, streams, width=1_024):
    """Matched draws (streams, width) of one shape and psi."""
    shapes, psis = (np.full(width, value, np.float32) for value in (shape, psi))
    rate, omega, chances, scale = np.empty((4, width), np.float32)
    rate[:] = terms_of(psis)[2]
    bits, out = np.empty(width, np.int32), np.empty((streams, width))
    for number in range(streams):
        state = key_of(1, number)
        draw_matched(state, shapes, psis, rate, omega, chances, scale, bits, bits.view(np.float32), width)
        out[number] = omega
    return out


def log_laplace_matched(t, shape, psi):
    """ln E exp(-t w) of the inverse Gaussian distribution with the mean and the variance of PG(shape, psi)."""
    mean, variance = moments(psi)
    return shape * mean**2 / variance * (1 - np.sqrt(1 + 2 * variance * t / mean))


@pytest.mark.parametrize("psi", [0.0, 0.5, -0.999, 1.001, -3.0, 12.0, -25.0, 300.0])
@pytest.mark.parametrize("shape", [0.05, *SHAPES[1:]])
def test_matched_draws_are_inverse_gaussian_with_the_mean_and_variance_of_polya_gamma_numbers(shape, psi):
    """Within five Monte Carlo errors, as told by the inverse Gaussian distribution's own cumulants."""
    drawn = matched(shape, psi, 200).ravel()
    mean, variance = shape * np.array(moments(abs(psi)))
    fourth = 15 * variance**3 / mean**2
    assert abs(drawn.mean() - mean) < 5 * np.sqrt(variance / drawn.size)
    assert abs(drawn.var() - variance) < 5 * np.sqrt((fourth + 2 * variance**2) / drawn.size)
    for t in np.array([0.2, 1.0, 5.0]) / max(mean, 0.1 * np.sqrt(variance)):
        once, twice = np.exp(log_laplace_matched(np.array([t, 2 * t]), shape, abs(psi)))
        assert abs(np.exp(-t * drawn).mean() - once) < 5 * np.sqrt((twice - once**2) / drawn.size) + 1e-6


def test_matched_draws_are_independent_from_place_to_place_and_from_stream_to_stream():
    drawn = np.log(matched(1.0, 0.7, 512))
    drawn -= drawn.mean()
    for one, two in ((drawn[:, 1:], drawn[:, :-1]), (drawn[1:], drawn[:-1]), (drawn[:, 16:], drawn[:, :-16])):
        assert abs((one * two).mean()) < 4.5 * drawn.var() / np.sqrt(one.size)
    each = drawn.mean(axis=0) / drawn.std() * np.sqrt(len(drawn))
    assert np.abs(each).max() < 5
    assert each.std() == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(
    ("psi", "skewness", "distance"), [(0.0, 1.25, 0.1), (1.0, 1.25, 0.1), (3.0, 1.15, 0.06), (8.0, 1.02, 0.01)]
)
def test_how_far_matched_draws_are_from_polya_gamma_numbers(psi, skewness, distance):
    """The third cumulant is a quarter too large at 0 and right far out; and distribution functions are near."""
    places = np.pi * (np.arange(20_000) + 0.5)
    mean, variance = moments(psi)
    true = 2 * ((0.5 / (places**2 + psi**2 / 4)) ** 3).sum()
    assert 1 <= 3 * variance**2 / mean / true < skewness + 1e-6
    for shape in (0.05, 0.5, 5.0):
        t = np.geomspace(1e-4, 1e7, 40_001) / (shape * mean)
        laws = np.exp(shape * log_laplace(-1j * t, psi)) - np.exp(log_laplace_matched(-1j * t, shape, psi))
        values = shape * mean * np.geomspace(1e-4, 30, 61)
        waves = np.exp(-1j * np.multiply.outer(values, t)) * laws
        assert np.abs(np.trapezoid(waves.imag, np.log(t), axis=1)).max() / np.pi < distance


def test_matched_draws_at_tiny_and_huge_shapes_are_finite():
    for shape in (0.0, 1e-20, 1e-12, 1e9):
        for psi in (0.0, 5.0, 1e4):
            drawn = matched(shape, psi, 3)
            assert np.isfinite(drawn).all()
            assert (drawn >= 0).all()
    np.testing.assert_allclose(drawn, 1e9 * 0.5e-4, rtol=1e-3)
