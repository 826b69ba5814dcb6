"""``diln transform`` and ``diln evaluate``: what a model says of documents."""

from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from diln.addresses import is_url, shown
from diln.cli.cluster import SchedulerOption, WorkerTimeoutOption, engine_of
from diln.cli.console import OUT, ProgressLine, complain, facts, say_json, told_of_interrupts
from diln.cli.edited import edits_of
from diln.cli.options import OUTPUT, ForExcelOption, Given, JobsOption, JsonOption, ModelArg, QuietOption, takes
from diln.cli.proportions import MIN_SHARE, Proportions, field_columns, long_table, wide_table, write_arrays
from diln.cli.source import READING, SAME_TOKENS, SourceArg, is_corpus, read_for
from diln.cli.table_files import check_target, write_table
from diln.cli.tables import WORDS, say_written
from diln.errors import DilnError, SourceError

if TYPE_CHECKING:
    from diln.analysis import Topic, TrainedOn
    from diln.analysis.folding import Folding
    from diln.corpus import Corpus
    from diln.engine.base import Engine
    from diln.models.counts import Rows
    from diln.models.fitted import Fitted

app = typer.Typer()

ARRAYS = ".npz"


class Method(Enum):
    """How the probability of a document is computed."""

    plug_in = "plug-in"
    draws = "draws"


class AlignedCorpus(NamedTuple):
    """A corpus, and its counts in the terms of a model."""

    corpus: "Corpus"
    rows: "Rows"
    unknown: int  # tokens of terms that the model does not know, left out


class Names(Enum):
    """What the columns of topics are called."""

    words = "words"
    ids = "ids"


