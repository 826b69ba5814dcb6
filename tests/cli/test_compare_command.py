"""``diln compare``: tables and figures on disk, a table on the screen, and errors that say what to do."""

import json
import re
import shutil
import subprocess
import sys

import pytest
from commands import diln, in_its_own_process
from rich.console import Console

from diln.cli import console
from diln.cli.compare import NO_FIGURES
from diln.cli.compareline import CompareLine
from diln.show.table import COLUMNS
from diln.study import ResultsFolder, settings
from diln.study.curves import PRIOR_SPLITS
from diln.study.runs import run_of

QUICK = ("--model", "hdp", "--model", "lda", "--topics", 4, "--prior", 0.1, "--seeds", 2, "--max-iter", 4, "-j1")


@pytest.fixture(scope="module")
def compared(shelf, tmp_path_factory):
    """A comparison, and what the command printed."""
    folder = tmp_path_factory.mktemp("compared") / "comparison"
    with pytest.MonkeyPatch.context() as patched:  # this is made before any test's own width is set
        patched.setattr(console.OUT, "width", console.WIDE)
        return folder, diln("compare", shelf / "corpus", "-o", folder, *QUICK)


def test_a_comparison_prints_a_table_and_writes_it_with_its_figure(compared):
    folder, done = compared
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == str(folder)
    assert [line.split()[0] for line in lines[1:4]] == ["model", "HDP", "LDA"]
    assert "perplexity" in lines[5]
    assert {path.name for path in folder.iterdir()} >= {"manifest.json", "results.json", "table.md", "runs", "models"}
    assert {path.name for path in (folder / "figures").iterdir()} == {"table.svg", "table.png"}
    assert lines[5] in (folder / "table.md").read_text("utf-8")


def test_results_are_of_every_seed(compared):
    rows = json.loads((compared[0] / "results.json").read_text("utf-8"))["table"]["rows"]
    assert [[score["seed"] for score in row["scores"]] for row in rows] == [[0, 1], [0, 1]]
    assert all(row["stability"]["share"] <= 1 for row in rows)


def test_the_models_of_the_table_can_be_looked_at(compared):
    for model in sorted((compared[0] / "models").iterdir()):
        assert diln("topics", model).code == 0


def test_the_same_command_reads_what_is_there_and_says_it_as_json(compared, shelf):
    folder, _ = compared
    before = (folder / "results.json").read_text("utf-8")
    done = diln("compare", shelf / "corpus", "-o", folder, *QUICK, "--json")
    assert done.code == 0, done.err
    assert done.json["studies"]["table"] == json.loads(before)
    assert (folder / "results.json").read_text("utf-8") == before
    assert done.err == ""


def test_models_can_be_judged_by_draws_as_the_paper_does(compared, shelf, tmp_path):
    told = ("--model", "hdp", "--prior", 0.1, "--seeds", 1, "--max-iter", 4, "-j1", "--inference", "variational")
    done = diln("compare", shelf / "corpus", "-o", tmp_path / "out", *told, "--draws", 3)
    assert done.code == 0, done.err
    assert "judged by 3 draws;" in (tmp_path / "out" / "table.md").read_text("utf-8")
    assert json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))["settings"]["n_draws"] == 3
    assert "judged by the expected topics and proportions;" in (compared[0] / "table.md").read_text("utf-8")


def test_texts_can_be_compared_on_without_a_corpus(shelf, tmp_path):
    done = diln("compare", shelf / "texts.jsonl", "-o", tmp_path / "out", *QUICK[:2], *QUICK[6:], "--seeds", 1, "-q")
    assert done.code == 0, done.err
    assert (tmp_path / "out" / "corpus" / "manifest.json").exists()


def test_several_studies_have_a_file_and_a_figure_each(shelf, tmp_path):
    told = ("--model", "diln", "--prior", 0.1, "--seeds", 1, "--max-iter", 3, "-j1", "-q")
    done = diln("compare", shelf / "corpus", "-o", tmp_path / "out", "--study", "pass", "--study", "steps", *told)
    assert done.code == 0, done.err
    names = {path.name for path in (tmp_path / "out").rglob("*.*")}
    assert names >= {"pass.json", "steps.json", "pass.svg", "pass.png", "steps.svg", "steps.png"}
    assert "table.md" not in names


