"""A browser with the page of the drawing modules."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from chromium import Watched, missing, open_browser, watched
from drawings import served

USUAL = {"viewport": {"width": 1000, "height": 800}, "reduced_motion": "reduce"}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    reason = missing()
    if reason:
        pytest.skip(reason)
    with open_browser() as found:
        yield found


@pytest.fixture(scope="module")
def address(browser: Any) -> Iterator[str]:
    with served() as found:
        yield found


def _ready(seen: Watched, address: str) -> Watched:
    seen.page.goto(address)
    seen.page.wait_for_function("window.ready")
    return seen


@pytest.fixture
def opened(browser: Any, address: str) -> Iterator[Callable[..., Any]]:
    """Opens a page of its own; nothing that was amiss on it is passed over."""
    with ExitStack() as stack:
        seen: list[Watched] = []

        def open_page(**options: Any) -> Any:
            options = {**USUAL, **options}
            seen.append(_ready(stack.enter_context(watched(browser, address, **options)), address))
            return seen[-1].page

        yield open_page
        for one in seen:
            one.check()


@pytest.fixture(scope="module")
def shared(browser: Any, address: str) -> Iterator[Watched]:
    with watched(browser, address, **USUAL) as seen:
        yield _ready(seen, address)


@pytest.fixture
def page(shared: Watched) -> Iterator[Any]:
    """The page that all tests of a file share, empty."""
    shared.page.evaluate("window.view?.destroy(); window.view = null; delete document.documentElement.dataset.theme")
    yield shared.page
    shared.check()
