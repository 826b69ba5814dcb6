"""Where inference starts: k-means with L1 distance, noise, and another model's topics."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from twins import each_real

import diln.inference.variational.start
from diln.engine.threads import Threads
from diln.inference.data import Entries
from diln.inference.variational.start import (
    DOCS_AT_ONCE,
    assign,
    clusters,
    fitted_topics,
    nearest_centroids,
    random_topics,
    smoothed,
)


def as_counts(x):
    """A matrix of counts in the types that the models hand in."""
    rows = csr_array(np.asarray(x, np.float32))
    rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int64)
    return rows


def some_shares(rng, n_docs, n_terms, real):
    counts = rng.poisson(0.4, size=(n_docs, n_terms))
    counts[counts.sum(axis=1) == 0, 0] = 1
    return (counts / counts.sum(axis=1, keepdims=True)).astype(real)


def entries(shares):
    rows = csr_array(shares)
    return Entries(rows.indptr, rows.indices, rows.data)


def distances(shares, centroids):
    """L1 distances (n_docs, n_topics), summed over all terms."""
    return np.abs(shares.astype(np.float64)[:, :, None] - centroids).sum(axis=1)


@each_real
@pytest.mark.parametrize("n_topics", [1, 2, 7, 8, 33])
def test_the_nearest_centroid_is_the_nearest_over_all_terms(real, n_topics):
    """Where the least two distances are told apart by the type's precision."""
    rng = np.random.default_rng(n_topics)
    shares = some_shares(rng, 100, 60, real)
    centroids = np.ascontiguousarray(rng.dirichlet(np.full(60, 0.2), n_topics).T, real)
    out = nearest_centroids(entries(shares), centroids)
    right = distances(shares, centroids)
    clear = np.ones(100, bool) if n_topics == 1 else np.diff(np.sort(right)[:, :2])[:, 0] > 1e-5
    assert clear.sum() > 90
    np.testing.assert_array_equal(out[clear], right.argmin(axis=1)[clear])
    chosen = right[np.arange(100), out]
    np.testing.assert_allclose(chosen, right.min(axis=1), atol=1e-5 if real is np.float32 else 1e-14)


@each_real
def test_of_centroids_alike_the_first_is_taken(real):
    shares = some_shares(np.random.default_rng(1), 10, 5, real)
    np.testing.assert_array_equal(nearest_centroids(entries(shares), np.full((5, 4), 0.2, real)), np.zeros(10))


@each_real
def test_a_document_at_a_centroid_is_assigned_to_it_however_sharp(real):
    """From a document of one word to one in which a word is one of a million."""
    x = np.array([[1, 0, 0], [0.5, 0.5, 0], [1e-6, 1 - 1e-6, 0], [0, 1e-6, 1 - 1e-6]], real)
    with Threads(1) as threads:
        out = assign(csr_array(x), np.ascontiguousarray(x.T), threads)
    np.testing.assert_array_equal(out, np.arange(4))


# Clusters


class Chosen:
    """A generator that shuffles as it is told."""

    def __init__(self, *first):
        self.first = np.array(first)

    def permutation(self, size):
        return np.append(self.first, np.setdiff1d(np.arange(size), self.first))


