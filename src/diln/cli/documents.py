"""``diln documents``: what the documents of a corpus are about, and which are about a topic."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.cells import cell_len, set_cell_size
from rich.markup import escape
from rich.table import Table

from diln.cli.answers import documents_table
from diln.cli.console import OUT, ProgressLine, say_json, told_of_interrupts
from diln.cli.edited import edits_of
from diln.cli.options import FileOption, ForExcelOption, Given, JobsOption, JsonOption, ModelArg, QuietOption, takes
from diln.cli.predict import read_documents, what_is_read
from diln.cli.proportions import MIN_SHARE
from diln.cli.source import FILES, READING, SAME_TOKENS, plain_name
from diln.cli.table_files import check_target, write_table
from diln.cli.tables import joined, named, say_written
from diln.errors import DilnError

if TYPE_CHECKING:
    from diln.analysis import DocumentTopics, Edits, TopicShare
    from diln.corpus import Corpus
    from diln.models.fitted import Fitted

app = typer.Typer()

TOP = 20  # documents that are shown by default
TOPICS = 3  # of a document, by default
WORDS = 5  # of a topic, by default
FEW_WORDS = 3  # that are enough of a topic where several are to fit on the line
WIDEST_DATE = 20
GAP = 2  # characters between two columns
BETWEEN = " · "  # topics of a document
LEAST_ROOM = 20  # characters for a document, at least


@app.command(
    "documents",
    epilog="Examples:\n\n"
    "diln documents model --topic 12 --top 10\n\n"
    "diln documents model others.csv -o documents.xlsx --topics 5",
)
@takes(reading=READING, text=SAME_TOKENS)
def documents_command(
    model: ModelArg,
    reading: Given,
    text: Given,
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="SOURCE",
            help=f"A corpus directory, or a source to count: {FILES} Default: the model's own documents.",
            show_default=False,
            callback=plain_name,
        ),
    ] = None,
    topic: Annotated[
        int | None, typer.Option("--topic", min=0, help="Show the documents of this topic, the largest share first.")
    ] = None,
    min_share: Annotated[
        float | None,
        typer.Option(
            "--min-share",
            min=0,
            max=1,
            help="Leave out documents with a smaller share of the topic, for --topic.",
            show_default=str(MIN_SHARE),
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option("--top", "-n", min=1, help="Maximum number of documents.", show_default=f"{TOP}; all in a file"),
    ] = None,
    topics: Annotated[int, typer.Option("--topics", min=1, help="Number of topics for each document.")] = TOPICS,
    words: Annotated[int, typer.Option("--words", min=1, help="Number of words for each topic.")] = WORDS,
    output: FileOption = None,
    for_excel: ForExcelOption = False,
    jobs: JobsOption = -1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Show documents with their largest topics: in the order of the corpus, or those of one topic.

    Without SOURCE, these are the documents that the model was fitted to. Text is counted in the same way as these. Its
    columns are guessed, or named by --text.
    """
    from diln.models.fitted import Fitted

    if min_share is not None and topic is None:
        raise typer.BadParameter("--min-share is for --topic; give both or neither")
    fitted = Fitted.load(model, jobs)
    source = _own(model, fitted) if source is None else source
    if output is not None:
        check_target(output, *what_is_read(model, source, reading, text))
    corpus = read_documents(fitted, source, reading, text, jobs, quiet=quiet or json).corpus
    edits = edits_of(model, fitted)
    n_topics, most = min(topics, fitted.posterior.n_topics), top or (TOP if output is None else None)
    with told_of_interrupts("nothing was written"), ProgressLine("transforming", quiet=quiet or json) as watch:
        least = MIN_SHARE if min_share is None else min_share
        settings = {"n_topics": n_topics, "n_words": words, "n_jobs": jobs, "watch": watch, "edits": edits}
        found = _found(fitted, corpus, topic, most, least, settings)
        if output is not None:
            table = documents_table(found, corpus, n_topics, of_topic=topic is not None)
            written = write_table(output, *table, for_excel=for_excel)
            numbers = {"documents": written.rows, "of": len(corpus), "topic": topic}
            told = {"documents": f"{written.rows:,} of {len(corpus):,}"}
            say_written(output, written, numbers, told, json=json)
            return
        shown = list(found)
    if json:
        say_json({"model": str(model), "source": source, "topic": topic, "documents": [asdict(one) for one in shown]})
    else:
        _show(fitted, shown, len(corpus), topic, edits)


