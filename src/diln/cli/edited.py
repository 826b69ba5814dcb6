"""What commands show of a model's names, merges and hidden topics."""

from pathlib import Path
from typing import TYPE_CHECKING

from diln.cli.console import OUT

if TYPE_CHECKING:
    from diln.analysis import Edits
    from diln.models.fitted import Fitted

FILE = "edits.json"  # of diln.analysis.edit_files, which takes long to import


def edits_of(model: Path, fitted: "Fitted") -> "Edits | None":
    """The changes that the user has made, if there are any."""
    if not (model / FILE).exists():
        return None
    from diln.analysis.edit_files import read_edits

    return read_edits(model, fitted) or None


def n_hidden(fitted: "Fitted", edits: "Edits | None") -> int:
    """How many topics in use are hidden."""
    if edits is None or not edits.hidden:
        return 0
    from diln.analysis.folding import Folding

    return int(Folding(fitted, edits).used[sorted(edits.hidden)].sum())


def say_hidden(number: int) -> None:
    """Print how many topics are hidden, if there are some."""
    if number:
        many = "topics are" if number > 1 else "topic is"
        OUT.print(f"\n[dim]{number:,} {many} hidden; diln unhide shows them again[/]")


def counts_of(edits: "Edits") -> str:
    """How many names, merges and hidden topics there are."""
    counts = [
        (len(edits.labels), "topics with a name", "topic with a name"),
        (len(edits.theme_labels), "themes with a name", "theme with a name"),
        (sum(len(group) - 1 for group in edits.merges), "topics merged into others", "topic merged into another"),
        (len(edits.hidden), "hidden topics", "hidden topic"),
    ]
    told = [f"{number:,} {one if number == 1 else several}" for number, several, one in counts if number]
    return ", ".join(told) or "topics as the model has them"
