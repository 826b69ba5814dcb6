"""Pictures that need no script: for paper, for previews, and where scripts are off."""

import math
from base64 import b64encode
from collections.abc import Iterable, Sequence
from itertools import groupby
from struct import pack
from typing import Any
from zlib import compress, crc32

import numpy as np
from numpy.typing import NDArray

from diln.show.report.markup import Markup, el, together
from diln.show.report.themes import colour, letter

SPARK_WIDTH, SPARK_HEIGHT, SPARK_POINTS = 160, 32, 80
MAP_WIDTH, MAP_HEIGHT, MAP_EDGE = 960, 720, 60
LARGEST, SMALLEST = 34.0, 4.0  # radius of the largest topic among few, and of the smallest among many
FEW = 12  # topics that have room for large circles
LETTER = 7.4  # width of a letter of a label
LABELS = 30  # that are tried, the largest topics first
LINES = 60  # pairs that are drawn
STEPS = 127  # shades of a sign in the matrix
STRONG = math.log(8)  # log lift that has the full colour
ATTRACT, AVOID = (0x00, 0x68, 0xB0), (0xB8, 0x4A, 0x00)

Floats = NDArray[np.float64]
Numbers = Sequence[float | None]
Place = tuple[float, float]
Box = tuple[float, float, float, float]  # left, top, right, bottom


def sparkline(values: Numbers, low: Numbers, high: Numbers) -> Markup:
    """A small line of shares over time, from 0 up, with its band; broken where there are too few documents."""
    line, bottom, top = map(_thinned, (values, low, high))
    most = 1.15 * float(np.nanmax(line, initial=0)) or 1.0
    x = np.linspace(0, SPARK_WIDTH, len(line))

    def points(heights: Floats, where: NDArray[np.intp]) -> list[str]:
        y = SPARK_HEIGHT - 1 - (SPARK_HEIGHT - 2) * np.clip(heights[where] / most, 0, 1)
        return [f"{across:.4g},{down:.3g}" for across, down in zip(x[where], y, strict=True)]

    bands = [
        el("polygon", points=" ".join([*points(top, run), *points(bottom, run)[::-1]]), class_="band")
        for run in _runs(np.isfinite(top) & np.isfinite(bottom))
        if len(run) > 1
    ]
    lines = [
        el("polyline", points=" ".join(points(line, run if len(run) > 1 else run.repeat(2))), class_="line")
        for run in _runs(np.isfinite(line))
    ]
    box = f"0 0 {SPARK_WIDTH} {SPARK_HEIGHT}"
    return el("svg", *bands, *lines, class_="spark", viewBox=box, preserveAspectRatio="none", aria_hidden="true")


def _runs(known: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """Places that are known, those next to each other together."""
    places = np.flatnonzero(known)
    return [run for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1) if len(run)]


def _thinned(values: Numbers) -> Floats:
    """Values with NaN for those that are missing, and no more of them than can be seen."""
    given = np.array([np.nan if one is None else one for one in values], np.float64)
    if len(given) <= SPARK_POINTS:
        return given
    parts = [part[np.isfinite(part)] for part in np.array_split(given, SPARK_POINTS)]
    return np.array([part.mean() if len(part) else np.nan for part in parts])


def known_periods(values: Numbers) -> list[int]:
    """Places of the periods that have a share."""
    return [at for at, value in enumerate(values) if value is not None]


def peak(values: Numbers) -> int:
    """Where the largest of the values is, as it is drawn."""
    return max(known_periods(values), key=lambda at: values[at] or 0.0)


def map_picture(topic_map: dict[str, Any], topics: list[dict[str, Any]], pairs: dict[str, Any] | None) -> Markup:
    """Topics where the model puts them, with lines between those that go together or avoid each other most."""
    places, origin = _places(topic_map)
    shown = [one for one in topics if one["id"] in places]
    most = max((one["share"] for one in shown), default=1.0)
    large = LARGEST * min(1.0, math.sqrt(FEW / max(1, len(shown))))
    sizes = {one["id"]: max(SMALLEST, large * math.sqrt(one["share"] / most)) for one in shown}
    x, y = origin
    cross = together(
        el("line", x1=f"{x - 6:.1f}", x2=f"{x + 6:.1f}", y1=f"{y:.1f}", y2=f"{y:.1f}"),
        el("line", x1=f"{x:.1f}", x2=f"{x:.1f}", y1=f"{y - 6:.1f}", y2=f"{y + 6:.1f}"),
    )
    circles = [_circle(one, *places[one["id"]], sizes[one["id"]]) for one in shown]
    labels = _labels(shown, places, sizes)
    box = f"0 0 {MAP_WIDTH} {MAP_HEIGHT}"
    parts = (el("g", cross, class_="origin"), *_lines(pairs, places), *circles, *labels)
    return el("svg", *parts, class_="still-map", viewBox=box, role="img", aria_label="Map of the topics")


