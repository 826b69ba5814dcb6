"""The ground that figures are drawn on: places in inches, words that fit their room, and what is cut said below."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, wraps
from typing import Any, ParamSpec

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath

from diln.models.checks import check_number
from diln.show.style import GREY, INK, WIDTH, NotebookFigure, fonts, quiet, style

P = ParamSpec("P")

MARGIN = 0.15  # inches around what is drawn
TITLE, NOTE = 11.0, 8.5  # points: the size of titles and of notes
HINTED = 1.03  # times as wide as its outlines that text in pixels may be
LINE = 1.35  # heights of a letter that a line of text takes
NARROWEST, WIDEST = 3.0, 40.0  # inches
ODD = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]+")
MORE = "\N{HORIZONTAL ELLIPSIS}"


def figure(draw: Callable[P, "Sheet"]) -> Callable[P, Figure]:
    """Have a function that draws a sheet return its figure, in the style of the house, whatever the user's settings."""

    @wraps(draw)
    def drawn(*args: P.args, **settings: P.kwargs) -> Figure:
        check_number("width", settings.get("width", WIDTH), NARROWEST, WIDEST)
        with style(), quiet():
            done = draw(*args, **settings).figure
            done.draw_without_rendering()  # makes what would else be made later, in another style
        return done

    return drawn


class Sheet:
    """A figure whose parts are placed in inches from its upper left corner."""

    def __init__(self, width: float, height: float, title: str = "") -> None:
        self.width, self.height = width, height
        self.figure = NotebookFigure(figsize=(width, height))
        if title:
            shown = shortened(title, width - 2 * MARGIN, TITLE, "bold")
            self.text(MARGIN, MARGIN, shown, size=TITLE, weight="bold", va="top")

    def axes(self, left: float, top: float, width: float, height: float, **settings: Any) -> Axes:
        """Axes of this size at this place."""
        bottom = self.height - top - height
        where = (left / self.width, bottom / self.height, width / self.width, height / self.height)
        return self.figure.add_axes(where, **settings)

    def canvas(self, left: float, top: float, width: float, height: float) -> Axes:
        """Bare axes whose units are inches from their own upper left corner."""
        plot = self.axes(left, top, width, height, frameon=False)
        plot.set(xlim=(0, width), ylim=(height, 0), xticks=(), yticks=())
        plot.grid(visible=False)
        return plot

    def text(self, left: float, top: float, text: str, **settings: Any) -> None:
        """Text at this place, as it is."""
        self.figure.text(left / self.width, 1 - top / self.height, text, **{"color": INK, **settings})

    def note(self, *sentences: str) -> None:
        """What there is to say below, in lines that fit."""
        lines = noted(self.width, *sentences)
        self.text(MARGIN, self.height - MARGIN, "\n".join(lines), size=NOTE, color=GREY, va="bottom", linespacing=1.25)


def note_height(width: float, *sentences: str) -> float:
    """Inches that a note takes, with the margin below it."""
    return MARGIN + len(noted(width, *sentences)) * NOTE * LINE / 72


def noted(width: float, *sentences: str) -> list[str]:
    """Sentences as lines of a note; those that are empty are left out."""
    whole = " ".join(f"{one[0].upper()}{one[1:].rstrip('.')}." for one in sentences if one)
    return wrapped(whole, width - 2 * MARGIN, NOTE)


def showing(shown: int, every: int, what: str, how: str = "the largest") -> str:
    """What is cut, as in "showing 30 of 116 topics, the largest"; nothing where all is shown."""
    return "" if shown >= every else f"showing {shown:,} of {every:,} {what}{how and f', {how}'}"


def plain(text: str) -> str:
    """Text of a user as a figure takes it: on one line, and no formula of it."""
    return ODD.sub(" ", text).strip().replace("$", r"\$")


@lru_cache(maxsize=1)
def _measure() -> TextToPath:
    return TextToPath()


@lru_cache(maxsize=100_000)
def text_width(text: str, size: float, weight: str = "normal") -> float:
    """Inches that a text takes."""
    if not text:
        return 0.0
    with quiet():
        font = FontProperties(family=fonts(), size=size, weight=weight)
        width, _, _ = _measure().get_text_width_height_descent(text.replace(r"\$", "$"), font, ismath=False)
    return HINTED * float(width) / 72


def shortened(text: str, room: float, size: float, weight: str = "normal") -> str:
    """A user's text, cut with an ellipsis where the room, in inches, is too small."""
    text = plain(text.replace(r"\$", "$"))
    if text_width(text, size, weight) <= room:
        return text
    low, high = 0, len(text)
    while low < high:  # the longest beginning that fits
        middle = (low + high + 1) // 2
        fits = text_width(_cut(text, middle), size, weight) <= room
        low, high = (middle, high) if fits else (low, middle - 1)
    return _cut(text, low) if low else ""


def _cut(text: str, length: int) -> str:
    return text[:length].rstrip(" ,;.\\") + MORE


def first_that_fits(texts: Sequence[str], room: float, size: float, weight: str = "normal") -> str:
    """The first of some texts, the longest first, that fits; the last one cut if none does."""
    fitting = (text for text in texts if text_width(text, size, weight) <= room)
    return next(fitting, shortened(texts[-1], room, size, weight))


def label_in_room(label: str, room: float, size: float, weight: str = "normal") -> str:
    """A label as much as fits: words with commas between them are left out whole."""
    words = plain(label).split(", ")
    while len(words) > 1 and text_width(", ".join(words), size, weight) > room:
        words.pop()
    return shortened(", ".join(words), room, size, weight)


def in_room(words: Sequence[str], room: float, size: float) -> str:
    """As many words as fit, with commas between them; at least a part of the first."""
    shown = ""
    for word in map(plain, words):
        longer = f"{shown}, {word}" if shown else word
        if text_width(longer, size) > room:
            return shown or shortened(word, room, size)
        shown = longer
    return shown


def wrapped(text: str, room: float, size: float) -> list[str]:
    """A text as lines that fit."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def widest(texts: Iterable[str], size: float, weight: str = "normal") -> float:
    """Inches that the longest of some texts takes."""
    return max((text_width(text, size, weight) for text in texts), default=0.0)
