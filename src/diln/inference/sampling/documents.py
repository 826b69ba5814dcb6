"""All documents of a chain: in shards, which are the same for the whole fit and live where steps run.

Shards are ranges of the corpus' documents, cut by their tokens alone. Those in play are the first of every shard: a
step on them is one on each shard, whatever engine runs it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from diln.engine.base import ByPiece, Found, Held, Note, Shared, Tally
from diln.engine.threads import cut
from diln.inference.data import Array
from diln.inference.sampling.tokens import SampledShard

SHARD = 250_000  # tokens that are drawn given the same counts of other shards, where these are few
MANY = 16  # shards of a corpus whose shards can all be small
LARGEST = 1_000_000  # tokens of a shard, where there are many: memory of a step is that of a shard
TOGETHER = 32  # documents whose tokens by topic are laid out at once
PIECES = 32  # that all documents are cut into, where they do not depend on each other
LONGEST_PIECE = 16_384  # documents, whose sums are in single precision


def shard_count(n_tokens: float) -> int:
    """Shards of so many tokens: one of few, else a multiple of four, so that threads have as much to do each."""
    if n_tokens < 2 * SHARD:
        return 1
    return int(max(min(4 * -(-n_tokens // (4 * SHARD)), MANY), 4 * -(-n_tokens // (4 * LARGEST))))


class ShardRange(NamedTuple):
    """Which documents are in a shard."""

    first: int
    last: int
    n_tokens: int


def shard_ranges(lengths: Callable[[], Iterable[Array]]) -> list[ShardRange]:
    """Ranges of documents with about as many tokens each, which are all documents.

    ``lengths`` tells the tokens of all documents, some documents at a time, whenever it is asked.
    """
    total = sum(int(some.sum()) for some in lengths())
    aims = np.linspace(0, total, shard_count(total) + 1)[1:-1]
    edges, before, size = {0: 0}, 0, 0  # documents and tokens before each edge
    for some in lengths():
        ends = before + np.cumsum(some, dtype=np.int64)
        reached = int(ends[-1]) if len(ends) else before
        for place in np.searchsorted(ends, aims[(aims > before) & (aims <= reached)]).tolist():
            edges[size + 1 + place] = int(ends[place])
        before, size = reached, size + len(some)
    edges[size] = total
    return [ShardRange(first, last, edges[last] - edges[first]) for first, last in pairwise(edges)]


def pieces(n_docs: int, number: int = PIECES) -> list[tuple[int, int]]:
    """Ranges of documents, where they do not depend on each other."""
    return cut(n_docs, documents_a_piece(n_docs, number))


def documents_a_piece(n_docs: int, number: int = PIECES) -> int:
    """Documents of each of these ranges but the last."""
    return max(TOGETHER, min(-(-n_docs // number), LONGEST_PIECE))


class Share(NamedTuple):
    """How many of all documents are in play."""

    size: int
    n_docs: int

    def of(self, n_docs: int) -> int:
        """How many of a shard with so many."""
        return -(-n_docs * self.size // max(self.n_docs, 1))


@dataclass(frozen=True, slots=True)
class InPlay:
    """A step on the documents of a shard that are in play."""

    step: Callable[..., Any]
    share: Share

    def __call__(self, shard: Any, *given: Any) -> Any:
        """The step."""
        docs = shard.opened()
        return self.step(docs.shard(0, self.share.of(len(docs))), *given)


@dataclass(frozen=True, slots=True)
class CutInPlay:
    """Cuts the documents of a shard that are in play into pieces."""

    share: Share
    number: int

    def __call__(self, shard: Any) -> list[SampledShard]:
        """The pieces."""
        docs = shard.opened()
        return [docs.shard(*one) for one in pieces(self.share.of(len(docs)), self.number)]


@dataclass(frozen=True, slots=True)
class OnAll:
    """A step on all documents of a shard."""

    step: Callable[..., Any]

    def __call__(self, shard: Any, shared: Any) -> Any:
        """The step."""
        docs = shard.opened()
        return self.step(docs.shard(0, len(docs)), shared)


@dataclass(frozen=True, slots=True)
class OtherPlaces:
    """A step on all documents of a shard, which gives other places to them."""

    step: Callable[..., Any]

    def __call__(self, shard: Any, shared: Any) -> Any:
        """The shard with what the step returns for its documents' places."""
        return shard.placed(OnAll(self.step)(shard, shared))


@dataclass(slots=True)
class HeldDocuments:
    """Documents that are held in shards, and how many of them are in play."""

    held: Held
    ranges: list[ShardRange]
    size: int  # of the documents in play, as it was asked for

    @property
    def n_docs(self) -> int:
        """All documents."""
        return self.ranges[-1].last

    @property
    def n_tokens(self) -> int:
        """Their tokens."""
        return sum(one.n_tokens for one in self.ranges)

    @property
    def share(self) -> Share:
        """Of each shard that is in play."""
        return Share(self.size, self.n_docs)

    def map(self, step: Callable[[SampledShard, Shared], Found], shared: Shared) -> list[Found]:
        """``step(shard, shared)`` of the documents in play of every shard, in order."""
        return list(self.held.map(InPlay(step, self.share), shared))

    def total(
        self, step: Callable[[SampledShard, Shared, Tally], Found], shared: Shared, zero: Callable[[Shared], Tally]
    ) -> tuple[list[Found], Tally]:
        """``step(shard, shared, tally)`` of the same, and the sum of the tallies, which are of whole numbers."""
        return self.held.total(InPlay(step, self.share), shared, zero)

    def by_piece(
        self, step: Callable[[SampledShard, Shared], Found], shared: Shared, add: Callable[[Iterable[Found]], Found]
    ) -> Found:
        """The sum of ``step(piece, shared)`` of pieces of the documents in play: of each shard, then of all."""
        cutting = CutInPlay(self.share, max(2, PIECES // len(self.ranges)))
        return add(self.held.map(ByPiece(cutting, step, add), shared))

    def place(self, step: Callable[[SampledShard, Shared], Any], shared: Shared) -> None:
        """Give other places to all documents: what ``step(shard, shared)`` returns for each shard."""
        self.held.replace(OtherPlaces(step), shared)

    def on_all(self, step: Callable[[SampledShard, Shared], Found], shared: Shared) -> list[Found]:
        """``step(shard, shared)`` of all documents of every shard, in order."""
        return list(self.held.map(OnAll(step), shared))

    def write(self, folder: Path) -> list[Note]:
        """Write every shard to a file of the folder."""
        return self.held.write(folder)

    def read(self, folder: Path | None, notes: list[Note]) -> None:
        """Bring every shard to what was written."""
        self.held.read(folder, notes)

    def close(self) -> None:
        """Let go of the documents."""
        self.held.close()
