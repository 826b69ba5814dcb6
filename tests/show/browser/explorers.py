"""Servers of the explorer for tests: the command itself, or an application with a model made by hand."""

import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}


@dataclass(frozen=True)
class Explorer:
    """Where a server is, and what it serves."""

    address: str
    model: Path | None = None


@contextmanager
def started(model: Path, *options: str) -> Iterator[Explorer]:
    """`diln explore` as a process of its own, on a free port."""
    command = [sys.executable, "-m", "diln", "explore", str(model), "--port", "0", "--no-browser", "--jobs", "1"]
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            found = re.search(r"http://\S+", said)
            assert found, f"the explorer said {said!r}"
            yield Explorer(found.group(), model)
        finally:
            process.terminate()
            process.wait(60)


@contextmanager
def served(atlas: Any) -> Iterator[Explorer]:
    """An atlas in a thread of this process, on a free port."""
    from diln.show.explorer.app import make_app
    from diln.show.explorer.connections import make_server
    from diln.show.explorer.desk import Desk
    from diln.show.explorer.serve import address_of, listen
    from diln.show.explorer.settings import Settings

    sock = listen("127.0.0.1", 0)
    settings = Settings.of("127.0.0.1", sock.getsockname()[1], read_only=False, page=True)
    server = make_server(make_app(Desk(atlas), settings))
    thread = threading.Thread(target=server.run, args=([sock],), daemon=True)
    thread.start()
    try:
        yield Explorer(address_of(sock))
    finally:
        server.should_exit = True
        thread.join(60)
        sock.close()


def until(page: Any, expression: str, seconds: float = 60) -> None:
    """Wait until an expression is true in the page; Playwright's own way is barred by our content security policy."""
    ends = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < ends, f"never true: {expression}"
        page.wait_for_timeout(30)


def settle(page: Any) -> None:
    """Wait until nothing is being asked for."""
    page.wait_for_timeout(50)
    page.wait_for_load_state("networkidle")
    until(page, "!document.querySelector('[aria-busy=true]')")


def state(page: Any) -> dict[str, str]:
    """What the address says is selected."""
    return page.evaluate("Object.fromEntries(new URLSearchParams(location.search))")
