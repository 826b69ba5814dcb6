"""Several chains over the same documents: each is a fit of its own seed, and together they say how sure a model is."""

import json
import shutil

import numpy as np
import pytest
from killing import beside, complete, differences, killed_and_resumed, write_corpus
from telling import told

import diln
from diln import CTM, DILN, HDP, LDA, Sampling, Variational, simulate
from diln.analysis import correlated_pairs, largest_topics
from diln.files import write_manifest
from diln.models import fitting, parameters
from diln.models.checkpoints import CHECKPOINT, Checkpoints
from diln.models.counts import CorpusRows
from diln.models.files import read_model
from diln.models.fitted import Fitted
from diln.models.parameters import parameters_of
from mending import edit_tensors

MODELS = [DILN, HDP, LDA, CTM]


@pytest.fixture(scope="module")
def corpus():
    return simulate.hdp_corpus(150, 60, 6, alpha=3.0, beta=5.0, doc_length=simulate.Poisson(40), rng=1).corpus


def small(model, **given):
    return told(model, **{"n_components": 8, "max_iter": 16, "random_state": 5, "batch_size": 70, **given})


def same_bits(one: dict, other: dict) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("learning", ["batch", "grow", "online"])
@pytest.mark.parametrize("model", [DILN, CTM])
def test_each_chain_has_the_bits_of_a_fit_with_its_seed(model, learning, corpus, monkeypatch):
    monkeypatch.setattr(parameters, "STAGES", ((60, 4), (100, 4)))
    alone, found = fitting.fit_one, {}

    def fit(job, engine):
        found[job.seed] = alone(job, engine)
        return found[job.seed]

    with monkeypatch.context() as patched:
        patched.setattr(fitting, "fit_one", fit)
        together = small(model, learning_method=learning, n_chains=3, n_jobs=2).fit(corpus)
    tensors = {seed: one.posterior.tensors() for seed, one in found.items()}
    assert sorted(tensors) == [5, 6, 7]
    for seed, known in tensors.items():
        expected = small(model, learning_method=learning, random_state=seed).fit(corpus)
        assert same_bits(known, expected.fitted_.posterior.tensors())
    assert together.fitted_ is found[5]
    assert together.fitted_.agreement.n_chains == 3


@pytest.mark.parametrize("model", MODELS)
def test_the_number_of_threads_changes_no_bit(model, corpus):
    one, *others = (small(model, n_chains=3, n_jobs=jobs).fit(corpus) for jobs in (1, 2, 5))
    for other in others:
        assert same_bits(one.fitted_.stored()[1], other.fitted_.stored()[1])
        assert [{**entry, "seconds": 0} for entry in one.history_] == [
            {**entry, "seconds": 0} for entry in other.history_
        ]


def test_topics_and_pairs_say_in_how_many_chains_they_were_found(corpus):
    one, many = small(DILN).fit(corpus), small(DILN, n_chains=4).fit(corpus)
    assert [(topic.found, topic.n_chains) for topic in largest_topics(one)] == [(None, None)] * one.n_topics_
    agreement = many.fitted_.agreement
    assert [(topic.found, topic.n_chains) for topic in largest_topics(many)] == [
        (agreement.found[topic.id], 4) for topic in largest_topics(many)
    ]
    assert {topic.found for topic in largest_topics(many)} <= {1, 2, 3, 4}
    every = correlated_pairs(many, 100, unsure=True)
    judged, posterior = many.fitted_.judged(), many.fitted_.posterior
    lifts = posterior.log_lift(agreement.log_lift.astype(float))
    for pair in (*every.positive, *every.negative):
        place = pair.first, pair.second
        assert pair.log_lift == lifts[place]
        assert pair.lift == pytest.approx(np.exp(pair.log_lift))
        assert (pair.sure, pair.n_chains) == (judged.sure[place], agreement.together[place])
        assert pair.low < pair.lift < pair.high
        if pair.sure:
            assert (pair.low > 1) == (pair.high > 1) == (pair.lift > 1)
    sure = correlated_pairs(many, 100)
    assert (sure.n_sure, sure.n_pairs) == (every.n_sure, every.n_pairs) == (judged.n_sure, every.n_pairs)
    assert len(sure.positive) + len(sure.negative) == sure.n_sure
    assert all(pair.sure for pair in (*sure.positive, *sure.negative))
    for pair in (*correlated_pairs(one).positive, *correlated_pairs(one).negative):
        assert (pair.sure, pair.n_chains, pair.low, pair.high) == (None, None, None, None)
        assert pair.spread == one.fitted_.log_lift_spread[pair.first, pair.second]


