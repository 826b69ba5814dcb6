"""The documents of a corpus, to be looked at: one by one, or a field of all of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from diln.corpus.dates import timestamps
from diln.corpus.shards import FIELDS, Rows, Shard, by_home

TEXTS = 256  # texts that are in memory at a time


@dataclass(frozen=True, slots=True)
class Document:
    """One document; a field that is not known is empty.

    Attributes
    ----------
    id : str
        Tells it from every other document of the corpus; its number where none was given.
    title, label : str
        As they were given.
    date : str
        As ISO 8601, as exact as it was given (2017, 2017-03, 2017-03-02, 2017-03-02T10:00:00); times with a zone are
        in UTC. In corpora built before dates were read, as it was given.
    text : str
        The text, if it was kept.
    """

    id: str
    title: str = ""
    date: str = ""
    label: str = ""
    text: str = ""


class Documents(Sequence[Document]):
    """A corpus's documents in order: by a number a ``Document``, by a slice a list. Read when they are asked for."""

    def __init__(self, shards: Sequence[Shard], starts: Rows, rows: Rows) -> None:
        self._shards, self._starts, self._rows = shards, starts, rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, number: int) -> Document: ...
    @overload
    def __getitem__(self, number: slice) -> list[Document]: ...
    def __getitem__(self, number: int | slice) -> Document | list[Document]:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        if not -len(self) <= number < len(self):
            raise IndexError(f"there is no document {number}: the corpus has {len(self)}")
        shard, row = self._home(int(self._rows[number]))
        return Document(**{name: column[row] for name, column in shard.columns.items()})

    def _home(self, row: int) -> tuple[Shard, int]:
        home = int(np.searchsorted(self._starts, row, side="right")) - 1
        return self._shards[home], row - int(self._starts[home])

    def _field(self, name: str) -> list[str]:
        found = [""] * len(self)
        for home, members, rows in by_home(self._starts, self._rows):
            columns = self._shards[home].columns
            if name in columns:
                for member, value in zip(members.tolist(), columns[name].take(rows), strict=True):
                    found[member] = value
        return found

    @property
    def fields(self) -> tuple[str, ...]:
        """Which fields are known of at least some of the documents."""
        return tuple(name for name in FIELDS if any(name in shard.columns for shard in self._shards))

    @property
    def ids(self) -> list[str]:
        """Each document's id."""
        return self._field("id")

    @property
    def titles(self) -> list[str]:
        """Each document's title."""
        return self._field("title")

    @property
    def dates(self) -> list[str]:
        """Each document's date, as ISO 8601; see ``Document``."""
        return self._field("date")

    @property
    def timestamps(self) -> NDArray[np.datetime64]:
        """Each document's date as NumPy's datetime64 in seconds: the beginning of a year, month or day; NaT if none."""
        return timestamps(self.dates)

    @property
    def labels(self) -> list[str]:
        """Each document's label."""
        return self._field("label")

    @property
    def texts(self) -> Iterator[str]:
        """Each document's text, in order; some are read at a time, those of a shard together."""
        for first in range(0, len(self), TEXTS):
            yield from Documents(self._shards, self._starts, self._rows[first : first + TEXTS])._field("text")
