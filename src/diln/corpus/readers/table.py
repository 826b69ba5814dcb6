"""Tables: .csv and .tsv by the standard library, .parquet by pyarrow."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from io import StringIO
from itertools import chain, islice
from pathlib import Path
from typing import Any
from warnings import warn

from diln.corpus.readers.columns import SAMPLE, ColumnOptions, Columns, choose_columns, clipped
from diln.corpus.readers.lines import LONGEST, LONGEST_SAID, LineReader, Name, check_file
from diln.corpus.sources import BLOCK_BYTES, BLOCK_DOCS, Block, Source, TextBlock
from diln.errors import DilnWarning, SourceError

LARGEST_FIELD = 2**31 - 1
DELIMITERS = ",;\t|"
TOLD = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # the first line of some files tells Excel what separates columns
REASONS = {
    "unexpected end of data": "a quote opens and does not close",
    "new-line character seen": "a carriage return is not in quotes",
}


class CsvSource(Source):
    """A .csv or .tsv file, plain or gzipped, whose first line names the columns."""

    def __init__(self, reader: LineReader, asked: ColumnOptions, delimiter: str | None = None) -> None:
        self.name, self.reader, self.total = str(reader.path), reader, reader.total
        first = next((line for line in self._text_lines(1 << 16) if not line.isspace()), "")
        told = TOLD.fullmatch(first.strip("\r\n"))
        self.delimiter = _one_character(delimiter or (told and told[1])) or max(DELIMITERS, key=first.count)
        self.header = next(self._rows(), [])
        if not self.header:
            raise SourceError(f"{self.name}: the first line names no columns; start the file with a line of names")
        self.columns, self.notes = choose_columns(self.header, asked, self.name, self._sample)
        self.numbered, self.columns_read = self.columns.numbered, self.columns.to_json()

    def _text_lines(self, size: int | None = None) -> Iterator[str]:
        for lines in self.reader.blocks(size):
            self.position = self.reader.position
            yield from StringIO(lines.text(), newline="\n")

    def _sample(self) -> dict[str, tuple[str, ...]]:
        return first_values(self._rows(), self.header)

    def _bounded_lines(self) -> Iterator[str]:
        """Lines, as long as a row is not endless: a quote that does not close takes in all that follows."""
        self.open_row = 0
        for number, line in enumerate(self._text_lines(), 1):
            if number == 1 and TOLD.fullmatch(line.strip("\r\n")):
                line = "\n"
            self.open_row += len(line)
            if self.open_row > LONGEST:
                raise SourceError(
                    f"{self.name}, line {number}: a row that ends here or later has more than {LONGEST_SAID}; a quote "
                    "before it may not be closed"
                )
            yield line

    def _rows(self) -> Iterator[list[str]]:
        csv.field_size_limit(LARGEST_FIELD)
        rows = csv.reader(self._bounded_lines(), delimiter=self.delimiter, strict=True)
        width, done = None, 0
        try:
            for row in rows:
                begun, done = done + 1, rows.line_num
                self.open_row = 0
                if not row:
                    continue
                width = width or len(row)
                if len(row) != width:
                    raise SourceError(
                        f"{self.name}, line {begun}: has {len(row)} columns where the first line has {width}; "
                        "quote fields that hold the delimiter, or name the right file"
                    )
                yield row
        except csv.Error as error:
            end = f" to {rows.line_num}" if rows.line_num > done + 1 else ""
            reason = next((said for part, said in REASONS.items() if part in str(error)), str(error))
            raise SourceError(
                f'{self.name}, line {done + 1}{end}: not valid CSV ({reason}); quote fields with " and double each '
                "quote inside them"
            ) from None

    def blocks(self) -> Iterator[Block]:
        """Rows in blocks of bounded size; a document without an id column has its number, from 1."""
        rows = self._rows()
        next(rows)
        yield from row_blocks(rows, self.header, self.columns, f"{self.name}, row")


def first_values(rows: Iterator[list[str]], header: list[str]) -> dict[str, tuple[str, ...]]:
    """The first values of each column of a table, of which the first row is the header."""
    next(rows, None)
    return dict(zip(header, zip(*islice(rows, SAMPLE), strict=True), strict=False))


def row_blocks(rows: Iterable[list[str]], header: list[str], columns: Columns, where: str) -> Iterator[Block]:
    """Rows of a table as documents, in blocks of bounded size; their numbers, from 1, are ids if need be."""
    places = {name: header.index(name) for name in columns.needed()}
    block: list[list[str]] = []
    first, size = 1, 0
    for row in chain(rows, [None]):
        if row is not None:
            block.append(row)
            size += sum(map(len, row))
        if block and (row is None or size >= BLOCK_BYTES or len(block) >= BLOCK_DOCS):
            values = {name: [row[place] for row in block] for name, place in places.items()}
            yield TextBlock(columns.documents(range(first, first + len(block)), values, where))
            first += len(block)
            block, size = [], 0


def _one_character(delimiter: str | None) -> str | None:
    delimiter = "\t" if delimiter in ("\\t", "tab") else delimiter
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n\0'):
        what = "not one character" if len(delimiter) != 1 else "no character that can separate columns"
        raise SourceError(f"the delimiter {delimiter!r} is {what}; give one, such as ; or tab")
    return delimiter


class ParquetSource(Source):
    """A .parquet file."""

    BATCH = 2048

    def __init__(self, path: Name, asked: ColumnOptions, held: Path | None = None) -> None:
        self.name, self.path = str(path), path
        check_file(path, held)
        self.file = _open_parquet(path, held or Path(path))
        self.total = self.file.metadata.num_rows
        schema = self.file.schema_arrow
        self.columns, self.notes = choose_columns(schema.names, asked, self.name, self._sample)
        for name in self.columns.text:
            if str(schema.field(name).type).startswith("map<"):
                raise SourceError(f"{self.name}: column {name!r} is a map, not text; name another with --text (text=)")
        self.numbered, self.columns_read = self.columns.numbered, self.columns.to_json()

    def _sample(self) -> dict[str, list[Any]]:
        texts = [field.name for field in self.file.schema_arrow if str(field.type) in ("string", "large_string")]
        try:
            batch = _next_batch(self.file.iter_batches(SAMPLE, columns=texts), self.path)
            return {} if batch is None else _values(batch, self.path)[0]
        except SourceError:  # of a column that need not be read
            return {}

    def blocks(self) -> Iterator[Block]:
        """Rows in blocks of bounded size."""
        batches = self.file.iter_batches(self.BATCH, columns=self.columns.needed())
        left_out = Counter[str]()
        while (batch := _next_batch(batches, self.path)) is not None:
            values, missing = _values(batch, self.path)
            left_out.update(missing)
            numbers = range(self.position + 1, self.position + 1 + batch.num_rows)
            documents = self.columns.documents(numbers, values, f"{self.name}, row")
            self.position += batch.num_rows
            yield TextBlock(documents)
        for name, number in left_out.items():
            warn(
                f"{self.name}: {number:,} times in the column {clipped(name)!r} are not of the years 1 to 9999, and "
                "are left out",
                DilnWarning,
                stacklevel=2,
            )


def _open_parquet(path: Name, file: Path) -> Any:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise SourceError(
            f"{path}: reading .parquet needs pyarrow; install it with: pip install 'diln[tables]'"
        ) from None
    try:
        return ParquetFile(file)
    except (ArrowException, OSError, ValueError) as error:
        raise SourceError(f"{path}: not a readable parquet file ({_first_line(error)}); write it again") from None


def _next_batch(batches: Iterator[Any], path: Name) -> Any:
    from pyarrow import ArrowException

    try:
        return next(batches, None)
    except (ArrowException, OSError, ValueError) as error:
        raise SourceError(f"{path}: the parquet file is damaged ({_first_line(error)}); write it again") from None


def _values(batch: Any, path: Name) -> tuple[dict[str, list[Any]], dict[str, int]]:
    """Values by column, and how many of a column's times are left out because Python has no such times."""
    from pyarrow import ArrowException

    values, left_out = dict[str, list[Any]](), dict[str, int]()
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            values[name] = column.to_pylist()
        except (ArrowException, ValueError, OverflowError) as error:
            if not _has_times(column.type):
                raise SourceError(
                    f"{path}: column {clipped(name)!r} has values that cannot be read ({_first_line(error)}); write it "
                    "again"
                ) from None
            values[name], number = _sound_times(column)
            if number:
                left_out[name] = number
    return values, left_out


def _has_times(kind: Any) -> bool:
    """Whether values of this type are times or have times in them."""
    from pyarrow import types

    inner = [kind.value_type] if types.is_dictionary(kind) else [kind.field(at).type for at in range(kind.num_fields)]
    return types.is_temporal(kind) or any(map(_has_times, inner))


def _sound_times(column: Any) -> tuple[list[Any], int]:
    """A column's values, with None in the place of those that Python has no times for, and how many these are."""
    from pyarrow import ArrowException, timestamp, types

    if types.is_timestamp(column.type):  # whole microseconds, which need no pandas, in a time zone that all know
        unit = "us" if column.type.unit == "ns" else column.type.unit
        column = column.cast(timestamp(unit, column.type.tz and "UTC"), safe=False)
    values, left_out = list[Any](), 0
    for value in column:
        try:
            values.append(value.as_py())
        except (ArrowException, ValueError, OverflowError):
            values.append(None)
            left_out += 1
    return values, left_out


def _first_line(error: Exception) -> str:
    return str(error).split("\n")[0].rstrip(". ")
