"""How much each topic is used: shares of all words, and topics of a document."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from diln.analysis.atlas import Atlas
from diln.analysis.html import percent
from diln.analysis.inputs import Model
from diln.analysis.topic_infos import TopicInfo
from diln.show.figures.choice import atlas_of, chosen_topics, counted, topic_name
from diln.show.figures.sheet import MARGIN, Sheet, figure, note_height
from diln.show.style import GREY, INK, WIDTH, theme_colour, thousands

NAMED = 8  # topics whose names are written, at most
MOST_PART = 0.8  # of a document, whose topics are counted
DOCUMENTS = 20_000  # that are counted, at most
BLOCK = 2048  # documents at a time
PANEL, TOP, LEFT, BELOW = 2.9, 0.85, 0.65, 0.55  # inches
NARROW = 6.0  # inches up to which panels are below each other
SIZE = 9.0


@figure
def topic_usage(atlas: Atlas | Model, top: int = 800, *, width: float = WIDTH) -> Sheet:
    """The topics' shares of all words, the largest first, and how many topics a document has.

    How many topics a document has is shown where the documents are known.

    Parameters
    ----------
    atlas : Atlas, or a fitted model
        What to show.
    top : int
        Maximum number of topics.
    width : float
        Width in inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    atlas = atlas_of(atlas)
    shown, cut = chosen_topics(atlas, None, top, 10**6)
    per_document, n_docs = topics_per_document(atlas)
    every = atlas.topics()
    held = np.cumsum([one.share for one in every])
    half = int(np.searchsorted(held, 0.5)) + 1
    holding = (
        f"{counted(half, 'topic')} of {len(every):,} hold half of all words"
        if half <= len(every)
        else f"the {counted(len(every), 'topic')} hold {percent(float(held[-1]))} of all words"
    )
    notes = [cut] if len(every) == 1 else [cut, holding]
    if len(per_document):
        notes.append("in the title: the median")
    if n_docs > len(per_document):
        notes.append(f"documents: {len(per_document):,} of {n_docs:,}, evenly chosen")
    beside, below = (len(per_document) > 0 and wide for wide in (width >= NARROW, width < NARROW))
    height = TOP + (PANEL + BELOW) * (1 + below) + 0.4 * below + note_height(width, *notes)
    sheet = Sheet(width, height, f"{counted(len(every), 'topic')} in use")
    first = (width - LEFT - MARGIN) * (0.6 if beside else 1) - (0.3 if beside else 0)
    _shares(sheet.axes(LEFT, TOP, first, PANEL), shown, first)
    if len(per_document):
        left, top_ = (LEFT + first + 0.85, TOP) if beside else (LEFT, TOP + PANEL + BELOW + 0.4)
        _documents(sheet.axes(left, top_, width - left - MARGIN, PANEL), per_document)
    sheet.note(*notes)
    return sheet


def _shares(plot: Axes, shown: list[TopicInfo], room: float) -> None:
    shares = [100 * topic.share for topic in shown]
    places = range(1, len(shown) + 1)
    plot.bar(places, shares, width=0.8 if len(shown) < 100 else 1.0, color=[theme_colour(one.theme) for one in shown])
    plot.set(xlim=(0.2, len(shown) + 0.8), ylim=(0, max(shares) * 1.05))
    plot.set_title("Share of all words", pad=8)
    plot.set_xlabel("topic, the largest first")
    plot.xaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1, steps=[1, 2, 5, 10]))
    plot.yaxis.set_major_formatter(lambda value, _: f"{value:g}%")
    thousands(plot.xaxis)
    named = shown[:NAMED]
    for line, topic in enumerate(named):
        text = topic_name(topic, 0.55 * room, SIZE)
        at = 0.97 - line * 0.075
        plot.text(
            0.99, at, text, size=SIZE, ha="right", va="top", transform=plot.transAxes, color=INK,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
        )  # fmt: skip


def _documents(plot: Axes, found: NDArray[np.int64]) -> None:
    most = int(np.quantile(found, 0.995)) + 1
    places, docs = np.unique(np.minimum(found, most), return_counts=True)
    plot.bar(places, 100 * docs / docs.sum(), width=0.85, color=GREY)
    plot.set_title(f"Topics of a document: {np.median(found):g}", pad=8)
    plot.set_xlabel(f"topics that hold {MOST_PART:.0%} of it")
    plot.set_xlim(0.3, most + 0.7)
    plot.xaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1, steps=[1, 2, 5, 10]))
    plot.yaxis.set_major_formatter(lambda value, _: f"{value:g}%")


def topics_per_document(atlas: Atlas) -> tuple[NDArray[np.int64], int]:
    """The fewest topics that hold most of a document, for documents with words, and how many documents there are.

    None where documents are unknown; evenly chosen ones where there are very many.
    """
    if atlas.index is None:
        return np.zeros(0, np.int64), 0
    rows = np.flatnonzero(np.asarray(atlas.index.tokens) > 0)
    some = rows[:: max(1, -(-len(rows) // DOCUMENTS))]
    parts = [_needed(atlas.index.proportions(some[at : at + BLOCK])) for at in range(0, len(some), BLOCK)]
    return np.concatenate([np.zeros(0, np.int64), *parts]), len(rows)


def _needed(proportions: NDArray[np.float32]) -> NDArray[np.int64]:
    largest = -np.sort(-proportions, axis=1)
    held = np.cumsum(largest, axis=1, dtype=np.float64)
    return np.asarray(1 + (held < MOST_PART * held[:, -1:] - 1e-6).sum(axis=1), np.int64)
