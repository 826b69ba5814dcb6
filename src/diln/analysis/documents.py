"""What documents are about: the largest topics of each, and the documents with most of a topic."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diln.analysis.edit_files import folded
from diln.analysis.edits import Edits
from diln.analysis.folding import Folding
from diln.analysis.inputs import Model, fitted_of, running
from diln.analysis.records import Record
from diln.analysis.topics import edited_topics
from diln.corpus import Corpus
from diln.engine.base import Engine
from diln.engine.threads import cut
from diln.errors import brief
from diln.models.checks import check_number, check_whole
from diln.models.counts import PART, Rows, aligned
from diln.models.fitted import Fitted

if TYPE_CHECKING:
    from diln.corpus.watch import Watch

Words = dict[int, tuple[str, ...]]  # the first words of each topic
Where = AbstractContextManager[Engine]


@dataclass(frozen=True, slots=True)
class TopicShare(Record):
    """A topic of a document.

    Attributes
    ----------
    id : int
        The topic's number: the column of ``transform``, and the same everywhere else.
    share : float
        Its share of the document.
    words : tuple of str
        Its most probable words, in descending order.
    """

    id: int
    share: float
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DocumentTopics(Record):
    """A document and its largest topics.

    Attributes
    ----------
    row : int
        Its place in the corpus, from 0 on.
    id, title, date, label : str
        As the corpus has them; empty if unknown.
    n_tokens : int
        Number of tokens of terms that the model knows.
    topics : tuple of TopicShare
        Its largest topics, in descending order; none for a document without a known token.
    share : float or None
        Share of the topic that was asked for, by ``topic_documents``.
    """

    row: int
    id: str
    title: str
    date: str
    label: str
    n_tokens: int
    topics: tuple[TopicShare, ...]
    share: float | None = None


class _Found(NamedTuple):
    """What is known of some documents: tokens, largest topics and their shares, and the share of a topic asked for."""

    tokens: NDArray[np.int64]  # (n_docs,)
    topics: NDArray[np.int32]  # (n_docs, n_topics)
    shares: NDArray[np.float64]  # (n_docs, n_topics)
    share: NDArray[np.float64] | None  # (n_docs,)


def document_topics(
    model: Model,
    corpus: Corpus,
    n_topics: int = 3,
    n_words: int = 5,
    n_jobs: int = 1,
    watch: "Watch | None" = None,
    edits: Edits | None = None,
    engine: Engine | None = None,
) -> Iterator[DocumentTopics]:
    """The largest topics of each document, in the order of the corpus.

    Documents are read some at a time: memory does not grow with their number.

    Parameters
    ----------
    model : DILN, HDP, LDA or CTM
        A fitted estimator, or a model read by ``diln.load``.
    corpus : Corpus
        Documents, new or not. Tokens of terms that the model does not know are left out.
    n_topics : int
        Maximum number of topics of each document.
    n_words : int
        Number of words of each topic.
    n_jobs : int
        Number of threads; -1 uses all cores. The result is the same for any number.
    watch : Watch, optional
        Is notified of progress.
    edits : Edits, optional
        Topics that are merged or hidden.
    engine : Dask, optional
        Where to infer documents, if not on threads. Default: where the model's fits run.

    Yields
    ------
    DocumentTopics
    """
    fitted, rows = _checked(model, corpus, n_topics, n_words)
    where = running(model, n_jobs, engine)
    return _in_order(folded(fitted, edits), corpus, rows, n_topics, n_words, where, watch)


def topic_documents(
    model: Model,
    corpus: Corpus,
    topic: int,
    n_docs: int | None = 10,
    n_topics: int = 3,
    n_words: int = 5,
    *,
    min_share: float = 0.0,
    n_jobs: int = 1,
    watch: "Watch | None" = None,
    edits: Edits | None = None,
    engine: Engine | None = None,
) -> Iterator[DocumentTopics]:
    """The documents with the largest share of a topic, in descending order.

    Documents without a known token are left out. Of all documents, only numbers are in memory.

    Parameters
    ----------
    model : DILN, HDP, LDA or CTM
        A fitted estimator, or a model read by ``diln.load``.
    corpus : Corpus
        Documents, new or not. Tokens of terms that the model does not know are left out.
    topic : int
        The topic's number.
    n_docs : int, optional
        Maximum number of documents; None for all.
    n_topics : int
        Maximum number of topics of each document.
    n_words : int
        Number of words of each topic.
    min_share : float
        Leave out documents with a smaller share of the topic.
    n_jobs : int
        Number of threads; -1 uses all cores. The result is the same for any number.
    watch : Watch, optional
        Is notified of progress.
    edits : Edits, optional
        Topics that are merged or hidden.
    engine : Dask, optional
        Where to infer documents, if not on threads. Default: where the model's fits run.

    Yields
    ------
    DocumentTopics
        With the topic's ``share``. Documents with the same share are in the order of the corpus.
    """
    fitted, rows = _checked(model, corpus, n_topics, n_words)
    whole = isinstance(topic, int | np.integer) and not isinstance(topic, bool)
    if not whole or not 0 <= topic < fitted.posterior.n_topics:
        raise ValueError(f"there is no topic {brief(topic)}; the model has 0 to {fitted.posterior.n_topics - 1}")
    if n_docs is not None:
        check_whole("n_docs", n_docs, 1, ", or None for all")
    check_number("min_share", min_share, 0, 1)
    folding = folded(fitted, edits)
    asked = int(folding.target[topic])
    where = running(model, n_jobs, engine)
    parts = [found for _, found in _found(folding, rows, n_topics, where, watch, asked)]
    every = _Found(*map(np.concatenate, zip(*parts, strict=True)))
    share = np.asarray(every.share)
    kept = np.flatnonzero((every.tokens > 0) & (share >= min_share))
    order = kept[np.argsort(-share[kept], kind="stable")][:n_docs]
    return _records(corpus, order, every, _words(folding, n_words))


def _checked(model: Model, corpus: Corpus, n_topics: int, n_words: int) -> tuple[Fitted, Rows]:
    if not isinstance(corpus, Corpus):
        raise TypeError(f"a {type(corpus).__name__} was given as the documents; give a Corpus, which has their titles")
    check_whole("n_topics", n_topics, 1)
    check_whole("n_words", n_words, 1)
    if not len(corpus):
        raise ValueError("the corpus has no documents; give at least one")
    fitted = fitted_of(model)
    return fitted, aligned(corpus, fitted.vocabulary)


def _in_order(
    folding: Folding, corpus: Corpus, rows: Rows, n_topics: int, n_words: int, where: Where, watch: "Watch | None"
) -> Iterator[DocumentTopics]:
    words = _words(folding, n_words)
    for first, found in _found(folding, rows, n_topics, where, watch):
        size = len(found.tokens)
        yield from _records(corpus[first : first + size], np.arange(size), found, words, first)


def _found(
    folding: Folding, rows: Rows, n_topics: int, where: Where, watch: "Watch | None", topic: int | None = None
) -> Iterator[tuple[int, _Found]]:
    """What is known of the documents, a part of them at a time, with the number of the first."""
    with where as engine:
        for first, last, tokens, proportions in folding.fitted.transformed(rows, engine):
            theta = folding.visible(proportions)
            largest = np.argsort(-theta, axis=1, kind="stable")[:, :n_topics]
            shares = np.take_along_axis(theta, largest, axis=1)
            asked = None if topic is None else np.abs(theta[:, topic])
            yield first, _Found(tokens.astype(np.int64), largest.astype(np.int32), shares, asked)
            if watch is not None:
                watch.step(last, rows.n_docs, last)


def _records(
    corpus: Corpus, order: NDArray[np.int64], found: _Found, words: Words, first: int = 0
) -> Iterator[DocumentTopics]:
    """Documents at these places, read some at a time."""
    for begin, end in cut(len(order), PART):
        rows = order[begin:end]
        known = corpus[rows].documents
        fields = zip(rows.tolist(), known.ids, known.titles, known.dates, known.labels, strict=True)
        for row, name, title, date, label in fields:
            tokens, share = int(found.tokens[row]), None if found.share is None else float(found.share[row])
            pairs = zip(found.topics[row].tolist(), found.shares[row].tolist(), strict=True) if tokens else ()
            topics = tuple(TopicShare(topic, size, words[topic]) for topic, size in pairs if size >= 0)
            yield DocumentTopics(first + row, name, title, date, label, tokens, topics, share)


def _words(folding: Folding, n_words: int) -> Words:
    return {topic.id: topic.words for topic in edited_topics(folding, None, n_words, unused=True, hidden=True)}
