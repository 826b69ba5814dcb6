"""Which documents a model was trained on: a sketch of bounded size, in which others are looked up."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.engine.threads import cut
from diln.models.counts import PART

Hashes = NDArray[np.uint64]

TRAINED = "trained"  # the name of the tensor
KEPT = 16_384  # hashes, the smallest ones: of so many different documents the sketch knows all
GOLDEN, FIRST, SECOND = (np.uint64(one) for one in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
PIECE = 2048  # documents that are hashed at once: few enough for the processor's cache
TERM_BITS = np.uint64(32)


@dataclass(frozen=True, slots=True)
class TrainingSketch:
    """Hashes of documents: the smallest of the different ones, in ascending order.

    Hashes are spread evenly, so that those below the largest that is kept are a random part of all documents, the same
    part of any documents: of those looked up, too.
    """

    hashes: Hashes

    @classmethod
    def of(cls, *parts: csr_array) -> "TrainingSketch":
        """The sketch of documents, given their counts (n_docs, n_terms)."""
        return reduce(cls.with_documents, parts, cls(np.zeros(0, np.uint64)))

    def with_documents(self, counts: csr_array) -> "TrainingSketch":
        """The sketch of these documents, too; in whatever order they come, it is the same."""
        found = self.hashes
        for first, last in cut(counts.shape[0], PART):
            fresh = document_hashes(counts, first, last)
            if len(found) == KEPT:
                fresh = fresh[fresh < found[-1]]
            both = np.sort(np.concatenate([found, fresh]))
            found = both[np.append(both[:-1] != both[1:], np.ones(min(len(both), 1), bool))][:KEPT]
        return TrainingSketch(found)

    @property
    def complete(self) -> bool:
        """Whether all documents are in it."""
        return len(self.hashes) < KEPT

    def looked_up(self, counts: csr_array) -> tuple[int, int]:
        """How many of these documents can be compared with those of the sketch, and how many of them are among them."""
        hashes = document_hashes(counts, 0, counts.shape[0])
        if not self.complete:
            hashes = hashes[hashes <= self.hashes[-1]]
        return len(hashes), int(np.isin(hashes, self.hashes).sum())

    def tensors(self) -> dict[str, NDArray[Any]]:
        """The hashes, as they are stored."""
        return {TRAINED: self.hashes.view(np.int64)}

    @classmethod
    def restored(cls, tensors: Mapping[str, NDArray[Any]]) -> "TrainingSketch | None":
        """Take back what ``tensors`` gave, where it is there."""
        return cls(tensors[TRAINED].view(np.uint64)) if TRAINED in tensors else None


def document_hashes(counts: csr_array, first: int, last: int) -> Hashes:
    """A hash of each document from ``first`` to before ``last``, but for those without tokens.

    It is the sum, modulo 2^64, over the document's terms of a hash of the term's number and count.
    """
    pieces = (_hashes(counts, first + begin, first + end) for begin, end in cut(last - first, PIECE))
    return np.concatenate([np.zeros(0, np.uint64), *pieces])


def _hashes(counts: csr_array, first: int, last: int) -> Hashes:
    begin, end = int(counts.indptr[first]), int(counts.indptr[last])
    bits = np.ascontiguousarray(counts.data[begin:end], np.float32).view(np.uint32)
    pairs = (counts.indices[begin:end].astype(np.uint64) << TERM_BITS) | bits
    sums = np.zeros(end - begin + 1, np.uint64)
    np.cumsum(_mixed(pairs), out=sums[1:])
    ends = counts.indptr[first : last + 1] - begin
    return np.diff(sums[ends])[np.diff(ends) > 0]


def _mixed(values: Hashes) -> Hashes:
    """Each value as a number that looks random: splitmix64's, modulo 2^64."""
    values += GOLDEN
    values ^= values >> np.uint64(30)
    values *= FIRST
    values ^= values >> np.uint64(27)
    values *= SECOND
    values ^= values >> np.uint64(31)
    return values
