"""What documents have of themes: the theme of each, and the shares of all."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.analysis.themes.hierarchy import Hierarchy
from diln.analysis.themes.shown import Shown, Whole
from diln.analysis.themes.space import Documents, Space, beside_shares, scaled

AT_ONCE = 8192  # documents that are in memory


class DocumentGroups(NamedTuple):
    """The group of each document, and what each group's documents have of all topics."""

    group: NDArray[np.int16]  # (n_docs,), -1 for none
    mass: NDArray[np.float64]  # (n, n_topics) sums of the documents' proportions of all of the model's topics

    def joined(self, into: Whole, n: int) -> "DocumentGroups":
        """The same of n larger groups; into (n_groups,) says which of these each is part of, -1 for none."""
        if np.array_equal(into, np.arange(n)):
            return self
        kept = into >= 0
        mass = _members(into[kept], n) @ self.mass[kept]
        return DocumentGroups(np.append(into, -1).astype(np.int16)[self.group], mass)


def document_groups(
    documents: Documents, shown: Shown, space: Space | None, hierarchy: Hierarchy, n: int
) -> DocumentGroups:
    """All documents in the n groups of the hierarchy: each is in the group where it lies."""
    group, mass = np.full(documents.n_docs, -1, np.int16), np.zeros((n, 1))
    for first in range(0, documents.n_docs if space is not None else 0, AT_ONCE):
        rows = np.arange(first, min(first + AT_ONCE, documents.n_docs))
        proportions = np.asarray(documents.proportions(rows))
        mine = scaled(shown.folded(proportions))
        known = mine.max(axis=1) > 0
        if space is not None:
            points = space.points(mine[known], beside_shares(documents, rows[known]))
            group[rows[known]] = hierarchy.assigned(points, n)
        mass = mass + _members(group[rows[known]], n) @ proportions[known]
    return DocumentGroups(group, mass)


def _members(group: NDArray[Any], n: int) -> csr_array:
    """Which of the n groups each of some things is in (n, n_things)."""
    things = np.arange(len(group))
    return csr_array((np.ones(len(group), np.float32), (group, things)), shape=(n, len(group)))


class ThemeShares:
    """The shares of all themes in documents: sums of what these have of the themes' topics, made when asked for."""

    def __init__(self, documents: Documents, shown: Shown, column: Whole) -> None:
        self._documents, self._shown, self._group = documents, shown, column

    def __call__(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Of some documents (n_rows, n)."""
        n = int(self._group.max()) + 1
        shares, member = np.zeros((len(rows), n), np.float32), np.eye(n, dtype=np.float32)[self._group]
        for first in range(0, len(rows), AT_ONCE):
            some = slice(first, first + AT_ONCE)
            shares[some] = self._shown.folded(np.asarray(self._documents.proportions(rows[some]))) @ member
        return shares

    def every(self) -> NDArray[np.float32]:
        """Of all documents (n_docs, n)."""
        return self(np.arange(self._documents.n_docs))