def _places(topic_map: dict[str, Any]) -> tuple[dict[int, Place], Place]:
    """Where topics and the origin are drawn: all in view, the same scale for both directions, y upwards."""
    every = np.array([topic_map["origin"], *((one["x"], one["y"]) for one in topic_map["points"])], np.float64)
    middle, size = (every.max(axis=0) + every.min(axis=0)) / 2, np.maximum(np.ptp(every, axis=0), 1e-6)
    room = np.array([MAP_WIDTH, MAP_HEIGHT]) - 2 * MAP_EDGE
    scale = float((room / size).min()) if len(every) > 1 else 1.0
    flat = (every - middle) * [scale, -scale] + np.array([MAP_WIDTH, MAP_HEIGHT]) / 2
    origin, *rest = [(float(across), float(down)) for across, down in flat]
    return {one["id"]: place for one, place in zip(topic_map["points"], rest, strict=True)}, origin


def _circle(topic: dict[str, Any], x: float, y: float, size: float) -> Markup:
    title, shade = el("title", f"{topic['id']} {topic['label']}"), f"fill:{colour(topic['theme'])}"
    drawn = el("circle", title, cx=f"{x:.1f}", cy=f"{y:.1f}", r=f"{size:.1f}", style=shade)
    mark = letter(topic["theme"])
    if size < 7 or not mark:
        return drawn
    return together(drawn, el("text", mark, x=f"{x:.1f}", y=f"{y + 3.5:.1f}", class_="mark"))


def _lines(pairs: dict[str, Any] | None, places: dict[int, Place]) -> Iterable[Markup]:
    for kind, class_ in (("positive", "attract"), ("negative", "avoid")):
        for pair in (pairs or {kind: []})[kind][: LINES // 2]:
            if pair["first"] in places and pair["second"] in places:
                (x1, y1), (x2, y2) = places[pair["first"]], places[pair["second"]]
                yield el("line", x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}", class_=class_)


def _labels(topics: list[dict[str, Any]], places: dict[int, Place], sizes: dict[int, float]) -> Iterable[Markup]:
    """Labels of the largest topics that have room: below, above, right or left of their circles."""
    taken: list[Box] = []
    for topic in topics[:LABELS]:
        text = topic["label"] if len(topic["label"]) <= 36 else f"{topic['label'][:35].rstrip(' ,')}…"
        (x, y), size, half = places[topic["id"]], sizes[topic["id"]], LETTER * len(text) / 2
        beside = ((x, y + size + 12), (x, y - size - 5), (x + size + half + 4, y + 4), (x - size - half - 4, y + 4))
        for across, down in beside:
            box = (across - half, down - 11, across + half, down + 3)
            if box[0] >= 0 and box[2] <= MAP_WIDTH and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                yield el("text", text, x=f"{across:.1f}", y=f"{down:.1f}", class_="label")
                break


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def matrix_picture(matrix: dict[str, Any]) -> Markup:
    """Log lifts of pairs as pixels: blue for topics that go together, orange for those that avoid each other."""
    lifts = np.array([[0.0 if one is None else one for one in row] for row in matrix["log_lift"]], np.float64)
    shades = np.rint(np.clip(lifts / STRONG, -1, 1) * STEPS)
    if matrix.get("sure") is not None:
        shades[~np.array(matrix["sure"], bool)] /= 2
    np.fill_diagonal(shades, 0)
    address = f"data:image/png;base64,{b64encode(_png((shades + STEPS).astype(np.uint8))).decode()}"
    picture = el(
        "img", src=address, class_="still-matrix", alt="Matrix of the topics; the lists of pairs tell the same."
    )
    bands = ((theme, len(list(same))) for theme, same in groupby(matrix["themes"]))
    marks = [el("span", letter(theme), style=f"--n:{n};--c:{colour(theme)}") for theme, n in bands]
    return together(el("div", *marks, class_="still-bands", aria_hidden="true"), picture)


def _png(pixels: NDArray[np.uint8]) -> bytes:
    """A picture of palette colours; the weaker, the more the page shines through."""
    height, width = pixels.shape
    colours = bytes(part for one in (AVOID, ATTRACT) for _ in range(STEPS + 1) for part in one)
    strength = [abs(one - STEPS) for one in range(STEPS + 1)] + list(range(1, STEPS + 2))
    alpha = bytes(round(255 * min(one, STEPS) / STEPS) for one in strength)
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    parts = [
        (b"IHDR", pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)), (b"PLTE", colours), (b"tRNS", alpha),
        (b"IDAT", compress(rows, 9)), (b"IEND", b""),
    ]  # fmt: skip
    chunks = (pack(">I", len(body)) + name + body + pack(">I", crc32(name + body)) for name, body in parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
