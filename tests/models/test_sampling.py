"""Fitting by sampling: what was planted is found, and the chain does what it is told."""

import importlib.util
import time
from pathlib import Path

import numpy as np
import pytest

from diln import DILN, HDP, LDA, Sampling, simulate
from diln.errors import DilnWarning
from diln.models import choice, memory, parameters, sampling

# What counts as found is the rule of the benchmark, which runs over more seeds.
_spec = importlib.util.spec_from_file_location(
    "recovery", Path(__file__).parents[2] / "benchmarks" / "recovery.py"
)  # fmt: skip
benchmark = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(benchmark)


@pytest.fixture(scope="module")
def small():
    """Six topics, 400 documents of 60 tokens: enough for what is not about recovery."""
    return benchmark.planted(0, n_topics=6, n_dims=2, n_docs=400, length=60, n_terms=120)


@pytest.fixture(scope="module")
def split(small):
    return small.corpus.completion(0)


def perplexity(model, split, **given):
    return model.fit(split.train).perplexity(split.observed, split.held_out, **given)


# What was planted


def test_planted_topics_and_the_signs_of_strong_correlations_are_found():
    """Over 20 seeds of the benchmark 98.6% of the signs are right, 89% of one seed at the least."""
    signs = []
    for seed in range(3):
        truth = benchmark.planted(seed)
        found = benchmark.recovery(truth, DILN(40, topic_word_prior=0.05, random_state=seed).fit(truth.corpus))
        assert found.affinity > 0.92
        assert found.worst > 0.8
        assert found.pattern > 0.7
        signs.append(found.signs)
    assert min(signs) > 0.75
    assert np.mean(signs) > 0.9


def test_hdp_finds_planted_topics():
    truth = benchmark.planted(3, n_docs=500, variance=1e-6)
    fitted = HDP(24, topic_word_prior=0.05, random_state=0).fit(truth.corpus)
    _, affinity = benchmark.matched(truth.topics, fitted.topic_word_)
    assert affinity.mean() > 0.88
    assert affinity.min() > 0.75


def test_lda_finds_planted_topics_and_proportions():
    made = simulate.lda_corpus(500, 150, 6, doc_topic_prior=0.3, topic_prior=0.05, doc_length=80, rng=1)
    fitted = LDA(6, doc_topic_prior=0.3, topic_word_prior=0.05, random_state=0).fit(made.corpus)
    columns, affinity = benchmark.matched(made.topics, fitted.topic_word_)
    assert affinity.min() > 0.95
    found = fitted.transform(made.corpus)[:, columns]
    assert np.corrcoef(found.ravel(), made.doc_topics.ravel())[0, 1] > 0.95


def test_diln_predicts_better_than_hdp_where_topics_are_correlated():
    """The median over planted corpora: a chain may end with two of twelve topics in one."""
    gains = []
    for seed in range(5):
        split = benchmark.planted(seed, n_docs=600, length=60, variance=3.0).corpus.completion(seed)
        values = [
            perplexity(model(12, topic_word_prior=0.05, random_state=seed), split) for model in (DILN, HDP)
        ]  # fmt: skip
        gains.append(np.log(values[0] / values[1]))
    assert np.median(gains) < -0.01


# How many topics there are


def test_a_chain_that_starts_at_what_was_planted_stays_there_with_room_for_many_more(small):
    """The posterior itself does not ask for more topics than there are."""
    truth = LDA(6, max_iter=1, random_state=0).fit(small.corpus).fitted_
    truth._topics = small.topics
    fitted = HDP(40, topic_word_prior=0.05, inference=Sampling(init=truth), random_state=0).fit(small.corpus)
    assert (fitted.topic_weights_ > 0.02).sum() == 6
    assert np.sort(fitted.topic_weights_)[-6:].sum() > 0.95
    _, affinity = benchmark.matched(small.topics, fitted.topic_word_)
    assert affinity.min() > 0.9


