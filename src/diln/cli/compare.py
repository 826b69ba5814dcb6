"""``diln compare``: whether DILN is worth it on one's own documents."""

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from diln.addresses import shown
from diln.cli.compareline import CompareLine
from diln.cli.console import ERR, OUT, say_json, told_of_interrupts
from diln.cli.options import OUTPUT, Given, JobsOption, JsonOption, QuietOption, new_directory, takes
from diln.cli.parameters import Inference
from diln.cli.source import READING, TERMS, TOKENS, SourceArg, read_corpus
from diln.errors import SourceError

if TYPE_CHECKING:
    from diln.study import Comparison
    from diln.study.base import View
    from diln.study.table import TableView

app = typer.Typer()

COMPARED, TRIED = "Comparison", "What is tried"
NO_FIGURES = 'no figures were drawn: pip install "diln[plots]", and the same command draws them'
# Columns that a narrow line has no room for, the first one first; table.md has them all.
SPARED = ("diversity", "exclusivity", "stability", "CPU s", "NPMI", "topics", "settings")
FOLDED = 16  # characters that settings need, which are words and may take several lines
GAP = 2  # characters between columns


class StudyName(Enum):
    """Which question."""

    table = "table"
    prior = "prior"
    steps = "steps"
    time = "time"
    pass_ = "pass"  # noqa: S105 - a pass over documents


