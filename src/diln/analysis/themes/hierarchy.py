"""The hierarchy behind themes: groups of topics and of the documents they are found in, split one after the other."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diln.analysis.themes.kmeans import kmeans, means, scatter
from diln.analysis.themes.tree import ward

Floats = NDArray[np.floating]
Whole = NDArray[np.int64]

FIRST = 5  # groups that are made at once
FINE = 24  # groups up to which documents are split; topics alone beyond
SAME = 1e-9  # scatter beside the largest coordinate, squared, that is a rounding error


class Items(NamedTuple):
    """What is grouped: documents with their proportions of topics, or topics themselves."""

    points: Floats  # (n_items, d)
    mass: Floats  # (n_items, n_topics) what each has of each topic
    topic_points: Floats  # (n_topics, d) where topics are in the same space

    @property
    def weights(self) -> Floats:
        """How much each item counts (n_items,)."""
        return np.asarray(self.mass.sum(axis=1))


@dataclass(slots=True)
class Node:
    """A group of topics, and of the items that they are found in where these are known."""

    topics: Whole
    centre: Floats  # (d,) the mean of its items
    items: Whole | None = None  # None where only topics are told apart


class Split(NamedTuple):
    """A group that falls into two, and how much less the items then scatter, as a share of all their scatter."""

    node: Node
    halves: tuple[Node, ...]  # two, or none of a group that cannot be split
    gain: float


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Splits in the order in which they are made: the first n - 1 of them make n groups."""

    splits: tuple[Split, ...]
    first: tuple[Node, ...]  # the groups that are made at once

    @property
    def gains(self) -> NDArray[np.float64]:
        """What each split gains (n_topics - 1,)."""
        return np.array([split.gain for split in self.splits], np.float64)

    def groups(self, n: int) -> list[Node]:
        """The n groups."""
        whole = self.splits[0].node if self.splits else self.first[0]
        found = [whole]
        for split in self.splits[: n - 1]:
            found = [one for one in found if one is not split.node] + list(split.halves)
        return found

    def assigned(self, points: Floats, n: int) -> Whole:
        """Which of the n groups each of other items is in, as ``groups`` has them: each goes with the nearer half."""
        groups, later = self.groups(n), self.splits[len(self.first) - 1 : n - 1]
        nodes = [*self.first, *(half for split in later for half in split.halves)]
        at = {id(node): place for place, node in enumerate(nodes)}
        centres = np.stack([node.centre for node in nodes])
        scores = points @ centres.T - (centres**2).sum(axis=1) / 2
        place = scores[:, : len(self.first)].argmax(axis=1)
        for split in later:
            left, right = (at[id(half)] for half in split.halves)
            rows = np.flatnonzero(place == at[id(split.node)])
            place[rows] = np.where(scores[rows, left] >= scores[rows, right], left, right)
        owner = {int(topic): number for number, group in enumerate(groups) for topic in group.topics}
        return np.asarray(np.array([owner[int(node.topics[0])] for node in nodes], np.int64)[place])


def grow(items: Items) -> Hierarchy:
    """The hierarchy of some topics.

    Five groups of items are made at once by k-means, and joined in pairs by Ward's rule for fewer. Then, one at a time,
    the group is split in two by k-means that lets the items scatter least, up to 24 groups. A topic goes with the
    group that has most of it; each group has at least one. Below that, the topics of a group are told apart by Ward's
    rule.
    """
    n_topics, weights = items.mass.shape[1], items.weights
    total = scatter(items.points, weights, np.zeros(len(weights), np.int64)) / weights.sum()
    if not total > SAME * float((items.points**2).max(initial=0)):
        return _of_topics(items, 0.0)
    if n_topics < 2 * FIRST:
        return _of_topics(items, total)
    firsts = _split(items, Node(np.arange(n_topics), means_of(items), np.arange(len(weights))), FIRST)
    sizes = np.array([weights[node.items].sum() for node in firsts]) / weights.sum()
    splits = _joined(firsts, ward(np.stack([node.centre for node in firsts]), sizes), sizes, total)
    nodes, known = list(firsts), dict[int, Split]()
    while len(nodes) < min(FINE, n_topics):
        for node in nodes:
            if id(node) not in known:
                known[id(node)] = _halved(items, node, total)
        best = max((known[id(node)] for node in nodes), key=lambda split: split.gain)
        if not best.halves:
            break
        splits.append(best)
        nodes = [node for node in nodes if node is not best.node] + list(best.halves)
    return Hierarchy((*splits, *_below(items, nodes, total)), tuple(firsts))


