"""A fit in the browser: its curves, and the map moving while it is under way."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from explorers import settle, until
from made_texts import write

PATIENCE = 240  # seconds: on a new machine the loops are compiled first


def test_the_curves_of_a_fit_that_is_done(looking):
    page = looking("view=training").page
    settle(page)
    *titles, pairs = page.locator("#view h3").all_inner_texts()
    assert titles == ["Score", "Topics in use", "Alpha", "Beta"] and pairs.startswith("Correlations of")
    assert "from" in page.locator(".curve").first.get_attribute("aria-label")


def test_a_fit_is_followed_and_its_model_opens_when_it_is_done(looking, tmp_path):
    with fitting(tmp_path) as (fit, address):
        page = looking("", at=address).page
        assert page.locator("[data-view]").all_inner_texts() == ["Training"]
        until_running(fit, page, "/sweep \\d+/.test(document.querySelector('#view .note').textContent)")
        until_running(fit, page, "document.querySelector('.curve')")
        until_running(fit, page, "document.querySelector('.live-map .view-stage')")
        fit.send_signal(signal.SIGCONT)
        page.wait_for_selector("[data-view=map]", timeout=1000 * PATIENCE)
        page.locator("[data-view=map]").click()
        settle(page)
        assert page.locator("#card h2").is_visible()


def test_a_fit_that_ends_while_the_page_opens_shows_its_model(looking, tmp_path):
    with fitting(tmp_path) as (fit, address):
        held: list[Any] = []
        page = looking(
            "", at=address, before=lambda page: page.route("**/api/training", lambda route: held.append(route))
        ).page
        assert page.locator("[data-view]").all_inner_texts() == ["Training"]
        fit.send_signal(signal.SIGCONT)
        until(page, f"fetch('{address}api/model').then((it) => it.json()).then((it) => it.ready)", PATIENCE)
        held[0].continue_()
        page.wait_for_selector("[data-view=map]", timeout=1000 * PATIENCE)


@contextmanager
def fitting(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A fit that is watched, held before its end however fast the machine; and where it is watched."""
    write(folder / "articles.csv")
    command = [sys.executable, "-m", "diln", "fit", str(folder / "articles.csv"), "-o", str(folder / "model")]
    options = ["--watch", *"--topics 8 --chains 6 --seed 1 --jobs 1 --quiet".split()]
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as fit:
        try:
            assert fit.stdout is not None
            found = next(filter(None, (re.search(r"http://\S+", line) for line in fit.stdout)))
            fit.send_signal(signal.SIGSTOP)
            yield fit, found.group()
        except BaseException:
            end(fit)
            print(fit.stdout.read() if fit.stdout else "")  # what the server says of its faults
            raise
        finally:
            end(fit)


def end(fit: subprocess.Popen[str]) -> None:
    """End a fit, also one that is held."""
    fit.send_signal(signal.SIGCONT)
    fit.terminate()


def until_running(fit: subprocess.Popen[str], page: Any, expression: str) -> None:
    """Have the fit go on a little at a time until the page shows what is expected of it."""
    ends = time.monotonic() + PATIENCE
    while not page.evaluate(expression):
        assert time.monotonic() < ends, f"never true: {expression}"
        fit.send_signal(signal.SIGCONT)
        page.wait_for_timeout(50)
        fit.send_signal(signal.SIGSTOP)
        page.wait_for_timeout(500)  # the page looks every 0.4 seconds
