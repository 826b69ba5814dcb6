"""Models and topics as several commands print them."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from diln.cli.console import OUT, WIDE, bar, complain, facts, say_json

if TYPE_CHECKING:
    from diln.analysis import Topic
    from diln.cli.table_formats import FileTable
    from diln.models.fitted import Fitted

BAR_WIDTH = 12
WORDS = 10  # of a topic, by default
BESIDE = 29  # characters that the columns before a topic's words take
FOUND = 7  # those of the column that says in how many chains a topic was found
SPARKS = "▁▂▃▄▅▆▇█"


def topic_table(topics: Sequence["Topic"], screen: Console, n_words: int | None) -> Table:
    """Topics with their shares and words: as many words as asked for, or as the line has room for."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("topic", justify="right", style="bold")
    table.add_column("share", justify="right")
    table.add_column()
    chains = any(topic.found is not None for topic in topics)
    if chains:
        table.add_column("found", justify="right")
    table.add_column("words", no_wrap=n_words is None)
    most = max((topic.weight for topic in topics), default=1.0)
    for topic in topics:
        words = named(topic, n_words, screen.width - BESIDE - (FOUND if chains else 0))
        found = [f"{topic.found}/{topic.n_chains}"] if chains else []
        table.add_row(str(topic.id), f"{topic.weight:.1%}", bar(topic.weight / most, BAR_WIDTH), *found, escape(words))
    return table


def fit_line(table: Table, screen: Console) -> Table:
    """The table; where a line has no room for it, its columns with a ratio share what the others leave."""
    table.expand = screen.measure(table, options=screen.options.update_width(WIDE)).maximum > screen.width
    return table


def listed(words: Sequence[str], n_words: int | None, width: int) -> str:
    """The first words, by default as many as there is room for; with commas if a term has several words."""
    gap = _gap(words)
    shown = list(words[: WORDS if n_words is None else n_words])
    while n_words is None and len(shown) > 1 and cell_len(gap.join(shown)) > width:
        shown.pop()
    return gap.join(shown)


def named(topic: "Topic", n_words: int | None, width: int) -> str:
    """A topic's words after the name that its user gave it, as in Trials: court judge."""
    if not topic.label:
        return listed(topic.words, n_words, width)
    return f"{topic.label}: {listed(topic.words, n_words, width - cell_len(topic.label) - 2)}"


def joined(words: Sequence[str]) -> str:
    """Words in a row; with commas if a term has several words."""
    return _gap(words).join(words)


def _gap(words: Sequence[str]) -> str:
    return ", " if any(" " in word for word in words) else " "


def shown_lift(lift: float) -> str:
    """A lift as in 3.2x or 0.31x."""
    from diln.analysis import html  # with the analysis, which has been there since there was a lift

    return html.shown_lift(lift)


def lift_range(low: float | None, high: float | None) -> str:
    """Where a lift is, as in 1.9 to 5.4x."""
    from diln.analysis import html

    return html.lift_range(low, high)


def topic_json(topic: "Topic") -> dict[str, Any]:
    """A topic for machines."""
    return asdict(topic)


def sparkline(values: Sequence[float], width: int) -> str:
    """Values as a row of at most ``width`` bars, from the lowest to the highest."""
    if len(values) > width:
        values = [values[round(at * (len(values) - 1) / (width - 1))] for at in range(width)]
    low, high = min(values), max(values)
    step = (high - low) / (len(SPARKS) - 1) or 1.0
    return "".join(SPARKS[round((value - low) / step)] for value in values)


def size_on_disk(directory: Path) -> int:
    """Bytes of the files in a directory."""
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def summary(fitted: "Fitted") -> dict[str, str]:
    """A model in a few facts."""
    score, perplexity = last(fitted, "score"), last(fitted, "perplexity")
    return {
        "model": fitted.kind,
        "documents": f"{fitted.population:,.0f}",
        "topics": f"{fitted.n_topics:,} in use of {fitted.posterior.n_topics:,}",
        "inference": f"{fitted.inference}, learning: {fitted.method}",
        "sweeps" if swept(fitted) else "passes": _passes(fitted),
        "stopped": stopped(fitted),
        "bound": "" if fitted.bound is None else f"{fitted.bound:,.0f}",
        "score": "" if score is None else f"{score:.3f}, mean log probability of a token given the others",
        "perplexity": "" if perplexity is None else f"{perplexity:,.1f}",
        "chains": chains(fitted),
    }


def chains(fitted: "Fitted") -> str:
    """How many chains a model was fitted with, and what they agree on."""
    if fitted.agreement is None:
        return "" if fitted.n_chains is None else str(fitted.n_chains)
    told = chains_json(fitted)
    pairs = "" if told["sure_pairs"] is None else f", {told['sure_pairs']:,} pairs of topics are sure"
    return f"{fitted.n_chains}: another finds {told['topics_found_again']:.0%} of the topics{pairs}"


