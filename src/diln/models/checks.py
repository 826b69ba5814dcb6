"""Values that users give: each check says what came and what to give instead."""

import re
from math import isfinite
from numbers import Integral, Real
from typing import Any

from diln.errors import brief

UNITS = {"": 1.0, "B": 1.0, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*([KMGT]?B)?", re.IGNORECASE)
LEAST = 1e6  # bytes of memory that make sense
SMALL, LARGE = 1e-9, 1e6  # between which priors give numbers, in single precision too


class ParameterError(ValueError):
    """A parameter has a value that makes no sense: ``name`` says which, ``problem`` what is wrong and what to do."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(name, problem)
        self.name, self.problem = name, problem

    def __str__(self) -> str:
        return f"{self.name} {self.problem}"


def check_whole(name: str, value: Any, least: float, others: str = "", most: float | None = None) -> None:
    """Raise unless the value is a whole number from ``least`` on; ``others`` says what else may be given."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ParameterError(name, f"is {brief(value)}; give a whole number from {least} on{others}")
    if most is not None and int(value) > most:
        raise ParameterError(name, f"is {_shown(value)}; give a whole number from {least} to {most:,}{others}")


def check_number(
    name: str, value: Any, least: float | None = None, most: float | None = None, others: str = ""
) -> None:
    """Raise unless the value is a positive number, or one from ``least`` on and up to ``most``."""
    known = not isinstance(value, bool) and isinstance(value, Real) and _is_finite(value)
    if known and (value > 0 if least is None else value >= least) and (most is None or value <= most):
        return
    lower = "above 0" if least is None else f"from {least:g} on" if most is None else f"from {least:g} to {most:g}"
    raise ParameterError(name, f"is {brief(value)}; give a number {lower}{others}")


def _is_finite(value: Any) -> bool:
    try:
        return isfinite(value)
    except OverflowError:  # a whole number of very many digits
        return False


def _shown(value: Any) -> str:
    """A large whole number, of any number of digits."""
    return f"{value:,}" if value < 10**30 else "far too large"


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise unless the value is one of these."""
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(name, f"is {brief(value)}; give {' or '.join(repr(one) for one in choices)}")


def as_pair(name: str, value: Any) -> tuple[float, float]:
    """Shape and rate of a gamma distribution; raise unless they are positive numbers."""
    try:
        shape, rate = value
        check_number(name, shape, SMALL, LARGE)
        check_number(name, rate, SMALL, LARGE)
    except (TypeError, ValueError):
        raise ParameterError(
            name,
            f"is {brief(value)}; give (shape, rate) of a gamma distribution, both above 0, from {SMALL:g} to {LARGE:g}",
        ) from None
    return float(shape), float(rate)


def bytes_of(memory: Any) -> float | None:
    """Bytes that were asked for, as "8 GB"; None for "auto"."""
    if isinstance(memory, str) and memory == "auto":
        return None
    found = SIZE.fullmatch(memory.strip()) if isinstance(memory, str) else None
    size = float(found[1]) * UNITS[(found[2] or "").upper()] if found else 0.0
    if size < LEAST:
        raise ParameterError("memory", f'is {brief(memory)}; give a size from "1 MB" on, such as "8 GB", or "auto"')
    return size
