"""Shares of tokens in groups of documents: how large, how sure, and whether a difference may be chance.

A share is a ratio of sums over documents, sum of y over sum of x, where x are a document's tokens and y those of a
topic. Documents are what varies: words of one document depend on each other, documents do not.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit, gammainc, gammaincc, logit, ndtr, ndtri, stdtrit

Floats = NDArray[np.float64]
LEVEL = 0.95  # of a band
TINY, EPSILON = np.finfo(np.float64).tiny, np.finfo(np.float64).eps
ROUNDING = 1e-12  # of squares: what is less is none
STRAIGHT = 1e-3  # skewness below which a distribution is as good as normal
FARTHEST = 1e6  # times a lift, that the end of its interval is looked for
HALVINGS = 16  # of the logarithm on the way there: the end is right to 1 in 1,000


class SharesByTopic(Protocol):
    """What documents have of topics; an Index is one."""

    n_docs: int

    def rows_of_topic(self, topic: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Documents with a share of a topic, and the shares."""


def shares_of(index: SharesByTopic, columns: Sequence[Sequence[int]]) -> csr_array:
    """Shares of documents (n_docs, n_columns), of columns that are sums of some topics each."""
    rows, places, values = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    for at, topics in enumerate(columns):
        for topic in topics:
            found, shares = index.rows_of_topic(topic)
            rows.append(found.astype(np.int64))
            places.append(np.full(len(found), at))
            values.append(shares.astype(np.float64))
    where = (np.concatenate(rows), np.concatenate(places))
    return csr_array((np.concatenate(values), where), shape=(index.n_docs, len(columns)))


def members(codes: NDArray[np.int64], n_groups: int) -> csr_array:
    """Which documents are of which group (n_groups, n_docs), of documents that are in one each, or none (-1)."""
    known = np.flatnonzero(codes >= 0)
    return csr_array((np.ones(len(known)), (codes[known], known)), shape=(n_groups, len(codes)))


@dataclass(frozen=True, slots=True)
class Ratios:
    """Shares in groups of documents, and their standard errors (n_groups, n_columns); NaN where there is no token."""

    n_docs: NDArray[np.int64]  # (n_groups,) documents with a token
    share: Floats
    error: Floats  # NaN where there is but one document


@dataclass(frozen=True, slots=True)
class Sums:
    """What shares in groups of documents are made of: sums over the documents of each."""

    n_docs: Floats  # (n_groups,) documents with a token
    x: Floats  # (n_groups,)
    xx: Floats
    y: Floats  # (n_groups, n_columns)
    yy: Floats
    xy: Floats

    def all(self) -> "Sums":
        """The sums over all groups, of groups that have no document in common (1, ...)."""
        return Sums(*(getattr(self, one.name).sum(axis=0, keepdims=True) for one in fields(self)))

    def raised(self, shares: Floats) -> "Sums":
        """The sums if every document had these shares (n_columns,) of its x more in y."""
        xx, x = self.xx[:, np.newaxis], self.x[:, np.newaxis]
        yy = self.yy + 2 * shares * self.xy + shares**2 * xx
        return replace(self, y=self.y + shares * x, yy=yy, xy=self.xy + shares * xx)

    def ratios(self) -> Ratios:
        """Shares sum(y) / sum(x), with the standard error of a ratio of sums.

        With residuals e = y - share x of the n documents of a group, it is sqrt(n / (n - 1) sum(e^2)) / sum(x).
        """
        total, n_docs = self.x[:, np.newaxis], np.rint(self.n_docs)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(total > 0, self.y / total, np.nan)
            squares = np.maximum(self.yy - 2 * share * self.xy + share**2 * self.xx[:, np.newaxis], 0)
            scale = np.where(n_docs > 1, n_docs / (n_docs - 1), np.nan)[:, np.newaxis]
            error = np.sqrt(squares * scale) / total
        return Ratios(n_docs.astype(np.int64), share, error)

    def band(self, every: "Sums") -> tuple[Floats, Floats]:
        """A band around each share that holds that of many more such documents in about 19 of 20 cases.

        NaN where there are fewer than two documents. The band is even for log(share / (1 - share)), for shares are
        skewed, and by Student's distribution with as many degrees as sum(x)^2 / sum(x^2) has, less one. So that no band
        is empty, a group has one document more, of average length and with the share that all documents have.
        """
        found, overall = self.ratios(), every.y / np.maximum(every.x, TINY)[:, np.newaxis]
        mean = every.x / np.maximum(every.n_docs, 1)
        docs = self.x[:, np.newaxis] / np.maximum(mean, TINY)[:, np.newaxis]
        degrees = np.maximum(self.x**2 / np.maximum(self.xx, TINY) - 1, 1)[:, np.newaxis]
        return even_band(found.share, found.error, docs, overall, degrees)


