"""The CTM: a document's log weights are N(mu, Sigma), and its proportions of topics their softmax.

mu and P = Sigma^-1 are point estimates under a normal-Wishart prior, which counts as much as c documents whose log
weights have the covariance I, and one at 0:

    P ~ Wishart(T + 1 + c, I / c)      mu ~ N(0, Sigma)

so that Sigma has an inverse however few documents there are; the larger c, the better it is conditioned.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import multigammaln

from diln.engine.base import Engine
from diln.inference.data import Array
from diln.inference.lifts import log_lifts, roots_of, softmax_moments
from diln.inference.variational.documents import DocumentBeliefs, DocumentShard, DocumentSums, Limits, even_start
from diln.inference.variational.log_weight_step import GaussianCorpus, step_log_weights
from diln.inference.weights.base import LN_2PI, Tensors, Weights

AT_ZERO = 1.0  # documents at 0 that the prior of mu counts as
PRIOR_DRAWS = 512  # of a document's log weights, and as many mirrored, that the expected proportions are the mean of


class GaussianWeights(Weights):
    """The CTM: a document's log weights are N(mu, Sigma), both learned."""

    def __init__(self, mean: Array, covariance: Array, prior: float, lift: float = 0.0) -> None:
        self.prior, self.lift = prior, lift  # lift of ``GaussianCorpus``
        self.moments: Array | None = None  # (1 + n_topics, 1 + n_topics) sum over documents of E (1, eta)(1, eta)'
        self._know(mean, covariance)

    def _know(self, mean: Array, covariance: Array) -> None:
        """Take these, and what follows from them."""
        self.mean, self.sigma = mean, covariance
        inverse = np.linalg.inv(covariance)
        self.precision = np.ascontiguousarray((inverse + inverse.T) / 2)
        self._a0: Array | None = None

    @property
    def covariance(self) -> Array:
        """Of log weights less their mean over a document's topics: of the rest of Sigma no document tells."""  # C8
        return centred(self.sigma)

    def log_lift(self, covariance: Array) -> Array:
        """Log lifts of pairs of topics (n_topics, n_topics) if their log weights have this covariance."""
        return log_lifts(softmax_moments(self.mean, roots_of(covariance, len(covariance))))

    @property
    def a0(self) -> Array:  # type: ignore[override]
        """Expected proportions of a document of which nothing is known (n_topics,)."""
        if self._a0 is None:
            self._a0 = expected_proportions(self.mean, self.sigma)
        return self._a0

    @property
    def locations(self) -> Array:
        """None."""
        return np.zeros((len(self.mean), 0))

    def start(self, lengths: Array, dtype: Any) -> DocumentBeliefs:
        """Spread evenly, at the mean."""
        size = len(self.mean)
        beliefs = even_start(lengths, size, size, np.zeros(len(lengths)), dtype)
        beliefs.locations[:] = self.mean
        return beliefs._replace(spreads=1 / (np.diag(self.precision) + lengths[:, np.newaxis] / size))

    def document_step(self, topics: Array, limits: Limits) -> tuple[Callable[[DocumentShard, Any], None], Any]:
        """The document step, as an engine takes it, and what it shares, given topics (n_terms, n_topics)."""
        return step_log_weights, GaussianCorpus(topics, self.mean, self.precision, self.lift, limits)

    def completed(self, sums: DocumentSums, beliefs: DocumentBeliefs, lengths: Array) -> DocumentSums:
        """What E ln p(eta) + H[q(eta)] is the same of for all documents with tokens."""  # C1
        each = 0.5 * (float(np.linalg.slogdet(self.precision)[1]) + len(self.mean))
        return replace(sums, locations=sums.locations + each * int((lengths > 0).sum()))

    def update(self, sums: DocumentSums, beliefs: DocumentBeliefs, rho: float, scale: float, engine: Engine) -> None:
        """mu and Sigma at their optimum given the documents' moments."""  # C4, C5
        moments = scale * moments_of(beliefs)
        if rho < 1:
            before = believed(self.mean, self.sigma, moments[0, 0]) if self.moments is None else self.moments
            moments = (1 - rho) * before + rho * moments
        self.moments = moments
        self._know(*best_gaussian(moments, self.prior))

    def terms(self) -> dict[str, float]:
        """ln p(mu, P)."""  # C6
        size, c = len(self.mean), self.prior
        degrees, log_det = size + 1 + c, float(np.linalg.slogdet(self.precision)[1])
        value = 0.5 * c * log_det - 0.5 * c * float(np.trace(self.precision))
        value += 0.5 * degrees * size * (np.log(c) - np.log(2)) - float(multigammaln(degrees / 2, size))
        value += 0.5 * (log_det + size * (np.log(AT_ZERO) - LN_2PI))
        value -= 0.5 * AT_ZERO * float(self.mean @ self.precision @ self.mean)
        return {"covariance": float(value)}

    def proportions(self, beliefs: DocumentBeliefs) -> Array:
        """E theta_k, about E e^eta_k / sum_j E e^eta_j."""  # C7
        logs = beliefs.locations + beliefs.spreads / 2
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        empty = ~beliefs.tokens.any(axis=1)
        if empty.any():
            weights[empty] = self.a0
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def drawing(self, beliefs: DocumentBeliefs, rng: np.random.Generator) -> Callable[[], Array]:
        """Draws e^eta from q, beside the largest; from the prior, covariances and all, of documents without tokens."""
        deviations, empty = np.sqrt(beliefs.spreads), ~beliefs.tokens.any(axis=1)
        root = np.linalg.cholesky(self.sigma)

        def draw() -> Array:
            normals = rng.standard_normal(deviations.shape)
            logs = beliefs.locations + deviations * normals
            logs[empty] = self.mean + normals[empty] @ root.T
            return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))

        return draw

    def tensors(self) -> Tensors:
        """mu, Sigma, and what they are learned from."""
        known = {"mean": self.mean, "covariance": self.sigma}
        return known if self.moments is None else {**known, "moments": self.moments}

    def restore(self, tensors: Tensors) -> None:
        """Take them back."""
        self._know(tensors["mean"], tensors["covariance"])
        self.moments = tensors.get("moments")


