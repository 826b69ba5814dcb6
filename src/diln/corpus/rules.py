"""How text becomes counts: what a token is, which terms are kept, which documents are kept."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, Self, TypedDict
from unicodedata import normalize

from diln.corpus.acronyms import CAPITAL
from diln.corpus.patterns import check_pattern
from diln.corpus.spelling import DOTTED, SOFT_HYPHEN, unified, without_addresses
from diln.corpus.stopwords import stop_words as resolve_stop_words
from diln.corpus.tokenizers import KNOWN, NamedTokenizer, again, named
from diln.errors import SourceError, brief

Tokenizer = Callable[[str], Iterable[str]]
Alphabet = Literal["unicode", "ascii"]
MOST = 2**31 - 1  # characters, terms, tokens or documents
LONGEST_RUN = 100  # of tokens that are a term
Share = int | float  # an int is a number of documents, a float a share of them


class TextOptions(TypedDict, total=False):
    """The options of everything that turns text into counts; see ``TextRule``."""

    alphabet: Alphabet
    lowercase: bool
    min_length: int | None
    stop_words: str | Path | Iterable[str] | None
    ngram_range: tuple[int, int]
    token_pattern: str | None
    tokenizer: Tokenizer | str | None
    normalise: bool
    acronyms: bool
    addresses: bool
    min_df: Share | None
    max_df: Share | None
    max_terms: int | None
    min_tokens: int
    drop_duplicates: bool
    keep_text: bool


@dataclass(frozen=True)
class TextRule:
    """How text becomes counts.

    A token is a longest run of letters (of any script) and the marks on them, in lower case, of at least
    ``min_length`` characters; digits, punctuation and everything else separate tokens.

    Parameters
    ----------
    alphabet : {"unicode", "ascii"}
        Which characters are letters: those of every script, or only a to z.
    lowercase : bool
        Whether to ignore case (not used with a ``tokenizer``).
    min_length : int, optional
        Minimum number of characters of a token. Default: 3, or 1 with a ``token_pattern`` or ``tokenizer``.
    stop_words : str, path, iterable of str or None
        Tokens to leave out: "english", "sklearn", the code of one of 58 languages such as "de" (extra ``languages``), a
        file with one word per line, or the words themselves.
    ngram_range : (int, int)
        Shortest and longest run of neighbouring tokens that is a term; stop words are removed first.
    token_pattern : str, optional
        A regular expression whose matches are the tokens, instead of runs of letters.
    tokenizer : callable or str, optional
        A function from the unchanged text of a document to its tokens, which are not changed either; or its name:
        "jieba" (Chinese, extra ``chinese``), or "module:function", which is imported.
    normalise : bool
        Whether letters that can be written in several ways are made one: Unicode's form NFKC, no soft hyphens, no
        Arabic vowel signs or tatweel, the dotted capital I as i. If not, only NFC, without soft hyphens. Not used with
        ``alphabet="ascii"``, a pattern or a tokenizer, and without effect on ASCII.
    acronyms : bool
        Whether words of two or more capitals from A to Z, such as EU and UK, are kept however short, unless all around
        them is in capitals. US stays in capitals, apart from us. Not used with ``alphabet="ascii"``, a pattern or a
        tokenizer.
    addresses : bool
        Whether web addresses, mail addresses and names with @ in front are cut into words as other text is; if not,
        they are left out. Not used with a tokenizer.
    min_df, max_df : int or float, optional
        Terms in fewer or in more documents are dropped; a float is a share of the documents. By default ``min_df``
        grows with the corpus from 1 to 10 documents and ``max_df`` is half of the documents (all, below 20).
    max_terms : int, optional
        Keep at most this many terms, those in most documents. By default 10,000 (20,000 from a million documents on).
    min_tokens : int
        Documents with fewer tokens of the vocabulary are dropped; 0 keeps all, so that rows match the source.
    drop_duplicates : bool
        Whether to keep only the first of documents with the same text.
    keep_text : bool
        Whether documents' texts are kept beside the counts, for reading.
    """

    alphabet: Alphabet = "unicode"
    lowercase: bool = True
    min_length: int | None = None
    stop_words: str | Path | Iterable[str] | None = "english"
    ngram_range: tuple[int, int] = (1, 1)
    token_pattern: str | None = None
    tokenizer: Tokenizer | str | None = None
    normalise: bool = True
    acronyms: bool = True
    addresses: bool = True
    min_df: Share | None = None
    max_df: Share | None = None
    max_terms: int | None = None
    min_tokens: int = 0
    drop_duplicates: bool = False
    keep_text: bool = True
    stop_set: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.alphabet not in ("unicode", "ascii"):
            raise ValueError(f"alphabet is {brief(self.alphabet)}; it must be 'unicode' or 'ascii'")
        if self.token_pattern is not None and self.tokenizer is not None:
            raise ValueError("token_pattern and tokenizer were both given; give one")
        if self.token_pattern is not None:
            _check_pattern(self.token_pattern)
        if isinstance(self.tokenizer, str):
            object.__setattr__(self, "tokenizer", named(self.tokenizer))
        if self.tokenizer is not None and not callable(self.tokenizer):
            raise TypeError(f"tokenizer is {brief(self.tokenizer)}; it must be a function from a text to its tokens")
        _check_ngrams(self.ngram_range)
        for name, least in (("min_length", 1), ("max_terms", 1), ("min_tokens", 0)):
            object.__setattr__(self, name, _whole(name, getattr(self, name), least))
        for name in ("min_df", "max_df"):
            object.__setattr__(self, name, _share(name, getattr(self, name)))
        words = resolve_stop_words(self.stop_words)
        for word in words:
            if not isinstance(word, str):
                raise TypeError(f"stop_words has {brief(word)}; give a list of strings, or the name of one")
        if self.tokenizer is None:
            words = frozenset(map(self.plain, words)) | words.intersection([CAPITAL])
        object.__setattr__(self, "stop_set", words)
        if not isinstance(self.stop_words, str | Path | None):  # may be an iterator, which is used up now
            object.__setattr__(self, "stop_words", self.stop_set)

    @property
    def own_words(self) -> bool:
        """Whether tokens are runs of the letters of every script."""
        return self.alphabet == "unicode" and self.token_pattern is None and self.tokenizer is None

    @property
    def keeps_acronyms(self) -> bool:
        """Whether acronyms are kept that are too short."""
        return self.acronyms and self.own_words

    def forms(self, text: str) -> tuple[str, str]:
        """The text with each letter spelt in one way; and the same as tokens are cut from it, mostly in lower case."""
        text = text if self.addresses else without_addresses(text)
        joins = False
        if not text.isascii() and self.own_words:
            if not self.normalise:
                plain = text.lower() if self.lowercase else text
                return text, normalize("NFC", plain.replace(SOFT_HYPHEN, ""))
            text, joins = unified(text)
        plain = text.lower() if self.lowercase else text
        return text, normalize("NFC", plain).replace(DOTTED, "i") if joins else plain

    def plain(self, text: str) -> str:
        """The text as tokens are cut from it."""
        return self.forms(text)[1]

    @property
    def length(self) -> int:
        """Characters a token needs."""
        if self.min_length is not None:
            return self.min_length
        return 3 if self.token_pattern is None and self.tokenizer is None else 1

    def to_json(self) -> dict[str, Any]:
        """The rule as plain values that ``from_json`` takes back; a callable is named, not stored."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.init}
        if not (self.stop_words is None or self.stop_words in ("english", "sklearn", "none")):
            values["stop_words"] = sorted(self.stop_set)
        if isinstance(self.tokenizer, NamedTokenizer):
            values["tokenizer"] = self.tokenizer.name
        elif self.tokenizer is not None:
            values["tokenizer"] = getattr(self.tokenizer, "__qualname__", type(self.tokenizer).__qualname__)
        values["ngram_range"] = list(self.ngram_range)
        return values

    @classmethod
    def from_json(cls, values: dict[str, Any], tokenizer: Tokenizer | str | None = None) -> Self:
        """The rule stored by ``to_json``; where it had a tokenizer, the same one must be given again.

        That is not needed of tokenizers that diln knows, or that were named in this process.
        """
        stored = values["tokenizer"]
        if stored is not None and tokenizer is None:
            tokenizer = again(stored)
        if (stored is None) != (tokenizer is None):
            made = "with its own rule" if tokenizer is not None else f"with the tokenizer {brief(stored)}"
            say = "leave tokenizer out" if tokenizer is not None else "give it again as tokenizer= (--tokenizer)"
            raise SourceError(f"the corpus was built {made}; {say}")
        if isinstance(tokenizer, str) and tokenizer != stored and (":" in stored or stored in KNOWN):
            raise SourceError(
                f"the corpus was built with the tokenizer {brief(stored)}, not with {brief(tokenizer)}; name the same"
            )
        own = {name: value for name, value in values.items() if name != "columns"}
        return cls(**{**own, "tokenizer": tokenizer, "ngram_range": tuple(values["ngram_range"])})


