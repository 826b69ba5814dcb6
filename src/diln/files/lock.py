"""One writer at a time: a lock on a directory that ends with the process that holds it, however that ends."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from diln.errors import StoreError
from diln.files.interrupts import guarded

LOCK = ".lock"
BEYOND = 1 << 30  # where Windows locks a byte: one that is read by nobody


def claimed(descriptor: int) -> bool:
    """Lock an open file, unless somebody else has; raises OSError where the system has no such locks."""
    try:
        import fcntl
    except ImportError:
        import msvcrt

        os.lseek(descriptor, BEYOND, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except PermissionError:
            return False
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def same_file(path: Path, descriptor: int) -> bool:
    """Whether this open file is the one that is there under this name."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except OSError:
        return False


@guarded
def locked(directory: Path) -> Iterator[int]:
    """Keep other writers out; gives the open file of the lock."""
    path = directory / LOCK
    while True:
        descriptor = _opened(path)
        try:
            if not _claimed(directory, descriptor):
                raise StoreError(f"{directory}: another process is writing here; wait until it is done")
            if same_file(path, descriptor):  # else its last holder has just removed it
                yield descriptor
                return
        finally:
            os.close(descriptor)


def _opened(path: Path) -> int:
    wanted = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = None
    if not path.is_symlink():
        descriptor = os.open(path, wanted, 0o666)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return descriptor
        os.close(descriptor)
    raise StoreError(f"{path}: is not the plain file that diln keeps there; remove it, or name another directory")


def _claimed(directory: Path, descriptor: int) -> bool:
    try:
        return claimed(descriptor)
    except OSError as error:
        raise StoreError(f"{directory}: cannot be locked ({error.strerror}); use a local disk") from None


def mark(descriptor: int, text: str) -> None:
    """Have a lock say what its directory is."""
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, text.encode())


def release(path: Path) -> None:
    """Remove the lock of a directory that is to go; where the system cannot while it is held, it stays."""
    with suppress(OSError):
        path.unlink()
