"""The two inner loops between text and counts: bytes to token ids, and token ids to rows of counts."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diln.corpus.acronyms import CAPITAL, is_acronym
from diln.corpus.letters import BREAK, MARK, UNSPACED
from diln.engine.compile import compiled, inlined

FNV_OFFSET = np.uint64(0xCBF29CE484222325)
FNV_PRIME = np.uint64(0x100000001B3)
FOLD = np.uint64(32)
FIRST, SECOND = map(ord, CAPITAL)
LAST_CAPITAL = ord("Z")
NO_CAPITALS = np.frombuffer(b"", np.uint8)


class Scanned(NamedTuple):
    """The words of a run of documents, numbered by first appearance."""

    ids: NDArray[np.int32]  # the words in reading order
    starts: NDArray[np.int64]  # document m has ids[starts[m]:starts[m + 1]]
    spans: NDArray[np.int64]  # (n_terms, 2): where in the text each term first stood
    letters: int
    unspaced: int  # how many of the letters belong to scripts written without spaces
    short: int  # how many of the letters are of words that are too short
    outside: int  # characters beyond ASCII that break words


@inlined
def _code_point(text, i, end):  # type: ignore[no-untyped-def]
    """Code point and width of the UTF-8 character at i; a byte that starts none counts as a break of width 1."""
    lead = np.int64(text[i])
    point, width = lead, 1
    if lead >= 0x80:
        point = np.int64(0)
        if 0xC2 <= lead < 0xE0 and i + 1 < end:
            point = (lead & 0x1F) << 6 | np.int64(text[i + 1] & 0x3F)
            width = 2
        elif 0xE0 <= lead < 0xF0 and i + 2 < end:
            point = (lead & 0x0F) << 12 | np.int64(text[i + 1] & 0x3F) << 6 | np.int64(text[i + 2] & 0x3F)
            width = 3
        elif 0xF0 <= lead < 0xF5 and i + 3 < end:
            point = (lead & 0x07) << 18 | np.int64(text[i + 1] & 0x3F) << 12
            point = point | np.int64(text[i + 2] & 0x3F) << 6 | np.int64(text[i + 3] & 0x3F)
            width = 4
    return point, width


@inlined
def _slot(key, mask):  # type: ignore[no-untyped-def]
    """Where in a table of mask + 1 slots the search for a key begins."""
    return np.int64((key ^ (key >> FOLD)) & np.uint64(mask))


# Long: one pass over the letters, whose state would have to go through every function that it is cut into.
@compiled
def _scan_documents(text, cased, starts, kinds, min_length, keys, slots, spans, ids, token_starts, state):  # type: ignore[no-untyped-def]
    """Scan documents from state[0] on until all are done or the table of terms is full; see ``scan``.

    state: documents done, terms known, letters, those of scripts without spaces, those of words that are too short, and
    characters beyond ASCII that break words. The table (keys, slots, spans) is the caller's, so that this loop neither
    allocates nor counts references. A key is a word's FNV-1a hash; terms with the same key are compared byte by byte.
    """
    mask = len(slots) - 1
    n_terms = state[1]
    shortest = max(min_length, 3) if len(cased) else 0  # that cannot be an acronym to be kept
    for m in range(state[0], len(starts) - 1):
        i, end = starts[m], starts[m + 1]
        n_ids = token_starts[m]
        letters, unspaced, short, outside = 0, 0, 0, 0
        while i < end:
            point, width = _code_point(text, i, end)
            kind = kinds[point] if point < len(kinds) else BREAK
            if kind in (BREAK, MARK):
                i += width
                outside += width > 1
                continue
            start, marks, inside, key = i, 0, 0, FNV_OFFSET
            while i < end:
                byte = text[i]
                if byte < 0x80:
                    if kinds[byte] == BREAK:
                        break
                    key = (key ^ np.uint64(byte)) * FNV_PRIME
                    i += 1
                else:
                    point, width = _code_point(text, i, end)
                    kind = kinds[point] if point < len(kinds) else BREAK
                    if kind == BREAK:
                        break
                    marks += kind == MARK
                    unspaced += kind == UNSPACED
                    inside += width - 1
                    for _ in range(width):
                        key = (key ^ np.uint64(text[i])) * FNV_PRIME
                        i += 1
            size = i - start
            letters += size - inside - marks
            acronym = False
            if size < shortest and size > 1 and cased[start] <= LAST_CAPITAL:
                acronym = is_acronym(cased, start, i, starts[m], end)
            if acronym and size == 2 and cased[start] == FIRST and cased[start + 1] == SECOND:
                text[start], text[start + 1] = FIRST, SECOND
                key = (((FNV_OFFSET ^ np.uint64(FIRST)) * FNV_PRIME) ^ np.uint64(SECOND)) * FNV_PRIME
            if size - inside < min_length and not acronym:
                short += size - inside - marks
                continue
            slot = _slot(key, mask)
            term = slots[slot]
            while term >= 0:
                if keys[slot] == key:
                    first = spans[term, 0]
                    same = spans[term, 1] - first == size
                    offset = 0
                    while same and offset < size:
                        same = text[first + offset] == text[start + offset]
                        offset += 1
                    if same:
                        break
                slot = (slot + 1) & mask
                term = slots[slot]
            if term < 0:
                if n_terms == len(spans):
                    state[0] = m
                    state[1] = n_terms
                    return
                term = n_terms
                keys[slot] = key
                slots[slot] = term
                spans[term, 0] = start
                spans[term, 1] = i
                n_terms += 1
            ids[n_ids] = term
            n_ids += 1
        token_starts[m + 1] = n_ids
        state[2] += letters
        state[3] += unspaced
        state[4] += short
        state[5] += outside
    state[0] = len(starts) - 1
    state[1] = n_terms


@compiled
def _rehash(keys, slots, wider_keys, wider_slots):  # type: ignore[no-untyped-def]
    """Move a hash table into a larger, empty one."""
    mask = len(wider_slots) - 1
    for old in range(len(slots)):
        if slots[old] >= 0:
            slot = _slot(keys[old], mask)
            while wider_slots[slot] >= 0:
                slot = (slot + 1) & mask
            wider_slots[slot] = slots[old]
            wider_keys[slot] = keys[old]


def _table(size: int) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    return np.empty(size, np.uint64), np.full(size, -1, np.int32)


def scan(
    text: NDArray[np.uint8],
    starts: NDArray[np.int64],
    kinds: NDArray[np.uint8],
    min_length: int,
    cased: NDArray[np.uint8] = NO_CAPITALS,
    room: int = 1 << 14,
) -> Scanned:
    """Cut documents into words and number the words by first appearance.

    ``text`` holds the documents' UTF-8 bytes end to end, document m at ``starts[m]:starts[m + 1]``; ``kinds`` is
    the class of every code point. A word is a longest run of letters and marks that begins with a letter and has at
    least ``min_length`` characters, or is an acronym (``is_acronym``) of ``cased``, the same text with its capitals;
    nothing is one where that is empty. Acronyms that stay in capitals are written so into ``text``. ``room`` (a power
    of two) is how many terms the table starts with; it grows.
    Equals, document by document, ``[w for w in re.findall(letters, text) if len(w) >= min_length]``.
    """
    n_docs = len(starts) - 1
    text = np.require(text, requirements="W")
    ids = np.empty(len(text) // (min(min_length, 2) if len(cased) else min_length) + 1, np.int32)
    token_starts = np.zeros(n_docs + 1, np.int64)
    state = np.zeros(6, np.int64)
    keys, slots = _table(2 * room)
    spans = np.zeros((room, 2), np.int64)
    while True:
        _scan_documents(text, cased, starts, kinds, min_length, keys, slots, spans, ids, token_starts, state)
        if state[0] == n_docs:
            return Scanned(ids[: token_starts[-1]], token_starts, spans[: state[1]], *state[2:].tolist())
        wider_keys, wider_slots = _table(2 * len(slots))
        _rehash(keys, slots, wider_keys, wider_slots)
        keys, slots = wider_keys, wider_slots
        spans = np.concatenate([spans, np.zeros_like(spans)])


@compiled
def tally(ids, starts, n_terms):  # type: ignore[no-untyped-def]
    """Count each document's ids: distinct ids by first appearance, their counts, and each document's number of them.

    Document m's ids are ``ids[starts[m]:starts[m + 1]]``; a negative id is passed over. Equals, document by document,
    ``np.unique(ids[ids >= 0], return_counts=True)`` up to the order.
    """
    n_docs = len(starts) - 1
    terms = np.empty(len(ids), np.int32)
    counts = np.empty(len(ids), np.int32)
    lengths = np.zeros(n_docs, np.int64)
    seen = np.zeros(n_terms, np.int32)
    n_out = 0
    for m in range(n_docs):
        first = n_out
        for t in range(starts[m], starts[m + 1]):
            k = ids[t]
            if k >= 0:
                if seen[k] == 0:
                    terms[n_out] = k
                    n_out += 1
                seen[k] += 1
        for j in range(first, n_out):
            counts[j] = seen[terms[j]]
            seen[terms[j]] = 0
        lengths[m] = n_out - first
    return terms[:n_out].copy(), counts[:n_out].copy(), lengths


@compiled
def hash_rows(data, offsets):  # type: ignore[no-untyped-def]
    """FNV-1a hash of each run of bytes data[offsets[m]:offsets[m + 1]]."""
    hashes = np.empty(len(offsets) - 1, np.uint64)
    for m in range(len(hashes)):
        key = FNV_OFFSET
        for i in range(offsets[m], offsets[m + 1]):
            key = (key ^ np.uint64(data[i])) * FNV_PRIME
        hashes[m] = key
    return hashes
