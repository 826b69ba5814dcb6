"""Whether models of the same documents, fitted with different seeds, find the same."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from diln.analysis.correlation_agreement import CorrelationAgreement, compare_correlations
from diln.analysis.inputs import Model
from diln.analysis.matching import Matching, match_topics


@dataclass(frozen=True, slots=True)
class Repeat:
    """Two of several models and what they have in common.

    Attributes
    ----------
    first, second : int
        Their positions in the list of models, from 0.
    topics : Matching
        Which topics of the two models match.
    correlations : CorrelationAgreement or None
        How far their correlations agree; None if one of the models has no correlations.
    """

    first: int
    second: int
    topics: Matching
    correlations: CorrelationAgreement | None

    def to_json(self) -> dict[str, Any]:
        """As plain numbers."""
        known = None if self.correlations is None else self.correlations.to_json()
        return {"first": self.first, "second": self.second, **self.topics.to_json(), "correlations": known}


@dataclass(frozen=True, slots=True)
class Stability:
    """Several models, compared in pairs; means are over these pairs.

    Attributes
    ----------
    repeats : tuple of Repeat
        One for each pair of models.
    """

    repeats: tuple[Repeat, ...]

    @property
    def mean(self) -> float:
        """Mean affinity of topics that go together, from 0 to 1."""
        return float(np.mean([repeat.topics.mean for repeat in self.repeats]))

    @property
    def share(self) -> float:
        """Mean share of the topics that are in both of two models."""
        return float(np.mean([repeat.topics.share for repeat in self.repeats]))

    @property
    def correlation(self) -> float | None:
        """Mean correlation of one model's correlations with another's, where that is defined."""
        return self._mean("correlation")

    @property
    def signs(self) -> float | None:
        """Mean share of strong correlations with the same sign in two models, where there are some."""
        return self._mean("signs")

    def _mean(self, name: str) -> float | None:
        found = [getattr(repeat.correlations, name, None) for repeat in self.repeats]
        known = [value for value in found if value is not None]
        return float(np.mean(known)) if known else None

    def to_json(self) -> dict[str, Any]:
        """As plain numbers."""
        means = {name: getattr(self, name) for name in ("mean", "share", "correlation", "signs")}
        return {**means, "pairs": [repeat.to_json() for repeat in self.repeats]}


def stability(models: Sequence[Model]) -> Stability:
    """Compare all pairs of several models of the same documents.

    Parameters
    ----------
    models : list of DILN, HDP, LDA or CTM
        At least two fitted estimators, or models read by ``diln.load``.

    Returns
    -------
    Stability
        ``mean`` and ``share`` are about topics; ``correlation`` and ``signs`` are about which topics go together.
    """
    if len(models) < 2:
        raise ValueError(f"{len(models)} model was given; give at least two, fitted with different seeds")
    return Stability(tuple(_repeat(models, *pair) for pair in combinations(range(len(models)), 2)))


def _repeat(models: Sequence[Model], first: int, second: int) -> Repeat:
    matching = match_topics(models[first], models[second])
    return Repeat(first, second, matching, compare_correlations(models[first], models[second], matching))
