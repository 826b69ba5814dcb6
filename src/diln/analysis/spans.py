"""Where in a text its tokens stand, by the rule that counted the model's documents.

The rule looks at text in lower case and with each letter spelt in one way, which may be longer or shorter: what is
found there is traced back to the characters of the text as it is.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from diln.corpus.acronyms import CAPITAL, is_acronym
from diln.corpus.counting import tokens_by, with_capitals
from diln.corpus.letters import BREAK, MARK, ascii_letters, unicode_letters
from diln.corpus.patterns import find_spans
from diln.corpus.rules import TextRule, Tokenizer
from diln.corpus.spelling import DOTTED, SOFT_HYPHEN, changed, kinds_in, without_addresses
from diln.corpus.strings import encode

RUN = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")  # what is beyond ASCII, and what a mark there may belong to


class Span(NamedTuple):
    """A token: where it begins and ends in the text, and what it is to the rule."""

    first: int
    last: int
    token: str


class _Plain(NamedTuple):
    """A text as the rule sees it, and where each of its characters, and the end, come from."""

    text: str
    origin: NDArray[np.int64] | None  # (len(text) + 1,); None if every character is at its place

    def of(self, later: "_Plain") -> "_Plain":
        """A text made of this one, with the places of the text that this one is made of."""
        if self.origin is None or later.origin is None:
            return _Plain(later.text, self.origin if later.origin is None else later.origin)
        return _Plain(later.text, self.origin[later.origin])


def token_spans(texts: Sequence[str], rule: TextRule) -> list[list[Span]]:
    """The tokens of each text that the rule keeps, in order: long enough, or acronyms, and no stop words."""
    if rule.tokenizer is not None:
        return [_of_tokenizer(text, rule) for text in texts]
    spelt = [_spelt(text, rule) for text in texts]
    plain = [one.of(_lowered(one.text, rule)) for one in spelt]
    if rule.token_pattern is not None:
        found = find_spans(rule.token_pattern, [one.text for one in plain])
        long = ([pair for pair in pairs if _long(pair, rule)] for pairs in found)
        return [_traced(one, pairs, rule) for one, pairs in zip(plain, long, strict=True)]
    return [_traced(*_kept(before.text, after, rule), rule) for before, after in zip(spelt, plain, strict=True)]


def _long(pair: tuple[int, int], rule: TextRule) -> bool:
    return pair[1] - pair[0] >= rule.length


def _traced(plain: _Plain, pairs: list[tuple[int, int]], rule: TextRule) -> list[Span]:
    """Tokens that are no stop words, with their places in the text as it is."""
    found = [(a, b) for a, b in pairs if plain.text[a:b] not in rule.stop_set]
    if plain.origin is None:
        return [Span(a, b, plain.text[a:b]) for a, b in found]
    return [Span(int(plain.origin[a]), int(plain.origin[b]), plain.text[a:b]) for a, b in found]


def _kept(spelt: str, plain: _Plain, rule: TextRule) -> tuple[_Plain, list[tuple[int, int]]]:
    """Words that are long enough, or acronyms; and the text in which one of these may be in capitals again."""
    words = _words(plain.text, rule)
    short = {pair for pair in words if 2 <= pair[1] - pair[0] < max(rule.length, 3)} if rule.keeps_acronyms else set()
    acronyms = short and _acronyms(spelt, plain.text, sorted(short))
    for first, last in acronyms:
        if spelt_as := CAPITAL if plain.text[first:last] in (CAPITAL, CAPITAL.lower()) else "":
            plain = plain._replace(text=plain.text[:first] + spelt_as + plain.text[last:])
    return plain, [pair for pair in words if _long(pair, rule) or pair in acronyms]


def _acronyms(spelt: str, plain: str, words: list[tuple[int, int]]) -> set[tuple[int, int]]:
    """Which of some words are acronyms."""
    data, sizes = encode([plain])
    cased = with_capitals([spelt], [plain], sizes)
    places = np.arange(len(plain) + 1) if len(data) == len(plain) else _bytes_before(plain)
    return {(a, b) for a, b in words if is_acronym.py_func(cased, int(places[a]), int(places[b]), 0, len(cased))}


def _bytes_before(text: str) -> NDArray[np.int64]:
    """How many bytes of UTF-8 are before each character, and before the end."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    sizes = 1 + (points > 0x7F).astype(np.int64) + (points > 0x7FF) + (points > 0xFFFF)
    return np.concatenate([[0], np.cumsum(sizes)])


