"""The four priors of how much of each topic is in a document, drawn as logarithms and then normalised.

In the infinite models most shapes ``beta * p`` are tiny, and a gamma variate of shape 0.001 is below the smallest
float64 about half of the time; its logarithm is an ordinary number.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax

from diln.simulate.checks import (
    FloatArray,
    Rng,
    check_room,
    covariance,
    generator,
    numbers,
    positive,
    weights_at_most_one,
    whole,
)
from diln.simulate.kernels import Kernel, covariance_of, gaussian_draws

Construction = Literal["gamma", "scaled"]


@dataclass(frozen=True, slots=True)
class Weights:
    """How much of each topic is in each document.

    Attributes
    ----------
    doc_topics : (n_docs, n_components)
        theta[m, k] = P(topic k | document m), the weights divided by their sum in the document.
    log_weights : (n_docs, n_components)
        The logarithm of the weights before that; which weights, the function that drew them says.
    log_scales : (n_docs, n_components) or None
        W[m, k], the Gaussian process of document m at the location of topic k; DILN only.
    doc_locations : (n_docs, n_dims) or None
        u[m] ~ N(0, I), for which W[m, k] = location of topic k . u[m]; DILN with the linear kernel only.
    """

    doc_topics: FloatArray
    log_weights: FloatArray
    log_scales: FloatArray | None = None
    doc_locations: FloatArray | None = None


def stick_weights(alpha: float, n_components: int, rng: Rng) -> FloatArray:
    """Top-level weights of topics, p (n_components,): of what is left, each takes a share V ~ Beta(1, alpha).

    The last takes all that is left, so that the sum is 1.
    """
    alpha, n_components = positive("alpha", alpha), whole("n_components", n_components)
    # 1 - V = U^(1 / alpha): drawn as a logarithm, what is left keeps all its digits however small it gets
    log_left = -generator(rng).standard_exponential(n_components) / alpha
    log_left[-1] = -np.inf
    before: FloatArray = np.exp(np.concatenate([[0.0], np.cumsum(log_left[:-1])]))
    weights: FloatArray = -np.expm1(log_left) * before
    return weights


def diln_weights(
    topic_weights: ArrayLike,
    topic_locations: ArrayLike,
    n_docs: int,
    *,
    beta: float,
    construction: Construction = "gamma",
    kernel: Kernel | None = None,
    rng: Rng,
) -> Weights:
    """The discrete infinite logistic normal, given the top level.

    Parameters
    ----------
    topic_weights : (n_components,)
        Top-level weights p, as from ``stick_weights``.
    topic_locations : (n_components, n_dims)
        Where the topics are; the kernel of two locations is the covariance of the topics' Gaussian process.
    n_docs : int
        Number of documents.
    beta : float
        Concentration: the larger, the closer documents are to the top level (before the Gaussian process).
    construction : "gamma" or "scaled"
        How the weights are drawn; the law of ``doc_topics`` is the same. With "gamma" weights are
        Z[m, k] ~ Gamma(beta p[k], rate exp(-W[m, k])); with "scaled" probabilities of a Dirichlet process with base
        measure beta p, multiplied by exp(W[m, k]).
    kernel : function or None
        From locations (n, n_dims) and (m, n_dims) to covariances (n, m). None is the linear kernel through document
        locations, which are kept.
    rng : int or numpy.random.Generator
        Seed or generator.
    """
    p, locations = _top_level(topic_weights, topic_locations)
    n_docs, beta = whole("n_docs", n_docs), positive("beta", beta)
    if construction not in _CONSTRUCTIONS:
        raise ValueError(f"construction is {construction!r}; give 'gamma' or 'scaled'")
    rng = generator(rng)
    log_scales, doc_locations = _gaussian_process(locations, n_docs, kernel, rng)
    log_weights = log_scales + _CONSTRUCTIONS[construction](beta * p, n_docs, rng)
    return Weights(softmax(log_weights, axis=1), log_weights, log_scales, doc_locations)


def hdp_weights(topic_weights: ArrayLike, n_docs: int, *, beta: float, rng: Rng) -> Weights:
    """The hierarchical Dirichlet process, given the top-level weights p: Z[m, k] ~ Gamma(beta p[k], 1)."""
    shapes = positive("beta", beta) * weights_at_most_one("topic_weights", topic_weights)
    log_weights = _log_gamma(shapes, whole("n_docs", n_docs), generator(rng))
    return Weights(softmax(log_weights, axis=1), log_weights)


def ctm_weights(mean: ArrayLike, covariance_matrix: ArrayLike, n_docs: int, *, rng: Rng) -> Weights:
    """The logistic normal of the correlated topic model: ``log_weights`` ~ N(mean, covariance_matrix)."""
    mean = numbers("mean", mean, 1)
    matrix = covariance("covariance_matrix", covariance_matrix, whole("the size of mean", len(mean)))
    log_weights = mean + gaussian_draws(matrix, whole("n_docs", n_docs), generator(rng))
    return Weights(softmax(log_weights, axis=1), log_weights)


def lda_weights(doc_topic_prior: ArrayLike, n_docs: int, *, rng: Rng) -> Weights:
    """The Dirichlet of latent Dirichlet allocation, with prior (n_components,): weights ~ Gamma(prior, 1)."""
    prior = numbers("doc_topic_prior", doc_topic_prior, 1)
    whole("the size of doc_topic_prior", len(prior))
    positive("the least doc_topic_prior", float(prior.min()))
    log_weights = _log_gamma(prior, whole("n_docs", n_docs), generator(rng))
    return Weights(softmax(log_weights, axis=1), log_weights)


def _top_level(topic_weights: ArrayLike, topic_locations: ArrayLike) -> tuple[FloatArray, FloatArray]:
    p = weights_at_most_one("topic_weights", topic_weights)
    locations = numbers("topic_locations", topic_locations, 2)
    if len(locations) != len(p):
        raise ValueError(
            f"{len(p)} topic_weights but {len(locations)} topic_locations were given; give each topic both"
        )
    return p, locations


def _gaussian_process(
    locations: FloatArray, n_docs: int, kernel: Kernel | None, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray | None]:
    """W (n_docs, n_components), and the document locations that it comes from if it comes from any."""
    if kernel is not None:
        return gaussian_draws(covariance_of(kernel, locations), n_docs, rng), None
    check_room(n_docs, *locations.shape)
    u = rng.standard_normal((n_docs, locations.shape[1]))
    return u @ locations.T, u


def _log_gamma(shapes: FloatArray, n_docs: int, rng: np.random.Generator) -> FloatArray:
    """Logarithms (n_docs, n) of gamma variates of rate 1, by Gamma(a) = Gamma(a + 1) U^(1 / a).

    Equals in law ``np.log(rng.standard_gamma(shapes, (n_docs, n)))`` where that is finite.
    """
    size = (n_docs, len(shapes))
    check_room(*size)
    log_next = np.log(rng.standard_gamma(shapes + 1, size))
    with np.errstate(divide="ignore", over="ignore"):  # of a shape that is 0, or next to it, the logarithm is -inf
        return log_next - rng.standard_exponential(size) / shapes


def _log_dirichlet(shapes: FloatArray, n_docs: int, rng: np.random.Generator) -> FloatArray:
    """Logarithms (n_docs, n) of the probabilities that a Dirichlet process gives to its base measure's atoms."""
    check_room(n_docs, len(shapes))
    with np.errstate(divide="ignore"):
        return np.log(rng.dirichlet(shapes, n_docs))


_CONSTRUCTIONS: dict[str, Callable[[FloatArray, int, np.random.Generator], FloatArray]] = {
    "gamma": _log_gamma,
    "scaled": _log_dirichlet,
}
