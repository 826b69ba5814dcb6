"""Settings are chosen on validation documents, by hand-checkable rules, and test documents have no say."""

import json
from dataclasses import replace

import numpy as np
import pytest

from diln.corpus import Corpus
from diln.corpus.splits import completion_rows
from diln.errors import SourceError
from diln.models.options import MODELS
from diln.simulate import diln_corpus
from diln.study import STUDIES, Comparison, ResultsFolder, settings_for
from diln.study.choice import at_the_edge, choose, trials
from diln.study.settings import (
    ENOUGH_TOKENS,
    FEWEST_DOCUMENTS,
    PRIORS,
    TOPICS,
    default_topics,
    needs_topics,
)

SMALL = {"models": ("HDP", "LDA"), "topics": (3, 6), "priors": (0.05, 0.2), "seeds": 2, "max_iter": 4}


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return diln_corpus(80, 40, 5, doc_length=30, rng=0).corpus


def test_the_docstring_knows_the_defaults():
    text = " ".join(settings_for.__doc__.split())
    topics, *priors = ("{}, {} and {}".format(*tried) for tried in (TOPICS, *PRIORS.values()))
    for number in (f"{FEWEST_DOCUMENTS} documents", topics, f"{ENOUGH_TOKENS:,} tokens", *priors):
        assert number in text


def folder_with(path, settings, perplexities) -> ResultsFolder:
    """A folder with these perplexities of trials, by model, topics and prior."""
    folder = ResultsFolder(path)
    folder.runs.mkdir(parents=True)
    for model in settings.models:
        for run in trials(settings, model, 0):
            told = run.parameters
            value = perplexities[model, told.get("n_components"), told["topic_word_prior"]]
            folder.end(run, {"perplexity": value})
    return folder


def test_the_best_on_validation_documents_is_chosen(corpus, tmp_path):
    settings = settings_for(corpus, **SMALL)
    known = {
        ("HDP", None, 0.05): 31.0, ("HDP", None, 0.2): 30.0,
        ("LDA", 3, 0.05): 40.0, ("LDA", 3, 0.2): 39.0, ("LDA", 6, 0.05): 37.0, ("LDA", 6, 0.2): 38.0,
    }  # fmt: skip
    folder = folder_with(tmp_path, settings, known)
    assert choose(settings, folder, "HDP", 0)["topic_word_prior"] == 0.2
    best = choose(settings, folder, "LDA", 0)
    assert (best["n_components"], best["topic_word_prior"], best["doc_topic_prior"]) == (6, 0.05, "auto")
    assert choose(settings, folder, "LDA", 0, prior=0.2)["n_components"] == 6
    assert at_the_edge(settings, "HDP", choose(settings, folder, "HDP", 0)) == ["HDP --prior 0.2"]


def test_a_model_that_needs_no_number_of_topics_is_given_none(corpus):
    settings = settings_for(corpus, **SMALL)
    assert [run.parameters.get("n_components") for run in trials(settings, "HDP", 0)] == [None, None]
    assert [run.parameters["n_components"] for run in trials(settings, "LDA", 0)] == [3, 3, 6, 6]
    assert needs_topics("LDA") and not needs_topics("DILN")


def test_where_there_is_no_choice_nothing_is_tried(corpus, tmp_path):
    settings = settings_for(corpus, models=("LDA",), topics=(4,), priors=(0.1,))
    assert trials(settings, "LDA", 0) == []
    assert choose(settings, ResultsFolder(tmp_path), "LDA", 0)["n_components"] == 4


def test_all_models_are_compared_unless_told_otherwise(corpus):
    assert settings_for(corpus).models == tuple(MODELS)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"models": ("PCA",)}, "model is 'PCA'; give 'DILN' or"),
        ({"priors": (0.0,)}, "prior is 0.0"),
        ({"topics": (0,)}, "topics is 0"),
        ({"seeds": 0}, "seeds is 0"),
        ({"max_iter": 0}, "max_iter is 0"),
        ({"n_draws": 0}, "n_draws is 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused_before_any_work(corpus, given, message):
    with pytest.raises(ValueError, match=message):
        settings_for(corpus, **given)


@pytest.mark.parametrize("n_docs", [1, FEWEST_DOCUMENTS - 1])
def test_too_few_documents_are_refused(corpus, n_docs):
    with pytest.raises(
        SourceError, match=rf"takes at least {FEWEST_DOCUMENTS} documents, and the corpus has {n_docs};"
    ):
        settings_for(corpus[:n_docs])


def test_the_fewest_documents_are_enough_for_testing_and_validation(corpus):
    settings_for(corpus[:FEWEST_DOCUMENTS])
    assert len(completion_rows(FEWEST_DOCUMENTS, 0, validation=True)[1]) == 1
    with pytest.raises(ValueError, match="too few to set some aside"):
        completion_rows(FEWEST_DOCUMENTS - 1, 0, validation=True)


def test_small_corpora_are_tried_with_fewer_topics():
    assert default_topics(1_000_000) == (50, 100, 200)
    assert default_topics(2_500) == (5, 10, 20)
    assert default_topics(10) == (4,)


def test_there_are_as_many_runs_as_the_documentation_says(corpus):
    settings = replace(settings_for(corpus), topics=(50, 100, 200), n_train=20_000)
    found = {name: (len(study.first(settings)), study.n_then(settings)) for name, study in STUDIES.items()}
    assert found == {"table": (24, 12), "prior": (90, 60), "steps": (36, 0), "time": (6, 0), "pass": (1, 0)}


def test_validation_documents_are_of_the_training_part():
    train, test, _ = completion_rows(200, 7)
    rest, validation, _ = completion_rows(200, 7, validation=True)
    assert sorted([*rest, *validation]) == sorted(train)
    assert not set(validation) & set(test)
    assert len(validation) == len(train) // 8


def test_what_is_chosen_does_not_depend_on_the_test_documents(corpus, tmp_path):
    """Other words in every test document leave every trial, and so every choice, as it was."""
    settings = settings_for(corpus, **SMALL)
    counts = corpus.counts.toarray()
    test = completion_rows(len(corpus), 0)[1]
    counts[test] = np.roll(counts[test], 13, axis=1)
    other = Corpus.from_matrix(counts, corpus.vocabulary)
    found = []
    for number, one in enumerate((corpus, other)):
        folder = ResultsFolder(tmp_path / str(number))
        view = Comparison(one, settings, folder, (STUDIES["table"],)).carry_out()["table"]
        tried = [folder.read(run) for model in settings.models for run in trials(settings, model, 0)]
        kept = [{name: value for name, value in result.items() if name != "cpu_seconds"} for result in tried]
        found.append((json.dumps(kept), [row.chosen for row in view.rows], [row.perplexity for row in view.rows]))
    assert found[0][:2] == found[1][:2]
    assert found[0][2] != found[1][2]
