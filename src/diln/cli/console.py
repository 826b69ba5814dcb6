"""What the command shows: results on the standard output, all else (progress, notes, errors) on the standard error."""

import codecs
import json
import math
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from types import TracebackType
from typing import Any, Self, TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from diln.addresses import without_secrets
from diln.cli.lines import COMPILING, NowAndThen, Parts, clock, joined
from diln.engine.compiling import is_compiling
from diln.engine.interrupts import true_interrupts
from diln.errors import inert

WIDE = 10_000  # characters of a line that no terminal has to show
SIZE = re.compile(r"0{0,4}[1-9][0-9]{0,3}|10000")  # of a terminal, up to WIDE
PLAIN = "plain"  # how characters are written that a terminal or pipe does not have
IN_ASCII = {**dict(zip("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "|/-\\|/-\\|/", strict=True)), **dict(zip("▁▂▃▄▅▆▇█", ".:-=+*#@", strict=True))}
IN_ASCII |= {"━": "=", "╸": "=", "╺": "-", "…": "~", "±": "+-", "≈": "~"}


def forget_odd_sizes() -> None:
    """Take sizes of a terminal out of the environment that are none (0, or ``²``), which rich would draw in."""
    for name in ("COLUMNS", "LINES"):
        if SIZE.fullmatch(os.environ.get(name, "80")) is None:
            del os.environ[name]


def output(stream: TextIO | None = None) -> Console:
    """Where results go: lines as wide as the terminal, or as wide as they are where there is none."""
    console = Console(file=stream, highlight=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = WIDE
    return console


forget_odd_sizes()
OUT = output()
ERR = Console(stderr=True, highlight=False, emoji=False)


def _unread(self: Console) -> None:
    """Whoever read what is printed has gone (``| head``): print no more, and go on. rich ends the command here."""
    self.quiet = True
    mute(self.file)


RENDER, RENDER_STR = Console.render, Console.render_str


def _render(self: Console, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
    """Render, with nothing that acts on the terminal but rich's own control codes and styles."""
    for text, style, control in RENDER(self, renderable, options):
        if style is not None and style.link is not None and (link := inert(style.link)) != style.link:
            style = style.update_link(link)
        yield Segment(text if control else inert(text), style, control)


def _render_str(self: Console, text: str, **options: Any) -> Text:
    """Make a text of a string; here first, so that columns are as wide as what is shown."""
    return RENDER_STR(self, inert(text), **options)


# Of the consoles that typer makes, too.
Console.on_broken_pipe = _unread  # type: ignore[method-assign]
Console.render, Console.render_str = _render, _render_str  # type: ignore[method-assign]


def mute(stream: Any) -> None:
    """Have whatever else is written to a stream go nowhere."""
    with suppress(OSError, ValueError, AttributeError):  # not a file
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    """Something else for characters that a stream does not have: like ones for what we draw, and codes for the rest."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    like = IN_ASCII.get(error.object[error.start])
    if like is None:
        error.end = error.start + 1
        return codecs.backslashreplace_errors(error)
    return like, error.start + 1


codecs.register_error(PLAIN, _plain)


def have_streams() -> None:
    """Put a stream to nowhere in the place of one that the command was started without (``>&-``).

    Numbers 0 to 2 are taken first, so that no file of ours gets one, into which libraries may print.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - until the end
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123


def print_anything() -> None:
    """Have no character end the command: a terminal or pipe may not have all of them."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=PLAIN)


def flush() -> None:
    """Have all that was printed read, unless nobody does."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            mute(stream)


def say_json(value: dict[str, Any]) -> None:
    """Print a result for machines: one line of JSON, with null for numbers that JSON does not have."""
    try:
        sys.stdout.write(json.dumps(_finite(value), allow_nan=False) + "\n")
    except BrokenPipeError:
        mute(sys.stdout)


def _finite(value: Any) -> Any:
    """The value, with None in place of infinities and NaN."""
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def complain(kind: str, text: str) -> None:
    """Print an error or a warning."""
    style = "bold red" if kind == "error" else "bold yellow"
    ERR.print(f"[{style}]{kind}:[/] {escape(without_secrets(text))}", soft_wrap=True)


def facts(rows: Mapping[str, str]) -> Table:
    """Names and values side by side; those without a value are left out."""
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for name, value in rows.items():
        if value:
            table.add_row(name, escape(value))
    return table


def bar(share: float, width: int) -> str:
    """A bar of this share of the width, and at least a mark."""
    return f"[cyan]{'━' * max(1, round(width * share))}[/]"


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Show Python's warnings as a line each, without the code they came from; none meant for programmers."""

    def show(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, file: Any = None, line: Any = None
    ) -> None:
        complain("warning", str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        for meant_for_programmers in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", meant_for_programmers)
        warnings.showwarning = show
        yield


@contextmanager
def told_of_interrupts(outcome: str | Callable[[], str]) -> Iterator[None]:
    """Say what became of the work where it is interrupted; an interrupt that was lost comes at the end."""
    try:
        with true_interrupts() as seen:
            yield
            if seen:  # and lost
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        complain("error", f"interrupted; {outcome if isinstance(outcome, str) else outcome()}")
        raise


class Doing(ProgressColumn):
    """What is being done."""

    def __init__(self, line: "ProgressLine") -> None:
        super().__init__()
        self.line = line

    def render(self, task: Task) -> Text:
        """What is being done now."""
        return Text(self.line.doing)


class ProgressLine:
    """Shows how far a build is: documents, documents a second, time left."""

    def __init__(self, what: str, *, quiet: bool = False, stream: TextIO | None = None) -> None:
        console = ERR if stream is None else Console(file=stream, highlight=False, emoji=False)
        self.what, self.quiet = what, quiet
        self.lines = None if quiet or console.is_terminal else NowAndThen(self.line, console)
        self.progress = Progress(
            SpinnerColumn(),
            Doing(self),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[documents]:,} documents"),
            TextColumn("{task.fields[rate]:,.0f}/s"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=quiet or not console.is_terminal,
        )
        self.task = self.progress.add_task(what, total=None, documents=0, rate=0.0)

    def __enter__(self) -> Self:
        self.progress.start()
        if self.lines is not None:
            self.lines.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.lines is not None:
            self.lines.stop()
        self.progress.stop()

    @property
    def doing(self) -> str:
        """What is being done."""
        return f"{self.what}: {COMPILING}" if is_compiling() else self.what

    def line(self, elapsed: float) -> str:
        """How far it is, where there is no terminal."""
        task = self.progress.tasks[0]
        parts: Parts = [(1, self.doing)]
        if task.fields["documents"]:
            parts += [(1, f"{task.fields['documents']:,} documents"), (1, f"{task.fields['rate']:,.0f}/s")]
        parts += [(1, clock(elapsed))]
        if task.total and task.completed:
            parts += [(1, f"{clock(elapsed * (task.total / task.completed - 1))} left")]
        return joined(parts)

    def note(self, text: str) -> None:
        """Show what was guessed."""
        if not self.quiet:
            self.progress.console.print(f"[dim]{escape(text)}[/]", soft_wrap=True)

    def step(self, position: int, total: int, documents: int) -> None:
        """Show how far it is."""
        elapsed = self.progress.tasks[0].elapsed or 1e-9
        rate = documents / elapsed
        self.progress.update(self.task, completed=position, total=total or None, documents=documents, rate=rate)
