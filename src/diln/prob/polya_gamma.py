"""Polya-Gamma numbers (Polson, Scott and Windle, 2013), and the terms of a gate that they open."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diln.engine.compile import kernel
from diln.prob.streams import mix

LOG2E = 1.4426950408889634
# ln 2 in two parts: the first has 16 bits, so that its product with a number of 7 bits is not rounded.
LN2_HIGH = 0.693145751953125
LN2_LOW = 1.4286068203094173e-06
TERMS = 24
FAR = 16.0  # from here on exp(-psi) is next to nothing


@kernel
def gate_terms(psi, sigma, soft, omega, bits, powers, size):  # type: ignore[no-untyped-def]
    """Fill sigma with 1/(1+exp(-psi)), soft with ln(1+exp(psi)), omega with the mean of PG(1, psi): ``[:size]``.

    All in single precision and in arithmetic only, so that the loops run on all lanes. ``bits`` is scratch, 32-bit
    integers, and ``powers`` is the same memory seen as floats. Below -87, where the numbers of the type end, sigma and
    soft stay at exp(-87). Equals ``expit(psi), logaddexp(0, psi), tanh(psi/2)/(2 psi)``, the last of them 1/4 at 0.
    """
    real = np.float32
    for k in range(size):
        y = min(max(abs(psi[k]), real(1e-30)), real(87))
        # exp(-y) = 2^-j exp(r) (1 - j LN2_LOW): added to r, the small part would be merged with the large one
        j = np.int32(y * real(LOG2E) + real(0.5))
        r = real(j) * real(LN2_HIGH) - y
        tail = real(1 / 24) + r * (real(1 / 120) + r * (real(1 / 720) + r * real(1 / 5040)))
        less = r * (real(1) + r * (real(0.5) + r * (real(1 / 6) + r * tail)))
        omega[k] = less + (real(1) + less) * (real(j) * real(LN2_LOW))
        bits[k] = (np.int32(127) - j) << np.int32(23)
    for k in range(size):
        y = max(abs(psi[k]), real(1e-30))
        less = omega[k]
        small = (real(1) + less) * powers[k]  # exp(-|psi|)
        rest = -less if powers[k] == real(1) else real(1) - small  # 1 - exp(-|psi|), with all its digits
        # ln(1+x) = 2 atanh(x / (2+x)), whose series is short because x <= 1
        z = small / (real(2) + small)
        z2 = z * z
        tail = real(1 / 9) + z2 * (real(1 / 11) + z2 * (real(1 / 13) + z2 * real(1 / 15)))
        tail = real(1 / 3) + z2 * (real(1 / 5) + z2 * (real(1 / 7) + z2 * tail))
        large = real(1) / (real(1) + small)
        sigma[k] = large if psi[k] >= real(0) else small * large
        soft[k] = max(psi[k], real(0)) + real(2) * z * (real(1) + z2 * tail)
        omega[k] = real(0.5) * rest * large / y


@kernel
def scramble32(x):  # type: ignore[no-untyped-def]
    """Scramble 32 bits, one to one: for loops in lanes, which have no product of 64 bits."""
    x = np.uint32(x)
    x = np.uint32((x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D))
    x = np.uint32((x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B))
    return np.uint32(x ^ (x >> np.uint32(16)))


@kernel
def draw_matched(state, shape, psi, rate, omega, chances, scale, bits, powers, size):  # type: ignore[no-untyped-def]
    """Draw ``omega[:size]`` from inverse Gaussian distributions with the mean and the variance of PG(shape, psi).

    ``rate`` is the mean of PG(1, psi), of ``gate_terms``; ``chances``, ``scale``, and ``bits`` and ``powers``, which
    are the same memory, are scratch. All in single precision and on all lanes. Numbers are a function of ``state``, a
    stream's, and of their place.

    With r = mean^2 / variance of PG(1, psi) a number has the mean m = shape rate and the variance m^2 / (shape r)
    (Michael, Schucany and Haas, 1976): x = 1 / (1 + w + sqrt(w (w + 2))) with w = z^2 / (2 shape r), z standard normal;
    then m x with chance 1 / (1 + x), else m / x.
    """
    real = np.float32
    low = np.uint32(np.uint64(state) & np.uint64(0xFFFFFFFF))
    high = np.uint32(np.uint64(mix(state)) >> np.uint64(32))
    for k in range(size):
        one = scramble32(np.uint32(np.uint32(k) * np.uint32(0x9E3779B9) + low))
        two = scramble32(np.uint32(one ^ high))
        chances[k] = real(np.int32(two >> np.uint32(8))) * real(2.0**-24)
        powers[k] = real(np.int32(one >> np.uint32(8)) + np.int32(1))  # 2^24 u, u in (0, 1]
        turn = np.int32(np.uint32((one & np.uint32(255)) << np.uint32(8)) | (two & np.uint32(255)))
        v = (real(turn) + real(0.5)) * real(2.0**-16) - real(0.5)
        v2 = v * v
        tail = real(-1.3352628) + v2 * (real(0.23533063) - v2 * real(0.02580689))
        omega[k] = real(1) + v2 * (real(-4.934802) + v2 * (real(4.058712) + v2 * tail))  # cos(pi v)
    for k in range(size):
        above = (bits[k] >> np.int32(23)) - np.int32(127 + 24)  # u = 2^above f, f from 1 to below 2
        omega[k] *= omega[k]
        bits[k] = (bits[k] & np.int32(0x7FFFFF)) | np.int32(127 << 23)
        scale[k] = real(above)
    for k in range(size):
        # z^2 = -2 ln(u) cos(pi v)^2 (Box and Muller), ln f = 2 atanh((f - 1) / (f + 1))
        z = (powers[k] - real(1)) / (powers[k] + real(1))
        z2 = z * z
        log = z * (real(2) + z2 * (real(2 / 3) + z2 * (real(2 / 5) + z2 * (real(2 / 7) + z2 * real(2 / 9)))))
        square = omega[k] * max(real(-2) * (scale[k] * real(0.6931471805599453) + log), real(0))
        y = max(abs(psi[k]), real(1e-30))
        y2 = min(y * y, real(1))
        top = real(1 / 4) + y2 * (real(1 / 48) + y2 * (real(1 / 1440) + y2 * real(1 / 80640)))
        bottom = real(1 / 6) + y2 * (real(1 / 120) + y2 * (real(1 / 5040) + y2 * real(1 / 362880)))
        t = real(2) * y * rate[k]  # tanh(y/2)
        far = y * t * t / max(real(2) * t - y * (real(1) - t * t), real(1e-30))
        h = max(shape[k] * (top / bottom if y < real(1) else far), real(1e-12))
        w = square / (h + h)
        x = real(1) / (real(1) + w + np.sqrt(w * (w + real(2))))
        times = x if chances[k] * (real(1) + x) < real(1) else real(1) / x
        omega[k] = shape[k] * rate[k] * times


def draw_polya_gamma(shape: ArrayLike, psi: ArrayLike, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw from PG(shape, psi), for real shapes above 0; arguments broadcast.

    Nearer than ``FAR``, PG(h, psi) is an infinite sum of gamma(h) numbers. Its first ``TERMS`` are drawn, and the rest
    as one inverse Gaussian number of the same mean and variance. That leaves the mean and the variance exact, and the
    third cumulant to 1e-6. Probabilities are off by at most 6e-7 at shapes from 1/2 on, 1e-4 at 0.1 and 0.016 at 0.01,
    where it is numbers far below the mean that differ.
    Farther out cosh(x) is exp(x)/2 to 2e-7, and with that PG(h, psi) is an inverse Gaussian number itself.
    """
    h, y = np.broadcast_arrays(np.asarray(shape, np.float64), np.abs(np.asarray(psi, np.float64)))
    if not (h > 0).all():
        raise ValueError(f"the shapes of Polya-Gamma numbers must be above 0, and the least of these is {h.min()}")
    near = y < FAR
    drawn = np.empty(h.shape)
    drawn[near] = _sum_of_gammas(h[near], y[near], rng)
    drawn[~near] = _inverse_gaussian(h[~near], 0.5 / y[~near], 0.5 / y[~near] ** 3, rng)
    return drawn


