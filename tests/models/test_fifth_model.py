"""A fifth model, of which nothing but its own file knows, goes through all that the others do.

It is LDA written once more, so that its chain must have the bits of LDA's.
"""

import numpy as np
import pytest
from typer.testing import CliRunner

import diln
from diln import LDA, Sampling
from diln.cli.main import app
from diln.models.base import ESTIMATORS
from diln.models.options import MODELS
from diln.models.parameters import KINDS
from diln.simulate import lda_corpus


@pytest.fixture(scope="module")
def Even():  # noqa: N802 - a class
    """The model, which comes in by being defined, and goes when these tests are done."""
    from fifth_model import Even as Fifth

    yield Fifth
    for known in (MODELS, KINDS, ESTIMATORS):
        del known[Fifth.kind]


COUNTS = lda_corpus(90, 60, 4, doc_length=40, rng=0).corpus.counts
TOLD = {"max_iter": 30, "random_state": 2}


def test_the_fifth_model_has_the_bits_of_the_one_that_it_is(Even):
    fifth, lda = Even(4, **TOLD).fit(COUNTS), LDA(4, **TOLD).fit(COUNTS)
    np.testing.assert_array_equal(fifth.components_, lda.components_)
    np.testing.assert_array_equal(fifth.transform(COUNTS), lda.transform(COUNTS))


@pytest.mark.parametrize("told", [{}, {"learning_method": "online"}, {"inference": "variational"}], ids=str)
def test_it_is_fitted_saved_loaded_and_goes_on_like_any_other(told, tmp_path, Even):
    model = Even(4, **{**TOLD, **told}).fit(COUNTS)
    model.save(tmp_path / "model")
    again = diln.load(tmp_path / "model")
    assert type(again) is Even
    np.testing.assert_array_equal(again.transform(COUNTS), model.transform(COUNTS))
    for one in (model, again):
        one.partial_fit(COUNTS[:40])
    np.testing.assert_array_equal(again.components_, model.components_)


def test_its_chains_resume_and_the_command_line_knows_it(tmp_path, monkeypatch, Even):
    corpus, model = str(tmp_path / "corpus"), str(tmp_path / "model")
    lda_corpus(90, 60, 4, doc_length=40, rng=0).corpus.save(corpus)
    command = ["fit", corpus, "-o", model, "--model", "even", "--topics", "4", "--passes", "12", "--quiet"]
    monkeypatch.setattr("diln.models.fitted.Fitted.save", lambda *given: 1 / 0)
    assert CliRunner().invoke(app, [*command, "--checkpoint-every", "0"]).exit_code
    monkeypatch.undo()
    done = CliRunner().invoke(app, [*command, "--resume"])
    assert done.exit_code == 0, done.output
    right = Even(4, max_iter=12, random_state=0, inference=Sampling()).fit(diln.Corpus.open(corpus))
    np.testing.assert_array_equal(diln.load(model).components_, right.components_)
    assert "EVEN" in CliRunner().invoke(app, ["info", model]).output
