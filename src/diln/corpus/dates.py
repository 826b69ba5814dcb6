"""Dates as people write them, to ISO 8601.

In 02/03/2017 nothing tells the day from the month. Such a date is read only where the order is given, or settled by the
other dates of the column: 17/11/2016 has the day first. Nothing is guessed.

A spreadsheet that is saved as text may hold its dates as numbers of days, 42774 for 2017-02-08. They are read so where
most dates of a column are such numbers.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from diln.corpus.strings import Strings
from diln.errors import SourceError

Order = Literal["dmy", "mdy", "ymd"]
ORDERS: tuple[Order, ...] = get_args(Order)
LONGEST_DATE = 64  # characters
PIVOT = 69  # a year of two digits from here on is of the 20th century, as POSIX has it
FIRST_EPOCH, LAST_EPOCH = 10**8, 19 * 10**8  # seconds: from here on ten digits could also be year, month, day and hour
FIRST_DAY, LAST_DAY = 20_000, 60_000  # numbers of days in a spreadsheet: 1954-10-03 to 2064-04-08
DAY_ZERO = datetime(1899, 12, 30)  # in spreadsheets; they count a 29 February 1900, which there was not
EXAMPLES = 3

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar janvier enero gennaio janeiro januari",
            "february feb februar février febrero febbraio fevereiro februari",
            "march mar märz mars marzo março maart",
            "april apr avril abril aprile",
            "may mai mayo maggio maio mei",
            "june jun juni juin junio giugno junho",
            "july jul juli juillet julio luglio julho",
            "august aug août agosto augustus",
            "september sep sept septembre septiembre settembre setembro",
            "october oct oktober octobre octubre ottobre outubro",
            "november nov novembre noviembre novembro",
            "december dec dezember décembre diciembre dicembre dezembro",
        ),
        1,
    )
    for name in names.split()
}
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
ZONES = {"Z": 0, "UT": 0, "UTC": 0, "GMT": 0}  # hours; and those of RFC 2822:
ZONES |= {"EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7}

_WORD = r"(?P<month>[^\W\d_]+)"
_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d+)?)?(?:\s*(?P<half>[ap])\.?m\.?)?"
_ZONE = r"(?:\s*(?P<zone>[A-Z]{1,3})?(?P<shift>[+-]\d\d:?\d\d)?)?"
_TAIL = rf"(?:(?:T|,?\s+)(?:at\s+)?{_CLOCK}{_ZONE})?"
_YEAR = r"(?P<year>\d{4})"
_DAY = r"(?P<day>\d{1,2})"
_NUMBERS = re.compile(rf"(\d{{1,4}})([./-])\s?(\d{{1,2}})\2\s?(\d{{1,4}}){_TAIL}", re.IGNORECASE)
_ISO = re.compile(r"\d{4}(-[\dW]|W|\d{4}T)")
_EPOCH = re.compile(r"(\d{9,10}|\d{13})(?:\.\d+)?")
_DAYS = re.compile(r"\s*([2-6]\d{4})(?:[.,](\d{1,12}))?\s*", re.ASCII)
_WITH_WORDS = [
    re.compile(form + _TAIL, re.IGNORECASE)
    for form in (
        rf"{_DAY}(?:st|nd|rd|th|er|\.|º)?[\s/-](?:(?:of|de)\s)?{_WORD}\.?,?[\s/-](?:de\s)?{_YEAR}",
        rf"{_WORD}\.?[\s-]{_DAY}(?:st|nd|rd|th)?,?\s{_YEAR}",
        rf"{_YEAR}[\s/-]{_WORD}[\s/-]{_DAY}",
        rf"{_YEAR}\s?年\s?(?P<number>\d{{1,2}})\s?月\s?{_DAY}\s?日",
    )
]
_CTIME = re.compile(rf"{_WORD}\s{_DAY}\s{_CLOCK}{_ZONE}\s{_YEAR}", re.IGNORECASE)  # as in Unix and X (Twitter)
_MONTH = [
    re.compile(form)
    for form in (rf"{_YEAR}[./-](?P<number>\d\d?)", rf"(?P<number>\d\d?)[./-]{_YEAR}", rf"{_WORD}\.?,?[\s/-]{_YEAR}")
]


@lru_cache(4096)
def iso(text: str, order: Order | None = None) -> str:
    """A date as ISO 8601, as exact as it was given: a year, a month, a day, or a time, without its zone in UTC.

    Nothing if it cannot be read, or could be two dates.
    """
    if text[4:5] == text[7:8] == "-":  # most dates, which need no more than this
        try:
            return _canonical(datetime.fromisoformat(text))
        except (ValueError, OverflowError):
            pass
    text = " ".join(text.split())
    if not text or len(text) > LONGEST_DATE:
        return ""
    return _plain(text) or _numbers(text, order) or _words(text)


def _plain(text: str) -> str:
    """Dates that are written in one way by everyone: ISO 8601, digits only, a month and a year."""
    try:
        if found := _EPOCH.fullmatch(text):
            return _epoch(int(found[1]))
        if text.isdecimal():
            return _digits(text) if text.isascii() else ""
        for form in _MONTH[:2]:
            if found := form.fullmatch(text):
                return _of_month(found, int(found["number"]))
        return _canonical(datetime.fromisoformat(text)) if _ISO.match(text) else ""
    except (ValueError, OverflowError):
        return ""


def _digits(text: str) -> str:
    if len(text) == 4 and text[0] in "12":
        return text
    forms = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
    return _canonical(datetime.strptime(text, forms[len(text)])) if len(text) in forms else ""


def _epoch(number: int) -> str:
    seconds = number // 1000 if number >= 10**12 else number
    return _canonical(datetime.fromtimestamp(seconds, UTC)) if FIRST_EPOCH <= seconds < LAST_EPOCH else ""


def _numbers(text: str, order: Order | None) -> str:
    readings = _readings(text)
    if order in readings:
        return readings[order]
    found = set(readings.values())
    return found.pop() if len(found) == 1 and order in (None, "ymd") else ""  # a year in full at the end is no ymd


@lru_cache(4096)
def _readings(text: str) -> dict[Order, str]:
    """A date of three numbers in every order in which it is one; where the year is known to be first, in all."""
    found = _NUMBERS.fullmatch(text)
    if found is None:
        return {}
    first, last = found[1], found[4]
    if len(first) == 4:
        year_first = _made(found, int(first), int(found[3]), int(last))
        return dict.fromkeys(ORDERS, year_first) if year_first else {}
    if len(first) > 2 or len(last) == 3:
        return {}
    orders = ORDERS[:2] if len(last) == 4 else ORDERS
    every: dict[Order, str] = {}
    for order in orders:
        parts = dict(zip(order, (first, found[3], last), strict=True))
        year = int(parts["y"]) if len(last) == 4 else _century(int(parts["y"]))
        if made := _made(found, year, int(parts["m"]), int(parts["d"])):
            every[order] = made
    return every


def _century(year: int) -> int:
    return year + (1900 if year >= PIVOT else 2000)


def _made(found: "re.Match[str]", year: int, month: int, day: int) -> str:
    try:
        return _canonical(_with_time(found, date(year, month, day)))
    except (ValueError, OverflowError):
        return ""


def _words(text: str) -> str:
    """Dates with the name of a month, and those of East Asia."""
    first, _, rest = text.partition(" ")
    if rest and first.lower()[:3] in WEEKDAYS and first.rstrip(".,").isalpha():
        text = rest
    for form in (*_WITH_WORDS, _CTIME):
        if (found := form.fullmatch(text)) and (month := _month(found)):
            return _made(found, int(found["year"]), month, int(found["day"]))
    if (found := _MONTH[2].fullmatch(text)) and (month := _month(found)):
        return _of_month(found, month)
    return ""


def _of_month(found: "re.Match[str]", month: int) -> str:
    return date(int(found["year"]), month, 1).isoformat()[:7] if found["year"] != "0000" else ""


def _month(found: "re.Match[str]") -> int:
    parts = found.groupdict()
    return int(parts["number"]) if "number" in parts else MONTHS.get(parts["month"].lower(), 0)


def _with_time(found: "re.Match[str]", day: date) -> datetime:
    hour, minute, second = (int(found[name] or 0) for name in ("hour", "minute", "second"))
    if half := found["half"]:
        if not 1 <= hour <= 12:
            raise ValueError(hour)
        hour = hour % 12 + (12 if half.lower() == "p" else 0)
    zone, shift = found["zone"], found["shift"]
    if zone and zone.upper() not in ZONES:
        raise ValueError(zone)
    away = timedelta(hours=ZONES.get((zone or "Z").upper(), 0))
    if shift:
        sign = -1 if shift[0] == "-" else 1
        away += sign * timedelta(hours=int(shift[1:3]), minutes=int(shift[-2:]))
    return datetime(day.year, day.month, day.day, hour, minute, second) - away


def _canonical(when: datetime) -> str:
    """In UTC where there is a zone, in whole seconds; midnight is the whole day."""
    plain = when.astimezone(UTC).replace(tzinfo=None) if when.tzinfo is not None else when
    return plain.isoformat(timespec="seconds").removesuffix("T00:00:00")


def from_days(text: str) -> str:
    """A number of days, as spreadsheets count dates, as ISO 8601; nothing if it is none, or of no likely year."""
    number = _DAYS.fullmatch(text)
    if number is None or not FIRST_DAY <= int(number[1]) <= LAST_DAY:
        return ""
    seconds = round(float(f"0.{number[2] or 0}") * 86_400)
    return _canonical(DAY_ZERO + timedelta(days=int(number[1]), seconds=seconds))


@dataclass(frozen=True, slots=True)
class Days:
    """How many dates of some documents are numbers of days, how many are not, and the first that is."""

    number: int = 0
    others: int = 0
    example: str = ""

    def __add__(self, other: "Days") -> "Days":
        return Days(self.number + other.number, self.others + other.others, self.example or other.example)

    @property
    def meant(self) -> bool:
        """Whether numbers are meant as days: where most dates are such numbers."""
        return self.number > self.others


def days_seen(texts: Iterable[str]) -> Days:
    """How many of some dates are numbers of days."""
    often = Counter(texts)
    numbers = {text: number for text, number in often.items() if from_days(text)}
    blank = sum(number for text, number in often.items() if not text or text.isspace())
    number = sum(numbers.values())
    return Days(number, often.total() - blank - number, next(iter(numbers), ""))


def check_order(order: str | None) -> Order | None:
    """The order, which must be one of three, or None."""
    if order is not None and order not in ORDERS:
        raise SourceError(f"date_order is {order!r}; use one of {', '.join(ORDERS)}")
    return order


def orders_seen(texts: Iterable[str]) -> frozenset[frozenset[Order]]:
    """In which orders dates of three numbers can be read: what some documents say of the order in a column."""
    short = (text for text in dict.fromkeys(texts) if len(text) <= LONGEST_DATE and not text[:4].isdecimal())
    several = (frozenset(_readings(" ".join(text.split()))) for text in short)  # a year in front says nothing of others
    return frozenset(orders for orders in several if orders)


def settled(seen: Iterable[frozenset[Order]]) -> Order | None:
    """The one order in which all dates of a column can be read, if there is one."""
    left = frozenset(ORDERS).intersection(*seen)
    return next(iter(left)) if len(left) == 1 else None


@dataclass(frozen=True, slots=True)
class DateForm:
    """How the dates of a corpus are kept.

    Attributes
    ----------
    order : {"dmy", "mdy", "ymd"} or None
        Order of day, month and year in dates of numbers; None where nothing tells.
    as_given : bool
        Whether dates are the texts that were given, as in corpora of old, and not ISO 8601.
    days : bool
        Whether numbers such as 42774 are days as spreadsheets count them.
    """

    order: Order | None = None
    as_given: bool = False
    days: bool = False


@dataclass(frozen=True, slots=True)
class Unread:
    """Dates of a column that were left out: how many could be two dates, how many could not be read, and the first."""

    ambiguous: int = 0
    unknown: int = 0
    examples: dict[bool, list[str]] = field(default_factory=dict)  # of ambiguous ones (True) and of others

    def __add__(self, other: "Unread") -> "Unread":
        both = {
            kind: list(dict.fromkeys((*self.examples.get(kind, ()), *other.examples.get(kind, ()))))[:EXAMPLES]
            for kind in (True, False)
        }
        return Unread(self.ambiguous + other.ambiguous, self.unknown + other.unknown, both)


def iso_column(column: Strings, form: DateForm) -> tuple[Strings, Unread]:
    """The column with dates as ISO 8601, and what is left out of it."""
    given = list(column)
    read = {text: iso(text, form.order) or (from_days(text) if form.days else "") for text in dict.fromkeys(given)}
    left_out = Counter(text for text in given if not read[text] and not text.isspace() and text)
    doubtful = {text: len(_readings(" ".join(text.split()))) > 1 for text in left_out if len(text) <= LONGEST_DATE}
    ambiguous = sum(number for text, number in left_out.items() if doubtful.get(text))
    examples = {kind: [t for t in left_out if doubtful.get(t, False) is kind][:EXAMPLES] for kind in (True, False)}
    return Strings.pack(map(read.__getitem__, given)), Unread(ambiguous, left_out.total() - ambiguous, examples)


def timestamps(texts: Iterable[str]) -> NDArray[np.datetime64]:
    """Dates as numbers of seconds that NumPy calculates with: the beginning of a year or month, NaT for none."""
    return np.array([iso(text) or "NaT" for text in texts], "datetime64[s]")
