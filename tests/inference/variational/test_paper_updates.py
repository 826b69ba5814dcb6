"""The paper's updates, corrected where print is wrong, against the bound they come from.

Slopes are taken by a complex step, f'(x) = Im f(x + ih) / h with h = 1e-30, which loses nothing to subtraction: errors
are those of rounding, and a wrong formula stands out by ten orders of magnitude.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from oracle import (
    a0_objective,
    bound,
    conditional_bound,
    doc_objective,
    exact_log_evidence,
    grad_a0,
    grad_beta,
    grad_doc,
    grad_ell,
    grad_sticks,
    grad_topic,
    grad_u,
    hess_a0,
    hess_beta,
    hess_doc,
    hess_ell,
    hess_sticks,
    hess_topic,
    hess_u,
    log_weight_moment,
    log_weight_sums,
    mean_log_z,
    mean_z,
    optimal_s,
    optimal_z,
    paper_ell_steps,
    paper_u_steps,
    profiled_bound,
    random_problem,
    sigma,
    sticks_of,
    terms,
    topic_counts,
    topic_objective,
    update_alpha,
    update_eta,
    update_phi,
    update_xi,
    update_z,
)
from scipy import stats
from scipy.linalg import block_diag
from scipy.special import loggamma, polygamma
from scipy.special import psi as digamma

GRADIENTS = {"u": grad_u, "ell": grad_ell, "sticks": grad_sticks, "beta": grad_beta}
HESSIANS = {"u": hess_u, "ell": hess_ell, "sticks": hess_sticks, "beta": hess_beta}
UPDATES = {"phi": update_phi, "z": update_z, "xi": update_xi, "eta": update_eta, "alpha": update_alpha}


def problems(n, **sizes):
    return [random_problem(np.random.default_rng(seed), **sizes) for seed in range(n)]


def jacobian(f, x):
    """The derivative of f (any shape) by every element of x, along the last axis, by a complex step of 1e-30."""
    x = np.asarray(x, complex)
    steps = 1e-30j * np.eye(x.size).reshape(x.size, *x.shape)
    return np.stack([np.imag(f(x + step)) / 1e-30 for step in steps], axis=-1)


def slope(problem, q, name):
    """The derivative of the bound by one field of Q, in the field's shape."""
    x = getattr(q, name)
    return jacobian(lambda x: bound(problem, replace(q, **{name: x[()]})), x).reshape(np.shape(x))


def error(found, true):
    return np.abs(found - true).max() / np.abs(true).max()


def dense(blocks):
    """Blocks (n, d, d) on the diagonal of one matrix; a matrix or a number as it is."""
    return block_diag(*blocks) if np.ndim(blocks) == 3 else np.atleast_2d(blocks)


def best_s(problem, q):
    return np.array([optimal_s(n, q.a0, w) for n, w in zip(topic_counts(problem, q), q.w, strict=True)])


def climb(problem, q, n_sweeps):
    """Coordinate ascent over everything that is not a point mass."""
    for _ in range(n_sweeps):
        for update in (update_phi, update_z, update_xi, update_eta):
            q = update(problem, q)
    return q


# The terms


def test_priors_and_entropies_are_those_of_scipy():
    for problem, q in problems(20):
        found, (tau_1, tau_2), (kappa_1, kappa_2) = terms(problem, q), problem.tau, problem.kappa
        true = {
            "prior_sticks": stats.beta.logpdf(q.sticks, 1, q.alpha).sum(),
            "prior_ell": stats.norm.logpdf(q.ell, scale=np.sqrt(problem.c)).sum(),
            "prior_u": stats.norm.logpdf(q.u).sum(),
            "prior_alpha": stats.gamma.logpdf(q.alpha, tau_1, scale=1 / tau_2),
            "prior_beta": stats.gamma.logpdf(q.beta, kappa_1, scale=1 / kappa_2),
            "entropy_z": stats.gamma.entropy(q.a, scale=1 / q.b).sum(),
            "entropy_eta": sum(stats.dirichlet.entropy(row) for row in q.lam),
        }
        assert {name: found[name] for name in true} == pytest.approx(true, rel=1e-11)


