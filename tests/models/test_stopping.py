"""The first Ctrl-C or SIGTERM ends a fit with the model it has, the second abandons it; --resume goes on from there."""

import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from killing import CHAIN_DOCS, GROWING, begin, beside, complete, differences, write_corpus
from telling import told

from diln import CTM, DILN, HDP, LDA
from diln.corpus import Corpus
from diln.engine.threads import Threads
from diln.models import base, fitting, parameters, sampling
from diln.models.checkpoints import CHECKPOINT, Checkpoints
from diln.models.counts import CorpusRows
from diln.models.files import read_model
from diln.models.fitted import Fitted
from diln.models.parameters import parameters_of

MOST = 120  # seconds that anything may take


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("documents") / "corpus", 150)


@pytest.fixture
def rows(corpus) -> CorpusRows:
    return CorpusRows(Corpus.open(corpus))


def terms_of(rows: CorpusRows) -> list[str]:
    return [f"t{i}" for i in range(rows.n_terms)]


@pytest.fixture
def small_sizes(monkeypatch):
    monkeypatch.setattr(parameters, "STAGES", GROWING)
    monkeypatch.setattr(parameters, "GROWN_SWEEPS", 30)
    monkeypatch.setattr(sampling, "CHAIN_DOCS", CHAIN_DOCS)


def appears(path: Path, process: subprocess.Popen) -> None:
    """Wait until the process has made a file."""
    end = time.monotonic() + MOST
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, f"there is no {path.name}"
        time.sleep(0.01)


def held(corpus: Path, model: Path, learning: str, *options: str, hold: int, **settings) -> subprocess.Popen:
    """A fit that waits after so many sweeps or steps."""
    process = begin(corpus, model, learning, *options, hold=hold, **settings)
    appears(model.parent / "here", process)
    return process


def ended(process: subprocess.Popen) -> tuple[int, str]:
    """How a process has ended, and what it said."""
    _, printed = process.communicate(timeout=MOST)
    assert "Traceback" not in printed
    return process.returncode, printed


def stopped(process: subprocess.Popen, model: Path, number: signal.Signals) -> tuple[int, str]:
    """The same, of a fit that is stopped where it waits."""
    process.send_signal(number)
    appears(model.parent / "asked", process)
    (model.parent / "go").touch()
    return ended(process)


def check_model(fitted: Fitted, rows: CorpusRows) -> None:
    """Raise if a model could not be used."""
    with Threads(1) as engine:
        proportions = fitted.infer(rows.everything(), engine).proportions
    assert np.isfinite(fitted.topic_word).all()
    np.testing.assert_allclose(proportions.sum(axis=1), 1)
    assert fitted.n_topics >= 1


STOPS = [
    ("batch", 3, signal.SIGINT, "after sweep 3 of at most 50, not converged"),  # before topics have locations
    ("grow", 8, signal.SIGTERM, "after sweep 8 of at most 50, not converged"),  # before all documents are in play
    ("chains", 20, signal.SIGTERM, "after sweep 20 of at most 30, not converged"),
    ("online", 3, signal.SIGTERM, "after sweep 3, before the first pass, not converged"),
    ("online", 45, signal.SIGINT, "after step 5, in pass 1 of 1, not converged"),
]


@pytest.mark.parametrize(("learning", "after", "number", "when"), STOPS, ids=[f"{one[0]}-{one[1]}" for one in STOPS])
def test_a_fit_that_is_stopped_has_its_model_and_goes_on_to_the_same_bits(
    learning, after, number, when, corpus, rows, small_sizes, tmp_path
):
    model = tmp_path / "model"
    code, printed = stopped(held(corpus, model, learning, hold=after), model, number)
    assert code == 128 + number
    assert printed == (
        f"warning: stopped {when}: {model} has the model as it is; the same command with --resume goes on from "
        f"{beside(model)}\n"
    )
    fitted = Fitted.load(model)
    check_model(fitted, rows)
    assert fitted.stopped == ("steps" if "step" in when else "sweeps")
    assert len(fitted.history) == after
    checked, terms = fitted.parameters, fitted.vocabulary
    whole = fitting.fit(checked, rows, terms)
    resumed = fitting.fit(checked, rows, terms, None, Checkpoints(beside(model), 1000, resume=True))
    assert resumed.stopped is None
    one, other = whole.stored(), resumed.stored()
    assert {name: value.tobytes() for name, value in one[1].items()} == {
        name: value.tobytes() for name, value in other[1].items()
    }
    assert {**one[0], "history": len(whole.history)} == {**other[0], "history": len(resumed.history)}


def test_the_same_command_goes_on_and_replaces_the_model_it_was_stopped_at(corpus, tmp_path):
    model = tmp_path / "model"
    assert stopped(held(corpus, model, "batch", hold=45), model, signal.SIGINT)[0] == 130
    before = read_model(model)
    code, printed = ended(begin(corpus, model, "batch"))
    assert (code, "go on from it with --resume, or begin anew with --force" in printed) == (2, True)
    assert differences(before, read_model(model)) == []
    assert complete(corpus, model, "batch", "--resume").content["state"]["stopped"] is None
    assert not beside(model).exists()


@pytest.mark.parametrize("options", [("--inference", "variational", "--tol", "0"), ("--checkpoint-every", "never")])
def test_a_fit_without_a_checkpoint_says_how_to_begin_from_what_it_has(options, corpus, rows, tmp_path):
    model = tmp_path / "model"
    code, printed = stopped(held(corpus, model, "batch", *options, hold=4), model, signal.SIGTERM)
    assert code == 143
    where = "pass 4" if "variational" in options else "sweep 4"
    assert printed == (
        f"warning: stopped after {where} of at most 50, not converged: {model} has the model as it is; --init "
        f"{model}, with another --output, begins another fit with its topics\n"
    )
    assert not beside(model).exists()
    check_model(Fitted.load(model), rows)


