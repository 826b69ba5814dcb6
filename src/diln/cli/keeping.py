"""What is kept beside a model: an index of its documents and, if they are nowhere else, the counted documents."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from diln.cli.console import ProgressLine
from diln.errors import StoreError
from diln.files import MANIFEST, remove
from diln.files.safe import told

if TYPE_CHECKING:
    from diln.analysis.index import Index
    from diln.corpus import Corpus
    from diln.engine.base import Engine
    from diln.files import Kind
    from diln.models.fitted import Fitted


def keep_corpus(corpus: "Corpus", model: Path) -> "Corpus":
    """The corpus, kept beside the model unless it is a directory already."""
    from diln.analysis.index import CORPUS_FOLDER

    if corpus.directory is None:
        _unlink(model / CORPUS_FOLDER)
        return corpus.save(model / CORPUS_FOLDER, overwrite=True)
    forget_corpus(corpus, model)
    return corpus


def forget_corpus(corpus: "Corpus", model: Path) -> None:
    """Remove documents that another model has left here, unless they are the ones that are used now."""
    from diln.analysis.index import CORPUS_FOLDER
    from diln.corpus.store import CORPUS

    if corpus.directory is None or corpus.directory.resolve() != (model / CORPUS_FOLDER).resolve():
        _remove(model / CORPUS_FOLDER, CORPUS)


def forget_index(model: Path) -> None:
    """Remove an index that another model has left here."""
    from diln.analysis.index import FOLDER
    from diln.analysis.index.store import KIND

    _remove(model / FOLDER, KIND)


def _unlink(directory: Path) -> None:
    """Remove a link that stands for a folder; what it leads to is somebody else's."""
    if directory.is_symlink():
        with told(directory):
            directory.unlink()


def _remove(directory: Path, kind: "Kind") -> None:
    """Remove what is in a folder, if it is of this kind; of a link to one, the link."""
    _unlink(directory)
    if (directory / MANIFEST).exists():
        with suppress(StoreError):  # what is somebody else's stays
            remove(directory, kind)


def keep_index(fitted: "Fitted", corpus: "Corpus", model: Path, engine: "Engine", quiet: bool) -> "Index":
    """Make an index of documents and keep it beside the model; what is known of them already is not made again."""
    from diln.analysis.index import FOLDER, Index

    known = known_index(fitted, model)
    with ProgressLine("indexing", quiet=quiet) as watch:
        if known is not None and known.begins(corpus):
            index = known.grown(fitted, corpus, watch=watch, engine=engine)
            index.corpus = corpus.directory
        else:
            index = Index.build(fitted, corpus, watch=watch, engine=engine)
    index.write(model / FOLDER)
    return index


def known_index(fitted: "Fitted", model: Path) -> "Index | None":
    """The index beside a model, if there is a sound one of this model."""
    from diln.analysis.index import index_of

    try:
        return index_of(model, fitted)
    except StoreError:
        return None
