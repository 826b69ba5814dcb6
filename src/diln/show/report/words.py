"""Numbers as a reader says them."""

import math
from collections.abc import Sequence
from typing import Any

LEAST_LIFT, MOST_LIFT = 0.01, 999.0  # that are told as they are
SURE = {True: "sure", False: "not sure", None: "how sure is unknown"}


def known_lift(lift: float | None) -> float:
    """A lift; what JSON has no number for is more than any."""
    return math.inf if lift is None else lift


def times(lift: float | None) -> str:
    """How many times, as in 4.1 or 0.31."""
    lift = known_lift(lift)
    if lift > MOST_LIFT:
        return f"more than {MOST_LIFT:.0f}"
    if lift < LEAST_LIFT:
        return f"less than {LEAST_LIFT}"
    return f"{lift:.2f}" if lift < 0.995 else f"{lift:.1f}" if lift < 9.95 else f"{lift:.0f}"


def together_as_often(pair: dict[str, Any]) -> str:
    """How often two topics are together, and how sure that is."""
    sure = "" if pair["sure"] is None else f", {SURE[pair['sure']]}"
    return f"together {times(pair['lift'])} times as often as by chance{sure}"


def lift_range(pair: dict[str, Any]) -> str:
    """Where another chain would have a pair's lift; empty where that is unknown."""
    if pair["low"] is None or pair["high"] is None or not math.isfinite(pair["high"]):
        return ""
    return f"{times(pair['low'])} to {times(pair['high'])}"


def counted(n: float, one: str, many: str | None = None) -> str:
    """A number of things, as in 1 topic or 2 topics."""
    return f"{n:,.0f} {one if n == 1 else many or one + 's'}"


def showing(n: int, total: int, what: str = "") -> str:
    """What is shown of a list that is cut; empty where all of it is."""
    return f"showing {n:,} of {total:,}{f' {what}' if what else ''}" if n < total else ""


def listed(words: Sequence[str]) -> str:
    """Words in a row, as in a sentence."""
    return ", ".join(words)


def megabytes(size: int) -> str:
    """The size of a file."""
    return f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size / 1e3:,.0f} kB"
