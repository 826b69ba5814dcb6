"""Documents that show what a topic is about, with the sentences that say it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.analysis.listing import DocumentInfo
from diln.analysis.reading import TextReader
from diln.analysis.records import Record
from diln.analysis.sentences import sentences
from diln.analysis.spans import Span, token_spans

Floats = NDArray[np.float64]
CANDIDATES = 20  # for each document that is asked for, at least
ALIKE = 0.9  # cosine of two documents' counts from which on one of them is enough
LONGEST = 320  # characters of a sentence
FEWEST = 3  # known words of a sentence that is worth quoting


@dataclass(frozen=True, slots=True)
class Typical(Record):
    """A document that shows what a topic or theme is about.

    Attributes
    ----------
    document : DocumentInfo
        The document, with its share of the topic or theme.
    sentences : tuple of str
        Its most telling sentences, in the order of the text; none if the text was not kept.
    """

    document: DocumentInfo
    sentences: tuple[str, ...]


def candidates(rows: NDArray[np.int64], shares: Floats, tokens: Floats, n: int) -> NDArray[np.int64]:
    """Places of the documents with a large share of a topic for sure: of a short one less is sure.

    The share is drawn to 0 as if every document had half as many words more as a document of median length has, of
    which none is of the topic.
    """
    some = tokens[tokens > 0]
    more = 0.5 * float(np.median(some)) if len(some) else 0.0
    own = tokens[rows]
    sure = shares * own / np.maximum(own + more, 1)
    return np.argsort(-sure, kind="stable")[: max(CANDIDATES, 5 * n)]


def representative(counts: csr_array, words: Floats, sure: Floats, n: int) -> list[int]:
    """Places of documents whose words are most like those of a topic (n_terms,), without near-duplicates.

    Likeness is the sum over terms of sqrt(p(term | topic) p(term | document)), times the share of the topic.
    """
    sizes = np.maximum(np.asarray(counts.sum(axis=1)), 1.0)
    frequency = csr_array(counts / sizes[:, np.newaxis])
    alike = np.asarray(frequency.sqrt() @ np.sqrt(words)) * sure
    norms = np.sqrt(np.maximum(np.asarray(counts.power(2).sum(axis=1)), 1e-300))
    chosen: list[int] = []
    for at in np.argsort(-alike, kind="stable").tolist():
        if chosen:
            products = np.asarray((counts[chosen] @ counts[[at]].T).todense()).ravel()
            if (products / norms[chosen] / norms[at] > ALIKE).any():
                continue
        chosen.append(at)
        if len(chosen) == n:
            break
    return chosen


def telling_sentences(text: str, reader: TextReader, weight: Callable[[int], float], n: int) -> tuple[str, ...]:
    """The sentences of a text that tell most of a topic, in order.

    ``weight`` says how much a term tells of it. A sentence counts the mean weight of its terms, as if it had some terms
    more of no weight: long ones do not win by length, nor short ones by luck.
    """
    every = list(dict.fromkeys(_fitting(one) for one in sentences(text)))
    scores = np.array([_score(spans, reader, weight) for spans in token_spans(every, reader.rule)])
    best = np.argsort(-scores, kind="stable")[:n]
    return tuple(every[at] for at in sorted(best.tolist()) if scores[at] > 0)


def _score(spans: list[Span], reader: TextReader, weight: Callable[[int], float]) -> float:
    known = [term.number for term in reader.terms(spans) if term.number >= 0]
    if len(known) < FEWEST:
        return 0.0
    return sum(map(weight, known)) / (len(known) + 2 * FEWEST)


def _fitting(sentence: str) -> str:
    return sentence if len(sentence) <= LONGEST else f"{sentence[:LONGEST].rsplit(' ', 1)[0]} …"
