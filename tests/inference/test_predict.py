"""What a posterior says of documents: held-out probabilities and proportions against NumPy and own draws."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import expit, logsumexp
from twins import each_real

from diln.engine.threads import Threads
from diln.inference.data import Entries
from diln.inference.predict import held_out, log_likelihood, mean_log_likelihood
from diln.inference.variational.documents import Limits
from diln.inference.variational.posterior import VariationalPosterior
from diln.inference.weights.dirichlet import DirichletWeights
from diln.inference.weights.gamma_process import StickWeights
from diln.inference.weights.located import LocatedWeights

each_kind = pytest.mark.parametrize("kind", ["LDA", "HDP", "DILN"])


def as_counts(x):
    """A matrix of counts in the types that the models hand in."""
    rows = csr_array(np.asarray(x, np.float32))
    rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int64)
    return rows


def entries(x):
    rows = as_counts(x)
    return Entries(rows.indptr, rows.indices, rows.data)


def some_weights(kind, rng, n_topics, beta=5.0):
    a0 = rng.dirichlet(np.ones(n_topics)) * beta
    if kind == "LDA":
        return DirichletWeights(a0, False)
    sticks = StickWeights(n_topics, (1.0, 1e-3), (1.0, 1e-3))
    sticks.a0 = a0
    return sticks if kind == "HDP" else LocatedWeights(sticks, rng.normal(size=(n_topics, 3)), 1 / 3)


def some_posterior(kind, rng, n_terms=40, n_topics=6, beta=5.0):
    statistics = rng.gamma(0.3, 100.0, size=(n_terms, n_topics)).astype(np.float32)
    posterior = VariationalPosterior(statistics, 0.1, some_weights(kind, rng, n_topics, beta))
    with Threads(1) as threads:
        posterior.refresh(threads)
    return posterior


def inferred(posterior, x):
    with Threads(1) as threads:
        return posterior.first_beliefs(as_counts(x), Limits(100, 1e-6), threads)


def proportions(posterior, x):
    with Threads(1) as threads:
        return posterior.infer(as_counts(x), 100, 1e-6, threads).proportions


def drawn(posterior, x, hidden, draws, seed, threads):
    rng = np.random.default_rng(seed)
    return mean_log_likelihood(posterior.draws(as_counts(x), 100, 1e-6, draws, rng, threads), hidden, threads)


# Held-out probabilities


def log_probability(counts, topic_word, theta):
    p = theta.astype(np.float64) @ topic_word.astype(np.float64).T
    return (counts * np.log(np.where(counts > 0, p, 1))).sum(axis=1)


@each_real
@pytest.mark.parametrize("n_topics", [1, 7, 8, 100])
@pytest.mark.parametrize("spread", [1.0, 0.05])
def test_held_out_is_its_numpy_line(real, n_topics, spread):
    """A relative error of p is an absolute error of its logarithm, for every token."""
    rng = np.random.default_rng(1)
    counts = rng.poisson(0.5, size=(20, 50))
    counts[3] = 0
    eta = np.ascontiguousarray(rng.dirichlet(np.full(50, spread), n_topics).T + 1e-9, real)
    theta = rng.dirichlet(np.full(n_topics, spread), 20).astype(real)
    out = held_out(entries(counts), eta, theta)
    right = log_probability(counts, eta, theta)
    tolerance = (2e-6 if real is np.float32 else 1e-14) * (
        1 + counts.sum(axis=1) + np.abs(right) * (real is np.float64)
    )
    assert (np.abs(out - right) <= tolerance).all()
    assert out[3] == 0


@each_real
@pytest.mark.parametrize("scale", [1e-30, 1e-15, 1.0])
def test_held_out_knows_tiny_probabilities_and_huge_counts(real, scale):
    rng = np.random.default_rng(2)
    counts = rng.integers(0, 10**6, size=(5, 9))
    eta = (rng.uniform(0.5, 1, size=(9, 4)) * scale).astype(real)
    theta = rng.dirichlet(np.ones(4), 5).astype(real)
    out = held_out(entries(counts), eta, theta)
    tolerance = 1e-6 if real is np.float32 else 1e-13
    np.testing.assert_allclose(out, log_probability(counts, eta, theta), rtol=tolerance, atol=tolerance * counts.sum())


def test_log_likelihood_is_the_same_with_any_number_of_threads():
    rng = np.random.default_rng(3)
    counts = rng.poisson(0.5, size=(199, 30))
    eta, theta = rng.dirichlet(np.ones(30), 5).T, rng.dirichlet(np.ones(5), len(counts))
    found = []
    for n_jobs in (1, 2):
        with Threads(n_jobs) as threads:
            found.append(log_likelihood(eta, theta, as_counts(counts), threads))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_allclose(found[0], log_probability(counts, eta, theta), rtol=1e-6, atol=1e-6)


# Proportions


@each_kind
def test_proportions_sum_to_one_and_an_empty_document_gets_the_priors(kind):
    rng = np.random.default_rng(4)
    posterior, counts = some_posterior(kind, rng), rng.poisson(0.5, size=(9, 40))
    counts[4] = 0
    counts[6] = np.arange(40) == 3
    found = proportions(posterior, counts)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    assert (found > 0).all()
    a0 = posterior.weights.a0
    np.testing.assert_allclose(found[4], a0 / a0.sum(), rtol=1e-9)
    assert np.abs(found[6] - found[4]).max() > 1e-3


@each_kind
def test_proportions_are_the_means_of_the_weights(kind):
    """E Z_mk = (a0_k + n_mk) / (e^-w_mk + e^s_m) is, but for e^-s, (a0_k + n_mk) sigma(w_mk + s_m)."""
    rng = np.random.default_rng(5)
    posterior = some_posterior(kind, rng)
    counts = rng.poisson(1.0, size=(9, 40))
    documents = inferred(posterior, counts)
    a0, locations = posterior.weights.a0, posterior.weights.locations
    psi = documents.locations @ locations.T + documents.intercepts[:, None]
    mean = (a0 + documents.tokens) * (expit(psi) if kind == "DILN" else 1)
    np.testing.assert_allclose(proportions(posterior, counts), mean / mean.sum(axis=1, keepdims=True), rtol=1e-12)


@each_kind
def test_documents_are_inferred_each_by_itself(kind):
    rng = np.random.default_rng(6)
    posterior, counts = some_posterior(kind, rng), rng.poisson(0.7, size=(131, 40))
    together = proportions(posterior, counts)
    alone = [proportions(posterior, counts[m : m + 1])[0] for m in (0, 70, 130)]
    np.testing.assert_array_equal(together[[0, 70, 130]], alone)


# Draws


def own_draws(posterior, documents, draws, rng):
    """Topics (n_terms, n_topics) and proportions (n_docs, n_topics), drawn from q in the same order."""
    weights = posterior.weights
    lam, a = posterior.statistics.astype(np.float64) + posterior.prior, weights.a0 + documents.tokens
    psi = documents.locations @ weights.locations.T + documents.intercepts[:, None]
    gate = expit(psi) if isinstance(weights, LocatedWeights) else 1.0
    for _ in range(draws):
        eta, z = rng.standard_gamma(lam), rng.standard_gamma(a) * gate
        yield eta / eta.sum(axis=0), z / z.sum(axis=1, keepdims=True)


@each_kind
def test_a_drawn_likelihood_is_the_log_of_the_average_over_draws(kind):
    rng = np.random.default_rng(7)
    posterior, counts = some_posterior(kind, rng), rng.poisson(0.5, size=(9, 40))
    counts[2] = 0
    documents, hidden = inferred(posterior, counts), rng.poisson(0.5, size=(9, 40))
    with Threads(2) as threads:
        found = drawn(posterior, counts, as_counts(hidden), 7, 8, threads)
    each = [log_probability(hidden, *one) for one in own_draws(posterior, documents, 7, np.random.default_rng(8))]
    np.testing.assert_allclose(found, logsumexp(each, axis=0) - np.log(7), rtol=1e-6, atol=1e-5)
    assert np.ptp(each, axis=0).max() > 0.1


@each_kind
def test_a_drawn_likelihood_of_a_sharp_posterior_is_the_plug_in(kind):
    rng = np.random.default_rng(9)
    posterior, counts = some_posterior(kind, rng), rng.poisson(0.5, size=(9, 40))
    hidden = as_counts(rng.poisson(0.5, size=(9, 40)))
    gaps = []
    for sharpness in (1.0, 1e4, 1e8):
        documents = inferred(posterior, counts)
        documents.tokens[:] *= np.float32(sharpness)
        sharp = VariationalPosterior((posterior.statistics + 1) * np.float32(sharpness), 0.1, posterior.weights)
        sharp.first_beliefs = lambda *_, found=documents: found
        with Threads(1) as threads:
            plug_in = log_likelihood(sharp.topic_word(), sharp.weights.proportions(documents), hidden, threads)
            gaps.append(np.abs(drawn(sharp, counts, hidden, 5, 10, threads) - plug_in).max())
    assert gaps[0] > 0.1
    assert gaps[1] < 0.1
    assert gaps[2] < 1e-3


@each_kind
@pytest.mark.parametrize("beta", [0.02, 0.1, 1.0, 20.0])
def test_draws_of_empty_documents_are_the_priors(kind, beta):
    """Also where a draw of all weights is tiny."""
    rng = np.random.default_rng(11)
    posterior = some_posterior(kind, rng, beta=beta)
    hidden = np.zeros((300, 40))
    hidden[:, 0] = 1
    with Threads(1) as threads:
        found = drawn(posterior, np.zeros((300, 40)), as_counts(hidden), 20, 12, threads)
    assert np.isfinite(found).all()
    p = posterior.topic_word()[0] @ posterior.weights.a0 / posterior.weights.a0.sum()
    assert np.exp(found).mean() == pytest.approx(p, rel=0.2)
