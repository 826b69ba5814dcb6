"""``diln diff``: what has changed from one model to another."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from diln.cli.console import OUT, facts, say_json
from diln.cli.edited import edits_of
from diln.cli.options import JsonOption
from diln.cli.tables import joined, listed, shown_lift

if TYPE_CHECKING:
    from diln.analysis.changes import ModelDiff, TopicChange

app = typer.Typer()

TITLES = {
    "born": "topics born",
    "faded": "topics that have faded",
    "grown": "topics that have grown",
    "shrunk": "topics that have shrunk",
    "steady": "topics whose words have changed",
}
WIDTH = 44  # characters of a topic's words
TERMS = 40  # new terms that are shown


@app.command("diff", epilog="Examples:\n\ndiln diff model-september model-october\n\ndiln diff old new --json")
def diff_command(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A model directory.", show_default=False)],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="A later model directory.", show_default=False)],
    *,
    top: Annotated[int, typer.Option("--top", "-n", min=1, help="Maximum number of topics and pairs of a kind.")] = 10,
    words: Annotated[int, typer.Option("--words", min=1, help="Number of a topic's words that are compared.")] = 10,
    json: JsonOption = False,
) -> None:
    """Show what has changed from one model to another.

    Topics that were born, have faded, grown or shrunk, and words that came into them or left; new terms; pairs of
    topics that go together more or less than before. A model that diln update made of the other has the same topics by
    their numbers; topics of other models are matched by their words.
    """
    from diln.analysis.changes import diff
    from diln.models.fitted import Fitted

    one, two = Fitted.load(old), Fitted.load(new)
    found = diff(one, two, words, top)
    if json:
        say_json({"old": str(old), "new": str(new), **found.to_json()})
        return
    edits = edits_of(new, two)
    _show(found, {} if edits is None else dict(edits.labels), top, f"{old} to {new}")


def _show(found: "ModelDiff", labels: dict[int, str], top: int, title: str) -> None:
    OUT.print(f"[bold]{escape(title)}[/]", soft_wrap=True)
    terms = joined(found.new_terms[:TERMS]) + (" ..." if len(found.new_terms) > TERMS else "")
    rows = {
        "documents": f"{found.documents[0]:,.0f} to {found.documents[1]:,.0f}",
        "topics in use": f"{found.n_topics[0]:,} to {found.n_topics[1]:,}",
        "matched by": "number" if found.one_line else "words",
        "new terms": f"{len(found.new_terms):,}: {terms}" if found.new_terms else "none",
        "terms gone": f"{len(found.gone_terms):,}" if found.gone_terms else "",
    }
    OUT.print(facts(rows))
    for kind, heading in TITLES.items():
        changes = [one for one in found.topics if one.kind == kind and (kind != "steady" or one.came)]
        if changes:
            OUT.print(f"\n[bold]{heading}[/] ({min(top, len(changes))} of {len(changes)})")
            OUT.print(_table(changes[:top], labels))
    if found.pairs:
        OUT.print("\n[bold]pairs whose lift has changed most[/]")
        table = Table(box=None, pad_edge=False, header_style="dim")
        for name in ("topics", "before", "after"):
            table.add_column(name, justify="right")
        for pair in found.pairs:
            table.add_row(f"{pair.first}, {pair.second}", shown_lift(pair.before), shown_lift(pair.after))
        OUT.print(table)


def _table(changes: list["TopicChange"], labels: dict[int, str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("topic", "before", "after"):
        table.add_column(name, justify="right", style="bold" if name == "topic" else "")
    for name in ("words", "came", "left"):
        table.add_column(name)
    for one in changes:
        number = one.new if one.new is not None else one.old
        label = labels.get(one.new) if one.new is not None else None
        name = listed(one.words, None, WIDTH)
        came, left = listed(one.came, None, WIDTH), listed(one.left, None, WIDTH)
        shares = (f"{one.before:.1%}", f"{one.after:.1%}")
        table.add_row(str(number), *shares, escape(f"{label}: {name}" if label else name), escape(came), escape(left))
    return table