def means_of(items: Items) -> Floats:
    """The mean of all items (d,)."""
    return np.asarray(items.weights @ items.points / items.weights.sum())


def _of_topics(items: Items, total: float) -> Hierarchy:
    """The hierarchy of few topics, or of topics that nothing tells apart."""
    whole = Node(np.arange(items.mass.shape[1]), means_of(items))
    return Hierarchy(tuple(_below(items, [whole], total)), (whole,))


def _split(items: Items, node: Node, k: int) -> list[Node]:
    """A group in k parts, each with at least one topic; fewer if its items are in fewer places."""
    rows = np.asarray(node.items)
    points, weights = items.points[rows], items.weights[rows]
    group = kmeans(points, weights, k)
    found = int(group.max()) + 1
    centres, _ = means(points, weights, group, found)
    mass = np.stack([items.mass[rows[group == one]][:, node.topics].sum(axis=0) for one in range(found)])
    owner = share_out(mass)
    return [Node(node.topics[owner == one], centres[one], rows[group == one]) for one in range(found)]


def share_out(mass: Floats) -> Whole:
    """Which group each topic goes with: that which has most of it; mass (n_groups, n_topics).

    A group that would have none gets the topic that is most its own, of those that are not alone in their group.
    """
    owner = mass.argmax(axis=0)
    mine = mass / np.maximum(mass.sum(axis=0), np.finfo(float).tiny)
    for one in range(len(mass)):
        if not (owner == one).any():
            counts = np.bincount(owner, minlength=len(mass))
            owner[np.where(counts[owner] > 1, mine[one], -1).argmax()] = one
    return np.asarray(owner, np.int64)


def _halved(items: Items, node: Node, total: float) -> Split:
    """A group in two, and what that gains; a group of one topic or one place stays as it is."""
    halves = _split(items, node, 2) if len(node.topics) > 1 and len(np.asarray(node.items)) > 1 else [node]
    if len(halves) < 2:
        return Split(node, (), -1.0)
    sizes = np.array([items.weights[half.items].sum() for half in halves]) / items.weights.sum()
    apart = float(((halves[0].centre - halves[1].centre) ** 2).sum())
    return Split(node, tuple(halves), float(sizes.prod() / sizes.sum() * apart / total))


def _joined(nodes: list[Node], linkage: Floats, sizes: Floats, total: float) -> list[Split]:
    """Groups joined in pairs as a tree says, as splits from the top on."""
    every, weights, splits = list(nodes), list(sizes), []
    for first, second, height, _ in linkage:
        left, right = every[int(first)], every[int(second)]
        a, b = weights[int(first)], weights[int(second)]
        centre = (a * left.centre + b * right.centre) / (a + b)
        every.append(Node(np.concatenate([left.topics, right.topics]), centre))
        weights.append(a + b)
        splits.append(Split(every[-1], (left, right), float(height**2 / total) if total > 0 else 0.0))
    return splits[::-1]


def _below(items: Items, nodes: list[Node], total: float) -> list[Split]:
    """Splits of groups down to single topics by Ward's rule, the dearest first."""
    shares = items.mass.sum(axis=0) / items.mass.sum()
    found = []
    for node in nodes:
        leaves = [Node(np.array([topic]), items.topic_points[topic]) for topic in node.topics]
        sizes = np.maximum(shares[node.topics], np.finfo(float).tiny)
        below = _joined(leaves, ward(items.topic_points[node.topics], sizes), sizes, total)
        if below:
            below[0] = below[0]._replace(node=node)
        found += below
    return sorted(found, key=lambda split: -split.gain)
