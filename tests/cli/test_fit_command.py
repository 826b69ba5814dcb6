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
from typing import get_args

import numpy as np
import pytest
from commands import diln, in_its_own_process, write_texts
from scipy.sparse import csr_array, save_npz

from diln.cli.fit import FLAGS, PARAMETERS
from diln.cli.fitline import FitLine, clock, fitting
from diln.cli.source import BUILTIN_NAMES, Format
from diln.corpus import FORMATS, Corpus
from diln.datasets import BUILTIN
from diln.inference.loops import Progress
from diln.models.fitted import Fitted
from diln.models.parameters import DEFAULTS, EPOCHS, PASSES

FEW = ("--topics", 4, "--passes", 3, "-j1")


def test_a_corpus_becomes_a_model_and_a_summary_of_it(shelf, tmp_path):
    done = diln("fit", shelf / "corpus", "-o", tmp_path / "model", *FEW)
    assert done.code == 0, done.err
    fitted = Fitted.load(tmp_path / "model")
    assert (fitted.kind, fitted.passes, fitted.seed) == ("DILN", 3, 0)
    assert fitted.vocabulary == Corpus.open(shelf / "corpus").vocabulary
    for shown in (str(tmp_path / "model"), "DILN", "200, of 28 terms", f"{fitted.n_topics} in use of 4", "3, as many"):
        assert shown in done.out
    assert f"{fitted.bound:,.0f}" in done.out
    assert "violin" in done.out


def test_the_summary_is_json_when_asked_for(shelf, tmp_path):
    done = diln("fit", shelf / "corpus", "-o", tmp_path / "model", *FEW, "--evaluate-every", 1, "--json")
    fitted = Fitted.load(tmp_path / "model")
    assert done.json["directory"] == str(tmp_path / "model")
    assert (done.json["documents"], done.json["terms"], done.json["tokens"]) == (200, 28, 6000)
    assert (done.json["topics_in_use"], done.json["truncation"]) == (fitted.n_topics, 4)
    assert (done.json["bound"], done.json["passes"], done.json["seed"]) == (fitted.bound, 3, 0)
    assert done.json["perplexity"] == fitted.history[-1]["perplexity"]
    weights = {topic["id"]: topic["weight"] for topic in done.json["topics"]}
    assert weights == {k: fitted.topic_weights[k] for k in weights}


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
            *("--model", "lda", "--topics", 2, "--passes", 2, "--init", "random"),
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
    "learning_method": ("--learning", "online", "online"),
    "max_iter": ("--passes", 2, 2),
    "tol": ("--tol", 0.5, 0.5),
    "batch_size": ("--batch-size", 100, 100),
    "learning_decay": ("--decay", 0.9, 0.9),
    "learning_offset": ("--offset", 3, 3.0),
    "init": ("--init", "random", "random"),
    "evaluate_every": ("--evaluate-every", 2, 2),
}


def test_every_option_reaches_its_parameter(shelf, tmp_path):
    line = [word for option, value, _ in OPTIONS.values() for word in (option, value)]
    done = diln("fit", shelf / "corpus", "-o", tmp_path / "model", *line, "--seed", 7, "-q")
    assert done.code == 0, done.err
    fitted = Fitted.load(tmp_path / "model")
    assert {name: getattr(fitted.parameters, name) for name in OPTIONS} == {n: v[2] for n, v in OPTIONS.items()}
    assert (fitted.seed, fitted.steps) == (7, 4)
    assert set(PARAMETERS) == {*OPTIONS, "doc_topic_prior"}
    assert {name: FLAGS[name] for name in OPTIONS} == {name: value[0] for name, value in OPTIONS.items()}


def test_what_is_not_given_is_as_it_is_by_default(shelf, tmp_path):
    assert diln("fit", shelf / "corpus", "-o", tmp_path / "model", "--passes", 1, "-q").code == 0
    values = Fitted.load(tmp_path / "model").parameters.to_json()
    told = {"max_iter": 1, "n_jobs": -1, "random_state": 0}
    default = {name: list(value) if isinstance(value, tuple) else value for name, value in DEFAULTS["DILN"].items()}
    assert values == default | told


