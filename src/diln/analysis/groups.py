"""Topics and themes by label: how much more of each a group of documents has than the rest, and whether by chance."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from diln.analysis.labels import Labels
from diln.analysis.ratios import TINY, lifts, more_than_chance, sums_of
from diln.analysis.records import Record, frame_of
from diln.analysis.selection import Columns


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
        How many times as large the share is in documents of this label as in all other documents: the mean over
        documents, which count alike, however long.
    low, high : float
        95% interval of the lift. It holds 1 where ``p`` is above 0.05, and only there: both are of the same test. The
        level is that of a cell on its own: where labels have nothing to do with a topic, 1 interval in 20 leaves out 1.
    sure : bool
        Whether the difference is more than chance, with all cells in view: on average, at most 1 in 20 of the
        differences that are called sure is chance (Benjamini and Hochberg's rule over all cells).
    p : float
        Chance of a difference as large if labels were given to documents by lot, of this cell on its own.
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
    known = (x > 0).astype(np.float64)
    found = lifts(csr_array(y * (known / np.maximum(x, TINY))[:, np.newaxis]), known, within, columns.left_out)
    share = sums_of(y, x, within).raised(columns.left_out).ratios().share
    sure = more_than_chance(found.p)
    n_docs = np.rint(np.asarray(within.sum(axis=1))).astype(np.int64)
    cells = tuple(
        GroupCell(number, names[row], float(np.nan_to_num(share[row, at])), float(found.lift[row, at]),
                  float(found.low[row, at]), float(found.high[row, at]), bool(sure[row, at]), float(found.p[row, at]))
        for row in range(len(names))
        for at, (number, _) in enumerate(columns.named)
    )  # fmt: skip
    listed = tuple(GroupLabel(name, int(n)) for name, n in zip(names, n_docs.tolist(), strict=True))
    return Groups(by, listed, cells, int((~labelled).sum()))
