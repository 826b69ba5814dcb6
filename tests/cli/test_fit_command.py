"""``diln fit`` as a user runs it, judged by exit code, output and the model on disk."""

import gzip
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from commands import diln, write_texts
from scipy.sparse import csr_array, save_npz

from diln.cli import fit as cli_fit
from diln.cli.fitline import FitLine, Passes, Steps, Sweeps
from diln.cli.lines import clock, fitting
from diln.cli.parameters import FLAGS, PARAMETERS, STARTS, Inference, default_text, help_text
from diln.cli.source import BUILTIN_NAMES, Format
from diln.corpus import FORMATS, Corpus
from diln.datasets import BUILTIN
from diln.errors import StoreError
from diln.files import writing
from diln.inference.progress import Progress
from diln.models import parameters, sampling
from diln.models.files import MODEL as KIND
from diln.models.fitted import Fitted
from diln.models.options import INFERENCES
from diln.models.parameters import defaults, parameters_of

FEW = ("--topics", 4, "--passes", 3, "-j1")
BOUND = ("--inference", "variational")


def test_a_corpus_becomes_a_model_and_a_summary_of_it(shelf, tmp_path):
    done = diln("fit", shelf / "corpus", "-o", tmp_path / "model", *FEW)
    assert done.code == 0, done.err
    fitted = Fitted.load(tmp_path / "model")
    assert (fitted.kind, fitted.passes, fitted.seed) == ("DILN", 3, 0)
    assert fitted.vocabulary == Corpus.open(shelf / "corpus").vocabulary
    topics = f"{fitted.n_topics} in use of {fitted.posterior.n_topics}"
    for shown in (str(tmp_path / "model"), "DILN", "200, of 28 terms", topics, "violin"):
        assert shown in done.out
    assert "sampling, learning: batch" in done.out
    assert "3, the last 1 averaged, as many as were allowed" in done.out
    assert f"score      {fitted.history[-1]['score']:.3f}, mean log probability" in done.out
    assert "bound" not in done.out


def test_variational_inference_says_what_it_found(shelf, tmp_path):
    done = diln("fit", shelf / "corpus", "-o", tmp_path / "model", *FEW, *BOUND)
    fitted = Fitted.load(tmp_path / "model")
    for shown in ("variational, learning: batch", f"{fitted.bound:,.0f}", "3, as many as were allowed"):
        assert shown in done.out
    assert "score" not in done.out


def test_the_summary_is_json_when_asked_for(shelf, tmp_path):
    done = diln("fit", shelf / "corpus", "-o", tmp_path / "model", *FEW, "--keep-states", 1, "--json")
    fitted = Fitted.load(tmp_path / "model")
    assert done.json["directory"] == str(tmp_path / "model")
    assert (done.json["documents"], done.json["terms"], done.json["tokens"]) == (200, 28, 6000)
    assert (done.json["topics_in_use"], done.json["truncation"]) == (fitted.n_topics, fitted.posterior.n_topics)
    assert (done.json["bound"], done.json["passes"], done.json["seed"]) == (None, 3, 0)
    assert (done.json["inference"], done.json["learning"]) == ("sampling", "batch")
    assert (done.json["states_averaged"], done.json["states_kept"]) == (1, 1)
    assert done.json["score"] == fitted.history[-1]["score"]
    weights = {topic["id"]: topic["weight"] for topic in done.json["topics"]}
    assert weights == {k: fitted.topic_weights[k] for k in weights}
    evaluated = (*FEW, *BOUND, "--evaluate-every", 1, "--json")
    found = diln("fit", shelf / "corpus", "-o", tmp_path / "other", *evaluated).json
    other = Fitted.load(tmp_path / "other")
    assert (found["bound"], found["perplexity"]) == (other.bound, other.history[-1]["perplexity"])
    assert (found["score"], found["states_averaged"], found["truncation"]) == (None, None, 4)


def test_texts_are_counted_as_a_corpus_of_them_is(shelf, tmp_path):
    assert diln("fit", shelf / "corpus", "-o", tmp_path / "a", *FEW).code == 0
    done = diln("fit", shelf / "texts.jsonl", "-o", tmp_path / "b", *FEW)
    assert done.code == 0, done.err
    assert "reading 'text' as text" in done.err
    first, second = Fitted.load(tmp_path / "a"), Fitted.load(tmp_path / "b")
    assert np.array_equal(first.posterior.statistics, second.posterior.statistics)


