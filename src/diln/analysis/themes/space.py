"""The space in which topics and documents are grouped: near each other is what goes together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from diln.analysis.themes.hierarchy import Items
from diln.analysis.themes.shown import Shown
from diln.models.fitted import Fitted

Floats = NDArray[np.floating]

SAMPLED = 10_000  # documents that are grouped, at most; the others go where these are
TINY = np.float32(1e-30)


class Documents(Protocol):
    """What is known of the documents that a model was fitted to; an Index is one.

    It may also have ``word_places`` (n_docs, d): where documents lie by their words.
    """

    @property
    def n_docs(self) -> int:
        """Number of documents."""

    @property
    def locations(self) -> NDArray[Any] | None:
        """Their locations (n_docs, d), of a model that has them."""

    def proportions(self, rows: Any) -> NDArray[Any]:
        """Their proportions of the model's topics (len(rows), n_topics); 0 of a document without a known token."""


@dataclass(frozen=True, slots=True)
class Space:
    """Documents as points: directions of the roots of their shares, of their locations and of their words, in a row."""

    mean: Floats  # (n_topics,) of the roots of shares

    def points(self, shares: Floats, others: Sequence[NDArray[Any]] = ()) -> Floats:
        """Points (n_docs, d) of documents with these shares of the shown topics (n_docs, n_topics)."""
        roots = np.sqrt(shares) - self.mean.astype(shares.dtype)
        parts = [unit(np.asarray(part, shares.dtype)) for part in (*others, roots)]
        return np.asarray(np.hstack(parts) * shares.dtype.type(len(parts) ** -0.5))


def beside_shares(documents: Documents, rows: NDArray[np.int64]) -> list[NDArray[Any]]:
    """What else tells where documents are: their locations, and their places by words, where there are some."""
    known = (documents.locations, getattr(documents, "word_places", None))
    return [np.asarray(part[rows]) for part in known if part is not None and part.shape[1]]


def unit(vectors: Floats) -> Floats:
    """Vectors of length 1; 0 stays 0."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), TINY))


def of_documents(documents: Documents, shown: Shown) -> tuple[Space, Items] | None:
    """Some documents, evenly spread over all of them, as what is to be grouped; None if they have no shown topic."""
    rows = np.unique(np.linspace(0, documents.n_docs - 1, min(documents.n_docs, SAMPLED)).astype(np.int64))
    shares = shown.folded(documents.proportions(rows))
    known = shares.sum(axis=1) > 0
    if not known.any():
        return None
    shares = scaled(np.asarray(shares[known], np.float64))
    space = Space(np.sqrt(shares).mean(axis=0))
    points = space.points(shares, beside_shares(documents, rows[known]))
    found = np.maximum(shares.sum(axis=0), TINY)
    return space, Items(points, shares, shares.T @ points / found[:, np.newaxis])


def scaled(shares: Floats) -> Floats:
    """Shares that sum to 1; 0 stays 0."""
    return np.asarray(shares / np.maximum(shares.sum(axis=1, keepdims=True), TINY))


def of_topics(fitted: Fitted, shown: Shown) -> Items:
    """Topics themselves as what is to be grouped, where documents are not known.

    Where they are is told by their locations, else by the correlations of their log weights, else by their words.
    """
    covariance = fitted.covariance
    if fitted.locations is not None and np.abs(fitted.locations).max() > TINY:
        points: Floats = shown.mean(fitted.locations)
    elif covariance is not None and np.abs(covariance).max() > TINY:
        points = _factor(_correlation(shown.mean(shown.mean(covariance).T)))
    else:
        roots = np.sqrt(shown.mean(fitted.topic_word))
        points = _factor(roots @ roots.T)
    return Items(points, np.diag(shown.shares), points)


def _correlation(covariance: Floats) -> Floats:
    deviations = np.sqrt(np.maximum(np.diag(covariance), TINY))
    return np.asarray(covariance / deviations / deviations[:, np.newaxis])


def _factor(products: Floats) -> Floats:
    """Points whose inner products these are."""
    values, vectors = np.linalg.eigh((products + products.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0)))
