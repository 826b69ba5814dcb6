"""What several chains over the same documents agree on: which topics are found again, and which go together.

The model is the first chain. A topic of it is found in another chain where the assignment of topics to topics gives it
one with an affinity above 0.5 (``diln.prob.matching``). Chains that have found two topics have one covariance of their
log weights each, ln E[Z_i Z_j] / (E Z_i E Z_j); the lift of their proportions is that of the mean of these.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from diln.inference.posterior import Posterior
from diln.prob.matching import SAME, matched

Array = NDArray[Any]
PRIOR_DEGREES = 4.0  # of freedom that the pooled variance between chains counts as, beside a pair's own
MISSES = 4  # of so many chains one may lack a topic of a pair that is sure
CHANCE = 0.98  # of a further chain within the quantile: more than 19 in 20, for spreads within chains are too small
PREFIX = "agreement."  # of tensors' names


@dataclass(frozen=True, slots=True)
class ChainSummary:
    """What is kept of a chain beside the first: its topics, and which go together."""

    topics: Array  # (n_topics, n_terms) float32
    covariance: Array | None  # (n_topics, n_topics)
    spread: Array | None  # (n_topics, n_topics) of the covariance in this chain

    @classmethod
    def of(cls, posterior: Posterior) -> Self:
        """What is kept of a chain."""
        topics = np.ascontiguousarray(posterior.topic_word().T, np.float32)
        return cls(topics, posterior.covariance, posterior.some_spread())


@dataclass(frozen=True, slots=True)
class Judged:
    """How sure the log lifts of pairs of topics are, all (n_topics, n_topics)."""

    log_lift: Array  # of proportions, from the mean over the chains that have found both topics
    spread: Array  # standard deviation of a further chain's value from it, and of the truth from that
    quantile: Array  # of Student's distribution: a further chain is within so many spreads
    sure: NDArray[np.bool_]

    @property
    def n_sure(self) -> int:
        """How many pairs are sure."""
        return int(np.triu(self.sure, k=1).sum())


@dataclass(frozen=True, slots=True)
class ChainAgreement:
    """What chains agree on, of which the model is the first."""

    n_chains: int
    found: Array  # (n_topics,) int64: chains that have found a topic, the model's own among them
    together: Array | None = None  # (n_topics, n_topics) uint16: chains that have found both topics
    log_lift: Array | None = None  # (n_topics, n_topics) float32: of weights, the covariance; mean over these chains
    between: Array | None = None  # (n_topics, n_topics) float32: variance over these chains, 0 where there is but one
    within: Array | None = None  # (n_topics, n_topics) float32: mean over these chains of the variance in each

    @classmethod
    def of(cls, model: Posterior, others: Sequence[ChainSummary]) -> Self:
        """What a model and other chains agree on."""
        first = ChainSummary.of(model)
        places = [places_of(first.topics, other.topics) for other in others]
        found = np.asarray(1 + np.sum([place >= 0 for place in places], axis=0, dtype=np.int64))
        if first.covariance is None:
            return cls(len(others) + 1, found)
        chains = [first, *others]
        places = [np.arange(len(found)), *places]
        mean, together, between = moments(chains, places)
        return cls(
            len(chains), found, together.astype(np.uint16), mean.astype(np.float32), between.astype(np.float32),
            within(chains, places, together),
        )  # fmt: skip

    def chosen(self, topics: Array) -> NDArray[np.bool_]:
        """Pairs (n_topics, n_topics) of two of these topics, which are told by True."""
        return np.asarray(np.triu(np.outer(topics, topics), k=1))

    def judged(self, topics: NDArray[np.bool_], log_lift: Callable[[Array], Array]) -> Judged | None:
        """How sure pairs of topics are, where these topics take part; None of a model without correlations.

        ``log_lift`` gives the log lifts of proportions of a covariance.

        The variance between chains of a pair's covariances, s^2, has n - 1 degrees of freedom, n the chains that have
        found both topics: too few by itself. It is drawn to s_0^2, the mean of all pairs' variances, each with its
        degrees, that counts as d_0 = 4 degrees more, as a moderated t statistic has it:

            v = (d_0 s_0^2 + (n - 1) s^2) / (d_0 + n - 1)

        A further chain differs from the mean of n by v (1 + 1/n) in expectation of squares. All chains see the same
        documents, and agree on what is by chance in them, too: the mean variance within a chain is added,

            spread^2 = v (1 + 1/n) + within

        Log lifts of proportions follow covariances, but are smaller, and so are their spreads: by ``shrinkage``. The
        pair is sure where |log lift| > t spread, t the 99% quantile of Student's distribution with d_0 + n - 1
        degrees, and where n is all chains but at most one in four: then a further chain that finds both topics has the
        same sign in at least 19 of 20 cases.
        """
        if self.log_lift is None or self.between is None or self.together is None:
            return None
        degrees = np.maximum(self.together.astype(np.float64) - 1, 0)
        pooled = self._pooled(degrees, self.chosen(topics))
        moderated = (PRIOR_DEGREES * pooled + degrees * self.between) / (PRIOR_DEGREES + degrees)  # G18
        variance = moderated * (1 + 1 / np.maximum(self.together, 1)) + (0 if self.within is None else self.within)
        quantile = stdtrit(PRIOR_DEGREES + np.arange(self.n_chains), (1 + CHANCE) / 2)[degrees.astype(np.int64)]
        lifts = log_lift(self.log_lift.astype(np.float64))
        spread = np.sqrt(variance) * shrinkage(lifts, self.log_lift, topics)  # L4
        often = self.together >= self.n_chains - self.n_chains // MISSES
        with np.errstate(invalid="ignore"):
            sure = often & (np.abs(lifts) > quantile * spread) & np.outer(topics, topics)  # G19
        return Judged(lifts, spread, quantile, np.asarray(sure))

    def _pooled(self, degrees: Array, pairs: Array) -> float:
        """Mean variance between chains over these pairs; infinite if no two chains have both topics of one."""
        total = float(degrees[pairs].sum())
        return float((degrees * self.between)[pairs].sum()) / total if total else np.inf

    def share(self, topics: NDArray[np.bool_]) -> float:
        """Share of these topics that another chain finds again, mean over chains."""
        return float(np.mean(self.found[topics] - 1) / (self.n_chains - 1))

    def tensors(self) -> dict[str, Array]:
        """All arrays, by name."""
        known = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "n_chains"}
        return {PREFIX + name: value for name, value in known.items() if value is not None}

    @classmethod
    def restored(cls, tensors: dict[str, Array], n_chains: int) -> Self:
        """Take back what ``tensors`` gave."""
        names = [name for name in tensors if name.startswith(PREFIX)]
        known: dict[str, Any] = {name.removeprefix(PREFIX): tensors[name] for name in names}
        return cls(n_chains=n_chains, **known)


def shrinkage(lifts: Array, covariance: Array, topics: NDArray[np.bool_]) -> float:
    """Size of log lifts beside covariances': root mean squares over pairs of these topics; 1 if there are none."""
    pairs = np.triu(np.outer(topics, topics), k=1)
    sizes = [float((one[pairs].astype(np.float64) ** 2).sum()) for one in (lifts, covariance)]
    return float(np.sqrt(sizes[0] / sizes[1])) if min(sizes) > 0 else 1.0


