"""``diln topics``, ``diln correlations`` and ``diln info``: what a model has found, and how."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from diln.cli.answers import pairs_table, terms_table, topics_table
from diln.cli.console import OUT, facts, say_json
from diln.cli.edited import counts_of, edits_of, n_hidden, say_hidden
from diln.cli.options import OUTPUT, FileOption, ForExcelOption, JsonOption, ModelArg
from diln.cli.parameters import FLAGS
from diln.cli.table_files import check_target, write_table
from diln.cli.tables import (
    WORDS,
    counted,
    found_json,
    lift_range,
    named,
    say_written,
    shown_lift,
    size_on_disk,
    sparkline,
    summary,
    topic_json,
    topic_table,
    unknown,
)
from diln.errors import DilnError

if TYPE_CHECKING:
    from diln.analysis import Correlations, Pair, Topic
    from diln.models.fitted import Fitted

app = typer.Typer()

PAIRS = 10  # of each kind, by default
PAIR_WORDS = 6  # of a topic of a pair, by default
GAP = 2  # characters between two columns
BESIDE_WORDS = 2 * 5 + 3 * GAP  # characters that the numbers of two topics take
WIDE_PAIR = 100
SPARK_WIDTH = 40
NOT_TOLD = {"memory", "n_jobs", "random_state", "verbose"}  # parameters that do not describe the model

WordsOption = Annotated[
    int | None,
    typer.Option("--words", min=1, help="Number of words for each topic. Default: as many as fit on the line."),
]


@app.command(
    "topics",
    epilog="Examples:\n\n"
    "diln topics model --top 20 --words 15\n\n"
    "diln topics model -o topics.xlsx\n\n"
    "diln topics model -o terms.parquet --terms 100",
)
def topics_command(
    model: ModelArg,
    words: WordsOption = None,
    top: Annotated[
        int | None, typer.Option("--top", "-n", min=1, help="Maximum number of topics to show. Default: all in use.")
    ] = None,
    all_topics: Annotated[
        bool, typer.Option("--all-topics", help="Also show topics that are not in use (less than one in 500 tokens).")
    ] = False,
    output: FileOption = None,
    terms: Annotated[
        int | None,
        typer.Option(
            "--terms",
            min=1,
            help="Write a row for each topic and term, with its probability: this many terms of each topic.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    for_excel: ForExcelOption = False,
    json: JsonOption = False,
) -> None:
    """Show the topics in use, the largest first. A topic has the same number in all commands."""
    from diln.analysis import largest_topics
    from diln.models.fitted import Fitted

    if terms is not None and (output is None or words is not None):
        raise typer.BadParameter("--terms is for a file; give it with --output and without --words")
    if output is not None:
        check_target(output, directories=[model])
    fitted = Fitted.load(model)
    edits = edits_of(model, fitted)
    topics = largest_topics(fitted, top, terms or words or WORDS, unused=all_topics, edits=edits)
    if output is not None:
        content = topics_table(topics) if terms is None else terms_table(topics)
        written = write_table(output, *content, for_excel=for_excel)
        say_written(output, written, {"topics": len(topics)}, {"topics": f"{len(topics):,}"}, json=json)
        return
    if json:
        numbers = {"directory": str(model), "topics_in_use": fitted.n_topics, "truncation": fitted.posterior.n_topics}
        numbers |= {"n_chains": fitted.n_chains or 1, "hidden": n_hidden(fitted, edits)}
        say_json({**numbers, "topics": [topic_json(topic) for topic in topics]})
        return
    if all_topics:
        OUT.print(f"[bold]topics[/] ({counted(len(topics), fitted.posterior.n_topics)})")
    else:
        in_use = fitted.n_topics if edits is None else len(largest_topics(fitted, None, 1, edits=edits))
        OUT.print(f"[bold]topics in use[/] ({counted(len(topics), in_use)})")
    OUT.print(topic_table(topics, OUT, words))
    say_hidden(n_hidden(fitted, edits))
    say_what_is_unknown(fitted)


def say_what_is_unknown(fitted: "Fitted") -> None:
    """Print that nobody knows how much of a model another run would find, where that is so."""
    if fitted.agreement is None:
        OUT.print(f"\n[dim]{unknown(fitted)}[/]")


@app.command(
    "correlations",
    epilog="Examples:\n\ndiln correlations model --pairs 20\n\ndiln correlations model -o pairs.csv --all",
)
def correlations_command(
    model: ModelArg,
    pairs: Annotated[
        int | None,
        typer.Option(
            "--pairs",
            min=1,
            help="Maximum number of pairs of each kind.",
            show_default=f"{PAIRS}; all in a file",
        ),
    ] = None,
    words: WordsOption = None,
    every: Annotated[
        bool, typer.Option("--all", help="Also show pairs that are not sure, if the model has several chains.")
    ] = False,
    output: FileOption = None,
    for_excel: ForExcelOption = False,
    json: JsonOption = False,
) -> None:
    """Show which topics go together and which avoid each other.

    A lift of 3.2x means that two topics are together 3.2 times as often as by chance; below 1x they avoid each other. A
    model with several chains (diln fit --chains) also shows how sure that is: it lists only pairs that would have the
    lift on the same side of 1 in 19 of 20 other chains that find both topics, with the range of the lift.

    The strongest pairs come first. They are sorted by their lift, two standard deviations nearer to 1x: a large lift
    that varies a lot comes later. A file and --json have this deviation, that of the logarithm of the lift, as spread.
    """
    from diln.analysis import correlated_pairs, largest_topics
    from diln.models.fitted import Fitted

    if output is not None:
        check_target(output, directories=[model])
    fitted = Fitted.load(model)
    most = pairs or (PAIRS if output is None else fitted.posterior.n_topics**2)
    try:
        if (edits := edits_of(model, fitted)) is None:
            found = correlated_pairs(fitted, most, unsure=every)
        else:
            from diln.analysis import Atlas

            found = Atlas(fitted, edits=edits).pairs(most, unsure=every)
    except ValueError as error:  # a model without correlations
        raise DilnError(f"{model}: {error}") from None
    topics = {topic.id: topic for topic in largest_topics(fitted, None, words or PAIR_WORDS, edits=edits)}
    if output is not None:
        written = write_table(output, *pairs_table((*found.positive, *found.negative), topics), for_excel=for_excel)
        sure = "" if found.n_sure is None else f", {found.n_sure:,} of them sure"
        numbers = {"pairs": found.n_pairs, "sure_pairs": found.n_sure}
        say_written(output, written, numbers, {"pairs": f"{found.n_pairs:,}{sure}"}, json=json)
        return
    if json:
        numbers = {"n_chains": fitted.n_chains or 1, "pairs": found.n_pairs, "sure_pairs": found.n_sure}
        kinds = {"positive": found.positive, "negative": found.negative}
        listed = {kind: [_pair_json(pair, topics) for pair in kinds[kind]] for kind in kinds}
        say_json({"directory": str(model), **numbers, **listed})
        return
    show_correlations(found, topics, words, every=every)
    say_hidden(n_hidden(fitted, edits))
    if fitted.agreement is not None and found.n_pairs:
        left = "" if every else "; --all shows the others"
        OUT.print(
            f"\n[dim]{found.n_sure:,} of {found.n_pairs:,} pairs are sure: another chain beside the "
            f"{fitted.n_chains} that finds both topics has the lift on the same side of 1 in 19 of 20 cases"
            f"{left}[/]"
        )
    elif found.n_pairs:
        say_what_is_unknown(fitted)


def _pair_json(pair: "Pair", topics: dict[int, "Topic"]) -> dict[str, Any]:
    return {
        **asdict(pair),
        "first_label": topics[pair.first].label,
        "second_label": topics[pair.second].label,
        "first_words": list(topics[pair.first].words),
        "second_words": list(topics[pair.second].words),
    }  # fmt: skip


def show_correlations(
    found: "Correlations", topics: dict[int, "Topic"], words: int | None = None, *, every: bool = False
) -> None:
    """Print pairs of topics with their words."""
    known = any(pair.spread for pair in (*found.positive, *found.negative))
    by = "sorted by lift, two standard deviations nearer to 1x" if known else "sorted by lift"
    if not found.n_pairs:
        few = "one topic is in use" if len(topics) < 2 else "fewer than two topics are told from the origin"
        OUT.print(f"there are no pairs: {few}")
    elif not found.positive and not found.negative:
        OUT.print("no pair is sure")
    gap = ""
    for title, pairs, style in (
        ("topics that go together", found.positive, "green"),
        ("topics that avoid each other", found.negative, "red"),
    ):
        if pairs:
            OUT.print(f"{gap}[bold]{title}[/] [dim]({by})[/]")
            OUT.print(_pair_table(pairs, topics, words, style, every=every))
            gap = "\n"


def _pair_table(
    pairs: Sequence["Pair"], topics: dict[int, "Topic"], words: int | None, style: str, *, every: bool
) -> Table:
    columns = _pair_columns(pairs, every=every)
    beside = sum(GAP + max(len(name), *map(len, cells)) for name, cells in columns.items())
    room = (OUT.width - beside - BESIDE_WORDS) // 2
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in columns:
        table.add_column(name, justify="right", style=style if name == "lift" else "", no_wrap=True)
    for _ in range(2):
        table.add_column("topic", justify="right", style="bold")
        table.add_column("words", no_wrap=words is None)
    for pair, *cells in zip(pairs, *columns.values(), strict=True):
        for one in (pair.first, pair.second):
            cells += [str(one), escape(named(topics[one], words, room))]
        table.add_row(*cells)
    return table


def _pair_columns(pairs: Sequence["Pair"], *, every: bool) -> dict[str, list[str]]:
    """What there is to say of pairs, and room for, before their words."""
    chains, wide = pairs[0].sure is not None, OUT.width >= WIDE_PAIR
    columns = {"lift": [shown_lift(pair.lift) for pair in pairs]}
    if chains:
        columns["range"] = [lift_range(pair.low, pair.high) for pair in pairs]
    if chains and every:
        columns["sure"] = ["yes" if pair.sure else "no" for pair in pairs]
    if wide or not chains:
        columns["correlation"] = [f"{pair.correlation:+.2f}" for pair in pairs]
    return columns


@app.command("info", epilog="Example:\n\ndiln info model --json")
def info_command(model: ModelArg, json: JsonOption = False) -> None:
    """Show the parameters and numbers of a model, and how it was fitted."""
    from diln.analysis import Edits
    from diln.files import read_manifest
    from diln.models.files import MODEL
    from diln.models.fitted import Fitted

    fitted, versions = Fitted.load(model), read_manifest(model, MODEL)["versions"]
    if json:
        say_json({**_info_json(fitted, model, versions), "edits": (edits_of(model, fitted) or Edits()).to_json()})
        return
    OUT.print(f"[bold]{escape(str(model))}[/]", soft_wrap=True)
    edits = edits_of(model, fitted)
    OUT.print(facts({**_info(fitted, model, versions), "changes": "" if edits is None else counts_of(edits)}))


def _info(fitted: "Fitted", directory: Path, versions: dict[str, str]) -> dict[str, str]:
    told, variance, kept = told_parameters(fitted), fitted.location_variance, fitted.states_kept
    return {
        **summary(fitted),
        "terms": f"{len(fitted.vocabulary):,}",
        "alpha, beta": "" if fitted.alpha is None else f"{fitted.alpha:.3g}, {fitted.beta:.3g}",
        "topic prior": f"{fitted.posterior.prior:.3g}",
        "location variance": "" if variance is None else f"{variance:.3g}",
        "parameters": ", ".join(f"{FLAGS.get(name, name)} {value}" for name, value in told.items()),
        "seed": str(fitted.seed),
        "history": history(fitted),
        "steps": f"{fitted.steps:,}" if fitted.steps else "",
        "states kept": f"{kept:,}" if kept else "",
        "on disk": f"{size_on_disk(directory) / 1e6:,.1f} MB",
        "written by": ", ".join(f"{name} {version}" for name, version in versions.items()),
    }  # fmt: skip


def history(fitted: "Fitted") -> str:
    """The bound, the score or else the perplexity, over the passes."""
    for name, digits in (("bound", 0), ("score", 3), ("perplexity", 0)):
        values = [float(entry[name]) for entry in fitted.history if entry.get(name) is not None]
        if len(values) > 1:
            return f"{name} {values[0]:,.{digits}f} {sparkline(values, SPARK_WIDTH)} {values[-1]:,.{digits}f}"
    return ""


def told_parameters(fitted: "Fitted") -> dict[str, Any]:
    """The parameters that are not as they are by default."""
    from diln.models.parameters import defaults, plain

    default = {**defaults(fitted.kind, fitted.parameters.inference), "inference": "sampling"}
    values = fitted.parameters.to_json()
    return {name: value for name, value in values.items() if name not in NOT_TOLD and value != plain(default[name])}


def _info_json(fitted: "Fitted", directory: Path, versions: dict[str, str]) -> dict[str, Any]:
    return {
        "directory": str(directory), "model": fitted.kind, "parameters": fitted.parameters.to_json(),
        "documents": fitted.population, "terms": len(fitted.vocabulary), **found_json(fitted),
        "documents_visited": fitted.seen, "history": fitted.history, "versions": versions,
        "bytes": size_on_disk(directory),
    }  # fmt: skip
