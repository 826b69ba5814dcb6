"""Documents by their words: a few directions in which weighted counts of terms differ most (latent semantic indexing).

Topics say what a document is about; words tell documents of the same topics apart.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.models.counts import Rows

Floats = NDArray[np.float32]

DIMS = 64
LEARNED = 20_000  # documents, at random, that the directions are learned from
POWERS = 3  # times that the directions are sharpened
SPARE = 8  # dimensions that help to find them
LARGEST = 127  # of a stored number
TINY = np.float32(1e-12)


class WordSpace(NamedTuple):
    """Where words lie."""

    weights: Floats  # (n_terms,)
    axes: Floats  # (n_terms, n_dims)
    mean: Floats  # (n_dims,)


def learn(rows: Rows) -> WordSpace:
    """The directions of some documents; none if there are fewer than two with tokens.

    A term weighs 1 + ln((1 + n) / (1 + those of the n documents that have it)), as in scikit-learn.
    """
    chosen = np.arange(rows.n_docs)
    if rows.n_docs > LEARNED:
        chosen = np.sort(np.random.default_rng(0).choice(rows.n_docs, LEARNED, replace=False))
    counts = rows.take(chosen)
    counts = counts[np.flatnonzero(np.diff(counts.indptr))]
    n_docs, n_terms = counts.shape
    frequency = np.bincount(counts.indices, minlength=n_terms)
    weights = (1 + np.log((1 + n_docs) / (1 + frequency))).astype(np.float32)
    n_dims = min(DIMS, n_docs - 1, n_terms - 1)
    if n_dims < 1:
        return WordSpace(weights, np.zeros((n_terms, 0), np.float32), np.zeros(0, np.float32))
    weighted = _weighted(counts, weights)
    axes = directions(weighted, n_dims)
    return WordSpace(weights, axes, np.asarray(weighted @ axes).mean(axis=0))


def directions(rows: csr_array, n_dims: int) -> Floats:
    """The directions (n_columns, n_dims) in which rows are longest, the first one first.

    A random subspace, some dimensions too large, is turned towards them time and again. The right singular vectors of
    NumPy's ``svd(rows.toarray())``, but for their signs.
    """
    wide = min(n_dims + SPARE, *rows.shape)
    space = np.random.default_rng(0).standard_normal((rows.shape[1], wide)).astype(np.float32)
    columns = rows.T.tocsr()
    for _ in range(POWERS):
        space = np.linalg.qr(columns @ (rows @ space))[0].astype(np.float32)
    seen = np.asarray(rows @ space, np.float64)
    turned = np.linalg.eigh(seen.T @ seen)[1][:, ::-1][:, :n_dims]
    return np.ascontiguousarray(space @ turned.astype(np.float32))


def _weighted(counts: csr_array, weights: Floats) -> csr_array:
    """Documents of length 1: of each term 1 + ln(count), weighted."""
    values = (1 + np.log(counts.data)) * weights[counts.indices]
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    lengths = np.sqrt(np.bincount(rows, values**2, counts.shape[0]))
    values = (values / np.maximum(lengths, TINY)[rows]).astype(np.float32)
    return csr_array((values, counts.indices, counts.indptr), shape=counts.shape)


def places(counts: csr_array, space: WordSpace) -> NDArray[np.int8]:
    """Where documents lie, of any length: the largest number of each is 127; all are 0 for one without words."""
    found = np.asarray(_weighted(counts, space.weights) @ space.axes) - space.mean
    found[np.diff(counts.indptr) == 0] = 0
    largest = np.abs(found).max(axis=1, keepdims=True, initial=0)
    return np.asarray(np.rint(found / np.maximum(largest, TINY) * LARGEST), np.int8)
