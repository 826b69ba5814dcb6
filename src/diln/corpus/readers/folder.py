"""A folder of .txt files: a document a file."""

import errno
import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from stat import S_ISREG

from diln.corpus.readers.lines import (
    HEAD_BYTES,
    LONGEST,
    LONGEST_SAID,
    Errors,
    Name,
    broken_bytes,
    check_encoding,
    check_not_wide,
    odd_bytes,
    warn_of_controls,
)
from diln.corpus.rules import TextRule
from diln.corpus.sources import BLOCK_BYTES, BLOCK_DOCS, Block, Counted, ParsedDocuments, Source
from diln.errors import DilnWarning, SourceError

SUFFIX = ".txt"
LOOKED_AT, LOOKED_INTO = 100, 1 << 16  # files and their bytes that are looked through for control characters


@dataclass(frozen=True, slots=True)
class FileBlock(Block):
    """Files, each a document, not yet read."""

    root: Path
    paths: list[Path]
    encoding: str
    errors: Errors
    skip_unreadable: bool = False

    def count(self, rule: TextRule) -> Counted:
        """Read and count the files."""
        return documents_of((path.relative_to(self.root), self._read(path)) for path in self.paths).count(rule)

    def _read(self, path: Path) -> str | None:
        try:
            with path.open("rb") as file:
                data = file.read(LONGEST + 1)
        except OSError as error:  # since it was found
            if self.skip_unreadable:
                return None
            raise _unreadable(self.root, [(path, str(error.strerror))], others=True) from None
        return decoded(path, data, self.encoding, self.errors)


def documents_of(read: Iterable[tuple[PurePath, str | None]]) -> ParsedDocuments:
    """Files as documents: path as id, name as title, folder (where there is one) as label; None cannot be read."""
    every = list(read)
    below = [path for path, text in every if text is not None]
    texts = [text for _, text in every if text is not None]
    fields = {
        "id": [path.as_posix() for path in below],
        "title": [path.stem for path in below],
        "label": [path.parent.as_posix() if path.parent.parts else "" for path in below],
        "text": texts,
    }
    return ParsedDocuments(texts, fields, sum(not text for text in texts), unreadable=len(every) - len(below))


def decoded(path: Name, data: bytes, encoding: str, errors: Errors) -> str:
    """The text of a file, without the mark that may stand at its start."""
    if "a".encode(encoding, "replace") == b"a":
        check_not_wide(path, data[:HEAD_BYTES])
    if len(data) > LONGEST:
        raise SourceError(f"{path}: has more than {LONGEST_SAID}, the most that a document can have; split it")
    try:
        return data.decode(encoding, errors).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise broken_bytes(path, error, error.start) from None
    except UnicodeError as error:
        raise odd_bytes(path, encoding, error) from None


@dataclass(slots=True)
class Found:
    """The .txt files in a folder and below it with their sizes, and what cannot be read there, with the reason."""

    files: list[tuple[Path, int]] = field(default_factory=list)
    unreadable: list[tuple[Path, str]] = field(default_factory=list)
    linked: list[Path] = field(default_factory=list)  # links to folders, which may lead anywhere and are not followed
    links: list[Path] = field(default_factory=list)  # links to files, which are followed

    def leading_out(self, root: Path) -> list[Path]:
        """Links to files that are not in the folder: whoever made it may have meant files of another machine."""
        home = root.resolve()
        return sorted(path for path in self.links if not path.resolve().is_relative_to(home))

    def look_into(self, root: Path) -> None:
        """Look for files in a folder and all folders in it."""
        folders = [root]
        while folders:
            folder = folders.pop()
            try:
                with os.scandir(folder) as entries:
                    folders += [Path(entry) for entry in entries if self._is_folder(entry)]
            except OSError as error:
                self.unreadable.append((folder, str(error.strerror)))

    def _is_folder(self, entry: os.DirEntry[str]) -> bool:
        """Whether this is a folder to look into; what is a file, or cannot be told, is put where it belongs."""
        path = Path(entry)
        if entry.is_dir(follow_symlinks=False):
            return True
        suffix = path.suffix.lower()
        if path.name.startswith(".") or (suffix != SUFFIX and not (entry.is_symlink() and not suffix)):
            return False
        try:
            status = path.stat()
        except OSError as error:
            self.unreadable.append((path, "a link to nothing" if entry.is_symlink() else str(error.strerror)))
            return False
        if path.is_dir():
            self.linked.append(path)
        elif suffix == SUFFIX and not S_ISREG(status.st_mode):
            self.unreadable.append((path, "a pipe, socket or device, not a file"))
        elif suffix == SUFFIX and not os.access(path, os.R_OK):
            self.unreadable.append((path, os.strerror(errno.EACCES)))
        elif suffix == SUFFIX:
            self.files.append((path, status.st_size))
            self.links += [path] if entry.is_symlink() else []
        return False


