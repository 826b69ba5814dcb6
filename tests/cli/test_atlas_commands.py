"""``diln label``, ``merge``, ``hide``, ``unhide``, ``undo``, ``trends``, ``groups``, ``words`` and ``read``."""

import csv
import io
import json
import re
import shutil
import sys

import numpy as np
import pytest
from commands import THEMES, diln, in_its_own_process

from diln.analysis.html import percent
from diln.cli.console import OUT

NAMES = ("fruit", "cars", "music", "politics")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """A model of documents with dates and labels, and their corpus."""
    return fitted(tmp_path_factory.mktemp("library"), lambda number: number % 4 if number < 60 else number % 3)


@pytest.fixture(scope="module")
def changing(tmp_path_factory):
    """A model of documents whose labels go from the first two to the last two in the course of a year."""
    folder = fitted(tmp_path_factory.mktemp("changing"), lambda number: number % 2 + 2 * (number * 7 % 120 < number))
    return folder / "model"


def fitted(folder, place):
    """A model of 120 documents, and their corpus; each is of the theme and the label in this place."""
    rng = np.random.default_rng(0)
    with (folder / "articles.jsonl").open("w", encoding="utf-8") as file:
        for number in range(120):
            at = place(number)
            words = " ".join(rng.choice(THEMES[at].split(), 25)) + " " + " ".join(rng.choice(THEMES[3 - at].split(), 5))
            record = {
                "id": f"doc-{number}",
                "text": words,
                "date": f"2019-{1 + number // 10:02}-11",
                "label": NAMES[at],
            }
            file.write(json.dumps(record) + "\n")
    done = diln("corpus", "build", folder / "articles.jsonl", "-o", folder / "corpus", "--quiet")
    assert done.code == 0, done.err
    done = diln("fit", folder / "corpus", "-o", folder / "model", "--topics", 8, "--max-iter", 30, "--seed", 0, "-q")
    assert done.code == 0, done.err
    return folder


@pytest.fixture
def model(library, tmp_path):
    """A copy of the model to change."""
    shutil.copytree(library / "model", tmp_path / "model")
    diln("index", tmp_path / "model", library / "corpus", "-q")
    return tmp_path / "model"


def first_two(model):
    return [topic["id"] for topic in diln("topics", model, "--json").json["topics"][:2]]


def test_a_name_is_shown_beside_the_words_everywhere(library, model):
    one = first_two(model)[0]
    done = diln("label", model, one, "My own name")
    assert done.code == 0, done.err
    assert f"topic {one} (" in done.out
    assert "is named 'My own name'" in done.out
    assert "now: 1 topic with a name" in done.out
    assert "My own name: " in diln("topics", model).out
    found = diln("topics", model, "--json").json
    assert [topic["label"] for topic in found["topics"][:2]] == ["My own name", None]
    assert "My own name" in diln("documents", model, library / "corpus", "--top", 60).out
    assert (
        f"documents of topic {one}: My own name: " in diln("documents", model, library / "corpus", "--topic", one).out
    )
    assert "1 topic with a name" in diln("info", model).out
    assert diln("info", model, "--json").json["edits"]["labels"] == {str(one): "My own name"}
    assert diln("words", model, "--topic", one).out.startswith(f"topic {one}: My own name")
    pairs = diln("correlations", model, "--json", "--all").json
    labels = {
        pair[f"{side}_label"]
        for kind in ("positive", "negative")
        for pair in pairs[kind]
        for side in ("first", "second")
    }
    assert labels <= {None, "My own name"}


def test_merged_topics_are_one_in_every_command(library, model):
    one, other = first_two(model)
    before = diln("topics", model, "--json").json["topics"]
    done = diln("merge", model, other, one)
    assert done.code == 0, done.err
    after = diln("topics", model, "--json").json["topics"]
    assert len(after) == len(before) - 1
    assert (after[0]["id"], after[0]["merged"]) == (other, [one])
    assert after[0]["weight"] == pytest.approx(before[0]["weight"] + before[1]["weight"])
    alone = {row["id"]: row["share"] for row in documents(model, library, one) if row["share"] > 0.3}
    both = {row["id"]: row["share"] for row in documents(model, library, other)}
    assert all(both[name] >= share - 1e-9 for name, share in alone.items())
    assert diln("words", model, "--topic", one).out.startswith(f"topic {other}: ")
    assert diln("undo", model).out.startswith(f"undone: topic {other}")
    assert diln("topics", model, "--json").json["topics"] == before


