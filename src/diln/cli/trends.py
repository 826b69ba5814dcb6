"""``diln trends`` and ``diln groups``: topics and themes over time, and by label."""

import sys
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.cells import cell_len, set_cell_size
from rich.markup import escape
from rich.table import Table

from diln.cli.answers import in_parts
from diln.cli.console import OUT, complain, say_json
from diln.cli.opening import CorpusOption, ThemesOption, open_atlas
from diln.cli.options import FileOption, ForExcelOption, JobsOption, JsonOption, ModelArg, QuietOption
from diln.cli.table_files import check_target, write_table
from diln.cli.table_formats import Column, FileContent
from diln.cli.tables import SPARKS, fit_line, lift_range, say_written, shown_lift

if TYPE_CHECKING:
    from diln.analysis import GroupCell, Groups, LabelTrends, Trends

app = typer.Typer()

TOP = 20  # topics that are shown by default
WIDEST = 60  # characters of a curve
NARROWEST = 12
LEAST_ROOM = 16  # characters of a label
LABELS = 12  # whose trends are shown
NAMED = 16  # periods whose documents are told in numbers
ADVICE = "--standardise holds the mix constant, --by-label shows each label alone."


class By(Enum):
    """What is shown."""

    theme = "theme"
    topic = "topic"


class Granularity(Enum):
    """How long a period is."""

    auto = "auto"
    year = "year"
    quarter = "quarter"
    month = "month"
    week = "week"
    day = "day"


ByOption = Annotated[By, typer.Option("--by", help="Show themes or topics.")]
TopicOption = Annotated[
    list[int] | None, typer.Option("--topic", min=0, help="Show this topic. Repeat for several; implies --by topic.")
]
TopOption = Annotated[
    int | None,
    typer.Option("--top", "-n", min=1, help="Maximum number of topics.", show_default=f"{TOP}; all in a file"),
]


