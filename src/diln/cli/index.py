"""``diln index``: what a model says of its documents, kept beside it."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from diln.cli.cluster import SchedulerOption, WorkerTimeoutOption, engine_of
from diln.cli.console import OUT, ProgressLine, complain, facts, say_json, told_of_interrupts
from diln.cli.keeping import forget_corpus, keep_corpus, keep_index
from diln.cli.options import Given, JobsOption, JsonOption, ModelArg, QuietOption, takes
from diln.cli.source import FILES, READING, SAME_TOKENS, plain_name, read_for, source_of
from diln.cli.tables import size_on_disk
from diln.errors import SourceError, StoreError

if TYPE_CHECKING:
    from diln.corpus import Corpus
    from diln.engine.base import Engine
    from diln.models.fitted import Fitted

app = typer.Typer()

FOLDER, CORPUS_FOLDER = "documents", "corpus"  # of diln.analysis.index, which takes long to import
FEW = 0.5  # share of documents that a model was trained on, below which a warning says so


@app.command(
    "index",
    epilog="Examples:\n\ndiln index model\n\ndiln index model /new/place/of/corpus\n\ndiln index model --add new.jsonl",
)
@takes(reading=READING, text=SAME_TOKENS)
def index_command(
    model: ModelArg,
    reading: Given,
    text: Given,
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="SOURCE",
            help="The documents that the model was fitted to: a corpus directory, or a source to count. Default: where "
            "the model found them.",
            show_default=False,
            callback=plain_name,
        ),
    ] = None,
    add: Annotated[
        str | None,
        typer.Option(
            "--add",
            metavar="SOURCE",
            help=f"Add these documents to those in MODEL/corpus, and to the index: {FILES}",
            callback=plain_name,
        ),
    ] = None,
    keep_documents: Annotated[
        bool,
        typer.Option("--corpus/--no-corpus", help="Whether to keep documents that are counted now in MODEL/corpus."),
    ] = True,
    scheduler: SchedulerOption = None,
    worker_timeout: WorkerTimeoutOption = None,
    jobs: JobsOption = -1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Keep what a model says of its documents, for diln explore, similar, outliers and others.

    diln fit does this, too. Do it again after moving or adding to the corpus, or for a model that was saved in Python.
    Documents that are in the index already are not inferred again.
    """
    from diln.models.fitted import Fitted

    if add is not None and source is not None:
        raise typer.BadParameter("give SOURCE or --add, not both: --add is for documents that come on top")
    begun, silent = time.perf_counter(), quiet or json
    fitted = Fitted.load(model, jobs)
    with told_of_interrupts(f"{model} has the index that it had, or the new one"):
        if add is not None:
            corpus = _added(add, model, reading, jobs, silent)
        elif source is not None:
            corpus = read_for([fitted], source, reading, text, jobs, silent)
            if keep_documents:
                corpus = keep_corpus(corpus, model)
            else:
                forget_corpus(corpus, model)
        else:
            corpus = _found(model)
        with engine_of(scheduler, worker_timeout, jobs) as engine:
            _warn_of_others(fitted, corpus, engine)
            index = keep_index(fitted, corpus, model, engine, silent)
    directory, seconds = model / FOLDER, time.perf_counter() - begun
    size = size_on_disk(directory)
    if json:
        where = None if index.corpus is None else str(index.corpus)
        numbers = {"documents": index.n_docs, "topics": index.n_topics, "corpus": where, "bytes": size}
        say_json({"directory": str(directory), **numbers, "seconds": seconds})
        return
    OUT.print(f"[bold]{escape(str(directory))}[/]", soft_wrap=True)
    shown = {"documents": f"{index.n_docs:,}", "corpus": "" if index.corpus is None else str(index.corpus)}
    OUT.print(facts({**shown, "on disk": f"{size / 1e6:,.1f} MB", "time": f"{seconds:,.1f} s"}))


def _found(model: Path) -> "Corpus":
    """The documents of a model, where its index says they are, or beside it."""
    from diln.corpus import Corpus

    place = corpus_of(model)
    if place is None:
        raise StoreError(
            f"{model}: the model does not know where its documents are; give them: diln index MODEL SOURCE"
        )
    return Corpus.open(place)


def corpus_of(model: Path) -> Path | None:
    """Where a model's documents are."""
    from diln.analysis.index import Index

    try:
        known = Index.open(model / FOLDER).corpus
    except StoreError:
        known = None
    if known is None and (model / CORPUS_FOLDER).is_dir():
        known = model / CORPUS_FOLDER
    return known


def _added(source: str, model: Path, reading: Given, jobs: int, quiet: bool) -> "Corpus":
    """The documents kept beside a model, with others after them."""
    from diln.corpus import append

    place = corpus_of(model)
    if place is None:
        raise StoreError(f"{model}: has no documents to add to; index them first: diln index MODEL SOURCE")
    if place.resolve() != (model / CORPUS_FOLDER).resolve():
        raise SourceError(
            f"{model}: its documents are in {place}; add to them there, with: diln corpus append SOURCE CORPUS, then: "
            "diln index MODEL"
        )
    with ProgressLine("adding", quiet=quiet) as watch:
        return append(source_of(source), place, n_jobs=jobs, watch=watch, **reading)


def _warn_of_others(fitted: "Fitted", corpus: "Corpus", engine: "Engine") -> None:
    from diln.analysis.training import rows_trained_on
    from diln.models.counts import aligned

    known = rows_trained_on(fitted, aligned(corpus, fitted.vocabulary), engine)
    if known is not None and known.share is not None and known.share < FEW:
        complain(
            "warning",
            f"the model was trained on {'none' if not known.n_found else f'{known.share:.0%}'} of these "
            f"{known.n_docs:,} documents; is this the corpus that it was fitted to?",
        )
