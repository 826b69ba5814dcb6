"""Counts at the door of a model: one form for all, whether they come as a matrix or as a corpus."""

from abc import ABC, abstractmethod
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.corpus import Corpus
from diln.corpus.splits import halves
from diln.errors import DilnWarning


class Rows(ABC):
    """Documents as rows of counts, some or all at a time."""

    n_docs: int
    n_terms: int
    rule: dict[str, Any] | None = None  # how text was made into counts, where that is known

    @abstractmethod
    def take(self, rows: NDArray[np.int64]) -> csr_array:
        """The counts of some documents."""

    @abstractmethod
    def everything(self) -> csr_array:
        """The counts of all documents."""


class MatrixRows(Rows):
    """Counts in memory."""

    def __init__(self, counts: csr_array) -> None:
        self.counts = counts
        self.n_docs, self.n_terms = counts.shape

    def take(self, rows: NDArray[np.int64]) -> csr_array:
        """The counts of some documents."""
        return as_rows(self.counts[rows])

    def everything(self) -> csr_array:
        """The counts of all documents."""
        return self.counts


class CorpusRows(Rows):
    """Counts of a corpus, in memory or on disk; from disk only those asked for are read."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.n_docs, self.n_terms, self.rule = len(corpus), corpus.n_terms, corpus.rule

    def take(self, rows: NDArray[np.int64]) -> csr_array:
        """The counts of some documents."""
        return as_rows(self.corpus.rows(rows))

    def everything(self) -> csr_array:
        """The counts of all documents."""
        return as_rows(self.corpus.counts)


def as_rows(X: Any) -> csr_array:
    """Counts in the one form that the compiled loops know: float32 values, no zeros, a term once in a document."""
    rows = csr_array(X)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    parts = rows.data.astype(np.float32), rows.indices.astype(np.int32), rows.indptr.astype(np.int64)
    tidy = csr_array(parts, shape=rows.shape)
    if tidy.nnz and not tidy.data.all():
        tidy.eliminate_zeros()
    # scipy prefers the narrower type for both; the loops are compiled for these
    tidy.indices, tidy.indptr = tidy.indices.astype(np.int32), tidy.indptr.astype(np.int64)
    return tidy


def aligned(corpus: Corpus, vocabulary: list[str]) -> Rows:
    """The corpus' rows in the order of another vocabulary; tokens of terms outside it are dropped, and counted."""
    if corpus.vocabulary == vocabulary:
        return CorpusRows(corpus)
    places = {term: place for place, term in enumerate(vocabulary)}
    new = np.array([places.get(term, -1) for term in corpus.vocabulary], np.int64)
    counts = corpus.counts
    columns, known = new[counts.indices], new[counts.indices] >= 0
    if corpus.n_terms and not (new >= 0).any():
        raise ValueError(
            f"the corpus has {corpus.n_terms:,} terms and none of them is among the model's {len(vocabulary):,}; count "
            "its texts with vocabulary=model.vocabulary_"
        )
    unknown = int(counts.data[~known].sum())
    if unknown:
        warn(
            f"{unknown:,} of {int(counts.data.sum()):,} tokens are of terms that the model does not know; they are "
            "left out",
            DilnWarning,
            stacklevel=4,
        )
    ends = np.concatenate([[0], np.cumsum(known)])[counts.indptr]
    parts = counts.data[known], columns[known], ends
    moved = csr_array(parts, shape=(len(corpus), len(vocabulary)))
    moved.sort_indices()
    return MatrixRows(as_rows(moved))


def in_halves(counts: csr_array, seed: int) -> tuple[csr_array, csr_array]:
    """Each document in two halves, at random by ``seed``; counts that are not whole numbers are halved as they are."""
    whole = counts.data.astype(np.int64)
    if (whole != counts.data).any():
        half = csr_array((counts.data / 2, counts.indices, counts.indptr), counts.shape)
        return half, half
    tokens = csr_array((whole, counts.indices, counts.indptr), counts.shape)
    observed, kept = halves(tokens, np.random.default_rng(seed))
    return as_rows(observed), as_rows(kept)