@pytest.mark.parametrize("model", [HDP, DILN])
def test_topics_that_nobody_uses_are_dropped(model, small):
    fitted = model(1500, random_state=0, max_iter=40).fit(small.corpus)
    sizes = [entry["n_components"] for entry in fitted.history_]
    assert sizes[0] == 1500
    assert len(fitted.topic_weights_) == sizes[-1] < 1000
    assert sizes == sorted(sizes, reverse=True)
    assert fitted.transform(small.corpus).shape == (400, sizes[-1])


def test_lda_keeps_all_its_topics(small):
    fitted = LDA(600, random_state=0, max_iter=15).fit(small.corpus)
    assert fitted.transform(small.corpus).shape == (400, 600)
    assert {entry["n_components"] for entry in fitted.history_} == {600}


def test_a_chain_that_starts_with_too_few_topics_splits_them(small, monkeypatch):
    monkeypatch.setattr(sampling, "FEWEST", 2)
    monkeypatch.setattr(sampling, "MOST", 2)
    fitted = HDP(topic_word_prior=0.05, random_state=0).fit(small.corpus)
    assert fitted.history_[0]["n_components"] == 2
    assert fitted.n_topics_ >= 6
    _, affinity = benchmark.matched(small.topics, fitted.topic_word_)
    assert affinity.mean() > 0.9


@pytest.mark.parametrize("model", [HDP, DILN])
def test_a_number_of_topics_that_is_asked_for_is_given_without_a_word(model, small, recwarn):
    fitted = model(3, random_state=0, max_iter=30).fit(small.corpus)
    assert fitted.n_topics_ == len(fitted.topic_weights_) == 3
    assert not recwarn.list


def test_auto_starts_with_more_topics_the_more_tokens_there_are():
    given = parameters.parameters_of("HDP", {})
    sizes = [sampling.start_size(given, n_tokens) for n_tokens in (10, 10_000, 100_000, 10**9)]
    assert sizes == [16, 120, 379, 800]


def test_the_prior_of_terms_and_the_number_of_sweeps_follow_the_number_of_topics(small):
    for size, prior, grown, online, sweeps in (
        (10, 0.1984, 0.2, 0.2, 250), (400, 0.015, 0.03, 0.0375, 150), (800, 0.00923, 0.01846, 0.0231, 99)
    ):  # fmt: skip
        given = parameters.parameters_of("DILN", {"n_components": size})
        assert given.topic_prior("batch", size) == pytest.approx(prior, rel=1e-2)
        assert given.topic_prior("grow", size) == pytest.approx(grown, rel=1e-2)
        assert given.topic_prior("online", size) == pytest.approx(online, rel=1e-2)
        assert sampling.planned(given, "batch", 10**6).max_iter == sweeps
    assert parameters.prior_of(1) == parameters.WIDEST_PRIOR
    assert sampling.planned(parameters.parameters_of("LDA", {"n_components": 20_000}), "batch", 1).max_iter == 60
    for model in (DILN, LDA):
        for size in (8, 30):
            fitted = model(size, random_state=0, max_iter=2).fit(small.corpus)
            assert fitted.history_[0]["topic_word_prior"] == parameters.prior_of(size)
    assert DILN(8, topic_word_prior=0.5, max_iter=1).fit(small.corpus).history_[0]["topic_word_prior"] == 0.5


@pytest.mark.parametrize(("model", "first"), [(DILN, 16), (HDP, 16), (LDA, 8)])
def test_a_number_of_topics_is_what_you_get_after_a_start_with_more(model, first, small):
    fitted = model(8, random_state=0, max_iter=24, inference=Sampling(warm_up=4)).fit(small.corpus)
    assert [entry["n_components"] for entry in fitted.history_] == 4 * [first] + 20 * [8]
    assert fitted.topic_word_.shape[0] == 8


# Ways to learn


def test_growing_and_steps_come_near_to_batch(split, monkeypatch):
    monkeypatch.setattr(parameters, "STAGES", ((80, 20), (160, 10)))
    monkeypatch.setattr(sampling, "CHAIN_DOCS", 120)
    given = {"n_components": 12, "topic_word_prior": 0.05, "random_state": 0}
    batch = perplexity(DILN(**given, learning_method="batch"), split)
    for learning in ("grow", "online"):
        model = DILN(**given, learning_method=learning, inference=Sampling(batch_size=40))
        assert perplexity(model, split) == pytest.approx(batch, rel=0.05)
        assert model.learning_method_ == learning
        begun = 80 if learning == "grow" else 120
        assert model.history_[0]["documents"] == begun
    assert model.n_batch_iter_ == 8