def some_groups(rng, sizes, n_terms_each=12):
    """Counts of documents in groups that have no term in common, and the groups."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    counts = np.zeros((len(group), len(sizes) * n_terms_each))
    for m, g in enumerate(group):
        counts[m, g * n_terms_each : (g + 1) * n_terms_each] = rng.poisson(3.0, n_terms_each)
    return counts, group


def test_groups_far_apart_are_found_and_come_by_their_size():
    rng = np.random.default_rng(2)
    counts, group = some_groups(rng, [10, 40, 20, 30])
    with Threads(1) as threads:
        found = clusters(as_counts(counts), 4, Chosen(3, 30, 60, 99), threads)
    shares = counts / counts.sum(axis=1, keepdims=True)
    right = np.column_stack([shares[group == g].mean(axis=0) for g in (1, 3, 2, 0)])
    np.testing.assert_allclose(found, right, rtol=1e-5, atol=1e-7)


def test_groups_far_apart_are_not_mixed_with_more_clusters_than_groups():
    rng = np.random.default_rng(3)
    counts, _ = some_groups(rng, [50, 30, 40])
    with Threads(1) as threads:
        found = clusters(as_counts(counts), 25, rng, threads)
    np.testing.assert_allclose(found.sum(axis=0), 1, rtol=1e-5)
    in_groups = found.reshape(3, 12, 25).sum(axis=1) > 0
    np.testing.assert_array_equal(in_groups.sum(axis=0), np.ones(25))
    assert in_groups.any(axis=1).all()


def test_clusters_come_by_use():
    """A twin of three rounds, in which documents are far enough from ties."""
    rng = np.random.default_rng(4)
    counts = rng.poisson(0.5, size=(150, 40))
    counts[:, 0] += 1
    shares = counts / counts.sum(axis=1, keepdims=True)
    order = np.random.default_rng(5).permutation(150)[:8]
    centroids = shares[order].T.copy()
    for _ in range(diln.inference.variational.start.ROUNDS):
        nearest = distances(shares, centroids).argmin(axis=1)
        for k in np.unique(nearest):
            centroids[:, k] = shares[nearest == k].mean(axis=0)
    size = np.bincount(nearest, minlength=8)
    assert len(set(size)) > 4
    with Threads(1) as threads:
        found = clusters(as_counts(counts), 8, np.random.default_rng(5), threads)
    np.testing.assert_allclose(found, centroids[:, np.argsort(-size, kind="stable")], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("n_topics", [4, 5, 10, 30])
def test_there_can_be_more_topics_than_documents(n_topics):
    counts = np.eye(3, 6) + np.eye(3, 6, 3)
    with Threads(1) as threads:
        found = clusters(as_counts(counts), n_topics, np.random.default_rng(6), threads)
    assert found.shape == (6, n_topics)
    np.testing.assert_allclose(found.sum(axis=0), 1, rtol=1e-6)
    firsts = np.sort(found[:3, :3].argmax(axis=0))
    np.testing.assert_array_equal(firsts, np.arange(3))


def test_documents_without_tokens_are_ignored():
    rng = np.random.default_rng(7)
    counts = rng.poisson(0.5, size=(30, 12))
    counts[:, 0] += 1
    some_empty = np.zeros((60, 12))
    some_empty[np.sort(rng.permutation(60)[:30])] = counts
    with Threads(1) as threads:
        with_empty, without = (
            clusters(as_counts(x), 5, np.random.default_rng(8), threads) for x in (some_empty, counts)
        )
    np.testing.assert_array_equal(with_empty, without)
    np.testing.assert_allclose(with_empty.sum(axis=0), 1, rtol=1e-6)


def test_of_many_documents_some_are_clustered(monkeypatch):
    monkeypatch.setattr(diln.inference.start, "CLUSTERED", 20)
    rng = np.random.default_rng(9)
    counts, _ = some_groups(rng, [50, 50])
    with Threads(1) as threads:
        found = clusters(as_counts(counts), 100, rng, threads)
    np.testing.assert_allclose(found.sum(axis=0), 1, rtol=1e-5)
    assert len(np.unique(found, axis=1).T) <= 20


def test_the_same_seed_gives_the_same_clusters_with_any_number_of_threads():
    rng = np.random.default_rng(10)
    counts = as_counts(rng.poisson(0.3, size=(3 * DOCS_AT_ONCE + 5, 50)))
    found = []
    for n_jobs in (1, 2, 1):
        with Threads(n_jobs) as threads:
            found.append(clusters(counts, 9, np.random.default_rng(11), threads))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    with Threads(1) as threads:
        assert (clusters(counts, 9, np.random.default_rng(12), threads) != found[0]).any()


# Statistics to start from


def test_smoothed_topics_hold_the_tokens_in_equal_parts_and_no_zeros():
    rng = np.random.default_rng(13)
    topics = np.zeros((1_000, 5))
    topics[np.arange(5), np.arange(5)] = 1
    start = smoothed(topics, 2_000.0, rng)
    assert start.shape == (1_000, 5)
    assert (start > 0).all()
    np.testing.assert_allclose(start.sum(axis=0), 400, rtol=0.03)
    np.testing.assert_allclose(start[np.arange(5), np.arange(5)], 360, rtol=0.01)
    noise = start - 360 * topics
    np.testing.assert_allclose(noise.sum(axis=0), 40, rtol=0.15)


def test_random_topics_hold_the_tokens_in_equal_parts_give_or_take_a_tenth():
    start = random_topics(1_000, 4, 2_000.0, np.random.default_rng(14))
    np.testing.assert_allclose(start.sum(axis=0), 500, rtol=0.02)
    assert start.std() == pytest.approx(0.1 * start.mean(), rel=0.1)


@pytest.mark.parametrize("n_topics", [1, 3, 5, 12])
def test_fitted_topics_are_kept_as_far_as_they_fit_and_the_others_are_random(n_topics):
    rng = np.random.default_rng(15)
    given = rng.gamma(0.5, size=(5, 800)) * 10.0 ** rng.uniform(-3, 3, size=(5, 1))
    start = fitted_topics(given, n_topics, 2_400.0, rng)
    assert start.shape == (800, n_topics)
    kept = min(n_topics, 5)
    np.testing.assert_allclose(start[:, :kept].sum(axis=0), 2_400 / n_topics, rtol=1e-12)
    np.testing.assert_allclose(start.sum(axis=0), 2_400 / n_topics, rtol=0.02)
    shares = given[:kept] / given[:kept].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(start[:, :kept].T, shares * 2_400 / n_topics, rtol=1e-12)
    if kept < n_topics:
        assert start[:, kept:].std() == pytest.approx(0.1 * 2_400 / n_topics / 800, rel=0.1)
