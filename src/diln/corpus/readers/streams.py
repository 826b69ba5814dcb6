"""What is given by name to be read: a file or folder as it is, or a stream, which is kept in a file meanwhile."""

import os
import shutil
import sys
from pathlib import Path
from stat import S_ISCHR, S_ISDIR, S_ISFIFO, S_ISREG
from typing import IO, NamedTuple

from diln.addresses import SPOILT_URL, shown
from diln.errors import SourceError

STANDARD_INPUT = "-"


class Given(NamedTuple):
    """What a path stands for."""

    name: Path  # for messages
    stream: bool  # whether it can be read only once


def what_is(path: Path) -> Given:
    """Whether a path is a file or folder, or a stream; raises if there is nothing to be read."""
    if str(path) == STANDARD_INPUT:
        return Given(Path("standard input"), stream=True)
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        url = "; give a URL as a string, not as a Path" if SPOILT_URL.match(str(path)) else "; check the path"
        raise SourceError(f"{shown(path)}: there is no such file or folder{url}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SourceError(f"{str(path)!r}: cannot be read ({reason}); check the path") from None
    if S_ISDIR(mode) or S_ISREG(mode):
        return Given(path, stream=False)
    if S_ISFIFO(mode) or (S_ISCHR(mode) and _is_input(path)):
        return Given(path, stream=True)
    raise SourceError(f"{path}: is a device or socket, which may never end; give a file, or a pipe (-)")


def _is_input(path: Path) -> bool:
    """Whether this is the terminal that standard input comes from."""
    try:
        return os.path.samestat(path.stat(), os.fstat(0)) and os.isatty(0)
    except OSError:
        return False


def keep(path: Path, given: Given, folder: Path) -> Path:
    """Write what comes from a stream to a file in a temporary folder: most formats are looked at twice."""
    copy = folder / "stream"
    try:
        with copy.open("wb") as kept:
            if str(path) == STANDARD_INPUT:
                shutil.copyfileobj(_standard_input(), kept)
            else:
                with path.open("rb") as stream:
                    shutil.copyfileobj(stream, kept)
    except OSError as error:
        raise SourceError(
            f"{given.name}: cannot be kept in a temporary file ({error.strerror}); write it to a file and give that"
        ) from None
    return copy


def _standard_input() -> IO[bytes]:
    if sys.stdin is None or sys.stdin.closed:
        raise SourceError("standard input: is closed; give a file, or pipe something into the command")
    return sys.stdin.buffer
