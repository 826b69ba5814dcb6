"""Topics or themes over time, a panel for each."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from diln.analysis.atlas import Atlas, By, NumberOfThemes
from diln.analysis.trends import Series, Trends
from diln.show.figures.choice import atlas_of, chosen_items, evenly
from diln.show.figures.sheet import MARGIN, Sheet, figure, note_height, text_width
from diln.show.style import WIDTH, mixed, theme_colour

Floats = NDArray[np.float64]

TOP, HEAD, PANEL, LEFT, BELOW = 0.5, 0.27, 0.95, 0.52, 0.36  # inches
COLUMN = 2.4
SIZE, TICK = 9.0, 8.0
MOST = 60  # panels
HEADROOM = 1.6  # times the largest value that a panel reaches to, where a band goes further
FEW = 40  # periods up to which each is marked


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
    width: float = WIDTH,
) -> Sheet:
    """Shares of themes or topics over time, a panel for each, with a band in which they are in 19 of 20 cases.

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
    width : float
        Width in inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    atlas = atlas_of(atlas)
    items, cut = chosen_items(atlas, by, topics, top, MOST, themes)
    found = atlas.trends(by, granularity, ids=[item.id for item in items], label=label, n_themes=themes)
    series = {one.id: one for one in found.series}
    shown = [item for item in items if item.id in series]
    columns, rows = evenly(len(shown), int((width - MARGIN) / COLUMN))
    docs = f"{sum(found.n_docs):,} documents in {len(found.periods):,} {_periods(found)}"
    notes = (cut, f"share of all words of a {found.granularity}'s documents; bands: 95% over documents", docs)
    height = TOP + rows * (HEAD + PANEL + BELOW) + note_height(width, *notes)
    sheet = Sheet(width, height, f"{by.capitalize()}s over time" + (f": {label}" if label is not None else ""))
    room = (width - MARGIN) / columns - LEFT
    for place, item in enumerate(shown):
        row, column = divmod(place, columns)
        left, top_ = LEFT + column * (room + LEFT), TOP + row * (HEAD + PANEL + BELOW) + HEAD
        plot = sheet.axes(left, top_, room - 0.08, PANEL)
        _panel(plot, found, series[item.id], theme_colour(item.theme))
        sheet.text(left, top_ - 0.08, item.name(room - 0.1, SIZE), size=SIZE, weight="normal", va="baseline")
        _dates(plot, found.periods, room)
    sheet.note(*notes)
    return sheet


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
    plot.set(xlim=(-0.5, len(x) - 0.5) if len(x) < 3 else (0, len(x) - 1), ylim=(0, 1.05 * most or 1))
    plot.yaxis.set_major_locator(MaxNLocator(3))
    plot.yaxis.set_major_formatter(lambda value, _: f"{value:g}%")
    plot.tick_params(labelsize=TICK, length=2)


def _alone(values: Floats) -> NDArray[np.bool_]:
    """Which values have none before and after them, so that no line leads to them."""
    there = np.concatenate([[False], ~np.isnan(values), [False]])
    return np.asarray(there[1:-1] & ~there[:-2] & ~there[2:])


def _dates(plot: Axes, periods: Sequence[str], room: float) -> None:
    """As many periods named as there is room for, evenly."""
    wide = text_width(max(periods, key=len), TICK) + 0.12
    number = max(1, min(len(periods), int(room / wide)))
    places = np.unique(np.linspace(0, len(periods) - 1, number).round().astype(int))
    plot.set_xticks(places, [periods[place] for place in places])
    if len(places) > 1:
        first, last = plot.get_xticklabels()[0], plot.get_xticklabels()[-1]
        first.set_horizontalalignment("left" if len(periods) > 2 else "center")
        last.set_horizontalalignment("right" if len(periods) > 2 else "center")
