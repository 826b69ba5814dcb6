"""Files elsewhere, by fsspec: which there are at a URL, and how one is copied here to be read."""

import re
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_hex
from threading import Event
from typing import IO, Any

from diln.addresses import LINK, NAME, protocol_of, shown
from diln.corpus.readers.lines import LONGEST
from diln.corpus.readers.troubles import TIMEOUT, BrokenOffError, TooLongError, trouble_of
from diln.corpus.readers.web_folder import WebFolders
from diln.errors import SourceError
from diln.files import MANIFEST

PIECE = 8 << 20  # bytes that are in memory at a time
LARGEST = 16 << 30  # bytes of a file whose size is not told, if a third of the free room has them; two may come at once
TRIES = 4  # without a byte more, before the file is given up
PAUSE = 0.5  # seconds before the second try, twice as many before the third
WEB = ("http", "https")
INSTALL = "install it with: pip install 'diln[remote]'"
OURS = ("http", "https", "s3", "s3a", "gs", "gcs")  # what the extra brings
CACHES = re.compile("^(?:(?:simple|file|block)cache::)+")  # what is read is copied anyway
PROTOCOLS = re.compile(rf"(?:^|(?<=::)){NAME}(?=::|://)")
Step = Callable[[int, int], None]  # told of bytes that are there, and of how many there will be (0: unknown)


class Stopped(Exception):  # noqa: N818 - no error: nobody waits for the file any more
    """A copy was given up because whoever wanted it is gone."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file elsewhere."""

    path: str  # as its file system calls it
    url: str  # as messages call it
    size: int | None


@dataclass(slots=True)
class Most:
    """How many bytes an answer of a web server may have that is held in memory."""

    bytes: int = LONGEST