@pytest.mark.parametrize("xi", [0.0, np.inf])
def test_the_xi_of_an_empty_document_is_not_looked_at(xi):
    for problem, q in problems(10):
        problem = replace(problem, counts=problem.counts * (np.arange(len(q.u)) > 0)[:, None])
        q = replace(q, phi=[q.phi[0][:0], *q.phi[1:]])
        odd = replace(q, xi=np.append(xi, q.xi[1:]))
        assert bound(problem, odd) == bound(problem, q)
        assert bound(problem, optimal_z(problem, odd, np.zeros(len(q.u)))) == bound(
            problem, optimal_z(problem, q, np.zeros(len(q.u)))
        )


# Derivatives


@pytest.mark.parametrize("name", GRADIENTS)
def test_every_gradient_is_the_slope_of_the_bound(name):
    worst = max(error(GRADIENTS[name](*found), slope(*found, name)) for found in problems(25))
    assert worst < 1e-11


@pytest.mark.parametrize("name", HESSIANS)
def test_every_hessian_is_the_slope_of_its_gradient(name):
    for problem, q in problems(25):
        true = jacobian(lambda x, q=q, p=problem: GRADIENTS[name](p, replace(q, **{name: x[()]})), getattr(q, name))
        true = true.reshape(np.size(getattr(q, name)), -1)
        assert error(dense(HESSIANS[name](problem, q)), -true) < 1e-11


@pytest.mark.parametrize("name", HESSIANS)
def test_every_hessian_is_the_second_slope_of_the_bound(name):
    """Central differences, step 1e-5, of the bound's own complex-step slope: no gradient formula takes part."""
    for problem, q in problems(20, n_docs=3, n_topics=4):
        x = np.asarray(getattr(q, name), float)
        steps = 1e-5 * np.eye(x.size).reshape(x.size, *x.shape)
        ahead, behind = (
            np.array([slope(problem, replace(q, **{name: (x + sign * step)[()]}), name).ravel() for step in steps])
            for sign in (1, -1)
        )
        assert error(dense(HESSIANS[name](problem, q)), -(ahead - behind) / 2e-5) < 1e-7


# What is wrong in print


def printed_bracket(q):
    """p_k / V_k - sum_{j > k} p_j / (1 - V_k), which print puts in a factor of its own."""
    after = np.array([q.p[k + 1 :].sum() for k in range(len(q.sticks))])
    return q.p[:-1] / q.sticks - after / (1 - q.sticks)


def g(q):
    return log_weight_sums(q) - len(q.a) * digamma(q.a0)


def printed_grad_sticks(q):
    return -(q.alpha - 1) / (1 - q.sticks) + q.beta * g(q)[:-1] * printed_bracket(q)


def printed_hess_sticks(q):
    t = (q.beta**2 * len(q.a) * polygamma(1, q.a0))[:-1]
    p, left, bracket = q.p[:-1], 1 - q.sticks, printed_bracket(q)
    above = np.triu(np.outer(1 / left, -t * p * bracket + q.beta * g(q)[:-1] * bracket), 1)
    return np.diag((q.alpha - 1) / left**2 + t * p / q.sticks * bracket) + above + above.T


def printed_grad_beta(problem, q):
    return q.p @ g(q) - (problem.kappa[0] - 1) / q.beta - problem.kappa[1]


def test_the_bracket_of_the_printed_sticks_is_always_zero():
    """Both of its terms are what is left of the stick before k, so no document has a say in the printed gradient."""
    for _, q in problems(25):
        assert np.abs(printed_bracket(q)).max() < 1e-14
        np.testing.assert_allclose(printed_grad_sticks(q), -(q.alpha - 1) / (1 - q.sticks), rtol=0, atol=1e-9)


def test_the_printed_gradient_of_the_sticks_is_wrong_and_the_corrected_is_right():
    for problem, q in problems(25):
        true = slope(problem, q, "sticks")
        assert error(printed_grad_sticks(q), true) > 0.3
        assert error(grad_sticks(problem, q), true) < 1e-11


@pytest.mark.parametrize("part", [np.diag, lambda H: H[np.triu_indices_from(H, 1)]], ids=["diagonal", "off diagonal"])
def test_the_printed_hessian_of_the_sticks_is_wrong_and_the_corrected_is_right(part):
    for problem, q in problems(25, n_topics=4):
        true = -jacobian(lambda x, q=q, p=problem: grad_sticks(p, replace(q, sticks=x)), q.sticks)
        assert error(part(printed_hess_sticks(q)), part(true)) > 0.3
        assert error(part(hess_sticks(problem, q)), part(true)) < 1e-11


