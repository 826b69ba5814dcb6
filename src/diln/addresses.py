"""Names of files that may be elsewhere: which are URLs, and what of a URL is shown.

A URL can be a chain, as fsspec has them: ``zip://news.csv::https://host/news.zip``. Each link of it may have secrets.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, unquote_plus

# Of a protocol: two letters at least, as one is a drive of Windows. Bounded, as a search for a URL in a long text that
# has none would otherwise take time in the square of its length.
NAME = r"[A-Za-z][A-Za-z0-9+.-]{1,40}"
URL = re.compile(rf"(?:{NAME}::){{0,20}}{NAME}://")
SPOILT_URL = re.compile(r"(?:https?|s3a?|gcs?|ftp|sftp|file):/(?!/)")  # a Path makes one slash of two
IN_TEXT = re.compile(rf"(?:{URL.pattern}|{SPOILT_URL.pattern})[^\s'\"<>]*", re.IGNORECASE)
LINK = re.compile(rf"::(?={NAME}(?:::|://))")
PARTS = re.compile(r"([^/?#]*)(.*)", re.DOTALL)
LOGINS = (
    "http",
    "https",
    "ftp",
    "ftps",
    "sftp",
    "ssh",
    "webdav",
    "file",
)  # where what stands before @ is a user or a token
WEB_QUERY, QUERY = re.compile(r"[?#].*", re.DOTALL), re.compile(r"\?[\w.-]+=.*", re.DOTALL)  # elsewhere ? is a letter
HIDDEN = "..."
SHORTEST = 3  # characters of a secret that is looked for by itself


def is_url(name: object) -> bool:
    """Whether a name is a URL, and not that of a file or folder of this machine."""
    return isinstance(name, str) and URL.match(name) is not None


def protocol_of(url: str) -> str:
    """What stands before ``://`` in the first link."""
    return re.split("::|://", url, maxsplit=1)[0].lower()


def shown(name: str | Path) -> str:
    """A name for messages, logs and files: of a URL without users, passwords, queries (often signatures), fragments."""
    text = str(name)
    if not (is_url(text) or SPOILT_URL.match(text)):
        return text
    return "::".join(map(_shown_link, LINK.split(text)))


def _shown_link(link: str) -> str:
    """One link of a chain without its secrets."""
    protocol, slashes, rest = _taken_apart(link)
    _, host, path = _login(protocol, rest)
    if host is None:
        return f"{protocol}{slashes}{HIDDEN}"
    query = WEB_QUERY if protocol.lower() in LOGINS else QUERY
    return f"{protocol}{slashes}{query.sub('', host + path)}"


def _taken_apart(link: str) -> tuple[str, str, str]:
    """The protocol of a link, the slashes after it, and the rest; a link may be a protocol alone."""
    protocol, slashes, rest = re.match(r"([^:]*)(:/{0,2}|)(.*)", link, re.DOTALL).groups()  # type: ignore[union-attr]
    return protocol, slashes, rest


def _login(protocol: str, rest: str) -> tuple[str, str | None, str]:
    """The user and password of a link, its host, and its path; no host where a password has made a path of itself."""
    authority, path = PARTS.fullmatch(rest).groups()  # type: ignore[union-attr]
    login, at, host = authority.rpartition("@")
    if at:
        is_secret = protocol.lower() in LOGINS or ":" in login
        return (login, host, path) if is_secret else ("", authority, path)
    if ":" in authority and "@" in path:  # of http://bob:a/b@host/, or of a port and an @ in a name
        return rest.rpartition("@")[0], None, ""
    return "", authority, path


def without_secrets(text: str, url: str = "") -> str:
    """A text of others, such as an error's, with every URL in it as ``shown``, and without the secrets of this URL."""
    clean = IN_TEXT.sub(lambda found: shown(found[0]), text) if ":/" in text else text
    for secret in sorted(set(_secrets(url)), key=len, reverse=True):
        clean = clean.replace(secret, HIDDEN)
    return clean


def _secrets(url: str) -> Iterator[str]:
    """What a URL has that is not shown, and its parts, as they are and decoded."""
    for link in LINK.split(url) if is_url(url) else ():
        protocol, _, rest = _taken_apart(link)
        login, _, path = _login(protocol, rest)
        query = (WEB_QUERY if protocol.lower() in LOGINS else QUERY).search(path or rest)
        fields = re.split("[?#&]", query[0]) if query else []
        values = [part for field in fields for part in (field, field.partition("=")[2])]
        for secret in (login, *login.split(":", 1), *re.split("[:/?#@]", login), *values):
            for form in (secret, unquote(secret), unquote_plus(secret)):
                if len(form) >= SHORTEST:
                    yield form
