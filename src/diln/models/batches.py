"""Documents in parts, as an engine takes them: each says where its counts are, and whoever works on it reads them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.corpus.splits import generator, pass_over
from diln.engine.threads import cut
from diln.inference.data import Batch
from diln.models import counts
from diln.models.counts import Halves, Rows, fractional, in_halves


@dataclass(frozen=True, slots=True)
class RowsBatch(Batch):
    """Some rows: for another process, where they are, or their counts if these are in memory alone."""

    rows: Rows
    chosen: NDArray[Any] | range
    known: csr_array | None = None  # the counts, where they were read

    @property
    def n_docs(self) -> int:  # type: ignore[override]
        """Number of documents."""
        return len(self.chosen)

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The rows' numbers."""
        return np.asarray(self.chosen, np.int64)

    def counts(self) -> csr_array:
        """Their counts."""
        return self.rows.take(self.numbers) if self.known is None else self.known

    def loaded(self) -> Batch:
        """The same with their counts."""
        return RowsBatch(self.rows, self.chosen, self.counts())

    def cut(self, first: int, last: int) -> Batch:
        """Documents first to last; all of them are these."""
        if (first, last) == (0, self.n_docs):
            return self
        return RowsBatch(self.rows, self.chosen[first:last], None if self.known is None else self.known[first:last])

    def __reduce__(self) -> tuple[Any, ...]:
        """For another process."""
        return RowsBatch, (self.rows.alone(self.numbers).often(), range(self.n_docs))


def in_parts(rows: Rows) -> list[RowsBatch]:
    """All documents, some thousand in each part."""
    return [RowsBatch(rows, range(first, last)) for first, last in cut(rows.n_docs, counts.PART)]


@dataclass(slots=True)
class HalvedPart:
    """Documents that are split in two at random, where they are needed."""

    batch: Batch
    before: Mapping[str, Any]  # where the generator is
    after: Mapping[str, Any] | None = field(default=None, init=False)  # where it is once they were split here

    @property
    def weight(self) -> float:
        """How many they are."""
        return self.batch.weight

    def halves(self) -> Halves:
        """What is observed of them, and what is held out."""
        rng = np.random.default_rng()
        rng.bit_generator.state = dict(self.before)
        found = in_halves(self.batch.counts(), rng)
        self.after = rng.bit_generator.state
        return found


@dataclass(frozen=True, slots=True)
class PairedPart:
    """Documents whose halves are known."""

    observed: Batch
    held_out: Batch

    @property
    def weight(self) -> float:
        """How many they are."""
        return self.observed.weight

    def halves(self) -> Halves:
        """What is observed of them, and what is held out."""
        return self.observed.counts(), self.held_out.counts()


HalvesPart = HalvedPart | PairedPart


def halves_in_parts(rows: Rows, seed: int) -> Iterator[HalvedPart]:
    """Documents in parts, each document in two halves at random: the same halves, however large a part is.

    What a generator draws for a part depends on the parts before it. Where these are split elsewhere, it draws the same
    here, of documents that are as long.
    """
    rng = generator(seed)
    for batch in in_parts(rows):
        part = HalvedPart(batch, rng.bit_generator.state)
        yield part
        if part.after is not None:
            rng.bit_generator.state = dict(part.after)
        elif not fractional(found := batch.counts()):
            pass_over(found, rng)


def pairs_in_parts(observed: Rows, held_out: Rows) -> Iterator[PairedPart]:
    """Documents in parts, whose halves are known."""
    if observed.n_docs != held_out.n_docs:
        raise ValueError(f"{observed.n_docs} documents are observed and {held_out.n_docs} held out; give both alike")
    return (PairedPart(*pair) for pair in zip(in_parts(observed), in_parts(held_out), strict=True))
