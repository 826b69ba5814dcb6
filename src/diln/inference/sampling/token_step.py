"""The token step: the topics of all tokens, drawn in blocks of documents or given the corpus' counts."""

import threading
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from diln.engine.base import Engine
from diln.engine.threads import cut
from diln.inference.data import Array
from diln.inference.emissions.multinomial_draws import LONGEST, count_table
from diln.inference.sampling.state import SampledDocuments, State
from diln.inference.sampling.tokens import Histograms, Room, SampledShard, TopicTable, draw_topics

BLOCK = 250_000  # tokens that are drawn given the same counts of other blocks
MOST_BLOCKS = 16
TOGETHER = 32  # documents whose tokens by topic are laid out at once


@dataclass(slots=True)
class TokenSums:
    """What the token step finds of documents."""

    histogram: Array  # (width, J) documents that have so many tokens of a topic; in column LONGEST - 1, or more
    softs: Array  # (width,) sum over documents of ln(1 + e^psi)
    score: float = 0.0  # sum over tokens of ln p(term | all other tokens)
    beyond: list[tuple[int, int]] = field(default_factory=list)  # topic and tokens where these are LONGEST or more

    @classmethod
    def of(cls, width: int, longest: int) -> "TokenSums":
        """Of no document, with room for documents of so many tokens."""
        return cls(np.zeros((width, min(longest + 2, LONGEST)), np.int64), np.zeros(width))

    @property
    def record(self) -> Histograms:
        """For compiled loops."""
        return Histograms(self.histogram, self.softs)


class TokenDrawing(NamedTuple):
    """What a token step is given beside its documents."""

    weights: Any  # a record of the model's weights
    known: TopicTable
    key: np.uint64


def blocks(docs: SampledDocuments) -> list[tuple[int, int]]:
    """Ranges of documents with about as many tokens each; they depend on the documents alone.

    One where there are few tokens, else a multiple of four, so that two or four threads have as much to do each.
    """
    size = docs.tokens.size
    number = 1 if size < 2 * BLOCK else min(4 * -(-size // (4 * BLOCK)), MOST_BLOCKS, len(docs))
    edges = np.searchsorted(docs.tokens.starts, np.linspace(0, size, number + 1)[1:-1])
    edges = np.unique([0, *edges, len(docs)])
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def pieces(n_docs: int) -> list[tuple[int, int]]:
    """Documents of each shard, where they do not depend on each other."""
    return cut(n_docs, max(TOGETHER, -(-n_docs // 32)))


def draw_tokens(state: State, docs: SampledDocuments, key: np.uint64, engine: Engine) -> TokenSums:
    """Draw every token's topic given all others; the counts follow.

    In blocks of documents: tokens of other blocks are known as they were before the sweep. One block is exact.
    """
    ranges, counts = blocks(docs), state.counts
    given = TokenDrawing(state.weights.record(state.width), counts.record, key)
    if len(ranges) == 1:
        return draw_shard(docs.shard(*ranges[0]), given, learning=True)
    shards, table, totals = [docs.shard(*one) for one in ranges], np.zeros_like(counts.table), np.zeros(state.width)
    sums = []
    for shard, one in zip(shards, engine.map(draw_block, shards, given), strict=True):
        count_table(shard.tokens, shard.topics, table, totals)  # while the next is being drawn
        sums.append(one)
    counts.table[:], counts.totals[:] = table, totals
    return added(sums)


def draw_block(shard: SampledShard, given: TokenDrawing) -> TokenSums:
    """Draw the tokens of a block, with counts of its own that follow."""
    known = given.known._replace(table=private_copy(given.known.table), totals=given.known.totals.copy())
    return draw_shard(shard, given._replace(known=known), learning=True)


def draw_given(state: State, docs: SampledDocuments, key: np.uint64, engine: Engine) -> TokenSums:
    """Draw every token's topic given the corpus' counts, which stay."""
    given = TokenDrawing(state.weights.record(state.width), state.counts.record, key)
    return added(list(engine.map(draw_shard, [docs.shard(*one) for one in pieces(len(docs))], given)))


def draw_shard(shard: SampledShard, given: TokenDrawing, *, learning: bool = False) -> TokenSums:
    """Draw the tokens of documents; where ``learning``, the counts given follow."""
    tokens, width = shard.tokens, len(given.known.totals)
    sums = TokenSums.of(width, int(np.diff(tokens.starts).max(initial=0)))
    sums.score = draw_topics(
        shard, 0, tokens.n_docs, given.weights, given.known, learning, given.key, sums.record, Room.of(width)
    )
    sums.beyond = beyond(tokens.starts, shard.topics)
    return sums


def beyond(starts: Array, topics: Array) -> list[tuple[int, int]]:
    """Topic and number of tokens where a document has more of it than a histogram's columns hold."""
    long = np.flatnonzero(np.diff(starts) >= LONGEST)
    counts = [np.bincount(topics[starts[m] : starts[m + 1]]) for m in long]
    return [(int(k), int(one[k])) for one in counts for k in np.flatnonzero(one >= LONGEST)]


def added(sums: list[TokenSums]) -> TokenSums:
    """The sum, in this order."""
    width = max(one.histogram.shape[1] for one in sums)
    out = TokenSums(np.zeros((len(sums[0].softs), width), np.int64), np.zeros(len(sums[0].softs)))
    for one in sums:
        out.histogram[:, : one.histogram.shape[1]] += one.histogram
        out.softs += one.softs
        out.score += one.score
        out.beyond += one.beyond
    return out


_OWN = threading.local()


def private_copy(table: Array) -> Array:
    """A copy in memory that this thread keeps: new memory for every block would take longer than the copy."""
    if getattr(_OWN, "table", None) is None or _OWN.table.shape != table.shape:
        _OWN.table = np.empty_like(table)
    np.copyto(_OWN.table, table)
    return np.asarray(_OWN.table)


def let_go() -> None:
    """Give the memory of ``private_copy`` back, this thread's."""
    _OWN.table = None
