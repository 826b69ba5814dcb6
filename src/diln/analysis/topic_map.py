"""A flat view of the space in which topics and documents lie: the topic map."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diln.analysis.flat import plane
from diln.analysis.inputs import Model, fitted_of
from diln.analysis.themes import Documents, Themes
from diln.analysis.themes.shown import Shown, shown_topics
from diln.analysis.themes.space import SAMPLED, of_documents, of_topics
from diln.models.fitted import Fitted

Floats = NDArray[np.floating]

MARGIN = 0.95  # of the way to the edge at which the farthest topic is
INSIDE = 0.999  # share of the documents that are not at the edge
USUAL = 3.7  # length within which this share of documents' locations is seen, before documents are known
DIMS = 10  # that are looked at, of points in more


@dataclass(frozen=True, slots=True)
class MapPoint:
    """A topic or theme on the map.

    Attributes
    ----------
    id : int
        Number of the topic or theme.
    x, y : float
        Coordinates, from -1 to 1.
    """

    id: int
    x: float
    y: float

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON values."""
        return {"id": self.id, "x": self.x, "y": self.y}


@dataclass(frozen=True, slots=True)
class TopicMap:
    """Topics and themes in the plane.

    Attributes
    ----------
    points : tuple of MapPoint
        The topics.
    themes : tuple of MapPoint
        The themes, each at the mean of its topics, weighted by share.
    origin : tuple of float
        Where the origin of the space is seen. Topics near it go with all others as often as by chance.
    explained : float
        Share of the variance of the topics' locations that is seen on the map, from 0 to 1.
    note : str
        How the map was made, in words.
    projection : array of float, shape (d, 2), or None
        What documents' locations are multiplied by; None for a model without locations.
    spread : bool
        Whether distances from the origin are shown by their square roots.
    """

    points: tuple[MapPoint, ...]
    themes: tuple[MapPoint, ...]
    origin: tuple[float, float]
    explained: float
    note: str
    projection: NDArray[np.float64] | None = None
    spread: bool = False

    def place(self, locations: NDArray[Any]) -> NDArray[np.float32]:
        """Where documents with these locations are on the map.

        Parameters
        ----------
        locations : array, shape (n_docs, d)
            As an index has them, or as they were inferred.

        Returns
        -------
        array of float, shape (n_docs, 2)
            Coordinates from -1 to 1; a document that is farther out is at the edge.
        """
        if self.projection is None:
            raise ValueError("the model has no locations, so documents have no place of their own on its map")
        given = np.asarray(locations, np.float32)
        if given.ndim != 2 or given.shape[1] != len(self.projection):
            raise ValueError(f"the locations have shape {given.shape}; give (n_docs, {len(self.projection)})")
        flat = given @ self.projection.astype(np.float32)
        flat /= np.maximum(np.sqrt((flat**2).sum(axis=1, keepdims=True)), np.float32(1))
        return np.asarray(_spread_out(flat) if self.spread else flat, np.float32)

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON values."""
        return {
            "points": [point.to_json() for point in self.points], "themes": [point.to_json() for point in self.themes],
            "origin": list(self.origin), "explained": self.explained, "note": self.note,
        }  # fmt: skip


def topic_map(
    model: Model,
    themes: Themes,
    documents: Documents | None = None,
    *,
    merges: Sequence[Sequence[int]] = (),
    spread: bool = False,
) -> TopicMap:
    """The topic map of a model: its space, looked at from where themes are far apart.

    Parameters
    ----------
    model : DILN, HDP, LDA or CTM
        A fitted estimator, or a model read by ``diln.load``.
    themes : Themes
        Its themes; the map shows their topics.
    documents : Index, optional
        The documents that the model was fitted to.
    merges : sequence of sequence of int
        Topics to take for one, as they were given to ``themes``.
    spread : bool
        Show distances from the origin by their square roots, so that the middle has more room. Positions are then no
        longer a linear view of the locations, and the note says so.

    Returns
    -------
    TopicMap
    """
    fitted = fitted_of(model)
    shown = shown_topics(fitted, themes.tree.topics, merges)
    located = fitted.locations is not None and bool(np.abs(shown.mean(fitted.locations)).max() > 0)
    points = (
        shown.mean(np.asarray(fitted.locations)) if located else _scaled(shown, _topic_points(model, shown, documents))
    )
    if points.shape[1] < 2:
        points = np.pad(points, ((0, 0), (0, 2 - points.shape[1])))
    sizes, of_theme = shown.shares, [theme.id for theme in themes.themes]
    centres = _centres(themes, shown, points)
    axes = plane(points, sizes, centres)
    flat = points @ axes
    farthest = float(np.sqrt((flat**2).sum(axis=1)).max()) or 1.0
    total = float(sizes @ (points**2).sum(axis=1))
    explained = min(float(sizes @ (flat**2).sum(axis=1)) / total, 1.0) if total > 0 else 1.0
    flat, themes_at = flat * MARGIN / farthest, centres @ axes * MARGIN / farthest
    if spread:
        flat, themes_at = _spread_out(flat), _spread_out(themes_at)
    return TopicMap(
        points=_points(shown.ids.tolist(), flat), themes=_points(of_theme, themes_at), origin=(0.0, 0.0),
        explained=explained, note=_note(explained, _told_by(fitted, documents, located=located), spread=spread),
        projection=axes[: np.asarray(fitted.locations).shape[1]] / _reach(documents, axes) if located else None,
        spread=spread,
    )  # fmt: skip


def moved(
    base: TopicMap, model: Model, themes: Themes, beside: Mapping[int, int], merges: Sequence[Sequence[int]]
) -> TopicMap:
    """A map on which other topics of the model are shown, each where it was: a merged one amid its parts.

    Parameters
    ----------
    base : TopicMap
        The map of all topics, as ``topic_map`` returned it.
    model : DILN, HDP, LDA or CTM
        The model.
    themes : Themes
        Themes of the topics that are to be shown.
    beside : dict of int
        For each of them a topic of the map: where it is put if it and its parts are not on the map.
    merges : sequence of sequence of int
        Topics to take for one, as they were given to ``themes``.
    """
    fitted = fitted_of(model)
    shown = shown_topics(fitted, themes.tree.topics, merges)
    at = {point.id: (point.x, point.y) for point in base.points}
    places = np.empty((len(shown.ids), 2))
    for row, topic in enumerate(shown.ids.tolist()):
        own = shown.place == row
        parts = [(at[part], size) for part, size in zip(shown.parts[own].tolist(), shown.sizes[own], strict=True)
                 if part in at] or [(at[beside[topic]], 1.0)]  # fmt: skip
        places[row] = np.average([place for place, _ in parts], axis=0, weights=[size for _, size in parts])
    centres = _centres(themes, shown, places)
    return replace(
        base, points=_points(shown.ids.tolist(), places), themes=_points([one.id for one in themes.themes], centres)
    )


def _centres(themes: Themes, shown: Shown, points: Floats) -> NDArray[np.float64]:
    """The mean of each theme's topics, weighted by share (n_themes, d)."""
    group, sizes = np.array([themes.topic_theme[one] for one in shown.ids.tolist()]), shown.shares
    of_themes = (np.flatnonzero(group == theme.id) for theme in themes.themes)
    return np.stack([sizes[some] @ points[some] / sizes[some].sum() for some in of_themes])


