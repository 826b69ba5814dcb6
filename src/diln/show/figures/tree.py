"""The tree that themes are cut from."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from diln.analysis.atlas import Atlas, NumberOfThemes
from diln.analysis.html import percent
from diln.analysis.inputs import Model
from diln.analysis.themes import Theme, Themes
from diln.models.checks import check_whole
from diln.show.figures.choice import atlas_of, counted
from diln.show.figures.key import badge
from diln.show.figures.sheet import MARGIN, Sheet, figure, label_in_room, note_height, widest
from diln.show.style import GREY, INK, WIDTH, theme_colour

TOP, ROW = 0.62, 0.2  # inches
SIZE, SMALL = 9.0, 8.0
MOST = 120  # leaves
BRANCHES = 0.46  # of the width that branches take


@figure
def theme_tree(atlas: Atlas | Model, top: int = 30, *, themes: NumberOfThemes = "auto", width: float = WIDTH) -> Sheet:
    """The tree of themes: which are cut into which smaller ones.

    Parameters
    ----------
    atlas : Atlas, or a fitted model
        What to show.
    top : int
        Maximum number of leaves: groups of topics that the tree ends in.
    themes : int or "auto"
        Number of themes, which have colours and letters.
    width : float
        Width in inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    check_whole("top", top, 1)
    atlas = atlas_of(atlas)
    coarse = atlas.themes(themes)
    n_topics = len(coarse.tree.topics)
    fine = atlas.themes(min(max(top, coarse.n), MOST, n_topics))
    leaves = _leaves(fine)
    notes = (
        f"{counted(n_topics, 'topic')} in {counted(fine.n, 'group')}, of which {counted(coarse.n, 'theme')} are made"
        if fine.n < n_topics else f"{counted(n_topics, 'topic')} in {counted(coarse.n, 'theme')}",
        "the further left two join, the less they have in common",
    )  # fmt: skip
    height = TOP + len(leaves) * ROW + 0.15 + note_height(width, *notes)
    sheet = Sheet(width, height, f"Tree of {counted(coarse.n, 'theme')}")
    canvas = sheet.canvas(0, 0, width, height)
    begin, end = MARGIN + 0.1, MARGIN + BRANCHES * (width - 2 * MARGIN)
    ys = {one.id: TOP + (place + 0.5) * ROW for place, one in enumerate(leaves)}
    _branches(canvas, coarse, fine, ys, begin, end)
    _names(canvas, leaves, ys, end + 0.1, width - MARGIN - end - 0.1)
    sheet.note(*notes)
    return sheet


def _leaves(fine: Themes) -> list[Theme]:
    """The groups that the tree ends in, from top to bottom."""
    return [fine.theme(group) for group in dict.fromkeys(fine.topic_theme[topic] for topic in fine.tree.order)]


def _names(canvas: Axes, leaves: Sequence[Theme], ys: dict[int, float], left: float, room: float) -> None:
    """Names of the leaves, with their shares and numbers of topics in columns beside them."""
    names = [label_in_room(leaf.label, room - 1.1, SIZE) for leaf in leaves]
    share, topics = (left + widest(names, SIZE) + far for far in (0.6, 1.1))
    for at, text in ((share, "share"), (topics, "topics")):
        canvas.text(at, TOP - 0.06, text, size=SMALL, va="baseline", ha="right", color=GREY)
    for leaf, name in zip(leaves, names, strict=True):
        canvas.text(left, ys[leaf.id], name, size=SIZE, va="center_baseline", color=INK)
        for at, text in ((share, percent(leaf.share)), (topics, f"{len(leaf.topics):,}")):
            canvas.text(at, ys[leaf.id], text, size=SMALL, va="center_baseline", ha="right", color=GREY)


def _branches(canvas: Axes, coarse: Themes, fine: Themes, ys: dict[int, float], begin: float, end: float) -> None:
    """Lines from the leaves to the root; those of a theme in its colour, with its letter where it begins."""
    tree, linkage = fine.tree, fine.tree.linkage
    n_topics = len(tree.topics)
    highest = float(linkage[-1, 2]) if len(linkage) else 1.0
    lowest = float(linkage[n_topics - fine.n, 2]) if fine.n > 1 else 0.0
    span = max(highest - 0.6 * lowest, 1e-12)

    def across(height: float) -> float:
        return end - (end - begin) * max(height - 0.6 * lowest, 0.0) / span

    where: dict[int, tuple[float, float, int | None]] = {}  # of each group: its x, y, and theme if it is of one
    for place, topic in enumerate(tree.topics):
        where[place] = end, ys[fine.topic_theme[topic]], coarse.topic_theme[topic]
    for step, (one, other, height, _) in enumerate(linkage):
        first, second = where[int(one)], where[int(other)]
        theme = first[2] if first[2] == second[2] else None
        if step < n_topics - fine.n:
            where[n_topics + step] = end, first[1], theme
            continue
        x = across(float(height))
        for child in (first, second):
            shade = theme_colour(child[2]) if child[2] is not None else GREY
            canvas.plot([child[0], x], [child[1], child[1]], color=shade, linewidth=1.6, solid_capstyle="round")
        canvas.plot([x, x], [first[1], second[1]], color=theme_colour(theme), linewidth=1.6, solid_capstyle="round")
        for child in (first, second):
            if theme is None and child[2] is not None:
                badge(canvas, min(child[0], end) - 0.0, child[1], child[2], 0.075)
        where[n_topics + step] = x, (first[1] + second[1]) / 2, theme
    x, y, theme = where[max(where)]
    canvas.plot([x, begin - 0.1], [y, y], color=theme_colour(theme), linewidth=1.6)
    if theme is not None:
        badge(canvas, x, y, theme, 0.075)
