"""What stored records hold: every field and tensor is declared once, for reading, checking and the documentation.

A file may come from anywhere, and a checksum is no signature: nothing in it is used before it is what its declaration
says. A field that is missing has its default; one that nobody declared is of a later version, and refused.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

REQUIRED = object()  # in place of a default
MOST_WHOLE = 2**63 - 1
INFINITE_BITS = 0x7F800000  # of an infinite float32
SHOWN = 40  # characters of a wrong value that are shown


class MismatchError(ValueError):
    """A stored value is not what it is declared to be; reads as the end of "the file ..."."""


class TensorError(MismatchError):
    """A tensor is not what it is declared to be."""


class UnknownError(MismatchError):
    """Something is stored that nobody declared; reads as the end of "the model has ..."."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record of JSON."""

    name: str
    type: str  # one of TYPES
    about: str
    default: Any = REQUIRED
    least: float | None = None
    most: float | None = None
    above: float | None = None  # what a number is larger than
    choices: tuple[str, ...] = ()
    null: bool = False  # whether it may be null
    of: "tuple[Field, ...]" = ()  # the fields of a record, or of each in a list

    @property
    def kind(self) -> str:
        """What it must be, in words."""
        words = TYPES[self.type][0]
        if self.choices:
            words = " or ".join(f'"{one}"' for one in self.choices)
        if self.above is not None:
            words += f" above {self.above:g}"
        if self.least is not None:
            words += f" from {self.least:g}"
        if self.most is not None:
            words += f" {'up ' if self.least is None else ''}to {self.most:g}"
        return f"{words}, or null" if self.null else words


Record = tuple[Field, ...]


def _whole(value: Any) -> bool:
    return type(value) is int and abs(value) <= MOST_WHOLE


def _number(value: Any) -> bool:
    return type(value) in (int, float) and -1e300 <= value <= 1e300


def _any_number(value: Any) -> bool:
    return type(value) is float or _number(value)


TYPES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "whole": ("a whole number", _whole),
    "seed": ("a whole number of any size", lambda value: type(value) is int),
    "number": ("a number", _number),
    "float": ("a number", _number),  # of one type once it is read, so that loops are compiled once
    "any number": ("a number, also NaN and infinite", _any_number),
    "text": ("text", lambda value: isinstance(value, str)),
    "flag": ("true or false", lambda value: isinstance(value, bool)),
    "json": ("any value", lambda value: True),
    "texts": ("a list of texts", lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value)),
    "wholes": ("a list of whole numbers", lambda value: isinstance(value, list) and all(map(_whole, value))),
    "any numbers": ("a list of numbers", lambda value: isinstance(value, list) and all(map(_any_number, value))),
    "by name": (
        "an object of numbers by name",
        lambda value: isinstance(value, dict) and all(map(_any_number, value.values())),
    ),
    "object": ("an object", lambda value: isinstance(value, dict)),
    "record": ("an object", lambda value: isinstance(value, dict)),
    "records": ("a list of objects", lambda value: isinstance(value, list)),
}


def read(record: Iterable[Field], values: Any, where: str = "") -> dict[str, Any]:
    """A record whose values are what is declared, with defaults for what is missing; raises where they are not."""
    if not isinstance(values, dict):
        raise MismatchError(f"has {shown(values)} in place of {where or 'an object'}")
    known = {one.name: one for one in record}
    for name in values:
        if name not in known:
            raise UnknownError(f"a field {shown(_path(where, name))}")
    return {name: _read(one, values, where) for name, one in known.items()}


def _read(one: Field, values: dict[str, Any], where: str) -> Any:
    path = _path(where, one.name)
    if one.name not in values:
        if one.default is REQUIRED:
            raise MismatchError(f"lacks {path}")
        return one.default() if callable(one.default) else one.default
    value = values[one.name]
    if value is None and one.null:
        return None
    if not TYPES[one.type][1](value) or not _in_range(one, value):
        raise MismatchError(f"has {path} {shown(value)} in place of {one.kind}")
    if one.type == "record":
        return read(one.of, value, path)
    if one.type == "records" and one.of:
        return [read(one.of, each, f"{path}.{number}") for number, each in enumerate(value)]
    return float(value) if one.type == "float" else value


