"""``diln plot``: figures of a model, for papers and slides."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from diln.cli.console import OUT, ProgressLine, say_json, told_of_interrupts
from diln.cli.opening import CorpusOption
from diln.cli.options import OUTPUT, JobsOption, JsonOption, QuietOption
from diln.cli.similar import row_of
from diln.cli.table_files import check_place
from diln.cli.tables import say_written
from diln.errors import DilnError, brief

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from diln.analysis import Atlas
    from diln.show.figures import Kind

app = typer.Typer()

FORMS = (".svg", ".png", ".pdf")
DPI = 200  # of .png
SHOWN = "What is shown"
NO_MATPLOTLIB = "figures need matplotlib; install it with: pip install 'diln[plots]'"
FLAGS = {  # options of figures, and the flags that set them
    "top": "--top", "topics": "--topics", "themes": "--themes", "by": "--by", "granularity": "--granularity",
    "label": "--label", "document": "--document", "other": "--other", "n_words": "--words", "unsure": "--all",
    "standardise": "--standardise", "min_documents": "--min-documents",
}  # fmt: skip


def _ids(text: str) -> list[int]:
    """Numbers of topics, as in 3,14,15."""
    try:
        return [int(part) for part in text.replace(" ", ",").split(",") if part]
    except ValueError:
        raise typer.BadParameter(f"{brief(text)} is no list of topic ids; give numbers with commas: 3,14,15") from None


def _number(text: str) -> int | str:
    """A number of themes, or auto."""
    if text == "auto" or (text.isascii() and text.isdigit() and int(text) > 0):
        return text if text == "auto" else int(text)
    raise typer.BadParameter(f"{brief(text)} is no number of themes; give a whole number from 1 on, or auto")


@app.command(
    "plot",
    epilog="Examples:\n\n"
    "diln plot --list\n\n"
    "diln plot model map -o map.svg\n\n"
    "diln plot model words -o words.pdf --topics 3,14,15 --words 12\n\n"
    "diln plot model trends -o trends.png --by topic --granularity year",
)
def plot_command(  # a parameter for each option
    model: Annotated[
        Path | None, typer.Argument(metavar="MODEL", help="A model directory.", show_default=False)
    ] = None,
    kind: Annotated[
        str | None, typer.Argument(metavar="KIND", help="What to draw; --list names all.", show_default=False)
    ] = None,
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to write: .svg, .png or .pdf.",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--list", help="List the kinds of figures and stop.")] = False,
    top: Annotated[
        int | None,
        typer.Option(
            "--top",
            "-n",
            min=1,
            help="Maximum number of topics, panels, pairs or documents.",
            show_default="as many as suit the kind",
            rich_help_panel=SHOWN,
        ),
    ] = None,
    topics: Annotated[
        Any,
        typer.Option(
            "--topics",
            parser=_ids,
            metavar="IDS",
            help="Ids of topics to show in place of the largest, as in 3,14,15; of themes with --by theme.",
            show_default=False,
            rich_help_panel=SHOWN,
        ),
    ] = None,
    themes: Annotated[
        Any,
        typer.Option(
            "--themes",
            parser=_number,
            metavar="N",
            help="Number of themes.",
            show_default="auto",
            rich_help_panel=SHOWN,
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by", metavar="[theme|topic]", help="Show themes or topics.", show_default="theme", rich_help_panel=SHOWN
        ),
    ] = None,
    words: Annotated[
        int | None,
        typer.Option("--words", min=1, help="Words of each topic.", show_default="8", rich_help_panel=SHOWN),
    ] = None,
    granularity: Annotated[
        str | None,
        typer.Option(
            "--granularity",
            metavar="[auto|year|quarter|month|week|day]",
            help="How long a period is.",
            show_default="auto",
            rich_help_panel=SHOWN,
        ),
    ] = None,
    label: Annotated[
        str | None, typer.Option("--label", help="Only documents with this label.", rich_help_panel=SHOWN)
    ] = None,
    standardise: Annotated[
        bool,
        typer.Option(
            "--standardise", help="Hold the mix of labels constant, as diln trends does.", rich_help_panel=SHOWN
        ),
    ] = False,
    min_documents: Annotated[
        int | None,
        typer.Option(
            "--min-documents",
            min=1,
            help="Show no share of periods with fewer documents.",
            show_default="10",
            rich_help_panel=SHOWN,
        ),
    ] = None,
    document: Annotated[
        str | None,
        typer.Option(
            "--document",
            metavar="DOCUMENT",
            help="A document: its id or, if no document has this id, its row from 0 on.",
            show_default=False,
            rich_help_panel=SHOWN,
        ),
    ] = None,
    other: Annotated[
        Path | None,
        typer.Option(
            "--other", metavar="MODEL2", help="The model to compare with.", show_default=False, rich_help_panel=SHOWN
        ),
    ] = None,
    unsure: Annotated[
        bool, typer.Option("--all", help="Also show pairs that are not sure.", rich_help_panel=SHOWN)
    ] = False,
    width: Annotated[
        float | None,
        typer.Option(
            "--width", min=3, max=40, help="Width of the figure in inches.", show_default="8", rich_help_panel=OUTPUT
        ),
    ] = None,
    corpus: CorpusOption = None,
    jobs: JobsOption = -1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Draw a figure of a model: a map, a network, words, trends and others.

    Figures are for papers and slides: colours that everyone can tell apart, and text that stays text of a size. What
    does not fit is left out, and the figure says so. The same model gives the same file.
    """
    kinds = _kinds()
    if every:
        _say_kinds(kinds, json=json)
        return
    if model is None or kind is None or output is None:
        raise typer.BadParameter("name what to draw and the file: diln plot MODEL map -o map.svg (--list names all)")
    if kind not in kinds:
        raise DilnError(f"there is no kind of figure {brief(kind)}; give one of {', '.join(kinds)}")
    check_place(output, FORMS, directories=[one for one in (model, other) if one is not None])
    given = {
        "top": top, "topics": topics, "themes": themes, "by": by, "n_words": words, "granularity": granularity,
        "label": label, "document": document, "other": other, "unsure": unsure or None,
        "standardise": standardise or None, "min_documents": min_documents,
    }  # fmt: skip
    options = _options(kind, kinds[kind], {name: value for name, value in given.items() if value is not None})
    with told_of_interrupts("nothing was written"), ProgressLine("reading", quiet=quiet or json) as watch:
        from diln.analysis import Atlas

        atlas = Atlas.open(model, corpus, jobs, watch)
        if document is not None:
            options["document"] = row_of(atlas, document)
        if other is not None:
            options["other"] = Atlas.open(other, corpus, jobs, watch)
        figure = _drawn(kinds[kind], atlas, model, {**options, **({} if width is None else {"width": width})})
        _write(figure, output)
    say_written(output, None, {"kind": kind}, {"shows": kinds[kind].shows}, json=json)


