"""Where inference starts: topics from clusters of documents, at random, or from another model."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.engine.compile import kernel
from diln.engine.threads import Threads, cut
from diln.inference.data import Array

CLUSTERED = 5_000  # documents that are clustered at most
ROUNDS = 3
DOCS_AT_ONCE = 64
SMOOTH = 0.1  # share of the start that is noise rather than clusters


@kernel
def nearest_centroid(indptr, indices, shares, centroids, first, last, out):  # type: ignore[no-untyped-def]
    """Set ``out`` of documents first to last to the centroid at the least L1 distance.

    Only the document's own terms are visited, since sum_w |x_w - c_w| = 1 + sum over these of |x_w - c_w| - c_w.
    ``centroids`` is (n_terms, n_topics). Equals ``np.abs(x[:, :, None] - centroids).sum(axis=1).argmin(axis=1)``.
    """
    real = centroids.dtype.type
    size = centroids.shape[1]
    distance = np.empty(size, centroids.dtype)
    for m in range(first, last):
        for k in range(size):
            distance[k] = real(0)
        for j in range(indptr[m], indptr[m + 1]):
            w, x = indices[j], shares[j]
            for k in range(size):
                distance[k] += abs(x - centroids[w, k]) - centroids[w, k]
        best = 0
        for k in range(1, size):
            if distance[k] < distance[best]:
                best = k
        out[m] = best


def clusters(counts: csr_array, n_topics: int, rng: np.random.Generator, threads: Threads) -> Array:
    """Centroids (n_terms, n_topics) of documents by a few rounds of k-means with L1 distance, most used first."""
    lengths = np.asarray(counts.sum(axis=1), np.float64)
    full = np.flatnonzero(lengths)
    if len(full) > CLUSTERED:
        full = np.sort(rng.choice(full, CLUSTERED, replace=False))
    rows = counts[full]
    shares = (rows.data / np.repeat(lengths[full], np.diff(rows.indptr))).astype(np.float32)
    documents = csr_array((shares, rows.indices, rows.indptr), rows.shape)
    seeds = np.resize(rng.permutation(len(full)), n_topics)  # more topics than documents: some twice
    centroids = np.ascontiguousarray(csr_array(documents[seeds]).toarray().T)
    nearest = np.zeros(len(full), np.int64)
    for _ in range(ROUNDS):
        assign(documents, centroids, nearest, threads)
        size = np.bincount(nearest, minlength=n_topics)
        member = csr_array((1 / size[nearest], (np.arange(len(full)), nearest)), (len(full), n_topics))
        means = csr_array(documents.T @ member).toarray()
        centroids[:, size > 0] = means[:, size > 0]
    return centroids[:, np.argsort(-size, kind="stable")]


def assign(documents: csr_array, centroids: Array, out: NDArray[np.int64], threads: Threads) -> None:
    """Each document's nearest centroid."""

    def step(number: int, first: int, last: int) -> None:
        nearest_centroid(documents.indptr, documents.indices, documents.data, centroids, first, last, out)

    threads.run(step, cut(documents.shape[0], DOCS_AT_ONCE))


def smoothed(topics: Array, n_tokens: float, rng: np.random.Generator) -> Array:
    """Statistics (n_terms, n_topics) as if each topic had an equal part of the tokens: topics with some noise."""
    n_terms, n_topics = topics.shape
    noise = rng.standard_exponential((n_terms, n_topics)) / n_terms
    return np.asarray(((1 - SMOOTH) * topics + SMOOTH * noise) * (n_tokens / n_topics))


def random_topics(n_terms: int, n_topics: int, n_tokens: float, rng: np.random.Generator) -> Array:
    """Statistics (n_terms, n_topics) of topics that are noise alone."""
    return rng.gamma(100.0, 0.01, (n_terms, n_topics)) * (n_tokens / n_topics / n_terms)


def fitted_topics(topics: Array, n_topics: int, n_tokens: float, rng: np.random.Generator) -> Array:
    """Statistics from given topics (n_given, n_terms), most used first: as many as fit, the others at random."""
    given = np.asarray(topics, np.float64)[:n_topics].T
    shares = given / given.sum(axis=0)
    rest = (
        random_topics(given.shape[0], n_topics - given.shape[1], n_tokens, rng) if given.shape[1] < n_topics else None
    )
    start = shares * (n_tokens / n_topics)
    return start if rest is None else np.hstack([start, rest * (n_topics - given.shape[1]) / n_topics])