@app.command(
    "trends",
    epilog="Examples:\n\ndiln trends model\n\ndiln trends model --by topic -o trends.csv\n\n"
    "diln trends model --standardise",
)
def trends_command(  # a parameter for each option
    model: ModelArg,
    by: ByOption = By.theme,
    topic: TopicOption = None,
    granularity: Annotated[Granularity, typer.Option("--granularity", help="How long a period is.")] = Granularity.auto,
    label: Annotated[str | None, typer.Option("--label", help="Only documents with this label.")] = None,
    by_label: Annotated[bool, typer.Option("--by-label", help="Show the trends of each label alone.")] = False,
    standardise: Annotated[
        bool, typer.Option("--standardise", help="Hold the mix of labels constant; see above.")
    ] = False,
    min_documents: Annotated[
        int | None,
        typer.Option(
            "--min-documents", min=1, help="Show no share of periods with fewer documents.", show_default="10"
        ),
    ] = None,
    themes: ThemesOption = None,
    top: TopOption = None,
    corpus: CorpusOption = None,
    output: FileOption = None,
    for_excel: ForExcelOption = False,
    jobs: JobsOption = -1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Show how themes or topics come and go: their shares of the words in each period.

    Shares are of all words of a period's documents. A file has the share of each in each
    period, with a band that holds it in about 19 of 20 cases, over documents such as these.

    Where documents have labels, such as their sources, a change of their mix looks like a change of
    themes. A warning says so: in a period at least a tenth more of the documents have another label
    than by chance. --by-label shows each label alone. --standardise holds the mix constant: in each
    period a share is taken within each label, and the mean over labels is weighted by the label's
    share of all words. Where labels are missing from a period, the others count more; where these
    have less than nine tenths of all words, the period has no share.
    """
    if sum([label is not None, by_label, standardise]) > 1:
        raise typer.BadParameter("give one of --label, --by-label and --standardise")
    if output is not None:
        check_target(output, directories=[model])
    atlas = open_atlas(model, corpus, jobs, quiet=quiet or json)
    kind = "topic" if topic else by.value
    asked: dict[str, Any] = {"n_themes": themes or "auto"}
    if min_documents is not None:
        asked["min_documents"] = min_documents
    most = None if topic or kind == "theme" else top or TOP
    if by_label:
        within = atlas.trends_by_label(kind, granularity.value, topic or None, **asked)  # type: ignore[arg-type]
        _tell_trends(within, within.trends[0], within_table(within), output, model, for_excel=for_excel, json=json)
        if output is None and not json:
            _show_by_label(within, most)
        return
    found = atlas.trends(kind, granularity.value, topic or None, label, standardise=standardise, **asked)  # type: ignore[arg-type]
    if found.mix is not None and not quiet:
        complain("warning", f"{found.warning} {ADVICE}")
    _tell_trends(found, found, trends_table(found), output, model, for_excel=for_excel, json=json)
    if output is None and not json:
        _show_trends(found, most, label)


def _tell_trends(
    answer: "Trends | LabelTrends",
    found: "Trends",
    content: FileContent,
    output: Path | None,
    model: Path,
    *,
    for_excel: bool,
    json: bool,
) -> None:
    """Write a file, or print the answer for machines, if one of these is wanted."""
    if output is not None:
        written = write_table(output, *content, for_excel=for_excel)
        numbers = {"periods": len(found.periods), "granularity": found.granularity, "undated": answer.n_undated}
        told = {"periods": f"{len(found.periods):,}", "each": found.granularity, "note": " ".join(found.notes)}
        say_written(output, written, numbers, told, json=json)
    elif json:
        say_json({"directory": str(model), **answer.to_json()})


def trends_table(found: "Trends") -> FileContent:
    """A row for each topic or theme and period."""
    columns = [Column("period", "text"), Column(found.by, "whole"), Column("label", "text"), Column("share", "number")]
    columns += [Column("low", "number"), Column("high", "number"), Column("n_docs", "whole")]
    return columns, in_parts(tuple(row.values()) for row in found.rows())


def within_table(found: "LabelTrends") -> FileContent:
    """A row for each label, topic or theme, and period."""
    columns, _ = trends_table(found.trends[0])
    return [Column("within", "text"), *columns], in_parts(tuple(row.values()) for row in found.rows())


def _show_trends(found: "Trends", most: int | None, label: str | None) -> None:
    of = "" if label is None else f" in documents of {label}"
    shown = "" if most is None or most >= len(found.series) else f", the {most:,} largest of {len(found.series):,}"
    constant = ", labels held constant" if found.standardised else ""
    OUT.print(f"[bold]{found.by}s over time[/]{escape(of)} ({_span(found)}{constant}{shown})")
    table = _lines(found)
    _add(table, found, most)
    OUT.print(table)
    _say_left(found, found.notes)


def _show_by_label(found: "LabelTrends", most: int | None) -> None:
    shown = [*zip(found.labels, found.trends, strict=True)][:LABELS]
    cut = f", {len(shown):,} of {found.n_labels:,} labels" if len(shown) < found.n_labels else ""
    OUT.print(f"[bold]{found.by}s over time by label[/] ({_span(found)}{cut})")
    table = _lines(found.trends[0])
    for at, (label, one) in enumerate(shown):
        if at:
            table.add_row()
        table.add_row("", f"[bold]{escape(_cut(label, OUT.width // 2))}[/]")
        _add(table, one, most)
    OUT.print(table)
    few, least = found.n_labels - len(found.labels), found.trends[0].min_documents
    left = f"; {few:,} label{'s have' if few > 1 else ' has'} as many in no period" if few else ""
    _say_left(found, [f"No bar where a label has fewer than {least:,} documents{left}."])


def _span(found: "Trends | LabelTrends") -> str:
    several = len(found.periods) > 1
    span = f"{found.periods[0]} to {found.periods[-1]}" if several else found.periods[0]
    return f"{span}, by {found.granularity}"


def _lines(found: "Trends") -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in (found.by, "label", "", "least", "most", "when"):
        table.add_column(name, justify="left" if name in ("label", "", "when") else "right", no_wrap=True)
    return table


def _add(table: Table, found: "Trends", most: int | None) -> None:
    """A row for the documents, and one for each topic or theme: of periods with enough documents only."""
    from diln.analysis.html import percent

    width = max(NARROWEST, min(WIDEST, len(found.periods), OUT.width // 3))
    room = max(OUT.width - width - 40, LEAST_ROOM)
    fewest, largest = min(found.n_docs), max(found.n_docs)
    counts = curve([n or None for n in found.n_docs], width)
    when = found.periods[found.n_docs.index(largest)]
    table.add_row("", "documents", counts, f"{fewest:,}", f"{largest:,}", when, style="dim")
    for one in found.series[:most]:
        ends = [percent(one.values[at] or 0.0) for at in one.ends] if one.known else ["", ""]
        table.add_row(
            f"[bold]{one.id}[/]", escape(_cut(one.label, room)), f"[cyan]{curve(one.values, width)}[/]", *ends,
            found.periods[one.ends[1]] if one.known else "",
        )  # fmt: skip


def _say_left(found: "Trends | LabelTrends", notes: Sequence[str]) -> None:
    """How many documents there are in each period, and which are left out."""
    docs = [sum(one) for one in zip(*(part.n_docs for part in getattr(found, "trends", [found])), strict=True)]
    OUT.print()
    if len(docs) <= NAMED:
        each = ", ".join(f"{period} {n:,}" for period, n in zip(found.periods, docs, strict=True) if n)
        OUT.print(f"[dim]documents: {each}[/]")
    for note in notes:
        OUT.print(f"[dim]{escape(note)}[/]")
    left = [
        f"; {n:,} without {what} {'is' if n == 1 else 'are'} left out"
        for n, what in ((found.n_undated, "a date"), (found.n_unlabelled, "a label"))
        if n
    ]
    OUT.print(
        f"[dim]shares of the words of {sum(docs):,} documents{''.join(left)}; "
        "-o FILE.csv has every period, with bands[/]"
    )


def curve(values: Sequence[float | None], width: int) -> str:
    """Values as a row of bars from 0 on, several at a time where there are too many; nothing where there are none."""
    from diln.analysis.html import thinned

    shown = thinned(values, width)
    most = max((value for value in shown if value is not None), default=0) or 1.0
    return "".join(" " if value is None else SPARKS[round(value / most * (len(SPARKS) - 1))] for value in shown)


def _cut(text: str, room: int) -> str:
    return text if cell_len(text) <= room else set_cell_size(text, room - 1).rstrip() + "…"


@app.command("groups", epilog="Examples:\n\ndiln groups model\n\ndiln groups model --by topic -o groups.xlsx")
def groups_command(
    model: ModelArg,
    by: ByOption = By.theme,
    topic: TopicOption = None,
    themes: ThemesOption = None,
    separator: Annotated[
        str,
        typer.Option("--separator", help="What separates labels where documents have several: ';', auto, or none."),
    ] = "auto",
    top: Annotated[
        int | None,
        typer.Option("--top", "-n", min=1, help="Maximum number of labels.", show_default=f"{TOP}; all in a file"),
    ] = None,
    corpus: CorpusOption = None,
    output: FileOption = None,
    for_excel: ForExcelOption = False,
    jobs: JobsOption = -1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Show what documents of each label have more of, and less of, than all others.

    A lift of 2.5x means that a theme's share is 2.5 times as large in a document of this label as in one of the others,
    on average; all documents count alike. p is the chance of a difference as large if labels were given to documents by
    lot. The 95% interval is made of the same test: it holds 1 where p is above 0.05, and only there. Each is for one
    difference on its own.

    Shown are the differences that are more than chance with all of them in view: on average, at most 1 in 20 of the
    differences shown is chance. A file has all.
    """
    if output is not None:
        check_target(output, directories=[model])
    atlas = open_atlas(model, corpus, jobs, quiet=quiet or json)
    kind = "topic" if topic else by.value
    found = atlas.groups(kind, topic or None, themes or "auto", None if separator == "none" else separator)  # type: ignore[arg-type]
    if output is not None:
        written = write_table(output, *groups_table(found), for_excel=for_excel)
        sure = sum(cell.sure for cell in found.cells)
        told = {"labels": f"{len(found.labels):,}", "sure": f"{sure:,} of {len(found.cells):,} differences"}
        say_written(output, written, {"labels": len(found.labels), "sure": sure}, told, json=json)
        return
    if json:
        say_json({"directory": str(model), **found.to_json()})
        return
    _show_groups(found, top or TOP)


def groups_table(found: "Groups") -> FileContent:
    """A row for each topic or theme and label."""
    columns = [Column("label", "text"), Column("n_docs", "whole"), Column(found.by, "whole"), Column("name", "text")]
    columns += [Column(name, "number") for name in ("share", "lift", "low", "high", "p")] + [Column("sure", "flag")]
    sizes = {label.name: label.n_docs for label in found.labels}
    rows = (
        (one.label_name, sizes[one.label_name], one.id, one.name, one.share, one.lift, one.low, one.high, one.p,
         one.sure)
        for one in found.cells
    )  # fmt: skip
    return columns, in_parts(rows)


def _show_groups(found: "Groups", top: int) -> None:
    shown = found.labels[:top]
    cut = f", the {len(shown):,} largest of {len(found.labels):,}" if len(shown) < len(found.labels) else ""
    OUT.print(f"[bold]{found.by}s by label[/] ({len(found.labels):,} labels{cut})")
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("label", no_wrap=True, style="bold", max_width=max(OUT.width // 4, LEAST_ROOM))
    for name in ("docs", "lift", "95% interval", "p", found.by):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", ratio=1, no_wrap=True)
    for label in shown:
        more, less = found.differences(label.name)
        rows = [*_rows(more, "green", "higher"), *_rows(less, "red", "lower")]
        for at, row in enumerate(rows or [("", "", "", "", "[dim]no difference is more than chance[/]")]):
            table.add_row(*((escape(label.name), f"{label.n_docs:,}") if at == 0 else ("", "")), *row)
    OUT.print(fit_line(table, OUT))
    OUT.print(f"\n[dim]{found.told}; -o FILE.csv has all[/]")


def _rows(cells: Sequence["GroupCell"], style: str, what: str) -> list[tuple[str, ...]]:
    from diln.analysis.groups import LISTED
    from diln.analysis.html import shown_chance

    rows: list[tuple[str, ...]] = [
        (f"[{style}]{shown_lift(cell.lift)}[/]", lift_range(cell.low, min(cell.high, sys.float_info.max)),
         shown_chance(cell.p), f"[dim]{cell.id}[/]", escape(cell.name))
        for cell in cells[:LISTED]
    ]  # fmt: skip
    rest = len(cells) - LISTED
    return [*rows, ("", f"[dim]and {rest:,} {what}[/]", "", "", "")] if rest > 0 else rows
