"""Which topics attract and which avoid each other, as a network."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from diln.analysis.atlas import Atlas, NumberOfThemes
from diln.analysis.correlations import Pair
from diln.analysis.inputs import Model
from diln.models.checks import check_whole
from diln.show.figures.arrange import arranged
from diln.show.figures.choice import choose, counted
from diln.show.figures.key import theme_key
from diln.show.figures.labels import Room
from diln.show.figures.map import circles, draw_topics, name_topics
from diln.show.figures.sheet import MARGIN, Sheet, figure, note_height, showing
from diln.show.style import ATTRACT, AVOID, INK, WIDTH

Floats = NDArray[np.float64]

TOP, KEY = 0.5, 0.3  # inches
SIZE = 8.0
MOST_PAIRS = 400
CLEAR = 60  # pairs of a kind; lines of more are fainter
DASHES = (0, (3.5, 2.5))


@figure
def topic_network(
    atlas: Atlas | Model,
    top: int = 30,
    *,
    topics: Sequence[int] | None = None,
    themes: NumberOfThemes = "auto",
    unsure: bool = False,
    width: float = WIDTH,
) -> Sheet:
    """Which topics attract each other (solid lines) and which avoid each other (dashed lines).

    Topics that go together are near each other. Only pairs that are sure are shown, where several chains tell.

    Parameters
    ----------
    atlas : Atlas, or a fitted DILN or CTM
        What to show.
    top : int
        Maximum number of pairs of each kind, the strongest.
    topics : sequence of int, optional
        Ids of topics: only pairs between these.
    themes : int or "auto"
        Number of themes.
    unsure : bool
        Whether to show pairs that are not sure, too.
    width : float
        Width in inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    check_whole("top", top, 1)
    chosen = choose(atlas, topics, 10**6, 10**6, themes)
    known = {topic.id: topic for topic in chosen.topics}
    found = chosen.atlas.pairs(10**6, unsure)
    every = [
        [one for one in kind if one.first in known and one.second in known] for kind in (found.positive, found.negative)
    ]
    most = min(top, MOST_PAIRS)
    together, apart = (kind[:most] for kind in every)
    ids = list(dict.fromkeys(one for pair in (*together, *apart) for one in (pair.first, pair.second)))
    if not ids:
        raise ValueError("there is no pair to show; with several chains, unsure pairs can be shown, too")
    shown = sorted((known[one] for one in ids), key=lambda topic: -topic.share)
    used = tuple(one for one in chosen.themes if one.id in {topic.theme for topic in shown})
    inner = width - 2 * MARGIN
    height = inner * float(np.clip(0.45 + len(shown) / 120, 0.5, 1.05))
    radii = circles(np.array([topic.share for topic in shown]), inner * height)
    spots = arranged([topic.id for topic in shown], _ends(together), _ends(apart), inner, height, radii)
    key = theme_key(used, inner)
    notes = (
        showing(len(shown), len(known), "topics", "those in these pairs"),
        showing(len(together) + len(apart), len(every[0]) + len(every[1]), "pairs", "the strongest of each kind"),
        "" if found.n_sure is None or unsure else "all pairs shown are sure",
    )  # fmt: skip
    total = TOP + height + KEY + key.height + 0.12 + note_height(width, *notes)
    sheet = Sheet(
        width,
        total,
        f"{counted(len(together), 'pair')} that attract, {counted(len(apart), 'pair')} that avoid each other",
    )
    canvas = sheet.canvas(MARGIN, TOP, inner, height)
    _lines(canvas, {topic.id: spot for topic, spot in zip(shown, spots, strict=True)}, together, apart)
    draw_topics(canvas, shown, spots, radii)
    for one in name_topics(shown, spots, radii, Room(inner, height)):
        canvas.text(
            one.left, one.middle, one.text, size=SIZE, va="center_baseline", color=one.shade,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.6},
        )  # fmt: skip
    whole = sheet.canvas(0, 0, width, total)
    _key(whole, MARGIN, TOP + height + 0.1)
    key.draw(whole, MARGIN, TOP + height + KEY)
    sheet.note(*notes)
    return sheet


def _ends(pairs: Sequence[Pair]) -> list[tuple[int, int]]:
    return [(pair.first, pair.second) for pair in pairs]


def _lines(canvas: Axes, spots: dict[int, Floats], together: Sequence[Pair], apart: Sequence[Pair]) -> None:
    """A line for each pair, the stronger the thicker; those that avoid each other below the others."""
    strongest = max(abs(pair.log_lift) for pair in (*together, *apart)) or 1.0
    for pairs, shade, dashes, thin, clear in ((apart, AVOID, DASHES, 0.5, 0.5), (together, ATTRACT, "-", 1.0, 0.75)):
        faint = min(1.0, (CLEAR / max(len(pairs), 1)) ** 0.5)
        for pair in pairs:
            (x, y), (to_x, to_y) = spots[pair.first], spots[pair.second]
            thick = thin * (0.8 + 2.2 * abs(pair.log_lift) / strongest)
            canvas.plot(
                [x, to_x], [y, to_y], color=shade, linestyle=dashes, linewidth=thick, alpha=clear * faint, zorder=thin
            )


def _key(canvas: Axes, left: float, top: float) -> None:
    for number, (word, shade, dashes) in enumerate((("attract", ATTRACT, "-"), ("avoid each other", AVOID, DASHES))):
        x = left + number * 1.1
        canvas.plot([x, x + 0.35], [top + 0.06] * 2, color=shade, linestyle=dashes, linewidth=1.8)
        canvas.text(x + 0.42, top + 0.06, word, size=SIZE + 0.5, va="center_baseline", color=INK)