@app.command(
    "compare",
    epilog="Examples:\n\n"
    "diln compare corpus -o comparison\n\n"
    "diln compare articles.jsonl -o comparison --model diln --model lda --topics 50 --topics 100 --seeds 5\n\n"
    "diln compare corpus -o comparison --study prior --study pass",
)
@takes(reading=READING, text={**TOKENS, **TERMS})
def compare_command(  # a parameter for each option
    source: SourceArg,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            parser=new_directory,
            metavar="FOLDER",
            help="Directory for the results. An unfinished comparison in it is continued.",
            rich_help_panel=OUTPUT,
        ),
    ],
    *,
    study: Annotated[
        list[StudyName] | None,
        typer.Option(
            "--study",
            help="The models side by side (table); perplexity against the topics' prior (prior), against steps of "
            "mini-batches (steps), against time (time); what one pass finds (pass). Repeat for several.",
            show_default="table",
            rich_help_panel=COMPARED,
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="MODEL",
            help="A model to compare. Repeat for several.",
            show_default="all",
            rich_help_panel=COMPARED,
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option("--seeds", min=1, help="Number of chains for each model.", rich_help_panel=COMPARED)
    ] = 3,
    splits: Annotated[
        int,
        typer.Option(
            "--splits",
            min=1,
            help="Number of splits into training and test documents; at least 5 for --study prior.",
            rich_help_panel=COMPARED,
        ),
    ] = 1,
    topics: Annotated[
        list[int] | None,
        typer.Option(
            "--topics",
            min=1,
            help="Number of topics to try for models that need one. Repeat for several.",
            show_default="50, 100 and 200; fewer for small corpora",
            rich_help_panel=TRIED,
        ),
    ] = None,
    prior: Annotated[
        list[float] | None,
        typer.Option(
            "--topic-prior",
            "--prior",
            help="Prior of a topic's terms to try for every model. Repeat for several.",
            show_default="0.015, 0.04 and 0.1; variational 0.05, 0.1 and 0.25",
            rich_help_panel=TRIED,
        ),
    ] = None,
    inference: Annotated[
        Inference, typer.Option("--inference", help="How models are fitted.", rich_help_panel=TRIED)
    ] = Inference.sampling,
    draws: Annotated[
        int | None,
        typer.Option(
            "--draws",
            min=1,
            help="Judge by the mean probability of each document over this many draws from the posterior, as in the "
            "paper (sampling: over the last states, at most this many).",
            show_default="by the expected topics and proportions",
            rich_help_panel=COMPARED,
        ),
    ] = None,
    passes: Annotated[
        int | None,
        typer.Option(
            "--passes",
            "--max-iter",
            min=1,
            help="Maximum number of sweeps or passes of a fit.",
            show_default="as in diln fit",
            rich_help_panel=TRIED,
        ),
    ] = None,
    reading: Given,
    text: Given,
    jobs: JobsOption = -1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Compare models on documents: how well each predicts new ones, what its topics are like, and what it costs.

    Settings are chosen for every model by the same rule, on validation documents; test documents judge the result. Each
    fit runs on one thread, several fits at a time. If you stop the command, run it again to continue.
    """
    from diln.study import STUDIES, Comparison, ResultsFolder, settings_for

    silent = quiet or json
    with told_of_interrupts("runs that were done are kept, and the same command goes on"):
        ResultsFolder(output).check_free()
        corpus = read_corpus(source, reading, text, jobs, silent)
        if not corpus.n_tokens:
            raise SourceError(f"{shown(source)}: the {len(corpus):,} documents have no token; give documents with text")
        settings = settings_for(
            corpus, models=tuple(name.upper() for name in model or ()), topics=tuple(topics or ()),
            priors=tuple(prior or ()), seeds=seeds, splits=splits, inference=inference.value, max_iter=passes,
            n_draws=draws,
        )  # fmt: skip
        names = dict.fromkeys(one.value for one in study or [StudyName.table])
        comparison = Comparison(corpus, settings, ResultsFolder(output), tuple(STUDIES[name] for name in names))
        figures: list[str] = []
        with CompareLine(comparison.folder, quiet=silent) as line:
            views = comparison.carry_out(jobs, line, lambda views: figures.extend(_write(comparison, views, silent)))
    if json:
        say_json({
            "directory": str(output), "figures": figures,
            "studies": {name: comparison.described(name, view) for name, view in views.items()},
        })  # fmt: skip
        return
    _report(output, views, figures)


def _write(comparison: "Comparison", views: "dict[str, View]", silent: bool) -> list[str]:
    """Write the table and, where matplotlib is there, the figures; returns where the latter are."""
    from diln.show.table import markdown
    from diln.study.folder import FIGURES, TABLE

    table: TableView | None = views.get("table")  # type: ignore[assignment]
    if table is not None:
        comparison.folder.write(TABLE, markdown(table, comparison.about))
    try:
        from diln.show.comparison import draw
    except ImportError:
        if not silent:
            ERR.print(escape(NO_FIGURES), soft_wrap=True)
        return []
    figures = comparison.folder.directory / FIGURES
    return [str(path) for name, view in views.items() for path in draw(name, view, figures)]


def _report(output: Path, views: "dict[str, View]", figures: list[str]) -> None:
    from diln.show.table import COLUMNS
    from diln.study.folder import TABLE

    table: TableView | None = views.get("table")  # type: ignore[assignment]
    OUT.print(f"[bold]{escape(str(output))}[/]", soft_wrap=True)
    if table is not None:
        columns = _columns(table)
        OUT.print(_table(columns))
        left_out = [name for name in COLUMNS if name not in columns]
        if left_out:
            OUT.print(f"[dim]there is no room for: {', '.join(left_out)}; {TABLE} has all[/]", soft_wrap=True)
        OUT.print(f"\n{escape(table.verdict)}", soft_wrap=True)
        for note in table.notes:
            OUT.print(f"[dim]{escape(note)}[/]", soft_wrap=True)
    for path in figures:
        OUT.print(f"[dim]{escape(path)}[/]", soft_wrap=True)


def _columns(view: "TableView") -> dict[str, list[str]]:
    """The cells of the columns that there is room for, by the columns' names."""
    from diln.show.table import COLUMNS, cells

    columns = {name: list(column) for name, *column in zip(COLUMNS, *map(cells, view.rows), strict=True)}
    for name in SPARED:
        if _width(columns) > OUT.width:
            del columns[name]
    return columns


def _width(columns: dict[str, list[str]]) -> int:
    """Characters that these columns need."""
    widths = {name: max(map(len, [name, *column])) for name, column in columns.items()}
    if "settings" in widths:
        widths["settings"] = min(widths["settings"], FOLDED)
    return sum(widths.values()) + GAP * (len(widths) - 1)


def _table(columns: dict[str, list[str]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for number, name in enumerate(columns):
        words = name in ("model", "settings")
        table.add_column(
            name, justify="left" if words else "right", style="bold" if number == 0 else "", no_wrap=name != "settings"
        )
    for row in zip(*columns.values(), strict=True):
        table.add_row(*map(escape, row))
    return table
