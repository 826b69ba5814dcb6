"""Topics that are alike become one, and counts, tokens and weights follow."""

import numpy as np
import pytest
from small import everything, held, some_counts, some_documents, some_state

from diln.inference.sampling.chain import Chain
from diln.inference.sampling.merge import groups_of, merge
from diln.inference.sampling.tokens import NO_TOPIC
from diln.inference.weights.gamma_process_draws import GammaProcessDraws


@pytest.fixture
def chain():
    rng = np.random.default_rng(0)
    docs = some_documents(rng, some_counts(rng, 60, 30), 6, 0)
    state = some_state(rng, docs, 6, 0)
    return Chain(state, held(docs), GammaProcessDraws(), 0)


def test_like_topics_are_joined_before_unlike_ones_and_small_ones_before_large():
    rng = np.random.default_rng(1)
    three = rng.dirichlet(np.full(50, 0.1), 3)
    topics = np.column_stack([three[0], three[1], 0.98 * three[0] + 0.02 / 50, three[2], three[1]])
    tokens = np.full(5, 100.0)
    assert groups_of(topics, tokens, 3).tolist() == [0, 1, 0, 3, 1]
    assert groups_of(topics, tokens, 5).tolist() == [0, 1, 2, 3, 4]
    small = np.array([100.0, 100.0, 1e6, 1.0, 1e6])
    assert groups_of(topics, small, 4)[1] == groups_of(topics, small, 4)[4]
    unlike = np.column_stack([three[0], three[1], three[2]])
    joined = groups_of(unlike, np.array([1e6, 1e6, 1.0]), 2)
    assert joined[0] != joined[1]


def test_each_join_is_the_cheapest_that_there_is():
    """Beside a search over all pairs that computes every cost anew."""
    rng = np.random.default_rng(2)
    topics, tokens = rng.dirichlet(np.full(30, 0.2), 9).T, rng.gamma(1.0, 100.0, 9)
    members = [[k] for k in range(9)]
    t, shares = list(tokens + 1), list(topics.T)
    while len(members) > 3:
        costs = {
            (i, j): t[i] * t[j] / (t[i] + t[j]) * (1 - np.sqrt(shares[i] * shares[j]).sum())
            for j in range(len(t)) for i in range(j)
        }  # fmt: skip
        i, j = min(costs, key=costs.get)
        shares[i] = (t[i] * shares[i] + t[j] * shares[j]) / (t[i] + t[j])
        t[i] += t[j]
        members[i] += members[j]
        del members[j], t[j], shares[j]
    groups = groups_of(topics, tokens, 3)
    assert {tuple(np.flatnonzero(groups == k)) for k in groups} == {tuple(sorted(one)) for one in members}


def test_counts_tokens_and_weights_follow(chain):
    docs, before = everything(chain), chain.state
    docs.topics[:3] = NO_TOPIC
    chain.recount()
    groups, old = groups_of(before.expected_topics, before.tokens, 4), docs.topics.copy()
    merge(chain, 4)
    first, state = np.unique(groups), chain.state
    assert state.n_topics == state.weights.truncation == 4
    assert (docs.topics[:3] == NO_TOPIC).all()
    np.testing.assert_array_equal(first[docs.topics[3:]], groups[old[3:]])
    for column, k in enumerate(first):
        table = before.counts.table[:, :6][:, groups == k].sum(axis=1)
        np.testing.assert_array_equal(state.counts.table[:, column], table)
        assert state.counts.totals[column] == before.tokens[groups == k].sum()
    a0 = before.weights.a0[:6]
    np.testing.assert_allclose(state.weights.a0[:4], [a0[groups == k].sum() for k in first])
    assert (state.weights.a0[4:] == 0).all()