@pytest.mark.parametrize("model", MODELS)
def test_agreement_is_saved_and_loaded(model, corpus, tmp_path):
    fitted = small(model, n_chains=3).fit(corpus)
    fitted.save(tmp_path / "m")
    again = diln.load(tmp_path / "m")
    assert again.inference.n_chains == again.fitted_.agreement.n_chains == 3
    assert same_bits(fitted.fitted_.stored()[1], again.fitted_.stored()[1])
    assert largest_topics(again) == largest_topics(fitted)
    if model in (DILN, CTM):
        assert correlated_pairs(again, unsure=True) == correlated_pairs(fitted, unsure=True)
        np.testing.assert_array_equal(again.topic_lift_, fitted.topic_lift_)


def test_learning_on_forgets_what_knows_nothing_of_the_new_documents(corpus):
    fitted = small(DILN, n_chains=2).fit(corpus)
    assert fitted.fitted_.posterior.products is not None
    fitted.partial_fit(np.zeros((2, corpus.n_terms), int))
    assert fitted.fitted_.agreement is not None
    fitted.partial_fit(corpus)
    posterior = fitted.fitted_.posterior
    assert (fitted.fitted_.agreement, posterior.products, posterior.spread) == (None, None, None)
    np.testing.assert_allclose(fitted.topic_covariance_, fitted.topic_locations_ @ fitted.topic_locations_.T)
    assert correlated_pairs(fitted).n_sure is None


def test_a_stream_uses_one_chain(corpus):
    one, many = (small(HDP, n_chains=n).partial_fit(corpus) for n in (1, 3))
    assert many.fitted_.agreement is None
    assert same_bits(one.fitted_.stored()[1], many.fitted_.stored()[1])


@pytest.mark.parametrize("model", MODELS)
def test_chains_are_for_sampling(model, corpus):
    with pytest.raises(TypeError, match="n_chains"):
        Variational(n_chains=2)
    with pytest.raises(ValueError, match="n_chains is 0"):
        model(5, inference=Sampling(n_chains=0)).fit(corpus)


def test_a_model_of_before_there_were_chains_loads(corpus, tmp_path):
    fitted = small(DILN).fit(corpus)
    fitted.save(tmp_path / "m")
    manifest = json.loads((tmp_path / "m" / "manifest.json").read_text())
    del manifest["checksum"], manifest["content"]["parameters"]["n_chains"]
    write_manifest(tmp_path / "m", manifest)
    again = diln.load(tmp_path / "m")
    assert again.inference.n_chains == 1
    assert again.get_params() == fitted.get_params()
    np.testing.assert_array_equal(again.transform(corpus), fitted.transform(corpus))


def test_a_model_without_inner_products_has_those_of_its_locations(corpus, tmp_path):
    fitted = small(DILN).fit(corpus).fitted_
    fitted.save(tmp_path / "m")
    edit_tensors(tmp_path / "m", lambda tensors: [tensors.pop(name) for name in ("products", "spread")])
    again = Fitted.load(tmp_path / "m")
    np.testing.assert_allclose(again.covariance, fitted.locations @ fitted.locations.T)
    assert (np.diag(again.covariance) <= np.diag(fitted.covariance) * (1 + 1e-5)).all()


class Seen:
    """Looks on, and may end the fit."""

    def __init__(self, last: int | None = None) -> None:
        self.last, self.seen = last, []

    def look(self, progress) -> None:
        self.seen.append(progress)
        if len(self.seen) == self.last:
            raise Interrupted


class Interrupted(Exception):  # noqa: N818
    pass


