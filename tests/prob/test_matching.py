"""Distributions of two lists: each has at most one of the other, and the affinities sum to as much as they can."""

from itertools import permutations

import numpy as np
import pytest

from diln.prob.matching import SAME, matched


def test_the_same_distributions_in_another_order_are_found():
    rng = np.random.default_rng(0)
    first = rng.dirichlet(np.full(30, 0.1), 9)
    order = rng.permutation(9)
    rows, columns, affinity = matched(first, first[order])
    assert rows.tolist() == list(range(9))
    assert order[columns].tolist() == list(range(9))
    assert affinity == pytest.approx(np.ones(9))
    assert affinity.max() <= 1


@pytest.mark.parametrize(("n_first", "n_second"), [(4, 4), (3, 5), (5, 3)])
def test_no_other_assignment_has_a_larger_sum(n_first, n_second):
    rng = np.random.default_rng(n_first)
    first, second = rng.dirichlet(np.ones(6), n_first), rng.dirichlet(np.ones(6), n_second)
    rows, columns, affinity = matched(first, second)
    every = np.sqrt(first[:, np.newaxis] * second).sum(axis=2)
    if n_first > n_second:
        every = every.T
    best = max(every[range(len(every)), list(one)].sum() for one in permutations(range(every.shape[1]), len(every)))
    assert affinity.sum() == pytest.approx(best)
    assert len(set(rows)) == len(set(columns)) == min(n_first, n_second)


def test_distributions_without_a_term_in_common_are_not_the_same():
    assert matched(np.eye(4)[:2], np.eye(4)[2:])[2].max() < SAME
