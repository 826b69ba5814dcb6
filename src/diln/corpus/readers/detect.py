"""From a path to the source that reads it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Unpack
from weakref import finalize

from diln.corpus.dates import Order
from diln.corpus.readers.bags import LdacSource, UciSource, npz_source
from diln.corpus.readers.columns import ColumnOptions
from diln.corpus.readers.folder import FolderSource
from diln.corpus.readers.json_values import JsonSource
from diln.corpus.readers.jsonl import JsonLinesSource
from diln.corpus.readers.lines import Errors, LineReader
from diln.corpus.readers.plain import LinesSource
from diln.corpus.readers.streams import keep, what_is
from diln.corpus.readers.table import CsvSource, ParquetSource
from diln.corpus.sources import Source
from diln.corpus.vocabulary import given_vocabulary
from diln.errors import SourceError

FORMATS = ("folder", "lines", "csv", "tsv", "jsonl", "json", "parquet", "ldac", "uci", "npz")
"""What ``format`` can be, where a file's name does not tell."""
SUFFIXES = {
    ".txt": "lines",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
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
    """The source of the documents at ``path``: a folder of .txt files, a file of one of FORMATS, or a stream of one.

    "-" is the standard input. A source of counts takes the vocabulary as the names of its terms; one of texts leaves it
    to who counts them.
    """
    path = Path(path)
    given = what_is(path)
    kind = options.get("format") or detect_format(given.name)
    if kind not in FORMATS:
        raise SourceError(f"there is no format {kind!r}; use one of {', '.join(FORMATS)}")
    if kind == "folder" and not path.is_dir():
        raise SourceError(f"{given.name}: is a file, not a folder; give a folder, or name the file's own format")
    if kind != "folder" and path.is_dir():
        raise SourceError(f"{path}: is a folder, not a {kind} file; give a file, or --format folder")
    if kind == "npz" and given.stream:
        raise SourceError(f"{given.name}: a saved matrix is not read from a stream; write it to a file and give that")
    if not given.stream:
        return _open(path, path, kind, options).with_dates(options.get("date_order"))
    kept = keep(path, given)
    try:
        source = _open(given.name, kept, kind, options).with_dates(options.get("date_order"))
    except BaseException:
        kept.unlink()
        raise
    finalize(source, kept.unlink, missing_ok=True)
    return source


def _open(name: Path, file: Path, kind: str, options: ReadOptions) -> Source:
    """The source of a file that messages call by its name."""
    encoding, errors = options.get("encoding", "utf-8"), options.get("errors", "strict")
    columns = ColumnOptions(**{key: options[key] for key in ColumnOptions.__annotations__ if key in options})  # type: ignore[literal-required, typeddict-item]
    if kind == "folder":
        return FolderSource(file, encoding, errors, options.get("skip_unreadable", False))
    vocabulary = given_vocabulary(options.get("vocabulary"))
    if kind == "parquet":
        return ParquetSource(name, columns, file)
    if kind == "npz":
        return npz_source(file, vocabulary)
    reader = LineReader(name, encoding, errors, file)
    try:
        source = _of_lines(reader, kind, columns, vocabulary, options.get("delimiter"))
    except SourceError:
        reader.check_packed()
        raise
    source.check_file = reader.check_packed
    return source


def _of_lines(
    reader: LineReader, kind: str, columns: ColumnOptions, vocabulary: list[str] | None, delimiter: str | None
) -> Source:
    """The source of a file of text."""
    if kind == "lines":
        return LinesSource(reader)
    if kind == "json":
        return JsonSource(reader, columns)
    if kind == "jsonl":
        return JsonLinesSource(reader, columns)
    if kind == "ldac":
        return LdacSource(reader, vocabulary)
    if kind == "uci":
        return UciSource(reader, vocabulary)
    return CsvSource(reader, columns, delimiter or ("\t" if kind == "tsv" else None))


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
