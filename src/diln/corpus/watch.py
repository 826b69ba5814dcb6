"""What is told of the building of a corpus: while it goes on, and when it is done."""

import sys
from dataclasses import asdict, dataclass
from typing import Protocol

from diln.errors import inert


class Watch(Protocol):
    """Follows the progress of building or reading a corpus: any object with these two methods."""

    def note(self, text: str) -> None:
        """Something was guessed."""

    def step(self, position: int, total: int, documents: int) -> None:
        """Some of the source has been read.

        Parameters
        ----------
        position, total : int
            How much was read, and how much there is, in bytes or documents, depending on the source. A total of 0
            means unknown.
        documents : int
            Number of documents found so far.
        """


class Notes:
    """A watch that writes guesses to the standard error stream, where a wrong one can be noticed, and no more."""

    def note(self, text: str) -> None:
        """Write a guess."""
        sys.stderr.write(f"{inert(text)}\n")

    def step(self, position: int, total: int, documents: int) -> None:
        """Say nothing."""


@dataclass(slots=True)
class Tally:
    """What happened to the documents and tokens of a source.

    Attributes
    ----------
    documents : int
        Documents that were read, including those that were dropped.
    without_text : int
        Documents whose text was empty or missing.
    duplicates_dropped : int
        Documents dropped because an earlier one has the same text (``drop_duplicates``).
    short_dropped : int
        Documents dropped because they have too few tokens (``min_tokens``).
    unknown_tokens : int
        Tokens of terms outside a fixed vocabulary.
    letters : int
        Letters of all texts; 0 if a pattern or a tokenizer finds the tokens.
    unspaced_letters : int
        Letters of scripts written without spaces, which need a tokenizer.
    dates_left_out : int
        Dates that could not be read, or in more than one way.
    unreadable : int
        Files and folders left out because they cannot be read (``skip_unreadable``).
    """

    documents: int = 0
    without_text: int = 0
    duplicates_dropped: int = 0
    short_dropped: int = 0
    unknown_tokens: int = 0
    letters: int = 0
    unspaced_letters: int = 0
    dates_left_out: int = 0
    unreadable: int = 0

    def to_json(self) -> dict[str, int]:
        """As plain numbers."""
        return asdict(self)