def test_without_matplotlib_there_are_tables_and_a_note(compared, shelf, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for name in [name for name in sys.modules if name.startswith(("matplotlib.", "diln.show."))]:
        monkeypatch.delitem(sys.modules, name)
    done = diln("compare", shelf / "corpus", "-o", compared[0], *QUICK)
    assert done.code == 0, done.err
    assert 'no figures were drawn: pip install "diln[plots]"' in done.err
    assert "HDP" in done.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--model", "pca"), "model is 'PCA'; give 'DILN' or"),
        (("--prior", "-1"), "prior is -1.0; give a number above 0"),
        (("--study", "nothing"), "'nothing' is not one of"),
        (("--topics", "0"), "greater than or equal to 1"),
        (("--draws", "0"), "greater than or equal to 1"),
        (("--draws", "3", "--study", "steps"), "mini-batches by sampling keep no states"),
        (("--draws", "3", "--study", "time"), "mini-batches by sampling keep no states"),
    ],
)
def test_bad_options_are_said_before_any_work(words, message, shelf, tmp_path):
    done = diln("compare", shelf / "corpus", "-o", tmp_path / "out", *words)
    assert done.code == 2
    assert message in " ".join(done.err.replace("│", " ").split())
    assert not (tmp_path / "out").exists()


def test_a_folder_with_something_else_is_refused(shelf):
    done = diln("compare", shelf / "corpus", "-o", shelf / "lda", *QUICK)
    assert (done.code, done.out) == (2, "")
    assert "holds a 'diln-model', not a comparison" in done.err


BUILD = ("corpus", "build", "texts.jsonl")


