"""The card of a theme, and the colour and letter that stand for it on the whole page."""

from typing import Any

from diln.analysis.html import percent
from diln.show.report.documents import typical_list
from diln.show.report.gather import Content
from diln.show.report.markup import NOTHING, Markup, el, together
from diln.show.report.words import counted, listed, showing

N_COLOURS = 12
SHADES = ("", "var(--ink) 30%", "var(--card) 38%", "var(--ink) 50%", "var(--card) 55%")  # as the page's colour.js
CHIPS = 8  # topics that a card names


def colour(theme: int | None) -> str:
    """A theme's colour, as CSS; the same as in the pictures."""
    if theme is None or theme < 0:
        return "var(--none)"
    base, shade = f"var(--theme-{theme % N_COLOURS})", SHADES[theme // N_COLOURS % len(SHADES)]
    return f"color-mix(in srgb, {base}, {shade})" if shade else base


def letter(theme: int | None) -> str:
    """A theme's letter: A, B, ..., Z, AA."""
    if theme is None or theme < 0:
        return ""
    return (letter(theme // 26 - 1) if theme >= 26 else "") + chr(ord("A") + theme % 26)


def badge(theme: int | None) -> Markup:
    """The letter of a theme on its colour."""
    return el("span", letter(theme), class_="badge", style=f"--c:{colour(theme)}", aria_hidden="true")


def theme_cards(content: Content) -> Markup:
    """A card for each theme, the largest first."""
    named = {one["id"]: one for one in content["topics"]}
    documents = content["theme_documents"] or [None] * len(content["themes"]["themes"])
    cards = [_card(one, named, found) for one, found in zip(content["themes"]["themes"], documents, strict=True)]
    return el("div", *cards, class_="themes")


def _card(theme: dict[str, Any], topics: dict[int, Any], typical: Any) -> Markup:
    number, inside = theme["id"], [topics[one] for one in theme["topics"] if one in topics]
    size = counted(len(inside), "topic")
    if theme["n_docs"] is not None:
        size += f", {counted(theme['n_docs'], 'document')}"
    head = el(
        "h3",
        badge(number),
        el("a", el("bdi", theme["label"]), href=f"#theme-{number}-topics"),
        id=f"theme-{number}-title",
    )
    return el(
        "article",
        head,
        el("p", el("strong", percent(theme["share"])), f" of all words; {size}", class_="size"),
        el("div", el("i", style=f"width:{100 * theme['share']:.2f}%"), class_="meter", aria_hidden="true"),
        el("p", listed(theme["words"]), class_="words") if listed(theme["words"]) != theme["label"] else NOTHING,
        _topics(inside),
        el("details", el("summary", "Typical documents"), typical_list(typical), class_="theme-documents")
        if typical
        else NOTHING,
        class_="card theme", id=f"theme-{number}", aria_labelledby=f"theme-{number}-title",
        style=f"--c:{colour(number)}",
    )  # fmt: skip


def _topics(topics: list[dict[str, Any]]) -> Markup:
    """Links to the largest topics of a theme."""
    links = [
        el("li", el("a", el("bdi", one["label"]), href=f"#topic-{one['id']}"), el("small", f" {percent(one['share'])}"))
        for one in topics[:CHIPS]
    ]
    cut = showing(len(links), len(topics), "topics")
    return together(el("ul", *links, class_="links"), el("p", cut, class_="note") if cut else NOTHING)
