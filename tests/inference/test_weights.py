"""Learning the topics' weights: maximisers against scipy's, densities against scipy's, steps that never lower."""

from dataclasses import replace

import numpy as np
import oracle
import pytest
from scipy import stats
from scipy.optimize import minimize, minimize_scalar
from scipy.special import digamma, expit, gammaln, xlogy
from threadpoolctl import threadpool_limits

from diln.engine.threads import Threads
from diln.inference.variational.document_step import log_gamma_derivatives
from diln.inference.variational.documents import FAR_BELOW, DocumentBeliefs, DocumentSums
from diln.inference.variational.stick_step import LEAST, best_a0, best_alpha, gamma_term, stick_term
from diln.inference.weights.base import RunningTables, not_worse, profile
from diln.inference.weights.dirichlet import DirichletWeights
from diln.inference.weights.gamma_process import StickWeights, rate_constant
from diln.inference.weights.located import LocatedWeights


@pytest.fixture(autouse=True, scope="module")
def _one_thread_for_lapack():
    """Several threads spend their time waiting for each other on matrices as small as scipy's are here."""
    with threadpool_limits(1):
        yield


# a0 = beta p


def objective(a0, tables, lifts, alpha, prior):
    """sum_k t_k ln a0_k - a0_k h_k + (alpha - 1) ln p_T + ln p(beta), without constants."""
    beta = a0.sum()
    sticks = (alpha - 1) * np.log(a0[-1] / beta) if len(a0) > 1 else 0.0
    return tables @ np.log(a0) - a0 @ lifts + sticks + (prior[0] - 1) * np.log(beta) - prior[1] * beta


def slope(a0, tables, lifts, alpha, prior):
    """The objective's derivative by ln a0."""
    shares = a0 / a0.sum()
    sticks = (alpha - 1) * ((np.arange(len(a0)) == len(a0) - 1) - shares) if len(a0) > 1 else 0.0
    return tables - a0 * lifts + sticks + (prior[0] - 1) * shares - prior[1] * a0


def scipys(a0, problem, free):
    """The objective's maximum over ln a0 of the first ``free`` topics, from here and from afar."""
    rest = a0[free:]

    def both(y):
        whole = np.append(np.exp(y), rest)
        return -objective(whole, *problem), -slope(whole, *problem)[:free]

    starts = np.log(a0[:free]), np.full(free, -1.0)
    bounds, options = [(np.log(LEAST), 15.0)] * free, {"maxiter": 300, "ftol": 1e-13, "gtol": 1e-7}
    found = [minimize(both, y, jac=True, method="L-BFGS-B", bounds=bounds, options=options) for y in starts]
    return -min(one.fun for one in found)


def assert_best(a0, problem, fixed=False):
    """Nothing that scipy finds is better."""
    best = best_a0(problem[0], problem[1], a0, *problem[2:])
    assert np.isfinite(best).all()
    assert (best >= LEAST).all()
    if fixed:
        assert best[-1] == a0[-1]
    reached, most = objective(best, *problem), scipys(best, problem, len(a0) - fixed)
    assert reached >= most - 1e-10 * (1 + abs(most))
    return best


def random_problem(rng, n_topics, alpha, shape):
    """Tables, lifts, alpha and the prior of beta; and where a0 was."""
    tables = rng.gamma(0.5, 30.0, n_topics) + 1e-3
    lifts = rng.uniform(0.5, 2, n_topics) * 10.0 ** rng.uniform(0, 3)
    return rng.gamma(1.0, size=n_topics) + 0.01, (tables, lifts, alpha, (shape, 10.0 ** rng.uniform(-3, 1)))


@pytest.mark.parametrize(
    ("alpha", "shape"), [(0.3, 1.0), (1.0, 1.0), (5.0, 1.0), (1.0, 5.0), (5.0, 5.0), (0.3, 8.0), (40.0, 0.5)]
)
def test_best_a0_is_the_maximum(alpha, shape):
    """Concentrations above, at and below the shape of beta's prior."""
    rng = np.random.default_rng(1)
    for _ in range(30):
        a0, problem = random_problem(rng, int(rng.integers(2, 12)), alpha, shape)
        problem[0][-1] += max(0.0, 1 - alpha)
        best = assert_best(a0, problem)
        assert np.abs(slope(best, *problem)).max() <= 1e-8 * problem[0].sum()


