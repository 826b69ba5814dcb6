"""Which documents, and which columns of topics or themes, are asked for."""

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.analysis.document_view import DocumentView, Floats, Rows
from diln.analysis.labels import AUTO, Labels, checked_separator, labels_of
from diln.analysis.listing import within
from diln.analysis.ratios import shares_of
from diln.analysis.themes import Themes
from diln.errors import brief

LISTED = 5  # labels in a sentence


class Columns(NamedTuple):
    """Topics or themes in documents."""

    tokens: csr_array  # (n_docs, n_columns) of each
    whole: Floats  # (n_docs,) tokens that they are shares of
    named: list[tuple[int, str]]  # numbers and labels
    left_out: Floats  # (n_columns,) share of the tokens that is in shares too small to be kept of each document


def is_number(value: Any) -> bool:
    """Whether a value is a whole number."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


class Selection:
    """Documents by what they have of topics, by label and by date."""

    def __init__(self, view: DocumentView) -> None:
        self.view, self.folding = view, view.folding
        self._labels: dict[str | None, Labels] = {}
        self._columns: dict[int | None, Columns] = {}  # by the number of themes, or None for topics

    def edited(self, view: DocumentView) -> "Selection":
        """The same documents with topics as they are edited now; labels of documents stay."""
        other = copy(self)
        other.view, other.folding, other._columns = view, view.folding, {}
        return other

    def known(self, topic: Any) -> int:
        """The number of a topic, that of a merged one if it is part of it; raises ValueError if there is none."""
        if not is_number(topic) or not 0 <= topic < self.folding.n_topics:
            raise ValueError(f"there is no topic {brief(topic)}; the model has 0 to {self.folding.n_topics - 1}")
        return int(self.folding.target[topic])

    def parts_of_theme(self, theme: Any, themes: Themes) -> list[int]:
        """The model's topics that a theme is made of; raises ValueError if there is no such theme."""
        return [part for topic in themes.theme(theme).topics for part in self.folding.parts(topic)]

    def ranked(self, topic: Any, theme: Any, pair: Any, rows: Any, themes: Themes) -> tuple[Rows, Floats | None]:
        """Documents of a topic, a theme or a pair, the largest share first, and the shares; or all in their order."""
        if sum(one is not None for one in (topic, theme, pair)) > 1:
            raise ValueError("give a topic, a theme or a pair of topics, not several of these")
        if topic is not None:
            return self.view.holding(self.folding.parts(self.known(topic)))
        if theme is not None:
            return self.view.holding(self.parts_of_theme(theme, themes))
        if pair is not None:
            return self._of_pair(pair)
        return np.arange(self.view.index.n_docs) if rows is None else self._rows(rows), None

    def _of_pair(self, pair: Any) -> tuple[Rows, Floats]:
        """Documents with both topics of a pair, by the smaller of the two shares."""
        try:
            first, second = pair
        except (TypeError, ValueError):
            raise ValueError(f"pair is {brief(pair)}; give the numbers of two topics") from None
        both = [self.view.holding(self.folding.parts(self.known(one))) for one in (first, second)]
        rows, left, right = np.intersect1d(both[0][0], both[1][0], assume_unique=True, return_indices=True)
        shares = np.minimum(both[0][1][left], both[1][1][right])
        order = np.argsort(-shares, kind="stable")
        return rows[order], shares[order]

    def _rows(self, rows: Any) -> Rows:
        try:
            return np.array([self.view.checked_row(row) for row in rows], np.int64)
        except TypeError:
            raise TypeError(f"rows are {brief(rows)}; give a list of whole numbers") from None

    def kept(self, label: Any, since: Any, until: Any, rows: Any) -> NDArray[np.bool_] | None:
        """Which documents have this label and time, and are among these rows (n_docs,); None if all are."""
        masks = []
        if rows is not None:
            masks.append(np.isin(np.arange(self.view.index.n_docs), self._rows(rows)))
        if label is not None:
            masks.append(self.labelled(label))
        if since is not None or until is not None:
            masks.append(within(self.times, since, until))
        return np.logical_and.reduce(masks) if masks else None

    def labels(self, separator: str | None = AUTO) -> Labels:
        """The labels of documents; what separates them is found out, or given."""
        if separator not in self._labels:
            index, known = self.view.index, checked_separator(separator)
            self._labels[separator] = labels_of(index.label_names, index.label_codes, known)
        return self._labels[separator]

    def labelled(self, label: Any) -> NDArray[np.bool_]:
        """Which documents have a label, or these several (n_docs,); raises ValueError if there is no such label."""
        names = self.labels().names
        for separator in (AUTO, None):
            found = self.labels(separator).having(label)
            if found is not None:
                return found
        known = ", ".join(repr(name) for name in sorted(names)[:LISTED]) or "none"
        raise ValueError(f"there is no label {brief(label)}; there is {known}{' ...' if len(names) > LISTED else ''}")

    @property
    def times(self) -> NDArray[np.datetime64]:
        """The date of each document, NaT for none (n_docs,)."""
        known = self.view.index.timestamps
        return np.full(self.view.index.n_docs, np.datetime64("NaT", "s")) if known is None else known

    def columns(self, by: str, ids: Sequence[int] | None, themes: Callable[[], Themes]) -> Columns:
        """Topics or themes; those of all that are shown are kept, for they take a while."""
        found = None if by == "topic" else themes()
        key = None if found is None else found.n
        if ids is None and key in self._columns:
            return self._columns[key]
        made = self.topic_columns(ids) if found is None else self.theme_columns(ids, found)
        if ids is None:
            self._columns[key] = made
        return made

    def topic_columns(self, ids: Sequence[int] | None) -> Columns:
        """Topics, as shares of all tokens."""
        wanted = self.folding.shown.tolist() if ids is None else [self.known(topic) for topic in ids]
        named = [(topic, self.view.words.label(topic)) for topic in wanted]
        return self._columns_of([self.folding.parts(topic) for topic in wanted], named)

    def theme_columns(self, ids: Sequence[int] | None, themes: Themes) -> Columns:
        """Themes, as shares of all tokens."""
        wanted = [theme.id for theme in themes.themes] if ids is None else list(ids)
        parts = [self.parts_of_theme(theme, themes) for theme in wanted]
        return self._columns_of(parts, [(theme, themes.theme(theme).label) for theme in wanted])

    def _columns_of(self, parts: Sequence[Sequence[int]], named: list[tuple[int, str]]) -> Columns:
        """Sums of some of the model's topics each, as shares of all tokens."""
        index = self.view.index
        tokens, totals = index.tokens.astype(np.float64), np.asarray(index.topic_totals(), np.float64)
        found = csr_array(shares_of(index, parts) * tokens[:, np.newaxis])
        missing = np.array([totals[list(some)].sum() for some in parts]) - np.asarray(found.sum(axis=0))
        return Columns(found, tokens, named, np.maximum(missing, 0) / max(tokens.sum(), 1.0))

    def columns_of_label(self, columns: Columns, label: Any) -> Columns:
        """The same of documents with a label only."""
        kept = self.labelled(label)
        return columns._replace(tokens=csr_array(columns.tokens * kept[:, np.newaxis]), whole=columns.whole * kept)
