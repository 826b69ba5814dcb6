"""A directory of files with a manifest; replacing the manifest is the only commit point.

Files are only ever added under new names; replacing the manifest, in one step, is what makes them the directory's
content. A process killed at any moment leaves the old manifest and so the old content, or none where there was none;
what it left behind is removed by the next that writes there. Nothing else is: where no manifest says whose a directory
is, the lock does, into which the kind is written before anything else.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, Literal

from diln.errors import StoreError

MANIFEST = "manifest.json"
LOCK = ".lock"
FRAME = re.compile(r"\.lock|manifest\.json(\.new)?")  # what every kind of directory has
OURS = "diln-"  # how the names of all kinds begin
LITTER = (".DS_Store", "Thumbs.db", "desktop.ini")  # what file managers leave everywhere

Entry = dict[str, Any]  # of the manifest: a file's bytes, checksum and, for arrays, type and shape
Content = dict[str, Any]  # of the manifest, without its checksum


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of directory: how its manifest names it, which files are its own, and what to tell people about it."""

    format: str
    schema: int
    noun: str
    make: str
    """What to do where there is none."""
    mend: str
    """What to do about a damaged one."""
    part: re.Pattern[str]
    """Names of files and folders, directly in the directory, that only this kind has."""
    parts: Callable[[Content], set[str]]
    """Those of them that belong to a manifest."""
    inside: re.Pattern[str] | None = None
    """Names of the files in its folders; None if it has no folders that are ever removed."""

    def damaged(self, path: Path, how: str) -> StoreError:
        """What to raise about a file that is not as it was written."""
        return StoreError(f"{path}: the file {how}; the {self.noun} is damaged: {self.mend}")


def write_parts(path: Path, *parts: bytes | memoryview, sync: bool = False) -> Entry:
    """Write a file, with ``sync`` down to the disk, and say what was written."""
    digest = sha256()
    with path.open("wb") as file:
        for part in parts:
            digest.update(part)
            file.write(part)
        if sync:
            _to_disk(file)
    return {"bytes": path.stat().st_size, "sha256": digest.hexdigest()}


def write_manifest(directory: Path, content: Content) -> None:
    """Make this the directory's manifest, in one step."""
    text = json.dumps({**content, "checksum": _checksum(content)}, indent=1, sort_keys=True)
    write_whole(directory / MANIFEST, text + "\n")


def write_whole(path: Path, text: str) -> None:
    """Make this a file's text, in one step: whoever is killed amid it leaves what was there, or nothing."""
    with whole(path) as file:
        file.write(text.encode())


