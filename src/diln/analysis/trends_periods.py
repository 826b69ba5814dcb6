"""Periods of time: how long they are, which documents are in which, and how people call them."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diln.models.checks import check_choice

GRANULARITIES = ("year", "quarter", "month", "week", "day")
MOST_PERIODS = 60  # that "auto" makes, if it can
FILLED = 0.5  # share of the periods that have documents, at least, where "auto" can choose
FEW_DOCS = 20  # documents that a period has on average, at least, where "auto" can choose
LARGEST = 4000  # periods


class Periods(NamedTuple):
    """All periods from the first to the last, those without documents too."""

    granularity: str
    names: tuple[str, ...]
    of_doc: NDArray[np.int64]  # (n_docs,) period of each document, -1 for none


def periods_of(times: NDArray[np.datetime64], counts: NDArray[np.bool_], granularity: str = "auto") -> Periods:
    """Return the periods of the documents that count (n_docs,); those without a date are in none."""
    check_choice("granularity", granularity, ("auto", *GRANULARITIES))
    dated = ~np.isnat(times) & counts
    if not dated.any():
        raise ValueError("none of these documents has a date, so there are no trends; name the column with --date")
    wanted = _automatic(times[dated]) if granularity == "auto" else granularity
    numbers = period_numbers(times, wanted)
    first, last = int(numbers[dated].min()), int(numbers[dated].max())
    if last - first >= LARGEST:
        raise ValueError(f"there are {last - first + 1:,} periods of a {wanted}; choose a longer granularity")
    names = tuple(period_name(number, wanted) for number in range(first, last + 1))
    return Periods(wanted, names, np.where(dated, numbers - first, -1))


def _automatic(times: NDArray[np.datetime64]) -> str:
    """The shortest periods of which there are at most 60, half of them empty, with 20 documents each on average.

    Where none is so, the longest that cut the time in two at all; else days. Dates may be years only, and then all days
    but one of a year are empty.
    """
    spans = {}
    for name in reversed(GRANULARITIES):
        numbers = period_numbers(times, name)
        spans[name] = int(numbers.max() - numbers.min()) + 1
        few, filled = spans[name] <= MOST_PERIODS, len(np.unique(numbers))
        if few and filled >= FILLED * spans[name] and len(times) >= FEW_DOCS * spans[name]:
            return name
    return next((name for name in GRANULARITIES if spans[name] > 1), "day")


def period_numbers(times: NDArray[np.datetime64], granularity: str) -> NDArray[np.int64]:
    """Number of the period that each moment is in, counted from 1970; weeks begin on Monday."""
    units = {"year": "Y", "quarter": "M", "month": "M", "week": "D", "day": "D"}
    numbers = times.astype(f"datetime64[{units[granularity]}]").astype(np.int64)
    if granularity == "quarter":
        return np.asarray(numbers // 3)
    return np.asarray((numbers + 3) // 7) if granularity == "week" else numbers  # 1970 began on a Thursday


def period_name(number: int, granularity: str) -> str:
    """A period as people write it."""
    if granularity == "quarter":
        return f"{1970 + number // 4}-Q{number % 4 + 1}"
    if granularity == "week":
        year, week, _ = np.datetime64(7 * number - 3, "D").astype(object).isocalendar()
        return f"{year}-W{week:02}"
    units: dict[str, Literal["Y", "M", "D"]] = {"year": "Y", "month": "M", "day": "D"}
    return str(np.datetime64(number, units[granularity]))
