"""Whether the mix of labels changes over time: if it does, a trend may be one of sources and not of what they say."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import gammaincc

from diln.analysis.html import percent
from diln.analysis.records import Record

Floats = NDArray[np.float64]
CHANCE = 0.05  # of a warning where labels have nothing to do with time
CELLS = 4_000_000  # of labels and periods that are counted
NOTABLE = 0.1  # share of a period's documents that have another label than in all, beyond what chance gives


@dataclass(frozen=True, slots=True)
class Mix(Record):
    """The period whose mix of labels differs most from that of all documents.

    Attributes
    ----------
    period : str
        The period.
    n_docs : int
        Documents with a label in it.
    distance : float
        Total variation distance between its mix of labels and that of all documents: the share of its documents that
        would need another label for the two to be the same.
    by_chance : float
        The distance that a period of as many documents has on average if labels have nothing to do with time.
    label : str
        The label whose share differs most.
    share, share_of_all : float
        Share of this label in the period's documents, and in all.
    """

    period: str
    n_docs: int
    distance: float
    by_chance: float
    label: str
    share: float
    share_of_all: float

    @property
    def sentence(self) -> str:
        """The warning in words."""
        return (
            f"The mix of labels changes over time, so a trend may be one of sources: in {self.period}, "
            f"{percent(self.share)} of {self.n_docs:,} documents are of {self.label}, "
            f"{percent(self.share_of_all)} of all."
        )

    def to_json(self) -> dict[str, Any]:
        """The fields and the warning as plain JSON values."""
        return {**super(Mix, self).to_json(), "sentence": self.sentence}


def mix_of(labels: tuple[str, ...], counts: Floats, shown: NDArray[np.bool_], periods: tuple[str, ...]) -> Mix | None:
    """Return where the mix of labels differs most from that of all documents, if it does so notably; else None.

    A period is told if its distance is at least 0.1 beyond what chance gives at its number of documents, and if chance
    gives a difference as large (Pearson's chi-squared statistic against the mix of all documents) in less than one in
    20 corpora, with all periods in view.

    Parameters
    ----------
    labels : tuple of str
        The labels.
    counts : array (n_labels, n_periods)
        Documents of each label in each period.
    shown : array (n_periods,)
        Which periods have enough documents.
    periods : tuple of str
        Names of the periods.
    """
    n, whole = counts.sum(axis=0), counts.sum()
    places = np.flatnonzero(shown & (n > 0))
    used = counts.sum(axis=1) > 0
    if used.sum() < 2 or len(places) < 2:
        return None
    counts, names = counts[used], [label for label, some in zip(labels, used, strict=True) if some]
    share = counts.sum(axis=1) / whole
    own = counts[:, places] / n[places]
    rest = (whole - n[places]) / max(whole - 1, 1)  # of the variance is left, for a period is a part of all
    distance = np.abs(own - share[:, np.newaxis]).sum(axis=0) / 2
    by_chance = _distance_by_chance(share, n[places], rest)
    p = _chance(own, share, n[places], rest)
    beyond = np.where(p * len(places) <= CHANCE, distance - by_chance, 0.0)
    worst = int(np.argmax(beyond))
    if beyond[worst] < NOTABLE:
        return None
    label = int(np.argmax(np.abs(own[:, worst] - share)))
    return Mix(
        periods[places[worst]], round(float(n[places[worst]])), float(distance[worst]), float(by_chance[worst]),
        names[label], float(own[label, worst]), float(share[label]),
    )  # fmt: skip


def _distance_by_chance(share: Floats, n: Floats, rest: Floats) -> Floats:
    """Mean distance of n documents drawn by lot: that of normal counts, or of rare ones if it is less."""
    variance = (share * (1 - share))[:, np.newaxis]
    usual = np.sqrt(2 / np.pi * variance * rest / n)
    return np.asarray(np.minimum(usual, 2 * variance).sum(axis=0) / 2)


def _chance(own: Floats, share: Floats, n: Floats, rest: Floats) -> Floats:
    """Chance of a chi-squared statistic as large: of a gamma distribution with its mean and variance.

    Both are those of n documents drawn by lot, which are exact where labels are rare, too.
    """
    free = len(share) - 1.0
    squares = n / np.maximum(rest, 1e-12) * ((own - share[:, np.newaxis]) ** 2 / share[:, np.newaxis]).sum(axis=0)
    variance = 2 * free + ((1 / share).sum() - free**2 - 4 * free - 1) / n
    return np.asarray(gammaincc(free**2 / variance, squares * free / variance))


def tabulated(
    within: csr_array, labels: Sequence[str], of_doc: NDArray[np.int64], n_periods: int, most: int = CELLS
) -> tuple[Floats, tuple[str, ...]]:
    """Count documents of each label in each period (n_labels, n_periods); ``within`` is (n_labels, n_docs).

    Labels are sorted by size; where there would be more cells than ``most``, the small labels are one.
    """
    n_labels = min(len(labels), max(2, most // n_periods))
    cut = n_labels < len(labels)
    rows = np.minimum(np.repeat(np.arange(within.shape[0]), np.diff(within.indptr)), n_labels - 1)
    places = of_doc[within.indices]
    known = places >= 0
    where = rows[known] * n_periods + places[known]
    found = np.bincount(where, weights=within.data[known], minlength=n_labels * n_periods)
    names = (*labels[: n_labels - 1], f"{len(labels) - n_labels + 1:,} small labels") if cut else tuple(labels)
    return np.asarray(found, np.float64).reshape(n_labels, n_periods), names
