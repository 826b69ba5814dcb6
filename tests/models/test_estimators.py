"""The estimators keep their promises, each through the same checks."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator
from telling import told

import diln
from diln import CTM, DILN, HDP, LDA, Corpus, DilnWarning, Variational, simulate
from diln.inference.progress import topics_in_use
from diln.models import parameters

MODELS = [DILN, HDP, LDA, CTM]
KEEP_ALL = [LDA, CTM]  # topics
each_way = pytest.mark.parametrize("inference", ["sampling", "variational"])


@pytest.fixture(scope="module")
def corpus():
    return simulate.hdp_corpus(150, 60, 6, alpha=3.0, beta=5.0, doc_length=simulate.Poisson(40), rng=1).corpus


def small(model, inference="sampling", **given):
    sizes = {"n_components": 8, "max_iter": 12 if inference == "sampling" else 6}
    places = {"n_dims": 3} if model is DILN else {}
    return told(model, **{"inference": inference, "random_state": 0, **sizes, **places, **given})


def variational(model, **given):
    return small(model, "variational", **given)


@pytest.mark.parametrize("model", MODELS)
def test_scikit_learns_own_checks_pass(model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(model(n_components=8, max_iter=12), on_fail=None)
    assert len(results) > 40
    assert {one["check_name"] for one in results if one["status"] in ("failed", "xfail")} == set()


def state(model):
    return model.fitted_.posterior.tensors()


@pytest.mark.parametrize(
    ("inference", "learning"),
    [("sampling", "batch"), ("sampling", "grow"), ("sampling", "online"), ("variational", "batch"),
     ("variational", "online")],
)  # fmt: skip
@pytest.mark.parametrize("model", MODELS)
def test_the_number_of_threads_changes_no_bit(model, inference, learning, corpus, monkeypatch):
    monkeypatch.setattr(parameters, "STAGES", ((60, 4), (100, 4)))
    given = {"learning_method": learning, "batch_size": 70}
    fits = [small(model, inference, n_jobs=jobs, **given).fit(corpus) for jobs in (1, 2, 4)]
    for other in fits[1:]:
        for name, value in state(fits[0]).items():
            np.testing.assert_array_equal(state(other)[name], value, err_msg=name)
        np.testing.assert_array_equal(other.transform(corpus), fits[0].transform(corpus))
        assert other.perplexity(corpus) == fits[0].perplexity(corpus)


@each_way
@pytest.mark.parametrize("model", MODELS)
def test_documents_come_out_alike_alone_together_and_from_fit_transform(model, inference, corpus):
    fitted = small(model, inference).fit(corpus)
    together = fitted.transform(corpus.counts)
    alone = np.vstack([fitted.transform(corpus.counts[[row]]) for row in range(20)])
    np.testing.assert_array_equal(alone, together[:20])
    np.testing.assert_array_equal(fitted.transform(corpus.counts[::-1])[::-1], together)
    np.testing.assert_array_equal(small(model, inference).fit_transform(corpus), together)
    np.testing.assert_allclose(together.sum(axis=1), 1, rtol=1e-12)
    assert together.shape == (150, 8)


@each_way
@pytest.mark.parametrize("model", MODELS)
def test_every_kind_of_counts_gives_the_same_model(model, inference, corpus):
    counts = corpus.counts
    kinds = [counts, csr_matrix(counts), counts.tocsc(), counts.toarray(), counts.astype(float)]
    expected = small(model, inference).fit(corpus).components_
    for kind in kinds:
        np.testing.assert_array_equal(small(model, inference).fit(kind).components_, expected)


@each_way
@pytest.mark.parametrize("model", MODELS)
def test_fitted_attributes_have_the_shapes_that_the_docs_say(model, inference, corpus):
    fitted = small(model, inference).fit(corpus)
    assert fitted.components_.shape == fitted.topic_word_.shape == (8, 60)
    assert (fitted.components_ > 0).all()
    np.testing.assert_allclose(fitted.topic_word_.sum(axis=1), 1)
    np.testing.assert_allclose(fitted.topic_weights_.sum(), 1)
    assert fitted.n_topics_ == topics_in_use(fitted.topic_weights_) <= 8
    assert fitted.vocabulary_ == corpus.vocabulary
    assert fitted.n_iter_ == len(fitted.history_) <= fitted.max_iter
    assert fitted.learning_method_ == "batch"
    last = fitted.history_[-1]
    assert (fitted.bound_ is None) == (inference == "sampling")
    assert fitted.bound_ == last["bound"] == (pytest.approx(sum(last["terms"].values())) if last["terms"] else None)
    assert list(fitted.get_feature_names_out()) == [f"{model.__name__.lower()}{k}" for k in range(8)]
    if model is CTM:
        assert fitted.topic_covariance_.shape == fitted.topic_correlation_.shape == (8, 8)
        deviations = np.sqrt(np.diag(fitted.topic_covariance_))
        expected = fitted.topic_covariance_ / np.outer(deviations, deviations)
        np.testing.assert_allclose(fitted.topic_correlation_, expected, atol=1e-12)
        np.testing.assert_array_equal(np.diag(fitted.topic_correlation_), 1)
        np.testing.assert_allclose(fitted.topic_covariance_.sum(axis=0), 0, atol=1e-12)
        assert_lifts_fit_the_rest(fitted)
    if model not in KEEP_ALL:
        assert fitted.alpha_ > 0
        assert fitted.beta_ > 0
    if model is DILN:
        ell = fitted.topic_locations_
        assert ell.shape == (8, 3)
        covariance = fitted.topic_covariance_
        if inference == "variational":
            np.testing.assert_allclose(covariance, ell @ ell.T)
        else:  # the mean of inner products is larger than the inner product of means
            assert (np.diag(covariance) >= (ell**2).sum(axis=1) * (1 - 1e-5)).all()
        lengths = np.sqrt(np.diag(covariance))
        np.testing.assert_allclose(fitted.topic_correlation_, covariance / np.outer(lengths, lengths), atol=1e-6)
        assert_lifts_fit_the_rest(fitted)
        assert fitted.document_locations(corpus).shape == (150, 3)


def assert_lifts_fit_the_rest(fitted):
    lifts, covariance = fitted.topic_lift_, fitted.topic_covariance_
    np.testing.assert_allclose(lifts, lifts.T)
    assert (lifts > 0).all()
    pairs = np.triu_indices(len(lifts), k=1)
    assert np.corrcoef(np.log(lifts[pairs]), covariance[pairs])[0, 1] > 0.5
    lifts[:] = 0  # a copy
    assert (fitted.topic_lift_ > 0).all()


@pytest.mark.parametrize("model", MODELS)
def test_the_history_of_the_batch_bound_never_falls(model, corpus):
    history = variational(model, max_iter=60, tol=0.0).fit(corpus).history_
    bounds = np.array([entry["bound"] for entry in history])
    assert len(bounds) == 60
    assert np.diff(bounds).min() >= -1e-7 * abs(bounds[-1])


def test_batch_learning_ends_when_the_bound_has_converged(corpus):
    fitted = variational(HDP, max_iter=100, tol=1e-3).fit(corpus)
    bounds = [entry["bound"] for entry in fitted.history_]
    assert fitted.n_iter_ < 100
    assert abs(bounds[-1] - bounds[-2]) < 1e-3 * abs(bounds[-1]) <= abs(bounds[-2] - bounds[-3]) * 1.0001


@each_way
@pytest.mark.parametrize("model", MODELS)
def test_a_pipeline_takes_texts_to_proportions(model, inference):
    texts = ["dogs and foxes sleep", "foxes hunt at night", "markets fall", "traders sell as markets fall"] * 5
    pipeline = make_pipeline(CountVectorizer(), small(model, inference, n_components=3).set_output(transform="pandas"))
    table, last = pipeline.fit_transform(texts), pipeline[-1]
    assert table.shape == (20, len(last.topic_weights_))
    assert list(table.columns) == [f"{model.__name__.lower()}{k}" for k in range(table.shape[1])]
    last.vocabulary_ = pipeline[0].get_feature_names_out()
    assert "foxes" in last.vocabulary_
    with pytest.raises(ValueError, match="give one for each"):
        last.vocabulary_ = ["fox"]


@each_way
@pytest.mark.parametrize("model", MODELS)
def test_perplexity_is_that_of_completing_documents(model, inference, corpus):
    fitted = small(model, inference, **({"keep_states": 5} if inference == "sampling" else {})).fit(corpus)
    split = corpus.completion(seed=4)
    value = fitted.perplexity(split.observed, split.held_out)
    theta, eta = fitted.transform(split.observed), fitted.topic_word_
    log = np.log(theta @ eta)[split.held_out.nonzero()] @ split.held_out.data
    assert value == pytest.approx(np.exp(-log / split.held_out.sum()), rel=1e-5)
    assert 1 <= value < 60
    drawn = fitted.perplexity(split.observed, split.held_out, method="draws", n_draws=50)
    assert drawn == pytest.approx(value, rel=0.1)
    assert drawn != value
    assert fitted.score(corpus) == pytest.approx(-np.log(fitted.perplexity(corpus)))


@each_way
def test_perplexity_hardly_depends_on_the_number_of_documents(inference, corpus):
    fitted = small(HDP, inference).fit(corpus)
    whole = fitted.perplexity(corpus)
    halves = [fitted.perplexity(corpus[::2]), fitted.perplexity(corpus[1::2])]
    assert np.mean(halves) == pytest.approx(whole, rel=0.05)


@pytest.mark.parametrize("model", MODELS)
def test_the_perplexity_in_the_log_is_that_of_the_method(model, corpus):
    fitted = variational(model, evaluate_every=2).fit(corpus)
    logged = [entry["perplexity"] for entry in fitted.history_]
    assert logged[0] is None
    assert logged[-1] == pytest.approx(fitted.perplexity(corpus, seed=fitted.fitted_.seed), rel=1e-6)


@each_way
@pytest.mark.parametrize("model", MODELS)
def test_a_reloaded_model_goes_on_as_if_it_had_never_stopped(model, inference, corpus, tmp_path):
    first, second = corpus[:80], corpus[80:]
    whole = small(model, inference, batch_size=30).partial_fit(first)
    small(model, inference, batch_size=30).partial_fit(first).save(tmp_path / "model")
    again = diln.load(tmp_path / "model")
    assert type(again) is model
    np.testing.assert_array_equal(again.transform(corpus), whole.transform(corpus))
    assert again.get_params() == whole.get_params()
    for entry, other in zip(again.history_, whole.history_, strict=True):
        assert entry == {**other, "seconds": entry["seconds"]}
    assert again.learning_method_ == "online"
    whole.partial_fit(second)
    again.partial_fit(second)
    for name, value in state(whole).items():
        np.testing.assert_array_equal(state(again)[name], value, err_msg=name)
    assert again.n_batch_iter_ == whole.n_batch_iter_ == (3 if inference == "sampling" else 6)
    np.testing.assert_array_equal(again.transform(corpus), whole.transform(corpus))


@each_way
def test_a_model_started_from_another_and_a_generator_can_go_on_after_loading(inference, corpus, tmp_path):
    hdp = small(HDP, inference).fit(corpus)
    model = small(DILN, inference, init=hdp, random_state=np.random.default_rng(3)).fit(corpus)
    model.save(tmp_path / "model")
    again = diln.load(tmp_path / "model")
    np.testing.assert_array_equal(again.partial_fit(corpus).components_, model.partial_fit(corpus).components_)
    assert again.fit(corpus).n_iter_ > 0


@each_way
def test_partial_fit_learns(inference, corpus):
    stream = small(DILN, inference, n_components=8, max_iter=4, batch_size=30, learning_offset=2.0)
    values = [stream.partial_fit(corpus).perplexity(corpus) for _ in range(8)]
    assert values[-1] < values[0]
    batch = small(DILN, inference, max_iter=100 if inference == "sampling" else 50).fit(corpus)
    assert values[-1] == pytest.approx(batch.perplexity(corpus), rel=0.15)


@pytest.mark.parametrize("model", MODELS)
def test_online_learning_comes_near_batch_learning(model, corpus):
    batch = variational(model, max_iter=50).fit(corpus).perplexity(corpus)
    online = variational(model, learning_method="online", batch_size=30, max_iter=10, learning_offset=5.0).fit(corpus)
    assert online.perplexity(corpus) == pytest.approx(batch, rel=0.12)
    assert online.n_batch_iter_ == 50
    assert online.learning_method_ == "online"
    assert [entry["bound"] for entry in online.history_] == [None] * 50


@each_way
def test_a_model_can_start_from_another(inference, corpus):
    hdp = small(HDP, inference, max_iter=30).fit(corpus)
    warm = small(DILN, inference, max_iter=1, init=hdp).fit(corpus)
    cold = small(DILN, inference, max_iter=1).fit(corpus)
    seen = "score" if inference == "sampling" else "bound"
    assert warm.history_[0][seen] > cold.history_[0][seen]
    assert small(LDA, inference, n_components=12, init=hdp).fit(corpus).topic_word_.shape == (12, 60)
    assert small(LDA, inference, n_components=4, init=hdp).fit(corpus).topic_word_.shape == (4, 60)
    with pytest.raises(ValueError, match="same vocabulary"):
        small(HDP, inference, init=hdp).fit(corpus.counts[:, :50])


@pytest.mark.parametrize("init", ["kmeans", "random"])
def test_both_starts_lead_to_topics(init, corpus):
    fitted = variational(LDA, init=init, max_iter=40).fit(corpus)
    assert fitted.perplexity(corpus) < 45


@each_way
def test_the_same_seed_gives_the_same_bits_and_another_seed_others(inference, corpus):
    fits = [small(DILN, inference, random_state=seed).fit(corpus).components_ for seed in (3, 3, 4)]
    np.testing.assert_array_equal(fits[0], fits[1])
    assert not np.array_equal(fits[0], fits[2])
    for kind in (np.random.default_rng, np.random.RandomState):
        one, two = (small(HDP, inference, random_state=kind(5)).fit(corpus).components_ for _ in range(2))
        np.testing.assert_array_equal(one, two)


@each_way
def test_a_corpus_on_disk_gives_the_same_model(inference, corpus, tmp_path):
    stored = corpus.save(tmp_path / "corpus")
    for learning in ("batch", "online"):
        here, there = (small(HDP, inference, learning_method=learning).fit(one).components_ for one in (corpus, stored))
        np.testing.assert_array_equal(here, there)


@each_way
def test_a_corpus_of_other_terms_is_brought_into_order(inference, corpus):
    fitted = small(DILN, inference).fit(corpus)
    order = np.random.default_rng(0).permutation(60)
    shuffled = Corpus.from_matrix(corpus.counts[:, order], [corpus.vocabulary[i] for i in order])
    np.testing.assert_array_equal(fitted.transform(shuffled), fitted.transform(corpus))
    more = Corpus.from_matrix(
        np.hstack([corpus.counts.toarray(), np.ones((150, 1), int)]), [*corpus.vocabulary, "unheard-of"]
    )
    with pytest.warns(DilnWarning, match="150 of .* tokens are of terms that the model does not know"):
        np.testing.assert_array_equal(fitted.transform(more), fitted.transform(corpus))
    with pytest.raises(ValueError, match="none of them is among"):
        fitted.transform(Corpus.from_matrix([[1, 2]], ["other", "words"]))


@each_way
def test_a_document_without_a_known_term_gets_the_prior_and_is_pointed_out(inference, corpus):
    for model in MODELS:
        fitted = small(model, inference).fit(corpus)
        with pytest.warns(DilnWarning, match="1 documents have no known term"):
            theta = fitted.transform(np.zeros((1, 60), int))
        a0 = fitted.fitted_.posterior.a0
        np.testing.assert_allclose(theta[0], a0 / a0.sum(), rtol=1e-9)
    assert not small(DILN, inference).fit(corpus).document_locations(np.zeros((1, 60), int)).any()


@each_way
def test_a_truncation_that_binds_is_what_was_asked_for(inference, corpus, recwarn):
    assert small(HDP, inference, n_components=2).fit(corpus).n_topics_ == 2
    assert not recwarn.list


@each_way
def test_a_learned_dirichlet_prior_follows_the_weights(inference, corpus):
    fitted = small(LDA, inference, doc_topic_prior="auto", max_iter=60, tol=1e-6).fit(corpus)
    assert np.corrcoef(fitted.doc_topic_prior_, fitted.topic_weights_)[0, 1] > 0.8
    given = small(LDA, inference, doc_topic_prior=0.3).fit(corpus)
    np.testing.assert_array_equal(given.doc_topic_prior_, np.full(8, 0.3))


def test_progress_is_written_to_the_error_stream(corpus, capsys):
    variational(HDP, verbose=1, max_iter=2, evaluate_every=1).fit(corpus)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("learning: batch")
    assert lines[2].startswith("pass 2, 300 documents, ")
    assert "bound" in lines[2]
    assert "perplexity" in lines[2]
    small(HDP, verbose=1, max_iter=2).fit(corpus)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("learning: batch")
    assert lines[2].startswith("pass 2, 300 documents, ")
    assert "score -" in lines[2]
    assert "1 states averaged" in lines[2]


@pytest.mark.parametrize("model", MODELS)
def test_a_model_that_is_not_fitted_says_so(model, tmp_path):
    for call in (
        lambda one: one.transform([[1]]), lambda one: one.perplexity([[1]]), lambda one: one.save(tmp_path / "x")
    ):  # fmt: skip
        with pytest.raises(NotFittedError):
            call(model())
    with pytest.raises(AttributeError, match="call fit first"):
        _ = model().topic_word_


def test_clones_are_unfitted_and_alike():
    model = DILN(7, n_dims=2, inference=Variational(beta_prior=(2.0, 0.5)))
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "fitted_")
