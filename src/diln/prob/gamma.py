"""The gamma function's relatives, for use inside compiled loops."""

import numpy as np

from diln.engine.compile import kernel

LOG2E = 1.4426950408889634
LN2 = 0.6931471805599453
HALF_LN_2PI = 0.9189385332046727


@kernel
def exp_digamma(a, lift, out, bits, powers, size):  # type: ignore[no-untyped-def]
    """Fill ``out[:size]`` with exp(digamma(a) + lift), and 0 where the type of ``out`` has no such small numbers.

    ``bits`` is scratch, integers as wide as the floats of ``out``, and ``powers`` is the same memory seen as floats.
    Arithmetic only, so that the loop runs on all lanes. Equals ``np.exp(scipy.special.digamma(a) + lift)``.

    exp(digamma(x + 8)) by its series around z = x + 7.5, then down in eight steps: digamma(x) = digamma(x+1) - 1/x.
    A lift of about 1/a of the largest a keeps that from vanishing, however small it is; see ``steps_down``.
    """
    real = out.dtype.type
    whole = bits.dtype.type
    bias, shift, most, far = whole(127), whole(23), real(80), real(1e9)
    if out.itemsize == 8:
        bias, shift, most, far = whole(1023), whole(52), real(700), real(1e75)
    for k in range(size):
        given = max(real(a[k]), real(1e-6))
        x = min(given, far)  # from where on the steps down are lost in rounding, and soon their parts are infinite
        x4 = x + real(4)
        p = x * (x + real(1))
        q = (x + real(2)) * (x + real(3))
        p4 = x4 * (x4 + real(1))
        q4 = (x4 + real(2)) * (x4 + real(3))
        down = ((real(2) * x + real(1)) * q + (real(2) * x + real(5)) * p) / (p * q)
        down += ((real(2) * x4 + real(1)) * q4 + (real(2) * x4 + real(5)) * p4) / (p4 * q4)
        down -= real(lift)
        z = given + real(7.5)
        v = real(1) / z
        v2 = v * v
        top = real(10313 / 2903040) - v2 * real(5509121 / 1393459200)
        top = z + v * (real(1 / 24) - v2 * (real(37 / 5760) - v2 * top))
        # exp(-down) = 2^-j exp(r), |r| <= about ln(2)/2
        gone = down > most
        down = real(0) if gone else down
        j = np.int32(down * real(LOG2E) + real(0.5))
        r = real(j) * real(LN2) - down
        tail = real(1 / 5040) + r * (real(1 / 40320) + r * (real(1 / 362880) + r * real(1 / 3628800)))
        tail = real(1 / 6) + r * (real(1 / 24) + r * (real(1 / 120) + r * (real(1 / 720) + r * tail)))
        value = top * (real(1) + r * (real(1) + r * (real(0.5) + r * tail)))
        out[k] = real(0) if gone else value
        bits[k] = (bias - whole(j)) << shift
    for k in range(size):
        out[k] *= powers[k]


@kernel
def steps_down(x):  # type: ignore[no-untyped-def]
    """digamma(x + 8) - digamma(x) = sum_i 1/(x + i), i from 0 to 7: as a lift it takes x to about x + 7.5."""
    total = 0.0
    for i in range(8):
        total += 1.0 / (x + i)
    return total


