"""Where inference starts: topics from clusters of documents, at random, or from another model."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.engine.base import Engine
from diln.engine.compile import kernel
from diln.engine.threads import cut
from diln.inference.data import Array, Entries, TermCounts

CLUSTERED = 5_000  # documents that are clustered at most
ROUNDS = 3
DOCS_AT_ONCE = 64
SMOOTH = 0.1  # share of the start that is noise rather than clusters


@kernel
def nearest_centroids(entries, centroids):  # type: ignore[no-untyped-def]
    """The centroid at the least L1 distance from each document, whose counts are shares of its tokens.

    Only the document's own terms are visited, since sum_w |x_w - c_w| = 1 + sum over these of |x_w - c_w| - c_w.
    ``centroids`` is (n_terms, n_topics). Equals ``np.abs(x[:, :, None] - centroids).sum(axis=1).argmin(axis=1)``.
    """
    indptr, indices, shares = entries
    real = centroids.dtype.type
    size = centroids.shape[1]
    distance, out = np.empty(size, centroids.dtype), np.empty(indptr.size - 1, np.int64)
    for m in range(out.size):
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
    return out


def clusters(counts: csr_array, n_topics: int, rng: np.random.Generator, engine: Engine) -> Array:
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
    for _ in range(ROUNDS):
        nearest = assign(documents, centroids, engine)
        size = np.bincount(nearest, minlength=n_topics)
        member = csr_array((1 / size[nearest], (np.arange(len(full)), nearest)), (len(full), n_topics))
        means = csr_array(documents.T @ member).toarray()
        centroids[:, size > 0] = means[:, size > 0]
    return centroids[:, np.argsort(-size, kind="stable")]


def step_nearest(entries: Entries, centroids: Array) -> Array:
    """``nearest_centroids`` of some documents."""
    return np.asarray(nearest_centroids(entries, centroids))


def assign(documents: csr_array, centroids: Array, engine: Engine) -> NDArray[np.int64]:
    """Each document's nearest centroid (n_docs,)."""
    batch = TermCounts.of(documents)
    shards = [batch.entries(first, last) for first, last in cut(len(batch), DOCS_AT_ONCE)]
    return np.concatenate([np.empty(0, np.int64), *engine.map(step_nearest, shards, centroids)])


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
