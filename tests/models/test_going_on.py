"""What is done to a model after it was fitted: changed, fitted again, saved, loaded, fed."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from telling import told

import diln
from diln import CTM, DILN, HDP, LDA, Corpus, Variational, simulate
from diln.inference.weights import gamma_process
from diln.models import fitting, sampling
from diln.models.parameters import prior_of

COUNTS = np.random.default_rng(0).poisson(0.8, (60, 20))


each_way = pytest.mark.parametrize("inference", ["sampling", "variational"])


def small(model, inference="sampling", **given):
    return told(model, **{"inference": inference, "n_components": 5, "random_state": 0, "max_iter": 3, **given})


def variational(model, **given):
    return small(model, "variational", **given)


@pytest.mark.parametrize(
    ("model", "change"),
    [
        (DILN, {"n_dims": 2}), (DILN, {"location_variance": 5.0}), (HDP, {"alpha_prior": (2.0, 1.0)}),
        (LDA, {"doc_topic_prior": "auto"}), (LDA, {"n_components": 7}),
        (HDP, {"topic_word_prior": 0.5}), (CTM, {"covariance_prior": 7.0}), (CTM, {"n_components": 7}),
    ],
)  # fmt: skip
@each_way
def test_what_a_model_is_made_of_cannot_change_as_it_goes_on(model, inference, change):
    fitted = small(model, inference).fit(COUNTS).set_params(**change)
    with pytest.raises(ValueError, match=f"{next(iter(change))} is .* begin again with fit"):
        fitted.partial_fit(COUNTS)
    assert np.isfinite(fitted.fit(COUNTS).transform(COUNTS)).all()


@pytest.mark.parametrize(
    "change", [{"inference__weight_rate": 2.0}, {"inference": Variational()}, {"inference": "variational"}]
)
def test_neither_the_inference_nor_its_priors_can_change_as_a_model_goes_on(change):
    fitted = small(HDP).fit(COUNTS).set_params(**change)
    with pytest.raises(ValueError, match=r"(weight_rate|inference) is .* begin again with fit"):
        fitted.partial_fit(COUNTS)


@each_way
def test_how_a_model_learns_can_change_as_it_goes_on(inference):
    fitted = small(HDP, inference).fit(COUNTS)
    fitted.set_params(inference__batch_size=7, inference__learning_decay=0.9, n_jobs=2)
    assert fitted.partial_fit(COUNTS).n_batch_iter_ == 9


@pytest.mark.parametrize("model", [DILN, HDP, LDA, CTM])
@each_way
def test_documents_without_a_token_make_nothing_forgotten(model, inference):
    fitted = small(model, inference).fit(COUNTS)
    before = fitted.components_.copy()
    assert fitted.partial_fit(np.zeros((3, 20))).n_batch_iter_ == 1
    np.testing.assert_array_equal(fitted.components_, before)


@each_way
def test_after_a_fit_that_failed_there_is_no_model(inference):
    fitted = small(HDP, inference).fit(COUNTS)
    with pytest.raises(ValueError, match="no document has a token"):
        fitted.fit(np.zeros((4, 500)))
    assert not hasattr(fitted, "fitted_")


@each_way
def test_counts_over_other_terms_never_reach_the_loops(inference):
    fitted = small(HDP, inference).fit(COUNTS)
    fitted.n_features_in_ = 500
    with pytest.raises(ValueError, match="500 columns but the model knows 20 terms"):
        fitted.transform(np.ones((1, 500), int))


@pytest.mark.parametrize("parts", [1, 4])
@each_way
def test_a_stream_stands_for_the_documents_that_it_had(inference, parts):
    stream = small(HDP, inference, batch_size=10)
    for part in np.split(COUNTS, parts):
        stream.partial_fit(part)
    assert stream.fitted_.population == 60
    assert small(HDP, inference, total_samples=1000).partial_fit(COUNTS).fitted_.population == 1000


def test_names_of_columns_survive_saving(tmp_path):
    frame = pd.DataFrame(COUNTS, columns=[f"term{i}" for i in range(20)])
    small(HDP).fit(frame).save(tmp_path / "model")
    again = diln.load(tmp_path / "model")
    assert list(again.feature_names_in_) == list(frame.columns) == again.vocabulary_
    with pytest.raises(ValueError, match="feature names"):
        again.transform(frame[frame.columns[::-1]])
    again.fit(Corpus.from_matrix(COUNTS[:, :15], [f"word{i}" for i in range(15)]))
    assert not hasattr(again, "feature_names_in_")


@pytest.mark.parametrize("given", [np.array([1.0, 0.5]), [np.float32(1), np.float32(0.5)], (1, 0.5)])
def test_priors_of_any_kind_survive_saving(given, tmp_path):
    variational(HDP, alpha_prior=given, beta_prior=given).fit(COUNTS).save(tmp_path / "model")
    again = diln.load(tmp_path / "model")
    assert again.alpha_prior == again.inference.beta_prior == (1.0, 0.5)


@pytest.mark.parametrize("learning", ["batch", "online"])
def test_documents_without_tokens_do_not_end_a_fit_that_is_watched(learning):
    counts = np.vstack([np.zeros((3, 20), int), COUNTS])
    assert small(HDP, learning_method=learning, batch_size=1).fit(counts).n_iter_ >= 1
    fitted = variational(HDP, learning_method=learning, batch_size=1, evaluate_every=1).fit(counts)
    logged = [entry["perplexity"] for entry in fitted.history_]
    assert all(value is None or value >= 1 for value in logged)
    assert (None in logged) == (learning == "online")


@pytest.mark.parametrize("model", [DILN, HDP, LDA])
@pytest.mark.parametrize("prior", [1e-6, 0.1])
@each_way
def test_draws_are_numbers_whatever_the_prior(model, inference, prior):
    kept = {"keep_states": 3, "max_iter": 12} if inference == "sampling" else {}
    fitted = small(model, inference, topic_word_prior=prior, n_components=30, **kept).fit(COUNTS)
    assert 1 <= fitted.perplexity(COUNTS, method="draws", n_draws=3) < 1e9
    with pytest.raises(ValueError, match="n_draws"):
        fitted.perplexity(COUNTS, method="draws", n_draws=0)


@each_way
def test_a_perplexity_is_never_below_one(inference):
    for model in (DILN, HDP, LDA):
        assert small(model, inference, n_components=7).fit(COUNTS[:, :1] + 1).perplexity(COUNTS[:, :1] + 1) >= 1


@each_way
def test_counts_that_single_precision_cannot_hold_are_refused(inference):
    with pytest.raises(ValueError, match="the largest that can be held"):
        small(LDA, inference).fit(COUNTS * 1e39)


@pytest.mark.parametrize("learning", ["batch", "online"])
@pytest.mark.parametrize("model", [DILN, HDP, LDA, CTM])
def test_the_largest_counts_that_are_taken_are_worked_with(model, learning):
    huge = COUNTS.astype(float)
    with pytest.raises(ValueError, match="the largest that can be held is 2147483647"):
        variational(model).fit(huge + 2.2e9)
    for columns in (slice(3, 4), slice(None)):
        huge[:, columns] = 2.0**31 - 1 - COUNTS[:, columns]
        fitted = variational(model, learning_method=learning, batch_size=20, max_iter=8).fit(huge)
        assert np.isfinite(fitted.topic_word_).all()
        assert np.isfinite(fitted.transform(huge)).all()
        assert np.isfinite(fitted.perplexity(COUNTS))


@pytest.mark.parametrize("model", [DILN, LDA])
def test_topics_of_more_tokens_than_single_precision_has_squares_of_are_numbers(model):
    """A stream that stands for a huge number of documents has statistics far above its counts."""
    fitted = variational(model, total_samples=1e14, batch_size=20)
    for _ in range(3):
        fitted.partial_fit(COUNTS)
    assert fitted.components_.max() > 1e13
    assert np.isfinite(fitted.topic_word_).all()
    assert 1 <= fitted.perplexity(COUNTS) < 30


@each_way
def test_a_stream_is_seen_step_by_step(inference, monkeypatch, capsys):
    stream = small(
        HDP, inference, batch_size=20, verbose=1, **({"evaluate_every": 2} if inference == "variational" else {})
    )
    stream.partial_fit(COUNTS)
    begun = [entry["documents"] for entry in stream.history_]
    assert begun == ([60, 120, 180] if inference == "sampling" else [20, 40, 60])
    stream.partial_fit(COUNTS[:30])
    seen = stream.history_
    assert [entry["documents"] - begun[-1] for entry in seen[3:]] == [15, 30]
    assert (np.diff([entry["seconds"] for entry in seen]) > 0).all()
    assert [entry["iteration"] for entry in seen] == ([1, 2, 3, 1, 1] if inference == "sampling" else [1] * 5)
    if inference == "sampling":
        assert all(np.log(1 / 60) < entry["score"] < 0 for entry in seen)
    else:
        assert [entry["perplexity"] is None for entry in seen] == [False, True, False, True, False]
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 5
    assert lines[4].startswith(f"pass 1, {begun[-1] + 30} documents, ")
    monkeypatch.setattr(fitting, "NOTED", 4)
    last = stream.partial_fit(COUNTS).history_
    assert [entry["documents"] - begun[-1] for entry in last] == [30, 50, 70, 90]


def test_a_stream_too_long_for_a_chain_is_seen_to_its_end(monkeypatch):
    monkeypatch.setattr(sampling, "CHAIN_DOCS", 25)
    stream = small(HDP, batch_size=20).partial_fit(COUNTS)
    assert [entry["documents"] for entry in stream.history_] == [25, 50, 75, 92, 110]
    assert stream.n_batch_iter_ == 2
    assert stream.fitted_.population == 60


def test_the_topics_prior_of_a_stream_is_that_of_a_chain_unless_it_learns_online():
    for learning in ("auto", "online"):
        stream = small(LDA, learning_method=learning, n_components=50).partial_fit(COUNTS).partial_fit(COUNTS)
        assert stream.fitted_.posterior.prior == prior_of(50, "online" if learning == "online" else "batch")
    assert prior_of(50) < prior_of(50, "online")


def test_counts_that_sampling_cannot_draw_one_by_one_are_refused_at_every_door():
    huge = COUNTS.astype(float) * 1e8
    with pytest.raises(ValueError, match="sampling takes up to 16,777,216 of one term"):
        small(LDA).fit(huge)
    fitted = small(LDA).fit(COUNTS)
    for call in (fitted.transform, fitted.perplexity, fitted.partial_fit):
        with pytest.raises(ValueError, match="sampling takes up to 16,777,216 of one term"):
            call(huge)


@each_way
def test_what_a_model_hands_out_does_not_change_it(inference):
    fitted = small(DILN, inference).fit(COUNTS)
    before = fitted.transform(COUNTS)
    locations = fitted.topic_locations_
    locations += 1
    with pytest.raises(ValueError, match="read-only"):
        fitted.topic_word_[0, 0] = 1
    np.testing.assert_array_equal(fitted.transform(COUNTS), before)
    assert fitted.topic_word_ is fitted.topic_word_
    fitted.partial_fit(COUNTS)
    np.testing.assert_allclose(fitted.topic_word_, fitted.components_ / fitted.components_.sum(axis=1, keepdims=True))


@each_way
def test_a_clone_forgets_the_fitting_of_its_start_and_says_so(inference):
    hdp = small(HDP, inference).fit(COUNTS)
    with pytest.raises(ValueError, match="its fitted_ where scikit-learn clones"):
        clone(small(DILN, inference, init=hdp)).fit(COUNTS)
    assert clone(small(DILN, inference, init=hdp.fitted_)).fit(COUNTS).n_iter_ > 0


def test_an_online_step_of_length_one_weighs_its_documents_as_all(monkeypatch):
    seen = []
    real = gamma_process.not_worse

    def watched(old, new, *rest):
        seen.append((new, real(old, new, *rest)))
        return seen[-1][1]

    monkeypatch.setattr(gamma_process, "not_worse", watched)
    given = {"learning_offset": 1.0, "batch_size": 6, "learning_method": "online", "max_iter": 1}
    variational(HDP, total_samples=6000, beta_prior=(1.0, 5.0), **given).fit(COUNTS)
    np.testing.assert_array_equal(*seen[0])  # the whole step is taken: the best for a thousand times the documents


MEASURE = """
import resource, sys, warnings
warnings.simplefilter("ignore")
from diln import HDP, Corpus
corpus = Corpus.open(sys.argv[1])
model = HDP(10, random_state=0, inference=sys.argv[3]).set_params(inference__batch_size=500)
model.partial_fit(corpus[:500])
model.transform(corpus[:500]), model.perplexity(corpus[:500])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
getattr(model, sys.argv[2])(corpus)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


@pytest.mark.parametrize("call", ["partial_fit", "perplexity"])
@each_way
def test_a_corpus_on_disk_is_not_read_whole(inference, call, tmp_path):
    """60,000 documents are 45 MB of counts as they are read; what is in memory at once is far less."""
    made = simulate.lda_corpus(3000, 2000, 10, doc_length=80, rng=0).corpus.counts
    corpus = Corpus.from_matrix(made[np.arange(60_000) % 3000], [f"w{i}" for i in range(2000)])
    corpus.save(tmp_path / "corpus")
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(tmp_path / "corpus"), call, inference],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert float(done.stdout) < 60, f"{call} took {done.stdout} MB"
