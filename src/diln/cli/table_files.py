"""Tables in files: named columns of text, numbers and dates, written a part at a time in the format of the file's name.

Knows formats and no models. A file is whole or as it was: it takes the place of the old one when all is written.
"""

from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from diln.cli.table_formats import (
    Column,
    FileTable,
    Part,
    TooMuchError,
    write_excel,
    write_jsonl,
    write_parquet,
    write_separated,
)
from diln.errors import DilnError
from diln.files import whole

WRITERS: dict[str, Callable[[IO[bytes], FileTable], None]] = {
    ".csv": lambda file, table: write_separated(file, table, ","),
    ".tsv": lambda file, table: write_separated(file, table, "\t"),
    ".jsonl": write_jsonl,
    ".parquet": write_parquet,
    ".xlsx": write_excel,
}
NEEDED = {".parquet": ("pyarrow", "tables"), ".xlsx": ("xlsxwriter", "excel")}  # module and extra


def check_target(
    path: Path, inputs: Iterable[Path] = (), directories: Iterable[Path] = (), *, also: tuple[str, ...] = ()
) -> None:
    """Raise if nothing can be written there: better known before the work than after.

    Nor may it take the place of one of the files that are read, or lie in a directory that diln keeps. ``also`` has
    endings of names that are fine beside those of tables.
    """
    check_place(path, (*WRITERS, *also), inputs, directories)
    module, extra = NEEDED.get(path.suffix.lower(), ("", ""))
    if module and find_spec(module) is None:
        raise DilnError(f"{path}: needs {module}; install it with: pip install 'diln[{extra}]', or write .csv")


def check_place(
    path: Path, endings: tuple[str, ...], inputs: Iterable[Path] = (), directories: Iterable[Path] = ()
) -> None:
    """Raise if no file with one of these endings of its name can be written there."""
    if path.suffix.lower() not in endings:
        raise DilnError(f"{path}: the name must end in one of {', '.join(endings)}; choose what to write")
    if path.is_dir():
        raise DilnError(f"{path}: is a folder; name a file")
    if not path.parent.is_dir():
        raise DilnError(f"{path.parent}: there is no such folder; make it first")
    for directory in directories:
        if path.resolve().is_relative_to(directory.resolve()):
            raise DilnError(f"{path}: lies in {directory}, which holds only what diln puts there; name another file")
    for other in inputs:
        if path.exists() and other.exists() and path.samefile(other):
            raise DilnError(f"{path}: is also what is read, and would be lost; name another file")


def write_table(path: Path, columns: list[Column], parts: Iterable[Part], *, for_excel: bool = False) -> FileTable:
    """Write a table in one step; returns it, with how many rows were written.

    ``for_excel`` is about .csv and .tsv files only: the mark that tells Excel that the text is UTF-8, and a ' before
    text that Excel would take as a formula.
    """
    table = FileTable(columns, parts, for_excel=for_excel)
    with whole(path) as file:
        try:
            WRITERS[path.suffix.lower()](file, table)
        except TooMuchError as error:
            raise DilnError(f"{path}: {error}") from None
    return table
