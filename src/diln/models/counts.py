"""Counts at the door of a model: one form for all, whether they come as a matrix or as a corpus."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from diln.corpus.sound import bags_or_text, dense, sound_rows
from diln.corpus.splits import halves
from diln.engine.threads import cut
from diln.errors import DilnWarning, brief

if TYPE_CHECKING:
    from diln.corpus import Corpus

LARGEST = 2**31  # of counts: what a corpus can hold, as float32 has it
MOST_TOKENS = 2**24  # of one term in one document, that float32 counts without a gap
SMALLEST = 1e-6  # weight of a term, where weights are taken that are no counts
CROWD = 1000  # tokens of one term in one document on average, where there are many: more than in any text
PART = 8192  # documents that are in memory at once

Halves = tuple[csr_array, csr_array]  # what is observed of some documents, and what is held out


class Rows(ABC):
    """Documents as rows of counts, some or all at a time."""

    n_docs: int
    n_terms: int
    rule: dict[str, Any] | None = None  # how text was made into counts, where that is known
    n_unknown = 0  # tokens that were left out, of terms that the model does not know

    @property
    @abstractmethod
    def n_tokens(self) -> float:
        """Tokens of all documents, or about as many."""

    @abstractmethod
    def take(self, rows: NDArray[np.int64]) -> csr_array:
        """The counts of some documents."""

    @abstractmethod
    def everything(self) -> csr_array:
        """The counts of all documents."""

    def parts(self, size: int) -> Iterator[csr_array]:
        """The counts of all documents, ``size`` at a time, in order."""
        for first, last in cut(self.n_docs, size):
            yield self.take(np.arange(first, last))

    def lengths(self) -> Iterator[NDArray[np.int64]]:
        """Tokens of all documents, of some at a time; a part of a token is one."""
        for part in self.parts(PART):
            ends = np.concatenate([[0], np.cumsum(np.ceil(part.data), dtype=np.int64)])
            yield np.diff(ends[part.indptr])

    def numbers(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """What streams of randomness of these documents are named by."""
        return rows

    def alone(self, rows: NDArray[np.int64]) -> "Rows":
        """Some documents for another process: of a corpus on disk where they are, else their counts."""
        return MatrixRows(self.take(rows))

    def often(self) -> "Rows":
        """The same for a process that is sent some of them again and again."""
        return self

    def sent(self, first: int, last: int) -> "Rows":
        """Documents first to last for another process, under the same numbers."""
        rows = np.arange(first, last)
        numbers = self.numbers(rows)
        return SentRows(self.alone(rows), first, None if np.array_equal(numbers, rows) else numbers)


class SentRows(Rows):
    """Some rows, one after the other, of others that stay where they are."""

    def __init__(self, rows: Rows, first: int, named: NDArray[np.int64] | None = None) -> None:
        self.rows, self.first, self.named = rows, first, named
        self.n_docs, self.n_terms, self.rule = first + rows.n_docs, rows.n_terms, rows.rule

    @property
    def n_tokens(self) -> float:
        """Tokens of the documents that are here."""
        return self.rows.n_tokens

    def take(self, rows: NDArray[np.int64]) -> csr_array:
        """The counts of some documents that are here."""
        return self.rows.take(rows - self.first)

    def everything(self) -> csr_array:
        """The counts of all documents that are here."""
        return self.rows.everything()

    def numbers(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Their numbers where they come from."""
        return rows if self.named is None else self.named[rows - self.first]

    def sent(self, first: int, last: int) -> Rows:
        """Itself: others are not here."""
        return self


class MatrixRows(Rows):
    """Counts in memory."""

    def __init__(self, counts: csr_array) -> None:
        self.counts = counts
        self.n_docs, self.n_terms = counts.shape

    @property
    def n_tokens(self) -> float:
        """Tokens of all documents."""
        return float(self.counts.data.sum(dtype=np.float64))

    def take(self, rows: NDArray[np.int64]) -> csr_array:
        """The counts of some documents."""
        return as_rows(self.counts[rows])

    def everything(self) -> csr_array:
        """The counts of all documents."""
        return self.counts


class CorpusRows(Rows):
    """Counts of a corpus, in memory or on disk; from disk only those asked for are read."""

    def __init__(self, corpus: "Corpus") -> None:
        self.corpus = corpus
        self.n_docs, self.n_terms, self.rule = len(corpus), corpus.n_terms, corpus.rule

    @property
    def n_tokens(self) -> float:
        """Tokens of the corpus."""
        return float(self.corpus.n_tokens)

    def lengths(self) -> Iterator[NDArray[np.int64]]:
        """Tokens of all documents, of some at a time."""
        return self.corpus.lengths()

    def take(self, rows: NDArray[np.int64]) -> csr_array:
        """The counts of some documents."""
        return as_rows(self.corpus.rows(rows))

    def everything(self) -> csr_array:
        """The counts of all documents."""
        return as_rows(self.corpus.counts)

    def alone(self, rows: NDArray[np.int64]) -> Rows:
        """Of a corpus on disk no counts, but where they are."""
        return super().alone(rows) if self.corpus.directory is None else CorpusRows(self.corpus[rows])

    def often(self) -> Rows:
        """The same, of a corpus that is opened once."""
        return CorpusRows(self.corpus.often())


