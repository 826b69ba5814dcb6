"""A few pairs of topics that are followed along a fit: how correlated they are, whatever numbers they come to have."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from diln.inference.data import Array
from diln.inference.progress import in_use

N_PAIRS = 12
LARGE = 20  # topics that they are chosen from
DIGITS = 4  # of a correlation
FOLLOWING = 31  # what a stream is for
GONE = -1
MOST_TOPICS = 1 << 16
PAIR = re.compile(r"\d{1,5}-\d{1,5}")  # the name of a pair

Correlations = dict[str, float]  # by the names of pairs


@dataclass(frozen=True, slots=True)
class Followed:
    """Pairs of topics by the numbers that they had when they were chosen, and those that they have now."""

    first: Array  # (n_pairs, 2)
    now: Array  # (n_pairs, 2); -1 of a topic that is no more

    @classmethod
    def none(cls) -> "Followed":
        """Before there is something to follow."""
        return cls(np.zeros((0, 2), np.int64), np.zeros((0, 2), np.int64))

    @classmethod
    def chosen(cls, tokens: Array, seed: int) -> "Followed":
        """Pairs of large topics, at random; all of them where there are few. Of small ones little is told at all."""
        used = np.flatnonzero(in_use(tokens))
        used = np.sort(used[np.argsort(-tokens[used], kind="stable")[:LARGE]])
        one, other = np.triu_indices(len(used), 1)
        some = np.random.default_rng([seed, FOLLOWING]).permutation(len(one))[:N_PAIRS]
        pairs = np.stack([used[one[some]], used[other[some]]], axis=1).astype(np.int64)
        return cls(pairs, pairs.copy())

    @classmethod
    def named(cls, correlations: Correlations) -> "Followed":
        """Those of a model whose topics have the numbers that they are called by."""
        pairs = np.array([pair_of(name) for name in correlations], np.int64).reshape(-1, 2)
        return cls(pairs, pairs)

    @classmethod
    def restored(cls, numbers: list[int]) -> "Followed":
        """Take back what ``stored`` gave."""
        pairs = np.array(numbers, np.int64).reshape(-1, 4)
        return cls(pairs[:, :2], pairs[:, 2:])

    @staticmethod
    def could_be(numbers: list[int], n_topics: int) -> bool:
        """Whether ``stored`` could have given these, of a chain with this many topics."""
        whole = len(numbers) % 4 == 0 and len(numbers) <= 4 * N_PAIRS
        return whole and all(GONE <= one < (n_topics if at % 4 > 1 else MOST_TOPICS) for at, one in enumerate(numbers))

    def stored(self) -> list[int]:
        """Four numbers of each pair, in a row."""
        return [int(one) for one in np.hstack([self.first, self.now]).ravel()]

    def renamed(self, names: Array, n_topics: int) -> "Followed":
        """The same after topic k has become ``names[k]``; from ``n_topics`` on, it is no more."""
        now = np.asarray(names, np.int64)[self.now]
        return Followed(self.first, np.where((self.now >= 0) & (now < n_topics), now, GONE))

    def kept(self, topics: Array) -> "Followed":
        """The same after topic ``topics[k]`` has become k, and those that are not among them are no more."""
        names = np.full(max(int(topics.max(initial=0)), int(self.now.max(initial=0))) + 1, len(topics))
        names[topics] = np.arange(len(topics))
        return self.renamed(names, len(topics))

    def correlations(self, locations: Array, covariance: Array | None = None) -> Correlations:
        """Correlations of the pairs that there are, given locations (n_topics, d), or else a covariance."""
        alive = (self.now >= 0).all(axis=1)
        one, other = self.now[alive].T
        if locations.shape[1]:
            products, squares = (locations[one] * locations[other]).sum(axis=1), (locations**2).sum(axis=1)
        elif covariance is not None:
            products, squares = covariance[one, other], np.diag(covariance)
        else:
            return {}
        lengths = np.sqrt(squares[one].astype(np.float64) * squares[other])
        found = np.clip(products / np.maximum(lengths, np.finfo(float).tiny), -1, 1)
        names = (name_of(*pair) for pair in self.first[alive].tolist())
        return dict(sorted((name, round(float(value), DIGITS)) for name, value in zip(names, found, strict=True)))

    def names(self) -> dict[str, str]:
        """What pairs that there still are are called now, by what they were called when they were chosen."""
        pairs = zip(self.first.tolist(), self.now.tolist(), strict=True)
        return {name_of(*first): name_of(*sorted(now)) for first, now in pairs if min(now) >= 0}


def follow(
    followed: Followed, seed: int, tokens: Array, locations: Array, covariance: Callable[[], Array | None]
) -> tuple[Followed, Correlations]:
    """The pairs, chosen if none are yet, and their correlations; none of a model that has none, or not yet."""
    known = None if locations.shape[1] else covariance()
    if known is None and not locations.shape[1]:
        return followed, {}
    followed = followed if len(followed.first) else Followed.chosen(tokens, seed)
    return followed, followed.correlations(locations, known)


def name_of(one: int, other: int) -> str:
    """What a pair is called: the numbers of its topics, as in 3-17."""
    return f"{one}-{other}"


def pair_of(name: str) -> tuple[int, int]:
    """The topics of a pair, by its name."""
    one, other = name.split("-")
    return int(one), int(other)


def rename_pairs(history: list[dict[str, Any]], followed: Followed) -> None:
    """Call pairs by their topics' numbers at the end of a fit; those of topics that are no more are left out."""
    names = followed.names()
    for entry in history:
        known = entry["correlations"]
        entry["correlations"] = dict(sorted((names[name], value) for name, value in known.items() if name in names))
