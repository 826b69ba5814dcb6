"""Every public function, given what makes no sense in place of each of its arguments: a result or one sentence."""

import dataclasses
import warnings

import numpy as np
import pytest
from scipy import sparse

import diln
from diln import DILN, LDA, Corpus, analysis, corpus, datasets, simulate
from diln.errors import DilnError

COUNTS = np.random.default_rng(0).poisson(1.0, (20, 8)) + 1
TERMS = ["elk", "dog", "cat", "fox", "red", "owl", "bee", "ant"]
TEXTS = ["red fox", "dog cat dog", "owl bee"]
DOCUMENTS = Corpus.from_matrix(COUNTS, TERMS)
MODEL = DILN(3, n_dims=2, max_iter=4, random_state=0).fit(DOCUMENTS)
PLAIN = LDA(3, max_iter=4, random_state=0).fit(DOCUMENTS)
TOGETHER = analysis.count_together(DOCUMENTS, [["elk", "dog", "cat"]])[0]
COMPLETED = analysis.complete(MODEL, COUNTS, COUNTS)
ARTICLES = Corpus.from_texts(
    [f"{' '.join(TERMS[at % 8 :])} {TERMS[at % 3]}" for at in range(20)], labels=["a", "b"] * 10, dates=["2017"] * 20,
    min_df=1, max_df=1.0,
)  # fmt: skip
ATLAS = analysis.Atlas(DILN(3, n_dims=2, max_iter=4, random_state=0).fit(ARTICLES), ARTICLES)
LOCATIONS, COVARIANCE, SHARES = np.eye(3), np.eye(3), [0.5, 0.3, 0.2]

HOSTILE = {
    "none": None, "true": True, "minus": -1, "zero": 0, "half": 0.5, "nan": np.nan, "infinite": np.inf, "large": 10**10,
    "huge": 10**30, "googol": 10**400, "tiny": 1e-320, "complex": 1j, "text": "x", "empty text": "", "nul": "\0",
    "surrogate": "\ud800", "bytes": b"\xff", "empty list": [], "dict": {}, "object": object(), "type": int,
    "list of none": [None], "list of nan": [np.nan] * 3, "negative list": [-1, 2, 3], "list of text": ["a", "a", "a"],
    "ragged": [[1, 2], [3]], "nested": [[[[1]]]], "set": {1, 2}, "generator": (), "array": np.arange(3.0),
    "empty array": np.zeros((0, 3)), "cube": np.zeros((2, 2, 2)), "objects": np.array([None, "a", 1], object),
    "dates": np.zeros(3, "M8[s]"), "matrix of nan": np.full((3, 3), np.nan), "sparse": sparse.csr_array((2, 2)),
    "function": lambda *given: None, "large list": [10**30] * 3, "mask": np.ones(99, bool), "far rows": [10**9, 0],
    "far range": (1, 10**9),
    "surrogates": ["\ud800", "\udfff", "x"], "byte list": [b"\xff", b"a", b"b"], "corpus": DOCUMENTS, "model": MODEL,
}  # fmt: skip


