"""The documents of a model as they are shown: their topics, which of them are asked for, and what their texts say."""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diln.analysis.documents import TopicShare
from diln.analysis.index import Index
from diln.analysis.listing import DocumentInfo, snippet
from diln.analysis.reading import Reading, TextReader, Token, counts_of, pieces, tokens_known
from diln.analysis.topic_infos import TopicWords
from diln.analysis.typical import Typical, candidates, representative, telling_sentences
from diln.corpus import Corpus
from diln.engine.threads import Threads
from diln.errors import brief
from diln.inference.posterior import Inferred
from diln.models.counts import aligned

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
WORDS = 5  # of a topic of a document
NO_DOCUMENTS = (
    "the documents are needed for this, and the model does not know where they are; give the corpus, in Python as "
    "Atlas.open(model, corpus), on the command line with --corpus"
)


class DocumentView:
    """Documents of an index and a corpus, with topics as their user has named, merged and hidden them."""

    def __init__(self, words: TopicWords, index: Index | None, corpus: Corpus | None) -> None:
        self.words, self.folding, self.fitted = words, words.folding, words.folding.fitted
        self._index, self._corpus = index, corpus
        self._telling: dict[tuple[Any, ...], tuple[tuple[int, float, tuple[str, ...]], ...]] = {}

    def edited(self, words: TopicWords) -> "DocumentView":
        """The same documents with topics as they are edited now; which documents are typical of what is known still."""
        other = copy(self)
        other.words, other.folding = words, words.folding
        return other

    @property
    def index(self) -> Index:
        """What the model says of the documents; raises ValueError where they are not known."""
        if self._index is None:
            raise ValueError(NO_DOCUMENTS)
        return self._index

    @property
    def corpus(self) -> Corpus:
        """The documents; raises ValueError where they are not known."""
        if self._corpus is None:
            raise ValueError(NO_DOCUMENTS)
        return self._corpus

    @cached_property
    def reader(self) -> TextReader:
        """Finds the terms of texts."""
        return TextReader(self.fitted)

    def checked_row(self, row: Any) -> int:
        """The number of a document; raises ValueError if there is none of it."""
        whole = isinstance(row, int | np.integer) and not isinstance(row, bool)
        if not whole or not 0 <= row < self.index.n_docs:
            raise ValueError(f"there is no document {brief(row)}; there are 0 to {self.index.n_docs - 1:,}")
        return int(row)

    def shares(self, rows: Any) -> NDArray[np.float32]:
        """Shares of topics in some documents (n_rows, n_topics), as topics are merged."""
        return self.folding.columns(self.index.proportions(rows))

    def n_docs(self, topic: int, least: float) -> int:
        """Number of documents with at least this share of a topic."""
        return int((self.holding(self.folding.parts(topic))[1] >= least).sum())

    def holding(self, topics: Sequence[int]) -> tuple[Rows, Floats]:
        """Documents with some of these topics of the model, the largest share of all of them first, and the shares."""
        found = [self.index.rows_of_topic(topic) for topic in topics]
        rows = np.concatenate([one.astype(np.int64) for one, _ in found])
        shares = np.concatenate([one.astype(np.float64) for _, one in found])
        if len(topics) == 1:
            return rows, shares
        known, places = np.unique(rows, return_inverse=True)
        total = np.bincount(places, shares).astype(np.float64)
        order = np.argsort(-total, kind="stable")
        return np.asarray(known[order], np.int64), total[order]

    def infos(
        self,
        rows: Rows,
        n_topics: int,
        shares: Sequence[float] | Floats | None = None,
        themes: NDArray[np.int16] | None = None,
    ) -> tuple[DocumentInfo, ...]:
        """What is known of some documents."""
        if not len(rows):
            return ()
        known, tokens = self.corpus[rows].documents if self._corpus is not None else None, self.index.tokens[rows]
        theta = self.shares(rows)
        infos = []
        for at, row in enumerate(rows.tolist()):
            document = None if known is None else known[at]
            theme = -1 if themes is None else int(themes[row])
            infos.append(
                DocumentInfo(
                    row, str(row) if document is None else document.id, "" if document is None else document.title,
                    "" if document is None else document.date, "" if document is None else document.label,
                    int(tokens[at]), None if theme < 0 else theme, self.topics(theta[at], n_topics),
                    None if shares is None else float(shares[at]),
                    "" if document is None else snippet(document.text),
                )
            )  # fmt: skip
        return tuple(infos)

    def topics(self, theta: NDArray[Any], n_topics: int) -> tuple[TopicShare, ...]:
        """The largest topics that are not hidden, of a document with these shares of all (n_topics,)."""
        named = self.folding.named
        order = named[np.argsort(-theta[named], kind="stable")[:n_topics]]
        return tuple(
            TopicShare(int(topic), float(theta[topic]), self.words.probable(int(topic), WORDS))
            for topic in order
            if theta[topic] > 0
        )

    def text(self, row: int) -> str:
        """The text of a document that was counted, with its title if that was counted, too."""
        document, rule = self.corpus.documents[row], self.fitted.rule or {}
        columns = rule.get("columns") or {}
        counted = document.title and columns.get("title") in (columns.get("text") or ())
        return "\n".join(filter(None, (document.title, document.text))) if counted else document.text

    def read(self, text: str, n_topics: int, place: Callable[[Floats], tuple[float, float] | None]) -> Reading:
        """A text, with the topic of each word."""
        spans = self.reader.spans(text)
        terms = self.reader.terms(spans)
        n_known = sum(term.number >= 0 for term in terms)
        if not n_known:
            return Reading((), (Token(text, None, 0.0),) if text else (), 0, len(terms), None)
        inferred = self.inferred(counts_of(terms, len(self.fitted.vocabulary)))
        theta = inferred.proportions[0]
        return Reading(
            self.topics(self.folding.columns(theta), n_topics), tuple(pieces(text, spans, terms, self.folding, theta)),
            n_known, len(terms) - n_known, place(inferred.locations),
        )  # fmt: skip

    def inferred(self, counts: Any) -> Inferred:
        """What the model says of documents."""
        with Threads(1) as engine:
            return self.fitted.infer(counts, engine)

    def typical(
        self, topics: Sequence[int], n: int, n_sentences: int, themes: NDArray[np.int16] | None
    ) -> tuple[Typical, ...]:
        """Documents that show what some topics of the model are about together."""
        key = (tuple(topics), n, n_sentences)
        if key not in self._telling:
            self._telling[key] = tuple(self._most_telling(topics, n, n_sentences))
        rows = np.array([row for row, _, _ in self._telling[key]], np.int64)
        infos = self.infos(rows, 5, [share for _, share, _ in self._telling[key]], themes)
        return tuple(Typical(info, told) for info, (_, _, told) in zip(infos, self._telling[key], strict=True))

    def _most_telling(
        self, topics: Sequence[int], n: int, n_sentences: int
    ) -> Iterator[tuple[int, float, tuple[str, ...]]]:
        """Rows of these documents, their shares of the topics, and their telling sentences."""
        rows, shares = self.holding(topics)
        tokens = self.index.tokens.astype(np.float64)
        some = candidates(rows, shares, tokens, n)
        rows, shares = rows[some], shares[some]
        counts = aligned(self.corpus, self.fitted.vocabulary).take(rows)
        weights = self.folding.weights(topics)
        chosen = representative(counts, weights @ self.fitted.topic_word[list(topics)], shares, n)
        for row, share in zip(rows[chosen].tolist(), shares[chosen].tolist(), strict=True):
            yield row, share, self._sentences(row, topics, n_sentences)

    def _sentences(self, row: int, topics: Sequence[int], n: int) -> tuple[str, ...]:
        """The sentences of a document that tell most of some topics."""
        text = self.corpus.documents[row].text
        if not text or not tokens_known(self.fitted):
            return ()
        theta, words = self.index.proportions([row])[0].astype(np.float64), self.fitted.topic_word
        own = list(topics)

        def weight(term: int) -> float:
            joint = theta * words[:, term]
            total = joint.sum()
            return float(joint[own].sum() / total) if total > 0 else 0.0

        known: dict[int, float] = {}
        return telling_sentences(
            text, self.reader, lambda term: known[term] if term in known else known.setdefault(term, weight(term)), n
        )
