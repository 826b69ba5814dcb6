"""Searching: prepared in the background, ranked as far as a moment allows, and never in the way of anything else."""

import json
import sqlite3
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diln.analysis.index.digests import digest_of_corpus
from diln.corpus import Corpus
from diln.errors import DilnError, one_line
from diln.files import TemporaryFolder
from diln.show.explorer.search import store
from diln.show.explorer.search.query import Query, parse
from diln.show.explorer.search.store import Rows

RANKED = 500  # hits in titles, and as many in texts, that are compared with each other
TITLE = 4.0  # how much a word in a title counts, compared with one in the text
KEPT = 32  # searches whose hits are kept for the next page
SECONDS = 2.0  # that a search may take
LOOKED_AT = 200  # documents whose titles and texts say whether a file is of them
STEPS = 100_000  # of SQLite between two looks at the clock


@dataclass(frozen=True, slots=True)
class Hits:
    """Documents with what was searched for, the best first.

    ``rows`` has all of them; the first ``ranked`` are in order of how well they fit, and the others in no order.
    """

    rows: Rows
    ranked: int
    query: Query


class Search:
    """Full-text search in a corpus, whose file is made when there is none.

    ``state`` says how far that is. The file is in the model's directory, or where nothing can be written there in a
    temporary one, which ``close`` removes.
    """

    def __init__(self, corpus: Corpus, directory: Path | None = None, *, keep: bool = True) -> None:
        self.corpus, self.directory, self.keep = corpus, directory, keep
        self.inverse: Rows | None = None
        self._path: Path | None = None
        self._temporary: TemporaryFolder | None = None
        self._local = threading.local()
        self._lock, self._kept = threading.Lock(), OrderedDict[Any, Hits]()
        self._status, self._progress, self._note = "building", 0.0, ""
        self._stopped = False
        self._thread: threading.Thread | None = None

    def state(self) -> dict[str, Any]:
        """Whether it is ready, how far it is (0 to 1), and what is wrong with it, if anything."""
        return {"state": self._status, "progress": round(self._progress, 3), "note": self._note}

    @property
    def ready(self) -> bool:
        """Whether there can be searches now."""
        return self._status == "ready"

    def start(self) -> None:
        """Prepare the search beside whatever else is done."""
        self._thread = threading.Thread(target=self.prepare, name="search", daemon=True)
        self._thread.start()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until it is prepared."""
        if self._thread is not None:
            self._thread.join(seconds)

    def prepare(self) -> None:
        """Open the file, or make it; whatever goes wrong, search is off and says why."""
        try:
            if not {"title", "text"} & set(self.corpus.documents.fields):
                self._off("the corpus has no texts and no titles, so there is nothing to search in")
            elif (why := store.missing()) is not None:
                self._off(why)
            else:
                self._open(digest_of(self.corpus))
        except store.Stopped:
            self._off("search was ended")
        except (DilnError, sqlite3.Error, OSError) as error:
            self._off(one_line(f"search could not be prepared: {error}"))
        except Exception:
            self._off("search could not be prepared; the terminal says why")
            raise

    def _off(self, why: str) -> None:
        self._status, self._note = "off", why

    def _open(self, digest: str) -> None:
        path = None if self.directory is None else self.directory / store.FILE
        if path is None or not self._usable(path, digest):
            path = self._made(path, digest)
        self._order = store.order(len(self.corpus))
        self._path, self._digest = path, digest
        self._status, self._progress = "ready", 1.0

    def _usable(self, path: Path, digest: str) -> bool:
        try:
            store.connect(path, digest, len(self.corpus)).close()
        except store.Unusable:
            return False
        return True

    def _made(self, path: Path | None, digest: str) -> Path:
        """Make the file in the model's directory, or in a temporary one."""
        if path is not None and self.keep:
            try:
                store.build(path, self.corpus, digest, self._tell)
                return path
            except DilnError:  # nobody may write there, or the disk is full
                self._progress = 0.0
        self._temporary = TemporaryFolder()
        path = self._temporary.path / store.FILE
        store.build(path, self.corpus, digest, self._tell)
        return path

    def _tell(self, progress: float) -> bool:
        self._progress = progress
        return not self._stopped

    def close(self) -> None:
        """Let go of everything; a file that is being made is given up."""
        self._stopped = True
        self.wait(5.0)
        if self._temporary is not None:
            self._temporary.remove()

    def find(self, text: str, allowed: NDArray[np.bool_] | None = None, key: Any = None) -> Hits:
        """The documents with what a user has typed, among those that are ``allowed`` (a mask); ``key`` names these."""
        with self._lock:
            if (known := self._kept.get((text, key))) is not None:
                self._kept.move_to_end((text, key))
                return known
        found = self._found(parse(text), allowed)
        with self._lock:
            self._kept[text, key] = found
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return found

    def forget(self) -> None:
        """Keep no search: what is allowed has changed."""
        with self._lock:
            self._kept.clear()

    def _found(self, query: Query, allowed: NDArray[np.bool_] | None) -> Hits:
        if not query.fts:
            return Hits(np.zeros(0, np.int64), 0, query)
        try:
            db = self._connection()
            ends = time.monotonic() + SECONDS
            db.set_progress_handler(lambda: time.monotonic() > ends, STEPS)
            places = _places(db, query.fts, len(self._order))
            if allowed is not None:
                places = places[allowed[self._order[places]]]
            ranked = self._ranked(db, query, places, filtered=allowed is not None)
        except sqlite3.OperationalError as error:
            if "interrupted" in str(error):
                raise ValueError("the search takes too long; give fewer or longer words") from None
            raise ValueError("the search file cannot be read; remove it and start again") from None
        except (sqlite3.DatabaseError, store.Unusable):
            raise ValueError("the search file is damaged; remove it and start again") from None
        rest = places[~np.isin(places, ranked)]
        return Hits(self._order[np.concatenate([ranked, rest])], len(ranked), query)

    def _connection(self) -> sqlite3.Connection:
        """The connection of this thread."""
        if getattr(self._local, "db", None) is None:
            if self._path is None:
                raise ValueError("search is not ready yet; try again in a moment")
            self._local.db = store.connect(self._path, self._digest, len(self.corpus))
        db: sqlite3.Connection = self._local.db
        return db

    def _ranked(self, db: sqlite3.Connection, query: Query, places: Rows, *, filtered: bool) -> Rows:
        """Of these documents, the best: those with hits in their titles and some others, by BM25."""
        if not len(places):
            return places
        condition = ""
        if filtered:
            mask = np.zeros(len(self._order) + 1, np.uint8)
            mask[places + 1] = 1
            known = mask.tobytes()
            db.create_function("allowed", 1, lambda rowid: known[rowid])
            condition = " AND allowed(rowid)"
        asked = f"SELECT rowid, bm25(docs, {TITLE}, 1.0) FROM docs WHERE docs MATCH ?{condition} LIMIT {RANKED}"  # noqa: S608
        scores = dict(db.execute(asked, (query.fts,)).fetchall())
        if len(places) > RANKED:
            in_titles = db.execute(asked, (query.fts_in_titles,)).fetchall()
            scores |= {rowid: score for rowid, score in in_titles if rowid not in scores}
        best = np.array(sorted(scores, key=lambda rowid: (scores[rowid], rowid)), np.int64) - 1
        return best[np.isin(best, places)]


def digest_of(corpus: Corpus) -> str:
    """What tells whether a file is of these documents: their numbers of tokens, and titles and texts of some."""
    found = sha256(digest_of_corpus(corpus).encode())
    for row in sorted(set(np.linspace(0, len(corpus) - 1, LOOKED_AT).astype(np.int64).tolist())):
        document = corpus.documents[row]
        found.update(json.dumps([document.title, document.text]).encode())
    return found.hexdigest()


def _places(db: sqlite3.Connection, query: str, n_docs: int) -> Rows:
    """Where in the file all hits are."""
    found = db.execute("SELECT group_concat(rowid) FROM docs WHERE docs MATCH ?", (query,)).fetchone()[0]
    places = np.fromstring(found or "", np.int64, sep=",") - 1
    return places[(places >= 0) & (places < n_docs)]
