"""Acronyms: words of capitals that are too short to be kept otherwise, such as EU, UK and AI.

A word in capitals is no acronym where all around it is in capitals: the OF of a headline that shouts.
"""

from diln.engine.compile import compiled

CAPITAL = "US"  # kept in capitals: in small letters it is another word
WINDOW = 80  # bytes that are looked at before a word, and after it
LONG = 4  # letters of a word that tells whether its surroundings are in capitals; acronyms are mostly shorter


@compiled
def is_acronym(cased, start, end, first, last):  # type: ignore[no-untyped-def]
    """Whether the word at start:end of a text in UTF-8, which is at first:last, is an acronym.

    It has two or more letters, all from A to Z. Of the next words of at least four letters before and after it, as far
    as there are any nearby, one at least is not in capitals. Letters beyond ASCII do not tell.
    """
    if end - start < 2:
        return False
    for i in range(start, end):
        if cased[i] < 65 or cased[i] > 90:
            return False
    shouting = False
    for step in (-1, 1):
        at = start - 1 if step < 0 else end
        stop = max(first, start - WINDOW) - 1 if step < 0 else min(last, end + WINDOW)
        size = capitals = small = 0
        while at != stop:
            byte = cased[at]
            capital = 65 <= byte <= 90
            letter = capital or 97 <= byte <= 122 or byte >= 128
            if not letter and size >= LONG:
                break
            size = size + 1 if letter else 0
            capitals = capitals + capital if letter else 0
            small = small + (letter and not capital and byte < 128) if letter else 0
            at += step
        if size >= LONG:
            if small or not capitals:
                return True
            shouting = True
    return not shouting
