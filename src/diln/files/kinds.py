"""Kinds of directories, the manifest that each has, and the files that the manifest names.

A manifest may come from anywhere, and its checksum is no signature: nothing that it says is believed before it was
checked, and no name in it leads out of the directory.
"""

import json
import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

import diln
from diln.errors import StoreError
from diln.files.safe import Entry, linked, open_as_it_is, unreadable, write_whole

MANIFEST = "manifest.json"
LARGEST = 1 << 28  # bytes of a manifest
DEEPEST = 100  # levels of lists and objects in it
LONGEST = 255  # bytes of a file's name
WRONG = (KeyError, TypeError, ValueError, AttributeError, IndexError)  # what comes of JSON of another form

Content = dict[str, Any]  # of the manifest, without its checksum


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of directory: how its manifest names it, which files are its own, and what to tell people about it."""

    format: str
    schema: int
    """The number of the form that its files have now; one that is written otherwise gets the next."""
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
    migrations: Mapping[int, Callable[[Content], Content]] = field(default_factory=dict)
    """For the number of each older form: makes the manifest's content that of the next number."""

    def damaged(self, path: Path, how: str) -> StoreError:
        """What to raise about a file that is not as it was written."""
        return StoreError(f"{path}: the file {how}; the {self.noun} is damaged: {self.mend}")

    def newer(self, directory: Path, content: Content, what: str) -> StoreError:
        """What to raise about a directory that has something (``what``) which this version does not know."""
        version = version_of(content)
        if version is None or version == diln.__version__:
            wrote, wanted = "a newer diln", "a newer diln"
        else:
            wrote, wanted = f"diln {version}", f"diln {version} or later"
        return StoreError(
            f"{directory}: the {self.noun} has {what}, which diln {diln.__version__} does not know; it was written by "
            f"{wrote}: install {wanted}"
        )

    def older(self, directory: Path, content: Content) -> StoreError:
        """What to raise about a directory of a form that is not read any more."""
        version = version_of(content)
        wanted = "an earlier diln" if version is None else f"diln {version}"
        return StoreError(
            f"{directory}: the {self.noun} is of format {content['schema']}, which diln {diln.__version__} reads no "
            f"more; install {wanted}, which wrote it, or make it again"
        )


def version_of(content: Content) -> str | None:
    """The version of diln that wrote a manifest, if that says so."""
    versions = content.get("versions")
    found = versions.get("diln") if isinstance(versions, dict) else None
    return found if isinstance(found, str) and re.fullmatch(r"\d[\w.+!-]{0,40}", found, re.ASCII) else None


def write_manifest(directory: Path, content: Content) -> None:
    """Make this the directory's manifest, in one step."""
    text = json.dumps({**content, "checksum": _checksum(content)}, indent=1, sort_keys=True)
    write_whole(directory / MANIFEST, text + "\n")


def _checksum(content: Content) -> str:
    return sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def read_manifest(directory: Path, kind: Kind) -> Content:
    """The manifest of a directory in today's form, or an error that says why there is none to be had."""
    path = directory / MANIFEST
    try:
        content = read_json(path)
        named, schema = content["format"], content["schema"]
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(f"{directory}: there is no {kind.noun} here (no {MANIFEST}); {kind.make}") from None
    except OSError as error:
        raise unreadable(path, error) from None
    except WRONG:
        raise kind.damaged(path, "is not the JSON that was written") from None
    if named != kind.format:
        raise StoreError(f"{directory}: holds a {str(named)[:40]!r}, not a {kind.noun}; name a {kind.noun} directory")
    if type(schema) is not int or schema < 1:
        raise kind.damaged(path, "has no number of its format")
    if schema > kind.schema:
        raise kind.newer(directory, content, f"format {schema}")
    if any(number not in kind.migrations for number in range(schema, kind.schema)):
        raise kind.older(directory, content)
    if content.pop("checksum", None) != _checksum(content):
        raise kind.damaged(path, "does not match its checksum")
    return _as_now(path, content, kind)