def test_best_a0_leaves_the_last_topic_alone_where_its_weight_would_vanish():
    """alpha - 1 outweighs its tables: the objective has no maximum in a0_T, but one in the others."""
    rng = np.random.default_rng(2)
    for _ in range(60):
        alpha = rng.uniform(0.05, 0.6)
        a0, problem = random_problem(rng, int(rng.integers(2, 12)), alpha, rng.uniform(0.3, 3))
        problem[0][-1] = rng.uniform(0, 1 - alpha)
        assert_best(a0, problem, fixed=True)


def test_best_a0_is_the_maximum_whichever_topic_has_the_least_lift():
    """A strong prior on beta, a last topic that stays as it is, and lifts that differ by much."""
    rng = np.random.default_rng(3)
    for least in (0, 1, 2):
        tables, lifts = np.array([50.0, 30.0, 0.1]), np.full(3, 100.0)
        lifts[least] = 1.0
        assert_best(rng.gamma(1.0, size=3) + 0.01, (tables, lifts, 0.2, (6.0, 1e-3)), fixed=True)


@pytest.mark.parametrize("unused", [0.0, 1e-14, 1e-10, 1e-6])
def test_best_a0_is_the_maximum_with_topics_that_have_hardly_any_tables(unused):
    """The prior wants a larger beta than the tables: it goes to where it costs the least."""
    tables, lifts = np.array([50.0, unused, 30.0]), np.array([100.0, 1.0, 80.0])
    assert_best(np.ones(3), (tables, lifts, 1.0, (6.0, 1e-3)))


@pytest.mark.parametrize("alpha", [1.0, 0.3, 5.0])
def test_best_a0_of_one_topic_is_beta_and_knows_no_sticks(alpha):
    rng = np.random.default_rng(4)
    for _ in range(20):
        a0, problem = random_problem(rng, 1, alpha, rng.uniform(1, 6))
        best = assert_best(a0, problem)
        tables, lifts, _, prior = problem
        assert best[0] == pytest.approx((tables[0] + prior[0] - 1) / (lifts[0] + prior[1]), rel=1e-10)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3, 1e6])
def test_best_a0_is_the_maximum_of_tiny_and_huge_corpora(scale):
    rng = np.random.default_rng(5)
    for _ in range(20):
        a0, (tables, lifts, alpha, prior) = random_problem(rng, 6, 1.5, 2.0)
        assert_best(a0, (tables * scale, lifts * scale, alpha, prior))


def test_best_a0_does_not_change_what_it_is_given():
    a0, problem = random_problem(np.random.default_rng(6), 4, 2.0, 1.0)
    kept = problem[0].copy(), problem[1].copy(), a0.copy()
    best_a0(problem[0], problem[1], a0, *problem[2:])
    for one, other in zip(kept, (problem[0], problem[1], a0), strict=True):
        np.testing.assert_array_equal(one, other)


# Concentrations and densities


def test_gamma_term_is_scipys_density():
    for x in (1e-8, 0.3, 1.0, 20.0, 1e6):
        for shape, rate in ((1.0, 1e-3), (0.2, 5.0), (7.0, 1e3)):
            right = stats.gamma(shape, scale=1 / rate).logpdf(x)
            assert gamma_term(x, shape, rate) == pytest.approx(right, rel=1e-12, abs=1e-12)


def test_stick_term_is_the_density_of_the_sticks():
    rng = np.random.default_rng(7)
    for n_topics in (2, 3, 30):
        for alpha in (0.2, 1.0, 6.0):
            p = rng.dirichlet(np.ones(n_topics))
            right = stats.beta(1, alpha).logpdf(oracle.sticks_of(p)).sum()
            assert stick_term(p[-1], n_topics, alpha) == pytest.approx(right, rel=1e-9, abs=1e-9)
    assert stick_term(1.0, 1, 3.0) == 0


def test_best_alpha_maximises_its_terms():
    rng = np.random.default_rng(8)
    for _ in range(50):
        n_topics, last = int(rng.integers(2, 100)), 10.0 ** rng.uniform(-12, -0.1)
        prior = rng.uniform(0.5, 5), 10.0 ** rng.uniform(-3, 1)

        def lost(y, last=last, n_topics=n_topics, prior=prior):
            return -stick_term(last, n_topics, np.exp(y)) - gamma_term(np.exp(y), *prior)

        best = best_alpha(last, n_topics, 1.0, prior)
        # by ln alpha the density gains ln alpha: its maximum by alpha is compared by slopes
        assert (lost(np.log(best) + 1e-4) - lost(np.log(best) - 1e-4)) / 2e-4 == pytest.approx(0, abs=1e-4)
        found = minimize_scalar(lost, bounds=(-12, 8), method="bounded", options={"xatol": 1e-10})
        assert lost(np.log(best)) <= found.fun + 1e-9 * (1 + abs(found.fun))


