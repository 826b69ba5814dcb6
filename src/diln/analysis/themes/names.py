"""Names of themes: a few words each that are frequent in it and rare elsewhere."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RELEVANCE = 0.5  # weight of a word's probability beside its lift


def names(joint: Floats, terms: list[str], n_words: int) -> list[tuple[str, ...]]:
    """Telling words of each theme; joint (n_themes, n_terms) are probabilities of theme and term.

    A word's relevance is the mean of ln p(word | theme) and ln (p(word | theme) / p(word)). A word names the theme that
    has most of its tokens, and no other; forms of one word (court, courts) count once.
    """
    tiny = np.finfo(float).tiny
    whole = np.maximum(joint.sum(axis=0), tiny)
    given = np.maximum(joint / np.maximum(joint.sum(axis=1, keepdims=True), tiny), tiny)
    relevance = np.log(given) - (1 - RELEVANCE) * np.log(whole)
    mine = joint.argmax(axis=0)
    return [_first(np.where(mine == one, row, row - 100), terms, n_words) for one, row in enumerate(relevance)]


def _first(relevance: Floats, terms: list[str], n_words: int) -> tuple[str, ...]:
    """The terms of highest relevance, without further forms of one that is there."""
    chosen: list[str] = []
    order = np.argsort(-relevance, kind="stable")
    for at in order[: 20 * n_words].tolist():
        if not any(alike(terms[at], one) for one in chosen):
            chosen.append(terms[at])
        if len(chosen) == n_words:
            break
    return tuple(chosen)


def alike(first: str, second: str) -> bool:
    """Whether two terms look like forms of one word: one is the other and an ending of at most three letters."""
    short, long = sorted((first, second), key=len)
    stem = short[:-1] if short[-1:] in "ey" else short
    return len(stem) > 2 and long.startswith(stem) and len(long) - len(stem) <= 3
