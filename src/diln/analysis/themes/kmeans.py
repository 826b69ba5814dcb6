"""Groups of weighted points around their means: k-means, the same for the same points at any time."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
Whole = NDArray[np.int64]

STARTS, TRIED = 6, 6  # starts for each group, and rounds of each
KEPT, ROUNDS = 5, 100  # starts that go on, and rounds of each at most


def kmeans(points: Floats, weights: Floats, k: int) -> Whole:
    """The group of each point, from 0 to at most k - 1: the best of some starts by the weighted squared distances.

    Groups are numbered without gaps; there are fewer than k if fewer points differ.
    """
    rng, points = np.random.default_rng(0), np.asarray(points, np.float32)
    starts = (_settled(points, weights, _spread_out(points, weights, k, rng), TRIED) for _ in range(STARTS * k))
    tried = sorted(starts, key=lambda start: start.cost)[:KEPT]
    best = min((_settled(points, weights, start.centres, ROUNDS) for start in tried), key=lambda start: start.cost)
    return np.unique(best.group, return_inverse=True)[1].astype(np.int64)


class _Groups(NamedTuple):
    centres: Floats  # (k, d)
    group: Whole  # (n,)
    cost: float  # rounded, so that of equal ones the first is best


def means(points: Floats, weights: Floats, group: Whole, k: int) -> tuple[Floats, Floats]:
    """Weighted mean (k, d) and weight (k,) of each group; the mean of an empty one is 0."""
    member = np.zeros((k, len(points)), points.dtype)
    member[group, np.arange(len(points))] = weights
    sizes = member.sum(axis=1)
    return member @ points / np.maximum(sizes, np.finfo(np.float32).tiny)[:, np.newaxis], sizes


def nearest(points: Floats, centres: Floats) -> Whole:
    """The nearest centre of each point; of equally near ones the first."""
    return np.asarray((points @ centres.T - (centres**2).sum(axis=1) / 2).argmax(axis=1), np.int64)


def scatter(points: Floats, weights: Floats, group: Whole) -> float:
    """Sum over points of weight times squared distance to the mean of the group."""
    centres, sizes = means(points, weights, group, int(group.max()) + 1)
    lengths, kept = ((each**2).sum(axis=1, dtype=np.float64) for each in (points, centres))
    return float(weights @ lengths - sizes @ kept)


def _settled(points: Floats, weights: Floats, centres: Floats, rounds: int) -> _Groups:
    """Centres and groups after some rounds, or as soon as no point would leave its group for a nearer centre."""
    group = nearest(points, centres)
    for _ in range(rounds):
        fresh, sizes = means(points, weights, group, len(centres))
        centres = np.where(sizes[:, np.newaxis] > 0, fresh, centres)
        moved = nearest(points, centres)
        if np.array_equal(moved, group):
            break
        group = moved
    return _Groups(centres, group, float(f"{scatter(points, weights, group):.6g}"))


def _spread_out(points: Floats, weights: Floats, k: int, rng: np.random.Generator) -> Floats:
    """Points to start from: each with a chance that grows with its squared distance to those before it."""
    chosen = [_drawn(weights, rng)]
    apart = np.full(len(points), np.inf)
    for _ in range(k - 1):
        apart = np.minimum(apart, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
        chosen.append(_drawn(weights * apart, rng))
    return points[chosen]


def _drawn(chances: Floats, rng: np.random.Generator) -> int:
    """A place, drawn with these chances; the first where all are 0."""
    sums = np.cumsum(chances)
    return min(int(np.searchsorted(sums, rng.random() * sums[-1], side="right")), len(sums) - 1) if sums[-1] > 0 else 0