def _own(model: Path, fitted: "Fitted") -> str:
    """Where the model's own documents are."""
    from diln.analysis.opening import corpus_place

    if (place := corpus_place(model, fitted)) is None:
        raise DilnError(f"{model}: does not know where its documents are; name them: diln documents {model} SOURCE")
    return str(place)


def _found(
    fitted: "Fitted", corpus: "Corpus", topic: int | None, most: int | None, least: float, settings: dict[str, Any]
) -> Iterable["DocumentTopics"]:
    from diln.analysis import document_topics, topic_documents

    if topic is None:
        return document_topics(fitted, corpus[:most], **settings)
    return topic_documents(fitted, corpus, topic, most, min_share=least, **settings)


def _show(
    fitted: "Fitted", documents: Sequence["DocumentTopics"], of: int, topic: int | None, edits: "Edits | None"
) -> None:
    from diln.analysis.edit_files import folded
    from diln.analysis.topics import edited_topics

    if topic is None:
        shown = f"the first {len(documents):,} of {of:,}" if len(documents) < of else f"all {of:,}"
        OUT.print(f"[bold]documents[/] ({shown})")
    else:
        topic = topic if edits is None else int(folded(fitted, edits).target[topic])
        every = edited_topics(folded(fitted, edits), None, WORDS, unused=True, hidden=True)
        asked = next(one for one in every if one.id == topic)
        title = f"documents of topic {topic}"
        OUT.print(f"[bold]{title}[/]: {escape(named(asked, None, OUT.width - len(title) - GAP))}")
    if documents:
        OUT.print(_table(documents, topic, {} if edits is None else edits.labels))
    else:
        OUT.print("there is none with as large a share of it; give a smaller --min-share")


def _table(documents: Sequence["DocumentTopics"], asked: int | None, labels: dict[int, str]) -> Table:
    """A document's name and, below it, its topics but for the one that was asked for."""
    columns = _columns(documents)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in columns:
        table.add_column(name, justify="left" if name == "date" else "right", no_wrap=True)
    table.add_column("document", no_wrap=True)
    room = OUT.width - sum(GAP + max(len(name), *map(cell_len, cells)) for name, cells in columns.items())
    for one, *cells in zip(documents, *columns.values(), strict=True):
        lines = [_named(one, room), _topics([topic for topic in one.topics if topic.id != asked], room, labels)]
        table.add_row(*map(escape, cells), "\n".join(filter(None, lines)))
    return table


def _named(document: "DocumentTopics", room: int) -> str:
    """The document's id, title and label, as far as the line has room for them."""
    name, *more = (" ".join(text.split()) for text in (document.id, document.title, document.label))
    whole = _cut("  ".join([name, *filter(None, more)]), room)
    return f"[bold]{escape(whole[: len(name)])}[/]{escape(whole[len(name) :])}"


def _columns(documents: Sequence["DocumentTopics"]) -> dict[str, list[str]]:
    columns = {"tokens": [f"{one.n_tokens:,}" for one in documents]}
    if documents[0].share is not None:
        columns = {"share": [f"{one.share:.0%}" for one in documents], **columns}
    if any(one.date for one in documents):
        columns["date"] = [_cut(" ".join(one.date.split()), WIDEST_DATE) for one in documents]
    return columns


def _topics(topics: Sequence["TopicShare"], room: int, labels: dict[int, str]) -> str:
    """As many of the topics as the line has room for, each with some of its words."""
    shown = [one for one in topics if one.share >= MIN_SHARE]
    for size in range(len(shown), 0, -1):
        for n_words in range(len(shown[0].words), FEW_WORDS - 1 if size > 1 else 0, -1):
            told = [f"{one.share:.0%} topic {one.id} {_words(one, n_words, labels)}" for one in shown[:size]]
            if cell_len(BETWEEN.join(told)) <= room:
                return escape(BETWEEN.join(told))
    return escape(_cut(told[0], room)) if shown else ""


def _words(topic: "TopicShare", n_words: int, labels: dict[int, str]) -> str:
    """The name that the user gave a topic, or some of its words."""
    return labels.get(topic.id) or joined(topic.words[:n_words])


def _cut(text: str, room: int) -> str:
    """Text, with an ellipsis in place of what there is no room for."""
    return text if cell_len(text) <= room else set_cell_size(text, max(room, LEAST_ROOM) - 1).rstrip() + "…"
