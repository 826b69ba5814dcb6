"""Loops that find pairs of documents with nearly all words in common.

Documents are given by their terms, the rarest first, and how often each has them; they are in ascending order of size.
The tokens of a document count as things of their own: "the third 'sea'" is in common to two documents that have it
three times each. So documents are sets of tokens, and at least the share ``least`` of the union of two sets is common
to both if and only if at least ``least / (1 + least)`` of their sizes together is.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diln.engine.compile import compiled

NEARLY = 1e-9  # by which a product of a share and a size may be off
HASHED = 64  # tokens of one term that signatures tell apart
WORD = 64  # bits


class Bags(NamedTuple):
    """Documents in ascending order of size."""

    offsets: NDArray[np.int64]  # where each document's terms begin, and the end
    terms: NDArray[np.int32]  # the rarest first
    numbers: NDArray[np.int32]  # how often the document has the term
    sizes: NDArray[np.int64]  # tokens
    signatures: NDArray[np.uint64]  # (n_docs, n_words)


class Lists(NamedTuple):
    """For each term the documents that have it among their rarest, in their order."""

    offsets: NDArray[np.int64]
    documents: NDArray[np.int32]


@compiled
def least_common(least: float, both: Any) -> Any:
    """How many tokens two documents with ``both`` tokens together must at least have in common."""
    return np.int64(np.ceil(least / (1 + least) * both - NEARLY))


@compiled
def rarest(bags: Bags, one: int, spare: int) -> Any:
    """How many of its rarest terms hold one token more than ``spare``: others with all but so many have one of them."""
    held, at = 0, bags.offsets[one]
    while held <= spare and at < bags.offsets[one + 1]:
        held += bags.numbers[at]
        at += 1
    return at - bags.offsets[one]


@compiled
def listed(bags: Bags, n_terms: int, least: float) -> Lists:
    """Documents by their rarest terms, such that longer ones that are like them have one of these, too."""
    n_docs = len(bags.sizes)
    prefixes, offsets = np.empty(n_docs, np.int64), np.zeros(n_terms + 1, np.int64)
    for m in range(n_docs):
        prefixes[m] = rarest(bags, m, bags.sizes[m] - least_common(least, 2 * bags.sizes[m]))
        for at in range(bags.offsets[m], bags.offsets[m] + prefixes[m]):
            offsets[bags.terms[at] + 1] += 1
    for term in range(n_terms):
        offsets[term + 1] += offsets[term]
    filled, documents = offsets[:-1].copy(), np.empty(offsets[-1], np.int32)
    for m in range(n_docs):
        for at in range(bags.offsets[m], bags.offsets[m] + prefixes[m]):
            documents[filled[bags.terms[at]]] = m
            filled[bags.terms[at]] += 1
    return Lists(offsets, documents)


@compiled
def sign(offsets: Any, terms: Any, numbers: Any, signatures: Any) -> None:
    """Bits of each document, one turned over by each token: at most as many differ as tokens are not in common."""
    bits = np.uint64(signatures.shape[1] * WORD)
    for m in range(len(offsets) - 1):
        for at in range(offsets[m], offsets[m + 1]):
            for token in range(min(numbers[at], HASHED)):
                bit = np.int64(_scattered(terms[at] * HASHED + token) % bits)
                signatures[m, bit // WORD] ^= np.uint64(1) << np.uint64(bit % WORD)


@compiled
def _scattered(value: int) -> Any:
    """A number of 64 bits that looks random (the last step of the generator splitmix64)."""
    z = np.uint64(value + 1) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled
def _ones(word: Any) -> Any:
    """How many bits are set."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@compiled
def differing(signatures: Any, one: int, other: int) -> Any:
    """How many bits of two documents differ.

    ``np.bitwise_count(signatures[one] ^ signatures[other]).sum()``
    """
    found = 0
    for word in range(signatures.shape[1]):
        found += _ones(signatures[one, word] ^ signatures[other, word])
    return found


@compiled
def joined(bags: Bags, lists: Lists, least: float, first: int, last: int, room: int) -> tuple[int, Any, Any, Any]:
    """Pairs of some documents with earlier ones that have at least this share in common.

    Stops before a document that might find more pairs than there is room for, and returns that document, or the last;
    then the pairs and their shares.
    """
    met = np.full(last, -1, np.int32)
    ones, others, shares = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room)
    found, m = 0, first
    while m < last and found + m <= room:
        size = bags.sizes[m]
        shortest = np.searchsorted(bags.sizes, np.int64(np.ceil(least * size - NEARLY)))
        prefix = rarest(bags, m, size - np.int64(np.ceil(least * size - NEARLY)))
        for at in range(bags.offsets[m], bags.offsets[m] + prefix):
            begin, end = lists.offsets[bags.terms[at]], lists.offsets[bags.terms[at] + 1]
            begin += np.searchsorted(lists.documents[begin:end], shortest)
            for place in range(begin, end):
                other = lists.documents[place]
                if other >= m:
                    break
                if met[other] == m:
                    continue
                met[other] = m
                both = size + bags.sizes[other]
                if differing(bags.signatures, m, other) > both - 2 * least_common(least, both):
                    continue
                share = in_common(bags, m, other, least)
                if share >= least:
                    ones[found], others[found], shares[found] = m, other, share
                    found += 1
        m += 1
    return m, ones[:found].copy(), others[:found].copy(), shares[:found].copy()


@compiled
def in_common(bags: Bags, one: int, other: int, least: float) -> float:
    """Sum over terms of the smaller of two documents' counts, over that of the larger; 0 once it cannot be enough."""
    i, j, common = bags.offsets[one], bags.offsets[other], 0
    wanted = least_common(least, bags.sizes[one] + bags.sizes[other])
    spare, other_spare = bags.sizes[one] - wanted, bags.sizes[other] - wanted  # tokens that need not be in common
    while i < bags.offsets[one + 1] and j < bags.offsets[other + 1] and spare >= 0 and other_spare >= 0:
        if bags.terms[i] == bags.terms[j]:
            both = min(bags.numbers[i], bags.numbers[j])
            common += both
            spare -= bags.numbers[i] - both
            other_spare -= bags.numbers[j] - both
            i += 1
            j += 1
        elif bags.terms[i] < bags.terms[j]:
            spare -= bags.numbers[i]
            i += 1
        else:
            other_spare -= bags.numbers[j]
            j += 1
    if spare < 0 or other_spare < 0:
        return 0.0
    return float(common / (bags.sizes[one] + bags.sizes[other] - common))
