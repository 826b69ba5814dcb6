"""DILN's variational lower bound, spelled out: every parameter explicit, plain NumPy, no speed, no shortcuts.

The reference that production code is measured against. The letters are the model's: m document, w term, k topic;
a0_k = beta p_k, w_mk = ell_k . u_m, Z_mk ~ Gamma(a0_k, rate exp(-w_mk)), theta_mk = Z_mk / sum_j Z_mj. The bound and
its gradients are analytic functions of every parameter and accept complex arrays, so a test can differentiate them by a
complex step, exact to rounding. Every `hess_` function returns the NEGATIVE of the second derivative.
"""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy.special import loggamma, logsumexp, polygamma, xlogy
from scipy.special import psi as digamma

LOG_2PI = np.log(2 * np.pi)


@dataclass
class Problem:
    """The data and the constants of the priors."""

    counts: np.ndarray  # (M, V) tokens of term w in document m
    gamma_0: float  # eta_k ~ Dirichlet(gamma_0, ..., gamma_0)
    c: float  # ell_k ~ N(0, c I)
    tau: tuple[float, float]  # alpha ~ Gamma(tau_1, rate tau_2)
    kappa: tuple[float, float]  # beta ~ Gamma(kappa_1, rate kappa_2)

    @property
    def n_tokens(self):
        return self.counts.sum(axis=1)

    def words(self, m):
        """The distinct terms of document m, in the order of the rows of phi[m]."""
        return np.flatnonzero(self.counts[m])


@dataclass
class Q:
    """Every variational parameter; u, ell, sticks, alpha and beta are point masses."""

    phi: list[np.ndarray]  # per document (distinct terms, T): q(C = k), rows sum to 1
    a: np.ndarray  # (M, T) shape of q(Z)
    b: np.ndarray  # (M, T) rate of q(Z)
    xi: np.ndarray  # (M,) where ln sum_k Z_mk is expanded
    u: np.ndarray  # (M, d)
    lam: np.ndarray  # (T, V) Dirichlet parameters of q(eta)
    sticks: np.ndarray  # (T - 1,) V_k; the last stick is 1
    ell: np.ndarray  # (T, d)
    alpha: float
    beta: float

    @property
    def p(self):
        return np.append(self.sticks, 1.0) * np.append(1.0, np.cumprod(1 - self.sticks))

    @property
    def a0(self):
        return self.beta * self.p

    @property
    def w(self):
        return self.u @ self.ell.T


def sticks_of(p):
    """The stick proportions (T - 1,) whose weights are p (T,)."""
    return p[:-1] / np.cumsum(p[::-1])[::-1][:-1]


def random_problem(rng, n_docs=None, n_terms=None, n_topics=None, n_dims=None):
    """A small random problem and a random valid Q, at no optimum; some documents are empty, some hold one word."""
    M, V = n_docs or rng.integers(2, 7), n_terms or rng.integers(4, 9)
    T, d = n_topics or rng.integers(2, 6), n_dims or rng.integers(1, 4)
    counts = rng.poisson(rng.uniform(0.3, 3), size=(M, V))
    if rng.random() < 0.3:
        counts[rng.integers(M)] = 0
    if rng.random() < 0.3:
        counts[rng.integers(M)] = np.arange(V) == rng.integers(V)
    c = rng.uniform(0.1, 1)
    problem = Problem(counts, rng.uniform(0.05, 1), c, tuple(rng.uniform(0.5, 3, 2)), tuple(rng.uniform(0.5, 3, 2)))
    q = Q(
        phi=[rng.dirichlet(np.ones(T), size=len(problem.words(m))).reshape(-1, T) for m in range(M)],
        a=rng.gamma(2, size=(M, T)) + 0.1,
        b=rng.gamma(2, size=(M, T)) + 0.1,
        xi=rng.gamma(5, size=M) + 0.5,
        u=rng.normal(size=(M, d)),
        lam=rng.gamma(2, size=(T, V)) + 0.1,
        sticks=sticks_of(rng.dirichlet(np.full(T, 3.0))),
        ell=rng.normal(size=(T, d)) * np.sqrt(c),
        alpha=rng.uniform(0.5, 5),
        beta=rng.uniform(0.5, 20),
    )
    return problem, q


