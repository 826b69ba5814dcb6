"""A directory of files with a manifest; replacing the manifest is the only commit point.

Files are only ever added under new names; replacing the manifest, in one step, is what makes them the directory's
content. A process killed at any moment leaves the old manifest and so the old content, or none where there was none;
what it left behind is removed by the next that writes there. Nothing else is: where no manifest says whose a directory
is, the lock does, into which the kind is written before anything else.
"""

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from errno import ENAMETOOLONG
from pathlib import Path
from typing import Literal

from diln.errors import TOO_LONG, StoreError
from diln.files.interrupts import guarded, uninterrupted
from diln.files.kinds import MANIFEST, WRONG, Content, Kind, read_json, read_manifest, write_manifest
from diln.files.lock import LOCK, locked, mark, release, same_file
from diln.files.safe import TEMPORARY, linked, open_as_it_is, told, unwritable

FRAME = re.compile(rf"\.lock|manifest\.json(\.new)?|{TEMPORARY.format(re.escape(MANIFEST))}")  # what every kind has
OURS = "diln-"  # how the names of all kinds begin
LITTER = (".DS_Store", "Thumbs.db", "desktop.ini")  # what file managers leave everywhere
LONGEST = 40  # characters of a kind's name
TRIES = 100  # to get hold of a directory that others make and remove at the same time

Mode = Literal["new", "replace", "extend", "any"]


@dataclass(frozen=True, slots=True)
class Held:
    """A directory that this process holds for writing."""

    directory: Path
    kind: Kind
    mode: Mode
    lock: int

    @property
    def there(self) -> bool:
        """Whether it is there still: somebody may have removed it, lock and all."""
        return same_file(self.directory / LOCK, self.lock)

    def commit(self, content: Content) -> None:
        """Make this the directory's manifest, in one step; not in place of one that was not there and has come."""
        _refuse_found(self.directory, self.kind, self.mode)
        write_manifest(self.directory, content)

    @guarded
    def again(self) -> Iterator["Held"]:
        """The directory after a long while; one that was removed meanwhile is made and held again."""
        if self.there:
            yield self
            return
        with writing(self.directory, self.kind, self.mode) as held:
            yield held


@guarded
def writing(directory: Path, kind: Kind, mode: Mode) -> Iterator[Held]:
    """Hold a directory for writing, and leave nothing in it that does not belong to the manifest it has then.

    "new" wants a directory without a manifest, "extend" one with a sound manifest, "any" either of these, and "replace"
    takes a damaged one too. A directory that holds anything else is refused.
    """
    made: list[Path] = []
    with ExitStack() as stack:
        held = Held(directory, kind, mode, _get_hold(stack, directory, kind, mode, made))
        with told(directory):
            _refuse(directory, kind, mode)  # once more: there was time for another process
            _mark(held)
            sweep(directory, kind)
        try:
            yield held
        finally:
            if held.there:
                sweep(directory, kind)
                if made and not _has_manifest(directory):
                    release(directory / LOCK)
                    _remove_empty(made)


def _get_hold(stack: ExitStack, directory: Path, kind: Kind, mode: Mode, made: list[Path]) -> int:
    """Make a directory if need be, say which folders were made, and lock it for as long as the stack lasts."""
    if mode == "extend":
        read_manifest(directory, kind)
    for _ in range(TRIES):
        _make(directory, made)
        try:
            _refuse(directory, kind, mode)
            return stack.enter_context(locked(directory))
        except FileNotFoundError:  # another process had made it, too, and has just removed it
            continue
        except OSError as error:
            raise unwritable(directory, error) from error
        finally:
            _remove_empty(made)  # those that are empty: not if it was locked
    raise StoreError(f"{directory}: other processes make and remove it all the time; name another directory")


def _make(directory: Path, made: list[Path]) -> None:
    try:
        if directory.resolve() == directory.resolve().parent:
            raise StoreError(f"{directory}: is the root of all files; name another directory")
        made[:] = [path for path in (directory, *directory.parents) if path in made or not path.exists()]
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        _remove_empty(made)
        reason = (
            TOO_LONG if error.errno == ENAMETOOLONG else f"cannot be made ({error.strerror}); name another directory"
        )
        raise StoreError(f"{directory}: {reason}") from None


def _remove_empty(folders: Iterable[Path]) -> None:
    """Remove folders, the innermost first, as far as they are there and nothing is in them."""
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