def test_auto_grows_where_there_are_many_documents_and_steps_where_tokens_do_not_fit(small, monkeypatch):
    monkeypatch.setattr(parameters, "STAGES", ((80, 3), (160, 3)))
    monkeypatch.setattr(sampling, "CHAIN_DOCS", 120)
    fit = HDP(8, random_state=0, max_iter=31).fit
    assert fit(small.corpus).learning_method_ == "batch"
    monkeypatch.setattr(choice, "GROWN", 300)
    grown = fit(small.corpus)
    assert grown.learning_method_ == "grow"
    assert [entry["documents"] for entry in grown.history_[:7]] == [80, 160, 240, 400, 560, 720, 1120]
    monkeypatch.setattr(choice, "IN_MEMORY", 1000)
    assert fit(small.corpus).learning_method_ == "grow"  # there is memory for them
    monkeypatch.setattr(memory, "total", lambda: 1000.0)
    with pytest.warns(DilnWarning, match=r"^learning: online, for there are more than 0 million tokens, which would"):
        assert HDP(8, random_state=0, max_iter=1).fit(small.corpus).learning_method_ == "online"


def test_max_time_ends_a_fit_with_what_it_has(small):
    HDP(20, random_state=0, max_iter=2).fit(small.corpus)  # compiled
    begun = time.perf_counter()
    endless = Sampling(n_states=10**5, tol=0.0, max_time=0.5)
    fitted = HDP(20, random_state=0, max_iter=10**6, inference=endless).fit(small.corpus)
    assert 0.4 < time.perf_counter() - begun < 5
    assert 0.5 <= fitted.history_[-1]["seconds"] < 3
    assert fitted.history_[-1]["n_states"] >= 1
    assert fitted.transform(small.corpus).shape[0] == 400


def test_a_fit_ends_when_its_score_has_converged(small):
    fitted = HDP(20, random_state=0, inference=Sampling(n_states=5)).fit(small.corpus)
    assert fitted.n_iter_ < parameters.SWEEPS
    hurried = HDP(20, random_state=0, inference=Sampling(n_states=5, tol=1e9)).fit(small.corpus)
    assert hurried.n_iter_ == sampling.planned(parameters.parameters_of("HDP", {}), "batch", 1).settles + 5 - 1


def test_the_history_has_every_quantity(small):
    fitted = DILN(10, random_state=0, max_iter=40, inference=Sampling(n_states=10)).fit(small.corpus)
    for number, entry in enumerate(fitted.history_, 1):
        assert entry["iteration"] == number
        assert entry["documents"] == 400 * number
        for name in ("seconds", "n_topics", "alpha", "beta", "score", "topic_word_prior", "n_components"):
            assert entry[name] > 0 or name == "score"
        assert (entry["location_variance"] is None) == (number <= 10)  # before the locations there is no variance
    scores = [entry["score"] for entry in fitted.history_]
    assert scores[0] < scores[-1] < 0
    assert [entry["n_states"] for entry in fitted.history_[-10:]] == list(range(1, 11))
    assert fitted.fitted_.posterior.n_states == 10


# States


def test_averaging_more_states_predicts_better(split):
    def log_perplexity(n_states, seed):
        how = Sampling(tol=0.0, n_states=n_states)
        model = HDP(12, max_iter=100, inference=how, topic_word_prior=0.05, random_state=seed)
        return np.log(perplexity(model, split))

    gains = [log_perplexity(1, seed) - log_perplexity(40, seed) for seed in range(3)]
    assert min(gains) > 0
    assert np.mean(gains) > 0.003