@pytest.mark.parametrize("numbers", [(signal.SIGTERM, signal.SIGINT), (signal.SIGINT, signal.SIGTERM)], ids=str)
def test_the_second_signal_abandons_the_fit_and_changes_nothing(numbers, corpus, rows, tmp_path):
    model = tmp_path / "model"
    fitting.fit(parameters_of("HDP", {"max_iter": 3, "random_state": 0}), rows, terms_of(rows)).save(model)
    before = read_model(model)
    process = held(corpus, model, "batch", "--force", hold=3)
    process.send_signal(numbers[0])
    appears(tmp_path / "asked", process)
    process.send_signal(numbers[1])
    assert ended(process) == (128 + numbers[1], "error: interrupted; no model was written\n")
    assert differences(before, read_model(model)) == []
    assert not beside(model).exists()


def test_before_there_is_a_model_the_first_signal_ends_the_fit_at_once(corpus, tmp_path):
    process = held(corpus, tmp_path / "model", "batch", hold=0)
    process.send_signal(signal.SIGTERM)
    assert ended(process) == (143, "error: interrupted; no model was written\n")
    assert [path.name for path in tmp_path.iterdir()] == ["here"]


def test_a_fit_in_the_background_is_stopped_by_sigterm_alone(corpus, tmp_path):
    model, before = tmp_path / "model", signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = held(corpus, model, "batch", hold=3)
    finally:
        signal.signal(signal.SIGINT, before)
    process.send_signal(signal.SIGINT)
    assert stopped(process, model, signal.SIGTERM)[0] == 143
    assert Fitted.load(model).stopped == "sweeps"


class StopAfter:
    """Ends a fit after so many sweeps or steps."""

    def __init__(self, number: int) -> None:
        self.left = number

    def __call__(self) -> bool:
        self.left -= 1
        return self.left <= 0


@pytest.mark.parametrize("kind", ["DILN", "HDP", "LDA", "CTM"])
@pytest.mark.parametrize(
    ("learning", "inference"),
    [("batch", "sampling"), ("grow", "sampling"), ("online", "sampling"), ("batch", "variational"),
     ("online", "variational")],
)  # fmt: skip
@pytest.mark.parametrize("after", [1, 15])
def test_every_model_is_one_after_its_first_sweep(kind, learning, inference, after, rows, small_sizes, tmp_path):
    given = {"learning_method": learning, "inference": inference, "n_components": 6, "random_state": 0, "batch_size": 9}
    given |= {"tol": 0.0} if inference == "variational" and learning == "batch" else {}
    given |= {"keep_states": 2} if inference == "sampling" else {}
    given |= {"doc_topic_prior": "auto"} if kind == "LDA" else {}
    checked = parameters_of(kind, given)
    fitting.fit(checked, rows, terms_of(rows), stop=StopAfter(after)).save(tmp_path / "m")
    fitted = Fitted.load(tmp_path / "m")
    assert fitted.stopped == ("steps" if (learning, inference) == ("online", "variational") else "sweeps")
    assert fitted.posterior.n_topics <= 6
    assert fitted.states_kept == (None if inference == "variational" else 0 if learning == "online" else 1)
    check_model(fitted, rows)


def test_what_chains_agree_on_is_known_of_those_that_were_done(rows):
    checked = parameters_of("DILN", {"n_components": 6, "max_iter": 12, "random_state": 0, "n_chains": 4, "n_jobs": 1})
    terms = terms_of(rows)
    some = fitting.fit(checked, rows, terms, stop=StopAfter(12 + 12 + 3))  # in the third chain
    assert (some.stopped, some.n_chains, some.passes) == ("chains", 2, 12)
    alone = fitting.fit(checked, rows, terms, stop=StopAfter(12 + 3))
    assert (alone.stopped, alone.n_chains, alone.agreement) == ("chains", 1, None)
    early = fitting.fit(checked, rows, terms, stop=StopAfter(3))
    assert (early.stopped, early.n_chains, early.agreement) == ("sweeps", 1, None)


def test_what_earlier_fits_left_is_not_mixed_with_what_a_stopped_one_leaves(rows, tmp_path):
    given = {"n_components": 6, "max_iter": 12, "n_jobs": 1, "n_chains": 3}
    terms = terms_of(rows)
    fitting.fit(parameters_of("HDP", {**given, "random_state": 0}), rows, terms, None, Checkpoints(tmp_path / "c", 0))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "c.2", "c.3"]
    kept, other = Checkpoints(tmp_path / "c", 0), parameters_of("HDP", {**given, "random_state": 9})
    assert fitting.fit(other, rows, terms, None, kept, StopAfter(3)).stopped == "sweeps"
    kept.remove(stale=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c"]
    assert read_model(tmp_path / "c", CHECKPOINT).content["seed"] == 9


@pytest.mark.parametrize("model", [DILN, HDP, LDA, CTM])
def test_in_python_an_interrupt_is_raised_and_there_is_no_model(model, monkeypatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(base._Printed, "look", interrupted)
    estimator = told(model, n_components=5, random_state=0, verbose=1)
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(np.random.default_rng(0).poisson(0.8, (60, 20)))
    assert not hasattr(estimator, "fitted_")