class MovedRows(Rows):
    """Counts of a corpus in the order of another vocabulary, without the terms that it does not have."""

    def __init__(self, corpus: "Corpus", n_terms: int, places: NDArray[np.int32]) -> None:
        self.corpus, self.places = corpus, places
        self.n_docs, self.n_terms, self.rule = len(corpus), n_terms, corpus.rule

    @property
    def n_tokens(self) -> float:
        """Tokens of the corpus, of terms that are left out too."""
        return float(self.corpus.n_tokens)

    def take(self, rows: NDArray[np.int64]) -> csr_array:
        """The counts of some documents."""
        counts = self.corpus.rows(rows)
        columns = self.places[counts.indices]
        known = columns >= 0
        ends = np.concatenate([[0], np.cumsum(known)])[counts.indptr]
        moved = csr_array((counts.data[known], columns[known], ends), shape=(len(rows), self.n_terms))
        moved.sort_indices()
        return as_rows(moved)

    def everything(self) -> csr_array:
        """The counts of all documents."""
        return self.take(np.arange(self.n_docs))

    def alone(self, rows: NDArray[np.int64]) -> Rows:
        """Of a corpus on disk no counts, but where they are."""
        if self.corpus.directory is None:
            return super().alone(rows)
        return MovedRows(self.corpus[rows], self.n_terms, self.places)

    def often(self) -> Rows:
        """The same, of a corpus that is opened once."""
        return MovedRows(self.corpus.often(), self.n_terms, self.places)


