"""Names of files that may be elsewhere: which are URLs, and how a URL is shown without its secrets."""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from diln.errors import SourceError, StoreError

URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")  # two letters at least: one is a drive of Windows
IN_TEXT = re.compile(rf"{URL.pattern}[^\s'\"<>]*")
LOGINS = ("http", "https", "ftp", "ftps", "sftp", "ssh", "webdav")  # where what stands before @ is a user or a token
WEB_QUERY, QUERY = re.compile(r"[?#].*", re.DOTALL), re.compile(r"\?[\w.-]+=.*", re.DOTALL)  # elsewhere ? is a letter
LOCAL = ("file", "local")


def is_url(name: object) -> bool:
    """Whether a name is a URL, and not that of a file or folder of this machine."""
    return isinstance(name, str) and URL.match(name) is not None


def protocol_of(url: str) -> str:
    """What stands before ``://``."""
    return url.partition("://")[0].lower()


def shown(name: str | Path) -> str:
    """A name for messages, logs and files: of a URL without user, password, query (often a signature) and fragment."""
    if not is_url(name):
        return str(name)
    protocol, rest = str(name).split("://", 1)
    host, slash, path = rest.partition("/")
    login, at, host_alone = host.rpartition("@")
    secret = at and (protocol.lower() in LOGINS or ":" in login)
    query = WEB_QUERY if protocol.lower() in LOGINS else QUERY
    return f"{protocol}://{host_alone if secret else host}{slash}{query.sub('', path)}"


def without_secrets(text: str) -> str:
    """A text of others, such as an error's, with every URL in it as ``shown``."""
    return IN_TEXT.sub(lambda found: shown(found[0]), text)


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
        raise SourceError(f"{name}: names the host {parts.netloc!r}; write three slashes: file:///folder/file.csv")
    return Path(unquote(parts.path))
