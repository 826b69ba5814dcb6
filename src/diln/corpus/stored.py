"""What the arrays of a stored corpus must be, whoever wrote them: right checksums prove nothing."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diln.corpus.assemble import check_ids
from diln.corpus.npy import Header, read_header
from diln.corpus.shards import Shard
from diln.corpus.sound import LARGEST_COUNT
from diln.corpus.strings import ENCODING, ERRORS, Strings
from diln.errors import SourceError

NUMBERS = ("|u1", "<u2", "<u4", "<u8")  # types of terms and counts
OFFSETS, BYTES = ("<i8",), ("|u1",)


def types_of(name: str) -> tuple[str, ...]:
    """The types that an array may have, by the name of its file."""
    if name in ("terms.npy", "counts.npy"):
        return NUMBERS
    return OFFSETS if name.endswith("offsets.npy") else BYTES


def header_of(path: Path, entry: dict[str, Any]) -> Header:
    """The header of a .npy file; ValueError unless it is of the shape and type that the manifest says."""
    with path.open("rb") as file:
        header = read_header(file)
        size = file.seek(0, 2)
    said = (tuple(entry["shape"]), entry["dtype"])
    if (header.shape, header.dtype.str) != said or len(header.shape) != 1:
        raise ValueError(
            f"is an array of shape {header.shape} and type {header.dtype.str}, not of {said[0]} and {said[1]}"
        )
    if header.dtype.str not in types_of(path.name):
        raise ValueError(f"is an array of type {header.dtype.str}, which it cannot be")
    if header.n_bytes != size:
        raise ValueError(f"has {size:,} bytes and its array {header.n_bytes:,}")
    return header


def check_offsets(offsets: NDArray[np.int64], n_rows: int, end: int) -> None:
    """Raise ValueError unless rows of any size, one after the other, begin at 0 and end at the end."""
    if len(offsets) != n_rows + 1:
        raise ValueError(f"has {len(offsets):,} numbers for {n_rows:,} documents")
    if offsets[0] != 0 or offsets[-1] != end or (np.diff(offsets) < 0).any():
        raise ValueError(f"does not lead from 0 to {end:,} without a step back")


def check_rows(shard: Shard, n_docs: int, n_tokens: int, n_terms: int) -> None:
    """Raise ValueError unless rows have each term once, in order, and no count that is 0 or too large."""
    offsets, terms, counts = shard.offsets, shard.terms, shard.counts
    if len(terms) != len(counts):
        raise ValueError(f"has {len(terms):,} terms and {len(counts):,} counts")
    check_offsets(offsets, n_docs, len(terms))
    if terms.max(initial=0) >= max(n_terms, 1):
        raise ValueError(f"has term number {terms.max()}, and there are {n_terms:,} terms")
    starts = np.flatnonzero(terms[1:] <= terms[:-1]) + 1
    if not np.isin(starts, offsets).all():
        raise ValueError("has a document whose terms do not ascend")
    if len(counts) and (counts.min() < 1 or counts.max() > LARGEST_COUNT):
        raise ValueError(f"has a count that is not from 1 to {LARGEST_COUNT}")
    if int(counts.sum(dtype=np.uint64)) != n_tokens:
        raise ValueError(f"has {int(counts.sum(dtype=np.uint64)):,} tokens in place of {n_tokens:,}")


def check_strings(column: Strings, n_docs: int) -> None:
    """Raise ValueError unless every document has a string."""
    data, offsets = column.data, column.offsets
    check_offsets(offsets, n_docs, len(data))
    try:
        bytes(data).decode(ENCODING, ERRORS)
    except UnicodeDecodeError:
        raise ValueError(f"is not {ENCODING}") from None
    inside = offsets[offsets < len(data)]
    if ((data[inside] & 0xC0) == 0x80).any():  # a byte that goes on with a character
        raise ValueError("has a string that begins amid a character")


def check_different(ids: Strings) -> None:
    """Raise ValueError if two documents have one id."""
    try:
        check_ids([ids], "corpus")
    except SourceError:
        raise ValueError("has an id twice") from None
