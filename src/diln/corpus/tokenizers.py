"""Tokenizers that have a name: those that diln knows, and functions of installed modules that the user names.

A name that is stored with a corpus or a model is never imported for that: a file from elsewhere could name anything.
Only tokenizers that diln knows, and those that the user has named in this process, are used again.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from diln.errors import SourceError, brief

KNOWN = ("jieba",)
"""Tokenizers that can be named without a module."""

_named: set[str] = set()  # by the user, in this process


@dataclass(frozen=True, slots=True)
class NamedTokenizer:
    """A tokenizer by its name, which any process can find again: "jieba", or ``module:function``."""

    name: str

    def __call__(self, text: str) -> Iterable[str]:
        """The tokens of a text."""
        tokens: Iterable[str] = function_of(self.name)(text)
        return tokens


def named(name: str) -> NamedTokenizer:
    """The tokenizer that the user names; raises if there is none."""
    function_of(name)
    _named.add(name)
    return NamedTokenizer(name)


def again(name: str) -> NamedTokenizer | None:
    """The tokenizer of a stored name; None if the user has to name it first."""
    return named(name) if name in KNOWN or name in _named else None


@cache
def function_of(name: str) -> Callable[[str], Iterable[str]]:
    """The function that a name stands for."""
    if name in KNOWN:
        return _jieba()
    module, colon, path = name.partition(":")
    if not (colon and module and path):
        raise SourceError(
            f"tokenizer is {brief(name)}; it must be {' or '.join(KNOWN)}, or module:function, such as "
            "konlpy_tokens:nouns for the function nouns of an installed module konlpy_tokens"
        )
    try:
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except Exception as error:  # whatever the module raises when it is loaded
        reason = " ".join(str(error).split()) or type(error).__name__
        raise SourceError(
            f"tokenizer {brief(name)} cannot be loaded ({reason:.200}); name module:function, where module is "
            "installed or in a folder of PYTHONPATH"
        ) from None
    if not callable(found):
        raise SourceError(f"tokenizer {brief(name)} is a {type(found).__name__}; name a function of a text")
    function: Callable[[str], Iterable[str]] = found
    return function


def _jieba() -> Callable[[str], list[str]]:
    try:
        import jieba  # type: ignore[import-untyped]
    except ImportError:
        raise SourceError("the tokenizer jieba needs a package: pip install 'diln[chinese]'") from None
    jieba.setLogLevel("WARNING")

    def words(text: str) -> list[str]:
        return [word for word in map(str.lower, jieba.lcut(text)) if any(map(str.isalpha, word))]

    return words
