"""``diln corpus``: build a corpus from text, add to it, and see what is in it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from diln.cli.cluster import CLUSTER, WorkerTimeoutOption, cluster_of
from diln.cli.console import OUT, ProgressLine, bar, facts, say_json, told_of_interrupts
from diln.cli.options import (
    OUTPUT,
    ForceOption,
    Given,
    JobsOption,
    JsonOption,
    Options,
    QuietOption,
    new_directory,
    takes,
)
from diln.cli.source import READING, TERMS, TERMS_PANEL, TOKENS, FilesArg, TokenizerOption, check_rule, source_of

if TYPE_CHECKING:
    from diln.corpus import Corpus, CorpusSummary

app = typer.Typer(help="Build a corpus from text, add documents, and show what is in it.", no_args_is_help=True)

BAR_WIDTH = 24
UNCHANGED = "nothing was changed"

CountingOption = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS|local:N",
        help="Count on a Dask cluster: the address of its scheduler, as in tcp://HOST:8786, or local:4 for 4 worker "
        "processes of this machine. The corpus is the same. Workers read the files of a pattern or a folder "
        "themselves: they must see these and DIR, by the same paths.",
        show_default="processes of this machine",
        rich_help_panel=CLUSTER,
    ),
]
DirectoryArg = Annotated[Path, typer.Argument(metavar="DIR", help="A corpus directory.", show_default=False)]
DOCUMENTS: Options = {
    "min_tokens": Annotated[
        int | None,
        typer.Option(
            "--min-tokens",
            min=0,
            help="Drop documents with fewer tokens.",
            show_default="0",
            rich_help_panel=TERMS_PANEL,
        ),
    ],
    "drop_duplicates": Annotated[
        bool | None,
        typer.Option("--drop-duplicates", help="Keep the first of equal texts.", rich_help_panel=TERMS_PANEL),
    ],
    "keep_text": Annotated[
        bool | None,
        typer.Option(
            "--keep-text/--no-text",
            help="Whether to store the texts.",
            show_default="keep-text",
            rich_help_panel=OUTPUT,
        ),
    ],
}


@app.command(
    "build",
    epilog="Examples:\n\n"
    "diln corpus build articles.jsonl.gz -o corpus --text title --text body\n\n"
    "diln corpus build letters/ -o corpus --stop-words german.txt\n\n"
    "diln corpus build '/shared/news/*.jsonl.gz' -o /shared/corpus --scheduler tcp://10.0.0.1:8786\n\n"
    "diln corpus build docword.nips.txt.gz --vocabulary vocab.nips.txt -o nips",
)
@takes(reading=READING, text={**TOKENS, **TERMS, **DOCUMENTS})
def build_command(
    source: FilesArg,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            parser=new_directory,
            metavar="DIR",
            help="Directory for the corpus.",
            rich_help_panel=OUTPUT,
        ),
    ],
    reading: Given,
    text: Given,
    force: ForceOption = False,
    scheduler: CountingOption = None,
    worker_timeout: WorkerTimeoutOption = None,
    jobs: JobsOption = -1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Build a corpus on disk from a file or folder of documents."""
    from diln.corpus import build

    check_rule(text)
    with (
        told_of_interrupts(UNCHANGED),
        cluster_of(scheduler, worker_timeout, jobs) as engine,
        ProgressLine("building", quiet=quiet or json) as watch,
    ):
        files = source_of(source)
        corpus = build(files, output, overwrite=force, n_jobs=jobs, watch=watch, engine=engine, **reading, **text)
    _report(corpus, json)


