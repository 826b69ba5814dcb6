"""A document and those most like it, with their topics."""

from collections import Counter
from collections.abc import Sequence
from math import ceil

from matplotlib.axes import Axes

from diln.analysis.atlas import Atlas
from diln.analysis.listing import DocumentInfo
from diln.models.checks import check_whole
from diln.show.figures.choice import atlas_of, topic_name
from diln.show.figures.sheet import MARGIN, Sheet, figure, note_height, shortened, text_width
from diln.show.style import FAINT, GREY, INK, THEMES, WIDTH

TOP, ROW, BAR, LEFT, LINE, COLUMN = 0.5, 0.47, 0.15, 0.5, 0.18, 2.3  # inches
SIZE, SMALL = 9.5, 8.0
TOPICS = 12  # of a document
MOST = 40  # documents
COLOURED = 9  # topics with a colour


@figure
def similar_documents(atlas: Atlas, document: int = 0, top: int = 8, *, width: float = WIDTH) -> Sheet:
    """A document and the documents most like it, each with a bar of its topics.

    Parameters
    ----------
    atlas : Atlas
        What to show, with its documents.
    document : int
        Row of the document in the corpus, from 0 on.
    top : int
        Maximum number of similar documents.
    width : float
        Width in inches.

    Returns
    -------
    matplotlib.figure.Figure
    """
    atlas = atlas_of(atlas)
    check_whole("top", top, 1)
    check_whole("document", document, 0)
    query = atlas.document(document, TOPICS)
    near = atlas.similar(document, n=min(top, MOST))
    shown = [query, *(atlas.document(one.document.row, TOPICS) for one in near)]
    told = ["", *(f"{one.similarity:.2f}" for one in near)]
    colours = _colours(shown)
    inner = width - 2 * MARGIN
    columns = max(1, int(inner / COLUMN))
    lines = ceil(len(colours) / columns)
    notes = ("at the left: similarity, 1 for the same", "bars: topics of the document; grey: all other topics")
    height = TOP + len(shown) * ROW + 0.25 + lines * LINE + 0.12 + note_height(width, *notes)
    sheet = Sheet(width, height, f"Documents like document {document:,}")
    canvas = sheet.canvas(0, 0, width, height)
    for place, (one, similarity) in enumerate(zip(shown, told, strict=True)):
        y = TOP + place * ROW + (0.1 if place else 0)
        canvas.text(MARGIN, y + 0.1, similarity, size=SIZE, va="center_baseline", color=GREY)
        _title(canvas, one, y + 0.1, MARGIN + LEFT, inner - LEFT, bold=place == 0)
        _bar(canvas, one, y + 0.29, MARGIN + LEFT, inner - LEFT, colours)
    canvas.plot([MARGIN, width - MARGIN], [TOP + ROW + 0.02] * 2, color=FAINT, linewidth=0.8)
    _key(canvas, atlas, colours, TOP + len(shown) * ROW + 0.25, inner / columns, lines)
    sheet.note(*notes)
    return sheet


def _colours(shown: Sequence[DocumentInfo]) -> dict[int, str]:
    """Colours of the topics that these documents have most of, the first for the largest."""
    total: Counter[int] = Counter()
    for one in shown:
        for topic in one.topics:
            total[topic.id] += topic.share  # type: ignore[assignment]
    largest = sorted(total, key=lambda topic: (-total[topic], topic))[:COLOURED]
    return dict(zip(largest, THEMES, strict=False))


def _title(canvas: Axes, one: DocumentInfo, y: float, left: float, room: float, *, bold: bool) -> None:
    weight = "bold" if bold else "normal"
    beside = shortened(", ".join(part for part in (one.label, one.date[:10]) if part), 0.35 * room, SMALL)
    space = room - text_width(beside, SMALL) - 0.1
    name = shortened(one.title or one.snippet or one.id or f"document {one.row:,}", space, SIZE, weight)
    canvas.text(left, y, name, size=SIZE, weight=weight, va="center_baseline", color=INK)
    canvas.text(left + room, y, beside, size=SMALL, va="center_baseline", ha="right", color=GREY)


def _bar(canvas: Axes, one: DocumentInfo, y: float, left: float, room: float, colours: dict[int, str]) -> None:
    """The document's topics side by side, with their numbers where there is room; those without a colour last."""
    canvas.barh(y, room, BAR, left, color=FAINT, alpha=0.6)
    at = left
    for topic in sorted(one.topics, key=lambda topic: (topic.id not in colours, -topic.share)):
        if topic.id not in colours:
            continue
        length = room * topic.share
        canvas.barh(y, length, BAR, at, color=colours[topic.id], edgecolor="white", linewidth=0.6)
        if length > text_width(str(topic.id), SMALL - 1) + 0.06:
            canvas.text(
                at + length / 2, y, str(topic.id), size=SMALL - 1, color="white", ha="center", va="center_baseline"
            )
        at += length


def _key(canvas: Axes, atlas: Atlas, colours: dict[int, str], top: float, column: float, lines: int) -> None:
    for place, (topic, shade) in enumerate(colours.items()):
        across, down = divmod(place, lines)
        x, y = MARGIN + across * column, top + (down + 0.5) * LINE
        canvas.barh(y, 0.12, 0.1, x, color=shade)
        canvas.text(x + 0.18, y, topic_name(atlas.topic(topic), column - 0.35, 8.5), size=8.5, va="center_baseline")
