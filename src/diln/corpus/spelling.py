"""How texts are spelt before words are cut from them: letters that can be written in several ways are made one.

Characters of ASCII are never changed, nor what is no letter. Beyond that, a letter is what Unicode's form NFKC makes of
it: composed and decomposed accents are the same, as are ligatures, wide letters and Arabic presentation forms and their
plain ones. What a writer may leave out goes: soft hyphens, Arabic vowel signs, and the tatweel that stretches a line.
The Turkish capital I with a dot is that of i.
"""

import re
from functools import cache
from unicodedata import category, is_normalized, normalize

import numpy as np
from numpy.typing import NDArray

from diln.corpus.letters import END_OF_LETTERS, PLANES

SOFT_HYPHEN = "\u00ad"
DOTTED_I, DOTTED = "\u0130", "i\u0307"
ARABIC_MARKS = (  # that a writer may leave out
    *range(0x0610, 0x061B),
    0x0640,  # tatweel
    *range(0x064B, 0x0653),
    *range(0x0656, 0x0660),
    0x0670,
    *range(0x06D6, 0x06DD),
    *range(0x06DF, 0x06E5),
    *range(0x06E7, 0x06E9),
    *range(0x06EA, 0x06EE),
)
LEFT_OUT = dict.fromkeys((ord(SOFT_HYPHEN), *ARABIC_MARKS))
JAMO = range(0x1100, 0x1200)  # parts of Korean letters, which are joined
LONE_JAMO = range(0x3131, 0x318F)  # and those that stand alone
CHANGED, JOINED = 1, 2  # characters that become others, and those that may join the one before
ADDRESS = re.compile(
    r"(?i:https?://|www\.)[^\s<>\"']+"  # of the web
    r"|(?<![\w.+-])(?:RT\s{1,3})?[\w.+-]{0,64}@[\w.-]+"  # of a person: by mail, or with @ in front, and repeated by RT
)


@cache
def kinds() -> NDArray[np.uint8]:
    """What becomes of each character."""
    found = np.zeros(END_OF_LETTERS + 1, np.uint8)  # the last one is for all that is above
    for point in range(0x80, PLANES):
        letter = chr(point)
        kind = category(letter)[0]
        if kind == "M" or point in JAMO:
            found[point] = JOINED
        if kind in "LM" and not is_normalized("NFKC", letter) and point not in LONE_JAMO:
            found[point] = CHANGED
    found[list(LEFT_OUT)] = CHANGED
    found[ord(DOTTED_I)] = JOINED  # in small letters it is i and a dot
    return found


def unified(text: str) -> tuple[str, bool]:
    """The text with each letter spelt in one way, and whether letters in it may join those before them."""
    kind = kinds_in(text)
    seen = np.bitwise_or.reduce(kind, initial=0)
    if seen & CHANGED:
        text = "".join(piece for piece, _ in changed(text, kind))
    return (normalize("NFC", text), True) if seen else (text, False)


def kinds_in(text: str) -> NDArray[np.uint8]:
    """What becomes of each character of a text."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    kind: NDArray[np.uint8] = kinds()[np.minimum(points, END_OF_LETTERS)]
    return kind


def changed(text: str, kind: NDArray[np.uint8]) -> list[tuple[str, int]]:
    """The text in pieces, with the number of characters of the text that each is made of."""
    pieces, done = [], 0
    for place in np.flatnonzero(kind & CHANGED).tolist():
        pieces += [(text[done:place], place - done), (form_of(text[place]), 1)]
        done = place + 1
    return [*pieces, (text[done:], len(text) - done)]


@cache
def form_of(letter: str) -> str:
    """What a letter that is changed becomes."""
    return normalize("NFKC", letter).translate(LEFT_OUT)


def without_addresses(text: str) -> str:
    """The text with spaces in the place of web addresses, mail addresses and names with @ in front."""
    return ADDRESS.sub(lambda address: " " * len(address[0]), text)
