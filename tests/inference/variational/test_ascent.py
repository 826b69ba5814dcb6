"""Production code against the spelled-out bound: it is the bound, and no block of any update lowers it."""

from dataclasses import replace

import numpy as np
import pytest
from oracle import Q, conditional_bound, exact_log_evidence, random_problem, sticks_of, terms
from oracle import bound as plain_bound

from diln.engine.threads import Threads
from diln.inference.loops import sweeps
from diln.inference.posterior import OnlineStep
from diln.inference.variational import run as passes
from diln.inference.variational.documents import DocumentBeliefs, Limits
from diln.inference.variational.location_step import LocatedDocuments, new_slopes, topic_values
from diln.inference.variational.posterior import VariationalPosterior
from diln.inference.variational.run import VariationalPlan, VariationalRun
from diln.inference.variational.stick_step import gamma_term
from diln.inference.weights.dirichlet import DirichletWeights
from diln.inference.weights.gamma_process import StickWeights
from diln.inference.weights.located import LocatedWeights
from diln.models.counts import as_rows

ONE = Threads(1)
PROBLEMS = 220


def bound(problem, q):
    """The bound, and what rounding may do to it: a topic in hardly any use has large terms that cancel."""
    return plain_bound(problem, q), 1e-10 * sum(abs(value) for value in terms(problem, q).values()) + 1e-14


class Case:
    """A random small problem as production code sees it, in double precision, and as the oracle sees it."""

    def __init__(self, seed, located=True, **shape):
        rng = np.random.default_rng(seed)
        self.problem, q = random_problem(rng, **shape)
        tokens = self.problem.n_tokens.astype(float)
        sticks = StickWeights(len(q.a0), self.problem.tau, self.problem.kappa)
        sticks.a0, sticks._alpha = q.a0, q.alpha
        self.sticks = sticks
        self.weights = LocatedWeights(sticks, q.ell, self.problem.c) if located else sticks
        self.posterior = VariationalPosterior(q.lam.T - self.problem.gamma_0, self.problem.gamma_0, self.weights)
        self.posterior.statistics[:] = np.abs(self.posterior.statistics)
        self.counts = as_rows(self.problem.counts)
        self.documents = self.weights.start(tokens, np.float64)
        full = tokens > 0
        share = rng.dirichlet(np.ones(len(q.a0)), len(tokens))
        self.documents.tokens[:] = tokens[:, np.newaxis] * share
        if located:
            self.documents.locations[full] = 0.3 * q.u[full]
        self.posterior.refresh(ONE)
        self.theta = share + 1e-3

    def visit(self, turns):
        visited = self.posterior.visit(self.counts, self.documents, Limits(turns, 0.0), ONE)
        self.theta = visited.theta
        return visited

    def q(self):
        """The oracle's Q: phi of the last token step, q(Z) at its optimum given n, u and s."""
        words = [self.problem.words(m) for m in range(self.documents.n_docs)]
        phi = [self.posterior.expected[w] * self.theta[m] for m, w in enumerate(words)]
        n_tokens, s = self.problem.n_tokens, self.documents.intercepts
        located = isinstance(self.weights, LocatedWeights)
        ell = self.weights.locations if located else np.zeros((len(self.weights.a0), 1))
        u = self.documents.locations if located else np.zeros((len(s), 1))
        p = self.sticks.p
        return Q(
            phi=[rows / rows.sum(axis=1, keepdims=True) for rows in phi],
            a=self.weights.a0 + self.documents.tokens,
            b=np.exp(-(u @ ell.T)) + np.exp(s)[:, np.newaxis],
            xi=np.where(n_tokens > 0, n_tokens * np.exp(-s), 1.0),
            u=u, ell=ell, lam=self.posterior.statistics.T + self.problem.gamma_0,
            sticks=sticks_of(p), alpha=self.sticks.alpha, beta=self.sticks.beta,
        )  # fmt: skip

    def bound(self):
        return bound(self.problem, self.q())

    def expect(self, before, what):
        after, slack = self.bound()
        assert after >= before - slack, what
        return after


def first_q(case):
    """The state before any step: phi is chosen to fit n, so one token step is made first."""
    case.visit(1)
    return case.bound()[0]


