"""Whether two models find the same correlations of topics."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diln.analysis.inputs import Model, fitted_of
from diln.analysis.matching import Matching, match_topics
from diln.errors import check_kind

STRONG = 0.5  # correlation, above 0 or below, from which on its sign should be found again

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CorrelationAgreement:
    """How far two models agree on which topics go together.

    Attributes
    ----------
    correlation : float or None
        Correlation between the correlations of the two models; None if they do not vary.
    signs : float or None
        Share of the strong correlations that have the same sign in both; None if there is no strong one.
    n_topics : int
        Topics that are in both models.
    n_strong : int
        Pairs of these with a correlation of 0.5 or more, or -0.5 or less, in either model.
    """

    correlation: float | None
    signs: float | None
    n_topics: int
    n_strong: int

    def to_json(self) -> dict[str, Any]:
        """As plain numbers."""
        return asdict(self)


def compare_correlations(first: Model, second: Model, matching: Matching | None = None) -> CorrelationAgreement | None:
    """Compare the correlations of topics that are in both models.

    Parameters
    ----------
    first, second : DILN, HDP, LDA or CTM
        Fitted estimators, or models read by ``diln.load``.
    matching : Matching, optional
        The result of ``match_topics`` for the two models, if you have it already.

    Returns
    -------
    CorrelationAgreement or None
        None if one of the models has no correlations. DILN and CTM have them.
    """
    one, two = fitted_of(first).correlation, fitted_of(second).correlation
    if one is None or two is None:
        return None
    matching = match_topics(first, second) if matching is None else matching
    check_kind("matching", matching, Matching)
    same = matching.same
    values = _pairs(one, [match.first for match in same])
    again = _pairs(two, [match.second for match in same])
    strong = np.maximum(np.abs(values), np.abs(again)) >= STRONG
    alike = (np.sign(values) == np.sign(again))[strong]
    return CorrelationAgreement(
        _correlation(values, again), float(alike.mean()) if len(alike) else None, len(same), len(alike)
    )


def _pairs(correlation: Floats, topics: list[int]) -> Floats:
    """The correlations of each two of these topics."""
    first, second = np.triu_indices(len(topics), k=1)
    chosen = np.array(topics, np.int64)
    return np.asarray(correlation[chosen[first], chosen[second]])


def _correlation(values: Floats, others: Floats) -> float | None:
    """Pearson's; None where one of the two does not vary."""
    if len(values) < 2:
        return None
    apart, beside = values - values.mean(), others - others.mean()
    lengths = float(np.linalg.norm(apart) * np.linalg.norm(beside))
    # Values that are all the same leave a mean that is off by a rounding.
    if lengths <= len(values) * np.finfo(float).eps:
        return None
    return float(np.clip(apart @ beside / lengths, -1, 1))
