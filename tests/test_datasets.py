import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from diln import datasets
from diln.corpus import Corpus, Document, build
from diln.datasets import BUILTIN, docs_source, docs_versions, load_docs, read_docs, read_tree

LABELS = {"python", "joblib", "numba", "numpy", "scikit-learn", "scipy"}
LONG = " ".join(["This sentence has exactly ten words that are quite long."] * 4)


@pytest.fixture(scope="module")
def docs() -> list[Document]:
    return read_docs()


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], None]:
    def write(name: str, source: str | bytes) -> None:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source if isinstance(source, bytes) else source.encode())

    return write


def ids_and_texts(documents: Sequence[Document]) -> list[tuple[str, str]]:
    return sorted((document.id, document.text) for document in documents)


def test_docs_are_thousands_of_documents_with_module_and_package(docs: list[Document]) -> None:
    assert 3_000 <= len(docs) <= 8_000
    assert {document.label for document in docs} == LABELS
    for document in docs:
        assert document.id.partition(":")[0] == document.title != ""
        assert document.text.strip() == document.text != ""


def test_docs_have_unique_ids_in_order_and_no_text_twice(docs: list[Document]) -> None:
    ids = [document.id for document in docs]
    assert ids == sorted(set(ids))
    assert len({document.text for document in docs}) == len(docs)


def test_docs_of_a_package_are_named_after_it(docs: list[Document]) -> None:
    roots = {**datasets.PACKAGES, "python": None}
    for document in docs:
        root = document.title.split(".")[0]
        assert roots[document.label] == root or (document.label == "python" and root not in roots.values())


def test_docs_have_no_document_of_tests_or_other_projects(docs: list[Document]) -> None:
    parts = {part for document in docs for part in document.title.split(".")}
    assert parts.isdisjoint(datasets.LEFT_OUT)
    assert not any(part.startswith("test_") for part in parts)


def test_docs_have_no_doctest_example(docs: list[Document]) -> None:
    starts = {line.lstrip()[:4] for document in docs for line in document.text.splitlines()}
    assert ">>> " not in starts


def test_docs_have_no_gap_of_several_empty_lines(docs: list[Document]) -> None:
    assert not any("\n\n\n" in document.text for document in docs)


def test_docs_are_the_same_in_another_process_and_nothing_is_imported(docs: list[Document]) -> None:
    code = """
import sys
from hashlib import sha256
from diln.datasets import PACKAGES, read_docs

before = set(sys.modules)
documents = read_docs()
roots = {module.partition(".")[0] for module in set(sys.modules) - before}
assert not roots & set(PACKAGES.values()), roots
assert not set(sys.modules) & {"scipy.stats", "sklearn.linear_model", "tkinter", "antigravity", "this", "turtle"}
print(sha256(repr(documents).encode(errors="surrogatepass")).hexdigest())
"""
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == hashlib.sha256(repr(docs).encode(errors="surrogatepass")).hexdigest()


def test_versions_are_known_for_every_label() -> None:
    versions = docs_versions()
    assert set(versions) == LABELS
    assert versions["python"].startswith(f"{sys.version_info.major}.{sys.version_info.minor}.")


def test_modules_functions_and_classes_are_documents(write: Callable[..., None], tmp_path: Path) -> None:
    write("__init__.py", f'"""Package. {LONG}"""')
    write(
        "_inner/deep.py",
        f'''
def function():
    """Function. {LONG}"""
    def within():
        """Function within. {LONG}"""

async def _private():
    """Coroutine.

        {LONG}
    """

class Class:
    """Class."""

    attribute = """No documentation. {LONG}"""

    def method(self):
        """Method. {LONG}"""

    class Inner:
        def _private(self):
            """Inner method."""
''',
    )
    assert ids_and_texts(list(read_tree(tmp_path, "pack", "label"))) == [
        ("pack", f"Package. {LONG}"),
        ("pack._inner.deep:Class", f"Class.\n\nMethod. {LONG}\n\nInner method."),
        ("pack._inner.deep:_private", f"Coroutine.\n\n{LONG}"),
        ("pack._inner.deep:function", f"Function. {LONG}"),
    ]


def test_modules_of_a_folder_without_a_name_are_named_by_their_paths(
    write: Callable[..., None], tmp_path: Path
) -> None:
    write("alone.py", f'"""{LONG}"""')
    write("pack/__init__.py", f"'''{LONG}'''")
    documents = sorted(read_tree(tmp_path, "", "python"), key=lambda document: document.id)
    assert [(document.id, document.title, document.label) for document in documents] == [
        ("alone", "alone", "python"),
        ("pack", "pack", "python"),
    ]


