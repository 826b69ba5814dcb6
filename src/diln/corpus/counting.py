"""Texts to counts: the terms of a run of documents and how often each document has them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import cast

import numpy as np
from numpy.typing import NDArray

from diln.corpus.letters import ascii_letters, unicode_letters
from diln.corpus.patterns import find_tokens
from diln.corpus.rules import TextRule, Tokenizer
from diln.corpus.scan import scan, tally
from diln.corpus.strings import decode, encode, offsets_of


@dataclass(frozen=True, slots=True)
class Counts:
    """Rows of counts over a list of terms: document m has ``ids`` and ``counts`` at ``offsets[m]:offsets[m + 1]``."""

    terms: list[str] | None  # None where ids are numbers of a vocabulary that the source came with
    ids: NDArray[np.int32]
    counts: NDArray[np.int32]
    offsets: NDArray[np.int64]
    letters: int = 0
    unspaced: int = 0  # letters of scripts written without spaces
    short: int = 0  # letters of words that are too short
    outside: int = 0  # characters beyond ASCII that break words


@dataclass(frozen=True, slots=True)
class Words:
    """Documents as token ids in reading order: document m has ``ids[starts[m]:starts[m + 1]]``."""

    terms: list[str]
    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    letters: int = 0
    unspaced: int = 0
    short: int = 0
    outside: int = 0


def count_texts(texts: Sequence[str], rule: TextRule) -> Counts:
    """Count the terms of each text by the rule; the vocabulary is not pruned."""
    if rule.tokenizer is not None:
        tokenizer = cast(Tokenizer, rule.tokenizer)
        return count_tokens([tokens_by(tokenizer, text) for text in texts], rule)
    if rule.token_pattern is not None:
        return count_tokens(find_tokens(rule.token_pattern, list(map(rule.plain, texts))), rule)
    return count_words(scan_texts(texts, rule), rule)


def count_tokens(documents: Sequence[Sequence[str]], rule: TextRule) -> Counts:
    """Count documents that are lists of tokens already; an empty string is no token."""
    documents = [[token for token in tokens if len(token) >= rule.length] for tokens in documents]
    return count_words(number_tokens(documents), rule)


def tokens_by(tokenizer: Tokenizer, text: str) -> list[str]:
    """The tokens that a tokenizer makes of a text; raises if these are no strings."""
    given = tokenizer(text)
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"the tokenizer gave one {type(given).__name__}; it must give a list of strings for each text")
    tokens = list(given)
    for token in tokens:
        if not isinstance(token, str):
            raise TypeError(
                f"the tokenizer gave {token!r} ({type(token).__name__}); it must give strings, such as token.text"
            )
    return tokens


def scan_texts(texts: Sequence[str], rule: TextRule) -> Words:
    """Tokens by the built-in rule."""
    kinds = unicode_letters() if rule.alphabet == "unicode" else ascii_letters()
    forms = list(map(rule.forms, texts))
    spelt, lowered = [form[0] for form in forms], [form[1] for form in forms]
    data, sizes = encode(lowered)
    cased = with_capitals(spelt, lowered, sizes) if rule.keeps_acronyms else b""
    plain = bytearray(data)
    found = scan(np.frombuffer(plain, np.uint8), offsets_of(sizes), kinds, rule.length, np.frombuffer(cased, np.uint8))
    terms = decode(bytes(plain), *found.spans.T.tolist())
    return Words(terms, found.ids, found.starts, found.letters, found.unspaced, found.short, found.outside)


def with_capitals(spelt: Sequence[str], lowered: Sequence[str], sizes: Sequence[int]) -> bytes:
    """The bytes of texts in lower case, with the capitals from A to Z that were there."""
    data, own_sizes = encode(spelt)
    if own_sizes == sizes:
        return data
    beside = (
        given if own == size else _with_capitals(given, plain)
        for given, plain, own, size in zip(spelt, lowered, own_sizes, sizes, strict=True)
    )
    return encode(list(beside))[0]


def _with_capitals(given: str, plain: str) -> str:
    """The same of a text with letters that take another number of bytes in lower case; none, if also of letters."""
    if len(given) != len(plain):
        return plain
    return "".join(a if a.isascii() and b.isascii() else b for a, b in zip(given, plain, strict=True))


def number_tokens(documents: Iterable[Sequence[str]]) -> Words:
    """Give each distinct token a number."""
    index: dict[str, int] = {}
    ids: list[int] = []
    sizes: list[int] = []
    for tokens in documents:
        ids.extend([index.setdefault(token, len(index)) for token in tokens])
        sizes.append(len(tokens))
    return Words(list(index), np.array(ids, np.int32), offsets_of(sizes))


def count_words(words: Words, rule: TextRule) -> Counts:
    """Leave out stop words, form n-grams, and count."""
    kept = ~np.fromiter(map(rule.stop_set.__contains__, words.terms), bool, len(words.terms))
    terms = list(compress(words.terms, kept.tolist()))
    ids = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)[words.ids]
    starts = words.starts
    if rule.ngram_range != (1, 1):
        left = Words(terms, ids[ids >= 0], offsets_of(ids >= 0)[starts])
        terms, ids, starts = ngrams(left, *rule.ngram_range)
        terms, ids = _merge(terms, ids)
    ids, counts, sizes = tally(ids, starts, len(terms))
    return Counts(terms, ids, counts, offsets_of(sizes), words.letters, words.unspaced, words.short, words.outside)


def _merge(terms: list[str], ids: NDArray[np.int32]) -> tuple[list[str], NDArray[np.int32]]:
    """Give equal terms one number: a token "new york" and the tokens "new" and "york" in a row are the same term."""
    index: dict[str, int] = {}
    numbers = [index.setdefault(term, len(index)) for term in terms]
    return list(index), np.array(numbers, np.int32)[ids]


def ngrams(words: Words, shortest: int, longest: int) -> tuple[list[str], NDArray[np.int32], NDArray[np.int64]]:
    """Runs of neighbouring tokens of one document, joined by spaces: their terms, ids, and each document's start."""
    n_docs, n_words = len(words.starts) - 1, max(1, len(words.terms))
    terms: list[str] = []
    ids: list[NDArray[np.int64]] = []
    docs: list[NDArray[np.int64]] = []
    run_terms, run_ids = words.terms, words.ids.astype(np.int64)
    run_docs = np.repeat(np.arange(n_docs), np.diff(words.starts))
    word_docs = run_docs
    for n in range(1, longest + 1):
        if n > 1:  # a run of n tokens is one of n - 1 and the token after it, in the same document
            inside = run_docs[: len(words.ids) - n + 1] == word_docs[n - 1 :]
            pairs = run_ids[: len(inside)] * n_words + words.ids[n - 1 :]
            codes, coded = np.unique(pairs[inside], return_inverse=True)
            run_terms = [f"{run_terms[code // n_words]} {words.terms[code % n_words]}" for code in codes.tolist()]
            run_ids = np.full(len(inside), -1, np.int64)
            run_ids[inside] = coded
            run_docs = np.where(inside, run_docs[: len(inside)], -1)
        if n >= shortest:
            ids.append(run_ids[run_docs >= 0] + len(terms))
            docs.append(run_docs[run_docs >= 0])
            terms.extend(run_terms)
    order = np.argsort(np.concatenate(docs), kind="stable")
    starts = offsets_of(np.bincount(np.concatenate(docs), minlength=n_docs))
    return terms, np.concatenate(ids)[order].astype(np.int32), starts