CALLS = {
    "quality": (analysis.quality, {"model": MODEL, "corpus": DOCUMENTS, "n_words": 3}),
    "qualities": (analysis.qualities, {"models": [MODEL], "corpus": DOCUMENTS, "n_words": 3}),
    "count_together": (analysis.count_together, {"corpus": DOCUMENTS, "topics": [["elk", "dog"]]}),
    "npmi": (analysis.npmi, {"together": TOGETHER}),
    "umass": (analysis.umass, {"together": TOGETHER, "smoothing": 1.0}),
    "complete": (
        analysis.complete, {"model": MODEL, "observed": COUNTS, "held_out": COUNTS, "n_draws": None},
    ),
    "compare_completions": (analysis.compare_completions, {"first": COMPLETED, "second": COMPLETED}),
    "compare_correlations": (analysis.compare_correlations, {"first": MODEL, "second": MODEL, "matching": None}),
    "correlated_pairs": (analysis.correlated_pairs, {"model": MODEL, "n_pairs": 3}),
    "diversity": (analysis.diversity, {"model": MODEL, "n_words": 3}),
    "exclusivity": (analysis.exclusivity, {"model": MODEL, "n_words": 3}),
    "effective_topics": (analysis.effective_topics, {"model": MODEL}),
    "in_use": (analysis.in_use, {"model": MODEL}),
    "largest_topics": (analysis.largest_topics, {"model": MODEL, "n_topics": 2, "n_words": 3}),
    "match_topics": (analysis.match_topics, {"first": MODEL, "second": PLAIN}),
    "diff": (analysis.diff, {"old": MODEL, "new": PLAIN}),
    "stability": (analysis.stability, {"models": [MODEL, PLAIN]}),
    "document_topics": (
        lambda **given: list(analysis.document_topics(**given)),
        {"model": MODEL, "corpus": DOCUMENTS, "n_topics": 2, "n_words": 3},
    ),
    "topic_documents": (
        lambda **given: list(analysis.topic_documents(**given)),
        {"model": MODEL, "corpus": DOCUMENTS, "topic": 0, "n_docs": 3, "n_topics": 2, "n_words": 3, "min_share": 0.1},
    ),
    "Atlas": (analysis.Atlas, {"model": MODEL, "corpus": DOCUMENTS, "edits": None, "directory": None}),
    "Atlas.open": (analysis.Atlas.open, {"model": "nowhere", "corpus": None, "n_jobs": 1}),
    "Atlas.topics": (ATLAS.topics, {"n_words": 3}),
    "Atlas.topic": (ATLAS.topic, {"id": 0, "n_words": 3}),
    "Atlas.label": (ATLAS.label, {"topic": 0}),
    "Atlas.words": (ATLAS.words, {"topic": 0, "relevance": 0.5, "n": 3}),
    "Atlas.word": (ATLAS.word, {"term": "owl", "n": 3}),
    "Atlas.pairs": (ATLAS.pairs, {"n_pairs": 3}),
    "Atlas.friends": (ATLAS.friends, {"topic": 0, "n": 3}),
    "Atlas.rivals": (ATLAS.rivals, {"topic": 0, "n": 3}),
    "Atlas.matrix": (ATLAS.matrix, {"n": 3}),
    "Atlas.themes": (ATLAS.themes, {"n": 2}),
    "Atlas.map": (ATLAS.map, {"n": 2}),
    "Atlas.document": (ATLAS.document, {"row": 0, "n_topics": 2}),
    "Atlas.documents": (
        ATLAS.documents,
        {"label": "a", "since": "2016", "until": "2018", "rows": [0, 1], "n": 5, "offset": 0, "n_themes": 2},
    ),
    "Atlas.documents of a topic": (ATLAS.documents, {"topic": 0}),
    "Atlas.documents of a theme": (ATLAS.documents, {"theme": 0}),
    "Atlas.documents of a pair": (ATLAS.documents, {"pair": (0, 1)}),
    "Atlas.typical": (ATLAS.typical, {"topic": 0, "n": 2, "n_themes": 2}),
    "Atlas.read": (ATLAS.read, {"row": 0, "n_topics": 2}),
    "Atlas.read_text": (ATLAS.read_text, {"text": "owl bee", "n_topics": 2}),
    "Atlas.similar": (ATLAS.similar, {"row": 0, "n": 2}),
    "Atlas.similar to a text": (ATLAS.similar, {"text": "owl bee", "n": 2}),
    "Atlas.outliers": (ATLAS.outliers, {"n": 2}),
    "Atlas.duplicates": (ATLAS.duplicates, {"n": 2, "least": 0.9}),
    "Atlas.trends": (
        ATLAS.trends, {"by": "topic", "granularity": "year", "ids": [0], "label": "a", "n_themes": 2},
    ),
    "Atlas.trends of themes": (ATLAS.trends, {"by": "theme", "ids": [0], "n_themes": 2}),
    "Atlas.groups": (ATLAS.groups, {"by": "topic", "ids": [0], "n_themes": 2, "separator": ";"}),
    "Atlas.edited": (ATLAS.edited, {"edits": analysis.Edits()}),
    "Edits": (analysis.Edits, {"changes": ()}),
    "Edits.rename": (analysis.Edits().rename, {"topic": 0, "label": "x"}),
    "Edits.rename_theme": (analysis.Edits().rename_theme, {"topics": [0], "label": "x"}),
    "Edits.merge": (analysis.Edits().merge, {"topics": [0, 1]}),
    "Edits.hide": (analysis.Edits().hide, {"topics": [0]}),
    "Edits.show": (analysis.Edits().show, {"topics": [0]}),
    "trained_on": (analysis.trained_on, {"model": MODEL, "X": COUNTS}),
    "stick_weights": (simulate.stick_weights, {"alpha": 1.0, "n_components": 3, "rng": 0}),
    "diln_weights": (
        simulate.diln_weights,
        {"topic_weights": SHARES, "topic_locations": LOCATIONS, "n_docs": 4, "beta": 1.0, "construction": "gamma",
         "kernel": None, "rng": 0},
    ),
    "hdp_weights": (simulate.hdp_weights, {"topic_weights": SHARES, "n_docs": 4, "beta": 1.0, "rng": 0}),
    "ctm_weights": (
        simulate.ctm_weights, {"mean": [0.0, 0, 0], "covariance_matrix": COVARIANCE, "n_docs": 4, "rng": 0},
    ),
    "lda_weights": (simulate.lda_weights, {"doc_topic_prior": [1.0, 1, 1], "n_docs": 4, "rng": 0}),
    "diln_corpus": (
        simulate.diln_corpus,
        {"n_docs": 4, "n_terms": 6, "n_components": 3, "n_dims": 2, "alpha": 5.0, "beta": 5.0, "topic_prior": 0.1,
         "location_variance": 1.0, "doc_length": 9, "construction": "scaled", "kernel": None, "rng": 0},
    ),
    "hdp_corpus": (
        simulate.hdp_corpus,
        {"n_docs": 4, "n_terms": 6, "n_components": 3, "alpha": 5.0, "beta": 5.0, "topic_prior": 0.1, "doc_length": 9,
         "rng": 0},
    ),
    "ctm_corpus": (
        simulate.ctm_corpus,
        {"n_docs": 4, "n_terms": 6, "n_components": 3, "mean": [0.0, 0, 0], "covariance_matrix": COVARIANCE,
         "topic_prior": 0.1, "doc_length": 9, "rng": 0},
    ),
    "lda_corpus": (
        simulate.lda_corpus,
        {"n_docs": 4, "n_terms": 6, "n_components": 3, "doc_topic_prior": 0.1, "topic_prior": 0.1, "doc_length": 9,
         "rng": 0},
    ),
    "draw_topics": (simulate.draw_topics, {"n_components": 3, "n_terms": 6, "topic_prior": 0.1, "rng": 0}),
    "draw_corpus": (simulate.draw_corpus, {"topics": np.eye(3), "doc_topics": np.eye(3), "doc_length": 9, "rng": 0}),
    "poisson": (
        lambda mean: simulate.draw_corpus(np.eye(3), np.eye(3), simulate.Poisson(mean), rng=0), {"mean": 5.0},
    ),
    "gaussian_kernel": (
        lambda **given: simulate.gaussian_kernel(**given)(LOCATIONS, LOCATIONS), {"width": 1.0, "variance": 1.0},
    ),
    "linear_kernel": (simulate.linear_kernel, {"locations": LOCATIONS, "others": LOCATIONS}),
    "stick_moments": (simulate.stick_moments, {"alpha": 1.0, "n": 3}),
    "weight_moments": (
        simulate.weight_moments, {"topic_weights": SHARES, "beta": 1.0, "kernel_matrix": COVARIANCE},
    ),
    "weight_moments_marginal": (
        simulate.weight_moments_marginal, {"alpha": 1.0, "beta": 1.0, "kernel_matrix": COVARIANCE},
    ),
    "from_texts": (
        Corpus.from_texts,
        {"texts": TEXTS, "ids": ["a", "b", "c"], "titles": TEXTS, "dates": ["2017", "2018", "2019"], "labels": TEXTS,
         "vocabulary": TERMS, "stop_words": None, "min_df": 1, "max_df": 1.0, "max_terms": 9,
         "min_tokens": 0, "min_length": 1, "lowercase": True, "ngram_range": (1, 1), "alphabet": "unicode",
         "drop_duplicates": False, "keep_text": True},
    ),
    "from_texts by a pattern": (Corpus.from_texts, {"texts": TEXTS, "token_pattern": "[a-z]+"}),
    "from_texts by a tokenizer": (Corpus.from_texts, {"texts": TEXTS, "tokenizer": str.split}),
    "from_tokens": (
        Corpus.from_tokens, {"documents": [["a", "b"], ["c"]], "ids": ["a", "b"], "vocabulary": ["a", "b", "c"]},
    ),
    "from_matrix": (
        Corpus.from_matrix, {"X": COUNTS, "vocabulary": TERMS, "ids": range(20), "dates": [""] * 20},
    ),
    "from_bow": (Corpus.from_bow, {"bags": [[(0, 1)], [(1, 2)]], "dictionary": {0: "elk", 1: "dog"}}),
    "from_frame": (Corpus.from_frame, {"frame": None, "text": "text", "id": "id"}),
    "read": (Corpus.read, {"path": "nowhere.txt"}),
    "open": (Corpus.open, {"directory": "nowhere", "check": False}),
    "getitem": (DOCUMENTS.__getitem__, {"rows": [0, 1]}),
    "rows": (DOCUMENTS.rows, {"rows": [0, 1]}),
    "minibatches": (lambda **given: list(DOCUMENTS.minibatches(**given)), {"size": 4, "rng": np.random.default_rng(0)}),
    "split": (DOCUMENTS.split, {"seed": 0, "n_test": 3}),
    "completion": (DOCUMENTS.completion, {"seed": 0, "n_test": 3}),
    "summarise": (corpus.summarise, {"corpus": DOCUMENTS}),
    "build": (corpus.build, {"source": "nowhere.txt", "directory": "nowhere"}),
    "append": (corpus.append, {"source": "nowhere.txt", "directory": "nowhere"}),
    "load": (diln.load, {"directory": "nowhere"}),
    "load_docs": (lambda **given: Corpus.from_texts(TEXTS, **given), {"min_df": 1, "max_terms": 5}),
    "read_tree": (lambda **given: list(datasets.read_tree(**given)), {"root": "nowhere", "name": "", "label": ""}),
    "perplexity": (
        MODEL.perplexity, {"X": COUNTS, "held_out": COUNTS, "method": "plug-in", "n_draws": 2, "seed": 0},
    ),
    "perplexity of halves": (MODEL.perplexity, {"X": COUNTS, "seed": 0}),
    "transform": (MODEL.transform, {"X": COUNTS}),
    "document_locations": (MODEL.document_locations, {"X": COUNTS}),
    "vocabulary_": (lambda terms: setattr(PLAIN, "vocabulary_", terms), {"terms": TERMS}),
}  # fmt: skip
CASES = [(name, argument) for name, (_, given) in CALLS.items() for argument in given]