def test_the_printed_gradient_of_beta_is_wrong_by_the_sign_of_its_prior():
    for problem, q in problems(25):
        true = slope(problem, q, "beta")
        off = true - printed_grad_beta(problem, q)
        assert off == pytest.approx(2 * (problem.kappa[0] - 1) / q.beta, rel=1e-8)
        assert abs(off) > 1e6 * abs(true - grad_beta(problem, q))
        plain = replace(problem, kappa=(1.0, 1e-3))
        assert printed_grad_beta(plain, q) == pytest.approx(slope(plain, q, "beta"), rel=1e-11)


# Updates in closed form


def test_no_exact_update_ever_lowers_the_bound():
    """From a random Q and on through two sweeps, each update first in turn; later on there is less to win."""
    worst = dict.fromkeys(UPDATES, np.inf)
    for seed, (problem, q) in enumerate(problems(250)):
        before, first = bound(problem, q), seed % len(UPDATES)
        for name in 2 * [*list(UPDATES)[first:], *list(UPDATES)[:first]]:
            q = UPDATES[name](problem, q)
            after = bound(problem, q)
            worst[name] = min(worst[name], (after - before) / abs(before))
            before = after
    assert min(worst.values()) >= -1e-10, worst


@pytest.mark.parametrize(
    ("name", "fields"), [("z", ["a", "b"]), ("xi", ["xi"]), ("eta", ["lam"]), ("alpha", ["alpha"])]
)
def test_the_bound_is_flat_after_an_exact_update(name, fields):
    for problem, q in problems(20, n_docs=3, n_terms=5):
        updated = UPDATES[name](problem, q)
        for field in fields:
            rounding = 1e-13 * max(map(abs, terms(problem, updated).values()))
            assert np.abs(slope(problem, updated, field)).max() < rounding * (1 + 1 / np.min(getattr(updated, field)))
            busy = problem.n_tokens > 0 if field == "xi" else ...
            assert np.abs(np.atleast_1d(slope(problem, q, field))[busy]).max() > 1e-6


def test_the_bound_is_flat_along_the_simplex_after_the_update_of_phi():
    """Moving a word from one topic to another: every slope of its row is the same."""
    for problem, q in problems(20, n_docs=3, n_terms=5):
        for found, is_flat in ((q, False), (update_phi(problem, q), True)):
            spread = []
            for m, phi in enumerate(found.phi):

                def moved(x, m=m, q=found, p=problem):
                    return bound(p, replace(q, phi=[*q.phi[:m], x, *q.phi[m + 1 :]]))

                if phi.size:
                    spread.append(np.ptp(jacobian(moved, phi).reshape(phi.shape), axis=1).max())
            assert max(spread) < 1e-11 if is_flat else max(spread) > 1e-2


@pytest.mark.parametrize("name", UPDATES)
def test_an_exact_update_done_twice_changes_nothing_more(name):
    for problem, q in problems(25):
        once = UPDATES[name](problem, q)
        twice = UPDATES[name](problem, once)
        for field in set(vars(q)) - {"phi"}:
            np.testing.assert_array_equal(getattr(once, field), getattr(twice, field))
        for first, second in zip(once.phi, twice.phi, strict=True):
            np.testing.assert_array_equal(first, second)


# Steps along a gradient


def is_inside(name, x):
    if name == "sticks":
        return np.all((x > 0) & (x < 1))
    return name != "beta" or x > 0


def halved(problem, q, name, direction):
    """The first of the steps 1, 1/2, 1/4, ... that stays in the domain and raises the bound; Q itself if none does."""
    before, x = bound(problem, q), getattr(q, name)
    for step in 0.5 ** np.arange(60):
        if is_inside(name, x + step * direction):
            with np.errstate(over="ignore"):
                moved = replace(q, **{name: x + step * direction})
                if bound(problem, moved) > before:
                    return moved
    return q


def newton(problem, q, name):
    gradient, H = GRADIENTS[name](problem, q), dense(HESSIANS[name](problem, q))
    if np.linalg.eigvalsh(H)[0] <= 0:
        return gradient
    return np.linalg.solve(H, np.ravel(gradient)).reshape(np.shape(gradient))