def test_so_many_states_are_kept_and_come_back_from_disk(split, tmp_path):
    import diln

    fitted = DILN(12, max_iter=60, inference=Sampling(keep_states=8, n_states=20), random_state=0).fit(split.train)
    assert len(fitted.fitted_.posterior.states) == 8
    plug_in = fitted.perplexity(split.observed, split.held_out)
    drawn = fitted.perplexity(split.observed, split.held_out, method="draws")
    assert drawn < 1.02 * plug_in
    assert drawn != plug_in
    fitted.save(tmp_path / "model")
    assert diln.load(tmp_path / "model").perplexity(split.observed, split.held_out, method="draws") == drawn
    assert fitted.perplexity(split.observed, split.held_out, method="draws", n_draws=1) != drawn


def test_without_kept_states_there_are_no_draws(split):
    fitted = HDP(12, max_iter=5, random_state=0).fit(split.train)
    with pytest.raises(ValueError, match="fit with keep_states, or use method='plug-in'"):
        fitted.perplexity(split.observed, split.held_out, method="draws")


# What can be learned, and other choices


@pytest.mark.parametrize("planted", [0.02, 0.3])
def test_the_topics_prior_is_learned(planted):
    made = simulate.lda_corpus(400, 150, 6, doc_topic_prior=0.2, topic_prior=planted, doc_length=80, rng=2)
    fitted = LDA(6, topic_word_prior="auto", doc_topic_prior=0.2, random_state=0).fit(made.corpus)
    assert fitted.fitted_.posterior.prior == pytest.approx(planted, rel=0.35)
    assert len({entry["topic_word_prior"] for entry in fitted.history_}) > 5


def test_the_variance_of_locations_is_learned():
    found = []
    for variance in (0.05, 3.0):
        truth = benchmark.planted(0, n_topics=8, n_docs=600, length=80, n_terms=150, variance=variance)
        model = DILN(8, location_variance="auto", topic_word_prior=0.05, random_state=0).fit(truth.corpus)
        found.append(10 * model.history_[-1]["location_variance"])  # over all of 10 dimensions, of 3 planted
    assert found[0] < 1
    assert 1.5 < found[1] < 15


def test_matched_polya_gamma_variables_predict_as_well_as_exact_ones(split):
    given = {"n_components": 8, "n_dims": 2, "topic_word_prior": 0.05, "max_iter": 60, "random_state": 0}
    exact, matched = (perplexity(DILN(**given, inference=Sampling(omega=kind)), split) for kind in ("exact", "matched"))
    assert exact == pytest.approx(matched, rel=0.03)
    assert exact != matched


def test_warm_up_is_the_sweeps_without_locations(small):
    def without(warm_up):
        history = DILN(8, random_state=0, max_iter=20, inference=Sampling(warm_up=warm_up)).fit(small.corpus).history_
        return sum(entry["location_variance"] is None for entry in history)

    assert [without(warm_up) for warm_up in (0, 3, 1000)] == [0, 3, 5]  # a quarter of the sweeps at most


def test_a_larger_weight_rate_gives_a_smaller_concentration(small):
    models = [HDP(12, inference=Sampling(weight_rate=rate), random_state=0, max_iter=60) for rate in (1.0, 1000.0)]
    betas = [model.fit(small.corpus).beta_ for model in models]
    assert betas[1] < betas[0]


def test_a_chain_that_starts_from_a_model_starts_near_it(small):
    first = HDP(12, random_state=0).fit(small.corpus)
    begun = DILN(12, inference=Sampling(init=first), random_state=1, max_iter=1).fit(small.corpus)
    assert begun.history_[0]["score"] == pytest.approx(first.history_[-1]["score"], abs=0.1)
    assert (
        begun.history_[0]["score"] > DILN(12, random_state=1, max_iter=1).fit(small.corpus).history_[0]["score"] + 0.2
    )


# What went wrong once


@pytest.fixture
def stages(monkeypatch):
    """Growing, on a few hundred documents."""
    monkeypatch.setattr(parameters, "STAGES", ((40, 20), (120, 8)))
    monkeypatch.setattr("diln.inference.sampling.documents.SHARD", 1500)


def held(model):
    return model.fitted_.posterior.topic_tokens.sum()


