"""Files as blocks of whole lines, unpacked on the way, with broken bytes found and placed."""

import codecs
import re
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from diln.corpus.sources import BLOCK_BYTES
from diln.errors import DilnWarning, SourceError

Errors = Literal["strict", "replace", "ignore"]
ERRORS = ("strict", "replace", "ignore")
Name = Path | str  # of a file, for messages: its path, or a URL
BYTE_ORDER_MARK = "\ufeff"
MARKS = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
GZIP_MAGIC = b"\x1f\x8b"
UNPACK_BYTES = 4 << 20
LONGEST = 256 << 20  # bytes of a line, and so of a document: a gzip file of 1 MB can hold a line of 1 GB
HEAD_BYTES = 4096  # that tell what a file is
ASCII = bytes(range(0x80))
NOT_CP1252 = frozenset(b"\x81\x8d\x8f\x90\x9d")  # bytes that it has no character for
NOT_CONTROLS = bytes(byte for byte in range(0x100) if not 0x80 <= byte < 0xA0)
FOREIGN = 0.4  # of the bytes beyond ASCII: more than any text in Latin letters has
BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a]")
CHECKED_BYTES = 1 << 30
LONGEST_SAID = f"{LONGEST >> 20} MB"


@dataclass(frozen=True, slots=True)
class Lines:
    """Whole lines of a file, as bytes."""

    path: Name
    data: bytes
    first: int  # number of the first line, from 1
    offset: int  # bytes of the (unpacked) file before it
    encoding: str
    errors: Errors
    unit: str = "line"  # what the lines are to the user

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


def broken_bytes(path: Name, error: UnicodeDecodeError, offset: int, where: str = "") -> SourceError:
    """The error for bytes that are not text in the encoding."""
    other = "name the right encoding (for example --encoding utf-8)"
    advice = _likely_encoding(error.object) if error.encoding == "utf-8" else other
    return SourceError(
        f"{path}{where}, byte {offset}: {error.object[error.start : error.start + 1]!r} is not valid {error.encoding}; "
        f"{advice}, or pass --errors replace to mark such bytes"
    )


def _likely_encoding(data: bytes) -> str:
    """What to pass for text that is not UTF-8: Windows' own encoding, unless it cannot be that of such bytes."""
    high = data.translate(None, ASCII)
    if len(high) > FOREIGN * len(data) or not set(high).isdisjoint(NOT_CP1252):
        return "name the right encoding (for example --encoding gb18030, shift_jis or cp1251)"
    return "if it comes from Windows or Excel, pass --encoding cp1252"


def warn_of_controls(path: Name, encoding: str, data: bytes) -> bool:
    """Warn, and say so, if text that is read as Latin-1 has control characters where other encodings have letters."""
    if codecs.lookup(encoding).name != "iso8859-1" or not data.translate(None, NOT_CONTROLS):
        return False
    warnings.warn(
        f"{path}: has control characters as {encoding}, such as byte {data.translate(None, NOT_CONTROLS)[:1]!r}; text "
        "from Windows or Excel has quotes, dashes and the euro there: pass --encoding cp1252 (encoding=)",
        DilnWarning,
        stacklevel=2,
    )
    return True


def check_not_wide(path: Name, head: bytes) -> None:
    """Raise if what is to be read byte by byte begins with the mark of UTF-16, or has its many zeros without a mark."""
    marked = next((name for mark, name in MARKS.items() if head.startswith(mark)), None)
    if marked is not None:
        raise SourceError(f"{path}: begins as a file in {marked} does; pass --encoding {marked}")
    if head.count(0) > len(head) // 4:
        wide = "utf-16-le" if head[1::2].count(0) >= head[::2].count(0) else "utf-16-be"
        raise SourceError(f"{path}: is full of zero bytes; if it is text in UTF-16, pass --encoding {wide}")


