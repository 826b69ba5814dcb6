"""The correlated topic model as an estimator: planted correlations are found, few documents do no harm, fits go on."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from telling import told

from diln import CTM, Sampling, simulate
from diln.models import fitting
from diln.models.checkpoints import CHECKPOINT, Checkpoints
from diln.models.counts import CorpusRows
from diln.models.files import read_model
from diln.models.parameters import parameters_of
from diln.models.sampling import planned

SETTINGS = {
    "sampling": {"topic_word_prior": 0.05, "max_iter": 120},
    "variational": {"inference": "variational", "topic_word_prior": 0.05, "tol": 1e-5},
    "online": {
        "inference": "variational", "topic_word_prior": 0.05, "learning_method": "online", "max_iter": 15,
        "batch_size": 100,
    },
}  # fmt: skip
SIZE = 6
COVARIANCE = 2.0 * np.eye(SIZE)
COVARIANCE[[0, 1, 2, 3], [1, 0, 3, 2]] = 1.6


def centred(covariance):
    """Of log weights less their mean in a document, as correlations."""
    middle = np.eye(SIZE) - 1 / SIZE
    covariance = middle @ covariance @ middle
    deviations = np.sqrt(np.diag(covariance))
    return covariance / np.outer(deviations, deviations)


@pytest.fixture(scope="module")
def planted():
    """Six topics, of which the first four are two pairs that go together."""
    made = simulate.ctm_corpus(
        800, 120, SIZE, covariance_matrix=COVARIANCE, topic_prior=0.05, doc_length=120, rng=3
    )  # fmt: skip
    return made, centred(COVARIANCE)


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
    check_found(
        told(CTM, n_components=SIZE, random_state=1, init=start, **SETTINGS[way]).fit(made.corpus),
        made,
        correlation,
        0.3,
    )


def test_sampling_finds_planted_topics_and_correlations_by_itself(planted):
    made, correlation = planted
    check_found(CTM(SIZE, random_state=0, **SETTINGS["sampling"]).fit(made.corpus), made, correlation, 0.3)


@pytest.mark.parametrize("way", ["sampling", "variational"])
def test_fewer_documents_than_topics_leave_a_covariance_that_can_be_inverted(way, planted):
    few = planted[0].corpus[:10]
    fitted = told(CTM, n_components=40, random_state=0, **SETTINGS[way]).fit(few)
    found = fitted.fitted_.posterior
    sigma = found.state.weights.covariance if way == "sampling" else found.weights.sigma
    assert np.linalg.cond(sigma) < 1e4
    assert np.isfinite(fitted.perplexity(few))
    assert np.isfinite(fitted.topic_correlation_).all()


@pytest.mark.parametrize("way", ["sampling", "variational"])
def test_the_more_the_prior_counts_the_weaker_correlations_are(way, planted):
    corpus = planted[0].corpus[:150]
    sizes = []
    for prior in (1.0, 300.0, 1e5):
        fitted = told(CTM, n_components=SIZE, random_state=0, covariance_prior=prior, **SETTINGS[way]).fit(corpus)
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
    done = len(whole.history) - whole.steps if learning == "online" else 4  # sweeps, of online learning all of them
    for sweeps in (3, 5):
        kept = Checkpoints(tmp_path / "kept", 0.0, resume=True)
        with pytest.raises(StoppedError):
            fitting.fit(parameters, rows, corpus.vocabulary, Stop(done + sweeps), kept)
        phase = read_model(kept.directory, CHECKPOINT).content["phase"]
        assert phase == ("online" if learning == "online" else "chain")
    again = fitting.fit(parameters, rows, corpus.vocabulary, None, Checkpoints(tmp_path / "kept", 0.0, resume=True))
    assert len(again.history) == len(whole.history)
    for name, value in whole.posterior.tensors().items():
        np.testing.assert_array_equal(again.posterior.tensors()[name], value, err_msg=name)


def test_options_of_other_models_are_refused(planted):
    for option in ({"omega": "exact"}, {"weight_rate": 5.0}):
        with pytest.raises(ValueError, match=r"is for DILN.*, and the model is CTM; leave it out"):
            CTM(SIZE, inference=Sampling(**option)).fit(planted[0].corpus)


def test_sampling_finds_how_far_log_weights_spread_in_batch_and_in_a_stream(planted):
    made = planted[0]
    given = {"n_components": SIZE, "random_state": 0, "topic_word_prior": 0.05}
    batch = CTM(**given).fit(made.corpus)
    online = told(CTM, learning_method="online", batch_size=100, max_iter=3, **given).fit(made.corpus)
    middle = np.eye(SIZE) - 1 / SIZE
    planted_one = np.median(np.diag(middle @ COVARIANCE @ middle))
    variances = [np.median(np.diag(one.topic_covariance_)) for one in (batch, online)]
    assert 0.7 < variances[0] / planted_one < 1.4
    assert 0.5 < variances[1] / variances[0] < 2.0


def test_streams_start_from_a_longer_chain_than_other_models_do():
    plans = [planned(parameters_of(kind, {"n_components": SIZE}), "online", 1) for kind in ("LDA", "CTM")]
    assert [plan.max_iter for plan in plans] == [40, 100]


def test_the_chain_that_a_stream_starts_from_does_not_end_early(planted):
    fitted = told(CTM, n_components=3, random_state=0, learning_method="online", max_iter=1, batch_size=40)
    fitted.fit(planted[0].corpus[:60])
    assert len(fitted.history_) - fitted.n_batch_iter_ == 100


def test_documents_that_come_in_later_do_not_narrow_log_weights(monkeypatch):
    monkeypatch.setattr("diln.models.parameters.STAGES", ((150, 60), (450, 20)))
    made = simulate.ctm_corpus(
        1500, 100, 20, covariance_matrix=3.0 * np.eye(20), topic_prior=0.05, doc_length=40, rng=3
    )
    known = SimpleNamespace(
        topic_word_=made.topics, topic_weights_=made.doc_topics.mean(axis=0), vocabulary_=made.corpus.vocabulary
    )
    given = {"random_state": 1, "topic_word_prior": 0.05, "init": known}
    grown, online = (
        told(CTM, n_components=20, learning_method=method, batch_size=150, max_iter=most, **given).fit(made.corpus)
        for method, most in (("grow", None), ("online", 3))
    )
    spreads = [np.diag(one.topic_covariance_).mean() / (3.0 * (1 - 1 / 20)) for one in (grown, online)]
    assert spreads[0] > 0.73
    assert spreads[1] > 0.83


def test_a_chain_keeps_all_its_topics_and_warms_up_without_log_weights(planted):
    corpus = planted[0].corpus[:50]
    fitted = CTM(30, random_state=0, max_iter=8, inference=Sampling(warm_up=2)).fit(corpus)
    assert fitted.topic_word_.shape == (30, 120)
    assert {entry["n_components"] for entry in fitted.history_} == {30}
    lda_like = [
        CTM(30, random_state=0, max_iter=8, inference=Sampling(warm_up=warm_up)).fit(corpus).history_[1]["score"]
        for warm_up in (0, 2)
    ]
    assert lda_like[0] != lda_like[1]
