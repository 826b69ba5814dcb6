"""Documents as points on the map: places in 16 bits, thinned so that a page can take them."""

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diln.analysis import Atlas
from diln.show.explorer.choice import Choice, Chooser, Kept, Rows

WHOLE = 65_535  # what 1 is in a place, and what says that there is no theme or topic
MOST = 200_000  # points that are sent at once
MAPS = 4  # numbers of themes whose points are kept

Words = NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class Points:
    """All documents with tokens: their rows, and (x, y, theme, topic) of each."""

    rows: Rows
    places: NDArray[np.float32]  # (n_docs, 2) from -1 to 1
    packed: Words  # (n_docs, 4)
    turn: NDArray[np.uint32]  # (n_docs,) whose turn it is first where there are too many


class PointMap:
    """The points of an atlas."""

    def __init__(self, chooser: Chooser) -> None:
        self.chooser, self.atlas = chooser, chooser.atlas
        self.kept: Kept[Points] = Kept(MAPS)
        self.once: Kept[Any] = Kept(MAPS + 1)  # what no edit changes

    def edited(self, atlas: Atlas) -> "PointMap":
        """The same for topics as they are edited now; names change no point."""
        other = copy(self)
        other.chooser, other.atlas = self.chooser.edited(atlas), atlas
        if not atlas.is_arranged_as(self.atlas):
            other.kept = Kept(MAPS)
        return other

    def points(self, n_themes: Any) -> Points:
        """All points, coloured by so many themes."""
        return self.kept.get(n_themes, lambda: self._points(n_themes))

    def _points(self, n_themes: Any) -> Points:
        rows, turn = self.once.get("rows", self._rows)
        topics, places = self._topics(), self._places(n_themes)
        themes = self.atlas.themes(n_themes).document_theme
        packed = np.full((len(rows), 4), WHOLE, np.uint16)
        packed[:, :2] = np.rint((places[rows] + 1) * (WHOLE / 2))
        if themes is not None:
            packed[:, 2] = themes[rows]  # -1 for none is the largest number of 16 bits
        packed[:, 3] = topics[rows]
        return Points(rows, places[rows], packed, turn)

    def _rows(self) -> tuple[Rows, NDArray[np.uint32]]:
        """The documents with tokens, and whose turn it is first."""
        rows = np.flatnonzero(self.chooser.view.index.tokens > 0)
        return rows, np.random.default_rng(0).permutation(len(rows)).astype(np.uint32)

    def _topics(self) -> Words:
        """The largest shown topic of each document (n_docs,)."""
        view, folding = self.chooser.view, self.atlas.folding
        best, topics = np.zeros(view.index.n_docs, np.float32), np.full(view.index.n_docs, WHOLE, np.uint16)
        for topic in folding.shown.tolist():
            rows, shares = view.holding(folding.parts(topic))
            larger = shares > best[rows]
            best[rows[larger]], topics[rows[larger]] = shares[larger], topic
        return topics

    def _places(self, n_themes: Any) -> NDArray[np.float32]:
        """Where on the map each document is (n_docs, 2); without locations of documents, amid its topics."""
        view, folding, shape = self.chooser.view, self.atlas.folding, self.atlas.map(n_themes)
        locations = view.index.locations
        if locations is not None and shape.projection is not None:  # which is the same whatever is hidden or merged
            found: NDArray[np.float32] = self.once.get(("places", n_themes), lambda: shape.place(locations))
            return found
        n_docs, at = view.index.n_docs, {point.id: (point.x, point.y) for point in shape.points}
        amid, total = np.zeros((n_docs, 2), np.float32), np.zeros(n_docs, np.float32)
        for topic in folding.shown.tolist():
            if topic in at:
                rows, shares = view.holding(folding.parts(topic))
                amid[rows] += np.outer(shares, at[topic]).astype(np.float32)
                total[rows] += shares.astype(np.float32)
        return np.clip(amid / np.maximum(total, 1e-6)[:, np.newaxis], -1, 1)

    def packed(self, choice: Choice, most: int, only: Rows | None = None) -> tuple[bytes, int]:
        """The points of the selected documents, little-endian, thinned to at most so many; and how many there are.

        ``only`` are rows of which documents must be one, where something is searched for.
        """
        points = self.points(choice.n_themes)
        chosen = self._within(points, choice, only)
        kept = _thinned(points, chosen, most)
        return points.packed[kept].astype("<u2").tobytes(), len(chosen)

    def inside(
        self, choice: Choice, box: tuple[float, float, float, float], n: int, only: Rows | None = None
    ) -> dict[str, Any]:
        """Some of the selected documents in a box of the map, with their ids and titles; and how many there are."""
        points = self.points(choice.n_themes)
        x0, y0, x1, y1 = box
        x, y = points.places.T
        there = (x >= min(x0, x1)) & (x <= max(x0, x1)) & (y >= min(y0, y1)) & (y <= max(y0, y1))
        chosen = self._within(points, choice, only)
        chosen = chosen[there[chosen]]
        return {"total": len(chosen), "documents": self._told(points, _thinned(points, chosen, n))}

    def _told(self, points: Points, some: Rows) -> list[dict[str, Any]]:
        """These points as records."""
        rows = points.rows[some]
        known = None if self.atlas.corpus is None else self.atlas.corpus[rows].documents
        ids, titles = ([str(row) for row in rows], [""] * len(rows)) if known is None else (known.ids, known.titles)
        return [
            {
                "row": row, "id": name, "title": title, "x": x, "y": y, "theme": None if theme == WHOLE else theme,
                "topic": None if topic == WHOLE else topic,
            }
            for row, name, title, (x, y), (_, _, theme, topic) in zip(
                rows.tolist(), ids, titles, points.places[some].tolist(), points.packed[some].tolist(), strict=True
            )
        ]  # fmt: skip

    def _within(self, points: Points, choice: Choice, only: Rows | None) -> Rows:
        """Which points are of selected documents."""
        if only is not None:
            mask = np.zeros(self.chooser.n_docs, bool)
            mask[only] = True
        elif choice.everything:
            return np.arange(len(points.rows))
        else:
            mask = self.chooser.chosen(choice).mask(self.chooser.n_docs)
        return np.flatnonzero(mask[points.rows])


def _thinned(points: Points, chosen: Rows, most: int) -> Rows:
    """At most so many of these points, always the same ones; of more, some more."""
    if len(chosen) <= most:
        return chosen
    first = np.argpartition(points.turn[chosen], most)[:most]
    return np.sort(chosen[first])
