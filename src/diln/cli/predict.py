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
from diln.cli.source import READING, SAME_TOKENS, SourceArg, is_corpus, read_corpus
from diln.cli.tables import states_kept
from diln.errors import DilnError, SourceError

if TYPE_CHECKING:
    from diln.corpus import Corpus
    from diln.models.counts import Rows
    from diln.models.fitted import Fitted

app = typer.Typer()

AT_ONCE = 2048  # documents whose proportions are in memory


class Method(Enum):
    """How the probability of a document is computed."""

    plug_in = "plug-in"
    draws = "draws"


class Documents(NamedTuple):
    """Documents in the terms of a model."""

    corpus: "Corpus"
    rows: "Rows"
    unknown: int  # tokens of terms that the model does not know


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
            help="Where to write: a .csv, .tsv, .jsonl, .npz or .parquet file.",
            rich_help_panel=OUTPUT,
        ),
    ],
    reading: Given,
    text: Given,
    jobs: JobsOption = -1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write each document's proportions of topics: its id, its number of known tokens, and a column for each topic.

    A document without a known token (n_tokens 0) has the proportions that are expected of any document.

    Text is counted by the rule of the model's own documents; its columns are found anew, or named by --text.
    """
    from diln.models.fitted import Fitted

    read = [source, reading.get("vocabulary", source), text.get("stop_words", source)]
    check_target(output, map(Path, read), [model, *([Path(source)] if is_corpus(source) else [])])
    fitted = Fitted.load(model, jobs)
    with told_of_interrupts("nothing was written"):
        documents = _documents(fitted, source, reading, text, jobs, quiet=quiet or json)
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
            help="With expected topics and proportions, or averaged over draws of them (sampling: over the states that "
            "diln fit --keep-states has kept).",
        ),
    ] = Method.plug_in,
    draws: Annotated[
        int | None,
        typer.Option("--draws", min=1, help="How many draws at most, with --method draws.", show_default="20"),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the split of each document.")] = 0,
    jobs: JobsOption = -1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Compute how well a model predicts documents it has not seen: the perplexity of half of each, given the other.

    Lower is better; 1 would be perfect. Behind ± is the standard error, over documents.

    Text is counted by the rule of the model's own documents; its columns are found anew, or named by --text.
    """
    from diln.analysis import complete
    from diln.models.counts import in_halves
    from diln.models.fitted import DRAWS, Fitted

    if draws is not None and method is not Method.draws:
        raise typer.BadParameter("--draws is for --method draws; give both or neither")
    fitted = Fitted.load(model, jobs)
    documents = _documents(fitted, source, reading, text, jobs, quiet=quiet or json)
    counts = documents.rows.everything()
    observed, held_out = in_halves(counts, seed)
    n_draws = _draws(fitted, model, draws or DRAWS) if method is Method.draws else None
    done = complete(fitted, observed, held_out, jobs, n_draws)
    empty, predicted = int((counts.sum(axis=1) == 0).sum()), int(done.n_tokens)
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
    kept = states_kept(fitted)
    if kept == 0:
        raise DilnError(f"{model}: no state of its chain was kept; fit it with --keep-states, or leave out --method")
    return wanted if kept is None else min(wanted, kept)


def _documents(fitted: "Fitted", source: str, reading: Given, text: Given, jobs: int, quiet: bool) -> Documents:
    """The documents of a corpus or of anything that one is built from, in the terms of the model."""
    from diln.models.counts import CorpusRows, aligned

    stored = is_corpus(source)
    terms: Given = {} if stored else {"vocabulary": fitted.vocabulary}
    tokens = text if stored else {**tokens_of(fitted), **text}
    corpus = read_corpus(source, {**terms, **reading}, tokens, jobs, quiet)
    try:
        rows = aligned(corpus, fitted.vocabulary)
    except ValueError as error:  # no term is known
        raise SourceError(f"{source}: {error}") from None
    known = corpus.n_tokens if isinstance(rows, CorpusRows) else int(rows.everything().sum())
    if not known:
        raise SourceError(f"{source}: no document has a token of a term that the model knows; give others")
    uncounted = 0 if stored or corpus.tally is None else corpus.tally.unknown_tokens
    return Documents(corpus, rows, corpus.n_tokens - known + uncounted)


def tokens_of(fitted: "Fitted") -> Given:
    """The rule for tokens that the model's own documents were counted by."""
    if fitted.rule is None:
        return {}
    if fitted.rule["tokenizer"] is not None:
        raise SourceError(
            f"the model's documents were counted with the tokenizer {fitted.rule['tokenizer']!r}, which the command "
            "does not have; count these in Python with it and vocabulary=model.vocabulary_"
        )
    known = {name: value for name, value in fitted.rule.items() if name in SAME_TOKENS}
    return {**known, "ngram_range": tuple(known["ngram_range"])}


def _parts(fitted: "Fitted", documents: Documents, jobs: int, watch: ProgressLine) -> Iterator[Part]:
    """The documents' proportions, some at a time."""
    import numpy as np

    from diln.engine.threads import Threads, cut

    with Threads(jobs) as threads:
        for first, last in cut(len(documents.corpus), AT_ONCE):
            counts = documents.rows.take(np.arange(first, last))
            tokens = np.asarray(counts.sum(axis=1), np.int64)
            yield Part(documents.corpus[first:last].documents.ids, tokens, fitted.transform(counts, threads))
            watch.step(last, len(documents.corpus), last)


def _described(documents: Documents, empty: int) -> dict[str, str]:
    notes = {"without a known term": empty, "tokens of unknown terms, left out": documents.unknown}
    return {
        "documents": f"{len(documents.corpus):,}",
        "note": "; ".join(f"{text}: {number:,}" for text, number in notes.items() if number),
    }
