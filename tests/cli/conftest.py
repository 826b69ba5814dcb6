"""What the tests of the command share."""

from pathlib import Path

import pytest
from commands import diln, write_texts

from diln.cli import console


@pytest.fixture(autouse=True)
def lines_are_as_wide_as_they_are(monkeypatch):
    """Whatever the terminal that the tests are started from."""
    monkeypatch.setattr(console.OUT, "width", console.WIDE)


@pytest.fixture(scope="session")
def shelf(tmp_path_factory) -> Path:
    """A folder with texts, the corpus of them, and a model of each kind."""
    folder = tmp_path_factory.mktemp("shelf")
    texts = write_texts(folder / "texts.jsonl", 200)
    made = [diln("corpus", "build", texts, "-o", folder / "corpus", "-qj1")]
    for kind in ("diln", "hdp", "lda", "ctm"):
        options = ("--model", kind, "--topics", 5, "--keep-states", 3, "-q")
        made += [diln("fit", folder / "corpus", "-o", folder / kind, *options)]
    bound = ("--inference", "variational", "--topics", 5, "-q")
    made += [diln("fit", folder / "corpus", "-o", folder / "variational", *bound)]
    assert {done.code for done in made} == {0}, made
    return folder
