"""The document step as a whole against a slow loop and against the bound."""

from dataclasses import dataclass

import numpy as np
import oracle
import pytest
from scipy.sparse import csr_array
from scipy.special import digamma, expit, gammaln
from twins import each_real, token_twin

from diln.engine.threads import Threads
from diln.inference.data import Entries
from diln.inference.variational.document_step import (
    GATE_EVERY,
    GammaCorpus,
    document_step,
    new_workspace,
    set_theta,
    take_tokens,
)
from diln.inference.variational.documents import FAR_BELOW, DocumentBeliefs, DocumentShard, Limits, integers_like
from diln.inference.variational.posterior import VariationalPosterior
from diln.inference.weights.base import LN_2PI
from diln.inference.weights.dirichlet import DirichletWeights
from diln.inference.weights.gamma_process import StickWeights, rate_constant
from diln.inference.weights.gate import HALVINGS, WORTH_A_ROW
from diln.inference.weights.located import LocatedWeights
from diln.prob.gamma import steps_down


def as_counts(x):
    """A matrix of counts in the types that the models hand in."""
    rows = csr_array(np.asarray(x, np.float32))
    rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int64)
    return rows


@dataclass
class Visit:
    """A corpus, topics and weights; and what the document step makes of them."""

    counts: np.ndarray  # (M, V)
    topics: np.ndarray  # (V, T)
    a0: np.ndarray
    ell: np.ndarray  # (T, d), d = 0 for no gate
    real: type

    def __post_init__(self):
        (documents, _), (topics, dims) = self.counts.shape, self.ell.shape
        lengths = self.counts.sum(axis=1)
        self.tokens = np.repeat((lengths / topics).astype(self.real)[:, None], topics, axis=1)
        self.locations = np.zeros((documents, dims))
        self.intercepts = np.where(lengths > 0, np.log(np.maximum(lengths, 1e-300) / self.a0.sum()), FAR_BELOW)
        self.theta = np.full((documents, topics), np.nan, self.real)
        self.terms = np.full((documents, 4), np.nan)
        self.tables, self.lifts = np.zeros((2, topics))

    def run(self, most, tolerance, first=0, last=None):
        """The step of documents first to last, in the memory of all."""
        part = slice(first, last)
        rows, topics = as_counts(self.counts[part]), np.ascontiguousarray(self.topics, self.real)
        self.ratio = np.full(rows.nnz, np.nan, self.real)
        beliefs = DocumentBeliefs(self.tokens[part], self.locations[part], self.intercepts[part])
        shard = DocumentShard(
            Entries(rows.indptr, rows.indices, rows.data), beliefs, self.theta[part], self.ratio, self.terms[part],
            self.tables, self.lifts,
        )  # fmt: skip
        document_step(shard, GammaCorpus.of(topics, self.a0, self.ell, Limits(most, tolerance)))
        return self


def newton_twin(ell, n, a0, x):
    """One step of (u, s), halved until the objective does not fall."""
    design = np.column_stack([ell, np.ones(len(ell))])
    a, gate = a0 + n, expit(design @ x)
    slope = design.T @ (n - a * gate) - np.append(x[:-1], 0)
    curvature = a * gate * (1 - gate)
    worth = np.where(curvature > WORTH_A_ROW, curvature, 0)
    matrix = (design.T * worth) @ design + np.diag(np.append(np.ones(len(x) - 1), 0))
    matrix[-1, -1] = curvature.sum() * (1 + 1e-9) + 1e-12
    step, before = np.linalg.solve(matrix, slope), oracle.doc_objective(x[:-1], x[-1], n, a0, ell)
    for halving in range(HALVINGS):
        moved = x + step / 2**halving
        if oracle.doc_objective(moved[:-1], moved[-1], n, a0, ell) >= before:
            return moved
    return x


