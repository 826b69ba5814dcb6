"""The page of the paper's experiments: its tables are of the stored results, and count what they say they count."""

import json
from pathlib import Path

import pytest

import variational_table as tables

ROOT = Path(__file__).parents[1]
ROWS = json.loads((ROOT / "benchmarks" / "results" / "variational_table.json").read_text("utf-8"))


@pytest.mark.parametrize("page", ["paper.md", "models.md"])
def test_tables_of_the_documentation_are_those_of_the_results(page):
    text = (ROOT / "docs" / page).read_text("utf-8")
    assert "<!-- variational: wins -->" in text
    again = "run: python benchmarks/variational_table.py --fill docs/paper.md docs/models.md"
    assert tables.filled(text, ROWS) == text, again


def test_the_results_are_of_the_papers_priors_and_a_small_tolerance():
    cells = tables.batch(ROWS)
    assert {row["tol"] for row in ROWS} == {1e-4}
    for corpus in ("ap", "nyt", "elife"):
        for prior in (0.1, 0.25, 0.5, 0.75, 1.0):
            for name in ("DILN", "HDP", "LDA"):
                row = cells[corpus, 200, prior][name]
                assert row["perplexity"] > 1 and row["perplexity_draws"]["20"] > 1


def row_of(model, prior, plug_in, draws, **other):
    cell = {"corpus": "ap", "model": model, "prior": prior, "topics": 200, "learning": "batch", "seed": 0, "tol": 1e-4}
    return {**cell, "perplexity": plug_in, "perplexity_draws": draws, **other}


@pytest.fixture
def made():
    return [
        row_of("DILN", 0.05, 900.0, {"5": 990.0, "20": 980.0, "100": 970.0}),
        row_of("HDP", 0.05, 1000.0, {"5": 1100.0, "20": 1050.0, "100": 1000.0}),
        row_of("DILN", 0.1, 1010.0, {"20": 990.0}),
        row_of("HDP", 0.1, 1000.0, {"20": 1000.0}),
        row_of("LDA", 0.1, 1005.0, {"20": 995.0}),
        row_of("DILN", 1.0, 1300.0, {"20": 1300.0}),
        row_of("HDP", 1.0, 1310.0, {"20": 1310.0}, seed=1),  # of another seed, so not beside it
    ]


def test_cells_are_counted_by_each_measure_on_the_same_cells(made):
    shown = tables.wins(made).splitlines()
    assert shown[2:] == [
        "| 2 cells | better in |  | 2 |  |  | 1 |",
        "|  | median |  | -3.8% |  |  | -4.5% |",
        "|  | mean |  | -3.8% |  |  | -4.5% |",
        "| 1 cells | better in | 1 | 1 | 1 |  | 1 |",
        "|  | median | -10.0% | -6.7% | -3.0% |  | -10.0% |",
        "|  | mean | -10.0% | -6.7% | -3.0% |  | -10.0% |",
    ]


def test_cells_that_were_not_measured_are_empty_and_the_least_is_bold(made):
    shown = tables.perplexities(made, 200)
    assert "| ap | 0.05 | **900**, **980**, **970** | 1000, 1050, 1000 | - |" in shown
    assert "| ap | 0.1 | 1010, **990** | **1000**, 1000 | 1005, 995 |" in shown
    assert "| ap | 1 | 1300, 1300 | - | - |" in shown
    assert "| ap | 200 | plug-in | 1010 (0.1) | **1000** (0.1) | 1005 (0.1) |" in tables.least(made)
    assert "| ap | 200 | 20 draws | **990** (0.1) | 1000 (0.1) | 995 (0.1) |" in tables.least(made)


def test_many_draws_are_beside_few(made):
    assert len(tables.by_number(made).splitlines()) == 2
    for row in made[:2]:
        row["perplexity_draws"]["1000"] = 960.0
    assert tables.by_number(made).splitlines()[2:] == [
        "| ap, 200 topics, 0.05 | DILN | 990 | 980 | 970 | 960 | 900 |",
        "|  | HDP | 1100 | 1050 | 1000 | 960 | 1000 |",
        "|  | lead | -10.0% | -6.7% | -3.0% | 0.0% | -10.0% |",
    ]