# Expectations under Q


def mean_z(q):
    return q.a / q.b


def mean_log_z(q):
    return digamma(q.a) - np.log(q.b)


def mean_log_eta(q):
    return digamma(q.lam) - digamma(q.lam.sum(axis=1, keepdims=True))


def topic_counts(problem, q):
    """n (M, T): the expected tokens of every document in every topic."""
    return np.array([problem.counts[m, problem.words(m)] @ phi for m, phi in enumerate(q.phi)])


def topic_words(problem, q):
    """(T, V): the expected tokens of every term in every topic."""
    found = np.zeros(q.lam.shape, np.result_type(float, *q.phi))
    for m, phi in enumerate(q.phi):
        words = problem.words(m)
        found[:, words] += (problem.counts[m, words, None] * phi).T
    return found


def log_weight_sums(q):
    """S_k = sum_m (E ln Z_mk - w_mk): all that the sticks and beta need from the documents."""
    return (mean_log_z(q) - q.w).sum(axis=0)


# The terms of the bound, each with its normalising constant


def words_given_topics(problem, q):
    """E ln p(X | C, eta)."""
    return (topic_words(problem, q) * mean_log_eta(q)).sum()


def topics_given_weights(problem, q):
    """E ln p(C | Z), with -ln sum_k Z_k replaced by its tangent at xi; xi of an empty document is not looked at."""
    N = problem.n_tokens
    xi = np.where(N > 0, q.xi, 1.0)
    return (topic_counts(problem, q) * mean_log_z(q)).sum() + (N * (1 - np.log(xi) - mean_z(q).sum(axis=1) / xi)).sum()


def weights_given_locations(problem, q):
    """E ln p(Z | beta p, ell, u)."""
    a0, w = q.a0, q.w
    return (-a0 * w - loggamma(a0) + (a0 - 1) * mean_log_z(q) - np.exp(-w) * mean_z(q)).sum()


def prior_eta(problem, q):
    T, V = q.lam.shape
    constant = loggamma(V * problem.gamma_0) - V * loggamma(problem.gamma_0)
    return T * constant + (problem.gamma_0 - 1) * mean_log_eta(q).sum()


def prior_sticks(problem, q):
    return len(q.sticks) * np.log(q.alpha) + (q.alpha - 1) * np.log(1 - q.sticks).sum()


def _log_normal(x, variance):
    return -0.5 * ((x**2).sum() / variance + x.size * (LOG_2PI + np.log(variance)))


def _log_gamma(x, shape, rate):
    return shape * np.log(rate) - loggamma(shape) + (shape - 1) * np.log(x) - rate * x


def prior_ell(problem, q):
    return _log_normal(q.ell, problem.c)


def prior_u(problem, q):
    return _log_normal(q.u, 1.0)


def prior_alpha(problem, q):
    return _log_gamma(q.alpha, *problem.tau)


def prior_beta(problem, q):
    return _log_gamma(q.beta, *problem.kappa)


def entropy_c(problem, q):
    """H[q(C)], 0 ln 0 = 0."""
    each = [phi * np.log(np.where(phi == 0, 1.0, phi)) for phi in q.phi]
    return -sum((problem.counts[m, problem.words(m)] @ terms).sum() for m, terms in enumerate(each))


def entropy_z(problem, q):
    return (q.a - np.log(q.b) + loggamma(q.a) + (1 - q.a) * digamma(q.a)).sum()


def entropy_eta(problem, q):
    return (
        loggamma(q.lam).sum(axis=1) - loggamma(q.lam.sum(axis=1)) - ((q.lam - 1) * mean_log_eta(q)).sum(axis=1)
    ).sum()


POINT_TERMS = (prior_sticks, prior_ell, prior_u, prior_alpha, prior_beta)
SPREAD_TERMS = (
    words_given_topics,
    topics_given_weights,
    weights_given_locations,
    prior_eta,
    entropy_c,
    entropy_z,
    entropy_eta,
)


