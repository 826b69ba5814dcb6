"""``diln fit --watch``: the explorer beside a fit, as a process of its own, and the record that it follows."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

from diln.cli.console import ERR, complain
from diln.cli.explore import check_installed
from diln.files import guarded

if TYPE_CHECKING:
    from diln.inference.progress import Look, Progress, See
    from diln.show.explorer.record import Record

ADDRESS = re.compile(r"http://\S+")
PATIENCE = 5.0  # seconds that the explorer has to end


class Both:
    """Two that look on."""

    def __init__(self, *looks: "Look") -> None:
        self.looks = looks

    def look(self, progress: "Progress") -> None:
        """A sweep, pass or step is done."""
        for one in self.looks:
            one.look(progress)


class Beside:
    """The explorer, which shows a fit from its record and then its model."""

    def __init__(self, record: "Record", model: Path) -> None:
        self.record = record
        command = [sys.executable, "-m", "diln", "explore", str(model), "--until-eof", "--quiet"]
        self.process = subprocess.Popen(  # noqa: S603  (our own command)
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )  # a session of its own: Ctrl-C is for the fit
        self.address: str | None = None

    def announce(self) -> None:
        """Say where to look."""
        found = ADDRESS.search(self.process.stdout.readline()) if self.process.stdout is not None else None
        self.address = found[0] if found else None
        if self.address is None:
            complain("warning", "the explorer could not be started; the fit goes on without it")
        else:
            ERR.print(f"[dim]watch the fit at[/] [bold]{escape(self.address)}[/]", soft_wrap=True)

    def looks(self, line: "Look", vocabulary: list[str]) -> "tuple[Look, See]":
        """Who looks on: the line in the terminal and the record; and who sees the topics."""
        self.record.vocabulary = vocabulary
        return Both(line, self.record), self.record.see

    def stay(self, *, wait: bool) -> None:
        """Wait until the user has seen enough of the model, if that is wanted; then end the explorer."""
        if wait and self.address is not None and self.process.poll() is None:
            ERR.print(f"explore the model at [bold]{escape(self.address)}[/] (Ctrl-C ends it)", soft_wrap=True)
            with suppress(KeyboardInterrupt):
                self.process.wait()
        self.end()

    def end(self) -> None:
        """End the explorer: it ends with its standard input."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            self.process.kill()
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


@guarded
def watched(model: Path, wanted: bool) -> Iterator[Beside | None]:
    """The explorer beside a fit, if it is wanted; whoever has it ends it, unless the fit fails."""
    if not wanted:
        yield None
        return
    check_installed()
    from diln.show.explorer.record import Record, beside

    with Record(beside(model)) as record:
        page = Beside(record, model)
        try:
            yield page
        except BaseException:
            page.end()
            raise
