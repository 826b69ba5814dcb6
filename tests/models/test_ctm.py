"""The correlated topic model as an estimator: planted correlations are found, few documents do no harm, fits go on."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from diln import CTM, simulate
from diln.models import fitting
from diln.models.checkpoints import Checkpoints
from diln.models.counts import CorpusRows
from diln.models.parameters import parameters_of

SETTINGS = {
    "sampling": {"topic_word_prior": 0.05, "max_iter": 120},
    "variational": {"inference": "variational", "topic_word_prior": 0.05, "tol": 1e-5},
    "online": {
        "inference": "variational", "topic_word_prior": 0.05, "learning_method": "online", "max_iter": 15,
        "batch_size": 100,
    },
}  # fmt: skip
SIZE = 6


def centred(covariance):
    """Of log weights less their mean in a document, as correlations."""
    middle = np.eye(SIZE) - 1 / SIZE
    covariance = middle @ covariance @ middle
    deviations = np.sqrt(np.diag(covariance))
    return covariance / np.outer(deviations, deviations)


@pytest.fixture(scope="module")
def planted():
    """Six topics, of which the first four are two pairs that go together."""
    covariance = 2.0 * np.eye(SIZE)
    for i, j in ((0, 1), (2, 3)):
        covariance[i, j] = covariance[j, i] = 1.6
    made = simulate.ctm_corpus(
        800, 120, SIZE, covariance_matrix=covariance, topic_prior=0.05, doc_length=120, rng=3
    )  # fmt: skip
    return made, centred(covariance)


def matched(topics, found):
    """For each planted topic the found one that is it, and their affinity (1 if they are the same)."""
    affinity = np.sqrt(topics) @ np.sqrt(found).T
    rows, columns = linear_sum_assignment(-affinity)
    return columns, affinity[rows, columns]


def check_found(fitted, made, correlation, off):
    columns, affinity = matched(made.topics, fitted.topic_word_)
    assert affinity.min() > 0.9
    found = fitted.transform(made.corpus)[:, columns]
    assert np.corrcoef(found.ravel(), made.doc_topics.ravel())[0, 1] > 0.93
    told = fitted.topic_correlation_[np.ix_(columns, columns)]
    above = np.triu_indices(SIZE, 1)
    assert np.abs(told - correlation)[above].max() < off
    pairs = {tuple(pair) for pair in np.argwhere(np.triu(told, 1) > 0.3)}
    assert pairs == {(0, 1), (2, 3)}


@pytest.mark.parametrize("way", SETTINGS)
def test_planted_correlations_are_found_where_topics_are(way, planted):
    """From the planted topics: without, six are often not told apart, and some stand for two."""
    made, correlation = planted
    start = SimpleNamespace(
        topic_word_=made.topics, topic_weights_=made.doc_topics.mean(axis=0), vocabulary_=made.corpus.vocabulary
    )
    check_found(CTM(SIZE, random_state=1, init=start, **SETTINGS[way]).fit(made.corpus), made, correlation, 0.3)


def test_sampling_finds_planted_topics_and_correlations_by_itself(planted):
    made, correlation = planted
    check_found(CTM(SIZE, random_state=0, **SETTINGS["sampling"]).fit(made.corpus), made, correlation, 0.3)


@pytest.mark.parametrize("way", ["sampling", "variational"])
def test_fewer_documents_than_topics_leave_a_covariance_that_can_be_inverted(way, planted):
    few = planted[0].corpus[:10]
    fitted = CTM(40, random_state=0, **SETTINGS[way]).fit(few)
    sigma = fitted.fitted_.posterior.weights.sigma
    assert np.linalg.cond(sigma) < 1e4
    assert np.isfinite(fitted.perplexity(few))
    assert np.isfinite(fitted.topic_correlation_).all()


@pytest.mark.parametrize("way", ["sampling", "variational"])
def test_the_more_the_prior_counts_the_weaker_correlations_are(way, planted):
    corpus = planted[0].corpus[:150]
    sizes = []
    for prior in (1.0, 300.0, 1e5):
        fitted = CTM(SIZE, random_state=0, covariance_prior=prior, **SETTINGS[way]).fit(corpus)
        sizes.append(np.abs(fitted.topic_correlation_ - centred(np.eye(SIZE))).sum())
    assert sizes[0] > sizes[1] > sizes[2]


class StoppedError(Exception):
    """A fit that was stopped."""


class Stop:
    """Looks on for so many sweeps."""

    def __init__(self, sweeps):
        self.left = sweeps

    def look(self, progress):
        self.left -= 1
        if self.left < 0:
            raise StoppedError


@pytest.mark.parametrize("learning", ["batch", "grow", "online"])
def test_a_fit_that_was_stopped_goes_on_to_the_same_bits(learning, planted, tmp_path, monkeypatch):
    monkeypatch.setattr("diln.models.parameters.STAGES", ((60, 5), (90, 4)))
    corpus = planted[0].corpus[:120]
    told = {"n_components": 5, "max_iter": 16, "random_state": 3, "learning_method": learning, "batch_size": 40}
    told |= {"max_iter": 2} if learning == "online" else {}
    parameters = parameters_of("CTM", told)
    rows = CorpusRows(corpus)
    whole = fitting.fit(parameters, rows, corpus.vocabulary)
    for sweeps in (3, 5):
        kept = Checkpoints(tmp_path / "kept", 0.0, resume=True)
        with pytest.raises(StoppedError):
            fitting.fit(parameters, rows, corpus.vocabulary, Stop(sweeps + 4), kept)
    again = fitting.fit(parameters, rows, corpus.vocabulary, None, Checkpoints(tmp_path / "kept", 0.0, resume=True))
    assert len(again.history) == len(whole.history)
    for name, value in whole.posterior.tensors().items():
        np.testing.assert_array_equal(again.posterior.tensors()[name], value, err_msg=name)


def test_exact_draws_of_polya_gamma_variables_find_the_same(planted):
    corpus = planted[0].corpus[:80]
    mean, exact = (CTM(SIZE, random_state=0, max_iter=20, polya_gamma=one).fit(corpus) for one in ("mean", "exact"))
    assert not np.array_equal(mean.components_, exact.components_)
    assert exact.perplexity(corpus) == pytest.approx(mean.perplexity(corpus), rel=0.05)


def test_a_chain_keeps_all_its_topics_and_warms_up_without_log_weights(planted):
    corpus = planted[0].corpus[:50]
    fitted = CTM(30, random_state=0, max_iter=8, warm_up=2).fit(corpus)
    assert fitted.topic_word_.shape == (30, 120)
    assert {entry["n_components"] for entry in fitted.history_} == {30}
    lda_like = [
        CTM(30, random_state=0, max_iter=8, warm_up=warm_up).fit(corpus).history_[1]["score"] for warm_up in (0, 2)
    ]
    assert lda_like[0] != lda_like[1]
