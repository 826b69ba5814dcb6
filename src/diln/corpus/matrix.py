"""Counts that are at hand already: matrices and gensim's bags of words, checked at the door."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, sparray, spmatrix

from diln.corpus.sound import check_numbers, sound_rows
from diln.corpus.sources import BLOCK_DOCS, Block, CountBlock, Source, numbers_from
from diln.corpus.strings import offsets_of
from diln.corpus.vocabulary import check_vocabulary
from diln.errors import SourceError, brief

BLOCK_ENTRIES = 1 << 20


class MatrixSource(Source):
    """A matrix of counts (n_docs, n_terms) with its vocabulary."""

    def __init__(
        self,
        X: sparray | spmatrix | ArrayLike,
        vocabulary: Iterable[str],
        fields: dict[str, list[str]] | None = None,
        name: str = "matrix",
    ) -> None:
        self.name = name
        self.vocabulary: list[str] = check_vocabulary(vocabulary)
        self.matrix = check_counts(X, name)
        self.fields = dict(fields or {})
        self.numbered = "id" not in self.fields
        self.total = self.matrix.shape[0]
        if self.matrix.shape[1] != len(self.vocabulary):
            raise SourceError(
                f"{name}: has {self.matrix.shape[1]} columns but the vocabulary has {len(self.vocabulary)} terms; "
                "give the vocabulary that belongs to these counts"
            )
        for field, values in self.fields.items():
            if len(values) != self.total:
                more = "more" if len(values) > self.total else "fewer"
                raise SourceError(f"{field}s: there are {more} of them than documents; give one for each document")
        self.fields.setdefault("id", numbers_from(0, self.total))

    def blocks(self) -> Iterator[Block]:
        """Rows in blocks of bounded size."""
        offsets = self.matrix.indptr
        while self.position < self.total:
            first = self.position
            last = int(np.searchsorted(offsets, offsets[first] + BLOCK_ENTRIES))
            last = min(max(last, first + 1), first + BLOCK_DOCS, self.total)
            self.position = last
            rows = self.matrix[first:last]
            fields = {name: values[first:last] for name, values in self.fields.items()}
            yield CountBlock(rows.indices, rows.data, rows.indptr.astype(np.int64), fields)


def check_counts(X: Any, name: str = "matrix") -> csr_array:
    """Counts as int32 rows, or an error that says what is wrong with them and what to do."""
    rows = sound_rows(X, name)
    check_values(rows.data, name)
    return tidy_rows(rows.indices, rows.data, rows.indptr, rows.shape[1], name)


def tidy_rows(ids: NDArray[Any], counts: NDArray[Any], offsets: NDArray[Any], n_terms: int, name: str) -> csr_array:
    """Rows of their own memory with a term once in each, and without zeros, so that an entry is an occurrence."""
    parts = counts.astype(np.int64), ids.astype(np.int32), offsets.astype(np.int64)
    rows = csr_array(parts, shape=(len(offsets) - 1, n_terms))
    rows.sum_duplicates()
    rows.eliminate_zeros()
    check_values(rows.data, name)
    return rows.astype(np.int32)


def check_values(values: NDArray[Any], name: str) -> None:
    """Raise unless all values are whole numbers that can be counts."""
    if not len(values):
        return
    if values.dtype.kind not in "buif":
        raise SourceError(f"{name}: has values of type {values.dtype}; counts are whole numbers from 0 on")
    check_numbers(values, name)
    if values.dtype.kind == "f" and (values != np.floor(values)).any():
        bad = values[values != np.floor(values)][0]
        raise SourceError(
            f"{name}: has a fractional value ({bad}); give raw counts, not TF-IDF or proportions "
            "(CountVectorizer in place of TfidfVectorizer)"
        )


def bow_matrix(
    bags: Iterable[Iterable[tuple[int, float]]], dictionary: Mapping[int, str] | Any
) -> tuple[csr_array, list[str]]:
    """Gensim's bags of words ``[(id, count), ...]`` and its Dictionary (or a dict id -> term) as counts and terms."""
    terms = _terms_of(dictionary)
    ids: list[int] = []
    counts: list[float] = []
    sizes: list[int] = []
    for bag in bags:
        before = len(ids)
        for term, count in _pairs(bag):
            ids.append(term)
            counts.append(count)
        sizes.append(len(ids) - before)
    numbers, values = _numbers(ids), _numbers(counts)
    if len(numbers) and (numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() >= len(terms)):
        bad = numbers.min() if numbers.dtype.kind in "iu" and numbers.min() < 0 else numbers.max()
        raise SourceError(
            f"bag of words: has term number {bad} but the dictionary has {len(terms)} terms; give the "
            "dictionary that belongs to these bags"
        )
    check_values(values, "bag of words")
    return csr_array((values, numbers, offsets_of(sizes)), shape=(len(sizes), len(terms))), terms


def _pairs(bag: Any) -> list[tuple[int, float]]:
    try:
        return [(term, count) for term, count in bag]
    except (TypeError, ValueError):
        raise SourceError(f"bag of words: {brief(bag)} is none; give lists of (number of a term, count)") from None


def _numbers(values: list[Any]) -> NDArray[Any]:
    """Numbers as an array; those that NumPy has no type for in float64, and as large as that can be."""
    odd = sorted({type(one).__name__ for one in values if not isinstance(one, Real)})
    if odd:
        raise SourceError(f"bag of words: has values of type {odd[0]}; counts are whole numbers from 0 on")
    array = np.array(values) if values else np.zeros(0, np.int64)
    if array.dtype.kind != "O":
        return array
    most = float(np.finfo(np.float64).max)
    plain = (one.item() if isinstance(one, np.generic) else one for one in values)  # as NumPy's own would not compare
    return np.array([min(max(one, -most), most) for one in plain], np.float64)


def _terms_of(dictionary: Mapping[int, str] | Any) -> list[str]:
    if not hasattr(dictionary, "items"):
        raise TypeError(f"dictionary is a {type(dictionary).__name__}; give gensim's, or a dict from numbers to terms")
    by_term = getattr(dictionary, "token2id", None)
    pairs: Sequence[tuple[int, str]] = (
        [(number, term) for term, number in by_term.items()] if by_term is not None else list(dictionary.items())
    )
    numbers = [number for number, _ in pairs]
    if not all(isinstance(one, Integral) for one in numbers) or sorted(numbers) != list(range(len(pairs))):
        raise SourceError(
            "dictionary: its numbers have gaps; renumber it (dictionary.compactify() in gensim) and the bags with it"
        )
    return [term for _, term in sorted(pairs)]
