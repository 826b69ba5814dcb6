"""What has changed from one model to another is told: by numbers in one line of updates, else by words."""

import copy

import numpy as np
import pytest

import diln
from diln.analysis import diff

THEMES = [
    "apple pear plum cherry orchard fruit harvest",
    "brake wheel engine gear motor fuel driver",
    "violin flute drum horn concert music orchestra",
]
STARS = "galaxy comet orbit planet telescope star nebula"


def texts(n_docs: int, seed: int, themes: list[str]) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(themes[i % len(themes)].split(), 20)) for i in range(n_docs)]


def fitted(themes: list[str], seed: int = 0, n_components: int = 3) -> diln.DILN:
    model = diln.DILN(n_components, n_dims=2, max_iter=30, random_state=seed, inference=diln.Sampling(batch_size=50))
    return model.fit(diln.Corpus.from_texts(texts(150, seed, themes)))


@pytest.fixture(scope="module")
def old():
    return fitted(THEMES)


def test_nothing_has_changed_in_a_model_itself(old):
    found = diff(old, old)
    assert found.one_line
    assert found.new_terms == found.gone_terms == ()
    assert {one.kind for one in found.topics} == {"steady"}
    assert all(one.affinity == pytest.approx(1) and not one.came and not one.left for one in found.topics)
    assert all(pair.before == pair.after for pair in found.pairs)


def test_topics_of_an_updated_model_are_the_same_by_their_numbers(old):
    new = copy.deepcopy(old)
    fruit = max(range(3), key=lambda topic: old.topic_word_[topic][old.vocabulary_.index("apple")])
    new.update([f"{text} quince medlar" for text in texts(300, 1, THEMES[:1])], half_life=50)
    found = diff(old, new)
    assert found.one_line
    assert set(found.new_terms) <= {"quince", "medlar"}
    changes = {one.new: one for one in found.topics}
    assert changes[fruit].kind == "grown"
    assert changes[fruit].old == fruit
    assert changes[fruit].before == pytest.approx(old.topic_weights_[fruit])
    assert changes[fruit].after == pytest.approx(new.topic_weights_[fruit])
    assert {one.kind for one in found.topics if one.new != fruit} <= {"shrunk", "faded"}
    assert found.documents == (150.0, new.fitted_.population)


def test_topics_of_other_models_are_matched_by_their_words_and_the_rest_is_born_or_gone(old):
    new = fitted([THEMES[2], STARS, THEMES[0]], seed=1)
    found = diff(old, new)
    assert not found.one_line
    kinds = {one.kind: one for one in found.topics}
    assert set(kinds["born"].words) & set(STARS.split())
    assert kinds["born"].old is None
    assert set(kinds["faded"].words) & set(THEMES[1].split())
    assert kinds["faded"].new is None
    kept = [one for one in found.topics if one.old is not None and one.new is not None]
    assert len(kept) == 2
    assert all(one.affinity > 0.9 for one in kept)
    assert set(found.new_terms) == set(STARS.split())
    assert set(found.gone_terms) == set(THEMES[1].split())


def test_words_that_come_into_a_topic_and_leave_it_are_told(old):
    new = copy.deepcopy(old)
    swapped = THEMES[0].replace("apple", "quince").replace("pear", "medlar")
    new.update(texts(200, 1, [swapped, *THEMES[1:]]), half_life=20, min_docs=2)
    found = diff(old, new, n_words=7)
    changed = next(one for one in found.topics if one.came)
    assert set(changed.came) == {"quince", "medlar"}
    assert set(changed.left) == {"apple", "pear"}


def test_models_without_a_term_in_common_are_refused_and_numbers_are_checked(old):
    with pytest.raises(ValueError, match="no term in common"):
        diff(old, fitted([STARS, "tide sail anchor mast reef crew buoy"], n_components=2))
    with pytest.raises(ValueError, match="n_words"):
        diff(old, old, n_words=0)


def test_it_becomes_plain_json(old):
    told = diff(old, fitted(THEMES, seed=2)).to_json()
    assert set(told) == {"one_line", "documents", "n_topics", "topics", "new_terms", "gone_terms", "pairs"}
    assert all(type(one["kind"]) is str for one in told["topics"])
