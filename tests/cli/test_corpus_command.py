"""``diln corpus`` as a user runs it, judged by exit code, output and what is on disk."""

import gzip
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import diln, in_its_own_process
from typer.testing import CliRunner

from diln import __version__
from diln.cli.main import app
from diln.corpus import Corpus, TextRule

RECORDS = [
    {"id": "a", "headline": "On foxes", "body": "The quick fox jumps over a lazy dog.", "date": "2020-01-02"},
    {"id": "b", "headline": "On dogs", "body": "Dogs sleep; foxes hunt.", "date": "2021-03-04"},
    {"id": "c", "headline": "Nothing", "body": "", "date": "2019-05-06"},
]


@pytest.fixture
def source(tmp_path) -> Path:
    path = tmp_path / "news.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in RECORDS), encoding="utf-8")
    return path


def test_build_and_info_do_the_main_job(source, tmp_path):
    built = in_its_own_process("corpus", "build", source, "-o", tmp_path / "corpus")
    assert built.code == 0, built.err
    assert "reading 'body' as text, 'id' as id, 'headline' as title, 'date' as date" in built.err
    assert "documents without a token of the vocabulary: 1" in built.out
    info = in_its_own_process("corpus", "info", tmp_path / "corpus", "--json")
    assert info.code == 0
    found = info.json
    assert (found["documents"], found["empty_documents"]) == (3, 1)
    assert (found["dates"], found["undated"]) == (["2019-05-06", "2021-03-04"], 0)
    assert found["terms"]["foxes"] == 1
    assert found["rule"]["stop_words"] == "english"
    corpus = Corpus.open(tmp_path / "corpus")
    assert corpus.documents[0].title == "On foxes"
    assert corpus.documents[1].text == "Dogs sleep; foxes hunt."


def test_every_option_reaches_the_rule(source, tmp_path):
    (tmp_path / "stop.txt").write_text("lazy\n")
    done = diln(
        *("corpus", "build", source, "-o", tmp_path / "corpus", "--text", "headline", "--text", "body", "--id", "none"),
        *("--alphabet", "ascii", "--case", "--min-length", "2", "--stop-words", tmp_path / "stop.txt", "--ngrams", "2"),
        *("--min-df", "1", "--max-df", "0.9", "--max-terms", "50", "--min-tokens", "1", "--drop-duplicates"),
        *("--no-text", "--jobs", "1", "--quiet", "--json"),
    )
    assert done.code == 0, done.err
    assert done.err == ""
    rule = TextRule.from_json(done.json["rule"])
    assert rule == TextRule(
        alphabet="ascii", lowercase=False, min_length=2, stop_words=["lazy"], ngram_range=(1, 2), min_df=1, max_df=0.9,
        max_terms=50, min_tokens=1, drop_duplicates=True, keep_text=False,
    )  # fmt: skip
    corpus = Corpus.open(tmp_path / "corpus")
    assert corpus.documents.ids == ["1", "2", "3"]
    assert "On foxes" in corpus.vocabulary
    assert corpus.documents[0].text == ""


def test_append_adds_documents_and_terms(source, tmp_path):
    assert diln("corpus", "build", source, "-o", tmp_path / "corpus", "-q").code == 0
    more = tmp_path / "more.txt"
    more.write_text("A zebra and a fox\n")
    done = diln("corpus", "append", more, tmp_path / "corpus", "--grow", "--json")
    assert done.code == 0, done.err
    assert done.json["documents"] == 4
    assert Corpus.open(tmp_path / "corpus").vocabulary[-1] == "zebra"


def test_counts_are_built_with_their_vocabulary(tmp_path):
    with gzip.open(tmp_path / "docword.toy.txt.gz", "wt") as file:
        file.write("2\n3\n3\n1 1 2\n1 3 1\n2 2 5\n")
    (tmp_path / "vocab.toy.txt").write_text("fox\ndog\nhen\n")
    done = diln(
        *("corpus", "build", tmp_path / "docword.toy.txt.gz", "--vocabulary", tmp_path / "vocab.toy.txt"),
        *("-o", tmp_path / "corpus"),
    )
    assert done.code == 0, done.err
    corpus = Corpus.open(tmp_path / "corpus")
    assert corpus.vocabulary == ["fox", "dog", "hen"]
    assert corpus.counts.toarray().tolist() == [[2, 0, 1], [0, 5, 0]]


