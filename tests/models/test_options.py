"""What models and inferences can be told: declared once, described, checked, and found where it was moved."""

import inspect
import json
from dataclasses import fields

import numpy as np
import pytest
from sklearn.base import clone

import diln
from diln import CTM, DILN, HDP, LDA, Sampling, Variational, simulate
from diln.files import write_manifest
from diln.inference.sampling import tokens
from diln.models import choice, fitting, options, parameters, sampling
from diln.models.base import ESTIMATORS
from diln.models.checkpoints import Checkpoints, as_now, fingerprint
from diln.models.checks import ParameterError
from diln.models.counts import CorpusRows
from diln.models.declared import about_of, described
from diln.models.migrations import parameters_of_1
from diln.models.options import INFERENCES, MODELS, flat, options_of
from diln.models.parameters import KINDS, parameters_of
from diln.models.reading import stored_values

ALL = [DILN, HDP, LDA, CTM, Sampling, Variational]


@pytest.fixture(scope="module")
def corpus():
    return simulate.lda_corpus(40, 30, 4, doc_length=30, rng=0).corpus


@pytest.mark.parametrize("owner", ALL)
def test_every_option_is_described_in_sentences_in_the_docstring(owner):
    text = owner.__doc__
    beside = {"engine"} if hasattr(owner, "engine") else set()  # which is no option
    assert set(inspect.signature(owner).parameters) == {one.name for one in fields(owner)} | beside
    assert all(f"\n{name} : " in text for name in beside)
    for one in fields(owner):
        assert described(one) in text, one.name
        assert about_of(one).text.endswith("."), one.name
        assert about_of(one).more == "" or about_of(one).more.endswith("."), one.name


def test_there_are_as_many_topics_as_a_token_has_numbers_for():
    assert options.MOST_TOPICS == tokens.MOST_TOPICS


@pytest.mark.parametrize("model", ALL[:4])
def test_every_attribute_of_a_fitted_model_is_described_in_the_docstring(model):
    known = [name for name, one in inspect.getmembers(model) if isinstance(one, property) and name[0] != "_"]
    assert len(known) > 10
    for name in known:
        assert f"\n{name}\n    " in model.__doc__, name


@pytest.mark.parametrize("owner", ALL)
def test_descriptions_are_in_plain_words(owner):
    for phrase in ("unless given", "at rest", "as it comes", "so many", "alone", "no effect"):
        assert phrase not in owner.__doc__.lower()
    assert owner is DILN or owner in (Sampling, Variational) or "Polya" not in owner.__doc__