def _as_now(path: Path, content: Content, kind: Kind) -> Content:
    """A manifest's content in today's form, the names in it checked."""
    try:
        for number in range(content["schema"], kind.schema):
            content = {**kind.migrations[number](content), "schema": number + 1}
        names = kind.parts(content)
    except WRONG:
        raise kind.damaged(path, "is not of the form that was written") from None
    for name in names:
        if not isinstance(name, str) or not kind.part.fullmatch(name):
            raise kind.damaged(path, f"names {str(name)[:40]!r}, which is no part of a {kind.noun}")
    return content


def read_json(path: Path) -> Content:
    """An object from a file of JSON, of any origin: UTF-8, no name twice, no NaN, of some size and depth.

    Raises ValueError for anything else, and OSError where there is nothing to read.
    """
    with open_as_it_is(path) as file:
        if os.fstat(file.fileno()).st_size > LARGEST:
            raise ValueError("too large")
        data = file.read()
    try:
        found = json.loads(data.decode(), object_pairs_hook=_each_once, parse_constant=_refused, parse_float=_finite)
    except RecursionError:
        raise ValueError("too deep") from None
    if not isinstance(found, dict) or not _within(found, DEEPEST):
        raise ValueError("no object, or too deep")
    return found


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name twice")
    return found


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is no number")
    return number


def _within(value: Any, levels: int) -> bool:
    """Whether a value is nested no deeper than this."""
    layer = [value]
    while layer and levels:
        levels -= 1
        layer = [
            part
            for one in layer
            if isinstance(one, dict | list)
            for part in (one.values() if isinstance(one, dict) else one)
        ]
    return not layer


def inside(directory: Path, name: Any, kind: Kind) -> Path:
    """The path of what is directly in a directory under this name; raises if it is not, or is a link."""
    plain = isinstance(name, str) and name not in ("", ".", "..") and not re.search(r"[/\\:\0]|[\ud800-\udfff]", name)
    if not plain or len(name.encode()) > LONGEST:
        raise kind.damaged(directory / MANIFEST, f"names {str(name)[:40]!r}, which is no name of a file")
    path = directory / str(name)
    if path.is_symlink():
        raise linked(path)
    return path


class StoredFiles:
    """A directory's files, each checked when first touched: there, of the right size, and unchanged."""

    def __init__(self, directory: Path, files: Mapping[str, Entry], kind: Kind) -> None:
        if not isinstance(files, Mapping) or not all(map(_is_entry, files.values())):
            raise kind.damaged(directory / MANIFEST, "does not tell its files' sizes and checksums")
        self.directory, self.files, self.kind = directory, files, kind
        self.checked: set[str] = set()

    def check_sizes(self) -> None:
        """Raise if a file is missing or cut off; quick, for opening."""
        for name, entry in self.files.items():
            path = inside(self.directory, name, self.kind)
            try:
                known = os.lstat(path)
            except (FileNotFoundError, NotADirectoryError):
                raise self.kind.damaged(path, "is missing") from None
            except OSError as error:
                raise unreadable(path, error) from None
            if not stat.S_ISREG(known.st_mode):
                raise self.kind.damaged(path, "is no plain file")
            if known.st_size != entry["bytes"]:
                raise self.kind.damaged(path, f"has {known.st_size} bytes in place of {entry['bytes']}")

    def check(self, name: str) -> Path:
        """The path of a file whose bytes are those that were written."""
        path = inside(self.directory, name, self.kind)
        if name not in self.checked:
            try:
                with open_as_it_is(path) as file:
                    digest = _digest(file)
            except FileNotFoundError:
                raise self.kind.damaged(path, "is missing") from None
            except OSError as error:
                raise unreadable(path, error) from None
            if digest != self.files[name]["sha256"]:
                raise self.kind.damaged(path, "does not match its checksum")
            self.checked.add(name)
        return path


def _is_entry(entry: Any) -> bool:
    return isinstance(entry, dict) and type(entry.get("bytes")) is int and isinstance(entry.get("sha256"), str)


def _digest(file: IO[bytes]) -> str:
    digest = sha256()
    while piece := file.read(1 << 20):
        digest.update(piece)
    return digest.hexdigest()
