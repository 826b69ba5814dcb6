"""Documents of a stream, some at a time: counted by a rule, over whatever terms they have."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from diln.corpus.corpus import Corpus, as_shard
from diln.corpus.dates import DateForm, Order, days_seen, iso_column, orders_seen, settled
from diln.corpus.rules import TextRule
from diln.corpus.shards import Shard, concatenate, sorted_rows
from diln.corpus.sources import Source, numbers_from
from diln.corpus.strings import Strings

CORPUS_AT_ONCE = 8192  # documents of a corpus that are read at once


@dataclass(frozen=True, slots=True)
class Batch:
    """Some documents: rows of counts over terms of their own, which differ, and their columns."""

    terms: Sequence[str]
    rows: Shard
    numbered: bool = False  # whether ids are numbers made up while reading
    order: Order | None = None  # of day, month and year in dates of numbers, where it is given
    iso: bool = False  # whether dates are as a corpus keeps them already

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def frequency(self) -> NDArray[np.int64]:
        """In how many of the documents each term is."""
        return np.bincount(self.rows.terms, minlength=len(self.terms))

    def cut(self, first: int, last: int) -> "Batch":
        """Documents first to before last."""
        return replace(self, rows=self.rows.take(np.arange(first, min(last, len(self)))))

    def chosen(self, rows: NDArray[np.int64]) -> "Batch":
        """The documents at these rows."""
        return replace(self, rows=self.rows.take(rows))

    def corpus(self, vocabulary: list[str], index: Mapping[str, int], dates: DateForm, first_number: int) -> Corpus:
        """The documents as a corpus over a vocabulary (``index`` has its places), without tokens of other terms."""
        numbers = np.array([index.get(term, -1) for term in self.terms], np.int32)
        rows = self.rows
        counted = sorted_rows(numbers[rows.terms], rows.counts.astype(np.int32), rows.offsets, len(vocabulary))
        columns = dict(rows.columns)
        if self.numbered or "id" not in columns:
            columns["id"] = Strings.pack(numbers_from(first_number, len(self)))
        if "date" in columns and not self.iso and not dates.as_given:
            order = self.order or dates.order or settled(orders_seen(columns["date"]))
            form = DateForm(order, days=days_seen(columns["date"]).meant)
            columns["date"] = iso_column(columns["date"], form)[0]
        return Corpus([Shard(*counted, columns)], [len(self)], vocabulary, dates=dates)


@dataclass(slots=True)
class _Terms:
    """Terms of several batches, each with one number."""

    index: dict[str, int] = field(default_factory=dict)

    def numbers(self, terms: Sequence[str]) -> NDArray[np.int64]:
        return np.array([self.index.setdefault(term, len(self.index)) for term in terms], np.int64)


def joined(parts: Sequence[Batch]) -> Batch:
    """Batches end to end."""
    if len(parts) == 1:
        return parts[0]
    terms = _Terms()
    shards = []
    for part in parts:
        numbers, rows = terms.numbers(part.terms), part.rows
        shards.append(Shard(rows.offsets, numbers[rows.terms], rows.counts, rows.columns))
    return replace(parts[0], terms=list(terms.index), rows=concatenate(shards))


def of_source(source: Source, rule: TextRule) -> Iterator[Batch]:
    """The documents of a source as it yields them; of several with one text, the first, if the rule drops others."""
    for block in source.blocks():
        counted = block.count(rule)
        counts = counted.counts
        terms = counts.terms if counts.terms is not None else source.vocabulary or []
        rows = Shard(counts.offsets, counts.ids, counts.counts, counted.columns)
        batch = Batch(terms, rows, source.numbered, source.date_order)
        if counted.text_keys:
            places = {key: place for place, key in reversed(list(enumerate(counted.text_keys)))}
            batch = batch.chosen(np.array(sorted(places.values()), np.int64))
        if len(batch):
            yield batch


def of_corpus(corpus: Corpus) -> Iterator[Batch]:
    """The documents of a corpus, a part of them at a time."""
    for first in range(0, len(corpus), CORPUS_AT_ONCE):
        part = as_shard(corpus[first : first + CORPUS_AT_ONCE])
        yield Batch(corpus.vocabulary, part, iso=True)


def in_batches(parts: Iterable[Batch], size: int) -> Iterator[Batch]:
    """The same documents, ``size`` at a time and in their order; the last may be fewer."""
    left: list[Batch] = []
    for part in parts:
        left.append(part)
        if sum(map(len, left)) >= size:
            whole = joined(left)
            full = len(whole) // size * size
            for first in range(0, full, size):
                yield whole.cut(first, first + size)
            left = [whole.cut(full, len(whole))] if full < len(whole) else []
    if left:
        yield joined(left)