def test_the_numbers_in_descriptions_are_those_of_the_code():
    p, words = parameters, {one.name: described(one) for one in fields(DILN)}
    grown = sum(sweeps for _, sweeps in p.STAGES) + p.GROWN_SWEEPS
    told = {
        "n_components": (f"{sampling.FEWEST} to {sampling.MOST}", p.VARIATIONAL_TOPICS),
        "topic_word_prior": (p.MANY_PRIOR, p.MANY, p.SHARPENING, p.WIDEST_PRIOR, p.TIMES["grow"], p.TIMES["online"]),
        "learning_method": (f"{choice.GROWN:,}", *(f"{size:,}" for size, _ in p.STAGES), choice.IN_MEMORY // 10**6),
        "max_iter": (p.SWEEPS, p.MANY, p.SHORTENING, p.LEAST_SWEEPS, p.MOST_SWEEPS, grown, p.PASSES),
    }
    told["max_iter"] += tuple(f"online {passes}" for passes in p.EPOCHS.values())
    words["n_states"] = described(next(one for one in fields(Sampling) if one.name == "n_states"))
    told["n_states"] = (f"at least {p.STATES}", f"grow {p.GROWN_STATES}")
    for name, numbers in told.items():
        for number in numbers:
            assert str(number) in words[name].replace("\n    ", " "), (name, number)


@pytest.mark.parametrize("kind", ["DILN", "HDP", "LDA", "CTM"])
@pytest.mark.parametrize("inference", INFERENCES)
def test_defaults_make_sense_and_are_those_of_the_estimator(kind, inference):
    assert MODELS[kind].kind == KINDS[kind].kind == ESTIMATORS[kind].kind == kind
    given = parameters_of(kind, {"inference": inference})
    assert given.keeps_all == MODELS[kind].keeps_all
    assert given.values == flat(ESTIMATORS[kind](inference=inference))
    for name, one in options_of(kind, inference).items():
        if about_of(one).by_inference is not None:
            assert given.values[name] is None


def test_no_name_is_an_option_of_both_a_model_and_an_inference():
    own = {one.name for model in MODELS.values() for one in fields(model)}
    assert not own & {one.name for way in INFERENCES.values() for one in fields(way)}


@pytest.mark.parametrize("how", [Sampling(n_states=7), Variational(tol=0.5)])
def test_options_of_an_inference_are_read_changed_copied_and_shown(how):
    model = DILN(9, inference=how)
    again = clone(model)
    assert again.inference == how
    assert again.inference is not how
    assert again.get_params() == model.get_params()
    assert repr(how) in repr(model)
    assert repr(type(how)()) == f"{type(how).__name__}()"
    assert model.get_params()["inference__batch_size"] == how.batch_size
    assert again.set_params(inference__batch_size=3).inference.batch_size == 3
    assert how.batch_size != 3
    with pytest.raises(ValueError, match="has no option 'n_topics'; it has"):
        again.set_params(inference__n_topics=3)


def test_a_name_of_an_inference_becomes_its_options_where_one_is_set():
    assert DILN().set_params(inference__n_states=20).inference == Sampling(n_states=20)
    assert DILN().set_params(inference="variational", inference__tol=0.1).inference == Variational(tol=0.1)
    for wrong in ("magic", 3, None):
        with pytest.raises(ValueError, match=r"inference is .*; give 'sampling'"):
            DILN(inference=wrong).fit([[1]])


def test_a_fit_keeps_the_options_it_was_given(corpus):
    how = Sampling(n_states=2)
    fitted = LDA(3, max_iter=4, random_state=0, inference=how).fit(corpus)
    how.n_states = 100
    assert fitted.fitted_.parameters.n_states == 2


@pytest.mark.parametrize(
    ("option", "better"),
    [
        ({"n_states": 5}, r"DILN\(inference=Sampling\(n_states=5\)\)"),
        ({"polya_gamma": "exact"}, r"Sampling\(omega='exact'\)"),
        ({"evaluate_every": 2}, r"DILN\(inference=Variational\(evaluate_every=2\)\)"),
        ({"colour": 5}, "unexpected keyword argument 'colour'"),
    ],
)
def test_an_option_at_its_old_place_is_told_its_new_one(option, better):
    with pytest.raises(TypeError, match=better):
        DILN(**option)


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        ("LDA", {"weight_rate": 3.0}, "weight_rate is for DILN and HDP, and the model is LDA; leave it out"),
        ("HDP", {"omega": "exact"}, "omega is for DILN, and the model is HDP"),
        ("DILN", {"evaluate_every": 3}, "evaluate_every is for variational inference, and this is sampling"),
        ("CTM", {"colour": 3}, "colour is unknown"),
        ("DILN", {"n_components": "many"}, "n_components is 'many'; give a whole number from 1 on, or 'auto'"),
        ("DILN", {"learning_decay": 0.2}, "learning_decay is 0.2; give a number from 0.5 to 1"),
        ("DILN", {"tol": None}, "tol is None; give a number from 0 on"),
    ],
)
def test_an_error_names_the_parameter(kind, given, message):
    with pytest.raises(ParameterError) as caught:
        parameters_of(kind, given)
    assert str(caught.value).startswith(message)
    assert caught.value.name == next(iter(given))


