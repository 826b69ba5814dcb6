"""What is in a corpus, in a few numbers."""

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from diln.corpus.corpus import Corpus
from diln.corpus.dates import iso
from diln.errors import check_kind

SHOWN = 15
LOOKED_AT_ONCE = 16_384  # documents


@dataclass(frozen=True, slots=True)
class CorpusSummary:
    """A corpus in numbers.

    Attributes
    ----------
    documents, vocabulary, tokens : int
        Numbers of documents, terms and tokens.
    empty_documents : int
        Documents without a token of the vocabulary.
    tokens_per_document : dict of float
        "min", "25%", "median", "75%" and "max".
    fields : list of str
        Which of id, title, date, label and text are known for at least some documents.
    dates : list of str
        The first and the last date; empty if none is known.
    undated : int
        Documents without a date.
    labels, terms : dict of int
        The 15 most frequent labels or terms, with their numbers of documents.
    n_labels : int
        Number of different labels.
    tally : dict of int or None
        What happened while the corpus was built (``Tally``), if known.
    rule : dict or None
        How text was turned into counts (``TextRule``), if the documents were text.
    """

    documents: int
    vocabulary: int
    tokens: int
    empty_documents: int
    tokens_per_document: dict[str, float]
    fields: list[str]
    dates: list[str]
    undated: int
    labels: dict[str, int]
    n_labels: int
    terms: dict[str, int]
    tally: dict[str, int] | None
    rule: dict[str, Any] | None

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


def summarise(corpus: Corpus) -> CorpusSummary:
    """Describe a corpus. Reads its counts, dates and labels, not its texts."""
    check_kind("corpus", corpus, Corpus)
    lengths, documents = corpus.doc_lengths, corpus.documents
    quartiles = np.quantile(lengths, [0, 0.25, 0.5, 0.75, 1]) if len(lengths) else np.zeros(5)
    frequency = corpus.document_frequency
    top = sorted(range(corpus.n_terms), key=lambda term: (-frequency[term], corpus.vocabulary[term]))[:SHOWN]
    labels: Counter[str] = Counter()
    dates: list[str] = []
    undated = 0
    for first in range(0, len(corpus), LOOKED_AT_ONCE):
        some = corpus[first : first + LOOKED_AT_ONCE].documents
        labels.update(label for label in some.labels if label)
        dates = sorted((date for date in (*dates, *some.dates) if date), key=_when)
        undated += sum(not date for date in some.dates)
        dates = [dates[0], dates[-1]] if dates else []
    return CorpusSummary(
        documents=len(corpus),
        vocabulary=corpus.n_terms,
        tokens=corpus.n_tokens,
        empty_documents=int((lengths == 0).sum()),
        tokens_per_document=dict(zip(("min", "25%", "median", "75%", "max"), quartiles.tolist(), strict=True)),
        fields=list(documents.fields),
        dates=dates,
        undated=undated,
        labels=dict(labels.most_common(SHOWN)),
        n_labels=len(labels),
        terms={corpus.vocabulary[term]: int(frequency[term]) for term in top},
        tally=None if corpus.tally is None else corpus.tally.to_json(),
        rule=corpus.rule,
    )


def _when(date: str) -> tuple[str, str]:
    """For sorting dates: those that were kept as they were given, and tell nothing, are last."""
    return iso(date) or "~", date
