"""``diln update``: more documents into a model, whose vocabulary grows with them."""

import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from diln.cli.cluster import SchedulerOption, WorkerTimeoutOption, engine_of
from diln.cli.console import ERR, OUT, complain, facts, say_json, told_of_interrupts
from diln.cli.interrupts import StopSign
from diln.cli.options import (
    OUTPUT,
    ForceOption,
    Given,
    JobsOption,
    JsonOption,
    ModelArg,
    QuietOption,
    new_directory,
    takes,
)
from diln.cli.source import READING, SourceArg, TokenizerOption
from diln.cli.tables import joined, listed, topic_json
from diln.cli.updated import ModelOnDisk
from diln.errors import DilnError

if TYPE_CHECKING:
    from diln.models.updating import Updater

app = typer.Typer()

STREAM = "Stream"
WORDS_WIDTH = 70  # characters of a new topic's words
TOLD_EVERY = 5.0  # seconds from one line of progress to the next, of a source that is not followed
SHOWN = 20  # new terms that are shown
READ_AS: Any = {name: kind for name, kind in READING.items() if name != "vocabulary"}


@app.command(
    "update",
    epilog="Examples:\n\n"
    "diln update model october.jsonl\n\n"
    "diln update model inbox --follow\n\n"
    "tail -f -n 0 articles.jsonl | diln update model - --format jsonl --follow --half-life 90d",
)
@takes(reading=READ_AS)
def update_command(
    model: ModelArg,
    source: SourceArg,
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            parser=new_directory,
            metavar="NEW",
            help="Where to write the updated model, with its documents; MODEL stays as it is. Default: MODEL.",
            rich_help_panel=OUTPUT,
            show_default=False,
        ),
    ] = None,
    reading: Given,
    tokenizer: TokenizerOption = None,
    new_terms: Annotated[
        bool,
        typer.Option(
            "--new-terms/--no-new-terms",
            help="Whether terms that are seen in enough documents come into the vocabulary.",
            rich_help_panel=STREAM,
        ),
    ] = True,
    min_docs: Annotated[
        int | None,
        typer.Option(
            "--min-docs",
            min=1,
            help="Minimum number of recent documents with a new term; documents count for half after 20,000 others.",
            show_default="as the model's own documents, or 2 to 10",
            rich_help_panel=STREAM,
        ),
    ] = None,
    max_terms: Annotated[
        int | None,
        typer.Option(
            "--max-terms",
            min=1,
            help="Maximum number of terms.",
            show_default="twice those before the first update, at least 20,000",
            rich_help_panel=STREAM,
        ),
    ] = None,
    half_life: Annotated[
        str | None,
        typer.Option(
            "--half-life",
            metavar="DOCUMENTS|DAYSd",
            help="After how many documents (5000) or days (90d) old documents count for half.",
            show_default="they fade slowly",
            rich_help_panel=STREAM,
        ),
    ] = None,
    new_topics: Annotated[
        bool | None,
        typer.Option(
            "--new-topics/--no-new-topics",
            help="Whether a theme that the topics cannot explain becomes a topic. DILN and HDP by sampling.",
            show_default="yes, unless --topics was given to diln fit",
            rich_help_panel=STREAM,
        ),
    ] = None,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            help="Go on until Ctrl-C: wait for more .txt files in a folder, or for more lines of a pipe (-, with "
            "--format lines or jsonl), and write the model after each batch.",
            rich_help_panel=STREAM,
        ),
    ] = False,
    every: Annotated[
        float,
        typer.Option(
            "--every",
            metavar="SECONDS",
            min=0,
            help="With --follow: learn after this long from documents that are fewer than a batch.",
            rich_help_panel=STREAM,
        ),
    ] = 60.0,
    index: Annotated[
        bool,
        typer.Option(
            "--index/--no-index",
            help="Whether to add the documents to MODEL/documents, where the model has that.",
            rich_help_panel=OUTPUT,
        ),
    ] = True,
    keep_documents: Annotated[
        bool,
        typer.Option(
            "--corpus/--no-corpus",
            help="Whether to add the documents to MODEL/corpus, where the model has that.",
            rich_help_panel=OUTPUT,
        ),
    ] = True,
    force: ForceOption = False,
    scheduler: SchedulerOption = None,
    worker_timeout: WorkerTimeoutOption = None,
    jobs: JobsOption = -1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Update a model with more documents.

    Topics keep their numbers, names, merges and hidden ones theirs; terms keep their columns, and new ones come after
    them. The first Ctrl-C, or SIGTERM, ends the update after the batch under way, and writes the model with what it has
    learned. The second abandons what was not written. The exit code is 130 (SIGTERM: 143) in both cases.
    """
    from diln.models.updating import Growth, HalfLife, Updater

    begun, stop, silent = time.perf_counter(), StopSign(), quiet or json
    try:
        growth = Growth(new_terms, min_docs, max_terms, HalfLife.of(half_life), new_topics)
    except ValueError as error:
        raise DilnError(str(error).replace("half_life", "--half-life")) from None
    with ExitStack() as stack:
        stack.enter_context(told_of_interrupts(lambda: f"{output or model} is as it was last written"))
        kept = stack.enter_context(ModelOnDisk.opened(model, output, force=force, index=index, corpus=keep_documents))
        engine = stack.enter_context(engine_of(scheduler, worker_timeout, jobs))
        updater = Updater(kept.fitted, growth, engine)
        documents = kept.documents(source, reading, stop, every if follow else None, silent)
        stack.enter_context(stop)
        stop.arm()
        told = time.perf_counter()
        for batch in documents:
            kept.add(updater.learn(batch, kept.dates, kept.next_number))
            if follow:
                kept.write(engine, silent)
            if follow or time.perf_counter() - told >= TOLD_EVERY:
                _tell(updater, silent)
                told = time.perf_counter()
            if stop():
                break
        if updater.found.steps:
            kept.write(engine, silent)
    _report(updater, kept, time.perf_counter() - begun, json)
    if stop.number is not None:
        complain("warning", f"stopped: {kept.directory} has the model with what it has learned")
        raise typer.Exit(128 + stop.number)


def _tell(updater: "Updater", silent: bool) -> None:
    """Say how far a stream has come."""
    if silent:
        return
    found, last = updater.found, updater.fitted.history[-1]
    score = "" if last["score"] is None else f", score {last['score']:.3f}"
    terms = f"{len(found.new_topics):,} new topics, {len(found.new_terms):,} new terms"
    ERR.print(f"[dim]{found.documents:,} documents, {last['n_topics']} topics, {terms}{score}[/]", soft_wrap=True)


def _report(updater: "Updater", kept: ModelOnDisk, seconds: float, json: bool) -> None:
    from diln.analysis import largest_topics

    found, fitted = updater.found, updater.fitted
    terms = len(fitted.vocabulary)
    born = [topic for topic in largest_topics(fitted, None, unused=True) if topic.id in found.new_topics]
    if json:
        numbers = {
            "directory": str(kept.directory), "documents": found.documents, "tokens": found.tokens,
            "steps": found.steps, "terms": terms, "new_terms": found.new_terms, "topics_in_use": fitted.n_topics,
            "new_topics": [topic_json(topic) for topic in born], "short_dropped": found.short_dropped,
            "population": fitted.population, "seconds": seconds,
        }  # fmt: skip
        say_json(numbers)
        return
    OUT.print(f"[bold]{escape(str(kept.directory))}[/]", soft_wrap=True)
    shown = joined(found.new_terms[:SHOWN]) + (" ..." if len(found.new_terms) > SHOWN else "")
    rows = {
        "new documents": f"{found.documents:,}, of {found.tokens:,} tokens",
        "too short": f"{found.short_dropped:,}" if found.short_dropped else "",
        "topics in use": f"{fitted.n_topics:,}",
        "new topics": "\n".join(f"{topic.id}: {listed(topic.words, None, WORDS_WIDTH)}" for topic in born),
        "terms": f"{terms:,}",
        "new terms": f"{len(found.new_terms):,}: {shown}" if found.new_terms else "none",
        "time": f"{seconds:,.1f} s",
    }
    OUT.print(facts(rows))
    if kept.elsewhere is not None:
        there, here = escape(str(kept.elsewhere)), escape(str(kept.directory))
        OUT.print(
            f"\n[dim]The model's documents are in {there}. To have the new ones there, too: diln corpus append SOURCE "
            f"{there} --grow, then: diln index {here}[/]",
            soft_wrap=True,
        )