def _in_range(one: Field, value: Any) -> bool:
    if one.choices:
        return value in one.choices
    if one.type not in ("whole", "seed", "number", "float", "any number"):
        return True
    return (
        (one.least is None or value >= one.least)
        and (one.most is None or value <= one.most)
        and (one.above is None or value > one.above)
    )


def _path(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def shown(value: Any) -> str:
    """A value as a message has it, however long it is."""
    text = repr(value) if isinstance(value, bool | int | float | str | None) else type(value).__name__
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


@dataclass(frozen=True, slots=True)
class Tensor:
    """An array: its type, its dimensions by name, the range of its numbers."""

    name: str
    dtype: str
    dims: tuple[str, ...]
    about: str
    least: float = -inf
    most: float = inf  # infinite numbers are none
    above: float | None = None  # what the numbers of topics that there are must be larger than
    beside: str = ""  # the tensor that it may come with; without one it must be there wherever its record is
    lanes: bool = False  # whether it is 0 beyond the topics that there are

    def check(self, array: NDArray[Any], sizes: Mapping[str, int], name: str) -> None:
        """Raise unless an array is what is declared."""
        shape = tuple(sizes[one] for one in self.dims)
        if array.dtype != np.dtype(self.dtype):
            raise TensorError(f"has tensor {name!r} of type {array.dtype} in place of {self.dtype}")
        if array.shape != shape:
            raise TensorError(f"has tensor {name!r} of shape {array.shape} in place of {shape}")
        if not array.size:
            return
        low, high = bounds(array)
        if not (low >= self.least and high <= self.most and low > -inf and high < inf):  # nor NaN, which is neither
            raise TensorError(f"has numbers in tensor {name!r} that are {self.range}")
        if "width" in self.dims:
            self._check_topics(np.moveaxis(array, self.dims.index("width"), -1), sizes["topics"], name)
        elif self.above is not None and array.min() <= self.above:
            raise TensorError(f"has numbers in tensor {name!r} that are not above {self.above:g}")

    def _check_topics(self, array: NDArray[Any], n_topics: int, name: str) -> None:
        if self.above is not None and array[..., :n_topics].min() <= self.above:
            raise TensorError(f"has numbers in tensor {name!r} that are not above {self.above:g}")
        if self.lanes and array[..., n_topics:].any():
            raise TensorError(f"has numbers in tensor {name!r} beyond its {n_topics} topics")

    @property
    def range(self) -> str:
        """What numbers of another kind are, in words."""
        if self.least == -inf and self.most == inf:
            return "not finite"
        if self.most == inf:
            return f"not finite or below {self.least:g}"
        return f"not from {self.least:g} to {self.most:g}"


def bounds(array: NDArray[Any]) -> tuple[Any, Any]:
    """Numbers that all others are between; NaN where there is one.

    The bits of floats from 0 on, read as whole numbers, have the floats' order, and those of all others are larger: one
    look at a large array is enough where it has none of these.
    """
    if array.dtype == np.float32 and array.flags.c_contiguous:
        bits = array.view(np.uint32).max()
        if bits <= INFINITE_BITS:
            return np.float32(0), bits.view(np.float32)
    return array.min(), array.max()


def check_tensors(
    expected: Mapping[str, Tensor], tensors: Mapping[str, NDArray[Any]], sizes: Mapping[str, int]
) -> None:
    """Raise unless there are these tensors, by name, as they are declared, and no others."""
    for name in tensors:
        if name not in expected:
            raise UnknownError(f"a tensor {shown(name)}")
    for name, one in expected.items():
        if name in tensors:
            one.check(tensors[name], sizes, name)
        elif one.beside not in expected:
            raise TensorError(f"lacks tensor {name!r}")