BAD = {
    "missing file": (lambda d: d / "none.jsonl", [], "no such file"),
    "empty file": (lambda d: _write(d / "a.jsonl", b""), [], "is empty"),
    "no usable document": (lambda d: _write(d / "a.txt", b"the and of\n"), [], "no usable token"),
    "wrong column": (lambda d: _write(d / "a.csv", b"id,text\n1,fox\n"), ["--text", "body"], "columns are id, text"),
    "no safe guess": (lambda d: _write(d / "a.csv", b"x,y\n1,fox\n"), [], "the columns are x, y"),
    "broken UTF-8": (lambda d: _write(d / "a.txt", b"fox\ncaf\xe9\n"), [], "line 2, byte 7"),
    "truncated gzip": (lambda d: _write(d / "a.txt.gz", gzip.compress(b"fox\n" * 99)[:-9]), [], "cut off"),
    "line that is no object": (lambda d: _write(d / "a.jsonl", b'{"text": "fox"}\n[1]\n'), [], "line 2"),
    "mixed columns": (lambda d: _write(d / "a.csv", b"id,text\n1,fox\n2,dog,hen\n"), [], "line 3"),
    "duplicate ids": (lambda d: _write(d / "a.csv", b"id,text\n1,fox\n1,dog\n"), [], "same id '1'"),
    "no vocabulary": (lambda d: _write(d / "a.ldac", b"1 0:1\n"), [], "--vocabulary"),
    "unknown format": (lambda d: _write(d / "a.xyz", b"fox"), [], "--format"),
    "unknown built-in": (lambda d: "builtin:nothing", [], "builtin:docs"),
    "bad regular expression": (lambda d: _write(d / "a.txt", b"fox\n"), ["--token-pattern", "("], "regular expression"),
    "bad share": (lambda d: _write(d / "a.txt", b"fox\n"), ["--max-df", "1.5"], "between 0.0 and 1.0"),
    "bad number": (lambda d: _write(d / "a.txt", b"fox\n"), ["--min-df", "few"], "few"),
    "bad stop words": (lambda d: _write(d / "a.txt", b"fox\n"), ["--stop-words", "klingon"], "a word a line"),
    "no processes": (lambda d: _write(d / "a.txt", b"fox\n"), ["--jobs", "0"], "-1 for one for each core"),
    "bad delimiter": (lambda d: _write(d / "a.csv", b"text\nfox\n"), ["--delimiter", ";;"], "not one character"),
    "options for files": (lambda d: "builtin:docs", ["--encoding", "latin-1"], "is no file"),
    "odd encoding": (lambda d: _write(d / "a.txt", b"fox -\n"), ["--encoding", "punycode"], "name the right encoding"),
    "bad encoding": (lambda d: _write(d / "a.txt", b"fox\n"), ["--encoding", "klingon"], "no encoding"),
}


