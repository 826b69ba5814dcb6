"""Documents' proportions of topics as tables: a row for each document, or one for each document and topic."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from diln.cli.table_formats import Column, FileContent, Kind, Part
from diln.cli.tables import joined
from diln.files import whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from diln.analysis import Topic
    from diln.corpus import Corpus

MIN_SHARE = 0.01  # of a document that a topic has in a long table, by default
DATES = 1 << 16  # that are in memory at once
CELLS = 1 << 18  # of a long table, that are in memory at once
NAME_WORDS = 3  # of a topic, in the name of its column
KNOWN = ("title", "date", "label")  # fields of documents, beside the id, that tables have where the corpus has them


class Proportions(NamedTuple):
    """Some documents, how many tokens the model knows of each, and proportions of all topics (n_docs, n_topics)."""

    documents: "Corpus"
    tokens: "NDArray[np.int64]"
    theta: "NDArray[np.float64]"


def field_columns(corpus: "Corpus") -> list[Column]:
    """Columns of what is known of documents."""
    fields = corpus.documents.fields
    kinds = {"date": date_kind(corpus)} if "date" in fields else {}
    return [Column("id", "text"), *(Column(name, kinds.get(name, "text")) for name in KNOWN if name in fields)]


def date_kind(corpus: "Corpus") -> Kind:
    """Days where all dates are, times where some are, and text where some are only a month, a year, or no date."""
    kind: Kind = "date"
    for first in range(0, len(corpus), DATES):
        for text in set(corpus[first : first + DATES].documents.dates) - {""}:
            try:
                when = datetime.fromisoformat(text)
            except ValueError:
                return "text"
            if text == when.replace(tzinfo=None).isoformat():
                kind = "time"
            elif text != when.date().isoformat():
                return "text"
    return kind


def fields_of(corpus: "Corpus", columns: list[Column]) -> list[list[Any]]:
    """The values of these columns for some documents."""
    return [getattr(corpus.documents, f"{column.name}s") for column in columns]


def wide_table(
    parts: Iterable[Proportions], fields: list[Column], topics: list["Topic"], *, words: bool, every: bool
) -> FileContent:
    """A row for each document: the shares of these topics and, unless they are ``every`` topic, of all others together.

    Columns have the topics' first words in their names, or their numbers alone.
    """
    names = [f"topic_{topic.id}{' ' + _called(topic, NAME_WORDS) if words else ''}" for topic in topics]
    columns = [*fields, Column("n_tokens", "whole"), *(Column(name, "number") for name in names)]
    rest = [] if every else [Column("other", "number")]
    return [*columns, *rest], _wide_parts(parts, fields, [topic.id for topic in topics], every)


def _called(topic: "Topic", n_words: int | None = None) -> str:
    """A topic's words, after the name that its user gave it."""
    return f"{topic.label}: {joined(topic.words[:n_words])}" if topic.label else joined(topic.words[:n_words])


def _wide_parts(parts: Iterable[Proportions], fields: list[Column], topics: list[int], every: bool) -> Iterator[Part]:
    import numpy as np

    for documents, tokens, theta in parts:
        rest = [] if every else [np.delete(theta, topics, axis=1).sum(axis=1)]
        yield [*fields_of(documents, fields), tokens, *theta[:, topics].T, *rest]


def long_table(parts: Iterable[Proportions], fields: list[Column], topics: list["Topic"], least: float) -> FileContent:
    """A row for each document and topic that has at least this share of it, a document's largest topic first."""
    of_topic = [Column("rank", "whole"), Column("topic", "whole"), Column("share", "number"), Column("words", "text")]
    return [*fields, Column("n_tokens", "whole"), *of_topic], _long_parts(parts, fields, topics, least)


def _long_parts(
    parts: Iterable[Proportions], fields: list[Column], shown: list["Topic"], least: float
) -> Iterator[Part]:
    import numpy as np

    ids, words = np.array([topic.id for topic in shown]), np.array([_called(topic) for topic in shown], object)
    size = max(1, CELLS // len(shown))
    for documents, tokens, theta in parts:
        for first in range(0, len(theta), size):
            some = slice(first, first + size)
            shares = theta[some][:, ids]
            docs, topics = np.nonzero(shares >= least)
            order = np.lexsort((-shares[docs, topics], docs))
            docs, topics = docs[order], topics[order]
            rank = np.arange(len(docs)) - np.searchsorted(docs, docs) + 1
            known = [np.array(values, object)[docs] for values in fields_of(documents[some], fields)]
            yield [*known, tokens[some][docs], rank, ids[topics], shares[docs, topics], words[topics]]


def write_arrays(path: Path, parts: Iterable[Proportions]) -> None:
    """Write proportions of all topics as arrays of NumPy: theta, ids and n_tokens."""
    import numpy as np

    ids, tokens, theta = zip(*((part.documents.documents.ids, part.tokens, part.theta) for part in parts), strict=True)
    with whole(path) as file:
        np.savez(
            file,
            theta=np.concatenate(theta),
            ids=np.array([name for some in ids for name in some], np.str_),
            n_tokens=np.concatenate(tokens),
        )