def terms(problem, q):
    """The bound term by term, named by the functions above."""
    return {term.__name__: term(problem, q) for term in SPREAD_TERMS + POINT_TERMS}


def bound(problem, q):
    """A lower bound on ln p(X, u, ell, sticks, alpha, beta)."""
    return sum(terms(problem, q).values())


def conditional_bound(problem, q):
    """A lower bound on ln p(X | u, ell, sticks, beta): the bound without the priors of what is held at a point."""
    return sum(term(problem, q) for term in SPREAD_TERMS)


# Updates that maximise the bound over their own parameter; each returns a new Q


def update_phi(problem, q):
    log_eta, log_z = mean_log_eta(q), mean_log_z(q)
    logits = [log_eta[:, problem.words(m)].T + log_z[m] for m in range(len(q.phi))]
    return replace(q, phi=[np.exp(x - logsumexp(x, axis=1, keepdims=True)) if x.size else x for x in logits])


def update_z(problem, q):
    """q(Z) at fixed xi."""
    N = problem.n_tokens
    rate = N / np.where(N > 0, q.xi, 1.0)
    return replace(q, a=q.a0 + topic_counts(problem, q), b=np.exp(-q.w) + rate[:, None])


def update_xi(problem, q):
    return replace(q, xi=mean_z(q).sum(axis=1))


def update_eta(problem, q):
    return replace(q, lam=problem.gamma_0 + topic_words(problem, q))


def update_alpha(problem, q):
    """T where the paper prints K."""
    T, (tau_1, tau_2) = len(q.sticks) + 1, problem.tau
    return replace(q, alpha=(T + tau_1 - 2) / (tau_2 - np.log(1 - q.sticks).sum()))


# Gradients and negative Hessians at fixed q(Z)


def _pull(q):
    """E[Z_mk] exp(-w_mk) (M, T): how strongly the weights of a document pull on w_mk."""
    return mean_z(q) * np.exp(-q.w)


def grad_u(problem, q):
    return (_pull(q) - q.a0) @ q.ell - q.u


def grad_ell(problem, q):
    return (_pull(q) - q.a0).T @ q.u - q.ell / problem.c


def hess_u(problem, q):
    """(M, d, d); documents do not meet."""
    return np.eye(q.u.shape[1]) + np.einsum("mk,ki,kj->mij", _pull(q), q.ell, q.ell)


def hess_ell(problem, q):
    """(T, d, d); topics do not meet. The paper's preconditioner of ell is the inverse of this."""
    return np.eye(q.ell.shape[1]) / problem.c + np.einsum("mk,mi,mj->kij", _pull(q), q.u, q.u)


def _after(x):
    """sum_{j > k} x_j for k = 1, ..., T - 1."""
    return np.cumsum(x[::-1])[::-1][1:]


def _through_p(q, slope):
    """sum_j slope_j dp_j / dV_k (T - 1,)."""
    flow = slope * q.p
    return flow[:-1] / q.sticks - _after(flow) / (1 - q.sticks)


def _slope_a0(q):
    """g_k: the derivative of E ln p(Z) by a0_k."""
    return log_weight_sums(q) - len(q.a) * digamma(q.a0)


def grad_sticks(problem, q):
    """Corrected: in print g_k stands outside the sum over j > k, and what it then multiplies is zero."""
    return -(q.alpha - 1) / (1 - q.sticks) + q.beta * _through_p(q, _slope_a0(q))


def hess_sticks(problem, q):
    """(T - 1, T - 1), corrected, the same slip."""
    t = q.beta**2 * len(q.a) * polygamma(1, q.a0)
    left, p = 1 - q.sticks, q.p
    diagonal = (q.alpha - 1) / left**2 + t[:-1] * (p[:-1] / q.sticks) ** 2 + _after(t * p**2) / left**2
    shared = q.beta * _through_p(q, _slope_a0(q)) - _through_p(q, t * p)
    above = np.triu(np.outer(1 / left, shared), 1)
    return np.diag(diagonal) + above + above.T


def grad_beta(problem, q):
    """Corrected: the sign of (kappa_1 - 1) / beta is +."""
    return q.p @ _slope_a0(q) + (problem.kappa[0] - 1) / q.beta - problem.kappa[1]