@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.parametrize("direction", [newton, lambda p, q, name: GRADIENTS[name](p, q)], ids=["newton", "gradient"])
def test_a_halved_step_along_a_gradient_raises_the_bound(name, direction):
    for problem, q in problems(200):
        assert bound(problem, halved(problem, q, name, direction(problem, q, name))) > bound(problem, q)


@pytest.mark.parametrize("name", ["u", "ell"])
def test_the_bound_is_concave_in_the_locations(name):
    for problem, q in problems(25):
        floor = 1.0 if name == "u" else 1 / problem.c
        assert np.linalg.eigvalsh(HESSIANS[name](problem, q)).min() > floor * (1 - 1e-12)


def test_the_printed_schedules_are_gradient_steps_that_add_up_to_less_than_two_over_t():
    for problem, q in problems(20):
        once = paper_u_steps(problem, q, n_steps=1)
        pull = (mean_z(q) * np.exp(-q.w) - q.a0) @ q.ell
        rho = 1 / len(q.ell) / 4
        np.testing.assert_allclose(once.u, (1 - rho) * q.u + rho * pull, rtol=1e-12, atol=1e-12)
        once = paper_ell_steps(problem, q, n_steps=1)
        pull = (mean_z(q) * np.exp(-q.w) - q.a0).T @ q.u
        rho = 1 / len(q.u) / 4
        np.testing.assert_allclose(once.ell, (1 - rho / problem.c) * q.ell + rho * pull, rtol=1e-12, atol=1e-12)
    assert sum(1 / (3 + s) for s in range(1, 21)) == pytest.approx(1.901, abs=1e-3)


@pytest.mark.parametrize(("beta", "least", "most"), [(5, 0.005, 0.02), (20, 0.01, 0.03), (100, 0.03, 0.08)])
def test_the_printed_steps_take_u_a_few_hundredths_of_its_way(beta, least, most):
    """At the paper's sizes, T = 200, d = 20, c = 1/20, from u = 0.

    The mean eigenvalue of the negative Hessian is 1 + beta / d (at the best s, sum_k a_k (1 - sigma_k) = beta) and the
    steps add up to 1.9 / T, so the part of the way gone is near 1.9 (1 + beta / d) / T: 1.2, 1.9 and 5.7 hundredths.
    """
    rng = np.random.default_rng(0)
    problem, q = random_problem(rng, n_docs=4, n_terms=40, n_topics=200, n_dims=20)
    problem = replace(problem, c=1 / 20, counts=rng.poisson(3, size=problem.counts.shape))
    phi = [rng.dirichlet(np.full(200, 0.05), size=len(problem.words(m))) for m in range(4)]
    q = replace(q, phi=phi, beta=beta, ell=rng.normal(size=q.ell.shape) / np.sqrt(20), u=np.zeros_like(q.u))
    q = optimal_z(problem, q, best_s(problem, q))
    assert np.linalg.eigvalsh(hess_u(problem, q)).mean() == pytest.approx(1 + beta / 20, rel=0.1)
    top = q
    for _ in range(20):
        top = replace(top, u=top.u + newton(problem, top, "u"))
    assert np.abs(grad_u(problem, top)).max() < 1e-9
    part = np.linalg.norm(paper_u_steps(problem, q).u) / np.linalg.norm(top.u)
    assert least < part < most


@pytest.mark.parametrize("steps", [paper_u_steps, paper_ell_steps])
def test_the_printed_steps_can_overshoot_when_topics_or_documents_are_few(steps):
    """1/T and 1/M do not know how curved the bound is: now and then the location runs off to infinity."""
    lost = 0
    for problem, q in problems(200):
        q = update_z(problem, update_xi(problem, update_z(problem, q)))
        with np.errstate(over="ignore", invalid="ignore"):
            lost += not np.isfinite(bound(problem, steps(problem, q)))
    assert 0 < lost < 30


# Identities


def test_the_logs_of_what_the_sticks_leave_add_up_to_the_log_of_the_last_weight():
    for _, q in problems(25):
        assert np.log(1 - q.sticks).sum() == pytest.approx(np.log(q.p[-1]), rel=1e-12)
        assert q.p.sum() == pytest.approx(1, rel=1e-14)
        np.testing.assert_allclose(sticks_of(q.p), q.sticks, rtol=1e-13)


