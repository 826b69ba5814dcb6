"""Topics in words: the largest first, under the numbers that they have everywhere."""

import warnings

import numpy as np
import pytest

from diln import DILN, LDA, DilnWarning
from diln.analysis import Atlas, correlated_pairs, in_use, largest_topics
from diln.corpus import Corpus
from diln.engine.threads import Threads
from diln.inference import progress
from diln.models.counts import CorpusRows
from diln.models.fitted import Fitted
from diln.models.fitting import fit
from diln.models.parameters import parameters_of

pytestmark = pytest.mark.filterwarnings("ignore::diln.DilnWarning")
THEMES = ["apple pear plum cherry", "brake wheel engine gear", "violin flute drum horn"]


def small_corpus(n_docs: int = 60) -> Corpus:
    rng = np.random.default_rng(0)
    return Corpus.from_texts([" ".join(rng.choice(THEMES[m % 3].split(), 20)) for m in range(n_docs)])


def fitted_to(corpus: Corpus, n_topics: int = 6, kind: str = "DILN") -> Fitted:
    parameters = parameters_of(kind, {"n_components": n_topics, "random_state": 0, "max_iter": 30})
    return fit(parameters, CorpusRows(corpus), corpus.vocabulary)


@pytest.fixture(scope="module")
def fitted() -> Fitted:
    """A model that uses all topics but the last two."""
    made = fitted_to(small_corpus())
    made.posterior.statistics[:, -2:] = 0
    with Threads(1) as threads:
        made.posterior.refresh(threads)
    return made


def test_the_largest_topic_comes_first_under_its_own_number(fitted):
    topics = largest_topics(fitted, unused=True)
    assert sorted(topic.id for topic in topics) == list(range(6))
    assert [topic.weight for topic in topics] == sorted(fitted.topic_weights, reverse=True)
    assert all(topic.weight == fitted.topic_weights[topic.id] for topic in topics)


def test_words_are_the_most_probable_with_their_probabilities(fitted):
    for topic in largest_topics(fitted, n_words=4):
        row = fitted.topic_word[topic.id]
        assert list(topic.probabilities) == sorted(row, reverse=True)[:4]
        assert [row[fitted.vocabulary.index(word)] for word in topic.words] == list(topic.probabilities)


def test_a_topic_number_is_the_column_of_transform(fitted):
    corpus = small_corpus()
    with Threads(1) as threads:
        theta = fitted.infer(CorpusRows(corpus).everything(), threads).proportions
    for topic in largest_topics(fitted, 3, n_words=2):
        for document in np.flatnonzero(theta.argmax(axis=1) == topic.id):
            words = set(THEMES[document % 3].split())
            assert set(topic.words) <= words


def test_only_topics_in_use_are_listed_unless_all_are_asked_for(fitted):
    used = in_use(fitted)
    assert used.tolist() == [True] * 4 + [False] * 2
    assert used.sum() == fitted.n_topics
    assert {topic.id for topic in largest_topics(fitted)} == set(np.flatnonzero(used).tolist())
    assert len(largest_topics(fitted, unused=True)) == 6


def test_a_topic_is_in_use_if_it_holds_one_in_500_tokens():
    tokens = np.array([1e6, 2.1e3, 2.0e3, 0.0])
    assert progress.in_use(tokens).tolist() == [True, True, False, False]
    assert progress.topics_in_use(tokens) == 2


@pytest.mark.parametrize("look", [largest_topics, in_use, correlated_pairs])
def test_an_estimator_serves_as_well_as_the_model_that_it_holds(look):
    model = DILN(4, max_iter=5, random_state=0)
    with pytest.raises(ValueError, match="this DILN is not fitted yet; call fit first"):
        look(model)
    model.fit(small_corpus())
    np.testing.assert_equal(look(model), look(model.fitted_))


def test_more_words_than_there_are_terms_gives_all_terms(fitted):
    assert len(largest_topics(fitted, n_words=1000)[0].words) == len(fitted.vocabulary)


@pytest.mark.parametrize(("name", "asked"), [("n_topics", {"n_topics": 0}), ("n_words", {"n_words": -1})])
def test_less_than_one_is_refused(fitted, name, asked):
    with pytest.raises(ValueError, match=f"{name} is"):
        largest_topics(fitted, **asked)


@pytest.mark.parametrize("kind", ["DILN", "HDP", "LDA"])
def test_a_model_of_one_topic_has_one(kind):
    (topic,) = largest_topics(fitted_to(small_corpus(), 1, kind))
    assert (topic.id, topic.weight) == (0, 1.0)


def test_terms_without_names_are_said_to_be_when_topics_are_first_shown():
    model = LDA(2, random_state=0, inference="variational", max_iter=2).fit(np.ones((4, 3), int))
    hint = "the model's terms are shown as x0, x1, ...: .*set model.vocabulary_ = vectorizer.get_feature_names_out"
    with pytest.warns(DilnWarning, match=hint):
        largest_topics(model)
    with pytest.warns(DilnWarning, match=hint):
        Atlas(model)
    model.vocabulary_ = ["ant", "bee", "cow"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert set(largest_topics(model)[0].words) == {"ant", "bee", "cow"}
        Atlas(model)