def _of_tokenizer(text: str, rule: TextRule) -> list[Span]:
    """The tokens that a tokenizer makes; one that does not stand in the text, such as a lemma, has no width."""
    found, done = [], 0
    lowered = text.lower() if len(text.lower()) == len(text) else text
    for token in tokens_by(cast(Tokenizer, rule.tokenizer), text):
        if len(token) < rule.length or not token:
            continue
        first = text.find(token, done)
        first = lowered.find(token.lower(), done) if first < 0 else first
        last = done if first < 0 else first + len(token)
        if token not in rule.stop_set:
            found.append(Span(done if first < 0 else first, last, token))
        done = last
    return found


def _spelt(text: str, rule: TextRule) -> _Plain:
    """The text with each letter spelt in one way, as the rule has it: see ``TextRule.forms``."""
    text = text if rule.addresses else without_addresses(text)
    if text.isascii() or not (rule.normalise and rule.own_words):
        return _Plain(text, None)
    parts, places, done = [], [], 0
    for piece, size in changed(text, kinds_in(text)):
        parts.append(piece)
        places.append(np.arange(done, done + size) if len(piece) == size else np.full(len(piece), done))
        done += size
    plain = _Plain("".join(parts), np.concatenate([*places, [len(text)]]))
    return plain.of(_composed(plain.text))


def _lowered(text: str, rule: TextRule) -> _Plain:
    """A text that is spelt, as tokens are cut from it: see ``TextRule.forms``."""
    lowered = _Plain(text.lower() if rule.lowercase else text, None)
    if len(lowered.text) != len(text):  # some letters become two
        sizes = np.fromiter((len(letter.lower()) for letter in text), np.int64, len(text))
        lowered = _Plain(lowered.text, np.append(np.repeat(np.arange(len(text)), sizes), len(text)))
    return lowered if text.isascii() or not rule.own_words else lowered.of(_composed(lowered.text, rule.normalise))


def _composed(text: str, without_dots: bool = False) -> _Plain:
    """The text in composed form and without soft hyphens, and without dots above i, run by run of other than ASCII."""

    def form(cluster: str) -> str:
        composed = unicodedata.normalize("NFC", cluster.replace(SOFT_HYPHEN, ""))
        return composed.replace(DOTTED, "i") if without_dots else composed

    parts, places, done = [], [], 0
    for run in RUN.finditer(text):
        if form(run[0]) == run[0]:
            continue
        parts.append(text[done : run.start()])
        places.append(np.arange(done, run.start()))
        for first, cluster in _clusters(run[0]):
            formed = form(cluster)
            parts.append(formed)
            places.append(np.full(len(formed), run.start() + first))
        done = run.end()
    if not parts:
        return _Plain(text, None)
    parts.append(text[done:])
    places.append(np.arange(done, len(text) + 1))
    return _Plain("".join(parts), np.concatenate(places))


def _clusters(run: str) -> list[tuple[int, str]]:
    """A run cut where composing never joins what is on both sides."""
    cuts = [0]
    for at in range(1, len(run)):
        letter = run[at]
        if letter == SOFT_HYPHEN or unicodedata.combining(letter):
            continue
        before = run[cuts[-1] : at].replace(SOFT_HYPHEN, "")
        apart = unicodedata.normalize("NFC", before) + unicodedata.normalize("NFC", letter)
        if unicodedata.normalize("NFC", before + letter) == apart:
            cuts.append(at)
    return [(first, run[first:last]) for first, last in zip(cuts, [*cuts[1:], len(run)], strict=True)]


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
