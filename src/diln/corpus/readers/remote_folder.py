"""A folder elsewhere of .txt files, a document a file: read in blocks, many files at a time."""

import warnings
from collections.abc import Iterator
from pathlib import PurePosixPath

from diln.corpus.readers.folder import SUFFIX, decoded, documents_of
from diln.corpus.readers.lines import LONGEST, LONGEST_SAID, Errors, check_encoding
from diln.corpus.readers.remote import Remote, RemoteFile
from diln.corpus.sources import BLOCK_BYTES, BLOCK_DOCS, Block, Source, TextBlock
from diln.errors import DilnWarning, SourceError

UNKNOWN_SIZE = 1 << 16  # bytes that a file is taken to have if its size is not told
AT_ONCE = 1 << 20  # bytes of such a file that is read with others


class RemoteFolderSource(Source):
    """The .txt files in a folder, and in folders in it, in alphabetical order of their paths."""

    def __init__(self, remote: Remote, encoding: str, errors: Errors, skip_unreadable: bool) -> None:
        check_encoding(encoding, errors)
        self.name, self.remote, self.encoding, self.errors = remote.name, remote, encoding, errors
        self.skip_unreadable = skip_unreadable
        self.files = remote.inside(SUFFIX)
        self.total = len(self.files)
        if outside := remote.leading_out(SUFFIX):
            warnings.warn(
                f"{self.name}: links to {len(outside):,} {SUFFIX} files outside this folder, which are not read; the "
                f"first is {outside[0]}; give their folder to read them, too",
                DilnWarning,
                stacklevel=2,
            )

    def blocks(self) -> Iterator[Block]:
        """Files in blocks of bounded size."""
        block: list[RemoteFile] = []
        size = 0
        for number, file in enumerate(self.files, 1):
            if (file.size or 0) > LONGEST:
                raise SourceError(f"{file.url}: has more than {LONGEST_SAID}, the most that a document can have")
            block.append(file)
            size += UNKNOWN_SIZE if file.size is None else file.size
            if size >= BLOCK_BYTES or len(block) >= BLOCK_DOCS or number == self.total:
                self.position = number
                yield from self._blocks(block)
                block, size = [], 0

    def _blocks(self, files: list[RemoteFile]) -> Iterator[Block]:
        """A block of files, or several, if some are long of which no size is told: these are read one by one."""
        root = self.remote.path.rstrip("/") + "/"
        ready: list[tuple[PurePosixPath, str | None]] = []
        size = 0
        for file, short in zip(files, self.remote.texts(files, AT_ONCE), strict=True):
            data = self.remote.texts([file])[0] if short is None else short
            text = self._text(file, data)
            ready.append((PurePosixPath(file.path.removeprefix(root)), text))
            size += len(text or "")
            if size >= BLOCK_BYTES:
                yield TextBlock(documents_of(ready))
                ready, size = [], 0
        if ready:
            yield TextBlock(documents_of(ready))

    def _text(self, file: RemoteFile, data: bytes | SourceError | None) -> str | None:
        if data is None:
            raise SourceError(f"{file.url}: has more than {LONGEST_SAID}, the most that a document can have")
        if isinstance(data, bytes):
            return decoded(file.url, data, self.encoding, self.errors)
        if self.skip_unreadable:
            return None
        raise data
