"""Documents as the compiled loops take them: counts in rows, and the same by term."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

Array = NDArray[Any]


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
        start, stop = self.indptr[first], self.indptr[last]
        return TermCounts(
            self.indptr[first : last + 1] - start, self.indices[start:stop], self.counts[start:stop], self.n_terms
        )

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
