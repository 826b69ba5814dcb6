"""Topics or themes over time, a panel for each."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from diln.analysis.atlas import Atlas, By, NumberOfThemes
from diln.analysis.trends import MIN_DOCUMENTS, Series, Trends
from diln.show.figures.choice import atlas_of, chosen_items, evenly
from diln.show.figures.sheet import MARGIN, Sheet, figure, note_height, text_width
from diln.show.style import FAINT, GREY, WIDTH, mixed, theme_colour

Floats = NDArray[np.float64]

TOP, HEAD, PANEL, LEFT, BELOW = 0.5, 0.27, 0.95, 0.52, 0.36  # inches
GAP, STRIP, COUNTS = 0.05, 0.13, 0.14  # inches of the documents' bars below a panel, and of their numbers
COLUMN = 2.4
SIZE, TICK = 9.0, 8.0
MOST = 60  # panels
HEADROOM = 1.6  # times the largest value that a panel reaches to, where a band goes further
FEW = 40  # periods up to which each is marked
LOWEST = 0.1  # of the tallest bar of documents that the lowest is tall, for it to be seen


@figure
def trends(
    atlas: Atlas,
    top: int = 12,
    *,
    by: By = "theme",
    topics: Sequence[int] | None = None,
    granularity: str = "auto",
    label: str | None = None,
    themes: NumberOfThemes = "auto",
    standardise: bool = False,
    min_documents: int = MIN_DOCUMENTS,
    width: float = WIDTH,
) -> Sheet:
    """Shares of themes or topics over time, a panel for each, with a band in which they are in 19 of 20 cases.

    Bars below a panel are the documents of each period; hollow ones have no share.

    Parameters
    ----------
    atlas : Atlas
        What to show; its documents need dates.
    top : int
        Maximum number of panels.
    by : {"theme", "topic"}
        What to show.
    topics : sequence of int, optional
        Ids of the topics to show, in place of the largest; with ``by="theme"``, ids of themes.
    granularity : {"auto", "year", "quarter", "month", "week", "day"}
        How long a period is.
    label : str, optional
        Only documents with this label.
    themes : int or "auto"
        Number of themes.
    standardise : bool
        Whether to hold the mix of labels constant; see ``Atlas.trends``.
    min_documents : int
        Periods with fewer documents have no share.
    width : float
        Width in inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    atlas = atlas_of(atlas)
    items, cut = chosen_items(atlas, by, topics, top, MOST, themes)
    found = atlas.trends(
        by, granularity, [item.id for item in items], label, themes, min_documents=min_documents,
        standardise=standardise,
    )  # fmt: skip
    series = {one.id: one for one in found.series}
    shown = [item for item in items if item.id in series]
    columns, rows = evenly(len(shown), int((width - MARGIN) / COLUMN))
    room = (width - MARGIN) / columns - LEFT
    ticks = _ticks(found, room)
    docs = f"{sum(found.n_docs):,} documents in {len(found.periods):,} {_periods(found)}"
    bars = f"small bars: documents of each {found.granularity}, at most {max(found.n_docs):,}"
    notes = (cut, f"share of all words of a {found.granularity}'s documents; bands: 95% over documents", docs,
             bars, *found.notes, found.warning)  # fmt: skip
    below = GAP + STRIP + BELOW + COUNTS * any("\n" in text for text in ticks.values())
    height = TOP + rows * (HEAD + PANEL + below) + note_height(width, *notes)
    sheet = Sheet(width, height, _title(by, label, standardise=standardise))
    for place, item in enumerate(shown):
        row, column = divmod(place, columns)
        left, top_ = LEFT + column * (room + LEFT), TOP + row * (HEAD + PANEL + below) + HEAD
        plot = sheet.axes(left, top_, room - 0.08, PANEL)
        _panel(plot, found, series[item.id], theme_colour(item.theme))
        sheet.text(left, top_ - 0.08, item.name(room - 0.1, SIZE), size=SIZE, weight="normal", va="baseline")
        strip = sheet.axes(left, top_ + PANEL + GAP, room - 0.08, STRIP)
        _documents(strip, found)
        _dates(strip, ticks, len(found.periods))
    sheet.note(*notes)
    return sheet


def _title(by: By, label: str | None, *, standardise: bool) -> str:
    rest = f": {label}" if label is not None else ", labels held constant" if standardise else ""
    return f"{by.capitalize()}s over time{rest}"


def _periods(found: Trends) -> str:
    return f"{found.granularity}{'s' * (len(found.periods) != 1)}"


def _panel(plot: Axes, found: Trends, series: Series, shade: str) -> None:
    x = np.arange(len(found.periods))
    values, low, high = (100 * np.array(part, float) for part in (series.values, series.low, series.high))
    plot.fill_between(x, low, high, color=mixed(shade, "#ffffff", 0.25), linewidth=0)
    plot.plot(x, values, color=shade, linewidth=1.3)
    marked = ~np.isnan(values) if len(x) <= FEW else _alone(values)
    plot.plot(x[marked], values[marked], "o", color=shade, markersize=2.5, clip_on=False)
    single = _alone(values)
    plot.vlines(x[single], low[single], high[single], color=mixed(shade, "#ffffff", 0.4), linewidth=1.2, clip_on=True)
    tallest = np.nanmax([*values, 0.0])
    most = min(np.nanmax([*high, tallest]), HEADROOM * tallest)
    plot.set(xlim=(-0.5, len(x) - 0.5), ylim=(0, 1.05 * most or 1), xticks=())
    plot.yaxis.set_major_locator(MaxNLocator(3))
    plot.yaxis.set_major_formatter(lambda value, _: f"{value:g}%")
    plot.tick_params(labelsize=TICK, length=2)


def _documents(strip: Axes, found: Trends) -> None:
    """The documents of each period as small bars: hollow where there is no share."""
    x, docs = np.arange(len(found.periods)), np.array(found.n_docs)
    shown = np.array([any(one.values[at] is not None for one in found.series) for at in x])
    for some, fill in ((shown, FAINT), (~shown & (docs > 0), "none")):
        strip.bar(x[some], np.maximum(docs[some], LOWEST * docs.max()), 0.8, color=fill, edgecolor=GREY, linewidth=0.5)
    strip.set(xlim=(-0.5, len(x) - 0.5), ylim=(0, docs.max()), yticks=())
    strip.spines["left"].set_visible(False)
    strip.grid(visible=False)


def _alone(values: Floats) -> NDArray[np.bool_]:
    """Which values have none before and after them, so that no line leads to them."""
    there = np.concatenate([[False], ~np.isnan(values), [False]])
    return np.asarray(there[1:-1] & ~there[:-2] & ~there[2:])


def _ticks(found: Trends, room: float) -> dict[int, str]:
    """As many periods named as there is room for, evenly; with their documents where all are named."""
    counted = [f"{period}\n{n:,}" for period, n in zip(found.periods, found.n_docs, strict=True)]
    wide = text_width(max(found.periods, key=len), TICK) + 0.12
    number = max(1, min(len(counted), int(room / wide)))
    places = np.unique(np.linspace(0, len(counted) - 1, number).round().astype(int)).tolist()
    every = len(places) == len(counted)
    return {place: counted[place] if every else found.periods[place] for place in places}


def _dates(strip: Axes, ticks: dict[int, str], number: int) -> None:
    strip.set_xticks(list(ticks), list(ticks.values()))
    strip.tick_params(labelsize=TICK, length=2)
    if len(ticks) > 1 and len(ticks) < number:
        strip.get_xticklabels()[0].set_horizontalalignment("left")
        strip.get_xticklabels()[-1].set_horizontalalignment("right")
