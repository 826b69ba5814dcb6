"""HTML from plain values: whatever is not markup already is escaped, so that no title or word can be more than text."""

import json
import math
import re
from html import escape
from typing import Any

UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")  # what no HTML file may hold
IN_SCRIPTS = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})
VOID = {"img", "line", "polygon", "polyline"}  # elements without content


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


NOTHING = Markup()
Part = str | Markup | None


def shown(part: Part) -> Markup:
    """A part of a page: markup as it is, text escaped."""
    if part is None:
        return NOTHING
    return part if isinstance(part, Markup) else Markup(escape(UNSEEN.sub("\ufffd", part)))


def together(*parts: Part, gap: str = "") -> Markup:
    """Parts in a row."""
    return Markup(gap.join(map(shown, parts)))


def el(name: str, *parts: Part, **attributes: str | float | bool | None) -> Markup:
    """An element. ``class_`` is its class, ``data_row`` its data-row; None and False leave an attribute out."""
    opened = name + "".join(_attribute(key, value) for key, value in attributes.items())
    return Markup(f"<{opened}/>" if name in VOID else f"<{opened}>{together(*parts)}</{name}>")


def _attribute(key: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.removesuffix("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{shown(str(value))}"'


def data(identifier: str, value: Any) -> Markup:
    """Plain values for the page's scripts, which no text in them can end."""
    text = json.dumps(finite(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(
        f'<script type="application/json" id="{identifier}">{UNSEEN.sub("", text.translate(IN_SCRIPTS))}</script>'
    )


def finite(value: Any, digits: int = 5) -> Any:
    """The value with so many digits of every number, and None for numbers that JSON does not have."""
    if isinstance(value, dict):
        return {str(name): finite(part, digits) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [finite(part, digits) for part in value]
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") if math.isfinite(value) else None
    return value
