"""Values that users give: each check says what came and what to give instead."""

from math import isfinite
from numbers import Integral, Real
from typing import Any


def check_whole(name: str, value: Any, least: int) -> None:
    """Raise unless the value is a whole number from ``least`` on."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} is {value!r}; give a whole number from {least} on")


def check_number(name: str, value: Any, zero: bool = False) -> None:
    """Raise unless the value is a positive number (or zero, where that makes sense)."""
    if (
        isinstance(value, bool)
        or not isinstance(value, Real)
        or not isfinite(value)
        or value < 0
        or not (value or zero)
    ):
        raise ValueError(f"{name} is {value!r}; give a number {'from 0 on' if zero else 'above 0'}")


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise unless the value is one of these."""
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; give {' or '.join(repr(one) for one in choices)}")


def as_pair(name: str, value: Any) -> tuple[float, float]:
    """Shape and rate of a gamma distribution; raise unless they are positive numbers."""
    try:
        shape, rate = value
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}; give (shape, rate) of a gamma distribution") from None
    check_number(f"{name}'s shape", shape)
    check_number(f"{name}'s rate", rate)
    return float(shape), float(rate)
