"""Draws of documents' log weights, and of their mean and covariance, against NumPy twins and known distributions."""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize_scalar
from scipy.special import expit, logsumexp, softmax
from small import counts_by_document, draw, held, part_of, record, some_counts, some_documents, some_state, whole

from diln.engine.lanes import LANES
from diln.engine.threads import Threads
from diln.inference.data import TermCounts
from diln.inference.sampling.documents import TOGETHER, Share, pieces
from diln.inference.variational.posterior import first_beliefs
from diln.inference.weights import gaussian_draws
from diln.inference.weights.gaussian import GaussianWeights
from diln.inference.weights.gaussian_draws import (
    FIRST,
    LIFT,
    UNSEEN,
    FirstWeights,
    GaussianDraws,
    GaussianState,
    added_moments,
    draw_first_log_weights,
    draw_gaussian,
    log_weight_drawing,
    weigh_shard,
)
from diln.inference.weights.log_weight_kernels import (
    SCALE,
    Gaussian,
    LogWeightRoom,
    LogWeights,
    add_logs,
    bell,
    chance_of,
    draw_entering,
    draw_log_weights,
    find_mode,
    gather_moments,
    lay_out,
    open_wide,
)
from diln.prob.streams import fill_normals, key_of, stream

LEAST = 1e-4  # p-value of a test: of ten thousand right ones, one is lower
ONE = Threads(1)


def some_gaussian(rng, size):
    root = rng.normal(size=(size, size))
    return rng.normal(size=size), root @ root.T / size + 0.3 * np.eye(size)


def draw_all_log_weights(state, docs, key, engine):
    """Draw every document's log weights given its tokens' topics; returns the sum of (1, eta)(1, eta)'."""
    shards = [docs.shard(*one) for one in pieces(len(docs))]
    return added_moments(list(engine.map(weigh_shard, shards, log_weight_drawing(state, key))))


def closed(seed, n_docs=11, size=5, empty=(2,)):
    """A state whose documents have no log weights yet, the documents, and what the rest is drawn from."""
    rng = np.random.default_rng(seed)
    docs = some_documents(rng, some_counts(rng, n_docs, 30, empty=empty), size)
    return some_state(rng, docs, size), docs, rng


def weigh(state, docs, mean, covariance, eta):
    """Give documents log weights (n_docs, n_topics)."""
    state.weights = GaussianState(np.array(mean, float), np.array(covariance, float))
    docs.places = LogWeights(np.zeros((len(docs), state.width), np.float32))
    docs.places.eta[:, : state.n_topics] = eta


def weighed(seed, n_docs=11, size=5, empty=(2,), spread=1.0):
    """A state whose documents have log weights, and the documents."""
    state, docs, rng = closed(seed, n_docs, size, empty)
    weigh(state, docs, *some_gaussian(rng, size), spread * rng.normal(size=(n_docs, size)))
    return state, docs


def laid_out(state, docs, key):
    """Precision, and all documents laid out."""
    room = LogWeightRoom(np.zeros((len(docs), state.width), np.float32), *np.zeros((4, len(docs), state.n_topics)))
    known = Gaussian(state.weights.mean, np.linalg.inv(state.weights.covariance))
    lay_out(whole(docs), 0, len(docs), known, key, room)
    return known.precision, room


@pytest.mark.parametrize("size", [1, 2, 5, 20])
def test_documents_are_laid_out_as_numpy_says(size):
    state, docs = weighed(size, size=size)
    precision, room = laid_out(state, docs, key_of(1))
    np.testing.assert_array_equal(room.n, counts_by_document(docs, state.width))
    np.testing.assert_array_equal(room.eta, docs.places.eta[:, :size])
    np.testing.assert_allclose(room.pull, (room.eta - state.weights.mean) @ precision, rtol=1e-9, atol=1e-9)


