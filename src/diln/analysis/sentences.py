"""Texts cut into sentences, well enough to quote from."""

import re

SHORT = {
    "mr", "mrs", "ms", "dr", "prof", "rev", "gen", "sen", "rep", "gov", "lt", "col", "sgt", "capt", "st", "jr", "sr",
    "inc", "ltd", "co", "corp", "bros", "vs", "etc", "eg", "ie", "cf", "al", "fig", "figs", "eq", "eqs", "ref", "refs",
    "no", "nos", "vol", "pp", "ed", "eds", "dept", "univ", "approx", "jan", "feb", "mar", "apr", "jun", "jul", "aug",
    "sep", "sept", "oct", "nov", "dec", "mt", "ft", "z.b", "bzw", "ca", "nr", "bd", "hrsg", "mme", "mlle", "sra",
}  # fmt: skip
BREAK = re.compile(r"(?<=[.!?…])[\"'”’»)\]]*\s+|\n\s*\n+|(?<=[。！？])")
LAST_WORD = re.compile(r"([^\s(\[\"'“‘]+)\.[\"'”’»)\]]*$")


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order, with their spaces made plain.

    A full stop ends one unless it is part of an abbreviation or of initials, or what follows begins in lower case.
    """
    found, first = [], 0
    for gap in BREAK.finditer(text):
        if "\n" not in gap[0] and not _ends(
            text[max(first, gap.start() - 40) : gap.start()], text[gap.end() : gap.end() + 1]
        ):
            continue
        found.append(text[first : gap.end()])
        first = gap.end()
    found.append(text[first:])
    return [plain for plain in (" ".join(one.split()) for one in found) if plain]


def _ends(before: str, after: str) -> bool:
    """Whether a sentence ends here."""
    if after.islower():
        return False
    last = LAST_WORD.search(before)
    if last is None:
        return True
    word = last[1]
    initials = re.fullmatch(r"(\w\.)*\w", word) is not None and not word.isdecimal()
    return not (initials or word.lower() in SHORT)
