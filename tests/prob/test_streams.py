"""Random streams: known bits, the right laws, and nothing in common between neighbours."""

import numpy as np
import pytest
from numba import njit
from scipy import stats

from diln.prob.streams import GOLD, fill_normals, key_of, mix, stream, uniform32, uniform64

MANY = 200_000
MASK = 2**64 - 1


@njit
def fill(number_of, state, out):
    for i in range(out.size):
        state += GOLD
        out[i] = number_of(state)


def numbers(number_of, kind, state, size=MANY):
    out = np.empty(size, kind)
    fill(number_of, np.uint64(state), out)
    return out


def mix_of(x):
    """Splitmix64's last step in Python's integers."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def test_the_numbers_are_splitmix64s():
    """The first outputs for the seed 1234567, which other implementations are tested with, too."""
    found = numbers(mix, np.uint64, 1234567, 5)
    known = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821]
    np.testing.assert_array_equal(found, np.array(known, np.uint64))


def test_mixing_is_that_of_whole_numbers_whatever_type_they_come_in():
    for x in (0, 1, 2**31, 2**32, 2**63 - 1, 2**63, MASK):
        assert mix(np.uint64(x)) == mix_of(x)
        assert x > 2**63 - 1 or mix(np.int64(x)) == mix_of(x)


def test_a_stream_starts_where_its_key_and_number_say():
    key = 0xFEDCBA9876543210
    for number in (0, 1, 7, 2**40):
        right = mix_of(key ^ mix_of((number + int(GOLD)) & MASK))
        assert stream(np.uint64(key), number) == right
        assert stream(np.uint64(key), np.uint64(number)) == right


@pytest.mark.parametrize(("number_of", "kind", "bits"), [(uniform32, np.float32, 24), (uniform64, np.float64, 53)])
def test_uniform_numbers_are_uniform(number_of, kind, bits):
    x = numbers(number_of, kind, stream(key_of(1), 0))
    assert number_of(GOLD).__class__ is float
    assert x.min() >= 0
    assert x.max() < 1
    whole = x.astype(np.float64) * 2.0**bits
    np.testing.assert_array_equal(whole, np.floor(whole))
    assert stats.kstest(x.astype(np.float64), "uniform").pvalue > 0.01
    cells = np.bincount((x * kind(1000)).astype(np.int64), minlength=1000)
    assert stats.chisquare(cells).pvalue > 0.01
    low = np.bincount((whole % 256).astype(np.int64), minlength=256)
    assert stats.chisquare(low).pvalue > 0.01


def test_uniform_numbers_are_the_high_bits_of_the_mixed_state():
    for state in (0, 1, int(GOLD), MASK):
        assert uniform32(np.uint64(state)) == (mix_of(state) >> 40) / 2**24
        assert uniform64(np.uint64(state)) == (mix_of(state) >> 11) / 2**53


def test_successive_numbers_are_uncorrelated_and_fill_the_square():
    x = numbers(uniform64, np.float64, stream(key_of(2), 5))
    for lag in (1, 2, 3, 10):
        assert abs(np.corrcoef(x[:-lag], x[lag:])[0, 1]) < 4 / np.sqrt(MANY)
    pairs = (x[::2] * 32).astype(np.int64) * 32 + (x[1::2] * 32).astype(np.int64)
    assert stats.chisquare(np.bincount(pairs, minlength=1024)).pvalue > 0.01


def test_streams_of_neighbouring_numbers_and_keys_have_nothing_in_common():
    """256 streams of 2,000 numbers: correlations are normal with variance 1/2000."""
    key = key_of(3, 1)
    rows = [numbers(uniform64, np.float64, stream(key, number), 2000) for number in range(128)]
    rows += [numbers(uniform64, np.float64, stream(np.uint64(int(key) + i), 0), 2000) for i in range(1, 129)]
    correlation = np.corrcoef(rows)[np.triu_indices(256, 1)] * np.sqrt(2000)
    assert np.abs(correlation).max() < 5.5
    assert correlation.std() == pytest.approx(1, abs=0.02)
    across = np.array(rows).T.ravel()  # the first numbers of all streams, then the second ones, ...
    assert stats.kstest(across, "uniform").pvalue > 0.01
    assert len({stream(key, number) for number in range(10_000)}) == 10_000


def normals(key, number, size):
    out = np.full(size, np.nan)
    last = fill_normals(np.uint64(stream(key, number)), out)
    return out, last


def test_normal_numbers_are_normal():
    x, _ = normals(key_of(4), 0, MANY)
    error = 1 / np.sqrt(MANY)
    assert abs(x.mean()) < 4 * error
    assert abs(x.var() - 1) < 4 * np.sqrt(2) * error
    assert abs((x**3).mean()) < 4 * np.sqrt(15) * error
    assert abs((x**4).mean() - 3) < 4 * np.sqrt(96) * error
    assert stats.kstest(x, "norm").pvalue > 0.01
    assert abs(np.corrcoef(x[::2], x[1::2])[0, 1]) < 4 / np.sqrt(MANY / 2)
    assert abs(np.corrcoef(x[::2] ** 2, x[1::2] ** 2)[0, 1]) < 4 / np.sqrt(MANY / 2)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 20, 21])
def test_normal_numbers_use_two_uniform_ones_for_each_pair(size):
    start = stream(key_of(5), 9)
    found, last = normals(key_of(5), 9, size)
    pairs = (size + 1) // 2
    uniform = numbers(uniform64, np.float64, start, 2 * pairs)
    length, direction = np.sqrt(-2 * np.log(uniform[::2] + 2.0**-53)), 2 * np.pi * uniform[1::2]
    right = np.column_stack([length * np.cos(direction), length * np.sin(direction)]).ravel()[:size]
    np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-12)
    assert last == (start + 2 * pairs * int(GOLD)) & MASK


def unmix(y):
    """The x that mix(x) is y of: multiply by inverses, undo the shifts."""
    x = y ^ (y >> 31) ^ (y >> 62)
    x = (x * pow(0x94D049BB133111EB, -1, 2**64)) & MASK
    x = x ^ (x >> 27) ^ (x >> 54)
    x = (x * pow(0xBF58476D1CE4E5B9, -1, 2**64)) & MASK
    return x ^ (x >> 30) ^ (x >> 60)


@pytest.mark.parametrize("bits", [0, MASK])
def test_normal_numbers_are_finite_at_the_ends_of_the_uniform_ones(bits):
    state = (unmix(bits) - int(GOLD)) & MASK
    out = np.empty(2)
    fill_normals(np.uint64(state), out)
    assert np.isfinite(out).all()
    assert np.hypot(*out) == pytest.approx(np.sqrt(2 * 53 * np.log(2)) if bits == 0 else 0, abs=1e-7)


def test_the_same_key_gives_the_same_bits():
    for _ in range(2):
        np.testing.assert_array_equal(normals(key_of(6, 1), 3, 100)[0], normals(key_of(6, 1), 3, 100)[0])
    assert key_of(6, 1) == key_of(6, 1)
    assert key_of(np.int64(6), np.uint8(1)) == key_of(6, 1)
    assert isinstance(key_of(6), np.uint64)


def test_keys_tell_numbers_apart_however_they_are_spelt():
    """Lists that a seed sequence takes for the same words, among others."""
    named = [(), (0,), (0, 0), (1,), (1, 0), (0, 1), (2**32,), (2**32, 1), (1, 2**32), (2**64,), (2**200,)]
    named += [(seed, epoch, block) for seed in range(12) for epoch in range(12) for block in range(12)]
    assert len({int(key_of(*numbers)) for numbers in named}) == len(named)


def test_a_key_is_not_made_of_negative_numbers():
    with pytest.raises(ValueError, match="not negative, not of -1"):
        key_of(3, -1)
