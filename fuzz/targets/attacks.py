"""What strangers attack with: times out of range, endless and lying files, odd cookies, texts that a sheet obeys."""

import csv
import io
import mimetypes
import tempfile
from random import Random
from typing import Any
from unicodedata import category, normalize
from unittest.mock import patch

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
from fsspec.spec import AbstractFileSystem

from diln import Corpus
from diln.cli.table_files import write_table
from diln.cli.table_formats import Column
from diln.corpus.readers import remote
from diln.errors import DilnError, inert
from diln.show.explorer.guard import COOKIE, Guard
from diln.show.explorer.settings import Settings
from fuzz.case import Case, Run, target
from fuzz.judge import WrongError
from fuzz.targets.readers import looked_at

FIELDS = ("text", "id", "title", "date", "label", "other")
ZONES = (None, None, "UTC", "Europe/Berlin", "+05:30", "Nowhere/Land", "")
NUMBERS = (0, 1, -1, 86_400, 2**31, -(2**31), 2**40, -(2**53), 2**62, -(2**63), 2**63 - 1)
SIGNS = [
    "=", "+", "-", "@", "\uff1d", "\ufe62", "\u200b", "\ufeff", "\u00ad", "\u2800", "\u3164", "\t", "\r", " ", "'", '"',
    ",", "\n", "1", "cmd|'/C calc'!A0", "\x1b[2J", "\x9b", "\u202e", "\u2066", "a", "e", ".", "\ud800", "\0",
]  # fmt: skip
DATES = [
    "9",
    "0",
    "/",
    "-",
    ".",
    ":",
    "T",
    " ",
    "2017",
    "March",
    "\u0663",
    "\u00b2",
    "+",
    "Z",
    "a",
    "'",
    "\n",
    "99999999",
]
ENDS = (".txt", ".csv", ".jsonl", ".parquet", ".npz", ".txt.gz", ".xlsx", "")


@target(1, strict=True)
def parquet_times(case: Case) -> Run:
    """A sound parquet file whose columns have times of any kind, many out of the range of Python's."""
    rng = case.rng
    columns = {name: _times(rng) for name in rng.sample(FIELDS, rng.randrange(1, 4))}
    columns.setdefault("text", pa.array(["red fox", "blue dog", "red dog", "fox"]))
    path = case.folder / "times.parquet"
    pq.write_table(pa.table(columns), path)

    def run() -> object:
        try:
            return looked_at(Corpus.read(path))
        except DilnError as error:
            if "cannot be read" in str(error):
                raise WrongError(f"times stop a corpus: {error}") from None
            raise

    return run


def _times(rng: Random) -> Any:
    """Four times of one kind, in a list or dictionary of them or by themselves."""
    unit, numbers = rng.choice(("ms", "us", "ns")), [rng.choice((*NUMBERS, None)) for _ in range(4)]
    kinds = [pa.timestamp(unit, rng.choice(ZONES) or None), pa.duration(unit), pa.date32(), pa.date64()]
    kind = rng.choice(kinds[:2] if rng.random() < 0.7 else kinds)
    bits = 32 if kind == pa.date32() else 64
    small = [None if number is None else number % 2**bits - 2 ** (bits - 1) for number in numbers]
    times = pa.array(small, pa.int32() if bits == 32 else pa.int64()).cast(kind, safe=False)
    form = rng.randrange(6)
    if form == 0:
        return pa.ListArray.from_arrays(pa.array([0, 1, 2, 3, 4]), times)
    return times.dictionary_encode() if form == 1 else times


@target(0.5, strict=True)
def dates(case: Case) -> Run:
    """Dates of any length and form."""
    rng = case.rng
    given = ["".join(rng.choices(DATES, k=rng.choice((1, 3, 8, 4000)))) for _ in range(3)]
    return lambda: looked_at(Corpus.from_texts(["red fox", "blue dog", "fox"], dates=given))


@target(1)
def tables_for_excel(case: Case) -> Run:
    """Texts that a spreadsheet would calculate, written for it; and what of them a terminal would obey."""
    rng = case.rng
    texts = ["".join(rng.choices(SIGNS, k=rng.randrange(1, 7))) for _ in range(5)]
    path = case.folder / rng.choice(("out.csv", "out.tsv"))

    def run() -> object:
        write_table(path, [Column(texts[0], "text"), Column("b", "text")], [[texts, texts[::-1]]], for_excel=True)
        written = path.read_bytes().decode("utf-8-sig")
        for row in csv.reader(io.StringIO(written, newline=""), delimiter="," if path.suffix == ".csv" else "\t"):
            if wrong := next((text for text in row if _calculated(text)), None):
                raise WrongError(f"a spreadsheet would calculate: {wrong!r}")
        for text in texts:
            if any(category(letter) in ("Cc", "Cf") and letter in "\0\x1b\x9b\u202e\u2066" for letter in inert(text)):
                raise WrongError(f"a terminal would obey: {text!r}")
        return None

    return run


def _calculated(text: str) -> bool:
    """Whether a text is a formula to a spreadsheet, which may look at what can be seen alone; numbers are none."""
    seen = "".join(c for c in text if category(c)[0] not in "CMZ" and c not in "\u2800\u3164")
    if normalize("NFKC", seen)[:1] not in ("=", "+", "-", "@"):
        return False
    try:
        float(text)
    except ValueError:
        return True
    return False


