"""Files as blocks of whole lines, unpacked on the way, with broken bytes found and placed."""

import codecs
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from diln.corpus.sources import BLOCK_BYTES
from diln.errors import SourceError

Errors = Literal["strict", "replace", "ignore"]
ERRORS = ("strict", "replace", "ignore")
BYTE_ORDER_MARK = "\ufeff"
GZIP_MAGIC = b"\x1f\x8b"
UNPACK_BYTES = 4 << 20
LONGEST = 256 << 20  # bytes of a line, and so of a document: a gzip file of 1 MB can hold a line of 1 GB
LONGEST_SAID = f"{LONGEST >> 20} MB"


@dataclass(frozen=True, slots=True)
class Lines:
    """Whole lines of a file, as bytes."""

    path: Path
    data: bytes
    first: int  # number of the first line, from 1
    offset: int  # bytes of the (unpacked) file before it
    encoding: str
    errors: Errors

    def text(self) -> str:
        """The lines decoded, without the mark that may stand at the start of a file to tell its encoding."""
        try:
            text = self.data.decode(self.encoding, self.errors)
            return text if self.offset else text.removeprefix(BYTE_ORDER_MARK)
        except UnicodeDecodeError as error:
            line = self.first + self.data.count(b"\n", 0, error.start)
            raise broken_bytes(self.path, error, self.offset + error.start, f", line {line}") from None
        except UnicodeError as error:
            raise odd_bytes(self.path, self.encoding, error) from None

    def numbered(self) -> Iterator[tuple[int, str]]:
        """Each line that is not blank, with its number."""
        for number, line in enumerate(self.text().split("\n"), self.first):
            if line and not line.isspace():
                yield number, line.removesuffix("\r")


def broken_bytes(path: Path, error: UnicodeDecodeError, offset: int, where: str = "") -> SourceError:
    """The error for bytes that are not text in the encoding."""
    return SourceError(
        f"{path}{where}, byte {offset}: {error.object[error.start : error.start + 1]!r} is not valid {error.encoding}; "
        "name the right encoding (for example --encoding latin-1), or pass --errors replace to mark such bytes"
    )


def odd_bytes(path: Path, encoding: str, error: UnicodeError) -> SourceError:
    """The error for bytes that an encoding such as punycode, which is not one of bytes, cannot make text of."""
    problem = " ".join(str(error).split())
    return SourceError(f"{path}: is not {encoding} ({problem}); name the right encoding, which is most often utf-8")


def check_encoding(encoding: str, errors: str) -> None:
    """Raise if there is no such encoding of text, or no such way to deal with broken bytes."""
    try:
        "a".encode(encoding, "replace")
    except (LookupError, ValueError):
        raise SourceError(
            f"there is no encoding {encoding!r}; use utf-8, latin-1, cp1252, utf-16 or another that Python knows"
        ) from None
    if errors not in ERRORS:
        raise SourceError(f"errors is {errors!r}; use one of {', '.join(ERRORS)}")


class LineReader:
    """Reads a plain or gzipped file as blocks of whole lines, knowing how far into the file it is."""

    def __init__(self, path: Path, encoding: str = "utf-8", errors: Errors = "strict") -> None:
        check_encoding(encoding, errors)
        marked = codecs.lookup(encoding).name == "utf-8-sig"  # the mark is taken off whatever the encoding
        self.path, self.encoding, self.errors = path, "utf-8" if marked else encoding, errors
        self.total = check_file(path)
        self.position = 0

    def blocks(self, size: int | None = None) -> Iterator[Lines]:
        """Blocks of about ``size`` bytes (BLOCK_BYTES if not given), each ending at the end of a line."""
        line, offset, rest = 1, 0, b""
        pieces, encoding = self._decoded(size or BLOCK_BYTES)
        for piece in pieces:
            end = piece.rfind(b"\n") + 1
            if not end:
                rest += piece
                continue
            data = rest + piece[:end]
            rest = piece[end:]
            yield Lines(self.path, data, line, offset, encoding, self.errors)
            line += data.count(b"\n")
            offset += len(data)
        if rest:
            yield Lines(self.path, rest, line, offset, encoding, self.errors)

    def _decoded(self, size: int) -> tuple[Iterator[bytes], str]:
        """Pieces in which a line ends with the byte 10, and their encoding: UTF-16 and its like are turned to UTF-8."""
        if "\n\r a".encode(self.encoding, "replace") == b"\n\r a":
            return self._pieces(size), self.encoding
        return self._transcoded(size), "utf-8"

    def _transcoded(self, size: int) -> Iterator[bytes]:
        decoder = codecs.getincrementaldecoder(self.encoding)(self.errors)
        offset = 0
        try:
            for piece in self._pieces(size):
                yield decoder.decode(piece).encode()
                offset += len(piece)
            yield decoder.decode(b"", final=True).encode()
        except UnicodeDecodeError as error:
            before = offset - len(decoder.getstate()[0])  # what is left of a character begun in the piece before
            raise broken_bytes(self.path, error, before + error.start) from None
        except UnicodeError as error:
            raise odd_bytes(self.path, self.encoding, error) from None

    def _pieces(self, size: int) -> Iterator[bytes]:
        with self.path.open("rb") as raw:
            packed = raw.read(2) == GZIP_MAGIC
            raw.seek(0)
            for piece in unpack(raw, self.path, size) if packed else iter(lambda: raw.read(size), b""):
                self.position = raw.tell()
                yield piece


def unpack(raw: BinaryIO, path: Path, size: int) -> Iterator[bytes]:
    """A gzip file's content in pieces of ``size`` bytes; several members end to end are one content.

    Twice as quick as the gzip module, which feeds zlib with 8 KB at a time.
    """
    member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    packed = b""
    try:
        while packed := packed or raw.read(UNPACK_BYTES):
            piece = member.decompress(packed, size)
            packed = member.unconsumed_tail or member.unused_data
            if piece:
                yield piece
            if member.eof:
                packed = (packed or raw.read(UNPACK_BYTES)).lstrip(b"\0")  # members may be padded with zeros
                if not packed:
                    return
                member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    except zlib.error as error:
        raise SourceError(f"{path}: the gzip file is damaged ({error}); copy or download it again") from None
    raise SourceError(f"{path}: the gzip file ends too early: it was cut off; copy or download it again")


def check_file(path: Path) -> int:
    """The size of a file that must be there and not be empty."""
    try:
        size = path.stat().st_size
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    if size == 0:
        raise SourceError(f"{path}: the file is empty; give one with documents in it")
    return size
