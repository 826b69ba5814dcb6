"""A table as the bytes of a file: CSV and TSV, JSON lines, Parquet, Excel."""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from io import TextIOWrapper
from typing import IO, Any, Literal, NamedTuple

from diln.files import temporary_folder
from diln.files.formulas import is_formula

Kind = Literal["text", "whole", "number", "flag", "date", "time"]  # dates and times are ISO 8601, or empty
Part = Sequence[Any]  # some rows: a list or array of the values of each column, with None where there is none

DIGITS = "%.7g"  # of numbers in text: as many as single precision has
EXCEL_YEAR = 1900  # the first that a date of Excel can be of
EXCEL_ROWS, EXCEL_COLUMNS, EXCEL_TEXT = 1_048_576, 16_384, 32_767
WIDTHS = {"text": 24, "whole": 10, "number": 10, "flag": 8, "date": 12, "time": 20}  # of Excel's columns, in characters


class TooMuchError(Exception):
    """The table is more than the format can hold."""


class Column(NamedTuple):
    """A column's name and what its values are."""

    name: str
    kind: Kind


FileContent = tuple[list[Column], Iterable[Part]]


class FileTable:
    """Columns and their values, a part of the rows at a time; counts what was written."""

    def __init__(self, columns: list[Column], parts: Iterable[Part], *, for_excel: bool = False) -> None:
        self.columns, self.parts, self.for_excel = columns, parts, for_excel
        self.rows = 0
        self.formulas = 0  # texts in a file of plain text that a spreadsheet may take as formulas

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    def in_columns(self) -> Iterator[list[list[Any]]]:
        """The values of each column as plain values, a part of the rows at a time; no number is infinite or NaN."""
        for part in self.parts:
            columns = [_plain(column.kind, values) for column, values in zip(self.columns, part, strict=True)]
            self.rows += len(columns[0])
            yield columns

    def in_rows(self) -> Iterator[tuple[Any, ...]]:
        """The values row by row."""
        for columns in self.in_columns():
            yield from zip(*columns, strict=True)


def _plain(kind: Kind, values: Any) -> list[Any]:
    found: list[Any] = values.tolist() if hasattr(values, "tolist") else list(values)
    if kind == "number" and not all(map(math.isfinite, filter(None, found))):
        return [None if one is None or not math.isfinite(one) else one for one in found]
    return found


def write_separated(file: IO[bytes], table: FileTable, delimiter: str) -> None:
    """Write lines of values, quoted where they must be."""
    encoding = "utf-8-sig" if table.for_excel else "utf-8"
    text = TextIOWrapper(file, encoding=encoding, errors="backslashreplace", newline="")
    try:
        text.write(delimiter.join(_quoted(_guarded(table, table.names), delimiter)) + "\n")
        for columns in table.in_columns():
            made = [
                _cells(table, column.kind, values, delimiter)
                for column, values in zip(table.columns, columns, strict=True)
            ]
            line = delimiter.join(form for form, _ in made) + "\n"
            text.writelines(line % row for row in zip(*(cells for _, cells in made), strict=True))
    finally:
        text.detach()


def _cells(table: FileTable, kind: Kind, values: list[Any], delimiter: str) -> tuple[str, list[Any]]:
    """How a column's values are formatted, and the values."""
    if kind == "text":
        return "%s", _quoted(_guarded(table, values), delimiter)
    form = {"whole": "%d", "number": DIGITS}.get(kind, "%s")
    if kind == "flag":
        values = [None if one is None else "true" if one else "false" for one in values]
    return ("%s", ["" if one is None else form % one for one in values]) if None in values else (form, values)


def _guarded(table: FileTable, texts: list[str]) -> list[str]:
    """Texts, with a ' before what a spreadsheet would take as a formula where that is asked for, and else counted."""
    risky = [at for at, text in enumerate(texts) if is_formula(text)]
    if not table.for_excel:
        table.formulas += len(risky)
        return texts
    texts = list(texts)
    for at in risky:
        texts[at] = f"'{texts[at]}"
    return texts


def _quoted(texts: list[str], delimiter: str) -> list[str]:
    special = ('"', delimiter, "\n", "\r")
    whole = "".join(texts)
    if not any(one in whole for one in special):
        return texts
    return ['"' + text.replace('"', '""') + '"' if any(one in text for one in special) else text for text in texts]


def write_jsonl(file: IO[bytes], table: FileTable) -> None:
    """Write an object for each row."""
    kinds, names = [column.kind for column in table.columns], table.names
    for row in table.in_rows():
        values = [_json(kind, value) for kind, value in zip(kinds, row, strict=True)]
        line = json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False)
        file.write((line + "\n").encode("utf-8", "backslashreplace"))  # which is how JSON has half characters


def _json(kind: Kind, value: Any) -> Any:
    if kind == "number" and value is not None:
        return float(DIGITS % value)
    return value or None if kind in ("date", "time") else value


def write_parquet(file: IO[bytes], table: FileTable) -> None:
    """Write the columns with their types."""
    import pyarrow
    from pyarrow import parquet

    kinds = {
        "text": pyarrow.string(), "whole": pyarrow.int64(), "number": pyarrow.float64(), "flag": pyarrow.bool_(),
        "date": pyarrow.date32(), "time": pyarrow.timestamp("ms"),
    }  # fmt: skip
    schema = pyarrow.schema([(column.name, kinds[column.kind]) for column in table.columns])
    with parquet.ParquetWriter(file, schema) as written:
        for columns in table.in_columns():
            made = [
                _arrow(kinds[column.kind], column.kind, values)
                for column, values in zip(table.columns, columns, strict=True)
            ]
            written.write_batch(pyarrow.record_batch(made, schema=schema))


