"""Which topics of a model go together, and which avoid each other."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diln.analysis.inputs import Model, fitted_of, in_use
from diln.models.agreement import Judged
from diln.models.fitted import Fitted

Floats = NDArray[np.float64]

SPREADS = 2.0  # that strength is less by, where pairs are ranked


@dataclass(frozen=True, slots=True)
class Pair:
    """Two topics and how they go together.

    Attributes
    ----------
    first, second : int
        Numbers of the topics, the smaller one first.
    lift : float
        How many times as often as by chance the two are together in a document, E[Z_i Z_j] / (E Z_i E Z_j) of their
        weights: above 1 they go together, below they avoid each other.
    log_lift : float
        Its logarithm, the covariance of their log weights (DILN: the inner product of their locations). Of several
        chains the mean over those that have found both topics, of one chain the mean over its states.
    correlation : float
        The model's ``topic_correlation_``, from -1 to 1.
    spread : float or None
        Standard deviation of ``log_lift``: between chains and within them; of one chain within it, which is too small;
        None where nothing is known of it.
    low, high : float or None
        Where the lift is, in at least 19 of 20 cases, in a further chain that finds both topics; None of one chain.
    sure : bool or None
        Whether a further chain that finds both topics has the lift on the same side of 1 in at least 19 of 20 cases;
        None of one chain. The page on sampling has the rule.
    n_chains : int or None
        Chains that have found both topics, the model's own among them; None of one chain.
    """

    first: int
    second: int
    lift: float
    log_lift: float
    correlation: float
    spread: float | None = None
    low: float | None = None
    high: float | None = None
    sure: bool | None = None
    n_chains: int | None = None


@dataclass(frozen=True, slots=True)
class Correlations:
    """Pairs of topics, the strongest first.

    Attributes
    ----------
    positive : tuple of Pair
        Those that go together most.
    negative : tuple of Pair
        Those that avoid each other most.
    n_pairs : int
        All pairs of topics that are told from the origin, listed or not.
    n_sure : int or None
        Those of them that are sure; None of one chain.
    """

    positive: tuple[Pair, ...]
    negative: tuple[Pair, ...]
    n_pairs: int = 0
    n_sure: int | None = None


def correlated_pairs(model: Model, n_pairs: int = 10, *, unsure: bool = False) -> Correlations:
    """The pairs of topics that go together most, and those that avoid each other most, so many of each at most.

    Pairs are ranked by the strength that is sure: by how far the log lift is from 0, less two spreads. Topics take part
    that are in use, and whose location is told from the origin: the square of its mean over states is more than half
    the mean of its square.

    Parameters
    ----------
    model : DILN or CTM
        A fitted estimator, or what ``diln.load`` reads.
    n_pairs : int
        How many pairs of each kind at most. A model with one topic in use has none.
    unsure : bool
        Whether pairs that are not sure are among them. Of a model fitted with one chain, of which none is known to be
        sure, all are.

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
    judged = fitted.judged()
    values = covariance if judged is None else judged.log_lift
    spread = fitted.posterior.spread if judged is None else judged.spread
    topics = np.flatnonzero(in_use(fitted) & fitted.posterior.placed)
    above, right = np.triu_indices(len(topics), k=1)
    first, second = topics[above], topics[right]
    order = _ranked(values[first, second], 0.0 if spread is None else spread[first, second])
    if judged is not None and not unsure:
        order = order[judged.sure[first[order], second[order]]]
    signs = np.sign(values[first[order], second[order]])

    def pairs(sign: int) -> tuple[Pair, ...]:
        places = [(int(first[at]), int(second[at])) for at in order[signs == sign][:n_pairs]]
        known = [_pair(i, j, float(values[i, j]), float(correlation[i, j])) for i, j in places]
        if judged is not None:
            return tuple(_with_chains(pair, judged, fitted) for pair in known)
        return tuple(known if spread is None else [replace(one, spread=_at(spread, one)) for one in known])

    return Correlations(pairs(1), pairs(-1), len(first), None if judged is None else judged.n_sure)


def _ranked(log_lifts: Floats, spreads: Floats | float) -> NDArray[np.intp]:
    """Pairs by the strength that is sure, ties by strength, those by their place."""
    strength = np.abs(log_lifts)
    return np.lexsort((-strength, -np.maximum(strength - SPREADS * np.asarray(spreads, np.float64), 0)))


def _pair(first: int, second: int, log_lift: float, correlation: float) -> Pair:
    return Pair(first, second, float(np.exp(log_lift)), log_lift, correlation)


def _with_chains(pair: Pair, judged: Judged, fitted: Fitted) -> Pair:
    """A pair with what several chains say of it."""
    spread = _at(judged.spread, pair)
    reach = _at(judged.quantile, pair) * spread
    found = None if fitted.agreement is None else fitted.agreement.together
    return replace(
        pair, spread=spread, low=float(np.exp(pair.log_lift - reach)), high=float(np.exp(pair.log_lift + reach)),
        sure=bool(judged.sure[pair.first, pair.second]), n_chains=None if found is None else int(_at(found, pair)),
    )  # fmt: skip


def _at(matrix: NDArray[Any], pair: Pair) -> float:
    return float(matrix[pair.first, pair.second])
