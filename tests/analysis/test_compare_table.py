"""The table says of each model what its runs came to, and how sure the differences are."""

import numpy as np
import pytest

from diln.analysis.completion import Completed
from diln.analysis.study.runs import run_of
from diln.analysis.study.shelf import Shelf
from diln.analysis.study.table import Against, Row, TableView, beside_the_best, over_seeds, seed_logs

TOKENS = np.array([10.0, 20.0, 30.0])


def put(shelf: Shelf, seed: int, split: int, per_token: list[float]):
    """A run whose documents have these log probabilities a token."""
    run = run_of("model", "DILN", {}, split, seed)
    values = np.array(per_token) * TOKENS
    shelf.end(run, {"log_likelihood": values.tolist(), "tokens": TOKENS.tolist()})
    return run


def test_the_perplexity_is_of_the_mean_over_seeds_and_of_all_splits(tmp_path):
    shelf = Shelf(tmp_path)
    shelf.runs.mkdir()
    runs = [put(shelf, 0, 0, [-2, -2, -2]), put(shelf, 1, 0, [-4, -4, -4]), put(shelf, 0, 1, [-1, -1, -1])]
    assert over_seeds(runs, shelf).log_perplexity == pytest.approx((3 + 1) / 2)
    assert seed_logs(runs[:2], shelf) == pytest.approx([2, 4])


def test_the_difference_is_to_the_best_of_the_others_document_by_document():
    hard = np.array([-3.0, -5.0, -7.0]) * TOKENS
    means = {
        "DILN": Completed(hard, TOKENS),
        "HDP": Completed(hard - 0.1 * TOKENS, TOKENS),
        "LDA": Completed(hard - 0.3 * TOKENS, TOKENS),
    }
    one_seed = {name: [value.log_perplexity] for name, value in means.items()}
    against = beside_the_best("DILN", means, one_seed)
    assert against.other == "HDP"
    assert against.percent == pytest.approx(100 * (np.exp(-0.1) - 1))
    assert against.standard_error == pytest.approx(0, abs=1e-9)
    assert against.clear
    assert beside_the_best("LDA", means, one_seed).other == "DILN"
    assert beside_the_best("DILN", {"DILN": means["DILN"]}, one_seed) is None


def test_seeds_that_differ_make_a_difference_less_sure():
    means = {"DILN": Completed(-5.0 * TOKENS, TOKENS), "HDP": Completed(-5.1 * TOKENS, TOKENS)}
    against = beside_the_best("DILN", means, {"DILN": [4.9, 5.1], "HDP": [5.0, 5.2]})
    # Each has variance 0.02 over two seeds: 0.01 of its mean, 0.02 of the difference.
    assert against.standard_error == pytest.approx(100 * np.exp(-0.1) * np.sqrt(0.02))
    assert not against.clear


def row(model: str, perplexity: float, against: Against | None) -> Row:
    return Row(model, ({},), perplexity, 1.0, None, against, 5, 0.1, 0.5, 0.5, None, 1.0, ())


def test_the_verdict_says_whether_there_is_a_best():
    clear = row("DILN", 90, Against("HDP", -10.0, 2.0, True))
    assert TableView((clear, row("HDP", 100, None)), ()).verdict == (
        "DILN predicts new documents best: its perplexity is 10.0% below that of HDP (standard error 2.0%)."
    )
    chance = row("DILN", 99, Against("HDP", -1.0, 2.0, False))
    assert TableView((chance,), ()).verdict.startswith("No model is clearly the best")
    assert TableView((row("DILN", 99, None),), ()).verdict.startswith("DILN alone was tried")