@app.command("append", epilog="Example:\n\ndiln corpus append today.jsonl corpus --grow")
@takes(reading=READING)
def append_command(
    source: FilesArg,
    directory: DirectoryArg,
    reading: Given,
    grow: Annotated[bool, typer.Option("--grow/--fixed", help="Whether to add new terms to the vocabulary.")] = False,
    tokenizer: TokenizerOption = None,
    jobs: JobsOption = -1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Add documents to a corpus, counted in the same way as its own."""
    from diln.corpus import append

    tokens: Given = {} if tokenizer is None else {"tokenizer": tokenizer}
    with told_of_interrupts(UNCHANGED), ProgressLine("adding", quiet=quiet or json) as watch:
        corpus = append(source_of(source), directory, grow=grow, n_jobs=jobs, watch=watch, **reading, **tokens)
    _report(corpus, json)


@app.command("info", epilog="Example:\n\ndiln corpus info corpus --json")
def info_command(
    directory: DirectoryArg,
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Whether to read every file and compare its checksum.")
    ] = True,
    json: JsonOption = False,
) -> None:
    """Show what is in a corpus."""
    from diln.corpus import Corpus

    _report(Corpus.open(directory, check=check), json, full=True)


def _report(corpus: "Corpus", json: bool, full: bool = False) -> None:
    from diln.corpus import summarise

    summary, directory = summarise(corpus), str(corpus.directory)
    size = sum(path.stat().st_size for path in Path(directory).rglob("*") if path.is_file())
    if json:
        say_json({"directory": directory, "bytes": size, **summary.to_json()})
    else:
        show(summary, directory, size, full)


def show(summary: "CorpusSummary", name: str, size: int, full: bool) -> None:
    """Print what is in a corpus of this name and size in bytes; ``full`` adds its labels and terms."""
    OUT.print(f"[bold]{escape(name)}[/]", soft_wrap=True)
    OUT.print(_overview(summary, size))
    if full and summary.labels:
        _print_counted("label", summary.labels, summary.documents, summary.n_labels)
    if full:
        _print_counted("term", summary.terms, summary.documents, summary.vocabulary)


def _overview(summary: "CorpusSummary", size: int) -> Table:
    lengths = summary.tokens_per_document
    return facts(
        {
            "documents": f"{summary.documents:,}",
            "terms": f"{summary.vocabulary:,}",
            "tokens": f"{summary.tokens:,}",
            "a document": f"median {lengths['median']:,.0f} tokens, middle half {lengths['25%']:,.0f} to "
            f"{lengths['75%']:,.0f}, longest {lengths['max']:,.0f}",
            "known": ", ".join(summary.fields),
            "dates": _dates(summary),
            "on disk": f"{size / 1e6:,.1f} MB",
            "note": "; ".join(_notes(summary)),
        }
    )


def _dates(summary: "CorpusSummary") -> str:
    without = f", {summary.undated:,} without a date" if summary.undated else ""
    return f"{' to '.join(dict.fromkeys(summary.dates))}{without}" if summary.dates else ""


def _notes(summary: "CorpusSummary") -> list[str]:
    tally = summary.tally or {}
    numbers = {
        "documents without a token of the vocabulary": summary.empty_documents,
        "documents without text": tally.get("without_text", 0),
        "repeated documents dropped": tally.get("duplicates_dropped", 0),
        "short documents dropped": tally.get("short_dropped", 0),
        "tokens outside the given vocabulary": tally.get("unknown_tokens", 0),
        "dates that could not be read, left out": tally.get("dates_left_out", 0),
        "unreadable files or folders left out": tally.get("unreadable", 0),
    }
    return [f"{text}: {number:,}" for text, number in numbers.items() if number]


def _print_counted(name: str, counts: dict[str, int], documents: int, of: int) -> None:
    shown = f"the {len(counts)} most frequent of {of:,}" if of > len(counts) else f"all {of:,}"
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(name)
    table.add_column("documents", justify="right")
    table.add_column("share", justify="right")
    table.add_column()
    most = max(1, *counts.values())
    for value, count in counts.items():
        table.add_row(escape(value), f"{count:,}", f"{count / max(1, documents):.1%}", bar(count / most, BAR_WIDTH))
    OUT.print(f"\n[bold]{name}s[/] ({shown})")
    OUT.print(table)
