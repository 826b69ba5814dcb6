"""``diln report``: a model as one HTML file, to look at, to send and to print."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diln.cli.console import ERR, told_of_interrupts
from diln.cli.lines import OneLine, Parts, clock
from diln.cli.opening import CorpusOption, ThemesOption
from diln.cli.options import OUTPUT, ForceOption, JobsOption, JsonOption, ModelArg, QuietOption
from diln.cli.table_files import check_place
from diln.cli.tables import say_written

if TYPE_CHECKING:
    from diln.analysis import Atlas

app = typer.Typer()

ENDINGS = (".html", ".htm")
DOCUMENTS = 3  # of each topic, by default
MOST_DOCUMENTS = 50


@app.command(
    "report",
    epilog="Examples:\n\n"
    "diln report model\n\n"
    "diln report model -o news.html --title 'News of 2016' --themes 8\n\n"
    "diln report model --no-texts",
)
def report_command(
    model: ModelArg,
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The file to write.",
            show_default="MODEL-report.html",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    corpus: CorpusOption = None,
    title: Annotated[
        str | None, typer.Option("--title", help="Title of the report.", show_default="from the model's name")
    ] = None,
    themes: ThemesOption = None,
    documents: Annotated[
        int, typer.Option("--documents", min=0, max=MOST_DOCUMENTS, help="Number of documents to list for each topic.")
    ] = DOCUMENTS,
    no_texts: Annotated[
        bool,
        typer.Option(
            "--no-texts",
            help="Leave out titles, ids and sentences of documents, so that a report on a confidential corpus can be "
            "shared. Words of topics, labels and dates remain.",
        ),
    ] = False,
    force: ForceOption = False,
    jobs: JobsOption = -1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write a report on a model: one HTML file that opens in any browser without a network, and prints.

    It has a summary, themes, a map, which topics go together and which avoid each other, trends, labels, a card for
    each topic with typical documents, a search, and how the model was made.
    """
    from diln.show.report.write import check_free, titled, write_report

    target = output or Path(f"{model.resolve().name or 'model'}-report.html")
    check_place(target, ENDINGS, directories=[one for one in (model, corpus) if one is not None])
    check_free(target, overwrite=force)
    with told_of_interrupts(f"{target} is as it was"), ReportLine(quiet=quiet or json) as line:
        atlas = opened(model, corpus, jobs, line)
        size = write_report(
            atlas, target, title=title or titled(atlas), n_themes=themes or "auto", n_documents=documents,
            texts=not no_texts, overwrite=force, tell=line.tell,
        )  # fmt: skip
    topics = len(atlas.topics(1))
    numbers = {"bytes": size, "topics": topics, "documents": atlas.corpus is not None}
    told = {
        "topics": f"{topics:,}",
        "documents": "" if atlas.corpus is not None else "not listed: the corpus was not found; name it with --corpus",
        "size": f"{size / 1e6:,.1f} MB",
    }
    say_written(target, None, numbers, told, json=json)


def opened(model: Path, corpus: Path | None, jobs: int, line: "ReportLine") -> "Atlas":
    """The Atlas of a model."""
    from diln.analysis import Atlas

    return Atlas.open(model, corpus, n_jobs=jobs, watch=line)


class ReportLine(OneLine):
    """Shows what is being done for a report, and how far it is."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.doing, self.done, self.total = "reading the model", 0, 0
        self.quiet = quiet
        super().__init__(self.parts, ERR, quiet=quiet)

    def parts(self, elapsed: float) -> Parts:
        """What there is to show."""
        far = f"{self.doing}: {self.done:,} of {self.total:,}" if self.total else self.doing
        return [(1, far), (1, clock(elapsed))]

    def tell(self, what: str, done: int, total: int) -> None:
        """The report is being made."""
        self.doing, self.done, self.total = what, done, total

    def note(self, text: str) -> None:
        """Something was guessed."""
        if not self.quiet:
            ERR.print(text, style="dim", markup=False, soft_wrap=True)

    def step(self, position: int, total: int, documents: int) -> None:
        """The index of documents is being made."""
        self.tell("indexing documents", documents, max(total, documents) if total else 0)
