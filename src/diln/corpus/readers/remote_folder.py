"""A folder elsewhere of .txt files, a document a file: read in blocks, many files at a time."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from diln.corpus.readers.folder import SUFFIX, decoded, documents_of
from diln.corpus.readers.lines import LONGEST, LONGEST_SAID, Errors, check_encoding
from diln.corpus.readers.remote import Remote, RemoteFile
from diln.corpus.sources import BLOCK_BYTES, BLOCK_DOCS, Block, Source, TextBlock
from diln.errors import SourceError

UNKNOWN_SIZE = 1 << 16  # bytes that a file is taken to have if its size is not told


class RemoteFolderSource(Source):
    """The .txt files in a folder, and in folders in it, in alphabetical order of their paths."""

    def __init__(self, remote: Remote, encoding: str, errors: Errors, skip_unreadable: bool) -> None:
        check_encoding(encoding, errors)
        self.name, self.remote, self.encoding, self.errors = remote.name, remote, encoding, errors
        self.skip_unreadable = skip_unreadable
        self.files = remote.inside(SUFFIX)
        self.total = len(self.files)

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
                yield self._block(block)
                block, size = [], 0

    def _block(self, files: list[RemoteFile]) -> Block:
        root = self.remote.path.rstrip("/") + "/"
        below = [PurePosixPath(file.path.removeprefix(root)) for file in files]
        texts = [self._text(file, data) for file, data in zip(files, self.remote.texts(files), strict=True)]
        return TextBlock(documents_of(zip(below, texts, strict=True)))

    def _text(self, file: RemoteFile, data: bytes | SourceError) -> str | None:
        if isinstance(data, bytes):
            return decoded(file.url, data, self.encoding, self.errors)
        if self.skip_unreadable:
            return None
        raise data
