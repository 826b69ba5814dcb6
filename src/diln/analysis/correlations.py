"""Which topics of a model go together, and which avoid each other."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diln.analysis.inputs import Model, fitted_of
from diln.models.agreement import Judged
from diln.models.checks import check_whole
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
        How many times as often as by chance the two are together in a document: of two words of a document, one is of
        the first topic and one of the second so many times as often. Above 1 they go together, below they avoid each
        other.
    log_lift : float
        Its logarithm. With several chains, that of the mean covariance over those that found both topics; with one
        chain, of the mean over its states.
    correlation : float
        The model's ``topic_correlation_``, from -1 to 1.
    spread : float or None
        Standard deviation of ``log_lift``, between chains and within them. With one chain it is only the deviation
        within it, which is too small. None if unknown.
    low, high : float or None
        Range of the lift, in at least 19 of 20 cases, in another chain that finds both topics; None for one chain.
    sure : bool or None
        Whether another chain that finds both topics has the lift on the same side of 1 in at least 19 of 20 cases;
        None for one chain. The page on sampling gives the rule.
    n_chains : int or None
        Chains that found both topics, including the model itself; None for one chain.
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
        All pairs of topics that differ clearly from the origin, listed or not.
    n_sure : int or None
        Number of these pairs that are sure; None for one chain.
    """

    positive: tuple[Pair, ...]
    negative: tuple[Pair, ...]
    n_pairs: int = 0
    n_sure: int | None = None


def correlated_pairs(model: Model, n_pairs: int = 10, *, unsure: bool = False) -> Correlations:
    """The pairs of topics that go together most, and those that avoid each other most.

    Pairs are ranked by the distance of the log lift from 0, minus two spreads. Only topics in use count, and of these
    only topics whose location differs clearly from the origin: the square of its mean over states is more than half
    the mean of its square.

    Parameters
    ----------
    model : DILN or CTM
        A fitted estimator, or a model read by ``diln.load``.
    n_pairs : int
        Maximum number of pairs of each kind. A model with one topic in use has none.
    unsure : bool
        Whether to include pairs that are not sure. A model fitted with one chain cannot tell which pairs are sure,
        so all are included.

    Returns
    -------
    Correlations
    """
    check_whole("n_pairs", n_pairs, 1)
    fitted = fitted_of(model)
    correlation, own = fitted.correlation, fitted.log_lift
    if correlation is None or own is None:
        raise ValueError(
            f"the model is an {fitted.kind}, whose topics have no locations and so no correlations; fit a DILN or a "
            "CTM, whose topics have"
        )
    judged = fitted.judged()
    values = own if judged is None else judged.log_lift
    spread = fitted.log_lift_spread if judged is None else judged.spread
    topics = np.flatnonzero(fitted.paired)
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
    """A pair with what several chains found."""
    spread = _at(judged.spread, pair)
    reach = _at(judged.quantile, pair) * spread
    found = None if fitted.agreement is None else fitted.agreement.together
    return replace(
        pair, spread=spread, low=float(np.exp(pair.log_lift - reach)), high=float(np.exp(pair.log_lift + reach)),
        sure=bool(judged.sure[pair.first, pair.second]), n_chains=None if found is None else int(_at(found, pair)),
    )  # fmt: skip


def _at(matrix: NDArray[Any], pair: Pair) -> float:
    return float(matrix[pair.first, pair.second])
