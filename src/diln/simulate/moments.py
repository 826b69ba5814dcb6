"""Means and covariances of DILN's weights before they are normalised, exactly.

The weights are Z[k] ~ Gamma(beta p[k], rate exp(-W[k])) with W ~ N(0, kernel_matrix), independent between documents
that share a top level p.
"""

import numpy as np
from numpy.typing import ArrayLike

from diln.simulate.checks import FloatArray, check_room, covariance, positive, weights_at_most_one, whole


def weight_moments(topic_weights: ArrayLike, beta: float, kernel_matrix: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Mean (n,) and covariance (n, n) of a document's weights, given the top-level weights (n,).

    The Gaussian process, with covariance ``kernel_matrix`` (n, n), is integrated out. Topics' weights have a
    covariance of the sign of the kernel.
    """
    p = weights_at_most_one("topic_weights", topic_weights)
    K = covariance("kernel_matrix", kernel_matrix, len(p))
    beta = positive("beta", beta)
    mean = beta * p * np.exp(np.diag(K) / 2)  # M1
    return mean, np.outer(mean, mean) * np.expm1(K) + _gamma_variance(beta * p, K)


def weight_moments_marginal(alpha: float, beta: float, kernel_matrix: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Mean (n,) and covariance (n, n) of a document's weights, with the top level integrated out as well.

    The topics are the first n of infinitely many sticks; ``kernel_matrix`` (n, n) is given for them. Sharing sticks
    leaves some covariance even where the kernel is 0.
    """
    K = covariance("kernel_matrix", kernel_matrix)
    beta = positive("beta", beta)
    p, pp = stick_moments(alpha, len(K))
    scale = beta * np.exp(np.diag(K) / 2)  # M2
    shared = np.outer(scale, scale) * (pp * np.exp(K) - np.outer(p, p))
    return scale * p, shared + _gamma_variance(beta * p, K)


def stick_moments(alpha: float, n: int) -> tuple[FloatArray, FloatArray]:
    """E p[i] (n,) and E p[i] p[j] (n, n) of the first n of infinitely many sticks with shares V ~ Beta(1, alpha)."""
    alpha, n = positive("alpha", alpha), whole("n", n)
    check_room(n, n)
    left = alpha / (1 + alpha)  # E (1 - V); M3
    left_of_both = alpha / (2 + alpha)  # E (1 - V)^2
    order = np.arange(n, dtype=np.float64)
    first, last = np.minimum.outer(order, order), np.maximum.outer(order, order)
    between = np.maximum(last - first - 1, 0)
    # sticks before the first leave for both; the first takes E V (1 - V); those between leave; the last takes E V
    both: FloatArray = left_of_both ** (first + 1) * left**between / (1 + alpha) ** 2
    np.fill_diagonal(both, left_of_both**order * 2 / ((1 + alpha) * (2 + alpha)))
    return left**order / (1 + alpha), both


def _gamma_variance(shapes: FloatArray, K: FloatArray) -> FloatArray:
    """The mean over W of the gamma's own variance, shape * exp(2 W): what a weight varies by beyond W and p."""
    return np.diag(shapes * np.exp(2 * np.diag(K)))
