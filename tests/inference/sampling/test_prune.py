"""Topics that nobody uses are dropped and crowded ones split; counts, tokens and topics stay of one mind."""

import numpy as np
import pytest
from small import counted, everything, held, some_counts, some_documents, some_state, tell

from diln.inference.sampling.chain import Chain
from diln.inference.sampling.prune import EVERY, TOKENS_EACH, prune_and_split, split, split_topics
from diln.inference.sampling.tokens import NO_TOPIC
from diln.inference.weights.located_draws import LocatedDraws


@pytest.fixture
def chain():
    rng = np.random.default_rng(0)
    docs = some_documents(rng, some_counts(rng, 60, 30), 6, 2)
    state = some_state(rng, docs, 6, 2)
    return Chain(state, held(docs), LocatedDraws(n_dims=2), 0, number=EVERY)


def moved(chain, topic, to):
    """Give all tokens of a topic to another."""
    docs = everything(chain)
    docs.topics[docs.topics == topic] = to
    tell(chain.state, docs)


def test_empty_topics_go_and_the_others_keep_their_columns(chain):
    moved(chain, 2, 3)
    before = chain.state
    prune_and_split(chain, grows=False)
    kept = [0, 1, 3, 4, 5]
    assert chain.state.n_topics == 5
    assert np.array_equal(chain.state.counts.table[:, :5], before.counts.table[:, kept])
    assert np.array_equal(chain.state.weights.ells[:, :5], before.weights.ells[:, kept])
    assert np.array_equal(chain.state.weights.a0[:5], before.weights.a0[kept])
    table, totals = counted(everything(chain), chain.state.width)
    assert np.array_equal(chain.state.counts.table, table)
    assert np.array_equal(chain.state.counts.totals, totals)


def test_tokens_of_dust_get_another_topic_in_the_next_sweep(chain, monkeypatch):
    smallest = int(np.argmin(chain.state.counts.totals[:6]))
    share = (chain.state.counts.totals[smallest] + 0.5) / chain.state.counts.totals.sum()
    monkeypatch.setattr("diln.inference.sampling.prune.DUST", share)
    prune_and_split(chain, grows=False)
    assert chain.state.n_topics == 5
    assert (everything(chain).topics == NO_TOPIC).any()
    chain.sweep()
    assert (everything(chain).topics < 5).all()
    assert chain.state.counts.totals.sum() == everything(chain).tokens.size


def test_topics_stay_where_pruning_is_off_or_it_is_not_the_time(chain):
    moved(chain, 2, 3)
    chain.prunes = False
    prune_and_split(chain, grows=False)
    assert chain.state.n_topics == 6
    chain.prunes, chain.number = True, EVERY + 1
    prune_and_split(chain, grows=False)
    assert chain.state.n_topics == 6


def test_a_crowded_model_is_split_and_its_counts_follow(chain):
    chain.n_tokens = 100 * TOKENS_EACH
    before = chain.state
    split(chain)
    state = chain.state
    assert state.n_topics == 12
    table, totals = counted(everything(chain), state.width)
    assert np.array_equal(state.counts.table, table)
    assert np.array_equal(state.counts.totals, totals)
    assert np.allclose(state.weights.a0[:6] + state.weights.a0[6:12], before.weights.a0[:6])
    assert np.allclose(state.counts.totals[:6] + state.counts.totals[6:12], before.counts.totals[:6])
    assert (state.counts.totals[:12] > 0).all()


def test_tokens_of_a_topic_in_a_document_stay_together(chain):
    docs = everything(chain)
    partners = np.zeros(NO_TOPIC, np.int64)
    partners[1] = 9
    before = docs.topics.copy()
    split_topics(docs.topics, docs.tokens.starts, 0, np.uint64(5), partners)
    assert np.array_equal(docs.topics[before != 1], before[before != 1])
    moves = []
    for m in range(len(docs)):
        own = slice(docs.tokens.starts[m], docs.tokens.starts[m + 1])
        new = docs.topics[own][before[own] == 1]
        assert len(set(new.tolist())) <= 1
        moves += [new[0] == 9] if len(new) else []
    assert 0.2 < np.mean(moves) < 0.8


def test_a_model_with_room_left_is_not_split(chain):
    chain.n_tokens = 100 * TOKENS_EACH
    for topic in (2, 3):
        moved(chain, topic, 0)
    split(chain)
    assert chain.state.n_topics == 6


def test_there_are_never_more_topics_than_tokens_make_sense_of(chain):
    chain.n_tokens = everything(chain).tokens.size
    assert chain.n_tokens < 12 * TOKENS_EACH
    split(chain)
    assert chain.state.n_topics == 6