class Endless(AbstractFileSystem):  # type: ignore[misc]  # fsspec has no types
    """Files that never end, of no size that is told."""

    protocol = "endless"
    cachable = False
    read = 0

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Return what is known of a file."""
        return {"name": path, "type": "file", "size": None}

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        """List the one file."""
        return [self.info(path)] if detail else [path]

    def open(self, *_: Any, **__: Any) -> Any:
        """Open a file."""
        return Stream()


class Stream(io.RawIOBase):
    """The same line again and again."""

    def seek(self, position: int, whence: int = 0) -> int:
        """Go nowhere, for it is the same everywhere."""
        return position

    def read(self, size: int = -1) -> bytes:
        """Return as much as is asked for."""
        Endless.read += max(size, 0)
        if size < 0 or Endless.read > 1 << 24:
            raise WrongError("reads an endless file on and on")
        return (b'{"text": "elk fox gnu"}\n' * (size // 24 + 1))[:size]


fsspec.register_implementation("endless", Endless)


@target(0.2, strict=True)
def endless_files(case: Case) -> Run:
    """A file elsewhere that never ends."""
    url = f"endless://host/file{case.rng.choice(ENDS)}"

    def run() -> object:
        Endless.read = 0
        with (
            patch.object(remote, "LARGEST", 1 << 16),
            patch.object(remote, "PIECE", 1 << 12),
            patch.object(tempfile, "tempdir", str(case.folder)),
        ):
            return looked_at(Corpus.read(url, **case.rng.choice(({}, {"format": "lines"}, {"format": "jsonl"}))))

    return run


TOKEN = "the-right-token"
CRUMBS = ('prefs={"a": 1}', "a", "=", ";", " ", ",", '"', "\\", "=;", "x=y", "diln-token=z", "\xff", "a b=c d", "[1]")


@target(0.3, strict=True)
def cookies(case: Case) -> Run:
    """Cookies of other applications beside our own, or without it."""
    rng, port = case.rng, case.rng.choice((80, 8642, 8643))
    crumbs = [rng.choice(CRUMBS) for _ in range(rng.randrange(6))]
    ours = {port: TOKEN, port + 1: "of another explorer"} if rng.random() < 0.7 else {port + 1: TOKEN}
    named = [f"{COOKIE.format(port=number)}={token}" for number, token in ours.items()]
    cookie = "; ".join(sorted([*crumbs, *named], key=lambda _: rng.random())).encode("latin-1")
    scope = {
        "type": "http", "method": "GET", "path": "/api/topics", "query_string": b"",
        "headers": [(b"host", b"localhost:%d" % port), (b"cookie", cookie)],
    }  # fmt: skip
    guard = Guard(Nowhere(), Settings("0.0.0.0", port, TOKEN, frozenset({"localhost"})))

    def run() -> None:
        refused = guard.refused(scope)
        if (refused is None) != (port in ours):
            raise WrongError(f"{'lets in' if refused is None else 'refuses'} {cookie!r}")

    return run


class Nowhere:
    """An application that nobody asks."""

    async def __call__(self, *_: Any) -> None:
        """Answer nothing."""


BODIES = (
    b"",
    b"elk fox gnu\nfox\n",
    b'{"text": "elk fox"}\n',
    b"text,date\nelk,2017\n",
    b"\x1f\x8b\x08broken",
    b"<html>",
)


class Lying(AbstractFileSystem):  # type: ignore[misc]  # fsspec has no types
    """Files elsewhere that are longer or shorter than is told of them, or that end in an error, as their names say."""

    protocol = "lying"
    cachable = False

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Return what is said of a file."""
        body, told = lies(path)[:2]
        size = None if told is None else max(0, len(body) + told)
        return {"name": path, "type": "file", "size": size, "ETag": path}

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        """List the one file."""
        return [self.info(path)] if detail else [path]

    def open(self, path: str, *_: Any, **__: Any) -> Any:
        """Open a file."""
        lie = lies(path)
        return Breaking(lie[0], lie[2])


class Breaking(io.BytesIO):
    """Bytes, and then perhaps an error in place of the end."""

    def __init__(self, body: bytes, error: Exception | None) -> None:
        super().__init__(body)
        self.error = error

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next bytes."""
        found = super().read(size)
        if self.error is not None and (not found or size is None or size < 0):
            raise self.error
        return found


ERRORS = (
    *[None] * 12, OSError("reset"), TimeoutError(), ConnectionResetError(), FileNotFoundError("/x"), EOFError(),
    PermissionError("no"), RuntimeError("Response payload is not completed"), KeyError("ETag"),
)  # fmt: skip


def lies(path: str) -> tuple[bytes, int | None, Exception | None]:
    """What a file has, by how much its size is told wrongly, and what it ends in."""
    rng = Random(path.rpartition("/")[2])
    body = rng.choice(BODIES) * rng.choice((1, 1, 5000))
    return body, rng.choice((0, 0, 0, 0, None, None, -1, -9, 1, 9, 1 << 40)), rng.choice(ERRORS)


fsspec.register_implementation("lying", Lying)
mimetypes.init()  # reads what the machine knows of endings, which is not a case's doing


@target(0.3, strict=True)
def lying_files(case: Case) -> Run:
    """A file elsewhere of which not all that is told is true."""
    url = f"lying://host/{case.rng.random()}{case.rng.choice(ENDS)}"

    def run() -> object:
        with patch.object(remote, "PAUSE", 0.0), patch.object(tempfile, "tempdir", str(case.folder)):
            return looked_at(Corpus.read(url))

    return run