def even_band(share: Floats, error: Floats, docs: Floats, overall: Floats, degrees: Floats) -> tuple[Floats, Floats]:
    """A band that is even for log(share / (1 - share)), with one document more that has the share of all documents."""
    middle = np.clip((share * docs + overall) / (docs + 1), TINY, 1 - EPSILON)
    spread = np.hypot(error * docs, overall) / (docs + 1)
    reach = stdtrit(degrees, (1 + LEVEL) / 2) * spread / (middle * (1 - middle))
    low, high = expit(logit(middle) - reach), expit(logit(middle) + reach)
    return np.minimum(low, share), np.maximum(high, share)


def sums_of(y: csr_array, x: Floats, groups: csr_array) -> Sums:
    """Sums over groups of documents (n_groups, n_docs), of y (n_docs, n_columns) and x (n_docs,)."""
    some = groups @ np.stack([(x > 0).astype(np.float64), x, x**2], axis=1)
    columns = (y, y.power(2), y * x[:, np.newaxis])
    return Sums(*np.asarray(some).T, *(_dense(groups @ one) for one in columns))


class Lifts(NamedTuple):
    """How many times as much documents of a group have of a column, on average, as all others (n_groups, n_columns).

    ``low`` and ``high`` are the ends of a 95% interval, which holds 1 where ``p`` is above 0.05 and only there.
    """

    lift: Floats
    low: Floats
    high: Floats
    p: Floats


def lifts(y: csr_array, known: Floats, groups: csr_array, left_out: Floats) -> Lifts:
    """Lifts of groups (n_groups, n_docs), from shares y (n_docs, n_columns) of documents that count alike.

    ``known`` (n_docs,) is 1 for documents that count, and 0 for others, which have no share. ``left_out`` (n_columns,)
    is added to every share.

    ``p`` is the chance of a difference as large if documents were put into groups by lot, two-sided: twice the smaller
    tail. The interval holds the lifts that the same test does not reject; see ``_Split``.
    """
    split = _split(y, known, groups, left_out)
    with np.errstate(divide="ignore", invalid="ignore"):
        lift = (split.own[1] / split.own[0]) / (split.rest[1] / split.rest[0])
    lift = np.where(np.isnan(lift), 1.0, lift)
    p = np.minimum(2 * np.minimum(*_tails(*split.difference(np.ones_like(lift)))), 1)
    differs, start = p <= 1 - LEVEL, np.clip(lift, 1 / FARTHEST, FARTHEST)
    inside = np.where(differs, start, 1.0)
    low = split.end(inside, np.where(differs & (lift > 1), 1.0, np.minimum(start, 1) / FARTHEST), 1)
    high = split.end(inside, np.where(differs & (lift < 1), 1.0, np.maximum(start, 1) * FARTHEST), -1)
    return Lifts(lift, np.minimum(low, lift), np.maximum(high, lift), p)


class _Split(NamedTuple):
    """Sums of y to the powers of 0 to 3 over the documents of each group, and over all others.

    What is tested is whether the mean of a group is ``lift`` times that of the others. Its variance is then lift^power
    times theirs, as in Tweedie's distributions: a power of 1 if more documents have some of a column, of 2 if they have
    more of it each. So shares are divided by the lift, and documents of the group count lift^(2 - power) each. The
    difference is the sum of residuals in the group, with the mean, variance and third moment of a group drawn by lot.
    With a lift of 1 this is the test of labels given by lot, whatever the power.
    """

    own: Floats  # (4, n_groups, n_columns)
    rest: Floats
    power: Floats  # (n_groups, n_columns)

    def difference(self, lift: Floats) -> tuple[Floats, Floats]:
        """Differences from what a lift says, in standard deviations, and the skewness of their distribution."""
        (m, *own), (r, *rest) = self.own / lift ** np.arange(4)[:, np.newaxis, np.newaxis], self.rest
        n, weight = m + r, lift ** (2 - self.power)
        with np.errstate(divide="ignore", invalid="ignore"):
            part = m * weight / (m * weight + r)
            mean = (weight * own[0] + rest[0]) / (m * weight + r)
            squares = weight**2 * _squares(m, own, mean) + _squares(r, rest, mean)
            cubes = weight**3 * _cubes(m, own, mean) + _cubes(r, rest, mean)
            spread = np.sqrt(n / (n - 1) * part * (1 - part) * squares)
            third = n**2 / ((n - 1) * (n - 2)) * part * (1 - part) * (1 - 2 * part) * cubes
            standard, skewness = weight * (own[0] - m * mean) / spread, third / spread**3
        varies = (n > 2) & (m > 0) & (r > 0) & (squares > ROUNDING * (weight**2 * own[1] + rest[1]))
        return np.where(varies, standard, 0.0), np.where(varies, skewness, 0.0)

    def end(self, inside: Floats, outside: Floats, side: int) -> Floats:
        """Where the interval ends, between a lift that it holds and another: its low end (side 1), or the high (-1)."""
        endless = (outside != 1) & self.holds(outside, side)
        for _ in range(HALVINGS):
            middle = np.sqrt(inside * outside)
            held = self.holds(middle, side)
            inside, outside = np.where(held, middle, inside), np.where(held, outside, middle)
        return np.where(endless, 0.0 if side == 1 else np.inf, inside)

    def holds(self, lift: Floats, side: int) -> NDArray[np.bool_]:
        """Whether differences are not too large for a lift.

        The most that they can be is by Wilson and Hilferty's approximation of the gamma distribution.
        """
        standard, skewness = self.difference(lift)
        bent = np.where(np.abs(skewness) < STRAIGHT, STRAIGHT, side * skewness)
        root = np.maximum(1 + bent * ndtri((1 + LEVEL) / 2) / 6 - bent**2 / 36, 0)
        return np.asarray(side * standard <= 2 / bent * (root**3 - 1))


