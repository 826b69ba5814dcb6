"""How figures look: one style for all, colours that everyone can tell apart, nothing that is not needed."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import get_font_names
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from diln.files import make_folder, whole

INK, GREY, FAINT = "#222222", "#6b6b6b", "#d9d9d9"
# Okabe and Ito's colours, which differ for every kind of eye; with markers they differ in print, too.
COLOURS = {"DILN": "#0072b2", "HDP": "#d55e00", "CTM": "#009e73", "LDA": "#cc79a7"}
MARKERS = {"DILN": "o", "HDP": "s", "CTM": "^", "LDA": "D"}
OTHER_LETTERS = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Source Han Sans SC", "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei", "Microsoft YaHei", "PingFang SC", "Hiragino Sans", "Yu Gothic", "Malgun Gothic",
    "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Devanagari", "Noto Sans Bengali", "Noto Sans Thai", "FreeSans",
    "Arial Unicode MS", "Noto Emoji", "Segoe UI Symbol",
)  # fmt: skip
SECOND = "#e69f00"  # for a second thing of the same model
ATTRACT, AVOID = "#0068b0", "#b84a00"  # topics that go together, and that avoid each other: solid and dashed lines
# Of themes, as on the pages; letters tell them apart in print.
THEMES = (
    "#3377b7", "#da7e0b", "#21a5a0", "#72054e", "#937f61", "#01437f", "#6936b4", "#764a3e", "#647411", "#a05076",
    "#907aff", "#483d00",
)  # fmt: skip
SHADES = ((None, 1.0), (INK, 0.7), ("#ffffff", 0.62), (INK, 0.5), ("#ffffff", 0.45))  # mixed with, and how much is left
WIDTH = 8.0  # inches: 800 pixels
DPI = 100

STYLE: Any = {
    "font.size": 11, "axes.titlesize": 11, "axes.titlelocation": "left",
    "axes.titleweight": "bold", "axes.labelsize": 10.5, "axes.labelcolor": GREY, "axes.edgecolor": GREY,
    "axes.linewidth": 0.8, "axes.spines.top": False, "axes.spines.right": False, "axes.titlecolor": INK,
    "xtick.color": GREY, "ytick.color": GREY, "xtick.labelsize": 10, "ytick.labelsize": 10, "text.color": INK,
    "axes.grid": True, "axes.grid.axis": "y", "axes.axisbelow": True, "grid.color": FAINT, "grid.linewidth": 0.6,
    "lines.linewidth": 1.8, "lines.markersize": 5, "legend.frameon": False, "legend.fontsize": 10.5,
    "figure.facecolor": "white", "savefig.facecolor": "white",
    "svg.fonttype": "path", "svg.hashsalt": "diln",
}  # fmt: skip


@contextmanager
def style() -> Iterator[None]:
    """The style, for as long as figures are made."""
    with mpl.rc_context({**STYLE, "font.family": fonts()}):
        yield


@contextmanager
def quiet() -> Iterator[None]:
    """Without a warning for each letter that the fonts of this machine do not have: it is drawn as a box."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from", category=UserWarning)
        yield


@lru_cache(maxsize=1)
def fonts() -> list[str]:
    """The font of figures, and fonts of this machine for letters that it does not have."""
    there = set(get_font_names())
    return ["DejaVu Sans", *(name for name in OTHER_LETTERS if name in there)]


class NotebookFigure(Figure):
    """A figure that notebooks show: matplotlib tells them how to only where pyplot, which we do not use, is set up."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """Return the picture in twice the pixels, for sharp screens, and the size it is shown in."""
        width, height = (round(DPI * inches) for inches in self.get_size_inches())
        return figure_bytes(self, "png", 2 * DPI), {"width": width, "height": height}


def new_figure(height: float, rows: int = 1, columns: int = 1, **settings: Any) -> tuple[Figure, Any]:
    """A figure with axes (rows, columns); it belongs to no window."""
    figure = NotebookFigure(figsize=(WIDTH, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **settings)


def colour(model: str) -> str:
    """A model's colour, the same everywhere."""
    return COLOURS.get(model, INK)


def marker(model: str) -> str:
    """A model's marker, the same everywhere."""
    return MARKERS.get(model, "v")


def theme_colour(theme: int | None) -> str:
    """A theme's colour, the same everywhere; after the last they repeat in another shade."""
    if theme is None or theme < 0:
        return GREY
    other, share = SHADES[theme // len(THEMES) % len(SHADES)]
    return mixed(THEMES[theme % len(THEMES)], other or INK, share)


def theme_mark(theme: int | None) -> str:
    """The letter that stands for a theme where colour alone would not do: A, B, ... Z, AA."""
    if theme is None or theme < 0:
        return ""
    return theme_mark(theme // 26 - 1) + chr(ord("A") + theme % 26)


def mixed(one: str, other: str, share: float) -> str:
    """A colour with this share of the one, and the rest of the other."""
    both = zip(to_rgb(one), to_rgb(other), strict=True)
    red, green, blue = (share * mine + (1 - share) * its for mine, its in both)
    return to_hex((red, green, blue))


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


def figure_bytes(figure: Figure, form: str, dpi: int = DPI) -> bytes:
    """A figure as svg, png or pdf, the same bytes for the same figure."""
    dates: dict[str, dict[str, None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    drawn = BytesIO()
    with style(), quiet():
        figure.savefig(drawn, format=form, dpi=dpi, metadata=dates[form])
    return drawn.getvalue()
