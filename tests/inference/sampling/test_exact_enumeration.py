"""Posteriors so small that they can be written down, against what the sampler draws."""

from itertools import product

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln, logsumexp
from small import counted, counts_by_document, draw, empty_state, held, some_documents, some_state

from diln.engine.threads import Threads
from diln.inference.emissions.multinomial_draws import LONGEST, TopicCounts
from diln.inference.sampling.token_step import TokenSums, draw_tokens
from diln.inference.weights import gamma_process_draws
from diln.inference.weights.draws import Sweep
from diln.inference.weights.gamma_process_draws import GammaProcessDraws, draw_alpha, draw_weights
from diln.inference.weights.located_draws import draw_locations, draw_variance
from diln.inference.weights.place_kernels import PlaceSums
from diln.prob.polya_gamma import draw_polya_gamma
from diln.prob.streams import key_of

LEAST = 1e-4  # p-value of a test: of ten thousand right ones, one is lower
FAR = 4.5  # standard errors that a mean may be off


# All assignments of topics to the tokens of a corpus of two documents

COUNTS = np.array([[2, 1, 0], [0, 1, 2]])
WEIGHTS = np.array([0.4, 0.9])
GAMMA_0 = 0.5


def log_words(docs):
    """ln p(terms | topics), the topics' own distributions integrated out."""
    table, totals = counted(docs, 2)
    whole = gammaln(len(table) * GAMMA_0) - gammaln(len(table) * GAMMA_0 + totals)
    return whole.sum() + (gammaln(GAMMA_0 + table) - gammaln(GAMMA_0)).sum()


def log_rising(n):
    """ln p(topics of a document) up to a constant, without locations."""
    return (gammaln(WEIGHTS + n) - gammaln(WEIGHTS)).sum()


def statistics(docs, width):
    """Topics of tokens, whether two tokens share theirs, and tokens by document and topic, squared."""
    topics = docs.topics.astype(float)
    i, j = np.triu_indices(len(topics), 1)
    return np.concatenate([topics, topics[i] == topics[j], counts_by_document(docs, width)[:, :2].ravel() ** 2])


def exact_means():
    """Means of the statistics over all assignments."""
    docs = some_documents(np.random.default_rng(1), COUNTS, 2)
    logs, values = [], []
    for topics in product((0, 1), repeat=docs.tokens.size):
        docs.topics[:] = topics
        logs.append(log_words(docs) + sum(map(log_rising, counts_by_document(docs, 2))))
        values.append(statistics(docs, 2))
    return np.exp(np.array(logs) - logsumexp(logs)) @ np.array(values)