@pytest.mark.parametrize(
    "words", [("compare", "corpus"), ("fit", "corpus", "--force"), ("fit", "corpus"), BUILD, (*BUILD, "--force")]
)
def test_a_project_with_folders_of_its_own_loses_none_of_them(words, shelf, tmp_path, monkeypatch):
    shutil.copytree(shelf / "corpus", tmp_path / "corpus")
    shutil.copytree(shelf / "lda", tmp_path / "models" / "best")
    (tmp_path / "figures").mkdir()
    monkeypatch.chdir(tmp_path)
    if words[0] == "corpus":
        shutil.copy(shelf / "texts.jsonl", tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    done = diln(*words, "-o", ".")
    assert done.code == 2
    assert "error: .: holds 'corpus', which is no part of a" in done.err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_figures_are_drawn_while_no_other_process_can_write(compared, shelf, monkeypatch):
    fcntl, seen = pytest.importorskip("fcntl"), []

    def look(name, view, folder):
        with (compared[0] / ".lock").open("a") as file, pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        seen.append(name)
        return [folder / f"{name}.svg"]

    monkeypatch.setattr("diln.show.comparison.draw", look)
    done = diln("compare", shelf / "corpus", "-o", compared[0], *QUICK)
    assert done.code == 0, done.err
    assert seen == ["table"]
    assert done.out.splitlines()[-1] == str(compared[0] / "figures" / "table.svg")


def test_the_time_left_is_of_what_was_done_since_it_began(tmp_path):
    folder = ResultsFolder(tmp_path)
    folder.runs.mkdir()
    first, then = ([run_of(way, "LDA", {"n_components": size}, 0) for size in range(1, 5)] for way in ("choose", "fit"))
    for run in (*first, *then[:2]):
        folder.end(run, {"perplexity": 9.0})
    line = CompareLine(folder, quiet=True, console=Console(stderr=True))
    line.expect(first, later=4)
    assert [text for _, text in line.parts(3.0)][:2] == ["4 of 8 runs", "0:03"]
    line.expect([*first, *then], later=0)
    assert [text for _, text in line.parts(6.0)] == ["6 of 8 runs", "0:06", "last: LDA 9.0"]
    folder.end(then[2], {"perplexity": 9.0})
    assert [text for _, text in line.parts(9.0)][:3] == ["7 of 8 runs", "0:09", "about 0:09 left"]


def test_the_line_says_how_far_it_is(tmp_path):
    folder = ResultsFolder(tmp_path)
    folder.runs.mkdir()
    runs = [run_of("choose", "LDA", {"n_components": size, "topic_word_prior": 0.1}, 0) for size in (50, 1000, 3)]
    folder.end(runs[0], {"perplexity": 99.0})
    line = CompareLine(folder, quiet=True, console=Console(stderr=True))
    assert line.parts(3.0) == [(1, "reading"), (1, "0:03")]
    line.expect(runs, later=2)
    assert [text for _, text in line.parts(3.0)][:2] == ["1 of 5 runs", "0:03"]
    folder.begin(runs[1])
    folder.end(runs[2], {"perplexity": 1772.0})
    assert [text for _, text in line.parts(10.0)] == [
        "2 of 5 runs", "0:10", "about 0:30 left", "last: LDA 1,772.0", "now: LDA, 1,000 topics, prior 0.1",
    ]  # fmt: skip


def test_the_line_is_silent_about_a_damaged_file(tmp_path):
    folder = ResultsFolder(tmp_path)
    folder.runs.mkdir()
    run = run_of("choose", "LDA", {}, 0)
    (folder.runs / f"{run.name}.json").write_text("{")
    line = CompareLine(folder, quiet=True, console=Console(stderr=True))
    line.expect([run], later=0)
    assert [text for _, text in line.parts(3.0)] == ["1 of 1 runs", "0:03"]


@pytest.mark.parametrize("width", [45, 60, 80, 100, 125])
def test_the_table_fits_the_line(width, compared, shelf, monkeypatch):
    folder, whole = compared
    monkeypatch.setattr(console.OUT, "width", width)
    done = diln("compare", shelf / "corpus", "-o", folder, *QUICK)
    assert done.code == 0, done.err
    lines = done.out.split("\n\n")[0].splitlines()[1:]  # the first is a path, which is never broken
    note = [line for line in lines if line.startswith("there is no room for: ")]
    table = [line for line in lines if line not in note]
    assert max(map(len, table)) <= width
    assert "…" not in "".join(table)
    names = re.split(r"  +", table[0].strip())
    missing = [name for name in COLUMNS if name not in names]
    assert note == ([f"there is no room for: {', '.join(missing)}; table.md has all"] if missing else [])
    assert ("diversity" in names) == (width == 125)
    before = whole.out.splitlines()
    for model in ("HDP", "LDA"):
        shown, known = (next(line for line in some if line.startswith(model)) for some in (table, before))
        values = dict(zip(COLUMNS, re.split(r"  +", known.strip()), strict=True))
        assert all(values[name] in shown for name in names if name != "settings")


def test_a_note_is_one_line_where_nobody_sees_a_terminal(compared, shelf, monkeypatch):
    monkeypatch.setitem(sys.modules, "diln.show.comparison", None)
    monkeypatch.setattr(console.ERR, "width", 30)
    done = diln("compare", shelf / "corpus", "-o", compared[0], *QUICK)
    assert done.err == f"{NO_FIGURES}\n"


def test_the_help_names_what_is_tried_by_default():
    text = " ".join(word for word in diln("compare", "--help").out.split() if word not in "│╭╮╰╯")
    for values in (settings.TOPICS, *settings.PRIORS.values()):
        *first, last = map(str, values)
        assert f"{', '.join(first)} and {last}" in text
    assert f"at least {PRIOR_SPLITS}" in text


def test_starting_the_command_imports_nothing_heavy():
    code = (
        "import sys, diln.cli.main\n"
        "print(sorted({'numpy', 'scipy', 'sklearn', 'matplotlib', 'numba'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_command_runs_in_a_process_of_its_own(compared, shelf):
    done = in_its_own_process("compare", shelf / "corpus", "-o", compared[0], *QUICK, "--quiet")
    assert done.code == 0, done.err
    assert done.err == ""
