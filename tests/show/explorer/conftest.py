"""What the tests of the explorer share."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from shop import client, make_corpus, make_model

pytest.importorskip("fastapi", reason="the explorer needs fastapi and uvicorn")

from diln.analysis import Atlas
from diln.show.explorer.desk import Desk
from diln.show.explorer.start import start_search


@pytest.fixture(scope="session")
def shop(tmp_path_factory) -> Path:
    """A folder with a corpus and two models of it."""
    folder = tmp_path_factory.mktemp("shop")
    corpus = make_corpus()
    for seed in (0, 1):
        made = make_model(folder, corpus, seed)
        Atlas.open(made, folder / "corpus")  # keeps the index
    return folder


@pytest.fixture(scope="session")
def desk(shop) -> Iterator[Desk]:
    """A desk that nobody changes."""
    made = Desk(Atlas.open(shop / "model0"), other=Atlas.open(shop / "model1"))
    start_search(made)
    made.search.wait(30)
    yield made
    made.close()


@pytest.fixture(scope="session")
def page(desk):
    """Somebody who asks that desk."""
    return client(desk)


@pytest.fixture
def own(shop, tmp_path) -> Iterator[Desk]:
    """A desk of one's own, to change."""
    shutil.copytree(shop / "model0", tmp_path / "model")
    made = Desk(Atlas.open(tmp_path / "model", shop / "corpus"))
    yield made
    made.close()
