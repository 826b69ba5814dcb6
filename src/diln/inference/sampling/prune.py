"""Topics that come and go along a chain: what nobody uses is dropped, and where all are in use they are split."""

from typing import NamedTuple

import numpy as np

from diln.engine.compile import kernel
from diln.inference.data import Array
from diln.inference.progress import in_use
from diln.inference.sampling.chain import Chain
from diln.inference.sampling.tokens import MOST_TOPICS, NO_TOPIC, SampledShard
from diln.prob.streams import key_of, mix

EVERY = 5  # sweeps from one look to the next
DUST = 1e-5  # share of the tokens below which a topic is dropped
FIRST = 20  # sweeps before topics are split: before, all are about as large
CROWDED = 0.8  # share of the topics that are in use from which on there are too few
TOKENS_EACH = 500  # that a topic should have, if there is a choice: topics are split no further
SPLITTING = 11  # what a stream is for


class Splitting(NamedTuple):
    """Which topics are split, and by what chance."""

    key: np.uint64
    partners: Array  # (NO_TOPIC,) the topic that takes a part, 0 where there is none


@kernel
def split_topics(topics, starts, number, key, partners):  # type: ignore[no-untyped-def]
    """Move, in every other document by chance, all tokens of a topic to its partner; 0 for a topic without.

    ``number`` is that of the first document among all.
    """
    for m in range(starts.size - 1):
        for t in range(starts[m], starts[m + 1]):
            k = topics[t]
            if k != NO_TOPIC and partners[k]:
                coin = mix(np.uint64(key) ^ mix(np.uint64(number + m) * np.uint64(65536) + np.uint64(k)))
                if coin & np.uint64(1):
                    topics[t] = partners[k]


def prune_and_split(chain: Chain, *, grows: bool) -> None:
    """Drop dust now and then; where topics may be added and most are in use, split them."""
    if chain.number % EVERY:
        return
    totals = chain.state.tokens
    if not totals.any():  # documents without a token
        return
    worth = totals >= max(1.0, DUST * totals.sum())
    if chain.prunes and not worth.all():
        chain.keep(np.flatnonzero(worth))
    if grows and chain.number >= FIRST and chain.number % (2 * EVERY) == 0:
        split(chain)


def split(chain: Chain) -> None:
    """Split every topic in use in two, if most are."""
    state = chain.state
    used = np.flatnonzero(in_use(state.tokens))
    most = min(MOST_TOPICS, chain.n_tokens // TOKENS_EACH)
    if len(used) < CROWDED * state.n_topics or state.n_topics + len(used) > most:
        return
    chosen = np.concatenate([np.arange(state.n_topics), used])
    partners = np.zeros(NO_TOPIC, np.int64)
    partners[used] = state.n_topics + np.arange(len(used))
    chain.state = state.chosen(chosen)
    chain.state.weights.halved(np.concatenate([used, partners[used]]), chain.state.n_topics)
    chain.docs.map(split_shard, Splitting(key_of(chain.seed, chain.number, SPLITTING), partners))
    chain.recount()


def split_shard(shard: SampledShard, given: Splitting) -> None:
    """Split topics in some documents."""
    split_topics(shard.topics, shard.tokens.starts, shard.first, given.key, given.partners)
