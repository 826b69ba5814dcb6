"""Counts of every kind, spoilt, into every method of estimators, of analysis, and into corpora."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy.sparse import csr_array

import diln
from diln import CTM, DILN, HDP, LDA, Corpus, analysis
from fuzz.case import Case, Run, target
from fuzz.mutate import arrays
from fuzz.seeds import BAGS, WORDS, counts, seeds
from fuzz.targets.folders import above_one, asked, proportions
from fuzz.targets.readers import looked_at

STRANGE: list[Any] = [
    None, 3, 1.5, "text", b"text", [], [[]], {}, {"a": 1}, [1, 2, 3], [[1, 2], [3]], [["a", "b"]],
    ["a text", "another"], BAGS, BAGS[:1], [[(0, 1)]], np.zeros(0), np.zeros((0, 16)), np.zeros((3, 0)),
    np.zeros((2, 3, 4)), np.float64(3), np.array("a"), [[10**30] * 16], [[None] * 16], np.full((2, 16), None),
    np.full((2, 16), "1"), [[True] * 16], [[1j] * 16], object(), iter([[1] * 16]), range(16), np.ones((2, 16))[:, ::-1],
    np.ones((16, 2)).T, np.matrix(np.ones((2, 16))), [np.ones(16), np.ones(15)], set(), lambda: 3,
    np.zeros((2, 16), "M8[s]"), np.zeros((2, 16), "V4"), np.zeros((2,), [("a", int)]), csr_array(np.zeros((2, 16))),
    [[1.0] * 16] * 2, np.broadcast_to(np.int64(2), (3, 16)), np.nan, [[np.nan] * 16], [float("inf")] * 16,
    csr_array((2, 16), dtype=bool), bytearray(b"ab"),
]  # fmt: skip


def spoilt_counts(case: Case, n_docs: int = 6) -> Any:
    """Counts with something wrong with them: a sparse matrix, an array, a frame, or something else altogether."""
    rng, how = case.rng, case.rng.randrange(20)
    rows: Any = counts(n_docs, seed=rng.randrange(3))
    if how == 0:
        return deepcopy_of(rng.choice(STRANGE))
    if how <= 3:
        return arrays.spoilt(case.spoiling, rows.toarray() if how == 1 else rows.toarray().astype(float), case.rounds)
    if how == 4:
        return arrays.in_form(rng, rows)
    if how == 5:
        table = arrays.spoilt(case.spoiling, rows.toarray().astype(float), case.rounds)
        try:
            names = [rng.choice(WORDS) for _ in range(table.shape[1])]  # some of them twice
            return pd.DataFrame(table, columns=names if rng.random() < 0.5 else None)
        except (AttributeError, IndexError, ValueError, TypeError):  # of more dimensions than two, or none
            return table
    rows = csr_array(rows) if how % 2 else rows
    if how < 8:
        rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    if how == 8:
        rows = rows.tocsc()
    return arrays.spoilt_rows(case.spoiling, rows.tocoo() if how == 9 else rows, case.rounds)


def deepcopy_of(value: Any) -> Any:
    """The value, with a memory of its own where that can be."""
    try:
        return deepcopy(value)
    except TypeError:
        return value


@target(8)
def transform(case: Case) -> Run:
    """Into the methods of a fitted model."""
    model, X = seeds().estimators[case.rng.choice(sorted(seeds().estimators))], spoilt_counts(case)
    held_out = spoilt_counts(case) if case.rng.random() < 0.3 else counts(6, seed=2)
    ways: list[Callable[[], object]] = [
        lambda: proportions(model.transform(X)),
        lambda: proportions(model.transform(X)),
        lambda: above_one(model.perplexity(X)),
        lambda: above_one(model.perplexity(X, held_out)),
        lambda: above_one(model.perplexity(held_out, X)),
        lambda: model.score(X),
        lambda: model.document_locations(X) if hasattr(model, "document_locations") else None,
        lambda: above_one(model.perplexity(X, method="draws", n_draws=2)),
        lambda: analysis.complete(model, X, held_out).perplexity,
        lambda: analysis.complete(model, held_out, X).perplexity,
    ]
    return case.rng.choice(ways)


@target(2)
def partial_fit(case: Case) -> Run:
    """Into a model that goes on learning."""
    model, X = deepcopy(seeds().estimators[case.rng.choice(sorted(seeds().estimators))]), spoilt_counts(case)
    rows = counts(3, seed=1)
    return lambda: asked(model.partial_fit(X), rows)


@target(3)
def fit(case: Case) -> Run:
    """Into new models."""
    rng = case.rng
    inference, method = (
        rng.choice(("sampling", "variational")),
        rng.choice(("batch", "batch", "batch", "online", "auto")),
    )
    maker = rng.choice((DILN, HDP, LDA, CTM))
    model = maker(
        rng.choice((1, 2, 3)), max_iter=rng.choice((1, 2)), inference=inference, learning_method=method, random_state=0
    )
    X, how = spoilt_counts(case), rng.randrange(4)
    if how == 0:
        return lambda: model.partial_fit(X).topic_word_
    if how == 1:
        return lambda: proportions(model.fit_transform(X))
    return lambda: [model.fit(X).topic_word_, model.topic_weights_, model.components_]


@target(4)
def from_matrix(case: Case) -> Run:
    """Into a corpus."""
    X, rng = spoilt_counts(case), case.rng
    terms: Any = rng.choice(
        (
            WORDS,
            WORDS,
            WORDS,
            WORDS[:-1],
            [*WORDS, "a"],
            ["a"] * 16,
            None,
            "abc",
            [1] * 16,
            iter(WORDS),
            b"a",
            [""] * 16,
        )
    )
    given = rng.choice(
        ({}, {}, {"ids": range(6)}, {"ids": [1] * 6}, {"titles": [None] * 6}, {"dates": 3}, {"labels": "abcdef"})
    )
    return lambda: looked_at(Corpus.from_matrix(X, terms, **given))


@target(2)
def from_bags(case: Case) -> Run:
    """Gensim's bags of words into a corpus."""
    rng = case.spoiling
    bags: list[Any] = [list(bag) for bag in BAGS]
    odd: list[Any] = [
        -1, 16, 10**9, 2**31, 2**63, 10**30, 1.5, np.nan, np.inf, -np.inf, None, "a", (), [], True, np.int64(2),
        np.float32(1.5), b"", 1j,
    ]  # fmt: skip
    for _ in range(case.rounds):
        bag, how = rng.randrange(len(bags)), rng.randrange(6)
        if how == 0:
            bags[bag] = rng.choice([*odd, [(1,)], [(1, 2, 3)], {0: 1}, [3], "abc", np.ones((2, 2)), iter([(0, 1)])])
        elif how == 1:
            bags[bag] = [(rng.choice(odd), 1)]
        elif how <= 4:
            bags[bag] = [(1, rng.choice(odd)), (2, 1)]
        else:
            bags.append([(3, 1), (3, 2)])
    dictionary: Any = case.rng.choice(
        (dict(enumerate(WORDS)),) * 6 + ({}, {1: "a"}, WORDS, None, {0: 3}, {"a": "b"}, {-1: "a", 0: "b"})
    )
    whole: Any = case.rng.choice((bags,) * 8 + (None, 3, "ab", iter(bags), [[]], []))
    return lambda: looked_at(Corpus.from_bow(whole, dictionary))


