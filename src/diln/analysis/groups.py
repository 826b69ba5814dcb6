"""Topics and themes by label: how much more of each a group of documents has than the rest, and whether by chance."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import stdtrit

from diln.analysis.labels import Labels
from diln.analysis.ratios import LEVEL, Sums, chances, more_than_chance, sums_of
from diln.analysis.records import Record, frame_of
from diln.analysis.selection import Columns

Floats = NDArray[np.float64]
TINY = np.finfo(np.float64).tiny
MOST = 700.0  # of which the exponential is a number


@dataclass(frozen=True, slots=True)
class GroupLabel(Record):
    """A label.

    Attributes
    ----------
    name : str
        The label.
    n_docs : int
        Number of documents that have it.
    """

    name: str
    n_docs: int


@dataclass(frozen=True, slots=True)
class GroupCell(Record):
    """A topic or theme in the documents of a label.

    Attributes
    ----------
    id : int
        Number of the topic or theme.
    label_name : str
        The label.
    share : float
        Its share of the tokens in documents of this label.
    lift : float
        How many times as large that is as in all other documents.
    low, high : float
        Range of the lift in 19 of 20 cases, over documents such as these. Long documents weigh more in it than in
        ``p``, so that a sure difference can have a range that holds 1.
    sure : bool
        Whether the difference is more than chance. Of all differences that are called sure, 19 of 20 are, on average
        (Benjamini and Hochberg's rule over all cells).
    p : float
        Chance of a difference as large if labels were given to documents by lot. Compared are roots of the shares in
        documents, and documents count alike.
    """

    id: int
    label_name: str
    share: float
    lift: float
    low: float
    high: float
    sure: bool
    p: float


@dataclass(frozen=True, slots=True)
class Groups(Record):
    """Topics or themes by label.

    Attributes
    ----------
    by : {"topic", "theme"}
        What is shown.
    labels : tuple of GroupLabel
        The labels, those with most documents first.
    cells : tuple of GroupCell
        Every topic or theme with every label.
    n_unlabelled : int
        Documents that are left out, because they have no label.
    """

    by: str
    labels: tuple[GroupLabel, ...]
    cells: tuple[GroupCell, ...]
    n_unlabelled: int = 0

    def to_frame(self) -> Any:
        """A row for each topic or theme and label: a pandas frame, or a polars frame if only polars is installed."""
        return frame_of(cell.to_json() for cell in self.cells)


def groups(columns: Columns, labels: Labels, by: str) -> Groups:
    """Topics or themes in documents of each label."""
    names, within = labels
    if not names:
        raise ValueError("no document has a label, so there are no groups; name the column with --label")
    labelled = np.asarray(within.sum(axis=0)) > 0
    x, y = np.where(labelled, columns.whole, 0.0), csr_array(columns.tokens * labelled[:, np.newaxis])
    p, more = _compared(y, x, within)
    every = csr_array(np.ones((1, len(x))))
    own, all_of_them = (sums_of(y, x, some).raised(columns.left_out) for some in (within, every))
    share = own.ratios().share
    lift, low, high = _lifts(own, own.rest(all_of_them), all_of_them)
    sure = more_than_chance(p) & (more == (lift > 1))
    n_docs = np.rint(np.asarray(within.sum(axis=1))).astype(np.int64)
    cells = tuple(
        GroupCell(number, names[row], float(np.nan_to_num(share[row, at])), float(lift[row, at]), float(low[row, at]),
                  float(high[row, at]), bool(sure[row, at]), float(p[row, at]))
        for row in range(len(names))
        for at, (number, _) in enumerate(columns.named)
    )  # fmt: skip
    listed = tuple(GroupLabel(name, int(n)) for name, n in zip(names, n_docs.tolist(), strict=True))
    return Groups(by, listed, cells, int((~labelled).sum()))


def _compared(y: csr_array, x: Floats, within: csr_array) -> tuple[Floats, NDArray[np.bool_]]:
    """Chances of differences as large as those between labels, and which groups have more than all have.

    Compared are roots of shares in documents, and documents count alike: a few long documents that are all about a
    topic do not make a difference that labels given by lot would make as often.
    """
    known = (x > 0).astype(np.float64)
    roots = csr_array(y * (known / np.maximum(x, TINY))[:, np.newaxis]).sqrt()
    sizes, mean = within @ known, np.asarray(roots.sum(axis=0)) / max(known.sum(), 1.0)
    return chances(roots, known, within), np.asarray((within @ roots).todense()) > np.outer(sizes, mean)


def _lifts(own: Sums, rest: Sums, every: Sums) -> tuple[Floats, Floats, Floats]:
    """Lifts of groups against the rest, and their ranges, by the errors of the logarithms.

    For the range both have one document more, of average length and with the share of all, so that none is 0.
    """
    inside, outside = own.ratios(), rest.ratios()
    with np.errstate(divide="ignore", invalid="ignore"):
        lift = np.nan_to_num(inside.share / outside.share, nan=1.0, posinf=np.inf)
    overall, mean = every.y / np.maximum(every.x, TINY), every.x / np.maximum(every.n_docs, 1)
    centre, wide = np.zeros_like(lift), np.zeros_like(lift)
    for sign, sums, found in ((1, own, inside), (-1, rest, outside)):
        tokens, more = sums.x[:, np.newaxis], overall * mean
        share = np.maximum((sums.y + more) / (tokens + mean), TINY)
        wide += (np.hypot(np.nan_to_num(found.error) * tokens, more) / (tokens + mean) / share) ** 2
        centre += sign * np.log(share)
    degrees = np.maximum(np.minimum(inside.n_docs, outside.n_docs), 1)[:, np.newaxis]
    reach = stdtrit(degrees, (1 + LEVEL) / 2) * np.sqrt(wide)
    low, high = np.exp(centre - reach), np.exp(np.minimum(centre + reach, MOST))
    return lift, np.minimum(low, lift), np.maximum(high, lift)
