"""Items handed to other processes and back in files that are written again and again.

A pipe takes 16 ms for 4 MB where a file whose pages the system holds already takes 1 ms, and a pipe's reader must wait
for Python's lock after every 64 KB; so the things themselves go by file, and only the file's name by pipe.
"""

import os
import pickle
from pathlib import Path
from typing import Any, NamedTuple

from diln.files import TemporaryFolder

CLAIMED = ".claimed"


class Parcel(NamedTuple):
    """Where a thing lies: the first ``size`` bytes of a file."""

    path: str
    size: int

    def unpack(self) -> Any:
        """The thing, in whatever process."""
        with Path(self.path).open("rb", buffering=0) as file:
            data = file.read(self.size)
        return pickle.loads(data)  # noqa: S301 - written a moment ago, by this process or one that it started


def claim(parcel: Parcel) -> bool:
    """Whether the caller is the first to ask for the parcel; of several processes one gets it."""
    try:
        os.close(os.open(parcel.path + CLAIMED, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return False
    return True


def pack(path: str, thing: Any) -> Parcel:
    """Write a thing over what a file held."""
    data = memoryview(pickle.dumps(thing, protocol=pickle.HIGHEST_PROTOCOL))
    with Path(path).open("r+b", buffering=0) as file:
        written = 0
        while written < len(data):
            written += file.write(data[written:])
    return Parcel(path, len(data))


class Parcels:
    """Files in a temporary folder, as many as there are things on their way at once."""

    def __init__(self) -> None:
        self._folder: TemporaryFolder | None = None
        self._free: list[str] = []
        self._made = 0

    @property
    def folder(self) -> str:
        """The folder, made when it is first asked for."""
        if self._folder is None:
            self._folder = TemporaryFolder()
        return str(self._folder.path)

    def pack(self, thing: Any) -> Parcel:
        """Write a thing to a file that is free."""
        if not self._free:
            path = Path(self.folder) / str(self._made)
            path.touch()
            self._free.append(str(path))
            self._made += 1
        return pack(self._free.pop(), thing)

    def release(self, parcel: Parcel) -> None:
        """What lies in the file is needed no more, and no process will ask for it."""
        Path(parcel.path + CLAIMED).unlink(missing_ok=True)
        self._free.append(parcel.path)

    def close(self) -> None:
        """Remove the files."""
        if self._folder is not None:
            self._folder.remove()
