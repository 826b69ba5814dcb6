"""Text to counts: tokens, vocabulary, the corpus, and its place on disk."""

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
