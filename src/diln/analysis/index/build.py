"""From a model and a corpus to the arrays of an index."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.analysis.coherence import count_together, npmi
from diln.analysis.index.sparse import Shares, by_topic, sparse
from diln.analysis.index.words import WordSpace, learn, places
from diln.analysis.topics import largest_topics
from diln.corpus import Corpus
from diln.corpus.strings import Strings, offsets_of
from diln.engine.base import Engine
from diln.engine.threads import cut
from diln.inference.data import Batch
from diln.inference.posterior import FoldIn
from diln.inference.predict import log_likelihood
from diln.models.batches import in_parts
from diln.models.counts import PART, Rows, aligned
from diln.models.fitted import Fitted
from diln.models.inferring import tokens_of

if TYPE_CHECKING:
    from diln.corpus.watch import Watch

Arrays = dict[str, NDArray[Any]]

TINY = 1e-300
WORDS = 10  # of a topic, that its coherence is of
UNKNOWN = -2.0  # coherence of a topic that is not in use


def arrays_of(fitted: Fitted, corpus: Corpus, engine: Engine, watch: "Watch | None") -> Arrays:
    """All arrays of the index of a corpus."""
    rows = aligned(corpus, fitted.vocabulary)
    space = learn(rows)
    found = inferred(fitted, rows, space, engine, watch)
    words = {"word_weights": space.weights, "word_axes": space.axes, "word_mean": space.mean}
    return {**found, **words, **described(corpus), "coherence": coherences(fitted, corpus, engine)}


def inferred(fitted: Fitted, rows: Rows, space: WordSpace, engine: Engine, watch: "Watch | None") -> Arrays:
    """What the model says of documents, and where their words lie."""
    parts, done = [], 0
    for part in engine.each(step_index, in_parts(rows), Indexing.of(fitted, space)):
        parts.append(part)
        done += len(part.tokens)
        if watch is not None:
            watch.step(done, rows.n_docs, done)
    names = ("tokens", "explained", "words", "locations")
    arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    if fitted.locations is None:
        del arrays["locations"]
    return {**arrays, **by_both([part.shares for part in parts], fitted.posterior.n_topics)}


class IndexedPart(NamedTuple):
    """What is known of some documents."""

    tokens: NDArray[np.uint32]
    explained: NDArray[np.float32]
    words: NDArray[np.int8]
    locations: NDArray[np.float32]
    shares: Shares


class Indexing(NamedTuple):
    """What an index is made with."""

    fold_in: FoldIn
    topics: NDArray[np.float32]  # (n_terms, n_topics)
    alone: NDArray[np.float64]  # (n_terms,) ln of the words' frequencies
    space: WordSpace

    @classmethod
    def of(cls, fitted: Fitted, space: WordSpace) -> "Indexing":
        """That of a model."""
        alone = np.log(np.maximum(fitted.topic_weights @ fitted.topic_word, TINY))
        return cls(fitted.fold_in(), np.ascontiguousarray(fitted.topic_word.T, np.float32), alone, space)


def step_index(part: Batch, given: Indexing, engine: Engine) -> IndexedPart:
    """What is known of some documents, in narrow types."""
    counts = part.counts()
    tokens, found = tokens_of(counts), given.fold_in.infer(counts, engine)
    gain = explained(given, counts, found.proportions, tokens, engine)
    shares, words = sparse(found.proportions, tokens), places(counts, given.space)
    return IndexedPart(tokens.astype(np.uint32), gain, words, found.locations.astype(np.float32), shares)


def explained(
    given: Indexing, counts: csr_array, theta: NDArray[Any], tokens: NDArray[np.float64], engine: Engine
) -> NDArray[np.float32]:
    """By how many nats a token its topics make a document more probable than the words' frequencies; 0 if empty."""
    gain = log_likelihood(given.topics, theta, counts, engine) - counts @ given.alone
    return np.asarray(gain / np.maximum(tokens, 1), np.float32)


def by_both(parts: Sequence[Shares], n_topics: int) -> Arrays:
    """Shares by document and by topic."""
    sizes, topics, shares = (np.concatenate(each) for each in zip(*(part[:3] for part in parts), strict=True))
    offsets = offsets_of(sizes)
    listed = by_topic(offsets, topics, shares, n_topics)
    return {
        "offsets": offsets, "topics": topics, "shares": shares, "rest": np.sum([part.rest for part in parts], axis=0),
        "totals": np.sum([part.tokens for part in parts], axis=0),
        **dict(zip(("topic_offsets", "topic_rows", "topic_shares"), listed, strict=True)),
    }  # fmt: skip


def described(corpus: Corpus) -> Arrays:
    """What the corpus says of documents: dates and labels."""
    codes: dict[str, int] = {}
    times, labels = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)]
    for documents in _documents(corpus):
        times.append(documents.timestamps.astype("datetime64[s]").astype(np.int64))
        given = documents.labels
        labels.append(np.array([codes.setdefault(label, len(codes)) if label else -1 for label in given], np.int32))
    names = Strings.pack(codes)
    return {
        "times": np.concatenate(times), "label_codes": np.concatenate(labels), "label_bytes": names.data,
        "label_offsets": names.offsets,
    }  # fmt: skip


def _documents(corpus: Corpus) -> Iterator[Any]:
    return (corpus[first:last].documents for first, last in cut(len(corpus), PART))


def coherences(fitted: Fitted, corpus: Corpus, engine: Engine) -> NDArray[np.float32]:
    """NPMI of each topic's most probable words in these documents; ``UNKNOWN`` for topics that are not in use."""
    topics = largest_topics(fitted, n_words=WORDS)
    found = np.full(fitted.posterior.n_topics, UNKNOWN, np.float32)
    counted = count_together(corpus, [topic.words for topic in topics], engine=engine)
    for topic, together in zip(topics, counted, strict=True):
        found[topic.id] = npmi(together)
    return found
