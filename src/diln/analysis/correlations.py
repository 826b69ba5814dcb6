"""Which topics of a model go together, and which avoid each other."""

from dataclasses import dataclass

import numpy as np

from diln.analysis.topics import in_use
from diln.models.fitted import Fitted


@dataclass(frozen=True, slots=True)
class Pair:
    """Two topics and how they go together: above 0 where one makes the other more likely, below where less."""

    first: int
    second: int
    correlation: float  # from -1 to 1: cosine of their locations, or correlation of their log weights
    covariance: float  # inner product of their locations, or covariance of their log weights


@dataclass(frozen=True, slots=True)
class Correlations:
    """Pairs of topics that go together most, and that avoid each other most, the strongest first."""

    positive: tuple[Pair, ...]
    negative: tuple[Pair, ...]


def correlated_pairs(fitted: Fitted, n_pairs: int = 10) -> Correlations:
    """The most positively and the most negatively correlated pairs of topics in use, so many of each at most.

    A model with one topic in use has no pairs.
    """
    if n_pairs < 1:
        raise ValueError(f"n_pairs is {n_pairs}; give a number from 1 on")
    correlation, covariance = fitted.correlation, fitted.covariance
    if correlation is None or covariance is None:
        raise ValueError(
            f"the model is an {fitted.kind}, whose topics have no locations and so no correlations; fit a DILN or a "
            "CTM, whose topics have"
        )
    used = np.flatnonzero(in_use(fitted))
    above, right = np.triu_indices(len(used), k=1)
    first, second = used[above], used[right]
    values = correlation[first, second]
    order = np.argsort(-values, kind="stable")

    def pair(at: int) -> Pair:
        return Pair(int(first[at]), int(second[at]), float(values[at]), float(covariance[first[at], second[at]]))

    return Correlations(
        tuple(pair(at) for at in order[:n_pairs] if values[at] > 0),
        tuple(pair(at) for at in order[::-1][:n_pairs] if values[at] < 0),
    )
