"""Which topics of a model go together, and which avoid each other."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diln.analysis.html import APART, TOGETHER, Bar, Row, stacked, table
from diln.analysis.inputs import Model, fitted_of
from diln.analysis.records import Record
from diln.analysis.topics import largest_topics
from diln.models.checks import check_whole
from diln.models.fitted import Fitted

Floats = NDArray[np.float64]

WORDS = 3  # that a topic is called by
STRONGEST = 2.5  # log lift whose bar is the longest in a table
SPREADS = 2.0  # that strength is less by, where pairs are ranked


@dataclass(frozen=True, slots=True)
class Pair(Record):
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

    def as_row(self) -> Row:
        """What a table in a notebook shows of it."""
        return self.beside({}, TOGETHER if self.log_lift > 0 else APART)

    def beside(self, labels: dict[int, str], shade: str) -> Row:
        """The same, with what the topics are called, and with a bar of this colour."""
        told = {} if self.sure is None else {"range": f"{self.low:.2g} to {self.high:.2g}", "sure": _sure(self.sure)}
        bar = Bar(abs(self.log_lift), STRONGEST, f"{self.lift:.2g}\N{MULTIPLICATION SIGN}", shade)
        names = {name: f"{one}  {labels.get(one, '')}" for name, one in (("one", self.first), ("other", self.second))}
        return {"lift": bar, **told, **names}


@dataclass(frozen=True, slots=True)
class Correlations(Record):
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
    labels : dict of str
        What the topics of these pairs are called, by their numbers.
    """

    positive: tuple[Pair, ...]
    negative: tuple[Pair, ...]
    n_pairs: int = 0
    n_sure: int | None = None
    labels: dict[int, str] = field(default_factory=dict, compare=False, repr=False)

    def called(self, labels: Mapping[int, str]) -> "Correlations":
        """The same with these labels of its topics, by their numbers."""
        there = {one for pair in (*self.positive, *self.negative) for one in (pair.first, pair.second)}
        return replace(self, labels={one: labels[one] for one in sorted(there)})

    def _repr_html_(self) -> str:
        told = "" if self.n_sure is None else f"{self.n_sure:,} of {self.n_pairs:,} pairs are sure"
        kinds = {"Topics that go together": self.positive, "Topics that avoid each other": self.negative}
        shades = zip(kinds.items(), (TOGETHER, APART), strict=True)
        parts = [
            table([one.beside(self.labels, shade) for one in some], name) for (name, some), shade in shades if some
        ]
        return stacked(*parts, table([], note=told or f"{self.n_pairs:,} pairs"))


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
    found = ranked_pairs(lifts_of(fitted), n_pairs, unsure=unsure)
    return found.called({topic.id: ", ".join(topic.words) for topic in largest_topics(fitted, n_words=WORDS)})


@dataclass(frozen=True, slots=True)
class Lifts:
    """How all pairs of topics go together, as a pair has it; arrays are (n_topics, n_topics)."""

    topics: NDArray[np.int64]  # those that take part
    log_lift: Floats
    correlation: Floats
    spread: Floats | None = None
    low: Floats | None = None
    high: Floats | None = None
    sure: NDArray[np.bool_] | None = None
    n_chains: NDArray[Any] | None = None

    def pair(self, first: int, second: int) -> Pair:
        """What is known of two topics."""
        places = (min(first, second), max(first, second))
        log_lift, low, high = float(self.log_lift[places]), _at(self.low, places), _at(self.high, places)
        sure = None if self.sure is None else bool(self.sure[places])
        n_chains = None if self.n_chains is None else int(self.n_chains[places])
        return Pair(
            *places, float(np.exp(log_lift)), log_lift, float(self.correlation[places]), _at(self.spread, places), low,
            high, sure, n_chains,
        )  # fmt: skip

    def beside(self, topic: int, sign: int, *, unsure: bool = False) -> list[Pair]:
        """Pairs of a topic with those that it goes together with (1) or avoids (-1), the strongest first.

        Pairs that are not sure are left out, where that is known.
        """
        others = self.topics[self.topics != topic] if topic in self.topics else self.topics[:0]
        others = others[np.sign(self.log_lift[topic, others]) == sign]
        if self.sure is not None and not unsure:
            others = others[self.sure[topic, others]]
        spread = 0.0 if self.spread is None else self.spread[topic, others]
        return [self.pair(topic, int(other)) for other in others[_ranked(self.log_lift[topic, others], spread)]]


def lifts_of(fitted: Fitted) -> Lifts:
    """How all pairs of a model's topics go together; raises ValueError for a model without correlations."""
    correlation = fitted.correlation
    if correlation is None:
        raise ValueError(
            f"the model is an {fitted.kind}, whose topics have no locations and so no correlations; fit a DILN or a "
            "CTM, whose topics have"
        )
    topics, judged = np.flatnonzero(fitted.paired), fitted.judged()
    if judged is None:
        return Lifts(topics, np.asarray(fitted.log_lift), correlation, fitted.log_lift_spread)
    reach = judged.quantile * judged.spread
    with np.errstate(over="ignore"):
        low, high = np.exp(judged.log_lift - reach), np.exp(judged.log_lift + reach)
    together = None if fitted.agreement is None else fitted.agreement.together
    return Lifts(topics, judged.log_lift, correlation, judged.spread, low, high, judged.sure, together)


def ranked_pairs(lifts: Lifts, n_pairs: int, *, unsure: bool = False) -> Correlations:
    """The strongest pairs of each kind."""
    above, right = np.triu_indices(len(lifts.topics), k=1)
    first, second = lifts.topics[above], lifts.topics[right]
    first, second = np.minimum(first, second), np.maximum(first, second)
    order = _ranked(lifts.log_lift[first, second], 0.0 if lifts.spread is None else lifts.spread[first, second])
    if lifts.sure is not None and not unsure:
        order = order[lifts.sure[first[order], second[order]]]
    signs = np.sign(lifts.log_lift[first[order], second[order]])

    def pairs(sign: int) -> tuple[Pair, ...]:
        return tuple(lifts.pair(int(first[at]), int(second[at])) for at in order[signs == sign][:n_pairs])

    n_sure = None if lifts.sure is None else int(lifts.sure[first, second].sum())
    return Correlations(pairs(1), pairs(-1), len(first), n_sure)


def _sure(value: bool) -> str:
    return "yes" if value else "no"


def _ranked(log_lifts: Floats, spreads: Floats | float) -> NDArray[np.intp]:
    """Pairs by the strength that is sure, ties by strength, those by their place."""
    strength = np.abs(log_lifts)
    return np.lexsort((-strength, -np.maximum(strength - SPREADS * np.asarray(spreads, np.float64), 0)))


def _at(matrix: NDArray[Any] | None, places: tuple[int, int]) -> float | None:
    return None if matrix is None else float(matrix[places])