def document_twin(visit, most):
    """The same turns, a document and a line at a time: tokens, locations, intercepts, theta, terms, tables, lifts."""
    documents, (_, dims) = len(visit.counts), visit.ell.shape
    found = Visit(visit.counts, visit.topics, visit.a0, visit.ell, np.float64)
    ratios = []
    for m in range(documents):
        words, a0 = np.flatnonzero(visit.counts[m]), visit.a0
        if not len(words):
            found.tokens[m], found.theta[m], found.terms[m] = 0, 0, 0
            continue
        rows, counts = visit.topics[words], visit.counts[m, words]
        n, x = found.tokens[m].copy(), np.append(found.locations[m], found.intercepts[m])
        for turn in range(most):
            gate = expit(visit.ell @ x[:-1] + x[-1]) if dims else 1.0
            theta = np.exp(digamma(a0 + n) + steps_down((a0 + n).max())) * gate
            n, ratio = token_twin(rows, counts, theta)
            if dims and ((turn + 1) % GATE_EVERY == 0 or turn == most - 1):
                x = newton_twin(visit.ell, n, a0, x)
        found.tokens[m], found.theta[m], found.locations[m], found.intercepts[m] = n, theta, x[:-1], x[-1]
        ratios.append(ratio)
        found.terms[m, 0] = counts @ np.log(counts / ratio) - n @ np.log(theta)
        found.terms[m, [1, 3]] = (gammaln(a0 + n) - gammaln(a0)).sum()
        found.terms[m, 2] = -0.5 * x[:-1] @ x[:-1]
        found.tables += a0 * (digamma(a0 + n) - digamma(a0))
        if dims:
            psi = visit.ell @ x[:-1] + x[-1]
            found.terms[m, 1] += n @ psi - (a0 + n) @ np.logaddexp(0, psi)
            found.lifts += np.logaddexp(0, psi)
    found.ratio = np.concatenate(ratios)
    return found


