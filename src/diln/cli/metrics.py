"""``diln metrics``: how good a model's topics are, and whether several models find the same."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from diln.cli.cluster import SchedulerOption, WorkerTimeoutOption, engine_of
from diln.cli.console import OUT, ProgressLine, complain, facts, say_json
from diln.cli.options import Given, JobsOption, JsonOption, QuietOption, takes
from diln.cli.source import FILES, READING, SAME_TOKENS, plain_name, read_for
from diln.cli.tables import WORDS, counted, listed
from diln.errors import DilnError, SourceError

if TYPE_CHECKING:
    from diln.analysis import Quality, Repeat, Stability, TopicQuality
    from diln.models.fitted import Fitted

app = typer.Typer()

BESIDE = 38  # characters that the columns before a topic's words take
UMASS = 7  # characters of the column that only a wide line has room for
WIDE = 80
NOTHING = "-"  # in place of a number that is not defined

ModelsArg = Annotated[
    list[Path], typer.Argument(metavar="MODEL", help="One or several model directories.", show_default=False)
]
CorpusOption = Annotated[
    str | None,
    typer.Option(
        "--corpus",
        metavar="SOURCE",
        help="Documents in which to count words: others than those of the model are the better test. A corpus "
        f"directory, or a source to count: {FILES} Default: the model's own documents.",
        show_default=False,
        callback=plain_name,
    ),
]


@app.command(
    "metrics",
    epilog="Examples:\n\n"
    "diln metrics model -n 20\n\n"
    "diln metrics seed-1 seed-2 seed-3 --corpus others.jsonl --text body",
)
@takes(reading=READING, text=SAME_TOKENS)
def metrics_command(
    models: ModelsArg,
    reading: Given,
    text: Given,
    corpus: CorpusOption = None,
    words: Annotated[
        int | None,
        typer.Option("--words", min=1, help="Number of words for each topic.", show_default=str(WORDS)),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option("--top", "-n", min=1, help="Maximum number of topics to show. Means are over all in use."),
    ] = None,
    scheduler: SchedulerOption = None,
    worker_timeout: WorkerTimeoutOption = None,
    jobs: JobsOption = -1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Measure a model's topics: coherence (NPMI, UMass), exclusivity and diversity of their most probable words.

    For several models it shows the means, and whether the models find the same topics and correlations.
    """
    from diln.analysis import qualities
    from diln.models.fitted import Fitted

    every = [Fitted.load(model, jobs) for model in models]
    corpus = corpus or _own(models, every)
    documents = read_for(every, corpus, reading, text, jobs, quiet or json)
    with (
        engine_of(scheduler, worker_timeout, jobs) as engine,
        ProgressLine("pairs of words", quiet=quiet or json) as watch,
    ):
        found = qualities(every, documents, words or WORDS, watch, engine)
    if not any(one.coverage for one in found):
        raise SourceError(f"{corpus}: no document has any of the topics' words; give documents in the model's terms")
    repeated = _stability(every) if len(every) > 1 else None
    if json:
        say_json(_json(models, every, corpus, found, repeated))
    elif len(every) == 1:
        _show_one(models[0], every[0], found[0], top, words)
    else:
        _show_several(models, every, found, repeated)


def _own(models: list[Path], every: list["Fitted"]) -> str:
    """Where the documents of the models are, which must be one place."""
    from diln.analysis.opening import corpus_place

    places = [corpus_place(model, fitted) for model, fitted in zip(models, every, strict=True)]
    known = {place.resolve(): place for place in places if place is not None}
    if not known:
        raise DilnError(f"{models[0]}: does not know where its documents are; name some with --corpus")
    if len(known) > 1:
        raise DilnError("the models were fitted to documents in different places; name those to count in with --corpus")
    return str(next(iter(known.values())))


def _stability(every: list["Fitted"]) -> "Stability | None":
    """What the models have in common; None, and a warning, where that cannot be said."""
    from diln.analysis import stability

    try:
        return stability(every)
    except ValueError as error:  # models of different terms
        complain("warning", f"whether the models find the same is not known: {error}")
        return None


def _json(
    models: list[Path], every: list["Fitted"], source: str, found: list["Quality"], repeated: "Stability | None"
) -> dict[str, Any]:
    return {
        "corpus": source,
        "models": [
            {"directory": str(model), "model": fitted.kind, **one.to_json()}
            for model, fitted, one in zip(models, every, found, strict=True)
        ],
        "stability": None if repeated is None else repeated.to_json(),
    }