def test_documents_of_fewer_than_forty_words_are_left_out(write: Callable[..., None], tmp_path: Path) -> None:
    words = " ".join(["word"] * 39)
    write("thirty_nine.py", f'"""{words} 1 2 3 of it"""')
    write("forty.py", f'"""{words} more"""')
    assert [document.id for document in read_tree(tmp_path, "", "python")] == ["forty"]


@pytest.mark.parametrize(
    "name",
    [
        "test/a.py",
        "sub/tests/a.py",
        "conftest.py",
        "test_a.py",
        "externals/a.py",
        "site-packages/a.py",
        "config-3/a.py",
    ],
)
def test_tests_and_other_projects_are_left_out(name: str, write: Callable[..., None], tmp_path: Path) -> None:
    write(name, f'"""{LONG}"""')
    write("tested.py", f'"""{LONG}"""')
    assert [document.id for document in read_tree(tmp_path, "", "python")] == ["tested"]


@pytest.mark.parametrize(
    "source",
    [
        f'"""{LONG}"""\ndef (',
        f'"""{LONG}\xff"""'.encode("latin-1"),
        f'# coding: no-such-encoding\n"""{LONG}"""',
        f'"""{LONG}"""\0',
    ],
    ids=["broken syntax", "not UTF-8", "unknown encoding", "null byte"],
)
def test_files_that_cannot_be_parsed_are_skipped(
    source: str | bytes, write: Callable[..., None], tmp_path: Path
) -> None:
    write("broken.py", source)
    write("sound.py", f'"""{LONG}"""')
    assert [document.id for document in read_tree(tmp_path, "", "python")] == ["sound"]


def test_files_in_declared_encodings_are_read(write: Callable[..., None], tmp_path: Path) -> None:
    write("latin.py", f'# coding: latin-1\n"""Caf\xe9. {LONG}"""'.encode("latin-1"))
    (document,) = read_tree(tmp_path, "", "python")
    assert document.text.startswith("Café.")


def test_warnings_about_the_code_of_others_are_not_shown(write: Callable[..., None], tmp_path: Path) -> None:
    write("escape.py", f'"""A wrong \\d escape. {LONG}"""\nassert (1, "always true")')
    assert len(list(read_tree(tmp_path, "", "python"))) == 1


def test_files_that_cannot_be_opened_are_skipped(tmp_path: Path) -> None:
    (tmp_path / "dangling.py").symlink_to(tmp_path / "nowhere.py")
    assert list(read_tree(tmp_path, "", "python")) == []


def test_examples_are_taken_out_with_what_they_print(write: Callable[..., None], tmp_path: Path) -> None:
    source = f'''"""
Before. {LONG}

    Indented.

    >>> for number in range(2):
    ...     print(number)
    0
    1

>>> last

After: 1 >>> 2 is a shift.
"""'''
    write("module.py", source)
    (document,) = read_tree(tmp_path, "", "python")
    assert document.text == f"Before. {LONG}\n\n    Indented.\n\nAfter: 1 >>> 2 is a shift."


def test_of_definitions_with_one_name_the_first_is_kept(write: Callable[..., None], tmp_path: Path) -> None:
    write("twice.py", f'def f():\n    """One. {LONG}"""\ndef f():\n    """Two. {LONG}"""\n')
    assert [document.text[:4] for document in read_tree(tmp_path, "", "python")] == ["One."]


def test_of_documents_with_one_text_the_first_is_kept(
    write: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("copy/b.py", f'"""{LONG}"""')
    write("copy/a.py", f'"""{LONG}"""')
    monkeypatch.setattr(datasets, "_trees", lambda: [("python", tmp_path, "")])
    assert [document.id for document in read_docs()] == ["copy.a"]


def test_load_docs_gives_a_corpus_of_all_documents(docs: list[Document], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "read_docs", lambda: docs)
    corpus = load_docs()
    assert list(corpus.documents) == docs
    assert {"distribution", "matrix", "polynomial", "regression", "thread"} <= set(corpus.vocabulary)
    assert set(corpus.vocabulary).isdisjoint({"the", "and", "which"})
    assert corpus.doc_lengths.min() > 0


def test_load_docs_passes_its_options_on(docs: list[Document], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "read_docs", lambda: docs[:500])
    assert load_docs(max_terms=100, keep_text=False).n_terms == 100


def test_docs_can_be_built_on_disk_as_they_are_in_memory(
    docs: list[Document], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets, "read_docs", lambda: docs[::5])
    source = docs_source()
    stored, loaded = build(source, tmp_path / "corpus"), load_docs()
    assert isinstance(stored, Corpus)
    assert source.position == source.total == len(docs[::5])
    assert stored.vocabulary == loaded.vocabulary
    assert np.array_equal(stored.counts.toarray(), loaded.counts.toarray())
    assert list(stored.documents) == list(loaded.documents)


def test_builtin_sources_are_known_by_name() -> None:
    assert {name: make().name for name, make in BUILTIN.items()} == {"docs": "builtin:docs"}
