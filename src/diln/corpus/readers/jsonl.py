"""JSON lines: an object a line."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from json import JSONDecodeError, JSONDecoder
from typing import Any

from diln.corpus.readers.columns import SAMPLE, ColumnOptions, Columns, choose_columns
from diln.corpus.readers.lines import LineReader, Lines
from diln.corpus.rules import TextRule
from diln.corpus.sources import Block, Counted, ParsedDocuments, Source
from diln.errors import SourceError

LOOKED_AT = 1 << 16  # bytes at the start of a file whose objects tell the columns

_decode = JSONDecoder().raw_decode


@dataclass(frozen=True, slots=True)
class JsonBlock(Block):
    """Lines of JSON, not yet parsed."""

    lines: Lines
    columns: Columns

    def count(self, rule: TextRule) -> Counted:
        """Parse the lines and count their texts."""
        return self.documents().count(rule)

    def documents(self) -> ParsedDocuments:
        """The documents, by column. Without an id column a document's id is its line number."""
        records = []
        numbers = []
        for number, line in self.lines.numbered():
            records.append(parse_record(line, number, self.lines))
            numbers.append(number)
        values = {name: [record.get(name) for record in records] for name in self.columns.needed()}
        try:
            return self.columns.documents(numbers, values, f"{self.lines.path}, {self.lines.unit}")
        except RecursionError:
            where = f"{self.lines.path}, {self.lines.unit} {numbers[0]} to {numbers[-1]}"
            raise SourceError(f"{where}: a value has too many lists in lists; give strings") from None


def parse_record(line: str, number: int, lines: Lines) -> dict[str, Any]:
    """The object on a line."""
    try:
        start = 0 if line[0] == "{" else len(line) - len(line.lstrip())
        record, end = _decode(line, start)
    except (ValueError, RecursionError) as error:  # of numbers that are too long, and of brackets that are too deep
        reason = f"{error.msg} at character {error.pos + 1}" if isinstance(error, JSONDecodeError) else str(error)
        raise SourceError(
            f"{lines.path}, {lines.unit} {number}: not valid JSON ({reason}); "
            'write one object a line, such as {"text": "..."}'
        ) from None
    if not isinstance(record, dict) or (end < len(line) and not line[end:].isspace()):
        found = "more than one value" if isinstance(record, dict) else f"a {type(record).__name__}, not an object"
        raise SourceError(
            f'{lines.path}, {lines.unit} {number}: holds {found}; write one object a line, such as {{"text": "..."}}'
        )
    return record


class JsonLinesSource(Source):
    """A .jsonl file, plain or gzipped. Columns are found among the keys of the first objects."""

    def __init__(self, reader: LineReader, asked: ColumnOptions) -> None:
        self.name = str(reader.path)
        self.reader = reader
        self.total = reader.total
        self.columns, self.notes = choose_columns(self._first_keys(), asked, self.name, self._sample)
        self.numbered, self.columns_read = self.columns.numbered, self.columns.to_json()

    def _first_keys(self) -> list[str]:
        for lines in self.reader.blocks(LOOKED_AT):
            records = [parse_record(line, number, lines) for number, line in lines.numbered()]
            if records:
                return list(dict.fromkeys(key for record in records for key in record))
        raise SourceError(f"{self.name}: there is no line with a document; give a file with an object a line")

    def _sample(self) -> dict[str, list[Any]]:
        lines = next(self.reader.blocks())
        records = [parse_record(line, number, lines) for number, line in islice(lines.numbered(), SAMPLE)]
        keys = dict.fromkeys(key for record in records for key in record)
        return {key: [record.get(key) for record in records] for key in keys}

    def blocks(self) -> Iterator[Block]:
        """Blocks of whole lines; parsing is left to whoever counts them."""
        for lines in self.reader.blocks():
            self.position = self.reader.position
            yield JsonBlock(lines, self.columns)