@pytest.mark.parametrize("located", [True, False])
def test_the_bound_that_is_monitored_is_the_full_bound(located):
    for seed in range(40):
        case = Case(seed, located)
        topics = case.posterior.topic_term(ONE)
        ours = topics + case.visit(5).sums.bound + sum(case.weights.terms().values())
        d = 0 if located else 1  # the oracle's zero locations have densities, too
        extra = 0.5 * d * np.log(2 * np.pi) * (case.documents.n_docs + len(case.weights.a0))
        extra += 0.5 * d * len(case.weights.a0) * np.log(case.problem.c)
        assert ours == pytest.approx(case.bound()[0] + extra, rel=1e-10)


@pytest.mark.parametrize("located", [True, False])
def test_no_block_lowers_the_bound(located):
    least = dict.fromkeys(["documents", "topics", "sticks", "locations"], np.inf)
    for seed in range(PROBLEMS):
        case = Case(seed, located)
        value = first_q(case)
        for _ in range(3):
            visited = case.visit(4)
            steps = {"documents": case.bound()}
            q = case.q()
            case.posterior.gather(case.counts, visited, 0.0, 1.0, ONE)
            lam = case.posterior.statistics.T + case.problem.gamma_0
            steps["topics"] = bound(case.problem, replace(q, lam=lam))
            case.sticks.update(visited.sums, case.documents, 1.0, 1.0, ONE)
            q = replace(
                q, lam=lam, sticks=sticks_of(case.sticks.p), alpha=case.sticks.alpha, beta=case.sticks.beta,
                a=case.weights.a0 + case.documents.tokens,
            )  # fmt: skip
            steps["sticks"] = bound(case.problem, q)
            if located:
                case.weights.locate(case.documents, 1.0, 1.0, ONE)
                fresh = case.q()
                q = replace(q, ell=fresh.ell, b=fresh.b)
                steps["locations"] = bound(case.problem, q)
            for name, (after, slack) in steps.items():
                least[name] = min(least[name], (after - value) / abs(value))
                assert after >= value - slack, (name, seed)
                value = after
            case.posterior.refresh(ONE)
    seen = [value for value in least.values() if np.isfinite(value)]
    assert max(seen) <= 1e-3  # all of them come to rest somewhere, so the test looks where it can fail


def test_a_token_step_and_a_location_step_each_raise_the_bound():
    for seed in range(PROBLEMS):
        case = Case(seed)
        value = first_q(case)
        for turns in (1, 2, 3, 1):
            case.visit(turns)
            value = case.expect(value, f"{turns} turns, seed {seed}")


def run(weights, statistics, counts, passes):
    posterior = VariationalPosterior(statistics.copy(), 0.1, weights)
    plan = VariationalPlan(passes, 0.0, 0.0, 0)
    bounds = []
    sweeps(VariationalRun(posterior, counts, plan, lambda: 0.0), ONE, lambda progress: bounds.append(progress.bound))
    return posterior, np.array(bounds)


@pytest.fixture
def corpus():
    rng = np.random.default_rng(3)
    counts = rng.poisson(0.6, (40, 30))
    counts[5] = 0
    return as_rows(counts), rng.gamma(1.0, 1.0, (30, 6))


def test_hdp_is_diln_with_zero_locations(corpus, monkeypatch):
    counts, statistics = corpus
    monkeypatch.setattr(passes, "TURNS", 40)  # enough for Newton's method to find the HDP's closed-form intercept
    hdp, without = run(StickWeights(6, (1.0, 1e-3), (1.0, 1e-3)), statistics, counts, 12)
    sticks = StickWeights(6, (1.0, 1e-3), (1.0, 1e-3))
    diln, bounds = run(LocatedWeights(sticks, np.zeros((6, 3)), 0.5), statistics, counts, 12)
    constant = -1.5 * np.log(2 * np.pi) * 40 - 9 * (np.log(2 * np.pi) + np.log(0.5))
    np.testing.assert_allclose(bounds - constant, without, rtol=1e-10)
    np.testing.assert_allclose(diln.weights.a0, hdp.weights.a0, rtol=1e-10)
    np.testing.assert_allclose(diln.statistics, hdp.statistics, rtol=1e-9, atol=1e-10)
    assert not diln.weights.locations.any()


