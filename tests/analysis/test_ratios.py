"""Shares of tokens in groups of documents: errors and chances, beside what drawing documents again says."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from diln.analysis.ratios import lifts, members, more_than_chance, shares_of, sums_of


def documents(n_docs, seed, p=0.15):
    """Tokens of a topic that few documents have much of, and lengths that differ widely."""
    rng = np.random.default_rng(seed)
    x = np.ceil(rng.lognormal(4, 1, n_docs))
    shares = np.where(rng.random(n_docs) < p, rng.beta(1, 4, n_docs), 0)
    return csr_array((shares * x)[:, np.newaxis]), x


def one_group(n_docs):
    return csr_array(np.ones((1, n_docs)))


def test_a_share_and_its_error_are_those_of_a_ratio_of_sums():
    y, x = documents(50, 0)
    found = sums_of(y, x, one_group(50)).ratios()
    own = y.toarray()[:, 0]
    share = own.sum() / x.sum()
    assert found.share[0, 0] == pytest.approx(share)
    error = np.sqrt(50 / 49 * ((own - share * x) ** 2).sum()) / x.sum()
    assert found.error[0, 0] == pytest.approx(error)
    raised = sums_of(y, x, one_group(50)).raised(np.array([0.1])).ratios()
    assert raised.share[0, 0] == pytest.approx(share + 0.1)
    assert raised.error[0, 0] == pytest.approx(error)


def test_the_error_is_that_of_drawing_documents_again():
    y, x = documents(400, 1)
    own, rng = y.toarray()[:, 0], np.random.default_rng(2)
    draws = rng.integers(0, 400, (4000, 400))
    again = own[draws].sum(axis=1) / x[draws].sum(axis=1)
    assert sums_of(y, x, one_group(400)).ratios().error[0, 0] == pytest.approx(again.std(), rel=0.06)


def test_the_band_holds_the_true_share_about_as_often_as_it_says():
    y, x = documents(40_000, 3)
    own, rng = y.toarray()[:, 0], np.random.default_rng(4)
    true, held, every = own.sum() / x.sum(), 0, sums_of(y, x, one_group(40_000))
    for _ in range(600):
        rows = rng.integers(0, 40_000, 80)
        low, high = sums_of(csr_array(own[rows, np.newaxis]), x[rows], one_group(80)).band(every)
        held += low[0, 0] <= true <= high[0, 0]
    assert 0.85 < held / 600 < 0.98, "shares of few documents are skewed: a little less than 19 of 20"


def test_groups_without_documents_have_no_share_and_those_with_one_no_error():
    y, x = documents(5, 5, p=1)
    found = sums_of(y, x, members(np.array([0, 0, 0, 0, 2]), 3)).ratios()
    assert found.n_docs.tolist() == [4, 0, 1]
    assert np.isnan(found.share[1, 0])
    assert np.isnan(found.error[[1, 2], 0]).all()
    sums = sums_of(y, x, members(np.array([0, 0, 0, 0, 2]), 3))
    low, high = sums.band(sums.all())
    assert np.isnan(low[1:, 0]).all()
    assert 0 < low[0, 0] < found.share[0, 0] < high[0, 0] < 1
    assert np.isfinite(found.share[2, 0])


def compared(shares, groups):
    """Lifts of documents of which all count."""
    shares = csr_array(shares)
    return lifts(shares, np.ones(shares.shape[0]), groups, np.zeros(shares.shape[1]))


@pytest.mark.parametrize(("n_docs", "size", "p"), [(300, 60, 0.3), (300, 12, 0.3), (60, 30, 0.5), (500, 20, 0.1)])
def test_chances_are_those_of_giving_labels_by_lot(n_docs, size, p):
    y, x = documents(n_docs, 6, p)
    rng = np.random.default_rng(7)
    own = y.toarray()[:, 0] / x
    for seed in range(8):
        rows = np.random.default_rng(seed).permutation(n_docs)[:size]
        if seed % 2:  # one that is high
            rows = np.argsort(-own + 0.05 * rng.standard_normal(n_docs) * own.std())[5 : 5 + size]
            rows[size // 4 :] = rng.permutation(n_docs)[: size - size // 4]
            rows = np.unique(rows)
        by_lot = np.array([own[rng.permutation(n_docs)[: len(rows)]].sum() for _ in range(20_000)])
        group = csr_array((np.ones(len(rows)), (np.zeros(len(rows), int), rows)), shape=(1, n_docs))
        value = own[rows].sum()
        wanted = min(1.0, 2 * min((by_lot >= value - 1e-12).mean(), (by_lot <= value + 1e-12).mean()))
        assert compared(own[:, np.newaxis], group).p[0, 0] == pytest.approx(wanted, abs=0.05 if wanted < 0.2 else 0.2)


def test_intervals_leave_out_1_in_one_of_twenty_cells_where_labels_are_given_by_lot():
    rng, missed, cells, called = np.random.default_rng(8), np.zeros((6, 2)), 0, 0
    sizes = np.geomspace(2, 0.02, 20)  # from topics that all documents have to those of few
    shares = rng.dirichlet(sizes, 400)
    shares, codes = csr_array(np.where(shares > 0.002, shares, 0)), np.repeat(np.arange(6), [180, 100, 60, 40, 15, 5])
    for _ in range(150):
        found = compared(shares, members(rng.permutation(codes), 6))
        outside = (found.low > 1) | (found.high < 1)
        np.testing.assert_array_equal(outside, found.p <= 0.05)
        sure = more_than_chance(found.p)
        assert not (sure & ~outside).any(), "what is sure has an interval without 1"
        called += sure.any()
        missed += outside.reshape(6, 2, 10).sum(axis=2)
        cells += 10
    assert (missed / cells).mean() == pytest.approx(0.045, abs=0.01)
    assert (missed / cells).max() < 0.065, "for few documents and small topics, too"
    assert called / 150 < 0.10, "about one in twenty, where no difference is true"


def planted(rng, kind, factors, codes):
    """Shares of documents whose labels have these times as much of the topics (n_labels, n_topics)."""
    of, shape = factors[codes], (len(codes), factors.shape[1])
    if kind == "more documents":
        return (rng.random(shape) < 0.2 * of) * rng.beta(1, 4, shape)
    if kind == "more in each":
        return (rng.random(shape) < 0.4) * rng.beta(1, 12, shape) * of
    drawn = rng.gamma(0.2 * of)
    return drawn / drawn.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("kind", ["more documents", "more in each", "weights"])
def test_intervals_hold_planted_lifts(kind):
    rng, sizes = np.random.default_rng(11), np.array([200, 100, 50, 25])
    codes, factors = np.repeat(np.arange(4), sizes), np.exp(rng.uniform(-1, 1, (4, 10)))
    means = np.mean([[planted(rng, kind, factors, codes)[codes == label].mean(axis=0) for label in range(4)]
                     for _ in range(400)], axis=0)  # fmt: skip
    sums, n = means * sizes[:, np.newaxis], sizes[:, np.newaxis]
    true = means / ((sums.sum(axis=0) - sums) / (n.sum() - n))
    held = [
        (found.low <= true) & (true <= found.high)
        for found in (compared(planted(rng, kind, factors, codes), members(codes, 4)) for _ in range(100))
    ]
    assert 0.93 < np.mean(held) < 0.985
    assert np.mean(held, axis=(0, 2)).min() > 0.92, "of labels with few documents, too"


def test_true_differences_are_called_more_than_chance_and_their_size_is_found():
    rng, codes = np.random.default_rng(9), np.repeat([0, 1], 100)
    found = compared(np.where(codes == 0, 0.3, 0.2)[:, np.newaxis] + rng.normal(0, 0.05, (200, 1)), members(codes, 2))
    assert (found.p < 1e-6).all()
    assert found.low[0, 0] < 1.5 < found.high[0, 0] < 1.6
    np.testing.assert_allclose(found.lift[0, 0] * found.lift[1, 0], 1)
    np.testing.assert_allclose([found.low[0, 0] * found.high[1, 0], found.high[0, 0] * found.low[1, 0]], 1, rtol=0.002)


def test_an_interval_is_endless_where_nothing_is_known_of_an_end():
    shares = np.r_[np.zeros(3), np.full(3, 0.5), np.zeros(60)][:, np.newaxis]
    found = compared(shares, members(np.repeat([0, 1, 2], [3, 3, 60]), 3))
    assert found.lift[1, 0] == found.high[1, 0] == np.inf and found.low[1, 0] > 1
    assert found.lift[0, 0] == found.low[0, 0] == 0 and 1 < found.high[0, 0] < np.inf
    assert (found.low[2, 0], found.lift[2, 0]) == (0, 0) and found.high[2, 0] < 1


def test_benjamini_and_hochberg_by_hand():
    p = np.array([[0.001, 0.2], [0.02, 0.9], [0.012, 0.8]])
    assert more_than_chance(p).tolist() == [[True, False], [True, False], [True, False]]
    assert not more_than_chance(np.array([[0.03, 0.9]])).any()


def test_shares_of_columns_add_the_topics_that_they_are_made_of():
    class Two:
        n_docs = 3

        def rows_of_topic(self, topic):
            return (np.array([0, 2]), np.array([0.5, 0.25])) if topic else (np.array([2]), np.array([0.75]))

    assert shares_of(Two(), [[0, 1], [1], []]).toarray().tolist() == [[0.5, 0.5, 0], [0, 0, 0], [1.0, 0.25, 0]]