def test_every_kind_of_source_is_taken(tmp_path):
    words = "fox dog hen owl".split()
    (tmp_path / "vocabulary.txt").write_text("\n".join(words))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_text("fox dog")
    (tmp_path / "folder" / "b.txt").write_text("hen owl fox")
    (tmp_path / "lines.txt").write_text("fox dog\nhen owl fox\n")
    (tmp_path / "table.csv").write_text("id,body\n1,fox dog\n2,hen owl fox\n")
    with gzip.open(tmp_path / "records.jsonl.gz", "wt") as file:
        file.write('{"body": "fox dog"}\n{"body": "hen owl fox"}\n')
    save_npz(tmp_path / "counts.npz", csr_array(np.array([[1, 1, 0, 0], [1, 0, 1, 1]])))
    (tmp_path / "counts.ldac").write_text("2 0:1 1:1\n3 0:1 2:1 3:1\n")
    with gzip.open(tmp_path / "docword.toy.txt.gz", "wt") as file:
        file.write("2\n4\n5\n1 1 1\n1 2 1\n2 1 1\n2 3 1\n2 4 1\n")
    counts = ("--vocabulary", tmp_path / "vocabulary.txt")
    sources = {
        "folder": (), "lines.txt": (), "table.csv": ("--text", "body"), "records.jsonl.gz": (),
        "counts.npz": counts, "counts.ldac": counts, "docword.toy.txt.gz": counts,
    }  # fmt: skip
    for name, options in sources.items():
        done = diln(
            *("fit", tmp_path / name, "-o", tmp_path / "model", "--force", "--json", "-j1", *options),
            *("--model", "lda", "--topics", 2, "--passes", 2),
        )
        assert done.code == 0, done.err
        assert (done.json["documents"], done.json["terms"], done.json["tokens"]) == (2, 4, 5), name


def test_options_of_tokens_and_terms_reach_the_counts(tmp_path):
    (tmp_path / "a.txt").write_text("Fox fox dog\nfox hen ox\ndog hen ox fox\n")
    (tmp_path / "stop.txt").write_text("hen\n")
    done = diln(
        *("fit", tmp_path / "a.txt", "-o", tmp_path / "model", "--topics", 2, "--passes", 1, "-j1", "-q"),
        *("--case", "--min-length", 2, "--stop-words", tmp_path / "stop.txt", "--min-df", 2, "--max-df", "1.0"),
        *("--max-terms", 9, "--ngrams", 1),
    )
    assert done.code == 0, done.err
    assert Fitted.load(tmp_path / "model").vocabulary == ["dog", "fox", "ox"]


OPTIONS = {
    "n_components": ("--topics", 3, 3),
    "topic_word_prior": ("--topic-prior", 0.2, 0.2),
    "n_dims": ("--dims", 2, 2),
    "location_variance": ("--location-variance", 0.7, 0.7),
    "weight_rate": ("--weight-rate", 5, 5.0),
    "inference": ("--inference", "sampling", "sampling"),
    "learning_method": ("--learning", "online", "online"),
    "max_iter": ("--passes", 2, 2),
    "max_time": ("--max-time", 1000, 1000.0),
    "tol": ("--tol", 0.5, 0.5),
    "n_states": ("--states", 4, 4),
    "keep_states": ("--keep-states", 2, 2),
    "n_chains": ("--chains", 2, 2),
    "warm_up": ("--warm-up", 3, 3),
    "batch_size": ("--batch-size", 100, 100),
    "learning_decay": ("--decay", 0.9, 0.9),
    "learning_offset": ("--offset", 3, 3.0),
}


def test_every_option_reaches_its_parameter(shelf, tmp_path):
    line = [word for option, value, _ in OPTIONS.values() for word in (option, value)]
    done = diln("fit", shelf / "corpus", "-o", tmp_path / "model", *line, "--seed", 7, "-q")
    assert done.code == 0, done.err
    fitted = Fitted.load(tmp_path / "model")
    assert {name: getattr(fitted.parameters, name) for name in OPTIONS} == {n: v[2] for n, v in OPTIONS.items()}
    assert (fitted.seed, fitted.steps) == (7, 4)
    assert set(PARAMETERS) == {*OPTIONS, "doc_topic_prior", "covariance_prior", "init", "evaluate_every", "memory"}
    assert {name: FLAGS[name] for name in OPTIONS} == {name: value[0] for name, value in OPTIONS.items()}


def test_options_of_variational_inference_reach_their_parameters(shelf, tmp_path):
    line = (*FEW, *BOUND, "--init", "random", "--evaluate-every", 2, "--learning", "batch")
    assert diln("fit", shelf / "corpus", "-o", tmp_path / "model", *line, "-q").code == 0
    found = Fitted.load(tmp_path / "model").parameters
    assert (found.init, found.evaluate_every, found.learning_method) == ("random", 2, "batch")