def test_sticks_and_beta_enter_the_bound_as_one_function_of_a0():
    for seed, (problem, q) in enumerate(problems(25)):
        S, M, T = log_weight_sums(q), len(q.a), len(q.ell)
        kappa_1, kappa_2 = problem.kappa
        rest = kappa_1 * np.log(kappa_2) - loggamma(kappa_1) + (T - 1) * np.log(q.alpha)
        rest -= (mean_log_z(q) + np.exp(-q.w) * mean_z(q)).sum()
        for a0 in np.random.default_rng(seed).gamma(2, size=(3, T)) + 0.05:
            moved = replace(q, beta=a0.sum(), sticks=sticks_of(a0 / a0.sum()))
            found = terms(problem, moved)
            part = found["prior_sticks"] + found["prior_beta"] + found["weights_given_locations"]
            assert a0_objective(a0, S, M, q.alpha, problem.kappa) + rest == pytest.approx(part, rel=1e-10)


def test_the_problem_in_a0_has_its_derivatives_and_is_diagonal_but_for_one_number():
    for problem, q in problems(25):
        given = (log_weight_sums(q), len(q.a), q.alpha, problem.kappa)
        assert error(grad_a0(q.a0, *given), jacobian(lambda x, given=given: a0_objective(x, *given), q.a0)) < 1e-11
        H = hess_a0(q.a0, *given)
        assert error(H, -jacobian(lambda x, given=given: grad_a0(x, *given), q.a0)) < 1e-11
        assert np.ptp(H[~np.eye(len(H), dtype=bool)]) == 0


def test_the_gradient_in_a0_is_that_of_sticks_and_beta():
    for problem, q in problems(25):
        slopes = grad_a0(q.a0, log_weight_sums(q), len(q.a), q.alpha, problem.kappa)
        by_sticks = jacobian(lambda x, q=q: replace(q, sticks=x).a0, q.sticks)
        np.testing.assert_allclose(slopes @ by_sticks, grad_sticks(problem, q), rtol=1e-10, atol=1e-9)
        assert slopes @ q.p == pytest.approx(grad_beta(problem, q), rel=1e-10, abs=1e-9)


def test_the_bound_at_the_best_weights_is_the_profiled_one():
    """For any s, not only the best; empty documents among them."""
    empty = 0
    for seed, (problem, q) in enumerate(problems(60)):
        s = np.random.default_rng(seed).normal(size=len(q.u), scale=2)
        empty += (problem.n_tokens == 0).any()
        assert profiled_bound(problem, q, s) == pytest.approx(bound(problem, optimal_z(problem, q, s)), rel=1e-10)
        assert bound(problem, update_z(problem, optimal_z(problem, q, s))) == pytest.approx(
            bound(problem, optimal_z(problem, q, s)), rel=1e-12
        )
    assert empty > 5


def test_the_document_objective_has_its_derivatives_and_those_of_the_bound():
    for seed, (problem, q) in enumerate(problems(25)):
        s, n, d = np.random.default_rng(seed).normal(size=len(q.u)), topic_counts(problem, q), q.u.shape[1]

        def joint(x, q=q, p=problem, d=d):
            moved = replace(q, u=x[:, :d])
            return bound(p, optimal_z(p, moved, x[:, d]))

        through_z = jacobian(joint, np.column_stack([q.u, s])).reshape(len(q.u), d + 1)
        for m in np.flatnonzero(problem.n_tokens):
            given = (n[m], q.a0, q.ell)
            x = np.append(q.u[m], s[m])
            found = grad_doc(q.u[m], s[m], *given)
            assert error(found, jacobian(lambda x, given=given: doc_objective(x[:-1], x[-1], *given), x)) < 1e-11
            assert error(found, through_z[m]) < 1e-11
            true = -jacobian(lambda x, given=given: grad_doc(x[:-1], x[-1], *given), x)
            assert error(hess_doc(q.u[m], s[m], *given), true) < 1e-11
        for m in np.flatnonzero(problem.n_tokens == 0):
            found = grad_doc(q.u[m], -np.inf, n[m], q.a0, q.ell)
            np.testing.assert_allclose(found, through_z[m], rtol=1e-11, atol=1e-11)


