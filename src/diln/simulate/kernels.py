"""Locations of topics to covariances of the Gaussian process that makes topics go together."""

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist

from diln.simulate.checks import FloatArray, check_room, covariance, numbers, positive

Kernel = Callable[[FloatArray, FloatArray], FloatArray]
"""A function from locations (n, d) and (m, d) to covariances (n, m), such as ``linear_kernel``."""


def linear_kernel(locations: FloatArray, others: FloatArray) -> FloatArray:
    """Inner products (n, m) of locations (n, d) and (m, d): topics on opposite sides of 0 avoid each other."""
    first, second = numbers("locations", locations, 2), numbers("others", others, 2)
    if first.shape[1] != second.shape[1]:
        raise ValueError(f"locations have {first.shape[1]} dimensions and others {second.shape[1]}; give both as many")
    return first @ second.T


def gaussian_kernel(width: float = 1.0, variance: float = 1.0) -> Kernel:
    """A kernel that falls with the distance as ``variance * exp(-distance**2 / (2 * width**2))``; never negative.

    Parameters
    ----------
    width : float
        Distance at which the covariance has fallen to exp(-1/2), 0.61, of the variance.
    variance : float
        Of a topic's log scale.

    Returns
    -------
    function
        For ``diln_weights`` and ``diln_corpus``.
    """
    width, variance = positive("width", width), positive("variance", variance)

    def kernel(locations: FloatArray, others: FloatArray) -> FloatArray:
        squares: FloatArray = cdist(locations, others, "sqeuclidean")
        return variance * np.exp(-squares / (2 * width**2))

    return kernel


def covariance_of(kernel: Kernel, locations: FloatArray) -> FloatArray:
    """The kernel's matrix (n, n) at locations (n, d), checked because a kernel may be anyone's function."""
    return covariance("the kernel's matrix", kernel(locations, locations), len(locations))


def gaussian_draws(matrix: FloatArray, n_docs: int, rng: np.random.Generator) -> FloatArray:
    """Rows (n_docs, n) ~ N(0, matrix), where the matrix (n, n) may be singular, as inner products make it."""
    check_room(n_docs, len(matrix))
    values, vectors = np.linalg.eigh(matrix)
    # rounding leaves eigenvalues just below 0; the symmetric root is the same whatever signs the eigenvectors have
    root = vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T
    draws: FloatArray = rng.standard_normal((n_docs, len(matrix))) @ root
    return draws