class Remote:
    """What a URL leads to."""

    def __init__(self, url: str) -> None:
        self.url = CACHES.sub("", PROTOCOLS.sub(lambda found: found[0].lower(), url))
        self.name, self.web, self.most = shown(self.url), protocol_of(self.url) in WEB, Most()
        self.fs, self.path = _file_system(self.url, self.most)
        self.folders = WebFolders(self.fs) if self.web else None

    @property
    def is_pattern(self) -> bool:
        """Whether it stands for every file whose name fits."""
        return any(mark in self.path.partition("://")[2 if self.web else 0] for mark in ("*" if self.web else "*?["))

    def is_folder(self) -> bool:
        """Whether it is a folder; on the web, one whose address ends with a slash."""
        if self.web:
            return self.name.endswith("/")
        kind: str = self._tried(lambda: self.fs.info(self.path))["type"]
        return kind == "directory"

    def file(self) -> RemoteFile:
        """The file at this address."""
        return RemoteFile(self.path, self.name, self._tried(lambda: self.fs.info(self.path)).get("size"))

    def matching(self) -> list[RemoteFile]:
        """The files that fit the pattern, in alphabetical order."""
        found = self._listed(lambda: self.fs.glob(self.path, detail=True))
        if not found:
            raise SourceError(f"{self.name}: no file fits this pattern; check it, or give the address of a file")
        return found

    def inside(self, suffix: str) -> list[RemoteFile]:
        """The files in this folder, and in folders in it, whose names end so; in alphabetical order."""
        every = self._listed(lambda: self.fs.find(self.path, detail=True))
        names = {file.path.rpartition("/")[2] for file in every}
        if any(file.path.rstrip("/") == f"{self.path.rstrip('/')}/{MANIFEST}" for file in every):
            raise SourceError(
                f"{self.name}: is a corpus or a model of diln, which is mapped from a disk; copy the folder here and "
                "give that, or give the source that it was made from"
            )
        found = [file for file in every if file.path.lower().endswith(suffix) and not _hidden(file.path)]
        if not found:
            other = next((name for name in sorted(names) if "." in name[1:]), f"news{suffix}")
            pattern = f"{self.name.rstrip('/')}/*{other[other.index('.', 1) :]}"
            raise SourceError(
                f"{self.name}: there is no {suffix} file in this folder or below it; give one that has some, or a "
                f"pattern for files of another kind, such as '{pattern}'"
            )
        return found

    def leading_out(self, suffix: str) -> list[str]:
        """Files elsewhere that pages of this folder link to."""
        return [] if self.folders is None else [shown(url) for url in self.folders.leading_out(self.path, suffix)]

    def _listed(self, ask: Callable[[], Any]) -> list[RemoteFile]:
        found: dict[str, dict[str, Any]] = self._tried(ask)
        files = [(path, info) for path, info in found.items() if info["type"] == "file" and not path.endswith("/")]
        return [RemoteFile(path, self._url_of(path), info.get("size")) for path, info in sorted(files)]

    def _url_of(self, path: str) -> str:
        _, *rest = LINK.split(self.url, maxsplit=1)
        return shown("::".join([path if "://" in path else f"{protocol_of(self.url)}://{path.lstrip('/')}", *rest]))

    def _tried(self, ask: Callable[[], Any]) -> Any:
        """What the file system answers, asked again where the trouble may pass."""
        for tried in range(TRIES):
            try:
                return ask()
            except Exception as error:  # fsspec's packages raise what they like
                trouble = trouble_of(error, self.url)
                if not trouble.passing or tried == TRIES - 1:
                    raise trouble.error(self.url) from None
            time.sleep(PAUSE * 2**tried)
        raise AssertionError  # the last try has returned or raised

    def texts(self, files: list[RemoteFile], most: int = LONGEST) -> list[bytes | SourceError | None]:
        """The contents of files, many at a time; the error that says why one cannot be read; None for one too long.

        What is too long is not read further than ``most`` bytes if it comes from the web; elsewhere sizes are told.
        """
        found: dict[str, Any] = {}
        self.most.bytes = most
        for tried in range(TRIES):
            paths = [file.path for file in files if isinstance(found.get(file.path, OSError()), Exception)]
            found |= _as_dict(self._tried(partial(self.fs.cat, paths, on_error="return")), paths)
            bad = [found[path] for path in paths if isinstance(found[path], Exception)]
            if not any(trouble_of(error, self.url).passing for error in bad) or tried == TRIES - 1:
                break
            time.sleep(PAUSE * 2**tried)
        self.most.bytes = LONGEST
        return [_content(found[file.path], file.url) for file in files]

    def fetch(self, file: RemoteFile, folder: Path, step: Step | None = None, stop: Event | None = None) -> Path:
        """Copy a file into a temporary folder: most formats are looked at twice."""
        copy = folder / token_hex(8)
        most = max(file.size or 0, min(LARGEST, shutil.disk_usage(folder).free // 3))
        with copy.open("xb") as kept:
            self._copy(file, kept, most, step, stop)
        return copy

    def _copy(self, file: RemoteFile, kept: IO[bytes], most: int, step: Step | None, stop: Event | None) -> None:
        """Write what comes to a file, going on where it broke off if the server can."""
        tried, furthest, going_on, can_go_on = 0, 0, False, True
        while True:
            try:
                for piece in self._pieces(file, kept, going_on):
                    if kept.tell() + len(piece) > most:
                        raise TooLongError
                    _write(kept, piece, file)
                    if step is not None:
                        step(kept.tell(), file.size or 0)
                    if stop is not None and stop.is_set():
                        raise Stopped
                if kept.tell() < (file.size or 0):  # more is what the server had packed
                    raise BrokenOffError
                return
            except (SourceError, Stopped):
                raise
            except TooLongError:
                raise SourceError(
                    f"{file.url}: has sent {most:,} bytes and goes on, with no word of its size; if it is a file that "
                    "ends, copy it here by other means and give that"
                ) from None
            except Exception as error:  # fsspec's packages raise what they like
                if going_on and isinstance(error, ValueError):  # what fsspec says of a server without ranges
                    going_on = can_go_on = False
                    continue
                trouble = trouble_of(error, file.url)
                tried = 1 if kept.tell() > furthest else tried + 1
                if not trouble.passing or tried >= TRIES:
                    raise trouble.error(file.url) from None
                furthest, going_on = max(furthest, kept.tell()), can_go_on
            time.sleep(PAUSE * 2 ** (tried - 1))

    def _pieces(self, file: RemoteFile, kept: IO[bytes], going_on: bool) -> Iterator[bytes]:
        """A file piece by piece, after what is kept of it: of a web server in one answer, and in ranges to go on."""
        if not going_on:
            kept.seek(0)
            kept.truncate()
        size = 0 if self.web and not going_on else PIECE
        with self.fs.open(file.path, "rb", block_size=size) as there:
            there.seek(kept.tell())
            while piece := there.read(PIECE):
                yield piece


def _write(kept: IO[bytes], piece: bytes, file: RemoteFile) -> None:
    try:
        kept.write(piece)
        kept.flush()
    except OSError as error:
        raise SourceError(
            f"{file.url}: cannot be kept in a temporary file ({error.strerror}); make room, or set TMPDIR to a folder "
            "with more"
        ) from None


def _content(found: Any, url: str) -> bytes | SourceError | None:
    if isinstance(found, TooLongError):
        return None
    return trouble_of(found, url).error(url) if isinstance(found, Exception) else bytes(found)


def _as_dict(found: Any, paths: list[str]) -> dict[str, Any]:
    """What ``cat`` has returned, which is no dict for one path."""
    return found if isinstance(found, dict) else {paths[0]: found}


def _hidden(path: str) -> bool:
    return path.rpartition("/")[2].startswith(".")


def _file_system(url: str, most: Most) -> tuple[Any, str]:
    """The file system of a URL, and the path in it."""
    name, protocol = shown(url), protocol_of(url)
    try:
        from fsspec.core import url_to_fs
        from fsspec.registry import known_implementations
    except ImportError:
        raise SourceError(f"{name}: reading from a URL needs fsspec; {INSTALL}") from None
    try:
        options = {one: _web_options(most) for one in map(protocol_of, LINK.split(url)) if one in WEB}
        found: tuple[Any, str] = url_to_fs(url, skip_instance_cache=True, **options)
    except ImportError:
        needs = known_implementations.get(protocol, {}).get("err", "").rstrip(". ")
        what = INSTALL if protocol in OURS else f"install its package ({needs})"
        raise SourceError(f"{name}: reading from {protocol}:// needs a package that is missing; {what}") from None
    except ValueError as error:
        if "not known" not in str(error):
            raise trouble_of(error, url).error(url) from None
        raise SourceError(
            f"{name}: there is no protocol {protocol!r}; use http, https, s3, gs, file, or another of fsspec's"
        ) from None
    except Exception as error:  # fsspec's packages raise what they like
        raise trouble_of(error, url).error(url) from None
    return found


def _web_options(most: Most) -> dict[str, Any]:
    """What a file system of the web is told: to wait for bytes, not for whole files, and not to unpack them."""
    try:
        from aiohttp import ClientResponse, ClientTimeout
    except ImportError:
        return {}  # fsspec says that it is missing

    class Bounded(ClientResponse):
        """An answer that is not read on when it has too many bytes."""

        async def read(self) -> bytes:
            """Read all of it."""
            if self._body is None:
                body = bytearray()
                async for piece in self.content.iter_any():
                    body += piece
                    if len(body) > most.bytes:
                        self.close()
                        raise TooLongError
                self._body = bytes(body)
            return self._body

    wait = ClientTimeout(total=None, sock_connect=TIMEOUT, sock_read=TIMEOUT)
    client = {"timeout": wait, "trust_env": True, "response_class": Bounded}
    return {"client_kwargs": client, "headers": {"Accept-Encoding": "identity"}, "skip_instance_cache": True}
