"""Which columns of a table, or keys of a record, hold a document's text, id, title, date and label."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any, TypedDict
from unicodedata import combining, normalize

from diln.corpus.sources import ParsedDocuments, as_texts, is_text
from diln.errors import SourceError

NONE = "none"
USUAL = {  # without accents, in English, German, French, Spanish and Dutch
    "id": tuple("id doc_id docid document_id _id uid uuid key identifier kennung identifiant identificador".split()),
    "title": tuple(
        "title headline headline_text subject name titel uberschrift ueberschrift schlagzeile betreff titre titulo "
        "titular asunto kop onderwerp".split()
    ),
    "date": tuple(
        "date published publication_date pub_date publish_date published_at created created_at timestamp datum fecha "
        "erscheinungsdatum veroffentlichungsdatum date_publication date_de_publication fecha_publicacion "
        "fecha_de_publicacion publicatiedatum year jahr annee ano jaar".split()
    ),
    "label": tuple(
        "label category section class target group source kategorie rubrik ressort klasse gruppe quelle categorie "
        "rubrique classe groupe categoria seccion clase grupo fuente rubriek sectie groep bron".split()
    ),
}
PLAIN_TEXT = ("text", "texte", "texto", "tekst")
USUAL_TEXT = tuple(
    "body content contents abstract document article fulltext full_text message summary description review comment "
    "tweet post story transcript artikeltext volltext inhalt beschreibung nachricht kommentar beitrag zusammenfassung "
    "contenu corps texte_integral commentaire contenido cuerpo resumen mensaje comentario descripcion inhoud bericht "
    "samenvatting omschrijving artikeltekst resume".split()
)
SHOWN, WIDEST = 20, 60  # names of columns in a message, and characters of a name
SAMPLE = 1000  # rows that are looked at for a column that could be the label
FEWEST, MOST_LABELS, LONGEST_LABEL = 20, 20, 40  # rows, different values, and characters of one

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


def choose_columns(
    available: Iterable[str],
    asked: ColumnOptions,
    where: str,
    sample: Callable[[], Mapping[str, Sequence[Any]]] | None = None,
) -> tuple[Columns, tuple[str, ...]]:
    """The columns asked for, or those of before, the rest guessed; and sentences that say which they are.

    ``sample`` gives the first values of each column, to see whether one that is not read could be the label.
    """
    names = [str(name) for name in available]
    before = asked.get("columns") or {}
    text, said = _text_columns(names, asked.get("text"), before.get("text"), where)
    taken = [f"{_said(text)} as text{said}"]
    others = {}
    for field in USUAL:
        wanted, earlier = asked.get(field), before.get(field)
        if wanted == NONE and NONE not in names:
            continue
        if wanted is not None:
            others[field] = _check(str(wanted), names, field, where)
            taken.append(f"{_said([others[field]])} as {field}")
        elif earlier in names and names.count(earlier) == 1:
            others[field] = earlier
            taken.append(f"{_said([earlier])} as {field} (as before)")
        elif (guess := _first_of(USUAL[field], names, text if field != "title" else ())) is not None:
            others[field] = guess
            taken.append(f"{_said([guess])} as {field}")
    every_one_asked = all(asked.get(field) is not None for field in ("text", *USUAL))
    notes = [] if every_one_asked else [f"{where}: reading {', '.join(taken)} (of the columns {listed(names)})"]
    if sample is not None and "label" not in others and asked.get("label") is None and not before:
        unused = {name: values for name, values in sample().items() if name not in (*text, *others.values())}
        notes += _label_hints(unused, where)
    return Columns(text, others), tuple(notes)


def _label_hints(unused: Mapping[str, Sequence[Any]], where: str) -> Iterator[str]:
    """What to pass to take a column of few values for the label, where there is one."""
    few = {name: number for name, values in unused.items() if (number := _few_values(values))}
    if few:
        name, number = next(iter(few.items()))
        others = f"; so could {_said(list(few)[1:])}" if len(few) > 1 else ""
        yield (
            f"{where}: {clipped(name)!r} has {number} different values in the first rows and could be the label: pass "
            f"--label {quote(clipped(name))} (label=) to compare documents by it{others}"
        )


def _few_values(values: Sequence[Any]) -> int:
    """How many different values a column has that could be the label; 0 for any other."""
    texts = [value.strip() for value in values if isinstance(value, str) and value.strip()]
    different = set(texts)
    if len(texts) < FEWEST or len(texts) < 0.8 * len(values) or all(text.isdecimal() for text in different):
        return 0
    most = min(MOST_LABELS, len(texts) // 4)
    return len(different) if 2 <= len(different) <= most and max(map(len, different)) <= LONGEST_LABEL else 0


def _text_columns(
    names: list[str], given: str | Sequence[str] | None, earlier: Sequence[str] | None, where: str
) -> tuple[tuple[str, ...], str]:
    """The columns with the text; and whether they are those of before."""
    if given:
        text = (given,) if isinstance(given, str) else tuple(given)
        return tuple(_check(name, names, "text", where) for name in text), ""
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
    by_plain = {_plain(name): name for name in reversed(names) if name not in taken and often[name] == 1}
    return next((by_plain[name] for name in usual if name in by_plain), None)


def _plain(name: str) -> str:
    """A name as the usual ones are written: small letters without accents, words joined by _."""
    letters = (letter for letter in normalize("NFKD", name) if not combining(letter))
    return "_".join("".join(letters).lower().replace("-", " ").split())


def _guess_text(names: list[str], where: str) -> str:
    found = [name for name in names if _plain(name) in (*PLAIN_TEXT, *USUAL_TEXT)]
    plain = [name for name in found if _plain(name) in PLAIN_TEXT]
    if len(set(plain)) == 1 or len(set(found)) == 1:  # where two have one name, that is what is said
        return (plain or found)[0]
    if len(names) == 1:
        return names[0]
    problem = f"{' and '.join(found[:SHOWN])} could each be it" if found else "none has a usual name"
    title = None if found else _first_of(USUAL["title"], names, ())
    titles = "" if title is None else f", or count the titles with --text {quote(clipped(title))}"
    raise SourceError(
        f"{where}: which column holds the text? {problem}; name it with --text (text=){titles}; the columns are "
        f"{listed(names)}"
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
