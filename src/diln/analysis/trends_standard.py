"""Shares over time with the mix of labels held constant: direct standardisation."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.analysis.ratios import TINY, Sums, even_band, members, sums_of

Floats = NDArray[np.float64]
ROUNDING = 1e-9  # of a sum of weights
AT_ONCE = 2_000_000  # sums that are in memory at a time


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
    known = csr_array(tokens * (x > 0)[:, np.newaxis])
    every = sums_of(known, x, members(np.zeros(len(x), np.int64), 1)).raised(left_out)
    total = max(float(x.sum()), TINY)
    parts = _Parts(n_periods, tokens.shape[1])
    step = max(1, AT_ONCE // max(1, n_periods * tokens.shape[1]))
    for first in range(0, strata.shape[0], step):
        some = strata[first : first + step]
        docs, part = some.indices, some.data
        of_label = np.repeat(np.arange(some.shape[0]), np.diff(some.indptr))
        cell = np.where(of_doc[docs] >= 0, of_label * n_periods + of_doc[docs], -1)
        y = csr_array(known[docs] * part[:, np.newaxis])
        parts.add(sums_of(y, x[docs] * part, members(cell, some.shape[0] * n_periods)).raised(left_out), every, total)
    return parts.done(every, members(of_doc, n_periods) @ (x > 0).astype(float))


class _Parts:
    """Sums over labels of what a mean over them, its error and its degrees of freedom are made of."""

    def __init__(self, n_periods: int, n_columns: int) -> None:
        self.share, self.squares, self.fourths = (np.zeros((n_periods, n_columns)) for _ in range(3))
        self.covered, self.spent = np.zeros(n_periods), np.zeros(n_periods)

    def add(self, sums: Sums, every: Sums, total: float) -> None:
        """Count the documents of some more labels, each in all periods (n_labels * n_periods, ...)."""
        cells = np.flatnonzero(sums.x > 0)
        label, period = np.divmod(cells, len(self.covered))
        found, of_label = sums.ratios(), sums.merged(len(self.covered))
        weight = of_label.x[label] / total
        single = np.where(np.isfinite(_single_error(of_label)), _single_error(of_label), _single_error(every))
        error = np.where(np.isfinite(found.error[cells]), found.error[cells], np.nan_to_num(single)[label])
        squares = (weight[:, np.newaxis] * error) ** 2
        degrees = np.maximum(sums.x[cells] ** 2 / np.maximum(sums.xx[cells], TINY) - 1, 1)
        np.add.at(self.share, period, weight[:, np.newaxis] * found.share[cells])
        np.add.at(self.squares, period, squares)
        np.add.at(self.fourths, period, squares**2 / degrees[:, np.newaxis])
        np.add.at(self.covered, period, weight)
        np.add.at(self.spent, period, weight**2 / sums.n_docs[cells])

    def done(self, every: Sums, n_docs: Floats) -> Standardised:
        """The means, with bands."""
        covered = np.where(self.covered > 1 - ROUNDING, 1.0, self.covered)
        with np.errstate(divide="ignore", invalid="ignore"):
            whole = np.where(self.covered > 0, self.covered, np.nan)[:, np.newaxis]
            share, error = self.share / whole, np.sqrt(self.squares) / whole
            degrees = np.maximum(np.nan_to_num(self.squares**2 / self.fourths, nan=1.0), 1)
            worth = np.where(self.covered > 0, self.covered**2 / self.spent, 0.0)
        overall = every.y / np.maximum(every.x, TINY)[:, np.newaxis]
        low, high = even_band(share, error, worth[:, np.newaxis], overall, degrees)
        return Standardised(share, low, high, np.rint(n_docs).astype(np.int64), worth, covered)


def _single_error(sums: Sums) -> Floats:
    """Error of a share of one document (n_groups, n_columns): as much as documents of its group differ."""
    return np.asarray(sums.ratios().error * (sums.x / np.sqrt(np.maximum(sums.xx, TINY)))[:, np.newaxis])
