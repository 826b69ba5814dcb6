"""Pairs of topics are merged where that makes the state more probable, and only there."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import gammaln
from small import counted, counts_by_document, some_counts, some_documents, some_state

from diln.inference.sampling.chain import Chain
from diln.inference.sampling.corpus_step import Prior
from diln.inference.sampling.merge import alike, gains, join, merge, tokens_by_topic
from diln.inference.sampling.tokens import NO_TOPIC


def chain_of(counts, topics=None, n_topics=6, dims=2, seed=0):
    rng = np.random.default_rng(seed)
    docs = some_documents(rng, counts, n_topics, dims)
    if topics is not None:
        docs.topics[:] = topics
    state = some_state(rng, docs, n_topics, dims)
    return Chain(state, docs, Prior(n_dims=dims), 0, len(docs))


def joint(state, docs):
    """ln p(terms, topics), without the gate, up to what merging does not change."""
    size, prior = state.n_topics, state.prior
    table, totals = counted(docs, state.width)
    table, totals, a0 = table[:, :size], totals[:size], state.a0[:size]
    n = counts_by_document(docs, state.width)[:, :size]
    base = len(table) * prior
    value = (gammaln(table + prior) - gammaln(prior)).sum() - (gammaln(totals + base) - gammaln(base)).sum()
    return value + (gammaln(a0 + n) - gammaln(a0)).sum()


def test_the_gain_is_the_difference_of_the_joint_probability():
    chain = chain_of(some_counts(np.random.default_rng(0), 40, 25))
    pairs = np.array([[0, 3], [1, 2], [5, 4]])
    found = gains(chain.state, tokens_by_topic(chain.docs, 6), pairs)
    before = joint(chain.state, chain.everything)
    for pair, value in zip(pairs, found, strict=True):
        one = chain_of(some_counts(np.random.default_rng(0), 40, 25))
        join(one, pair[np.newaxis])
        assert one.state.n_topics == 5
        assert joint(one.state, one.everything) - before == pytest.approx(value, abs=1e-3)


def test_counts_weights_and_locations_follow():
    chain = chain_of(some_counts(np.random.default_rng(1), 30, 20))
    before = chain.state.copy()
    join(chain, np.array([[1, 4], [0, 2]]))
    state = chain.state
    table, totals = counted(chain.everything, state.width)
    assert state.n_topics == 4
    assert np.array_equal(state.table, table)
    assert np.array_equal(state.totals, totals)
    assert state.a0[1] == pytest.approx(before.a0[1] + before.a0[4])
    shares = before.totals[[1, 4]] / before.totals[[1, 4]].sum()
    assert np.allclose(state.ells[:, 1], before.ells[:, [1, 4]] @ shares, rtol=1e-5)
    assert np.array_equal(state.table[:, 2], before.table[:, 3])


def planted(n_docs=60, seed=2):
    """Documents of one of two themes with no term in common."""
    rng = np.random.default_rng(seed)
    counts = np.zeros((n_docs, 40), np.int32)
    counts[::2, :20] = rng.poisson(2.0, (n_docs // 2, 20))
    counts[1::2, 20:] = rng.poisson(2.0, (n_docs // 2, 20))
    return csr_array(counts)


def test_halves_of_a_topic_are_merged_and_different_topics_are_not():
    counts = planted()
    terms = np.repeat(counts.indices, counts.data)
    theme = (terms >= 20).astype(int)
    coin = np.random.default_rng(3).integers(0, 3, len(terms))
    chain = chain_of(counts, theme * 3 + coin)
    assert merge(chain)
    assert chain.state.n_topics == 2
    assert len(np.unique(chain.everything.topics[theme == 0])) == 1
    assert len(np.unique(chain.everything.topics)) == 2
    assert not merge(chain)


def test_each_topic_is_in_one_pair_at_most_and_the_most_alike_come_first():
    chain = chain_of(some_counts(np.random.default_rng(4), 50, 30), n_topics=9)
    pairs = alike(chain.state)
    assert len(np.unique(pairs)) == pairs.size
    shares = chain.state.table[:, :9] / chain.state.totals[:9]
    affinity = np.sqrt(shares).T @ np.sqrt(shares)
    values = [affinity[i, j] for i, j in pairs]
    assert values == sorted(values, reverse=True)


def test_tokens_without_a_topic_are_left_out():
    chain = chain_of(some_counts(np.random.default_rng(5), 20, 15))
    chain.everything.topics[::3] = NO_TOPIC
    n = tokens_by_topic(chain.docs, 6)
    assert n.sum() == (chain.everything.topics != NO_TOPIC).sum()


def test_what_is_too_large_to_lay_out_is_left_alone(monkeypatch):
    monkeypatch.setattr("diln.inference.sampling.merge.MOST_CELLS", 10)
    chain = chain_of(some_counts(np.random.default_rng(6), 20, 15))
    assert not merge(chain)
    assert chain.state.n_topics == 6