def documents(model, library, topic):
    done = diln("documents", model, library / "corpus", "--topic", topic, "--json", "--top", 500, "--min-share", 0)
    assert done.code == 0, done.err
    return done.json["documents"]


def test_hidden_topics_are_left_out_and_counted(library, model):
    one, other = first_two(model)
    diln("hide", model, one)
    shown = diln("topics", model)
    assert "1 topic is hidden; diln unhide shows them again" in shown.out
    found = diln("topics", model, "--json").json
    assert found["hidden"] == 1
    assert one not in [topic["id"] for topic in found["topics"]]
    listed = diln("documents", model, library / "corpus", "--json", "--top", 50).json["documents"]
    assert one not in {topic["id"] for document in listed for topic in document["topics"]}
    assert documents(model, library, one), "who asks for a hidden topic gets it"
    diln("hide", model, other)
    assert diln("unhide", model, one, other).code == 0
    assert diln("topics", model, "--json").json["hidden"] == 0


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("label", 99, "x"), "there is no topic 99; the model has 0 to"), (("merge", 1), "name at least two"),
        (("hide", 1, 1), "topic 1 was named twice"), (("undo",), "there is no change to undo"),
        (("label", 1, "a\x1b[2Jb"), "characters that cannot be shown"), (("label", 1, "x" * 300), "300 characters"),
        (("label", 77, "x", "--theme"), "there is no theme 77"), (("label", 1, "x", "--themes", 3), "is for --theme"),
    ],
)  # fmt: skip
def test_changes_that_make_no_sense_are_refused(model, args, said):
    done = diln(args[0], model, *args[1:])
    assert done.code == 2
    assert said in " ".join(done.err.split())
    assert not (model / "edits.json").exists()


def test_a_theme_can_be_named(model):
    done = diln("label", model, 0, "Things that grow", "--theme")
    assert done.code == 0, done.err
    assert "Things that grow" in diln("trends", model).out
    words = ", ".join(diln("themes", model, "--json").json["themes"][0]["words"])
    assert f"Things that grow: {words}" in diln("themes", model).out  # names never replace words
    assert diln("label", model, 0, "", "--theme", "--json").json["theme_labels"] == []


def test_damaged_edits_are_an_error_that_says_what_to_do(model):
    (model / "edits.json").write_text('{"format": "diln-edits", "schema": 2, "changes": 3, "topics": {}}')
    for command in ("topics", "info", "trends", "undo"):
        done = diln(command, model)
        assert done.code == 2
        assert "edits.json" in done.err
        assert "remove it" in done.err


