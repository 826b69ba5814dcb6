"""From a model's directory to all that an atlas is made of."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from diln.analysis.edit_files import read_edits
from diln.analysis.edits import Edits
from diln.analysis.index import CORPUS_FOLDER, FOLDER, Index
from diln.analysis.training import trained_on
from diln.corpus import Corpus
from diln.errors import StoreError
from diln.models.fitted import Fitted

if TYPE_CHECKING:
    from diln.corpus.watch import Watch


MANY = 20  # documents of which a model should know one


class Opened(NamedTuple):
    """A model with its edits and, where they are known, its documents."""

    fitted: Fitted
    edits: Edits
    corpus: Corpus | None
    documents: Index | None  # what the model says of the corpus


def opened(
    directory: Path, corpus: str | Path | Corpus | None, n_jobs: int, watch: "Watch | None", *, keep: bool = True
) -> Opened:
    """What is in a model's directory.

    An index is made if there is none of these documents. It is kept there, unless nothing is to be, if they are the
    model's own, and does not take the place of one of other documents.
    """
    fitted = Fitted.load(directory, n_jobs)
    edits, index = read_edits(directory, fitted), _stored_index(directory, fitted)
    documents = _documents(directory, corpus, index)
    if documents is not None and (index is None or not index.matches(documents)):
        known = corpus is None and index is None  # MODEL/corpus, and nothing that says it is of other documents
        own = known or _are_its_own(fitted, documents)
        keep = keep and own and (corpus is None or index is None)
        index = Index.build(fitted, documents, n_jobs, watch)
        if keep:
            with suppress(StoreError):  # of a directory that cannot be written to: then it is in memory
                index.write(directory / FOLDER)
    elif documents is not None and index is not None and not index.describes(documents):
        index = index.grown(fitted, documents)
        if keep:
            with suppress(StoreError):
                index.write(directory / FOLDER)
    return Opened(fitted, edits, documents, index)


def _are_its_own(fitted: Fitted, corpus: Corpus) -> bool:
    """Whether a model was trained on most of these documents; raises ValueError if it was on none of many."""
    known = trained_on(fitted, corpus)
    if known is None or known.share is None:
        return False
    if not known.n_found and known.n_compared >= MANY:
        raise ValueError(
            f"the model was trained on none of these {known.n_docs:,} documents; give the corpus that it was fitted to"
        )
    return known.share > 0.5


def _stored_index(directory: Path, fitted: Fitted) -> Index | None:
    """The index in a model's directory, if there is one of this model."""
    if not (directory / FOLDER).exists():
        return None
    index = Index.open(directory / FOLDER)
    return index if index.is_of(fitted) else None


def _documents(directory: Path, given: str | Path | Corpus | None, index: Index | None) -> Corpus | None:
    """The documents that were given, or those that are found: where the index says, or in the model's directory."""
    if isinstance(given, Corpus):
        return given
    if given is not None:
        return Corpus.open(given)
    place = _place(directory, index)
    return None if place is None else Corpus.open(place)


def corpus_place(directory: Path, fitted: Fitted) -> Path | None:
    """Where the documents are that the model in a directory was fitted to, if that is known."""
    return _place(directory, _stored_index(directory, fitted))


def _place(directory: Path, index: Index | None) -> Path | None:
    place = (None if index is None else index.corpus) or directory / CORPUS_FOLDER
    return place if place.is_dir() else None
