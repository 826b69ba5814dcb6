"""Keys: which colour and letter is which theme, and which topics it has."""

from collections.abc import Iterable, Sequence
from math import ceil
from typing import NamedTuple

from matplotlib.axes import Axes

from diln.analysis.themes import Theme
from diln.analysis.topic_infos import TopicInfo
from diln.show.figures.choice import topic_name
from diln.show.figures.sheet import label_in_room
from diln.show.style import GREY, INK, theme_colour, theme_mark

ROW, GAP, SIZE = 0.165, 0.3, 8.5  # inches, points
COLUMN = 3.4  # inches that a column of topics' words is wide, at least
THEME_COLUMN = 2.1


class Line(NamedTuple):
    """A line of a key: a theme, or one of its topics."""

    theme: int | None
    text: str
    head: bool  # whether it is a theme's
    over: bool = False  # whether its topics are below it


class Key:
    """Lines in columns; no theme is at the end of a column with its topics in the next."""

    def __init__(self, lines: Sequence[Line], width: float, column: float) -> None:
        self.n_columns = max(1, min(len(lines), int((width + GAP) / (column + GAP))))
        self.column = (width + GAP) / self.n_columns - GAP
        self.rows = max(ceil(len(lines) / self.n_columns), 1 + any(line.over for line in lines))
        self.lines = _unbroken(lines, self.rows)
        while len(self.lines) > self.rows * self.n_columns:
            self.rows += 1
            self.lines = _unbroken(lines, self.rows)

    @property
    def height(self) -> float:
        """Inches that it takes."""
        return self.rows * ROW

    def draw(self, canvas: Axes, left: float, top: float) -> None:
        """Draw it on a canvas in inches."""
        for place, line in enumerate(self.lines):
            if line is None:
                continue
            column, row = divmod(place, self.rows)
            x, y = left + column * (self.column + GAP), top + (row + 0.5) * ROW
            if line.head:
                badge(canvas, x + 0.07, y, line.theme, 0.07)
            weight = "bold" if line.head and line.over else "normal"
            shown = label_in_room(line.text, self.column - 0.22, SIZE, weight)
            canvas.text(x + 0.2, y, shown, size=SIZE, va="center_baseline", weight=weight, color=INK)


def _unbroken(lines: Sequence[Line], rows: int) -> list[Line | None]:
    """Lines with an empty one in place of a theme whose topics would begin in the next column."""
    found: list[Line | None] = []
    for line in lines:
        if line.head and line.over and rows > 1 and len(found) % rows == rows - 1:
            found.append(None)
        found.append(line)
    return found


def theme_key(themes: Iterable[Theme], width: float) -> Key:
    """A line for each theme."""
    return Key([Line(one.id, one.label, head=True) for one in themes], width, THEME_COLUMN)


def topics_key(themes: Iterable[Theme], topics: Sequence[TopicInfo], width: float) -> Key:
    """A line for each topic, below the line of its theme, in the order of the topics."""
    named = {one.id: one.label for one in themes}
    column = Key([Line(None, "", head=False)] * (len(topics) + len(named)), width, COLUMN).column
    lines: list[Line] = []
    before: int | None = -1
    for topic in topics:
        if topic.theme != before and topic.theme is not None:
            lines.append(Line(topic.theme, named.get(topic.theme, ""), head=True, over=True))
        before = topic.theme
        lines.append(Line(topic.theme, topic_name(topic, column - 0.22, SIZE), head=False))
    return Key(lines, width, COLUMN)


def badge(canvas: Axes, x: float, y: float, theme: int | None, radius: float) -> None:
    """A theme's letter on its colour."""
    canvas.plot(x, y, "o", markersize=2 * 72 * radius, color=theme_colour(theme) if theme is not None else GREY, mew=0)
    canvas.text(
        x, y, theme_mark(theme), size=min(72 * radius * 1.25, 8), color="white", ha="center", va="center_baseline",
        weight="bold", clip_on=True,
    )  # fmt: skip
