"""A .json file: an array of objects, or objects one after the other that go over several lines, as JSON lines."""

import re
from collections.abc import Iterator
from json import JSONDecodeError, JSONDecoder

from diln.corpus.readers.columns import ColumnOptions
from diln.corpus.readers.jsonl import LOOKED_AT, JsonLinesSource
from diln.corpus.readers.lines import LONGEST, LONGEST_SAID, LineReader, Lines, Name
from diln.corpus.sources import BLOCK_BYTES
from diln.errors import SourceError

NEAR_THE_END = 16  # characters: what is wrong here may be so because the text goes on
SPACE = re.compile(r"\s*")
LINE_ENDS = str.maketrans("\r\n", "  ")  # they can stand only between the parts of a value, never inside a string

_decode = JSONDecoder().raw_decode


def is_by_line(reader: LineReader) -> bool:
    """Whether the first line of a file is an object, so that the others should be, too."""
    text = next(reader.text_pieces(LOOKED_AT), "").lstrip()
    if text[:1] not in ("{", "["):
        return True
    try:
        value, end = _decode(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and "\n" not in text[:end] and not text[end:].partition("\n")[0].strip(" \t\r")


class JsonValues(LineReader):
    """Reads the objects of a .json file as blocks of lines, an object a line."""

    def __init__(self, reader: LineReader) -> None:
        super().__init__(reader.path, reader.encoding, reader.errors, reader.file)

    def blocks(self, size: int | None = None) -> Iterator[Lines]:
        """Blocks of about ``size`` bytes (BLOCK_BYTES if not given), each of whole objects."""
        number, found, length = 1, list[bytes](), 0
        size = size or BLOCK_BYTES
        for value in Values(self.text_pieces(size), self.path):
            found.append(value.translate(LINE_ENDS).encode())
            length += len(found[-1])
            if length >= size:
                yield self._lines(found, number)
                number, found, length = number + len(found), [], 0
        if found:
            yield self._lines(found, number)

    def _lines(self, found: list[bytes], first: int) -> Lines:
        return Lines(self.path, b"\n".join(found), first, 0, "utf-8", "strict", "object")


class JsonSource(JsonLinesSource):
    """A .json file: JSON lines, or what ``JsonValues`` reads."""

    def __init__(self, reader: LineReader, asked: ColumnOptions) -> None:
        super().__init__(reader if is_by_line(reader) else JsonValues(reader), asked)


class Values:
    """The texts of the values in an array, or of values one after the other, from a text that comes in pieces."""

    def __init__(self, pieces: Iterator[str], path: Name) -> None:
        self.pieces, self.path = pieces, path
        self.text, self.at, self.number = "", 0, 0

    def __iter__(self) -> Iterator[str]:
        within = self._next_character() == "["
        self.at += within
        while (found := self._next_character()) and not (within and found == "]"):
            if found == "," and self.number:
                self.at += 1
                self._next_character()
            self.number += 1
            yield self._value()
        self.at += 1
        if within and not found:
            raise SourceError(f"{self.path}: its array does not end: it was cut off; copy or download it again")
        if within and self._next_character():
            raise SourceError(f"{self.path}: goes on after the end of its array; give one array, or one object a line")

    def _next_character(self) -> str:
        """The next character that is no space, or nothing at the end."""
        while True:
            self.at = SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]
            if self.at < len(self.text):
                return self.text[self.at]
            if not self._more():
                return ""

    def _more(self) -> bool:
        """Take in as much as there is to be looked at again, so that this is not done often; whether there was any."""
        parts = [self.text[self.at :]]
        wanted = 2 * len(parts[0])
        for piece in self.pieces:
            parts.append(piece)
            if sum(map(len, parts)) > wanted:
                break
        self.text, self.at = "".join(parts), 0
        return len(parts) > 1

    def _value(self) -> str:
        while True:
            try:
                _, end = _decode(self.text, self.at)
            except (ValueError, RecursionError) as error:
                self._go_on(error)
                continue
            first, self.at = self.at, end
            return self.text[first:end]

    def _go_on(self, error: Exception) -> None:
        """Take in more, if that may help."""
        reason = str(error)
        if isinstance(error, JSONDecodeError):
            reason = f"{error.msg} at character {error.pos - self.at + 1}"
            near = error.pos >= len(self.text) - NEAR_THE_END
            if (near or error.msg.startswith("Unterminated string")) and self._more():
                if len(self.text) <= LONGEST:
                    return
                reason = f"longer than {LONGEST_SAID}"
        raise SourceError(
            f"{self.path}, object {self.number}: not valid JSON ({reason}); give an array of objects, or one object "
            "a line"
        ) from None
