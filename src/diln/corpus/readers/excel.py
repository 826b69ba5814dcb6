"""A sheet of an .xlsx file, by openpyxl: a row is a document, and the first row names the columns.

openpyxl builds trees of what it reads. Every part of a file is therefore looked through first, without a tree: what
unpacks to too much, declares entities or nests more elements than a sheet can have is refused before it takes memory.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any
from weakref import finalize
from xml.parsers import expat
from zipfile import ZipFile

from diln.corpus.readers.columns import ColumnOptions, choose_columns, clipped, listed
from diln.corpus.readers.lines import Name, check_file
from diln.corpus.readers.table import first_values, row_blocks
from diln.corpus.sources import Block, Source, as_text
from diln.errors import SourceError, brief

ROWS = 1_048_576  # of a sheet, at most
AT_A_TIME = 256  # rows
LARGEST = 1 << 30  # bytes of all parts of a file, unpacked
SMALL, PACKED = 1 << 20, 100  # bytes; a part beyond them is packed to no less than a hundredth, as others ask, too
PIECE = 1 << 20  # bytes that are looked through at a time
LEVELS = 3  # a sheet, its data, a row; or the shared strings, a string, its text
MOST = 1 << 23  # elements on these levels, which openpyxl keeps as empty shells
MOST_BELOW = 1 << 20  # elements of a row
DEEPEST = 100
ERRORS = frozenset("#NULL! #DIV/0! #VALUE! #REF! #NAME? #NUM! #N/A #GETTING_DATA #SPILL! #CALC!".split())
OLD = b"\xd0\xcf\x11\xe0"  # how .xls files begin, and .xlsx files with a password


class ExcelSource(Source):
    """A sheet of an .xlsx file. What its texts take is in memory; rows are read one after the other."""

    def __init__(self, path: Name, asked: ColumnOptions, sheet: str | None = None, held: Path | None = None) -> None:
        self.name, self.path = str(path), path
        check_file(path, held)
        file, self.book = _open_book(path, held or Path(path))
        self.shut = finalize(self, _shut, self.book, file)
        self.sheet, note = _choose_sheet(self.book, sheet, self.name)
        self.where = f"{self.name}, sheet {clipped(self.sheet.title)!r}"
        self.total = min(self.sheet.max_row or 0, ROWS)
        self.sheet.reset_dimensions()  # which may be wrong
        self.header: list[str] = []
        self.header = [name.strip() for name in next(self._rows(), [])]
        if not self.header:
            raise SourceError(f"{self.where}: has no cell with text; name another sheet with --sheet (sheet=)")
        self.columns, notes = choose_columns([name for name in self.header if name], asked, self.where, self._sample)
        self.notes = (*note, *notes)
        self.numbered, self.columns_read = self.columns.numbered, self.columns.to_json()

    def _rows(self) -> Iterator[list[str]]:
        """Rows that are not blank, as texts, as wide as the first of them, which names the columns."""
        rows, done = self.sheet.iter_rows(max_row=ROWS, values_only=True), 0
        while some := _next_rows(rows, self.path):
            for row in some:
                cells = [_text(value) for value in row]
                width = len(self.header) or len(cells)
                if any(cell and not cell.isspace() for cell in cells[:width]):
                    yield cells[:width] + [""] * (width - len(cells))
            done += len(some)
            self.position = min(done, self.total)

    def _sample(self) -> dict[str, tuple[str, ...]]:
        return first_values(self._rows(), self.header)

    def blocks(self) -> Iterator[Block]:
        """Rows in blocks of bounded size; a document without an id column has its number, from 1."""
        rows = self._rows()
        next(rows, None)
        yield from row_blocks(rows, self.header, self.columns, f"{self.where}, row")

    def close(self) -> None:
        """Close the file, and remove it if it is a temporary one."""
        self.shut()
        super().close()


def _text(value: Any) -> str:
    """What is in a cell, as a text; nothing for what is left of a formula that failed."""
    from openpyxl.utils.escape import unescape

    text: str = unescape(as_text(value))
    return "" if text in ERRORS else text


def _open_book(path: Name, held: Path) -> tuple[IO[bytes], Any]:
    """The file and the workbook in it, which reads from it."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise SourceError(f"{path}: reading .xlsx needs openpyxl; install it with: pip install 'diln[excel]'") from None
    try:
        file = held.open("rb")
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror}); check the file") from None
    try:
        if file.read(len(OLD)) == OLD:
            raise SourceError(
                f"{path}: is an .xls file, or has a password; save it as .xlsx without a password, or as .csv"
            )
        with _quiet(path, "not a readable .xlsx file"):
            _check_parts(file, path)
            return file, load_workbook(file, read_only=True, data_only=True, keep_links=False)
    except BaseException:
        file.close()
        raise


