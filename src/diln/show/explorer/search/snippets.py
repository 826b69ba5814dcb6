"""Where a text has what was searched for: a piece of it, with the hits marked."""

import re

from diln.show.explorer.search.query import Query, Term, fold

BEGIN, END = "\x02", "\x03"  # around a hit
BEFORE, LENGTH = 80, 280  # characters of a snippet before the first hit, and of all of it
CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
LOOKED_AT = 200_000  # characters of a text in which hits are looked for


def pattern_of(query: Query) -> re.Pattern[str] | None:
    """What finds the hits in a text that was folded; None if there is nothing to look for."""
    wanted = sorted((_pattern(term) for term in query.wanted), key=len, reverse=True)
    return re.compile("|".join(wanted)) if wanted else None


def _pattern(term: Term) -> str:
    words = r"[\W_]+".join(map(re.escape, term.words))
    return rf"(?<![^\W_]){words}" + (r"[^\W_]*" if term.prefix else r"(?![^\W_])")


def snippet(text: str, pattern: re.Pattern[str]) -> str | None:
    """The piece of a text with its first hits, each between ``BEGIN`` and ``END``; None if there is no hit."""
    text = text[:LOOKED_AT]
    folded = fold(text)
    first = pattern.search(folded)
    if first is None:
        return None
    start, end = _piece(text, first.start())
    parts, at = ["" if start == 0 else "… "], start
    for hit in pattern.finditer(folded, start, end):
        parts += [_plain(text[at : hit.start()]), BEGIN, _plain(text[hit.start() : hit.end()]), END]
        at = hit.end()
    parts += [_plain(text[at:end]), "" if end == len(text) else " …"]
    return "".join(parts)


def _piece(text: str, hit: int) -> tuple[int, int]:
    """Where a piece around a hit begins and ends: between words, where there are some."""
    start, end = max(0, hit - BEFORE), min(len(text), max(0, hit - BEFORE) + LENGTH)
    if start:
        space = text.find(" ", start, hit)
        start = start if space < 0 else space + 1
    if end < len(text):
        space = text.rfind(" ", hit, end)
        end = end if space < 0 else space
    return start, end


def _plain(text: str) -> str:
    return CONTROLS.sub(" ", text)
