"""Shares of tokens in groups of documents: errors and chances, beside what drawing documents again says."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from diln.analysis.ratios import chances, members, more_than_chance, shares_of, sums_of


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


@pytest.mark.parametrize(("n_docs", "size", "p"), [(300, 60, 0.3), (300, 12, 0.3), (60, 30, 0.5), (500, 20, 0.1)])
def test_chances_are_those_of_giving_labels_by_lot(n_docs, size, p):
    y, x = documents(n_docs, 6, p)
    rng = np.random.default_rng(7)
    own = y.toarray()[:, 0]
    residual = own - own.sum() / x.sum() * x
    by_lot = np.array([residual[rng.permutation(n_docs)[:size]].sum() for _ in range(20_000)])
    for seed in range(8):
        rows = np.random.default_rng(seed).permutation(n_docs)[:size]
        if seed % 2:  # one that is high
            rows = np.argsort(-residual + 0.05 * rng.standard_normal(n_docs) * residual.std())[5 : 5 + size]
            rows[size // 4 :] = rng.permutation(n_docs)[: size - size // 4]
            rows = np.unique(rows)
            by_lot = np.array([residual[rng.permutation(n_docs)[: len(rows)]].sum() for _ in range(20_000)])
        group = csr_array((np.ones(len(rows)), (np.zeros(len(rows), int), rows)), shape=(1, n_docs))
        value = residual[rows].sum()
        wanted = min(1.0, 2 * min((by_lot >= value).mean(), (by_lot <= value).mean()))
        assert chances(y, x, group)[0, 0] == pytest.approx(wanted, abs=0.05 if wanted < 0.2 else 0.2)


def test_labels_given_by_lot_are_rarely_called_more_than_chance():
    rng, tests, called = np.random.default_rng(8), 200, 0
    n_docs, n_columns, n_labels = 240, 20, 6
    shares = rng.dirichlet(np.full(n_columns, 0.05), n_docs)
    x = np.ceil(rng.lognormal(4, 0.7, n_docs))
    y = csr_array(np.where(shares > 0.002, shares, 0) * x[:, np.newaxis])
    codes = np.sort(rng.integers(0, n_labels, n_docs) ** 2 // n_labels)  # from few documents to many
    low = []
    for _ in range(tests):
        p = chances(y, x, members(rng.permutation(codes), n_labels))
        low.append((p[[row for row in range(n_labels) if (codes == row).any()]] < 0.05).mean())
        called += more_than_chance(p).any()
    assert np.mean(low) == pytest.approx(0.05, abs=0.015)
    assert called / tests < 0.10, "about one in twenty, where no difference is true"


def test_true_differences_are_called_more_than_chance():
    rng = np.random.default_rng(9)
    codes, x = np.repeat([0, 1], 100), np.full(200, 100.0)
    y = csr_array(np.where(codes == 0, 0.3, 0.2)[:, np.newaxis] * x[:, np.newaxis] + rng.normal(0, 5, (200, 1)))
    assert (chances(y, x, members(codes, 2)) < 1e-6).all()


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
