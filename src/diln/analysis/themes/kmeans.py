"""Groups of weighted points around their means: k-means, the same for the same points at any time."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
Whole = NDArray[np.int64]

STARTS, TRIED = 6, 6  # starts for each group, and rounds of each
KEPT, ROUNDS = 5, 100  # starts that go on, and rounds of each at most
SAME = np.float32(1e-6)  # squared distance, beside squared lengths, that is a rounding error


def kmeans(points: Floats, weights: Floats, k: int) -> Whole:
    """The group of each point, from 0 to at most k - 1: the best of some starts by the weighted squared distances.

    Groups are numbered without gaps; there are fewer than k if fewer points differ.
    """
    points = np.asarray(points, np.float32)
    lengths = (points**2).sum(axis=1)
    tried = _settled(points, lengths, weights, points[_spread_out(points, lengths, weights, k)], TRIED)
    kept = tried.centres[np.argsort(tried.costs, kind="stable")[:KEPT]]
    found = _settled(points, lengths, weights, kept, ROUNDS)
    return np.unique(found.group[found.costs.argmin()], return_inverse=True)[1].astype(np.int64)


class _Groups(NamedTuple):
    """Of several starts."""

    centres: Floats  # (n_starts, k, d)
    group: Whole  # (n_starts, n)
    costs: Floats  # (n_starts,) rounded, so that of equal ones the first is best


def means(points: Floats, weights: Floats, group: Whole, k: int) -> tuple[Floats, Floats]:
    """Weighted mean (..., k, d) and weight (..., k) of each group (..., n); the mean of an empty one is 0."""
    some = group.reshape(-1, len(points))
    member = np.zeros((len(some), k, len(points)), points.dtype)
    member[np.arange(len(some))[:, np.newaxis], some, np.arange(len(points))] = weights
    sizes = member.sum(axis=2)
    sums = (member.reshape(-1, len(points)) @ points).reshape(len(some), k, -1)
    centres = sums / np.maximum(sizes, np.finfo(np.float32).tiny)[..., np.newaxis]
    return centres.reshape(*group.shape[:-1], k, -1), sizes.reshape(*group.shape[:-1], k)


def nearest(points: Floats, centres: Floats) -> Whole:
    """The nearest of the centres (n_starts, k, d) of each start to each point; of equally near ones the first."""
    n_starts, k, d = centres.shape
    scores = (centres.reshape(-1, d) @ points.T).reshape(n_starts, k, -1) - (centres**2).sum(axis=2)[
        ..., np.newaxis
    ] / 2
    group, best = np.zeros((n_starts, len(points)), np.int64), scores[:, 0]
    for one in range(1, k):
        nearer = scores[:, one] > best
        group[nearer], best = one, np.maximum(best, scores[:, one])
    return group


def scatter(points: Floats, weights: Floats, group: Whole) -> float:
    """Sum over points of weight times squared distance to the mean of the group."""
    lengths = (points**2).sum(axis=1, dtype=np.float64)
    return float(_scattered(points, lengths, weights, group, int(group.max()) + 1))


def _scattered(points: Floats, lengths: Floats, weights: Floats, group: Whole, k: int) -> Floats:
    centres, sizes = means(points, weights, group, k)
    return np.asarray(weights @ lengths - (sizes * (centres**2).sum(axis=-1, dtype=np.float64)).sum(axis=-1))


def _settled(points: Floats, lengths: Floats, weights: Floats, centres: Floats, rounds: int) -> _Groups:
    """Centres and groups after some rounds, or as soon as no point would leave its group for a nearer centre."""
    k, centres, group, going = centres.shape[1], centres.copy(), nearest(points, centres), np.arange(len(centres))
    for _ in range(rounds):
        fresh, sizes = means(points, weights, group[going], k)
        centres[going] = np.where(sizes[..., np.newaxis] > 0, fresh, centres[going])
        moved = nearest(points, centres[going])
        changed = (moved != group[going]).any(axis=1)
        group[going] = moved
        going = going[changed]
        if not len(going):
            break
    costs = _scattered(points, lengths.astype(np.float64), weights, group, k)
    return _Groups(centres, group, np.array([float(f"{cost:.6g}") for cost in costs]))


def _spread_out(points: Floats, lengths: Floats, weights: Floats, k: int) -> Whole:
    """Points to start from (n_starts, k): each with a chance that grows with its squared distance to those before."""
    draws = np.random.default_rng(0).random((STARTS * k, k))
    chosen, apart = np.zeros((STARTS * k, k), np.int64), np.ones((STARTS * k, len(points)), np.float32)
    for one in range(k):
        sums = np.cumsum(weights * apart, axis=1)
        found = (sums <= draws[:, one, np.newaxis] * sums[:, -1:]).sum(axis=1)
        chosen[:, one] = np.where(sums[:, -1] > 0, np.minimum(found, len(points) - 1), 0)
        last = chosen[:, one]
        both = lengths + lengths[last, np.newaxis]
        distances = both - 2 * (points[last] @ points.T)
        distances[distances <= SAME * both] = 0
        apart = np.minimum(apart if one else np.inf, distances)
    return chosen
