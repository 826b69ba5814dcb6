"""What every record of the analysis can do: become plain JSON values, and rows of them a frame."""

import math
from collections.abc import Iterable
from dataclasses import fields
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np

from diln.analysis.html import Cell, Row, table

Kind = TypeVar("Kind")
PLAIN = (str, int, bool, type(None))  # what JSON has as it is


class Record:
    """A frozen dataclass with named fields."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """The fields as plain JSON values; null for numbers that JSON does not have."""
        return {name: plain(getattr(self, name)) for name in _names(type(self))}  # type: ignore[arg-type]

    def as_row(self) -> Row:
        """What a table in a notebook shows of it."""
        return {name: _cell(value) for name, value in Record.to_json(self).items()}

    def _repr_html_(self) -> str:
        return table([self.as_row()])


class Records(tuple[Kind, ...]):
    """Records in order: a tuple that can become a frame."""

    __slots__ = ()

    def to_json(self) -> list[Any]:
        """The records as plain JSON values."""
        return [plain(one) for one in self]

    def to_frame(self) -> Any:
        """A row for each record: a pandas frame, or a polars frame where only polars is installed."""
        return frame_of(self.to_json())

    def _repr_html_(self) -> str:
        return table([one.as_row() if isinstance(one, Record) else {"": _cell(plain(one))} for one in self])


@cache
def _names(kind: Any) -> tuple[str, ...]:
    """The fields of a record."""
    return tuple(one.name for one in fields(kind))


def plain(value: Any) -> Any:
    """A value as JSON has it: records and arrays are taken apart."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, Record | Records) or hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, dict):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, frozenset | set):
        return sorted(plain(part) for part in value)
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cell(value: Any) -> Cell:
    """A plain value as a table shows it: lists with commas, of records their numbers."""
    if isinstance(value, list | tuple):
        return ", ".join(str(one.get("id", "")) if isinstance(one, dict) else str(_cell(one)) for one in value)
    return value if value is None or isinstance(value, str | int | float) else str(value)


def frame_of(rows: Iterable[dict[str, Any]]) -> Any:
    """Rows as a pandas frame, or a polars frame where only polars is installed."""
    name = next((one for one in ("pandas", "polars") if find_spec(one) is not None), None)
    if name is None:
        raise ImportError("frames need pandas or polars; install one of them with: pip install pandas")
    return import_module(name).DataFrame(list(rows))
