"""``diln corpus``: build a corpus from text, add to it, and see what is in it."""

from enum import Enum
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.markup import escape
from rich.table import Table

from diln.cli.console import OUT, ProgressLine, say_json
from diln.corpus import FORMATS, Corpus, ReadOptions, Summary, TextOptions, TextRule, append, build, summarise
from diln.corpus.sources import Source
from diln.datasets import BUILTIN
from diln.errors import SourceError

app = typer.Typer(help="Build a corpus from text, add to it, and see what is in it.", no_args_is_help=True)

BUILTIN_PREFIX = "builtin:"
BAR_WIDTH = 24
Format = Enum("Format", {name: name for name in FORMATS})  # type: ignore[misc]


class OnError(Enum):
    """What to do with bytes that are not text."""

    strict = "strict"
    replace = "replace"
    ignore = "ignore"


class Letters(Enum):
    """Which characters are letters."""

    unicode = "unicode"
    ascii = "ascii"


SOURCE_HELP = (
    "A folder of .txt files, or a .txt (a document a line), .csv, .tsv, .jsonl (each also .gz), .parquet, LDA-C, "
    f"UCI docword or .npz file; or {', '.join(BUILTIN_PREFIX + name for name in BUILTIN)}."
)
READING, TOKENS, TERMS, OUTPUT = "Reading", "Tokens", "Terms and documents", "Output"

SourceArg = Annotated[str, typer.Argument(metavar="SOURCE", help=SOURCE_HELP, show_default=False)]
DirectoryArg = Annotated[Path, typer.Argument(metavar="DIR", help="A corpus directory.", show_default=False)]
TextOption = Annotated[
    list[str] | None,
    typer.Option(
        "--text", help="Column of the text; give it again to count several together.", rich_help_panel=READING
    ),
]
IdOption = Annotated[str | None, typer.Option("--id", help="Column of the id, or none.", rich_help_panel=READING)]
TitleOption = Annotated[str | None, typer.Option("--title", help="Column of the title.", rich_help_panel=READING)]
DateOption = Annotated[str | None, typer.Option("--date", help="Column of the date.", rich_help_panel=READING)]
LabelOption = Annotated[str | None, typer.Option("--label", help="Column of the label.", rich_help_panel=READING)]
FormatOption = Annotated[
    Format | None,
    typer.Option("--format", help="What the file is, if its name does not tell.", rich_help_panel=READING),
]
DelimiterOption = Annotated[
    str | None, typer.Option("--delimiter", help="What separates columns of a .csv file.", rich_help_panel=READING)
]
EncodingOption = Annotated[
    str | None, typer.Option("--encoding", help="Encoding of the text.", show_default="utf-8", rich_help_panel=READING)
]
ErrorsOption = Annotated[
    OnError | None,
    typer.Option(
        "--errors", help="What to do with bytes that are not text.", show_default="strict", rich_help_panel=READING
    ),
]
VocabularyOption = Annotated[
    Path | None,
    typer.Option(
        "--vocabulary",
        help="File with a term a line: the terms of a file of counts, or the only ones to count in text.",
        rich_help_panel=READING,
    ),
]
JobsOption = Annotated[
    int,
    typer.Option(
        "--jobs",
        "-j",
        callback=lambda value: _jobs(value),
        help="Number of processes.",
        show_default="-1: all cores",
        rich_help_panel=OUTPUT,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.", rich_help_panel=OUTPUT)]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print no progress and no notes.", rich_help_panel=OUTPUT)
]


def _jobs(value: int) -> int:
    if value == 0:
        raise typer.BadParameter("0 processes do nothing; give a number of them, or -1 for one for each core")
    return value


def _documents(value: str | None) -> int | float | None:
    """A number of documents (5) or a share of them (0.5)."""
    if value is None:
        return None
    try:
        return float(value) if "." in value else int(value)
    except ValueError:
        raise typer.BadParameter(f"{value!r} is neither a number of documents (5) nor a share of them (0.5)") from None