class FolderSource(Source):
    """A folder of .txt files, and of folders of them, in alphabetical order of their paths."""

    def __init__(
        self, root: Path, encoding: str = "utf-8", errors: Errors = "strict", skip_unreadable: bool = False
    ) -> None:
        check_encoding(encoding, errors)
        self.name, self.root, self.encoding, self.errors = str(root), root, encoding, errors
        self.skip_unreadable = skip_unreadable
        found = Found()
        found.look_into(root)
        self.files = sorted(found.files, key=lambda file: file[0].as_posix())
        self.total = len(self.files)
        self.unreadable = len(found.unreadable)
        if found.unreadable and not (skip_unreadable and self.files):
            raise _unreadable(root, found.unreadable, bool(self.files))
        if not self.files:
            raise SourceError(f"{root}: there is no .txt file in this folder or below it; give one that has some")
        self.notes = tuple(_notes(root, found))
        if outside := found.leading_out(root):
            warnings.warn(
                f"{root}: {len(outside):,} of its files are links that lead out of it, and are read as documents; the "
                f"first is {outside[0]}, to {outside[0].resolve()}; remove them if they are not yours",
                DilnWarning,
                stacklevel=2,
            )
        self._warn_of_controls()

    def _warn_of_controls(self) -> None:
        """Look at the first files for what is no text in Latin-1."""
        for path, _ in self.files[:LOOKED_AT]:
            with suppress(OSError), path.open("rb") as file:
                if warn_of_controls(path, self.encoding, file.read(LOOKED_INTO)):
                    return

    def blocks(self) -> Iterator[Block]:
        """Files in blocks of bounded size."""
        block: list[Path] = []
        size = 0
        for number, (path, bytes_) in enumerate(self.files, 1):
            block.append(path)
            size += bytes_
            if size >= BLOCK_BYTES or len(block) >= BLOCK_DOCS or number == self.total:
                self.position = number
                yield FileBlock(self.root, block, self.encoding, self.errors, self.skip_unreadable)
                block, size = [], 0


def _notes(root: Path, found: Found) -> Iterator[str]:
    """What is not read, for the user to see."""
    if found.linked:
        first = min(found.linked)
        yield f"{root}: links to folders are not followed ({len(found.linked):,}, the first being {first})"
    if found.unreadable:
        first, reason = min(found.unreadable)
        yield f"{root}: left out what cannot be read ({len(found.unreadable):,}, the first being {first}: {reason})"


def _unreadable(root: Path, found: list[tuple[Path, str]], others: bool) -> SourceError:
    """The error for files and folders that cannot be read, where there may be others that can."""
    path, reason = min(found)
    if len(found) == 1:
        what, them = f"{path}: cannot be read ({reason})", "it"
    else:
        many = f"{len(found):,} files or folders in it cannot be read"
        what, them = f"{root}: {many}, the first being {path} ({reason})", "them"
    skip = f", or pass --skip-unreadable (skip_unreadable=True) to leave {them} out" if others else ""
    return SourceError(f"{what}; make {them} readable{skip}")
