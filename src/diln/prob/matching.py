"""Which distributions of one list are those of another."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

SAME = 0.5  # affinity above which two distributions are taken for the same


def matched(
    first: NDArray[Any], second: NDArray[Any]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.floating[Any]]]:
    """Give each row of one table of distributions at most one of another, so that affinities sum to as much as can be.

    Hellinger's affinity of p and q is sum_w sqrt(p(w) q(w)), from 0 to 1. Both tables have the same columns. Returns
    the rows of the first that have one of the second, in order, the rows of the second, and their affinities.
    """
    from scipy.optimize import linear_sum_assignment

    affinity = np.clip(np.sqrt(first) @ np.sqrt(second).T, 0, 1)
    rows, columns = linear_sum_assignment(affinity, maximize=True)
    return rows, columns, affinity[rows, columns]
