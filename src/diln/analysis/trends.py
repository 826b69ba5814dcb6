"""Topics and themes over time: their shares of the tokens in every period, with a band that says how sure they are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.analysis.html import Curve, Digits, Row, percent, stacked, table
from diln.analysis.labels import Labels
from diln.analysis.ratios import members, sums_of
from diln.analysis.records import Record, frame_of
from diln.analysis.selection import Columns
from diln.analysis.trends_mix import Mix, mix_of, tabulated
from diln.analysis.trends_periods import Periods, periods_of
from diln.analysis.trends_standard import standardised
from diln.models.checks import check_whole

Floats = NDArray[np.float64]
Which = NDArray[np.bool_]
MIN_DOCUMENTS = 10  # of a period whose shares are told
COVERED = 0.9  # of all words must be of labels that a period has, for its shares to be standardised
LISTED = 6  # periods in a sentence
IN_PYTHON = "standardise=True holds the mix constant, trends_by_label() shows each label alone."


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
        Its share of the tokens in each period; None where there are too few documents.
    low, high : tuple of float or None
        A band around it: over documents such as these, the share is within it in 19 of 20 cases. None where there are
        too few documents, or fewer than two.
    """

    id: int
    label: str
    values: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]

    @property
    def known(self) -> list[int]:
        """Places of the periods that have a share."""
        return [at for at, value in enumerate(self.values) if value is not None]

    @property
    def ends(self) -> tuple[int, int]:
        """Places of the least and of the largest share, as they are drawn."""
        values = [(value, at) for at, value in enumerate(self.values) if value is not None]
        return min(values)[1], max(values, key=lambda one: (one[0], -one[1]))[1]


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
        Number of documents in each period, those with a label only if shares are standardised.
    series : tuple of Series
        The topics or themes, the largest first.
    n_undated : int
        Documents that are left out, because they have no date.
    min_documents : int
        Periods with fewer documents have no share.
    standardised : bool
        Whether the mix of labels is held constant.
    n_unlabelled : int
        Documents that are left out of standardised shares, because they have no label.
    covered : tuple of float or None
        Of standardised shares: the share of all words that is of labels which the period has. Below 1, the other labels
        count more, and the period differs from others in its mix; below 0.9 it has no share.
    mix : Mix or None
        The period whose mix of labels differs most from that of all documents, if it does so notably; None if shares
        are standardised.
    notes : tuple of str
        Which periods have no share, and why, in sentences.
    """

    by: str
    granularity: str
    periods: tuple[str, ...]
    n_docs: tuple[int, ...]
    series: tuple[Series, ...]
    n_undated: int = 0
    min_documents: int = MIN_DOCUMENTS
    standardised: bool = False
    n_unlabelled: int = 0
    covered: tuple[float, ...] | None = None
    mix: Mix | None = None
    notes: tuple[str, ...] = ()

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

    @property
    def warning(self) -> str:
        """What to know before a change is taken for one of topics; empty if there is nothing."""
        return "" if self.mix is None else self.mix.sentence

    def _repr_html_(self) -> str:
        note = " ".join((f"{_left(self)}.", *self.notes))
        return table(self.as_rows(), _title(self), note, f"{self.warning} {IN_PYTHON}" if self.mix else "")

    def as_rows(self) -> list[Row]:
        """What a table in a notebook shows: a row for the documents, and one for each topic or theme."""
        across, most = f"{self.periods[0]} to {self.periods[-1]}", max(self.n_docs)
        when = self.periods[self.n_docs.index(most)]
        counts: Row = {
            self.by: None, "label": "documents", across: Curve([n or None for n in self.n_docs]),
            "least": Digits(f"{min(self.n_docs):,}"), "most": Digits(f"{most:,}"), "when": when,
        }  # fmt: skip
        return [counts, *(self._row(one, across) for one in self.series)]

    def _row(self, one: Series, across: str) -> Row:
        if not one.known:
            return {self.by: one.id, "label": one.label, across: "", "least": None, "most": None, "when": ""}
        least, most = (Digits(percent(one.values[at] or 0.0)) for at in one.ends)
        when = self.periods[one.ends[1]]
        return {self.by: one.id, "label": one.label, across: Curve(one.values), "least": least, "most": most,
                "when": when}  # fmt: skip


@dataclass(frozen=True, slots=True)
class LabelTrends(Record):
    """Topics or themes over time in the documents of each label, in the same periods.

    Attributes
    ----------
    by : {"topic", "theme"}
        What is shown.
    granularity : {"year", "quarter", "month", "week", "day"}
        How long a period is.
    periods : tuple of str
        All periods from the first to the last.
    labels : tuple of str
        The labels that have enough documents in some period, those with most documents first.
    trends : tuple of Trends
        The trends of each label.
    n_undated, n_unlabelled : int
        Documents that are left out, because they have no date, or no label.
    n_labels : int
        Number of labels that there are.
    """

    by: str
    granularity: str
    periods: tuple[str, ...]
    labels: tuple[str, ...]
    trends: tuple[Trends, ...]
    n_undated: int = 0
    n_unlabelled: int = 0
    n_labels: int = 0

    def to_frame(self) -> Any:
        """A row for each label, topic or theme, and period: a pandas frame, or a polars frame if that is installed."""
        return frame_of(self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """A row for each label, topic or theme, and period."""
        return [
            {"within": label, **row}
            for label, found in zip(self.labels, self.trends, strict=True)
            for row in found.rows()
        ]

    def _repr_html_(self) -> str:
        shown = [*zip(self.labels, self.trends, strict=True)][:LISTED]
        parts = [table(found.as_rows(), label) for label, found in shown]
        rest = self.n_labels - len(parts)
        more = f"; {rest:,} labels are not shown, to_frame() has all" if rest else ""
        least = self.trends[0].min_documents
        return stacked(*parts, table([], note=f"no share where a label has fewer than {least:,} documents{more}"))


def trends(
    columns: Columns,
    times: NDArray[np.datetime64],
    by: str,
    granularity: str = "auto",
    min_documents: int = MIN_DOCUMENTS,
    labels: Labels | None = None,
    *,
    standardise: bool = False,
) -> Trends:
    """Shares of topics or themes over time. Documents count by their tokens, as in the share of a topic.

    With labels, it is told whether their mix changes over time, or held constant if that is wanted.
    """
    check_whole("min_documents", min_documents, 1)
    x = columns.whole
    periods = periods_of(times, x > 0, granularity)
    n_undated = int((np.isnat(times) & (x > 0)).sum())
    if standardise:
        found = _standardised(columns, periods, by, min_documents, _strata(labels, x))
    else:
        found = _plain(columns, periods, by, min_documents, None if labels is None else _strata(labels, x), labels)
    if not has_shares(found):
        raise ValueError(_nothing(found))
    return replace(found, n_undated=n_undated)


def label_trends(
    columns: Columns,
    times: NDArray[np.datetime64],
    by: str,
    labels: Labels,
    granularity: str = "auto",
    min_documents: int = MIN_DOCUMENTS,
    n_labels: int | None = None,
) -> LabelTrends:
    """Shares of topics or themes over time in the documents of each label, or of the largest labels."""
    check_whole("min_documents", min_documents, 1)
    x = columns.whole
    labelled = np.asarray(_checked(labels).within.sum(axis=0)) > 0
    periods = periods_of(times, (x > 0) & labelled, granularity)
    sizes = np.asarray(labels.within @ ((x > 0) & (periods.of_doc >= 0)), np.int64)
    made, most = {}, 0
    for label, name in enumerate(labels.names[:n_labels]):
        if sizes[label] < min_documents:
            continue
        rows = labels.within[[label]].indices
        own = Columns(csr_array(columns.tokens[rows]), x[rows], columns.named, columns.left_out)
        found = _plain(own, periods._replace(of_doc=periods.of_doc[rows]), by, min_documents)
        most = max(most, *found.n_docs)
        if has_shares(found):
            made[name] = found
    if not made:
        raise ValueError(
            f"no label has {min_documents:,} documents in a period, the most is {max(most, 1):,}; choose longer "
            "periods, or a smaller --min-documents"
        )
    undated = int((np.isnat(times) & (x > 0)).sum())
    unlabelled = int(((x > 0) & ~labelled).sum())
    return LabelTrends(
        by, periods.granularity, periods.names, tuple(made), tuple(made.values()), undated, unlabelled,
        len(labels.names),
    )  # fmt: skip


def enough(worth: NDArray[Any], min_documents: int) -> Which:
    """Return which periods have shares: those with this many documents at least.

    Of fewer, a share says more of these documents than of their time. ``worth`` is the number of documents, or, of
    standardised shares, of documents that would tell as much if all counted alike.
    """
    return np.asarray(worth >= min_documents)


def has_shares(found: Trends) -> bool:
    """Whether any period has enough documents."""
    return any(value is not None for one in found.series for value in one.values)


def _plain(
    columns: Columns,
    periods: Periods,
    by: str,
    min_documents: int,
    strata: csr_array | None = None,
    labels: Labels | None = None,
) -> Trends:
    within = members(periods.of_doc, len(periods.names))
    sums = sums_of(columns.tokens, columns.whole, within).raised(columns.left_out)
    found, (low, high) = sums.ratios(), sums.band(sums.all())
    shown = enough(found.n_docs, min_documents)
    mix = None
    if strata is not None and labels is not None:
        counts, names = tabulated(strata, labels.names, periods.of_doc, len(shown))
        mix = mix_of(names, counts, shown, periods.names)
    few = _few(periods.names, found.n_docs.tolist(), shown, min_documents)
    series = _series(columns, shown, found.share, low, high)
    return Trends(
        by, periods.granularity, periods.names, tuple(found.n_docs.tolist()), series, min_documents=min_documents,
        mix=mix, notes=few,
    )  # fmt: skip


def _standardised(columns: Columns, periods: Periods, by: str, min_documents: int, strata: csr_array) -> Trends:
    n_periods = len(periods.names)
    found = standardised(
        columns.tokens, columns.whole, columns.left_out, strata, periods.of_doc, n_periods, COVERED
    )  # fmt: skip
    dense, whole = enough(found.worth, min_documents), found.covered >= COVERED
    shown = dense & whole
    few = _few(periods.names, found.n_docs.tolist(), dense | ~whole, min_documents, " for each label's weight")
    notes = (*_lacking(periods.names, found.covered, found.n_docs > 0), *few)
    unlabelled = (columns.whole > 0) & (np.asarray(strata.sum(axis=0)) == 0)
    return Trends(
        by, periods.granularity, periods.names, tuple(found.n_docs.tolist()),
        _series(columns, shown, found.share, found.low, found.high), min_documents=min_documents, standardised=True,
        n_unlabelled=int(unlabelled.sum()), covered=tuple(found.covered.tolist()), notes=notes,
    )  # fmt: skip


def _strata(labels: Labels | None, x: Floats) -> csr_array:
    """What of a document is of each label (n_labels, n_docs): a part of it each, if it has several."""
    within = _checked(labels).within
    parts = np.maximum(np.asarray(within.sum(axis=0)), 1)
    return csr_array(within * ((x > 0) / parts)[np.newaxis, :])


def _checked(labels: Labels | None) -> Labels:
    if labels is None or not labels.names:
        raise ValueError("no document has a label, so there is no mix to hold constant; name the column with --label")
    return labels


def _series(columns: Columns, shown: Which, share: Floats, low: Floats, high: Floats) -> tuple[Series, ...]:
    return tuple(
        Series(number, label, *(_known(values[:, at], shown) for values in (share, low, high)))
        for at, (number, label) in enumerate(columns.named)
    )


def _known(values: Floats, shown: Which) -> tuple[float | None, ...]:
    there = (np.isfinite(values) & shown).tolist()
    return tuple(value if known else None for value, known in zip(values.tolist(), there, strict=True))


def _few(
    periods: Sequence[str], n_docs: Sequence[int], shown: Which, min_documents: int, why: str = ""
) -> tuple[str, ...]:
    """Which periods have too few documents."""
    few = [f"{period} ({n:,})" for period, n, kept in zip(periods, n_docs, shown, strict=True) if n and not kept]
    return (f"No share where there are fewer than {min_documents:,} documents{why}: {listed(few)}.",) if few else ()


def _lacking(periods: Sequence[str], covered: Floats, some: Which) -> tuple[str, ...]:
    """Which periods lack labels, so that they have no standardised share, or one of other weights."""
    parts = [(f"{period} ({percent(part)})", part) for period, part, known in zip(periods, covered, some, strict=True)
             if known and part < 1]  # fmt: skip
    gone, raised = ([name for name, part in parts if (part < COVERED) == left] for left in (True, False))
    told = []
    if gone:
        told.append(f"No share where labels that are there have less than nine tenths of all words: {listed(gone)}.")
    if raised:
        told.append(f"Labels that are there count more where others are missing: {listed(raised)} of all words.")
    return tuple(told)


def listed(parts: Sequence[str]) -> str:
    """The first of some parts, and how many there are more."""
    rest = len(parts) - LISTED
    return ", ".join(parts[:LISTED]) + (f" and {rest:,} more" if rest > 0 else "")


def _nothing(found: Trends) -> str:
    most = max(found.n_docs)
    if found.standardised and found.covered is not None and max(found.covered) < COVERED:
        return (
            "no period has documents of labels with nine tenths of all words, so their mix cannot be held constant; "
            "choose longer periods, or look at each label alone (--by-label)"
        )
    return (
        f"no period has {found.min_documents:,} documents, the most is {most:,}; choose longer periods, or a "
        "smaller --min-documents"
    )


def _title(found: Trends) -> str:
    span = found.periods[0] if len(found.periods) == 1 else f"{found.periods[0]} to {found.periods[-1]}"
    constant = ", labels held constant" if found.standardised else ""
    return f"{found.by}s over time ({span}, by {found.granularity}{constant})"


def _left(found: Trends) -> str:
    """How many documents there are, and how many are left out."""
    parts = [f"shares of the words of {sum(found.n_docs):,} documents"]
    for n, what in ((found.n_undated, "a date"), (found.n_unlabelled, "a label")):
        if n:
            parts.append(f"{n:,} without {what} {'is' if n == 1 else 'are'} left out")
    return "; ".join(parts)
