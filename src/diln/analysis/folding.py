"""What merging and hiding topics does to numbers: a merged topic is the sum of its parts under the id that is kept."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diln.analysis.edits import Edits
from diln.inference.progress import in_use
from diln.models.fitted import Fitted

Floats = NDArray[np.float64]


class Folding:
    """The topics of a model as its user has merged and hidden them.

    Arrays keep the model's width: the column of a merged topic is that of the id that is kept, and the columns of its
    other parts hold nothing.
    """

    def __init__(self, fitted: Fitted, edits: Edits | None = None) -> None:
        self.fitted, self.edits = fitted, edits or Edits()
        self.n_topics, self.own_shares = fitted.posterior.n_topics, fitted.topic_weights
        self.target = np.arange(self.n_topics)
        for keep, *others in self.edits.merges:
            self.target[others] = keep

    @property
    def merged(self) -> bool:
        """Whether there are merged topics."""
        return bool(self.edits.merges)

    def parts(self, topic: int) -> tuple[int, ...]:
        """The model's topics that this one is made of, itself first."""
        return self._merged.get(topic, (topic,))

    @cached_property
    def _merged(self) -> dict[int, tuple[int, ...]]:
        return {group[0]: group for group in self.edits.merges}

    @cached_property
    def shares(self) -> Floats:
        """Share of the tokens that each topic holds (n_topics,); 0 of what is merged into another."""
        return np.bincount(self.target, weights=self.own_shares, minlength=self.n_topics).astype(np.float64)

    @cached_property
    def used(self) -> NDArray[np.bool_]:
        """For each topic whether it is in use and not merged into another."""
        return np.asarray(in_use(self.columns(self.fitted.posterior.topic_tokens)))

    @cached_property
    def named(self) -> NDArray[np.int64]:
        """Topics that documents are told to have, the largest first: all that hold a token and are not hidden.

        Small ones that are not in use are among them: together they can hold more than half of a document.
        """
        hidden = np.isin(np.arange(self.n_topics), list(self.edits.hidden))
        order = np.argsort(-self.shares, kind="stable")
        return np.asarray(order[((self.shares > 0) & ~hidden)[order]])

    @cached_property
    def shown(self) -> NDArray[np.int64]:
        """Topics that are shown, the largest first: in use and not hidden; a merged one once."""
        return np.asarray(self.named[self.used[self.named]])

    @cached_property
    def topic_word(self) -> Floats:
        """Words of each topic (n_topics, n_terms): of a merged one the mean of its parts', weighted by their shares."""
        words = self.fitted.topic_word
        if not self.merged:
            return words
        words = words.copy()
        for group in self.edits.merges:
            parts = list(group)
            words[group[0]] = self.weights(parts) @ self.fitted.topic_word[parts]
        return words

    def words(self, topic: int) -> Floats:
        """Words of one topic (n_terms,), as ``topic_word`` has them."""
        parts = list(self.parts(topic))
        words = self.fitted.topic_word
        return np.asarray(words[topic] if len(parts) == 1 else self.weights(parts) @ words[parts])

    def word(self, term: int) -> Floats:
        """Probability of one word in each topic (n_topics,), as ``topic_word`` has it."""
        column = np.array(self.fitted.topic_word[:, term])
        for group in self.edits.merges:
            column[group[0]] = self.weights(group) @ self.fitted.topic_word[list(group), term]
        return column

    def weights(self, parts: Sequence[int]) -> Floats:
        """How much each part of a topic counts; they sum to 1."""
        shares = self.own_shares[list(parts)]
        total = shares.sum()
        return np.asarray(shares / total if total > 0 else np.full(len(shares), 1 / len(shares)))

    def visible(self, shares: Floats) -> Floats:
        """Shares (n_docs, n_topics) of the topics as they are merged; those of hidden ones are less than 0.

        What is merged into others, and no topic any more, has -1.
        """
        if not self.edits:
            return shares
        folded = np.array(self.columns(shares))
        folded[:, self.target != np.arange(self.n_topics)] = -1
        hidden = sorted(self.edits.hidden)
        folded[:, hidden] = -np.maximum(folded[:, hidden], np.finfo(float).tiny)
        return folded

    def columns(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values (..., n_topics) that add up, such as proportions and tokens, of the topics as they are merged."""
        if not self.merged:
            return values
        folded = values.copy()
        for keep, *others in self.edits.merges:
            folded[..., keep] += values[..., others].sum(axis=-1)
            folded[..., others] = 0
        return folded