def _check_pattern(pattern: str) -> None:
    if not isinstance(pattern, str):
        raise TypeError(f"token_pattern is {brief(pattern)}; it must be a string")
    check_pattern(pattern)


def _whole(name: str, value: Any, least: int) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= int(value) <= MOST:
        raise ValueError(f"{name} is {brief(value)}; it must be a whole number of at least {least}, up to {MOST:,}")
    return int(value)


def _check_ngrams(bounds: tuple[int, int]) -> None:
    pair = isinstance(bounds, tuple | list) and len(bounds) == 2 and all(isinstance(n, int) for n in bounds)
    if not (pair and 1 <= bounds[0] <= bounds[1] <= LONGEST_RUN):
        raise ValueError(
            f"ngram_range is {brief(bounds)}; it must be two whole numbers such as (1, 2), up to {LONGEST_RUN}"
        )


def _share(name: str, value: Any) -> Share | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(f"{name} is {brief(value)}; it must be a number of documents (int) or a share of them (float)")
    if isinstance(value, Integral):
        if not 1 <= int(value) <= MOST:
            raise ValueError(
                f"{name} is {brief(value)}; as a number of documents it must be at least 1, up to {MOST:,}"
            )
        return int(value)
    if not 0 <= float(value) <= 1:
        raise ValueError(f"{name} is {brief(value)}; as a share of the documents it must be between 0.0 and 1.0")
    return float(value)