def _write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_and_exit_code_2(case, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    make, options, message = BAD[case]
    done = diln("corpus", "build", make(tmp_path), "-o", tmp_path / "corpus", *options)
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err
    assert done.out == ""
    assert not (tmp_path / "corpus").exists()
    if "Usage" not in done.err:
        assert done.err.splitlines()[-1].startswith("error: ")


def test_a_damaged_corpus_is_one_sentence_and_exit_code_2(source, tmp_path):
    assert diln("corpus", "build", source, "-o", tmp_path / "corpus", "-q").code == 0
    victim = next((tmp_path / "corpus").glob("*/text.npy"))
    data = bytearray(victim.read_bytes())
    data[-1] ^= 1
    victim.write_bytes(data)
    done = diln("corpus", "info", tmp_path / "corpus")
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert "checksum" in done.err


def test_a_corpus_is_not_replaced_unless_forced(source, tmp_path):
    assert diln("corpus", "build", source, "-o", tmp_path / "corpus", "-q").code == 0
    again = diln("corpus", "build", source, "-o", tmp_path / "corpus", "-q")
    assert (again.code, "--force" in again.err) == (2, True)
    assert diln("corpus", "build", source, "-o", tmp_path / "corpus", "-q", "--force").code == 0


def test_a_warning_is_a_line_without_code(tmp_path):
    (tmp_path / "a.txt").write_text("我喜欢在公园里散步。\n狐狸跳过了懒狗。\n", encoding="utf-8")
    done = diln("corpus", "build", tmp_path / "a.txt", "-o", tmp_path / "corpus")
    assert done.code == 0
    assert done.err.startswith("warning: ")
    assert "tokenizer" in done.err
    assert "warnings.warn" not in done.err


def long_source(tmp_path, n_docs: int) -> Path:
    path = tmp_path / "long.txt"
    path.write_text("\n".join(f"the fox number {'abcdefghij'[j % 10] * 5} jumps " * 20 for j in range(n_docs)))
    return path


def test_interrupting_a_build_says_so_and_leaves_nothing(tmp_path):
    source = long_source(tmp_path, 120_000)
    command = [sys.executable, "-m", "diln", "corpus", "build", source, "-o", tmp_path / "corpus", "-j1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not any((tmp_path / "corpus").glob(".raw-*")):
        time.sleep(0.02)
        assert process.poll() is None, "the build was done before it could be interrupted"
    process.send_signal(signal.SIGINT)
    _, printed = process.communicate(timeout=60)
    assert process.returncode == 130
    assert printed.strip() == "error: interrupted; nothing was changed"
    assert not (tmp_path / "corpus").exists()


def test_progress_is_shown_on_a_terminal_only(tmp_path):
    main, side = pty.openpty()
    source = long_source(tmp_path, 50_000)
    command = [sys.executable, "-m", "diln", "corpus", "build", source, "-o", tmp_path / "corpus", "-j1"]
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    process = subprocess.Popen(command, stderr=side, stdout=subprocess.PIPE, text=True, env=env)
    os.close(side)
    shown = b""
    while True:
        try:
            piece = os.read(main, 1 << 16)
        except OSError:  # the other side was closed
            break
        if not piece:
            break
        shown += piece
    os.close(main)
    printed, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"documents" in shown
    assert b"/s" in shown
    assert b"left" in shown
    assert "50,000" in printed
    quiet = diln("corpus", "info", tmp_path / "corpus")
    assert quiet.err == ""


@pytest.mark.parametrize(
    "args", [[], ["corpus"], ["corpus", "build"], ["corpus", "append"], ["corpus", "info"]], ids=str
)
def test_every_command_explains_itself(args):
    shown = CliRunner().invoke(app, [*args, "--help"], env={"COLUMNS": "200", "TERM": "dumb"})
    assert shown.exit_code == 0
    assert "Usage" in shown.output
    if len(args) == 2:
        assert "Example" in shown.output
    if not args:
        assert "Exit codes" in shown.output
        assert "--install-completion" in shown.output


def test_the_version_is_printed():
    assert in_its_own_process("--version").out == f"diln {__version__}\n"


def test_output_that_cannot_be_encoded_is_escaped(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "fox", "label": "\\ud800x"}\n{"text": "dog", "label": "b"}\n')
    env = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    assert diln("corpus", "build", tmp_path / "a.jsonl", "-o", tmp_path / "corpus").code == 0
    assert in_its_own_process("corpus", "info", tmp_path / "corpus", env=env).code == 0
    shown = in_its_own_process("corpus", "info", tmp_path / "corpus", "--json", env=env)
    assert shown.json["labels"] == {"\ud800x": 1, "b": 1}


def test_a_corpus_built_with_a_tokenizer_says_so_when_added_to(tmp_path):
    Corpus.from_texts(["fox dog"], tokenizer=str.split).save(tmp_path / "corpus")
    (tmp_path / "a.txt").write_text("fox\n")
    done = diln("corpus", "append", tmp_path / "a.txt", tmp_path / "corpus")
    assert (done.code, "Traceback" in done.err) == (2, False)
    assert "tokenizer" in done.err


def test_documents_come_through_a_pipe(tmp_path):
    records = "".join(json.dumps(record) + "\n" for record in RECORDS)
    args = ("corpus", "build", "-", "--format", "jsonl", "-o", tmp_path / "corpus", "-qj1")
    done = in_its_own_process(*args, input=records)
    assert (done.code, done.err) == (0, "")
    assert Corpus.open(tmp_path / "corpus").documents.ids == [record["id"] for record in RECORDS]
    done = diln("corpus", "build", "-", "-o", tmp_path / "other")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "standard input: the name does not tell what is in the file; say it with --format" in done.err


def test_a_tokenizer_is_named_on_the_command_line_and_imported_only_then(tmp_path):
    ours = Path(__file__).parents[1] / "corpus"
    mark = tmp_path / "mark"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join((os.environ.get("PYTHONPATH", ""), str(ours)))}
    env["MARK_OF_TOKENS"] = str(mark)
    lines = "".join(f"start {' '.join(words)}\n" for words in [("elk-dog", "ant"), ("bee", "fly")] * 20)
    (tmp_path / "a.txt").write_text(lines)
    fitted = ("fit", tmp_path / "a.txt", "-o", tmp_path / "model", "--topics", 2, "-q", "--tokenizer")
    done = in_its_own_process(*fitted, "tokens_of_ours:words", env=env)
    assert done.code == 0, done.err
    mark.unlink()
    (tmp_path / "text").write_text("start elk-dog\n")
    for args in (("evaluate", tmp_path / "model", tmp_path / "a.txt"), ("read", tmp_path / "model", tmp_path / "text")):
        done = in_its_own_process(*args, env=env)
        assert (done.code, "Traceback" in done.err, mark.exists()) == (2, False, False)
        assert "tokens_of_ours:words" in done.err
        assert "--tokenizer" in done.err
        done = in_its_own_process(*args, "--tokenizer", "tokens_of_ours:words", env=env)
        assert done.code == 0, done.err
        mark.unlink()
    done = in_its_own_process("evaluate", tmp_path / "model", tmp_path / "a.txt", "--tokenizer", "no:no", env=env)
    assert (done.code, done.err.count("\n")) == (2, 1)
