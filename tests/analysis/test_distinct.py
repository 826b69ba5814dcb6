"""How much topics differ, by hand."""

import numpy as np
import pytest
from handmade import model, random_model, shuffled

from diln.analysis import diversity, effective_topics, exclusivity


def test_diversity_is_the_share_of_distinct_words():
    fitted = model([[4, 3, 1, 0, 0], [4, 3, 0, 1, 0], [0, 0, 1, 3, 4]])
    assert diversity(fitted, 2) == pytest.approx(4 / 6)
    assert diversity(model([[1, 0, 0], [0, 1, 0], [0, 0, 1]]), 1) == 1
    assert diversity(model([[3, 2, 1]] * 4), 2) == pytest.approx(1 / 4)


def test_exclusivity_is_the_share_of_a_word_that_a_topic_has():
    fitted = model([[6, 2, 2, 0], [3, 1, 0, 6]])
    assert exclusivity(fitted, 2) == pytest.approx({0: (2 / 3 + 2 / 3) / 2, 1: (1 + 1 / 3) / 2})
    assert exclusivity(model([[1, 0], [0, 1]]), 1) == {0: 1, 1: 1}
    assert exclusivity(model([[1, 2, 3]] * 5), 2) == pytest.approx(dict.fromkeys(range(5), 0.2))


def test_only_topics_in_use_count():
    rows = [[6, 2, 2, 0], [0, 0, 1, 6], [9, 9, 9, 9]]
    fitted, without = model(rows, [500, 500, 0.5]), model(rows[:2])
    assert diversity(fitted, 2) == diversity(without, 2)
    assert exclusivity(fitted, 2) == exclusivity(without, 2)


def test_effective_topics_are_as_many_as_would_be_as_even():
    assert effective_topics(model([[1.0]] * 7)) == pytest.approx(7)
    assert effective_topics(model([[1.0]] * 3, [5, 0, 0])) == pytest.approx(1)
    assert effective_topics(model([[1.0]] * 3, [2, 1, 1])) == pytest.approx(np.exp(0.5 * np.log(2) + 0.5 * np.log(4)))


def test_the_order_of_topics_does_not_matter():
    fitted = random_model(0)
    other = shuffled(fitted)
    assert diversity(fitted, 5) == diversity(other, 5)
    assert sorted(exclusivity(fitted, 5).values()) == pytest.approx(sorted(exclusivity(other, 5).values()))
    assert effective_topics(fitted) == pytest.approx(effective_topics(other))


def test_one_topic_of_one_word_is_all_there_is():
    fitted = model([[1.0]])
    assert (diversity(fitted), exclusivity(fitted), effective_topics(fitted)) == (1, {0: 1}, 1)


def test_a_word_that_no_topic_has_is_nobodys():
    assert exclusivity(model([[1, 0, 0], [1, 0, 0]]), 3) == pytest.approx({0: 0.5 / 3, 1: 0.5 / 3})


@pytest.mark.parametrize("measure", [diversity, exclusivity])
def test_without_words_or_topics_nothing_is_measured(measure):
    with pytest.raises(ValueError, match="n_words is 0"):
        measure(model([[1.0]]), 0)
    with pytest.raises(ValueError, match="none of the model's 600 topics holds one in 500 tokens"):
        measure(model([[1.0]] * 600))
