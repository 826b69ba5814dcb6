"""Which topics of two models are the same."""

from matplotlib.axes import Axes

from diln.analysis.atlas import Atlas
from diln.analysis.inputs import Model
from diln.analysis.matching import Match, match_topics
from diln.analysis.topic_infos import TopicInfo
from diln.models.checks import check_whole
from diln.prob.matching import SAME
from diln.show.figures.choice import atlas_of, topic_name
from diln.show.figures.sheet import MARGIN, Sheet, figure, note_height, shortened, showing
from diln.show.style import FAINT, GREY, INK, WIDTH, theme_colour

TOP, HEAD, ROW, BAR = 0.5, 0.3, 0.19, 1.5  # inches
SIZE = 9.0
MOST = 120  # pairs


@figure
def matched_topics(atlas: Atlas | Model, other: Atlas | Model, top: int = 30, *, width: float = WIDTH) -> Sheet:
    """The topics of a model beside those of another that match them, with how much alike they are.

    Parameters
    ----------
    atlas, other : Atlas, or a fitted model
        Models with the same terms.
    top : int
        Maximum number of topics of the first model, the largest.
    width : float
        Width in inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    check_whole("top", top, 1)
    one, two = atlas_of(atlas), atlas_of(other)
    found = match_topics(one.fitted, two.fitted)
    first, second = ({topic.id: topic for topic in each.topics()} for each in (one, two))
    partner = {match.first: match for match in found.matches}
    shown = list(first.values())[: min(top, MOST)]
    notes = (
        showing(len(shown), len(first), "topics of the first model"),
        f"{len(found.same):,} of {found.n_topics[0]:,} and {found.n_topics[1]:,} topics are in both",
        f"bars: affinity of the words, 1 for the same probabilities; above {SAME:g} (line) topics count as the same",
    )
    height = TOP + HEAD + len(shown) * ROW + 0.15 + note_height(width, *notes)
    sheet = Sheet(width, height, f"{found.share:.0%} of the topics are in both models")
    canvas = sheet.canvas(0, 0, width, height)
    bar = min(BAR, 0.2 * width)
    room = (width - 2 * MARGIN - bar - 0.3) / 2
    middle = MARGIN + room + 0.15
    for text, left, align in (
        (_named(one, "first model", room), MARGIN, "left"), ("affinity", middle + bar / 2, "center"),
        (_named(two, "second model", room), middle + bar + 0.15, "left"),
    ):  # fmt: skip
        canvas.text(left, TOP + 0.1, text, size=SIZE, color=GREY, ha=align, va="center_baseline")
    end = TOP + HEAD + len(shown) * ROW
    canvas.plot([middle + SAME * bar] * 2, [TOP + HEAD - 0.08, end], color=GREY, linewidth=0.8, linestyle=":")
    for place, topic in enumerate(shown):
        y = TOP + HEAD + (place + 0.5) * ROW
        canvas.text(MARGIN, y, topic_name(topic, room, SIZE), size=SIZE, va="center_baseline", color=INK)
        match = partner.get(topic.id)
        _row(canvas, match, None if match is None else second.get(match.second), y, middle, bar, room)
    sheet.note(*notes)
    return sheet


def _named(atlas: Atlas, otherwise: str, room: float) -> str:
    return otherwise if atlas.directory is None else shortened(atlas.directory.name or otherwise, room, SIZE)


def _row(
    canvas: Axes, match: Match | None, topic: TopicInfo | None, y: float, left: float, bar: float, room: float
) -> None:
    canvas.barh(y, bar, 0.5 * ROW, left, color=FAINT, alpha=0.5)
    if match is None or topic is None:
        canvas.text(left + bar + 0.15, y, "no match", size=SIZE, va="center_baseline", color=GREY, style="italic")
        return
    same = match.affinity > SAME
    canvas.barh(y, bar * match.affinity, 0.5 * ROW, left, color=theme_colour(0) if same else GREY)
    name = topic_name(topic, room, SIZE)
    canvas.text(left + bar + 0.15, y, name, size=SIZE, va="center_baseline", color=INK if same else GREY)