def _arrow(kind: Any, name: Kind, values: list[Any]) -> Any:
    """A column from its bytes; pyarrow.array would import pandas to see whether the values are of pandas."""
    import numpy as np
    import pyarrow

    def bits(truths: Iterable[bool]) -> bytes:
        return np.packbits(np.fromiter(truths, np.bool_, len(values)), bitorder="little").tobytes()

    nothing = "" if name in ("date", "time") else None
    known = bits(one != nothing for one in values) if nothing in values else None
    if name == "text":
        texts = [text.encode("utf-8", "backslashreplace") for text in values]
        buffers = [np.cumsum([0, *map(len, texts)], dtype=np.int32), b"".join(texts)]
    elif name == "flag":
        buffers = [bits(map(bool, values))]
    elif name == "date":
        buffers = [np.array(values, "datetime64[D]").astype(np.int64).astype(np.int32)]
    elif name == "time":
        buffers = [np.array(values, "datetime64[ms]").astype(np.int64)]
    else:
        buffers = [np.array([one or 0 for one in values], np.int64 if name == "whole" else np.float64)]
    every = [None if one is None else pyarrow.py_buffer(one) for one in (known, *buffers)]
    return pyarrow.Array.from_buffers(kind, len(values), every)


def write_excel(file: IO[bytes], table: FileTable) -> None:
    """Write a sheet with the names on top: text is text, whatever it begins with."""
    from xlsxwriter import Workbook
    from xlsxwriter.exceptions import FileCreateError, FileSizeError

    if len(table.columns) > EXCEL_COLUMNS:
        raise TooMuchError(
            f"a sheet of Excel has {EXCEL_COLUMNS:,} columns, and the table has {len(table.columns):,}; write .csv or "
            ".parquet, or a long table"
        )
    lent = _Lent(file)
    try:
        with (
            temporary_folder() as folder,
            _closing(Workbook(lent, {"constant_memory": True, "tmpdir": str(folder)})) as book,
        ):
            _fill_sheet(book, table)
    except FileSizeError:
        raise TooMuchError("the table is larger than a file of Excel can be; write .csv or .parquet") from None
    except (FileCreateError, OSError) as error:  # of its temporary files: the file itself says so in a sentence
        cause = error.args[0] if isinstance(error, FileCreateError) else error
        raise TooMuchError(
            f"cannot be written ({cause.strerror or cause}); make room for temporary files, or write .csv"
        ) from None
    finally:
        lent.file = None


@contextmanager
def _closing(book: Any) -> Iterator[Any]:
    """Close a workbook, and its temporary file, which it leaves open where it cannot be written."""
    try:
        with book:
            yield book
    finally:
        for sheet in book.worksheets():
            if rows := getattr(sheet, "row_data_fh", None):
                with suppress(OSError):
                    rows.close()


class _Lent:
    """A file that is lent to a writer which, where it failed, tries to close what it wrote when nobody listens."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file: IO[bytes] | None = file

    def write(self, data: bytes) -> int:
        return len(data) if self.file is None else self.file.write(data)

    def seek(self, *where: int) -> int:
        return 0 if self.file is None else self.file.seek(*where)

    def tell(self) -> int:
        return 0 if self.file is None else self.file.tell()

    def flush(self) -> None:
        if self.file is not None:
            self.file.flush()


def _fill_sheet(book: Any, table: FileTable) -> None:
    sheet, top = book.add_worksheet(), book.add_format({"bold": True})
    shown = {"number": "0.0000", "date": "yyyy-mm-dd", "time": "yyyy-mm-dd hh:mm:ss"}
    forms = {kind: book.add_format({"num_format": form}) for kind, form in shown.items()}
    sheet.freeze_panes(1, 1)
    for at, column in enumerate(table.columns):
        sheet.set_column(at, at, max(WIDTHS[column.kind], min(len(column.name), 40)), forms.get(column.kind))
    for at, name in enumerate(table.names):
        sheet.write_string(0, at, excel_text(name, name), top)
    writers = [_cell_writer(sheet, column, forms.get(column.kind)) for column in table.columns]
    for number, row in enumerate(table.in_rows(), 1):
        if number == EXCEL_ROWS:
            raise TooMuchError(
                f"a sheet of Excel has {EXCEL_ROWS:,} rows, and the table has more; write .csv or .parquet, or less"
            )
        for at, (write, value) in enumerate(zip(writers, row, strict=True)):
            if value is not None:
                write(number, at, value)


def _cell_writer(sheet: Any, column: Column, form: Any) -> Any:
    match column.kind:
        case "text":
            return lambda row, at, text: text and sheet.write_string(row, at, excel_text(text, column.name))
        case "flag":
            return sheet.write_boolean
        case "date" | "time":
            return lambda row, at, text: _write_date(sheet, row, at, text, form)
        case _:
            return lambda row, at, value: sheet.write_number(row, at, value, form)


def _write_date(sheet: Any, row: int, at: int, text: str, form: Any) -> None:
    """Write a date, where there is one; as text if it is before all dates of Excel."""
    if text and (when := datetime.fromisoformat(text)).year >= EXCEL_YEAR:
        sheet.write_datetime(row, at, when, form)
    elif text:
        sheet.write_string(row, at, text)


def excel_text(text: str, column: str) -> str:
    """Text as Excel's writer takes it."""
    text = text.encode("utf-8", "backslashreplace").decode()
    if text.startswith("<r>") and text.endswith("</r>"):  # which the writer would take for markup of its own
        escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        text = f'<r><t xml:space="preserve">{escaped}</t></r>'
    if (size := len(text.encode("utf-16-le")) // 2) > EXCEL_TEXT:
        raise TooMuchError(
            f"a cell of Excel holds {EXCEL_TEXT:,} characters, and column {column!r} has one of {size:,}; write .csv "
            "or .parquet"
        )
    return text
