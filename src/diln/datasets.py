"""A corpus to start with, without a download: the documentation of Python and of the packages that diln needs.

The documentation strings are read from the source files; nothing of these packages is imported or run. A module, a
top-level function and a top-level class are a document each: a function with its own documentation string, a class with
its own and, in the order of the source, those of its methods and inner classes. Doctest examples are taken out with
what they print: without them the text is prose, and names from toy code are not among the most frequent terms.
Documents of fewer than 40 words are left out, as are tests, copies of other projects, and all but the first, by id, of
documents with the same text. For the same versions of Python and the packages the documents are the same, in the order
of their ids.
"""

import ast
import os
import re
import sysconfig
import warnings
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from platform import python_version
from typing import Unpack

from diln.corpus.corpus import Corpus
from diln.corpus.documents import Document
from diln.corpus.python import TextsSource
from diln.corpus.rules import TextOptions
from diln.corpus.sources import Block, Source

PACKAGES = {"joblib": "joblib", "numba": "numba", "numpy": "numpy", "scikit-learn": "sklearn", "scipy": "scipy"}
PYTHON = "python"
MIN_WORDS = 40

# Folders and modules that no document comes from: tests, parts of the standard library that are gone in later versions
# or often packaged apart, and other projects' code inside a package.
LEFT_OUT = frozenset(
    """
    __pycache__ conftest test tests
    dist-packages distutils ensurepip idlelib lib2to3 pydoc_data site-packages tkinter turtle turtledemo
    _uarray appdirs array_api_compat array_api_extra cloudpickle cobyqa externals pyprima
    """.split()
)
_LEFT_OUT_STARTS = ("config-", "test_")

_WORD = re.compile(r"[^\W\d_]{3,}")
_EXAMPLE = re.compile(r"^[ \t]*>>>.*(?:\n[ \t]*\S.*)*", re.MULTILINE)  # a prompt, and all up to an empty line
_GAP = re.compile(r"\n\s*\n")

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def read_docs() -> list[Document]:
    """All documents, in the order of their ids: title is the module's name, label the package's ("python" for the
    standard library).
    """
    found = [document for label, root, name in _trees() for document in read_tree(root, name, label)]
    return without_repeats(sorted(found, key=lambda document: document.id))


def docs_versions() -> dict[str, str]:
    """What the documents are read from: the version for each label."""
    return {label: python_version() if label == PYTHON else version(label) for label, _, _ in _trees()}


def _trees() -> Iterator[tuple[str, Path, str]]:
    """Label, folder and dotted name of everything that is documented here and installed."""
    yield PYTHON, Path(sysconfig.get_paths()["stdlib"]), ""
    for label, name in PACKAGES.items():
        spec = find_spec(name)  # imports nothing, the name being a top-level one
        for folder in (spec and spec.submodule_search_locations) or ():
            yield label, Path(folder), name


def read_tree(root: Path, name: str, label: str) -> Iterator[Document]:
    """The documents in a folder that is the package ``name``, or with "" holds modules and packages.

    Files that are not valid Python are skipped.
    """
    for path in _source_files(root):
        module = ".".join([*name.split(), *path.relative_to(root).with_suffix("").parts]).removesuffix(".__init__")
        tree = _parse(path)
        if tree is not None:
            yield from _documents(tree, module, label)


def _source_files(root: Path) -> Iterator[Path]:
    for folder, inner, files in os.walk(root):
        inner[:] = filter(_wanted, inner)
        yield from (Path(folder, name) for name in files if name.endswith(".py") and _wanted(name.removesuffix(".py")))


def _wanted(name: str) -> bool:
    return name not in LEFT_OUT and not name.startswith(_LEFT_OUT_STARTS)


def _parse(path: Path) -> ast.Module | None:
    """The syntax tree, or None for a file without long strings (which are quick to look for) or with broken syntax."""
    source = path.read_bytes()
    if b'"""' not in source and b"'''" not in source:
        return None
    with warnings.catch_warnings(action="ignore"):  # such as those of unknown escapes in strings
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError):  # ValueError: null bytes, before Python 3.12
            return None


def _documents(tree: ast.Module, module: str, label: str) -> Iterator[Document]:
    """The documents of a module that are long enough."""
    texts = {module: _prose([ast.get_docstring(tree)])}
    for node in tree.body:
        if isinstance(node, Definition):
            texts.setdefault(f"{module}:{node.name}", _prose(_docstrings(node)))
    for key, text in texts.items():
        if len(_WORD.findall(text)) >= MIN_WORDS:
            yield Document(id=key, title=module, label=label, text=text)


def _docstrings(node: Definition) -> Iterator[str | None]:
    """The documentation string of a function; of a class, its own and then those of what it defines."""
    yield ast.get_docstring(node)
    for inner in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(inner, Definition):
            yield from _docstrings(inner)


def _prose(docstrings: Iterable[str | None]) -> str:
    """Documentation strings one after the other, without doctest examples."""
    text = "\n\n".join(_EXAMPLE.sub("", docstring) for docstring in docstrings if docstring)
    return _GAP.sub("\n\n", text).strip()


def without_repeats(documents: Iterable[Document]) -> list[Document]:
    """The documents whose text no earlier one has."""
    first: dict[str, Document] = {}
    for document in documents:
        first.setdefault(document.text, document)
    return list(first.values())


class DocsSource(Source):
    """The documents of ``read_docs``; files are read when the blocks are asked for."""

    name = "builtin:docs"

    def blocks(self) -> Iterator[Block]:
        """The documents, in the order of their ids."""
        documents = read_docs()
        self.total = self.position = len(documents)
        fields = {name: [getattr(document, name) for document in documents] for name in ("id", "title", "label")}
        yield from TextsSource([document.text for document in documents], fields).blocks()


def docs_source() -> Source:
    """The built-in documents as a source, for ``diln.corpus.build`` and ``append``."""
    return DocsSource()


def load_docs(**options: Unpack[TextOptions]) -> Corpus:
    """The built-in documents as a corpus in memory; ``TextRule`` says what the options mean."""
    documents = read_docs()
    return Corpus.from_texts(
        [document.text for document in documents],
        ids=[document.id for document in documents],
        titles=[document.title for document in documents],
        labels=[document.label for document in documents],
        **options,
    )


BUILTIN = {"docs": docs_source}
