"""A run of documents: their rows of counts and, in columns, what else is known of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.corpus.strings import Strings, offsets_of, spread

FIELDS = ("id", "title", "date", "label", "text")
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Shard:
    """Documents in compressed sparse rows; terms ascend within a row, and no count is zero.

    ``terms`` and ``counts`` are of the narrowest unsigned type that holds them. ``columns`` has the fields that are
    known; a document without one has an empty string there.
    """

    offsets: NDArray[np.int64]
    terms: NDArray[np.integer]
    counts: NDArray[np.integer]
    columns: Mapping[str, Strings] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Rows:
        """Number of tokens of each document."""
        return row_sums(self.counts, self.offsets)

    def positions(self, rows: Rows) -> tuple[Rows, Rows]:
        """Where the rows' entries lie, end to end, and how many entries each row has."""
        sizes = self.offsets[rows + 1] - self.offsets[rows]
        return spread(self.offsets[rows], sizes), sizes

    def take(self, rows: Rows) -> "Shard":
        """The documents at ``rows``, in that order."""
        positions, sizes = self.positions(rows)
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        return Shard(offsets_of(sizes), self.terms[positions], self.counts[positions], columns)


def concatenate(parts: Sequence[Shard]) -> Shard:
    """Shards end to end; a column that one of them lacks is empty there."""
    if len(parts) == 1:
        return parts[0]
    names = [name for name in FIELDS if any(name in part.columns for part in parts)]
    columns = {name: Strings.concatenate([_column(part, name) for part in parts]) for name in names}
    offsets = offsets_of(np.concatenate([np.diff(part.offsets) for part in parts]))
    terms, counts = np.concatenate([part.terms for part in parts]), np.concatenate([part.counts for part in parts])
    return Shard(offsets, terms, counts, columns)


def _column(part: Shard, name: str) -> Strings:
    return part.columns[name] if name in part.columns else Strings.pack([""] * len(part))


def by_home(starts: Rows, rows: Rows) -> Iterator[tuple[int, Rows, Rows]]:
    """Rows counted through all shards, shard s beginning at ``starts[s]``, as rows of their shards.

    Yields a shard's number, the places in ``rows`` that belong to it, and the rows there.
    """
    homes = np.searchsorted(starts, rows, side="right") - 1
    for home in np.unique(homes).tolist():
        members = np.flatnonzero(homes == home)
        yield home, members, rows[members] - starts[home]


def collect(shards: Sequence[Shard], starts: Rows, rows: Rows) -> Shard:
    """The documents at ``rows`` as one shard."""
    found = list(by_home(starts, rows))
    order = np.concatenate([members for _, members, _ in found])
    return concatenate([shards[home].take(inside) for home, _, inside in found]).take(np.argsort(order))


def row_sums(counts: NDArray[np.integer], offsets: NDArray[np.int64]) -> Rows:
    """Sum of each row's counts; a row may be empty."""
    sums: Rows = np.diff(offsets_of(counts)[offsets])
    return sums


def narrow(values: NDArray[np.integer]) -> NDArray[np.integer]:
    """The same whole numbers in the narrowest unsigned type that holds them."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))), copy=False)


def sorted_rows(
    ids: NDArray[np.integer], counts: NDArray[np.integer], offsets: NDArray[np.int64], n_terms: int
) -> tuple[NDArray[np.int64], NDArray[np.integer], NDArray[np.integer]]:
    """Offsets, terms and counts with terms ascending; negative ids and zero counts left out, repeated ids added up."""
    if len(ids) and ids.min() < 0:
        kept = ids >= 0
        ids, counts, offsets = ids[kept], counts[kept], offsets_of(kept)[offsets]
    rows = csr_array((counts, ids, offsets), shape=(len(offsets) - 1, n_terms))
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows.indptr.astype(np.int64), narrow(rows.indices), narrow(rows.data)


def gather(shards: Sequence[Shard], starts: Rows, rows: Rows, n_terms: int) -> csr_array:
    """The counts of the documents at ``rows``."""
    sizes = np.zeros(len(rows), np.int64)
    found = []
    for home, members, inside in by_home(starts, rows):
        positions, sizes[members] = shards[home].positions(inside)
        found.append((home, members, positions))
    offsets = offsets_of(sizes)
    terms, counts = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.int32)
    for home, members, positions in found:
        target, shard = spread(offsets[members], sizes[members]), shards[home]
        terms[target] = shard.terms[positions]
        counts[target] = shard.counts[positions]
    return csr_array((counts, terms, offsets), shape=(len(rows), n_terms))


def gather_all(shards: Sequence[Shard], n_terms: int) -> csr_array:
    """The counts of all documents; needs no more memory than these."""
    offsets = offsets_of(np.concatenate([np.zeros(0, np.int64), *(np.diff(shard.offsets) for shard in shards)]))
    terms, counts = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.int32)
    first = 0
    for shard in shards:
        last = first + len(shard.terms)
        terms[first:last], counts[first:last] = shard.terms, shard.counts
        first = last
    return csr_array((counts, terms, offsets), shape=(len(offsets) - 1, n_terms))
