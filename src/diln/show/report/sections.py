"""The sections of a report, in their order: each has a name for links, a title and what is in it."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from diln.analysis.html import percent
from diln.show.report.gather import Content
from diln.show.report.markup import NOTHING, Markup, el, together
from diln.show.report.pictures import map_picture, matrix_picture
from diln.show.report.tables import group_table, pair_table, trend_table
from diln.show.report.themes import badge, theme_cards
from diln.show.report.topics import topic_cards
from diln.show.report.words import SURE, counted, showing

SIGNS = (
    "Blue, solid lines join topics that go together in documents more often than by chance; orange, dashed lines join "
    "topics that avoid each other."
)
LISTED_PAIRS = 15  # of each kind
NETWORK_PAIRS = 40  # of each kind: more are a tangle
WHOLE = 0.995  # share of the words from which on it is all of them


class Section(NamedTuple):
    """A part of a report."""

    name: str
    title: str
    parts: Markup


def sections(content: Content) -> list[Section]:
    """The sections that there is something to tell in."""
    made: list[tuple[str, str, Callable[[Content], Markup]]] = [
        ("summary", "Summary", _summary),
        ("themes", "Themes", _themes),
        ("map", "Map", _map),
        ("network", "What goes together, what avoids each other", _network),
        ("matrix", "Matrix of topics", _matrix),
        ("time", "Over time", _time),
        ("labels", "By label", _labels),
        ("topics", "Topics", _topics),
        ("sure", "How sure it is", _sure),
        ("method", "Method and settings", _method),
        ("cite", "How to cite", _cite),
    ]
    found = [Section(name, title, write(content)) for name, title, write in made]
    return [one for one in found if one.parts]


def section(one: Section) -> Markup:
    """A section of the page."""
    link = el("a", "#", href=f"#{one.name}", class_="anchor", aria_label=f"Link to “{one.title}”")
    heading = el("h2", one.title, link, id=f"{one.name}-title")
    return el("section", heading, one.parts, id=one.name, aria_labelledby=f"{one.name}-title")


def contents(found: list[Section], content: Content) -> Markup:
    """The table of contents: sections, and under the topics their themes."""

    def entry(one: Section) -> Markup:
        inner = NOTHING
        if one.name == "topics" and content["themes"]:
            links = (
                el("li", badge(theme["id"]), el("a", el("bdi", theme["label"]), href=f"#theme-{theme['id']}-topics"))
                for theme in content["themes"]["themes"]
            )
            inner = el("ol", *links, class_="in-theme")
        return el("li", el("a", one.title, href=f"#{one.name}"), inner)

    return el("ol", *map(entry, found))


def _summary(content: Content) -> Markup:
    about, themes = content["about"], content["themes"]
    tiles = [
        (about["documents"], "document", "documents"), (about["tokens"], "word in them", "words in them"),
        (about["terms"], "different word", "different words"), (about["topics"], "topic", "topics"),
    ]  # fmt: skip
    if themes:
        tiles.insert(3, (themes["n"], "theme", "themes"))
    if (about["n_chains"] or 0) > 1:
        tiles += [(about["n_chains"], "chain", "chains")]
    facts = [el("div", el("dt", one if n == 1 else many), el("dd", f"{n:,}")) for n, one, many in tiles]
    first, *rest = content["summary"]["sentences"] or [""]
    return together(
        el("p", first, class_="lead") if first else NOTHING,
        *(el("p", one) for one in rest),
        el("dl", *facts, class_="tiles"),
    )


def _themes(content: Content) -> Markup:
    themes = content["themes"]
    if themes is None:
        return NOTHING
    held = sum(one["share"] for one in content["topics"])
    told = (
        f"{themes['n']:,} themes divide the {len(content['topics']):,} topics: topics of a theme tend to be in the "
        "same documents."
        if themes["n"] > 1
        else "There is one theme."
    )
    if held < WHOLE:
        told += f" Together they hold {percent(held)} of all words."
    return together(el("p", told), theme_cards(content))


def _picture(name: str, caption: str, still: Markup, note: str = "") -> Markup:
    """A picture: a live one where there are scripts, and a still one on paper and where there are none."""
    return el(
        "figure",
        el("div", class_="live", data_view=name),
        el("div", still, class_="still"),
        el("figcaption", caption, el("span", f" {note}", class_="note") if note else NOTHING),
        class_="picture card",
    )


def _map(content: Content) -> Markup:
    topic_map = content["map"]
    if topic_map is None or len(content["topics"]) < 2:
        return NOTHING
    still = map_picture(topic_map, content["topics"], content["pairs"])
    told = (
        "Each circle is a topic: its size is its share of all words, its colour and letter are its theme. "
        f"{SIGNS if content['pairs'] else ''}"
    )
    points = content["documents"]
    cut = showing(points["n"], points["total"], "documents as points") if points else ""
    return together(el("p", told), _picture("map", topic_map["note"], still, f"{cut.capitalize()}." if cut else ""))


def _network(content: Content) -> Markup:
    pairs = content["pairs"]
    if pairs is None or len(content["topics"]) < 2:
        return NOTHING
    if not pairs["n_pairs"]:
        return el("p", "No pair of topics is far enough from chance to be told.")
    known = (
        f"{pairs['n_sure']:,} of {pairs['n_pairs']:,} pairs of topics are sure; only these are shown."
        if pairs["n_sure"] is not None
        else f"One chain: {SURE[None]}. The strongest of {pairs['n_pairs']:,} pairs are shown."
    )
    lists = together(*(_pair_list(content, kind) for kind in ("positive", "negative")))
    drawn = [min(NETWORK_PAIRS, len(pairs[kind])) for kind in ("positive", "negative")]
    few = showing(sum(drawn), pairs["n_positive"] + pairs["n_negative"], "pairs, those farthest from chance")
    caption = f"{few.capitalize() or 'Topics and their pairs'}. {SIGNS}"
    return together(
        el("p", "How often two topics are together in a document, compared with chance. ", known),
        el(
            "figure",
            el("div", class_="live", data_view="network", data_most=str(NETWORK_PAIRS)),
            el("figcaption", caption),
            class_="picture card only-live",
        ),
        el("div", lists, class_="pair-lists"),
    )


def _pair_list(content: Content, kind: str) -> Markup:
    pairs = content["pairs"][kind]
    if not pairs:
        return NOTHING
    title = "Go together" if kind == "positive" else "Avoid each other"
    cut = showing(min(LISTED_PAIRS, len(pairs)), content["pairs"][f"n_{kind}"], f"pairs that {title.lower()}")
    return el(
        "div",
        el("h3", title),
        pair_table(pairs[:LISTED_PAIRS], content),
        el("p", cut, class_="note") if cut else NOTHING,
        class_="card",
    )


def _matrix(content: Content) -> Markup:
    matrix = content["matrix"]
    if matrix is None or len(matrix["order"]) < 2:
        return NOTHING
    cut = showing(len(matrix["order"]), len(content["topics"]), "topics, the largest")
    faint = "; pairs that are not sure are paler" if matrix["sure"] is not None else ""
    caption = (
        "Rows and columns are topics, those of a theme next to each other. Blue cells: the two topics go together; "
        f"orange cells: they avoid each other{faint}."
    )
    return _picture("matrix", caption, matrix_picture(matrix), f"{cut.capitalize()}." if cut else "")


def _time(content: Content) -> Markup:
    trends = content["theme_trends"] or content["topic_trends"]
    if trends is None or len(trends["periods"]) < 2:
        return NOTHING
    kinds = {"year": "years", "quarter": "quarters", "month": "months", "week": "weeks", "day": "days"}
    caption = (
        f"Share of all words, by {kinds.get(trends['granularity'], trends['granularity'])}. The band is where the "
        "share would be in 19 of 20 samples of as many documents."
    )
    dated = sum(trends["n_docs"])
    cut = showing(
        dated,
        dated + trends["n_undated"],
        f"documents: the other{'s have' if trends['n_undated'] > 1 else ' has'} no date",
    )
    notes = " ".join(part for part in (f"{cut.capitalize()}." if cut else "", *trends["notes"]) if part)
    return together(_mixed(trends, content), _picture("time", caption, trend_table(trends), notes))


def _mixed(trends: Content, content: Content) -> Markup:
    """A warning where a trend may be one of sources."""
    if trends["mix"] is None:
        return NOTHING
    held = " The picture can show all themes with the mix of labels held constant." if content["held_trends"] else ""
    return el("p", trends["mix"]["sentence"], el("span", held, class_="only-live"), class_="warning")


def _labels(content: Content) -> Markup:
    groups = content["theme_groups"] or content["topic_groups"]
    if groups is None or not groups["labels"]:
        return NOTHING
    told = (
        "Share of all words in documents with each label. ▲ marks shares that are larger, ▼ shares that are smaller "
        "than in all other documents by more than chance; of all marks, 19 of 20 are right on average."
    )
    return together(el("p", told), group_table(groups, content))


def _topics(content: Content) -> Markup:
    about = content["about"]
    hidden = f" {counted(about['hidden'], 'topic is', 'topics are')} hidden by hand." if about["hidden"] else ""
    order = ", theme by theme, the largest first" if len(content["topics"]) > 1 else ""
    told = (
        f"{counted(len(content['topics']), 'topic')}{order}. Telling words are frequent in "
        "the topic and rarer elsewhere; frequent words are simply the most probable. A topic has the same number "
        f"everywhere.{hidden}"
    )
    left = (
        []
        if content["texts"]
        else [el("p", "Titles and sentences of documents are left out of this report.", class_="note")]
    )
    return together(el("p", told), *left, *_without_documents(content), topic_cards(content))


def _without_documents(content: Content) -> Iterator[Markup]:
    if not any(one["typical"] for one in content["topics"]) and content["documents_wanted"]:
        yield el(
            "p",
            "Documents are not listed: the corpus was not at hand. Make the report with --corpus to list them.",
            class_="note",
        )


def _sure(content: Content) -> Markup:
    return together(*(el("p", one) for one in content["sure"]), _found(content))


def _found(content: Content) -> Markup:
    """How many topics were found in how many chains."""
    chains = content["about"]["n_chains"] or 1
    known = [one["found"] for one in content["topics"] if one["found"] is not None]
    if not known or chains < 2:
        return NOTHING

    def row(n: int) -> Markup:
        wide = f"width:{100 * known.count(n) / len(known):.1f}%"
        return el(
            "tr",
            el("th", f"{n} of {chains}", scope="row"),
            el("td", f"{known.count(n):,}", class_="number"),
            el("td", el("div", el("i", style=wide), class_="meter", aria_hidden="true")),
        )

    rows = map(row, range(chains, 0, -1))
    head = el("tr", el("th", "Found in", scope="col"), el("th", "Topics", scope="col", class_="number"), el("td"))
    return el(
        "table",
        el("caption", "Topics by the chains that found them"),
        el("thead", head),
        el("tbody", *rows),
        class_="found",
    )


def _method(content: Content) -> Markup:
    rows = [
        *content["settings"],
        *((name, value) for name, value in content["versions"].items() if value),
    ]
    table = el("tbody", *(el("tr", el("th", name, scope="row"), el("td", value)) for name, value in rows))
    return together(
        *(el("p", one) for one in (*content["method"], *_explained(content))),
        el("div", el("table", el("caption", "Settings and numbers"), table), class_="settings"),
    )


def _explained(content: Content) -> Iterator[str]:
    """What the numbers of this report mean."""
    if content["pairs"] is not None:
        yield (
            "Together 4.1 times as often as by chance: draw two words from the same document; one is of the first "
            "topic and one of the second 4.1 times as often as if the topics had nothing to do with each other. Below "
            "1 they avoid each other."
        )
    if any(one["typical"] for one in content["topics"]):
        yield (
            "Typical documents have the largest shares of a topic; the sentences shown are those with most of its "
            "words. They show what the topic is about, not what most documents are like."
        )


def _cite(content: Content) -> Markup:
    return el("ul", *(el("li", one) for one in content["cite"]), class_="cite")
