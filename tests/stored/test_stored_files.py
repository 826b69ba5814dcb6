"""Files that earlier versions wrote load, say what they said, and go on; ``make.py`` made them."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from make import HERE, form, make_checkpoints, make_corpora, make_models, resumed, seen, seen_corpus

import diln
from diln.corpus.store import CORPUS
from diln.models.checkpoints import CHECKPOINT
from diln.models.files import MODEL

SCHEMAS = sorted(HERE.glob("schema*"))
STORED = [(folder, path) for folder in SCHEMAS for path in sorted(folder.glob("*/*"))]


def expected(folder: Path) -> dict:
    return json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def of_kind(kind: str) -> list:
    found = [(folder, path) for folder, path in STORED if path.parent.name == kind]
    return [pytest.param(folder, path, id=f"{folder.name}-{path.name}") for folder, path in found]


def corpus_of(folder: Path) -> diln.Corpus:
    return diln.Corpus.open(folder / "corpora" / "text")


def test_every_kind_has_stored_files_of_every_schema():
    assert {kind.schema for kind in (CORPUS, MODEL, CHECKPOINT)} == {MODEL.schema}  # one number for all
    assert [folder.name for folder in SCHEMAS] == [f"schema{number}" for number in range(1, MODEL.schema + 1)]
    for folder in SCHEMAS:
        assert {path.name for path in folder.iterdir() if path.is_dir()} == {"corpora", "models", "checkpoints"}
        for path in folder.glob("*/*"):
            assert f'"schema": {folder.name.removeprefix("schema")},' in (path / "manifest.json").read_text("utf-8")
        models = {path.name.partition("-")[0] for path in (folder / "models").iterdir()}
        assert models == {path.name.partition("-")[0] for path in (folder / "checkpoints").iterdir()}
        assert models == {"diln", "hdp", "lda", "ctm"}


def test_the_format_changes_with_its_number_only(tmp_path):
    now = HERE / f"schema{MODEL.schema}"
    make_corpora(tmp_path / "corpora", tmp_path)
    corpus = diln.Corpus.open(tmp_path / "corpora" / "text")
    make_models(tmp_path / "models", corpus)
    make_checkpoints(tmp_path / "checkpoints", corpus)
    known = json.loads((now / "form.json").read_text(encoding="utf-8"))
    found = json.loads(json.dumps(form(tmp_path)))
    for part, what in known.items():
        assert found[part] == what, (
            "the format is another: give it the next number, or, if no version with this number was released, run "
            "tests/stored/make.py (docs/developing.md)"
        )
    for path in sorted(tmp_path.glob("*/*/manifest.json")):
        assert keys(path) == keys(now / path.relative_to(tmp_path)), path.parent.name


def keys(path: Path) -> set:
    """Where there is a value in a manifest, in words; numbers of places in lists left out."""

    def under(value, where):
        inner = value if isinstance(value, dict) else {}
        inner = inner.items() or [("[]", one) for one in (value if isinstance(value, list) else ())]
        return {where}.union(*(under(one, (*where, name)) for name, one in inner))

    return under(json.loads(path.read_text(encoding="utf-8")), ())


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
