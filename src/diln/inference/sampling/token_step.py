"""The token step: the topics of all tokens, drawn shard by shard or given the corpus' counts."""

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from diln.inference.data import Array
from diln.inference.emissions.multinomial_draws import LONGEST, TopicTally, count_table
from diln.inference.sampling.documents import HeldDocuments
from diln.inference.sampling.state import State
from diln.inference.sampling.tokens import Histograms, Room, SampledShard, TopicTable, draw_topics


@dataclass(slots=True)
class TokenSums:
    """What the token step finds of documents."""

    histogram: Array  # (width, J) documents that have so many tokens of a topic; in column LONGEST - 1, or more
    softs: Array  # (width,) sum over documents of ln(1 + e^psi)
    score: float = 0.0  # sum over tokens of ln p(term | all other tokens)
    n_tokens: int = 0
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


class TokenTally(NamedTuple):
    """What is added up of shards wherever they are, so that no shard's own goes any further: whole numbers."""

    table: Array  # (n_terms, width) float32: tokens by term and topic
    totals: Array  # (width,) float64
    histogram: Array  # (width, LONGEST) int32: that of TokenSums


def draw_tokens(state: State, docs: HeldDocuments, key: np.uint64) -> TokenSums:
    """Draw every token's topic given all others; the counts follow.

    Tokens of other shards are known as they were before the sweep. One shard is exact.
    """
    given = TokenDrawing(state.weights.record(state.width), state.counts.record, key)
    found, tally = docs.total(draw_and_count, given, no_counts)
    state.counts.set_to(TopicTally(tally.table, tally.totals))
    sums, columns = added(one for one, _ in found), max(columns for _, columns in found)
    sums.histogram = tally.histogram[:, :columns].astype(np.int64)
    return sums


def draw_and_count(shard: SampledShard, given: TokenDrawing, tally: TokenTally) -> tuple[TokenSums, int]:
    """Draw the tokens of a shard, with counts of its own that follow, and count what came of it.

    Returns the sums without the histogram, which goes to the tally, and how many columns of that can be used.
    """
    known = given.known._replace(table=private_copy(given.known.table), totals=given.known.totals.copy())
    sums = draw_shard(shard, given._replace(known=known), learning=True)
    count_table(shard.tokens, shard.topics, tally.table, tally.totals)
    histogram, sums.histogram = sums.histogram, sums.histogram[:, :0].copy()
    tally.histogram[:, : histogram.shape[1]] += histogram
    return sums, histogram.shape[1]


def no_counts(given: TokenDrawing) -> TokenTally:
    """Counts of no token."""
    shape = given.known.table.shape
    return TokenTally(*TopicTally.of(shape), np.zeros((shape[1], LONGEST), np.int32))


def draw_held_given(state: State, docs: HeldDocuments, key: np.uint64) -> None:
    """Draw every token's topic given the corpus' counts, which stay."""
    given = TokenDrawing(state.weights.record(state.width), state.counts.record, key)
    docs.by_piece(draw_shard, given, added)


def draw_shard(shard: SampledShard, given: TokenDrawing, *, learning: bool = False) -> TokenSums:
    """Draw the tokens of documents; where ``learning``, the counts given follow."""
    tokens, width = shard.tokens, len(given.known.totals)
    sums = TokenSums.of(width, int(np.diff(tokens.starts).max(initial=0)))
    sums.score = draw_topics(
        shard, 0, tokens.n_docs, given.weights, given.known, learning, given.key, sums.record, Room.of(width)
    )
    sums.beyond, sums.n_tokens = beyond(tokens.starts, shard.topics), tokens.size
    return sums


def beyond(starts: Array, topics: Array) -> list[tuple[int, int]]:
    """Topic and number of tokens where a document has more of it than a histogram's columns hold."""
    long = np.flatnonzero(np.diff(starts) >= LONGEST)
    counts = [np.bincount(topics[starts[m] : starts[m + 1]]) for m in long]
    return [(int(k), int(one[k])) for one in counts for k in np.flatnonzero(one >= LONGEST)]


def added(sums: Iterable[TokenSums]) -> TokenSums:
    """The sum, in this order."""
    every = iter(sums)
    first = next(every)
    out = TokenSums(np.zeros_like(first.histogram), np.zeros_like(first.softs))
    for one in chain([first], every):
        more = one.histogram.shape[1] - out.histogram.shape[1]
        out.histogram = np.pad(out.histogram, ((0, 0), (0, max(0, more))))
        out.histogram[:, : one.histogram.shape[1]] += one.histogram
        out.softs += one.softs
        out.score += one.score
        out.n_tokens += one.n_tokens
        out.beyond += one.beyond
    return out


_OWN = threading.local()


def private_copy(table: Array) -> Array:
    """A copy in memory that this thread keeps: new memory for every shard would take longer than the copy."""
    if getattr(_OWN, "table", None) is None or _OWN.table.shape != table.shape:
        _OWN.table = np.empty_like(table)
    np.copyto(_OWN.table, table)
    return np.asarray(_OWN.table)


def let_go() -> None:
    """Give the memory of ``private_copy`` back, this thread's."""
    _OWN.table = None
