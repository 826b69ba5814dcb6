"""From a path to the source that reads it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Unpack

from diln.corpus.dates import Order
from diln.corpus.readers.bags import LdacSource, UciSource, npz_source
from diln.corpus.readers.columns import ColumnOptions
from diln.corpus.readers.folder import FolderSource
from diln.corpus.readers.jsonl import JsonLinesSource
from diln.corpus.readers.lines import Errors, LineReader
from diln.corpus.readers.plain import LinesSource
from diln.corpus.readers.table import CsvSource, ParquetSource
from diln.corpus.sources import Source
from diln.corpus.vocabulary import given_vocabulary
from diln.errors import SourceError

FORMATS = ("folder", "lines", "csv", "tsv", "jsonl", "parquet", "ldac", "uci", "npz")
"""What ``format`` can be, where a file's name does not tell."""
SUFFIXES = {
    ".txt": "lines",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".ldac": "ldac",
    ".dat": "ldac",
    ".npz": "npz",
}


class ReadOptions(ColumnOptions, total=False):
    """How a file is read: its format, encoding and columns, each found out where it is not given.

    Attributes
    ----------
    text, id, title, date, label : str, optional
        Columns (several, in a list, for text); one not named is guessed from the usual names, and "none" says that
        there is none.
    format : str, optional
        One of ``FORMATS``, if the name does not tell.
    delimiter : str, optional
        What separates the columns of a .csv file; by default the one of , ; tab and | that its first line has most of.
    encoding : str
        Encoding of the text, "utf-8" by default.
    columns : dict, optional
        Columns that earlier documents were read from (``corpus.rule["columns"]``): they are looked for before any
        guess, and those of the text must be there.
    date_order : {"dmy", "mdy", "ymd"}, optional
        Order of day, month and year in dates such as 02/03/2017; by default as the other dates of the column tell.
    errors : {"strict", "replace", "ignore"}
        What to do with bytes that are not text.
    skip_unreadable : bool
        Whether to leave out files and folders in a folder that cannot be read, and count them (``Tally.unreadable``).
        By default they are an error.
    vocabulary : path or iterable of str, optional
        The terms of a file of counts, or the only terms to count in text; as a file, a term a line.
    """

    format: str | None
    delimiter: str | None
    encoding: str
    errors: Errors
    skip_unreadable: bool
    date_order: Order | None
    vocabulary: str | Path | Iterable[str] | None


def open_source(path: str | Path, **options: Unpack[ReadOptions]) -> Source:
    """The source of the documents at ``path``: a folder of .txt files, or a file of one of FORMATS.

    A source of counts takes the vocabulary as the names of its terms; one of texts leaves it to who counts them.
    """
    return _open(Path(path), options).with_dates(options.get("date_order"))


def _open(path: Path, options: ReadOptions) -> Source:
    if not path.exists():
        raise SourceError(f"{path}: there is no such file or folder; check the path")
    kind = options.get("format") or detect_format(path)
    if kind not in FORMATS:
        raise SourceError(f"there is no format {kind!r}; use one of {', '.join(FORMATS)}")
    encoding, errors = options.get("encoding", "utf-8"), options.get("errors", "strict")
    vocabulary = given_vocabulary(options.get("vocabulary"))
    columns = ColumnOptions(**{key: options[key] for key in ColumnOptions.__annotations__ if key in options})  # type: ignore[literal-required, typeddict-item]
    if kind == "folder":
        if not path.is_dir():
            raise SourceError(f"{path}: is a file, not a folder; give a folder, or name the file's own format")
        return FolderSource(path, encoding, errors, options.get("skip_unreadable", False))
    if path.is_dir():
        raise SourceError(f"{path}: is a folder, not a {kind} file; give a file, or --format folder")
    if kind == "parquet":
        return ParquetSource(path, columns)
    if kind == "npz":
        return npz_source(path, vocabulary)
    reader = LineReader(path, encoding, errors)
    if kind == "lines":
        return LinesSource(reader)
    if kind == "jsonl":
        return JsonLinesSource(reader, columns)
    if kind == "ldac":
        return LdacSource(reader, vocabulary)
    if kind == "uci":
        return UciSource(reader, vocabulary)
    return CsvSource(reader, columns, options.get("delimiter") or ("\t" if kind == "tsv" else None))


def detect_format(path: Path) -> str:
    """The format that a path's name tells."""
    if path.is_dir():
        return "folder"
    if path.name.startswith("docword."):
        return "uci"
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    kind = SUFFIXES.get(plain.suffix.lower())
    if kind is None:
        raise SourceError(
            f"{path}: the name does not tell what is in the file; say it with --format, one of {', '.join(FORMATS)}"
        )
    return kind