def odd_bytes(path: Name, encoding: str, error: UnicodeError) -> SourceError:
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

    def __init__(
        self, path: Name, encoding: str = "utf-8", errors: Errors = "strict", file: Path | None = None
    ) -> None:
        check_encoding(encoding, errors)
        marked = codecs.lookup(encoding).name == "utf-8-sig"  # the mark is taken off whatever the encoding
        self.path, self.encoding, self.errors = path, "utf-8" if marked else encoding, errors
        self.file = file or Path(path)  # where it is, if it is called otherwise in messages
        self.total = check_file(path, file)
        self.position = 0
        self.warned = False  # of control characters

    def blocks(self, size: int | None = None) -> Iterator[Lines]:
        """Blocks of about ``size`` bytes (BLOCK_BYTES if not given), each ending at the end of a line."""
        line, offset = 1, 0
        rest: list[bytes] = []
        pieces, encoding = self._decoded(size or BLOCK_BYTES)
        for piece in with_line_feeds(pieces):
            end = piece.rfind(b"\n") + 1
            if not end:
                rest.append(piece)
                self._check_length(rest, line)
                continue
            data = b"".join((*rest, piece[:end]))
            rest = [piece[end:]] if piece[end:] else []
            yield Lines(self.path, data, line, offset, encoding, self.errors)
            line += data.count(b"\n")
            offset += len(data)
        if rest:
            yield Lines(self.path, b"".join(rest), line, offset, encoding, self.errors)

    def _check_length(self, pieces: list[bytes], line: int) -> None:
        if sum(map(len, pieces)) > LONGEST:
            raise SourceError(
                f"{self.path}, line {line}: has more than {LONGEST_SAID}, the most that a line can have; split it, or "
                "name the right format with --format"
            )

    def _decoded(self, size: int) -> tuple[Iterator[bytes], str]:
        """Pieces in which a line ends with the byte 10, and their encoding: UTF-16 and its like are turned to UTF-8."""
        if self._lines_end_with_one_byte():
            return self._pieces(size), self.encoding
        return self._transcoded(size), "utf-8"

    def _lines_end_with_one_byte(self) -> bool:
        return "\n\r a".encode(self.encoding, "replace") == b"\n\r a"

    def text_pieces(self, size: int) -> Iterator[str]:
        """The text in pieces that may end anywhere."""
        first = True
        for piece in self._transcoded(size):
            yield piece.decode().removeprefix(BYTE_ORDER_MARK) if first else piece.decode()
            first = first and not piece

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
        try:
            with self.file.open("rb") as raw:
                unpacked = unpack(raw, self.path, size) if self._is_packed(raw) else iter(lambda: raw.read(size), b"")
                first = self._lines_end_with_one_byte()
                for piece in unpacked:
                    if first:
                        check_not_wide(self.path, piece[:HEAD_BYTES])
                    first = False
                    self.position = raw.tell()
                    self.warned = self.warned or warn_of_controls(self.path, self.encoding, piece)
                    yield piece
        except OSError as error:
            raise SourceError(f"{self.path}: cannot be read ({error.strerror}); check the file") from None

    def _is_packed(self, raw: BinaryIO) -> bool:
        """Whether a file is gzipped. One that is called so need not be: some tools unpack what they download."""
        head = raw.read(HEAD_BYTES)
        raw.seek(0)
        if head.startswith(GZIP_MAGIC):
            return True
        if str(self.path).lower().endswith(".gz") and self._lines_end_with_one_byte() and BINARY.search(head):
            raise SourceError(f"{self.path}: is neither gzip nor text, so it is damaged; copy or download it again")
        return False

    def check_packed(self) -> None:
        """Raise if a gzip file is damaged, at least in its first gigabyte; what came of it is then no wonder."""
        with self.file.open("rb") as raw:
            if not raw.read(2).startswith(GZIP_MAGIC):
                return
        seen = 0
        for piece in self._pieces(UNPACK_BYTES):
            seen += len(piece)
            if seen > CHECKED_BYTES:
                return


def unpack(raw: BinaryIO, path: Name, size: int) -> Iterator[bytes]:
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


def with_line_feeds(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces; where the first has no line feed but carriage returns, as old Macs end lines, these are such ends."""
    alone = None
    for piece in pieces:
        if alone is None:
            alone = b"\r" in piece[:-1] and b"\n" not in piece
        yield piece.replace(b"\r", b"\n") if alone else piece


def check_file(path: Name, held: Path | None = None) -> int:
    """The size of a file, which may be held in another, that must be there and not be empty."""
    try:
        size = (held or Path(path)).stat().st_size
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    if size == 0:
        raise SourceError(f"{path}: the file is empty; give one with documents in it")
    return size
