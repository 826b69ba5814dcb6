"""Documents as they are listed: what is known of each, and which of them are asked for."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from diln.analysis.documents import TopicShare
from diln.analysis.records import Record, Records
from diln.corpus.dates import iso
from diln.errors import brief

SNIPPET = 240  # characters


@dataclass(frozen=True, slots=True)
class DocumentInfo(Record):
    """A document.

    Attributes
    ----------
    row : int
        Its place in the corpus, from 0 on.
    id, title, date, label : str
        As the corpus has them; empty if unknown.
    n_tokens : int
        Number of tokens of terms that the model knows.
    theme : int or None
        Its theme; None where there is none, or themes were not asked for.
    topics : tuple of TopicShare
        Its largest topics, in descending order; none for a document without a known token.
    share : float or None
        How much of the document is of what was asked for: of the topic or the theme, or of the rarer topic of a pair.
    snippet : str
        The beginning of the text, if it was kept.
    """

    row: int
    id: str
    title: str
    date: str
    label: str
    n_tokens: int
    theme: int | None
    topics: tuple[TopicShare, ...]
    share: float | None = None
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class Listing(Record):
    """Some documents of those that were asked for.

    Attributes
    ----------
    total : int
        How many there are.
    documents : tuple of DocumentInfo
        The ones that are listed.
    """

    total: int
    documents: tuple[DocumentInfo, ...]

    def to_frame(self) -> Any:
        """A row for each document: a pandas frame, or a polars frame where only polars is installed."""
        return Records(self.documents).to_frame()


@dataclass(frozen=True, slots=True)
class Neighbour(Record):
    """A document that is like another.

    Attributes
    ----------
    document : DocumentInfo
        The document.
    similarity : float
        How like it is: 1 for the same, about 0 for documents that have nothing to do with each other.
    """

    document: DocumentInfo
    similarity: float


def snippet(text: str, size: int = SNIPPET) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text[: 4 * size].split())
    return line if len(line) <= size else f"{line[:size].rsplit(' ', 1)[0]} …"


def span(since: Any, until: Any) -> tuple[np.datetime64 | None, np.datetime64 | None]:
    """The first second of a span of time, and the first after it; None for an open end.

    A year, month or day as the end is included to its last second.
    """
    first, last = _moment("since", since), _moment("until", until)
    begin = None if first is None else np.datetime64(first, "s")
    if last is None:
        return begin, None
    units: dict[int, Literal["Y", "M", "D"]] = {4: "Y", 7: "M", 10: "D"}
    unit = units.get(len(last))
    end = np.datetime64(last, "s") + 1 if unit is None else (np.datetime64(last, unit) + 1).astype("datetime64[s]")
    return begin, end


def _moment(name: str, value: Any) -> str | None:
    """A date as ISO 8601."""
    if value is None or value == "":
        return None
    if isinstance(value, datetime):
        value = value.isoformat()
    found = iso(str(value)) if isinstance(value, str) or hasattr(value, "isoformat") else ""
    if not found:
        raise ValueError(f"{name} is {brief(value)}; give a date such as 2017, 2017-03 or 2017-03-02")
    return found


def within(times: NDArray[np.datetime64], since: Any, until: Any) -> NDArray[np.bool_]:
    """Which documents are of a span of time; those without a date are of none."""
    first, after = span(since, until)
    known = ~np.isnat(times)
    if first is not None:
        known &= times >= first
    if after is not None:
        known &= times < after
    return np.asarray(known)
