"""The page on files is enough to read a model by, and says all that is declared."""

import ast
import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest
from make import HERE

import diln
from diln import fields
from diln.analysis.index import layout as index_layout
from diln.corpus import layout as corpus_layout
from diln.corpus.watch import Tally
from diln.files import frame as files
from diln.models import frame, layout
from diln.models.files import MODEL

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "files.md").read_text(encoding="utf-8")
(READER,) = re.findall(r"^```py\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
MODELS = sorted((HERE / f"schema{MODEL.schema}" / "models").iterdir())


@pytest.fixture(scope="module")
def tables():
    spec = importlib.util.spec_from_file_location("formats", DOCS / "formats.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_reader_of_the_page_is_short_and_uses_nothing_of_ours():
    assert len([line for line in READER.splitlines() if line]) <= 32
    named = {
        name
        for node in ast.walk(ast.parse(READER))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names])
    }
    assert named == {"json", "struct", "hashlib", "numpy"}


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name)
def test_the_reader_of_the_page_reads_the_topics_of_a_model(path):
    known = {}
    exec(READER, known)
    terms, topics = known["read_topics"](path)
    model = diln.load(path)
    assert terms == list(model.fitted_.vocabulary)
    np.testing.assert_allclose(topics, model.topic_word_, rtol=1e-12)
    for found, expected in zip(topics, model.topic_word_, strict=True):
        assert [terms[i] for i in np.argsort(-found)[:5]] == [terms[i] for i in np.argsort(-expected)[:5]]


def test_the_tables_of_the_page_are_what_is_declared(tables):
    assert tables.filled(PAGE) == PAGE, "run: python docs/formats.py"
    shown = re.findall(r"<!-- table: ([a-z ]+) -->", PAGE)
    assert sorted(shown) == sorted([*tables.RECORDS, *tables.TENSORS, "parameters", "columns"])


def test_every_declared_record_is_on_the_page(tables):
    declared = [
        record
        for module in (layout, frame, corpus_layout, index_layout, files)
        for record in vars(module).values()
        if isinstance(record, tuple) and record and isinstance(record[0], fields.Field | fields.Tensor)
    ]
    shown = [*tables.RECORDS.values(), *tables.TENSORS.values(), layout.EVERY_TENSOR]
    assert all(record in shown for record in declared)
    inner = [one.of for record in tables.RECORDS.values() for one in record if one.of]
    assert all(record in shown for record in inner)


def test_declared_fields_are_those_of_the_records_that_are_stored():
    names = {
        layout.PROGRESS: diln.inference.progress.Progress,
        corpus_layout.TALLY: Tally,
    }
    for record, kept in names.items():
        assert {one.name for one in record} == set(kept.__dataclass_fields__)
