"""Options that several commands share: declared once, given to a command as a group."""

import inspect
from collections.abc import Callable, Mapping
from copy import copy
from enum import Enum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

OUTPUT = "Output"

Options = Mapping[str, Any]  # names of arguments and their annotated types
Given = dict[str, Any]  # those of a group that are on the command line, by name

JobsOption = Annotated[
    int,
    typer.Option(
        "--jobs",
        "-j",
        callback=lambda value: _jobs(value),
        help="How many cores to use; the result is the same for any number.",
        show_default="-1: all",
        rich_help_panel=OUTPUT,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.", rich_help_panel=OUTPUT)]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print no progress and no notes.", rich_help_panel=OUTPUT)
]
ForceOption = Annotated[
    bool, typer.Option("--force", "-f", help="Replace what is there already.", rich_help_panel=OUTPUT)
]
FileOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the table to a file instead: .csv, .tsv, .jsonl, .parquet or .xlsx.",
        rich_help_panel=OUTPUT,
    ),
]
ForExcelOption = Annotated[
    bool,
    typer.Option(
        "--for-excel",
        help="For .csv and .tsv: tell Excel that the text is UTF-8, and put a ' before text that it would take as a "
        "formula.",
        rich_help_panel=OUTPUT,
    ),
]
ModelArg = Annotated[Path, typer.Argument(metavar="MODEL", help="A model directory.", show_default=False)]


def new_directory(text: str) -> Path:
    """Where to write; what has no name, as a variable of the shell that was never set, is not where we are."""
    if not text:
        raise typer.BadParameter("the name is empty; name a directory")
    return Path(text)


def _jobs(value: int) -> int:
    if value == 0:
        raise typer.BadParameter("0 processes do nothing; give a number of them, or -1 for one for each core")
    return value


def takes(**groups: Options) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Put groups of options in place of a command's arguments of these names.

    The command finds in such an argument a dictionary of those options that were given: what was not, has no entry.
    """

    def give(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**values: Any) -> None:
            command(**{group: _given(options, values) for group, options in groups.items()}, **values)

        own = inspect.signature(command).parameters
        kinds = {name: groups.get(name, {name: parameter}) for name, parameter in own.items()}
        every = [_parameter(name, kind) for group in kinds.values() for name, kind in group.items()]
        run.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
        return run

    return give


def _given(options: Options, values: Given) -> Given:
    """Take the options' values out of all, and of these those that were given."""
    found = {name: values.pop(name) for name in options}
    plain = {name: value.value if isinstance(value, Enum) else value for name, value in found.items()}
    return {name: value for name, value in plain.items() if value is not None}


def _parameter(name: str, kind: Any) -> inspect.Parameter:
    if isinstance(kind, inspect.Parameter):
        return kind.replace(kind=inspect.Parameter.KEYWORD_ONLY)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)


def defaults_to(what: str, kind: Any) -> Any:
    """An option with another default, in words, from its annotated type."""
    values, option = get_args(kind)
    option = copy(option)
    option.show_default = what
    return Annotated[values, option]


def flag(kind: Any) -> str:
    """The flag of an option, as in "--topics", from its annotated type."""
    return str(get_args(kind)[-1].default).partition("/")[0]  # in an annotation typer has the first flag there