@kernel
def sigmoid_softplus(psi, sigma, soft, bits, powers, size):  # type: ignore[no-untyped-def]
    """Fill sigma with 1/(1+exp(-psi)) and soft with ln(1+exp(psi)), in arithmetic only; scratch as above, in 64 bits.

    Equals ``scipy.special.expit(psi), np.logaddexp(0, psi)``.
    """
    for k in range(size):
        y = min(abs(psi[k]), 700.0)
        j = np.int32(y * LOG2E + 0.5)
        r = j * LN2 - y
        tail = 1 / 5040 + r * (1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800))))
        tail = 1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r * tail)))
        sigma[k] = 1.0 + r * (1.0 + r * (0.5 + r * tail))
        bits[k] = (np.int64(1023) - np.int64(j)) << np.int64(52)
    for k in range(size):
        small = sigma[k] * powers[k]  # exp(-|psi|)
        # ln(1+x) = 2 atanh(x / (2+x)), whose series is short because x <= 1
        z = small / (2.0 + small)
        z2 = z * z
        tail = 1 / 15 + z2 * (1 / 17 + z2 * (1 / 19 + z2 * (1 / 21 + z2 * (1 / 23 + z2 * (1 / 25)))))
        tail = 1 / 7 + z2 * (1 / 9 + z2 * (1 / 11 + z2 * (1 / 13 + z2 * tail)))
        series = 2.0 * z * (1.0 + z2 * (1 / 3 + z2 * (1 / 5 + z2 * tail)))
        large = 1.0 / (1.0 + small)
        sigma[k] = large if psi[k] >= 0 else small * large
        soft[k] = max(psi[k], 0.0) + series


@kernel
def log_in_place(x, bits, size):  # type: ignore[no-untyped-def]
    """Replace positive ``x[:size]`` by their logarithms, in arithmetic only; ``bits`` is x seen as 64-bit integers."""
    for k in range(size):
        exponent = np.int32((bits[k] >> np.int64(52)) - np.int64(1023))
        bits[k] = (bits[k] & np.int64(0x000FFFFFFFFFFFFF)) | np.int64(0x3FF0000000000000)
        m = x[k]  # 1 <= m < 2
        high = m > 1.4142135623730951
        m = 0.5 * m if high else m
        whole = np.float64(exponent + np.int32(1)) if high else np.float64(exponent)
        z = (m - 1.0) / (m + 1.0)
        z2 = z * z
        tail = 1 / 11 + z2 * (1 / 13 + z2 * (1 / 15 + z2 * (1 / 17 + z2 * (1 / 19))))
        x[k] = whole * LN2 + 2.0 * z * (1.0 + z2 * (1 / 3 + z2 * (1 / 5 + z2 * (1 / 7 + z2 * (1 / 9 + z2 * tail)))))


@kernel
def log_gamma_digamma(a, gammas, digammas, scratch, bits, size):  # type: ignore[no-untyped-def]
    """Fill ``gammas[:size]`` with ln Gamma(a) and ``digammas[:size]`` with digamma(a), in arithmetic only.

    ``scratch`` (2, at least size) of doubles is seen as 64-bit integers by ``bits``.
    Equals ``scipy.special.gammaln(a), scipy.special.digamma(a)``.
    """
    product, z, product_bits, z_bits = scratch[0], scratch[1], bits[0], bits[1]
    for k in range(size):
        x = a[k]
        x4 = x + 4.0
        p, q = x * (x + 1.0), (x + 2.0) * (x + 3.0)
        p4, q4 = x4 * (x4 + 1.0), (x4 + 2.0) * (x4 + 3.0)
        down = ((2.0 * x + 1.0) * q + (2.0 * x + 5.0) * p) / (p * q)
        digammas[k] = -down - ((2.0 * x4 + 1.0) * q4 + (2.0 * x4 + 5.0) * p4) / (p4 * q4)
        product[k] = p * q * p4 * q4
        z[k] = x + 8.0
    log_in_place(product, product_bits, size)
    log_in_place(z, z_bits, size)
    for k in range(size):
        x = a[k] + 8.0
        v = 1.0 / x
        v2 = v * v
        tail = v * (1 / 12 - v2 * (1 / 360 - v2 * (1 / 1260 - v2 * (1 / 1680 - v2 * (1 / 1188 - v2 * (691 / 360360))))))
        gammas[k] = (x - 0.5) * z[k] - x + HALF_LN_2PI + tail - product[k]
        tail = v2 * (1 / 252 - v2 * (1 / 240 - v2 * (1 / 132 - v2 * (691 / 32760 - v2 / 12))))
        digammas[k] += z[k] - 0.5 * v - v2 * (1 / 12 - v2 / 120) - v2 * v2 * tail
