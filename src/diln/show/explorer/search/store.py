"""The file of a search: an index of all words, without the texts, which stay in the corpus.

Documents are in it in an order that has nothing to do with theirs, so that the first hits of a frequent word are a fair
sample of all: only some thousand hits of a query are ranked.
"""

import math
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from diln.corpus import Corpus
from diln.engine.threads import cut
from diln.errors import DilnError
from diln.files import whole

FILE = "search.sqlite"
SCHEMA = 1
WORDS = "tokenize='unicode61 remove_diacritics 2', prefix='3'"
TABLE = f"CREATE VIRTUAL TABLE docs USING fts5(title, body, content='', {WORDS})"
ABOUT = "CREATE TABLE about(schema INTEGER, digest TEXT, documents INTEGER)"
HELD = 1 << 26  # bytes of words that are held in memory before they are written
TOKENS = 4_000_000  # of documents whose texts are in memory at a time, about
FEWEST, MOST = 256, 16_384  # documents that are
TOLD = 500  # documents between one telling of progress and the next

Rows = NDArray[np.int64]


class Unusable(DilnError):  # noqa: N818
    """A file is not the one that belongs to the corpus."""


def missing() -> str | None:
    """Why there can be no search on this machine; None if there can."""
    try:
        with closing(sqlite3.connect(":memory:")) as db:
            db.execute(TABLE)
    except sqlite3.Error:
        return "this Python's SQLite has no FTS5, so there is no search; the rest works"
    return None


def order(n_docs: int) -> Rows:
    """The documents in the order of the file: a fixed stride through all of them."""
    stride = max(1, int(n_docs * 0.6180339887498949))
    while math.gcd(stride, n_docs) > 1:
        stride += 1
    return np.asarray(np.arange(n_docs, dtype=np.int64) * stride % max(n_docs, 1))


def build(path: Path, corpus: Corpus, digest: str, tell: Callable[[float], bool]) -> None:
    """Write the file, in one step; ``tell`` hears how far it is and says whether to go on."""
    with whole(path) as file, closing(sqlite3.connect(Path(str(file.name)), isolation_level=None)) as db:
        for pragma in ("journal_mode=off", "synchronous=off", "locking_mode=exclusive", "page_size=8192"):
            db.execute(f"PRAGMA {pragma}")
        db.execute("BEGIN")
        db.execute(TABLE)
        db.execute(ABOUT)
        db.execute("INSERT INTO about VALUES(?, ?, ?)", (SCHEMA, digest, len(corpus)))
        db.execute("INSERT INTO docs(docs, rank) VALUES('hashsize', ?)", (HELD,))
        db.execute("INSERT INTO docs(docs, rank) VALUES('automerge', 0)")
        db.executemany("INSERT INTO docs(rowid, title, body) VALUES(?, ?, ?)", _documents(corpus, tell))
        db.execute("INSERT INTO docs(docs) VALUES('optimize')")
        db.execute("COMMIT")


class Stopped(Exception):  # noqa: N818
    """Nobody waits for the file any more."""


def _documents(corpus: Corpus, tell: Callable[[float], bool]) -> Iterator[tuple[int, str, str]]:
    """Numbers, titles and texts; some at a time, which are read shard by shard: in their order each is in another."""
    rows = order(len(corpus))
    for first, last in cut(len(corpus), at_once(corpus)):
        places = np.argsort(rows[first:last])
        some = corpus[rows[first:last][places]].documents
        read = sorted(zip(places.tolist(), some.titles, some.texts, strict=True))
        for number, (_, title, text) in enumerate(read, first):
            if number % TOLD == 0 and not tell(number / len(corpus)):
                raise Stopped
            yield number + 1, sound(title), sound(text)


def at_once(corpus: Corpus) -> int:
    """How many documents to read at a time: fewer of long ones."""
    return int(np.clip(TOKENS * len(corpus) // max(corpus.n_tokens, 1), FEWEST, MOST))


def sound(text: str) -> str:
    """The text without half characters, which SQLite does not take, and without NUL, where it would end."""
    if "\0" in text:
        text = text.replace("\0", " ")
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def connect(path: Path, digest: str, n_docs: int) -> sqlite3.Connection:
    """Open the file to read from; raises ``Unusable`` if it is not the one that belongs to the corpus."""
    if path.is_symlink() or not path.is_file():
        raise Unusable(f"{path}: there is no file")
    db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)
    try:
        for pragma in ("trusted_schema=off", "cell_size_check=on", "query_only=on", f"mmap_size={1 << 30}"):
            db.execute(f"PRAGMA {pragma}")
        if _tables(db) != _expected():
            raise Unusable(f"{path}: is not a search file")
        if db.execute("SELECT schema, digest, documents FROM about").fetchall() != [(SCHEMA, digest, n_docs)]:
            raise Unusable(f"{path}: is of another corpus")
    except sqlite3.Error:
        db.close()
        raise Unusable(f"{path}: is not a search file") from None
    except Unusable:
        db.close()
        raise
    return db


def _tables(db: sqlite3.Connection) -> list[tuple[str, ...]]:
    return sorted(db.execute("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master").fetchall())


def _expected() -> list[tuple[str, ...]]:
    """What a file of ours has in it, and nothing else."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute(TABLE)
        db.execute(ABOUT)
        return _tables(db)
