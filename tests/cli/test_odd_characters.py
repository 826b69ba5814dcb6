"""No text of a document, title, label or file name reaches the terminal in a form that acts."""

import json
import re
from io import StringIO

import numpy as np
import pytest
from commands import THEMES, diln
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from diln.cli.console import ProgressLine, complain
from diln.corpus import build

ODD = "\x1b]0;owned\x07\x1b[2J\x9b31m\x85\u202egnp\u2066.\u200f\u2028\x08\x7f"
ACTS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
STYLES = re.compile(r"\x1b\[[0-9;]*m")  # which rich makes


@pytest.fixture(scope="module")
def odd_shelf(tmp_path_factory):
    """A model of documents with odd words, ids, titles and labels, its corpus and its index."""
    folder, rng = tmp_path_factory.mktemp("odd"), np.random.default_rng(0)
    with (folder / "odd.jsonl").open("w", encoding="utf-8") as file:
        for number in range(60):
            words = [word + ODD for word in rng.choice(THEMES[number % 3].split(), 20)]
            made = {"id": f"{ODD}{number}", "title": f"[red]{ODD}{number}", "label": f"{ODD}{number % 3}"}
            text = " ".join(words) if number else " ".join(THEMES[0].split())
            file.write(json.dumps({**made, "text": text, "date": f"20{10 + number % 5}-02-03"}) + "\n")
    build(folder / "odd.jsonl", folder / "corpus", token_pattern=r"\S+", min_df=1, max_df=1.0)
    options = ("--model", "lda", "--topics", 3, "--max-iter", 5, "--seed", 0, "-q")
    assert diln("fit", folder / "corpus", "-o", folder / "model", *options).code == 0
    assert diln("index", folder / "model", folder / "corpus", "-q").code == 0
    return folder


@pytest.mark.parametrize(
    "line",
    ["topics {model}", "themes {model}", "info {model}", "corpus info {corpus}", "documents {model} {corpus}",
     "documents {model} {corpus} --topic 0", "similar {model} 3", "outliers {model}",
     "duplicates {model}", "trends {model}", "groups {model}",
     "words {model} --topic 0", "read {model} {odd}", "metrics {model}", "correlations {model} --all",
     "documents {model} {corpus} --json", "topics {odd}", "corpus build {odd} -o {new} --text {odd} --quiet"],
)  # fmt: skip
def test_no_command_prints_what_acts(line, odd_shelf, tmp_path):
    (tmp_path / f"a{ODD}.csv").write_text(f"id,text\n1,a{ODD} b\n", encoding="utf-8", newline="")
    places = {"model": odd_shelf / "model", "corpus": odd_shelf / "corpus", "odd": tmp_path / f"a{ODD}.csv"}
    done = diln(*(word.format(**places, new=tmp_path / "new") for word in line.split(" ")))
    assert done.out or done.err
    assert done.code == 0 or "odd" in line or "--all" in line, done.err
    assert ACTS.findall((done.out + done.err).replace("\n", "")) == []


@pytest.mark.parametrize("terminal", [True, False])
def test_what_rich_draws_stays_and_what_is_quoted_is_shown_as_codes(terminal):
    file = StringIO()
    console = Console(file=file, force_terminal=terminal, color_system="truecolor" if terminal else None, width=99)
    table = Table("name", "size")
    table.add_row(escape("a\x1b[31m\u202eb"), "7")
    table.add_row("plain", "8")
    console.print(table)
    console.print("[bold red]" + escape("x[red]\x9by") + "[/]", Text("z\x07", "green"))
    console.print(Text("here", "link http://host/\x1b\\evil"))
    drawn = file.getvalue()
    assert ("\x1b[1;31m" in drawn) is terminal
    plain = STYLES.sub("", re.sub(r"\x1b\]8;[^\x1b]*\x1b\\", "", drawn))
    assert ACTS.findall(plain.replace("\n", "")) == []
    assert r"a\x1b[31m\u202eb" in plain and r"x[red]\x9by" in plain and "http://host/\x1b" not in drawn
    rows = plain.splitlines()[:6]
    assert {len(row) for row in rows} == {len(rows[0])}  # columns are as wide as what is shown


def test_words_without_a_terminal_and_lines_of_windows_stay_as_they_are(capsys):
    complain("warning", "a :smile: of caf\xe9\u0301, \u0645\u06cc\u200c\u062e, \U0001f469\u200d\U0001f4bb\r\nand\tmore")
    shown = "warning: a :smile: of caf\xe9\u0301, \u0645\u06cc\u200c\u062e, \U0001f469\u200d\U0001f4bb\nand"
    assert capsys.readouterr().err.startswith(shown)


def test_notes_of_a_build_show_codes():
    file = StringIO()
    line = ProgressLine("reading", stream=file)
    line.note(f"text from {ODD}")
    assert ACTS.findall(file.getvalue().replace("\n", "")) == [] and r"\x1b]0;owned\x07" in file.getvalue()
