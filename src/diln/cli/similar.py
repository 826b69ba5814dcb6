"""``diln similar``, ``diln outliers`` and ``diln duplicates``: documents beside other documents."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from diln.cli.answers import in_parts
from diln.cli.console import OUT, ProgressLine, say_json, told_of_interrupts
from diln.cli.opening import CorpusOption, open_atlas
from diln.cli.options import FileOption, ForExcelOption, JobsOption, JsonOption, ModelArg, QuietOption
from diln.cli.source import TokenizerOption
from diln.cli.table_files import check_target, write_table
from diln.cli.table_formats import Column, FileContent
from diln.cli.tables import fit_line, joined, say_written
from diln.cli.words import text_of
from diln.errors import DilnError

if TYPE_CHECKING:
    from diln.analysis import Atlas, DocumentInfo

app = typer.Typer()

TOP = 10  # similar documents
LISTED = 20  # outliers, and pairs
NO_DOCUMENTS = "the model does not know where its documents are; name the corpus with --corpus"
LEAST = 0.95  # share of words that near-duplicates have in common
ID_WIDTH = 24  # characters
FIELDS = ("row", "id", "title", "date", "label")
KINDS: Mapping[str, Any] = {"row": "whole", "n_tokens": "whole", "similarity": "number", "share": "number"}


@app.command(
    "similar",
    epilog="Examples:\n\n"
    "diln similar model 1205\n\n"
    "diln similar model --text article.txt -n 20\n\n"
    "diln similar model nyt-2017-03-02-11 -o similar.csv",
)
def similar_command(
    model: ModelArg,
    document: Annotated[
        str | None,
        typer.Argument(
            metavar="DOCUMENT",
            help="A document of the model: its id or, if no document has this id, its row from 0 on.",
            show_default=False,
        ),
    ] = None,
    text: Annotated[
        str | None, typer.Option("--text", metavar="FILE", help="Compare with this text; - is the standard input.")
    ] = None,
    encoding: Annotated[str, typer.Option("--encoding", help="Encoding of the text.")] = "utf-8",
    top: Annotated[int, typer.Option("--top", "-n", min=1, help="Maximum number of documents.")] = TOP,
    tokenizer: TokenizerOption = None,
    corpus: CorpusOption = None,
    output: FileOption = None,
    for_excel: ForExcelOption = False,
    jobs: JobsOption = -1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Show the documents that are most like a document, or like a text.

    Compared are topics, locations and words. The similarity is 1 for the same document, and about 0 for documents that
    have nothing to do with each other. All documents are compared: nothing is approximate.
    """
    if (document is None) == (text is None):
        raise typer.BadParameter("give a document, or a text with --text")
    if output is not None:
        check_target(output, directories=[model])
    given = None if text is None else text_of(text, encoding)
    atlas = open_atlas(model, corpus, jobs, quiet=quiet or json)
    row = None if document is None else row_of(atlas, document)
    found = atlas.similar(row, text=given, n=top)
    rows = [{"similarity": one.similarity, **_described(one.document)} for one in found]
    if row is not None and not json and output is None:
        OUT.print(f"[bold]like[/] {escape(_name(atlas.document(row)))}", soft_wrap=True)
    _tell(rows, {"model": str(model), "row": row}, "documents", output, for_excel, json)


