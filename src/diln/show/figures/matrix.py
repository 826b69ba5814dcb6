"""How topics go together, as two matrices: those that do, and those that avoid each other."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from numpy.typing import NDArray

from diln.analysis.atlas import Atlas, NumberOfThemes
from diln.analysis.inputs import Model
from diln.show.figures.choice import choose, counted
from diln.show.figures.key import Key, theme_key, topics_key
from diln.show.figures.sheet import MARGIN, Sheet, figure, first_that_fits, note_height
from diln.show.style import ATTRACT, AVOID, FAINT, GREY, INK, WIDTH, mixed, theme_colour, theme_mark

Floats = NDArray[np.float64]

TOP, HEAD, STRIP, GAP, SCALE = 0.45, 0.28, 0.11, 0.3, 0.5  # inches
TOGETHER = ("Together more often than by chance", "Go together", "together")  # titles for less and less room
APART = ("Less often: they avoid each other", "Avoid each other", "apart")
NARROW = 5.5  # inches up to which the matrices are below each other
TICK = 0.4  # inches between two lifts of a scale, at least
MOST = 800  # topics
LISTED = 80  # topics whose words are listed below, at most
VECTOR = 64  # topics up to which each cell is a shape of its own
SMALLEST = 4.8  # points: of numbers beside the rows
STEPS = ((1, 4, 16, 64, 256), (1, 2, 4, 8), (1, 1.5, 2, 3), (1, 1.2, 1.5, 2), (1, 1.1, 1.2, 1.3))  # lifts of a scale
LEAST = 0.3  # log lift that the darkest colour stands for, at least


@figure
def correlation_matrices(
    atlas: Atlas | Model,
    top: int = 30,
    *,
    topics: Sequence[int] | None = None,
    themes: NumberOfThemes = "auto",
    width: float = WIDTH,
) -> Sheet:
    """Which of the largest topics go together, and which avoid each other, as two matrices.

    Topics are in the order of their themes. Dots mark pairs that are sure, where several chains tell.

    Parameters
    ----------
    atlas : Atlas, or a fitted DILN or CTM
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
    matrix = chosen.atlas.matrix()
    known = {topic: place for place, topic in enumerate(matrix.order)}
    shown = [topic for topic in chosen.by_theme() if topic.id in known]
    if not shown:
        raise ValueError("none of these topics differs clearly from the origin, so there are no pairs to show")
    places = np.array([known[topic.id] for topic in shown])
    values = np.asarray(matrix.log_lift, float)[np.ix_(places, places)]
    sure = None if matrix.sure is None else np.asarray(matrix.sure)[np.ix_(places, places)]
    left_out = len(chosen.topics) - len(shown)
    notes = (
        chosen.cut, f"{left_out:,} near the origin left out" if left_out else "",
        "times as often together as by chance" + ("" if sure is None else "; dots: sure pairs"),
    )  # fmt: skip
    inner = width - 2 * MARGIN
    key: Key = topics_key(chosen.themes, shown, inner) if len(shown) <= LISTED else theme_key(chosen.themes, inner)
    ids = 0.28 if len(shown) <= 60 else 0.0
    stacked = width < NARROW
    side = inner - STRIP - ids if stacked else (inner - GAP - 2 * (STRIP + ids)) / 2
    block = HEAD + STRIP + side + SCALE
    height = TOP + block * (1 + stacked) + key.height + 0.15 + note_height(width, *notes)
    sheet = Sheet(width, height, f"Pairs of {counted(len(shown), 'topic')}")
    most = scale_end(values)
    halves = ((TOGETHER, values, ATTRACT), (APART, -values, AVOID))
    for number, (titles, strengths, shade) in enumerate(halves):
        left = MARGIN + ids + STRIP + (0 if stacked else number * (side + GAP + ids + STRIP))
        top_ = TOP + HEAD + STRIP + (block * number if stacked else 0)
        plot = sheet.axes(left, top_, side, side)
        _cells(plot, strengths, sure, most, shade)
        _strips(sheet, plot, [topic.theme for topic in shown], left, top_, side)
        sheet.text(left, top_ - STRIP - 0.1, first_that_fits(titles, side, 10), size=10, va="baseline")
        if ids:
            _numbers(plot, [topic.id for topic in shown], side)
        _scale(sheet, left, top_ + side + 0.12, min(0.9 * side, 1.8), most, number, shade)
    canvas = sheet.canvas(0, 0, width, height)
    key.draw(canvas, MARGIN, TOP + block * (1 + stacked))
    sheet.note(*notes)
    return sheet


def scale_end(values: Floats) -> float:
    """The log lift of the darkest colour: few pairs are beyond."""
    off = np.abs(values[~np.eye(len(values), dtype=bool)])
    return max(LEAST, float(np.quantile(off, 0.98)) if off.size else LEAST)


