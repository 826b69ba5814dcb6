"""Shares of tokens in groups of documents: how large, how sure, and whether a difference may be chance.

A share is a ratio of sums over documents, sum of y over sum of x, where x are a document's tokens and y those of a
topic. Documents are what varies: words of one document depend on each other, documents do not.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit, gammainc, gammaincc, logit, ndtr, stdtrit

Floats = NDArray[np.float64]
LEVEL = 0.95  # of a band
TINY, EPSILON = np.finfo(np.float64).tiny, np.finfo(np.float64).eps
ROUNDING = 1e-12  # of squares: what is less is none
STRAIGHT = 1e-3  # skewness below which a distribution is as good as normal


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

    def rest(self, every: "Sums") -> "Sums":
        """The sums over all other documents, where these are the sums over all."""
        return Sums(*(getattr(every, one.name) - getattr(self, one.name) for one in fields(self)))

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
        mean, total = every.x / np.maximum(every.n_docs, 1), self.x[:, np.newaxis]
        share = np.clip((self.y + overall * mean) / (total + mean), TINY, 1 - EPSILON)
        error = np.hypot(found.error * total, overall * mean) / (total + mean)
        degrees = np.maximum(self.x**2 / np.maximum(self.xx, TINY) - 1, 1)
        reach = stdtrit(degrees, (1 + LEVEL) / 2)[:, np.newaxis] * error / (share * (1 - share))
        low, high = expit(logit(share) - reach), expit(logit(share) + reach)
        return np.minimum(low, found.share), np.maximum(high, found.share)


def sums_of(y: csr_array, x: Floats, groups: csr_array) -> Sums:
    """Sums over groups of documents (n_groups, n_docs), of y (n_docs, n_columns) and x (n_docs,)."""
    some = groups @ np.stack([(x > 0).astype(np.float64), x, x**2], axis=1)
    columns = (y, y.power(2), y * x[:, np.newaxis])
    return Sums(*np.asarray(some).T, *(_dense(groups @ one) for one in columns))


def chances(y: csr_array, x: Floats, groups: csr_array) -> Floats:
    """Chance that a group's share differs as much from that of all if documents were put into groups by lot.

    (n_groups, n_columns), two-sided: twice the smaller tail, at most 1. With residuals e = y - share x of all n
    documents, the sum of e over m of them drawn by lot has mean 0 and known variance and third moment; the tail is that
    of the gamma distribution, shifted, with these three (Pearson's type III).
    """
    known = x > 0
    n, m = float(known.sum()), groups @ known.astype(np.float64)
    if n < 3:
        return np.ones((groups.shape[0], y.shape[1]))
    second, third = _moments(y, x, n)
    share = np.asarray(y.sum(axis=0)) / x.sum()
    sums = _dense(groups @ y) - np.outer(groups @ x, share)
    spread = np.sqrt(np.outer(m * (n - m) / (n - 1), second))
    skewed = np.outer(m * (n - m) * (n - 2 * m) / ((n - 1) * (n - 2)), third)
    with np.errstate(divide="ignore", invalid="ignore"):
        standard, skewness = sums / spread, skewed / spread**3
    varies = spread > 0
    low, high = _tails(np.where(varies, standard, 0.0), np.where(varies, skewness, 0.0))
    return np.where(varies, np.minimum(2 * np.minimum(low, high), 1), 1.0)


def _moments(y: csr_array, x: Floats, n: float) -> tuple[Floats, Floats]:
    """Mean square and mean cube of the residuals of all documents, for each column."""
    share = np.asarray(y.sum(axis=0)) / x.sum()
    columns = [x[:, np.newaxis], (x**2)[:, np.newaxis]]
    squares = y.power(2)
    first, second, third = (_sums(one) for one in (y * columns[0], squares, y.power(3)))
    crossed, doubly = _sums(squares * columns[0]), _sums(y * columns[1])
    mean_square = second - 2 * share * first + share**2 * (x**2).sum()
    mean_cube = third - 3 * share * crossed + 3 * share**2 * doubly - share**3 * (x**3).sum()
    return np.where(mean_square > ROUNDING * second, mean_square, 0.0) / n, mean_cube / n


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
