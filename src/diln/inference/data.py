"""What is observed, as the compiled loops take it: documents as counts of terms, or as tokens one by one."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from diln.engine.threads import cut

Array = NDArray[Any]


class Entries(NamedTuple):
    """Counts of some documents, as compiled loops take them: of document m, entries indptr[m] to indptr[m + 1]."""

    indptr: NDArray[np.int64]  # (n_docs + 1,)
    indices: NDArray[np.int32]  # (n_entries,) terms
    counts: NDArray[np.float32]  # (n_entries,) how often


@dataclass
class TermCounts:
    """Counts of some documents; every array is of one type, so that loops are compiled once."""

    indptr: NDArray[np.int64]  # (n_docs + 1,) where a document's terms begin
    indices: NDArray[np.int32]  # (n_entries,) terms
    counts: NDArray[np.float32]  # (n_entries,) how often
    n_terms: int

    @classmethod
    def of(cls, counts: Any) -> "TermCounts":
        """Counts (n_docs, n_terms) of a sparse matrix, each term once in a document; a batch as it is."""
        if isinstance(counts, TermCounts):
            return counts
        rows = csr_array(counts)
        data, indices, indptr = rows.data.astype(np.float32), rows.indices.astype(np.int32), rows.indptr
        return cls(indptr.astype(np.int64), indices, data, rows.shape[1])

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def cut(self, first: int, last: int) -> "TermCounts":
        """Documents first to last, sharing the entries."""
        return TermCounts(*self.entries(first, last), self.n_terms)

    def entries(self, first: int, last: int) -> Entries:
        """Documents first to last as compiled loops take them."""
        start, stop = self.indptr[first], self.indptr[last]
        return Entries(self.indptr[first : last + 1] - start, self.indices[start:stop], self.counts[start:stop])

    @property
    def pieces(self) -> list[tuple[int, int]]:
        """Documents of each call of a step, whose sums are added in this order."""
        return cut(len(self), piece_size(len(self)))

    @cached_property
    def lengths(self) -> NDArray[np.float64]:
        """Tokens of each document."""
        ends = np.concatenate([[0.0], np.cumsum(self.counts, dtype=np.float64)])
        return np.diff(ends[self.indptr])

    @cached_property
    def by_term(self) -> csc_array:
        """For each term (a column) the documents that have it and where their entries are."""
        places = np.arange(len(self.indices))
        return csr_array((places, self.indices, self.indptr), (len(self), self.n_terms)).tocsc()


def piece_size(n_docs: int) -> int:
    """Documents of each call of a step on so many: some sixty calls, of 16 to 256 each."""
    return min(256, max(16, n_docs // 64))


class Batch(ABC):
    """Documents that an engine may work on elsewhere: pickled, they are small if they can be read from a disk there."""

    n_docs: int

    @property
    def weight(self) -> float:
        """How much work they are beside others."""
        return self.n_docs

    @abstractmethod
    def counts(self) -> csr_array:
        """Their counts (n_docs, n_terms), read if need be."""

    @abstractmethod
    def loaded(self) -> "Batch":
        """The same with counts that are in this process' memory, for whoever is here."""

    @abstractmethod
    def cut(self, first: int, last: int) -> "Batch":
        """Documents first to last."""

    def parts(self, size: int, number: int) -> list["BatchPart"]:
        """All documents in so many parts or fewer, from which pieces of ``size`` documents can be cut."""
        n_pieces = max(-(-self.n_docs // size), 1)
        number = min(number, n_pieces)
        edges = [min(n_pieces * i // number * size, self.n_docs) for i in range(number + 1)]
        return [BatchPart(self.cut(first, last), first, size) for first, last in pairwise(edges)]


class BatchPart(NamedTuple):
    """Some documents of a batch."""

    batch: Batch
    first: int  # of them, among those of the whole batch
    size: int  # of a piece

    @property
    def weight(self) -> float:
        """How much work they are."""
        return self.batch.weight


@dataclass(frozen=True, slots=True)
class CountedBatch(Batch):
    """Documents whose counts are in memory alone."""

    known: csr_array

    @classmethod
    def of(cls, documents: Batch | csr_array) -> Batch:
        """Counts as a batch; a batch as it is."""
        return documents if isinstance(documents, Batch) else cls(csr_array(documents))

    @property
    def n_docs(self) -> int:  # type: ignore[override]
        """Number of documents."""
        return int(self.known.shape[0])

    def counts(self) -> csr_array:
        """Their counts."""
        return self.known

    def loaded(self) -> Batch:
        """Itself."""
        return self

    def cut(self, first: int, last: int) -> Batch:
        """Documents first to last; all of them are these."""
        return self if (first, last) == (0, self.n_docs) else CountedBatch(self.known[first:last])


class Tokens(NamedTuple):
    """Whole counts of some documents; the tokens of a document lie together, those of one term side by side."""

    indptr: NDArray[np.int64]  # (n_docs + 1,) where a document's terms begin
    indices: NDArray[np.int32]  # (n_entries,) terms
    counts: NDArray[np.int32]  # (n_entries,) how often
    starts: NDArray[np.int64]  # (n_docs + 1,) where a document's tokens begin
    n_terms: int

    @classmethod
    def of(cls, counts: Any) -> "Tokens":
        """Whole counts (n_docs, n_terms) of a sparse matrix, each term once in a document."""
        rows = csr_array(counts)
        ends = np.concatenate([[0], np.cumsum(rows.data, dtype=np.int64)])
        indptr = rows.indptr.astype(np.int64)
        return cls(indptr, rows.indices.astype(np.int32), rows.data.astype(np.int32), ends[indptr], rows.shape[1])

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return len(self.indptr) - 1

    @property
    def size(self) -> int:
        """Number of tokens."""
        return int(self.starts[-1])

    def cut(self, first: int, last: int) -> "Tokens":
        """Documents first to last, sharing the entries; their tokens are counted from 0."""
        start, stop = self.indptr[first], self.indptr[last]
        return Tokens(
            self.indptr[first : last + 1] - start,
            self.indices[start:stop],
            self.counts[start:stop],
            self.starts[first : last + 1] - self.starts[first],
            self.n_terms,
        )
