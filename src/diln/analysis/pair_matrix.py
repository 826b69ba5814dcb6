"""How pairs of topics go together after merging and hiding, and all of them as a matrix."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diln.analysis.correlations import Floats, Lifts, lifts_of
from diln.analysis.folding import Folding
from diln.analysis.records import Record
from diln.models.fitted import MOST_LOG_LIFT

CARRIES = 0.1  # share of a merged topic from which on a part has to be sure


@dataclass(frozen=True, slots=True)
class PairMatrix(Record):
    """How all pairs of some topics go together.

    Attributes
    ----------
    order : tuple of int
        The topics, those of a theme next to each other.
    log_lift : array of float, shape (n, n)
        Logarithms of the lifts of pairs, in this order; 0 on the diagonal.
    sure : array of bool, shape (n, n), or None
        Which pairs are sure; None for one chain.
    themes : tuple of int
        The theme of each topic, in this order; empty where there are no themes.
    """

    order: tuple[int, ...]
    log_lift: Floats
    sure: NDArray[np.bool_] | None
    themes: tuple[int, ...]


def folded_lifts(folding: Folding) -> Lifts:
    """How pairs of the topics that are shown go together.

    The lift of a merged pair is the mean of its parts' lifts, weighted by the products of their shares. So are its
    spread and the ends of its range, as if all parts erred alike. It is sure if all parts that carry weight (at least a
    tenth of a merged topic) are sure and on its side of 1. Its chains are the fewest that found one of these parts. A
    merged topic takes part if parts do that hold at least half of its tokens.
    """
    lifts = lifts_of(folding.fitted)
    taking = np.zeros(folding.n_topics)
    taking[lifts.topics] = folding.own_shares[lifts.topics]
    if folding.merged:
        lifts = _merged(folding, lifts)
    shown = np.sort(folding.shown)
    held = folding.columns(taking)[shown]
    return replace(lifts, topics=shown[(held > 0) & (held >= folding.shares[shown] / 2)])


def _merged(folding: Folding, lifts: Lifts) -> Lifts:
    """Lifts of the topics as they are merged."""

    def mean(values: Floats) -> Floats:
        return _folded(folding, values, lambda some, weights: weights @ some)

    covariance = mean(np.asarray(folding.fitted.covariance))
    deviations = np.sqrt(np.maximum(np.diag(covariance), np.finfo(float).tiny))
    correlation = np.clip(covariance / np.outer(deviations, deviations), -1, 1)
    np.fill_diagonal(correlation, 1)
    log_lift = np.log(mean(np.exp(np.minimum(lifts.log_lift, MOST_LOG_LIFT))))
    known = Lifts(lifts.topics, log_lift, correlation, None if lifts.spread is None else mean(lifts.spread))
    if lifts.sure is None or lifts.low is None or lifts.high is None or lifts.n_chains is None:
        return known
    up, down = (
        _folded(folding, lifts.sure & side, lambda some, weights: some[_carrying(weights)].all(axis=0))
        for side in (lifts.log_lift > 0, lifts.log_lift < 0)
    )
    n_chains = _folded(folding, lifts.n_chains, lambda some, weights: some[_carrying(weights)].min(axis=0))
    return replace(known, low=mean(lifts.low), high=mean(lifts.high), sure=up | down, n_chains=n_chains)


def _folded(folding: Folding, values: NDArray[Any], reduce: Callable[[NDArray[Any], Floats], Any]) -> NDArray[Any]:
    """Values of pairs (n_topics, n_topics) of the topics as they are merged, by how those of parts become one."""
    folded = values.copy()
    for _ in range(2):  # the first topic of each pair, and then the second
        for group in folding.edits.merges:
            weights = folding.weights(group)
            held = weights > 0
            folded[group[0]] = reduce(folded[np.array(group)[held]], weights[held])
        folded = folded.T
    return folded


def _carrying(weights: Floats) -> NDArray[np.bool_]:
    """Which parts of a merged topic carry weight; the largest does."""
    return np.asarray(weights >= min(CARRIES, weights.max()))


def pair_matrix(lifts: Lifts, order: Sequence[int], themes: Mapping[int, int]) -> PairMatrix:
    """The lifts of these topics in this order, as far as they take part."""
    taking = set(lifts.topics.tolist())
    chosen = [topic for topic in order if topic in taking]
    places = np.ix_(chosen, chosen)
    log_lift = lifts.log_lift[places].copy()
    np.fill_diagonal(log_lift, 0)
    sure = None if lifts.sure is None else lifts.sure[places]
    return PairMatrix(tuple(chosen), log_lift, sure, tuple(themes[topic] for topic in chosen if topic in themes))