def test_trends_are_shown_and_written(model, tmp_path):
    shown = diln("trends", model, "--granularity", "month")
    assert shown.code == 0, shown.err
    assert "themes over time (2019-01 to 2019-12, by month)" in shown.out
    assert "of 120 documents" in shown.out
    found = diln("trends", model, "--by", "topic", "--granularity", "month", "--json").json
    assert len(found["periods"]) == 12
    done = diln("trends", model, "--by", "topic", "--granularity", "month", "-o", tmp_path / "trends.csv")
    assert done.code == 0, done.err
    with (tmp_path / "trends.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 12 * len(found["series"])
    assert float(rows[0]["share"]) == pytest.approx(found["series"][0]["values"][0], rel=1e-5)
    assert float(rows[0]["low"]) <= float(rows[0]["share"]) <= float(rows[0]["high"])
    one = first_two(model)[0]
    alone = diln("trends", model, "--topic", one, "--label", "fruit", "--json").json
    assert [series["id"] for series in alone["series"]] == [one]
    assert sum(alone["n_docs"]) < 120
    assert "there is no label 'x'" in diln("trends", model, "--label", "x").err


def test_bars_and_columns_of_trends_are_of_the_same_periods(model):
    shown = diln("trends", model, "--granularity", "month", "--label", "politics", "--min-documents", 2)
    assert shown.code == 0, shown.err
    found = diln("trends", model, "--granularity", "month", "--label", "politics", "--min-documents", 2, "--json").json
    lines = shown.out.splitlines()
    bars = re.search("[▁-█][ ▁-█]*", lines[2])[0]
    assert "documents" in lines[2]
    for line, series in zip(lines[3:], found["series"], strict=False):
        known = [value for value in series["values"] if value is not None]
        assert [value is not None for value in series["values"]] == [n >= 2 for n in found["n_docs"]]
        start = lines[2].index(bars)
        row = line[start : start + len(found["periods"])]
        assert [bar != " " for bar in row] == [value is not None for value in series["values"]]
        at = series["values"].index(max(known))
        assert row[at] == "█"
        assert line.split()[-3:] == [percent(min(known)), percent(max(known)), found["periods"][at]]
    each = ", ".join(f"{period} {n}" for period, n in zip(found["periods"], found["n_docs"], strict=True) if n)
    assert f"documents: {each}" in shown.out
    done = diln("trends", model, "--granularity", "day", "--min-documents", 11)
    assert done.code == 2
    assert "no period has 11 documents, the most is 10; choose longer periods, or a smaller --min-documents" in done.err


def test_trends_of_changing_labels_are_warned_of_held_constant_and_shown_alone(changing, tmp_path):
    asked = ("trends", changing, "--granularity", "quarter", "--min-documents", 5)
    plain = diln(*asked)
    assert plain.code == 0, plain.err
    assert "warning: The mix of labels changes over time" in plain.err
    assert "--standardise holds the mix constant, --by-label shows each label alone" in plain.err
    assert diln(*asked, "-q").err == ""
    found = diln(*asked, "--json").json
    assert found["mix"]["sentence"] in " ".join(plain.err.split())
    held = diln(*asked, "--standardise", "--json")
    assert held.err == ""
    assert held.json["standardised"]
    spans = [np.ptp([value for value in one["values"] if value is not None]) for one in found["series"]]
    constant = [np.ptp([value for value in one["values"] if value is not None]) for one in held.json["series"]]
    assert max(constant) < 0.5 * max(spans)
    assert "labels held constant" in diln(*asked, "--standardise").out
    alone = diln(*asked, "--by-label")
    assert alone.code == 0, alone.err
    for name in NAMES:
        assert f"\n       {name} " in alone.out
    assert alone.out.count(" documents ") >= len(NAMES)
    found = diln(*asked, "--by-label", "--json").json
    assert found["labels"] == [name for name in found["labels"] if name in NAMES]
    assert len(found["trends"]) == len(NAMES)
    done = diln(*asked, "--by-label", "-o", tmp_path / "within.csv")
    assert done.code == 0, done.err
    with (tmp_path / "within.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["within"] for row in rows} == set(NAMES)
    assert sum(int(row["n_docs"]) for row in rows if row["theme"] == "0") == 120
    options = ("--granularity", "quarter", "--min-documents", 5, "--standardise", "-q")
    done = diln("plot", changing, "trends", "-o", tmp_path / "held.svg", *options)
    assert done.code == 0, done.err
    assert "labels held constant" in (tmp_path / "held.svg").read_text("utf-8")
    both = diln(*asked, "--by-label", "--standardise")
    assert both.code == 2
    assert "give one of --label, --by-label and --standardise" in both.err


def test_groups_are_shown_and_written(model, tmp_path):
    shown = diln("groups", model)
    assert shown.code == 0, shown.err
    for name in NAMES:
        assert name in shown.out
    assert "differences are more than chance" in shown.out
    done = diln("groups", model, "--by", "topic", "-o", tmp_path / "groups.csv", "--json")
    assert done.code == 0, done.err
    with (tmp_path / "groups.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert done.json["rows"] == len(rows)
    assert {row["label"] for row in rows} == set(NAMES)
    assert sum(row["sure"] in ("true", "True", "1") for row in rows) == done.json["sure"] > 0


def test_words_have_topics_and_topics_words(model):
    found = diln("words", model, "violin", "senate", "--json").json["words"]
    assert {row["word"] for row in found} == {"violin", "senate"}
    assert "violin" in diln("words", model, "violin").out
    top = diln("words", model, "--topic", first_two(model)[0], "--relevance", 1, "--top", 5, "--json").json["topic"]
    assert [row["probability"] for row in top] == sorted((row["probability"] for row in top), reverse=True)
    assert "the model does not know the word 'xyzzy'" in diln("words", model, "xyzzy").err
    assert diln("words", model).code == diln("words", model, "violin", "--topic", 1).code == 2


def test_a_text_is_read_from_a_file_or_the_standard_input(model, tmp_path, monkeypatch):
    (tmp_path / "text.txt").write_text("The violin and the flute in concert, with a horn.\x1b[2J", "utf-8")
    done = diln("read", model, tmp_path / "text.txt")
    assert done.code == 0, done.err
    assert "violin[" in done.out
    assert "\x1b" not in done.out
    assert "4 words that the model knows, 0 that it does not" in done.out
    found = diln("read", model, tmp_path / "text.txt", "--json").json
    assert "".join(token["text"] for token in found["tokens"]).startswith("The violin and")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"senate election vote")))
    assert diln("read", model, "-", "--json").json["n_known"] == 3


