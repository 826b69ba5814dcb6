"""The topics of a model in words."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diln.inference import loops
from diln.models.fitted import Fitted


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic: its number, the share of the tokens it holds, and its most probable words, the first the most so."""

    id: int  # the column of ``transform``, and the same everywhere else
    weight: float
    words: tuple[str, ...]
    probabilities: tuple[float, ...]  # of the words


def largest_topics(
    fitted: Fitted, n_topics: int | None = None, n_words: int = 10, *, unused: bool = False
) -> list[Topic]:
    """The topics of a model, the largest first.

    Parameters
    ----------
    fitted : Fitted
        The model.
    n_topics : int, optional
        How many at most; all unless given.
    n_words : int
        How many words of each.
    unused : bool
        Whether topics that are not in use, those with less than one in 500 tokens, are among them.
    """
    for name, value in (("n_topics", n_topics), ("n_words", n_words)):
        if value is not None and value < 1:
            raise ValueError(f"{name} is {value}; give a number from 1 on")
    weights, topics = fitted.topic_weights, fitted.topic_word
    wanted = np.ones(len(weights), bool) if unused else in_use(fitted)
    order = [int(k) for k in np.argsort(-weights, kind="stable") if wanted[k]]
    return [_topic(k, float(weights[k]), topics[k], fitted.vocabulary, n_words) for k in order[:n_topics]]


def in_use(fitted: Fitted) -> NDArray[np.bool_]:
    """For each topic whether it is in use: whether it holds at least one in 500 tokens."""
    return loops.in_use(fitted.posterior.topic_tokens)


def _topic(
    number: int, weight: float, word_probabilities: NDArray[np.float64], terms: list[str], n_words: int
) -> Topic:
    top = np.argsort(-word_probabilities, kind="stable")[:n_words].tolist()
    return Topic(
        id=number,
        weight=weight,
        words=tuple(terms[term] for term in top),
        probabilities=tuple(float(word_probabilities[term]) for term in top),
    )
