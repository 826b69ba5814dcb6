"""What chains agree on: topics are found again, means and variances are NumPy's, and what is called sure is sure."""

import numpy as np
import pytest
from scipy import stats

from diln.models.agreement import MISSES, PRIOR_DEGREES, ChainAgreement, ChainSummary
from diln.prob.matching import SAME

SIZE = 60
PAIRS = np.triu_indices(SIZE, k=1)
ALL = np.ones(SIZE, bool)


class Chain:
    """Stands for a posterior."""

    def __init__(self, topics, covariance=None, spread=None):
        self.topics, self.covariance, self.spread = np.asarray(topics, float), covariance, spread

    def topic_word(self):
        return self.topics.T

    def some_spread(self):
        return self.spread


def unchanged(covariance):
    """Log lifts, as if those of proportions were those of weights."""
    return covariance


def symmetric(values):
    out = np.zeros((SIZE, SIZE))
    out[PAIRS] = values
    return out + out.T


def agreed(values, within):
    """Chains (n, n_pairs) that have found all topics."""
    topics, spread = np.eye(SIZE), symmetric(np.sqrt(np.broadcast_to(within, len(PAIRS[0]))))
    first, *others = (Chain(topics, symmetric(one), spread) for one in values)
    return ChainAgreement.of(first, [ChainSummary.of(one) for one in others])


def test_topics_are_found_again_wherever_they_are():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(40, 0.05), 6)
    other = np.vstack([topics[[3, 1, 0]], rng.dirichlet(np.full(40, 0.05), 4)])
    affinity = np.sqrt(topics[[2, 4, 5]]) @ np.sqrt(other[3:]).T
    assert affinity.max() < SAME
    found = ChainAgreement.of(Chain(topics), [ChainSummary.of(Chain(other)), ChainSummary.of(Chain(topics[::-1]))])
    assert found.found.tolist() == [3, 3, 2, 3, 2, 2]
    assert found.n_chains == 3
    assert found.log_lift is None
    assert found.judged(np.ones(6, bool), unchanged) is None
    assert found.share(np.ones(6, bool)) == pytest.approx((3 / 6 + 1) / 2)