def centred(sigma: Array) -> Array:
    """The covariance of log weights less their mean over topics, given that of log weights (n_topics, n_topics)."""
    off = sigma - sigma.mean(axis=0)
    return np.asarray(off - off.mean(axis=1, keepdims=True))


def moments_of(beliefs: DocumentBeliefs) -> Array:
    """Sum over documents with tokens of E (1, eta)(1, eta)', (1 + n_topics, 1 + n_topics)."""
    full = beliefs.tokens.any(axis=1)
    means = np.hstack([np.ones((int(full.sum()), 1)), beliefs.locations[full]])
    moments = means.T @ means
    moments[np.diag_indices(len(moments))] += np.concatenate([[0.0], beliefs.spreads[full].sum(axis=0)])
    return np.asarray(moments)


def believed(mean: Array, covariance: Array, number: float) -> Array:
    """The moments of so many documents of this mean and covariance."""
    longer = np.concatenate([[1.0], mean])
    moments = np.outer(longer, longer)
    moments[1:, 1:] += covariance
    return number * moments


def best_gaussian(moments: Array, prior: float) -> tuple[Array, Array]:
    """The mu and Sigma = P^-1 that maximise the documents' part and ln p(mu, P), (n_topics,) and (n_topics, n_topics).

    With M documents, mu = sum_m lambda_m / (M + 1) and Sigma = (c I + scatter + mu mu') / (M + c + 1).
    """
    number, total = moments[0, 0], moments[0, 1:]
    mean = total / (number + AT_ZERO)
    scatter = moments[1:, 1:] - np.outer(mean, total) - np.outer(total, mean) + number * np.outer(mean, mean)
    covariance = scatter + prior * np.eye(len(mean)) + AT_ZERO * np.outer(mean, mean)
    return mean, (covariance + covariance.T) / (2 * (number + prior + 1.0))


def expected_proportions(mean: Array, covariance: Array) -> Array:
    """E softmax(eta) (n_topics,), eta of N(mean, covariance): over the same normal numbers each time, and mirrored."""
    normals = np.random.default_rng(0).standard_normal((PRIOR_DRAWS, len(mean)))
    off = normals @ np.linalg.cholesky(covariance).T
    logs = np.vstack([mean + off, mean - off])
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray((weights / weights.sum(axis=1, keepdims=True)).mean(axis=0))
