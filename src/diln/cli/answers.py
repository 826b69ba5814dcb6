"""What a model says, as tables for files: topics, their terms, pairs of topics, documents."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from diln.cli.proportions import field_columns
from diln.cli.table_formats import Column, FileContent, Part
from diln.cli.tables import joined

if TYPE_CHECKING:
    from diln.analysis import DocumentTopics, Pair, Topic
    from diln.corpus import Corpus

AT_ONCE = 8192  # rows that are in memory


def topics_table(topics: Sequence["Topic"]) -> FileContent:
    """A row for each topic."""
    chains = any(topic.found is not None for topic in topics)
    columns = [Column("topic", "whole"), Column("share", "number")]
    columns += [Column("found", "whole"), Column("chains", "whole")] if chains else []
    labels, merged = any(topic.label for topic in topics), any(topic.merged for topic in topics)
    columns += [Column("label", "text")] if labels else []
    columns += [Column("merged", "text")] if merged else []

    def row(topic: "Topic") -> tuple[Any, ...]:
        found = (topic.found, topic.n_chains) if chains else ()
        own = (*((topic.label or "",) if labels else ()), *((" ".join(map(str, topic.merged)),) if merged else ()))
        return (topic.id, topic.weight, *found, *own, joined(topic.words))

    return [*columns, Column("words", "text")], in_parts(map(row, topics))


def terms_table(topics: Sequence["Topic"]) -> FileContent:
    """A row for each topic and term, with its probability in the topic."""
    columns = [Column("topic", "whole"), Column("rank", "whole"), Column("term", "text")]
    rows = (
        (topic.id, rank, *one)
        for topic in topics
        for rank, one in enumerate(zip(topic.words, topic.probabilities, strict=True), 1)
    )
    return [*columns, Column("probability", "number")], in_parts(rows)


def pairs_table(pairs: Sequence["Pair"], topics: dict[int, "Topic"]) -> FileContent:
    """A row for each pair of topics, with what several chains say of it where there are some."""
    chains = any(pair.sure is not None for pair in pairs)
    columns = [Column("first", "whole"), Column("second", "whole"), Column("correlation", "number")]
    columns += [Column(name, "number") for name in ("lift", "log_lift", "spread")]
    if chains:
        columns += [
            Column("low", "number"),
            Column("high", "number"),
            Column("sure", "flag"),
            Column("chains", "whole"),
        ]

    def row(pair: "Pair") -> tuple[Any, ...]:
        judged = (pair.low, pair.high, pair.sure, pair.n_chains) if chains else ()
        words = (joined(topics[one].words) for one in (pair.first, pair.second))
        return (pair.first, pair.second, pair.correlation, pair.lift, pair.log_lift, pair.spread, *judged, *words)

    return [*columns, Column("first_words", "text"), Column("second_words", "text")], in_parts(map(row, pairs))


def documents_table(
    documents: Iterable["DocumentTopics"], corpus: "Corpus", n_topics: int, *, of_topic: bool
) -> FileContent:
    """A row for each document: what is known of it, and its largest topics."""
    fields = field_columns(corpus)
    columns = [*([Column("share", "number")] if of_topic else []), *fields, Column("n_tokens", "whole")]
    for rank in range(1, n_topics + 1):
        columns += [Column(f"top{rank}_topic", "whole"), Column(f"top{rank}_share", "number")]
        columns += [Column(f"top{rank}_words", "text")]

    def row(one: "DocumentTopics") -> tuple[Any, ...]:
        known = [value for topic in one.topics for value in (topic.id, topic.share, joined(topic.words))]
        missing = [None, None, ""] * (n_topics - len(one.topics))
        share = [one.share] if of_topic else []
        return (*share, *(getattr(one, field.name) for field in fields), one.n_tokens, *known, *missing)

    return columns, in_parts(map(row, documents))


def in_parts(rows: Iterable[tuple[Any, ...]]) -> Iterator[Part]:
    """Rows as columns, some at a time."""
    rows = iter(rows)
    while some := list(islice(rows, AT_ONCE)):
        yield list(zip(*some, strict=True))
