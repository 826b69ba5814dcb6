"""The correlated topic model's bound, spelled out: what is monitored is it, and no block of any update lowers it."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import digamma, gammaln, logsumexp, softmax, xlogy

from diln.engine.threads import Threads
from diln.inference.loops import sweeps
from diln.inference.posterior import OnlineStep
from diln.inference.variational import run as passes
from diln.inference.variational.documents import DocumentBeliefs, Limits
from diln.inference.variational.posterior import VariationalPosterior
from diln.inference.variational.run import VariationalPlan, VariationalRun
from diln.inference.weights.gaussian import (
    GaussianWeights,
    believed,
    best_gaussian,
    expected_proportions,
    moments_of,
)
from diln.models.counts import as_rows

ONE = Threads(1)


def some_covariance(rng, size):
    root = rng.normal(size=(size, size))
    return root @ root.T / size + 0.2 * np.eye(size)


class Case:
    """A small random problem in double precision."""

    def __init__(self, seed, size=4, n_docs=7, n_terms=12):
        rng = np.random.default_rng(seed)
        counts = rng.poisson(rng.gamma(1.0, 1.0), (n_docs, n_terms))
        counts[1] = 0
        counts[0, 0] += 1
        self.counts = as_rows(counts)
        self.weights = GaussianWeights(rng.normal(size=size), some_covariance(rng, size), rng.gamma(2.0, 2.0) + 0.1)
        self.posterior = VariationalPosterior(rng.gamma(0.5, 2.0, (n_terms, size)), 0.1, self.weights)
        self.posterior.refresh(ONE)
        self.documents = self.weights.start(np.asarray(self.counts.sum(axis=1), float), np.float64)
        self.documents.locations += rng.normal(size=self.documents.locations.shape)

    def visit(self, turns=3):
        visited = self.posterior.visit(self.counts, self.documents, Limits(turns, 0.0), ONE)
        self.phi = [
            self.posterior.expected[np.flatnonzero(row)] * visited.theta[m]
            for m, row in enumerate(self.counts.toarray())
        ]
        return visited

    def terms(self):
        """Every term of the bound by itself, with q(C) as in the last token step."""
        weights, q, lam = self.weights, self.documents, self.posterior.statistics + self.posterior.prior
        e_eta = digamma(lam) - digamma(lam.sum(axis=0))
        prior, size = self.posterior.prior, len(weights.mean)
        dirichlet = gammaln(lam.sum(axis=0)) - gammaln(lam).sum(axis=0) + ((lam - 1) * e_eta).sum(axis=0)
        flat = gammaln(len(lam) * prior) - len(lam) * gammaln(prior) + ((prior - 1) * e_eta).sum(axis=0)
        out = {"topics": (flat - dirichlet).sum(), "words": 0.0, "weights": 0.0, "log weights": 0.0}
        c = weights.prior
        out["precision"] = stats.wishart(size + 1 + c, np.eye(size) / c).logpdf(np.linalg.inv(weights.sigma))
        out["mean"] = stats.multivariate_normal(np.zeros(size), weights.sigma).logpdf(weights.mean)
        inverse = np.linalg.inv(weights.sigma)
        for m, row in enumerate(self.counts.toarray()):
            words = np.flatnonzero(row)
            if not len(words):
                continue
            phi = self.phi[m] / self.phi[m].sum(axis=1, keepdims=True)
            x, v = q.locations[m], q.spreads[m]
            out["words"] += (row[words, np.newaxis] * (phi * e_eta[words] - xlogy(phi, phi))).sum()
            out["weights"] += (row[words] @ phi) @ x - row.sum() * logsumexp(x + v / 2)
            gaussian = stats.multivariate_normal(weights.mean, weights.sigma).logpdf(x)
            entropy = stats.norm(0, np.sqrt(v)).entropy().sum()
            out["log weights"] += gaussian - np.diag(inverse) @ v / 2 + entropy
        return out

    def bound(self):
        terms = self.terms()
        return sum(terms.values()), 1e-10 * sum(abs(value) for value in terms.values())


def test_the_bound_that_is_monitored_is_the_full_bound():
    for seed in range(25):
        case = Case(seed)
        topics = case.posterior.topic_term(ONE)
        ours = topics + case.visit(5).sums.bound + sum(case.weights.terms().values())
        assert ours == pytest.approx(case.bound()[0], rel=1e-10)


def test_no_block_lowers_the_bound():
    least = dict.fromkeys(["documents", "topics", "gaussian"], np.inf)
    for seed in range(24):
        case = Case(seed, size=1 + seed % 6)
        case.visit(1)
        value = case.bound()[0]
        for _ in range(4):
            visited = case.visit(3)
            for name in least:
                if name == "topics":
                    case.posterior.gather(case.counts, visited, 0.0, 1.0, ONE)
                if name == "gaussian":
                    case.weights.update(visited.sums, case.documents, 1.0, 1.0, ONE)
                after, slack = case.bound()
                least[name] = min(least[name], (after - value) / abs(value))
                assert after >= value - slack, (name, seed)
                value = after
            case.posterior.refresh(ONE)
    assert max(least.values()) <= 1e-3  # all of them come to rest somewhere, so the test looks where it can fail


def test_mean_and_covariance_are_at_the_maximum():
    for seed in range(10):
        case = Case(seed)
        visited = case.visit(4)
        case.weights.update(visited.sums, case.documents, 1.0, 1.0, ONE)
        best, slack = case.bound()
        rng = np.random.default_rng(seed)
        mean, sigma = case.weights.mean.copy(), case.weights.sigma.copy()
        for size in (1e-3, 1e-2, 0.1):
            noise = rng.normal(size=sigma.shape)
            inverse = np.linalg.inv(sigma)
            case.weights._know(mean + size * rng.normal(size=len(mean)), sigma)
            assert case.bound()[0] < best + slack
            case.weights._know(
                mean, np.linalg.inv(inverse + size * np.linalg.eigvalsh(inverse)[0] * (noise + noise.T) / 4)
            )
            assert case.bound()[0] < best + slack


def test_the_monitored_bound_never_falls_in_single_precision():
    rng = np.random.default_rng(3)
    counts = rng.poisson(0.6, (40, 30))
    counts[5] = 0
    weights = GaussianWeights(np.zeros(6), np.eye(6), 6.0)
    posterior = VariationalPosterior(rng.gamma(1.0, 1.0, (30, 6)).astype(np.float32), 0.1, weights)
    plan = VariationalPlan(60, 0.0, 0.0, 0)
    bounds = []
    sweeps(
        VariationalRun(posterior, as_rows(counts), plan, lambda: 0.0),
        ONE,
        lambda progress: bounds.append(progress.bound),
    )
    assert np.diff(bounds).min() >= -1e-7 * abs(bounds[-1])
    assert bounds[-1] > bounds[0]


def test_a_stochastic_step_of_length_one_with_all_documents_is_a_batch_pass():
    rng = np.random.default_rng(4)
    counts, statistics = as_rows(rng.poisson(0.8, (40, 20))), rng.gamma(1.0, 1.0, (20, 5)).astype(np.float32)
    plan = VariationalPlan(1, 0.0, 1e-3, 0)
    batch, stochastic = (
        VariationalPosterior(statistics.copy(), 0.1, GaussianWeights(np.zeros(5), np.eye(5), 5.0)) for _ in "ab"
    )
    sweeps(VariationalRun(batch, counts, plan, lambda: 0.0), ONE, lambda progress: None)
    stochastic.learn(counts, OnlineStep(0, 1.0, 1.0, passes.TURNS, 1e-3), ONE)
    for name, value in batch.tensors().items():
        np.testing.assert_array_equal(stochastic.tensors()[name], value, err_msg=name)


def test_moments_of_batches_are_unbiased_and_fade():
    case = Case(3, n_docs=8)
    case.visit(4)
    whole, q = moments_of(case.documents), case.documents
    rows = np.random.default_rng(0).permutation(8).reshape(4, 2)
    parts = [moments_of(DocumentBeliefs(*(array[one] for array in q))) for one in rows]
    np.testing.assert_allclose(sum(parts), whole, rtol=1e-12)
    number = int((np.diff(case.counts.indptr) > 0).sum())
    assert whole[0, 0] == number < 8
    mean, sigma = case.weights.mean, case.weights.sigma
    case.weights.update(None, q, 0.25, 3.0, ONE)
    expected = 0.75 * believed(mean, sigma, 3 * number) + 0.25 * 3 * whole
    np.testing.assert_allclose(case.weights.moments, expected, rtol=1e-12)
    case.weights.update(None, q, 0.5, 3.0, ONE)
    np.testing.assert_allclose(case.weights.moments, 0.5 * expected + 1.5 * whole, rtol=1e-12)


def test_the_prior_counts_as_documents_of_the_identity():
    rng = np.random.default_rng(2)
    sigma = some_covariance(rng, 5)
    mean, found = best_gaussian(believed(np.zeros(5), sigma, 1e9), 5.0)
    np.testing.assert_allclose(found, sigma, rtol=1e-6, atol=1e-6)
    _, found = best_gaussian(believed(np.zeros(5), sigma, 3.0), 6.0)
    np.testing.assert_allclose(found, (3 * sigma + 6 * np.eye(5)) / 10, rtol=1e-12, atol=1e-12)
    _, found = best_gaussian(believed(np.ones(5), np.zeros((5, 5)), 1.0), 5.0)
    assert np.linalg.cond(found) < 3  # of one document
    assert not mean.any()


def test_proportions_are_ratios_of_expectations_and_the_priors_without_tokens():
    case = Case(1)
    case.visit(5)
    found = case.weights.proportions(case.documents)
    np.testing.assert_allclose(found[0], softmax(case.documents.locations[0] + case.documents.spreads[0] / 2))
    np.testing.assert_array_equal(found[1], case.weights.a0 / case.weights.a0.sum())
    rng = np.random.default_rng(0)
    eta = rng.multivariate_normal(case.weights.mean, case.weights.sigma, 200_000)
    expected = softmax(eta, axis=1).mean(axis=0)
    np.testing.assert_allclose(expected_proportions(case.weights.mean, case.weights.sigma), expected, atol=0.02)


def test_draws_are_those_of_q():
    case = Case(2)
    case.visit(5)
    draw = case.weights.drawing(case.documents, np.random.default_rng(0))
    logs = np.log([draw() for _ in range(4000)])
    logs -= logs[:, :, :1]
    means, spreads = case.documents.locations, case.documents.spreads
    np.testing.assert_allclose(logs.mean(axis=0), means - means[:, :1], atol=0.2)
    full = case.documents.tokens.any(axis=1)
    np.testing.assert_allclose(logs.var(axis=0)[full, 1:], (spreads[:, 1:] + spreads[:, :1])[full], rtol=0.15)


def test_draws_of_a_document_without_tokens_are_those_of_the_prior():
    for seed in (2, 5):
        case = Case(seed)
        case.visit(5)
        draw = case.weights.drawing(case.documents, np.random.default_rng(0))
        logs = np.log([draw()[1] for _ in range(20_000)])
        apart = np.eye(4)[:, 1:] - np.eye(4)[:, :1]  # of log weights beside the first: of others draws do not tell
        found, mean, sigma = logs @ apart, case.weights.mean, case.weights.sigma
        right = apart.T @ sigma @ apart
        assert np.abs(right / (apart.T @ np.diag(case.documents.spreads[1]) @ apart) - 1).max() > 0.3
        scale = np.sqrt(np.diag(right))
        np.testing.assert_allclose((found.mean(axis=0) - mean @ apart) / scale, 0, atol=0.03)
        np.testing.assert_allclose((np.cov(found.T) - right) / np.outer(scale, scale), 0, atol=0.05)


def test_the_covariance_that_is_told_does_not_change_with_what_is_added_to_all_topics():
    rng = np.random.default_rng(0)
    sigma = some_covariance(rng, 5)
    told = GaussianWeights(np.zeros(5), sigma, 1.0).covariance
    np.testing.assert_allclose(told.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(GaussianWeights(np.zeros(5), sigma + 3.0, 1.0).covariance, told, atol=1e-12)
    eta = rng.multivariate_normal(np.zeros(5), sigma, 100_000)
    np.testing.assert_allclose(np.cov((eta - eta.mean(axis=1, keepdims=True)).T), told, atol=0.03)
