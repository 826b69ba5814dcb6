"""Pairs of topics: the most positive, the most negative, and models that have none."""

import numpy as np
import pytest
from handmade import model

from diln.analysis import Pair, correlated_pairs
from diln.models.counts import MatrixRows, as_rows
from diln.models.fitted import Fitted
from diln.models.fitting import fit
from diln.models.parameters import parameters_of

pytestmark = pytest.mark.filterwarnings("ignore::diln.DilnWarning")


def fitted_to_noise(kind: str, n_topics: int) -> Fitted:
    counts = np.random.default_rng(1).poisson(1.0, (20, 8))
    parameters = parameters_of(kind, {"n_components": n_topics, "random_state": 0, "max_iter": 2})
    return fit(parameters, MatrixRows(as_rows(counts)), [f"term{j}" for j in range(8)])


def placed(locations, tokens) -> Fitted:
    """A model with topics at these places that hold so many tokens."""
    return model(np.eye(len(locations)), tokens, locations=locations)


def test_pairs_are_the_cosines_and_inner_products_of_locations():
    fitted = placed([[1, 0], [2, 2], [-3, 0], [0, -1]], [10, 10, 10, 10])
    found = correlated_pairs(fitted)
    half = 2**-0.5
    assert [(pair.first, pair.second) for pair in found.positive] == [(0, 1)]
    assert found.positive[0].correlation == pytest.approx(half)
    assert (found.positive[0].log_lift, found.positive[0].lift) == (2, pytest.approx(np.exp(2)))
    assert [(pair.first, pair.second, pair.log_lift) for pair in found.negative] == [(1, 2, -6), (0, 2, -3), (1, 3, -2)]
    assert found.negative[1] == Pair(0, 2, np.exp(-3.0), -3.0, -1.0)
    assert [pair.correlation for pair in found.negative] == pytest.approx([-half, -1, -half])
    assert (found.n_pairs, found.n_sure) == (6, None)


def test_pairs_are_ranked_by_the_strength_that_is_sure():
    fitted = placed([[1, 0, 0], [3, 0, 0], [0, 2, 0], [0, 2, 0], [0, 0, 1], [0, 0, 1]], np.ones(6))
    strengths = {(0, 1): 3, (2, 3): 4, (4, 5): 1}
    assert [(pair.first, pair.second) for pair in correlated_pairs(fitted).positive] == [(2, 3), (0, 1), (4, 5)]
    spread = np.full((6, 6), 0.1)
    fitted.posterior.spread = spread
    for (i, j), doubt in {(2, 3): 1.9, (0, 1): 0.2, (4, 5): 3.0}.items():
        spread[i, j] = spread[j, i] = doubt
    found = correlated_pairs(fitted).positive
    assert [(pair.first, pair.second) for pair in found] == [(0, 1), (2, 3), (4, 5)]
    assert [pair.spread for pair in found] == [0.2, 1.9, 3.0]
    assert [pair.log_lift for pair in found] == [strengths[pair.first, pair.second] for pair in found]
    spread[2, 3] = 2.1  # of neither is any strength sure then: the stronger comes first
    assert [(pair.first, pair.second) for pair in correlated_pairs(fitted).positive] == [(0, 1), (2, 3), (4, 5)]


def test_a_topic_that_is_not_told_from_the_origin_is_in_no_pair():
    fitted = placed([[1, 0], [5, 0], [1, 1]], [1, 1, 1])
    fitted.posterior.placed = np.array([True, False, True])
    found = correlated_pairs(fitted)
    assert [(pair.first, pair.second) for pair in found.positive] == [(0, 2)]
    assert found.n_pairs == 1


def test_topics_at_a_right_angle_are_no_pair():
    found = correlated_pairs(placed([[1, 0], [0, 1]], [1, 1]))
    assert found.positive == found.negative == ()


def test_a_topic_at_the_origin_is_in_no_pair():
    found = correlated_pairs(placed([[1, 0], [0, 0], [1, 1]], [1, 1, 1]))
    assert [(pair.first, pair.second) for pair in found.positive] == [(0, 2)]
    assert found.negative == ()


def test_topics_that_are_not_in_use_are_left_out():
    found = correlated_pairs(placed([[1, 0], [1, 0.1], [-1, 0], [1, 0]], [100, 0.01, 100, 100]))
    assert [(pair.first, pair.second) for pair in found.positive] == [(0, 3)]
    assert {pair.first for pair in found.negative} | {pair.second for pair in found.negative} == {0, 2, 3}


def test_no_more_pairs_than_asked_for_and_the_strongest_of_them():
    locations = np.random.default_rng(0).standard_normal((30, 4))
    every = correlated_pairs(placed(locations, np.ones(30)), 1000)
    few = correlated_pairs(placed(locations, np.ones(30)), 3)
    assert len(every.positive) + len(every.negative) == 30 * 29 // 2
    assert (few.positive, few.negative) == (every.positive[:3], every.negative[:3])
    values = [pair.log_lift for pair in every.positive]
    assert values == sorted(values, reverse=True)
    values = [pair.log_lift for pair in every.negative]
    assert values == sorted(values)


def test_one_topic_has_no_pairs():
    found = correlated_pairs(fitted_to_noise("DILN", 1))
    assert found.positive == found.negative == ()


def test_pairs_of_a_fitted_model_agree_with_its_matrices():
    fitted = fitted_to_noise("DILN", 4)
    found = correlated_pairs(fitted, 100)
    assert found.positive or found.negative
    for pair in (*found.positive, *found.negative):
        assert pair.correlation == fitted.correlation[pair.first, pair.second]
        assert pair.log_lift == fitted.log_lift[pair.first, pair.second]
        assert pair.lift == pytest.approx(fitted.lift[pair.first, pair.second])


@pytest.mark.parametrize("kind", ["HDP", "LDA"])
def test_a_model_without_locations_says_which_has_them(kind):
    with pytest.raises(ValueError, match=f"an {kind}, whose topics have no locations.*fit a DILN"):
        correlated_pairs(fitted_to_noise(kind, 3))


def test_less_than_one_pair_is_refused():
    with pytest.raises(ValueError, match="n_pairs is 0"):
        correlated_pairs(placed([[1.0]], [1]), 0)