@app.command(
    "build",
    epilog="Examples:\n\n"
    "diln corpus build articles.jsonl.gz -o corpus --text title --text body\n\n"
    "diln corpus build letters/ -o corpus --stop-words german.txt\n\n"
    "diln corpus build docword.nips.txt.gz --vocabulary vocab.nips.txt -o nips",
)
def build_command(
    source: SourceArg,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Where to put the corpus.", rich_help_panel=OUTPUT)
    ],
    text: TextOption = None,
    id_: IdOption = None,
    title: TitleOption = None,
    date: DateOption = None,
    label: LabelOption = None,
    format_: FormatOption = None,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    errors: ErrorsOption = None,
    vocabulary: VocabularyOption = None,
    alphabet: Annotated[
        Letters, typer.Option("--alphabet", help="Letters of every script, or a to z.", rich_help_panel=TOKENS)
    ] = Letters.unicode,
    lowercase: Annotated[
        bool, typer.Option("--lowercase/--case", help="Whether case is ignored.", rich_help_panel=TOKENS)
    ] = True,
    min_length: Annotated[
        int | None,
        typer.Option("--min-length", min=1, help="Characters a token needs; by default 3.", rich_help_panel=TOKENS),
    ] = None,
    stop_words: Annotated[
        str,
        typer.Option(
            "--stop-words", help="english, sklearn, none, or a file with a word a line.", rich_help_panel=TOKENS
        ),
    ] = "english",
    ngrams: Annotated[
        int, typer.Option("--ngrams", min=1, help="Longest run of tokens that is a term.", rich_help_panel=TOKENS)
    ] = 1,
    token_pattern: Annotated[
        str | None, typer.Option("--token-pattern", help="Regular expression of a token.", rich_help_panel=TOKENS)
    ] = None,
    min_df: Annotated[
        str | None,
        typer.Option(
            "--min-df",
            help="Fewest documents of a term: a number, or a share such as 0.001. By default 1 to 10, by the "
            "corpus's size.",
            rich_help_panel=TERMS,
        ),
    ] = None,
    max_df: Annotated[
        str | None,
        typer.Option("--max-df", help="Most documents of a term. By default 0.5 of them.", rich_help_panel=TERMS),
    ] = None,
    max_terms: Annotated[
        int | None,
        typer.Option("--max-terms", min=1, help="Most terms. By default 10,000 or more.", rich_help_panel=TERMS),
    ] = None,
    min_tokens: Annotated[
        int, typer.Option("--min-tokens", min=0, help="Drop documents with fewer tokens.", rich_help_panel=TERMS)
    ] = 0,
    drop_duplicates: Annotated[
        bool, typer.Option("--drop-duplicates", help="Keep the first of equal texts.", rich_help_panel=TERMS)
    ] = False,
    keep_text: Annotated[
        bool, typer.Option("--keep-text/--no-text", help="Whether texts are kept to be read.", rich_help_panel=OUTPUT)
    ] = True,
    force: Annotated[
        bool, typer.Option("--force", "-f", help="Replace a corpus that is there.", rich_help_panel=OUTPUT)
    ] = False,
    jobs: JobsOption = -1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Build a corpus on disk from a file or folder of documents."""
    options = TextOptions(
        alphabet=alphabet.value,
        lowercase=lowercase,
        min_length=min_length,
        stop_words=stop_words,
        ngram_range=(1, ngrams),
        token_pattern=token_pattern,
        min_df=_documents(min_df),
        max_df=_documents(max_df),
        max_terms=max_terms,
        min_tokens=min_tokens,
        drop_duplicates=drop_duplicates,
        keep_text=keep_text,
    )
    _check(options)
    read = _read_options(
        text=text, id=id_, title=title, date=date, label=label, encoding=encoding, errors=errors,
        format=format_, delimiter=delimiter, vocabulary=vocabulary,
    )  # fmt: skip
    with ProgressLine("building", quiet=quiet or json) as watch:
        corpus = build(_source(source), output, overwrite=force, n_jobs=jobs, watch=watch, **read, **options)
    _report(corpus, json)


@app.command("append", epilog="Example:\n\ndiln corpus append today.jsonl corpus --grow")
def append_command(
    source: SourceArg,
    directory: DirectoryArg,
    grow: Annotated[
        bool, typer.Option("--grow/--fixed", help="Whether new terms are taken into the vocabulary.")
    ] = False,
    text: TextOption = None,
    id_: IdOption = None,
    title: TitleOption = None,
    date: DateOption = None,
    label: LabelOption = None,
    format_: FormatOption = None,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    errors: ErrorsOption = None,
    vocabulary: VocabularyOption = None,
    jobs: JobsOption = -1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Add documents to a corpus, by the rule it was built with."""
    read = _read_options(
        text=text, id=id_, title=title, date=date, label=label, encoding=encoding, errors=errors,
        format=format_, delimiter=delimiter, vocabulary=vocabulary,
    )  # fmt: skip
    with ProgressLine("adding", quiet=quiet or json) as watch:
        corpus = append(_source(source), directory, grow=grow, n_jobs=jobs, watch=watch, **read)
    _report(corpus, json)


