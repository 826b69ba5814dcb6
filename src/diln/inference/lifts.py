"""How many times as often as by chance two topics are together in a document: lifts of a new document's proportions.

Of documents that a model expects, before any token is seen. The moments of their proportions theta are integrals over
the log weights' Gaussian, and are taken as means over fixed points, so that a model has one lift and no seed.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.special import ndtri

from diln.inference.data import Array
from diln.prob.sobol import sobol

POINTS = 4096  # that means are taken over, a power of 2; errors are 3% of what log lifts differ by
STEPS = 50  # of Newton's method at most, which takes four to six
MOST = 700.0  # of x, whose exponential is finite
SETTLED = 1e-9  # step of Newton's method, and of the chances, that is taken for none
ROUNDS = 1000  # in which chances are found, at most; it takes some fifty
NOTHING = 1e-6  # log lift that is taken for none
TINY = 1e-100  # weight, or product of weights, that is taken for none


class Moments(NamedTuple):
    """Of a document's proportions theta."""

    mean: Array  # (n_topics,) E theta_i
    products: Array  # (n_topics, n_topics) E theta_i theta_j


def gated_moments(a0: Array, roots: Array) -> Moments:
    """Of weights Z_k ~ Gamma(a0_k, rate e^-w_k) over their sum S, w = roots z and z standard normal.

    1/S^r is an integral of e^-tS over t. With Z integrated out and x = ln t, the gates g_k = sigma(w_k + x) and
    A = sum_k a0_k g_k, these are expectations over z and an x of which more than x has the probability
    prod_k (1 + e^(w_k + x))^-a0_k:

        E theta_i = E a0_i g_i / A      E theta_i theta_j = E a0_i g_i a0_j g_j / A,  (a0_i + 1) / a0_i times for i = j
    """  # L2
    a0, points = np.maximum(a0, TINY), even_points(1 + roots.shape[1])
    logs = ndtri(points[:, 1:]) @ roots.T
    gates = _gates(a0, logs, -np.log(points[:, 0]))
    weighed = a0 * gates
    totals = weighed.sum(axis=1, keepdims=True)
    products = weighed.T @ (weighed / totals) / len(points)
    products[np.diag_indices(len(a0))] *= 1 + 1 / a0
    return Moments((weighed / totals).mean(axis=0), products)


def _gates(a0: Array, logs: Array, targets: Array) -> Array:
    """sigma(w + x), (POINTS, n_topics), where sum_k a0_k ln(1 + e^(w_k + x)) is the target.

    By Newton's method for the logarithm of that, from below; where it would leave what is known to hold x, by halving.
    """
    odds = np.exp(logs - logs.max(axis=1, keepdims=True))
    x = np.log(targets / (odds @ a0))
    least, most = x, np.full(len(x), MOST)
    for _ in range(STEPS):
        now = odds * np.exp(x)[:, np.newaxis]
        reached = np.log1p(now) @ a0
        moved = x + np.log(targets / reached) * reached / ((now / (1 + now)) @ a0)
        least, most = np.where(reached <= targets, x, least), np.where(reached <= targets, most, x)
        before, x = x, np.where((moved >= least) & (moved <= most), moved, (least + most) / 2)
        if np.abs(x - before).max() < SETTLED:
            break
    now = odds * np.exp(x)[:, np.newaxis]
    return np.asarray(now / (1 + now))


def softmax_moments(mean: Array, roots: Array) -> Moments:
    """Of the softmax of log weights mean + roots z, z standard normal: over the same z each time, and mirrored."""
    normals = np.random.default_rng(0).standard_normal((POINTS // 2, roots.shape[1]))
    off = normals @ roots.T
    logs = np.vstack([mean + off, mean - off])
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    theta = weights / weights.sum(axis=1, keepdims=True)
    return Moments(theta.mean(axis=0), theta.T @ theta / len(theta))


def even_points(n_dims: int) -> Array:
    """Points (POINTS, n_dims) that fill the unit cube evenly: Sobol's, each in the middle of its cell."""
    return sobol(POINTS, n_dims) + 0.5 / POINTS


def roots_of(covariance: Array, n_dims: int) -> Array:
    """The (n_topics, n_dims) whose products are the covariance, or as near to it as so many dimensions can be."""
    size = len(covariance)
    values, vectors = eigh(covariance, subset_by_index=(max(0, size - n_dims), size - 1))
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0)))[:, ::-1])


def log_lifts(moments: Moments) -> Array:
    """ln (E theta_i theta_j / f_i f_j), (n_topics, n_topics); f_i f_j is what is expected by chance.

    E theta_i E theta_j will not do: proportions sum to 1, so topics that have nothing to do with each other are
    together less often. The f are those of quasi-independence, with which each topic is together with all others as
    often as it is expected to be: sum_j!=i f_i f_j = sum_j!=i E theta_i theta_j. With a Dirichlet's proportions all
    lifts are 1, and with three topics or fewer, where that is all that can be told.
    """  # L3
    chances = _chances(moments)
    found = np.log(np.maximum(moments.products, TINY)) - np.log(np.maximum(np.outer(chances, chances), TINY))
    return np.where(np.abs(found) < NOTHING, 0.0, found)


def _chances(moments: Moments) -> Array:
    """f (n_topics,), by turns."""
    others = np.where(np.eye(len(moments.mean), dtype=bool), 0, moments.products).sum(axis=1)
    found = moments.mean
    for _ in range(ROUNDS if len(found) > 1 else 0):
        before, found = found, np.sqrt(found * others / np.maximum(found.sum() - found, TINY))
        if (np.abs(found - before) <= SETTLED * found).all():
            break
    return found
