"""Models with their documents, as several commands open them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diln.cli.console import ProgressLine, told_of_interrupts

if TYPE_CHECKING:
    from diln.analysis import Atlas

CorpusOption = Annotated[
    Path | None,
    typer.Option(
        "--corpus",
        metavar="DIR",
        help="The corpus directory that the model was fitted to. Default: the one that the model knows of.",
    ),
]
ThemesOption = Annotated[
    int | None, typer.Option("--themes", min=1, help="Number of themes.", show_default="as diln themes chooses")
]


def open_atlas(model: Path, corpus: Path | None, jobs: int = 1, *, quiet: bool = False) -> "Atlas":
    """A model with its documents, where it knows of some, and its user's changes."""
    from diln.analysis import Atlas

    with told_of_interrupts("nothing was written"), ProgressLine("transforming", quiet=quiet) as watch:
        return Atlas.open(model, corpus, jobs, watch)
