"""Stochastic steps move every sum towards what a mini-batch says, scaled to the documents that the model stands for."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from small import docs_of, empty_state, held, terms_of

from diln.engine.threads import Threads
from diln.inference.data import Tokens
from diln.inference.posterior import OnlineStep
from diln.inference.sampling.documents import pieces
from diln.inference.sampling.posterior import BURN, DRAWS, SampledPosterior
from diln.inference.sampling.state import SampledDocuments
from diln.inference.sampling.token_step import TokenDrawing, added, draw_shard
from diln.inference.weights.dirichlet_draws import DirichletDraws
from diln.inference.weights.draws import Sweep
from diln.inference.weights.gamma_process_draws import GatedSums, draw_alpha, expect_alpha
from diln.inference.weights.located_draws import LocatedDraws, precisions
from diln.inference.weights.place_kernels import PLACES_EVERY, Places
from diln.prob.streams import key_of
from diln.prob.tables import expected_tables

TERMS, TOPICS, DIMS = 25, 5, 2
LOCATED = LocatedDraws(n_dims=DIMS)


@pytest.fixture
def corpus():
    """A corpus in the midst of learning, and the sums it goes on from."""
    rng = np.random.default_rng(0)
    state = empty_state(TERMS, TOPICS, rng.gamma(1.0, 0.3, TOPICS), 0.1, 2.0, 0.5, DIMS)
    state.weights.ells[:, :TOPICS] = 0.7 * rng.standard_normal((DIMS, TOPICS))
    state.counts.table[:, :TOPICS] = rng.gamma(0.3, 20, (TERMS, TOPICS))
    state.counts.totals[:] = state.counts.table.sum(axis=0, dtype=np.float64)
    squares = rng.normal(size=(state.width, 40, DIMS))
    i, j = np.tril_indices(DIMS)
    sums = GatedSums(
        rng.gamma(5, 3, state.width), rng.gamma(5, 9, state.width),
        np.einsum("tmi,tmj->tij", squares, squares)[:, i, j], rng.normal(size=(DIMS, state.width)),
    )  # fmt: skip
    return state, sums


def counts_of(n_docs, seed=1):
    return csr_array(np.random.default_rng(seed).poisson(0.6, (n_docs, TERMS)).astype(np.int32))


def documents(counts, first=0):
    n_docs = counts.shape[0]
    places = Places(np.zeros((n_docs, DIMS), np.float32), np.zeros(n_docs, np.float32))
    return SampledDocuments.new(Tokens.of(counts), places, np.arange(first, first + n_docs))


def plain_tables(tokens, late, a0):
    """Expected tables (width,) of all draws, by a histogram of the tokens that documents have of each topic."""
    histogram = np.zeros((len(a0), 200), np.int64)
    for row in late:
        n = np.zeros((tokens.n_docs, len(a0)), int)
        np.add.at(n, (docs_of(tokens), row), 1)
        np.add.at(histogram, (np.nonzero(n)[1], n[n > 0]), 1)
    return expected_tables(histogram, a0)


def visited(state, docs, key, draws, burn, threads):
    given = LOCATED.visiting(state, key, draws, burn)
    return LOCATED.visited(state, LOCATED.visit(given, docs, LOCATED.piece_size(len(docs)), threads))


def in_turn(state, docs, key, draws, burn, threads):
    """A visit of all documents at once: tokens, and every other time places, drawn as a sweep draws them."""
    late, scores, softs, places = [], [], [], []
    for time in range(draws):
        given = TokenDrawing(state.weights.record(state.width), state.counts.record, key_of(*key, time, 0))
        found = added(list(threads.map(draw_shard, [docs.shard(*one) for one in pieces(len(docs))], given)))
        if time >= burn:
            late.append(docs.topics.copy())
            scores.append(found.score)
            softs.append(found.softs)
        if time % PLACES_EVERY:
            placed = LOCATED.place(state, held(docs, threads), Sweep(0, None, 0, key_of(*key, time, 1), None))
            places += [placed] if time >= burn else []
    share = (draws - burn) / len(places)
    precision, linear = (share * sum(parts) for parts in zip(*places, strict=True))
    tables = plain_tables(docs.tokens, late, state.weights.a0)
    return np.array(late), sum(scores), GatedSums(tables, sum(softs), precision, linear)


def test_a_visit_draws_tokens_and_places_in_turn_and_counts_the_late_draws(corpus):
    state, _ = corpus
    docs, others = documents(counts_of(200)), documents(counts_of(200))
    with Threads(1) as threads:
        found = visited(state, docs, (3, 4), 8, 3, threads)
        late, score, sums = in_turn(state, others, (3, 4), 8, 3, threads)
    assert found.late.shape == (5, docs.tokens.size)
    np.testing.assert_array_equal(found.late, late)
    assert found.score == pytest.approx(score, rel=1e-6)
    np.testing.assert_allclose(docs.places.u, others.places.u, rtol=1e-3, atol=1e-4)
    for name, right in sums.tensors().items():
        mine = getattr(found.sums, name)
        np.testing.assert_allclose(mine, right, rtol=1e-5, atol=1e-5 * np.abs(right).max(), err_msg=name)


def test_a_step_moves_every_sum_by_rho_towards_the_scaled_means_of_the_draws(corpus):
    state, sums = corpus
    before, sums_before, counts = state.copy(), sums.copy(), counts_of(40)
    docs, posterior = documents(counts), SampledPosterior(state, sums, LOCATED, 3)
    with Threads(1) as threads:
        found = visited(before, docs, (3, 4), DRAWS, BURN, threads)
        score = posterior.learn(counts, OnlineStep(4, 0.2, 10.0, 50, 1e-3), threads)
    tokens, mean, late = docs.tokens, np.zeros((TERMS, state.width)), DRAWS - BURN
    for row in found.late:
        np.add.at(mean, (terms_of(tokens), row), 1 / late)
    assert score == found.score / (tokens.size * late)
    assert np.allclose(state.counts.table, 0.8 * before.counts.table + 0.2 * 10 * mean, rtol=1e-5)
    assert np.allclose(state.counts.totals, state.counts.table.sum(axis=0), rtol=1e-4)
    tables = plain_tables(tokens, found.late, before.weights.a0) / late
    assert np.allclose(sums.tables, 0.8 * sums_before.tables + 2 * tables)
    assert np.allclose(sums.softs, 0.8 * sums_before.softs + 2 * found.sums.softs / late)
    assert np.allclose(sums.precision, 0.8 * sums_before.precision + 2 * found.sums.precision / late)
    assert np.allclose(sums.linear, 0.8 * sums_before.linear + 2 * found.sums.linear / late)
    LOCATED.learn(before, sums)
    assert np.array_equal(state.weights.a0, before.weights.a0)
    assert np.array_equal(state.weights.ells, before.weights.ells)


def test_weights_and_locations_are_the_means_given_the_sums(corpus):
    state, sums = corpus
    LocatedDraws(rate=3.0, n_dims=DIMS).learn(state, sums)
    expected = (state.weights.alpha / TOPICS + sums.tables) / (3.0 + sums.softs)
    assert np.allclose(state.weights.a0[:TOPICS], expected[:TOPICS])
    assert not state.weights.a0[TOPICS:].any()
    for k in range(TOPICS):
        full = precisions(sums.precision, state.weights)[k]
        assert np.allclose(state.weights.ells[:, k], np.linalg.solve(full, sums.linear[:, k]), rtol=1e-5)


def test_precision_matrices_are_unpacked_and_have_their_prior(corpus):
    state, sums = corpus
    (a, b, c), found = sums.precision[1], precisions(sums.precision, state.weights)
    np.testing.assert_allclose(found[1], [[a + 2, b], [b, c + 2]])  # c of locations is 0.5


def test_alpha_goes_to_the_mean_of_its_draws(corpus):
    state, sums = corpus
    tables, softs = np.array([40, 3, 0, 1, 2500]), sums.softs[:TOPICS]
    prior = LocatedDraws(rate=3.0, alpha=(2.0, 0.5), n_dims=DIMS)
    rng = np.random.default_rng(4)
    draws = [draw_alpha(state.weights, tables, softs, prior, rng) for _ in range(4000)]
    error = np.std(draws) / np.sqrt(len(draws))
    expected = expect_alpha(state.weights, tables, softs, prior)
    assert abs(np.mean(draws) - expected) < 4 * error
    sums.tables[:TOPICS] = tables
    prior.learn(state, sums)
    assert state.weights.alpha == expected


def test_alpha_that_is_given_stays(corpus):
    state, sums = corpus
    LocatedDraws(alpha=None, n_dims=DIMS).learn(state, sums)
    assert state.weights.alpha == 2.0


def test_weights_that_are_given_stay(corpus):
    state, sums = corpus
    before = state.weights.a0.copy()
    DirichletDraws().learn(state, sums)
    assert np.array_equal(state.weights.a0, before)


def test_the_sums_of_all_batches_are_the_sum_of_all_documents(corpus):
    """Each document's draws are its own, so a visit of the parts is a visit of the whole."""
    state, _ = corpus
    counts = counts_of(300)
    with Threads(1) as threads:
        whole = visited(state, documents(counts), (1,), 6, 2, threads)
        parts = []
        for first in range(0, 300, 64):
            docs = documents(csr_array(counts[first : first + 64]), first)
            parts.append(visited(state, docs, (1,), 6, 2, threads))
    assert np.array_equal(np.hstack([part.late for part in parts]), whole.late)
    assert sum(part.score for part in parts) == pytest.approx(whole.score, rel=1e-9)
    total = parts[0].sums
    for part in parts[1:]:
        total.move(part.sums, 1.0, 1.0)
    for name, rtol in (("tables", 1e-10), ("softs", 1e-10), ("precision", 1e-5), ("linear", 1e-4)):
        found, right = getattr(total, name), getattr(whole.sums, name)
        np.testing.assert_allclose(found, right, rtol=rtol, atol=rtol * np.abs(right).max(), err_msg=name)


def test_steps_are_the_same_bits_for_any_number_of_threads(corpus):
    outcomes = []
    for n_jobs in (1, 2, 4):
        posterior = SampledPosterior(corpus[0].copy(), corpus[1].copy(), LOCATED, 7)
        with Threads(n_jobs) as threads:
            for number in range(3):
                posterior.learn(counts_of(400, number), OnlineStep(number, 0.3, 2.0, 50, 1e-3), threads)
        outcomes.append(posterior.tensors())
    for other in outcomes[1:]:
        for name, array in outcomes[0].items():
            np.testing.assert_array_equal(other[name], array, err_msg=name)


def test_sums_follow_their_topics(corpus):
    _, sums = corpus
    chosen = sums.chosen(np.array([3, 1]))
    chosen.scale(2.0)
    assert np.array_equal(chosen.tables[:2], 2 * sums.tables[[3, 1]])
    assert np.array_equal(chosen.precision[:2], 2 * sums.precision[[3, 1]])
    assert np.array_equal(chosen.linear[:, :2], 2 * sums.linear[:, [3, 1]])
    assert len(chosen.tables) == 16
    assert not chosen.tables[2:].any()
