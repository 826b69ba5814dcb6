"""Plain text: a document a line."""

from collections.abc import Iterator
from dataclasses import dataclass

from diln.corpus.readers.lines import LineReader, Lines
from diln.corpus.rules import TextRule
from diln.corpus.sources import Block, Counted, ParsedDocuments, Source


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
