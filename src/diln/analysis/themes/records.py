"""Themes as records: groups of topics, the tree they are cut from, and what documents have of them."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diln.analysis.html import Bar, Row, table
from diln.corpus.corpus import as_index
from diln.errors import brief

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diln.analysis.themes.document_themes import ThemeShares


@dataclass(frozen=True, slots=True)
class Theme:
    """A group of topics that are found in the same documents.

    Attributes
    ----------
    id : int
        Its number among these themes, from 0 on, the largest first.
    label : str
        Its name: its most telling words, separated by commas.
    words : tuple of str
        The words of the label.
    share : float
        Share of all tokens of the corpus: the sum of its topics' shares.
    n_docs : int or None
        Number of documents whose theme it is; None where documents are not known.
    topics : tuple of int
        Numbers of its topics, the largest first.
    """

    id: int
    label: str
    words: tuple[str, ...]
    share: float
    n_docs: int | None
    topics: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON values."""
        return {
            "id": self.id, "label": self.label, "words": list(self.words), "share": self.share, "n_docs": self.n_docs,
            "topics": list(self.topics),
        }  # fmt: skip

    def as_row(self, longest: float = 1.0) -> Row:
        """What a table in a notebook shows of it; ``longest`` is the share of the longest bar."""
        told = {} if self.n_docs is None else {"documents": self.n_docs}
        return {
            "theme": self.id, "share": Bar(self.share, longest), "label": self.label, **told,
            "topics": ", ".join(map(str, self.topics)),
        }  # fmt: skip

    def _repr_html_(self) -> str:
        return table([self.as_row()])


@dataclass(frozen=True, slots=True)
class Tree:
    """The hierarchy of topics that themes are cut from.

    Attributes
    ----------
    topics : tuple of int
        Numbers of the topics: leaf i of the tree is ``topics[i]``.
    linkage : array of float, shape (n_topics - 1, 4)
        Merges in the form of ``scipy.cluster.hierarchy``: the two groups that are joined (leaves first, then earlier
        merges), the height of the merge, and the number of leaves.
    order : tuple of int
        Numbers of the topics in the order of the leaves of a drawing: topics next to each other are alike, and every
        group of the tree is in one piece.
    """

    topics: tuple[int, ...]
    linkage: NDArray[np.float64]
    order: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON values."""
        return {"topics": list(self.topics), "linkage": self.linkage.tolist(), "order": list(self.order)}


@dataclass(frozen=True, slots=True)
class Themes:
    """The themes of a model, the largest first.

    Attributes
    ----------
    n : int
        Number of themes.
    auto : bool
        Whether the number was chosen by the rule for "auto".
    themes : tuple of Theme
        The themes. The numbers of these are 0 to n - 1 in this order, until topics are hidden or merged: a theme then
        keeps its number, whichever is the largest now, and a theme all of whose topics are hidden leaves a gap.
    topic_theme : dict of int
        The theme of each topic.
    tree : Tree
        The hierarchy behind them: themes for any other number are cut from the same tree.
    document_theme : array of int, shape (n_docs,), or None
        The theme of each document, -1 for documents without a known token and for those of a theme all of whose topics
        are hidden; None where documents are not known.
    """

    n: int
    auto: bool
    themes: tuple[Theme, ...]
    topic_theme: dict[int, int]
    tree: Tree
    document_theme: NDArray[np.int16] | None = None
    _shares: "ThemeShares | None" = field(default=None, repr=False, compare=False)

    @property
    def document_shares(self) -> NDArray[np.float32] | None:
        """Share of each theme in each document (n_docs, n), in the order of ``themes``; None where none are known.

        They are shares of all tokens of a document, so rows sum to what it has of the topics that are shown: 1, or less
        where small or hidden topics hold a part of it. They are made when they are asked for, and not kept: 1,000,000
        documents and 800 themes take 3.2 GB. ``shares_of`` has those of some documents.
        """
        return None if self._shares is None else self._shares.every()

    def theme(self, number: Any) -> Theme:
        """The theme with this number; raises ValueError if there is none."""
        whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
        known = next((theme for theme in self.themes if whole and theme.id == number), None)
        if known is None:
            last = max(theme.id for theme in self.themes)
            gap = whole and 0 <= number < last
            what = f"all topics of theme {number} are hidden" if gap else f"there are 0 to {last}"
            raise ValueError(f"there is no theme {brief(number)}; {what}")
        return known

    def shares_of(self, rows: "Sequence[int] | NDArray[Any]") -> NDArray[np.float32]:
        """Share of each theme in some documents (n_rows, n), by row; raises ValueError where they are not known."""
        if self._shares is None or self.document_theme is None:
            raise ValueError("the themes were found without documents; give these to themes(model, n, documents)")
        return self._shares(np.arange(len(self.document_theme))[as_index(rows, len(self.document_theme))])

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON values, without the documents."""
        return {
            "n": self.n, "auto": self.auto, "themes": [theme.to_json() for theme in self.themes],
            "topic_theme": {str(topic): theme for topic, theme in self.topic_theme.items()},
            "tree": self.tree.to_json(),
        }  # fmt: skip

    def _repr_html_(self) -> str:
        longest = max((theme.share for theme in self.themes), default=1.0)
        return table([theme.as_row(longest) for theme in self.themes], f"{self.n:,} theme{'s' * (self.n != 1)}")
