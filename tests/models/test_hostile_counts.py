"""Counts that point outside their matrix are refused at every door of a model, before a compiled loop reads them."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from telling import told

from diln import CTM, DILN, HDP, LDA, Corpus, analysis

COUNTS = np.random.default_rng(0).poisson(1.0, (20, 30)) + 1
MODELS = [DILN, HDP, LDA, CTM]
DOORS = {
    "fit": lambda model, X: model.fit(X),
    "fit_transform": lambda model, X: model.fit_transform(X),
    "partial_fit": lambda model, X: model.partial_fit(X),
    "transform": lambda model, X: model.transform(X),
    "perplexity": lambda model, X: model.perplexity(X),
    "observed": lambda model, X: model.perplexity(X, COUNTS),
    "held_out": lambda model, X: model.perplexity(COUNTS, X),
    "score": lambda model, X: model.score(X),
    "complete": lambda model, X: analysis.complete(model, X, COUNTS),
    "complete_held_out": lambda model, X: analysis.complete(model, COUNTS, X),
}


def small(model, inference="sampling"):
    return told(model, inference=inference, n_components=4, random_state=0, max_iter=3)


def outside(form, index):
    table = getattr(sparse, f"{form}_matrix")(COUNTS)
    table.indices[0] = index
    return table


@pytest.fixture(scope="module")
def fitted():
    return small(DILN).fit(COUNTS)


@pytest.mark.parametrize("index", [10**8, 77, -1])
@pytest.mark.parametrize("inference", ["sampling", "variational"])
@pytest.mark.parametrize("model", MODELS)
def test_no_model_is_fitted_to_an_index_outside(model, inference, index):
    with pytest.raises(ValueError, match=r"^X: is not a sound sparse matrix \(indices must be .*; make it again"):
        small(model, inference).fit(outside("csr", index))


@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
@pytest.mark.parametrize("door", DOORS)
def test_no_door_takes_an_index_outside(fitted, door, form):
    model = small(DILN) if "fit" in door else fitted
    with pytest.raises(ValueError, match="is not a sound sparse matrix"):
        DOORS[door](model, outside(form, 10**8))


def test_locations_of_documents_are_not_asked_with_an_index_outside(fitted):
    with pytest.raises(ValueError, match="is not a sound sparse matrix"):
        fitted.document_locations(outside("csr", 10**8))


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "X",
    [
        [[(0, 1), (2, 3)], [(1, 1)]], None, 3, "text", [], [[]], [[1, 2], [3]], np.zeros((2, 2, 2)), COUNTS * 1j,
        COUNTS.astype("m8[s]"), COUNTS - 9, np.where(COUNTS == 1, np.nan, COUNTS), [[10**400] * 30], {"a": 1},
        object(), np.ma.masked_equal(COUNTS, 1), sparse.csr_array(COUNTS * 1j), sparse.coo_array(COUNTS[0]),
        sparse.coo_array((10**12, 30), dtype=int), np.broadcast_to(1, (10**7, 10**7)), COUNTS * 2**40, iter([[1]]),
    ],
    ids=[
        "bags", "none", "number", "text", "nothing", "no-columns", "ragged", "3d", "complex", "timedelta", "negative",
        "nan", "googol", "dict", "object", "masked", "sparse-complex", "sparse-1d", "sparse-tall", "broadcast", "huge",
        "iterator",
    ],
)  # fmt: skip
def test_every_door_says_what_is_wrong_in_a_sentence(fitted, door, X):
    if door == "held_out" and X is None:
        return  # nothing is held out
    model = small(DILN) if "fit" in door else fitted
    with pytest.raises((ValueError, TypeError)) as raised:
        DOORS[door](model, X)
    assert "\n" not in str(raised.value)
    assert "HistGradientBoosting" not in str(raised.value)


def test_bags_of_words_are_told_what_takes_them():
    with pytest.raises(ValueError, match=r"bags of words, which Corpus\.from_bow\(bags, dictionary\) takes"):
        LDA().fit([[(0, 1), (2, 3)], [(1, 1)]])


def test_columns_that_nobody_filled_are_refused_before_memory_is_taken():
    with pytest.raises(ValueError, match=r"1,000,000,000 columns but 1 entries; leave out columns"):
        LDA(2).fit(sparse.coo_array(([1], ([0], [5])), shape=(1, 10**9)))


def test_names_of_columns_are_a_vocabulary():
    with pytest.raises(ValueError, match="entry 2 is ''; every term must be a string that is not empty"):
        small(LDA).fit(pd.DataFrame(COUNTS[:, :2], columns=["a", ""]))


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64])
def test_the_matrix_of_the_caller_stays_as_it_is(dtype):
    table = sparse.csr_array(COUNTS.astype(dtype))
    table.data[[1, 40]] = 0  # entries that are no counts
    table.indices[:2] = table.indices[1::-1].copy()  # and out of order
    before = [part.copy() for part in (table.data, table.indices, table.indptr)]
    small(LDA).fit(table)
    for part, same in zip((table.data, table.indices, table.indptr), before, strict=True):
        np.testing.assert_array_equal(part, same)


@pytest.mark.parametrize("inference", ["sampling", "variational"])
def test_terms_that_are_listed_twice_are_added_up(inference):
    terms, ends = np.tile(np.arange(30), 40), np.arange(0, 1201, 60)
    twice = sparse.csr_array((np.full(1200, 100, np.int8), terms, ends), shape=(20, 30))
    expected = small(LDA, inference).fit(np.full((20, 30), 200)).components_
    np.testing.assert_array_equal(small(LDA, inference).fit(twice).components_, expected)


def test_a_corpus_takes_what_models_take():
    terms = [f"w{i}" for i in range(30)]
    with pytest.raises(ValueError, match="matrix: is not a sound sparse matrix"):
        Corpus.from_matrix(outside("csc", 10**8), terms)


@pytest.mark.parametrize("model", MODELS)
def test_sampling_does_not_begin_with_counts_that_are_of_no_words(model):
    with pytest.raises(ValueError, match=r"tokens in 600 counts, and sampling draws them one by one; give smaller"):
        small(model).fit(COUNTS * 50_000)


def test_huge_counts_are_completed_at_once():
    fitted = small(LDA, "variational").fit(COUNTS * 10**7)
    assert 1 <= fitted.perplexity(COUNTS * 10**7) <= 30


@pytest.mark.parametrize("model", MODELS)
def test_weights_next_to_nothing_are_refused_where_they_are_not_rounded(model):
    with pytest.raises(ValueError, match=r"was given a value of 1e-30; give raw counts, or 1e-06 and more"):
        small(model, "variational").fit(np.full((20, 30), 1e-30))


def test_a_step_of_online_sampling_is_not_made_with_counts_that_are_of_no_words():
    model = small(DILN).fit(COUNTS)
    huge = Corpus.from_matrix(np.full((2, 30), 2**24), model.vocabulary_)
    for documents in (huge, huge.counts):
        with pytest.raises(ValueError, match=r"1,006,632,960 tokens in 60 counts, and sampling draws them one by one"):
            model.partial_fit(documents)


def test_a_frame_of_complex_numbers_is_refused_in_one_line(fitted):
    with pytest.raises(
        ValueError, match=r"^Complex data not supported; give counts, which are whole numbers from 0 on$"
    ):
        fitted.transform(pd.DataFrame(COUNTS * 1j))


@pytest.mark.parametrize("n_draws", [0, -1, 1.5, 10**30])
def test_no_number_of_draws_that_makes_no_sense_is_taken(fitted, n_draws):
    with pytest.raises(ValueError, match=r"n_draws is .*; give a whole number from 1 (on|to 100,000)"):
        analysis.complete(fitted, COUNTS, COUNTS, n_draws=n_draws)


@pytest.mark.parametrize("model", MODELS)
def test_documents_without_a_token_among_all_others_are_no_reason_to_stumble(model):
    with pytest.raises(ValueError, match="no document has a token"):
        small(model).fit(np.zeros((3, 4), int))


def test_documents_are_not_completed_from_values_next_to_nothing(fitted):
    with pytest.raises(ValueError, match=r"was given a value of 1.4013e-45; give raw counts, or 1e-06 and more"):
        analysis.complete(fitted, np.full((20, 30), 1e-45), COUNTS)


def test_counts_of_half_precision_are_taken_without_a_warning(fitted):
    table = sparse.csr_matrix(COUNTS)
    table.data = table.data.astype(np.float16)
    np.testing.assert_array_equal(fitted.transform(table), fitted.transform(COUNTS))