@pytest.mark.parametrize("given", [{}, {"inference": Sampling(n_states=50)}, {"max_iter": 12}, {"max_iter": 40}])
def test_a_grown_model_stands_for_all_its_documents(small, stages, given):
    fitted = DILN(8, learning_method="grow", random_state=0, **given).fit(small.corpus)
    assert held(fitted) == pytest.approx(small.corpus.n_tokens, rel=1e-4)
    assert fitted.history_[-1]["documents"] - fitted.history_[-2]["documents"] == 400


def test_a_chain_that_starts_from_a_model_can_grow(small, stages):
    first = HDP(12, random_state=0, max_iter=20).fit(small.corpus)
    fitted = DILN(12, learning_method="grow", inference=Sampling(init=first), random_state=1).fit(small.corpus)
    assert np.isfinite([entry["score"] for entry in fitted.history_]).all()
    assert fitted.components_.min() > 0


@pytest.mark.parametrize("most", [0.01, 0.1])
def test_a_model_has_locations_however_short_the_time(small, most):
    fitted = DILN(8, random_state=0, inference=Sampling(max_time=most)).fit(small.corpus)
    assert fitted.topic_locations_.shape == (len(fitted.topic_weights_), 10)
    assert np.isfinite(fitted.topic_correlation_).all()


def test_documents_without_a_token_in_play_are_no_harm(stages):
    counts = np.zeros((300, 40), int)
    counts[7] = 3
    assert np.isfinite(HDP(5, learning_method="grow", random_state=0).fit(counts).components_).all()


def test_a_batch_without_a_token_teaches_nothing(small):
    model = HDP(8, random_state=0, max_iter=20).fit(small.corpus)
    before = model.components_.copy()
    model.partial_fit(np.zeros((5, small.corpus.n_terms), int))
    assert np.array_equal(model.components_, before)


def test_the_last_documents_of_a_pass_count_as_much_as_others(monkeypatch):
    monkeypatch.setattr(sampling, "CHAIN_DOCS", 50)
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, (201, 30))
    counts[:, 0] = 0
    counts[13] = 0
    counts[13, 0] = 30
    how = Sampling(batch_size=100)
    model = LDA(3, learning_method="online", inference=how, max_iter=3, random_state=0).fit(counts)
    assert model.topic_weights_ @ model.topic_word_[:, 0] < 0.1


def test_a_batch_fit_stands_for_the_documents_it_was_given(small):
    given = {"n_components": 5, "random_state": 0, "max_iter": 10}
    first, second = (HDP(**given, total_samples=n).fit(small.corpus) for n in (None, 10**6))
    assert np.array_equal(first.components_, second.components_)


def test_the_first_documents_of_a_stream_stand_for_all_of_them(small, monkeypatch):
    monkeypatch.setattr(sampling, "CHAIN_DOCS", 50)
    model = HDP(8, random_state=0, inference=Sampling(batch_size=50), max_iter=20).partial_fit(small.corpus)
    assert held(model) == pytest.approx(small.corpus.n_tokens, rel=0.1)


def test_the_variance_of_locations_is_learned_before_a_stream(small):
    model = DILN(8, learning_method="online", location_variance="auto", random_state=0).fit(small.corpus)
    assert model.fitted_.posterior.state.weights.variance != 0.5


def test_an_error_in_a_block_is_raised_on_any_number_of_threads(small, monkeypatch):
    def failing(*given, **told):
        raise MemoryError

    monkeypatch.setattr("diln.inference.sampling.documents.SHARD", 1500)
    monkeypatch.setattr("diln.inference.sampling.token_step.draw_shard", failing)
    with pytest.raises(MemoryError):
        HDP(5, n_jobs=2).fit(small.corpus)


def test_more_tokens_of_a_term_than_can_be_counted_are_refused():
    counts = np.full((3, 4), 2**23)
    with pytest.raises(ValueError, match=r"a term has 25,165,824 tokens.*max_df"):
        HDP(2).fit(counts)


def test_steps_that_would_go_too_far_are_refused(small):
    with pytest.raises(ValueError, match=r"learning_offset is 0\.1; give a number from 1 to 1e\+09"):
        LDA(2, inference=Sampling(learning_offset=0.1)).fit(small.corpus)
