"""Correlations of a few pairs of topics along a fit."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from diln.analysis.atlas import Atlas
from diln.analysis.inputs import Model
from diln.inference.followed import pair_of
from diln.show.figures.choice import atlas_of, counted, topic_name
from diln.show.figures.sheet import MARGIN, Sheet, figure, note_height
from diln.show.figures.training import averaged_from, axis_of, set_sweeps, sweep_of
from diln.show.style import ATTRACT, AVOID, FAINT, GREY, WIDTH

TOP, ABOVE, PANEL, LEFT, GAP, BELOW = 0.45, 0.42, 0.95, 0.5, 0.22, 0.55  # inches
SIZE = 8.0  # points
WINDOW = 9  # sweeps that the smooth line is the mean of


@figure
def pairs_along_training(atlas: Atlas | Model, *, width: float = WIDTH) -> Sheet:
    """Correlations of up to 12 pairs of topics, chosen at random, along the fit, from when topics have locations.

    Parameters
    ----------
    atlas : Atlas, or a fitted DILN or CTM
        What to show.
    width : float
        Width in inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    atlas = atlas_of(atlas)
    fitted = atlas.fitted
    lines: dict[str, list[tuple[float, float]]] = {}
    for entry in fitted.history:
        for name, value in (entry.get("correlations") or {}).items():
            lines.setdefault(name, []).append((sweep_of(fitted, entry), value))
    if not lines:
        kind = "" if fitted.correlation is not None else f"; topics of an {fitted.kind} have none: fit a DILN or a CTM"
        raise ValueError(f"the model has no history of correlations{kind or '; fit it anew with this version'}")
    order = sorted(lines, key=lambda name: -_late(lines[name]))
    columns = 3 if width > 5 else 1 if width < 4 else 2
    rows = -(-len(order) // columns)
    averaged = averaged_from(fitted)
    notes = (
        f"pairs of large topics, chosen at random; thin: each {axis_of(fitted)}, thick: the mean of {WINDOW} around it",
        "dashed: below 0 late in the fit",
        "" if averaged is None else "shaded: the states whose mean the model is",
    )
    height = TOP + rows * (ABOVE + PANEL) + BELOW + note_height(width, *notes)
    sheet = Sheet(width, height, f"Correlations of {counted(len(order), 'pair')} of topics along the fit")
    room = (width - LEFT - MARGIN + GAP) / columns - GAP
    for place, name in enumerate(order):
        row, column = divmod(place, columns)
        left, top = LEFT + column * (room + GAP), TOP + row * (ABOVE + PANEL) + ABOVE
        for line, topic in enumerate(pair_of(name)):
            sheet.text(left, top - 0.2 + 0.15 * line, topic_name(atlas.topic(topic), room, SIZE), size=SIZE)
        plot = sheet.axes(left, top, room, PANEL)
        _draw(plot, np.array(lines[name]))
        set_sweeps(plot, fitted)
        plot.set(ylim=(-1.05, 1.05), yticks=(-1, 0, 1))
        plot.tick_params(labelleft=column == 0, labelbottom=place + columns >= len(order), labelsize=SIZE)
        plot.set_xlabel(axis_of(fitted) if place + columns >= len(order) else "", size=SIZE)
        if averaged is not None:
            plot.axvspan(averaged, plot.get_xlim()[1], color=FAINT, alpha=0.45, zorder=0, linewidth=0)
    sheet.note(*notes)
    return sheet


def _draw(plot: Axes, points: NDArray[np.float64]) -> None:
    """A line of each value, and one of running means, on which attracting and avoiding are told apart."""
    sweeps, values = points.T
    together = _late(points) > 0
    around = np.array([values[max(0, i - WINDOW // 2) : i + WINDOW // 2 + 1].mean() for i in range(len(values))])
    own = ATTRACT if together else AVOID
    plot.plot(sweeps, values, color=own, linewidth=0.6, alpha=0.4)
    plot.plot(sweeps, around, color=own, linewidth=1.6, linestyle="-" if together else (0, (3.5, 1.5)))
    plot.axhline(0, color=GREY, linewidth=0.7)


def _late(points: Any) -> float:
    """The mean of the last third of a line."""
    values = np.asarray(points)[:, 1]
    return float(values[-max(1, len(values) // 3) :].mean())