@app.command(
    "transform",
    epilog="Examples:\n\n"
    "diln transform model corpus -o proportions.parquet\n\n"
    "diln transform model new.jsonl -o proportions.csv --text body\n\n"
    "diln transform model corpus -o topics-of-documents.xlsx --long --min-share 0.1",
)
@takes(reading=READING, text=SAME_TOKENS)
def transform_command(
    model: ModelArg,
    source: SourceArg,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to write: .csv, .tsv, .jsonl, .parquet, .xlsx or .npz.",
            rich_help_panel=OUTPUT,
        ),
    ],
    reading: Given,
    text: Given,
    long: Annotated[
        bool,
        typer.Option("--long", help="Write a row for each document and topic, a document's largest topic first."),
    ] = False,
    min_share: Annotated[
        float | None,
        typer.Option(
            "--min-share",
            min=0,
            max=1,
            help="Leave out topics with a smaller share of the document, for --long.",
            show_default=str(MIN_SHARE),
        ),
    ] = None,
    all_topics: Annotated[
        bool,
        typer.Option("--all-topics", help="Also write topics that are not in use (less than one in 500 tokens)."),
    ] = False,
    names: Annotated[
        Names,
        typer.Option("--names", help="Name columns by number and words (topic_12 oil price barrel) or by number only."),
    ] = Names.words,
    edits: Annotated[
        bool,
        typer.Option(
            "--edits/--no-edits",
            help="Whether topics are named, merged and hidden as by diln label, merge and hide: the column other has "
            "those that are hidden.",
        ),
    ] = True,
    for_excel: ForExcelOption = False,
    scheduler: SchedulerOption = None,
    worker_timeout: WorkerTimeoutOption = None,
    jobs: JobsOption = -1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write the topic proportions of each document: a column for each topic in use.

    Before them come the document's id, title, date and label, where they are known, and its number of known tokens. The
    column "other" has the share of all topics that are not shown, so that a row sums to 1. A document without a known
    token (n_tokens 0) gets the proportions expected of any document. With --long, each row is a document and one of its
    topics.

    An .npz file has arrays for NumPy: theta (documents, all topics of the model, whatever is merged or hidden), ids and
    n_tokens.

    Text is counted in the same way as the documents of the model, and read from the same columns unless you name
    others.
    """
    from diln.analysis.edit_files import folded
    from diln.models.fitted import Fitted

    arrays = output.suffix.lower() == ARRAYS
    if min_share is not None and not long:
        raise typer.BadParameter("--min-share is for --long; give both or neither")
    if arrays and (long or all_topics or for_excel or names is not Names.words):
        raise typer.BadParameter("an .npz file has arrays of all topics; give --output and no option of a table")
    check_target(output, *what_is_read(model, source, reading, text), also=(ARRAYS,))
    fitted = Fitted.load(model, jobs)
    folding = folded(fitted, edits_of(model, fitted) if edits and not arrays else None)
    shown = _shown(folding, every=all_topics)
    if not shown and not arrays:
        raise DilnError(f"{model}: no topic is in use that is not hidden; write all with --all-topics")
    with told_of_interrupts("nothing was written"):
        documents = read_documents(fitted, source, reading, text, jobs, quiet=quiet or json)
        with (
            engine_of(scheduler, worker_timeout, jobs) as engine,
            ProgressLine("transforming", quiet=quiet or json) as watch,
        ):
            parts, written = _Parts(folding, documents, engine, watch), None
            if arrays:
                write_arrays(output, parts)
            else:
                fields = field_columns(documents.corpus)
                if long:
                    table = long_table(parts, fields, shown, MIN_SHARE if min_share is None else min_share)
                else:
                    table = wide_table(parts, fields, shown, words=names is Names.words, every=all_topics)
                written = write_table(output, *table, for_excel=for_excel)
    n_topics = fitted.posterior.n_topics if arrays else len(shown)
    numbers = {
        "documents": len(documents.corpus), "empty_documents": parts.empty, "unknown_tokens": documents.unknown,
        "topics": n_topics,
    }  # fmt: skip
    told = _described(documents, parts.empty) | {"topics": f"{n_topics:,}"}
    say_written(output, written, numbers, told, json=json)


def _shown(folding: "Folding", *, every: bool) -> "list[Topic]":
    """Topics that a table has, in the order of their numbers."""
    from diln.analysis.topics import edited_topics

    return sorted(edited_topics(folding, None, WORDS, unused=every, hidden=every), key=lambda topic: topic.id)


@app.command("evaluate", epilog="Example:\n\ndiln evaluate model held-out.jsonl")
@takes(reading=READING, text=SAME_TOKENS)
def evaluate_command(
    model: ModelArg,
    source: SourceArg,
    reading: Given,
    text: Given,
    method: Annotated[
        Method,
        typer.Option(
            "--method",
            help="Use expected topics and proportions, or average over draws from the posterior (sampling: the states "
            "kept by diln fit --keep-states).",
        ),
    ] = Method.plug_in,
    draws: Annotated[
        int | None,
        typer.Option("--draws", min=1, help="Maximum number of draws, for --method draws.", show_default="20"),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Random seed for splitting each document.")] = 0,
    scheduler: SchedulerOption = None,
    worker_timeout: WorkerTimeoutOption = None,
    jobs: JobsOption = -1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Measure how well a model predicts new documents: the perplexity of one half of each, given the other half.

    Lower is better; 1 would be perfect. The number after ± is the standard error over documents. Documents that the
    model was trained on are easier than new ones: if there are any, a warning says how many.

    Text is counted in the same way as the documents of the model, and read from the same columns unless you name
    others.
    """
    from diln.analysis.completion import complete_halves
    from diln.analysis.training import rows_trained_on
    from diln.models.fitted import DRAWS, Fitted

    if draws is not None and method is not Method.draws:
        raise typer.BadParameter("--draws is for --method draws; give both or neither")
    fitted = Fitted.load(model, jobs)
    documents = read_documents(fitted, source, reading, text, jobs, quiet=quiet or json)
    n_draws = _draws(fitted, model, draws or DRAWS) if method is Method.draws else None
    size = len(documents.corpus)
    with engine_of(scheduler, worker_timeout, jobs) as engine:
        with ProgressLine("evaluating", quiet=quiet or json) as watch:
            done = complete_halves(
                fitted, documents.rows, seed, engine, n_draws, lambda number: watch.step(number, size, number)
            )
        trained = rows_trained_on(fitted, documents.rows, engine)
    warn_of_training_documents(trained)
    empty, predicted = len(documents.corpus) - done.n_docs, int(done.n_tokens)
    if json:
        numbers = {
            "model": str(model), "source": shown(source), "perplexity": done.perplexity,
            "standard_error": done.standard_error, "method": method.value, "draws": n_draws, "seed": seed,
            "documents": len(documents.corpus), "tokens_predicted": predicted, "empty_documents": empty,
            "unknown_tokens": documents.unknown, "trained_on": None if trained is None else trained.to_json(),
        }  # fmt: skip
        say_json(numbers)
        return
    how = "expected topics and proportions" if n_draws is None else f"the mean of {n_draws:,} draws"
    error = "" if done.standard_error is None else f" ± {done.standard_error:,.1f}"
    OUT.print(f"[bold]perplexity {done.perplexity:,.1f}{error}[/]")
    OUT.print(facts(_described(documents, empty) | {"predicted": f"{predicted:,} tokens", "with": how}))