def errors(drawn, right, n_batches=40):
    """Standard errors, by the means of batches, that the mean of each column is off, and how large they are."""
    batches = drawn[: len(drawn) // n_batches * n_batches].reshape(n_batches, -1, drawn.shape[1]).mean(axis=1)
    error = batches.std(axis=0, ddof=1) / np.sqrt(n_batches)
    return (batches.mean(axis=0) - right) / error, error


def test_topics_of_lda_are_drawn_from_their_posterior():
    rng, drawn = np.random.default_rng(2), []
    docs = some_documents(rng, COUNTS, 2)
    state = some_state(rng, docs, 2, prior=GAMMA_0, a0=WEIGHTS)
    with Threads(1) as threads:
        for number in range(4_000):
            draw_tokens(state, held(docs, threads), key_of(2, number))
            drawn.append(statistics(docs, state.width))
    off, error = errors(np.array(drawn), exact_means())
    assert np.abs(off).max() < FAR
    assert error[:21].max() < 0.03


# Documents given the corpus: topics and places of many copies of one document

KNOWN = np.array([[4, 0], [1, 1], [0, 7]])  # tokens of terms in topics
WORDS = (KNOWN + GAMMA_0) / (KNOWN.sum(axis=0) + 3 * GAMMA_0)
LOCATIONS = np.array([1.5, -0.8])
COPIES, SWEEPS = 2_500, 15
U, S = np.linspace(-8, 8, 161), np.linspace(-40, 40, 401)


def exact_document(terms, ell):
    """Chances (2^N,) of all assignments, and those of u and s on their grids."""
    u, s = U[:, None, None], S[None, :, None]
    psi = ell * u + s
    logs = []
    for topics in product((0, 1), repeat=len(terms)):
        n = np.bincount(topics, minlength=2)
        gate = (n * psi - (WEIGHTS + n) * np.logaddexp(0, psi)).sum(axis=2) - u[:, :, 0] ** 2 / 2
        logs.append(gate + log_rising(n) + np.log(WORDS[terms, topics]).sum())
    p = np.exp(np.array(logs) - logsumexp(logs))
    return p.sum(axis=(1, 2)), p.sum(axis=(0, 2)), p.sum(axis=(0, 1))


def grid_cdf(grid, p):
    """Distribution function of chances on a grid: half of a point's own is below it."""
    return lambda x: np.interp(x, grid, np.cumsum(p) - p / 2)


def run_copies(row, n_dims):
    """Documents alike, each a chain of its own: tokens, then places, so many times."""
    rng = np.random.default_rng(3)
    docs = some_documents(rng, np.tile(row, (COPIES, 1)), 2, n_dims)
    state = some_state(rng, docs, 2, n_dims, prior=GAMMA_0, a0=WEIGHTS)
    state.counts.table[:, :2], state.counts.totals[:2] = KNOWN, KNOWN.sum(axis=0)
    state.weights.ells[:, :2] = LOCATIONS
    weights = GammaProcessDraws(exact=True)
    with Threads(1) as threads:
        for number in range(SWEEPS):
            draw(state, docs, key_of(3, number, 0), learning=False)
            weights.place(state, held(docs, threads), Sweep(number, None, 3, key_of(3, number, 1), rng))
    return docs


def p_values(docs, row, ell=LOCATIONS):
    """How likely the copies' assignments, locations and intercepts are under the exact posterior."""
    terms = np.repeat(np.arange(3), row)
    assignments, at_u, at_s = exact_document(terms, ell)
    numbers = docs.topics.reshape(COPIES, -1) @ 2 ** np.arange(len(terms))[::-1]
    seen = np.bincount(numbers, minlength=len(assignments))
    found = {"topics": stats.chisquare(seen, COPIES * assignments / assignments.sum()).pvalue}
    found["s"] = stats.kstest(docs.places.s, grid_cdf(S, at_s)).pvalue
    if docs.places.u.size:
        found["u"] = stats.kstest(docs.places.u[:, 0], grid_cdf(U, at_u)).pvalue
    return found


@pytest.mark.parametrize("row", [(1, 0, 0), (2, 1, 0), (0, 1, 3)])
@pytest.mark.parametrize("n_dims", [0, 1])
def test_topics_and_places_of_a_document_are_drawn_from_their_posterior(row, n_dims):
    found = p_values(run_copies(row, n_dims), row, n_dims * LOCATIONS)
    assert min(found.values()) > LEAST, found


def test_wrong_polya_gamma_numbers_are_seen_in_the_places(monkeypatch):
    row = (2, 1, 0)
    monkeypatch.setattr(gamma_process_draws, "draw_polya_gamma", lambda *given: 0.7 * draw_polya_gamma(*given))
    found = p_values(run_copies(row, 1), row)
    assert found["s"] < 1e-6
    assert found["u"] < 1e-6


def test_the_posterior_of_topics_is_another_without_locations():
    """Which is to say that the tests above would see them missing."""
    row = (2, 1, 0)
    assert p_values(run_copies(row, 0), row)["topics"] < 1e-6


# The corpus' own draws, each beside its density on a grid


def cdf_of(log_density, grid):
    """Distribution function of a density on a grid, which covers all of it."""
    logs = log_density(grid)
    p = np.exp(logs - logs.max())
    assert max(p[0], p[-1]) < 1e-3
    area = np.concatenate([[0.0], np.cumsum(np.diff(grid) * (p[1:] + p[:-1]) / 2)])
    return lambda x: np.interp(x, grid, area / area[-1])


TOKENS = np.array([1, 1, 2, 5, 9, 30])  # of a topic, in the documents that have any


def test_weights_are_drawn_from_their_posterior():
    """Topics are independent given alpha: as many chains of one weight each. Tables and weight in turn, 40 times."""
    size, softs, each, rate = 2_000, 3.0, 0.7, 1.5
    state = empty_state(3, size, alpha=each * size)
    sums = TokenSums(np.tile(np.bincount(TOKENS, minlength=32), (state.width, 1)), np.full(state.width, softs))
    rng, prior = np.random.default_rng(3), GammaProcessDraws(rate, None)
    for _ in range(40):
        draw_weights(state, sums, prior, rng)
    assert state.weights.alpha == each * size
    assert (state.weights.a0[size:] == 0).all()

    def log_density(x):
        rising = gammaln(x[:, None] + TOKENS) - gammaln(x[:, None])
        return (each - 1) * np.log(x) - (rate + softs) * x + rising.sum(axis=1)

    assert stats.kstest(state.weights.a0[:size], cdf_of(log_density, np.linspace(1e-6, 12, 20_001))).pvalue > LEAST


def test_weights_are_right_where_documents_are_longer_than_a_histogram_holds():
    """All that a sweep tells the weights of long documents, which have one topic only."""
    each, rate, n = 0.7, 1.5, np.array([LONGEST - 1, LONGEST, 3_000, 20_000, 20_000])
    rng, prior, drawn = np.random.default_rng(11), GammaProcessDraws(rate, None), []
    docs = some_documents(rng, n[:, np.newaxis], 1)
    state = some_state(rng, docs, 1, a0=1.0)
    docs.places.s[:], state.weights.alpha = np.log(n), each
    with Threads(1) as threads:
        sums = draw_tokens(state, held(docs, threads), key_of(11))
    for _ in range(1_000):
        draw_weights(state, sums, prior, rng)
        drawn.append(state.weights.a0[0])
    softs = np.logaddexp(0, docs.places.s.astype(float)).sum()
    grid = np.linspace(1e-6, 40, 20_001)
    logs = (each - 1) * np.log(grid) - (rate + softs) * grid
    logs += (gammaln(grid[:, None] + n) - gammaln(grid[:, None])).sum(axis=1)
    p = np.exp(logs - logs.max())
    assert max(p[0], p[-1]) < 1e-6
    assert np.mean(drawn) == pytest.approx(grid @ p / p.sum(), rel=0.1)


def alpha_state(n_topics, truncation):
    state = empty_state(3, n_topics)
    state.weights.truncation = truncation
    return state


def log_alpha(x, tables, softs, truncation, prior):
    """ln of the density of alpha with the weights integrated out; topics that were dropped have no table."""
    each = x[:, None] / truncation
    given = gammaln(each + tables) - gammaln(each) - each * np.log1p(softs / prior.rate)
    gone = (truncation - len(tables)) * each[:, 0] * np.log1p(softs.mean() / prior.rate)
    return (prior.alpha[0] - 1) * np.log(x) - prior.alpha[1] * x + given.sum(axis=1) - gone


@pytest.mark.parametrize("truncation", [5, 12])
def test_alpha_is_drawn_from_its_posterior(truncation):
    tables, softs = np.array([0, 1, 3, 20, 400]), np.array([0.5, 2.0, 4.0, 4.0, 30.0])
    prior, rng = GammaProcessDraws(2.0, (2.0, 0.5)), np.random.default_rng(4)
    state = alpha_state(5, truncation)
    drawn = []
    for _ in range(4_000):
        state.weights.alpha = draw_alpha(state.weights, tables, softs, prior, rng)
        drawn.append(state.weights.alpha)
    right = cdf_of(lambda x: log_alpha(x, tables, softs, truncation, prior), np.linspace(1e-6, 60, 20_001))
    assert stats.kstest(drawn[::5], right).pvalue > LEAST


def test_alpha_is_right_where_tables_are_more_than_a_histogram_holds():
    """The rest is a Poisson number of the right mean."""
    tables, softs = np.array([0, LONGEST - 2, LONGEST - 1, LONGEST, 40_000]), np.full(5, 2e4)
    prior, rng = GammaProcessDraws(2.0, (2.0, 0.5)), np.random.default_rng(5)
    state = alpha_state(5, 5)
    drawn = []
    for _ in range(4_000):
        state.weights.alpha = draw_alpha(state.weights, tables, softs, prior, rng)
        drawn.append(state.weights.alpha)
    grid = np.linspace(1e-6, 60, 20_001)
    logs = log_alpha(grid, tables, softs, 5, prior)
    p = np.exp(logs - logs.max())
    assert max(p[0], p[-1]) < 1e-6
    assert np.mean(drawn) == pytest.approx(grid @ p / p.sum(), rel=0.03)


def test_alpha_and_weights_without_documents_are_drawn_from_their_prior():
    """So many chains of five topics each: of alpha, and of the weights given it."""
    prior, rng = GammaProcessDraws(2.0, (5.0, 2.0)), np.random.default_rng(6)
    state = alpha_state(5, 5)
    sums = TokenSums(np.zeros((state.width, 2), np.int64), np.zeros(state.width))
    drawn = []
    for _ in range(2_000):
        draw_weights(state, sums, prior, rng)
        drawn.append([state.weights.alpha, state.weights.beta])
    alpha, beta = np.transpose(drawn)
    assert stats.kstest(alpha, stats.gamma(5, scale=0.5).cdf).pvalue > LEAST
    assert stats.kstest(stats.gamma.cdf(beta, alpha, scale=0.5), "uniform").pvalue > LEAST


@pytest.mark.parametrize("empty", [0, 2])
def test_the_prior_of_topics_is_drawn_from_its_posterior(empty):
    rng, counts = np.random.default_rng(7), TopicCounts.empty(30, 4 + empty, 0.3)
    counts.table[:, :4] = rng.poisson(rng.gamma(0.2, 20.0, (30, 4)))
    counts.totals[:] = counts.table.sum(axis=0)
    drawn = []
    for _ in range(4_000):
        counts.draw_prior(4 + empty, (3.0, 4.0), rng)
        drawn.append(counts.prior)

    def log_density(x):
        x = x[:, None, None]
        entries = (gammaln(x + counts.table[:, :4]) - gammaln(x)).sum(axis=(1, 2))
        whole = (gammaln(30 * x) - gammaln(30 * x + counts.totals[:4])).sum(axis=(1, 2))
        return 2.0 * np.log(x[:, 0, 0]) - 4.0 * x[:, 0, 0] + entries + whole

    assert stats.kstest(drawn[::5], cdf_of(log_density, np.linspace(1e-4, 1, 4_001))).pvalue > LEAST


def test_the_prior_of_topics_is_right_where_counts_are_more_than_a_histogram_holds():
    rng, counts = np.random.default_rng(8), TopicCounts.empty(5, 2, 0.3)
    counts.table[:, :2] = [[0, LONGEST - 1], [LONGEST, 5], [50_000, 0], [1, LONGEST - 2], [0, 20_000]]
    counts.totals[:] = counts.table.sum(axis=0)
    drawn = []
    for _ in range(4_000):
        counts.draw_prior(2, (1.0, 1.0), rng)
        drawn.append(counts.prior)
    grid = np.linspace(1e-4, 5, 20_001)
    table, x = counts.table[:, :2].astype(float), grid[:, None, None]
    logs = (gammaln(x + table) - gammaln(x)).sum(axis=(1, 2)) - grid
    logs += (gammaln(5 * x) - gammaln(5 * x + counts.totals[:2])).sum(axis=(1, 2))
    p = np.exp(logs - logs.max())
    assert np.mean(drawn) == pytest.approx(grid @ p / p.sum(), rel=0.03)


def some_places(rng, width, dims, n_docs=30):
    """What documents anywhere give, and each topic's precision matrix without its prior."""
    u, omega = rng.normal(size=(n_docs, dims)), rng.gamma(0.3, size=(n_docs, width))
    i, j = np.tril_indices(dims)
    matrices = np.einsum("mk,mi,mj->kij", omega, u, u)
    return PlaceSums(omega.T @ (u[:, i] * u[:, j]), rng.normal(size=(dims, width)) * 3), matrices


@pytest.mark.parametrize("dims", [1, 2, 4])
@pytest.mark.parametrize("variance", [1e-4, 0.5, 100.0])
def test_locations_are_drawn_from_their_gaussian(dims, variance):
    size, rng = 1_500, np.random.default_rng(9)
    state = empty_state(3, 5, variance=variance, n_dims=dims)
    places, matrices = some_places(rng, state.width, dims)
    white = np.empty((size, 5, dims))
    precisions = matrices[:5] + np.eye(dims) / variance
    means = np.linalg.solve(precisions, places.linear.T[:5, :, None])[:, :, 0]
    factors = np.linalg.cholesky(precisions)
    for number in range(size):
        draw_locations(state, places, rng)
        white[number] = np.einsum("ki,kij->kj", state.weights.ells[:, :5].T - means, factors)
    assert state.weights.variance == variance
    assert (state.weights.ells[:, 5:] == 0).all()
    assert stats.kstest(white.ravel(), "norm").pvalue > LEAST
    flat = white.reshape(size, -1)
    np.testing.assert_allclose(flat.mean(axis=0), 0, atol=FAR / np.sqrt(size))
    correlation = flat.T @ flat / size
    np.testing.assert_allclose(correlation, np.eye(5 * dims), atol=FAR * np.sqrt(2 / size))


def test_their_variance_is_drawn_from_its_posterior_given_them():
    rng = np.random.default_rng(10)
    state = empty_state(3, 5, n_dims=2)
    places, _ = some_places(rng, state.width, 2)
    uniform = []
    for _ in range(2_000):
        draw_locations(state, places, rng)
        draw_variance(state, (6.0, 5.0), rng)
        rate = 5.0 + (state.weights.ells.astype(float) ** 2).sum() / 2
        uniform.append(stats.gamma.cdf(1 / state.weights.variance, 6.0 + 5, scale=1 / rate))
    assert stats.kstest(uniform, "uniform").pvalue > LEAST
