"""``diln trends`` and ``diln groups``: topics and themes over time, and by label."""

import sys
from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer
from rich.cells import cell_len, set_cell_size
from rich.markup import escape
from rich.table import Table

from diln.cli.answers import in_parts
from diln.cli.console import OUT, say_json
from diln.cli.opening import CorpusOption, ThemesOption, open_atlas
from diln.cli.options import FileOption, ForExcelOption, JobsOption, JsonOption, ModelArg, QuietOption
from diln.cli.table_files import check_target, write_table
from diln.cli.table_formats import Column, FileContent
from diln.cli.tables import SPARKS, fit_line, lift_range, say_written, shown_lift

if TYPE_CHECKING:
    from diln.analysis import GroupCell, Groups, Series, Trends

app = typer.Typer()

TOP = 20  # topics that are shown by default
WIDEST = 60  # characters of a curve
NARROWEST = 12
LEAST_ROOM = 16  # characters of a label
LISTED = 3  # topics or themes that a label has more of, and less of


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


@app.command("trends", epilog="Examples:\n\ndiln trends model\n\ndiln trends model --by topic -o trends.csv")
def trends_command(
    model: ModelArg,
    by: ByOption = By.theme,
    topic: TopicOption = None,
    granularity: Annotated[Granularity, typer.Option("--granularity", help="How long a period is.")] = Granularity.auto,
    label: Annotated[str | None, typer.Option("--label", help="Only documents with this label.")] = None,
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
    """
    if output is not None:
        check_target(output, directories=[model])
    atlas = open_atlas(model, corpus, jobs, quiet=quiet or json)
    kind = "topic" if topic else by.value
    found = atlas.trends(kind, granularity.value, topic or None, label, themes or "auto")  # type: ignore[arg-type]
    if output is not None:
        written = write_table(output, *trends_table(found), for_excel=for_excel)
        numbers = {"periods": len(found.periods), "granularity": found.granularity, "undated": found.n_undated}
        say_written(
            output, written, numbers, {"periods": f"{len(found.periods):,}", "each": found.granularity}, json=json
        )
        return
    if json:
        say_json({"directory": str(model), **found.to_json()})
        return
    _show_trends(found, found.series if topic or kind == "theme" else found.series[: top or TOP], label)


def trends_table(found: "Trends") -> FileContent:
    """A row for each topic or theme and period."""
    columns = [Column("period", "text"), Column(found.by, "whole"), Column("label", "text"), Column("share", "number")]
    columns += [Column("low", "number"), Column("high", "number"), Column("n_docs", "whole")]
    return columns, in_parts(tuple(row.values()) for row in found.rows())


def _show_trends(found: "Trends", series: Sequence["Series"], label: str | None) -> None:
    of = "" if label is None else f" in documents of {label}"
    shown = "" if len(series) == len(found.series) else f", the {len(series):,} largest of {len(found.series):,}"
    several = len(found.periods) > 1
    span = f"{found.periods[0]} to {found.periods[-1]}" if several else found.periods[0]
    OUT.print(f"[bold]{found.by}s over time[/]{escape(of)} ({span}, by {found.granularity}{shown})")
    width = max(NARROWEST, min(WIDEST, len(found.periods), OUT.width // 3))
    room = max(OUT.width - width - 40, LEAST_ROOM)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in (found.by, "label", "", "least", "most", "when"):
        table.add_column(name, justify="left" if name in ("label", "", "when") else "right", no_wrap=True)
    for one in series:
        least, when = _ends(one)
        table.add_row(
            f"[bold]{one.id}[/]", escape(_cut(one.label, room)), f"[cyan]{curve(one.values, width)}[/]",
            f"{one.values[least]:.1%}", f"{one.values[when]:.1%}", found.periods[when],
        )  # fmt: skip
    OUT.print(table)
    docs = sum(found.n_docs)
    left = f"; {found.n_undated:,} without a date {'is' if found.n_undated == 1 else 'are'} left out"
    undated = left if found.n_undated else ""
    OUT.print(f"\n[dim]shares of the words of {docs:,} documents{undated}; -o FILE.csv has every period, with bands[/]")


def _ends(series: "Series") -> tuple[int, int]:
    """The periods in which a share is surely least and most: those of few documents say little."""
    high, low = ([value for value in one if value is not None] for one in (series.high, series.low))
    if high and low:
        return series.high.index(min(high)), series.low.index(max(low))
    known = [value for value in series.values if value is not None]
    return series.values.index(min(known)), series.values.index(max(known))


def curve(values: Sequence[float | None], width: int) -> str:
    """Values as a row of bars from 0 on, several at a time where there are too many; nothing where there are none."""
    known = [value for value in values if value is not None]
    step = max(len(values) / width, 1.0)
    parts = [
        values[int(at * step) : max(int((at + 1) * step), int(at * step) + 1)] for at in range(int(len(values) / step))
    ]
    means = [[value for value in part if value is not None] for part in parts]
    most = max(known, default=0) or 1.0
    return "".join(SPARKS[round(sum(one) / len(one) / most * (len(SPARKS) - 1))] if one else " " for one in means)


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
    if kind == "topic":
        names = {one: atlas.label(one) for one in dict.fromkeys(cell.id for cell in found.cells)}
    else:
        names = {theme.id: theme.label for theme in atlas.themes(themes or "auto").themes}
    if output is not None:
        written = write_table(output, *groups_table(found, names), for_excel=for_excel)
        sure = sum(cell.sure for cell in found.cells)
        told = {"labels": f"{len(found.labels):,}", "sure": f"{sure:,} of {len(found.cells):,} differences"}
        say_written(output, written, {"labels": len(found.labels), "sure": sure}, told, json=json)
        return
    if json:
        say_json({"directory": str(model), **found.to_json()})
        return
    _show_groups(found, names, top or TOP)


def groups_table(found: "Groups", names: dict[int, str]) -> FileContent:
    """A row for each topic or theme and label."""
    columns = [Column("label", "text"), Column("n_docs", "whole"), Column(found.by, "whole"), Column("name", "text")]
    columns += [Column(name, "number") for name in ("share", "lift", "low", "high", "p")] + [Column("sure", "flag")]
    sizes = {label.name: label.n_docs for label in found.labels}
    rows = (
        (one.label_name, sizes[one.label_name], one.id, names[one.id], one.share, one.lift, one.low, one.high, one.p,
         one.sure)
        for one in found.cells
    )  # fmt: skip
    return columns, in_parts(rows)


def _show_groups(found: "Groups", names: dict[int, str], top: int) -> None:
    shown = found.labels[:top]
    cut = f", the {len(shown):,} largest of {len(found.labels):,}" if len(shown) < len(found.labels) else ""
    OUT.print(f"[bold]{found.by}s by label[/] ({len(found.labels):,} labels{cut})")
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("label", no_wrap=True, style="bold", max_width=max(OUT.width // 4, LEAST_ROOM))
    for name in ("docs", "lift", "95% interval", "p", found.by):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", ratio=1, no_wrap=True)
    for label in shown:
        sure = [cell for cell in found.cells if cell.label_name == label.name and cell.sure]
        more = sorted((cell for cell in sure if cell.lift > 1), key=lambda cell: -cell.low)
        less = sorted((cell for cell in sure if cell.lift < 1), key=lambda cell: cell.high)
        rows = [*_rows(more, names, "green", "higher"), *_rows(less, names, "red", "lower")]
        for at, row in enumerate(rows or [("", "", "", "", "[dim]no difference is more than chance[/]")]):
            table.add_row(*((escape(label.name), f"{label.n_docs:,}") if at == 0 else ("", "")), *row)
    OUT.print(fit_line(table, OUT))
    sure_of = sum(cell.sure for cell in found.cells)
    left = f"; {found.n_unlabelled:,} documents without a label are left out" if found.n_unlabelled else ""
    OUT.print(
        f"\n[dim]{sure_of:,} of {len(found.cells):,} differences are more than chance{left}; -o FILE.csv has all[/]"
    )


def _rows(cells: Sequence["GroupCell"], names: dict[int, str], style: str, what: str) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        (f"[{style}]{shown_lift(cell.lift)}[/]", lift_range(cell.low, min(cell.high, sys.float_info.max)),
         "<.001" if cell.p < 0.001 else f"{cell.p:.3f}"[1:], f"[dim]{cell.id}[/]", escape(names[cell.id]))
        for cell in cells[:LISTED]
    ]  # fmt: skip
    rest = len(cells) - LISTED
    return [*rows, ("", f"[dim]and {rest:,} {what}[/]", "", "", "")] if rest > 0 else rows