def test_random_numbers_are_logistic_and_uniform_and_none_is_used_twice():
    state, docs = weighed(0, n_docs=400, size=20)
    *_, bells, chances = laid_out(state, docs, key_of(1))[1]
    assert stats.kstest(bells.ravel(), "logistic").pvalue > LEAST
    assert stats.kstest(np.exp(chances.ravel()), "uniform").pvalue > LEAST
    assert len(np.unique(np.concatenate([expit(bells), np.exp(chances)]))) == 2 * bells.size
    assert abs(stats.spearmanr(bells.ravel(), chances.ravel()).statistic) < 0.05


def test_logarithms_and_chances_are_those_of_numpy_however_far_out():
    for a in (-np.inf, -1e5, -800.0, -3.0, 0.0, 0.7, 40.0, 800.0, 1e5):
        assert chance_of(a) == pytest.approx(expit(a), rel=1e-14)
        assert bell(a) == pytest.approx(stats.logistic.logpdf(a), rel=1e-14)
        for b in (-np.inf, -750.0, 0.0, 0.1, 750.0):
            assert add_logs(a, b) == pytest.approx(np.logaddexp(a, b), rel=1e-14)


def log_density(x, n, length, offset, rate, linear):
    return (n + linear) * x - length * np.logaddexp(0, x - offset) - rate * x * x / 2


def test_modes_are_those_that_an_optimiser_finds():
    rng = np.random.default_rng(0)
    for _ in range(500):
        length = float(rng.choice([1, 5, 100, 3000]))
        n = float(rng.choice([0, length, rng.integers(length + 1)]))
        rate, offset = rng.gamma(1.0, 1.0) + 0.05, 3 * rng.normal()
        given = (n, length, offset, rate, rate * (offset - 3 + 4 * rng.normal()))
        mode, bend = find_mode(*given)
        best = minimize_scalar(lambda x, given=given: -log_density(x, *given), (mode - 1, mode + 1), tol=1e-10)
        assert abs(mode - best.x) * np.sqrt(bend) < 0.05, given
        share = expit(best.x - offset)
        assert bend == pytest.approx(rate + length * share * (1 - share), rel=0.05)


def plain_draws(state, lengths, room):
    """One log weight after the other, each given the others as they are by then."""
    n, eta, _, bells, chances = room
    eta, mean, precision = eta.copy(), state.weights.mean, np.linalg.inv(state.weights.covariance)
    for m in np.flatnonzero(lengths):
        for k in range(eta.shape[1]):
            rest = np.delete(np.arange(eta.shape[1]), k)
            linear = precision[k, k] * mean[k] - precision[k, rest] @ (eta[m, rest] - mean[rest])
            given = (float(n[m, k]), lengths[m], logsumexp(eta[m, rest]), precision[k, k], linear)
            given = given if len(rest) else (0.0, 0.0, 0.0, *given[3:])
            mode, bend = find_mode(*given)
            proposal = stats.logistic(mode, SCALE / np.sqrt(bend))
            new = mode + SCALE / np.sqrt(bend) * bells[m, k]
            before, after = (log_density(x, *given) - proposal.logpdf(x) for x in (eta[m, k], new))
            eta[m, k] = new if chances[m, k] <= after - before else eta[m, k]
    return eta


