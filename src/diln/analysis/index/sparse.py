"""Proportions of topics as few numbers: the shares that matter, by document and by topic."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diln.analysis.index.layout import WHOLE

LEAST = 0.002  # shares of a document that are kept
NONE = np.uint64(0xFFFF)
ROW_BITS, SHARE_BITS = np.uint64(32), np.uint64(16)


class Shares(NamedTuple):
    """Documents' shares in compressed rows, in parts of ``WHOLE``, and what is left out of them."""

    sizes: NDArray[np.int64]  # (n_docs,) shares of each
    topics: NDArray[np.uint16]
    shares: NDArray[np.uint16]
    rest: NDArray[np.float64]  # (n_topics,) sum over documents of the shares that are left out
    tokens: NDArray[np.float64]  # (n_topics,) sum over documents of all shares times the document's tokens


def sparse(proportions: NDArray[np.floating], tokens: NDArray[np.float64]) -> Shares:
    """The shares of at least ``LEAST``, in parts of ``WHOLE``; none of documents without tokens."""
    theta = np.where(tokens[:, np.newaxis] > 0, proportions, 0.0)
    kept = theta >= LEAST
    rows, topics = np.nonzero(kept)
    parts = np.rint(theta[rows, topics] * WHOLE).astype(np.uint16)
    rest = np.where(kept, 0.0, theta).sum(axis=0)
    totals = np.einsum("m,mk->k", tokens, theta)  # a matrix product's last digits would depend on the threads it has
    return Shares(np.bincount(rows, minlength=len(theta)), topics.astype(np.uint16), parts, rest, totals)


def by_topic(
    offsets: NDArray[np.int64], topics: NDArray[np.uint16], shares: NDArray[np.uint16], n_topics: int
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint16]]:
    """Where each topic's documents begin, the documents, the largest share first and then in order, and the shares."""
    keys = np.repeat(np.arange(len(offsets) - 1, dtype=np.uint64), np.diff(offsets))
    keys |= (NONE - shares) << ROW_BITS
    keys |= topics.astype(np.uint64) << (ROW_BITS + SHARE_BITS)
    keys.sort()
    ends = np.cumsum(np.bincount(topics, minlength=n_topics))
    rows = keys.astype(np.uint32)
    keys >>= ROW_BITS
    return np.concatenate([[0], ends]).astype(np.int64), rows, (NONE - (keys & NONE)).astype(np.uint16)