def numbers(found):
    """All arrays and numbers in a result."""
    if isinstance(found, Corpus | DILN | LDA | str | bytes):
        return []
    if dataclasses.is_dataclass(found) and not isinstance(found, type):
        return [one for field in dataclasses.fields(found) for one in numbers(getattr(found, field.name))]
    if isinstance(found, dict):
        return [one for value in found.values() for one in numbers(value)]
    if isinstance(found, list | tuple):
        return [one for value in found for one in numbers(value)]
    if sparse.issparse(found):
        return [found.data]
    return [found] if isinstance(found, float | np.ndarray) else []


def outcome(function, given):
    """What is wrong with what comes of a call; nothing if it is a result or a sentence."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", diln.DilnWarning)
            found = function(**given)
    except (ValueError, TypeError, DilnError) as error:
        return "several lines" if "\n" in str(error) else "" if str(error) else "no words"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "NaN" if any(np.isnan(one).any() for one in numbers(found) if np.asarray(one).dtype.kind == "f") else ""


@pytest.mark.parametrize(("name", "argument"), CASES, ids=[f"{name}-{argument}" for name, argument in CASES])
def test_what_makes_no_sense_is_told_in_a_sentence(name, argument, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, given = CALLS[name]
    wrong = {label: outcome(function, {**given, argument: value}) for label, value in HOSTILE.items()}
    assert {label: found for label, found in wrong.items() if found} == {}


def test_every_public_function_of_analysis_and_simulation_is_in_the_table():
    for room in (analysis, simulate):
        functions = {name for name in room.__all__ if not isinstance(getattr(room, name), type) and name[0].islower()}
        assert functions <= set(CALLS)
