"""What each Unicode character is to the tokenizer."""

import unicodedata
from functools import cache

import numpy as np
from numpy.typing import NDArray

BREAK, LETTER, MARK, UNSPACED = range(4)
PLANES = 0x40000  # planes 0 to 3 hold every assigned letter and almost every mark;
VARIANTS = (0xE0100, 0xE01EF)  # the rest are marks that choose a variant of a Han character
END_OF_LETTERS = VARIANTS[1] + 1

# Scripts written without spaces between words: a run of their letters is a sentence, not a word.
UNSPACED_SCRIPTS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3400, 0x4DBF),  # Han, extension A
    (0x4E00, 0x9FFF),  # Han
    (0xF900, 0xFAFF),  # Han, compatibility
    (0x20000, 0x3FFFF),  # Han, further extensions
)


@cache
def unicode_letters() -> NDArray[np.uint8]:
    """Class of every code point: letters make words, marks continue them, all else breaks them."""
    kinds = np.zeros(END_OF_LETTERS, dtype=np.uint8)
    kinds[VARIANTS[0] : VARIANTS[1] + 1] = MARK
    for point in range(PLANES):
        category = unicodedata.category(chr(point))[0]
        kinds[point] = LETTER if category == "L" else MARK if category == "M" else BREAK
    for first, last in UNSPACED_SCRIPTS:
        script = kinds[first : last + 1]
        script[script == LETTER] = UNSPACED
    return kinds


def is_unspaced(word: str) -> bool:
    """Whether a word is of a script that is written without spaces."""
    return bool(ord(word[0]) < END_OF_LETTERS and unicode_letters()[ord(word[0])] == UNSPACED)


@cache
def ascii_letters() -> NDArray[np.uint8]:
    """Only a-z and A-Z make words; every other character breaks them."""
    kinds = np.zeros(END_OF_LETTERS, dtype=np.uint8)
    kinds[ord("a") : ord("z") + 1] = LETTER
    kinds[ord("A") : ord("Z") + 1] = LETTER
    return kinds
