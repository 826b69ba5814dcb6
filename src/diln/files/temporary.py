"""Temporary folders that never stay behind: whatever is put into one needs no guard of its own."""

from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from weakref import finalize

from diln.files.interrupts import guarded, uninterrupted


class TemporaryFolder:
    """A folder that goes when it is removed, when nobody holds it any more, or with the process at the latest."""

    def __init__(self, within: Path | None = None) -> None:
        with uninterrupted():
            self.path = Path(mkdtemp(prefix="diln-", dir=within))
            self._finalize = finalize(self, _remove, self.path)

    def remove(self) -> None:
        """Remove the folder and all that is in it."""
        with uninterrupted():
            self._finalize()


def _remove(path: Path) -> None:
    with uninterrupted():
        rmtree(path, ignore_errors=True)


@guarded
def temporary_folder(within: Path | None = None) -> Iterator[Path]:
    """A folder that is there for as long as the context lasts."""
    folder = TemporaryFolder(within)
    try:
        yield folder.path
    finally:
        folder.remove()