def test_what_can_be_learned_is_learned_when_asked_for(shelf, tmp_path):
    options = ("--topics", "auto", "--topic-prior", "auto", "--location-variance", "auto", "--passes", 80)
    assert diln("fit", shelf / "corpus", "-o", tmp_path / "m", *options, "-j1").code == 0
    found = diln("info", tmp_path / "m", "--json").json
    assert [found["parameters"][name] for name in ("n_components", "topic_word_prior", "location_variance")] == (
        ["auto"] * 3
    )
    assert found["topic_prior"] != parameters.prior_of(found["truncation"])
    assert found["location_variance"] != parameters_of("DILN", {}).variance


def test_what_is_not_given_is_as_it_is_by_default(shelf, tmp_path):
    assert diln("fit", shelf / "corpus", "-o", tmp_path / "model", "--passes", 1, "-q").code == 0
    values = Fitted.load(tmp_path / "model").parameters.to_json()
    told = {"max_iter": 1, "n_jobs": -1, "random_state": 0}
    assert values == defaults("DILN") | told


@pytest.mark.parametrize(("given", "stored"), [("auto", "auto"), ("0.25", 0.25)])
def test_lda_takes_its_prior_as_a_number_or_learns_it(given, stored, shelf, tmp_path):
    done = diln("fit", shelf / "corpus", "-o", tmp_path / "m", "--model", "lda", *FEW, "--doc-prior", given)
    assert done.code == 0, done.err
    assert Fitted.load(tmp_path / "m").parameters.doc_topic_prior == stored


@pytest.mark.parametrize("inference", ["sampling", "variational"])
def test_the_prior_of_correlations_reaches_the_model(inference, shelf, tmp_path):
    line = ("--model", "ctm", *FEW, "--inference", inference)
    done = diln("fit", shelf / "corpus", "-o", tmp_path / "m", *line, "--covariance-prior", 1e6)
    assert done.code == 0, done.err
    fitted = Fitted.load(tmp_path / "m")
    assert (fitted.kind, fitted.parameters.covariance_prior) == ("CTM", 1e6)
    np.testing.assert_allclose(fitted.covariance, np.eye(4) - 1 / 4, atol=0.02)
    assert diln("fit", shelf / "corpus", "-o", tmp_path / "n", *line).code == 0
    assert not np.allclose(Fitted.load(tmp_path / "n").covariance, np.eye(4) - 1 / 4, atol=0.02)


def test_a_model_can_start_from_another(shelf, tmp_path):
    done = diln("fit", shelf / "corpus", "-o", tmp_path / "m", "--model", "hdp", *FEW, "--init", shelf / "lda")
    assert done.code == 0, done.err
    other = tmp_path / "other.txt"
    other.write_text("fox dog\nhen owl\n")
    wrong = diln("fit", other, "-o", tmp_path / "n", *FEW, "--init", shelf / "lda")
    assert wrong.code == 2
    assert "a model of 28 terms that are not the 4 of the documents" in wrong.err


def test_the_model_is_the_same_for_any_number_of_jobs(shelf, tmp_path):
    for jobs in (1, 2):
        assert diln("fit", shelf / "corpus", "-o", tmp_path / str(jobs), *FEW[:4], "-j", jobs).code == 0
    first, second = (next((tmp_path / jobs).glob("*tensors*")).read_bytes() for jobs in "12")
    assert first == second


def test_the_number_of_topics_that_is_asked_for_brings_no_warning(shelf, tmp_path):
    done = diln("fit", shelf / "corpus", "-o", tmp_path / "m", "--topics", 2, "--passes", 20)
    assert done.code == 0
    assert done.err.startswith("learning: batch, for there are up to 20,000 documents; documents take ")
    assert done.err.count("\n") == 1
    assert "2 in use of 2" in done.out


