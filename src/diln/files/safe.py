"""One file at a time: written under a name that nobody has, through no link, and read as it lies there.

A file is created and never opened for writing again. What replaces another is written beside it first, under a name
that nobody can guess, and takes its place in one step. A process that is killed leaves at most such a file; the next
one that writes to the same place removes it.
"""

import errno
import io
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

from diln.errors import TOO_LONG, StoreError
from diln.files.interrupts import guarded, let_through
from diln.files.lock import claimed, same_file

Entry = dict[str, Any]  # of a manifest: a file's bytes, checksum and, for arrays, type and shape

AS_IT_IS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
BUFFER = 1 << 20
FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
KEPT = 50  # characters of a file's name that the name of its fresh copy begins with: names cannot be of any length
TEMPORARY = r"\.{}\.[0-9a-f]{{16}}\.new"  # the name of a fresh copy


def unwritable(path: Path, error: OSError) -> StoreError:
    """Why a file cannot be written, and what to do."""
    if error.errno == errno.ENAMETOOLONG:
        return StoreError(f"{path}: {TOO_LONG}")
    if error.errno in FULL:
        return StoreError(
            f"{path}: there is no room left on the disk; make room or name another place, and try again (what was "
            "there before is unchanged)"
        )
    reason = error.strerror or str(error)
    return StoreError(f"{path}: cannot be written ({reason}); mend that, or name another place")


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Say in one sentence that something cannot be written."""
    try:
        yield
    except OSError as error:
        raise unwritable(path, error) from error


class _Raw(io.FileIO):
    """A new file; where it cannot be written, the error says so of the file ``about``, whoever writes."""

    def __init__(self, path: Path, about: Path) -> None:
        self.about = about
        super().__init__(path, "xb")

    def write(self, data: Any) -> int:
        with told(self.about):
            return super().write(data) or 0


def create(path: Path, about: Path | None = None) -> IO[bytes]:
    """A new file to write to. One that is there already is not touched, nor is what a link there points to.

    Errors are about the file ``about``, by default the file itself.
    """
    with told(about or path):
        return io.BufferedWriter(_Raw(path, about or path), BUFFER)


def make_folder(path: Path, *, new: bool = False) -> None:
    """Make a folder, or see that it is one and not a link; with ``new`` it must not be there yet."""
    with told(path):
        path.mkdir(exist_ok=not new)
    if path.is_symlink():
        raise linked(path)


def touch(path: Path) -> None:
    """Have an empty file there."""
    with told(path):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | AS_IT_IS, 0o666))


def write_parts(path: Path, *parts: bytes | memoryview) -> Entry:
    """Write a new file, down to the disk, and say what was written."""
    digest, size = sha256(), 0
    with create(path) as file:
        for part in parts:
            digest.update(part)
            size += file.write(part)
        to_disk(file, path)
    return {"bytes": size, "sha256": digest.hexdigest()}


def write_whole(path: Path, text: str) -> None:
    """Make this a file's text, in one step: whoever is killed amid it leaves what was there, or nothing."""
    with whole(path) as file:
        file.write(text.encode())


@guarded
def whole(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to that becomes the one of this path in one step, when all is written.

    A link of this name is replaced; what it points to stays as it is. An interrupt leaves what was there.
    """
    sweep_fresh(path.parent, path.name)
    fresh, file = _fresh(path)
    try:
        with file:
            yield file
            to_disk(file, path)
            if os.name == "nt":  # renames no file that is open
                file.close()
            let_through()
            with told(path):
                fresh.replace(path)
        folder_to_disk(path.parent)
    except BaseException:
        with suppress(OSError):
            fresh.unlink()
        raise


def _fresh(path: Path) -> tuple[Path, IO[bytes]]:
    """A new file beside another, that this process holds for as long as it is open: it is no leftover."""
    while True:
        fresh = path.with_name(f".{path.name[:KEPT]}.{token_hex(8)}.new")
        file = create(fresh, path)
        with suppress(OSError):  # without locks, nobody removes it either
            if not (claimed(file.fileno()) and same_file(fresh, file.fileno())):
                file.close()
                continue
        return fresh, file


def sweep_fresh(folder: Path, name: str | None = None) -> None:
    """Remove fresh copies of a file, or of all files in a folder, that dead processes have left."""
    wanted = re.compile(TEMPORARY.format(".+" if name is None else re.escape(name[:KEPT])), re.DOTALL)
    with told(folder):
        left = [other for other in folder.iterdir() if wanted.fullmatch(other.name)]
    for other in left:
        with suppress(OSError, StoreError), open_as_it_is(other) as file:
            if claimed(file.fileno()):
                other.unlink()


def to_disk(file: IO[Any], path: Path) -> None:
    """Bring what was written down to the disk."""
    file.flush()
    with told(path):
        os.fsync(file.fileno())


def folder_to_disk(folder: Path) -> None:
    """Bring the names in a folder down to the disk, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def linked(path: Path) -> StoreError:
    """What to raise about a link where there should be a file or a folder."""
    return StoreError(
        f"{path}: is a symbolic link, and diln follows none inside a directory of its own; put what it points to in "
        "its place (cp -rL copies a directory so)"
    )


def unreadable(path: Path, error: OSError) -> StoreError:
    """Why a file cannot be read, and what to do; the file may be all right."""
    if error.errno == errno.ENAMETOOLONG:
        return StoreError(f"{path}: {TOO_LONG}")
    reason = error.strerror or str(error)
    return StoreError(f"{path}: cannot be read ({reason}); see that you may read it and that the disk is in order")


def open_as_it_is(path: Path) -> IO[bytes]:
    """A file to read from; not what a link points to, nor anything else that is not a plain file.

    Raises StoreError for a link, and OSError for anything else that cannot be read.
    """
    if path.is_symlink():
        raise linked(path)
    descriptor = os.open(path, os.O_RDONLY | AS_IT_IS)
    kind = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(kind):
        os.close(descriptor)
        number = errno.EISDIR if stat.S_ISDIR(kind) else errno.EINVAL
        raise OSError(number, "it is a folder" if stat.S_ISDIR(kind) else "it is no plain file", str(path))
    return os.fdopen(descriptor, "rb")
