"""Which columns of a table, or keys of a record, hold a document's text, id, title, date and label."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from diln.corpus.sources import ParsedDocuments, as_texts, is_text
from diln.errors import SourceError

NONE = "none"
USUAL = {
    "id": ("id", "doc_id", "docid", "document_id", "_id", "uid", "uuid", "key"),
    "title": ("title", "headline", "subject", "name"),
    "date": ("date", "published", "publication_date", "pub_date", "created", "created_at", "timestamp", "year"),
    "label": ("label", "category", "section", "class", "target", "group", "source"),
}
USUAL_TEXT = (
    *("text", "body", "content", "contents", "abstract", "document", "article", "fulltext", "full_text", "message"),
    *("summary", "description", "review", "comment", "tweet", "post", "story", "transcript"),
)
SHOWN, WIDEST = 20, 60  # names of columns in a message, and characters of a name

ColumnsRead = Mapping[str, Any]  # of a corpus: a list of columns under "text", and one column or None for each field


class ColumnOptions(TypedDict, total=False):
    """Names of columns; "none" means that there is no such column.

    Those not named are looked for in ``columns``, which earlier documents were read from, and else guessed.
    """

    text: str | Sequence[str] | None
    id: str | None
    title: str | None
    date: str | None
    label: str | None
    columns: ColumnsRead | None


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns to read: those whose texts, joined, are counted, and one for each other field or None."""

    text: tuple[str, ...]
    others: dict[str, str]  # field -> column, for the fields that have one

    @property
    def numbered(self) -> bool:
        """Whether documents get numbers for ids."""
        return "id" not in self.others

    def documents(self, numbers: Sequence[int], columns: Mapping[str, Sequence[Any]], where: str) -> ParsedDocuments:
        """Documents from their values column by column; their numbers, after ``where`` they are, are ids if need be."""
        texts = {name: _texts_only(columns[name], name, numbers, where) for name in self.text}
        fields = {field: as_texts(columns[name]) for field, name in self.others.items()}
        fields.setdefault("id", list(map(str, numbers)))
        counted = _join(list(texts.values()))
        body = [values for name, values in texts.items() if name != self.others.get("title")]
        fields["text"] = counted if len(body) == len(texts) else _join(body) if body else [""] * len(numbers)
        return ParsedDocuments(counted, fields, sum(not text for text in counted))

    def to_json(self) -> dict[str, Any]:
        """As plain values, to be read from again."""
        return {"text": list(self.text), **{field: self.others.get(field) for field in USUAL}}

    def needed(self) -> list[str]:
        """Every column that is read, once."""
        return list(dict.fromkeys((*self.text, *self.others.values())))


def _texts_only(values: Sequence[Any], name: str, numbers: Sequence[int], where: str) -> list[str]:
    """The values as texts; the names and truths of a nested object would be counted as words, and are an error."""
    for number, value in zip(numbers, values, strict=True):
        if type(value) is not str and not is_text(value):
            kind = "true or false" if isinstance(value, bool) else "a nested object"
            raise SourceError(
                f"{where} {number}: {clipped(name)!r} is {kind}, not text; give a string or a list of strings, or name "
                "another column with --text (text=)"
            )
    return as_texts(values)


def _join(columns: list[list[str]]) -> list[str]:
    if len(columns) == 1:
        return columns[0]
    return ["\n".join(part for part in parts if part) for parts in zip(*columns, strict=True)]


def choose_columns(available: Iterable[str], asked: ColumnOptions, where: str) -> tuple[Columns, tuple[str, ...]]:
    """The columns asked for, or those of before, the rest guessed; and a sentence about what was not asked for."""
    names = [str(name) for name in available]
    before = asked.get("columns") or {}
    text, found = _text_columns(names, asked.get("text"), before.get("text"), where)
    guesses = [f"{_said(text)} as text{found}"] if found is not None else []
    others = {}
    for field in USUAL:
        wanted, earlier = asked.get(field), before.get(field)
        if wanted == NONE and NONE not in names:
            continue
        if wanted is not None:
            others[field] = _check(str(wanted), names, field, where)
        elif earlier in names and names.count(earlier) == 1:
            others[field] = earlier
            guesses.append(f"{_said([earlier])} as {field} (as before)")
        elif (guess := _first_of(USUAL[field], names, text if field != "title" else ())) is not None:
            others[field] = guess
            guesses.append(f"{_said([guess])} as {field}")
    note = f"{where}: reading {', '.join(guesses)} (of the columns {listed(names)})" if guesses else ""
    return Columns(text, others), (note,) if note else ()


def _text_columns(
    names: list[str], given: str | Sequence[str] | None, earlier: Sequence[str] | None, where: str
) -> tuple[tuple[str, ...], str | None]:
    """The columns with the text; and, if they were not given, whether they are those of before."""
    if given:
        text = (given,) if isinstance(given, str) else tuple(given)
        return tuple(_check(name, names, "text", where) for name in text), None
    if not earlier:
        return (_check(_guess_text(names, where), names, "text", where),), ""
    missing = [name for name in earlier if name not in names]
    if missing:
        raise SourceError(
            f"{where}: there is no column {clipped(missing[0])!r}, and the text was in {_said(earlier)} before; name "
            f"what holds the text here with --text (text=); the columns are {listed(names)}"
        )
    return tuple(_check(name, names, "text", where) for name in earlier), " (as before)"


def _check(name: str, names: list[str], field: str, where: str) -> str:
    if name not in names:
        raise SourceError(
            f"{where}: there is no column {clipped(name)!r} for the {field}; the columns are {listed(names)}"
        )
    if names.count(name) > 1:
        raise SourceError(f"{where}: there are {names.count(name)} columns {clipped(name)!r}; rename all but one")
    return name


def _first_of(usual: Sequence[str], names: list[str], taken: Sequence[str]) -> str | None:
    often = Counter(names)
    by_lower = {name.lower(): name for name in reversed(names) if name not in taken and often[name] == 1}
    return next((by_lower[name] for name in usual if name in by_lower), None)


def _guess_text(names: list[str], where: str) -> str:
    found = [name for name in names if name.lower() in USUAL_TEXT]
    plain = [name for name in found if name.lower() == "text"]
    if len(plain) == 1 or len(found) == 1:
        return (plain or found)[0]
    if len(names) == 1:
        return names[0]
    problem = f"{' and '.join(found[:SHOWN])} could each be it" if found else "none has a usual name"
    raise SourceError(
        f"{where}: which column holds the text? {problem}; name it with --text (text=); the columns are {listed(names)}"
    )


def _said(names: Sequence[str]) -> str:
    return " and ".join(repr(clipped(name)) for name in names[:SHOWN])


def listed(names: Sequence[str]) -> str:
    """The names of columns, as far as a sentence can take them."""
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(clipped(name) for name in names[:SHOWN]) + more


def clipped(name: str) -> str:
    """A name as far as a sentence can take it, on one line."""
    line = " ".join(str(name).split())
    return line if len(line) <= WIDEST else f"{line[:WIDEST]}..."
