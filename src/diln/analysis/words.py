"""The words of topics: which are probable, which are telling, which are a topic's own; and the topics of a word."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diln.analysis.records import Record

Floats = NDArray[np.float64]
TINY = np.finfo(np.float64).tiny
RELEVANCE = 0.6  # weight of the probability beside the lift, in words that tell of a topic
FREX = 0.5  # weight of exclusivity beside frequency


@dataclass(frozen=True, slots=True)
class Word(Record):
    """A word of a topic.

    Attributes
    ----------
    term : str
        The word.
    probability : float
        p(word | topic).
    lift : float
        p(word | topic) / p(word): how many times as often as in the corpus.
    relevance : float
        By which words are in order: r ln p(word | topic) + (1 - r) ln lift, where r was asked for.
    """

    term: str
    probability: float
    lift: float
    relevance: float


@dataclass(frozen=True, slots=True)
class WordTopic(Record):
    """A topic of a word.

    Attributes
    ----------
    topic : int
        The topic's number.
    label : str
        Its label.
    probability : float
        p(word | topic).
    share : float
        p(topic | word): the share of the word's tokens that are of this topic.
    """

    topic: int
    label: str
    probability: float
    share: float


def marginal(topic_word: Floats, shares: Floats) -> Floats:
    """Probability of each word in the corpus (n_terms,): the mean of all topics' words, weighted by their shares."""
    return np.asarray(shares @ topic_word)


def lifts(words: Floats, overall: Floats) -> Floats:
    """How many times as often as in the corpus a topic has each word."""
    return np.asarray(words / np.maximum(overall, TINY))


def relevances(words: Floats, overall: Floats, weight: float) -> Floats:
    """How well each word tells of a topic: its probability and its lift, as logarithms, weighted."""
    return np.asarray(
        weight * np.log(np.maximum(words, TINY)) + (1 - weight) * np.log(np.maximum(lifts(words, overall), TINY))
    )


def frex(words: Floats, every: Floats) -> Floats:
    """How frequent and how exclusive words are in a topic (n_terms,), from 0 to 1.

    The harmonic mean of two ranks among the words of a topic: that of p(w | k), and that of p(w | k) / sum_j p(w | j),
    where ``every`` is the sum over all topics j in use.
    """
    return 1 / (FREX / _ranks(words / np.maximum(every, TINY)) + (1 - FREX) / _ranks(words))


def _ranks(values: Floats) -> Floats:
    """Ranks as shares: 1 for the largest; words of the same value are in the order of their places."""
    ranks = np.empty(len(values))
    ranks[np.argsort(values, kind="stable")] = np.arange(1, len(values) + 1)
    return ranks / len(values)


def words_of(own: Floats, overall: Floats, vocabulary: Sequence[str], relevance: float, n: int) -> Iterator[Word]:
    """The most relevant words of a topic (n_terms,), where words have these probabilities in the corpus."""
    values, lifted = relevances(own, overall, relevance), lifts(own, overall)
    for at in largest(values, n):
        yield Word(vocabulary[at], float(own[at]), float(lifted[at]), float(values[at]))


def word_topics(
    probabilities: Floats, shares: Floats, overall: float, topics: NDArray[np.int64], n: int
) -> Iterator[tuple[int, float, float]]:
    """Of these topics those with most tokens of a word: number, p(word | topic) and p(topic | word)."""
    joint = shares * probabilities / max(overall, TINY)
    for topic in topics[np.argsort(-joint[topics], kind="stable")[:n]].tolist():
        yield topic, float(probabilities[topic]), float(joint[topic])


def largest(values: Floats, n: int) -> list[int]:
    """Places of the largest values, in descending order; equal ones in the order of their places."""
    if n < len(values):
        places = np.flatnonzero(values >= np.partition(values, -n)[-n])
        return [int(at) for at in places[np.argsort(-values[places], kind="stable")[:n]]]
    return [int(at) for at in np.argsort(-values, kind="stable")]