def some_visit(seed, n_dims, real=np.float64, n_docs=9, n_terms=40, n_topics=13):
    """Documents of which one is empty and one a single word."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(0.5, 2.0, size=(n_docs, n_terms))).astype(np.float64)
    counts[2], counts[5] = 0, np.arange(n_terms) == 7
    topics = rng.dirichlet(np.full(n_terms, 0.3), n_topics).T + 1e-4
    a0, ell = rng.gamma(1.0, size=n_topics) + 0.05, rng.normal(size=(n_topics, n_dims))
    return Visit(counts, topics, a0, ell, real)


@each_real
@pytest.mark.parametrize("gated", [False, True])
def test_theta_is_its_numpy_line_but_for_a_factor(real, gated):
    """Also of shapes so small that the exponentials themselves would vanish."""
    rng = np.random.default_rng(20)
    for scale in (1e-3, 1.0, 1e4):
        space = new_workspace(np.empty((1, 9), real), integers_like(np.empty(0, real)))
        space.a[:], sigma = rng.gamma(1.0, size=9) * scale + 1e-4, rng.uniform(size=9)
        set_theta(sigma, gated, space)
        logs = digamma(space.a) + steps_down(space.a.max()) + (np.log(sigma) if gated else 0)
        np.testing.assert_allclose(space.theta, np.exp(logs), rtol=1e-4 if real is np.float32 else 1e-9, atol=1e-30)


@each_real
def test_fresh_tokens_are_taken_and_their_change_is_told(real):
    rng = np.random.default_rng(19)
    fresh, a0, n, a = rng.gamma(1.0, size=9).astype(real), rng.gamma(1.0, size=9), rng.gamma(1.0, size=9), np.empty(9)
    before = n.copy()
    assert take_tokens(fresh, a0, n, a) == pytest.approx(np.abs(fresh - before).sum(), rel=1e-12)
    np.testing.assert_array_equal(n, fresh)
    np.testing.assert_array_equal(a, a0 + fresh)


PARTS = ["tokens", "locations", "intercepts", "theta", "ratio", "terms", "tables", "lifts"]


@pytest.mark.parametrize("n_dims", [0, 1, 3])
@pytest.mark.parametrize("most", [1, 3, 4, 10])
def test_document_step_is_the_slow_loop(n_dims, most):
    """Tables and weights to what the series for small n leaves out."""
    visit = some_visit(21, n_dims).run(most, 0.0)
    right = document_twin(visit, most)
    for part in PARTS:
        loose = {"tables": 1e-6, "terms": 1e-9}.get(part, 1e-9 if n_dims else 1e-10)
        np.testing.assert_allclose(getattr(visit, part), getattr(right, part), rtol=loose, atol=loose, err_msg=part)


@pytest.mark.parametrize("n_dims", [0, 3])
def test_document_step_in_single_precision_follows_the_slow_loop(n_dims):
    visit = some_visit(22, n_dims, np.float32).run(10, 0.0)
    right = document_twin(visit, 10)
    for part in PARTS:
        np.testing.assert_allclose(getattr(visit, part), getattr(right, part), rtol=2e-4, atol=2e-4, err_msg=part)


@each_real
@pytest.mark.parametrize("n_dims", [0, 3])
def test_an_empty_document_keeps_nothing_and_adds_nothing(real, n_dims):
    visit = some_visit(23, n_dims, real)
    visit.counts[:] = 0
    visit = Visit(visit.counts, visit.topics, visit.a0, visit.ell, real).run(5, 0.0)
    for part in ("tokens", "locations", "theta", "terms", "tables", "lifts"):
        assert (getattr(visit, part) == 0).all(), part
    assert (visit.intercepts == FAR_BELOW).all()


@each_real
@pytest.mark.parametrize("n_dims", [0, 3])
def test_a_document_of_one_word_has_one_token(real, n_dims):
    visit = some_visit(24, n_dims, real).run(50, 1e-6)
    assert visit.tokens[5].sum(dtype=np.float64) == pytest.approx(1, rel=1e-6)
    assert np.isfinite(visit.terms).all()


@pytest.mark.parametrize("n_dims", [0, 3])
def test_documents_of_other_shards_are_not_touched(n_dims):
    whole, part = some_visit(25, n_dims).run(6, 0.0), some_visit(25, n_dims).run(6, 0.0, 3, 6)
    for name in ("tokens", "locations", "intercepts", "theta", "terms"):
        np.testing.assert_array_equal(getattr(part, name)[3:6], getattr(whole, name)[3:6])
    fresh = some_visit(25, n_dims)
    np.testing.assert_array_equal(part.tokens[:3], fresh.tokens[:3])
    np.testing.assert_array_equal(part.tokens[6:], fresh.tokens[6:])
    assert np.isnan(part.terms[[0, 1, 2, 6, 7, 8]]).all()


@pytest.mark.parametrize("n_dims", [0, 3])
def test_a_settled_document_hardly_moves_when_it_goes_on(n_dims):
    """The mean change of n is below the tolerance, and the location's next step promises next to nothing."""
    visit = some_visit(26, n_dims).run(10_000, 1e-8)
    tokens = visit.tokens.copy()
    visit.run(1, 0.0)
    assert np.abs(visit.tokens - tokens).mean(axis=1).max() < (1e-3 if n_dims else 1e-8)


@pytest.mark.parametrize("most", [1, 3, 5])
@pytest.mark.parametrize("n_dims", [0, 3])
def test_going_on_never_lowers_a_documents_bound(n_dims, most):
    visit, reached = some_visit(27, n_dims), []
    lengths, beta = visit.counts.sum(axis=1), visit.a0.sum()
    gate = 0 if n_dims else (lengths * visit.intercepts - (lengths + beta) * np.log1p(lengths / beta))
    for _ in range(40):
        visit.run(most, 0.0)
        reached.append(np.where(lengths > 0, visit.terms[:, :3].sum(axis=1) + gate, 0))
    rises = np.diff(reached, axis=0)
    assert rises.min() >= -1e-8
    assert rises[0].max() > 1e-3


