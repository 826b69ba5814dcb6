"""Names of files on this machine that are given as URLs, and of folders that must be on it."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

from diln.addresses import is_url, protocol_of, shown
from diln.errors import SourceError, StoreError

LOCAL = ("file", "local")


def mapped_place(name: str | Path) -> Path:
    """Where a folder written by diln is: its files are mapped into memory, so it must be on this machine."""
    name = as_local(name)
    if is_url(name):
        raise StoreError(
            f"{shown(name)}: a folder written by diln is mapped from a disk, so it is not read from a URL; copy it "
            "here and give that"
        )
    return Path(name)


def as_local(name: str | Path) -> str | Path:
    """The path that a file:// URL names; any other name as it is."""
    if not (isinstance(name, str) and is_url(name) and protocol_of(name) in LOCAL):
        return name
    parts = urlsplit(name.replace("?", "%3F").replace("#", "%23"))
    if parts.netloc not in ("", "localhost") or not parts.path:
        raise SourceError(f"{shown(name)}: names a host, or no file; write three slashes: file:///folder/file.csv")
    return Path(unquote(parts.path))