def _show_one(model: Path, fitted: "Fitted", found: "Quality", top: int | None, words: int | None) -> None:
    OUT.print(f"[bold]{escape(str(model))}[/]", soft_wrap=True)
    unknown = len(found.topics) - found.n_scored
    notes = {
        "words that no document has": f"{1 - found.coverage:.1%}" if found.coverage < 1 else "",
        "topics without two words that a document has": f"{unknown:,}" if unknown else "",
    }
    OUT.print(
        facts({
            "model": fitted.kind,
            "topics": f"{len(found.topics):,} in use; {found.effective_topics:,.1f} effective",
            "NPMI": _signed(found.npmi, found.n_scored),
            "UMass": _signed(found.umass, found.n_scored),
            "exclusivity": f"{found.exclusivity:.2f}",
            "diversity": f"{found.diversity:.2f}",
            "counted in": f"{found.n_docs:,} documents, {found.n_words:,} words of each topic",
            "note": "; ".join(f"{text}: {number}" for text, number in notes.items() if number),
        })
    )  # fmt: skip
    shown = found.topics[:top]
    OUT.print(f"\n[bold]topics in use[/] ({counted(len(shown), len(found.topics))})")
    OUT.print(_topics(shown, words))


def _topics(topics: Sequence["TopicQuality"], words: int | None) -> Table:
    wide = OUT.width >= WIDE
    table = _table(0, "topic", "share", "NPMI", *(["UMass"] if wide else []), "exclusivity")
    table.add_column("words", no_wrap=words is None)
    for topic in topics:
        umass = [_signed(topic.umass, topic.n_pairs)] if wide else []
        numbers = [f"{topic.weight:.1%}", _signed(topic.npmi, topic.n_pairs), *umass, f"{topic.exclusivity:.2f}"]
        room = OUT.width - BESIDE - (UMASS if wide else 0)
        table.add_row(f"[bold]{topic.id}[/]", *numbers, escape(listed(topic.words, words, room)))
    return table


def _show_several(
    models: list[Path], every: list["Fitted"], found: list["Quality"], repeated: "Stability | None"
) -> None:
    names, wide = _names(models), OUT.width >= WIDE
    table = _table(1, "model", "kind", "topics", "NPMI", *(["UMass"] if wide else []), "exclusivity", "diversity")
    for name, fitted, one in zip(names, every, found, strict=True):
        umass = [_signed(one.umass, one.n_scored)] if wide else []
        means = [_signed(one.npmi, one.n_scored), *umass, f"{one.exclusivity:.2f}", f"{one.diversity:.2f}"]
        table.add_row(escape(name), fitted.kind, f"{len(one.topics):,}", *means)
    OUT.print(table)
    if repeated is not None:
        _show_stability(names, repeated)


def _show_stability(names: list[str], repeated: "Stability") -> None:
    correlated = any(repeat.correlations is not None for repeat in repeated.repeats)
    OUT.print("\n[bold]topics that two models have in common[/]")
    table = _table(2, "model", "other", "in both", "affinity", *(["correlations", "signs"] if correlated else []))
    for repeat in repeated.repeats:
        known = _correlations(repeat) if correlated else []
        topics = [f"{repeat.topics.share:.0%}", f"{repeat.topics.mean:.2f}"]
        table.add_row(escape(names[repeat.first]), escape(names[repeat.second]), *topics, *known)
    if len(repeated.repeats) > 1:
        known = [_plain(repeated.correlation), _percent(repeated.signs)] if correlated else []
        table.add_row("mean", "", f"{repeated.share:.0%}", f"{repeated.mean:.2f}", *known)
    OUT.print(table)


def _correlations(repeat: "Repeat") -> list[str]:
    known = repeat.correlations
    return [NOTHING, NOTHING] if known is None else [_plain(known.correlation), _percent(known.signs)]


def _table(n_names: int, *columns: str) -> Table:
    """A table with ``n_names`` columns of names, which are wrapped if they are too long, and columns of numbers."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in columns[:n_names]:
        table.add_column(name, style="bold", overflow="fold")
    for name in columns[n_names:]:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _names(models: list[Path]) -> list[str]:
    """The models' directories, by their last part where that tells them apart."""
    short = [model.resolve().name for model in models]
    return short if len(set(short)) == len(short) else [str(model) for model in models]


def _signed(value: float, n_known: int) -> str:
    return f"{value:+.2f}" if n_known else NOTHING


def _plain(value: float | None) -> str:
    return NOTHING if value is None else f"{value:+.2f}"


def _percent(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.0%}"
