"""Records as small tables of HTML, which notebooks show: in their own colours, light or dark."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from html import escape

MOST = 100  # rows
LONGEST = 160  # characters of a cell
UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
LINE = "1px solid rgba(128,128,128,.35)"
LEFT, RIGHT = (f"text-align:{side};padding:2px 10px 2px 0;border:0;vertical-align:top" for side in ("left", "right"))
CURVE_WIDTH, CURVE_HEIGHT, CURVE_BAR, CURVE_BARS = 240, 18, 14, 80  # pixels of a curve and its bars; how many there are
LEAST_LIFT, MOST_LIFT = 0.01, 999  # that are told as they are
TOGETHER, APART = "#2a8bd0", "#d9701a"  # seen on white and on black


@dataclass(frozen=True, slots=True)
class Bar:
    """A share as a bar with its number."""

    share: float
    most: float = 1.0  # share of the longest bar
    text: str = ""
    shade: str = "currentColor"

    def html(self) -> str:
        """The bar, at most 60 pixels long."""
        long = 60 * min(max(self.share / self.most, 0.0), 1.0) if self.most > 0 else 0.0
        look = f"display:inline-block;height:8px;width:{long:.0f}px;background:{self.shade};opacity:.6"
        bar = f'<span style="display:inline-block;width:64px"><span style="{look}"></span></span>'
        return f'<span style="white-space:nowrap">{bar} {_text(self.text or percent(self.share))}</span>'


@dataclass(frozen=True, slots=True)
class Curve:
    """Values over time as bars from 0 on, with a gap where there are none."""

    values: Sequence[float | None]

    def html(self) -> str:
        """The bars, which together are at most 240 pixels wide."""
        shown = thinned(self.values, CURVE_BARS)
        wide = max(CURVE_WIDTH // max(len(shown), 1), 1)
        across, step = min(wide, CURVE_BAR), max(min(wide, CURVE_BAR), 2) - 1
        most = max((value for value in shown if value is not None), default=0.0) or 1.0
        bars = "".join(
            f'<rect x="{across * at}" y="{CURVE_HEIGHT - high:.1f}" width="{step}" height="{high:.1f}"/>'
            for at, value in enumerate(shown)
            if value is not None
            for high in [max(CURVE_HEIGHT * value / most, 0.5)]
        )
        size = f'width="{across * len(shown)}" height="{CURVE_HEIGHT}"'
        return f'<svg {size} role="img" style="fill:currentColor;opacity:.6;vertical-align:middle">{bars}</svg>'


class Digits(str):
    """Text of numbers, which is set to the right."""

    __slots__ = ()


Cell = str | int | float | None | Bar | Curve
Row = Mapping[str, Cell]


def percent(share: float) -> str:
    """A share as in 12%, 4.2% or 0.31%, as the pages' ``percent`` in ``scale.js`` has it."""
    value = 100 * share
    if not math.isfinite(value):
        return "unknown"
    if 0 < value < 0.01:
        return "<0.01%"
    unit = "1" if value >= 9.95 or not value else "0.1" if value >= 0.995 else "0.01"
    return f"{Decimal(value).quantize(Decimal(unit), ROUND_HALF_UP)}%"


def shown_lift(lift: float | None) -> str:
    """A lift as in 3.2x or 0.31x."""
    return f"{_times(lift)}x"


def lift_range(low: float | None, high: float | None) -> str:
    """Where a lift is, as in 1.9 to 5.4x."""
    known = low is not None and high is not None and high < math.inf
    return f"{_times(low)} to {_times(high)}x" if known else "unknown"


def _times(lift: float | None) -> str:
    if lift is None or lift > MOST_LIFT:
        return f">{MOST_LIFT}"
    if lift < LEAST_LIFT:
        return f"<{LEAST_LIFT}"
    return f"{lift:.2f}" if lift < 0.995 else f"{lift:.1f}" if lift < 9.95 else f"{lift:.0f}"


def shown_chance(p: float) -> str:
    """A chance as in .031 or <.001."""
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def thinned(values: Sequence[float | None], most: int) -> list[float | None]:
    """Values, each the mean of several next to each other where there are more than this; None where there is none."""
    step = max(len(values) / most, 1.0)
    parts = [
        [value for value in values[int(at * step) : max(int((at + 1) * step), int(at * step) + 1)] if value is not None]
        for at in range(round(len(values) / step))
    ]
    return [sum(part) / len(part) if part else None for part in parts]


def table(rows: Iterable[Row], title: str = "", note: str = "", warning: str = "") -> str:
    """A table with a column for each name in the first row, of at most 100 rows; the rest is counted."""
    every = list(rows)
    shown = every[:MOST]
    parts = ['<div style="max-width:100%;overflow-x:auto;font-size:13px;line-height:1.4">']
    if title:
        parts.append(f'<div style="font-weight:600;margin:2px 0">{_safe(title)}</div>')
    if warning:
        parts.append(f'<div style="margin:2px 0"><b>Warning:</b> {_safe(warning)}</div>')
    if shown:
        parts.append(_rows(shown, _numbers(shown)))
    cut = f"showing {len(shown):,} of {len(every):,}" if len(every) > len(shown) else ""
    below = "; ".join(one for one in (cut, note) if one)
    if below:
        parts.append(f'<div style="opacity:.7;margin:2px 0">{_safe(below)}</div>')
    return "".join([*parts, "</div>"])


def stacked(*parts: str) -> str:
    """Tables below each other."""
    return f"<div>{''.join(parts)}</div>"


def _numbers(rows: Sequence[Row]) -> set[str]:
    """Columns that have numbers only, which are set to the right."""
    return {
        name for name in rows[0] if all(isinstance(row.get(name), int | float | Digits | None) for row in rows)
    }  # fmt: skip


def _rows(rows: Sequence[Row], numbers: set[str]) -> str:
    names = list(rows[0])
    sides = {name: RIGHT if name in numbers else LEFT for name in names}
    head = "".join(
        f'<th scope="col" style="{sides[name]};font-weight:500;opacity:.7">{_text(name)}</th>' for name in names
    )
    body = "".join(
        "<tr style='background:none'>"
        + "".join(f'<td style="{sides[name]}">{_cell(row.get(name))}</td>' for name in names)
        + "</tr>"
        for row in rows
    )
    look = "border-collapse:collapse;margin:0;color:inherit;font-size:inherit"
    top = f'<thead><tr style="border-bottom:{LINE}">{head}</tr></thead>'
    return f'<table style="{look}">{top}<tbody>{body}</tbody></table>'


def _cell(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, Bar | Curve):
        return value.html()
    if isinstance(value, float):
        return _text(f"{value:.3g}")
    return _text(f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value))


def _text(text: str) -> str:
    """A cell's text, at most so long."""
    return _safe(text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…")


def _safe(text: str) -> str:
    """Text of a user, which no notebook takes for anything else."""
    return escape(UNSEEN.sub("\ufffd", text)).replace("$", "&#36;")