def fit(corpus, look=None, kept=None, kind="DILN", **given):
    told = {"n_components": 6, "max_iter": 12, "random_state": 0, "n_chains": 3, **given}
    return fitting.fit(parameters_of(kind, told), CorpusRows(corpus), corpus.vocabulary, look, kept)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_progress_is_of_the_first_chain_and_then_of_others(n_jobs, corpus):
    look = Seen()
    fitted = fit(corpus, look, n_jobs=n_jobs)
    first = [progress for progress in look.seen if progress.chain == 1]
    assert [progress.iteration for progress in first] == [entry["iteration"] for entry in fitted.history]
    assert look.seen[: len(first)] == first
    assert {entry["chain"] for entry in fitted.history} == {None}
    done = [progress.chains_done for progress in look.seen]
    assert done[0] == 0
    assert max(done) < 3
    if n_jobs == 1:
        assert [(chain, done) for chain in (1, 2, 3) for _ in range(12) for done in (chain - 1,)] == [
            (progress.chain, progress.chains_done) for progress in look.seen
        ]


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_an_error_in_one_chain_ends_all(n_jobs, corpus, monkeypatch):
    alone = fitting.fit_one

    def failing(job, engine):
        if job.seed == 1:
            raise MemoryError("no room")
        return alone(job, engine)

    monkeypatch.setattr(fitting, "fit_one", failing)
    with pytest.raises(MemoryError, match="no room"):
        fit(corpus, n_jobs=n_jobs, max_iter=40)


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize(("kind", "learning"), [("DILN", "batch"), ("CTM", "batch"), ("DILN", "online")])
@pytest.mark.parametrize("after", [5, 20])
def test_chains_go_on_from_where_they_were_stopped(kind, learning, n_jobs, after, corpus, tmp_path):
    given = {"kind": kind, "n_jobs": n_jobs, "learning_method": learning, "batch_size": 40}
    given |= {"max_iter": 2} if learning == "online" else {}
    whole = fit(corpus, **given)
    kept = Checkpoints(tmp_path / "c", 0)
    try:
        fit(corpus, Seen(after), kept, **given)
    except Interrupted:
        assert kept.usable
    else:
        assert n_jobs == 3  # the others were done before so many looks
    again = Checkpoints(tmp_path / "c", 1000, resume=True)
    assert again.there
    resumed = fit(corpus, None, again, **given)
    assert same_bits(whole.stored()[1], resumed.stored()[1])
    again.remove()
    assert list(tmp_path.iterdir()) == []


def test_a_chain_that_is_done_is_not_repeated(corpus, tmp_path, monkeypatch):
    fit(corpus, None, Checkpoints(tmp_path / "c", 1e6))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "c.2", "c.3"]
    for number, path in enumerate(sorted(tmp_path.iterdir())):
        content = read_model(path, CHECKPOINT).content
        assert (content["seed"], content["chain"]["run"]["done"]) == (number, True)
    monkeypatch.setattr("diln.inference.sampling.chain.Chain.sweep", lambda *_: pytest.fail("it was repeated"))
    assert fit(corpus, None, Checkpoints(tmp_path / "c", 1e6, resume=True)).agreement.n_chains == 3


def test_a_seed_that_was_drawn_is_that_of_any_chain_that_is_left(corpus, tmp_path):
    whole = fit(corpus, None, Checkpoints(tmp_path / "c", 1e6), random_state=None)
    shutil.rmtree(tmp_path / "c")
    resumed = fit(corpus, None, Checkpoints(tmp_path / "c", 1e6, resume=True), random_state=None)
    assert resumed.seed == whole.seed
    assert same_bits(whole.stored()[1], resumed.stored()[1])


def test_what_is_beside_a_checkpoint_and_no_part_of_it_stays(corpus, tmp_path):
    for name in ("c.2", "c.10", "c.mine"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "thesis.tex").write_text("mine")
    kept = Checkpoints(tmp_path / "c", 1e6)
    assert not kept.there
    with pytest.warns(diln.DilnWarning, match="no checkpoint was written"):
        fit(corpus, None, kept)
    kept.remove()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.10", "c.2", "c.mine"]
    assert (tmp_path / "c.2" / "thesis.tex").exists()


def test_a_fit_of_several_chains_killed_at_random_moments_ends_in_the_same_bits(tmp_path):
    documents = write_corpus(tmp_path / "corpus", 150)
    whole = complete(documents, tmp_path / "whole", "chains")
    stored, deaths = killed_and_resumed(documents, tmp_path / "model", "chains", 3, np.random.default_rng(3))
    assert differences(whole, stored) == [], deaths
    assert not list(tmp_path.glob(f"{beside(tmp_path / 'model').name}*"))
