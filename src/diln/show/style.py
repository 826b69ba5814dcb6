"""How figures look: one style for all, colours that everyone can tell apart, nothing that is not needed."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from diln.files import make_folder, whole

INK, GREY, FAINT = "#222222", "#6b6b6b", "#d9d9d9"
# Okabe and Ito's colours, which differ for every kind of eye; with markers they differ in print, too.
COLOURS = {"DILN": "#0072b2", "HDP": "#d55e00", "CTM": "#009e73", "LDA": "#cc79a7"}
MARKERS = {"DILN": "o", "HDP": "s", "CTM": "^", "LDA": "D"}
SECOND = "#e69f00"  # for a second thing of the same model
WIDTH = 8.0  # inches: 800 pixels
DPI = 100

STYLE: Any = {
    "font.family": "sans-serif", "font.size": 11, "axes.titlesize": 11, "axes.titlelocation": "left",
    "axes.titleweight": "bold", "axes.labelsize": 10.5, "axes.labelcolor": GREY, "axes.edgecolor": GREY,
    "axes.linewidth": 0.8, "axes.spines.top": False, "axes.spines.right": False, "axes.titlecolor": INK,
    "xtick.color": GREY, "ytick.color": GREY, "xtick.labelsize": 10, "ytick.labelsize": 10, "text.color": INK,
    "axes.grid": True, "axes.grid.axis": "y", "axes.axisbelow": True, "grid.color": FAINT, "grid.linewidth": 0.6,
    "lines.linewidth": 1.8, "lines.markersize": 5, "legend.frameon": False, "legend.fontsize": 10.5,
    "figure.constrained_layout.use": True, "figure.facecolor": "white", "savefig.facecolor": "white",
    "svg.fonttype": "path", "svg.hashsalt": "diln",
}  # fmt: skip


@contextmanager
def style() -> Iterator[None]:
    """The style, for as long as figures are made."""
    with mpl.rc_context(STYLE):
        yield


def new_figure(height: float, rows: int = 1, columns: int = 1, **settings: Any) -> tuple[Figure, Any]:
    """A figure with axes (rows, columns); it belongs to no window."""
    figure = Figure(figsize=(WIDTH, height))
    return figure, figure.subplots(rows, columns, squeeze=False, **settings)


def colour(model: str) -> str:
    """A model's colour, the same everywhere."""
    return COLOURS.get(model, INK)


def marker(model: str) -> str:
    """A model's marker, the same everywhere."""
    return MARKERS.get(model, "v")


def thousands(axis: Any) -> None:
    """Ticks with commas, as in 12,000."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value == int(value) else f"{value:g}"))


def exact_ticks(axis: Any, values: Any) -> None:
    """Ticks at these values of a logarithmic axis, and no others."""
    axis.set_ticks(list(values))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def few_ticks(axis: Any) -> None:
    """Ticks at 1, 2, 5, 10 and so on of a logarithmic axis."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_minor_locator(NullLocator())
    thousands(axis)


def label_ends(axes: Axes, ends: list[tuple[float, float, str, str]]) -> None:
    """Names at the right ends of lines (x, y, name, colour), moved apart where they would lie on each other."""
    low, high = axes.get_ylim()
    gap = (high - low) * 0.06
    placed = -float("inf")
    for x, y, name, shade in sorted(ends, key=lambda end: end[1]):
        placed = max(y, placed + gap)
        axes.annotate(
            name, (x, placed), xytext=(8, 0), textcoords="offset points", va="center", color=shade, weight="bold",
            annotation_clip=False,
        )  # fmt: skip


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure as .svg and as .png, each in one step, the same bytes for the same figure."""
    make_folder(folder)
    told: dict[str, Any] = {"svg": {"metadata": {"Date": None}}, "png": {"dpi": DPI}}
    for form, settings in told.items():
        drawn = BytesIO()
        figure.savefig(drawn, format=form, **settings)
        with whole(folder / f"{name}.{form}") as file:
            file.write(drawn.getbuffer())
    return [folder / f"{name}.{form}" for form in told]
