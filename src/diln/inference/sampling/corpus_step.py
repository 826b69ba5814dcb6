"""The corpus' own draws, each given sums over documents: weights, locations, and what their priors leave open."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import digamma

from diln.inference.data import Array
from diln.inference.sampling.state import LEAST_WEIGHT, State
from diln.prob.tables import draw_tables, expected_tables

LONGEST = 1024  # columns of a histogram of tokens: what is longer is counted in the last


@dataclass(frozen=True, slots=True)
class Prior:
    """What is drawn and what is given; gamma priors as (shape, rate)."""

    n_dims: int = 0  # d; 0 for a model without locations
    learn_weights: bool = True  # whether a0 is drawn, or given
    prunes: bool = True  # whether topics that nobody uses may be dropped
    rate: float = 10.0  # of a0_k, whose shape is alpha / T
    alpha: tuple[float, float] | None = (1.0, 1.0)  # None: given
    topic_word: tuple[float, float] | None = None  # prior of gamma_0; None: given
    precision: tuple[float, float] | None = None  # prior of 1 / c; None: given
    covariance: float | None = None  # documents that the prior of log weights' covariance counts as; None: no such


@dataclass(slots=True)
class Sums:
    """What the weights need of documents."""

    histogram: Array  # (width, J) documents that have so many tokens of a topic; in column LONGEST - 1, or more
    softs: Array  # (width,) sum over documents of ln(1 + e^psi)
    score: float = 0.0  # sum over tokens of ln p(term | all other tokens)
    beyond: list[tuple[int, int]] = field(default_factory=list)  # topic and tokens where these are LONGEST or more


@dataclass(slots=True)
class Places:
    """What the topics' locations need of documents."""

    precision: Array  # (width, d(d+1)/2) sum omega u u', packed row by row
    linear: Array  # (d, width) sum ((n - a0)/2 - omega s) u


def draw_weights(state: State, sums: Sums, prior: Prior, rng: np.random.Generator) -> None:
    """a0 given the documents' tables, and before it alpha with a0 integrated out."""
    size = state.n_topics
    tables = draw_tables(sums.histogram[:size], state.a0[:size], rng)
    for k, n in sums.beyond:
        tables[k] += rng.poisson(tables_beyond(state.a0[k], n))
    state.alpha = draw_alpha(state, tables, sums.softs[:size], prior, rng)
    shape = state.alpha / state.truncation + tables  # G5
    state.a0[:size] = np.maximum(rng.standard_gamma(shape) / (prior.rate + sums.softs[:size]), LEAST_WEIGHT)


def tables_beyond(a: float, n: Any) -> Any:
    """Tables that guests from the last column of a histogram on are expected at: each has next to no chance of one."""
    return a * (digamma(a + n) - digamma(a + LONGEST - 1))


def expect_tables(sums: Sums, a0: Array) -> Array:
    """Expected tables of each topic (width,)."""
    tables = expected_tables(sums.histogram, a0)
    for k, n in sums.beyond:
        tables[k] += tables_beyond(a0[k], n)
    return tables


def draw_alpha(state: State, tables: Array, softs: Array, prior: Prior, rng: np.random.Generator) -> float:
    """Mass of the gamma process, given tables: t_k is negative binomial with shape alpha/T once a0_k is gone."""  # G6
    if prior.alpha is None:
        return state.alpha
    each = state.alpha / state.truncation
    histogram = np.bincount(np.minimum(tables, LONGEST - 1), minlength=LONGEST)[np.newaxis]
    used = draw_tables(histogram, np.array([each]), rng)[0]
    beyond = tables[tables >= LONGEST]
    used += rng.poisson(tables_beyond(each, beyond)).sum()
    return float(rng.gamma(prior.alpha[0] + used) / alpha_rate(state, softs, prior.rate, prior.alpha[1]))


def expect_alpha(state: State, tables: Array, softs: Array, prior: Prior) -> float:
    """Mean of ``draw_alpha``, for expected tables too."""
    if prior.alpha is None:
        return state.alpha
    each = state.alpha / state.truncation
    used = float((each * (digamma(each + tables) - digamma(each))).sum())
    return (prior.alpha[0] + used) / alpha_rate(state, softs, prior.rate, prior.alpha[1])


def alpha_rate(state: State, softs: Array, weight_rate: float, prior_rate: float) -> float:
    """Rate of alpha's gamma distribution, given tables of tables."""
    gone = state.truncation - len(softs)  # topics that were dropped, which have no table
    rest = np.log1p(softs / weight_rate).sum() + gone * np.log1p(softs.mean() / weight_rate)
    return float(prior_rate + rest / state.truncation)


def draw_locations(state: State, places: Places, rng: np.random.Generator) -> None:
    """ell_k from its Gaussian given the documents' places."""  # G4
    size, dims = state.n_topics, state.n_dims
    factors = np.linalg.cholesky(precisions(places, dims, state.variance)[:size])
    half = np.linalg.solve(factors, places.linear.T[:size, :, np.newaxis].astype(np.float64))
    noise = rng.standard_normal(half.shape)
    ells = np.linalg.solve(np.swapaxes(factors, 1, 2), half + noise)[:, :, 0]
    state.ells[:, :size] = ells.T


def draw_variance(state: State, prior: Prior, rng: np.random.Generator) -> None:
    """c given the topics' locations."""  # G7
    if prior.precision is None:
        return
    shape, rate = prior.precision
    ells = state.ells[:, : state.n_topics].astype(np.float64)
    state.variance = float((rate + (ells**2).sum() / 2) / rng.gamma(shape + ells.size / 2))


def precisions(places: Places, dims: int, variance: float) -> Array:
    """Precision matrices (width, d, d) of the topics' locations."""
    i, j = np.tril_indices(dims)
    matrices = np.zeros((len(places.precision), dims, dims))
    matrices[:, i, j] = matrices[:, j, i] = places.precision
    return matrices + np.eye(dims) / variance


def draw_topic_prior(state: State, prior: Prior, rng: np.random.Generator) -> None:
    """gamma_0 given all counts: tables of the entries, and a beta variable of each topic."""  # G8
    if prior.topic_word is None:
        return
    shape, rate = prior.topic_word
    table, totals = state.table[:, : state.n_topics], state.totals[: state.n_topics]
    whole = np.minimum(table, LONGEST - 1).astype(np.int64).ravel()
    histogram = np.bincount(whole, minlength=LONGEST)[np.newaxis]
    tables = draw_tables(histogram, np.array([state.prior]), rng)[0]
    beyond = table[table >= LONGEST].astype(np.float64)
    tables += rng.poisson(tables_beyond(state.prior, beyond)).sum()
    used = totals[totals > 0]
    left = np.log(np.maximum(rng.beta(state.n_terms * state.prior, used), np.finfo(float).tiny)).sum()
    state.prior = float(rng.gamma(shape + tables) / (rate - state.n_terms * left))