def warn_of_training_documents(trained: "TrainedOn | None") -> None:
    """Say how many of the documents the model was trained on, where it was on any."""
    if trained is None or not trained.n_found:
        return
    some = f"{trained.n_found:,} of" if trained.exact else f"about {trained.share:.0%} of"
    complain(
        "warning",
        f"the model was trained on {some} these {trained.n_docs:,} documents, so the perplexity says little about new "
        "ones; set documents aside before you fit, and evaluate on those (diln compare does both)",
    )


def _draws(fitted: "Fitted", model: Path, wanted: int) -> int:
    """How many draws there can be: of a chain, the states that were kept."""
    kept = fitted.states_kept
    if kept == 0:
        raise DilnError(f"{model}: no state of its chain was kept; fit it with --keep-states, or leave out --method")
    return wanted if kept is None else min(wanted, kept)


def what_is_read(model: Path, source: str, reading: Given, text: Given) -> tuple[list[Path], list[Path]]:
    """Files and directories that a command reads, none of which it may write to."""
    files = [source, reading.get("vocabulary", source), text.get("stop_words", source)]
    return [Path(name) for name in files if not is_url(name)], [model, *([Path(source)] if is_corpus(source) else [])]


def read_documents(
    fitted: "Fitted", source: str, reading: Given, text: Given, jobs: int, *, quiet: bool
) -> AlignedCorpus:
    """The documents of a corpus or of anything that one is built from, in the terms of the model."""
    from diln.models.counts import aligned

    corpus = read_for([fitted], source, reading, text, jobs, quiet)
    try:
        rows = aligned(corpus, fitted.vocabulary)
    except ValueError as error:  # no term is known
        raise SourceError(f"{shown(source)}: {error}") from None
    uncounted = 0 if is_corpus(source) or corpus.tally is None else corpus.tally.unknown_tokens
    return AlignedCorpus(corpus, rows, rows.n_unknown + uncounted)


class _Parts:
    """The documents' proportions, some at a time; counts those without a known token."""

    def __init__(self, folding: "Folding", documents: AlignedCorpus, engine: "Engine", watch: ProgressLine) -> None:
        self.folding, self.documents, self.engine, self.watch = folding, documents, engine, watch
        self.empty = 0

    def __iter__(self) -> Iterator[Proportions]:
        import numpy as np

        corpus = self.documents.corpus
        for first, last, tokens, theta in self.folding.fitted.transformed(self.documents.rows, self.engine):
            self.empty += int((tokens == 0).sum())
            yield Proportions(corpus[first:last], tokens.astype(np.int64), self.folding.columns(theta))
            self.watch.step(last, len(corpus), last)


def _described(documents: AlignedCorpus, empty: int) -> dict[str, str]:
    notes = {"without a known term": empty, "tokens of unknown terms, left out": documents.unknown}
    return {
        "documents": f"{len(documents.corpus):,}",
        "note": "; ".join(f"{text}: {number:,}" for text, number in notes.items() if number),
    }
