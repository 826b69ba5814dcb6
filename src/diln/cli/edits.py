"""``diln label``, ``merge``, ``hide``, ``unhide`` and ``undo``: topics as the user wants to see them."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from diln.cli.console import OUT, say_json
from diln.cli.edited import counts_of
from diln.cli.options import JsonOption, ModelArg
from diln.cli.tables import joined

if TYPE_CHECKING:
    from diln.analysis import Change, Edits
    from diln.models.fitted import Fitted

app = typer.Typer()

WORDS = 6  # of a topic

TopicsArg = Annotated[
    list[int], typer.Argument(metavar="TOPIC...", help="Numbers of topics, as diln topics shows them.", min=0)
]


@app.command("label", epilog='Examples:\n\ndiln label model 12 "Trials"\n\ndiln label model 3 "Law and order" --theme')
def label_command(
    model: ModelArg,
    topic: Annotated[int, typer.Argument(metavar="TOPIC", help="Number of the topic, or of the theme.", min=0)],
    label: Annotated[str, typer.Argument(metavar="NAME", help='The name; "" takes the name away.')],
    theme: Annotated[bool, typer.Option("--theme", help="Name a theme, as diln themes shows them.")] = False,
    themes: Annotated[
        int | None,
        typer.Option("--themes", min=1, help="Number of themes that it is one of.", show_default="as diln themes"),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Give a topic or a theme a name of your own.

    The name is shown beside the words, everywhere. The name of a theme stays with its topics: it is shown for any
    number of themes with one that shares at least half of them. The model's numbers do not change, and diln undo takes
    back the last change.
    """
    if not theme:
        if themes is not None:
            raise typer.BadParameter("--themes is for --theme; give both or neither")
        _change(model, lambda edits: edits.rename(topic, label), json)
        return
    from diln.analysis import Atlas

    found = Atlas.open(model).themes(themes or "auto")
    topics = found.theme(topic).topics
    _change(model, lambda edits: edits.rename_theme(topics, label), json)


@app.command("merge", epilog="Example:\n\ndiln merge model 12 40 7")
def merge_command(model: ModelArg, topics: TopicsArg, json: JsonOption = False) -> None:
    """Show several topics as one, which has the number and the name of the first.

    Its share is the sum of theirs, its words are the mean of theirs by share. The model's numbers do not change, and
    diln undo takes back the last change.
    """
    _change(model, lambda edits: edits.merge(topics), json)


@app.command("hide", epilog="Example:\n\ndiln hide model 3 17")
def hide_command(model: ModelArg, topics: TopicsArg, json: JsonOption = False) -> None:
    """Show some topics no more: those of boilerplate, for example.

    The model's numbers do not change, and diln undo takes back the last change.
    """
    _change(model, lambda edits: edits.hide(topics), json)


@app.command("unhide", epilog="Example:\n\ndiln unhide model 3")
def unhide_command(model: ModelArg, topics: TopicsArg, json: JsonOption = False) -> None:
    """Show topics again, each for itself: hidden ones, and ones that were merged into another."""
    _change(model, lambda edits: edits.show(topics), json)


@app.command("undo", epilog="Example:\n\ndiln undo model")
def undo_command(model: ModelArg, json: JsonOption = False) -> None:
    """Take back the last change of diln label, merge, hide or unhide. Repeat to take back more."""
    from diln.analysis import Edits

    _change(model, Edits.undo, json)


def _change(model: Path, how: "Callable[[Edits], Edits]", json: bool) -> None:
    """Change the edits of a model, and say what has changed and what holds now."""
    from diln.analysis.edit_files import change_edits
    from diln.models.fitted import Fitted

    fitted = Fitted.load(model)
    before: list[Edits] = []

    def kept(edits: "Edits") -> "Edits":
        before.append(edits)
        return how(edits)

    after = change_edits(model, fitted, kept)
    if json:
        say_json({"directory": str(model), **after.to_json()})
        return
    undone = len(after.changes) < len(before[0].changes)
    change = (before[0] if undone else after).changes[-1]
    OUT.print(escape(f"{'undone: ' if undone else ''}{_told(change, fitted)}"), soft_wrap=True)
    OUT.print(f"[dim]now: {counts_of(after)}[/]")


def _told(change: "Change", fitted: "Fitted") -> str:
    """What a change is, in words."""
    first, *others = (f"topic {topic} ({_words(topic, fitted)})" for topic in change.topics)
    if change.action == "rename":
        return f"{first} is named {change.label!r}" if change.label else f"{first} has no name of its own"
    if change.action == "rename theme":
        named = f"is named {change.label!r}" if change.label else "has no name of its own"
        return f"the theme of {first}{f' and {len(others)} others' if others else ''} {named}"
    if change.action == "merge":
        return f"{first} is one with {', '.join(others)}"
    are = "are" if others else "is"
    return f"{', '.join([first, *others])} {are} {'hidden' if change.action == 'hide' else 'shown'}"


def _words(topic: int, fitted: "Fitted") -> str:
    from diln.analysis.words import largest

    return joined([fitted.vocabulary[at] for at in largest(fitted.topic_word[topic], WORDS)])
