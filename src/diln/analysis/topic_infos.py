"""The topics as they are shown: labels, shares, words of three kinds, and how sure they are."""

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diln.analysis.folding import Folding
from diln.analysis.html import Bar, Row
from diln.analysis.records import Record
from diln.analysis.themes.names import alike
from diln.analysis.words import RELEVANCE, frex, largest, marginal, relevances
from diln.errors import brief
from diln.inference.progress import in_use

Floats = NDArray[np.float64]
LABEL_WORDS = 3
TELLING = 5 * LABEL_WORDS  # most telling words, that a label is chosen from
LONGEST = 0.05  # share whose bar is the longest in a table
MOST_WORDS = 10  # most probable words that are kept of each topic
LEAST = 0.1  # share of a document that counts as one of a topic's documents


@dataclass(frozen=True, slots=True)
class TopicInfo(Record):
    """A topic.

    Attributes
    ----------
    id : int
        Its number: the column of ``transform``, and the same everywhere else. A merged topic has that which is kept.
    label : str
        The name that the user gave it, or its three most telling words, of which none is a form of another.
    named : bool
        Whether the user gave it its name.
    share : float
        The share of the tokens that it holds.
    n_docs : int or None
        Number of documents with at least a tenth of it; None without documents.
    theme : int or None
        Its theme; None where there are no themes.
    words : tuple of str
        Its most probable words, in descending order.
    probabilities : tuple of float
        Probabilities of these words.
    telling : tuple of str
        Its most telling words: those that are probable in it and, for the corpus, frequent (relevance 0.6).
    exclusive : tuple of str
        Words that are frequent in it and rare in other topics (FREX).
    coherence : float or None
        How much its words are together in documents (NPMI, from -1 to 1); None if unknown. Of a merged topic, the mean
        of its parts', weighted by their shares.
    found, n_chains : int or None
        Number of chains that found it (including the model itself), and number of chains; None for one chain. A merged
        topic is found where all of its parts are at most: the smallest of their numbers.
    merged : tuple of int
        Numbers of the topics that were merged into it.
    """

    id: int
    label: str
    named: bool
    share: float
    n_docs: int | None
    theme: int | None
    words: tuple[str, ...]
    probabilities: tuple[float, ...]
    telling: tuple[str, ...]
    exclusive: tuple[str, ...]
    coherence: float | None = None
    found: int | None = None
    n_chains: int | None = None
    merged: tuple[int, ...] = ()

    def as_row(self) -> Row:
        """What a table in a notebook shows of it."""
        found = {} if self.found is None else {"chains": f"{self.found} of {self.n_chains}"}
        return {
            "topic": self.id,
            "share": Bar(self.share, LONGEST),
            **({"label": self.label} if self.named else {}),
            "telling words": ", ".join(self.telling or self.words),
            "documents": self.n_docs,
            **found,
        }


