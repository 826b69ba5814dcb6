"""diln themes: themes first, then topics in them, on a screen, in JSON and in a file."""

import csv

import pytest
from commands import diln

from diln.cli import console


@pytest.mark.parametrize("kind", ["diln", "hdp", "lda", "ctm", "variational"])
def test_every_model_has_themes(shelf, kind):
    done = diln("themes", shelf / kind, "-qj1", "-n", 2)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].startswith("themes (2 of ")
    assert lines[1].split() == ["theme", "share", "documents", "topics", "words"]
    assert [line.split()[0] for line in lines[2:4]] == ["0", "1"]


def test_json_has_themes_topics_and_the_tree(shelf):
    done = diln("themes", shelf / "diln", "-qj1", "--json")
    told = done.json
    assert told["auto"]
    assert told["n"] == len(told["themes"])
    of_themes = {topic: theme["id"] for theme in told["themes"] for topic in theme["topics"]}
    assert of_themes == {topic["id"]: topic["theme"] for topic in told["topics"]}
    assert sum(theme["n_docs"] for theme in told["themes"]) == 200
    assert len(told["tree"]["linkage"]) == len(told["topics"]) - 1


def test_a_file_has_a_row_for_each_topic(shelf, tmp_path):
    done = diln("themes", shelf / "diln", "-qj1", "-n", 3, "-o", tmp_path / "themes.csv", "--json")
    assert done.json["themes"] == 3
    with (tmp_path / "themes.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == done.json["rows"] == done.json["topics"]
    assert {row["theme"] for row in rows} == {"0", "1", "2"}
    assert set(rows[0]) >= {
        "theme",
        "theme_label",
        "theme_share",
        "theme_documents",
        "topic",
        "label",
        "share",
        "words",
    }


def test_fewer_topics_are_listed_if_asked_for(shelf):
    every, few = (
        diln("themes", shelf / "diln", "-qj1", "-n", 2),
        diln("themes", shelf / "diln", "-qj1", "-n", 2, "--top", 1),
    )
    assert "smaller topic" not in every.out
    assert "smaller topic" in few.out
    assert len(diln("themes", shelf / "diln", "-qj1", "-n", 2, "--top", 0).out.splitlines()) == 5


@pytest.mark.parametrize("width", [60, 80, 120])
def test_lines_fit_the_screen(shelf, width, monkeypatch):
    monkeypatch.setattr(console.OUT, "width", width)
    done = diln("themes", shelf / "diln", "-qj1")
    assert max(len(line.rstrip()) for line in done.out.splitlines()) <= width
    assert "\n         and" not in done.out or "together" in done.out


def test_more_themes_than_topics_are_an_error(shelf):
    done = diln("themes", shelf / "diln", "-qj1", "-n", 99)
    assert done.code == 2
    assert "99" in done.err
    assert "give at most as many themes" in done.err
    assert diln("themes", shelf / "diln", "-n", 0).code == 2