def test_best_alpha_stays_where_there_is_nothing_to_learn_it_from():
    assert best_alpha(1.0, 1, 3.5, (1.0, 1e-3)) == 3.5
    assert best_alpha(0.5, 2, 3.5, (0.0, 1.0)) == 3.5


def test_rate_constant_is_what_profiling_out_leaves():
    """N - N ln N, of documents whose tokens may be weighted."""
    for lengths in (np.array([0.0]), np.array([1.0, 2.0, 0.0, 1e6]), np.array([0.5, 0.01])):
        assert rate_constant(lengths) == pytest.approx((lengths - xlogy(lengths, lengths)).sum(), rel=1e-14)


# Averages over steps


def sums_of(rng, n_topics):
    return DocumentSums(rng.gamma(1.0, size=n_topics), rng.gamma(10.0, size=n_topics), 0.0, 0.0, 0.0, 0.0)


def test_a_whole_step_forgets_what_was_before():
    rng = np.random.default_rng(9)
    running, fresh, last = RunningTables(), RunningTables(), sums_of(rng, 4)
    running.move(sums_of(rng, 4), np.ones(4), 1.0, 3.0)
    running.move(sums_of(rng, 4), np.ones(4), 0.3, 3.0)
    running.move(last, np.ones(4), 1.0, 2.0)
    fresh.move(last, np.full(4, 7.0), 1.0, 2.0)
    np.testing.assert_allclose(running.tables, 2 * last.tables, rtol=1e-15)
    np.testing.assert_allclose(running.lifts, 2 * last.lifts, rtol=1e-15)
    np.testing.assert_array_equal(running.tables, fresh.tables)


def test_a_part_of_a_step_averages():
    rng = np.random.default_rng(10)
    running, one, two = RunningTables(), sums_of(rng, 4), sums_of(rng, 4)
    running.move(one, np.ones(4), 1.0, 1.0)
    running.move(two, np.ones(4), 0.25, 10.0)
    np.testing.assert_allclose(running.tables, 0.75 * one.tables + 2.5 * two.tables, rtol=1e-14)
    np.testing.assert_allclose(running.lifts, 0.75 * one.lifts + 2.5 * two.lifts, rtol=1e-14)


def test_a_first_part_of_a_step_starts_from_the_weights_as_they_are():
    """Tables t = a0 h are those by which a0 would stay."""
    rng = np.random.default_rng(11)
    running, one, a0 = RunningTables(), sums_of(rng, 4), rng.gamma(1.0, size=4)
    running.move(one, a0, 0.25, 10.0)
    np.testing.assert_allclose(running.lifts, 10 * one.lifts, rtol=1e-14)
    np.testing.assert_allclose(running.tables, 7.5 * a0 * one.lifts + 2.5 * one.tables, rtol=1e-14)


# Whole weights


def nothing(n_topics, n_docs=0):
    return DocumentSums(np.zeros(n_topics), np.zeros(n_topics), 0.0, 0.0, 0.0, 0.0)


def tables_of(a0, n):
    return (a0 * (digamma(a0 + n) - digamma(a0))).sum(axis=0)


def dirichlet_multinomial(a0, n):
    return (
        (gammaln(a0 + n) - gammaln(a0)).sum() + (gammaln(a0.sum()) - gammaln(a0.sum() + n.sum(axis=1))).sum()
    ).item()


def some_documents(n, n_dims=0):
    return DocumentBeliefs(n, np.zeros((len(n), n_dims)), np.zeros(len(n)))


def profile_twin(a0, n):
    return (gammaln(a0 + n) - gammaln(a0)).sum()


@pytest.mark.parametrize("whole", [True, False])
def test_the_fixed_point_of_the_dirichlet_raises_its_likelihood(whole):
    """Of counts, where it is bound to, and of expected counts, where it is checked."""
    rng = np.random.default_rng(12)
    for _ in range(20):
        n = rng.multinomial(30, rng.dirichlet(np.full(5, 0.3)), size=40).astype(np.float64)
        n = n if whole else rng.gamma(n + 0.01)
        n[3] = 0
        weights = DirichletWeights(rng.gamma(1.0, size=5) + 0.05, True)
        reached = [dirichlet_multinomial(weights.a0, n)]
        with Threads(1) as threads:
            for _ in range(30):
                a0 = weights.a0
                sums = DocumentSums(tables_of(a0, n), np.zeros(5), 0.0, 0.0, 0.0, profile_twin(a0, n))
                sums = weights.completed(sums, some_documents(n), n.sum(axis=1))
                weights.update(sums, some_documents(n), 1.0, 1.0, threads)
                reached.append(dirichlet_multinomial(weights.a0, n))
        assert np.diff(reached).min() >= -1e-7
        assert reached[-1] > reached[0]