def _has_manifest(directory: Path) -> bool:
    return os.path.lexists(directory / MANIFEST)


def _refuse(directory: Path, kind: Kind, mode: Mode) -> None:
    """Raise if the directory is somebody else's, or has what the mode does not allow."""
    _refuse_others(directory, kind)
    _refuse_found(directory, kind, mode)
    if mode == "any" and _has_manifest(directory):
        read_manifest(directory, kind)


def _refuse_found(directory: Path, kind: Kind, mode: Mode) -> None:
    """Raise if there is a manifest that is not to be replaced, or one that is a link."""
    if (directory / MANIFEST).is_symlink():
        raise linked(directory / MANIFEST)
    if mode == "new" and _has_manifest(directory):
        raise StoreError(f"{directory}: there is a {kind.noun} already; pass --force (overwrite=True) to replace it")


def _refuse_others(directory: Path, kind: Kind) -> None:
    """Raise if the directory is somebody else's; one whose manifest is damaged or missing is known by its lock."""
    marked = _marked(directory)
    if _has_manifest(directory):
        named = _format_of(directory / MANIFEST)
        if kind.format == (marked if named is None else named):
            return
        if named is not None:
            raise StoreError(f"{directory}: holds a {named!r}, not a {kind.noun}; name another directory")
        names = [MANIFEST]
    else:
        paths = (path for path in directory.iterdir() if path.name not in LITTER)
        names = sorted(path.name for path in paths if not _left_behind(path, kind, marked))
    if names:
        raise StoreError(
            f"{directory}: holds {names[0]!r}, which is no part of a {kind.noun} that was begun here; name another "
            "directory"
        )


def _left_behind(path: Path, kind: Kind, marked: str) -> bool:
    """Whether this is surely what a write that did not come to an end has left in a directory without a manifest."""
    if path.name == LOCK:
        return not marked or marked.startswith(OURS)
    return marked == kind.format and _is_part(path, kind)


def _is_part(path: Path, kind: Kind) -> bool:
    """Whether this is a file, or a folder with such files and no others, as only this kind of directory has."""
    if path.is_symlink() or not (FRAME.fullmatch(path.name) or kind.part.fullmatch(path.name)):
        return False
    if not path.is_dir():
        return True
    inside = kind.inside
    return inside is not None and all(
        file.is_file() and (inside.fullmatch(file.name) or file.name in LITTER) for file in path.iterdir()
    )


def _marked(directory: Path) -> str:
    """What the lock says: the kind of directory, or nothing where there is none, or something that is not ours."""
    try:
        with open_as_it_is(directory / LOCK) as file:
            return file.read(LONGEST).decode()
    except FileNotFoundError:
        return ""
    except (OSError, StoreError, UnicodeDecodeError):
        return "unreadable"


def _mark(held: Held) -> None:
    """Have the lock say which kind of directory this is, unless the file is somebody else's."""
    marked = _marked(held.directory)
    if marked != held.kind.format and (not marked or marked.startswith(OURS)):
        mark(held.lock, held.kind.format)


def _format_of(manifest: Path) -> str | None:
    try:
        return str(read_json(manifest)["format"])[:LONGEST]
    except (OSError, *WRONG):
        return None


def sweep(directory: Path, kind: Kind) -> None:
    """Remove what unfinished or replaced writes left behind; beside a damaged manifest, touch nothing."""
    try:
        kept = {MANIFEST, LOCK} | kind.parts(read_manifest(directory, kind))
    except StoreError:
        if _has_manifest(directory):
            return
        kept = {LOCK}
    for path in directory.iterdir():
        if path.name not in kept and _is_part(path, kind):
            with suppress(OSError):  # somebody may have it open, where that is a reason; the next one removes it
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def remove(directory: Path, kind: Kind) -> None:
    """Remove what a directory holds and, if nothing else is in it, the directory."""
    with writing(directory, kind, "replace"), uninterrupted():
        (directory / MANIFEST).unlink(missing_ok=True)
        sweep(directory, kind)
        release(directory / LOCK)
        _remove_empty([directory])


def next_generation(directory: Path) -> int:
    """A number that no file in the directory bears yet."""
    names = (re.match(r"g(\d{4,})-", path.name) for path in directory.iterdir())
    return max((int(found[1]) for found in names if found), default=0) + 1
