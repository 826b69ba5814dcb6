"""The one class for documents: counts over a vocabulary, with what else is known of each document."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Self, SupportsIndex, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, sparray, spmatrix

from diln.corpus.assemble import assemble, term_table
from diln.corpus.dates import DateForm, Order
from diln.corpus.documents import Documents
from diln.corpus.in_memory import FrameSource, TextsSource, TokensSource
from diln.corpus.matrix import MatrixSource, bow_matrix
from diln.corpus.options import CorpusOptions, open_with, rule_of, stored_rule
from diln.corpus.readers.columns import ColumnOptions
from diln.corpus.rules import TextOptions, TextRule
from diln.corpus.shards import Rows, Shard, collect, gather, gather_all, narrow
from diln.corpus.sinks import MemorySink
from diln.corpus.sources import Source, as_texts
from diln.corpus.splits import Completion, completion_rows, generator, halves, test_rows
from diln.corpus.store import StoredShards, read_manifest, read_terms, write_corpus
from diln.corpus.strings import offsets_of
from diln.corpus.vocabulary import given_vocabulary
from diln.corpus.watch import Notes, Tally, Watch
from diln.errors import StoreError, brief, check_kind
from diln.files import MANIFEST
from diln.files.urls import mapped_place

SAVED_AT_ONCE = 16_384  # documents in a shard that ``save`` writes
COUNTED_AT_ONCE = 16_384
OPEN_AT_ONCE = 4  # corpora that this process has open for others, who say where documents are


class Corpus:
    """Documents as counts over a vocabulary, in memory or mapped from disk.

    Make one with ``from_texts``, ``from_tokens``, ``from_matrix``, ``from_bow``, ``from_frame``, ``read`` (a file or a
    folder) or ``open`` (a directory written before). Indexing with rows, a mask or a slice gives a corpus of these
    documents that shares the counts.

    Attributes
    ----------
    vocabulary : list of str
        The terms, in column order.
    tally : Tally or None
        What happened to documents and tokens while the corpus was built, if known.
    rule : dict or None
        How text was turned into counts (the options of ``TextRule``), if the documents were text; under "columns",
        which columns it was read from.
    dates : DateForm
        In which order day, month and year were in dates of numbers, if known.
    directory : Path or None
        Directory of the corpus, if it is on disk.
    """

    def __init__(
        self,
        shards: Sequence[Shard],
        sizes: Sequence[int],
        vocabulary: list[str],
        *,
        rows: Rows | None = None,
        tally: Tally | None = None,
        rule: dict[str, Any] | None = None,
        directory: Path | None = None,
        dates: DateForm | None = None,
    ) -> None:
        self._shards = shards
        self._sizes = list(sizes)
        self._starts = offsets_of(sizes)[:-1]
        self._chosen = rows  # None: all of them
        self._often = False
        self.vocabulary = vocabulary
        self.tally, self.rule, self.directory = tally, rule, directory
        self.dates = dates or DateForm()

    @classmethod
    def from_texts(
        cls,
        texts: Iterable[str],
        *,
        ids: Iterable[Any] | None = None,
        titles: Iterable[Any] | None = None,
        dates: Iterable[Any] | None = None,
        labels: Iterable[Any] | None = None,
        date_order: Order | None = None,
        vocabulary: str | Path | Iterable[str] | None = None,
        n_jobs: int = 1,
        **options: Unpack[TextOptions],
    ) -> Self:
        """Count documents given as strings.

        Parameters
        ----------
        texts : iterable of str
            One string per document; read once.
        ids : iterable, optional
            Unique ids of the documents. Default: their numbers.
        titles, dates, labels : iterable, optional
            One for each document.
        date_order : {"dmy", "mdy", "ymd"}, optional
            Order of day, month and year in dates such as 02/03/2017. Default: as the other dates tell.
        vocabulary : path or iterable of str, optional
            The only terms to count, in this order; none of them is dropped. In a file: one term per line.
        n_jobs : int
            Number of processes; -1 uses all cores. The result is the same for any number.
        **options
            What counts as a token, and which terms and documents to keep; see ``TextRule``.
        """
        fields = _fields(id=ids, title=titles, date=dates, label=labels)
        return cls._assemble(TextsSource(texts, fields).with_dates(date_order), rule_of(options), vocabulary, n_jobs)

    @classmethod
    def from_tokens(
        cls,
        documents: Iterable[Sequence[str]],
        *,
        ids: Iterable[Any] | None = None,
        titles: Iterable[Any] | None = None,
        dates: Iterable[Any] | None = None,
        labels: Iterable[Any] | None = None,
        date_order: Order | None = None,
        vocabulary: str | Path | Iterable[str] | None = None,
        **options: Unpack[TextOptions],
    ) -> Self:
        """Count documents given as lists of tokens. By default no token is dropped or changed.

        Parameters
        ----------
        documents : iterable of lists of str
            One list per document; read once.
        ids : iterable, optional
            Unique ids of the documents. Default: their numbers.
        titles, dates, labels : iterable, optional
            One for each document.
        date_order : {"dmy", "mdy", "ymd"}, optional
            Order of day, month and year in dates such as 02/03/2017. Default: as the other dates tell.
        vocabulary : path or iterable of str, optional
            The only terms to count, in this order; none of them is dropped. In a file: one term per line.
        **options
            Which terms and documents to keep; see ``TextRule``.
        """
        fields = _fields(id=ids, title=titles, date=dates, label=labels)
        options.setdefault("stop_words", None)
        options.setdefault("min_length", 1)
        options.setdefault("lowercase", False)
        return cls._assemble(TokensSource(documents, fields).with_dates(date_order), rule_of(options), vocabulary)

    @classmethod
    def from_matrix(
        cls,
        X: sparray | spmatrix | ArrayLike,
        vocabulary: Iterable[str],
        *,
        ids: Iterable[Any] | None = None,
        titles: Iterable[Any] | None = None,
        dates: Iterable[Any] | None = None,
        labels: Iterable[Any] | None = None,
        date_order: Order | None = None,
    ) -> Self:
        """Take counts as they are, with the terms of the columns.

        Parameters
        ----------
        X : counts (n_docs, n_terms), sparse or not
            Whole numbers from 0 on.
        vocabulary : iterable of str
            The terms of the columns, each once.
        ids : iterable, optional
            Unique ids of the documents. Default: their numbers.
        titles, dates, labels : iterable, optional
            One for each document.
        date_order : {"dmy", "mdy", "ymd"}, optional
            Order of day, month and year in dates such as 02/03/2017. Default: as the other dates tell.
        """
        given = _fields(id=ids, title=titles, date=dates, label=labels)
        fields = {name: as_texts(values) for name, values in given.items()}
        return cls._assemble(MatrixSource(X, vocabulary, fields).with_dates(date_order), TextRule(stop_words=None))

    @classmethod
    def from_bow(cls, bags: Iterable[Iterable[tuple[int, float]]], dictionary: Mapping[int, str] | Any) -> Self:
        """Take gensim's bags of words.

        Parameters
        ----------
        bags : iterable of lists of (int, int)
            For each document its terms' numbers and counts.
        dictionary : gensim.corpora.Dictionary or dict
            From numbers, 0 on without a gap, to terms.
        """
        return cls.from_matrix(*bow_matrix(bags, dictionary))

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        text: str | Sequence[str] | None = None,
        id: str | None = None,  # noqa: A002
        title: str | None = None,
        date: str | None = None,
        label: str | None = None,
        date_order: Order | None = None,
        vocabulary: str | Path | Iterable[str] | None = None,
        n_jobs: int = 1,
        **options: Unpack[TextOptions],
    ) -> Self:
        """Count the documents in the rows of a pandas or polars frame.

        Parameters
        ----------
        frame : DataFrame
            One document per row.
        text : str or list of str, optional
            The column with the text, or several columns to count together.
        id, title, date, label : str, optional
            Names of columns, or "none" if there is no such column. Columns that you do not name, including that of
            the text, are guessed from the usual names, and the guess is written to the standard error stream.
        date_order : {"dmy", "mdy", "ymd"}, optional
            Order of day, month and year in dates such as 02/03/2017. Default: as the other dates tell.
        vocabulary : path or iterable of str, optional
            The only terms to count, in this order; none of them is dropped. In a file: one term per line.
        n_jobs : int
            Number of processes; -1 uses all cores. The result is the same for any number.
        **options
            What counts as a token, and which terms and documents to keep; see ``TextRule``.
        """
        asked = ColumnOptions(text=text, id=id, title=title, date=date, label=label)
        return cls._assemble(FrameSource(frame, asked).with_dates(date_order), rule_of(options), vocabulary, n_jobs)

    @classmethod
    def read(
        cls, path: str | Path, *, n_jobs: int = 1, watch: Watch | None = None, **options: Unpack[CorpusOptions]
    ) -> Self:
        """Count the documents of a file or folder into memory; ``diln.corpus.build`` writes them to disk instead.

        Parameters
        ----------
        path : path or URL
            A folder of .txt files, or a .txt, .csv, .tsv, .jsonl, .json (each also .gz), .parquet, .xlsx, LDA-C, UCI
            or .npz file; "-" is the standard input (with ``format``). A string with ``://`` is a URL of such a file or
            folder (extra ``remote``); one with ``*`` stands for every file that fits, all of one format.
        n_jobs : int
            Number of processes; -1 uses all cores. The result is the same for any number.
        watch : Watch, optional
            Is notified of guesses and of progress. By default guesses are written to the standard error stream.
        **options
            How to read the file (see ``ReadOptions``) and how to turn text into counts (see ``TextRule``).
        """
        source, vocabulary, text = open_with(path, options, watch=watch)
        return cls._assemble(source, rule_of(text), vocabulary, n_jobs, watch)

    @classmethod
    def _assemble(
        cls,
        source: Source,
        rule: TextRule,
        vocabulary: str | Path | Iterable[str] | None = None,
        n_jobs: int = 1,
        watch: Watch | None = None,
    ) -> Self:
        table, within = term_table(source, rule, given_vocabulary(vocabulary))
        made = assemble(source, within, table, MemorySink(), n_jobs, watch or Notes())
        stored = stored_rule(rule, source)
        return cls(made.shards, made.sizes, made.vocabulary, tally=made.tally, rule=stored, dates=made.dates)

    @classmethod
    def open(cls, directory: str | Path, *, check: bool = False) -> Self:
        """Open a corpus on disk; its arrays are mapped, not read.

        Missing or truncated files are detected at once. Changed bits are detected when a file is first used, or at
        once with ``check``.

        Parameters
        ----------
        directory : path
            A directory written by ``save``, ``diln.corpus.build`` or ``diln corpus build``.
        check : bool
            Whether to read all files now and compare them with their checksums.
        """
        directory = mapped_place(directory)
        manifest = read_manifest(directory)
        shards = StoredShards(directory, manifest)
        if check:
            shards.check()
        sizes = [shard["documents"] for shard in manifest.shards]
        return cls(
            shards,
            sizes,
            read_terms(directory, manifest),
            tally=Tally(**manifest.content["tally"]),
            rule=manifest.content["rule"],
            directory=directory,
            dates=manifest.dates,
        )

    def save(self, directory: str | Path, *, overwrite: bool = False) -> "Corpus":
        """Write the corpus to a directory, and open it from there.

        Parameters
        ----------
        directory : path
            A new or empty directory.
        overwrite : bool
            Whether to replace a corpus that is already there.
        """
        tally = (self.tally or Tally(len(self))).to_json()
        write_corpus(Path(directory), self._parts(), self.vocabulary, self.rule, tally, self.dates, overwrite=overwrite)
        return Corpus.open(directory)

    def _parts(self) -> Iterator[Shard]:
        """The documents as shards, one at a time, in the order of this corpus."""
        for first in range(0, len(self), SAVED_AT_ONCE):
            last = min(first + SAVED_AT_ONCE, len(self))
            yield collect(self._shards, self._starts, self._numbers(np.arange(first, last)))

    @property
    def _rows(self) -> Rows:
        """The rows of all documents among those of all shards."""
        return np.arange(sum(self._sizes)) if self._chosen is None else self._chosen

    def _numbers(self, rows: NDArray[Any]) -> Rows:
        """The same of some documents; of all that there are, none but these is in memory."""
        if self._chosen is not None:
            return np.asarray(self._chosen[rows])
        found = np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.int64, copy=False)
        return np.where(found < 0, found + len(self), found)

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        """For another process: of a corpus on disk where it is, and which documents."""
        if self.directory is None:
            return super().__reduce_ex__(protocol)
        rows: Any = slice(None) if self._chosen is None else narrow(self._chosen)
        if self._chosen is not None and len(rows) and np.array_equal(rows, np.arange(rows[0], rows[0] + len(rows))):
            rows = slice(int(rows[0]), int(rows[-1]) + 1)
        return opened, (self.directory.resolve(), sum(self._sizes), rows, self._often)

    def often(self) -> "Corpus":
        """The same for processes that are sent some of its documents again and again: they open it once."""
        corpus = self._with(self._chosen)
        corpus._often = True
        return corpus

    def _with(self, rows: Rows | None) -> "Corpus":
        """The corpus of these rows among those of all shards."""
        shards, sizes, terms = self._shards, self._sizes, self.vocabulary
        return Corpus(shards, sizes, terms, rows=rows, rule=self.rule, directory=self.directory, dates=self.dates)

    def __len__(self) -> int:
        return sum(self._sizes) if self._chosen is None else len(self._chosen)

    def __repr__(self) -> str:
        return f"<Corpus of {len(self):,} documents, {self.n_terms:,} terms, {self.n_tokens:,} tokens>"

    def __getitem__(self, rows: slice | Sequence[int] | NDArray[Any]) -> "Corpus":
        """The corpus of some of the documents: those at ``rows``, in that order, or where a mask is true."""
        if isinstance(rows, int | np.integer):
            raise TypeError("a corpus is indexed by several rows; use corpus.documents[i] for one document")
        index = np.arange(*rows.indices(len(self))) if isinstance(rows, slice) else as_index(rows, len(self))
        return self._with(self._numbers(index))

    @property
    def n_terms(self) -> int:
        """Number of terms in the vocabulary."""
        return len(self.vocabulary)

    @cached_property
    def doc_lengths(self) -> NDArray[np.int64]:
        """Number of tokens of each document; 0 for a document without a known term."""
        return np.concatenate([np.zeros(0, np.int64), *(shard.sizes for shard in self._shards)])[self._rows]

    @property
    def n_tokens(self) -> int:
        """Number of tokens of all documents."""
        return sum(int(some.sum()) for some in self.lengths())

    def lengths(self) -> Iterator[NDArray[np.int64]]:
        """Number of tokens of each document, of some documents at a time."""
        if self._chosen is None:
            yield from (shard.sizes for shard in self._shards)
        else:
            yield self.doc_lengths

    @property
    def document_frequency(self) -> NDArray[np.int64]:
        """Number of documents that contain each term."""
        frequency = np.zeros(self.n_terms, np.int64)
        for first in range(0, len(self), COUNTED_AT_ONCE):
            rows = self.rows(np.arange(first, min(first + COUNTED_AT_ONCE, len(self))))
            frequency += np.bincount(rows.indices, minlength=self.n_terms)
        return frequency

    @property
    def counts(self) -> csr_array:
        """All counts (n_docs, n_terms), in memory."""
        if self._chosen is None:
            return gather_all(self._shards, self.n_terms)
        return self.rows(np.arange(len(self)))

    def rows(self, rows: Sequence[int] | NDArray[Any]) -> csr_array:
        """The counts (n_rows, n_terms) of some documents, by row or mask; of a corpus on disk only these are read."""
        return gather(self._shards, self._starts, self._numbers(as_index(rows, len(self))), self.n_terms)

    def minibatches(self, size: int, rng: np.random.Generator) -> Iterator[csr_array]:
        """Counts of ``size`` documents at a time, in random order, each document once; the last may be fewer."""
        if not isinstance(size, int | np.integer) or size < 1:
            raise ValueError(f"a mini-batch of {brief(size)} documents was asked for; ask for at least 1")
        check_kind("rng", rng, np.random.Generator)
        order = rng.permutation(len(self))
        for first in range(0, len(self), size):
            yield self.rows(order[first : first + size])

    @property
    def documents(self) -> Documents:
        """The documents' ids, titles, dates, labels and texts, if known."""
        return Documents(self._shards, self._starts, self._rows)

    def split(self, seed: int, n_test: int | None = None) -> tuple["Corpus", "Corpus"]:
        """Training and test documents at random.

        Parameters
        ----------
        seed : int
            Random seed; the same seed gives the same split.
        n_test : int, optional
            Number of test documents. Default: a fifth, at most 2,000.
        """
        train, test = test_rows(len(self), generator(seed), n_test)
        return self[train], self[test]

    def completion(self, seed: int, n_test: int | None = None, *, validation: bool = False) -> Completion:
        """Training and test documents as ``split`` makes them, and the two halves of each test document.

        Parameters
        ----------
        seed : int
            Random seed for the split and the halves.
        n_test : int, optional
            Number of test documents. Default: a fifth, at most 2,000.
        validation : bool
            Whether to complete documents of the training part (an eighth of it, at most 1,000) instead of the test
            documents, so that you can choose settings without seeing the test documents.

        Returns
        -------
        Completion
            For ``fit(train)`` and then ``perplexity(observed, held_out)``, or ``diln.analysis.complete``.
        """
        train, test, rng = completion_rows(len(self), seed, n_test, validation=validation)
        return Completion(self[train], self[test], *halves(self[test].counts, rng))