VALUES: list[Any] = [
    None, "", "red fox", "\0", "\ud800", "a" * 5000, 3, 1.5, float("nan"), b"red \xff", [], ["red"], {"a": "b"}, True,
    np.nan, np.array([1, 2]), ("a", "b"), object(), pd.NaT, pd.Timestamp("2020-01-01"), np.datetime64("NaT"), 10**400,
    [["a"], [None]], iter("ab"), "\u4e2d\u6587" * 30, 1j,
]  # fmt: skip


@target(2)
def from_texts(case: Case) -> Run:
    """Odd texts, tokens and fields into a corpus."""
    rng = case.spoiling
    texts: list[Any] = [
        *["red fox runs far", "blue dog sleeps", "red dog runs"],
        *(rng.choice(VALUES) for _ in range(case.rounds - 1)),
    ]
    rng.shuffle(texts)
    names = ["ids", "titles", "dates", "labels"]
    fields = {name: [rng.choice(VALUES) for _ in texts] for name in names if case.rng.random() < 0.2}
    options = case.rng.choice(
        ({}, {}, {"vocabulary": ["red", "dog"]}, {"vocabulary": ["unknown"]}, {"min_df": 2}, {"stop_words": "english"})
    )
    if case.rng.random() < 0.5:
        return lambda: looked_at(Corpus.from_texts(texts, **fields, **options))
    tokens = [text.split() if isinstance(text, str) else text for text in texts]
    return lambda: looked_at(Corpus.from_tokens(tokens, **fields, **options))


