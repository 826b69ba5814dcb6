"""``diln update`` takes documents into a model on disk, whole or not at all, once or as they come."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from commands import THEMES, diln, in_its_own_process

from diln.analysis.index import Index, index_of
from diln.corpus import Corpus
from diln.files import MANIFEST
from diln.models.fitted import Fitted

STARS = "galaxy comet orbit planet telescope star nebula"
PATIENCE = 300  # seconds that no process takes


def write(path: Path, n_docs: int, seed: int, themes: list[str], name: str) -> Path:
    rng = np.random.default_rng(seed)
    with path.open("w", encoding="utf-8") as file:
        for number in range(n_docs):
            text = " ".join(rng.choice(themes[number % len(themes)].split(), 20))
            record = {"id": f"{name}{number}", "text": text, "date": "2021-03-01", "label": name}
            file.write(json.dumps(record) + "\n")
    return path


@pytest.fixture(scope="module")
def shelf(tmp_path_factory) -> Path:
    """A model of texts, which keeps them and has a topic with a name; and new texts with a theme of their own."""
    folder = tmp_path_factory.mktemp("stream")
    write(folder / "old.jsonl", 80, 0, THEMES, "old")
    write(folder / "new.jsonl", 50, 1, [*THEMES, STARS], "new")
    options = ("--topics", 6, "--passes", 12, "--batch-size", 20, "-qj1")
    done = diln("fit", folder / "old.jsonl", "-o", folder / "model", *options)
    assert done.code == 0, done.err
    assert diln("label", folder / "model", 0, "First").code == 0
    assert diln("hide", folder / "model", 1).code == 0
    return folder


@pytest.fixture
def place(shelf, tmp_path) -> Path:
    shutil.copytree(shelf, tmp_path / "shelf")
    return tmp_path / "shelf"


def test_documents_come_into_the_model_its_corpus_and_its_index(place):
    before = Fitted.load(place / "model").vocabulary
    done = diln("update", place / "model", place / "new.jsonl", "--json", "-j1")
    assert done.code == 0, done.err
    assert done.json["documents"] == 50
    assert done.json["steps"] == 3
    assert set(done.json["new_terms"]) == set(STARS.split())
    fitted, corpus = Fitted.load(place / "model"), Corpus.open(place / "model" / "corpus", check=True)
    assert fitted.vocabulary == before + done.json["new_terms"] == corpus.vocabulary
    assert corpus.documents.ids == [f"old{i}" for i in range(80)] + [f"new{i}" for i in range(50)]
    index = index_of(place / "model", fitted)
    assert index.matches(corpus)
    assert index.describes(corpus)
    assert index.label_names == ("old", "new")
    np.testing.assert_allclose(index.proportions(range(130)).sum(axis=1), 1, atol=1e-5)
    anew = Index.build(fitted, corpus)
    np.testing.assert_array_equal(index.proportions([129]), anew.proportions([129]))  # of the last batch
    assert diln("similar", place / "model", "new4").code == 0
    shown = diln("topics", place / "model")
    assert "First: " in shown.out
    assert "1 topic is hidden" in shown.out


def test_names_stay_with_their_topics_however_far_these_drift(place):
    other = write(place / "other.jsonl", 100, 2, [STARS], "star")
    done = diln("update", place / "model", other, "--half-life", 5, "-qj1")
    assert done.code == 0, done.err
    shown = diln("info", place / "model", "--json")
    assert shown.json["edits"]["labels"] == {"0": "First"}
    assert "warning" not in shown.err


def test_an_update_into_another_directory_leaves_the_model_as_it_was(place):
    before = {path: path.read_bytes() for path in sorted((place / "model").rglob("*")) if path.is_file()}
    done = diln("update", place / "model", place / "new.jsonl", "-o", place / "next", "-qj1")
    assert done.code == 0, done.err
    assert {path: path.read_bytes() for path in sorted((place / "model").rglob("*")) if path.is_file()} == before
    diln("update", place / "model", place / "new.jsonl", "-qj1")
    one, other = (Fitted.load(place / name) for name in ("model", "next"))
    np.testing.assert_array_equal(one.topic_word, other.topic_word)
    assert len(Corpus.open(place / "next" / "corpus")) == 130
    assert index_of(place / "next", other).corpus == place / "next" / "corpus"
    again = diln("update", place / "model", place / "new.jsonl", "-o", place / "next", "-qj1")
    assert again.code == 2
    assert "--force" in again.err


def test_a_corpus_updates_a_model_as_its_texts_do(place):
    shutil.copytree(place / "model", place / "twin")
    diln("corpus", "build", place / "new.jsonl", "-o", place / "corpus", "--min-df", 1, "--max-df", "1.0", "-qj1")
    assert diln("update", place / "model", place / "new.jsonl", "-qj1").code == 0
    assert diln("update", place / "twin", place / "corpus", "-qj1").code == 0
    one, other = (Fitted.load(place / name) for name in ("model", "twin"))
    assert one.vocabulary == other.vocabulary
    np.testing.assert_array_equal(one.topic_word, other.topic_word)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("old.jsonl",), "the same id 'old0'"),
        (("nothing.jsonl",), "no such file"),
        (("new.jsonl", "--half-life", "soon"), "--half-life is 'soon'; give a number"),
        (("model/corpus",), "give new ones"),
        (("new.jsonl", "--follow"), "only a folder or the standard input"),
    ],
)
def test_bad_input_is_one_sentence_and_the_model_stays(place, words, message):
    before = (place / "model" / MANIFEST).read_bytes()
    done = diln("update", place / "model", place / words[0], *words[1:], "-qj1")
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1
    assert (place / "model" / MANIFEST).read_bytes() == before
    assert len(Corpus.open(place / "model" / "corpus")) == 80


def test_a_model_whose_corpus_is_elsewhere_keeps_its_index_of_that(place):
    diln("corpus", "build", place / "old.jsonl", "-o", place / "corpus", "-qj1")
    diln("fit", place / "corpus", "-o", place / "lean", "--topics", 6, "--passes", 12, "-qj1")
    done = diln("update", place / "lean", place / "new.jsonl", "-j1")
    assert done.code == 0, done.err
    assert "diln corpus append" in done.out
    index = index_of(place / "lean", Fitted.load(place / "lean"))
    assert index.n_docs == 80
    assert index.matches(Corpus.open(place / "corpus"))


def test_what_an_update_has_changed_is_shown(place):
    diln("update", place / "model", place / "new.jsonl", "-o", place / "next", "-qj1")
    told = diln("diff", place / "model", place / "next", "--json")
    assert told.code == 0, told.err
    assert told.json["one_line"] is True
    assert set(told.json["new_terms"]) == set(STARS.split())
    assert told.json["documents"] == [80, 130]
    shown = diln("diff", place / "model", place / "next")
    assert "matched by     number" in shown.out
    assert "galaxy" in shown.out
    wrong = diln("diff", place / "model", place / "nowhere")
    assert wrong.code == 2
    assert wrong.err.count("\n") == 1


def begin(*args: object, **settings: object) -> subprocess.Popen:
    command = [sys.executable, "-m", "diln", *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **settings)


def wait_for(what, process: subprocess.Popen) -> None:
    """Wait until something is so."""
    last = time.monotonic() + PATIENCE
    while not what():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < last
        time.sleep(0.05)


def kept_by(model: Path) -> int:
    return len(Corpus.open(model / "corpus"))


def steps_of(model: Path) -> int:
    return Fitted.load(model).steps


def test_a_pipe_is_followed_until_it_ends_and_written_on_the_way(place):
    lines = (place / "new.jsonl").read_bytes().splitlines(keepends=True)
    options = ("--format", "jsonl", "--follow", "--every", 0.2, "--json", "-j1")
    process = begin("update", place / "model", "-", *options, stdin=subprocess.PIPE)
    pipe = process.stdin.buffer
    pipe.write(b"".join(lines[:25])[:-9])  # the end of a line is still to come
    pipe.flush()
    wait_for(lambda: kept_by(place / "model") == 104, process)  # 20, and after a while the rest
    assert steps_of(place / "model") >= 2
    pipe.write(b"".join(lines[:25])[-9:] + b"".join(lines[25:]))
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert json.loads(out)["documents"] == 50
    assert Corpus.open(place / "model" / "corpus").documents.ids[80:] == [f"new{i}" for i in range(50)]


def test_a_folder_is_followed_until_the_first_interrupt_which_keeps_what_was_learned(place):
    inbox = place / "inbox"
    inbox.mkdir()
    for number in range(3):
        (inbox / f"{number}.txt").write_text(THEMES[0])
    words = ("update", place / "model", inbox, "--follow", "--every", 0.2, "--quiet", "-j1")
    process = begin(*words)
    wait_for(lambda: kept_by(place / "model") == 83, process)
    (inbox / "later.txt").write_text(STARS)
    wait_for(lambda: kept_by(place / "model") == 84, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert "has the model with what it has learned" in err
    ids = Corpus.open(place / "model" / "corpus").documents.ids[80:]
    assert ids == ["0.txt", "1.txt", "2.txt", "later.txt"]
    process = begin(*words)  # and what was learned is not learned again
    (inbox / "last.txt").write_text(STARS)
    wait_for(lambda: kept_by(place / "model") == 85, process)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 143
    assert Corpus.open(place / "model" / "corpus").documents.ids[84:] == ["last.txt"]


def test_an_update_that_is_killed_leaves_the_old_model_or_the_new_one(place):
    script = Path(__file__).with_name("update_killed.py")
    done = subprocess.run(
        [sys.executable, str(script), str(place), "10", "0"],
        capture_output=True, text=True, check=False, timeout=2 * PATIENCE, env={**os.environ},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    old, new = told["old"], told["new"]
    assert old["digest"] != new["digest"]
    assert (old["documents"], new["documents"], new["indexed"]) == (80, 130, True)
    found = set()
    for end in told["ends"]:
        assert end["code"] in (-signal.SIGKILL, 0)
        assert end["digest"] in (old["digest"], new["digest"])
        assert end["documents"] in (80, 130)
        assert end["documents"] == 80 or end["digest"] == new["digest"]  # the model comes first
        assert end["labels"] == {"0": "First"}
        found.add(end["digest"])
    assert found == {old["digest"], new["digest"]}


def test_a_model_that_another_process_has_written_meanwhile_is_not_written_over(place):
    shutil.rmtree(place / "model" / "corpus")
    process = begin("update", place / "model", "-", "--format", "lines", "--follow", "--every", 0.2, "-qj1",
                    stdin=subprocess.PIPE)  # fmt: skip
    process.stdin.write("apple pear\n")
    process.stdin.flush()
    wait_for(lambda: steps_of(place / "model") == 1, process)
    done = in_its_own_process("update", place / "model", place / "new.jsonl", "-qj1")
    assert done.code == 0, done.err
    process.stdin.write("plum cherry\n")
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert "another process has written the model" in err
    assert steps_of(place / "model") == 4
