"""Topics and themes by label: how much more of each a group of documents has than the rest, and whether by chance."""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from diln.analysis.html import Digits, Row, lift_range, percent, shown_chance, shown_lift, table
from diln.analysis.labels import Labels
from diln.analysis.ratios import TINY, lifts, more_than_chance, sums_of
from diln.analysis.records import Record, frame_of
from diln.analysis.selection import Columns

LISTED = 3  # topics or themes that a label has more of, and less of
LABELS = 20  # that a table shows
FEW = 40  # differences that are all shown, sure or not


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
    name : str
        Label of the topic or theme.
    """

    id: int
    label_name: str
    share: float
    lift: float
    low: float
    high: float
    sure: bool
    p: float
    name: str = ""


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

    def differences(self, label: str) -> tuple[list[GroupCell], list[GroupCell]]:
        """What documents of a label have more of than all others, and less of, by more than chance: surest first."""
        sure = [cell for cell in self.cells if cell.label_name == label and cell.sure]
        more = sorted((cell for cell in sure if cell.lift > 1), key=lambda cell: -cell.low)
        less = sorted((cell for cell in sure if cell.lift < 1), key=lambda cell: cell.high)
        return more, less

    @property
    def told(self) -> str:
        """How many of the differences are more than chance, and what is left out."""
        left = f"; {self.n_unlabelled:,} documents without a label are left out" if self.n_unlabelled else ""
        sure = sum(cell.sure for cell in self.cells)
        return f"{sure:,} of {len(self.cells):,} differences are more than chance{left}"

    def _repr_html_(self) -> str:
        rows = [row for label in self.labels[:LABELS] for row in self._rows(label)]
        cut = f"the {LABELS:,} largest of {len(self.labels):,} labels; " if len(self.labels) > LABELS else ""
        return table(rows, f"{self.by}s by label", f"{cut}{self.told}; to_frame() has all")

    def _rows(self, label: GroupLabel) -> list[Row]:
        """The differences of a label, as the command prints them; and what is no difference, where there is room."""
        more, less = self.differences(label.name)
        few = len(self.cells) <= FEW
        most = len(self.cells) if few else LISTED
        others = [cell for cell in self.cells if few and cell.label_name == label.name and not cell.sure]
        rows = [self._row(cell) for cell in (*more[:most], *less[:most], *others)]
        rest = [f"and {len(some) - most:,} {what}" for some, what in ((more, "higher"), (less, "lower"))
                if len(some) > most]  # fmt: skip
        rows += [self._bare(", ".join(rest))] if rest else []
        rows = rows or [self._bare("no difference is more than chance")]
        return [
            {"label": label.name if at == 0 else "", "documents": label.n_docs if at == 0 else None, **row}
            for at, row in enumerate(rows)
        ]

    def _row(self, cell: GroupCell) -> Row:
        mark = ("▲" if cell.lift > 1 else "▼") if cell.sure else ""
        interval = lift_range(cell.low, min(cell.high, sys.float_info.max))
        return {
            self.by: f"{cell.id}  {cell.name}", "share": Digits(percent(cell.share)), "": mark,
            "lift": Digits(shown_lift(cell.lift)), "95% interval": Digits(interval), "p": Digits(shown_chance(cell.p)),
        }  # fmt: skip

    def _bare(self, text: str) -> Row:
        return {self.by: text, "share": None, "": "", "lift": None, "95% interval": None, "p": None}


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
                  float(found.low[row, at]), float(found.high[row, at]), bool(sure[row, at]), float(found.p[row, at]),
                  called)
        for row in range(len(names))
        for at, (number, called) in enumerate(columns.named)
    )  # fmt: skip
    listed = tuple(GroupLabel(name, int(n)) for name, n in zip(names, n_docs.tolist(), strict=True))
    return Groups(by, listed, cells, int((~labelled).sum()))
