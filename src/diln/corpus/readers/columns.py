"""Which columns of a table, or keys of a record, hold a document's text, id, title, date and label."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from diln.corpus.sources import ParsedDocuments, as_texts, numbers_from
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


class ColumnOptions(TypedDict, total=False):
    """Names of columns; those not named are guessed, and "none" means that there is no such column."""

    text: str | Sequence[str] | None
    id: str | None
    title: str | None
    date: str | None
    label: str | None


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns to read: those whose texts, joined, are counted, and one for each other field or None."""

    text: tuple[str, ...]
    others: dict[str, str]  # field -> column, for the fields that have one

    @property
    def numbered(self) -> bool:
        """Whether documents get numbers for ids."""
        return "id" not in self.others

    def documents(self, first: int, columns: Mapping[str, Sequence[Any]], how_many: int) -> ParsedDocuments:
        """Documents from their values column by column; ``first`` numbers them where they have no id."""
        texts = {name: as_texts(columns[name]) for name in self.text}
        fields = {field: as_texts(columns[name]) for field, name in self.others.items()}
        fields.setdefault("id", numbers_from(first, how_many))
        counted = _join(list(texts.values()))
        body = [values for name, values in texts.items() if name != self.others.get("title")]
        fields["text"] = counted if len(body) == len(texts) else _join(body) if body else [""] * how_many
        return ParsedDocuments(counted, fields, sum(not text for text in counted))

    def needed(self) -> list[str]:
        """Every column that is read, once."""
        return list(dict.fromkeys((*self.text, *self.others.values())))


def _join(columns: list[list[str]]) -> list[str]:
    if len(columns) == 1:
        return columns[0]
    return ["\n".join(part for part in parts if part) for parts in zip(*columns, strict=True)]


def choose_columns(available: Iterable[str], asked: ColumnOptions, where: str) -> tuple[Columns, tuple[str, ...]]:
    """The columns asked for, the rest guessed from the usual names; and a sentence about what was guessed."""
    names = [str(name) for name in available]
    given = asked.get("text")
    text = tuple([given] if isinstance(given, str) else given or ())
    guesses = []
    for name in text:
        _check(name, names, "text", where)
    if not text:
        text = (_guess_text(names, where),)
        guesses.append(f"{text[0]!r} as text")
    others = {}
    for field in USUAL:
        wanted = asked.get(field)
        if wanted == NONE and NONE not in names:
            continue
        if wanted is not None:
            others[field] = _check(str(wanted), names, field, where)
        elif (found := _first_of(USUAL[field], names, text if field != "title" else ())) is not None:
            others[field] = found
            guesses.append(f"{found!r} as {field}")
    note = f"{where}: reading {', '.join(guesses)} (of the columns {', '.join(names)})" if guesses else ""
    return Columns(text, others), (note,) if note else ()


def _check(name: str, names: list[str], field: str, where: str) -> str:
    if name not in names:
        raise SourceError(f"{where}: there is no column {name!r} for the {field}; the columns are {', '.join(names)}")
    return name


def _first_of(usual: Sequence[str], names: list[str], taken: Sequence[str]) -> str | None:
    by_lower = {name.lower(): name for name in reversed(names) if name not in taken}
    return next((by_lower[name] for name in usual if name in by_lower), None)


def _guess_text(names: list[str], where: str) -> str:
    found = [name for name in names if name.lower() in USUAL_TEXT]
    plain = [name for name in found if name.lower() == "text"]
    if len(plain) == 1 or len(found) == 1:
        return (plain or found)[0]
    if len(names) == 1:
        return names[0]
    problem = f"{' and '.join(found)} could each be it" if found else "none has a usual name"
    raise SourceError(
        f"{where}: which column holds the text? {problem}; name it with --text (text=); "
        f"the columns are {', '.join(names)}"
    )
