"""The course of a fit: of one that is over from its model, and of one on its way from what it writes down."""

import json
import threading
from pathlib import Path
from typing import Any

from diln.errors import StoreError
from diln.files.lock import claimed
from diln.files.safe import open_as_it_is
from diln.show.explorer.record import LINES, MAP, row_of

MOST = 2000  # rows that are sent at once


class Training:
    """Rows of numbers, one for every sweep, pass or step, and the topics as they were last seen.

    A fit on its way is followed by ``poll``, which whoever wants to know calls now and then.
    """

    def __init__(self, history: list[dict[str, Any]], directory: Path | None = None) -> None:
        self.rows = [row_of(one, number + 1) for number, one in enumerate(history)]
        self.directory = directory
        self.running = directory is not None
        self.ended = directory is None  # whether all is said: the fit is over and its model is open, or cannot be
        self.note = ""
        self.latest: dict[str, Any] | None = None
        self._lock, self._rest = threading.Lock(), b""
        self._file: Any = None

    def told(self) -> dict[str, Any]:
        """All that is known, thinned if that is much."""
        self.poll()
        rows = list(self.rows)
        step = -(-len(rows) // MOST) if rows else 1
        some = rows if step == 1 else [*rows[:-1:step], rows[-1]]
        return {"running": not self.ended, "total": len(rows), "rows": some, "latest": self.latest, "note": self.note}

    def poll(self) -> None:
        """Read what has come since."""
        with self._lock:
            if self.running and self.directory is not None:
                self._read(self.directory)

    def _read(self, directory: Path) -> None:
        self._read_lines(directory)
        self._read_map(directory)
        if not self.running and self._file is not None:
            self._file.close()

    def _read_lines(self, directory: Path) -> None:
        if self._file is None:
            try:
                self._file = open_as_it_is(directory / LINES)
            except (OSError, StoreError):
                self.running = directory.is_dir()
                return
        if not self._take_lines() and self.running and self._left_alone():
            self._take_lines()  # what was said between the two looks, the last of which may be that it is done
            if self.running:
                self.running, self.note = False, "the fit was ended before it was done"

    def _take_lines(self) -> bool:
        """Take the lines that have come since; whether there are any."""
        data = self._rest + self._file.read()
        *lines, self._rest = data.split(b"\n")
        for line in lines:
            self._take(line)
        return bool(lines)

    def _left_alone(self) -> bool:
        """Whether nobody writes any more, though nobody has said so."""
        try:
            return claimed(self._file.fileno())
        except OSError:
            return False

    def _take(self, line: bytes) -> None:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            return
        if not isinstance(row, dict):
            return
        if "done" in row:
            self.running = False
            self.note = "" if row["done"] == "done" else "the fit was ended before it was done"
        else:
            self.rows.append(row)

    def _read_map(self, directory: Path) -> None:
        try:
            with open_as_it_is(directory / MAP) as file:
                found = json.loads(file.read())
        except (OSError, StoreError, ValueError, RecursionError):
            return
        if not isinstance(found, dict) or "map" not in found:
            return
        if self.latest is None or found.get("after") != self.latest.get("after"):
            self.latest = found