class TopicWords:
    """Words of a model's topics as they are merged, and the labels that come of them."""

    def __init__(self, folding: Folding) -> None:
        self.folding, self.vocabulary = folding, folding.fitted.vocabulary
        self._known: dict[tuple[Any, ...], Any] = {}  # by the parts of a topic, for which nothing else matters

    def edited(self, folding: Folding) -> "TopicWords":
        """The words of the same model's topics with other edits; what these do not change is known already."""
        other = copy(self)
        other.folding = folding
        return other

    def _of(self, topic: int, what: str, find: Callable[[Floats], Any], *more: Any) -> Any:
        """What was found of a topic's words before, or what is found now."""
        key = (self.folding.parts(topic), what, *more)
        if key not in self._known:
            self._known[key] = find(self.folding.words(topic))
        return self._known[key]

    @cached_property
    def overall(self) -> Floats:
        """Probability of each word in the corpus."""
        return marginal(self.folding.fitted.topic_word, self.folding.own_shares)

    @cached_property
    def _in_use(self) -> tuple[NDArray[np.bool_], Floats]:
        """Which of the model's topics are in use, and the sums of their words' probabilities."""
        used = in_use(self.folding.fitted.posterior.topic_tokens)
        return used, self.folding.fitted.topic_word[used].sum(axis=0)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {term: at for at, term in enumerate(self.vocabulary)}

    def place(self, term: Any) -> int:
        """The place of a word among all; raises ValueError if the model does not know it."""
        known = self._places.get(term) if isinstance(term, str) else None
        if known is None and isinstance(term, str):
            known = self._places.get(term.strip().lower())
        if known is None:
            raise ValueError(f"the model does not know the word {brief(term)}: it is too rare, too frequent, or short")
        return known

    def probable(self, topic: int, n: int) -> tuple[str, ...]:
        """The most probable words of a topic."""
        at_least = max(n, MOST_WORDS)
        found = self._of(topic, "probable", lambda words: self._terms(largest(words, at_least)), at_least)
        return tuple(found[:n])

    def telling(self, topic: int, n: int) -> tuple[str, ...]:
        """The most telling words of a topic."""

        def find(words: Floats) -> tuple[str, ...]:
            return self._terms(largest(relevances(words, self.overall, RELEVANCE), at_least))

        at_least = max(n, TELLING)
        return tuple(self._of(topic, "telling", find, at_least)[:n])

    def exclusive(self, topic: int, n: int) -> tuple[str, ...]:
        """Words that are frequent in a topic in use and rare in others: in all others of the model, merged or not."""

        def find(words: Floats) -> tuple[str, ...]:
            used, every = self._in_use
            parts = self.folding.parts(topic)
            if len(parts) > 1:  # which is one topic now
                own = self.folding.fitted.topic_word[[part for part in parts if used[part]]]
                every = np.maximum(every - own.sum(axis=0), 0) + words
            return self._terms(largest(frex(words, every), n))

        return tuple(self._of(topic, "exclusive", find, n)) if self.folding.used[topic] else ()

    def label(self, topic: int) -> str:
        """A topic's name: the user's own, or its most telling words, of which none is a form of another."""
        own = self.folding.edits.labels.get(topic)
        return own or str(self._of(topic, "label", lambda _: self._label(topic)))

    def _label(self, topic: int) -> str:
        chosen: list[str] = []
        for word in self.telling(topic, TELLING):
            if len(chosen) < LABEL_WORDS and not any(alike(word, other) for other in chosen):
                chosen.append(word)
        return ", ".join(chosen)

    def _terms(self, places: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.vocabulary[at] for at in places)


def topic_info(
    words: TopicWords,
    topic: int,
    n_words: int,
    n_docs: int | None = None,
    theme: int | None = None,
    coherence: NDArray[np.floating] | None = None,
) -> TopicInfo:
    """A topic, with what is known of it."""
    folding = words.folding
    probabilities, parts = folding.words(topic), folding.parts(topic)
    top = largest(probabilities, n_words)
    agreement = folding.fitted.agreement
    return TopicInfo(
        id=topic,
        label=words.label(topic),
        named=topic in folding.edits.labels,
        share=float(folding.shares[topic]),
        n_docs=n_docs,
        theme=theme,
        words=tuple(words.vocabulary[at] for at in top),
        probabilities=tuple(float(probabilities[at]) for at in top),
        telling=words.telling(topic, n_words),
        exclusive=words.exclusive(topic, n_words),
        coherence=None if coherence is None else _mean(coherence, parts, folding.weights),
        found=None if agreement is None else int(agreement.found[list(parts)].min()),
        n_chains=None if agreement is None else agreement.n_chains,
        merged=parts[1:],
    )


def _mean(values: NDArray[np.floating], parts: tuple[int, ...], weights: Callable[..., Floats]) -> float | None:
    mean = float(weights(parts) @ values[list(parts)])
    return mean if np.isfinite(mean) else None