def _shut(book: Any, file: IO[bytes]) -> None:
    book.close()
    file.close()


def _choose_sheet(book: Any, asked: str | None, name: str) -> tuple[Any, tuple[str, ...]]:
    """The sheet of that name or number, or the first that is not hidden; and which it was, where there are others."""
    sheets = book.worksheets
    names = [str(sheet.title) for sheet in sheets]
    if not sheets:
        raise SourceError(f"{name}: has no sheet with rows; give a file that has one")
    if asked is not None:
        number = names.index(asked) if asked in names else int(asked) - 1 if asked.isdecimal() else -1
        if not 0 <= number < len(sheets):
            raise SourceError(f"{name}: there is no sheet {brief(asked)}; the sheets are {listed(names)}")
        return sheets[number], ()
    chosen = next((sheet for sheet in sheets if sheet.sheet_state == "visible"), sheets[0])
    if len(sheets) == 1:
        return chosen, ()
    note = f"{name}: reading the sheet {clipped(chosen.title)!r} of {listed(names)}; name another with --sheet (sheet=)"
    return chosen, (note,)


def _next_rows(rows: Iterator[tuple[Any, ...]], path: Name) -> list[tuple[Any, ...]]:
    with _quiet(path, "the .xlsx file is damaged"):
        return list(islice(rows, AT_A_TIME))


@contextmanager
def _quiet(path: Name, problem: str) -> Iterator[None]:
    """Without openpyxl's warnings, of what it leaves out; and with one sentence for whatever it raises of odd files."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except SourceError:
            raise
        except Exception as error:
            reason = str(error).split("\n")[0].rstrip(". ") or type(error).__name__
            raise SourceError(f"{path}: {problem} ({reason}); save it again as .xlsx, or as .csv") from None


def _check_parts(file: IO[bytes], path: Name) -> None:
    """Raise if a part of the file is not what a sheet needs, but what takes memory and time."""
    with ZipFile(file) as parts:
        every = parts.infolist()
        if sum(part.file_size for part in every) > LARGEST:
            raise SourceError(
                f"{path}: has more than {LARGEST >> 30} GB unpacked; save it as .csv or .parquet, or split it"
            )
        for part in every:
            if part.file_size > max(SMALL, PACKED * part.compress_size):
                raise _refused(path, part.filename, f"unpacks to more than {PACKED} times its size")
            with parts.open(part) as content:
                _check_elements(content, path, part.filename)


def _check_elements(content: IO[bytes], path: Name, part: str) -> None:
    """Raise if a part has more elements, or others, than a sheet can have; what is not XML is left to who reads it."""
    depth = top = below = 0

    def start(name: str, attributes: object) -> None:
        nonlocal depth, top, below
        depth += 1
        if depth <= LEVELS:
            top, below = top + 1, 0
        else:
            below += 1
        if top > MOST or below > MOST_BELOW or depth > DEEPEST:
            raise _refused(path, part, "has more elements than a sheet can have")

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1

    def entities(*declared: object) -> None:
        raise _refused(path, part, "declares a document type, which Excel never does")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler, parser.StartDoctypeDeclHandler = start, end, entities
    try:
        while piece := content.read(PIECE):
            parser.Parse(piece, False)
    except expat.ExpatError:
        return


def _refused(path: Name, part: str, what: str) -> SourceError:
    return SourceError(
        f"{path}: its part {clipped(part)!r} {what}, so it is not read; save it again as .xlsx, or as .csv"
    )
