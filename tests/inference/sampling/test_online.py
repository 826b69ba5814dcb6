"""Stochastic steps move every sum towards what a mini-batch says, scaled to the documents that the model stands for."""

import numpy as np
import pytest
from diln.inference.sampling.corpus_step import Prior, draw_alpha, expect_alpha, precisions
from diln.inference.sampling.online import Running, move, scatter, settle_weights, step
from diln.inference.sampling.sweep import add_places, add_sums
from diln.inference.sampling.visit import visit
from scipy.sparse import csr_array

from diln.engine.threads import Threads
from diln.inference.sampling.state import SampledDocuments, State
from diln.inference.sampling.tokens import Tokens
from diln.prob.tables import expected_tables

TERMS, TOPICS, DIMS = 25, 5, 2


@pytest.fixture
def corpus():
    """A corpus in the midst of learning, and the sums it goes on from."""
    rng = np.random.default_rng(0)
    state = State.empty(TERMS, TOPICS, rng.gamma(1.0, 0.3, TOPICS), 0.1, 2.0, 0.5)
    state.open(DIMS, 0.7, rng)
    state.table[:, :TOPICS] = rng.gamma(0.3, 20, (TERMS, TOPICS))
    state.totals[:] = state.table.sum(axis=0, dtype=np.float64)
    squares = rng.normal(size=(state.width, 40, DIMS))
    i, j = np.tril_indices(DIMS)
    running = Running(
        rng.gamma(5, 3, state.width), rng.gamma(5, 9, state.width),
        np.einsum("tmi,tmj->tij", squares, squares)[:, i, j], rng.normal(size=(DIMS, state.width)),
    )  # fmt: skip
    return state, running


def counts_of(n_docs, seed=1):
    return csr_array(np.random.default_rng(seed).poisson(0.6, (n_docs, TERMS)).astype(np.int32))


def documents(counts, dims=DIMS):
    return SampledDocuments.new(Tokens.of(counts), dims, np.arange(counts.shape[0]))


def test_scatter_adds_a_share_for_every_token_and_draw():
    counts = counts_of(9)
    tokens = Tokens.of(counts)
    late = np.random.default_rng(2).integers(0, TOPICS, (3, tokens.size)).astype(np.uint16)
    table, expected = np.zeros((TERMS, 16), np.float32), np.zeros((TERMS, 16))
    scatter(tokens.indptr, tokens.indices, tokens.counts, tokens.starts, late, 0.25, table)
    for row in late:
        np.add.at(expected, (np.repeat(tokens.indices, tokens.counts), row), 0.25)
    assert np.allclose(table, expected)


def test_a_step_moves_every_sum_by_rho_towards_the_scaled_means_of_the_draws(corpus):
    state, running = corpus
    before, sums_before = state.copy(), running.chosen(np.arange(TOPICS), 1.0)
    docs = documents(counts_of(40))
    with Threads(1) as threads:
        visited = visit(state, docs, (3, 4), 8, 3, threads)
    move(state, running, visited, 0.2, 10.0)
    tokens, mean = docs.tokens, np.zeros((TERMS, state.width))
    for row in visited.late:
        np.add.at(mean, (np.repeat(tokens.indices, tokens.counts), row), 1 / 5)
    assert np.allclose(state.table, 0.8 * before.table + 0.2 * 10 * mean, rtol=1e-5)
    assert np.allclose(state.totals, state.table.sum(axis=0), rtol=1e-4)
    tables = expected_tables(visited.sums.histogram, before.a0) / 5
    assert np.allclose(running.tables[:TOPICS], (0.8 * sums_before.tables + 2 * tables)[:TOPICS])
    assert np.allclose(running.softs[:TOPICS], (0.8 * sums_before.softs + 2 * visited.sums.softs / 5)[:TOPICS])
    assert np.allclose(running.linear[:, :TOPICS], (0.8 * sums_before.linear + 0.4 * visited.found.linear)[:, :TOPICS])


