"""A real explorer, and a browser that looks at it."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import Watched, missing, open_browser, watched
from explorers import DESKTOP, Explorer, started
from made_texts import write

FIT = "--topics 8 --passes 60 --chains 2 --seed 1 --jobs 1 --quiet".split()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    reason = missing()
    if reason:
        pytest.skip(reason)
    with open_browser() as found:
        yield found


@pytest.fixture(scope="session")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model of real texts, fitted once for all processes that run these tests."""
    reason = missing()
    if reason:
        pytest.skip(reason)
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "browser-model"
    try:
        shared.mkdir()
    except FileExistsError:
        return _awaited(shared / "model")
    write(shared / "articles.csv")
    command = [sys.executable, "-m", "diln", "fit", str(shared / "articles.csv"), "-o", str(shared / "making"), *FIT]
    subprocess.run(command, check=True, timeout=120)
    (shared / "making").rename(shared / "model")
    return shared / "model"


def _awaited(model: Path) -> Path:
    for _ in range(600):
        if model.exists():
            return model
        time.sleep(0.2)
    raise TimeoutError("the model of the browser tests is not there; another process was to fit it")


@pytest.fixture(scope="session")
def explorer(fitted: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explorer]:
    """`diln explore` on a copy of the model, compared with the model itself."""
    model = tmp_path_factory.mktemp("explorer") / "model"
    shutil.copytree(fitted, model)
    with started(model, "--compare", str(fitted)) as found:
        yield found


@pytest.fixture
def looking(browser: Any, explorer: Explorer) -> Iterator[Callable[..., Watched]]:
    """Opens a view of the explorer; at the end nothing may have gone wrong or left the host."""
    opened: list[tuple[Any, Watched]] = []

    def look(
        query: str = "", at: str = explorer.address, before: Callable[[Any], object] = id, **options: Any
    ) -> Watched:
        manager = watched(browser, at, **{"viewport": DESKTOP, "reduced_motion": "reduce", **options})
        seen = manager.__enter__()
        opened.append((manager, seen))
        before(seen.page)
        seen.page.goto(f"{at}?{query}")
        seen.page.wait_for_selector("html[data-ready]")
        return seen

    yield look
    for manager, seen in opened:
        try:
            seen.check()
        finally:
            manager.__exit__(None, None, None)
