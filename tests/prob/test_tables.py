"""Tables of Chinese restaurants against guests who sit down one by one, against digamma, and against Stirling."""

import numpy as np
import pytest
from scipy import special, stats

from diln.prob.tables import draw_tables, expected_tables, more_than


def histogram_of(entries, width):
    return np.bincount(entries, minlength=width)[None]


def tables_one_by_one(n, a, rng):
    """Each guest in turn takes a new table or does not."""
    return sum(rng.random() < a / (a + j) for j in range(n))


def stirling(n):
    """Unsigned Stirling numbers of the first kind, |s(n, 0..n)|."""
    row = np.array([1])
    for i in range(n):
        row = np.append(0, row) + i * np.append(row, 0)
    return row


def law_of_tables(n, a):
    return stirling(n) * a ** np.arange(n + 1.0) / np.prod(a + np.arange(n))


def test_more_than_counts_the_entries_beyond_each_number():
    rng = np.random.default_rng(1)
    entries = rng.integers(0, 7, (3, 50))
    histogram = np.array([np.bincount(row, minlength=7) for row in entries])
    right = [[(row > j).sum() for j in range(6)] for row in entries]
    np.testing.assert_array_equal(more_than(histogram), right)
    assert more_than(histogram.astype(np.int32)).dtype == np.int64


def test_a_histogram_of_empty_restaurants_has_no_tables():
    for width in (1, 2, 9):
        histogram = np.zeros((4, width), np.int64)
        histogram[:, 0] = 5
        a = np.array([0.0, 1e-300, 1.0, 1e9])
        drawn = draw_tables(histogram, a, np.random.default_rng(1))
        assert drawn.dtype == np.int64
        np.testing.assert_array_equal(drawn, [0, 0, 0, 0])
        np.testing.assert_array_equal(expected_tables(histogram, a), [0, 0, 0, 0])


@pytest.mark.parametrize("a", [1e-4, 0.03, 0.7, 1.0, 20.0, 1e4])
def test_expected_tables_are_those_of_digamma(a):
    entries = np.random.default_rng(2).negative_binomial(0.3, 0.01, 400)
    right = (a * (special.digamma(a + entries) - special.digamma(a))).sum()
    found = expected_tables(histogram_of(entries, entries.max() + 1), np.array([a]))
    assert found.dtype == np.float64
    assert found[0] == pytest.approx(right, rel=1e-10)


@pytest.mark.parametrize("a", [0.05, 0.6, 4.0])
def test_tables_have_the_mean_and_variance_of_guests_who_sit_down_one_by_one(a):
    """4,000 evenings each; the variance has a relative error of about sqrt(2/4000)."""
    rng = np.random.default_rng(3)
    entries = np.array([0, 0, 1, 2, 2, 5, 17, 40])
    histogram, evenings = histogram_of(entries, 41), 4000
    one_by_one = np.array([sum(tables_one_by_one(n, a, rng) for n in entries) for _ in range(evenings)])
    drawn = draw_tables(np.repeat(histogram, evenings, axis=0), np.full(evenings, a), rng)
    mean = expected_tables(histogram, np.array([a]))[0]
    guests = np.concatenate([np.arange(n) for n in entries])
    variance = (a * guests / (a + guests) ** 2).sum()
    for tables in (one_by_one, drawn):
        assert abs(tables.mean() - mean) < 4 * np.sqrt(variance / evenings)
        assert tables.var() == pytest.approx(variance, rel=5 * np.sqrt(2 / evenings))


@pytest.mark.parametrize(("n", "a"), [(1, 0.3), (3, 0.2), (5, 1.0), (6, 2.5)])
def test_tables_of_one_restaurant_follow_the_stirling_numbers(n, a):
    evenings = 50_000
    histogram = np.repeat(histogram_of([n], n + 1), evenings, axis=0)
    drawn = draw_tables(histogram, np.full(evenings, a), np.random.default_rng(4))
    seen, expected = np.bincount(drawn, minlength=n + 1)[1:], evenings * law_of_tables(n, a)[1:]
    assert expected.sum() == pytest.approx(evenings)
    assert n == 1 or stats.chisquare(seen, expected).pvalue > 0.01
    assert (drawn >= 1).all()
    assert (drawn <= n).all()


def test_tables_of_two_restaurants_follow_the_law_of_their_sum():
    evenings, a = 50_000, 0.8
    histogram = np.repeat(histogram_of([2, 4], 5), evenings, axis=0)
    drawn = draw_tables(histogram, np.full(evenings, a), np.random.default_rng(5))
    expected = evenings * np.convolve(law_of_tables(2, a), law_of_tables(4, a))[2:]
    assert stats.chisquare(np.bincount(drawn, minlength=7)[2:], expected).pvalue > 0.01


def test_a_tiny_concentration_gives_one_table_and_a_huge_one_a_table_for_each_guest():
    histogram = np.array([[3, 0, 2, 0, 5]] * 2)
    a = np.array([1e-300, 1e15])
    np.testing.assert_array_equal(draw_tables(histogram, a, np.random.default_rng(6)), [7, 24])
    np.testing.assert_allclose(expected_tables(histogram, a), [7, 24], rtol=1e-12)


def test_rows_have_their_own_concentrations_and_counts():
    rng = np.random.default_rng(7)
    histogram = rng.integers(0, 3, (30, 12))
    a = rng.gamma(1.0, 1.0, 30)
    whole = expected_tables(histogram, a)
    alone = [expected_tables(histogram[k : k + 1], a[k : k + 1])[0] for k in range(30)]
    np.testing.assert_allclose(whole, alone, rtol=1e-14)
    drawn = np.mean([draw_tables(histogram, a, rng) for _ in range(2000)], axis=0)
    assert (np.abs(drawn - whole) < 4.5 * np.sqrt(whole / 2000)).all()


def test_the_same_generator_gives_the_same_tables():
    histogram = np.random.default_rng(8).integers(0, 5, (20, 30))
    a = np.full(20, 0.4)
    first, second = (draw_tables(histogram, a, np.random.default_rng(9)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