@app.command("info", epilog="Example:\n\ndiln corpus info corpus --json")
def info_command(
    directory: DirectoryArg,
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Whether every file is read to see that it is unchanged.")
    ] = True,
    json: JsonOption = False,
) -> None:
    """Show what is in a corpus."""
    _report(Corpus.open(directory, check=check), json, full=True)


def _read_options(**given: Any) -> ReadOptions:
    """Those options that were given."""
    values = {name: value.value if isinstance(value, Enum) else value for name, value in given.items()}
    return cast(ReadOptions, {name: value for name, value in values.items() if value is not None})


def _check(options: TextOptions) -> None:
    try:
        TextRule(**options)
    except ValueError as error:
        raise SourceError(str(error)) from None


def _source(name: str) -> Path | Source:
    if not name.startswith(BUILTIN_PREFIX):
        return Path(name)
    builtin = BUILTIN.get(name.removeprefix(BUILTIN_PREFIX))
    if builtin is None:
        raise SourceError(f"{name}: there is no such corpus; there is {', '.join(BUILTIN_PREFIX + n for n in BUILTIN)}")
    return builtin()


def _report(corpus: Corpus, json: bool, full: bool = False) -> None:
    summary, directory = summarise(corpus), str(corpus.directory)
    size = sum(path.stat().st_size for path in Path(directory).rglob("*") if path.is_file())
    if json:
        say_json({"directory": directory, "bytes": size, **summary.to_json()})
    else:
        show(summary, directory, size, full)


def show(summary: Summary, name: str, size: int, full: bool) -> None:
    """Print what is in a corpus of this name and size in bytes; ``full`` adds its labels and terms."""
    OUT.print(f"[bold]{escape(name)}[/]", soft_wrap=True)
    OUT.print(_overview(summary, size))
    if full and summary.labels:
        _print_counted("label", summary.labels, summary.documents, summary.n_labels)
    if full:
        _print_counted("term", summary.terms, summary.documents, summary.vocabulary)


def _overview(summary: Summary, size: int) -> Table:
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    lengths = summary.tokens_per_document
    rows: dict[str, Any] = {
        "documents": f"{summary.documents:,}",
        "terms": f"{summary.vocabulary:,}",
        "tokens": f"{summary.tokens:,}",
        "a document": f"median {lengths['median']:,.0f} tokens, middle half {lengths['25%']:,.0f} to "
        f"{lengths['75%']:,.0f}, longest {lengths['max']:,.0f}",
        "known": ", ".join(summary.fields),
        "dates": " to ".join(summary.dates),
        "on disk": f"{size / 1e6:,.1f} MB",
        "note": "; ".join(_notes(summary)),
    }
    for name, value in rows.items():
        if value:
            table.add_row(name, escape(str(value)))
    return table


def _notes(summary: Summary) -> list[str]:
    tally = summary.tally or {}
    numbers = {
        "documents without a token of the vocabulary": summary.empty_documents,
        "documents without text": tally.get("without_text", 0),
        "repeated documents dropped": tally.get("duplicates_dropped", 0),
        "short documents dropped": tally.get("short_dropped", 0),
        "tokens outside the given vocabulary": tally.get("unknown_tokens", 0),
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
        bar = "━" * max(1, round(BAR_WIDTH * count / most))
        table.add_row(escape(value), f"{count:,}", f"{count / max(1, documents):.1%}", f"[cyan]{bar}[/]")
    OUT.print(f"\n[bold]{name}s[/] ({shown})")
    OUT.print(table)