def test_weights_and_locations_are_the_means_given_the_sums(corpus):
    state, running = corpus
    settle_weights(state, running, Prior(n_dims=DIMS, rate=3.0))
    expected = (state.alpha / TOPICS + running.tables) / (3.0 + running.softs)
    assert np.allclose(state.a0[:TOPICS], expected[:TOPICS])
    assert not state.a0[TOPICS:].any()
    for k in range(TOPICS):
        full = precisions(type("P", (), {"precision": running.precision})(), DIMS, state.variance)[k]
        assert np.allclose(state.ells[:, k], np.linalg.solve(full, running.linear[:, k]), rtol=1e-5)


def test_alpha_goes_to_the_mean_of_its_draws(corpus):
    state, running = corpus
    tables, softs, prior = np.array([40, 3, 0, 1, 2500]), running.softs[:TOPICS], Prior(rate=3.0, alpha=(2.0, 0.5))
    rng = np.random.default_rng(4)
    draws = [draw_alpha(state, tables, softs, prior, rng) for _ in range(4000)]
    error = np.std(draws) / np.sqrt(len(draws))
    assert abs(np.mean(draws) - expect_alpha(state, tables, softs, prior)) < 4 * error
    running.tables[:TOPICS] = tables
    expected = expect_alpha(state, tables, softs, prior)
    settle_weights(state, running, prior)
    assert state.alpha == expected


def test_alpha_that_is_given_stays(corpus):
    state, running = corpus
    before = state.alpha
    settle_weights(state, running, Prior(n_dims=DIMS, alpha=None))
    assert state.alpha == before


def test_weights_that_are_given_stay(corpus):
    state, running = corpus
    before = state.a0.copy()
    settle_weights(state, running, Prior(n_dims=DIMS, learn_weights=False))
    assert np.array_equal(state.a0, before)


def test_the_sums_of_all_batches_are_the_sum_of_all_documents(corpus):
    """Each document's draws are its own, so a visit of the parts is a visit of the whole."""
    state, _ = corpus
    counts = counts_of(300)
    with Threads(1) as threads:
        whole = visit(state, documents(counts), (1,), 6, 2, threads)
        parts = []
        for first in range(0, 300, 64):
            rows = csr_array(counts[first : first + 64])
            docs = SampledDocuments.new(Tokens.of(rows), DIMS, np.arange(first, first + rows.shape[0]))
            parts.append(visit(state, docs, (1,), 6, 2, threads))
    assert np.array_equal(np.hstack([part.late for part in parts]), whole.late)
    assert np.array_equal(add_sums([part.sums for part in parts]).histogram, whole.sums.histogram)
    assert np.allclose(add_places([part.found for part in parts]).precision, whole.found.precision, rtol=1e-5)


def test_steps_are_the_same_bits_for_any_number_of_threads(corpus):
    outcomes = []
    for n_jobs in (1, 2, 4):
        state, running = corpus[0].copy(), corpus[1].chosen(np.arange(TOPICS), 1.0)
        with Threads(n_jobs) as threads:
            for number in range(3):
                step(state, running, counts_of(400, number), (7, number), 0.3, 2.0, Prior(n_dims=DIMS), threads)
        outcomes.append((state, running))
    for state, running in outcomes[1:]:
        assert np.array_equal(state.table, outcomes[0][0].table)
        assert np.array_equal(state.ells, outcomes[0][0].ells)
        assert np.array_equal(running.linear, outcomes[0][1].linear)


def test_running_sums_follow_their_topics(corpus):
    _, running = corpus
    chosen = running.chosen(np.array([3, 1]), 2.0)
    assert np.array_equal(chosen.tables[:2], 2 * running.tables[[3, 1]])
    assert np.array_equal(chosen.linear[:, :2], 2 * running.linear[:, [3, 1]])
    assert len(chosen.tables) == 16 and not chosen.tables[2:].any()