def places_of(first: Array, second: Array) -> Array:
    """For each topic of a model (n_topics,) which of another's it is, -1 where none is the same."""
    rows, columns, affinity = matched(first, second)
    places = np.full(len(first), -1, np.int64)
    places[rows] = np.where(affinity > SAME, columns, -1)
    return places


def moments(chains: Sequence[ChainSummary], places: Sequence[Array]) -> tuple[Array, Array, Array]:
    """Mean of the log lifts over chains that have found both topics, how many there are, and variance over them."""
    size = len(places[0])
    mean, together, squares = np.zeros((size, size)), np.zeros((size, size)), np.zeros((size, size))
    for chain, place in zip(chains, places, strict=True):
        both = pairs_found(place)
        off = np.where(both, taken(chain.covariance, place) - mean, 0)
        together += both
        step = off / np.maximum(together, 1)
        mean += step
        squares += off * (off - step)
    return mean, together, squares / np.maximum(together - 1, 1)


def within(chains: Sequence[ChainSummary], places: Sequence[Array], together: Array) -> Array | None:
    """Mean over chains that have found both topics of the variance in each; None where it is not known."""
    if any(chain.spread is None for chain in chains):
        return None
    total = np.zeros_like(together)
    for chain, place in zip(chains, places, strict=True):
        total += np.where(pairs_found(place), taken(chain.spread, place).astype(np.float64) ** 2, 0)
    return np.asarray(total / together, np.float32)


def pairs_found(places: Array) -> NDArray[np.bool_]:
    """Whether both topics of a pair were found (n_topics, n_topics)."""
    return np.outer(places >= 0, places >= 0)


def taken(matrix: Array | None, places: Array) -> Array:
    """The values of a chain's pairs of topics, at the places of the model's."""
    return np.zeros((len(places), len(places))) if matrix is None else matrix[np.ix_(places, places)]
