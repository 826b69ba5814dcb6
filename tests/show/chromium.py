"""Chromium for tests that look at pages: the system's own, driven by Playwright, with no way to the network."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = ("--disable-gpu-sandbox", "--force-color-profile=srgb", "--hide-scrollbars", "--mute-audio")


def path() -> str | None:
    """Where Chromium is."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def missing() -> str | None:
    """Why nothing can be looked at in a browser; None if it can."""
    if find_spec("playwright") is None:
        return "left out: Playwright is not installed (pip install 'diln[dev]')"
    if path() is None:
        return "left out: there is no Chromium on this machine (on Debian: apt-get install chromium)"
    return None


@contextmanager
def open_browser() -> Iterator[Any]:
    """A browser. Close it before other tests run an event loop of their own: Playwright keeps one in this thread."""
    from playwright.sync_api import sync_playwright

    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path(), args=[*OPTIONS, *root])
        yield browser
        browser.close()


@dataclass
class Watched:
    """A page, what went wrong on it, and which requests wanted to leave the host."""

    page: Any
    errors: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)

    def check(self) -> None:
        """Fail if anything was amiss."""
        assert self.strangers == [], f"requests that left the host: {self.strangers}"
        assert self.errors == [], f"errors in the console: {self.errors}"


@contextmanager
def watched(browser: Any, *allowed: str, **options: Any) -> Iterator[Watched]:
    """A page that reaches only addresses that begin as allowed; ``options`` are those of ``new_context``."""
    context = browser.new_context(**options)
    context.set_default_timeout(60_000)
    seen = Watched(context.new_page())

    def guard(route: Any) -> None:
        address = route.request.url
        if address.startswith((*allowed, "data:", "blob:")):
            route.continue_()
        else:
            seen.strangers.append(address)
            route.abort()

    context.route("**/*", guard)
    seen.page.on("pageerror", lambda error: seen.errors.append(str(error)))
    seen.page.on("console", lambda said: seen.errors.append(said.text) if said.type == "error" else None)
    try:
        yield seen
    finally:
        context.close()
