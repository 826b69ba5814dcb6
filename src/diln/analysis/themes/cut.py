"""Which theme each topic is of: a cut of the tree, numbered so that what is hidden or merged moves no other theme."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diln.analysis.themes.hierarchy import Hierarchy, Node

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_Group = tuple[int, int] | None  # its number in a tree and how many topics it has; None for no topic


class Cut(NamedTuple):
    """Themes of the leaves of a tree, and of the topics that are at these."""

    leaves: Whole  # (n_leaves,) the theme of each; -1 of those whose theme has no topic
    topics: Whole  # (n_topics,) the theme of each
    depth: int  # groups of the tree that are told apart


def cut(hierarchy: Hierarchy, shares: Floats, at: Whole, sizes: Floats, n: int, *, exactly: bool) -> Cut:
    """Cut a tree into n themes, of topics with these sizes (n_topics,) at these leaves (n_topics,).

    Themes are numbered by the shares of all leaves (n_leaves,), so that a theme keeps its number whatever topics are
    left out. A theme none of whose topics is left is none any more; if there are to be ``exactly`` n, the next groups
    of the tree are split: the larger half keeps the number, the other has the first that is free.
    """
    alive = np.isin(np.arange(len(shares)), at)
    depth = min(n, len(shares))
    leaves = by_size([node.topics for node in hierarchy.groups(depth)], shares)
    for split in hierarchy.splits[depth - 1 :] if exactly else ():
        if len(np.unique(leaves[alive])) >= n:
            break
        depth += 1
        halves = [half.topics for half in split.halves]
        if all(alive[half].any() for half in halves):
            leaves[min(halves, key=lambda half: float(shares[half].sum()))] = _free(leaves[alive])
    topics = leaves[at]
    while exactly and len(np.unique(topics)) < n:  # several topics at one leaf, which no split tells apart
        crowded = np.flatnonzero(np.bincount(topics)[topics] > 1)
        topics[crowded[sizes[crowded].argmin()]] = _free(topics)
    return Cut(np.where(np.isin(leaves, topics), leaves, -1), topics, depth)


def by_size(groups: list[Whole], shares: Floats) -> Whole:
    """The group of each leaf (n_leaves,), numbered by size; of equal size, that with the first leaf first."""
    order = sorted(groups, key=lambda leaves: (-shares[leaves].sum(), leaves.min()))
    group = np.empty(len(shares), np.int64)
    for number, leaves in enumerate(order):
        group[leaves] = number
    return group


def _free(numbers: Whole) -> int:
    """The first number that is not among these."""
    return int(np.setdiff1d(np.arange(len(numbers) + 1), numbers)[0])


def linkage(hierarchy: Hierarchy, at: Whole) -> Floats:
    """The tree of topics at these leaves (n_topics,) in scipy's form (n_topics - 1, 4), without leaves that have none.

    Heights are the square roots of gains, none above that of an earlier split, and 0 for topics at the same leaf.
    """
    rows: list[list[float]] = []

    def joined(first: _Group, second: _Group, height: float) -> _Group:
        if first is None or second is None:
            return first or second
        rows.append([*sorted((first[0], second[0])), height, first[1] + second[1]])
        return len(at) + len(rows) - 1, first[1] + second[1]

    of_leaf: dict[int, _Group] = {}
    for topic, leaf in enumerate(at.tolist()):
        of_leaf[leaf] = joined(of_leaf.get(leaf), (topic, 1), 0.0)
    of_node: dict[int, _Group] = {}

    def group(node: Node) -> _Group:
        return of_leaf.get(int(node.topics[0])) if len(node.topics) == 1 else of_node[id(node)]

    heights = np.sqrt(np.minimum.accumulate(np.maximum(hierarchy.gains, 0))) if hierarchy.splits else hierarchy.gains
    for split, height in zip(reversed(hierarchy.splits), heights[::-1].tolist(), strict=True):
        first, second = split.halves
        of_node[id(split.node)] = joined(group(first), group(second), height)
    return np.array(rows, np.float64).reshape(-1, 4)