@target(1)
def from_frame(case: Case) -> Run:
    """Odd frames into a corpus."""
    rng = case.spoiling
    texts = ["red fox runs far", "blue dog sleeps", *(rng.choice(VALUES) for _ in range(case.rounds))]
    columns: dict[Any, Any] = {"text": texts}
    for _ in range(rng.randrange(4)):
        columns[rng.choice(["id", "title", "date", "label", "body", 3, None, "", "TEXT", ("a", "b")])] = [
            rng.choice(VALUES) for _ in texts
        ]
    given = case.rng.choice(
        (
            {},
            {},
            {"text": "text"},
            {"text": ["text", "title"]},
            {"text": "no"},
            {"id": "none"},
            {"text": 3},
            {"date": "date"},
        )
    )
    frame: Any
    try:
        frame = (
            pd.DataFrame(columns)
            if case.rng.random() < 0.6
            else pl.DataFrame({str(k): v for k, v in columns.items()}, strict=False)
        )
        if isinstance(frame, pd.DataFrame) and case.rng.random() < 0.2:
            frame.columns = [rng.choice(["text", "title", "date"]) for _ in frame.columns]
    except Exception:
        frame = pd.DataFrame({"text": texts}, dtype=object)
    return lambda: looked_at(Corpus.from_frame(frame, **given))


@target(1, also=(IndexError,))
def corpus_methods(case: Case) -> Run:
    """Odd rows, splits and folders asked of a sound corpus."""
    corpus, rng = Corpus.from_texts(["red fox runs", "blue dog", "red dog", "fox and dog"], stop_words=None), case.rng
    odd: list[Any] = [
        None, 0, -1, 4, 10**9, 10**30, 1.5, "a", [], [0], [4], [-5], [True] * 4, [True] * 3, np.array([0.5]),
        slice(None, None, -1), slice(9, 3), [[0, 1]], (), {}, [None], ["a"], np.array([2**63], np.uint64), np.nan, True,
        range(2),
    ]  # fmt: skip
    one, two = rng.choice(odd), rng.choice(odd)
    ways: list[Callable[[], object]] = [
        lambda: corpus[one].counts,
        lambda: corpus.rows(one),
        lambda: [part.counts for part in corpus.split(one, two)],
        lambda: corpus.completion(one, two).observed,
        lambda: list(corpus.minibatches(one, np.random.default_rng(0))),
        lambda: len(corpus.save(case.folder / "corpus")[one]),
    ]
    return rng.choice(ways)


@target(1)
def rows_to_methods(case: Case) -> Run:
    """Corpora with other terms, without tokens or documents, into the methods of a fitted model."""
    model, rng = seeds().estimators[case.rng.choice(sorted(seeds().estimators))], case.rng
    terms = rng.sample(WORDS, rng.randrange(1, 16)) + [f"new{i}" for i in range(rng.randrange(3))]
    table = np.random.default_rng(rng.randrange(9)).poisson(rng.choice((0, 0.2, 2)), (rng.randrange(4), len(terms)))
    table[:1] *= rng.choice((1, 1, 1, 1, 1000, 2**26))
    empty = [i for i in range(len(table)) if rng.random() < 0.8]
    ways: list[Callable[[Any], object]] = [
        lambda corpus: proportions(model.transform(corpus)),
        lambda corpus: above_one(model.perplexity(corpus)),
        lambda corpus: analysis.quality(model, corpus, 3).to_json(),
        lambda corpus: deepcopy(model).partial_fit(corpus).topic_word_,
        lambda corpus: diln.LDA(2, max_iter=1, random_state=0).fit(corpus).topic_word_,
    ]
    way = rng.choice(ways)
    return lambda: way(Corpus.from_matrix(table, terms)[empty])