def test_a_text_that_a_pattern_takes_too_long_for_is_an_error(library, tmp_path, monkeypatch):
    monkeypatch.setattr("diln.corpus.patterns.DEADLINE", 0.5)
    (tmp_path / "sound.txt").write_text("b " * 40 + "\n" + "b " * 20 + "\n", "utf-8")
    (tmp_path / "trap.txt").write_text("a" * 60 + "!", "utf-8")
    model, pattern = tmp_path / "model", ("--token-pattern", "(?:a|aa)+$|b", "--min-df", 1)
    done = diln("fit", tmp_path / "sound.txt", "-o", model, "--topics", 2, "--max-iter", 2, "--seed", 0, "-q", *pattern)
    assert done.code == 0, done.err
    for command in (
        ("read", model, tmp_path / "trap.txt"),
        ("transform", model, tmp_path / "trap.txt", "-o", tmp_path / "shares.csv"),
        ("evaluate", model, tmp_path / "trap.txt"),
        ("update", model, tmp_path / "trap.txt", "-o", tmp_path / "updated"),
        ("corpus", "build", tmp_path / "trap.txt", "-o", tmp_path / "corpus", *pattern),
    ):
        done = diln(*command)
        assert done.code == 2, done
        assert "'(?:a|aa)+$|b' took longer than 0.5 seconds" in " ".join(done.err.split()), done.err


def test_narrow_terminals_cut_texts_and_no_numbers(model, tmp_path, monkeypatch):
    one = first_two(model)[0]
    diln("label", model, one, "A name that is long: " + "fruit and cars and music " * 4)
    monkeypatch.setattr(OUT, "width", 60)
    (tmp_path / "text.txt").write_text("violin flute\r\nsenate vote", "utf-8")
    assert "\ufffd" not in diln("read", model, tmp_path / "text.txt").out
    for command in (("words", "violin", "senate"), ("read", tmp_path / "text.txt")):
        lines = diln(command[0], model, *command[1:]).out.splitlines()
        assert "topic  share" in lines[0]
        assert re.search(r"\d  \d+\.\d%  ", lines[1])
        assert max(map(len, lines[:3])) <= 60
    lines = diln("groups", model, "--by", "topic").out.splitlines()
    assert "label" in lines[1]
    assert "95% interval" in lines[1]
    assert re.search(r"\d\d  +\S+x  +\S+ to \S+x  +<?\.\d{3}  +\d+ ", lines[2])


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"\xff\xfe\x00violin", "is not utf-8; name the encoding"), (b"", "no word that the model knows")],
)
def test_odd_texts_get_a_sentence(model, tmp_path, data, said):
    (tmp_path / "odd.txt").write_bytes(data)
    done = diln("read", model, tmp_path / "odd.txt")
    assert said in done.out + done.err
    assert "cannot be read" in diln("read", model, tmp_path).err
    assert "there is no encoding 'x'" in diln("read", model, tmp_path / "odd.txt", "--encoding", "x").err


def test_long_texts_are_cut_unless_all_is_asked_for(model, tmp_path):
    (tmp_path / "long.txt").write_text("violin flute drum " * 500)
    assert "characters are shown, --all shows the rest" in diln("read", model, tmp_path / "long.txt").out
    assert diln("read", model, tmp_path / "long.txt", "--all").out.count("violin") >= 500


def test_without_documents_the_error_says_how_to_give_them(library, tmp_path):
    from diln.models.fitted import Fitted

    Fitted.load(library / "model").save(tmp_path / "bare")
    done = diln("trends", tmp_path / "bare")
    assert done.code == 2
    assert "--corpus" in done.err
    assert "name the corpus with --corpus" in diln("similar", tmp_path / "bare", 3).err
    assert diln("trends", tmp_path / "bare", "--corpus", library / "corpus", "-q").code == 0


def test_a_text_comes_through_a_pipe(library):
    done = in_its_own_process("read", library / "model", "-", input="violin flute orchestra")
    assert done.code == 0, done.err
    assert "3 words that the model knows" in done.out
