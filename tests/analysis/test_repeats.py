"""What two models have in common: their topics, and what they say of which go together."""

import json

import numpy as np
import pytest
from handmade import model, random_model, shuffled

from diln.analysis import Match, compare_correlations, match_topics, stability
from diln.analysis.correlation_agreement import STRONG


def test_affinity_is_hellingers():
    found = match_topics(model([[1, 0]]), model([[1, 3]]))
    assert found.matches == (Match(0, 0, pytest.approx(0.5)),)
    assert match_topics(model([[1, 1, 0]]), model([[0, 0, 1]])).matches[0].affinity == 0


def test_a_model_is_the_same_as_itself_in_another_order():
    fitted = random_model(0, n_topics=9)
    other = shuffled(fitted)
    found = match_topics(fitted, other)
    assert (found.mean, found.share) == (pytest.approx(1), 1)
    for match in found.matches:
        assert fitted.topic_word[match.first] == pytest.approx(other.topic_word[match.second])
    same = compare_correlations(fitted, other)
    assert (same.correlation, same.signs, same.n_topics) == (pytest.approx(1), 1, 9)


def test_the_sum_of_affinities_is_as_large_as_it_can_be():
    # The first topic likes topic 0 best, but the second has no other choice.
    first, second = model([[5, 5, 0], [9, 0, 1]]), model([[8, 2, 0], [0, 10, 0]])
    found = {match.first: match.second for match in match_topics(first, second).matches}
    assert found == {0: 1, 1: 0}


def test_topics_without_a_partner_are_not_in_both():
    few, many = model(np.eye(6)[:2]), model(np.eye(6)[:5])
    found = match_topics(few, many)
    assert (len(found.matches), found.n_topics) == (2, (2, 5))
    assert (found.mean, found.share) == (1, pytest.approx(2 / 5))
    assert match_topics(many, few).share == found.share


def test_only_topics_in_use_are_matched_under_their_own_numbers():
    fitted = model(np.eye(3), [0.1, 500, 500])
    assert {(match.first, match.second) for match in match_topics(fitted, fitted).matches} == {(1, 1), (2, 2)}


def test_the_best_match_comes_first_and_a_weak_one_is_not_the_same():
    found = match_topics(model([[1, 0, 0], [0, 1, 9]]), model([[0, 9, 1], [1, 0, 0]]))
    assert [match.affinity for match in found.matches] == pytest.approx([1, 0.6])
    assert found.share == 1
    found = match_topics(model([[1, 0, 0], [0, 1, 99]]), model([[0, 99, 1], [1, 0, 0]]))
    assert (len(found.same), found.share) == (1, 0.5)


def test_terms_in_another_order_are_found_by_name():
    fitted = random_model(1)
    order = np.random.default_rng(0).permutation(30)
    terms = [fitted.vocabulary[j] for j in order]
    moved = model(fitted.topic_word[:, order], fitted.posterior.topic_tokens, terms)
    assert match_topics(fitted, moved).mean == pytest.approx(1)


def test_models_of_other_terms_are_refused():
    with pytest.raises(ValueError, match="2 and 3 terms, of which 3 are in one of them only; fit both to the same"):
        match_topics(model([[1, 1]], vocabulary=["a", "b"]), model([[1, 1, 1]], vocabulary=["a", "c", "d"]))


def test_agreement_is_what_it_is_by_hand():
    rows, root = np.eye(3), 3**0.5 / 2
    first = model(rows, locations=[[1, 0], [0.5, root], [-1, 0]])  # 0.5, -1, -0.5
    second = model(rows, locations=[[1, 0], [-0.5, root], [0.5, root]])  # -0.5, 0.5, 0.5
    found = compare_correlations(first, second)
    assert (found.n_topics, found.n_strong) == (3, 3)
    assert found.signs == pytest.approx(0)
    assert found.correlation == pytest.approx(np.corrcoef([0.5, -1, -0.5], [-0.5, 0.5, 0.5])[0, 1])


def test_a_correlation_that_is_strong_in_either_model_counts():
    weak = model(np.eye(2), locations=[[1, 0], [-0.1, 1]])
    strong = model(np.eye(2), locations=[[1, 0], [STRONG, 0.1]])
    for pair in ((weak, strong), (strong, weak)):
        assert (compare_correlations(*pair).n_strong, compare_correlations(*pair).signs) == (1, 0)
    assert (compare_correlations(weak, weak).n_strong, compare_correlations(weak, weak).signs) == (0, None)


def test_only_topics_in_both_models_are_asked_for_their_correlations():
    rng = np.random.default_rng(0)
    first = model(np.eye(8)[:5], locations=rng.standard_normal((5, 2)))
    second = model(np.eye(8)[2:7], locations=rng.standard_normal((5, 2)))
    assert compare_correlations(first, second).n_topics == 3


@pytest.mark.parametrize("n_topics", [1, 2, 3])
def test_correlations_that_do_not_vary_have_no_correlation(n_topics):
    fitted = model(np.eye(3)[:n_topics], locations=[[0.1, 0.2]] * n_topics)
    found = compare_correlations(fitted, fitted)
    assert found.correlation is None
    assert found.signs == (None if n_topics == 1 else 1)


def test_models_without_correlations_cannot_agree_on_them():
    plain = model(np.eye(3), kind="HDP")
    assert compare_correlations(plain, random_model(0)) is None
    assert compare_correlations(model(np.eye(3), locations=np.eye(3)), plain) is None
    found = stability([plain, plain])
    assert (found.mean, found.correlation, found.signs) == (1, None, None)


def test_stability_is_the_mean_over_pairs():
    models = [random_model(0), shuffled(random_model(0)), random_model(5)]
    found = stability(models)
    assert [(repeat.first, repeat.second) for repeat in found.repeats] == [(0, 1), (0, 2), (1, 2)]
    assert found.mean == pytest.approx(
        np.mean([match_topics(models[i], models[j]).mean for i, j in ((0, 1), (0, 2), (1, 2))])
    )
    assert found.repeats[0].topics.share == 1
    assert found.share == pytest.approx(np.mean([repeat.topics.share for repeat in found.repeats]))
    assert found.correlation == pytest.approx(
        np.mean([r.correlations.correlation for r in found.repeats if r.correlations.correlation is not None])
    )
    read = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert read["mean"] == found.mean
    assert len(read["pairs"][2]["matches"]) == 6
    with pytest.raises(ValueError, match="1 model was given"):
        stability(models[:1])
