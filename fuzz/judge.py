"""What is allowed to come of a case: a result without NaN, or one of our errors, a ValueError or a TypeError, in one
sentence.
"""

import linecache
import math
import re
import traceback
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import NotFittedError

import diln
from diln.errors import DilnError, DilnWarning
from fuzz.case import Target

LONGEST = 1000  # characters of a message
FOR_USERS = (
    "feature names",  # scikit-learn's, to whoever fitted to a frame and has an array now
    "invalid escape sequence",  # Python's, of text in the encoding unicode_escape
)
OURS = str(Path(diln.__file__).parent)


class WrongError(Exception):
    """What a target itself finds to be wrong with a result, or with what is left on disk."""


class Verdict(NamedTuple):
    """What came of a case: "accepted", "refused" or "wrong", where it came from, and for people what was seen."""

    outcome: str
    kind: str = ""
    text: str = ""


def of_result(value: Any) -> Verdict:
    """The verdict on what was returned."""
    flaw = flaw_of(value)
    return Verdict("wrong", f"result: {flaw}", f"{value!r:.2000}") if flaw else Verdict("accepted")


def flaw_of(value: Any) -> str | None:
    """What no result may have in it: NaN or an infinity."""
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{value}"
    if issparse(value):
        return flaw_of(getattr(value, "data", None))
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.kind not in "fc" or np.isfinite(value).all():
            return None
        return "nan" if np.isnan(value).any() else "inf"
    if is_dataclass(value) and not isinstance(value, type):
        return flaw_of(asdict(value))
    if isinstance(value, Mapping):
        return flaw_of(list(value.values()))
    if isinstance(value, list | tuple):
        return next((flaw for flaw in map(flaw_of, value) if flaw), None)
    return None


def of_error(error: BaseException, target: Target) -> Verdict:
    """The verdict on what was raised."""
    where, text = _place(error.__traceback__), _told(error)
    name, message = type(error).__name__, str(error)
    if isinstance(error, WrongError):
        return Verdict("wrong", message.split(":")[0], text)
    if not (_allowed(error) or type(error) in target.also):
        return Verdict("wrong", f"{name} at {where}", text)
    if not message or "\n" in message.strip() or len(message) > LONGEST:
        flaw = "an empty message" if not message else "a message of several lines" if "\n" in message else "a long one"
        return Verdict("wrong", f"{name} with {flaw} at {where}", text)
    if type(error) in (ValueError, TypeError) and not _raised_by_us(error.__traceback__):
        return Verdict("wrong" if target.strict else "foreign", f"foreign {name} at {where}", text)
    return Verdict("refused", f"{name} at {where}", text)


def of_warning(warning: Warning) -> Verdict | None:
    """The verdict on a warning, if it is not one that is meant for users."""
    message = str(warning)
    if isinstance(warning, DilnWarning):
        flawed = "\n" in message or len(message) > LONGEST
        return Verdict("wrong", "a warning that is long or of several lines", message) if flawed else None
    if any(told in message for told in FOR_USERS):
        return None
    kind = re.sub(r"'[^']*'|\d+", "_", f"{type(warning).__name__}: {warning}".split("\n")[0])[:100]
    return Verdict("wrong", kind, str(warning))


def _allowed(error: BaseException) -> bool:
    ours = isinstance(error, DilnError) or type(error).__module__.startswith("diln.")
    return ours or type(error) in (ValueError, TypeError, NotFittedError)


def _frames(trace: TracebackType | None) -> list[tuple[str, int, str]]:
    return [(frame.f_code.co_filename, line, frame.f_code.co_name) for frame, line in traceback.walk_tb(trace)]


def _place(trace: TracebackType | None) -> str:
    """The innermost function of ours that an error went through, and the one that raised it if that is another's."""
    frames = _frames(trace)
    ours = [(file, name) for file, _, name in frames if file.startswith(OURS)]
    place = f"{ours[-1][0].removeprefix(OURS)[1:]} {ours[-1][1]}" if ours else "outside"
    file, _, name = frames[-1] if frames else ("", 0, "")
    return place if file.startswith(OURS) else f"{place} ({Path(file).name} {name})"


def _raised_by_us(trace: TracebackType | None) -> bool:
    """Whether a line of ours that says raise, and not Python or a library, made the error."""
    file, line, _ = _frames(trace)[-1]
    return file.startswith(OURS) and linecache.getline(file, line).lstrip().startswith("raise")


def _told(error: BaseException) -> str:
    lines = traceback.format_exception(error)
    return "".join([line for line in lines if "fuzz/child.py" not in line])[-4000:]
