"""Figures of a comparison, one for each study."""

from collections.abc import Callable
from itertools import cycle, product
from pathlib import Path
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from diln.show.style import (
    GREY,
    INK,
    SECOND,
    colour,
    exact_ticks,
    few_ticks,
    label_ends,
    marker,
    new_figure,
    save,
    style,
    thousands,
)
from diln.show.table import signed
from diln.study.base import View
from diln.study.curves import Curve, CurvesView, PanelsView, PassView
from diln.study.table import Row, TableView

PERPLEXITY = "perplexity (lower is better)"
LARGEST = 50  # topics whose shares are shown
DASHES: tuple[Literal["-", "--", ":"], ...] = ("-", "--", ":")  # of the decays, the smallest first
MARKED = 12  # points of a line that are shown one by one, at most


def draw(name: str, view: View, folder: Path) -> list[Path]:
    """Draw the figure of a study, and write it as .svg and .png."""
    with style():
        return save(FIGURES[name](view), folder, name)


def table_figure(view: TableView) -> Figure:
    """Every model's perplexity with its standard error, and each chain's as a point."""
    figure, axes = new_figure(1.2 + 0.55 * len(view.rows))
    plot: Axes = axes[0, 0]
    rows = sorted(view.rows, key=lambda row: -row.perplexity)
    for place, row in enumerate(rows):
        shade = colour(row.model)
        plot.errorbar(
            row.perplexity, place, xerr=row.standard_error, color=shade, marker=marker(row.model), markersize=8,
            elinewidth=2, capsize=0,
        )  # fmt: skip
        chains = [score.perplexity for score in row.scores]
        plot.plot(chains, [place - 0.28] * len(chains), "|", color=shade, alpha=0.7, markersize=8)
        plot.annotate(
            f"{row.perplexity:,.0f}" if row.perplexity >= 100 else f"{row.perplexity:.2f}", (row.perplexity, place),
            xytext=(0, 8), textcoords="offset points", ha="center", color=shade, weight="bold",
        )  # fmt: skip
        plot.annotate(
            _beside(row), (1.01, place), xycoords=("axes fraction", "data"), va="center", size=10, color=GREY,
            annotation_clip=False,
        )  # fmt: skip
    plot.set_yticks(range(len(rows)), [row.model for row in rows])
    plot.set_ylim(-0.6, len(rows) - 0.4)
    plot.tick_params(axis="y", length=0, labelsize=11, labelcolor="#222222")
    plot.spines["left"].set_visible(False)
    plot.grid(visible=False, axis="y")
    plot.grid(visible=True, axis="x")
    thousands(plot.xaxis)
    plot.set_xlabel(f"{PERPLEXITY}; bar: standard error over documents, ticks: chains")
    return figure


def _beside(row: Row) -> str:
    """How a model is beside the best of the others, which bars hide: hard documents are hard for all."""
    if row.against is None:
        return ""
    error = "" if row.against.standard_error is None else f" ± {row.against.standard_error:.1f}"
    return f"{signed(row.against.percent)}{error}%\nbeside {row.against.other}".replace("-", "\N{MINUS SIGN}")


def prior_figure(view: CurvesView) -> Figure:
    """A line for each model over the priors, with what splits differ by.

    All models have the same splits, and these share documents: bars say how steady a line is, not whether two differ.
    """
    figure, axes = new_figure(4.2)
    plot: Axes = axes[0, 0]
    for curve in view.curves:
        _line(plot, curve, errors=True)
    plot.set_xscale("log")
    exact_ticks(plot.xaxis, view.curves[0].x)
    thousands(plot.yaxis)
    _name_ends(plot, view.curves)
    plot.set_xlabel("prior of topics $\\gamma_0$")
    plot.set_ylabel(PERPLEXITY)
    plot.set_title(f"Mean of {view.n_splits} splits; bars: standard errors over splits, not of differences")
    return figure


