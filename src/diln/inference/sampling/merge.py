"""Fewer topics: a chain that is to have few starts with more of them, and those most alike are then made one.

With just as many topics as it is to end with, a chain often comes to have two themes in one topic and a third in two,
and takes very long to get out of that. With more than are needed each theme finds a topic of its own.
"""

import numpy as np

from diln.inference.data import Array
from diln.inference.sampling.chain import Chain
from diln.inference.sampling.state import State
from diln.inference.sampling.tokens import NO_TOPIC


def merge(chain: Chain, n_topics: int) -> None:
    """Make topics one, two at a time, until there are so many; the chain then is one of so many from the start."""
    state = chain.state
    groups = groups_of(state.expected_topics, state.tokens, n_topics)
    first = np.unique(groups)
    renamed = np.full(NO_TOPIC + 1, NO_TOPIC, np.uint16)
    renamed[: len(groups)] = np.searchsorted(first, groups)
    chain.state = State(state.counts.chosen(first), state.weights.joined(groups, first), len(first))
    chain.rename(renamed)
    chain.recount()


def groups_of(topics: Array, tokens: Array, n_groups: int) -> Array:
    """Which topic each of the topics (n_terms, n_topics) becomes, by number: the first of its group.

    What costs least is joined first: t_i t_j / (t_i + t_j) (1 - affinity), where t are tokens and the affinity is
    sum_w sqrt(p_i(w) p_j(w)). So small topics go before large ones, and like before unlike.
    """
    size = topics.shape[1]
    groups, shares, t = np.arange(size), topics.astype(np.float64), tokens + 1.0
    roots = np.sqrt(shares)
    costs = np.array([_costs(roots, t, k) for k in range(size)])
    for _ in range(size - n_groups):
        i, j = sorted(divmod(int(costs.argmin()), size))
        groups[groups == j] = i
        shares[:, i] = (t[i] * shares[:, i] + t[j] * shares[:, j]) / (t[i] + t[j])
        t[i] += t[j]
        roots[:, i], roots[:, j], t[j] = np.sqrt(shares[:, i]), 0, 0
        costs[i] = costs[:, i] = _costs(roots, t, i)
        costs[j] = costs[:, j] = np.inf
    return groups


def _costs(roots: Array, t: Array, k: int) -> Array:
    """What it costs to join topic k with each of the others; infinite for those that are gone, and for itself."""
    costs = t * t[k] / (t + t[k]) * (1 - np.einsum("wk,w->k", roots, roots[:, k]))
    costs[k] = np.inf
    return np.where(t > 0, costs, np.inf)
