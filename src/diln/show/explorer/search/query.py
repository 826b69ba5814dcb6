"""What a user types, as a query that FTS5 takes: whatever is typed, it is never an error."""

import re
import unicodedata
from dataclasses import dataclass

from diln.corpus.stopwords import ENGLISH

MOST = 16  # words and phrases of a query; the others are left out
LONGEST = 100  # characters of one
PREFIX = 3  # characters from which on the last word may be the beginning of one
BARRED = re.compile(r'["\x00-\x1f\ud800-\udfff]')  # what may not stand between quotes
PIECE = re.compile(r'(?P<not>-)?"(?P<phrase>[^"]*)"?|(?P<word>\S+)')


@dataclass(frozen=True, slots=True)
class Term:
    """A word or a phrase that documents are to have, or not to have (``absent``)."""

    typed: str
    words: tuple[str, ...]  # of it, as they are compared
    prefix: bool = False  # whether the last word may go on
    absent: bool = False
    quoted: bool = False

    @property
    def fts(self) -> str:
        """In FTS5's language: between quotes nothing is an operator."""
        return f'"{BARRED.sub(" ", self.typed)}"' + ("*" if self.prefix else "")


@dataclass(frozen=True, slots=True)
class Query:
    """Terms of which documents have all, but for those that are to be absent."""

    terms: tuple[Term, ...]

    @property
    def wanted(self) -> tuple[Term, ...]:
        """The terms that documents are to have."""
        return tuple(term for term in self.terms if not term.absent)

    @property
    def fts(self) -> str:
        """In FTS5's language; empty if there is nothing to look for."""
        if not self.wanted:
            return ""
        wanted = " AND ".join(term.fts for term in self.wanted)
        absent = "".join(f" NOT {term.fts}" for term in self.terms if term.absent)
        return f"({wanted}){absent}"

    @property
    def fts_in_titles(self) -> str:
        """The same of titles alone."""
        return f"{{title}} : ({self.fts})"


def parse(text: str) -> Query:
    """Words, "phrases in quotes", begin* for words that begin so, and -without.

    All of them must be there. The last word may be the beginning of one, since it may not be typed to its end yet.
    Words that nearly every text has (the, of) count only between quotes, or where there is nothing else.
    """
    terms = [term for piece in PIECE.finditer(text) for term in _terms(piece, last=piece.end() == len(text))][:MOST]
    telling = [term for term in terms if term.quoted or term.absent or not set(term.words) <= ENGLISH]
    return Query(tuple(telling if any(not term.absent for term in telling) else terms))


def _terms(piece: re.Match[str], *, last: bool) -> list[Term]:
    if (phrase := piece["phrase"]) is not None:
        words = split(phrase)
        return [Term(phrase[:LONGEST], words, absent=piece["not"] is not None, quoted=True)] if words else []
    text = piece["word"][:LONGEST]
    absent = text.startswith("-") and len(text) > 1
    words = split(text)
    if not words:
        return []
    prefix = (text.endswith("*") or (last and not absent)) and len(words[-1]) >= PREFIX
    return [Term(text, words, prefix, absent)]


def split(text: str) -> tuple[str, ...]:
    """The words of a text: runs of letters and digits, in lower case and without accents."""
    kept = "".join(one if one.isalnum() else " " for one in fold(unicodedata.normalize("NFC", text[:LONGEST])))
    return tuple(kept.split())


class _Folding(dict[int, str]):
    """For each character, the one that it is compared by: in lower case, without its accents; one for one."""

    def __missing__(self, code: int) -> str:
        one = unicodedata.normalize("NFD", chr(code))[:1].lower()
        self[code] = one if len(one) == 1 else chr(code)
        return self[code]


_FOLDING = _Folding()


def fold(text: str) -> str:
    """The text in lower case and without accents, as long as it was."""
    return text.lower() if text.isascii() else text.translate(_FOLDING)