def _topic_points(model: Model, shown: Shown, documents: Documents | None) -> Floats:
    """Points of topics without locations, from their documents, correlations or words."""
    found = None if documents is None else of_documents(documents, shown)
    return (of_topics(fitted_of(model), shown) if found is None else found[1]).topic_points


def _scaled(shown: Shown, points: Floats) -> NDArray[np.float64]:
    """Classical scaling: coordinates about the mean in the dimensions in which topics vary most."""
    apart = points - shown.shares @ points
    roots = np.sqrt(shown.shares)[:, np.newaxis]
    _, _, directions = np.linalg.svd(apart * roots, full_matrices=False)
    return np.asarray(apart @ directions[:DIMS].T, np.float64)


def _reach(documents: Documents | None, axes: Floats) -> float:
    """The length, as it is seen, within which nearly all documents are."""
    locations = None if documents is None else documents.locations
    if locations is None or not len(locations):
        return USUAL
    rows = np.unique(np.linspace(0, len(locations) - 1, min(len(locations), SAMPLED)).astype(np.int64))
    flat = np.asarray(locations[rows], np.float64) @ axes[: locations.shape[1]]
    return float(np.quantile(np.sqrt((flat**2).sum(axis=1)), INSIDE)) or 1.0


def _spread_out(flat: NDArray[Any]) -> NDArray[Any]:
    """The same directions, with the square roots of lengths."""
    lengths = np.sqrt((flat**2).sum(axis=1, keepdims=True))
    return np.asarray(flat / np.sqrt(np.maximum(lengths, np.finfo(np.float32).tiny)))


def _points(ids: list[int], flat: Floats) -> tuple[MapPoint, ...]:
    return tuple(MapPoint(one, *map(float, at)) for one, at in zip(ids, flat, strict=True))


def _told_by(fitted: Fitted, documents: Documents | None, *, located: bool) -> str:
    """What a model without locations has in their place; nothing for one with locations."""
    if located:
        return ""
    if documents is not None:
        return "are found in the same documents"
    return "have similar words" if fitted.covariance is None else "have correlated weights"


def _note(explained: float, told_by: str, *, spread: bool) -> str:
    """How the map was made, in words."""
    seen = f"the map shows {explained:.0%} of their variance"
    if not told_by:
        text = (
            "Positions are the model's own locations of topics, looked at from where the themes are farthest apart; "
            f"{seen}. The cross is the origin: topics in the same direction from it go together, topics in opposite "
            "directions avoid each other, and topics near it do neither. Documents are shown at a scale of their own."
        )
    else:
        text = (
            f"The model has no locations. Topics that {told_by} are near each other (classical scaling of their "
            f"distances); {seen}. The cross is their mean."
        )
    return text + (" Distances from the cross are shown by their square roots." if spread else "")
