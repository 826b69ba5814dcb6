"""What a fit on its way writes down for whoever looks on, in a folder beside its model (MODEL.training).

``progress.jsonl`` has a line for every sweep, pass or step; ``map.json`` the topics as they are every now and then. The
folder is removed when the fit is over: the model keeps the history. A fit that was killed leaves it, without the lock
that its writer holds.
"""

import json
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from diln.errors import StoreError
from diln.files import create, make_folder
from diln.files.lock import claimed
from diln.inference.progress import Progress, Sight, in_use

LINES, MAP = "progress.jsonl", "map.json"
OURS = re.compile(r"progress\.jsonl|map\.json|\.map\.json\.[0-9a-f]{16}\.new")  # names of a record's files
SHARE = 0.01  # of the time of a fit that is spent on looking at its topics
SOONEST = 1.0  # seconds from one look to the next
WORDS = 10  # of a topic
LABEL = 3  # words that name one
MARGIN = 0.95  # of the way to the edge of the map at which the farthest topic is

Floats = NDArray[np.float64]


def beside(model: Path) -> Path:
    """Where the record of a fit is."""
    model = model if model.name not in ("", "..") else model.resolve()
    return model.with_name(f"{model.name}.training")


def row_of(progress: dict[str, Any], number: int) -> dict[str, Any]:
    """A sweep, pass or step in numbers, as the page shows it; those that are not known are left out."""
    row = {name: value for name, value in progress.items() if value is not None and name != "terms"}
    row["topics"] = row.pop("n_topics")
    return {"sweep": number, **row}


class Record:
    """Looks at a fit and writes down what it sees; whatever goes wrong with that, the fit goes on."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.vocabulary: list[str] = []  # is known once the documents are read
        self.number, self.due = 0, 0.0
        self.flat = FlatView()
        self.file: Any = None

    def __enter__(self) -> Self:
        make_folder(self.directory)
        found = sorted(path.name for path in self.directory.iterdir())
        other = next((name for name in found if not OURS.fullmatch(name)), None)
        if other is not None:
            raise StoreError(
                f"{self.directory}: holds {other!r}, which is no part of the record of a fit; --watch needs this "
                "folder: move it, or give the model another name"
            )
        self._clear()
        self.file = create(self.directory / LINES)
        with suppress(OSError):  # without locks it is not seen that a fit was killed
            claimed(self.file.fileno())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._write({"done": "failed" if kind is not None else "done"})
        if self.file is not None:
            self.file.close()
        with suppress(OSError):
            self._clear()
            self.directory.rmdir()  # unless somebody else has put something there

    def _clear(self) -> None:
        """Remove what a record has written, and nothing else."""
        for path in self.directory.iterdir():
            if OURS.fullmatch(path.name):
                path.unlink(missing_ok=True)

    def look(self, progress: Progress) -> None:
        """A sweep, pass or step is done."""
        self.number += 1
        self._write(row_of(asdict(progress), self.number))

    def see(self, sight: Callable[[], Sight]) -> None:
        """Look at the topics, if it is time to."""
        begun, worked = time.perf_counter(), time.thread_time()
        if begun < self.due or self.file is None:
            return
        text = json.dumps({"after": self.number, **seen(sight(), self.vocabulary, self.flat)})
        fresh = self.directory / f".{MAP}.{token_hex(8)}.new"
        try:
            fresh.write_text(text, encoding="utf-8")
            fresh.replace(self.directory / MAP)
        except OSError:
            self.file = None
        self.due = begun + max(SOONEST, (time.thread_time() - worked) / SHARE)

    def _write(self, line: dict[str, Any]) -> None:
        if self.file is None:
            return
        try:
            self.file.write((json.dumps(line) + "\n").encode())
            self.file.flush()
        except (OSError, StoreError):  # there is no room: the fit is what matters
            self.file = None


class FlatView:
    """Locations seen flat, from a side that changes no more than it must from one look to the next."""

    def __init__(self) -> None:
        self.axes: Floats | None = None

    def places(self, locations: Floats, shares: Floats) -> tuple[Floats, float]:
        """Where topics are seen (n_topics, 2), from -1 to 1, and how much of their variance that is."""
        weighted = locations * np.sqrt(shares)[:, np.newaxis]
        _, _, vectors = np.linalg.svd(weighted, full_matrices=False)
        axes = np.zeros((locations.shape[1], 2))
        axes[:, : min(2, len(vectors))] = vectors[:2].T
        if self.axes is not None and self.axes.shape == axes.shape:
            left, _, right = np.linalg.svd(axes.T @ self.axes)
            axes = axes @ (left @ right)
        self.axes = axes
        flat = locations @ axes
        total = float((weighted**2).sum())
        explained = float((shares[:, np.newaxis] * flat**2).sum()) / total if total > 0 else 1.0
        farthest = float(np.abs(flat).max(initial=0)) or 1.0
        return flat * (MARGIN / farthest), min(explained, 1.0)


def seen(sight: Sight, vocabulary: list[str], flat: FlatView) -> dict[str, Any]:
    """The topics in use: their shares, words and, where they have locations, places on a map."""
    used = np.flatnonzero(in_use(sight.tokens))
    shares = np.asarray(sight.tokens[used] / max(float(sight.tokens.sum()), 1.0), np.float64)
    counts = sight.counts[:, used]
    most = min(WORDS, len(vocabulary))
    top = np.argpartition(counts, -most, axis=0)[-most:].T if len(used) else np.zeros((0, most), np.int64)
    topics = [_topic(int(topic), float(share), counts[:, at], top[at], vocabulary) for at, (topic, share) in
              enumerate(zip(used, shares, strict=True))]  # fmt: skip
    found: dict[str, Any] = {"topics": topics, "map": None, "themes": None, "pairs": None, "documents": None}
    if sight.locations.shape[1] and len(used):
        places, explained = flat.places(np.asarray(sight.locations[used], np.float64), shares)
        points = [{"id": int(topic), "x": x, "y": y} for topic, (x, y) in zip(used, places.tolist(), strict=True)]
        note = "Numbers of topics are those of this moment."
        found["map"] = {"points": points, "themes": [], "origin": [0, 0], "explained": explained, "note": note}
    return found


def _topic(topic: int, share: float, counts: Any, top: Any, vocabulary: list[str]) -> dict[str, Any]:
    terms = top[np.argsort(-counts[top], kind="stable")].tolist()
    words = [vocabulary[term] for term in terms if counts[term] > 0]
    label = ", ".join(words[:LABEL])
    return {"id": topic, "label": label, "named": False, "share": share, "theme": None, "words": words}
