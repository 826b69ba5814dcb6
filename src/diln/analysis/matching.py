"""Which topics of two models are the same."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diln.analysis.inputs import Model, fitted_of, used_topics
from diln.models.fitted import Fitted
from diln.prob.matching import SAME, matched


@dataclass(frozen=True, slots=True)
class Match:
    """A topic of one model and the matching topic of another.

    Attributes
    ----------
    first, second : int
        Their numbers in the one model and in the other.
    affinity : float
        1 for the same words with the same probabilities, 0 for no word in common.
    """

    first: int
    second: int
    affinity: float


@dataclass(frozen=True, slots=True)
class Matching:
    """Topics of two models, matched one to one so that the sum of affinities is as large as possible.

    Attributes
    ----------
    matches : tuple of Match
        The best first; as many as the smaller model has topics in use.
    n_topics : (int, int)
        Topics in use of the first and of the second model.
    """

    matches: tuple[Match, ...]
    n_topics: tuple[int, int]

    @property
    def mean(self) -> float:
        """Mean affinity of the matches. There are as many as the smaller model has topics."""
        return float(np.mean([match.affinity for match in self.matches]))

    @property
    def same(self) -> tuple[Match, ...]:
        """The matches of topics that count as the same: with an affinity above 0.5."""
        return tuple(match for match in self.matches if match.affinity > SAME)

    @property
    def share(self) -> float:
        """Number of topics that are in both models, divided by the number of topics of the larger model."""
        return len(self.same) / max(self.n_topics)

    def to_json(self) -> dict[str, Any]:
        """As plain numbers."""
        matches = [asdict(match) for match in self.matches]
        return {"mean": self.mean, "share": self.share, "n_topics": list(self.n_topics), "matches": matches}


def match_topics(first: Model, second: Model) -> Matching:
    """Match the topics in use of two models with the same terms.

    Uses Hellinger's affinity of topics p and q, sum_w sqrt(p(w) q(w)), and the assignment with the largest sum.

    Parameters
    ----------
    first, second : DILN, HDP, LDA or CTM
        Fitted estimators, or models read by ``diln.load``. Both need the same terms, in any order.

    Returns
    -------
    Matching
        ``share`` is the share of topics that are in both.
    """
    one, two = fitted_of(first), fitted_of(second)
    order, used, others = _places(one, two), used_topics(one), used_topics(two)
    pairs = zip(*matched(one.topic_word[used], two.topic_word[others][:, order]), strict=True)
    found = [Match(int(used[row]), int(others[column]), float(affinity)) for row, column, affinity in pairs]
    return Matching(tuple(sorted(found, key=lambda match: -match.affinity)), (len(used), len(others)))


def _places(one: Fitted, two: Fitted) -> NDArray[np.int64]:
    """Where the terms of the one model are among those of the other."""
    places = {term: place for place, term in enumerate(two.vocabulary)}
    apart = len(set(one.vocabulary) ^ places.keys())
    if apart:
        raise ValueError(
            f"the models have {len(one.vocabulary):,} and {len(two.vocabulary):,} terms, of which {apart:,} are in one "
            "of them only; fit both to the same corpus"
        )
    return np.array([places[term] for term in one.vocabulary], np.int64)
