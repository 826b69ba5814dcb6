"""Topics or themes by label, as dots with intervals."""

from collections.abc import Sequence
from math import ceil, inf, isnan, log2

from matplotlib.axes import Axes

from diln.analysis.atlas import Atlas, By, NumberOfThemes
from diln.analysis.groups import GroupCell
from diln.analysis.html import percent
from diln.show.figures.choice import atlas_of, chosen_items, evenly
from diln.show.figures.sheet import MARGIN, Sheet, figure, note_height, shortened, showing, widest
from diln.show.style import GREY, WIDTH, theme_colour

TOP, HEAD, ROW, BELOW = 0.5, 0.3, 0.18, 0.38  # inches
COLUMN, NAMES = 1.75, 2.0
SIZE, TICK = 9.0, 8.0
MOST, LABELS = 60, 12  # panels, and labels in each
FARTHEST = 5.0  # doublings of a lift that are shown
SHARE = 0.2  # of the axis, for the shares at its end


@figure
def by_label(
    atlas: Atlas,
    top: int = 12,
    *,
    by: By = "theme",
    topics: Sequence[int] | None = None,
    themes: NumberOfThemes = "auto",
    width: float = WIDTH,
) -> Sheet:
    """How much more of each theme or topic the documents of a label have than the others, with intervals.

    Dots are lifts: how many times as large the share is as in all other documents. Filled ones differ by more than
    chance; hollow ones may not.

    Parameters
    ----------
    atlas : Atlas
        What to show; its documents need labels.
    top : int
        Maximum number of panels.
    by : {"theme", "topic"}
        What to show.
    topics : sequence of int, optional
        Ids of the topics to show, in place of the largest; with ``by="theme"``, ids of themes.
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
    found = atlas.groups(by, ids=[item.id for item in items], n_themes=themes)
    labels = sorted(found.labels, key=lambda one: -one.n_docs)[:LABELS]
    cells = {(cell.id, cell.label_name): cell for cell in found.cells}
    names = [shortened(one.name or "(none)", min(NAMES, 0.25 * width), TICK) for one in labels]
    notes = (
        cut, showing(len(labels), len(found.labels), "labels", "those with most documents"),
        "how many times as much of it documents of a label have as all others, on average; lines: 95% intervals; "
        "filled: more than chance; beside it the share",
    )  # fmt: skip
    left = MARGIN + widest(names, TICK) + 0.12
    columns, rows = evenly(len(items), int((width - left - MARGIN + 0.25) / COLUMN))
    panel = max(len(labels), 2) * ROW
    height = TOP + rows * (HEAD + panel + BELOW) + note_height(width, *notes)
    sheet = Sheet(width, height, f"{by.capitalize()}s by label")
    room = (width - left - MARGIN + 0.25) / columns - 0.25
    reach = _reach(list(cells.values()))
    for place, item in enumerate(items):
        row, column = divmod(place, columns)
        at, top_ = left + column * (room + 0.25), TOP + row * (HEAD + panel + BELOW) + HEAD
        plot = sheet.axes(at, top_, room, panel)
        _panel(plot, [cells.get((item.id, one.name)) for one in labels], theme_colour(item.theme), reach)
        plot.set_yticks(range(len(labels)), names if column == 0 else [""] * len(names), size=TICK)
        sheet.text(at, top_ - 0.08, item.name(room, SIZE), size=SIZE, va="baseline")
    sheet.note(*notes)
    return sheet


def _reach(cells: Sequence[GroupCell]) -> float:
    """How many doublings of the lift the axis reaches to both sides."""
    doubled = [abs(log2(cell.lift)) for cell in cells if 0 < cell.lift < inf]
    return min(float(ceil(max(doubled, default=1.0) + 0.2)), FARTHEST)


def _panel(plot: Axes, cells: Sequence[GroupCell | None], shade: str, reach: float) -> None:
    def across(lift: float) -> float:
        return min(max(log2(lift) if 0 < lift < inf else (reach if lift > 0 else -reach), -reach), reach)

    plot.axvline(0, color=GREY, linewidth=0.9, zorder=0)
    for place, cell in enumerate(cells):
        if cell is None or isnan(cell.lift):
            continue
        low, at, high = (across(one if not isnan(one) else cell.lift) for one in (cell.low, cell.lift, cell.high))
        plot.plot([low, high], [place, place], color=shade, linewidth=1.6, solid_capstyle="butt")
        fill = shade if cell.sure else "white"
        plot.plot(at, place, "o", markersize=5, markerfacecolor=fill, markeredgecolor=shade, mew=1.2, clip_on=False)
        plot.text(
            1.0, place, percent(cell.share), size=TICK - 1, color=GREY, ha="right", va="center_baseline",
            transform=plot.get_yaxis_transform(),
        )  # fmt: skip
    plot.set_ylim(len(cells) - 0.4, -0.6)
    plot.set_xlim(-1.06 * reach, 1.06 * reach + SHARE * 2 * reach)
    step = max(1, round(reach / 2))
    places = [place for place in range(-int(reach), int(reach) + 1) if place % step == 0]
    plot.set_xticks(
        places, [f"{2**place}\N{MULTIPLICATION SIGN}" if place >= 0 else f"1/{2**-place}" for place in places]
    )
    plot.tick_params(labelsize=TICK, length=2)
    plot.tick_params(axis="y", length=0)
    plot.grid(visible=False, axis="y")
    plot.grid(visible=True, axis="x")
    plot.spines["left"].set_visible(False)