class SomeRows(Rows):
    """Some of other rows, by their numbers there."""

    def __init__(self, rows: Rows, chosen: NDArray[np.int64]) -> None:
        self.rows, self.chosen = rows, chosen
        self.n_docs, self.n_terms, self.rule = len(chosen), rows.n_terms, rows.rule

    @property
    def n_tokens(self) -> float:
        """About as many tokens as so many documents have."""
        return self.rows.n_tokens * self.n_docs / max(self.rows.n_docs, 1)

    def take(self, rows: NDArray[np.int64]) -> csr_array:
        """The counts of some documents."""
        return self.rows.take(self.chosen[rows])

    def everything(self) -> csr_array:
        """The counts of all documents."""
        return self.rows.take(self.chosen)

    def numbers(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Their numbers among the others."""
        return self.rows.numbers(self.chosen[rows])

    def alone(self, rows: NDArray[np.int64]) -> Rows:
        """As the others have it."""
        return self.rows.alone(self.chosen[rows])


class HeadRows(Rows):
    """The first of other rows."""

    def __init__(self, rows: Rows, size: int) -> None:
        self.rows, self.n_docs, self.n_terms, self.rule = rows, size, rows.n_terms, rows.rule

    @property
    def n_tokens(self) -> float:
        """About as many tokens as so many documents have."""
        return self.rows.n_tokens * self.n_docs / max(self.rows.n_docs, 1)

    def take(self, rows: NDArray[np.int64]) -> csr_array:
        """The counts of some documents."""
        return self.rows.take(rows)

    def everything(self) -> csr_array:
        """The counts of all documents."""
        return self.rows.take(np.arange(self.n_docs))

    def alone(self, rows: NDArray[np.int64]) -> Rows:
        """As the others have it."""
        return self.rows.alone(rows)


def permuted(n_docs: int, seed: tuple[int, ...]) -> NDArray[Any]:
    """Documents in random order, four bytes each where that is enough."""
    kind: Any = np.int32 if n_docs < 2**31 else np.int64
    order: NDArray[Any] = np.arange(n_docs, dtype=kind)
    np.random.default_rng(seed).shuffle(order)  # as ``permutation`` does
    return order


def as_table(X: Any, model: str, *, fresh: bool) -> Any:
    """What scikit-learn's checks can take: sound rows, an array of two dimensions, or a frame with its names.

    ``fresh`` says that the model has no terms yet, and takes these.
    """
    if issparse(X):
        return sound_rows(X, "X")
    if hasattr(X, "columns"):
        if getattr(X.columns, "has_duplicates", False):  # of pandas
            name = X.columns[X.columns.duplicated()][0]
            raise ValueError(
                f"X has {list(X.columns).count(name)} columns {brief(name)}, and each term is one column; rename all "
                "but one, or add them up with X.T.groupby(level=0).sum().T"
            )
        return X
    table = dense(X, "X")
    found = bags_or_text(table.tolist() if table.dtype == object and table.ndim == 1 else X)  # of a column, too
    if "from_texts" in found or (table.dtype.kind in "US" and not found):
        raise text_given(model, fresh=fresh)
    if found:
        raise ValueError(f"{model} was given {found}; give it the corpus")
    if table.dtype.kind not in "buifO":
        odd = "Complex data not supported" if table.dtype.kind == "c" else f"X has values of type {table.dtype}"
        raise ValueError(f"{odd}; give counts, which are whole numbers from 0 on")
    if table.ndim != 2:
        raise ValueError(
            f"X is a {table.ndim}D array; give counts of two dimensions, a document a row and a term a column "
            "(Reshape your data with X.reshape(1, -1) if it is one document)"
        )
    return table


def text_given(model: str, *, fresh: bool, frame: Any = None) -> ValueError:
    """What to raise where text is given in place of counts; in a frame, with the column that has most of it."""
    known = "" if fresh else ", vocabulary=model.vocabulary_"
    how = f"from_texts(texts{known})"
    if hasattr(frame, "columns"):
        column = max(frame.columns, key=lambda name: sum(len(v) for v in frame[name] if isinstance(v, str)))
        how = f"from_frame(frame, text={brief(str(column))}{known})"
    then = "model.fit(corpus)" if fresh else "give the corpus"
    return ValueError(f"{model} was given text; count it first: corpus = Corpus.{how}, then {then}")


def as_rows(X: Any) -> csr_array:
    """Sound counts with float32 values, no zeros, and a term once in a document; those given stay as they are."""
    rows = csr_array(X)
    largest = rows.data.max(initial=0).item()  # which half precision cannot compare with the limit
    if largest > LARGEST:
        raise ValueError(f"there is a count of {largest}; the largest that can be worked with is {LARGEST:,}")
    if not rows.has_canonical_format:
        rows = rows.astype(np.float64)  # of its own memory, and for sums that a narrow type cannot hold
        rows.sum_duplicates()
        return as_rows(rows)
    tidy = csr_array((rows.data.astype(np.float32), rows.indices, rows.indptr), shape=rows.shape)
    if tidy.nnz and not tidy.data.all():
        tidy = tidy.copy()
        tidy.eliminate_zeros()
    return tidy


def whole(counts: csr_array) -> csr_array:
    """Counts as whole numbers: a part of a token is a token."""
    rounded = np.ceil(counts.data)
    if rounded.max(initial=0) > MOST_TOKENS:
        raise ValueError(f"there is a count of {rounded.max():,.0f}; sampling takes up to {MOST_TOKENS:,} of one term")
    return csr_array((rounded.astype(np.int32), counts.indices, counts.indptr), shape=counts.shape)


def check_smallest(counts: csr_array, name: str) -> None:
    """Raise if a value is so small that weights computed from it would be no numbers."""
    least = counts.data.min(initial=1)
    if least < SMALLEST:
        raise ValueError(f"{name} was given a value of {least:g}; give raw counts, or {SMALLEST:g} and more")


def check_drawn(n_tokens: float, n_entries: int) -> None:
    """Raise if so few counts have more tokens than those of any words, each of which sampling draws."""
    if n_tokens > max(MOST_TOKENS, CROWD * n_entries):
        raise ValueError(
            f"there are {n_tokens:,.0f} tokens in {n_entries:,} counts, and sampling draws them one by one; give "
            "smaller counts, or use inference='variational'"
        )


def aligned(corpus: "Corpus", vocabulary: list[str]) -> Rows:
    """The corpus' rows in the order of another vocabulary; tokens of terms outside it are dropped, and counted."""
    if corpus.vocabulary == vocabulary:
        return CorpusRows(corpus)
    order = {term: place for place, term in enumerate(vocabulary)}
    places = np.array([order.get(term, -1) for term in corpus.vocabulary], np.int32)
    if corpus.n_terms and not (places >= 0).any():
        raise ValueError(
            f"the corpus has {corpus.n_terms:,} terms and none of them is among the model's {len(vocabulary):,}; count "
            "its texts with vocabulary=model.vocabulary_"
        )
    rows = MovedRows(corpus, len(vocabulary), places)
    rows.n_unknown = corpus.n_tokens - sum(int(part.data.sum(dtype=np.float64)) for part in rows.parts(PART))
    if rows.n_unknown:
        warn(
            f"{rows.n_unknown:,} of {corpus.n_tokens:,} tokens are of terms that the model does not know; they are "
            "left out",
            DilnWarning,
            stacklevel=4,
        )
    return rows


def fractional(counts: csr_array) -> bool:
    """Whether there are parts of tokens."""
    return bool((counts.data.astype(np.int64) != counts.data).any())


def in_halves(counts: csr_array, seed: int | np.random.Generator) -> Halves:
    """Each document in two halves at random; counts that are not whole numbers are halved as they are."""
    if fractional(counts):
        half = csr_array((counts.data / 2, counts.indices, counts.indptr), counts.shape)
        return half, half
    tokens = csr_array((counts.data.astype(np.int64), counts.indices, counts.indptr), counts.shape)
    observed, kept = halves(tokens, np.random.default_rng(seed))
    return as_rows(observed), as_rows(kept)
