"""Files that earlier versions wrote load, say what they said, and go on; ``make.py`` made them."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from make import HERE, resumed, seen, seen_corpus

import diln

SCHEMAS = sorted(HERE.glob("schema*"))
STORED = [(folder, path) for folder in SCHEMAS for path in sorted(folder.glob("*/*"))]


def expected(folder: Path) -> dict:
    return json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def of_kind(kind: str) -> list:
    found = [(folder, path) for folder, path in STORED if path.parent.name == kind]
    return [pytest.param(folder, path, id=f"{folder.name}-{path.name}") for folder, path in found]


def corpus_of(folder: Path) -> diln.Corpus:
    return diln.Corpus.open(folder / "corpora" / "text")


@pytest.mark.parametrize(("folder", "path"), of_kind("corpora"))
def test_a_stored_corpus_has_its_documents(folder, path):
    assert seen_corpus(diln.Corpus.open(path, check=True)) == expected(folder)["corpora"][path.name]


@pytest.mark.parametrize(("folder", "path"), of_kind("models"))
def test_a_stored_model_says_what_it_said_and_goes_on(folder, path):
    found = seen(diln.load(path), corpus_of(folder))
    for what, numbers in expected(folder)["models"][path.name].items():
        np.testing.assert_allclose(found[what], numbers, rtol=1e-6, atol=1e-9, err_msg=what)


@pytest.mark.parametrize("folder", SCHEMAS, ids=lambda folder: folder.name)
def test_a_stored_checkpoint_is_taken_up(folder, tmp_path):
    shutil.copytree(folder / "checkpoints", tmp_path, dirs_exist_ok=True)
    fits = json.loads((folder / "fits.json").read_text(encoding="utf-8"))
    assert set(fits) == {path.name for path in tmp_path.iterdir() if not path.suffix}
    for name, (kind, given) in fits.items():
        found = resumed(tmp_path / name, kind, given, corpus_of(folder)).topic_word
        np.testing.assert_allclose(found, expected(folder)["checkpoints"][name], rtol=1e-6, atol=1e-9, err_msg=name)
