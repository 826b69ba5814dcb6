"""All that can be said about how a source becomes a corpus, in one place: how it is read, and how text is counted."""

from pathlib import Path
from typing import Any, NamedTuple, cast

from diln.corpus.readers import ReadOptions, open_source
from diln.corpus.readers.columns import ColumnsRead
from diln.corpus.rules import TextOptions, TextRule
from diln.corpus.sources import Source
from diln.corpus.vocabulary import given_vocabulary
from diln.corpus.watch import Watch
from diln.errors import SourceError


class CorpusOptions(ReadOptions, TextOptions, total=False):
    """The options of ``ReadOptions`` and of ``TextOptions`` together."""


class Opened(NamedTuple):
    """A source that is ready to be counted."""

    source: Source
    vocabulary: list[str] | None  # the only terms to count, if any
    text: TextOptions


def open_with(
    source: str | Path | Source, options: CorpusOptions, columns: ColumnsRead | None = None, watch: Watch | None = None
) -> Opened:
    """Open a source, and keep apart what is said about its reading and about its text.

    ``columns`` are those that earlier documents were read from; they are looked for first. ``watch`` is told how
    much of a file elsewhere has come.
    """
    said: dict[str, Any] = dict(options)
    read: dict[str, Any] = {key: said.pop(key) for key in ReadOptions.__annotations__ if key in said}
    vocabulary, text = given_vocabulary(read.pop("vocabulary", None)), cast(TextOptions, said)
    if not isinstance(source, Source):
        if columns is not None:
            read.setdefault("columns", columns)
        return Opened(open_source(source, watch, **{**read, "vocabulary": vocabulary}), vocabulary, text)
    if read:
        raise SourceError(f"{source.name}: is no file; leave out what says how to read one ({', '.join(sorted(read))})")
    return Opened(source, vocabulary, text)


def rule_of(text: TextOptions) -> TextRule:
    """The rule that the options make; an unknown one is named."""
    unknown = set(text) - set(TextOptions.__annotations__)
    if unknown:
        known = sorted(CorpusOptions.__annotations__)
        raise TypeError(f"there is no option {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    return TextRule(**text)


def stored_rule(rule: TextRule, source: Source) -> dict[str, Any] | None:
    """What is kept of how a source's text was counted, and of which columns it was read from; None for counts."""
    return {**rule.to_json(), "columns": source.columns_read} if source.vocabulary is None else None


def columns_of(stored: dict[str, Any] | None) -> ColumnsRead | None:
    """The columns that documents were read from, of a stored rule."""
    return None if stored is None else stored.get("columns")
