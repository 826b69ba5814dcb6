"""Words of the largest topics, as bars of their probabilities."""

from collections.abc import Sequence
from typing import Any

from diln.analysis.atlas import Atlas
from diln.analysis.html import percent
from diln.analysis.inputs import Model
from diln.analysis.topic_infos import TopicInfo
from diln.models.checks import check_whole
from diln.show.figures.choice import atlas_of, chosen_topics, counted, evenly
from diln.show.figures.sheet import MARGIN, Sheet, figure, note_height, shortened, text_width, widest
from diln.show.style import GREY, INK, WIDTH, theme_colour

TOP, COLUMN, GAP, ROW, HEAD = 0.5, 2.25, 0.3, 0.18, 0.34  # inches
SIZE, SMALL = 9.0, 8.0  # points
MOST_WORDS = 60
WORDS = 0.55  # of a column that words may take


@figure
def topic_words(
    atlas: Atlas | Model,
    top: int = 12,
    *,
    topics: Sequence[int] | None = None,
    n_words: int = 8,
    width: float = WIDTH,
) -> Sheet:
    """The words of the largest topics, with bars of their probabilities.

    Parameters
    ----------
    atlas : Atlas, or a fitted model
        What to show.
    top : int
        Maximum number of topics.
    topics : sequence of int, optional
        Ids of the topics to show, in place of the largest.
    n_words : int
        Number of words of each topic, at most 60.
    width : float
        Width in inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    atlas = atlas_of(atlas)
    check_whole("n_words", n_words, 1)
    shown, cut = chosen_topics(atlas, topics, top, n_words=min(n_words, MOST_WORDS))
    notes = (cut, "share of all words beside the number; bars: the word's probability in the topic")
    columns, rows = evenly(len(shown), int((width - 2 * MARGIN + GAP) / (COLUMN + GAP)))
    room = (width - 2 * MARGIN + GAP) / columns - GAP
    block = HEAD + max(len(topic.words) for topic in shown) * ROW + 0.18
    height = TOP + rows * block + note_height(width, *notes)
    sheet = Sheet(width, height, f"Words of {counted(len(shown), 'topic')}")
    canvas = sheet.canvas(0, 0, width, height)
    for place, topic in enumerate(shown):
        row, column = divmod(place, columns)
        left, at = MARGIN + column * (room + GAP), TOP + row * block
        _head(canvas, topic, left, at, room)
        _bars(canvas, topic, left, at + HEAD, room)
    sheet.note(*notes)
    return sheet


def _head(canvas: Any, topic: TopicInfo, left: float, top: float, room: float) -> None:
    share = percent(topic.share)
    name = f"{topic.id}  {topic.label}" if topic.named else str(topic.id)
    name = shortened(name, room - text_width(share, SIZE) - 0.1, SIZE + 0.5, "bold")
    canvas.text(left, top + 0.12, name, size=SIZE + 0.5, weight="bold", va="center", color=INK)
    canvas.text(left + room, top + 0.12, share, size=SIZE, color=GREY, va="center", ha="right")
    canvas.plot([left, left + room], [top + HEAD - 0.1] * 2, color=theme_colour(topic.theme), linewidth=2)


def _bars(canvas: Any, topic: TopicInfo, left: float, top: float, room: float) -> None:
    """A line for each word: the word, its bar, and its probability."""
    words = [shortened(word, WORDS * room, SIZE) for word in topic.words]
    numbers = [percent(one) for one in topic.probabilities]
    begin = left + widest(words, SIZE) + 0.08
    space = left + room - begin - widest(numbers, SMALL) - 0.08
    most = max(topic.probabilities, default=1.0) or 1.0
    for line, (word, number, probability) in enumerate(zip(words, numbers, topic.probabilities, strict=True)):
        at = top + (line + 0.5) * ROW
        length = max(space * probability / most, 0.01)
        canvas.text(left, at, word, size=SIZE, va="center_baseline")
        canvas.barh(at, length, ROW * 0.6, begin, color=theme_colour(topic.theme), alpha=0.75)
        canvas.text(begin + length + 0.05, at, number, size=SMALL, color=GREY, va="center_baseline")
