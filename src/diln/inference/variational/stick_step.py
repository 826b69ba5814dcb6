"""The topics' weights in the corpus: sticks and concentrations that explain tables and lifts best, and their priors."""

import numpy as np
from scipy.special import gammaln

from diln.inference.data import Array

LEAST = 1e-8  # of a0: a topic that no document uses


def gamma_term(x: float, shape: float, rate: float) -> float:
    """Log density of Gamma(shape, rate) at x."""
    return float(shape * np.log(rate) - gammaln(shape) + (shape - 1) * np.log(x) - rate * x)


def stick_term(last: float, n_topics: int, alpha: float) -> float:
    """ln p(V | alpha) = (T-1) ln alpha + (alpha-1) ln p_T, since the product of all 1 - V_k is p_T."""
    return float((n_topics - 1) * np.log(alpha) + (alpha - 1) * np.log(last)) if n_topics > 1 else 0.0


def best_alpha(last: float, n_topics: int, alpha: float, prior: tuple[float, float]) -> float:
    """The alpha that maximises its terms of the bound; as it was if there are no sticks to learn it from."""  # D11
    counts = n_topics + prior[0] - 2
    return counts / (prior[1] - float(np.log(last))) if n_topics > 1 and counts > 0 else alpha


def best_a0(tables: Array, lifts: Array, a0: Array, alpha: float, prior: tuple[float, float]) -> Array:
    """The a0 = beta p that maximises sum_k t_k ln a0_k - a0_k h_k + (alpha-1) ln p_T + ln p(beta).

    Given beta, a0_k = t_k / (h_k + kappa_2 + (alpha - kappa_1)/beta), where t_T has alpha - 1 more; what is left is
    one equation in beta, decreasing and convex where a0 > 0: Newton's method rises to its one root from below. If
    alpha - 1 outweighs t_T, a0_T would go to 0 and stays as it is.                                          # D9
    """
    tables = np.maximum(tables, 1e-10)
    fixed = 0.0
    if len(a0) > 1:
        tables[-1] += alpha - 1
        if tables[-1] <= 0:
            fixed, tables[-1] = a0[-1], 0.0
    rates, excess = lifts + prior[1], (alpha if len(a0) > 1 else 1) - prior[0]
    beta = max(LEAST, -excess / rates[tables > 0].min(initial=np.inf) * (1 + 1e-12))
    for _ in range(200):
        parts = 1 / (rates * beta + excess)
        surplus = tables @ parts + fixed / beta - 1
        rise = surplus / (tables * rates @ parts**2 + fixed / beta**2)
        if not rise > 1e-14 * beta:
            break
        beta += rise
    best = tables / (rates + excess / beta)
    if fixed:
        best[-1] = fixed
    return np.asarray(np.maximum(best, LEAST))