def _sum_of_gammas(h: NDArray[np.float64], y: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    scales, mean, variance = _parts(y)
    total = _inverse_gaussian(h, mean, variance, rng)
    for scale in scales:
        total += scale * rng.standard_gamma(h)
    return total


def _parts(y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """What PG(1, y) is the sum of: scales (TERMS, n) of the first gamma numbers, mean and variance of the others."""
    places = np.arange(TERMS)[:, None] + 0.5
    scales = 0.5 / ((np.pi * places) ** 2 + 0.25 * y**2)
    mean, variance = _moments(y)
    return scales, mean - scales.sum(axis=0), variance - (scales**2).sum(axis=0)


def _moments(y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean tanh(y/2)/(2y) and variance (sinh(y) - y)/(4 y^3 cosh(y/2)^2) of PG(1, y), with all their digits near 0."""
    x = np.maximum(y, 0.02)
    bulge = np.where(y < x, 1 / 6 + y**2 / 120 + y**4 / 5040, (np.sinh(x) - x) / x**3)
    x = np.maximum(y, 1e-30)
    return 0.5 * np.tanh(0.5 * x) / x, 0.25 * bulge / np.cosh(0.5 * y) ** 2


def _inverse_gaussian(
    h: NDArray[np.float64], mean: NDArray[np.float64], variance: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Inverse Gaussian numbers of mean and variance h times the ones given."""
    return rng.wald(h * mean, np.maximum(h**2 * mean**3 / variance, np.finfo(np.float64).tiny))