@pytest.mark.parametrize(("given", "stored"), [("auto", "auto"), ("0.25", 0.25)])
def test_lda_takes_its_prior_as_a_number_or_learns_it(given, stored, shelf, tmp_path):
    done = diln("fit", shelf / "corpus", "-o", tmp_path / "m", "--model", "lda", *FEW, "--doc-prior", given)
    assert done.code == 0, done.err
    assert Fitted.load(tmp_path / "m").parameters.doc_topic_prior == stored


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


def test_a_warning_is_a_line_in_the_words_of_the_command(shelf, tmp_path):
    done = diln("fit", shelf / "corpus", "-o", tmp_path / "m", "--topics", 2, "--passes", 2)
    assert done.err == ("warning: all 2 topics are in use, so there may be more; fit again with a larger --topics\n")


BAD = {
    "option of another model": (["--model", "lda", "--dims", 3], "--dims is for DILN, and the model is LDA"),
    "option of LDA": (["--doc-prior", "auto"], "--doc-prior is for LDA, and the model is DILN"),
    "no topics": (["--topics", 0], "--topics is 0; give a whole number from 1 on"),
    "bad prior": (["--topic-prior", -1], "--topic-prior is -1.0; give a number above 0"),
    "bad decay": (["--decay", 0.5], "--decay is 0.5"),
    "bad passes": (["--passes", 0], "--passes is 0"),
    "bad batch size": (["--batch-size", 0], "--batch-size is 0"),
    "no dimensions": (["--dims", 0], "--dims is 0; topics need at least one dimension"),
    "bad seed": (["--seed", -1], "--seed is -1; give a whole number from 0 on"),
    "bad number": (["--model", "lda", "--doc-prior", "few"], "neither a number nor auto"),
    "unknown model": (["--model", "plsa"], "plsa"),
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


@pytest.mark.parametrize("option", ["--topics", "--dims"])
@pytest.mark.parametrize("number", [10**14, 10**30])
def test_more_than_memory_holds_is_said_before_fitting(option, number, shelf, tmp_path):
    done = diln("fit", shelf / "corpus", "-o", tmp_path / "a" / "b", option, number)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: there is not enough memory")
    assert done.err.count("\n") == 1
    assert not any(tmp_path.iterdir())


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
        begun = time.perf_counter()
        done = diln("fit", "builtin:docs", "-o", output)
        assert (done.code, done.out) == (2, "")
        assert message in done.err
        assert time.perf_counter() - begun < 2
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder", "thesis.tex"]


def test_a_model_is_replaced_when_forced(shelf, tmp_path):
    assert diln("fit", shelf / "corpus", "-o", tmp_path / "m", *FEW).code == 0
    assert diln("fit", shelf / "corpus", "-o", tmp_path / "m", *FEW, "--model", "lda", "--force").code == 0
    assert Fitted.load(tmp_path / "m").kind == "LDA"


@pytest.mark.parametrize("before", ["nothing", "a model"])
def test_interrupting_a_fit_says_so_and_changes_nothing(before, shelf, tmp_path):
    texts = write_texts(tmp_path / "many.jsonl", 1000)
    if before == "a model":
        assert diln("fit", shelf / "corpus", "-o", tmp_path / "m", *FEW, "-q").code == 0
    kept = {path.name: path.read_bytes() for path in (tmp_path / "m").glob("*")}
    command = [sys.executable, "-m", "diln", "fit", texts, "-o", tmp_path / "m", "--passes", 100000, "--tol", 0, "-fj2"]
    main, side = pty.openpty()  # progress tells when the fit has begun
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen([*map(str, command)], stderr=side, stdout=subprocess.PIPE, env=env)
    os.close(side)
    shown = b""
    while b"pass " not in shown:
        shown += os.read(main, 1 << 16)
    process.send_signal(signal.SIGINT)
    shown += rest_of(main)
    printed, _ = process.communicate(timeout=60)
    assert (process.returncode, printed) == (130, b"")
    assert b"interrupted; no model was written" in shown
    assert b"Traceback" not in shown
    assert {path.name: path.read_bytes() for path in (tmp_path / "m").glob("*")} == kept
    assert (tmp_path / "m").exists() == (before == "a model")


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


def test_progress_is_shown_on_a_terminal_only(shelf, tmp_path):
    main, side = pty.openpty()
    args = ["fit", shelf / "corpus", "-o", tmp_path / "m", "--topics", 40, "--tol", 0, "--passes", 100, "-j1"]
    command = [sys.executable, "-m", "diln", *map(str, args)]
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen(command, stderr=side, stdout=subprocess.PIPE, env=env)
    os.close(side)
    shown = rest_of(main)
    process.communicate(timeout=60)
    assert process.returncode == 0
    for part in (b" of at most 100", b"documents/s", b"bound", b"topics", b"left"):
        assert part in shown
    piped = in_its_own_process("fit", shelf / "corpus", "-o", tmp_path / "n", "--topics", 40, "--passes", 2)
    assert (piped.code, "pass" in piped.err) == (0, False)


def test_the_line_of_progress_keeps_what_matters_most():
    line = FitLine(passes=100, documents=1000, at_most=True, quiet=True)
    assert fitting(line.parts(3.0), 80) == "finding a start  0:03"
    line.look(Progress(iteration=20, documents=20_000, seconds=10.0, n_topics=43, bound=-1234567.8))
    wide, narrow, tiny = (fitting(line.parts(11.0), width) for width in (120, 76, 24))
    assert wide == ("pass 20 of at most 100  2,000 documents/s  bound -1,234,568  43 topics  0:11  at most 0:40 left")
    assert narrow == "pass 20 of at most 100  bound -1,234,568  43 topics  0:11  at most 0:40 left"
    assert tiny == "pass 20 of at most 100"
    line = FitLine(passes=2, documents=1000, at_most=False, quiet=True)
    line.look(Progress(iteration=1, documents=500, seconds=10.0, n_topics=43, perplexity=812.4))
    assert fitting(line.parts(11.0), 120) == ("pass 1 of 2  50 documents/s  perplexity 812  43 topics  0:11  0:30 left")
    assert [clock(seconds) for seconds in (0, 59.6, 3600, 36061)] == ["0:00", "1:00", "1:00:00", "10:01:01"]


def test_names_kept_apart_for_a_quick_start_are_those_of_the_readers():
    assert tuple(one.value for one in Format) == FORMATS
    assert tuple(BUILTIN) == BUILTIN_NAMES


def test_the_defaults_that_help_shows_are_those_of_the_parameters():
    shown = {name: get_args(kind)[-1].show_default for name, kind in PARAMETERS.items()}
    diln_has, lda_has = DEFAULTS["DILN"], DEFAULTS["LDA"]
    assert shown.pop("n_components") == f"{diln_has['n_components']}, LDA {lda_has['n_components']}"
    assert shown.pop("max_iter") == f"{PASSES}, online {EPOCHS}"
    assert shown.pop("evaluate_every") == f"{diln_has['evaluate_every']}: never"
    assert (shown.pop("doc_topic_prior"), lda_has["doc_topic_prior"]) == ("1 / topics", None)
    assert (shown.pop("location_variance"), diln_has["location_variance"]) == ("1 / dims", None)
    values = {name: diln_has[name] for name in shown}
    assert shown == {name: value if isinstance(value, str) else f"{value:g}" for name, value in values.items()}


HEAVY = ["numpy", "scipy", "numba", "pandas", "sklearn", "pyarrow"]
NEVER = ["sklearn", "pandas", "scipy.stats", "scipy.optimize"]


HELP = [["--help"], ["fit", "--help"], ["transform", "--help"]]
WORK = [
    ["fit", "{shelf}/corpus", "-o", "{here}/m", "--passes", "2", "-q"],
    ["topics", "{shelf}/diln"],
    ["correlations", "{shelf}/diln"],
    ["info", "{shelf}/diln"],
    ["evaluate", "{shelf}/diln", "{shelf}/corpus"],
    ["transform", "{shelf}/diln", "{shelf}/texts.jsonl", "-o", "{here}/a.parquet", "-j1"],
]


@pytest.mark.parametrize(("lines", "banned"), [(HELP, HEAVY), (WORK, NEVER)], ids=["help", "work"])
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
    assert "Example" in shown.out


def test_the_json_of_a_fit_is_one_line_and_nothing_else(shelf, tmp_path):
    done = diln("fit", shelf / "texts.jsonl", "-o", tmp_path / "m", "--topics", 30, "--passes", 2, "--json", "-j1")
    assert done.out.count("\n") == 1
    assert json.loads(done.out)["directory"] == str(Path(tmp_path / "m"))
    assert "reading" not in done.err
