"""Perplexity against CPU seconds, a panel for each corpus."""

from pathlib import Path
from typing import Any

from peers.results import Record
from peers.tables import corpora_of, curve, family_of, tools_of

# Family: colour, weight of the line, and what goes on top.
STYLES = {
    "DILN": ("#c1272d", 2.4, 9), "HDP": ("#e8833a", 2.0, 8), "DILN online": ("#c1272d", 2.4, 9),
    "tomotopy LDA": ("#1f4e8c", 1.3, 6), "topica LDA": ("#222222", 1.3, 6), "topica warp": ("#222222", 0.7, 5),
    "lda": ("#4c9f70", 1.3, 5), "scikit-learn LDA": ("#7b5aa6", 1.3, 5),
    "gensim LDA": ("#8a8a8a", 1.3, 4), "tomotopy HDP": ("#37a3c5", 1.3, 5), "tomotopy CTM": ("#b5a642", 1.3, 4),
    "gensim HDP": ("#c9c9c9", 1.3, 3),
}  # fmt: skip
WORST = 1.7  # times the least perplexity of a panel is its upper end
COLUMNS = 3
LEGEND = 5  # names in a line


def envelope(results: Record, corpus: str, family: str) -> list[tuple[float, float]]:
    """The least perplexity that any number of topics has reached by then: where it falls."""
    points = sorted(
        point for tool in tools_of(results) if family_of(tool) == family for point in curve(results, corpus, tool)
    )
    kept: list[tuple[float, float]] = []
    for seconds, value in points:
        if not kept or value < kept[-1][1]:
            kept.append((seconds, value))
    return kept


def draw(results: Record, path: Path) -> None:
    """Write the figure as SVG."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    names = corpora_of(results)
    style: Any = {
        "svg.fonttype": "none", "svg.hashsalt": "peers", "font.family": "sans-serif", "font.size": 9,
        "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": "#999999",
        "xtick.color": "#555555", "ytick.color": "#555555",
    }  # fmt: skip
    with plt.rc_context(style):
        lines = -(-len(names) // COLUMNS)
        figure, panels = plt.subplots(lines, COLUMNS, figsize=(10, 3.1 * lines + 0.5), squeeze=False)
        shown: dict[str, Any] = {}
        for panel, corpus in zip(panels.flat, names, strict=False):
            _panel(panel, results, corpus, shown)
        for panel in panels.flat[len(names) :]:
            panel.set_visible(False)
        for panel in panels[-1]:
            panel.set_xlabel("CPU seconds of fitting", color="#555555")
        for panel in panels[:, 0]:
            panel.set_ylabel("perplexity", color="#555555")
        order = [name for name in STYLES if name in shown]
        figure.legend(
            [shown[name] for name in order], order, loc="lower center", ncols=min(LEGEND, len(order)), frameon=False,
            handlelength=1.6,
        )  # fmt: skip
        figure.tight_layout(rect=(0, 0.015 + 0.035 * -(-len(order) // LEGEND), 1, 1), h_pad=1.6, w_pad=1.4)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)


def _panel(panel: Any, results: Record, corpus: str, shown: dict[str, Any]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    lines = {family: found for family in STYLES if (found := envelope(results, corpus, family))}
    least = min(value for line in lines.values() for _, value in line)
    for family, line in lines.items():
        if line[-1][1] > least * WORST:  # all of it is above the frame
            continue
        colour, width, order = STYLES[family]
        alone = len(line) == 1  # a point that no line leads to has to be seen
        (drawn,) = panel.plot(
            *zip(*line, strict=True), color=colour, linewidth=width, zorder=order, marker="D" if alone else "o",
            markersize=width + (3.4 if alone else 1.4), markerfacecolor="white" if alone else colour,
            markeredgewidth=1.2 if alone else 0, linestyle="none" if alone else "-",
        )  # fmt: skip
        shown.setdefault(family, drawn)
    panel.set_xscale("log")
    panel.set_ylim(least * 0.96, least * WORST)
    panel.set_title(corpus, loc="left", fontsize=10, fontweight="bold", color="#333333")
    panel.grid(axis="y", color="#eeeeee", linewidth=0.8)
    panel.set_axisbelow(True)
    panel.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.yaxis.set_major_locator(MaxNLocator(6))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    panel.tick_params(length=3)
