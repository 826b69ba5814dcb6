"""The loop over all documents: how like a document each of them is."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diln.analysis.index.layout import WHOLE
from diln.engine.compile import kernel

Floats = NDArray[np.float32]


class Scanned(NamedTuple):
    """Documents, and the weights by which lengths are taken out of them."""

    offsets: NDArray[np.int64]  # (n_docs + 1,)
    topics: NDArray[np.uint16]  # (n_entries,)
    shares: NDArray[np.uint16]  # (n_entries,)
    locations: Floats  # (n_docs, n_dims)
    words: NDArray[np.int8]  # (n_docs, n_word_dims)
    scales: Floats  # (n_docs, 3) of topics, locations and words: over their lengths; 0 for an empty document


class Asked(NamedTuple):
    """A document to be compared with others; of each kind of length 1 times its part in the result."""

    topics: Floats  # (n_topics,), for roots of shares as they are stored
    shift: np.float32  # what documents of mean topics have
    location: Floats  # (n_dims,)
    words: Floats  # (n_word_dims,)


@kernel
def scan(first: int, last: int, documents: Any, asked: Any, found: Any) -> None:
    """Set ``found`` (last - first,) to how like the one asked for each document from ``first`` on is.

    NumPy: ``scales[:, 0] * (sqrt(shares) @ asked.topics - asked.shift) + scales[:, 1] * (locations @ asked.location) +
    scales[:, 2] * (words @ asked.words)``.
    """
    offsets, topics, shares = documents.offsets, documents.topics, documents.shares
    for m in range(first, last):
        by_topic = np.float32(0)
        for entry in range(offsets[m], offsets[m + 1]):
            by_topic += asked.topics[topics[entry]] * np.sqrt(np.float32(shares[entry]))
        by_place = np.float32(0)
        for d in range(asked.location.size):
            by_place += asked.location[d] * documents.locations[m, d]
        by_word = np.float32(0)
        for d in range(asked.words.size):
            by_word += asked.words[d] * np.float32(documents.words[m, d])
        found[m - first] = (
            documents.scales[m, 0] * (by_topic - asked.shift)
            + documents.scales[m, 1] * by_place
            + documents.scales[m, 2] * by_word
        )


@kernel
def lengths(documents: Any, mean: Any, square: float, found: Any) -> None:
    """Set ``found`` (n_docs, 3) to squared lengths: of roots of shares less their mean, of locations, and of words.

    NumPy: ``((sqrt(shares / WHOLE) - mean) ** 2).sum(1)``, ``(locations ** 2).sum(1)``, ``(words ** 2).sum(1)``;
    ``square`` is ``(mean ** 2).sum()``.
    """
    offsets, topics, shares = documents.offsets, documents.topics, documents.shares
    for m in range(len(offsets) - 1):
        by_topic = np.float32(0)
        for entry in range(offsets[m], offsets[m + 1]):
            root = np.sqrt(np.float32(shares[entry]) / np.float32(WHOLE))
            by_topic += root * (root - 2 * mean[topics[entry]])
        by_place = np.float32(0)
        for d in range(documents.locations.shape[1]):
            by_place += documents.locations[m, d] * documents.locations[m, d]
        by_word = np.float32(0)
        for d in range(documents.words.shape[1]):
            word = np.float32(documents.words[m, d])
            by_word += word * word
        found[m, 0] = by_topic + square
        found[m, 1] = by_place
        found[m, 2] = by_word
