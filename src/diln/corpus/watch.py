"""What is told of the building of a corpus: while it goes on, and when it is done."""

import sys
from dataclasses import asdict, dataclass
from typing import Protocol


class Watch(Protocol):
    """Someone who looks on while a corpus is built."""

    def note(self, text: str) -> None:
        """Something was guessed."""

    def step(self, position: int, total: int, documents: int) -> None:
        """So much of the source has been read (total 0: not known), and so many documents were found."""


class Notes:
    """A watch that writes guesses to the standard error stream, where a wrong one can be noticed, and no more."""

    def note(self, text: str) -> None:
        """Write a guess."""
        sys.stderr.write(f"{text}\n")

    def step(self, position: int, total: int, documents: int) -> None:
        """Say nothing."""


@dataclass(slots=True)
class Tally:
    """What happened to the documents and tokens of a source."""

    documents: int = 0
    without_text: int = 0
    duplicates_dropped: int = 0
    short_dropped: int = 0
    unknown_tokens: int = 0  # tokens of terms outside a fixed vocabulary
    letters: int = 0
    unspaced_letters: int = 0

    def to_json(self) -> dict[str, int]:
        """As plain numbers."""
        return asdict(self)