def ramp(shade: str) -> LinearSegmentedColormap:
    """From white to this colour and on to a darker one."""
    return LinearSegmentedColormap.from_list(
        "", ["#ffffff", mixed(shade, "#ffffff", 0.5), shade, mixed(shade, INK, 0.5)]
    )


def _cells(plot: Axes, strengths: Floats, sure: NDArray[np.bool_] | None, most: float, shade: str) -> None:
    size = len(strengths)
    nothing = (strengths < most / 100) | np.eye(size, dtype=bool)
    shown = np.ma.masked_array(strengths, nothing)
    if size <= VECTOR:
        plot.pcolormesh(np.arange(size + 1), np.arange(size + 1), shown, cmap=ramp(shade), vmin=0, vmax=most)
    else:
        plot.imshow(shown, cmap=ramp(shade), vmin=0, vmax=most, interpolation="none", extent=(0, size, size, 0))
    plot.plot([0, size], [0, size], color=FAINT, linewidth=0.8)
    if sure is not None and size <= VECTOR:
        rows, columns = np.nonzero(sure & ~nothing)
        dark = strengths[rows, columns] > 0.5 * most
        area = min(9.0, (0.32 * plot.bbox.width / plot.figure.dpi * 72 / size) ** 2)
        plot.scatter(columns + 0.5, rows + 0.5, area, ["white" if one else INK for one in dark], linewidths=0)
    plot.set(xlim=(0, size), ylim=(size, 0), xticks=(), yticks=())
    plot.grid(visible=False)
    for spine in plot.spines.values():
        spine.set(visible=True, color=FAINT)


def _strips(sheet: Sheet, plot: Axes, themes: list[int | None], left: float, below: float, side: float) -> None:
    """Colours of the themes above and at the left, thin lines between them, and letters where there is room."""
    cell = side / len(themes)
    top = below - STRIP
    canvas = sheet.canvas(0, 0, sheet.width, sheet.height)
    begin = 0
    for place in range(1, len(themes) + 1):
        if place < len(themes) and themes[place] == themes[begin]:
            continue
        shade, length, middle = theme_colour(themes[begin]), (place - begin) * cell, (begin + place) / 2 * cell
        canvas.bar(left + middle, STRIP - 0.03, length, top, color=shade, edgecolor="white", linewidth=0.6)
        canvas.barh(
            top + STRIP + middle, STRIP - 0.03, length, left - STRIP, color=shade, edgecolor="white", linewidth=0.6
        )
        if place < len(themes):
            plot.axhline(place, color=FAINT, linewidth=0.6)
            plot.axvline(place, color=FAINT, linewidth=0.6)
        if length > 0.1:
            style: dict[str, Any] = {
                "size": 5.5,
                "color": "white",
                "ha": "center",
                "va": "center_baseline",
                "weight": "bold",
            }
            canvas.text(left + middle, top + STRIP / 2 - 0.015, theme_mark(themes[begin]), **style)
            canvas.text(left - STRIP / 2 - 0.015, top + STRIP + middle, theme_mark(themes[begin]), **style)
        begin = place


def _numbers(plot: Axes, ids: list[int], side: float) -> None:
    size = min(8.0, 72 * side / len(ids) * 0.82)
    if size < SMALLEST:
        return
    for place, number in enumerate(ids):
        plot.annotate(
            str(number), (0, place + 0.5), xytext=(-72 * STRIP - 3, 0), textcoords="offset points", size=size,
            ha="right", va="center_baseline", color=GREY, annotation_clip=False,
        )  # fmt: skip


def _scale(sheet: Sheet, left: float, top: float, room: float, most: float, number: int, shade: str) -> None:
    """Which colour is which lift."""
    plot = sheet.axes(left, top, room, 0.09)
    plot.imshow(np.linspace(0, 1, 64)[np.newaxis], cmap=ramp(shade), aspect="auto", extent=(0, most, 0, 1))
    within = ([lift for lift in some if np.log(lift) <= most] for some in STEPS)
    steps = next((some for some in within if len(some) > 2), [1.0, 1.2])
    steps = [lift for lift in steps if lift == 1 or np.log(lift) * room > TICK * most]
    steps = [
        one for one, after in zip(steps, [*steps[1:], np.inf], strict=True) if np.log(after / one) * room > TICK * most
    ]
    names = [f"{lift if number == 0 else 1 / lift:.2g}\N{MULTIPLICATION SIGN}" for lift in steps]
    plot.set_xticks([float(np.log(lift)) for lift in steps], names, size=8)
    plot.set_yticks([])
    plot.tick_params(axis="x", length=2, pad=2)
    plot.grid(visible=False)
    for spine in plot.spines.values():
        spine.set_visible(False)
