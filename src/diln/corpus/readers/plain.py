"""Plain text: a document a line, or a document a file in a folder."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from diln.corpus.readers.lines import Errors, LineReader, Lines, broken_bytes, check_encoding
from diln.corpus.rules import TextRule
from diln.corpus.sources import BLOCK_BYTES, BLOCK_DOCS, Block, Counted, ParsedDocuments, Source
from diln.errors import SourceError


@dataclass(frozen=True, slots=True)
class LineBlock(Block):
    """Lines, each a document."""

    lines: Lines

    def count(self, rule: TextRule) -> Counted:
        """Count the lines; a document's id is its line number, and blank lines are no documents."""
        numbered = list(self.lines.numbered())
        texts = [line for _, line in numbered]
        return ParsedDocuments(texts, {"id": [str(number) for number, _ in numbered], "text": texts}).count(rule)


class LinesSource(Source):
    """A text file with a document a line."""

    numbered = True

    def __init__(self, reader: LineReader) -> None:
        self.name, self.reader, self.total = str(reader.path), reader, reader.total

    def blocks(self) -> Iterator[Block]:
        """Blocks of whole lines."""
        for lines in self.reader.blocks():
            self.position = self.reader.position
            yield LineBlock(lines)


@dataclass(frozen=True, slots=True)
class FileBlock(Block):
    """Files, each a document, not yet read."""

    root: Path
    paths: list[Path]
    encoding: str
    errors: Errors

    def count(self, rule: TextRule) -> Counted:
        """Read and count the files: path as id, name as title, folder (where there is one) as label."""
        texts = [self._read(path) for path in self.paths]
        below = [path.relative_to(self.root) for path in self.paths]
        fields = {
            "id": [path.as_posix() for path in below],
            "title": [path.stem for path in below],
            "label": [path.parent.as_posix() if path.parent.parts else "" for path in below],
            "text": texts,
        }
        return ParsedDocuments(texts, fields, sum(not text for text in texts)).count(rule)

    def _read(self, path: Path) -> str:
        try:
            return path.read_bytes().decode(self.encoding, self.errors).removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            raise broken_bytes(path, error, error.start) from None
        except OSError as error:
            raise SourceError(f"{path}: cannot be read ({error.strerror}); check the file") from None


class FolderSource(Source):
    """A folder of .txt files, and of folders of them, in alphabetical order of their paths."""

    def __init__(self, root: Path, encoding: str = "utf-8", errors: Errors = "strict") -> None:
        check_encoding(encoding, errors)
        self.name, self.root, self.encoding, self.errors = str(root), root, encoding, errors
        found = (path for path in root.rglob("*") if path.suffix.lower() == ".txt" and path.is_file())
        self.paths = sorted((path for path in found if not path.name.startswith(".")), key=lambda path: path.as_posix())
        self.total = len(self.paths)
        if not self.paths:
            raise SourceError(f"{root}: there is no .txt file in this folder or below it; give one that has some")

    def blocks(self) -> Iterator[Block]:
        """Files in blocks of bounded size."""
        block: list[Path] = []
        size = 0
        for number, path in enumerate(self.paths, 1):
            block.append(path)
            size += path.stat().st_size
            if size >= BLOCK_BYTES or len(block) >= BLOCK_DOCS or number == self.total:
                self.position = number
                yield FileBlock(self.root, block, self.encoding, self.errors)
                block, size = [], 0