@pytest.mark.parametrize(("size", "spread"), [(1, 1.0), (2, 1.0), (5, 1e-9), (20, 1.0), (7, 9.0), (3, 1000.0)])
def test_draws_are_those_of_a_plain_loop(size, spread):
    state, docs = weighed(size, size=size, spread=spread)
    precision, room = laid_out(state, docs, key_of(2))
    lengths = np.diff(docs.tokens.starts).astype(float)
    with np.errstate(divide="ignore"):
        expected = plain_draws(state, lengths, room)
    draw_log_weights(docs.tokens.starts, 0, len(docs), precision, room)
    np.testing.assert_allclose(room.eta, expected, rtol=1e-7, atol=1e-7)
    full, off = lengths > 0, room.eta - state.weights.mean
    np.testing.assert_allclose(room.pull[full], (off @ precision)[full], rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(room.eta[2], docs.places.eta[2, :size])  # without tokens
    assert (room.eta[full] != docs.places.eta[full, :size]).mean() > 0.5


def test_moments_are_those_of_documents_with_tokens():
    for n_docs in (1, 4, 7):
        _, docs = weighed(n_docs, n_docs=n_docs, empty=(0,) if n_docs > 1 else ())
        full = np.diff(docs.tokens.starts) > 0
        eta = np.zeros((8, 5))
        eta[:n_docs] = docs.places.eta[:, :5]
        out = np.ones((6, 6))
        gather_moments(docs.tokens.starts, 0, n_docs, eta, out)
        longer = np.hstack([np.ones((full.sum(), 1)), docs.places.eta[full, :5]])
        np.testing.assert_allclose(out, 1 + longer.T @ longer, rtol=1e-6)


def test_what_is_beyond_the_topics_has_no_weight():
    a0, eta, scale = np.zeros(LANES, np.float32), np.zeros(LANES, np.float32), np.empty(LANES, np.float32)
    a0[:3], eta[:3] = 1, [-500.0, -501.0, -600.0]
    open_wide(a0, eta, scale)
    np.testing.assert_allclose(scale[:3], np.exp([0.0, -1.0, -100.0]), rtol=1e-6, atol=1e-38)
    assert not scale[3:].any()


def test_tokens_are_drawn_by_log_weights_whatever_the_others_of_the_document_are():
    """One document given fixed topics: p(topic) is e^eta_k (n_kw + gamma_0)/(n_k + V gamma_0), token by token."""
    rng = np.random.default_rng(0)
    counts = np.full((1, 4), 5000)
    docs = some_documents(rng, counts, 3)
    state = some_state(rng, docs, 3, prior=0.3)
    state.counts.table[:, :3] = rng.integers(0, 50, (4, 3))
    state.counts.totals[:3] = state.counts.table[:, :3].sum(axis=0)
    table, eta = state.counts.table.copy(), np.array([0.5, -1.0, 0.2])
    weigh(state, docs, np.zeros(3), np.eye(3), eta)
    histogram, softs, score = draw(state, docs, key_of(5), learning=False)
    np.testing.assert_array_equal(state.counts.table, table)
    p = np.exp(eta) * (table[:, :3] + 0.3) / (state.counts.totals[:3] + 1.2)
    for w in range(4):
        found = np.bincount(docs.topics[5000 * w : 5000 * (w + 1)], minlength=3)
        assert stats.chisquare(found, 5000 * p[w] / p[w].sum()).pvalue > LEAST
    assert score == pytest.approx(5000 * np.log(p.sum(axis=1) / np.exp(eta).sum()).sum(), rel=1e-5)
    assert not histogram[:, 1:].any()
    assert not softs.any()


def alike(n, mean, covariance, n_docs, rng):
    """A state, and documents with the same n (n_topics,), whose log weights are drawn from the prior."""
    docs = some_documents(rng, np.full((n_docs, 1), sum(n)), len(n))
    docs.topics[:] = np.tile(np.repeat(np.arange(len(n)), n), n_docs)
    state = some_state(rng, docs, len(n))
    weigh(state, docs, mean, covariance, rng.multivariate_normal(mean, covariance, n_docs))
    return state, docs


def posterior_of_two(n, mean, covariance):
    """A grid of eta_1 - eta_2 of a document with n tokens of two topics, and the probability of each of its points."""
    grid = np.linspace(-40, 40, 40_001)
    centre, variance = mean[0] - mean[1], covariance[0][0] + covariance[1][1] - 2 * covariance[0][1]
    logs = -n[0] * np.logaddexp(0, -grid) - n[1] * np.logaddexp(0, grid) - (grid - centre) ** 2 / (2 * variance)
    p = np.exp(logs - logs.max())
    return grid, p / p.sum()


SKEW = ((1.5, -0.3), (-0.3, 0.8))
TWO = ((2, 0), (0, 2))
TWO_TOPICS = [
    ((3, 1), (0.3, -0.4), SKEW), ((0, 6), (0.3, -0.4), SKEW), ((40, 2), (0.3, -0.4), SKEW), ((30, 70), (0, 0), TWO),
    ((0, 200), (-4, 4), TWO), ((1, 200), (-4, 4), TWO), ((100, 100), (0, 0), TWO), ((0, 50), (-3, 3), TWO),
    ((0, 1000), (3, -3), ((0.5, 0), (0, 0.5))), ((0, 200), (0, 0), ((5, 0), (0, 5))),
]  # fmt: skip


@pytest.mark.parametrize(("n", "mean", "covariance"), TWO_TOPICS, ids=lambda one: str(one).replace(" ", ""))
def test_log_weights_of_two_topics_have_the_posterior_that_quadrature_finds(n, mean, covariance):
    state, docs = alike(n, mean, covariance, 2000, np.random.default_rng(1))
    for sweep in range(60):
        draw_all_log_weights(state, docs, key_of(3, sweep), ONE)
    grid, p = posterior_of_two(n, mean, covariance)
    found, centre = docs.places.eta[:, 0] - docs.places.eta[:, 1], p @ grid
    variance = p @ (grid - centre) ** 2
    assert stats.kstest(found, lambda x: np.interp(x, grid, np.cumsum(p))).pvalue > LEAST
    assert found.mean() == pytest.approx(centre, abs=0.09 * np.sqrt(variance))  # four standard errors
    assert found.var() == pytest.approx(variance, rel=0.18)
    _, prior = posterior_of_two((0, 0), mean, covariance)
    assert stats.kstest(found, lambda x: np.interp(x, grid, np.cumsum(prior))).pvalue < LEAST


def test_proposals_that_are_all_taken_are_seen(monkeypatch):
    def taking_all(*given):
        *known, room = given
        draw_log_weights(*known, room._replace(chances=np.full_like(room.chances, -np.inf)))

    monkeypatch.setattr(gaussian_draws, "draw_log_weights", taking_all)
    n, mean, covariance = (0, 200), (0, 0), ((5, 0), (0, 5))
    state, docs = alike(n, mean, covariance, 2000, np.random.default_rng(1))
    for sweep in range(60):
        draw_all_log_weights(state, docs, key_of(3, sweep), ONE)
    grid, p = posterior_of_two(n, mean, covariance)
    assert (
        stats.kstest(docs.places.eta[:, 0] - docs.places.eta[:, 1], lambda x: np.interp(x, grid, np.cumsum(p))).pvalue
        < LEAST
    )


@pytest.mark.parametrize("n", [(4, 0, 1), (0, 60, 20)])
def test_log_weights_of_three_topics_have_the_moments_that_quadrature_finds(n):
    covariance = [[2.0, 0.9, -0.4], [0.9, 1.5, 0.2], [-0.4, 0.2, 1.0]]
    state, docs = alike(n, [0.5, -0.2, 0.0], covariance, 3000, np.random.default_rng(2))
    for sweep in range(60):
        draw_all_log_weights(state, docs, key_of(4, sweep), ONE)
    less = np.array([[1, 0, -1], [0, 1, -1]])
    axis = np.linspace(-12, 10, 500)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    logs = grid @ np.array(n[:2]) - sum(n) * logsumexp(np.hstack([grid, np.zeros((len(grid), 1))]), axis=1)
    p = softmax(logs + stats.multivariate_normal(less @ state.weights.mean, less @ covariance @ less.T).logpdf(grid))
    centre = p @ grid
    spread = (grid - centre).T @ ((grid - centre) * p[:, np.newaxis])
    found = docs.places.eta[:, :3] @ less.T
    deviations = np.sqrt(np.diag(spread))
    np.testing.assert_array_less(np.abs(found.mean(axis=0) - centre), 0.08 * deviations)
    scale = np.outer(deviations, deviations)
    np.testing.assert_allclose(np.cov(found.T) / scale, spread / scale, atol=0.15)


def test_most_proposals_are_taken():
    rng = np.random.default_rng(5)
    n_docs, size = 300, 20
    covariance = 4 * some_gaussian(rng, size)[1]
    eta = rng.multivariate_normal(np.zeros(size), covariance, n_docs)
    docs = some_documents(rng, np.full((n_docs, 1), 150), size)
    docs.topics[:] = np.concatenate([rng.choice(size, 150, p=softmax(one)) for one in eta])
    state = some_state(rng, docs, size)
    weigh(state, docs, np.zeros(size), covariance, eta)
    taken = []
    for sweep in range(10):
        before = docs.places.eta.copy()
        draw_all_log_weights(state, docs, key_of(5, sweep), ONE)
        taken.append((docs.places.eta != before)[:, :size].mean())
    assert 0.8 < np.mean(taken) < 1


def test_the_number_of_threads_and_the_other_documents_change_no_draw():
    state, docs = weighed(3, n_docs=3 * TOGETHER, empty=(0, 40))
    _, again = weighed(3, n_docs=3 * TOGETHER, empty=(0, 40))
    moments = draw_all_log_weights(state, docs, key_of(6), ONE)
    with Threads(3) as three:
        np.testing.assert_array_equal(draw_all_log_weights(state, again, key_of(6), three), moments)
    np.testing.assert_array_equal(again.places.eta, docs.places.eta)
    _, few = weighed(3, n_docs=3 * TOGETHER, empty=(0, 40))
    few = part_of(few, 0, 50)
    draw_all_log_weights(state, few, key_of(6), ONE)
    np.testing.assert_array_equal(few.places.eta, docs.places.eta[:50])


def test_mean_and_covariance_have_their_normal_inverse_wishart_posterior():
    rng = np.random.default_rng(0)
    eta = rng.multivariate_normal([1.0, -1.0, 0.0], some_gaussian(rng, 3)[1], 9)
    longer = np.hstack([np.ones((9, 1)), eta])
    moments, c, kappa = longer.T @ longer, 4.0, 0.5
    drawn = [draw_gaussian(moments, c, kappa, rng) for _ in range(4000)]
    means, sigmas = np.array([one[0] for one in drawn]), np.array([one[1] for one in drawn])
    centre = eta.sum(axis=0) / 9.5
    scale = c * np.eye(3) + eta.T @ eta - 9.5 * np.outer(centre, centre)
    degrees = 3 + 1 + c + 9
    np.testing.assert_allclose(sigmas, np.swapaxes(sigmas, 1, 2), atol=1e-12)
    np.testing.assert_allclose(sigmas.mean(axis=0), scale / (degrees - 4), rtol=0.1, atol=0.05)
    log_dets = np.linalg.slogdet(sigmas)[1]
    reference = stats.invwishart(degrees, scale).rvs(4000, random_state=1)
    assert stats.ks_2samp(log_dets, np.linalg.slogdet(reference)[1]).pvalue > LEAST
    assert stats.ks_2samp(sigmas[:, 0, 1], reference[:, 0, 1]).pvalue > LEAST
    scaled = (means - centre)[:, 0] * np.sqrt(9.5 / sigmas[:, 0, 0])
    assert stats.kstest(scaled, "norm").pvalue > LEAST


def test_log_weights_begin_by_the_documents_topics_and_a_level_that_differs():
    weights, (state, docs, _) = GaussianDraws(5.0), closed(7, n_docs=6, empty=(1,))
    assert weights.closed(state)
    playing = held(docs, size=4)
    weights.open(state, playing, (3,))
    docs = playing.held.shards[0]
    n, eta = counts_by_document(docs, state.width)[:, :5], docs.places.eta
    logs = np.log(n[:4] + UNSEEN)
    levels = np.random.default_rng([3]).standard_normal((4, 1)) / np.sqrt(5)
    np.testing.assert_allclose(eta[:4, :5], logs - logs.mean(axis=1, keepdims=True) + levels, rtol=1e-6, atol=1e-6)
    assert not eta[4:].any()  # who come in later
    np.testing.assert_array_equal(record(state).a0, np.arange(state.width) < 5)
    assert not weights.closed(state)
    assert np.linalg.eigvalsh(state.weights.covariance)[0] > 0
    order = np.array([3, 0, 4])
    fewer = state.chosen(order).weights
    np.testing.assert_array_equal(fewer.mean, state.weights.mean[order])
    np.testing.assert_array_equal(fewer.covariance, state.weights.covariance[np.ix_(order, order)])
    assert softmax(eta[0, :5]).argmax() == n[0].argmax()


def test_log_weights_of_a_start_leave_room_along_what_no_token_tells():
    """The prior's variance along (1, ..., 1) is 1; with all documents at one level it would begin near 0."""
    state, docs, _ = closed(4, n_docs=3000, empty=())
    GaussianDraws(5.0).open(state, held(docs), (4,))
    along = np.ones(5) / np.sqrt(5)
    assert along @ state.weights.covariance @ along == pytest.approx(1, abs=0.1)


def test_documents_that_come_in_are_from_the_prior_and_others_stay():
    state, docs = weighed(5, n_docs=6000, size=3)
    eta, before = docs.places.eta, docs.places.eta.copy()
    GaussianDraws().enter(state, held(docs, size=5000), Share(1000, 6000), (6,))
    np.testing.assert_array_equal(eta[:1000], before[:1000])
    np.testing.assert_array_equal(eta[5000:], before[5000:])
    assert not eta[:, 3:].any()
    root = np.linalg.cholesky(state.weights.covariance)
    off = np.linalg.solve(root, (eta[1000:5000, :3] - state.weights.mean).T)
    assert stats.kstest(off.ravel(), "norm").pvalue > LEAST
    np.testing.assert_allclose(np.cov(off), np.eye(3), atol=0.08)


def test_log_weights_of_a_document_that_comes_in_are_a_root_times_its_stream():
    rng, names, normals = np.random.default_rng(10), np.array([3, 900, 4], np.uint64), np.empty(7)
    mean, covariance = some_gaussian(rng, 7)
    root, eta = np.linalg.cholesky(covariance), np.full((3, 16), 2.0, np.float32)
    draw_entering(mean, root, key_of(1), names, eta)
    for m, name in enumerate(names):
        fill_normals(np.uint64(stream(key_of(1), name)), normals)
        np.testing.assert_allclose(eta[m, :7], mean + root @ normals, rtol=1e-6, atol=1e-6)
    assert (eta[:, 7:] == 2).all()


def test_documents_of_a_stream_begin_where_variational_inference_has_them():
    state, docs = weighed(8, n_docs=500, size=6, empty=(3,))
    tokens = docs.tokens
    first = FirstWeights(state.expected_topics, GaussianDraws().weights(state), key_of(9), state.width)
    draw_first_log_weights(first, docs, ONE)
    batch = TermCounts(tokens.indptr, tokens.indices, tokens.counts.astype(np.float32), tokens.n_terms)
    weights = GaussianWeights(state.weights.mean, state.weights.covariance, 1.0, lift=LIFT)
    found = first_beliefs(state.expected_topics, weights, batch, FIRST, ONE)
    off = (docs.places.eta[:, :6] - found.locations) / np.sqrt(found.spreads)
    assert stats.kstest(off.ravel(), "norm").pvalue > LEAST
    assert not docs.places.eta[:, 6:].any()
    some = part_of(docs, 0, 20)
    draw_first_log_weights(first, some, Threads(2))
    np.testing.assert_array_equal(some.places.eta, docs.places.eta[:20])  # whatever is visited with them
