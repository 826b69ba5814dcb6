"""``diln transform`` and ``diln evaluate``: what a model says of documents."""

from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.markup import escape

from diln.cli.console import OUT, ProgressLine, facts, say_json, told_of_interrupts
from diln.cli.options import OUTPUT, Given, JobsOption, JsonOption, ModelArg, QuietOption, takes
from diln.cli.proportions import Part, check_target, write
from diln.cli.source import READING, SAME_TOKENS, SourceArg, is_corpus, read_for
from diln.errors import DilnError, SourceError

if TYPE_CHECKING:
    from diln.corpus import Corpus
    from diln.models.counts import Rows
    from diln.models.fitted import Fitted

app = typer.Typer()


class Method(Enum):
    """How the probability of a document is computed."""

    plug_in = "plug-in"
    draws = "draws"


class AlignedCorpus(NamedTuple):
    """A corpus, and its counts in the terms of a model."""

    corpus: "Corpus"
    rows: "Rows"
    unknown: int  # tokens of terms that the model does not know, left out


@app.command(
    "transform",
    epilog="Examples:\n\n"
    "diln transform model corpus -o proportions.parquet\n\n"
    "diln transform model new.jsonl -o proportions.csv --text body",
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
            help="File to write: .csv, .tsv, .jsonl, .npz or .parquet.",
            rich_help_panel=OUTPUT,
        ),
    ],
    reading: Given,
    text: Given,
    jobs: JobsOption = -1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write the topic proportions of each document: its id, its number of known tokens, and a column for each topic.

    A document without a known token (n_tokens 0) gets the proportions expected of any document.

    Text is counted in the same way as the documents of the model. Its columns are guessed, or named by --text.
    """
    from diln.models.fitted import Fitted

    read = [source, reading.get("vocabulary", source), text.get("stop_words", source)]
    check_target(output, map(Path, read), [model, *([Path(source)] if is_corpus(source) else [])])
    fitted = Fitted.load(model, jobs)
    with told_of_interrupts("nothing was written"):
        documents = _read(fitted, source, reading, text, jobs, quiet=quiet or json)
        with ProgressLine("transforming", quiet=quiet or json) as watch:
            empty = write(output, _parts(fitted, documents, jobs, watch), fitted.posterior.n_topics)
    numbers = {
        "output": str(output), "documents": len(documents.corpus), "empty_documents": empty,
        "unknown_tokens": documents.unknown, "topics": fitted.posterior.n_topics,
    }  # fmt: skip
    if json:
        say_json(numbers)
        return
    OUT.print(f"[bold]{escape(str(output))}[/]", soft_wrap=True)
    OUT.print(facts(_described(documents, empty) | {"topics": f"{fitted.posterior.n_topics:,}"}))


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
    jobs: JobsOption = -1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Measure how well a model predicts new documents: the perplexity of one half of each, given the other half.

    Lower is better; 1 would be perfect. The number after ± is the standard error over documents.

    Text is counted in the same way as the documents of the model. Its columns are guessed, or named by --text.
    """
    from diln.analysis.completion import complete_halves
    from diln.models.fitted import DRAWS, Fitted

    if draws is not None and method is not Method.draws:
        raise typer.BadParameter("--draws is for --method draws; give both or neither")
    fitted = Fitted.load(model, jobs)
    documents = _read(fitted, source, reading, text, jobs, quiet=quiet or json)
    n_draws = _draws(fitted, model, draws or DRAWS) if method is Method.draws else None
    done = complete_halves(fitted, documents.rows, seed, jobs, n_draws)
    empty, predicted = len(documents.corpus) - done.n_docs, int(done.n_tokens)
    if json:
        numbers = {
            "model": str(model), "source": source, "perplexity": done.perplexity,
            "standard_error": done.standard_error, "method": method.value, "draws": n_draws, "seed": seed,
            "documents": len(documents.corpus), "tokens_predicted": predicted, "empty_documents": empty,
            "unknown_tokens": documents.unknown,
        }  # fmt: skip
        say_json(numbers)
        return
    how = "expected topics and proportions" if n_draws is None else f"the mean of {n_draws:,} draws"
    error = "" if done.standard_error is None else f" ± {done.standard_error:,.1f}"
    OUT.print(f"[bold]perplexity {done.perplexity:,.1f}{error}[/]")
    OUT.print(facts(_described(documents, empty) | {"predicted": f"{predicted:,} tokens", "with": how}))


def _draws(fitted: "Fitted", model: Path, wanted: int) -> int:
    """How many draws there can be: of a chain, the states that were kept."""
    kept = fitted.states_kept
    if kept == 0:
        raise DilnError(f"{model}: no state of its chain was kept; fit it with --keep-states, or leave out --method")
    return wanted if kept is None else min(wanted, kept)


def _read(fitted: "Fitted", source: str, reading: Given, text: Given, jobs: int, quiet: bool) -> AlignedCorpus:
    """The documents of a corpus or of anything that one is built from, in the terms of the model."""
    from diln.models.counts import aligned

    corpus = read_for([fitted], source, reading, text, jobs, quiet)
    try:
        rows = aligned(corpus, fitted.vocabulary)
    except ValueError as error:  # no term is known
        raise SourceError(f"{source}: {error}") from None
    uncounted = 0 if is_corpus(source) or corpus.tally is None else corpus.tally.unknown_tokens
    return AlignedCorpus(corpus, rows, rows.n_unknown + uncounted)


def _parts(fitted: "Fitted", documents: AlignedCorpus, jobs: int, watch: ProgressLine) -> Iterator[Part]:
    """The documents' proportions, some at a time."""
    import numpy as np

    from diln.engine.threads import Threads

    with Threads(jobs) as threads:
        for first, last, tokens, proportions in fitted.transformed(documents.rows, threads):
            yield Part(documents.corpus[first:last].documents.ids, tokens.astype(np.int64), proportions)
            watch.step(last, len(documents.corpus), last)


def _described(documents: AlignedCorpus, empty: int) -> dict[str, str]:
    notes = {"without a known term": empty, "tokens of unknown terms, left out": documents.unknown}
    return {
        "documents": f"{len(documents.corpus):,}",
        "note": "; ".join(f"{text}: {number:,}" for text, number in notes.items() if number),
    }
