"""A run of documents: their rows of counts and, in columns, what else is known of them."""

from collections.abc import Mapping, Sequence
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


def collect(shards: Sequence[Shard], starts: Rows, rows: Rows) -> Shard:
    """The documents at ``rows`` as one shard; rows are counted through all shards, as in ``gather``."""
    homes = np.searchsorted(starts, rows, side="right") - 1
    order = np.argsort(homes, kind="stable")
    parts = [shards[home].take(rows[homes == home] - starts[home]) for home in np.unique(homes)]
    return concatenate(parts).take(np.argsort(order))


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
    """The counts of documents at ``rows``, counted through all shards, shard s beginning at ``starts[s]``."""
    homes = np.searchsorted(starts, rows, side="right") - 1
    sizes = np.zeros(len(rows), np.int64)
    found = []
    for home in np.unique(homes):
        members = np.flatnonzero(homes == home)
        positions, sizes[members] = shards[home].positions(rows[members] - starts[home])
        found.append((shards[home], members, positions))
    offsets = offsets_of(sizes)
    terms, counts = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.int32)
    for shard, members, positions in found:
        target = spread(offsets[members], sizes[members])
        terms[target] = shard.terms[positions]
        counts[target] = shard.counts[positions]
    return csr_array((counts, terms, offsets), shape=(len(rows), n_terms))
