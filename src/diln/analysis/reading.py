"""A text as the model reads it: what it is about, and the topic of each of its words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.analysis.documents import TopicShare
from diln.analysis.folding import Folding
from diln.analysis.records import Record
from diln.analysis.spans import Span, token_spans
from diln.corpus.rules import TextRule
from diln.corpus.tokenizers import again
from diln.errors import brief
from diln.models.fitted import Fitted

Floats = NDArray[np.float64]
LONGEST = 10_000_000  # characters of a text


@dataclass(frozen=True, slots=True)
class Token(Record):
    """A piece of a text.

    Attributes
    ----------
    text : str
        The piece, as it stands there.
    topic : int or None
        The most likely topic that is not hidden, of a word that the model knows; None for spaces, stop words and
        unknown words.
    weight : float
        How likely it is, p(topic | word, document), among all topics.
    """

    text: str
    topic: int | None
    weight: float


@dataclass(frozen=True, slots=True)
class Reading(Record):
    """What a text is about.

    Attributes
    ----------
    topics : tuple of TopicShare
        Its largest topics that are not hidden, in descending order; none for a text without a known word.
    tokens : tuple of Token
        The whole text cut into pieces, which in a row are the text.
    n_known : int
        Number of its terms that the model knows, each as often as it is there.
    n_unknown : int
        Number of its terms that the model does not know; stop words and short words are none.
    location : (float, float) or None
        Where it is on the map of topics, for a model with locations.
    """

    topics: tuple[TopicShare, ...]
    tokens: tuple[Token, ...]
    n_known: int
    n_unknown: int
    location: tuple[float, float] | None = None


class Term(NamedTuple):
    """A term of a text: the tokens that it is made of, from the first to before the last, and its number or -1."""

    first: int
    last: int
    number: int


class TextReader:
    """Finds the terms of texts as the documents of a model were counted."""

    def __init__(self, fitted: Fitted) -> None:
        self.rule = rule_of(fitted)
        self.numbers = {term: at for at, term in enumerate(fitted.vocabulary)}

    def spans(self, text: str) -> list[Span]:
        """The tokens of a text, with their places."""
        return token_spans([text], self.rule)[0]

    def terms(self, spans: Sequence[Span]) -> list[Term]:
        """The terms that tokens make, each as often as it is there: runs of neighbours, as long as the rule says."""
        shortest, longest = self.rule.ngram_range
        return [
            Term(first, first + size, self.numbers.get(" ".join(one.token for one in spans[first : first + size]), -1))
            for size in range(shortest, longest + 1)
            for first in range(len(spans) - size + 1)
        ]

    def counts(self, text: str) -> csr_array:
        """A text as counts (1, n_terms) of the terms that the model knows."""
        return counts_of(self.terms(self.spans(text)), len(self.numbers))


def tokens_known(fitted: Fitted) -> bool:
    """Whether the tokens of a text can be found as those of the model's documents were."""
    try:
        rule_of(fitted)
    except ValueError:  # also of a package that is not installed
        return False
    return True


def rule_of(fitted: Fitted) -> TextRule:
    """The rule for tokens that a model's documents were counted by; raises ValueError if it is not known."""
    if fitted.rule is None:
        raise ValueError(
            "the model was fitted to counts, and how text became counts is not known, so it cannot read text; fit it "
            "to a corpus of texts"
        )
    if fitted.rule["tokenizer"] is not None and again(fitted.rule["tokenizer"]) is None:
        raise ValueError(
            f"the model's documents were counted with the tokenizer {brief(fitted.rule['tokenizer'])}, which is not "
            "stored with the model, so it cannot read text; name it with --tokenizer module:function "
            "(diln.corpus.tokenizers.named), or count documents with it and use transform"
        )
    return TextRule.from_json(fitted.rule)


def check_text(text: Any) -> str:
    """A text that can be read; raises if it is none, or too long."""
    if not isinstance(text, str):
        raise TypeError(f"the text is a {type(text).__name__}; give a string")
    if len(text) > LONGEST:
        raise ValueError(f"the text has {len(text):,} characters; give at most {LONGEST:,}")
    return text


def counts_of(terms: Sequence[Term], n_terms: int) -> csr_array:
    """A document of these terms (1, n_terms), without unknown ones."""
    known, counts = np.unique([one.number for one in terms if one.number >= 0], return_counts=True)
    known = known.astype(np.int64)
    return csr_array((counts.astype(np.float32), known, np.array([0, len(known)])), shape=(1, n_terms))


def pieces(text: str, spans: Sequence[Span], terms: Sequence[Term], folding: Folding, theta: Floats) -> list[Token]:
    """The whole text cut into pieces; a token that is in several known terms has the topic of the longest."""
    best: dict[int, Term] = {}
    for term in terms:  # from short to long
        if term.number >= 0:
            best |= dict.fromkeys(range(term.first, term.last), term)
    numbers = sorted({term.number for term in best.values()})
    topics = dict(zip(numbers, word_topics(numbers, folding, theta), strict=True))
    found, done = [], 0
    for at, span in enumerate(spans):
        if at not in best or span.first < done or span.first == span.last:
            continue
        topic, weight = topics[best[at].number]
        found += [Token(text[done : span.first], None, 0.0)] if span.first > done else []
        found.append(Token(text[span.first : span.last], topic, weight))
        done = span.last
    return [*found, Token(text[done:], None, 0.0)] if done < len(text) else found


def word_topics(numbers: Sequence[int], folding: Folding, theta: Floats) -> list[tuple[int | None, float]]:
    """The most likely topic of each of these words of a document with these proportions (n_topics,), and how likely.

    p(topic | word, document) is in proportion to theta_topic p(word | topic).
    """
    if not len(numbers) or not len(folding.named):
        return [(None, 0.0)] * len(numbers)
    joint = theta[:, np.newaxis] * folding.fitted.topic_word[:, list(numbers)]
    joint /= np.maximum(joint.sum(axis=0), np.finfo(float).tiny)
    likely = folding.columns(joint.T)[:, folding.named]
    top = likely.argmax(axis=1)
    weights = likely[np.arange(len(top)), top]
    return [(int(folding.named[at]), float(weight)) for at, weight in zip(top, weights, strict=True)]
