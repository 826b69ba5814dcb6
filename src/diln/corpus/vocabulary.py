"""Which terms there are, in how many documents each stands, and which of them are kept."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from diln.corpus.rules import Share, TextRule
from diln.errors import SourceError, brief

DROPPED = -1


class TermTable:
    """Terms met so far, numbered in order of appearance, with their document frequencies.

    ``known`` terms have the first numbers and, when ``kept``, are never dropped. A table that is ``closed`` takes no
    others.
    """

    def __init__(self, known: Sequence[str] = (), *, closed: bool = False, kept: bool = True) -> None:
        self.index = {term: number for number, term in enumerate(known)}
        self.n_kept = len(known) if kept else 0
        self.closed = closed
        self.document_frequency = np.zeros(max(1024, 2 * len(known)), np.int64)

    def __len__(self) -> int:
        return len(self.index)

    def numbers(self, terms: list[str]) -> NDArray[np.int32]:
        """The numbers of these terms, giving new ones to terms not met before (unless closed)."""
        index = self.index
        numbers = np.array([index.get(term, DROPPED) for term in terms], np.int32)
        if not self.closed:
            for place in np.flatnonzero(numbers == DROPPED).tolist():
                numbers[place] = index.setdefault(terms[place], len(index))
            self._make_room()
        return numbers

    def _make_room(self) -> None:
        if len(self.index) > len(self.document_frequency):
            wider = np.zeros(2 * len(self.index), np.int64)
            wider[: len(self.document_frequency)] = self.document_frequency
            self.document_frequency = wider


@dataclass(frozen=True, slots=True)
class Choice:
    """The vocabulary that is kept, and the way from a table's numbers to it."""

    vocabulary: list[str]
    numbers: NDArray[np.int32]  # for each term of the table its place in the vocabulary, or DROPPED


def choose(table: TermTable, n_docs: int, rule: TextRule) -> Choice:
    """Keep the terms that must be kept in their order, and of the others those that the rule keeps.

    These are put in alphabetical order, or left in that of the table if it was closed.
    """
    terms, n_kept = list(table.index), table.n_kept
    places = n_kept + keep_terms(table.document_frequency[n_kept : len(table)], terms[n_kept:], n_docs, rule)
    places = np.array(sorted(places.tolist(), key=None if table.closed else terms.__getitem__), np.int64)
    numbers = np.full(len(table), DROPPED, np.int32)
    numbers[:n_kept] = np.arange(n_kept)
    numbers[places] = n_kept + np.arange(len(places))
    return Choice(terms[:n_kept] + [terms[place] for place in places], numbers)


def keep_terms(frequency: NDArray[np.int64], terms: Sequence[str], n_docs: int, rule: TextRule) -> NDArray[np.int64]:
    """Places of the terms within min_df and max_df; at most max_terms, by frequency and then by the alphabet."""
    least, most, limit = limits(n_docs, rule)
    kept = np.flatnonzero((frequency >= least) & (frequency <= most))
    if len(kept) > limit:
        kept = np.array(sorted(kept.tolist(), key=lambda j: (-int(frequency[j]), terms[j]))[:limit], np.int64)
    return kept


def limits(n_docs: int, rule: TextRule) -> tuple[float, float, int]:
    """Least and most documents a term may be in, and the most terms, with defaults that scale with the corpus.

    min_df: the square root of the number of documents over 10, between 1 and 10 (1 below 225 documents, 5 around
    2,500, 10 from 9,025 on). max_df: half of the documents, or all when there are fewer than 20. max_terms: 10,000,
    or 20,000 from a million documents on.
    """
    least = least_documents(n_docs) if rule.min_df is None else _documents(rule.min_df, n_docs)
    most = n_docs * (0.5 if n_docs >= 20 else 1.0) if rule.max_df is None else _documents(rule.max_df, n_docs)
    limit = rule.max_terms if rule.max_terms is not None else 10_000 if n_docs < 1_000_000 else 20_000
    return least, most, limit


def least_documents(n_docs: int) -> int:
    """Documents that a term must be in where nothing is said, of so many."""
    return int(min(10, max(1, round(n_docs**0.5 / 10))))


def _documents(share: Share, n_docs: int) -> float:
    return share * n_docs if isinstance(share, float) else share


def given_vocabulary(given: str | Path | Iterable[str] | None) -> list[str] | None:
    """A vocabulary given as a file's path or as terms."""
    if given is None:
        return None
    return read_vocabulary(Path(given)) if isinstance(given, str | Path) else check_vocabulary(given)


def read_vocabulary(path: Path) -> list[str]:
    """A vocabulary file: a term a line."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise SourceError(f"{path}: the vocabulary is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except (OSError, ValueError) as error:  # ValueError of a name that no file can have
        reason = getattr(error, "strerror", None) or "no file can have this name"
        raise SourceError(f"{path}: the vocabulary cannot be read ({reason}); name its file") from None
    return check_vocabulary([line.rstrip("\r") for line in (lines[:-1] if lines[-1] == "" else lines)], str(path))


def check_vocabulary(terms: Iterable[str], name: str = "vocabulary") -> list[str]:
    """The terms as a list, each a string that is not empty and stands there once."""
    if isinstance(terms, str | bytes):
        raise TypeError(f"{name} is one {type(terms).__name__}; give a list of terms")
    terms = list(terms)
    seen: dict[str, int] = {}
    for number, term in enumerate(terms):
        if not isinstance(term, str) or not term:
            raise SourceError(
                f"{name}: entry {number + 1} is {brief(term)}; every term must be a string that is not empty"
            )
        if seen.setdefault(term, number) != number:
            raise SourceError(
                f"{name}: {term!r} is both entry {seen[term] + 1} and {number + 1}; every term must stand there once"
            )
    if not terms:
        raise SourceError(f"{name}: there is no term; give at least one")
    return terms
