"""The topics that themes are made of: those in use, or those that a user shows, with merged ones as one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diln.analysis.inputs import used_topics
from diln.errors import brief
from diln.models.fitted import Fitted

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Shown:
    """Topics that are shown, the largest first, and the model's topics that they are made of."""

    ids: Whole  # (n,) their numbers
    parts: Whole  # (n_parts,) the model's topics that they are made of
    place: Whole  # (n_parts,) which shown topic each part belongs to
    sizes: Floats  # (n_parts,) shares of the tokens; their sum is 1

    @property
    def shares(self) -> Floats:
        """Shares of the tokens (n,); their sum is 1."""
        return np.asarray(np.bincount(self.place, weights=self.sizes, minlength=len(self.ids)), np.float64)

    def mean(self, values: Floats) -> Floats:
        """Values of the model's topics (n_topics, ...) as means over the parts of each shown one, by size."""
        total = np.zeros((len(self.ids), *values.shape[1:]))
        sizes = self.sizes.reshape(-1, *[1] * (values.ndim - 1))
        np.add.at(total, self.place, values[self.parts] * sizes)
        return np.asarray(total / self.shares.reshape(-1, *[1] * (values.ndim - 1)))

    def folded(self, proportions: NDArray[Any]) -> NDArray[Any]:
        """Proportions (n_docs, n_topics) of the shown topics only (n_docs, n), not scaled to sum to 1."""
        if len(self.parts) == len(self.ids):
            return np.asarray(proportions[:, self.ids])
        return np.asarray(proportions[:, self.parts] @ np.eye(len(self.ids), dtype=proportions.dtype)[self.place])


def shown_topics(fitted: Fitted, topics: Sequence[int] | None, merges: Sequence[Sequence[int]]) -> Shown:
    """The topics to be shown: these numbers, or those in use; with topics merged as the user has merged them."""
    n_topics = fitted.posterior.n_topics
    target = np.arange(n_topics)
    for keep, *others in merges:
        target[_known([keep, *others], n_topics)] = keep
    if topics is None:
        ids = np.unique(target[used_topics(fitted)])
    else:
        ids = np.unique(_known(topics, n_topics))
        if not len(ids):
            raise ValueError("no topic is shown, so there are no themes; give at least one topic")
        lost = ids[target[ids] != ids]
        if len(lost):
            raise ValueError(f"topic {lost[0]} is merged into topic {target[lost[0]]}; give that one")
    parts = np.flatnonzero(np.isin(target, ids))
    sizes = np.maximum(fitted.topic_weights[parts], np.finfo(float).tiny)
    shares = np.bincount(target[parts], weights=sizes, minlength=n_topics)
    ids = ids[np.argsort(-shares[ids], kind="stable")]
    where = np.zeros(n_topics, np.int64)
    where[ids] = np.arange(len(ids))
    return Shown(ids, parts, where[target[parts]], sizes / sizes.sum())


def _known(topics: Sequence[int], n_topics: int) -> Whole:
    """Numbers of topics as an array; raise for one that the model does not have."""
    for topic in topics:
        whole = isinstance(topic, int | np.integer) and not isinstance(topic, bool)
        if not whole or not 0 <= topic < n_topics:
            raise ValueError(f"there is no topic {brief(topic)}; the model has 0 to {n_topics - 1}")
    return np.asarray(topics, np.int64)