def test_the_topic_objective_has_its_derivatives_and_those_of_the_bound():
    for seed, (problem, q) in enumerate(problems(25)):
        s, n = np.random.default_rng(seed).normal(size=len(q.u)), topic_counts(problem, q)
        s[problem.n_tokens == 0] = -np.inf
        by_ell = jacobian(lambda x, q=q, p=problem, s=s: bound(p, optimal_z(p, replace(q, ell=x), s)), q.ell)
        for k, true in enumerate(by_ell.reshape(q.ell.shape)):
            given = (n[:, k], q.a0[k], q.u, s, problem.c)
            found = grad_topic(q.ell[k], *given)
            assert error(found, true) < 1e-11
            assert error(found, jacobian(lambda x, given=given: topic_objective(x, *given), q.ell[k])) < 1e-11
            true = -jacobian(lambda x, given=given: grad_topic(x, *given), q.ell[k])
            assert error(hess_topic(q.ell[k], *given), true) < 1e-11


def test_at_the_best_weights_the_profiled_gradients_are_the_papers():
    for seed, (problem, q) in enumerate(problems(25)):
        s = np.random.default_rng(seed).normal(size=len(q.u))
        q, n = optimal_z(problem, q, s), topic_counts(problem, q)
        s[problem.n_tokens == 0] = -np.inf
        by_u = [grad_doc(q.u[m], s[m], n[m], q.a0, q.ell)[:-1] for m in range(len(q.u))]
        by_ell = [grad_topic(q.ell[k], n[:, k], q.a0[k], q.u, s, problem.c) for k in range(len(q.ell))]
        np.testing.assert_allclose(by_u, grad_u(problem, q), rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(by_ell, grad_ell(problem, q), rtol=1e-10, atol=1e-10)


def test_at_the_best_intercept_the_updates_of_weights_and_xi_stand_still():
    for problem, q in problems(25):
        busy = problem.n_tokens > 0
        best = optimal_z(problem, q, best_s(problem, q))
        np.testing.assert_allclose(update_xi(problem, best).xi[busy], best.xi[busy], rtol=1e-12)
        theta = (mean_z(best) / mean_z(best).sum(axis=1, keepdims=True))[busy]
        gate = sigma(q.w + best_s(problem, q)[:, None])
        np.testing.assert_allclose(theta, (best.a * gate)[busy] / problem.n_tokens[busy, None], rtol=1e-12)


def test_the_updates_of_weights_and_xi_close_beta_over_n_plus_beta_of_what_is_left():
    """The HDP, xi near its optimum beta: in a document much longer than beta the closed-form updates crawl."""
    for problem, q in problems(25):
        q = replace(q, ell=np.zeros_like(q.ell), xi=np.full_like(q.xi, q.beta * (1 + 1e-6)))
        N = problem.n_tokens
        left = update_xi(problem, update_z(problem, q)).xi - q.beta
        np.testing.assert_allclose(left[N > 0], 1e-6 * q.beta * (N / (N + q.beta))[N > 0], rtol=1e-5)


def test_in_the_hdp_one_gate_serves_all_topics_and_is_n_over_n_plus_beta():
    for problem, q in problems(25):
        q = replace(q, ell=np.zeros_like(q.ell))
        N, s = problem.n_tokens, best_s(problem, q)
        np.testing.assert_allclose(sigma(s), N / (N + q.beta), rtol=1e-12)
        best = optimal_z(problem, q, s)
        theta = mean_z(best) / mean_z(best).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(theta, best.a / (N + q.beta)[:, None], rtol=1e-12)


# Against the exact evidence


def tiny_problems(n, hdp):
    """One document of two or three tokens, two terms, two topics; every point mass held where it is."""
    for seed in range(n):
        rng = np.random.default_rng(seed)
        problem, q = random_problem(rng, n_docs=1, n_terms=2, n_topics=2)
        problem = replace(problem, counts=rng.multinomial(rng.integers(2, 4), [0.5, 0.5])[None])
        q = replace(q, phi=[rng.dirichlet(np.ones(2), size=len(problem.words(0)))])
        yield problem, replace(q, ell=np.zeros_like(q.ell)) if hdp else q


def test_the_moments_of_the_weights_are_those_of_a_dirichlet_when_the_locations_are_zero():
    rng = np.random.default_rng(0)
    for _ in range(40):
        a0, n = rng.gamma(1, size=3) + 0.05, rng.integers(0, 4, size=3)
        exact = loggamma(a0.sum()) - loggamma(a0.sum() + n.sum()) + (loggamma(a0 + n) - loggamma(a0)).sum()
        assert log_weight_moment(n, a0, np.zeros(3)) == pytest.approx(exact, rel=1e-12, abs=1e-12)


def test_the_moments_of_the_weights_are_those_of_drawn_weights():
    rng = np.random.default_rng(0)
    for _ in range(5):
        a0, n, w = rng.gamma(1, size=3) + 0.3, rng.integers(0, 3, size=3), rng.normal(size=3)
        Z = rng.gamma(a0, np.exp(w), size=(100_000, 3))
        drawn = ((Z / Z.sum(axis=1, keepdims=True)) ** n).prod(axis=1)
        off = abs(np.exp(log_weight_moment(n, a0, w)) - drawn.mean())
        assert off <= 4 * drawn.std() / np.sqrt(len(drawn)) < 0.02 + 1e-12


def test_the_exact_evidence_of_all_texts_that_could_be_written_adds_up_to_one():
    """Two documents of two tokens: the counts 2-0, 1-1 and 0-2 come from 1, 2 and 1 orders of the tokens."""
    orders = {(2, 0): 1, (1, 1): 2, (0, 2): 1}
    for problem, q in problems(3, n_docs=2, n_terms=2, n_topics=2):
        total = sum(
            orders[one] * orders[two] * np.exp(exact_log_evidence(replace(problem, counts=np.array([one, two])), q))
            for one, two in product(orders, repeat=2)
        )
        assert total == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize(("hdp", "most"), [(True, 2.0), (False, 1.5)])
def test_the_bound_stays_below_the_exact_evidence_and_comes_near_it(hdp, most):
    """The gap measured over 30 problems: 0.33 to 1.94 nats (median 0.83) for the HDP, 0.06 to 1.40 (0.68) for DILN."""
    for problem, q in tiny_problems(12, hdp):
        exact = exact_log_evidence(problem, q)
        assert conditional_bound(problem, q) < exact
        best = -np.inf
        for seed in range(2):
            start = replace(q, lam=np.random.default_rng(seed).gamma(2, size=(2, 2)) + 0.1)
            best = max(best, conditional_bound(problem, climb(problem, start, 80)))
        assert 0 < exact - best < most


@pytest.mark.parametrize("hdp", [True, False])
def test_the_gap_closes_where_the_posterior_factorises(hdp):
    """With huge beta and gamma_0 weights and topics are known, tokens independent: the gap falls as 1 / size."""
    for problem, q in tiny_problems(5, hdp):
        for size in (1e2, 1e4):
            sure, start = replace(problem, gamma_0=size), replace(q, beta=size)
            gap = exact_log_evidence(sure, start) - conditional_bound(sure, climb(sure, start, 60))
            assert 0 < gap < 10 / size


def test_without_tokens_the_bound_is_the_prior_exactly():
    for problem, q in problems(25):
        problem = replace(problem, counts=np.zeros_like(problem.counts))
        q = climb(problem, replace(q, phi=[phi[:0] for phi in q.phi]), 1)
        assert abs(conditional_bound(problem, q)) < 1e-12 * max(map(abs, terms(problem, q).values()))


def test_with_one_topic_the_gap_is_the_price_of_the_tangent():
    """Nothing else is approximate then: half of ln(1 + N / beta) a document, and a little more that Stirling leaves."""
    for problem, q in problems(25, n_topics=1):
        q = update_eta(problem, update_phi(problem, q))
        q = optimal_z(problem, q, best_s(problem, q))
        N, beta = problem.n_tokens, q.beta
        price = (N + beta) * np.log(N + beta) - N - beta * np.log(beta) - loggamma(N + beta) + loggamma(beta)
        gap = exact_log_evidence(problem, q) - conditional_bound(problem, q)
        assert gap == pytest.approx(price.sum(), rel=1e-9)
        half = 0.5 * np.log1p(N / beta)
        assert np.all((price >= half - 1e-12) & (price <= half + 1 / (12 * beta)))
