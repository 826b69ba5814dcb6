"""What a model keeps from one update to the next: terms that may come in, and documents that it explains badly."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from diln.corpus.candidates import Candidates

POOLED = 500  # documents that the model explains badly, the latest ones, that are kept
POOLED_ENTRIES = 100_000  # and their entries
LONGEST_POOLED = 2_000  # entries of one of them
PREFIX = "stream."


@dataclass(slots=True)
class Stream:
    """How far a stream has come."""

    first_terms: int  # of the model before the first update
    first_topics: int
    pool: csr_array  # documents (n_docs, n_terms) of late that the model explained badly
    documents: int = 0  # that updates have brought
    day: float | None = None  # of the latest batch, in days since 1970, where documents have dates
    score: float = 0.0  # mean of the documents' scores, late ones more
    variance: float = 0.0  # of them
    scored: int = 0  # documents that these are of
    candidates: Candidates = field(default_factory=Candidates)
    born: list[dict[str, Any]] = field(default_factory=list)  # topics that came in, with the documents seen before

    @classmethod
    def begun(cls, n_terms: int, n_topics: int) -> "Stream":
        """Before the first update of a model."""
        return cls(n_terms, n_topics, no_documents(n_terms))

    def grow_terms(self, n_terms: int) -> None:
        """Have so many terms."""
        self.pool = wide(self.pool, n_terms)

    def pooled(self, counts: csr_array) -> None:
        """Keep these documents, too, and let go of the earliest."""
        short = counts[np.flatnonzero(np.diff(counts.indptr) <= LONGEST_POOLED)]
        pool = csr_array(vstack([self.pool, short], format="csr"))[-POOLED:]
        fits = pool.nnz - pool.indptr[:-1] <= POOLED_ENTRIES
        self.pool = csr_array(pool[np.flatnonzero(fits)])

    def numbers(self) -> dict[str, Any]:
        """All but the arrays, as JSON."""
        return {
            "first_terms": self.first_terms, "first_topics": self.first_topics, "documents": self.documents,
            "day": self.day, "score": self.score, "variance": self.variance, "scored": self.scored,
            "seen": self.candidates.seen, "missed": self.candidates.missed,
            "candidates": sorted(self.candidates.counts), "born": self.born,
        }  # fmt: skip

    def tensors(self) -> dict[str, NDArray[Any]]:
        """The arrays by name."""
        counts = [self.candidates.counts[term] for term in sorted(self.candidates.counts)]
        return {
            PREFIX + "counts": np.array(counts, np.float64),
            PREFIX + "offsets": self.pool.indptr.astype(np.int64),
            PREFIX + "terms": self.pool.indices.astype(np.int64),
            PREFIX + "tokens": self.pool.data.astype(np.float32),
        }

    @classmethod
    def restored(cls, numbers: dict[str, Any], tensors: Mapping[str, NDArray[Any]], n_terms: int) -> "Stream":
        """Take back what ``numbers`` and ``tensors`` gave."""
        numbers = dict(numbers)
        terms, seen, missed = (numbers.pop(name) for name in ("candidates", "seen", "missed"))
        counts = dict(zip(terms, tensors[PREFIX + "counts"].tolist(), strict=True))
        data, indices, offsets = (tensors[PREFIX + name] for name in ("tokens", "terms", "offsets"))
        pool = csr_array((data, indices.astype(np.int32), offsets), shape=(len(offsets) - 1, n_terms))
        return cls(pool=pool, candidates=Candidates(counts, seen, missed), **numbers)


def no_documents(n_terms: int) -> csr_array:
    """Counts of no document."""
    return csr_array(np.zeros((0, n_terms), np.float32))


def wide(counts: csr_array, n_terms: int) -> csr_array:
    """The same counts over more terms."""
    return csr_array((counts.data, counts.indices, counts.indptr), shape=(counts.shape[0], n_terms))