@pytest.mark.parametrize("kind", ["diln", "hdp", "lda", "lda-learned"])
def test_the_monitored_bound_never_falls_in_single_precision(kind, corpus):
    counts, statistics = corpus
    rng = np.random.default_rng(0)
    sticks = StickWeights(6, (1.0, 1e-3), (1.0, 1e-3))
    weights = {
        "diln": LocatedWeights(sticks, rng.normal(size=(6, 3)), 1.0),
        "hdp": sticks,
        "lda": DirichletWeights(np.full(6, 0.3), learned=False),
        "lda-learned": DirichletWeights(np.full(6, 0.3), learned=True),
    }[kind]
    _, bounds = run(weights, statistics.astype(np.float32), counts, 60)
    assert np.diff(bounds).min() >= -1e-7 * abs(bounds[-1])
    assert bounds[-1] > bounds[0]


def lda_bound(counts, posterior, theta, tokens):
    """LDA's bound spelled out, with q(theta) = Dirichlet(a0 + n)."""
    from scipy.special import digamma, gammaln, xlogy

    value, a0 = 0.0, posterior.weights.a0
    lam = posterior.statistics + posterior.prior
    e_eta = digamma(lam) - digamma(lam.sum(axis=0))
    value += (gammaln(lam) - (lam - posterior.prior) * e_eta).sum() - gammaln(lam.sum(axis=0)).sum()
    size = len(lam) * posterior.prior
    value += lam.shape[1] * (gammaln(size) - len(lam) * gammaln(posterior.prior))
    for m, row in enumerate(counts.toarray()):
        words = np.flatnonzero(row)
        phi = posterior.expected[words] * theta[m]
        phi /= np.maximum(phi.sum(axis=1, keepdims=True), 1e-300)
        a = a0 + tokens[m]
        e_theta = digamma(a) - digamma(a.sum())
        value += (row[words, np.newaxis] * (phi * (e_eta[words] + e_theta) - xlogy(phi, phi))).sum()
        value += gammaln(a0.sum()) - gammaln(a0).sum() + ((a0 - 1) * e_theta).sum()
        value -= gammaln(a.sum()) - gammaln(a).sum() + ((a - 1) * e_theta).sum()
    return value


def test_the_bound_of_lda_is_its_full_bound(corpus):
    counts, statistics = corpus
    weights = DirichletWeights(np.random.default_rng(1).gamma(1.0, 0.4, 6), learned=True)
    posterior = VariationalPosterior(statistics, 0.1, weights)
    posterior.refresh(ONE)
    documents = weights.start(np.asarray(counts.sum(axis=1), float), np.float64)
    topics = posterior.topic_term(ONE)
    visited = posterior.visit(counts, documents, Limits(5, 0.0), ONE)
    spelled_out = lda_bound(counts, posterior, visited.theta, documents.tokens)
    assert topics + visited.sums.bound == pytest.approx(spelled_out, rel=1e-11)


def test_the_bound_stays_below_the_exact_evidence_and_comes_near_it():
    gaps = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        case = Case(seed, n_docs=1, n_terms=2, n_topics=2, n_dims=1)
        case.problem.counts = rng.integers(1, 3, (1, 2))
        case.counts = as_rows(case.problem.counts)
        case.documents = case.weights.start(case.problem.n_tokens.astype(float), np.float64)
        for _ in range(100):
            case.posterior.refresh(ONE)
            visited = case.visit(10)
            case.posterior.gather(case.counts, visited, 0.0, 1.0, ONE)
        q = case.q()
        gaps.append(exact_log_evidence(case.problem, q) - conditional_bound(case.problem, q))
    assert min(gaps) > 0
    assert np.median(gaps) < 1.0


