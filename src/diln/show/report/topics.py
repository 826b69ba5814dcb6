"""The card of a topic."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from diln.analysis.html import percent
from diln.show.report.documents import typical_list
from diln.show.report.gather import Content
from diln.show.report.markup import NOTHING, Markup, el, together
from diln.show.report.pictures import known_periods, peak, sparkline
from diln.show.report.themes import badge, colour
from diln.show.report.words import (
    SURE,
    counted,
    known_lift,
    lift_range,
    listed,
    showing,
    times,
    together_as_often,
)

LABELS = 4  # of a topic that has more of it than others, and as many that have less


class Card(NamedTuple):
    """What cards look up."""

    topics: dict[int, dict[str, Any]]
    trends: dict[int, dict[str, Any]]
    periods: list[str]
    cells: dict[int, list[dict[str, Any]]]
    n_terms: int
    judged: bool  # whether it is known which pairs are sure


def topic_cards(content: Content) -> Markup:
    """A card for each topic, theme by theme."""
    card, themes = _lookup(content), content["themes"]
    if themes is None:
        return el("div", *(_card(one, card) for one in content["topics"]), class_="topics")
    groups = [_group(theme, card) for theme in themes["themes"]]
    shown = {one for theme in themes["themes"] for one in theme["topics"]}
    rest = [_card(one, card) for one in content["topics"] if one["id"] not in shown]
    return together(*groups, el("div", *rest, class_="topics") if rest else NOTHING)


def _lookup(content: Content) -> Card:
    trends, groups = content["topic_trends"], content["topic_groups"]
    cells: dict[int, list[dict[str, Any]]] = {}
    for cell in groups["cells"] if groups else ():
        cells.setdefault(cell["id"], []).append(cell)
    return Card(
        {one["id"]: one for one in content["topics"]},
        {one["id"]: one for one in trends["series"]} if trends else {},
        trends["periods"] if trends else [],
        cells,
        content["about"]["terms"],
        bool(content["pairs"]) and content["pairs"]["n_sure"] is not None,
    )


def _group(theme: dict[str, Any], card: Card) -> Markup:
    """The topics of a theme."""
    inside = [card.topics[one] for one in theme["topics"] if one in card.topics]
    size = f"{counted(len(inside), 'topic')}, {percent(theme['share'])} of all words"
    return el(
        "section",
        el("h3", badge(theme["id"]), el("bdi", theme["label"]), el("small", size), id=f"theme-{theme['id']}-heading"),
        el("div", *(_card(one, card) for one in inside), class_="topics"),
        class_="group", id=f"theme-{theme['id']}-topics", aria_labelledby=f"theme-{theme['id']}-heading",
        style=f"--c:{colour(theme['id'])}",
    )  # fmt: skip


def _card(topic: dict[str, Any], card: Card) -> Markup:
    number = topic["id"]
    permalink = el("a", f"{number}", href=f"#topic-{number}", class_="number", aria_label=f"Link to topic {number}")
    return el(
        "article",
        el("h4", permalink, el("bdi", topic["label"]), id=f"topic-{number}-title"),
        _size(topic),
        _trend(card.trends.get(number), card),
        _columns(topic, card),
        class_="card topic", id=f"topic-{number}", aria_labelledby=f"topic-{number}-title",
        style=f"--c:{colour(topic['theme'])}",
    )  # fmt: skip


def _columns(topic: dict[str, Any], card: Card) -> Markup:
    """Two columns: words and pairs; documents and labels. Pairs go to the second where it has room."""
    pairs = el("div", _pairs(topic, "friends", card), _pairs(topic, "rivals", card), class_="pairs")
    if not topic["friends"] and not topic["rivals"]:
        pairs = el("p", "No pair with this topic is sure.", class_="note alone") if card.judged else NOTHING
    documents, labels = _documents(topic), _labels(card.cells.get(topic["id"], []))
    long = any(one["sentences"] for one in topic["typical"] or ())
    first, second = ((pairs,), (documents,)) if long else ((), (documents, pairs))
    return el("div", el("div", _words(topic, card), *first), el("div", *second, labels), class_="columns")


def _size(topic: dict[str, Any]) -> Markup:
    """How large a topic is, and what chains say of it."""
    facts = [together(el("strong", percent(topic["share"])), " of all words")]
    if topic["n_docs"] is not None:
        facts += [el("span", f"{counted(topic['n_docs'], 'document')} with at least a tenth of it")]
    if topic["found"] is not None:
        facts += [el("span", f"found in {topic['found']} of {counted(topic['n_chains'], 'chain')}")]
    if topic["merged"]:
        facts += [el("span", f"with topic {listed([str(one) for one in topic['merged']])}, merged by hand")]
    if topic["named"]:
        facts += [el("span", f"named by hand; its words: {listed(topic['telling'][:3])}")]
    return el("p", together(*facts, gap=" · "), class_="size")


def _trend(series: dict[str, Any] | None, card: Card) -> Markup:
    if series is None or len(card.periods) < 2 or not known_periods(series["values"]):
        return NOTHING
    values, periods, top = series["values"], card.periods, peak(series["values"])
    told = f"{periods[0]} to {periods[-1]}; most in {periods[top]}: {percent(values[top] or 0.0)}"
    return el("p", sparkline(values, series["low"], series["high"]), el("small", told), class_="trend")


def _words(topic: dict[str, Any], card: Card) -> Markup:
    """Two lists: by relevance, and by probability."""
    relevant = [(one["term"], one["probability"], one["lift"]) for one in topic["relevant"]]
    probable = [(*one, None) for one in zip(topic["words"], topic["probabilities"], strict=True)]
    most = max([one[1] for one in (*relevant, *probable)], default=1.0) or 1.0
    cut = showing(max(len(relevant), len(probable)), card.n_terms, "words")
    return el(
        "div",
        el("div", el("h5", "Telling words"), _bars(relevant, most)),
        el("div", el("h5", "Frequent words"), _bars(probable, most)),
        el("p", cut, class_="note") if cut else NOTHING,
        class_="word-lists",
    )


def _bars(words: Sequence[tuple[str, float, float | None]], most: float) -> Markup:
    def word(term: str, probability: float, lift: float | None) -> Markup:
        told = (
            percent(probability)
            if lift is None
            else f"{percent(probability)}, {times(lift)} times as often as elsewhere"
        )
        return el("li", el("bdi", term), title=told, style=f"--p:{100 * probability / most:.0f}%")

    return el("ol", *(word(*one) for one in words), class_="bars")


def _documents(topic: dict[str, Any]) -> Markup:
    if not topic["typical"]:
        return NOTHING
    total = topic["n_docs"] or 0
    cut = showing(len(topic["typical"]), total)
    note = el("small", f" {cut}") if cut else NOTHING
    return el("div", el("h5", "Typical documents", note), typical_list(topic["typical"], topic["id"]), class_="listed")


def _pairs(topic: dict[str, Any], kind: str, card: Card) -> Markup:
    """Topics that this one goes with, or avoids."""
    pairs = topic[kind]
    if not pairs:
        return NOTHING
    unknown = "" if card.judged else SURE[None]
    cut = "; ".join(part for part in (showing(len(pairs), topic[f"n_{kind}"]), unknown) if part)
    title = "Goes with" if kind == "friends" else "Avoids"
    rows = [_pair(pair, topic["id"], card) for pair in pairs]
    note = el("small", f" {cut}") if cut else NOTHING
    return el("div", el("h5", title, note), el("ul", *rows, class_=kind))


def _pair(pair: dict[str, Any], this: int, card: Card) -> Markup:
    other = pair["second"] if pair["first"] == this else pair["first"]
    label = card.topics[other]["label"] if other in card.topics else f"topic {other}"
    where = lift_range(pair)
    return el(
        "li",
        el("a", el("span", f"{other} ", class_="id"), el("bdi", label), href=f"#topic-{other}"),
        " ",
        el("small", together_as_often(pair), title=f"{where} in another chain" if where else None),
    )


def _lift(cell: dict[str, Any]) -> float:
    return known_lift(cell["lift"])


def _labels(cells: list[dict[str, Any]]) -> Markup:
    """Labels that have more, or less, of a topic than chance allows."""
    sure = [cell for cell in cells if cell["sure"]]
    parts = []
    for title, chosen in (
        ("More often with", sorted((one for one in sure if _lift(one) > 1), key=lambda one: -_lift(one))),
        ("Less often with", sorted((one for one in sure if _lift(one) < 1), key=_lift)),
    ):
        if chosen:
            named = [together(el("bdi", one["label_name"]), f" ({times(one['lift'])}×)") for one in chosen[:LABELS]]
            cut = showing(len(named), len(chosen))
            told = together(*named, gap=", ")
            parts += [el("p", el("b", f"{title}: "), told, el("small", f" {cut}") if cut else NOTHING)]
    return el("div", el("h5", "Labels"), *parts, class_="labels") if parts else NOTHING
