"""Topics and themes over time: their shares of the tokens in every period, with a band that says how sure they are."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from diln.analysis.ratios import members, sums_of
from diln.analysis.records import Record, frame_of
from diln.analysis.selection import Columns
from diln.models.checks import check_choice

Floats = NDArray[np.float64]
GRANULARITIES = ("year", "quarter", "month", "week", "day")
MOST_PERIODS = 60  # that "auto" makes, if it can
FILLED = 0.5  # share of the periods that have documents, at least, where "auto" can choose
FEW_DOCS = 20  # documents that a period has on average, at least, where "auto" can choose
LARGEST = 4000  # periods


@dataclass(frozen=True, slots=True)
class Series(Record):
    """A topic or theme over time.

    Attributes
    ----------
    id : int
        Its number.
    label : str
        Its label.
    values : tuple of float or None
        Its share of the tokens in each period; None where there are no documents.
    low, high : tuple of float or None
        A band around it: over documents such as these, the share is within it in 19 of 20 cases. None where there are
        fewer than two documents.
    """

    id: int
    label: str
    values: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Trends(Record):
    """Topics or themes over time.

    Attributes
    ----------
    by : {"topic", "theme"}
        What is shown.
    granularity : {"year", "quarter", "month", "week", "day"}
        How long a period is.
    periods : tuple of str
        All periods from the first to the last, such as 2017, 2017-Q1, 2017-02, 2017-W07 or 2017-02-13. Periods without
        documents are there, too.
    n_docs : tuple of int
        Number of documents in each period.
    series : tuple of Series
        The topics or themes, the largest first.
    n_undated : int
        Documents that are left out, because they have no date.
    """

    by: str
    granularity: str
    periods: tuple[str, ...]
    n_docs: tuple[int, ...]
    series: tuple[Series, ...]
    n_undated: int = 0

    def to_frame(self) -> Any:
        """A row for each topic or theme and period: a pandas frame, or a polars frame if only polars is installed."""
        return frame_of(self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """A row for each topic or theme and period."""
        return [
            {"period": period, self.by: one.id, "label": one.label, "share": one.values[at], "low": one.low[at],
             "high": one.high[at], "n_docs": self.n_docs[at]}
            for one in self.series
            for at, period in enumerate(self.periods)
        ]  # fmt: skip


def trends(columns: Columns, times: NDArray[np.datetime64], by: str, granularity: str = "auto") -> Trends:
    """Shares of topics or themes over time. Documents count by their tokens, as in the share of a topic."""
    x = columns.whole
    check_choice("granularity", granularity, ("auto", *GRANULARITIES))
    dated = ~np.isnat(times) & (x > 0)
    n_undated = int((np.isnat(times) & (x > 0)).sum())
    if not dated.any():
        raise ValueError("none of these documents has a date, so there are no trends; name the column with --date")
    wanted = _automatic(times[dated]) if granularity == "auto" else granularity
    numbers = period_numbers(times, wanted)
    first, last = int(numbers[dated].min()), int(numbers[dated].max())
    if last - first >= LARGEST:
        raise ValueError(f"there are {last - first + 1:,} periods of a {wanted}; choose a longer granularity")
    periods = members(np.where(dated, numbers - first, -1), last - first + 1)
    sums = sums_of(columns.tokens, x, periods).raised(columns.left_out)
    found = sums.ratios()
    low, high = sums.band(sums.all())
    series = tuple(
        Series(number, label, _known(found.share[:, at]), _known(low[:, at]), _known(high[:, at]))
        for at, (number, label) in enumerate(columns.named)
    )
    names = tuple(period_name(number, wanted) for number in range(first, last + 1))
    return Trends(by, wanted, names, tuple(found.n_docs.tolist()), series, n_undated)


def _known(values: Floats) -> tuple[float | None, ...]:
    return tuple(float(value) if np.isfinite(value) else None for value in values)


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
