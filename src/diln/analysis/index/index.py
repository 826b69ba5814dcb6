"""The training documents of a model as it sees them: in memory, or mapped from the folder beside the model."""

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.analysis.index.build import UNKNOWN, arrays_of, described
from diln.analysis.index.digests import digest_of_corpus, digest_of_model
from diln.analysis.index.follow import followed_arrays
from diln.analysis.index.grow import grown_arrays
from diln.analysis.index.layout import WHOLE
from diln.analysis.index.search import Query, Searcher
from diln.analysis.index.store import AGAIN, Arrays, read_index, write_index
from diln.analysis.index.words import WordSpace, places
from diln.analysis.inputs import Model, fitted_of, running
from diln.corpus import Corpus
from diln.corpus.corpus import as_index
from diln.corpus.sound import sound_rows
from diln.corpus.strings import Strings, spread
from diln.engine.base import Engine
from diln.engine.threads import Threads
from diln.errors import StoreError, brief, check_kind
from diln.models.checks import check_whole
from diln.models.counts import as_rows
from diln.models.fitted import Fitted, check_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diln.corpus.watch import Watch

FOLDER = "documents"  # in a model's directory
TINY = 1e-12
CORPUS_FOLDER = "corpus"  # in a model's directory, where it is kept


class Index:
    """What a model says of the documents of a corpus, kept so that nothing has to be inferred again.

    Make one with ``build`` or ``open``. Rows are those of the corpus.

    Attributes
    ----------
    n_docs, n_topics : int
        Numbers of documents and of the model's topics, used or not.
    model : str
        A digest of the model it was made with; see ``is_of``.
    digest : str
        A digest of the corpus it was made of; see ``matches``.
    corpus : Path or None
        Where that corpus is, if it is on disk and found.
    """

    def __init__(self, numbers: dict[str, Any], arrays: Arrays, corpus: Path | None = None) -> None:
        self._numbers, self._arrays, self.corpus = numbers, arrays, corpus
        self.n_docs, self.n_topics = int(numbers["documents"]), int(numbers["topics"])
        self.model, self.digest = str(numbers["model"]), str(numbers["corpus"]["digest"])

    def __len__(self) -> int:
        return self.n_docs

    def __repr__(self) -> str:
        return f"<Index of {self.n_docs:,} documents, {self.n_topics:,} topics>"

    @classmethod
    def build(
        cls,
        model: Model,
        corpus: Corpus,
        n_jobs: int = 1,
        watch: "Watch | None" = None,
        engine: Engine | None = None,
    ) -> "Index":
        """Infer all documents of a corpus.

        Parameters
        ----------
        model : DILN, HDP, LDA or CTM
            A fitted estimator, or a model read by ``diln.load``.
        corpus : Corpus
            Documents; tokens of terms that the model does not know are left out.
        n_jobs : int
            Number of threads; -1 uses all cores. The result is the same for any number.
        watch : Watch, optional
            Is notified of progress.
        engine : Dask, optional
            Where to infer documents, if not on threads. Default: where the model's fits run.
        """
        check_kind("corpus", corpus, Corpus)
        if not len(corpus):
            raise ValueError("the corpus has no documents; give at least one")
        fitted = fitted_of(model)
        with running(model, n_jobs, engine) as where:
            return cls._made(fitted, corpus, arrays_of(fitted, corpus, where, watch))

    @classmethod
    def _made(cls, fitted: Fitted, corpus: Corpus, arrays: Arrays) -> "Index":
        numbers = {
            "model": digest_of_model(fitted),
            "documents": len(corpus),
            "topics": fitted.posterior.n_topics,
            "dims": arrays["locations"].shape[1] if "locations" in arrays else 0,
            "terms": len(fitted.vocabulary),
            "entries": len(arrays["topics"]),
            "word_dims": arrays["words"].shape[1],
            "labels": len(arrays["label_offsets"]) - 1,
            "corpus": {"relative": None, "absolute": None, "digest": digest_of_corpus(corpus)},
        }
        return cls(numbers, arrays, None if corpus.directory is None else Path(corpus.directory))

    def grown(
        self,
        model: Model,
        corpus: Corpus,
        n_jobs: int = 1,
        watch: "Watch | None" = None,
        engine: Engine | None = None,
    ) -> "Index":
        """The index of a corpus to which documents were added: only these are inferred. Dates and labels are read anew.

        Parameters
        ----------
        model : DILN, HDP, LDA or CTM
            The model that this index was made with.
        corpus : Corpus
            The documents that this index was made of, and others after them.
        n_jobs, watch, engine
            See ``build``.
        """
        check_kind("corpus", corpus, Corpus)
        if not self.is_of(model):
            raise ValueError("the index was made with another model; make a new one with Index.build")
        if not self.begins(corpus):
            raise ValueError("the corpus does not begin with the documents of the index; make one with Index.build")
        fitted = fitted_of(model)
        if len(corpus) == self.n_docs:
            if self.describes(corpus):
                return self
            return self._made(fitted, corpus, {**self._arrays, **described(corpus)})
        with running(model, n_jobs, engine) as where:
            return self._made(fitted, corpus, grown_arrays(fitted, corpus, self._arrays, where, watch))

    def followed(
        self,
        model: Model,
        corpus: Corpus,
        n_jobs: int = 1,
        watch: "Watch | None" = None,
        engine: Engine | None = None,
    ) -> "Index":
        """The index of a model that was updated since with documents that come after those of this index.

        What an earlier state of the model said of the old documents stays; ``build`` infers all of them anew.

        Parameters
        ----------
        model : DILN, HDP, LDA or CTM
            The model that this index was made with, updated since: with all its terms and topics, and maybe others.
        corpus : Corpus
            The documents that this index was made of, and others after them.
        n_jobs, watch, engine
            See ``build``.
        """
        check_kind("corpus", corpus, Corpus)
        fitted, n_docs = fitted_of(model), self.n_docs
        if fitted.posterior.n_topics < self.n_topics or len(fitted.vocabulary) < int(self._numbers["terms"]):
            raise ValueError("the index was made with another model; make a new one with Index.build")
        same = len(corpus) == n_docs and self.matches(corpus)
        if not same and not np.array_equal(self.tokens, corpus.doc_lengths[:n_docs]):
            raise ValueError("the corpus does not begin with the documents of the index; make one with Index.build")
        with running(model, n_jobs, engine) as where:
            return self._made(fitted, corpus, followed_arrays(fitted, corpus, self._arrays, where, watch))

    def begins(self, corpus: Corpus) -> bool:
        """Whether a corpus begins with the documents of this index."""
        check_kind("corpus", corpus, Corpus)
        return len(corpus) >= self.n_docs and self.digest == digest_of_corpus(corpus, self.n_docs)

    def write(self, directory: str | Path) -> None:
        """Write it to a folder, in place of the index that is there.

        Parameters
        ----------
        directory : path
            MODEL/documents, or another folder that is new, empty or has an index.
        """
        directory = Path(directory)
        where = {"relative": None, "absolute": None, "digest": self.digest}
        if self.corpus is not None:
            absolute = self.corpus.resolve()
            where |= {"absolute": str(absolute), "relative": _relative(absolute, directory.resolve().parent)}
        write_index(directory, {**self._numbers, "corpus": where}, self._arrays)

    @classmethod
    def open(cls, directory: str | Path) -> "Index":
        """Open an index on disk; its arrays are mapped, and checked when they are first used.

        Parameters
        ----------
        directory : path
            MODEL/documents, as ``write``, ``diln fit`` or ``diln index`` wrote it.
        """
        directory = Path(directory)
        numbers, arrays = read_index(directory)
        return cls(numbers, arrays, _found(numbers["corpus"], directory.resolve().parent))

    def is_of(self, model: Model) -> bool:
        """Whether it was made with this model, as it is now."""
        return self.model == digest_of_model(fitted_of(model))

    def matches(self, corpus: Corpus) -> bool:
        """Whether it was made of these documents: the same terms and, row by row, as many tokens."""
        check_kind("corpus", corpus, Corpus)
        return len(corpus) == self.n_docs and self.digest == digest_of_corpus(corpus)

    def describes(self, corpus: Corpus) -> bool:
        """Whether all documents of a corpus that it matches have the dates and labels that it tells, still."""
        return all(np.array_equal(array, self._arrays[name]) for name, array in described(corpus).items())

    @property
    def tokens(self) -> NDArray[np.uint32]:
        """Number of tokens of each document (n_docs,) of terms that the model knows."""
        return self._arrays["tokens"]

    @property
    def locations(self) -> NDArray[np.float32] | None:
        """Location of each document (n_docs, n_dims), of a model that has them."""
        return self._arrays.get("locations")

    @property
    def word_places(self) -> NDArray[np.int8]:
        """Where each document lies by its words (n_docs, n_dims), in directions of latent semantic indexing."""
        return self._arrays["words"]

    @property
    def timestamps(self) -> NDArray[np.datetime64] | None:
        """Date of each document as datetime64 in seconds, NaT for none; None if no document has one."""
        times = self._arrays["times"].view("datetime64[s]")
        return None if np.isnat(times).all() else times

    @cached_property
    def label_names(self) -> tuple[str, ...]:
        """The labels that documents have, in the order in which they come up."""
        return tuple(Strings(self._arrays["label_bytes"], self._arrays["label_offsets"]))

    @property
    def label_codes(self) -> NDArray[np.int32]:
        """For each document the place of its label in ``label_names``; -1 for none (n_docs,)."""
        return self._arrays["label_codes"]

    @property
    def coherence(self) -> NDArray[np.float32]:
        """NPMI of each topic's ten most probable words in these documents; NaN if it is not in use (n_topics,)."""
        known = self._arrays["coherence"]
        return np.where(known == UNKNOWN, np.float32(np.nan), known)

    def proportions(self, rows: "Sequence[int] | NDArray[Any]") -> NDArray[np.float32]:
        """Proportions of topics (n_rows, n_topics) of some documents, by row or mask; rows sum to 1.

        Shares of at least 0.002 are those of ``transform``. What the others add up to is spread over the other topics
        as it is in all documents together. Those of a document without a known token are all 0.
        """
        chosen = np.arange(self.n_docs)[as_index(rows, self.n_docs)]
        offsets = self._arrays["offsets"]
        sizes = offsets[chosen + 1] - offsets[chosen]
        places, at = spread(offsets[chosen], sizes), np.repeat(np.arange(len(chosen)), sizes)
        topics, shares = self._arrays["topics"][places], self._arrays["shares"][places] / np.float32(WHOLE)
        others = self._arrays["rest"]
        dense = np.tile((others / max(others.sum(), TINY)).astype(np.float32), (len(chosen), 1))
        dense[at, topics] = 0
        left = np.maximum(1 - np.bincount(at, shares, len(chosen)), 0)
        dense *= (left / np.maximum(dense.sum(axis=1), TINY))[:, np.newaxis].astype(np.float32)
        dense[at, topics] = shares
        dense[self.tokens[chosen] == 0] = 0
        dense /= np.maximum(dense.sum(axis=1, keepdims=True), np.float32(TINY))
        return dense

    def rows_of_topic(self, topic: int) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
        """Documents with a share of a topic of at least 0.002, the largest first, and their shares of it."""
        if isinstance(topic, bool) or not isinstance(topic, int | np.integer) or not 0 <= topic < self.n_topics:
            raise ValueError(f"there is no topic {brief(topic)}; the model has 0 to {self.n_topics - 1}")
        first, last = self._arrays["topic_offsets"][topic : topic + 2]
        shares = self._arrays["topic_shares"][first:last].astype(np.float32) / np.float32(WHOLE)
        return self._arrays["topic_rows"][first:last], shares

    def topic_totals(self) -> NDArray[np.float64]:
        """Tokens of all documents in each topic (n_topics,)."""
        return self._arrays["totals"]

    @property
    def explained(self) -> NDArray[np.float32]:
        """By how many nats a token topics make a document more probable than the words' frequencies (n_docs,)."""
        return self._arrays["explained"]

    def query(self, row: int) -> Query:
        """A document of the index, to search for others like it."""
        whole = isinstance(row, int | np.integer) and not isinstance(row, bool)
        if not whole or not 0 <= row < self.n_docs:
            raise ValueError(f"there is no document {brief(row)}; there are 0 to {self.n_docs - 1:,}")
        if not self.tokens[row]:
            raise ValueError(f"document {row} has no word that the model knows, so nothing is known to be like it")
        location = np.zeros(0, np.float32) if self.locations is None else np.array(self.locations[row])
        words = self._arrays["words"][row].astype(np.float32)
        return Query(self.proportions([row])[0], location, words, int(row))

    def query_of(self, model: Model, counts: csr_array) -> Query:
        """A new document, to search for documents like it.

        Parameters
        ----------
        model : DILN, HDP, LDA or CTM
            The model that the index was made with.
        counts : sparse array (1, n_terms)
            Counts of the model's terms.
        """
        fitted, row = fitted_of(model), as_rows(sound_rows(counts, "counts"))
        check_terms(row, fitted.posterior)
        if row.shape[0] != 1:
            raise ValueError(f"counts of {row.shape[0]:,} documents were given; give those of one")
        if not row.nnz:
            raise ValueError("the text has no word that the model knows; give another, or more of it")
        with Threads(1) as engine:
            found = fitted.infer(row, engine)
        space = WordSpace(*(self._arrays[f"word_{name}"] for name in WordSpace._fields))
        location = np.asarray(found.locations[0] if self.locations is not None else np.zeros(0), np.float32)
        return Query(np.asarray(found.proportions[0], np.float32), location, places(row, space)[0].astype(np.float32))

    @cached_property
    def _searcher(self) -> Searcher:
        return Searcher.of(self._arrays, self.n_topics)

    def similar(self, query: Query, n: int = 10) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The documents most like a query.

        Parameters
        ----------
        query : Query
            The result of ``query`` or ``query_of``.
        n : int
            Maximum number of documents.

        Returns
        -------
        rows, similarities : arrays
            The most similar first, equally similar ones in the order of rows: 1 for the same, about 0 for documents
            that have nothing to do with each other. Neither documents without tokens nor the query itself are found.
        """
        check_kind("query", query, Query)
        check_whole("n", n, 1)
        return self._searcher.similar(query, n)


def _relative(path: Path, start: Path) -> str | None:
    try:
        return os.path.relpath(path, start)
    except ValueError:  # another drive
        return None


def _found(where: dict[str, Any], start: Path) -> Path | None:
    """The corpus' directory, where it is still there: first from the model's directory on."""
    places = [start / where["relative"]] if where["relative"] is not None else []
    places += [Path(where["absolute"])] if where["absolute"] is not None else []
    for place in places:
        try:
            if place.is_dir():
                return Path(os.path.normpath(place))
        except (OSError, ValueError):  # a name that no file can have
            continue
    return None


def index_of(directory: str | Path, model: Model) -> Index:
    """The index beside the model in a directory; raises StoreError if there is none, or it is another model's."""
    index = Index.open(Path(directory) / FOLDER)
    if not index.is_of(model):
        raise StoreError(f"{Path(directory) / FOLDER}: is the index of another model than the one beside it; {AGAIN}")
    return index