@pytest.mark.parametrize("n_dims", [0, 2])
def test_the_documents_terms_are_the_bounds(n_dims):
    """Against the bound spelled out, at the q that the document step leaves."""
    for seed in range(5):
        rng = np.random.default_rng([28, seed])
        problem, q = oracle.random_problem(rng, n_dims=max(n_dims, 1))
        if not n_dims:
            q.ell[:] = 0
        topics = np.exp(oracle.mean_log_eta(q)).T
        ell = q.ell if n_dims else np.zeros((len(q.ell), 0))
        visit = Visit(problem.counts.astype(np.float64), topics, q.a0, ell, np.float64).run(7, 0.0)
        q.phi = [theta * topics[problem.words(m)] for m, theta in enumerate(visit.theta)]
        q.phi = [phi / phi.sum(axis=1, keepdims=True) for phi in q.phi]
        np.testing.assert_allclose(visit.tokens, oracle.topic_counts(problem, q), rtol=1e-10, atol=1e-12)
        q.u = visit.locations if n_dims else np.zeros((len(q.u), 1))
        full = problem.n_tokens > 0
        q = oracle.optimal_z(problem, q, visit.intercepts)
        words, weights, places, _ = visit.terms.sum(axis=0)
        assert words == pytest.approx(oracle.words_given_topics(problem, q) + oracle.entropy_c(problem, q), rel=1e-10)
        if not n_dims:
            lengths = problem.n_tokens[full]
            weights += (lengths * visit.intercepts[full] - (lengths + q.beta) * np.log1p(lengths / q.beta)).sum()
        parts = oracle.topics_given_weights, oracle.weights_given_locations, oracle.entropy_z
        right = sum(part(problem, q) for part in parts)
        assert weights + rate_constant(problem.n_tokens) == pytest.approx(right, rel=1e-8, abs=1e-8)
        if n_dims:
            assert places - 0.5 * visit.locations.size * LN_2PI == pytest.approx(oracle.prior_u(problem, q), rel=1e-12)


# Documents so short, and topics so many, that no weight of a topic is a number that single precision has


def short_documents(n_terms):
    return as_counts([np.arange(n_terms) < length for length in (1, 2, 4, 10)])


@pytest.mark.parametrize("n_topics", [100, 200, 400, 1_000])
@pytest.mark.parametrize("kind", ["LDA", "HDP", "DILN"])
def test_short_documents_have_their_tokens_however_many_the_topics(kind, n_topics):
    rng = np.random.default_rng(29)
    sticks = StickWeights(n_topics, (1.0, 1e-3), (1.0, 1e-3))
    weights = {
        "LDA": DirichletWeights(np.full(n_topics, 1 / n_topics), False),
        "HDP": sticks,
        "DILN": LocatedWeights(sticks, rng.normal(size=(n_topics, 3)) * 0.5, 1 / 3),
    }[kind]
    posterior = VariationalPosterior(rng.gamma(0.1, 100.0, size=(50, n_topics)).astype(np.float32), 0.1, weights)
    with Threads(1) as threads:
        posterior.refresh(threads)
        beliefs = posterior.first_beliefs(short_documents(50), Limits(100, 1e-3), threads)
    np.testing.assert_allclose(beliefs.tokens.sum(axis=1, dtype=np.float64), [1, 2, 4, 10], rtol=1e-5)


@pytest.mark.parametrize("n_topics", [20, 50, 100, 200])
def test_a_word_never_seen_before_has_its_tokens_in_a_short_document(n_topics):
    """A small prior leaves every topic of such a word at the least value that topics have."""
    rng = np.random.default_rng(30)
    statistics = rng.gamma(1.0, 10.0, size=(50, n_topics)).astype(np.float32)
    statistics[0] = 0
    posterior = VariationalPosterior(statistics, 0.01, DirichletWeights(np.full(n_topics, 1 / n_topics), False))
    with Threads(1) as threads:
        posterior.refresh(threads)
        beliefs = posterior.first_beliefs(short_documents(50), Limits(100, 1e-3), threads)
    np.testing.assert_allclose(beliefs.tokens.sum(axis=1, dtype=np.float64), [1, 2, 4, 10], rtol=1e-5)
