"""The kernels of the topics against NumPy twins, and their term of the bound against the Dirichlet distribution."""

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array
from scipy.special import digamma, gammaln
from twins import each_real

from diln.engine.threads import Threads
from diln.inference.data import TermCounts
from diln.inference.emissions.multinomial import (
    FLOOR,
    TermShard,
    TokenSteps,
    expected_topics,
    gather_statistics,
    topic_terms,
)
from diln.inference.variational.documents import DocumentSums, integers_like
from diln.inference.variational.posterior import TERMS_AT_ONCE, VariationalPosterior, VisitedDocuments
from diln.inference.weights.dirichlet import DirichletWeights

# Statistics


def some_ratios(rng, n_docs=9, n_topics=13):
    """Ratios (n_docs, n_terms) in which term w has w documents: none, one, ... all."""
    ratio = np.zeros((n_docs, n_docs + 1))
    for w in range(n_docs + 1):
        ratio[rng.permutation(n_docs)[:w], w] = 10.0 ** rng.uniform(-3, 3, w)
    return ratio


def by_term(ratio, real):
    """Pointers, documents and places of each term, and the ratios in the documents' order."""
    rows = csr_array(ratio)
    columns = csr_array((np.arange(rows.nnz), rows.indices, rows.indptr), rows.shape).tocsc()
    places = columns.data.astype(np.int64)
    return columns.indptr.astype(np.int64), columns.indices.astype(np.int32), places, rows.data.astype(real)


def gather(ratio, theta, topics, share, keep, out):
    """The step of all terms at once; ``out`` is changed."""
    indptr, rows, places, ratios = by_term(ratio, theta.dtype)
    gather_statistics(TermShard(indptr, rows, places, topics, out), TokenSteps(ratios, theta, share, keep))


@each_real
@pytest.mark.parametrize("n_topics", [1, 7, 8, 37])
@pytest.mark.parametrize(("share", "keep"), [(1.0, 0.0), (1.0, 1.0), (250.0, 0.9), (1e-3, 0.5)])
def test_gather_statistics_is_its_numpy_line(real, n_topics, share, keep):
    rng = np.random.default_rng(1)
    ratio = some_ratios(rng)
    theta = (10.0 ** rng.uniform(-12, 2, size=(9, n_topics))).astype(real)
    topics, old = (10.0 ** rng.uniform(-12, 0, size=(2, 10, n_topics))).astype(real)
    out = old.copy()
    gather(ratio, theta, topics, share, keep, out)
    right = keep * old.astype(np.float64) + share * topics.astype(np.float64) * (ratio.T @ theta)
    np.testing.assert_allclose(out, right, rtol=2e-6 if real is np.float32 else 1e-14)
    np.testing.assert_allclose(out[0], real(keep) * old[0], rtol=1e-7)


@each_real
@pytest.mark.parametrize(("topic_scale", "weight_scale"), [(1e-30, 1e8), (1e-20, 1e20), (1e-30, 1e30), (1, 1e-30)])
def test_gather_statistics_holds_at_tiny_and_huge_values(real, topic_scale, weight_scale):
    """A ratio is about 1 / (topic * weight), so products are of the size of counts."""
    rng = np.random.default_rng(2)
    ratio = some_ratios(rng) / (topic_scale * weight_scale)
    theta = (rng.uniform(0.5, 1, size=(9, 5)) * weight_scale).astype(real)
    topics = (rng.uniform(0.5, 1, size=(10, 5)) * topic_scale).astype(real)
    out = np.empty((10, 5), real)
    out[:] = 1
    gather(ratio, theta, topics, 1.0, 0.5, out)
    right = 0.5 + topics.astype(np.float64) * (ratio.T @ theta)
    np.testing.assert_allclose(out, right, rtol=2e-6 if real is np.float32 else 1e-14)


