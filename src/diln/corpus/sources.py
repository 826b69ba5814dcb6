"""What every origin of documents has in common: it yields blocks, and a block can be counted anywhere."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from hashlib import blake2b
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from diln.corpus.counting import Counts, count_texts, count_tokens
from diln.corpus.dates import Order, check_order
from diln.corpus.rules import TextRule
from diln.corpus.strings import ENCODING, ERRORS, Strings

BLOCK_BYTES = 4 << 20  # text of one block, about: large enough to share its overheads, small enough to balance work
BLOCK_DOCS = 16_384


@dataclass(frozen=True, slots=True)
class Counted:
    """A block of documents after counting: what a worker sends back."""

    counts: Counts
    columns: dict[str, Strings]
    text_keys: list[bytes]  # a digest of each text, to find equal ones; empty when not asked for
    missing: int = 0  # documents whose text was absent
    unreadable: int = 0  # documents that were left out, because they cannot be read


class Block(ABC):
    """Some documents of a source, not yet parsed; sent to a worker as it is."""

    __slots__ = ()

    @abstractmethod
    def count(self, rule: TextRule) -> Counted:
        """Parse and count the documents."""


@dataclass(frozen=True, slots=True)
class ParsedDocuments:
    """Parsed documents: the text that is counted, and the fields that are kept, each a string a document."""

    counted: list[str]
    fields: dict[str, list[str]]
    missing: int = 0
    unreadable: int = 0

    def count(self, rule: TextRule) -> Counted:
        """Count the texts by the rule."""
        kept = {name: values for name, values in self.fields.items() if name != "text" or rule.keep_text}
        return Counted(
            count_texts(self.counted, rule),
            {name: Strings.pack(values) for name, values in kept.items()},
            keys_of(self.counted if rule.drop_duplicates else []),
            self.missing,
            self.unreadable,
        )


class Source(ABC):
    """An origin of documents. Its blocks are the same whoever counts them, and however many count."""

    name: str
    vocabulary: list[str] | None = None  # the terms, where documents come as counts over given ones
    numbered: bool = False  # whether the ids are numbers made up while reading
    many: bool = False  # whether it is of several files, in each of which such numbers begin anew
    total: int = 0  # how much there is to read, in units of ``position``; 0 when not known
    position: int = 0  # how much has been read
    unreadable: int = 0  # files and folders that are left out, because they cannot be read
    date_order: Order | None = None  # of day, month and year in dates of numbers, where it is given
    columns_read: dict[str, Any] | None = None  # which columns are the text, the id and so on, where there are columns
    check_file: Callable[[], None] | None = None  # raises if the file is damaged, and its documents are not to blame
    let_go: Callable[[], object] | None = None  # removes temporary files, of a source that can be read only once
    notes: tuple[str, ...] = ()  # what was guessed, for the user to see

    def with_dates(self, order: Order | None) -> Self:
        """The same source, with the order of day, month and year in dates of numbers; None where it is not given."""
        self.date_order = check_order(order)
        return self

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """The documents, block after block."""

    def close(self) -> None:
        """Let go of what is kept of the documents while they are read."""
        if self.let_go is not None:
            self.let_go()


@dataclass(frozen=True, slots=True)
class TextBlock(Block):
    """Texts at hand in memory."""

    documents: ParsedDocuments

    def count(self, rule: TextRule) -> Counted:
        """Count the texts."""
        return self.documents.count(rule)


@dataclass(frozen=True, slots=True)
class TokenBlock(Block):
    """Documents that are lists of tokens already."""

    tokens: list[list[str]]
    fields: dict[str, list[str]]

    def count(self, rule: TextRule) -> Counted:
        """Count the tokens."""
        joined = ["\0".join(tokens) for tokens in self.tokens] if rule.drop_duplicates else []
        columns = {name: Strings.pack(values) for name, values in self.fields.items()}
        return Counted(count_tokens(self.tokens, rule), columns, keys_of(joined))


@dataclass(frozen=True, slots=True)
class CountBlock(Block):
    """Documents that are counts over the source's vocabulary already."""

    ids: NDArray[np.int32]
    counts: NDArray[np.int32]
    offsets: NDArray[np.int64]
    fields: dict[str, list[str]] = field(default_factory=dict)

    def count(self, rule: TextRule) -> Counted:
        """Pass the counts on."""
        columns = {name: Strings.pack(values) for name, values in self.fields.items()}
        rows = zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True)
        bags = [self.ids[a:b].tobytes() + self.counts[a:b].tobytes() for a, b in rows] if rule.drop_duplicates else []
        return Counted(Counts(None, self.ids, self.counts, self.offsets), columns, keys_of(bags))


def keys_of(values: Iterable[str | bytes]) -> list[bytes]:
    """A digest for each value: equal for equal values, and for no others."""
    codes = (value.encode(ENCODING, ERRORS) if isinstance(value, str) else value for value in values)
    return [blake2b(code, digest_size=16).digest() for code in codes]


def as_text(value: Any) -> str:
    """A field's value as a string: nothing for a missing one, parts of a list joined, dates as ISO 8601."""
    if isinstance(value, str):
        return value
    if value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a column of whole numbers with gaps comes as floats from pandas
    if isinstance(value, datetime):
        return value.isoformat().removesuffix("T00:00:00")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, np.datetime64):
        return "" if np.isnat(value) else str(value.astype("datetime64[s]")).removesuffix("T00:00:00")
    if isinstance(value, bytes):
        return value.decode(ENCODING, "replace")
    if hasattr(value, "tolist") and not isinstance(value, Sequence):  # a numpy array in a frame's cell, or a scalar
        return as_text(value.tolist())
    if isinstance(value, Sequence):
        return "\n".join(as_text(part) for part in value)
    if isinstance(value, Mapping) and len(value) == 1 and str(next(iter(value))).startswith("$"):
        return as_text(next(iter(value.values())))  # as MongoDB writes ids and dates: {"$oid": "5f1d"}
    return str(value)


def is_text(value: Any) -> bool:
    """Whether a value is text, a number, missing, or a list of such; an object's keys and truths are no words of it."""
    if hasattr(value, "tolist") and not isinstance(value, Sequence):
        value = value.tolist()
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return all(map(is_text, value))
    return not isinstance(value, bool | Mapping)


def as_texts(values: Iterable[Any]) -> list[str]:
    """A column's values as strings."""
    return [value if type(value) is str else as_text(value) for value in values]


def numbers_from(first: int, how_many: int) -> list[str]:
    """Ids for documents that have none: their numbers."""
    return [str(number) for number in range(first, first + how_many)]
