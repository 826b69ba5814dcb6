"""Whether the words of a topic are found in the same documents."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from diln.corpus import Corpus
from diln.engine.base import Engine
from diln.engine.threads import cut, engine_or_threads
from diln.errors import check_kind
from diln.inference.data import Batch
from diln.models.batches import RowsBatch
from diln.models.checks import check_number
from diln.models.counts import CorpusRows

if TYPE_CHECKING:
    from diln.corpus.watch import Watch

MOST_DOCUMENTS = 8192  # in memory, and at most 65,535
ENTRIES = 1 << 24  # of words in documents that are in memory at once

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Together:
    """In how many documents words are found together.

    Words that are in no document are left out.

    Attributes
    ----------
    words : tuple of str
        Words that were found, in the order of the input.
    documents : (n_words, n_words)
        Number of documents with both words; on the diagonal, number of documents with the word.
    n_docs : int
        All documents, including those without any of the words.
    n_missing : int
        Number of words that are in no document.
    """

    words: tuple[str, ...]
    documents: Counts
    n_docs: int
    n_missing: int

    @property
    def n_pairs(self) -> int:
        """Pairs of words that were found."""
        return len(self.words) * (len(self.words) - 1) // 2


def count_together(
    corpus: Corpus, topics: Sequence[Sequence[str]], watch: "Watch | None" = None, engine: Engine | None = None
) -> list[Together]:
    """Count, for each of several lists of words, the documents that contain each pair of its words.

    Reads the corpus once, some thousand documents at a time. Apart from these only the counts are in memory,
    (n_words, n_words) for each list.

    Parameters
    ----------
    corpus : Corpus
        Documents in which to count words; terms are matched by name.
    topics : lists of str
        Words of each topic, the most probable first: ``umass`` depends on this order. A word that is twice in a list
        counts once.
    watch : Watch, optional
        Is notified of progress.
    engine : Dask, optional
        Where to count, if not in this process.

    Returns
    -------
    list of Together
        One for each list, for ``npmi`` and ``umass``.
    """
    check_kind("corpus", corpus, Corpus)
    if not len(corpus):
        raise ValueError("the corpus has no documents; give one in which words can be found together")
    if any(isinstance(words, str) for words in topics):
        raise TypeError("a word was given in place of a list of words; give a list of lists")
    places = {term: place for place, term in enumerate(corpus.vocabulary)}
    given = [list(dict.fromkeys(words)) for words in topics]
    known = [[word for word in words if word in places] for words in given]
    needed = np.unique(np.array([places[word] for words in known for word in words], np.int64))
    columns = [np.searchsorted(needed, [places[word] for word in words]) for words in known]
    totals = iter(_summed(corpus, Columns(needed, columns), watch, engine))
    return [_found(words, next(totals), len(every), len(corpus)) for words, every in zip(known, given, strict=True)]


class Columns(NamedTuple):
    """Terms that are looked for, and for each list of words which of them it has."""

    needed: Counts
    lists: list[Counts]


def _summed(corpus: Corpus, columns: Columns, watch: "Watch | None", engine: Engine | None) -> list[Counts]:
    """For each list, documents with both of two words."""
    ranges = cut(len(corpus), min(MOST_DOCUMENTS, 1 + ENTRIES // max(len(columns.needed), 1)))
    rows, sizes = CorpusRows(corpus), [len(chosen) for chosen in columns.lists]
    total = np.zeros(sum(size * size for size in sizes), np.int64)
    with engine_or_threads(engine, 1) as running:
        found = running.each(step_together, [RowsBatch(rows, range(*one)) for one in ranges], columns)
        for (_, last), counted in zip(ranges, found, strict=True):
            total += counted
            if watch is not None:
                watch.step(last, len(corpus), last)
    ends = [0, *accumulate(size * size for size in sizes)]
    return [total[end - size * size : end].reshape(size, size) for end, size in zip(ends[1:], sizes, strict=True)]


def step_together(part: Batch, columns: Columns, engine: Engine) -> NDArray[np.uint16]:
    """Documents of a part that have both of two words, of each list one after the other."""
    present = _present(part.counts(), columns.needed)
    found = [np.zeros(0, np.uint16)]
    for chosen in columns.lists:
        some = present[chosen]
        found.append((some @ some.T).astype(np.uint16).ravel())
    return np.concatenate(found)


def npmi(together: Together) -> float:
    """Normalised pointwise mutual information, the mean over pairs of words: from -1 to 1.

    ln(p(v, w) / p(v) p(w)) / -ln p(v, w) of two words, where p is the share of the documents. -1 for words that are
    never found together, 0 for words found together as often as by chance, 1 for words that are never found apart.
    Without any pair the result is 0 and means nothing.
    """
    check_kind("together", together, Together)
    if not together.n_pairs:
        return 0.0
    both, first, second = _pairs(together)
    never, always = both == 0, both == together.n_docs
    some = ~(never | always)
    values = np.where(never, -1.0, 1.0)
    n = together.n_docs
    values[some] = np.log(both[some] * n / (first[some] * second[some])) / -np.log(both[some] / n)
    return float(np.clip(values, -1, 1).mean())


def umass(together: Together, smoothing: float = 1.0) -> float:
    """Log of the share of the documents with a word that have a less probable word too, the mean over pairs of words.

    ln((D(v, w) + smoothing) / D(v)), where D counts documents and v comes before w in the topic. Words are in the
    order of their probability. Without any pair the result is 0 and means nothing.

    Parameters
    ----------
    together : Together
        The result of ``count_together`` for the topic's words.
    smoothing : float
        Above 0, so that words never found together have a logarithm.
    """
    check_kind("together", together, Together)
    check_number("smoothing", smoothing)
    if not together.n_pairs:
        return 0.0
    both, first, _ = _pairs(together)
    return float(np.log((both + smoothing) / first).mean())


def _present(rows: csr_array, terms: Counts) -> NDArray[np.float32]:
    """1 where a term is in a document, and else 0 (n_terms, n_docs); sums of so few are exact."""
    found = csc_array(rows[:, terms])
    ones = csc_array((np.ones(found.nnz, np.float32), found.indices, found.indptr), shape=found.shape)
    return np.asarray(ones.T.toarray())


def _found(words: list[str], documents: Counts, n_given: int, n_docs: int) -> Together:
    some = np.flatnonzero(np.diagonal(documents))
    kept = tuple(words[place] for place in some)
    return Together(kept, documents[np.ix_(some, some)], n_docs, n_given - len(kept))


def _pairs(together: Together) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """For each pair of words, in order: documents with both, with the first, and with the second."""
    first, second = np.triu_indices(len(together.words), k=1)
    alone = np.diagonal(together.documents).astype(np.float64)
    return together.documents[first, second].astype(np.float64), alone[first], alone[second]