def test_profile_is_its_numpy_line_with_any_number_of_threads():
    rng = np.random.default_rng(20)
    a0, n = rng.gamma(1.0, size=6) + 0.05, rng.gamma(0.5, 5.0, size=(1_100, 6)) + 0.1
    for tokens in (n, n.astype(np.float32)):
        found = []
        for n_jobs in (1, 2):
            with Threads(n_jobs) as threads:
                found.append(profile(a0, tokens, threads))
        assert found[0] == found[1]
        assert found[0] == pytest.approx(profile_twin(a0, tokens.astype(np.float64)), rel=1e-12)


def test_what_is_known_of_the_weights_is_their_gamma_functions():
    a0 = np.array([1e-8, 0.1, 1.0, 30.0])
    h = 1e-6 * a0
    np.testing.assert_allclose(log_gamma_derivatives(a0)[0], gammaln(a0), rtol=1e-15)
    np.testing.assert_allclose(log_gamma_derivatives(a0)[1], digamma(a0), rtol=1e-15)
    np.testing.assert_allclose(log_gamma_derivatives(a0)[2], (digamma(a0 + h) - digamma(a0 - h)) / (2 * h), rtol=1e-8)


def test_a_step_that_lowers_is_halved_until_it_does_not():
    old, new, best = np.array([1.0, 1.0]), np.array([16.0, 1 / 16]), np.array([2.0, 0.5])

    def objective(a0):
        return -((np.log(a0) - np.log(best)) ** 2).sum()

    np.testing.assert_allclose(not_worse(old, new, objective, objective(old)), [4.0, 0.25], rtol=1e-12)
    np.testing.assert_array_equal(not_worse(old, best, objective, objective(old)), best)
    np.testing.assert_array_equal(not_worse(best, new, objective, objective(best)), best)


def test_the_dirichlets_normaliser_is_completed():
    rng = np.random.default_rng(13)
    n, a0 = rng.poisson(2.0, size=(10, 4)).astype(np.float64), rng.gamma(1.0, size=4) + 0.1
    weights = DirichletWeights(a0, False)
    sums = replace(nothing(4, 10), weights=(gammaln(a0 + n) - gammaln(a0)).sum())
    sums = weights.completed(sums, some_documents(n), n.sum(axis=1))
    assert sums.weights == pytest.approx(dirichlet_multinomial(a0, n), rel=1e-12)
    h = 1e-6
    total = a0.sum()
    sides = [(gammaln(total + s) - gammaln(total + s + n.sum(axis=1))).sum() for s in (-h, h)]
    np.testing.assert_allclose(sums.lifts, (sides[0] - sides[1]) / (2 * h), rtol=1e-6)


def test_a_given_dirichlet_stays_as_it_is():
    weights = DirichletWeights(np.array([0.1, 0.2]), False)
    with Threads(1) as threads:
        weights.update(sums_of(np.random.default_rng(14), 2), some_documents(np.ones((3, 2))), 1.0, 1.0, threads)
    np.testing.assert_array_equal(weights.a0, [0.1, 0.2])


def some_sticks(rng, n_topics=5):
    weights = StickWeights(n_topics, (2.0, 0.5), (3.0, 0.1))
    weights.a0, weights._alpha = rng.gamma(1.0, size=n_topics) + 0.05, 1.7
    return weights


def test_without_locations_the_gate_is_completed_in_closed_form():
    rng = np.random.default_rng(15)
    weights, n = some_sticks(rng), rng.gamma(0.5, 4.0, size=(7, 5))
    n[2] = 0
    documents, lengths = some_documents(n), n.sum(axis=1)
    sums = weights.completed(nothing(5, 7), documents, lengths)
    full = lengths > 0
    np.testing.assert_allclose(documents.intercepts[full], np.log(lengths[full] / weights.beta), rtol=1e-13)
    assert documents.intercepts[2] == FAR_BELOW
    right = sum(
        oracle.doc_objective(np.zeros(0), s, row, weights.a0, np.zeros((5, 0)))
        + row.sum()
        - xlogy(row.sum(), row.sum())
        for row, s in zip(n[full], documents.intercepts[full], strict=True)
    )
    assert sums.weights == pytest.approx(right, rel=1e-12)
    np.testing.assert_allclose(sums.lifts, np.log1p(lengths / weights.beta).sum(), rtol=1e-13)