@app.command("outliers", epilog="Example:\n\ndiln outliers model -n 50 -o outliers.csv")
def outliers_command(
    model: ModelArg,
    top: Annotated[int, typer.Option("--top", "-n", min=1, help="Maximum number of documents.")] = LISTED,
    corpus: CorpusOption = None,
    output: FileOption = None,
    for_excel: ForExcelOption = False,
    jobs: JobsOption = -1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Show documents that no topic explains well: lists, mixtures, texts of another kind.

    They are those whose topics say least about their words, compared with documents of about the same length.
    """
    if output is not None:
        check_target(output, directories=[model])
    atlas = open_atlas(model, corpus, jobs, quiet=quiet or json)
    _tell([_described(one) for one in atlas.outliers(top)], {"model": str(model)}, "documents", output, for_excel, json)


@app.command("duplicates", epilog="Example:\n\ndiln duplicates model --least 0.8 -o duplicates.csv")
def duplicates_command(
    model: ModelArg,
    least: Annotated[
        float, typer.Option("--least", min=0.5, max=1, help="Share of their words that documents have in common.")
    ] = LEAST,
    top: Annotated[int, typer.Option("--top", "-n", min=1, help="Maximum number of pairs.")] = LISTED,
    corpus: CorpusOption = None,
    output: FileOption = None,
    for_excel: ForExcelOption = False,
    jobs: JobsOption = -1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Show pairs of documents that are almost the same, the most alike first.

    Of each word, the smaller of its two counts is in common, and the larger is what there is. If several documents have
    the same words, each is paired with the first of them. All pairs are found: the smaller --least, the longer.
    """
    if output is not None:
        check_target(output, directories=[model])
    atlas = open_atlas(model, corpus, jobs, quiet=quiet or json)
    with told_of_interrupts("nothing was written"), ProgressLine("comparing", quiet=quiet or json) as watch:
        pairs = atlas.duplicates(top, least, jobs, watch)
    rows = [_pair(atlas, *pair) for pair in pairs]
    _tell(rows, {"model": str(model), "least": least}, "pairs", output, for_excel, json)


def row_of(atlas: "Atlas", document: str) -> int:
    """The row of a document, given its id or its row."""
    if atlas.corpus is None and atlas.index is None:
        raise DilnError(NO_DOCUMENTS)
    if atlas.corpus is not None:
        ids = atlas.corpus.documents.ids
        if document in ids:
            return ids.index(document)
    n_docs = 0 if atlas.index is None else atlas.index.n_docs
    if document.isascii() and document.isdigit() and int(document) < n_docs:
        return int(document)
    raise DilnError(f"there is no document {document!r}; give the id of one, or a row from 0 to {max(n_docs - 1, 0):,}")


def _described(document: "DocumentInfo") -> dict[str, Any]:
    topics = [f"{one.share:.0%} topic {one.id} {joined(one.words)}" for one in document.topics]
    return {**{name: getattr(document, name) for name in FIELDS}, "n_tokens": document.n_tokens, "topics": topics}


def _pair(atlas: "Atlas", first: int, second: int, share: float) -> dict[str, Any]:
    found = {"share": share}
    for name, row in (("first", first), ("second", second)):
        document = atlas.document(row)
        found |= {f"{name}_{field}": getattr(document, field) for field in FIELDS}
    return found


def _tell(
    rows: Sequence[dict[str, Any]], about: dict[str, Any], what: str, output: Any, for_excel: bool, json: bool
) -> None:
    """Write rows to a file, or print them for machines or people."""
    if output is not None:
        written = write_table(output, *_table(rows), for_excel=for_excel)
        say_written(output, written, about, {what: f"{len(rows):,}"}, json=json)
    elif json:
        say_json({**about, what: list(rows)})
    elif rows:
        OUT.print(_shown(rows))
    else:
        OUT.print(f"there are no such {what}")


def _table(rows: Sequence[dict[str, Any]]) -> FileContent:
    names = list(rows[0]) if rows else ["row"]
    columns = [Column(name, KINDS.get(name.removeprefix("first_").removeprefix("second_"), "text")) for name in names]
    return columns, in_parts(tuple(map(_cell, row.values())) for row in rows)


def _cell(value: Any) -> Any:
    return " · ".join(value) if isinstance(value, list) else value


def _shown(rows: Sequence[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    numbers = [name for name in ("similarity", "share") if name in rows[0]]
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    sides = ["first_", "second_"] if "first_row" in rows[0] else [""]
    for side in sides:
        table.add_column(
            f"{side.rstrip('_')} id".strip(), justify="right", style="bold", no_wrap=True, max_width=ID_WIDTH
        )
        table.add_column(side.rstrip("_") or "document", no_wrap=len(sides) == 1, ratio=1)
    for row in rows:
        cells = [f"{row[name]:.2f}" for name in numbers]
        for side in sides:
            cells += [escape(_id(row, side)), escape(_line(row, side))]
        table.add_row(*cells)
    return fit_line(table, OUT)


def _id(row: dict[str, Any], side: str = "") -> str:
    """What a document is called by: its id or, without one, its row."""
    return row[f"{side}id"] or str(row[f"{side}row"])


def _line(row: dict[str, Any], side: str) -> str:
    """A document's date, title and label."""
    known = (row[f"{side}{name}"] for name in ("date", "title", "label"))
    return "  ".join(" ".join(one.split()) for one in known if one)


def _name(document: "DocumentInfo") -> str:
    row = _described(document)
    return f"{_id(row)}  {_line(row, '')}"
