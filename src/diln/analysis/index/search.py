"""Which documents are most like one: exact, by a scan of all of them.

The similarity is a weighted mean of three cosines: of the roots of topics' shares less their mean over documents, of
locations, and of words. A part in which documents do not differ is left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diln.analysis.index.layout import WHOLE
from diln.analysis.index.scan import Asked, Scanned, lengths, scan
from diln.analysis.index.sparse import LEAST
from diln.engine.threads import cut

Floats = NDArray[np.float32]

TOPICS, PLACE, WORDS = 1 / 1.35, 0.35 / 1.35, 1.5  # parts of the result, before they are made to add up to 1
BLOCK = 1 << 18  # documents that are scanned at once
SHORT = 1e-6  # a length that is taken for none


@dataclass(frozen=True, slots=True)
class Query:
    """A document that others are compared with.

    Attributes
    ----------
    proportions : (n_topics,)
        Its topics.
    location : (n_dims,)
        Its location; of no dimension for a model without.
    words : (n_word_dims,)
        Where its words lie.
    row : int or None
        Which document of the index it is, if it is one: that is not among those found.
    """

    proportions: Floats
    location: Floats
    words: Floats
    row: int | None = None


class Searcher:
    """Documents made ready for being searched."""

    def __init__(self, documents: Scanned, n_topics: int, known: NDArray[np.bool_]) -> None:
        self.empty, self.n_docs = np.flatnonzero(~known), len(known)
        self.mean = _mean_roots(documents, n_topics, int(known.sum()))
        self.square = np.float32(self.mean @ self.mean)
        squares = np.zeros((self.n_docs, 3), np.float32)
        lengths(documents, self.mean, self.square, squares)
        long = np.sqrt(np.maximum(squares, 0))
        long[~known] = 0
        scales = np.where(long > SHORT, 1 / np.maximum(long, np.float32(SHORT)), np.float32(0)).astype(np.float32)
        self.documents = documents._replace(scales=scales)
        parts = np.array([TOPICS, PLACE, WORDS]) * (long > SHORT).any(axis=0)
        self.parts = (parts / max(parts.sum(), SHORT)).astype(np.float32)

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]], n_topics: int) -> "Searcher":
        """The documents of an index."""
        tokens, none = arrays["tokens"], np.zeros((0, 0), np.float32)
        locations = arrays.get("locations", np.zeros((len(tokens), 0), np.float32))
        rows = (arrays["offsets"], arrays["topics"], arrays["shares"])
        return cls(Scanned(*rows, locations, arrays["words"], none), n_topics, tokens > 0)

    def similar(self, query: Query, n: int, block: int = BLOCK) -> tuple[NDArray[np.int64], Floats]:
        """The documents most like the query, the first ``n``, and how like: 1 for the same."""
        scores = self.scores(query, block)
        scores[self.empty] = -np.inf
        if query.row is not None:
            scores[query.row] = -np.inf
        rows = best(scores, n)
        return rows, np.minimum(scores[rows], np.float32(1))

    def scores(self, query: Query, block: int = BLOCK) -> Floats:
        """How like the query each document is (n_docs,)."""
        asked, found = self._asked(query), np.empty(self.n_docs, np.float32)
        for first, last in cut(self.n_docs, block):
            scan(first, last, self.documents, asked, found[first:last])
        return found

    def _asked(self, query: Query) -> Asked:
        roots = np.where(query.proportions >= LEAST, np.sqrt(query.proportions), 0).astype(np.float32) - self.mean
        topics = _scaled(roots, self.parts[0])
        shift = np.float32(topics @ self.mean)
        topics /= np.float32(np.sqrt(WHOLE))
        return Asked(topics, shift, _scaled(query.location, self.parts[1]), _scaled(query.words, self.parts[2]))


def _scaled(vector: Floats, part: np.float32) -> Floats:
    length = float(np.linalg.norm(vector))
    return (vector * (part / length if length > SHORT else 0)).astype(np.float32)


def _mean_roots(documents: Scanned, n_topics: int, n_docs: int) -> Floats:
    """Mean over documents with tokens of the roots of topics' shares."""
    total = np.zeros(n_topics)
    for first, last in cut(len(documents.topics), 1 << 22):
        roots = np.sqrt(documents.shares[first:last] / WHOLE)
        total += np.bincount(documents.topics[first:last], roots, n_topics)
    return (total / max(n_docs, 1)).astype(np.float32)


def best(scores: Floats, n: int) -> NDArray[np.int64]:
    """Where the ``n`` largest are, the largest first and equal ones in order; -inf is none."""
    n = min(n, int((scores > -np.inf).sum()))
    if not n:
        return np.zeros(0, np.int64)
    least = np.partition(scores, len(scores) - n)[len(scores) - n]
    above, equal = np.flatnonzero(scores > least), np.flatnonzero(scores == least)
    rows = np.concatenate([above, equal[: n - len(above)]])
    return np.asarray(rows[np.lexsort((rows, -scores[rows]))], np.int64)
