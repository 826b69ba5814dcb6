"""Which topics of a model go together, and which avoid each other."""

from dataclasses import dataclass

import numpy as np

from diln.analysis.given import Model, fitted_of, in_use


@dataclass(frozen=True, slots=True)
class Pair:
    """Two topics and how they go together: above 0 where one makes the other more likely, below where less.

    Attributes
    ----------
    first, second : int
        Numbers of the topics, the smaller one first.
    correlation : float
        From -1 to 1: cosine of their locations (DILN), or correlation of their log weights (CTM).
    covariance : float
        Inner product of their locations, or covariance of their log weights.
    """

    first: int
    second: int
    correlation: float
    covariance: float


@dataclass(frozen=True, slots=True)
class Correlations:
    """Pairs of topics, the strongest first.

    Attributes
    ----------
    positive : tuple of Pair
        Those that go together most.
    negative : tuple of Pair
        Those that avoid each other most.
    """

    positive: tuple[Pair, ...]
    negative: tuple[Pair, ...]


def correlated_pairs(model: Model, n_pairs: int = 10) -> Correlations:
    """The most positively and the most negatively correlated pairs of topics in use, so many of each at most.

    Parameters
    ----------
    model : DILN or CTM
        A fitted estimator, or what ``diln.load`` reads.
    n_pairs : int
        How many pairs of each kind at most. A model with one topic in use has none.

    Returns
    -------
    Correlations
    """
    if n_pairs < 1:
        raise ValueError(f"n_pairs is {n_pairs}; give a number from 1 on")
    fitted = fitted_of(model)
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
