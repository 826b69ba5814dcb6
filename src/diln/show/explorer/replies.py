"""Answers as JSON: plain values, and errors as one sentence."""

import json
import math
from typing import Any

from fastapi import Response

from diln.errors import DilnError, one_line
from diln.models.checks import ParameterError


class Json(Response):
    """Plain values as JSON; numbers that JSON does not have become null, and half characters stay what they are."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The value in bytes."""
        try:
            return _dumps(content)
        except ValueError:
            return _dumps(finite(content))


def _dumps(content: Any) -> bytes:
    return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


def finite(value: Any) -> Any:
    """The value, with None in place of infinities and NaN."""
    if isinstance(value, dict):
        return {name: finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def is_sentence(error: ValueError) -> bool:
    """Whether an error is about what was asked for, in words made for whoever asked; not one of Python's own."""
    return type(error) is ValueError or isinstance(error, DilnError | ParameterError)


def refusal(status: int, sentence: str, **headers: str) -> Json:
    """An error for the client: one sentence, and nothing of our insides."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Json({"error": one_line(sentence)}, status, headers=named)