def half_step(case, rows, scale):
    """Sums and topic statistics of some documents, each counted ``scale`` times."""
    documents = DocumentBeliefs(
        case.documents.tokens[rows].copy(),
        case.documents.locations[rows].copy(),
        case.documents.intercepts[rows].copy(),
    )
    counts = as_rows(case.counts[rows])
    visited = case.posterior.visit(counts, documents, Limits(4, 0.0), ONE)
    saved = case.posterior.statistics.copy()
    case.posterior.gather(counts, visited, 0.0, scale, ONE)
    statistics, case.posterior.statistics = case.posterior.statistics, saved
    return visited.sums, statistics, documents


def test_statistics_of_batches_are_unbiased():
    for seed in range(30):
        case = Case(seed, n_docs=6)
        whole, statistics, _ = half_step(case, np.arange(6), 1.0)
        order = np.random.default_rng(seed).permutation(6).reshape(3, 2)
        parts = [half_step(case, rows, 3.0) for rows in order]
        np.testing.assert_allclose(np.mean([part[1] for part in parts], axis=0), statistics, rtol=1e-9)
        np.testing.assert_allclose(np.mean([3 * part[0].tables for part in parts], axis=0), whole.tables, rtol=1e-9)
        np.testing.assert_allclose(np.mean([3 * part[0].lifts for part in parts], axis=0), whole.lifts, rtol=1e-9)


def test_gradients_of_topic_locations_are_unbiased_over_batches():
    def gradient(documents, ell, a0, k, scale):
        covariates, tokens = np.ascontiguousarray(documents.locations.T), np.ascontiguousarray(documents.tokens[:, k])
        slopes = new_slopes(covariates)
        located = LocatedDocuments(covariates, documents.intercepts, 0.0, 2.0, scale)
        topic_values(tokens, a0, ell, located, True, slopes)
        return slopes.gradient

    for seed in range(30):
        case = Case(seed, n_docs=6)
        _, _, documents = half_step(case, np.arange(6), 1.0)
        ell, a0 = case.weights.locations[0].copy(), case.weights.a0[0]
        order = np.random.default_rng(seed).permutation(6).reshape(3, 2)
        parts = [
            gradient(DocumentBeliefs(*(array[rows] for array in documents[:3])), ell, a0, 0, 3.0) for rows in order
        ]
        np.testing.assert_allclose(np.mean(parts, axis=0), gradient(documents, ell, a0, 0, 1.0), rtol=1e-9, atol=1e-12)


def test_a_stochastic_step_of_length_one_with_all_documents_is_a_batch_pass(corpus):
    counts, statistics = corpus

    def fresh():
        sticks = StickWeights(6, (1.0, 1e-3), (1.0, 1e-3))
        locations = np.random.default_rng(5).normal(size=(6, 3))
        return VariationalPosterior(statistics.astype(np.float32), 0.1, LocatedWeights(sticks, locations, 0.5))

    plan = VariationalPlan(1, 0.0, 1e-3, 0)
    batch, stochastic = fresh(), fresh()
    sweeps(VariationalRun(batch, counts, plan, lambda: 0.0), ONE, lambda progress: None)
    stochastic.learn(counts, OnlineStep(0, 1.0, 1.0, passes.TURNS, 1e-3), ONE)
    np.testing.assert_array_equal(stochastic.statistics, batch.statistics)
    np.testing.assert_array_equal(stochastic.weights.a0, batch.weights.a0)
    np.testing.assert_array_equal(stochastic.weights.locations, batch.weights.locations)
    assert stochastic.weights.alpha == batch.weights.alpha


def test_a_gamma_term_is_a_log_density():
    from scipy.stats import gamma

    assert gamma_term(2.5, 1.3, 0.2) == pytest.approx(gamma(1.3, scale=5).logpdf(2.5))


def test_slabs_do_not_change_the_sums(corpus, monkeypatch):
    counts, statistics = corpus
    whole, bounds = run(StickWeights(6, (1.0, 1e-3), (1.0, 1e-3)), statistics, counts, 4)
    monkeypatch.setattr(passes, "SLAB", 7)
    parts, others = run(StickWeights(6, (1.0, 1e-3), (1.0, 1e-3)), statistics, counts, 4)
    np.testing.assert_allclose(others, bounds, rtol=1e-12)
    np.testing.assert_allclose(parts.statistics, whole.statistics, rtol=1e-9, atol=1e-12)
