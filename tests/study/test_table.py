"""The table says of each model what its runs came to, and how sure the differences are."""

import numpy as np
import pytest

from diln.analysis.completion import Completed
from diln.corpus.splits import completion_rows
from diln.study.folder import ResultsFolder
from diln.study.runs import run_of
from diln.study.table import Against, Row, Score, TableView, beside_the_best, over_seeds, seed_logs

TOKENS = np.array([10.0, 20.0, 30.0])
N_DOCS = 15  # of which three are for testing


def put(folder: ResultsFolder, seed: int, split: int, per_token: list[float]):
    """A run whose documents have these log probabilities a token."""
    run = run_of("model", "DILN", {}, split, seed)
    values = np.array(per_token) * TOKENS
    folder.end(run, {"log_likelihood": values.tolist(), "tokens": TOKENS.tolist()})
    return run


def test_the_perplexity_is_of_the_mean_over_seeds_and_of_all_splits(tmp_path):
    folder = ResultsFolder(tmp_path)
    folder.runs.mkdir()
    runs = [put(folder, 0, 0, [-2, -2, -2]), put(folder, 1, 0, [-4, -4, -4]), put(folder, 0, 1, [-1, -1, -1])]
    assert over_seeds(runs, folder, N_DOCS).log_perplexity == pytest.approx((3 + 1) / 2)
    assert seed_logs(runs[:2], folder, N_DOCS) == pytest.approx([2, 4])


def test_a_document_of_several_splits_is_one_document(tmp_path):
    folder = ResultsFolder(tmp_path)
    folder.runs.mkdir()
    of = {split: completion_rows(N_DOCS, split)[1].tolist() for split in range(20)}
    twice = next(split for split in of if split and set(of[split]) & set(of[0]))
    runs = [put(folder, 0, 0, [-1, -2, -3]), put(folder, 0, twice, [-4, -5, -6])]
    found = over_seeds(runs, folder, N_DOCS)
    assert found.n_docs == len({*of[0], *of[twice]}) < 6
    assert found.n_tokens == 2 * TOKENS.sum()
    for document in {*of[0], *of[twice]}:
        parts = [(0, -1), (twice, -4)]  # the log probability a token of each split's first document
        places = [(of[split].index(document), first) for split, first in parts if document in of[split]]
        assert found.log_likelihood[document] == sum((first - place) * TOKENS[place] for place, first in places)
        assert found.tokens[document] == sum(TOKENS[place] for place, _ in places)


def test_the_same_documents_again_make_nothing_surer(tmp_path):
    folder = ResultsFolder(tmp_path)
    folder.runs.mkdir()
    every = [completion_rows(N_DOCS, split)[1] for split in range(40)]
    level = np.random.default_rng(0).normal(-5, 1, N_DOCS)
    runs = [put(folder, 0, split, level[rows]) for split, rows in enumerate(every)]
    some, all_of_them = (over_seeds(runs[:number], folder, N_DOCS) for number in (20, 40))
    assert all_of_them.standard_error == pytest.approx(some.standard_error, rel=0.25)


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


def test_few_seeds_that_differ_leave_a_larger_difference_to_chance():
    tokens = np.full(1000, 10.0)
    means = {"DILN": Completed(-5.0 * tokens, tokens), "HDP": Completed(-5.1 * tokens, tokens)}

    def clear(seeds: int) -> bool:
        # The mean of a model's seeds has the variance 0.03^2 / 2: the difference is 3.3 standard errors from 0.
        one = np.linspace(-1, 1, seeds)
        one *= 0.03 * np.sqrt(seeds / 2) / one.std(ddof=1)
        against = beside_the_best("DILN", means, {"DILN": list(5.0 + one), "HDP": list(5.1 + one)})
        assert against.standard_error == pytest.approx(100 * np.exp(-0.1) * 0.03)
        return against.clear

    assert not clear(2)  # Student's t with 2 degrees of freedom: 4.3 standard errors
    assert clear(20)


def row(model: str, perplexity: float, against: Against | None, seeds: int = 2) -> Row:
    scores = tuple(Score(0, seed, perplexity, 1.0, 5, 0.1, 0.5, 0.5, 1.0) for seed in range(seeds))
    return Row(model, ({},), perplexity, 1.0, None, against, 5, 0.1, 0.5, 0.5, None, 1.0, scores)


def test_the_verdict_says_whether_there_is_a_best():
    clear = row("DILN", 90, Against("HDP", -10.0, 2.0, True))
    assert TableView((clear, row("HDP", 100, None)), ()).verdict == (
        "DILN predicts new documents best: its perplexity is 10.0% below that of HDP (standard error 2.0%)."
    )
    chance = row("DILN", 99, Against("HDP", -1.0, 2.0, False))
    assert TableView((chance,), ()).verdict.startswith("No model is clearly the best")
    assert TableView((row("DILN", 99, None),), ()).verdict.startswith("DILN alone was tried")


def test_the_verdict_says_where_models_are_the_same():
    for percent, clear in ((0.0, False), (-0.0, False), (-1e-14, False), (1e-14, True)):
        tie = row("DILN", 90, Against("HDP", percent, 0.0, clear))
        assert TableView((tie, row("HDP", 90, None)), ()).verdict == (
            "No model is the best: the perplexity of DILN is the same as that of HDP."
        )
    little = row("DILN", 90, Against("HDP", -0.03, 0.0, True))
    assert "its perplexity is less than 0.1% below that of HDP" in TableView((little,), ()).verdict


def test_rounding_makes_no_difference_clear():
    tokens = np.ones(3)
    means = {"DILN": Completed(-5.0 * tokens, tokens), "HDP": Completed((-5.0 - 1e-15) * tokens, tokens)}
    assert means["DILN"].log_perplexity != means["HDP"].log_perplexity
    assert not beside_the_best("DILN", means, {"DILN": [5.0], "HDP": [5.0]}).clear


def test_the_verdict_says_where_chains_were_not_repeated():
    alone = row("DILN", 90, Against("HDP", -10.0, 2.0, True), seeds=1)
    assert "(standard error 2.0%, of one chain each)" in TableView((alone, row("HDP", 100, None)), ()).verdict