def steps_figure(view: PanelsView) -> Figure:
    """A row for each model and a column for each size of mini-batches, with a line for each decay of the steps."""
    decays = sorted({panel.decay for panel in view.panels})
    sizes = sorted({panel.batch_size for panel in view.panels})
    models = [curve.model for curve in view.panels[0].curves]
    figure, axes = new_figure(2.1 * len(models) + 1.2, len(models), len(sizes), sharex=True, sharey="row")
    styles = dict(zip(decays, cycle(DASHES), strict=False))
    for panel in view.panels:
        for row, curve in enumerate(panel.curves):
            line: Axes = axes[row, sizes.index(panel.batch_size)]
            line.plot(curve.x, curve.perplexity, styles[panel.decay], color=colour(curve.model), linewidth=1.4)
    for (row, model), (column, size) in product(enumerate(models), enumerate(sizes)):
        plot: Axes = axes[row, column]
        plot.set_title(f"{model}, batches of {size:,}")
        thousands(plot.xaxis)
        thousands(plot.yaxis)
        plot.locator_params(axis="x", nbins=3)
    figure.supxlabel("documents seen", color=GREY, size=10.5)
    figure.supylabel(PERPLEXITY, color=GREY, size=10.5)
    keys = [Line2D([], [], color=INK, linestyle=styles[decay]) for decay in decays]
    figure.legend(keys, [f"$\\kappa$ = {decay:g}" for decay in decays], loc="outside upper center", ncols=len(decays))
    return figure


def time_figure(view: CurvesView) -> Figure:
    """Mini-batches and batch learning over time, on a logarithmic axis."""
    figure, axes = new_figure(4.2)
    plot: Axes = axes[0, 0]
    shades = [colour(view.curves[0].model), SECOND]
    for curve, shade in zip(view.curves, shades, strict=False):
        _line(plot, curve, shade=shade)
    plot.set_xscale("log")
    few_ticks(plot.xaxis)
    thousands(plot.yaxis)
    _name_ends(plot, view.curves, shades)
    plot.set_xlabel("CPU seconds, on one thread")
    plot.set_ylabel(PERPLEXITY)
    plot.set_title(f"{view.curves[0].model}: mini-batches beside batch learning")
    return figure


def pass_figure(view: PassView) -> Figure:
    """What becomes of a model over a pass: concentrations, correlations of pairs of topics, and topics' shares."""
    figure, axes = new_figure(6.0, 2, 2)
    shade, seen = colour(view.model), view.documents
    for place, (name, values) in enumerate({"alpha": view.alpha, "beta": view.beta}.items()):
        plot: Axes = axes[0, place]
        plot.plot(seen, values, color=shade)
        plot.set_title(f"$\\{name}$")
    pairs: Axes = axes[1, 0]
    pairs.plot(seen, view.correlations, color=shade, alpha=0.25, linewidth=0.8)
    pairs.axhline(0, color=GREY, linewidth=0.8)
    pairs.set_ylim(-1.02, 1.02)
    pairs.set_title(f"Correlations of {len(view.correlations[0]):,} pairs of topics")
    for plot in (axes[0, 0], axes[0, 1], pairs):
        thousands(plot.xaxis)
        plot.locator_params(axis="x", nbins=5)
        plot.set_xlabel("documents seen")
    usage: Axes = axes[1, 1]
    for shares, tint, name in ((view.shares[0], GREY, "at the start"), (view.shares[-1], shade, "at the end")):
        largest = sorted(shares, reverse=True)[:LARGEST]
        usage.plot(range(1, len(largest) + 1), [100 * share for share in largest], color=tint, label=name)
    usage.set_title(f"Topics' shares of the tokens: {view.topics_in_use[-1]:,} in use")
    usage.set_xlabel("topic, the largest first")
    usage.set_ylabel("%")
    usage.set_ylim(bottom=0)
    usage.legend()
    return figure


FIGURES: dict[str, Callable[[Any], Figure]] = {
    "table": table_figure, "prior": prior_figure, "steps": steps_figure, "time": time_figure, "pass": pass_figure,
}  # fmt: skip


def _line(plot: Axes, curve: Curve, errors: bool = False, shade: str | None = None) -> None:
    known = [0.0 if value is None else value for value in curve.standard_error] if errors else None
    plot.errorbar(
        curve.x, curve.perplexity, yerr=known, color=shade or colour(curve.model), elinewidth=1.2, capsize=0,
        marker=marker(curve.model) if len(curve.x) <= MARKED else "",
    )  # fmt: skip


def _name_ends(plot: Axes, curves: tuple[Curve, ...], shades: list[str] | None = None) -> None:
    tints = shades or [colour(curve.model) for curve in curves]
    ends = [(curve.x[-1], curve.perplexity[-1], curve.label, tint) for curve, tint in zip(curves, tints, strict=False)]
    label_ends(plot, ends)