def test_means_and_variances_are_over_the_chains_that_have_found_both_topics():
    rng = np.random.default_rng(1)
    topics, orders = np.eye(5), [np.arange(5), rng.permutation(5), np.array([4, 2, 0])]
    values = rng.standard_normal((3, 5, 5))
    values += values.transpose(0, 2, 1)
    spreads = np.abs(values) / 3
    chains = [
        Chain(topics[order], one[np.ix_(order, order)], spread[np.ix_(order, order)])
        for order, one, spread in zip(orders, values, spreads, strict=True)
    ]
    found = ChainAgreement.of(chains[0], [ChainSummary.of(one) for one in chains[1:]])
    assert found.found.tolist() == [3, 2, 3, 2, 3]
    both = np.outer(*2 * [np.isin(np.arange(5), orders[2])])
    assert found.together.tolist() == (2 + both).tolist()
    masked = np.ma.masked_array(values, [np.zeros((5, 5)), np.zeros((5, 5)), ~both])
    np.testing.assert_allclose(found.log_lift, masked.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(found.between, masked.var(axis=0, ddof=1), rtol=1e-5)
    squares = np.ma.masked_array(spreads**2, masked.mask)
    np.testing.assert_allclose(found.within, squares.mean(axis=0), rtol=1e-5)


def test_the_rule_is_what_its_formula_says():
    rng = np.random.default_rng(2)
    values = rng.standard_normal((4, len(PAIRS[0])))
    found = agreed(values, 0.3)
    judged = found.judged(ALL, unchanged)
    own = values.var(axis=0, ddof=1)
    moderated = (PRIOR_DEGREES * own.mean() + 3 * own) / (PRIOR_DEGREES + 3)
    spread = np.sqrt(moderated * (1 + 1 / 4) + 0.3)
    reach = stats.t.ppf(0.99, PRIOR_DEGREES + 3)
    np.testing.assert_allclose(judged.spread[PAIRS], spread, rtol=1e-5)
    np.testing.assert_allclose(judged.quantile[PAIRS], reach, rtol=1e-9)
    assert judged.sure[PAIRS].tolist() == (np.abs(values.mean(axis=0)) > reach * spread).tolist()
    assert judged.n_sure == judged.sure[PAIRS].sum()
    few = np.arange(SIZE) < 10
    assert not found.judged(few, unchanged).sure[10:].any()


def test_lifts_that_are_smaller_than_covariances_have_smaller_spreads_and_are_as_sure():
    found = agreed(np.random.default_rng(2).standard_normal((4, len(PAIRS[0]))) + 3, 0.1)
    judged, halved = found.judged(ALL, unchanged), found.judged(ALL, lambda covariance: covariance / 2)
    np.testing.assert_allclose(halved.log_lift, judged.log_lift / 2)
    np.testing.assert_allclose(halved.spread, judged.spread / 2)
    assert (halved.sure == judged.sure).all()
    assert judged.n_sure > 20


def test_log_lifts_that_are_all_0_are_not_sure():
    found = agreed(np.ones((4, len(PAIRS[0]))), 0.1)
    assert not found.judged(ALL, np.zeros_like).sure.any()


@pytest.mark.parametrize("n_chains", [2, 3, 4, 8])
def test_independent_pairs_are_hardly_ever_called_sure(n_chains):
    """All chains see what is by chance in the documents: its variance is that within a chain."""
    rng = np.random.default_rng(n_chains)
    for between, within in ((0.1, 0.2), (0.5, 0.1), (0.02, 0.3)):
        by_chance = rng.normal(0, within, len(PAIRS[0]))
        values = by_chance + rng.normal(0, between, (n_chains, len(by_chance)))
        assert agreed(values, within**2).judged(ALL, unchanged).sure[PAIRS].mean() <= 0.05


@pytest.mark.parametrize("n_chains", [2, 3, 4, 8])
def test_a_further_chain_has_the_sign_of_what_is_sure(n_chains):
    """With effects of all sizes and pairs that vary from chain to chain by more or less than others."""
    rng = np.random.default_rng(n_chains)
    for _ in range(3):
        truth = rng.standard_normal(len(PAIRS[0])) * (rng.random(len(PAIRS[0])) < 0.3)
        deviation = 0.3 * np.sqrt(rng.gamma(2, 0.5, len(truth)))
        values = truth + rng.normal(0, 0.1, len(truth)) + deviation * rng.standard_normal((n_chains + 1, len(truth)))
        sure = agreed(values[:-1], 0.01).judged(ALL, unchanged).sure[PAIRS]
        assert sure.sum() > 20
        same = np.sign(values[-1]) == np.sign(values[:-1].mean(axis=0))
        assert same[sure].mean() >= 0.95


def test_a_pair_that_chains_do_not_find_is_not_sure():
    topics, strong = np.eye(8), np.full((8, 8), 5.0)
    sure = {}
    for lacking in (0, 1, 2):  # of four chains, the first topic
        others = [
            ChainSummary.of(Chain(topics[1:] if i < lacking else topics, strong[i < lacking :, i < lacking :]))
            for i in range(3)
        ]
        sure[lacking] = ChainAgreement.of(Chain(topics, strong), others).judged(np.ones(8, bool), unchanged).sure
    assert MISSES == 4
    assert [bool(sure[lacking][0, 1]) for lacking in (0, 1, 2)] == [True, True, False]
    assert sure[2][1, 2]


def test_where_no_two_chains_have_a_pair_nothing_is_sure():
    found = ChainAgreement.of(Chain(np.eye(4)[:2], np.full((2, 2), 9.0)), [ChainSummary.of(Chain(np.eye(4)[2:]))])
    judged = found.judged(np.ones(2, bool), unchanged)
    assert found.found.tolist() == [1, 1]
    assert not judged.sure.any()
    assert np.isinf(judged.spread).all()


def test_agreement_comes_back_as_it_was_stored():
    found = agreed(np.random.default_rng(3).standard_normal((3, len(PAIRS[0]))), 0.1)
    again = ChainAgreement.restored({**found.tensors(), "table": np.zeros(3)}, 3)
    assert again.tensors().keys() == found.tensors().keys()
    for name, value in found.tensors().items():
        np.testing.assert_array_equal(again.tensors()[name], value)
