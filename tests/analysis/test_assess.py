"""All measures of a model in one record, whatever the model and the documents."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from handmade import model, random_model, shuffled
from hypothesis import given, settings
from hypothesis import strategies as st

from diln.analysis import (
    count_together,
    diversity,
    effective_topics,
    exclusivity,
    largest_topics,
    npmi,
    qualities,
    quality,
    umass,
)
from diln.corpus import Corpus


def documents(n_docs: int = 80, n_terms: int = 30, seed: int = 0) -> Corpus:
    counts = np.random.default_rng(seed).poisson(0.3, (n_docs, n_terms))
    return Corpus.from_matrix(counts, [f"w{j}" for j in range(n_terms)])


def test_a_record_has_what_the_measures_say():
    fitted, corpus = random_model(0), documents()
    found = quality(fitted, corpus, 5)
    topics = largest_topics(fitted, n_words=5)
    counted = count_together(corpus, [topic.words for topic in topics])
    assert [(topic.id, topic.weight, topic.words) for topic in found.topics] == [
        (t.id, t.weight, t.words) for t in topics
    ]
    assert [(topic.npmi, topic.umass) for topic in found.topics] == [(npmi(one), umass(one)) for one in counted]
    assert {topic.id: topic.exclusivity for topic in found.topics} == exclusivity(fitted, 5)
    assert (found.diversity, found.effective_topics) == (diversity(fitted, 5), effective_topics(fitted))
    assert found.npmi == pytest.approx(np.mean([topic.npmi for topic in found.topics]))
    assert found.umass == pytest.approx(np.mean([topic.umass for topic in found.topics]))
    assert found.exclusivity == pytest.approx(np.mean(list(exclusivity(fitted, 5).values())))
    assert (found.coverage, found.n_scored, found.n_docs, found.n_words) == (1, 6, 80, 5)


def test_the_order_of_topics_does_not_matter():
    fitted, corpus = random_model(1), documents()
    found, other = quality(fitted, corpus), quality(shuffled(fitted), corpus)
    assert [topic.words for topic in found.topics] == [topic.words for topic in other.topics]
    for name in ("npmi", "umass", "exclusivity", "diversity", "effective_topics"):
        assert getattr(found, name) == pytest.approx(getattr(other, name))


def test_several_models_are_measured_as_each_alone():
    models, corpus = [random_model(0), random_model(1, n_topics=3)], documents()
    assert qualities(models, corpus) == [quality(one, corpus) for one in models]


def test_an_estimator_is_measured_by_what_it_holds():
    fitted, corpus = random_model(0), documents()
    assert quality(SimpleNamespace(fitted_=fitted), corpus) == quality(fitted, corpus)


def test_topics_that_the_corpus_does_not_know_are_left_out_of_the_means_and_counted():
    terms = ["a", "b", "x", "y"]
    fitted = model([[6, 4, 0, 0], [0, 0, 6, 4], [5, 0, 5, 0]], vocabulary=terms)
    outside = Corpus.from_tokens([["a", "b"], ["a"], ["b"], ["c"]], max_df=1.0)
    found = quality(fitted, outside, 2)
    assert [topic.n_pairs for topic in found.topics] == [1, 0, 0]
    assert [topic.npmi for topic in found.topics[1:]] == [0, 0]
    assert (found.npmi, found.umass) == (found.topics[0].npmi, found.topics[0].umass)
    assert (found.n_scored, found.coverage) == (1, 0.5)


def test_a_corpus_without_any_of_the_words_says_nothing():
    found = quality(model([[6, 4]]), Corpus.from_tokens([["a", "b"]], max_df=1.0))
    assert (found.npmi, found.umass, found.n_scored, found.coverage) == (0, 0, 0, 0)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 4), st.integers(1, 5), st.integers(1, 8), st.integers(1, 7), st.sampled_from([0.0, 0.3, 2.0]),
    st.integers(0, 2**16),
)  # fmt: skip
def test_no_measure_is_ever_no_number(n_topics, n_terms, n_docs, n_words, rate, seed):
    rng = np.random.default_rng(seed)
    fitted = model(rng.dirichlet(np.full(n_terms, 0.3), n_topics) + 1e-12, rng.uniform(0.1, 1, n_topics))
    counts = np.vstack([rng.poisson(rate, (n_docs, n_terms)), np.ones((1, n_terms), int)])
    corpus = Corpus.from_matrix(counts, fitted.vocabulary)[:n_docs]  # of which all documents may be empty
    found = quality(fitted, corpus, n_words)
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["n_topics"] == len(found.topics)
    assert -1 <= found.npmi <= 1
    assert 0 <= found.exclusivity <= 1 + 1e-12
    assert 1 / n_topics - 1e-12 <= found.diversity <= 1
    assert 1 - 1e-9 <= found.effective_topics <= n_topics + 1e-9


def test_a_model_without_topics_in_use_is_refused_before_the_long_work():
    with pytest.raises(ValueError, match="none of the model's 600 topics"):
        quality(model([[1.0]] * 600), documents())
