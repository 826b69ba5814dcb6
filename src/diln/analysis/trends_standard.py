"""Shares over time with the mix of labels held constant: direct standardisation."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.analysis.ratios import TINY, Sums, even_band, members, sums_of

Floats = NDArray[np.float64]
ROUNDING = 1e-9  # of a sum of weights


class Standardised(NamedTuple):
    """Shares with the mix of labels held constant."""

    share: Floats  # (n_periods, n_columns)
    low: Floats
    high: Floats
    n_docs: NDArray[np.int64]  # (n_periods,) documents with a label
    worth: Floats  # (n_periods,) documents that would tell as much if all counted alike
    covered: Floats  # (n_periods,) share of all words that is of labels that the period has


def standardised(tokens: csr_array, x: Floats, left_out: Floats, strata: csr_array, of_doc: NDArray[np.int64],
                 n_periods: int) -> Standardised:  # fmt: skip
    """Return shares as they would be if every period had the mix of labels of the whole.

    In each period a topic's share is taken within each label, and the mean over labels is weighted by the label's share
    of all words. Where a period lacks a label, the others' weights are raised to sum to 1; ``covered`` says by how
    much. Where the mix is the same in all periods, this is the plain share.

    ``strata`` (n_labels, n_docs) has what of a document is of a label: 1, or less if it has several.
    """
    labelled = np.asarray(strata.sum(axis=0)) > 0
    x = np.where(labelled & (of_doc >= 0), x, 0.0)
    total = max(float(x.sum()), TINY)
    every = sums_of(csr_array(tokens * (x > 0)[:, np.newaxis]), x, _one_group(len(x))).raised(left_out)
    whole = _Parts(n_periods, tokens.shape[1])
    for label in range(strata.shape[0]):
        rows, part = strata[[label]].indices, strata[[label]].data
        own = np.asarray(x[rows] * part)
        if not own.any():
            continue
        y = csr_array(tokens[rows] * (part * (own > 0))[:, np.newaxis])
        sums = sums_of(y, own, members(of_doc[rows], n_periods)).raised(left_out)
        whole.add(sums, float(own.sum()) / total, _single_error(sums, every))
    return whole.done(every, members(of_doc, n_periods) @ (x > 0).astype(float))


class _Parts:
    """Sums over labels of what a mean over them, its error and its degrees of freedom are made of."""

    def __init__(self, n_periods: int, n_columns: int) -> None:
        self.share, self.squares, self.fourths = (np.zeros((n_periods, n_columns)) for _ in range(3))
        self.covered, self.spent = np.zeros(n_periods), np.zeros(n_periods)

    def add(self, sums: Sums, weight: float, single: Floats) -> None:
        """Count the documents of one more label."""
        found, there = sums.ratios(), sums.x > 0
        error = np.where(np.isfinite(found.error), found.error, single)
        squares = (weight * error[there]) ** 2
        degrees = np.maximum(sums.x**2 / np.maximum(sums.xx, TINY) - 1, 1)[there, np.newaxis]
        self.share[there] += weight * found.share[there]
        self.squares[there] += squares
        self.fourths[there] += squares**2 / degrees
        self.covered[there] += weight
        self.spent[there] += weight**2 / sums.n_docs[there]

    def done(self, every: Sums, n_docs: Floats) -> Standardised:
        """The means, with bands."""
        with np.errstate(divide="ignore", invalid="ignore"):
            covered = np.where(self.covered > 0, self.covered, np.nan)[:, np.newaxis]
            share, error = self.share / covered, np.sqrt(self.squares) / covered
            degrees = np.maximum(np.nan_to_num(self.squares**2 / self.fourths, nan=1.0), 1)
            worth = np.where(self.covered > 0, self.covered**2 / self.spent, 0.0)
        covered_all = np.where(self.covered > 1 - ROUNDING, 1.0, self.covered)
        overall = every.y / np.maximum(every.x, TINY)[:, np.newaxis]
        low, high = even_band(share, error, worth[:, np.newaxis], overall, degrees)
        return Standardised(share, low, high, np.rint(n_docs).astype(np.int64), worth, covered_all)


def _single_error(sums: Sums, every: Sums) -> Floats:
    """Error of a share of one document (n_columns,): as much as documents of its label differ, or else all do."""
    for known in (sums.all(), every):
        found = known.ratios().error[0] * known.x[0] / np.sqrt(known.xx[0])
        if np.isfinite(found).all():
            return np.asarray(found)
    return np.zeros(every.y.shape[1])


def _one_group(n_docs: int) -> csr_array:
    return members(np.zeros(n_docs, np.int64), 1)