@each_real
def test_a_posterior_gathers_the_same_bits_with_any_number_of_threads(real):
    rng = np.random.default_rng(4)
    counts = csr_array(rng.poisson(0.3, size=(40, 3 * TERMS_AT_ONCE // 2)).astype(np.float32))
    theta, ratio = rng.gamma(1.0, size=(40, 6)).astype(real), rng.gamma(1.0, size=counts.nnz).astype(real)
    nothing = DocumentSums(np.zeros(6), np.zeros(6), 0.0, 0.0, 0.0, 0.0)
    found = []
    for n_jobs in (1, 2):
        statistics = np.ones((counts.shape[1], 6), real)
        posterior = VariationalPosterior(statistics, 0.1, DirichletWeights(np.ones(6), False))
        with Threads(n_jobs) as threads:
            posterior.refresh(threads)
            posterior.gather(counts, VisitedDocuments(nothing, theta, ratio), 0.5, 2.0, threads)
        found.append(posterior)
    np.testing.assert_array_equal(found[0].statistics, found[1].statistics)
    dense = csr_array((ratio.astype(np.float64), counts.indices, counts.indptr), counts.shape).toarray()
    right = 0.5 + 2 * found[0].expected.astype(np.float64) * (dense.T @ theta)
    np.testing.assert_allclose(found[0].statistics, right, rtol=2e-6 if real is np.float32 else 1e-13)


# Expected topics


def expected_of(statistics, prior, scale):
    out = np.full_like(statistics, -1)
    expected_topics(statistics, prior, scale, integers_like(statistics), out)
    return out


@each_real
@pytest.mark.parametrize("prior", [0.02, 0.1, 1.0])
@pytest.mark.parametrize("n_topics", [1, 7, 37])
def test_expected_topics_are_their_numpy_line(real, prior, n_topics):
    """Rounding of lam is a relative error of exp(digamma(lam)) of 1 + 1/lam times as much."""
    rng = np.random.default_rng(5)
    statistics = (10.0 ** rng.uniform(-6, 8, size=(20, n_topics))).astype(real)
    lam = (real(prior) + statistics).astype(np.float64)
    scale = np.exp(-digamma(lam.sum(axis=0)))
    right = np.maximum(np.exp(digamma(lam)) * scale, FLOOR)
    tolerance = 5 * np.finfo(np.float32).eps * (1 + 1 / lam) if real is np.float32 else 3e-11
    assert (np.abs(expected_of(statistics, prior, scale) / right - 1) <= tolerance).all()


@each_real
@pytest.mark.parametrize("prior", [1e-6, 1e-3, 0.01])
def test_expected_topics_have_a_floor(real, prior):
    """exp(digamma(0.01)) is 2e-44: what is this small is as good as nothing, but it is not nothing."""
    statistics = np.zeros((4, 3), real)
    statistics[0] = 5
    scale = np.exp(-digamma(4 * prior + statistics.sum(axis=0, dtype=np.float64)))
    expected = expected_of(statistics, prior, scale)
    assert (expected[1:] == real(FLOOR)).all()
    np.testing.assert_allclose(expected[0], np.exp(digamma(5 + prior)) * scale, rtol=1e-6)


@each_real
@pytest.mark.parametrize("n_terms", [5, 10, 100])
@pytest.mark.parametrize("prior", [1e-4, 1e-3, 1e-2, 0.1])
def test_a_topic_without_tokens_has_numbers_for_its_expectations(real, n_terms, prior):
    """However small the prior of the whole topic is, n_terms times that of a term."""
    statistics = np.zeros((n_terms, 2), real)
    statistics[:, 0] = 10
    posterior = VariationalPosterior(statistics, prior, DirichletWeights(np.ones(2), False))
    with Threads(1) as threads:
        posterior.refresh(threads)
    assert np.isfinite(posterior.expected).all()
    assert (posterior.expected >= real(FLOOR)).all()


@each_real
def test_refreshed_topics_are_the_dirichlets_whatever_the_number_of_threads(real):
    rng = np.random.default_rng(6)
    statistics = rng.gamma(0.5, 20.0, size=(2 * TERMS_AT_ONCE + 3, 5)).astype(real)
    found = []
    for n_jobs in (1, 2):
        posterior = VariationalPosterior(statistics.copy(), 0.2, DirichletWeights(np.ones(5), False))
        with Threads(n_jobs) as threads:
            posterior.refresh(threads)
        found.append(posterior.expected)
    np.testing.assert_array_equal(found[0], found[1])
    lam = 0.2 + statistics.astype(np.float64)
    right = np.exp(digamma(lam) - digamma(lam.sum(axis=0)))
    np.testing.assert_allclose(found[0], right, rtol=1e-5 if real is np.float32 else 5e-11)


# The topics' term of the bound


@each_real
@pytest.mark.parametrize("prior", [1e-4, 0.01, 0.1, 1.0, 30.0])
def test_topic_terms_are_their_numpy_line(real, prior):
    """Also where lam is the prior, or so near that the two parts cancel."""
    near = prior * np.array([0, 1e-14, 1e-11, 0.99e-9, 1.01e-9, 1e-6, 1e-3, 1, 1e3, 1e6])
    statistics = np.column_stack([near, near[::-1]]).astype(real)
    extra = statistics.astype(np.float64)
    lam = prior + extra
    right = gammaln(lam) - extra * digamma(lam)
    tolerance = 1e-13 * (np.abs(gammaln(lam)) + np.abs(extra * digamma(lam)) + 1).sum(axis=0)
    for part in (slice(None), slice(3, 5)):
        assert (np.abs(topic_terms(statistics[part], prior) - right[part].sum(axis=0)) <= tolerance).all()


@each_real
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n_terms", [2, 20, 2 * TERMS_AT_ONCE + 3])
def test_the_topics_term_is_the_prior_and_the_entropy_of_a_dirichlet(real, n_jobs, n_terms):
    rng = np.random.default_rng(7)
    prior, statistics = 0.3, rng.gamma(0.5, 20.0, size=(n_terms, 4)).astype(real)
    statistics[:, 1] = 0
    statistics[1:, 2] = 0
    lam = prior + statistics.astype(np.float64)
    log_eta = digamma(lam) - digamma(lam.sum(axis=0))
    constant = gammaln(n_terms * prior) - n_terms * gammaln(prior)
    right = 4 * constant + (prior - 1) * log_eta.sum() + sum(stats.dirichlet(one).entropy() for one in lam.T)
    posterior = VariationalPosterior(statistics, prior, DirichletWeights(np.ones(4), False))
    with Threads(n_jobs) as threads:
        assert posterior.topic_term(threads) == pytest.approx(right, rel=1e-11)


@each_real
def test_the_term_of_topics_at_their_prior_is_zero(real):
    posterior = VariationalPosterior(np.zeros((50, 3), real), 0.1, DirichletWeights(np.ones(3), False))
    with Threads(1) as threads:
        assert posterior.topic_term(threads) == pytest.approx(0, abs=1e-11)


def test_topic_words_are_the_dirichlets_means():
    rng = np.random.default_rng(8)
    statistics = rng.gamma(0.5, 20.0, size=(30, 4)).astype(np.float32)
    posterior = VariationalPosterior(statistics, 0.3, DirichletWeights(np.ones(4), False))
    right = np.column_stack([stats.dirichlet(0.3 + one).mean() for one in statistics.T.astype(np.float64)])
    np.testing.assert_allclose(posterior.topic_word(), right, rtol=1e-13)
    np.testing.assert_allclose(posterior.topic_tokens, statistics.sum(axis=0, dtype=np.float64), rtol=1e-13)


@pytest.mark.parametrize("n_docs", [1, 15, 16, 17, 250, 1024, 9001, 100_000])
def test_documents_are_shared_out_whole_in_order_and_whatever_the_threads(n_docs):
    pieces = TermCounts(np.zeros(n_docs + 1, np.int64), np.empty(0), np.empty(0), 1).pieces
    assert [place for first, last in pieces for place in range(first, last)] == list(range(n_docs))
    assert max(last - first for first, last in pieces) <= 256
    assert len(pieces) >= min(60, n_docs // 16)
