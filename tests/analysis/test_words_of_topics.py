"""Words of topics and topics of words."""

import handmade
import numpy as np
import pytest
from newsroom import atlas

from diln.analysis import Atlas, Edits
from diln.analysis.words import frex, largest, lifts, marginal, relevances


def test_lift_and_relevance_by_hand():
    words = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    overall = marginal(words, np.array([0.25, 0.75]))
    assert overall == pytest.approx([0.2, 0.15, 0.65])
    assert lifts(words[0], overall) == pytest.approx([2.5, 2, 0.2 / 0.65])
    wanted = 0.6 * np.log(words[0]) + 0.4 * np.log(words[0] / overall)
    assert relevances(words[0], overall, 0.6) == pytest.approx(wanted)


def test_frex_is_the_harmonic_mean_of_two_ranks():
    words = np.array([[0.5, 0.3, 0.2], [0.9, 0.05, 0.05]])
    exclusive = words / words.sum(axis=0)
    for topic in range(2):
        ranks = [(np.argsort(np.argsort(one)) + 1) / 3 for one in (exclusive[topic], words[topic])]
        assert frex(words[topic], words.sum(axis=0)) == pytest.approx(2 / (1 / ranks[0] + 1 / ranks[1]))


def test_the_largest_are_in_order_and_ties_by_place():
    values = np.array([1.0, 3, 2, 3, 0, 2])
    for n in range(1, 8):
        assert largest(values, n) == np.argsort(-values, kind="stable")[:n].tolist()


def test_probable_words_and_words_of_high_lift_are_the_two_ends_of_relevance():
    one = atlas()
    topic = one.topics()[0].id
    probable = [word.term for word in one.words(topic, 1.0, 10)]
    assert probable == list(one.topic(topic).words)
    by_lift = [word.lift for word in one.words(topic, 0.0, 10)]
    assert by_lift == sorted(by_lift, reverse=True)
    assert [word.term for word in one.words(topic, n=5)] == list(one.topic(topic, 5).telling)
    with pytest.raises(ValueError, match="relevance is 2; give a number from 0 to 1"):
        one.words(topic, 2)


def test_the_topics_of_a_word_hold_its_tokens():
    fitted = handmade.model([[3, 1], [1, 3]], tokens=[150, 300], vocabulary=["elk", "owl"])
    found = Atlas(fitted).word("elk")
    assert [(one.topic, one.probability) for one in found] == [(0, 0.75), (1, 0.25)]
    assert [one.share for one in found] == pytest.approx([0.6, 0.4])
    assert Atlas(fitted).word(" ELK ") == found
    with pytest.raises(ValueError, match="the model does not know the word 'ant'"):
        Atlas(fitted).word("ant")
    assert sum(one.share for one in atlas().word("judge", 99)) == pytest.approx(1, abs=0.01)


def test_topics_are_found_by_their_words_in_any_case_and_not_yet_at_their_end():
    one = atlas()
    law = one.find("Judge TRIAL")[0]
    assert {word.term for word in one.words(law.topic, n=12)} >= {"judge", "trial"}
    assert sorted(law.probabilities) == ["judge", "trial"]
    assert (law.listed, law.hidden) == (True, False)
    assert one.find("judge tri")[0].topic == law.topic
    assert one.find("nosuchword judge")[0].topic == one.find("judge")[0].topic
    assert one.find("") == one.find("nosuchword") == one.find("ju") == ()
    lifts = [hit.lift for hit in one.find("court", 50)]
    assert lifts == sorted(lifts, reverse=True)
    assert min(lifts) > 2
    with pytest.raises(TypeError, match="text is a int"):
        one.find(3)


def test_hidden_and_small_topics_are_found_and_marked_and_merged_ones_once():
    one = atlas()
    first, second, *_ = (hit.topic for hit in one.find("judge", 12))
    assert one.edited(Edits().hide([first])).find("judge")[0].hidden
    merged = one.edited(Edits().merge([first, second])).find("judge", 12)
    assert first in [hit.topic for hit in merged]
    assert second not in [hit.topic for hit in merged]
    words = np.full((4, 40), 0.01)
    words[2:, 7] = 1
    small = Atlas(handmade.model(words, tokens=[50_000, 50_000, 60, 0.5]))
    assert [(hit.topic, hit.listed) for hit in small.find("w7")] == [(2, False)], "of few words little is sure"
