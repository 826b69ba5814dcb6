"""A flat view of points in more dimensions: two directions along which the centres of groups are far apart."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ROUNDS = 300
NEAR = 0.01  # of the centres' mean squared length: a distance that is no distance
LEAST_STEP, ENOUGH = 1e-9, 1e-10


def plane(points: Floats, sizes: Floats, centres: Floats) -> Floats:
    """Two orthonormal directions (d, 2) to look at points (n, d) of these sizes from, d at least 2.

    They make the sum of the logarithms of the squared distances between the centres (k, d) as large as possible, so
    that no two of these hide each other; with fewer than three centres, the points vary most along them. The first
    direction is that along which the points vary more. The first centre is to the right and above, where it is not on
    an axis.
    """
    axes = np.linalg.eigh((points * sizes[:, np.newaxis]).T @ points)[1][:, ::-1]
    best = axes[:, :2]
    if len(centres) > 2 and (centres**2).sum() > 0:
        starts = [axes[:, [i, j]] for j in range(1, min(5, points.shape[1])) for i in range(j)]
        near = NEAR * float((centres**2).sum(axis=1).mean())
        best = max((_climbed(start, centres, near) for start in starts), key=lambda one: _apart(one, centres, near))
    flat = points @ best
    best = best @ np.linalg.eigh((flat * sizes[:, np.newaxis]).T @ flat)[1][:, ::-1]
    return np.asarray(best * _signs(centres @ best))


def _signs(flat: Floats) -> Floats:
    """Signs (2,) that put the first centre that is not on an axis on its positive side."""
    clear = np.abs(flat) > 1e-9 * max(float(np.abs(flat).max(initial=0)), 1e-300)
    first = flat[clear.argmax(axis=0), [0, 1]]
    return np.where(first < 0, -1.0, 1.0)


def _apart(axes: Floats, centres: Floats, near: float) -> float:
    """Sum over pairs of centres of the logarithm of their squared distance, as it is seen."""
    flat = centres @ axes
    squares = ((flat[:, np.newaxis] - flat) ** 2).sum(axis=2)
    return float(np.log(squares + near).sum())


def _climbed(axes: Floats, centres: Floats, near: float) -> Floats:
    """Directions that are better than all near them, from some on: gradient ascent over pairs of orthonormal ones."""
    value, step = _apart(axes, centres, near), 1.0
    for _ in range(ROUNDS):
        slope = _slope(axes, centres, near)
        while step > LEAST_STEP:
            moved = _orthonormal(axes + step * slope)
            reached = _apart(moved, centres, near)
            if reached > value:
                break
            step /= 2
        else:
            break
        gained, axes, value, step = reached - value, moved, reached, 2 * step
        if gained < ENOUGH * abs(value):
            break
    return axes


def _slope(axes: Floats, centres: Floats, near: float) -> Floats:
    """The gradient of ``_apart`` along orthonormal pairs."""
    flat = centres @ axes
    pull = 1 / (((flat[:, np.newaxis] - flat) ** 2).sum(axis=2) + near)
    np.fill_diagonal(pull, 0)
    slope = 4 * centres.T @ (pull.sum(axis=1)[:, np.newaxis] * flat - pull @ flat)
    both = axes.T @ slope
    return np.asarray(slope - axes @ (both + both.T) / 2)


def _orthonormal(axes: Floats) -> Floats:
    """The nearest orthonormal pair."""
    left, _, right = np.linalg.svd(axes, full_matrices=False)
    return np.asarray(left @ right)
