"""Text to counts: tokens, vocabulary, the corpus, and its place on disk."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diln.corpus.building import append, build
    from diln.corpus.corpus import Corpus
    from diln.corpus.documents import Document
    from diln.corpus.options import CorpusOptions
    from diln.corpus.readers import FORMATS, ReadOptions
    from diln.corpus.rules import TextOptions, TextRule
    from diln.corpus.splits import Completion
    from diln.corpus.summary import CorpusSummary, summarise
    from diln.corpus.watch import Tally, Watch

__all__ = [
    "FORMATS",
    "Completion",
    "Corpus",
    "CorpusOptions",
    "CorpusSummary",
    "Document",
    "ReadOptions",
    "Tally",
    "TextOptions",
    "TextRule",
    "Watch",
    "append",
    "build",
    "summarise",
]

_HOMES = {
    "FORMATS": "diln.corpus.readers",
    "Completion": "diln.corpus.splits",
    "Corpus": "diln.corpus.corpus",
    "CorpusOptions": "diln.corpus.options",
    "CorpusSummary": "diln.corpus.summary",
    "Document": "diln.corpus.documents",
    "ReadOptions": "diln.corpus.readers",
    "Tally": "diln.corpus.watch",
    "TextOptions": "diln.corpus.rules",
    "TextRule": "diln.corpus.rules",
    "Watch": "diln.corpus.watch",
    "append": "diln.corpus.building",
    "build": "diln.corpus.building",
    "summarise": "diln.corpus.summary",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for only when it is asked for, so that commands stay quick."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'diln.corpus' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