def hess_beta(problem, q):
    return len(q.a) * q.p**2 @ polygamma(1, q.a0) + (problem.kappa[0] - 1) / q.beta**2


def paper_u_steps(problem, q, n_steps=20):
    """The printed schedule: gradient steps of (1/T) / (3 + s), s = 1, 2, ..."""
    for s in range(1, n_steps + 1):
        q = replace(q, u=q.u + grad_u(problem, q) / (len(q.ell) * (3 + s)))
    return q


def paper_ell_steps(problem, q, n_steps=20):
    """The printed schedule: gradient steps of (1/M) / (3 + s), s = 1, 2, ..."""
    for s in range(1, n_steps + 1):
        q = replace(q, ell=q.ell + grad_ell(problem, q) / (len(q.u) * (3 + s)))
    return q


# With q(Z) at its optimum. s_m = ln(N_m / xi_m), minus infinity in an empty document


def optimal_z(problem, q, s):
    """Q with a = a0 + n, b = exp(-w) + exp(s), xi = N exp(-s); xi of an empty document is left alone."""
    n, N = topic_counts(problem, q), problem.n_tokens
    xi = np.where(N > 0, N * np.exp(-np.where(N > 0, s, 0.0)), q.xi)
    rate = np.where(N > 0, np.exp(s), 0.0)
    return replace(q, a=q.a0 + n, b=np.exp(-q.w) + rate[:, None], xi=xi)


def softplus(x):
    """ln(1 + exp(x)) without overflow, complex x too."""
    above = np.real(x) > 0
    return np.where(above, x, 0.0) + np.log1p(np.exp(np.where(above, -x, x)))


def sigma(x):
    """The logistic gate 1 / (1 + exp(-x)), complex x too."""
    return np.exp(-softplus(-x))


def log_odds_likelihood(psi, n, a):
    """sum n psi - a ln(1 + exp(psi)): n successes in a trials; n = 0 counts as 0 even at psi = -inf."""
    return (n * np.where(n > 0, psi, 0.0) - a * softplus(psi)).sum()


def doc_objective(u, s, n, a0, ell):
    """f(u, s) of one document, n (T,): a logistic regression on ell, ridge 1 on u, none on the intercept s."""
    return log_odds_likelihood(ell @ u + s, n, a0 + n) - (u**2).sum() / 2


def _doc_design(ell):
    return np.column_stack([ell, np.ones(len(ell))])


def grad_doc(u, s, n, a0, ell):
    """(d + 1,): by u, then by s."""
    return _doc_design(ell).T @ (n - (a0 + n) * sigma(ell @ u + s)) - np.append(u, 0.0)


def hess_doc(u, s, n, a0, ell):
    """(d + 1, d + 1)."""
    psi, x = ell @ u + s, _doc_design(ell)
    return (x.T * ((a0 + n) * sigma(psi) * sigma(-psi))) @ x + np.diag(np.append(np.ones(len(u)), 0.0))


def doc_constant(n, a0, n_tokens, n_dims):
    """What f leaves out of a document's E ln p(C | Z) + E ln p(Z) + H[q(Z)] + ln p(u)."""
    return (loggamma(a0 + n) - loggamma(a0)).sum() + n_tokens - xlogy(n_tokens, n_tokens) - n_dims * LOG_2PI / 2


def profiled_bound(problem, q, s):
    """bound(problem, optimal_z(problem, q, s)) without a, b and xi."""
    kept = (words_given_topics, prior_eta, prior_sticks, prior_ell, prior_alpha, prior_beta, entropy_c, entropy_eta)
    N, total = problem.n_tokens, sum(term(problem, q) for term in kept)
    for m, n in enumerate(topic_counts(problem, q)):
        s_m = s[m] if N[m] else -np.inf
        total += doc_objective(q.u[m], s_m, n, q.a0, q.ell) + doc_constant(n, q.a0, N[m], q.u.shape[1])
    return total


def topic_objective(ell_k, n_k, a0_k, u, s, c):
    """The same regression for one topic: n_k (M,), covariates u_m, offsets s_m, ridge 1/c."""
    return log_odds_likelihood(u @ ell_k + s, n_k, a0_k + n_k) - (ell_k**2).sum() / (2 * c)


