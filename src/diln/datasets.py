"""A corpus without a download: the documentation of Python and of the packages that diln is built on.

The documentation strings are read from the source files; nothing of these packages is imported or run. A document is a
module's own documentation string, that of a top-level function, or that of a top-level class followed by those of its
methods and inner classes. Doctest examples and what they print are taken out, because names from toy code would be
among the most frequent terms; the rest, headings and parameter lists included, stays as it was written.

Left out are documents of fewer than 40 words (of three letters or more), tests, other projects' code inside a package,
and documents with the text of an earlier one. For the same versions of Python and of the packages the documents are the
same, in the order of their ids.
"""

import ast
import gc
import os
import re
import sysconfig
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from platform import python_version
from typing import Unpack

from diln.corpus.corpus import Corpus
from diln.corpus.documents import Document
from diln.corpus.in_memory import TextsSource
from diln.corpus.rules import TextOptions
from diln.corpus.sources import Block, Source

PYTHON = "python"
PACKAGES = {"joblib": "joblib", "numba": "numba", "numpy": "numpy", "scikit-learn": "sklearn", "scipy": "scipy"}
MIN_WORDS = 40

# Names of folders and modules that no document comes from: tests; what is not the standard library's, is generated, is
# gone in later versions of Python, or is missing from some installations; other projects' code inside a package.
LEFT_OUT = frozenset(
    """
    conftest test tests
    __pycache__ _distutils_system_mod dist-packages distutils ensurepip idlelib lib2to3 macholib pydoc_data
    site-packages sitecustomize tkinter turtle turtledemo
    _pep440 _uarray appdirs array_api_compat array_api_extra cloudpickle cobyqa decorator externals pyprima
    """.split()
)
LEFT_OUT_STARTS = ("config-", "test_")

_WORD = re.compile(r"[^\W\d_]{3,}")
_EXAMPLE = re.compile(r"^[ \t]*>>>.*(?:\n[ \t]*\S.*)*", re.MULTILINE)  # a prompt, and all lines up to an empty one
_GAP = re.compile(r"\n(?:[ \t]*\n)+")

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def load_docs(**options: Unpack[TextOptions]) -> Corpus:
    """The built-in documents as a corpus in memory.

    Parameters
    ----------
    **options
        What is a token, and which terms and documents are kept: ``TextRule`` says what they mean.
    """
    documents = read_docs()
    return Corpus.from_texts(
        [document.text for document in documents],
        ids=[document.id for document in documents],
        titles=[document.title for document in documents],
        labels=[document.label for document in documents],
        **options,
    )


def docs_source() -> Source:
    """The built-in documents as a source, for ``diln.corpus.build`` and ``append``."""
    return DocsSource()


class DocsSource(Source):
    """The documents of ``read_docs``; the files are read when the blocks are asked for."""

    name = "builtin:docs"

    def blocks(self) -> Iterator[Block]:
        """The documents in blocks, in the order of their ids."""
        documents = read_docs()
        fields = {name: [getattr(document, name) for document in documents] for name in ("id", "title", "label")}
        texts = TextsSource([document.text for document in documents], fields)
        self.total = texts.total
        for block in texts.blocks():
            self.position = texts.position
            yield block


BUILTIN: dict[str, Callable[[], Source]] = {"docs": docs_source}  # by the name that follows "builtin:"


def docs_versions() -> dict[str, str]:
    """For each label the version that its documents are read from."""
    return {label: python_version() if label == PYTHON else version(label) for label, _, _ in _trees()}


def read_docs() -> list[Document]:
    """All documents in the order of their ids.

    The title is the module, as in "scipy.stats._qmc", and the id the same or with a colon and a name after it, as in
    "scipy.stats._qmc:Sobol". The label is the package, or "python" for the standard library.
    """
    with _no_garbage_collection():
        found = [document for label, root, name in _trees() for document in read_tree(root, name, label)]
    return _without_repeats(sorted(found, key=lambda document: document.id))


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Syntax trees are many objects without a cycle: looking for cycles takes almost as long as parsing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _trees() -> Iterator[tuple[str, Path, str]]:
    """Label, folder and dotted name of the standard library and of those packages that are installed."""
    yield PYTHON, Path(sysconfig.get_paths()["stdlib"]), ""
    for label, name in PACKAGES.items():
        spec = find_spec(name)  # of a top-level name: nothing is imported to find it
        for folder in () if spec is None else spec.submodule_search_locations or ():
            yield label, Path(folder), name


def read_tree(root: Path, name: str, label: str) -> Iterator[Document]:
    """The documents in a folder that is the package ``name`` or, with "", has modules and packages in it.

    A file that cannot be read or parsed is skipped.
    """
    for path in _source_files(root):
        tree = _parse(path)
        if tree is not None:
            parts = filter(None, (name, *path.relative_to(root).with_suffix("").parts))
            yield from _documents(tree, ".".join(parts).removesuffix(".__init__"), label)


def _source_files(root: Path) -> Iterator[Path]:
    for folder, inner, files in os.walk(root):
        inner[:] = filter(_wanted, inner)
        yield from (Path(folder, name) for name in files if name.endswith(".py") and _wanted(name.removesuffix(".py")))


def _wanted(name: str) -> bool:
    return name not in LEFT_OUT and not name.startswith(LEFT_OUT_STARTS)


def _parse(path: Path) -> ast.Module | None:
    """The syntax tree of a file; None if that fails or the file, as a quick look shows, has no long string."""
    try:
        source = path.read_bytes()
        if b'"""' not in source and b"'''" not in source:
            return None
        with warnings.catch_warnings(action="ignore"):  # others' code may have escapes that Python warns of
            return ast.parse(source)
    except (OSError, SyntaxError, ValueError):  # ValueError: null bytes, in Python 3.11
        return None


def _documents(tree: ast.Module, module: str, label: str) -> Iterator[Document]:
    """The documents of a module that are long enough; of definitions with the same name, the first."""
    texts = {module: _prose([ast.get_docstring(tree)])}
    for node in tree.body:
        if isinstance(node, Definition):
            texts.setdefault(f"{module}:{node.name}", _prose(_docstrings(node)))
    for key, text in texts.items():
        if len(_WORD.findall(text)) >= MIN_WORDS:
            yield Document(id=key, title=module, label=label, text=text)


def _docstrings(node: Definition) -> Iterator[str | None]:
    """The documentation string of a function or class and, for a class, of what is defined in it."""
    yield ast.get_docstring(node)
    for inner in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(inner, Definition):
            yield from _docstrings(inner)


def _prose(docstrings: Iterable[str | None]) -> str:
    """Documentation strings one after the other, without doctest examples and the gaps these leave."""
    text = "\n\n".join(_EXAMPLE.sub("", docstring) for docstring in docstrings if docstring)
    return _GAP.sub("\n\n", text).strip()


def _without_repeats(documents: Iterable[Document]) -> list[Document]:
    first: dict[str, Document] = {}
    for document in documents:
        first.setdefault(document.text, document)
    return list(first.values())
