"""What merging does to numbers, by hand."""

import handmade
import numpy as np
import pytest
from newsroom import atlas, editor, paper

from diln.analysis import Atlas, Edits
from diln.analysis.correlations import Lifts, lifts_of
from diln.analysis.folding import Folding
from diln.analysis.pair_matrix import folded_lifts
from diln.analysis.reading import word_topics


def made(locations=None):
    rows = [[4, 1, 1, 1], [1, 4, 1, 1], [1, 1, 4, 1], [1, 1, 1, 4]]
    return handmade.model(rows, tokens=[10, 30, 20, 40], locations=np.eye(4) if locations is None else locations)


def test_shares_add_and_words_are_their_mean_by_share():
    fitted = made()
    folding = Folding(fitted, Edits().merge([1, 0]))
    assert folding.shares.tolist() == pytest.approx([0, 0.4, 0.2, 0.4])
    assert folding.topic_word[1] == pytest.approx(0.75 * fitted.topic_word[1] + 0.25 * fitted.topic_word[0])
    assert folding.shown.tolist() == [1, 3, 2]
    assert folding.columns(np.array([[0.1, 0.2, 0.3, 0.4]])).tolist() == [pytest.approx([0, 0.3, 0.3, 0.4])]
    assert folding.topic_word[[2, 3]].tolist() == fitted.topic_word[[2, 3]].tolist()


def test_topics_that_are_too_small_each_can_be_large_enough_together():
    rows = np.eye(5) + 0.1
    fitted = handmade.model(rows, tokens=[1.5, 1.5, 500, 500, 0.1])
    assert Folding(fitted).shown.tolist() == [2, 3]
    assert Folding(fitted, Edits().merge([0, 1])).shown.tolist() == [2, 3, 0]
    assert Folding(fitted, Edits().merge([0, 1]).hide([2])).shown.tolist() == [3, 0]


def test_lifts_of_merged_topics_are_means_by_products_of_shares():
    rng = np.random.default_rng(0)
    fitted = made(rng.standard_normal((4, 3)))
    lift, shares = np.exp(lifts_of(fitted).log_lift), fitted.topic_weights
    both = folded_lifts(Folding(fitted, Edits().merge([1, 0]).merge([3, 2])))
    parts = [(1, 3), (1, 2), (0, 3), (0, 2)]
    weights = [shares[i] * shares[j] for i, j in parts]
    wanted = np.average([lift[i, j] for i, j in parts], weights=weights)
    assert np.exp(both.log_lift[1, 3]) == pytest.approx(wanted)
    assert both.log_lift[3, 1] == both.log_lift[1, 3]
    assert both.topics.tolist() == [1, 3]
    pair = both.pair(3, 1)
    assert (pair.first, pair.second) == (1, 3)
    assert -1 <= pair.correlation <= 1


def judged(sure, monkeypatch):
    """A model of four topics whose pairs are sure as told, all of them together."""
    log_lift = np.full((4, 4), 0.5)
    known = Lifts(
        np.arange(4), log_lift, np.eye(4), np.full((4, 4), 0.1), np.exp(log_lift - 0.2), np.exp(log_lift + 0.2),
        np.array(sure, bool), np.full((4, 4), 4) - np.eye(4, dtype=int),
    )  # fmt: skip
    monkeypatch.setattr("diln.analysis.pair_matrix.lifts_of", lambda fitted: known)
    return known


def test_a_merged_pair_is_sure_where_all_parts_that_carry_weight_are(monkeypatch):
    sure = np.ones((4, 4), bool)
    judged(sure, monkeypatch)
    assert folded_lifts(Folding(made(), Edits().merge([1, 0]))).sure[1, 2]
    sure[0, 2] = sure[2, 0] = False
    judged(sure, monkeypatch)
    found = folded_lifts(Folding(made(), Edits().merge([1, 0])))
    assert not found.sure[1, 2]
    assert found.sure[1, 3]
    tiny = handmade.model(np.eye(4) + 0.1, tokens=[1, 30, 20, 40], locations=np.eye(4))
    assert folded_lifts(Folding(tiny, Edits().merge([1, 0]))).sure[1, 2], "a part of 3% carries no weight"


def test_a_merged_pair_is_not_sure_where_its_parts_go_apart(monkeypatch):
    known = judged(np.ones((4, 4), bool), monkeypatch)
    known.log_lift[0, 2] = known.log_lift[2, 0] = -0.5
    found = folded_lifts(Folding(made(), Edits().merge([1, 0])))
    assert not found.sure[1, 2]
    assert found.n_chains[1, 2] == 4


def test_infinite_ranges_stay_what_they_are(monkeypatch):
    known = judged(np.ones((4, 4), bool), monkeypatch)
    known.high[2, 3] = known.high[3, 2] = np.inf
    found = folded_lifts(Folding(made(), Edits().merge([1, 0])))
    assert np.isfinite(found.high[1, 2])
    assert found.high[2, 3] == np.inf


def test_without_edits_nothing_is_folded():
    fitted = editor().fitted_
    folding = Folding(fitted)
    assert folding.topic_word is fitted.topic_word
    theta = np.random.default_rng(0).dirichlet(np.ones(12), 3)
    assert folding.columns(theta) is theta


def test_merging_everywhere_is_the_same_as_adding():
    one, edits = atlas(), Edits().merge([0, 2]).hide([1])
    two = Atlas(one.fitted, paper(), index=one.index, edits=edits)
    first, second = one.topic(0), one.topic(2)
    merged = two.topic(2)
    assert (merged.id, merged.merged) == (0, (2,))
    assert merged.share == pytest.approx(first.share + second.share)
    assert 1 not in [topic.id for topic in two.topics()]
    assert two.topic(1).id == 1
    found = two.documents(topic=0, n=500)
    shares = one.index.proportions(range(len(paper())))
    for document in found.documents:
        assert document.share == pytest.approx(float(shares[document.row, [0, 2]].sum()), abs=2e-3)
    assert {0, 2, 1}.isdisjoint({topic.id for d in found.documents for topic in d.topics} - {0})
    shown = 1 - one.topic(1).share - one.topic(11).share  # neither the hidden nor the small one is in a theme
    assert sum(theme.share for theme in two.themes().themes) == pytest.approx(shown)
    values = [one.trends(ids=[k], granularity="year").series[0].values[0] for k in (0, 2)]
    assert two.trends(ids=[0], granularity="year").series[0].values[0] == pytest.approx(sum(values))


def test_words_of_a_document_are_of_small_topics_too():
    fitted = handmade.model(np.eye(4) + 0.1, tokens=[1, 5000, 5000, 0])
    folding = Folding(fitted)
    assert folding.shown.tolist() == [1, 2]
    assert folding.named.tolist() == [1, 2, 0]
    assert word_topics([0], folding, np.array([0.9, 0.05, 0.05, 0]))[0][0] == 0
    hidden = Folding(fitted, Edits().hide([0]))
    assert word_topics([0], hidden, np.array([0.9, 0.05, 0.05, 0]))[0][0] == 1
    assert set(Atlas(fitted).names()) == {0, 1, 2}