BAD = {
    "option of another model": (["--model", "lda", "--dims", 3], "--dims is for DILN, and the model is LDA"),
    "option of LDA": (["--doc-prior", "auto"], "--doc-prior is for LDA, and the model is DILN"),
    "option of the CTM": (["--covariance-prior", 3], "--covariance-prior is for CTM, and the model is DILN"),
    "bad prior of correlations": (["--model", "ctm", "--covariance-prior", 0], "--covariance-prior is 0.0; give a"),
    "CTM of any number of topics": (["--model", "ctm", "--topics", "auto"], "--topics is 'auto'; give a whole number"),
    "no topics": (["--topics", 0], "--topics is 0; give a whole number from 1 on"),
    "too many topics": (["--topics", 10**14], "; give a whole number from 1 to 65,520"),
    "topics that are no number": (["--topics", "few"], "'few' is neither a whole number nor auto"),
    "LDA of any number of topics": (["--model", "lda", "--topics", "auto"], "--topics is 'auto'; give a whole number"),
    "learned by sampling": (
        [*BOUND, "--topic-prior", "auto"],
        "--topic-prior is 'auto', which only sampling can learn",
    ),
    "growing bound": (
        [*BOUND, "--learning", "grow"],
        "--learning is 'grow', which is for sampling; give 'batch' or 'online'",
    ),
    "option of sampling": ([*BOUND, "--states", 3], "--states is for sampling inference, and this is variational"),
    "chains of the bound": ([*BOUND, "--chains", 3], "--chains is for sampling inference, and this is variational"),
    "no chains": (["--chains", 0], "--chains is 0; give a whole number from 1 on"),
    "option of the bound": (["--evaluate-every", 3], "--evaluate-every is for variational inference, and this is"),
    "start of the bound": (["--init", "kmeans"], "--init kmeans is for --inference variational, and it is sampling"),
    "checkpoint of a bound": ([*BOUND, "--checkpoint-every", 3], "--checkpoint-every is for --inference sampling"),
    "resumed bound": ([*BOUND, "--resume"], "--resume is for --inference sampling, and it is variational"),
    "bad time": (["--max-time", 0], "--max-time is 0.0; give a number above 0"),
    "bad interval": (["--checkpoint-every", -1], "--checkpoint-every"),
    "bad prior": (["--topic-prior", -1], "--topic-prior is -1.0; give a number from 1e-09 to 1e+06"),
    "bad decay": (["--decay", 0.4], "--decay is 0.4"),
    "bad passes": (["--passes", 0], "--passes is 0"),
    "bad batch size": (["--batch-size", 0], "--batch-size is 0"),
    "no dimensions": (["--dims", 0], "--dims is 0; give a whole number from 1 on"),
    "bad seed": (["--seed", -1], "--seed is -1; give a whole number from 0 on"),
    "bad number": (["--model", "lda", "--doc-prior", "few"], "neither a number nor auto"),
    "unknown model": (["--model", "plsa"], "--model is 'plsa'; give 'diln' or 'hdp'"),
    "option without an effect": (["--model", "lda", "--weight-rate", 5], "--weight-rate is for DILN and HDP, and the"),
    "no jobs": (["--jobs", 0], "-1 for one for each core"),
    "unknown start": (["--init", "kmean"], "--init is 'kmean', and there is no such directory"),
    "reading a corpus": (["--text", "body", "--min-df", 2], "counted already; leave out --text, --min-df"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_options_are_one_sentence_and_exit_code_2(case, shelf, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    options, message = BAD[case]
    done = diln("fit", shelf / "corpus", "-o", tmp_path / "model", *options)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert not (tmp_path / "model").exists()
    if "Usage" not in done.err:
        assert done.err.startswith("error: ")
        assert done.err.count("\n") == 1


def test_bad_sources_are_one_sentence_and_exit_code_2(shelf, tmp_path):
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "stop.txt").write_text("the and of\n")
    corpus = Corpus.from_texts(["fox dog", ""])[[1]].save(tmp_path / "hollow")
    for source, message in (
        (tmp_path / "nothing", "there is no such file or folder"),
        (tmp_path / "empty.txt", "is empty"),
        (tmp_path / "stop.txt", "no usable token"),
        (corpus.directory, "the 1 documents have no token"),
        (shelf / "lda", "not a corpus"),
        ("builtin:nothing", "builtin:docs"),
    ):
        done = diln("fit", source, "-o", tmp_path / "model", *FEW)
        assert (done.code, done.out) == (2, "")
        assert message in done.err
        assert done.err.count("\n") == 1
        assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("command", [["fit"], ["corpus", "build"]])
def test_folders_made_for_what_then_fails_are_removed(command, shelf, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "stop.txt").write_text("the and of\n")
    for folder in (tmp_path / "mine", tmp_path / "new"):
        done = diln(*command, tmp_path / "stop.txt", "-o", folder / "b" / "c", "-j1")
        assert done.code == 2
        assert "no usable token" in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "stop.txt"]
    assert not any((tmp_path / "mine").iterdir())
    assert diln(*command, shelf / "texts.jsonl", "-o", tmp_path / "new" / "b" / "c", "-qj1").code == 0
    assert (tmp_path / "new" / "b" / "c" / "manifest.json").exists()


@pytest.mark.parametrize("number", [10**14, 10**30])
@pytest.mark.parametrize("options", [["--dims"], [*BOUND, "--dims"], ["--topics"], [*BOUND, "--topics"]], ids=" ".join)
def test_more_than_makes_sense_is_said_before_fitting(options, number, shelf, tmp_path):
    done = diln("fit", shelf / "corpus", "-o", tmp_path / "a" / "b", *options, number)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {options[-1]} is ")
    assert done.err.count("\n") == 1
    assert not any(tmp_path.iterdir())


def test_more_dimensions_than_documents_are_refused_at_once(tmp_path):
    (tmp_path / "two.txt").write_text("red fox and dog\nblack cat and dog\n")
    done = diln("fit", tmp_path / "two.txt", "-o", tmp_path / "model", "--dims", 1000)
    assert done.code == 2
    assert "--dims is 1,000; more than there are topics or documents would be empty: give 20 or fewer" in done.err
    assert not (tmp_path / "model").exists()


def test_where_no_model_can_be_written_is_said_before_fitting(shelf, tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.tex").write_text("mine")
    for output, message in (
        (tmp_path / "file", "cannot be made"),
        (tmp_path / "file" / "model", "cannot be made"),
        (tmp_path / "folder", "holds 'thesis.tex'"),
        (shelf / "corpus", "'diln-corpus', not a model"),
        (shelf / "diln", "there is a model already; pass --force"),
    ):
        begun = time.process_time()
        done = diln("fit", "builtin:docs", "-o", output)
        assert (done.code, done.out) == (2, "")
        assert message in done.err
        assert time.process_time() - begun < 2
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder", "thesis.tex"]


def test_a_second_fit_into_one_directory_is_told_at_once_and_the_first_models_stays(shelf, tmp_path):
    with writing(tmp_path / "m", KIND, "new"):
        for force in ((), ("--force",)):
            done = diln("fit", "builtin:docs", "-o", tmp_path / "m", *force)
            assert (done.code, done.out) == (2, "")
            assert done.err == f"error: {tmp_path / 'm'}: another process is writing here; wait until it is done\n"


def test_no_fit_writes_through_a_link(shelf, tmp_path):
    (tmp_path / "victim.txt").write_text("years of work")
    assert diln("fit", shelf / "corpus", "-o", tmp_path / "m", *FEW).code == 0
    (tmp_path / "m" / "manifest.json.new").symlink_to("../victim.txt")
    assert diln("fit", shelf / "corpus", "-o", tmp_path / "m", *FEW, "--force").code == 0
    assert (tmp_path / "victim.txt").read_text() == "years of work"
    assert not (tmp_path / "m" / "manifest.json").is_symlink()


@pytest.mark.parametrize("command", [["fit"], ["corpus", "build"], ["compare"]], ids=" ".join)
@pytest.mark.parametrize(("output", "message"), [("/", "/: is the root of all files"), ("", "the name is empty")])
def test_a_directory_without_a_name_is_refused(command, output, message, shelf):
    done = diln(*command, shelf / "texts.jsonl", "-o", output)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_a_model_is_replaced_when_forced(shelf, tmp_path):
    assert diln("fit", shelf / "corpus", "-o", tmp_path / "m", *FEW).code == 0
    assert diln("fit", shelf / "corpus", "-o", tmp_path / "m", *FEW, "--model", "lda", "--force").code == 0
    assert Fitted.load(tmp_path / "m").kind == "LDA"


def test_on_a_terminal_ctrl_c_ends_a_fit_with_its_model(tmp_path):
    texts = write_texts(tmp_path / "many.jsonl", 1000)
    options = ["--passes", 200000, "--states", 100000, "-fj2"]
    command = [sys.executable, "-m", "diln", "fit", texts, "-o", tmp_path / "m", *options]
    main, side = pty.openpty()  # progress tells when the fit has begun
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen([*map(str, command)], stderr=side, stdout=subprocess.PIPE, env=env)
    os.close(side)
    shown = b""
    while b"sweep 2" not in shown:
        shown += os.read(main, 1 << 16)
    process.send_signal(signal.SIGINT)
    shown += rest_of(main)
    printed, _ = process.communicate(timeout=60)
    assert (process.returncode, b"Traceback" in shown) == (130, False)
    assert b"of at most 200,000, not converged: " in shown
    assert b"not converged " in printed
    fitted = Fitted.load(tmp_path / "m")
    assert (fitted.stopped, fitted.passes >= 2) == ("sweeps", True)
    info = diln("info", tmp_path / "m")
    assert f"after sweep {fitted.passes:,} of at most 200,000, not converged" in info.out
    assert diln("info", tmp_path / "m", "--json").json["stopped"] == "sweeps"


@pytest.fixture
def stopped_fit(shelf, tmp_path, monkeypatch):
    """A fit that was interrupted as it was about to save its model, and what it said."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Fitted, "save", interrupted)
        done = diln("fit", shelf / "corpus", "-o", tmp_path / "m", *FEW, "--checkpoint-every", 0)
    assert done.code == 130
    return done


def test_a_fit_that_was_interrupted_goes_on_if_told_to(stopped_fit, shelf, tmp_path):
    kept = tmp_path / "m.checkpoint"
    assert f"; the same command with --resume goes on from {kept}\n" in stopped_fit.err
    done = diln("fit", shelf / "corpus", "-o", tmp_path / "m", *FEW, "--resume")
    assert (done.code, done.err.splitlines()[0]) == (0, f"going on from {kept}")
    assert Fitted.load(tmp_path / "m").passes == 3
    assert not kept.exists()


def test_a_checkpoint_is_neither_taken_up_nor_forgotten_by_chance(stopped_fit, shelf, tmp_path):
    line, kept = ("fit", shelf / "corpus", "-o", tmp_path / "m", *FEW), tmp_path / "m.checkpoint"
    for more in ((), ("--checkpoint-every", 0)):
        done = diln(*line, *more)
        assert (done.code, done.out) == (2, "")
        assert done.err == (
            f"error: {kept}: a fit that was stopped has left its checkpoint here; go on from it with --resume, or "
            "begin anew with --force\n"
        )
    other = diln(*line, "--seed", 3, "--resume", "-q")
    assert (other.code, other.out) == (2, "")
    assert other.err == (
        f"error: {kept}: the checkpoint is of a fit with --seed 0, not 3; give what it was begun with, or begin anew "
        "with --force in place of --resume\n"
    )
    assert kept.exists()
    assert diln(*line, "--seed", 3, "--force").code == 0
    assert Fitted.load(tmp_path / "m").seed == 3
    assert not kept.exists()


def test_a_model_that_is_whole_is_not_replaced_by_a_fit_that_goes_on(stopped_fit, shelf, tmp_path):
    fitted = Fitted.load(shelf / "hdp")
    for stopped, code in ((None, 2), ("sweeps", 0)):
        fitted.stopped = stopped
        fitted.save(tmp_path / "m")
        done = diln("fit", shelf / "corpus", "-o", tmp_path / "m", *FEW, "--resume", "-q")
        assert (done.code, "there is a model already; pass --force" in done.err) == (code, code == 2)
    assert Fitted.load(tmp_path / "m").kind == "DILN"


def test_a_fit_of_more_than_a_minute_is_kept_without_asking(shelf, tmp_path, monkeypatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Fitted, "save", interrupted)
    kept = tmp_path / "m.checkpoint"
    assert cli_fit.FIRST == 60
    for first, options, left in ((0, ("--checkpoint-every", "never"), False), (60, (), False), (0, (), True)):
        monkeypatch.setattr(cli_fit, "FIRST", first)
        done = diln("fit", shelf / "corpus", "-o", tmp_path / "m", *FEW, "--chains", 2, *options, "-q")
        assert (done.code, kept.exists(), kept.with_name("m.checkpoint.2").exists()) == (130, left, left)
        assert (f"; the same command with --resume goes on from {kept}\n" in done.err) == left


@pytest.mark.parametrize("value", ["often", "-1", "nan"])
def test_how_often_to_write_a_checkpoint_is_a_number_or_never(value, shelf, tmp_path):
    done = diln("fit", shelf / "corpus", "-o", tmp_path / "m", "--checkpoint-every", value)
    assert done.code == 2
    assert "neither a number of seconds from 0 on nor 'never'" in " ".join(done.err.replace("\u2502", " ").split())


def test_a_model_that_cannot_be_saved_is_not_lost(shelf, tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise StoreError("m: cannot be written (No space left on device); make room")

    line = ("fit", shelf / "corpus", "-o", tmp_path / "m", *FEW)
    with monkeypatch.context() as patched:
        patched.setattr(Fitted, "save", full)
        done = diln(*line, "--checkpoint-every", 0, "-q")
    assert (done.code, done.out) == (2, "")
    assert f"make room; the same command with --resume goes on from {tmp_path / 'm'}.checkpoint" in done.err
    assert diln(*line, "--resume").code == 0


def test_where_there_is_nothing_to_go_on_from_a_fit_begins(shelf, tmp_path):
    done = diln("fit", shelf / "corpus", "-o", tmp_path / "m", *FEW, "--resume")
    assert done.code == 0
    assert done.err.splitlines()[0] == f"there is no {tmp_path / 'm'}.checkpoint to go on from; beginning"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m"]


def test_where_no_checkpoint_can_be_written_is_said_before_fitting(shelf, tmp_path):
    (tmp_path / "m.checkpoint").mkdir()
    (tmp_path / "m.checkpoint" / "thesis.tex").write_text("mine")
    done = diln("fit", shelf / "corpus", "-o", tmp_path / "m", *FEW, "--checkpoint-every", 0)
    assert (done.code, done.out) == (2, "")
    assert "m.checkpoint: holds 'thesis.tex', which is no part of a checkpoint" in done.err
    assert diln("fit", shelf / "corpus", "-o", tmp_path / "m", *FEW).code == 0
    assert (tmp_path / "m.checkpoint" / "thesis.tex").exists()


def rest_of(terminal: int) -> bytes:
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 1 << 16)
        except OSError:  # the other side was closed
            return shown
        if not piece:
            return shown
        shown += piece


def test_progress_is_shown_on_a_terminal(shelf, tmp_path):
    main, side = pty.openpty()
    args = ["fit", shelf / "corpus", "-o", tmp_path / "m", "--topics", 40, "--passes", 600, "-j1"]
    command = [sys.executable, "-m", "diln", *map(str, args)]
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen(command, stderr=side, stdout=subprocess.PIPE, env=env)
    os.close(side)
    shown = rest_of(main)
    process.communicate(timeout=60)
    assert process.returncode == 0
    for part in (b" of at most 600", b"documents/s", b"score -", b"topics", b"learning: batch", b"averaging", b"left"):
        assert part in shown


def shown(course, *seen: Progress) -> list[str]:
    """The line on terminals of several widths."""
    line = FitLine(course, quiet=True)
    for progress in seen:
        line.look(progress)
    return [fitting(line.parts(11.0), width) for width in (140, 76, 24)]


def test_the_line_of_progress_keeps_what_matters_most():
    passes = Passes(passes=100, documents=1000, at_most=True)
    assert shown(passes)[1] == "finding a start  0:11"
    wide, narrow, tiny = shown(
        passes, Progress(iteration=20, documents=20_000, seconds=10.0, n_topics=43, bound=-1234567.8)
    )
    assert wide == ("pass 20 of at most 100  2,000 documents/s  bound -1,234,568  43 topics  0:11  at most 0:40 left")
    assert narrow == "pass 20 of at most 100  bound -1,234,568  43 topics  0:11  at most 0:40 left"
    assert tiny == "pass 20 of at most 100"
    online = Progress(iteration=1, documents=500, seconds=10.0, n_topics=43, perplexity=812.4)
    line = shown(Passes(passes=2, documents=1000, at_most=False), online)[0]
    assert line == "pass 1 of 2  50 documents/s  perplexity 812  43 topics  0:11  0:30 left"
    assert [clock(seconds) for seconds in (0, 59.6, 3600, 36061)] == ["0:00", "1:00", "1:00:00", "10:01:01"]


def swept(number: int, documents: int, seconds: float, n_states: int = 0) -> Progress:
    return Progress(number, documents, seconds, 43, score=-7.0821, n_states=n_states)


def test_the_line_of_sweeps_says_how_far_they_are():
    plan = sampling.planned(parameters_of("DILN", {"max_iter": 200, "n_states": 50}), "batch", 1)
    course = Sweeps(plan, 1000, "batch")
    assert shown(course)[1] == "learning: batch  first sweep  0:11"
    wide, narrow, tiny = shown(course, swept(34, 34_000, 17.0))
    assert wide == (
        "sweep 34 of at most 200  2,000 documents/s  score -7.082  43 topics  learning: batch  0:11  at most 1:23 left"
    )
    assert narrow == "sweep 34 of at most 200  score -7.082  43 topics  0:11  at most 1:23 left"
    assert tiny == "sweep 34 of at most 200"
    averaging = shown(course, swept(100, 100_000, 50.0, 12))[0]
    assert averaging.startswith("sweep 100  averaging 12 of 50  2,000 documents/s")
    assert averaging.endswith("0:11  0:19 left")


def test_the_line_of_a_growing_corpus_says_how_much_of_it_is_in_play():
    plan = sampling.planned(parameters_of("DILN", {"max_time": 60}), "grow", 1)
    small, large = parameters.STAGES[0][0], 300_000
    line = shown(Sweeps(plan, large, "grow"), swept(4, 4 * small, 4.0))[0]
    assert f"sweep 4 of at most {plan.max_iter}  {small:,} of {large:,} documents" in line
    assert line.endswith("at most 0:56 left")
    last = swept(plan.max_iter, 9_000_000, 50.0, 1)
    assert "of 300,000 documents" not in shown(Sweeps(plan, large, "grow"), last)[0]


def test_the_line_of_steps_says_how_many_documents_are_done():
    course = Steps(sampling.planned(parameters_of("DILN", {}), "online", 1), 100_000, passes=2)
    chain = [swept(29, 580_000, 58.0), swept(30, 600_000, 60.0, 1)]
    assert shown(course, *chain)[0].startswith("starting: sweep 30 of at most 40  10,000 documents/s  score -7.082")
    steps = [Progress(1, 600_500, 61.0, 43, score=-7.0), Progress(2, 710_000, 71.0, 44, score=-7.0)]
    line = shown(course, *chain, *steps)[0]
    assert line.startswith("pass 2 of 2  10,000 of 100,000 documents  10,000 documents/s  score -7.000  44 topics")
    assert line.endswith("0:09 left")


def test_names_kept_apart_for_a_quick_start_are_those_of_the_readers():
    assert tuple(one.value for one in Format) == FORMATS
    assert tuple(BUILTIN) == BUILTIN_NAMES


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("n_components", "auto, LDA and CTM 100"), ("n_dims", "10; variational 20"),
        ("tol", "0.002; variational 0.001"),
        ("batch_size", "500; variational 250"), ("learning_decay", "0.6"), ("weight_rate", "10"), ("warm_up", "20"),
        ("location_variance", "0.5; variational 1 / dimensions"), ("init", "draws; variational kmeans"),
        ("inference", "sampling"), ("max_time", "no limit"), ("doc_topic_prior", "1 / topics"),
    ],
)  # fmt: skip
def test_defaults_are_shown_for_each_model_and_inference(name, shown):
    assert default_text(name) == shown


def test_help_says_for_which_models_and_which_inference_an_option_is():
    for name, first in {
        "n_dims": "DILN: ", "weight_rate": "DILN, HDP, sampling: ", "doc_topic_prior": "LDA: ",
        "covariance_prior": "CTM: ", "n_states": "Sampling: ", "evaluate_every": "Variational: ", "tol": "Sampling: ",
    }.items():  # fmt: skip
        assert help_text(name).startswith(first)
    assert " Variational: " in help_text("tol")
    assert ":" not in help_text("batch_size")


def test_choices_kept_apart_for_a_quick_start_are_those_of_the_parameters():
    assert [one.value for one in Inference] == list(INFERENCES)
    for start in STARTS:
        assert parameters_of("DILN", {"inference": "variational", "init": start}).init == start


HEAVY = ["numpy", "scipy", "numba", "pandas", "sklearn", "pyarrow"]
NEVER = ["sklearn", "pandas", "scipy.stats", "scipy.optimize"]


HELP = [["--help"], ["fit", "--help"], ["transform", "--help"]]
WORK = [
    ["fit", "{shelf}/corpus", "-o", "{here}/m", "--passes", "20", "--checkpoint-every", "0", "--resume", "-q"],
    ["fit", "{shelf}/corpus", "-o", "{here}/n", "--passes", "2", "--inference", "variational", "-q"],
    ["topics", "{shelf}/diln"],
    ["evaluate", "{shelf}/diln", "{shelf}/corpus"],
    ["metrics", "{shelf}/diln", "--corpus", "{shelf}/corpus"],
    ["transform", "{shelf}/diln", "{shelf}/texts.jsonl", "-o", "{here}/a.parquet", "-j1"],
]


ANSWERS = [[name, f"{{shelf}}/{model}"] for name in ("themes", "correlations", "info") for model in ("diln", "ctm")]
ANSWERS += [["topics", "{shelf}/hdp"]]


@pytest.mark.parametrize(
    ("lines", "banned"),
    [(HELP, HEAVY), (WORK, NEVER), (ANSWERS, [*NEVER, "numba"])],
    ids=["help", "work", "answers"],
)
def test_commands_load_only_what_they_need(lines, banned, shelf, tmp_path):
    code = """if True:
        import json, sys
        from diln.cli.main import app
        lines, banned = json.loads(sys.argv[1])
        for line in lines:
            app(line, standalone_mode=False)
        sys.stderr.write(f"loaded: {[name for name in banned if name in sys.modules]}")
    """
    filled = [[word.format(shelf=shelf, here=tmp_path) for word in line] for line in lines]
    given = json.dumps([filled, banned])
    done = subprocess.run([sys.executable, "-c", code, given], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "loaded: []"


def test_fit_explains_itself():
    shown = diln("fit", "--help")
    assert shown.code == 0
    for name, flag in FLAGS.items():
        assert flag in shown.out, name
    words = " ".join(shown.out.replace("│", " ").split())
    for name in PARAMETERS:
        assert help_text(name).split(".")[0].split()[-1] in words, name
    assert "Example" in shown.out


def test_the_json_of_a_fit_is_one_line_and_nothing_else(shelf, tmp_path):
    done = diln("fit", shelf / "texts.jsonl", "-o", tmp_path / "m", "--topics", 30, "--passes", 2, "--json", "-j1")
    assert done.out.count("\n") == 1
    assert json.loads(done.out)["directory"] == str(Path(tmp_path / "m"))
    assert "reading" not in done.err