def chains_json(fitted: "Fitted") -> dict[str, Any]:
    """The same for machines."""
    from diln.analysis import in_use

    if fitted.agreement is None:
        return {"n_chains": fitted.n_chains, "topics_found_again": None, "sure_pairs": None}
    judged, share = fitted.judged(), fitted.agreement.share(in_use(fitted))
    sure = None if judged is None else judged.n_sure
    return {"n_chains": fitted.n_chains, "topics_found_again": share, "sure_pairs": sure}


def unknown(fitted: "Fitted") -> str:
    """Why nobody knows how much of a model another run would find, and what to do."""
    if fitted.n_chains is None:
        how, do = "Fitted by variational inference", "fit with --inference sampling --chains 4 to see"
    elif fitted.stopped is not None and fitted.parameters.n_chains > 1:
        how, do = "Stopped before two chains were done", "let the fit come to its end to see"
    elif fitted.parameters.n_chains > 1:
        how, do = "Learned from more documents since it was fitted with several chains", "fit it to all of them to see"
    else:
        how, do = "Fitted with one chain", "fit with --chains 4 to see"
    return f"{how}: how much of this another run would find is unknown; {do}."


def _passes(fitted: "Fitted") -> str:
    """How often a model has gone over its documents, and whether it could have gone on."""
    if fitted.method == "online":
        return f"{fitted.passes:,}"
    averaged = f", the last {fitted.states_averaged:,} averaged" if swept(fitted) else ""
    return f"{fitted.passes:,}{averaged}{', as many as were allowed' if fitted.passes >= _most(fitted) else ''}"


def stopped(fitted: "Fitted") -> str:
    """When a fit was stopped, if it was before its end."""
    if fitted.stopped is None:
        return ""
    if fitted.stopped == "chains":
        return f"with {fitted.n_chains} of {fitted.parameters.n_chains} chains done"
    if fitted.stopped == "steps":
        where = f"step {fitted.steps:,}, in pass {fitted.passes} of {fitted.parameters.epochs}"
    elif fitted.method == "online":
        where = f"sweep {fitted.history[-1]['iteration']:,}, before the first pass"
    else:
        where = f"{'sweep' if swept(fitted) else 'pass'} {fitted.passes:,} of at most {_most(fitted):,}"
    return f"after {where}, not converged"


def _most(fitted: "Fitted") -> int:
    """Sweeps or passes that a fit may take."""
    return _sweeps_allowed(fitted) if swept(fitted) else fitted.parameters.plan().max_iter


def _sweeps_allowed(fitted: "Fitted") -> int:
    from diln.models.sampling import planned

    return planned(fitted.parameters, fitted.method, round(fitted.posterior.topic_tokens.sum())).max_iter


def swept(fitted: "Fitted") -> bool:
    """Whether a model is of sweeps over all its documents."""
    return fitted.inference == "sampling" and fitted.method != "online"


def found_json(fitted: "Fitted") -> dict[str, Any]:
    """What a fit has found, and how, for machines."""
    return {
        "topics_in_use": fitted.n_topics, "truncation": fitted.posterior.n_topics, "alpha": fitted.alpha,
        "beta": fitted.beta, "topic_prior": fitted.posterior.prior, "location_variance": fitted.location_variance,
        "inference": fitted.inference, "learning": fitted.method, "bound": fitted.bound,
        "score": last(fitted, "score"), "perplexity": last(fitted, "perplexity"), "passes": fitted.passes,
        "stopped": fitted.stopped, "steps": fitted.steps, "states_averaged": fitted.states_averaged,
        "states_kept": fitted.states_kept, "seed": fitted.seed, **chains_json(fitted),
    }  # fmt: skip


def last(fitted: "Fitted", name: str) -> float | None:
    """The last value of this name in a model's history."""
    return next((entry[name] for entry in reversed(fitted.history) if entry.get(name) is not None), None)


def say_written(
    path: Path, table: "FileTable | None", numbers: dict[str, Any], told: dict[str, str], *, json: bool
) -> None:
    """Print what was written to a file, a table or something else: numbers for machines, or facts for people."""
    if table is not None and table.formulas:
        complain(
            "warning",
            f"{path}: a spreadsheet may take texts that begin with =, +, - or @ as formulas, and there are "
            f"{table.formulas:,}; write .xlsx, or add --for-excel",
        )
    if json:
        size = {} if table is None else {"rows": table.rows, "columns": len(table.columns)}
        say_json({"output": str(path), **size, **numbers})
        return
    OUT.print(f"[bold]{escape(str(path))}[/]", soft_wrap=True)
    rows = "" if table is None else f"{table.rows:,} row{'s' * (table.rows != 1)}"
    written = "" if table is None else f"{rows}, {len(table.columns):,} columns"
    OUT.print(facts({"written": written, **told}))


def counted(shown: int, of: int) -> str:
    """How many are shown of how many."""
    return f"the {shown:,} largest of {of:,}" if of > shown else f"all {of:,}"
