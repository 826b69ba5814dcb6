"""Where in a text its tokens stand, by the rule that counted the model's documents.

The rule looks at text in lower case and in composed form, which may be longer or shorter: what is found there is traced
back to the characters of the text as it is.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diln.corpus.letters import BREAK, MARK, ascii_letters, unicode_letters
from diln.corpus.patterns import find_spans
from diln.corpus.rules import SOFT_HYPHEN, TextRule

WORDLIKE = re.compile(r"[^\x00-\x40\x5b-\x60\x7b-\x7f]+")  # letters of ASCII, and all beyond it


class Span(NamedTuple):
    """A token: where it begins and ends in the text, and what it is to the rule."""

    first: int
    last: int
    token: str


class _Plain(NamedTuple):
    """A text as the rule sees it, and where each of its characters, and the end, come from."""

    text: str
    origin: NDArray[np.int64] | None  # (len(text) + 1,); None if every character is at its place


def token_spans(texts: Sequence[str], rule: TextRule) -> list[list[Span]]:
    """The tokens of each text that the rule keeps, in order: long enough and no stop words."""
    plain = [_plain(text, rule) for text in texts]
    if rule.token_pattern is not None:
        found = find_spans(rule.token_pattern, [one.text for one in plain])
    else:
        found = [_words(one.text, rule) for one in plain]
    return [_kept(*pair, rule) for pair in zip(plain, found, strict=True)]


def _kept(plain: _Plain, found: list[tuple[int, int]], rule: TextRule) -> list[Span]:
    spans = [(a, b) for a, b in found if b - a >= rule.length and plain.text[a:b] not in rule.stop_set]
    if plain.origin is None:
        return [Span(a, b, plain.text[a:b]) for a, b in spans]
    return [Span(int(plain.origin[a]), int(plain.origin[b]), plain.text[a:b]) for a, b in spans]


def _plain(text: str, rule: TextRule) -> _Plain:
    plain = _lowered(text, rule)
    return plain if text.isascii() or rule.alphabet == "ascii" or rule.token_pattern is not None else _composed(plain)


def _lowered(text: str, rule: TextRule) -> _Plain:
    """The text in lower case, if the rule has it so: some letters become two."""
    if not rule.lowercase:
        return _Plain(text, None)
    lowered = text.lower()
    if len(lowered) == len(text):
        return _Plain(lowered, None)
    sizes = np.fromiter((len(letter.lower()) for letter in text), np.int64, len(text))
    return _Plain(lowered, np.append(np.repeat(np.arange(len(text)), sizes), len(text)))


def _composed(plain: _Plain) -> _Plain:
    """The text in composed form and without soft hyphens, word by word."""
    text, parts, places, done = plain.text, [], [], 0
    for found in WORDLIKE.finditer(text):
        word = found[0]
        if SOFT_HYPHEN not in word and unicodedata.is_normalized("NFC", word):
            continue
        parts.append(text[done : found.start()])
        places.append(np.arange(done, found.start()))
        for first, cluster in _clusters(word):
            composed = unicodedata.normalize("NFC", cluster.replace(SOFT_HYPHEN, ""))
            parts.append(composed)
            places.append(np.full(len(composed), found.start() + first))
        done = found.end()
    if not parts:
        return plain
    parts.append(text[done:])
    places.append(np.arange(done, len(text) + 1))
    origin = np.concatenate(places)
    return _Plain("".join(parts), origin if plain.origin is None else plain.origin[origin])


def _clusters(word: str) -> list[tuple[int, str]]:
    """A word cut where composing never joins what is on both sides."""
    cuts = [0]
    for at in range(1, len(word)):
        letter = word[at]
        if letter == SOFT_HYPHEN or unicodedata.combining(letter):
            continue
        before = word[cuts[-1] : at].replace(SOFT_HYPHEN, "")
        apart = unicodedata.normalize("NFC", before) + unicodedata.normalize("NFC", letter)
        if unicodedata.normalize("NFC", before + letter) == apart:
            cuts.append(at)
    return [(first, word[first:last]) for first, last in zip(cuts, [*cuts[1:], len(word)], strict=True)]


def _words(text: str, rule: TextRule) -> list[tuple[int, int]]:
    """Longest runs of letters and marks that begin with a letter."""
    table = unicode_letters() if rule.alphabet == "unicode" else ascii_letters()
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    kinds = np.where(points < len(table), table[np.minimum(points, len(table) - 1)], BREAK)
    inside = np.concatenate([[False], kinds != BREAK, [False]])
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    firsts, lasts = edges[::2], edges[1::2]
    letters = np.flatnonzero((kinds != BREAK) & (kinds != MARK))
    places = np.searchsorted(letters, firsts)  # the first letter at or after the beginning of a run
    known = places < len(letters)
    begins = np.where(known, letters[np.minimum(places, max(len(letters) - 1, 0))] if len(letters) else 0, lasts)
    return [(int(a), int(b)) for a, b in zip(begins, lasts, strict=True) if a < b]
