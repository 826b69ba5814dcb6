"""A column of strings as one block of bytes and the places where each string ends: cheap to store, map and cut."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

ENCODING = "utf-8"
ERRORS = "surrogatepass"  # half characters, which JSON's \u escapes can make, go in and come out as they are


@dataclass(frozen=True, slots=True)
class Strings:
    """Strings end to end: string i is ``data[offsets[i]:offsets[i + 1]]``."""

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    @classmethod
    def pack(cls, strings: Iterable[str]) -> Self:
        """Store strings."""
        data, sizes = encode(list(strings))
        return cls(np.frombuffer(data, np.uint8), offsets_of(sizes))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> str:
        return bytes(self.data[self.offsets[row] : self.offsets[row + 1]]).decode(ENCODING, ERRORS)

    def __iter__(self) -> Iterator[str]:
        return iter(decode(bytes(self.data), self.offsets[:-1].tolist(), self.offsets[1:].tolist()))

    def take(self, rows: NDArray[np.int64]) -> Self:
        """The strings at ``rows``, in that order."""
        sizes = self.offsets[rows + 1] - self.offsets[rows]
        return type(self)(self.data[spread(self.offsets[rows], sizes)], offsets_of(sizes))

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """All strings of all parts, in order."""
        data = np.concatenate([part.data for part in parts])
        return cls(data, offsets_of(np.concatenate([np.diff(part.offsets) for part in parts])))


def encode(strings: Sequence[str]) -> tuple[bytes, list[int]]:
    """Strings as bytes end to end, and each one's number of bytes."""
    whole = "".join(strings)
    if whole.isascii():
        return whole.encode(ENCODING), [len(string) for string in strings]
    codes = [string.encode(ENCODING, ERRORS) for string in strings]
    return b"".join(codes), [len(code) for code in codes]


def decode(data: bytes, starts: list[int], ends: list[int]) -> list[str]:
    """The strings at these places of the bytes."""
    if data.isascii():
        whole = data.decode(ENCODING)
        return [whole[start:end] for start, end in zip(starts, ends, strict=True)]
    return [data[start:end].decode(ENCODING, ERRORS) for start, end in zip(starts, ends, strict=True)]


def offsets_of(sizes: Sequence[int] | NDArray[Any]) -> NDArray[np.int64]:
    """Where runs of these sizes, laid end to end, begin and end: one number more than sizes."""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def spread(starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The positions start, start + 1, ... of every run, end to end."""
    offsets = offsets_of(sizes)
    return np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], sizes)
