"""Which topics some words are of, whether these are listed or not."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from diln.analysis.folding import Folding
from diln.analysis.records import Record
from diln.analysis.topic_infos import TopicWords

MORE = 50.0  # words that a topic has more, as the corpus has them: of few words little is sure
LEAST = 2.0  # times as often as in the corpus that a topic has the words
BEGUN = 3  # letters of a word from which on its beginning is enough
NEVER = 0.01  # times as often, where a topic has one of the words not at all

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TopicHit(Record):
    """A topic that has some words more often than others do.

    Attributes
    ----------
    topic : int
        Its number.
    label : str
        Its label.
    share : float
        The share of the tokens that it holds.
    lift : float
        How many times as often as in the corpus it has the words: the geometric mean over the words, as if the topic
        had 50 tokens more that are like the corpus.
    probabilities : dict of float
        For each of the words that the model knows, p(word | topic).
    listed : bool
        Whether it is among the topics that are shown: in use and not hidden.
    hidden : bool
        Whether the user has hidden it.
    """

    topic: int
    label: str
    share: float
    lift: float
    probabilities: dict[str, float]
    listed: bool
    hidden: bool


class Vocabulary:
    """A model's terms as people type them: in any case, and not yet at their end."""

    def __init__(self, terms: Sequence[str]) -> None:
        self.terms = [_folded(term) for term in terms]
        self.places: dict[str, list[int]] = {}
        for place, term in enumerate(self.terms):
            self.places.setdefault(term, []).append(place)

    def words(self, text: str) -> dict[str, list[int]]:
        """The places of the terms of a text, by word; of a last word that is no term, those that begin so."""
        whole = _folded(text)
        if whole in self.places:  # a term may be several words
            return {whole: self.places[whole]}
        typed: list[str] = []
        for word in whole.split():
            typed += [word] if word in self.places else re.findall(r"\w+", word)
        words = {word: self.places[word] for word in typed if word in self.places}
        if typed and len(typed[-1]) >= BEGUN and typed[-1] not in words and not text[-1:].isspace():
            begun = [place for place, term in enumerate(self.terms) if term.startswith(typed[-1])]
            words |= {typed[-1]: begun} if begun else {}
        return words


def _folded(text: str) -> str:
    return normalize("NFKC", text).casefold().strip()


def topics_of(words: dict[str, list[int]], topics: TopicWords, n: int) -> list[TopicHit]:
    """The topics that have these words most often beside the corpus, small and hidden ones too, the best first."""
    folding = topics.folding
    if not words:
        return []
    own = {word: _sums(folding, places) for word, places in words.items()}
    usual = {word: float(topics.overall[places].sum()) for word, places in words.items()}
    tokens = folding.columns(folding.fitted.posterior.topic_tokens)
    logs = [np.log(np.maximum(_lift(own[word], usual[word], tokens), NEVER)) for word in words]
    score = np.mean(logs, axis=0)
    score[(folding.target != np.arange(folding.n_topics)) | (tokens <= 0)] = -np.inf
    best = [topic for topic in np.argsort(-score, kind="stable")[:n].tolist() if score[topic] > np.log(LEAST)]
    return [_hit(topic, float(np.exp(score[topic])), own, topics) for topic in best]


def _sums(folding: Folding, places: Sequence[int]) -> Floats:
    """The probability of any of some terms in each topic (n_topics,)."""
    return np.asarray(sum((folding.word(place) for place in places), np.zeros(folding.n_topics)))


def _lift(own: Floats, usual: float, tokens: Floats) -> Floats:
    usual = max(usual, np.finfo(float).tiny)
    return np.asarray((own * tokens + MORE * usual) / (tokens + MORE) / usual)


def _hit(topic: int, lift: float, own: dict[str, Floats], topics: TopicWords) -> TopicHit:
    folding = topics.folding
    hidden = topic in folding.edits.hidden
    probabilities = {word: float(values[topic]) for word, values in own.items()}
    listed = bool(folding.used[topic]) and not hidden
    return TopicHit(topic, topics.label(topic), float(folding.shares[topic]), lift, probabilities, listed, hidden)
