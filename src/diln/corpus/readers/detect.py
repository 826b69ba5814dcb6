"""From a path to the source that reads it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Unpack

from diln.addresses import LINK, is_url
from diln.corpus.dates import Order
from diln.corpus.readers.bags import LdacSource, UciSource, npz_source
from diln.corpus.readers.columns import ColumnOptions, ColumnsRead
from diln.corpus.readers.excel import ExcelSource
from diln.corpus.readers.folder import FolderSource
from diln.corpus.readers.json_values import JsonSource
from diln.corpus.readers.jsonl import JsonLinesSource
from diln.corpus.readers.lines import Errors, LineReader, Name
from diln.corpus.readers.many import ManyFiles, NextLocal, NextRemote, local_files
from diln.corpus.readers.plain import LinesSource
from diln.corpus.readers.remote import Remote
from diln.corpus.readers.remote_folder import RemoteFolderSource
from diln.corpus.readers.streams import keep, what_is
from diln.corpus.readers.table import CsvSource, ParquetSource
from diln.corpus.sources import Source
from diln.corpus.vocabulary import given_vocabulary
from diln.corpus.watch import Watch
from diln.errors import SourceError
from diln.files import TemporaryFolder
from diln.files.urls import as_local

FORMATS = ("folder", "lines", "csv", "tsv", "jsonl", "json", "parquet", "xlsx", "ldac", "uci", "npz")
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
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".ldac": "ldac",
    ".dat": "ldac",
    ".npz": "npz",
}
SHEETS = (".xls", ".xlsb", ".ods", ".numbers")  # of other kinds


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
    sheet : str, optional
        Name of the sheet of an .xlsx file, or its number, from 1; by default the first that is not hidden.
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
    sheet: str | int | None
    encoding: str
    errors: Errors
    skip_unreadable: bool
    date_order: Order | None
    vocabulary: str | Path | Iterable[str] | None


def open_source(path: str | Path, watch: Watch | None = None, **options: Unpack[ReadOptions]) -> Source:
    """The source of the documents at ``path``: a folder of .txt files, a file of one of FORMATS, or a stream of one.

    "-" is the standard input. ``path`` can be a URL, or a pattern that several files of one format fit. A source of
    counts takes the vocabulary as the names of its terms; one of texts leaves it to who counts them. ``watch`` is
    told how much of a file elsewhere has come.
    """
    path = as_local(path)
    elsewhere = isinstance(path, str) and is_url(path)
    source = _open_url(str(path), watch, options) if elsewhere else _open_local(Path(path), options)
    return source.with_dates(options.get("date_order"))


def _open_url(url: str, watch: Watch | None, options: ReadOptions) -> Source:
    """The source of what is at a URL."""
    remote, asked = Remote(url), options.get("format")
    if remote.is_pattern:
        files = remote.matching()
        kind = _known(asked or _one_format([file.url for file in files]))
        return ManyFiles(remote.name, NextRemote(remote, files), _opener(kind, options))
    if asked == "folder" or (asked is None and remote.is_folder()):
        encoding, errors = options.get("encoding", "utf-8"), options.get("errors", "strict")
        return RemoteFolderSource(remote, encoding, errors, options.get("skip_unreadable", False))
    kind = _known(asked or format_of_name(remote.name))
    step = None if watch is None else lambda done, size: watch.step(done, size, 0)
    return _open_kept(remote.name, lambda folder: remote.fetch(remote.file(), folder, step), kind, options)


def _open_local(path: Path, options: ReadOptions) -> Source:
    """The source of a file, folder or stream of this machine."""
    if files := local_files(path):
        kind = _known(options.get("format") or _one_format([str(file) for file in files]))
        return ManyFiles(str(path), NextLocal(files), _opener(kind, options))
    given = what_is(path)
    kind = _known(options.get("format") or detect_format(given.name))
    if kind == "folder" and not path.is_dir():
        raise SourceError(f"{given.name}: is a file, not a folder; give a folder, or name the file's own format")
    if kind != "folder" and path.is_dir():
        raise SourceError(f"{path}: is a folder, not a {kind} file; give a file, or --format folder")
    if kind == "npz" and given.stream:
        raise SourceError(f"{given.name}: a saved matrix is not read from a stream; write it to a file and give that")
    if not given.stream:
        return open_as(path, path, kind, options)
    return _open_kept(given.name, lambda folder: keep(path, given, folder), kind, options)


def _open_kept(name: Name, keep: Callable[[Path], Path], kind: str, options: ReadOptions) -> Source:
    """The source of what is kept in a temporary folder, which goes when the source does."""
    folder = TemporaryFolder()
    try:
        source = open_as(name, keep(folder.path), kind, options)
    except BaseException:
        folder.remove()
        raise
    source.let_go = folder.remove
    return source


@dataclass(frozen=True, slots=True)
class OpenAs:
    """What opens each of many files, after the first with the columns of the first."""

    kind: str
    options: ReadOptions

    def __call__(self, name: Name, file: Path, columns: ColumnsRead | None) -> Source:
        """The source of one."""
        given = self.options if columns is None else {**self.options, "columns": columns}
        return open_as(name, file, self.kind, given)


def _opener(kind: str, options: ReadOptions) -> OpenAs:
    if kind == "folder":
        raise SourceError("a pattern stands for files, not for folders; name the format of the files, or give a folder")
    return OpenAs(kind, options)


def _known(kind: str) -> str:
    if kind not in FORMATS:
        raise SourceError(f"there is no format {kind!r}; use one of {', '.join(FORMATS)}")
    return kind


def _one_format(names: Sequence[str]) -> str:
    """The format that all these names tell."""
    kinds = {format_of_name(name): name for name in reversed(names)}
    if len(kinds) > 1:
        (one, name), (other, another) = list(kinds.items())[:2]
        raise SourceError(
            f"{name} is {one} and {another} is {other}; give a pattern that files of one format fit, such as '*.jsonl'"
        )
    return next(iter(kinds))


def open_as(name: Name, file: Path, kind: str, options: ReadOptions) -> Source:
    """The source of a file that messages call by its name."""
    encoding, errors = options.get("encoding", "utf-8"), options.get("errors", "strict")
    columns = ColumnOptions(**{key: options[key] for key in ColumnOptions.__annotations__ if key in options})  # type: ignore[literal-required, typeddict-item]
    sheet = options.get("sheet")
    if sheet is not None and kind != "xlsx":
        raise SourceError(f"{name}: is {kind}, which has no sheets; leave out --sheet (sheet=)")
    if kind == "folder":
        return FolderSource(file, encoding, errors, options.get("skip_unreadable", False))
    vocabulary = given_vocabulary(options.get("vocabulary"))
    if kind == "parquet":
        return ParquetSource(name, columns, file)
    if kind == "xlsx":
        return ExcelSource(name, columns, None if sheet is None else str(sheet), file)
    if kind == "npz":
        return npz_source(name, vocabulary, file)
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
    """The format of what a path stands for."""
    return "folder" if path.is_dir() else format_of_name(str(path))


def format_of_name(name: str) -> str:
    """The format that the name of a file tells."""
    file = PurePosixPath(Path(LINK.split(name)[0]).name)
    if file.name.startswith("docword."):
        return "uci"
    plain = file.with_suffix("") if file.suffix == ".gz" else file
    kind = SUFFIXES.get(plain.suffix.lower())
    if kind is None:
        if plain.suffix.lower() in SHEETS:
            raise SourceError(f"{name}: {plain.suffix} is not read; save it as .xlsx, or as .csv")
        raise SourceError(
            f"{name}: the name does not tell what is in the file; say it with --format, one of {', '.join(FORMATS)}"
        )
    return kind
