"""What can go wrong outside our own code, said in one sentence that tells what to do."""

import re
from typing import Any

from diln.addresses import without_secrets

SHOWN = 80  # characters of a wrong value that a sentence has
LONGEST = 900  # characters of a message
QUOTES = ("'", '"')
QUOTED = re.compile(rf"(?<![^\s(\[{{=:,])(['\"])((?!\1)(?:\\.|(?!\1)[^\\]){{{SHOWN},}})\1", re.DOTALL)  # and too long
PATH = re.compile(r"(~?|\.{1,2}|[A-Za-z]:)[/\\]{1,2}[^/\\\s]")  # how one begins that says where it begins
TOO_LONG = "the name is too long; give a shorter one"  # of a file
# What a terminal obeys (control characters but line feeds and tabs) or reorders lines by (bidi controls).
ACTS = re.compile("\r\n|[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class DilnError(Exception):
    """A file, a directory or a worker process is not as it should be; the message says what to do, in one line."""

    def __init__(self, message: str = "") -> None:
        super().__init__(one_line(message))


def one_line(text: str) -> str:
    """The text in one line of bounded length, and without secrets in URLs, whatever names or values it quotes.

    Long values between quotes, which are data, are cut, but not paths of files.
    """
    text = QUOTED.sub(_cut, without_secrets(text))
    line = text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return line if len(line) <= LONGEST else f"{line[: LONGEST // 2]} ... {line[-LONGEST // 2 :]}"


def _cut(match: re.Match[str]) -> str:
    quote, value = match[1], match[2]
    return match[0] if PATH.match(value) else f"{quote}{value[:SHOWN]}...{quote}"


def inert(text: str) -> str:
    """Return a text as a terminal can show it: a code such as \\x1b in place of each character that acts on it."""
    return ACTS.sub(lambda match: "\n" if match[0] == "\r\n" else ascii(match[0])[1:-1], text)


class SourceError(DilnError, ValueError):
    """Documents could not be read as given: a missing file, a wrong column, broken bytes, bad counts."""


class StoreError(DilnError):
    """A directory written by diln is missing, damaged, newer than this version, or in use."""


class WorkerError(DilnError):
    """A worker process died or could not be given its work."""


class Lost(DilnError):  # noqa: N818
    """Shards of a fit are gone with what held them; whoever has kept a copy goes on from there."""


class WorkersLost(WorkerError):  # noqa: N818
    """A cluster has no worker that can go on, and none has come in the time that was given."""


class SchedulerLost(WorkerError):  # noqa: N818
    """The scheduler of a cluster does not answer any more."""


class DilnWarning(UserWarning):
    """Something worth knowing that does not stop the work."""

    def __init__(self, message: str = "") -> None:
        super().__init__(one_line(message))


def brief(value: Any) -> str:
    """A value as a sentence has it, whatever it is: on one line, and not long."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # of anybody's class, or a number of too many digits
        text = f"<{type(value).__name__}>"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}...{text[0] if text[0] in QUOTES else ''}"


def check_kind(name: str, value: Any, kind: type) -> None:
    """Raise unless an argument is of this class."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} is a {type(value).__name__}; give a {kind.__name__}")