# As models were stored when every option was one of the model, with None for most defaults.
BEFORE = {
    "topic_word_prior": None, "learning_method": "auto", "learning_decay": None, "learning_offset": None,
    "max_iter": 12, "max_time": None, "tol": None, "batch_size": None, "total_samples": None, "evaluate_every": 0,
    "mean_change_tol": 0.001, "max_doc_update_iter": None, "n_states": 3, "keep_states": 0, "n_chains": 1,
    "warm_up": 20, "polya_gamma": "exact", "init": None, "n_jobs": None, "random_state": 0, "verbose": 0,
}  # fmt: skip
OWN = {
    "DILN": {"alpha_prior": None, "beta_prior": [2.0, 1.0], "weight_rate": 10.0, "n_dims": None,
             "location_variance": None},
    "HDP": {"alpha_prior": [1.0, 2.0], "beta_prior": [2.0, 1.0], "weight_rate": 5.0},
    "LDA": {"doc_topic_prior": "auto"},
    "CTM": {"covariance_prior": 3.0},
}  # fmt: skip


def before(kind, inference):
    return {"n_components": 4, "inference": inference, **BEFORE, **OWN[kind]}


@pytest.mark.parametrize("kind", OWN)
@pytest.mark.parametrize("inference", INFERENCES)
def test_a_model_that_was_stored_with_flat_parameters_loads(kind, inference, corpus, tmp_path):
    stored = before(kind, inference)
    now = parameters_of(kind, stored_values(kind, parameters_of_1(kind, stored)))
    fitted = fitting.fit(now, CorpusRows(corpus), corpus.vocabulary)
    fitted.save(tmp_path / "m")
    manifest = json.loads((tmp_path / "m" / "manifest.json").read_text())
    del manifest["checksum"]
    manifest["content"]["parameters"] = stored
    write_manifest(tmp_path / "m", {**manifest, "schema": 1})
    again = diln.load(tmp_path / "m")
    assert again.fitted_.parameters.values == fitted.parameters.values
    how = again.get_params()["inference"]
    if inference == "sampling":
        told = {"omega": "exact"} if kind == "DILN" else {"weight_rate": 5.0} if kind == "HDP" else {}
        assert how == Sampling(n_states=3, **told)
    else:
        assert how == (Variational(beta_prior=(2.0, 1.0)) if kind in ("DILN", "HDP") else "variational")
    assert again.max_iter == 12
    np.testing.assert_array_equal(again.transform(corpus), ESTIMATORS[kind].of(fitted).transform(corpus))
    assert again.partial_fit(corpus).n_batch_iter_ > 0


def test_a_checkpoint_with_flat_parameters_is_of_the_same_fit(corpus, tmp_path):
    rows, stored = CorpusRows(corpus), before("DILN", "sampling")
    told = parameters_of(
        "DILN", {"n_components": 4, "max_iter": 12, "n_states": 3, "omega": "exact", "random_state": 0}
    )
    now = fingerprint(told, rows, corpus.vocabulary)
    free = ("n_jobs", "verbose", "max_time")
    then = {"model": "DILN", **{name: stored[name] for name in stored if name not in free}}
    then["documents"] = now["documents"]
    assert as_now(parameters_of_1("DILN", then)) == now
    assert as_now(parameters_of_1("DILN", {**then, "n_states": 4})) != now
    one = fitting.fit(told, rows, corpus.vocabulary, None, Checkpoints(tmp_path / "c", 0))
    manifest = json.loads((tmp_path / "c" / "manifest.json").read_text())
    del manifest["checksum"]
    manifest["content"]["fingerprint"] = then
    write_manifest(tmp_path / "c", {**manifest, "schema": 1})
    other = fitting.fit(told, rows, corpus.vocabulary, None, Checkpoints(tmp_path / "c", 0, resume=True))
    assert one.history == other.history  # times too: no sweep was made