def _kinds() -> "dict[str, Kind]":
    try:
        from diln.show.figures import KINDS
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("matplotlib"):
            raise
        raise DilnError(NO_MATPLOTLIB) from None
    return KINDS


def _say_kinds(kinds: "dict[str, Kind]", *, json: bool) -> None:
    if json:
        told = {name: {"shows": kind.shows, "options": _flags(kind)} for name, kind in kinds.items()}
        say_json({"kinds": told})
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("kind", "shows", "options"):
        table.add_column(column, style="bold" if column == "kind" else "", no_wrap=column == "kind")
    for name, kind in kinds.items():
        table.add_row(name, escape(kind.shows), escape(" ".join(_flags(kind))))
    OUT.print(table)


def _flags(kind: "Kind") -> list[str]:
    return [flag for name, flag in FLAGS.items() if name in kind.options]


def _options(name: str, kind: "Kind", given: dict[str, Any]) -> dict[str, Any]:
    """The options that were given; raise if the kind has no such option, or needs one that is missing."""
    for option in given:
        if option not in kind.options:
            flags = " ".join(_flags(kind))
            raise typer.BadParameter(f"{FLAGS[option]} does not go with {name}, which takes: {flags or 'none'}")
    if "other" in kind.options and "other" not in given:
        raise typer.BadParameter(f"{name} compares two models; name the second with --other MODEL2")
    if "document" in kind.options and "document" not in given:
        raise typer.BadParameter(f"{name} is about a document; name it with --document DOCUMENT")
    return given


def _drawn(kind: "Kind", atlas: "Atlas", model: Path, options: dict[str, Any]) -> "Figure":
    try:
        return kind.draw(atlas, **options)
    except ValueError as error:  # of a model or corpus that has not what the kind shows
        raise DilnError(f"{model}: {error}") from None


def _write(figure: "Figure", path: Path) -> None:
    from diln.files import whole
    from diln.show.style import figure_bytes

    drawn = figure_bytes(figure, path.suffix.lower()[1:], DPI)
    with whole(path) as file:
        file.write(drawn)
