"""What was planted in a corpus is found again by variational inference."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from telling import told

from diln import DILN, HDP, LDA, simulate

LOCATIONS = np.array([[1.5, 0], [1.4, 0.3], [-1.5, 0], [-1.4, 0.3], [0, 1.5], [0, -1.5]])
SETTINGS = {"inference": "variational", "topic_word_prior": 0.05, "tol": 1e-5, "random_state": 0}


def planted(seed):
    """A thousand documents of six even topics, of which the first four are two pairs that avoid each other."""
    rng = np.random.default_rng(seed)
    weights = simulate.diln_weights(np.full(6, 1 / 6), LOCATIONS, 1000, beta=6.0, rng=rng)
    topics = simulate.draw_topics(6, 150, 0.05, rng=rng)
    corpus, _ = simulate.draw_corpus(topics, weights.doc_topics, 150, rng=rng)
    return corpus, topics, weights.doc_topics


def matched(topics, found):
    """For each planted topic the found one that is it, and their affinity (1 if they are the same)."""
    affinity = np.sqrt(topics) @ np.sqrt(found).T
    rows, columns = linear_sum_assignment(-affinity)
    return columns, affinity[rows, columns]


@pytest.mark.parametrize(
    ("model", "given"),
    [
        (LDA, {"n_components": 6, "doc_topic_prior": "auto"}),
        (HDP, {"n_components": 15}),
        (DILN, {"n_components": 15, "n_dims": 3}),
        (DILN, {"n_components": 15, "n_dims": 3, "learning_method": "online", "max_iter": 10, "batch_size": 100}),
        (HDP, {"n_components": 15, "learning_method": "online", "max_iter": 10, "batch_size": 100}),
        (LDA, {"n_components": 6, "learning_method": "online", "max_iter": 10, "batch_size": 100}),
    ],
    ids=["lda", "hdp", "diln", "diln-online", "hdp-online", "lda-online"],
)
def test_planted_topics_and_proportions_are_found(model, given):
    for seed in (0, 3):
        corpus, topics, proportions = planted(seed)
        fitted = told(model, **SETTINGS, **given).fit(corpus)
        columns, affinity = matched(topics, fitted.topic_word_)
        assert affinity.min() > 0.85
        assert np.median(affinity) > 0.95
        found = fitted.transform(corpus)[:, columns]
        assert np.corrcoef(found.ravel(), proportions.ravel())[0, 1] > 0.9


def test_the_model_uses_few_more_topics_than_there_are():
    corpus, _, _ = planted(0)
    fitted = told(HDP, n_components=30, **SETTINGS).fit(corpus)
    assert np.sort(fitted.topic_weights_)[::-1][:8].sum() > 0.95


def test_planted_correlations_are_found():
    """With as many topics as were planted: the signs of strong pairs, and the pattern of all, on most seeds.

    Point estimates of locations can end in a local optimum, so not every seed must succeed.
    """
    pairs = np.triu_indices(6, 1)
    truth = (LOCATIONS @ LOCATIONS.T)[pairs]
    signs, patterns = [], []
    for seed in range(6):
        corpus, topics, _ = planted(seed)
        fitted = told(DILN, n_components=6, n_dims=2, location_variance=1.0, **SETTINGS).fit(corpus)
        columns, _ = matched(topics, fitted.topic_word_)
        found = fitted.topic_covariance_[np.ix_(columns, columns)][pairs]
        strong = np.abs(truth) > 1
        signs.append((np.sign(found) == np.sign(truth))[strong].mean())
        patterns.append(np.corrcoef(found, truth)[0, 1])
    assert np.mean(signs) > 0.85
    assert np.median(patterns) > 0.8


def test_correlated_topics_are_worth_something_for_prediction():
    """On documents of a model with strong correlations, DILN predicts no worse than the HDP."""
    better = []
    for seed in range(4):
        corpus, _, _ = planted(seed)
        split = corpus.completion(seed)
        values = [
            told(model, n_components=6, **SETTINGS, **given).fit(split.train).perplexity(split.observed, split.held_out)
            for model, given in ((DILN, {"n_dims": 2, "location_variance": 1.0}), (HDP, {}))
        ]
        better.append(values[0] / values[1])
    assert np.mean(better) < 1.005