@contextmanager
def whole(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to that becomes the one of this path in one step, when all is written."""
    fresh = path.with_name(f"{path.name}.new")
    try:
        with fresh.open("wb") as file:
            yield file
            _to_disk(file)
        fresh.replace(path)
    except BaseException:
        with suppress(OSError):
            fresh.unlink()
        raise


def _to_disk(file: IO[Any]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _checksum(content: Content) -> str:
    return sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def read_manifest(directory: Path, kind: Kind) -> Content:
    """The manifest of a directory, or an error that says why there is none to be had."""
    path = directory / MANIFEST
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(f"{directory}: there is no {kind.noun} here (no {MANIFEST}); {kind.make}") from None
    except (OSError, UnicodeDecodeError):
        raise kind.damaged(path, "cannot be read") from None
    try:
        content: Content = json.loads(text)
        named, schema, checksum = content["format"], content["schema"], content.pop("checksum")
    except (ValueError, KeyError, TypeError, AttributeError):
        raise kind.damaged(path, "is not the JSON that was written") from None
    if named != kind.format:
        raise StoreError(f"{directory}: holds a {named!r}, not a {kind.noun}; name a {kind.noun} directory")
    if schema != kind.schema:
        raise StoreError(
            f"{directory}: is of format {schema} and this version of diln reads format {kind.schema}; "
            "install a newer diln"
        )
    if checksum != _checksum(content):
        raise kind.damaged(path, "does not match its checksum")
    return content


class StoredFiles:
    """A directory's files, each checked when first touched: there, of the right size, and unchanged."""

    def __init__(self, directory: Path, files: Mapping[str, Entry], kind: Kind) -> None:
        self.directory, self.files, self.kind = directory, files, kind
        self.checked: set[str] = set()

    def check_sizes(self) -> None:
        """Raise if a file is missing or cut off; quick, for opening."""
        for name, entry in self.files.items():
            path = self.directory / name
            if not path.is_file():
                raise self.kind.damaged(path, "is missing")
            if path.stat().st_size != entry["bytes"]:
                raise self.kind.damaged(path, f"has {path.stat().st_size} bytes in place of {entry['bytes']}")

    def check(self, name: str) -> Path:
        """The path of a file whose bytes are those that were written."""
        path = self.directory / name
        if name not in self.checked:
            with path.open("rb") as file:
                digest = sha256()
                while piece := file.read(1 << 20):
                    digest.update(piece)
            if digest.hexdigest() != self.files[name]["sha256"]:
                raise self.kind.damaged(path, "does not match its checksum")
            self.checked.add(name)
        return path


@contextmanager
def writing(directory: Path, kind: Kind, mode: Literal["new", "replace", "extend"]) -> Iterator[None]:
    """Hold a directory for writing, and leave nothing in it that does not belong to the manifest it has then.

    "new" wants a directory without a manifest, "extend" one with a sound manifest, "replace" takes either, and a
    damaged one too. A directory that holds anything else is refused.
    """
    if mode == "extend":
        read_manifest(directory, kind)
    made = [path for path in (directory, *directory.parents) if not path.exists()]
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        _remove_empty(made)
        raise StoreError(f"{directory}: cannot be made ({error.strerror}); name another directory") from None
    _refuse_others(directory, kind)
    if mode == "new" and (directory / MANIFEST).exists():
        raise StoreError(f"{directory}: there is a {kind.noun} already; pass --force (overwrite=True) to replace it")
    with locked(directory):
        _mark(directory, kind)
        sweep(directory, kind)
        try:
            yield
        finally:
            sweep(directory, kind)
            if made and not (directory / MANIFEST).exists():
                (directory / LOCK).unlink(missing_ok=True)
                _remove_empty(made)


def _remove_empty(folders: Iterable[Path]) -> None:
    """Remove folders, the innermost first, as far as they are there and nothing is in them."""
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


def _refuse_others(directory: Path, kind: Kind) -> None:
    """Raise if the directory is somebody else's; one whose manifest is damaged or missing is known by its lock."""
    marked = _marked(directory)
    if (directory / MANIFEST).exists():
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
        return (directory / LOCK).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError):
        return "unreadable"


def _mark(directory: Path, kind: Kind) -> None:
    """Have the lock say which kind of directory this is, unless the file is somebody else's."""
    marked = _marked(directory)
    if marked != kind.format and (not marked or marked.startswith(OURS)):
        (directory / LOCK).write_text(kind.format, encoding="utf-8")


def _format_of(manifest: Path) -> str | None:
    try:
        return str(json.loads(manifest.read_text(encoding="utf-8"))["format"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Keep other writers out; the lock ends with the process, however it ends."""
    try:
        import fcntl
    except ImportError:  # no such locks on Windows: two writers at once are then the user's to avoid
        yield
        return
    with (directory / LOCK).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreError(f"{directory}: another process is writing here; wait until it is done") from None
        except OSError as error:
            raise StoreError(f"{directory}: cannot be locked ({error.strerror}); use a local disk") from None
        yield


def sweep(directory: Path, kind: Kind) -> None:
    """Remove what unfinished or replaced writes left behind; beside a damaged manifest, touch nothing."""
    try:
        kept = {MANIFEST, LOCK} | kind.parts(read_manifest(directory, kind))
    except StoreError:
        if (directory / MANIFEST).exists():
            return
        kept = {LOCK}
    for path in directory.iterdir():
        if path.name not in kept and _is_part(path, kind):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def next_generation(directory: Path) -> int:
    """A number that no file in the directory bears yet."""
    names = (re.match(r"g(\d{4,})-", path.name) for path in directory.iterdir())
    return max((int(found[1]) for found in names if found), default=0) + 1