def grad_topic(ell_k, n_k, a0_k, u, s, c):
    return u.T @ (n_k - (a0_k + n_k) * sigma(u @ ell_k + s)) - ell_k / c


def hess_topic(ell_k, n_k, a0_k, u, s, c):
    psi = u @ ell_k + s
    return (u.T * ((a0_k + n_k) * sigma(psi) * sigma(-psi))) @ u + np.eye(len(ell_k)) / c


def optimal_s(n, a0, w):
    """The s (scalar) of one document at which sum_k a_k sigma(w_k + s) = N, by bisection."""
    if n.sum() == 0:
        return -np.inf
    low, high = -800.0, 800.0
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if (a0 + n) @ sigma(w + middle) < n.sum() else (low, middle)
    return middle


# Sticks and beta as one problem in a0 = beta p, at fixed q(Z) and alpha; S as from log_weight_sums


def a0_objective(a0, S, n_docs, alpha, kappa):
    beta = a0.sum()
    top = (alpha - 1) * np.log(a0[-1] / beta) + (kappa[0] - 1) * np.log(beta) - kappa[1] * beta
    return a0 @ S - n_docs * loggamma(a0).sum() + top


def grad_a0(a0, S, n_docs, alpha, kappa):
    last = np.arange(len(a0)) == len(a0) - 1
    return S - n_docs * digamma(a0) + last * (alpha - 1) / a0 + (kappa[0] - alpha) / a0.sum() - kappa[1]


def hess_a0(a0, S, n_docs, alpha, kappa):
    """Diagonal, and one number added everywhere: the terms meet only in beta = sum a0."""
    last = np.arange(len(a0)) == len(a0) - 1
    return np.diag(n_docs * polygamma(1, a0) + last * (alpha - 1) / a0**2) + (kappa[0] - alpha) / a0.sum() ** 2


# The exact evidence of a model small enough to count


def log_weight_moment(n, a0, w):
    """ln E prod_k theta_k^n_k, n integers (T,), Z and its sum integrated out.

    (sum Z)^-N = integral of e^{Ns} exp(-e^s sum Z) ds / Gamma(N) leaves one dimension, and the trapezoid rule on the
    whole line is exact to rounding for an integrand this smooth.
    """
    N = n.sum()
    if N == 0:
        return 0.0
    wide = np.abs(w).max()
    s = np.arange(-60 / N - wide, 60 / a0.sum() + wide, 0.1)
    psi = w[:, None] + s
    inside = (n[:, None] * psi - (a0 + n)[:, None] * softplus(psi)).sum(axis=0)
    return (loggamma(a0 + n) - loggamma(a0)).sum() - loggamma(N) + logsumexp(inside) + np.log(0.1)


def log_dirichlet_multinomial(counts, gamma_0):
    """ln p of sequences of tokens with these counts (T, V), one Dirichlet(gamma_0) integrated out per row."""
    total, V = counts.sum(axis=1), counts.shape[1]
    rows = loggamma(V * gamma_0) - loggamma(V * gamma_0 + total)
    return (rows + (loggamma(gamma_0 + counts) - loggamma(gamma_0)).sum(axis=1)).sum()


def exact_log_evidence(problem, q):
    """ln p(X | u, ell, sticks, beta), summed over every assignment of the tokens: T to the number of tokens."""
    M, V = problem.counts.shape
    docs, words = (np.repeat(index, problem.counts.ravel()) for index in np.divmod(np.arange(M * V), V))
    a0, w, T = q.a0, q.w, len(q.ell)
    parts = []
    for topics in product(range(T), repeat=len(docs)):
        n, tokens = np.zeros((M, T)), np.zeros((T, V))
        np.add.at(n, (docs, np.array(topics, int)), 1)
        np.add.at(tokens, (np.array(topics, int), words), 1)
        weights = sum(log_weight_moment(n[m], a0, w[m]) for m in range(M))
        parts.append(weights + log_dirichlet_multinomial(tokens, problem.gamma_0))
    return logsumexp(parts)
