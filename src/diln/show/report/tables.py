"""Tables of pairs, trends and labels: read by people, screen readers and printers alike."""

from typing import Any

from diln.analysis.html import percent
from diln.show.report.gather import Content
from diln.show.report.markup import NOTHING, Markup, el, together
from diln.show.report.pictures import known_periods, peak, sparkline
from diln.show.report.themes import badge
from diln.show.report.words import SURE, known_lift, lift_range, showing, times

MOST_LABELS = 40  # rows of the table of labels
MOST_COLUMNS = 24  # themes or topics beside them
MOST_TRENDS = 30


def pair_table(pairs: list[dict[str, Any]], content: Content) -> Markup:
    """Pairs of topics, the strongest first."""
    labels = {one["id"]: one["label"] for one in content["topics"]}
    chains = any(pair["sure"] is not None for pair in pairs)
    heads = [el("th", "Times as often as by chance", scope="col", class_="number"), el("th", "Topics", scope="col")]

    def topic(one: int) -> Markup:
        return el("a", el("span", f"{one} ", class_="id"), el("bdi", labels.get(one, "")), href=f"#topic-{one}")

    def row(pair: dict[str, Any]) -> Markup:
        where = lift_range(pair)
        sure = el("small", f"{SURE[pair['sure']]}{f', {where}' if where else ''}") if chains else NOTHING
        lift = el("td", el("strong", f"{times(pair['lift'])}×"), class_="number")
        return el("tr", lift, el("td", topic(pair["first"]), topic(pair["second"]), sure, class_="two"))

    return el("table", el("thead", el("tr", *heads)), el("tbody", *map(row, pairs)), class_="pair-table")


def trend_table(trends: dict[str, Any]) -> Markup:
    """A line over time for each theme or topic, of periods with enough documents; and one for the documents."""
    periods, series = trends["periods"], trends["series"][:MOST_TRENDS]
    heads = ("Theme" if trends["by"] == "theme" else "Topic", f"{periods[0]} to {periods[-1]}", "First", "Last", "Most")

    def row(one: dict[str, Any]) -> Markup:
        values, known = one["values"], known_periods(one["values"])
        mark = badge(one["id"]) if trends["by"] == "theme" else el("span", f"{one['id']} ", class_="id")
        ends = [percent(values[at]) for at in (known[0], known[-1])] if known else ["", ""]
        top = f"{percent(values[peak(values)])} in {periods[peak(values)]}" if known else ""
        return el(
            "tr",
            el("th", mark, el("bdi", one["label"]), scope="row"),
            el("td", sparkline(values, one["low"], one["high"])),
            *(el("td", told, class_="number") for told in (*ends, top)),
        )

    n_docs = trends["n_docs"]
    most = n_docs.index(max(n_docs))
    told = (f"{n_docs[0]:,}", f"{n_docs[-1]:,}", f"{n_docs[most]:,} in {periods[most]}")
    bare = [None] * len(n_docs)
    documents = el(
        "tr",
        el("th", "Documents", scope="row"),
        el("td", sparkline(n_docs, bare, bare)),
        *(el("td", one, class_="number") for one in told),
        class_="documents",
    )
    cut = showing(len(series), len(trends["series"]), f"{trends['by']}s")
    table = el(
        "table",
        el("thead", el("tr", *(el("th", one, scope="col") for one in heads))),
        el("tbody", documents, *map(row, series)),
        class_="trend-table",
    )
    return together(table, el("p", cut, class_="note") if cut else NOTHING)


def group_table(groups: dict[str, Any], content: Content) -> Markup:
    """A row for each label, a column for each theme."""
    by_theme = groups["by"] == "theme"
    known = content["themes"]["themes"] if by_theme else content["topics"]
    columns, labels = known[:MOST_COLUMNS], groups["labels"][:MOST_LABELS]
    cells = {(one["label_name"], one["id"]): one for one in groups["cells"]}

    def head(one: dict[str, Any]) -> Markup:
        mark = badge(one["id"]) if by_theme else el("span", str(one["id"]), class_="id")
        link = f"#theme-{one['id']}" if by_theme else f"#topic-{one['id']}"
        return el("th", el("a", mark, el("bdi", one["label"], class_="column-label"), href=link), scope="col")

    def row(label: dict[str, Any]) -> Markup:
        size = el("td", f"{label['n_docs']:,}", class_="number")
        found = (_cell(cells.get((label["name"], one["id"]))) for one in columns)
        return el("tr", el("th", el("bdi", label["name"]), scope="row"), size, *found)

    heads = el(
        "tr", el("th", "Label", scope="col"), el("th", "Documents", scope="col", class_="number"), *map(head, columns)
    )
    table = el("table", el("thead", heads), el("tbody", *map(row, labels)), class_="group-table")
    cuts = [
        showing(len(labels), len(groups["labels"]), "labels"),
        showing(len(columns), len(known), f"{groups['by']}s"),
    ]
    cut = "; ".join(one for one in cuts if one)
    region = el("div", table, class_="table-scroll wide", tabindex="0", role="region", aria_label="Shares by label")
    return together(region, el("p", cut, class_="note") if cut else NOTHING)


def _cell(cell: dict[str, Any] | None) -> Markup:
    if cell is None:
        return el("td", class_="number")
    lift = known_lift(cell["lift"])
    more = lift > 1
    mark = el("span", "▲" if more else "▼", class_="more" if more else "less") if cell["sure"] else NOTHING
    told = (
        f"{times(cell['lift'])} times as much as in all other documents{', more than chance' if cell['sure'] else ''}"
    )
    strength = min(1.0, (lift - 1) / 3 if more else 1 - lift)
    end = "var(--attract)" if more else "var(--avoid)"
    shade = f"--s:{30 * strength:.0f}%;--e:{end}" if cell["sure"] else None
    return el(
        "td",
        percent(cell["share"]),
        mark,
        title=told,
        style=shade,
        class_="number shaded" if cell["sure"] else "number",
    )
