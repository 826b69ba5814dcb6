"""Where topics are: the map of the model's own space."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from diln.analysis.atlas import Atlas, NumberOfThemes
from diln.analysis.inputs import Model
from diln.analysis.topic_infos import TopicInfo
from diln.analysis.topic_map import TopicMap
from diln.show.figures.choice import choose, counted, topic_name
from diln.show.figures.key import theme_key
from diln.show.figures.labels import Label, Room
from diln.show.figures.sheet import MARGIN, Sheet, figure, note_height, showing, text_width
from diln.show.style import FAINT, INK, WIDTH, mixed, theme_colour, theme_mark

Floats = NDArray[np.float64]

TOP, SIZE, LETTER = 0.5, 8.0, 6.0  # inches; points of labels and of letters
SMALLEST, LARGEST = 0.055, 0.26  # inches: radii
FILL = 0.09  # of the map that circles cover, at most
LABEL = 1.5  # inches that a label may take
MOST = 800
FLATTEST, TALLEST = 0.55, 1.0  # height of the map over its width


@figure
def topic_map(
    atlas: Atlas | Model,
    top: int = 200,
    *,
    topics: Sequence[int] | None = None,
    themes: NumberOfThemes = "auto",
    width: float = WIDTH,
) -> Sheet:
    """Where the topics are in the model's own space, seen in two dimensions.

    Circles are as large as the topics, in the colours and with the letters of their themes. Topics in one direction
    from the origin (+) go together, those in opposite directions avoid each other.

    Parameters
    ----------
    atlas : Atlas, or a fitted DILN
        What to show.
    top : int
        Maximum number of topics.
    topics : sequence of int, optional
        Ids of the topics to show, in place of the largest.
    themes : int or "auto"
        Number of themes.
    width : float
        Width in inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    chosen = choose(atlas, topics, top, MOST, themes)
    placed = chosen.atlas.map(themes)
    where = {point.id: (point.x, -point.y) for point in placed.points}
    shown = [topic for topic in chosen.topics if topic.id in where]
    inner = width - 2 * MARGIN
    key = theme_key(chosen.themes, inner)
    points = np.array([where[topic.id] for topic in shown] + [(placed.origin[0], -placed.origin[1])])
    spots, height = spread(points, inner)
    radii = circles(np.array([topic.share for topic in shown]), inner * height)
    room = Room(inner, height)
    named = name_topics(shown, spots, radii, room)
    notes = (chosen.cut, showing(len(named), len(shown), "names", "where there is room"), _seen(placed))
    total = TOP + height + 0.15 + key.height + 0.12 + note_height(width, *notes)
    sheet = Sheet(width, total, f"Map of {counted(len(shown), 'topic')}")
    canvas = sheet.canvas(MARGIN, TOP, inner, height)
    _ground(canvas, spots[-1], inner, height)
    draw_topics(canvas, shown, spots, radii)
    for one in named:
        canvas.text(one.left, one.middle, one.text, size=SIZE, va="center_baseline", color=one.shade)
    key.draw(sheet.canvas(0, 0, width, total), MARGIN, TOP + height + 0.15)
    sheet.note(*notes)
    return sheet


def _seen(placed: TopicMap) -> str:
    """What positions are."""
    if placed.projection is None:
        return placed.note
    return (
        f"Two dimensions with {placed.explained:.0%} of the variance of topics' locations; +: the origin. Topics in "
        "one direction from it go together, topics in opposite directions avoid each other"
    )


def spread(points: Floats, width: float) -> tuple[Floats, float]:
    """Places of points in inches, with the same scale in both directions, and the height that they need."""
    low, high = points.min(axis=0), points.max(axis=0)
    range_x, range_y = np.maximum(high - low, 1e-9)
    beside, above = min(0.7, width / 8), 0.3
    height = float(np.clip(range_y / range_x * (width - 2 * beside) + 2 * above, FLATTEST * width, TALLEST * width))
    scale = min((width - 2 * beside) / range_x, (height - 2 * above) / range_y)
    return np.asarray((points - (low + high) / 2) * scale + (width / 2, height / 2)), height


def circles(shares: Floats, area: float) -> Floats:
    """Radii of circles as large as the topics, of which none is too large or too small to see."""
    unit = np.sqrt(min(FILL * area / np.pi / max(shares.sum(), 1e-12), LARGEST**2 / max(shares.max(), 1e-12)))
    return np.asarray(np.maximum(unit * np.sqrt(shares), SMALLEST))


def name_topics(shown: Sequence[TopicInfo], spots: Floats, radii: Floats, room: Room) -> list[Label]:
    """Names beside circles, of the largest topics first, where there is room."""
    for (x, y), radius in zip(spots, radii, strict=False):
        room.take(x - 0.8 * radius, y - 0.8 * radius, x + 0.8 * radius, y + 0.8 * radius)
    named = []
    for topic, (x, y), radius in sorted(zip(shown, spots, radii, strict=False), key=lambda one: -one[0].share):
        for most in (LABEL, 0.6 * LABEL):
            text = topic_name(topic, most, SIZE)
            place = room.place(float(x), float(y), float(radius), text_width(text, SIZE) + 0.03, SIZE * 1.15 / 72)
            if place is not None:
                named.append(Label(*place, text, mixed(theme_colour(topic.theme), INK, 0.55)))
                break
    return named


def draw_topics(canvas: Axes, shown: Sequence[TopicInfo], spots: Floats, radii: Floats) -> None:
    """Circles with letters of their themes, the smallest on top."""
    for place in np.argsort(-radii, kind="stable"):
        topic, (x, y), radius = shown[place], spots[place], float(radii[place])
        shade = theme_colour(topic.theme)
        canvas.plot(
            x, y, "o", markersize=144 * radius, markerfacecolor=mixed(shade, "#ffffff", 0.85), markeredgecolor="white",
            markeredgewidth=0.7,
        )  # fmt: skip
        size = min(LETTER + 2, 72 * radius * 1.15)
        canvas.text(
            x, y, theme_mark(topic.theme), size=size, color="white", weight="bold", ha="center", va="center_baseline"
        )


def _ground(canvas: Axes, origin: Floats, width: float, height: float) -> None:
    """The frame of the map, and its origin."""
    canvas.plot([0, width, width, 0, 0], [0, 0, height, height, 0], color=FAINT, linewidth=0.8, clip_on=False)
    canvas.axhline(origin[1], color=FAINT, linewidth=0.6, zorder=0)
    canvas.axvline(origin[0], color=FAINT, linewidth=0.6, zorder=0)
    canvas.plot(*origin, "+", color=INK, markersize=11, markeredgewidth=1.4, zorder=5)
