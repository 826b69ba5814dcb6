"""A tree over weighted points: pairs of groups are joined, the pair first that costs least, until one is left."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
Whole = NDArray[np.int64]


def ward(points: Floats, sizes: Floats) -> NDArray[np.float64]:
    """Ward's tree of points (n, d) with sizes (n,), in scipy's form (n - 1, 4).

    Joining two groups costs what it adds to the sum over points of size times squared distance to the group's mean:
    size_a size_b / (size_a + size_b) |mean_a - mean_b|^2. The height is the square root of the cost. Of pairs that
    cost the same, the first is joined.
    """
    n = len(points)
    means, weights = np.array(points, np.float64), np.array(sizes, np.float64)
    costs = np.stack([_costs(means, weights, i) for i in range(n)]) if n else np.zeros((0, 0))
    np.fill_diagonal(costs, np.inf)
    nodes, leaves, tree = np.arange(n), np.ones(n), np.zeros((max(n - 1, 0), 4))
    for step in range(n - 1):
        i, j = sorted(divmod(int(costs.argmin()), n))
        tree[step] = *sorted((nodes[i], nodes[j])), max(float(costs[i, j]), 0.0), leaves[i] + leaves[j]
        means[i] = (weights[i] * means[i] + weights[j] * means[j]) / (weights[i] + weights[j])
        weights[i] += weights[j]
        nodes[i], leaves[i] = n + step, leaves[i] + leaves[j]
        open_ = np.isfinite(costs[i])
        costs[j], costs[:, j] = np.inf, np.inf
        open_[j] = False
        fresh = np.where(open_, _costs(means, weights, i), np.inf)
        costs[i], costs[:, i] = fresh, fresh
    tree[:, 2] = np.sqrt(np.maximum.accumulate(tree[:, 2]))
    return tree


def _costs(means: Floats, weights: Floats, i: int) -> Floats:
    """What it costs to join group i with each other one."""
    apart = ((means - means[i]) ** 2).sum(axis=1)
    return np.asarray(weights * weights[i] / (weights + weights[i]) * apart)


def leaf_order(linkage: Floats, points: Floats) -> Whole:
    """The leaves in an order in which neighbours are near each other and every group is in one piece."""
    from scipy.cluster.hierarchy import leaves_list, optimal_leaf_ordering
    from scipy.spatial.distance import pdist

    if len(linkage) < 2:
        return np.arange(len(points))
    return np.asarray(leaves_list(optimal_leaf_ordering(linkage, pdist(points))), np.int64)