def as_shard(corpus: Corpus) -> Shard:
    """All documents of a corpus as one shard, in memory."""
    return collect(corpus._shards, corpus._starts, corpus._rows)


def as_index(rows: Sequence[int] | NDArray[Any], n_docs: int) -> NDArray[Any]:
    """Rows of so many documents, or a mask, as an array that indexes."""
    try:
        index = np.asarray(rows)
    except ValueError:
        index = np.zeros(())
    if index.shape == (0,):
        return index.astype(np.int64)
    if index.ndim != 1 or index.dtype.kind not in "iub":
        raise TypeError(f"rows are {brief(rows)}; give a list of whole numbers, or a mask")
    if index.dtype.kind == "b" and len(index) != n_docs:
        raise ValueError(f"the mask is of {len(index):,} documents, and there are {n_docs:,}; give one value for each")
    if index.dtype.kind != "b" and (index.min() < -n_docs or index.max() >= n_docs):
        bad = index.max() if index.max() >= n_docs else index.min()
        raise ValueError(f"there is no row {bad}: the corpus has {n_docs:,} documents")
    return index


def _fields(**given: Iterable[Any] | None) -> dict[str, Iterable[Any]]:
    return {name: values for name, values in given.items() if values is not None}


def opened(directory: Path, size: int, rows: slice | NDArray[Any], often: bool = False) -> Corpus:
    """Some documents of a corpus on disk that had so many when it was opened elsewhere."""
    corpus = _as_it_is(directory, _stamp(directory / MANIFEST)) if often else Corpus.open(directory)
    if len(corpus) != size:
        raise StoreError(f"{directory}: has {len(corpus):,} documents, and not the {size:,} that it had; begin anew")
    return corpus if isinstance(rows, slice) and rows == slice(None) else corpus[rows]


def _stamp(manifest: Path) -> tuple[int, int, int] | None:
    """What changes with a file; None where there is none."""
    try:
        found = manifest.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


@lru_cache(maxsize=OPEN_AT_ONCE)
def _as_it_is(directory: Path, stamp: tuple[int, int, int] | None) -> Corpus:
    """A corpus on disk, opened once for all who ask for some of its documents while its manifest stays as it is."""
    return Corpus.open(directory)
