"""Several files of one format, one after the other: those that fit a pattern, here or elsewhere."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from threading import Event
from typing import cast
from weakref import finalize

from diln.corpus.readers.columns import ColumnsRead
from diln.corpus.readers.lines import Name
from diln.corpus.readers.remote import Remote, RemoteFile
from diln.corpus.sources import Block, Source
from diln.errors import SourceError
from diln.files import TemporaryFolder, temporary_folder

MARKS = "*?["

Opener = Callable[[Name, Path, ColumnsRead | None], Source]


class Files(ABC):
    """Where files come from."""

    names: list[str]
    sizes: list[int]  # in bytes; 0 where it is not known

    @abstractmethod
    def each(self) -> Generator[Path]:
        """Every file in turn, there until the next one is asked for."""

    @abstractmethod
    def at(self, number: int) -> "FileAt":
        """Where one of them is, for another process to read it."""


@dataclass(frozen=True, slots=True)
class FileAt:
    """Where a file is: a path, or what a URL leads to."""

    path: Path | None
    url: str = ""
    file: RemoteFile | None = None

    @contextmanager
    def opened(self, source: Callable[[Path], Source]) -> Iterator[Source]:
        """The source that is made of the file, which is there for as long as it is read."""
        if self.file is None:
            yield source(cast(Path, self.path))
            return
        with temporary_folder() as folder:
            yield source(Remote(self.url).fetch(self.file, folder))


class NextLocal(Files):
    """Files of this machine."""

    def __init__(self, paths: list[Path]) -> None:
        self.paths, self.names = paths, [str(path) for path in paths]
        self.sizes = [path.stat().st_size for path in paths]

    def each(self) -> Generator[Path]:
        """The files themselves."""
        yield from self.paths

    def at(self, number: int) -> FileAt:
        """Its path, from wherever it is looked at."""
        return FileAt(self.paths[number].absolute())


class NextRemote(Files):
    """Files elsewhere, each copied here for a while; the next one comes while one is read."""

    def __init__(self, remote: Remote, files: list[RemoteFile]) -> None:
        self.remote, self.files = remote, files
        self.names, self.sizes = [file.url for file in files], [file.size or 0 for file in files]

    def each(self) -> Generator[Path]:
        """Copies; two at most are there at a time."""
        stop, folder = Event(), TemporaryFolder()
        coming: deque[Future[Path]] = deque()
        with ThreadPoolExecutor(1) as pool:
            try:
                for number in range(len(self.files)):
                    for file in self.files[number + len(coming) : number + 2]:
                        coming.append(pool.submit(self.remote.fetch, file, folder.path, None, stop))
                    path = coming.popleft().result()
                    yield path
                    path.unlink(missing_ok=True)
            finally:
                stop.set()
                pool.shutdown(cancel_futures=True)
                folder.remove()

    def at(self, number: int) -> FileAt:
        """The URL that led to it, and what it is called there."""
        return FileAt(None, self.remote.url, self.files[number])


class ManyFiles(Source):
    """Files of one format as one source. The columns are those of the first file; all must have them."""

    many = True

    def __init__(self, name: str, files: Files, opened: Opener) -> None:
        self.name, self.files, self.opened = name, files, opened
        self.each = files.each()
        self.let_go = finalize(self, self.each.close)
        try:
            self.current = first = opened(files.names[0], next(self.each), None)
        except BaseException:
            self.close()
            raise
        self.vocabulary, self.numbered, self.columns_read = first.vocabulary, first.numbered, first.columns_read
        self.total = sum(files.sizes) if all(files.sizes) else 0
        more = f"{name}: reading {len(files.names):,} files, the first being {files.names[0]}"
        self.notes = (more, *first.notes)
        self.check_file = self._check_current

    def blocks(self) -> Iterator[Block]:
        """The blocks of the first file, of the second, and so on."""
        begun = 0
        for number, name in enumerate(self.files.names):
            if number:
                self.current = self._opened(name, next(self.each))
            of_file = self.current.total or 1
            for block in self.current.blocks():
                self.position = begun + round(self.files.sizes[number] * self.current.position / of_file)
                yield block
            begun += self.files.sizes[number]

    def _opened(self, name: str, file: Path) -> Source:
        """One of the later files."""
        source = self.opened(name, file, self.columns_read)
        return with_columns(source, self.columns_read, name, self.files.names[0])

    def _check_current(self) -> None:
        """Raise if the file being read is damaged, as far as it is still there."""
        if self.current.check_file is not None:
            try:
                self.current.check_file()
            except FileNotFoundError:
                return


def with_columns(source: Source, columns: ColumnsRead | None, name: str, first: str) -> Source:
    """The source of a file; raise unless it is read from the columns that the first file has."""
    if source.columns_read != columns:
        before, now = (
            {field: column for field, column in (found or {}).items() if column}
            for found in (columns, source.columns_read)
        )
        raise SourceError(
            f"{name}: is read from the columns {now}, and {first} from {before}; name those that all files have "
            "(--text, --id, ...), or leave some out (--id none)"
        )
    return source


def local_files(path: Path) -> list[Path]:
    """The files of this machine that fit a pattern, in alphabetical order; none if it is no pattern."""
    text = str(path)
    if not any(mark in text for mark in MARKS) or path.exists():
        return []
    try:
        found = sorted(Path(name) for name in glob(text, recursive=True) if Path(name).is_file())  # noqa: PTH207
    except (OSError, ValueError):  # of a name that no file can have
        found = []
    if not found:
        raise SourceError(f"{path}: no file fits this pattern; check it, or give the path of a file")
    return found
