"""How far a fit is, told to whoever looks on after every sweep, pass or step."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from diln.inference.data import Array

IN_USE = 1 / 500  # share of the tokens from which on a topic is in use


@dataclass(slots=True)
class Progress:
    """How far inference is, after a pass or a step."""

    iteration: int  # passes begun
    documents: int  # documents visited so far, each as often as it was
    seconds: float
    n_topics: int  # topics in use
    bound: float | None = None
    terms: dict[str, float] = field(default_factory=dict)
    perplexity: float | None = None
    alpha: float | None = None
    beta: float | None = None
    score: float | None = None  # sampling: mean of ln p(token's term | all other tokens)
    topic_word_prior: float | None = None  # sampling: gamma_0
    location_variance: float | None = None  # sampling: c
    n_components: int | None = None  # sampling: topics that there are, in use or not
    n_states: int | None = None  # sampling: states averaged so far
    correlations: dict[str, float] = field(default_factory=dict)  # of a few pairs of topics, as in {"3-17": 0.4}
    chain: int | None = None  # of several, from 1 on; told to those who look on, and not kept
    chains_done: int | None = None


class Look(Protocol):
    """Someone who looks on while a model is fitted."""

    def look(self, progress: Progress) -> None:
        """A pass, or a step, is done."""


class Sight(NamedTuple):
    """The topics of a model on its way: to be looked at, neither kept nor changed, for the next sweep moves them."""

    counts: Array  # (n_terms, n_topics) tokens of each term in each topic
    tokens: Array  # (n_topics,) tokens of each topic
    locations: Array  # (n_topics, d) where the topics are; d is 0 while they are nowhere


See = Callable[
    [Callable[[], Sight]], None
]  # is offered a sight after every sweep, pass or step, which it need not take


def in_use(tokens: Array) -> NDArray[np.bool_]:
    """For each topic, given the tokens it holds, whether it is in use: whether it holds one in 500 of them."""
    return np.asarray((tokens > 0) & (tokens >= IN_USE * tokens.sum()))


def topics_in_use(tokens: Array) -> int:
    """How many topics are in use."""
    return int(in_use(tokens).sum())