def _split(y: csr_array, known: Floats, groups: csr_array, left_out: Floats) -> _Split:
    """Sums over groups and all others, with the power that suits the groups of a column best, from 1 to 2."""
    powers = (y, y.power(2), y.power(3))
    own = np.stack([np.broadcast_to((groups @ known)[:, np.newaxis], (groups.shape[0], y.shape[1])),
                    *(_dense(groups @ each) for each in powers)])  # fmt: skip
    whole = np.stack([np.full(y.shape[1], known.sum()), *map(_sums, powers)])[:, np.newaxis]
    rest = np.where(whole - own > ROUNDING * whole, whole - own, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        means, squares = own[1:3] / own[0], rest[1:3] / rest[0]
        ratio = np.log(means[0] / squares[0])
        spread = np.log((means[1] - means[0] ** 2) / (squares[1] - squares[0] ** 2))
        weight = np.where(np.isfinite(ratio) & np.isfinite(spread), own[0] * rest[0], 0.0)
        ratio, spread = (np.where(weight > 0, each, 0.0) for each in (ratio, spread))
        power = np.clip((weight * ratio * spread).sum(axis=0) / (weight * ratio**2).sum(axis=0), 1, 2)
    some = (own[1] > 0) & (rest[1] > 0) & np.isfinite(power)
    return _Split(_raised(own, left_out), _raised(rest, left_out), np.where(some, power, 1.0))


def _raised(sums: Floats, shares: Floats) -> Floats:
    """Sums of powers after shares (n_columns,) are added to every y."""
    n, first, second, third = sums
    squares = second + shares * (2 * first + shares * n)
    return np.stack([n, first + shares * n, squares, third + shares * (3 * second + shares * (3 * first + shares * n))])


def _squares(n: Floats, sums: Any, mean: Floats) -> Floats:
    """Sum of squares about a mean, from the sums of powers."""
    return np.asarray(sums[1] - mean * (2 * sums[0] - mean * n))


def _cubes(n: Floats, sums: Any, mean: Floats) -> Floats:
    """Sum of cubes about a mean, from the sums of powers."""
    return np.asarray(sums[2] - mean * (3 * sums[1] - mean * (3 * sums[0] - mean * n)))


def _tails(values: Floats, skewness: Floats) -> tuple[Floats, Floats]:
    """Chances of a value as low, and as high, of a distribution of mean 0, variance 1 and this skewness."""
    bent = np.where(np.abs(skewness) < STRAIGHT, STRAIGHT, skewness)
    shape = 4 / bent**2
    at = np.maximum(shape + values * np.sqrt(shape) * np.sign(bent), 0)
    below, above = gammainc(shape, at), gammaincc(shape, at)
    low, high = np.where(bent > 0, below, above), np.where(bent > 0, above, below)
    plain = np.abs(skewness) < STRAIGHT
    return np.where(plain, ndtr(values), low), np.where(plain, ndtr(-values), high)


def more_than_chance(p: Floats, rate: float = 0.05) -> NDArray[np.bool_]:
    """Which of many differences are more than chance: of those, on average, at most this rate is not.

    Benjamini and Hochberg's rule over all of them.
    """
    ordered = np.sort(p, axis=None)
    kept = np.flatnonzero(ordered <= rate * np.arange(1, ordered.size + 1) / ordered.size)
    return np.asarray(p <= ordered[kept[-1]]) if len(kept) else np.zeros(p.shape, bool)


def _sums(matrix: Any) -> Floats:
    return np.asarray(matrix.sum(axis=0), np.float64)


def _dense(matrix: Any) -> Floats:
    return np.asarray(matrix.todense(), np.float64)
