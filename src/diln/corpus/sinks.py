"""Where counted blocks and finished shards go while a corpus is built."""

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from diln.corpus.shards import Shard
from diln.corpus.sources import Counted
from diln.corpus.strings import Strings

Kept = TypeVar("Kept")
Stash = TypeVar("Stash")
Finished = TypeVar("Finished")


class Sink(ABC, Generic[Kept, Stash, Finished]):
    """Where blocks are kept while the vocabulary is not known, and shards when it is. Sent to worker processes."""

    shared = True  # whether worker processes can read what another has kept

    @abstractmethod
    def keep(self, number: int, counted: Counted) -> Kept:
        """Keep a counted block."""

    @abstractmethod
    def load(self, kept: Kept) -> Counted:
        """A kept block."""

    @abstractmethod
    def ids(self, kept: Kept) -> Strings:
        """The ids of a kept block's documents."""

    @abstractmethod
    def keep_numbers(self, number: int, numbers: NDArray[np.int32]) -> Stash:
        """Keep the numbers that a block's terms have in the table of all terms."""

    @abstractmethod
    def load_numbers(self, stash: Stash) -> NDArray[np.int32]:
        """Kept numbers."""

    @abstractmethod
    def write(self, number: int, shard: Shard) -> Finished:
        """Put a finished shard in its place."""


class MemorySink(Sink[Counted, NDArray[np.int32], Shard]):
    """Keeps everything in memory."""

    shared = False

    def keep(self, number: int, counted: Counted) -> Counted:
        """Keep it as it is."""
        return counted

    def load(self, kept: Counted) -> Counted:
        """As it is."""
        return kept

    def ids(self, kept: Counted) -> Strings:
        """The ids of its documents."""
        return kept.columns["id"]

    def keep_numbers(self, number: int, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        """Keep them as they are."""
        return numbers

    def load_numbers(self, stash: NDArray[np.int32]) -> NDArray[np.int32]:
        """As they are."""
        return stash

    def write(self, number: int, shard: Shard) -> Shard:
        """As it is."""
        return shard
