"""Shares over time with the mix of labels held constant: direct standardisation."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.analysis.ratios import TINY, Sums, even_band, members, sums_of

Floats = NDArray[np.float64]
ROUNDING = 1e-9  # of a sum of weights
AT_ONCE = 2_000_000  # sums that are in memory at a time, or about so many


class Standardised(NamedTuple):
    """Shares with the mix of labels held constant."""

    share: Floats  # (n_periods, n_columns)
    low: Floats
    high: Floats
    n_docs: NDArray[np.int64]  # (n_periods,) documents with a label
    worth: Floats  # (n_periods,) documents that would tell as much if all counted alike
    covered: Floats  # (n_periods,) share of all words that is of labels that the period has


def standardised(tokens: csr_array, x: Floats, left_out: Floats, strata: csr_array, of_doc: NDArray[np.int64],
                 n_periods: int, least: float) -> Standardised:  # fmt: skip
    """Return shares as they would be if every period had the mix of labels of the whole.

    In each period a topic's share is taken within each label, and the mean over labels is weighted by the label's share
    of all words. Where a period lacks a label, the others' weights are raised to sum to 1; ``covered`` says by how
    much, and where it is below ``least`` there is no share. Where the mix is the same in all periods, this is the plain
    share.

    ``strata`` (n_labels, n_docs) has what of a document is of a label: 1, or less if it has several.
    """
    labelled = np.asarray(strata.sum(axis=0)) > 0
    x = np.where(labelled & (of_doc >= 0), x, 0.0)
    known = csr_array(tokens * (x > 0)[:, np.newaxis])
    every = sums_of(known, x, members(np.zeros(len(x), np.int64), 1)).raised(left_out)
    label, docs, part = np.repeat(np.arange(strata.shape[0]), np.diff(strata.indptr)), strata.indices, strata.data
    words = np.bincount(label, x[docs] * part, strata.shape[0]) / max(float(x.sum()), TINY)
    cell = label * n_periods + of_doc[docs]  # a label in a period
    cells = np.unique(cell[x[docs] > 0])
    covered = np.bincount(cells % n_periods, words[cells // n_periods], n_periods)
    parts = _Parts(n_periods, tokens.shape[1])
    whole = covered >= least
    some = np.flatnonzero((x[docs] > 0) & whole[of_doc[docs]])
    for at in _chunks(label[some], cell[some], AT_ONCE // max(1, tokens.shape[1])):
        rows = some[at]
        own, place = np.unique(cell[rows], return_inverse=True)
        labels, of_label = np.unique(label[rows], return_inverse=True)
        y, size = csr_array(known[docs[rows]] * part[rows][:, np.newaxis]), x[docs[rows]] * part[rows]
        sums, single = (
            sums_of(y, size, members(groups, n)).raised(left_out)
            for groups, n in ((place, len(own)), (of_label, len(labels)))
        )
        parts.add(
            sums,
            own % n_periods,
            words[own // n_periods],
            _single(single, every)[np.searchsorted(labels, own // n_periods)],
        )
    return parts.done(
        every, np.where(covered > 1 - ROUNDING, 1.0, covered), members(of_doc, n_periods) @ (x > 0).astype(float)
    )


def _chunks(label: NDArray[np.int64], cell: NDArray[np.int64], most: int) -> Iterator[slice]:
    """Slices of what is sorted by label, which have whole labels, and not many more cells than this."""
    if not len(label):
        return
    firsts = np.flatnonzero(np.diff(label, prepend=-1))
    sizes = np.array([len(np.unique(one)) for one in np.split(cell, firsts[1:])])
    of_chunk = (np.cumsum(sizes) - 1) // max(most, 1)
    starts = firsts[np.flatnonzero(np.diff(of_chunk, prepend=-1))]
    for first, last in pairwise([*starts.tolist(), len(label)]):
        yield slice(first, last)


class _Parts:
    """Sums over labels of what a mean over them, its error and its degrees of freedom are made of."""

    def __init__(self, n_periods: int, n_columns: int) -> None:
        self.share, self.squares, self.fourths = (np.zeros((n_periods, n_columns)) for _ in range(3))
        self.covered, self.spent = np.zeros(n_periods), np.zeros(n_periods)

    def add(self, sums: Sums, period: NDArray[np.int64], weight: Floats, single: Floats) -> None:
        """Count some more labels in periods, each with its weight and the error of one document of it."""
        found = sums.ratios()
        error = np.where(np.isfinite(found.error), found.error, single)
        squares = (weight[:, np.newaxis] * error) ** 2
        degrees = np.maximum(sums.x**2 / np.maximum(sums.xx, TINY) - 1, 1)
        np.add.at(self.share, period, weight[:, np.newaxis] * found.share)
        np.add.at(self.squares, period, squares)
        np.add.at(self.fourths, period, squares**2 / degrees[:, np.newaxis])
        np.add.at(self.covered, period, weight)
        np.add.at(self.spent, period, weight**2 / sums.n_docs)

    def done(self, every: Sums, covered: Floats, n_docs: Floats) -> Standardised:
        """The means, with bands."""
        with np.errstate(divide="ignore", invalid="ignore"):
            whole = np.where(self.covered > 0, self.covered, np.nan)[:, np.newaxis]
            share, error = self.share / whole, np.sqrt(self.squares) / whole
            degrees = np.maximum(np.nan_to_num(self.squares**2 / self.fourths, nan=1.0), 1)
            worth = np.where(self.covered > 0, self.covered**2 / self.spent, 0.0)
        overall = every.y / np.maximum(every.x, TINY)[:, np.newaxis]
        low, high = even_band(share, error, worth[:, np.newaxis], overall, degrees)
        return Standardised(share, low, high, np.rint(n_docs).astype(np.int64), worth, covered)


def _single(labels: Sums, every: Sums) -> Floats:
    """Error of a share of one document (n_labels, n_columns): as much as documents of its label differ, or else all."""
    errors = [
        sums.ratios().error * (sums.x / np.sqrt(np.maximum(sums.xx, TINY)))[:, np.newaxis] for sums in (labels, every)
    ]
    return np.nan_to_num(np.where(np.isfinite(errors[0]), *errors))
