"""What became of a model while it was fitted."""

from math import ceil
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from diln.analysis.atlas import Atlas
from diln.analysis.inputs import Model
from diln.models.fitted import Fitted
from diln.show.figures.choice import atlas_of
from diln.show.figures.sheet import MARGIN, Sheet, figure, first_that_fits, note_height
from diln.show.style import FAINT, WIDTH, colour, thousands

PANEL, TOP, ABOVE, LEFT, BELOW = 1.7, 0.45, 0.35, 0.75, 0.6  # inches
FEW = 12  # points of a line that are marked one by one, at most
MOST = 2000  # points of a line, at most
STEPS = [1, 2, 2.5, 5, 10]  # between ticks, times a power of 10

PARAMETERS: dict[str, tuple[str, ...]] = {
    "alpha": ("α: concentration of topics in the corpus", "α"),
    "beta": ("β: concentration of topics in a document", "β"),
    "n_topics": ("Topics in use",),
    "location_variance": ("Variance of the topics' locations", "Variance"),
}
QUALITIES: dict[str, tuple[str, ...]] = {
    "score": ("Score: mean log probability of a word given all others (higher is better)", "Score"),
    "perplexity": ("Perplexity (lower is better)", "Perplexity"),
    "bound": ("Lower bound on the log probability (higher is better)", "Bound"),
}


@figure
def training(atlas: Atlas | Model, *, width: float = WIDTH) -> Sheet:
    """Concentrations alpha and beta, topics in use and the variance of locations along a fit.

    Parameters
    ----------
    atlas : Atlas, or a fitted model
        What to show.
    width : float
        Width in inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    return _panels(atlas_of(atlas).fitted, PARAMETERS, "Parameters along the fit", width, 2)


@figure
def learning_curves(atlas: Atlas | Model, *, width: float = WIDTH) -> Sheet:
    """How well the model fits, along the fit: the score of sampling, the variational bound, perplexity.

    Parameters
    ----------
    atlas : Atlas, or a fitted model
        What to show.
    width : float
        Width in inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    return _panels(atlas_of(atlas).fitted, QUALITIES, "How well the model fits, along the fit", width, 1)


def _panels(fitted: Fitted, names: dict[str, tuple[str, ...]], title: str, width: float, columns: int) -> Sheet:
    values = {name: {one.get(name) for one in fitted.history} - {None} for name in names}
    known = {name: names[name] for name in names if len(values[name]) > (name == "location_variance")}
    if not known:
        raise ValueError("the model has no history of this kind; fit it anew with this version")
    columns = min(columns, len(known)) if width > 5 else 1
    rows = ceil(len(known) / columns)
    averaged = averaged_from(fitted)
    notes = (
        "" if averaged is None else "shaded: the states whose mean the model is",
        f"{fitted.n_chains} chains; this is the first" if (fitted.n_chains or 1) > 1 else "",
    )
    height = TOP + rows * (ABOVE + PANEL + BELOW) + note_height(width, *notes) - 0.1
    sheet = Sheet(width, height, title)
    room = (width - MARGIN) / columns - LEFT
    for place, (name, told) in enumerate(known.items()):
        row, column = divmod(place, columns)
        top = TOP + row * (ABOVE + PANEL + BELOW) + ABOVE
        plot = sheet.axes(LEFT + column * (room + LEFT), top, room - 0.1, PANEL)
        _line(plot, fitted, name)
        plot.set_title(first_that_fits(told, room - 0.1, 10), size=10, weight="normal")
        if averaged is not None:
            plot.axvspan(averaged, plot.get_xlim()[1], color=FAINT, alpha=0.45, zorder=0, linewidth=0)
    sheet.note(*notes)
    return sheet


def sweep_of(fitted: Fitted, entry: dict[str, Any]) -> float:
    """Where along a fit an entry of its history is."""
    return float(entry["documents"] if fitted.method == "online" else entry["iteration"])


def axis_of(fitted: Fitted) -> str:
    """What a fit goes on by."""
    if fitted.method == "online":
        return "documents seen"
    return "sweep" if fitted.inference == "sampling" else "pass"


def averaged_from(fitted: Fitted) -> float | None:
    """From where on states are averaged."""
    return next((sweep_of(fitted, one) for one in fitted.history if one.get("n_states")), None)


def _line(plot: Axes, fitted: Fitted, name: str) -> None:
    known = [(sweep_of(fitted, one), one[name]) for one in fitted.history if one.get(name) is not None]
    points = np.array(known[:: max(1, -(-len(known) // MOST))], float)
    marked = "o" if len(points) <= FEW else ""
    plot.plot(points[:, 0], points[:, 1], color=colour(fitted.kind), marker=marked)
    set_sweeps(plot, fitted)
    if name == "n_topics":
        plot.set_ylim(bottom=0)
        plot.yaxis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1, steps=STEPS))
    elif points[:, 1].min() == points[:, 1].max():
        plot.set_ylim(points[0, 1] * 0.9 - 0.1, points[0, 1] * 1.1 + 0.1)
    if name != "n_topics":
        plot.yaxis.set_major_locator(MaxNLocator(5, steps=STEPS))
    thousands(plot.yaxis)


def set_sweeps(plot: Axes, fitted: Fitted) -> None:
    """Have a plot go from the first to the last entry of a fit's history, and say of what."""
    every = [sweep_of(fitted, one) for one in fitted.history]
    low, high = min(every), max(every)
    if low == high:
        low, high = low - 1, high + 1
    plot.set_xlim(low, high)
    plot.xaxis.set_major_locator(MaxNLocator(6, integer=True, min_n_ticks=1, steps=STEPS))
    thousands(plot.xaxis)
    plot.set_xlabel(axis_of(fitted))