def test_a_step_of_sticks_and_concentrations_never_lowers_the_bound():
    """With expected tokens, whole or not, and lifts as they may be."""
    rng = np.random.default_rng(16)
    moved = 0
    for _ in range(100):
        weights = some_sticks(rng, int(rng.integers(1, 9)))
        n_topics = len(weights.a0)
        n = rng.gamma(0.3, 10.0 ** rng.uniform(-2, 2), size=(20, n_topics))
        lifts = 20 * rng.gamma(2.0, size=n_topics)

        def reached(weights=weights, n=n, lifts=lifts):
            return profile_twin(weights.a0, n) - weights.a0 @ lifts + sum(weights.terms().values())

        before, a0 = reached(), weights.a0
        sums = DocumentSums(tables_of(a0, n), lifts, 0.0, 0.0, 0.0, profile_twin(a0, n))
        with Threads(1) as threads:
            weights.update(sums, some_documents(n), 1.0, 1.0, threads)
        assert reached() >= before - 1e-7
        moved += np.abs(weights.a0 / a0 - 1).max() > 1e-3
    assert moved > 90


def test_the_terms_of_sticks_and_locations_are_the_priors_of_the_bound():
    rng = np.random.default_rng(17)
    problem, q = oracle.random_problem(rng, n_topics=5, n_dims=3)
    sticks = StickWeights(5, problem.tau, problem.kappa)
    sticks.a0, sticks._alpha = q.a0, q.alpha
    weights = LocatedWeights(sticks, q.ell, problem.c)
    found = weights.terms()
    assert found["sticks"] == pytest.approx(oracle.prior_sticks(problem, q), rel=1e-11)
    assert found["alpha"] == pytest.approx(oracle.prior_alpha(problem, q), rel=1e-11)
    assert found["beta"] == pytest.approx(oracle.prior_beta(problem, q), rel=1e-11)
    assert found["topic_locations"] == pytest.approx(oracle.prior_ell(problem, q), rel=1e-11)
    assert weights.beta == pytest.approx(q.beta, rel=1e-13)
    np.testing.assert_allclose(sticks.p, q.p, rtol=1e-12)


def test_the_scales_of_located_weights_are_the_gate_beside_the_widest():
    rng = np.random.default_rng(18)
    weights = LocatedWeights(some_sticks(rng), rng.normal(size=(5, 2)) * 3, 0.5)
    documents = DocumentBeliefs(np.zeros((4, 5)), rng.normal(size=(4, 2)), np.array([-1.0, 0.0, 5.0, FAR_BELOW]))
    documents.locations[3] = 0
    psi = documents.locations @ weights.locations.T + documents.intercepts[:, None]
    widest = expit(psi).max(axis=1, keepdims=True)
    np.testing.assert_allclose(weights.scales(documents), expit(psi) / widest, rtol=1e-12)


@pytest.mark.parametrize("moved", [False, True])
def test_weights_come_back_as_they_were(moved):
    rng = np.random.default_rng(19)

    def made():
        return [
            DirichletWeights(np.full(5, 0.3), True),
            StickWeights(5, (2.0, 0.5), (3.0, 0.1)),
            LocatedWeights(StickWeights(5, (2.0, 0.5), (3.0, 0.1)), np.zeros((5, 2)), 0.5),
        ]

    documents = DocumentBeliefs(rng.gamma(1.0, size=(6, 5)), rng.normal(size=(6, 2)), rng.normal(size=6))
    sums, later = sums_of(rng, 5), sums_of(rng, 5)
    for weights, restored in zip(made(), made(), strict=True):
        with Threads(1) as threads:
            if moved:
                weights.update(sums, documents, 0.5, 3.0, threads)
            restored.restore({name: tensor.copy() for name, tensor in weights.tensors().items()})
            for one in (weights, restored):
                one.update(later, documents, 0.5, 3.0, threads)
        first, second = weights.tensors(), restored.tensors()
        assert first.keys() == second.keys()
        for name, tensor in first.items():
            np.testing.assert_array_equal(tensor, second[name], err_msg=name)
