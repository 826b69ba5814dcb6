"""Topics as counts of terms: what sampling knows of a multinomial emission, and the draw of its prior."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import digamma

from diln.engine.by_hand import fetch_cell
from diln.engine.compile import kernel
from diln.inference.data import Array, Tokens
from diln.inference.sampling.tokens import NO_TOPIC, TopicTable
from diln.inference.stats import Stats, TopicColumns, padded
from diln.prob.tables import draw_tables

LONGEST = 1024  # columns of a histogram of tokens: what is longer is counted in the last


class TopicTally(NamedTuple):
    """Tokens of some documents by term and topic: whole numbers, which floats hold exactly."""

    table: Array  # (n_terms, width) float32
    totals: Array  # (width,) float64

    @classmethod
    def of(cls, shape: tuple[int, int]) -> "TopicTally":
        """Of no token, for a table of this shape."""
        return cls(np.zeros(shape, np.float32), np.zeros(shape[1]))


@dataclass(slots=True)
class TopicCounts(Stats):
    """Tokens of each term in each topic; topics are Dirichlet(prior) before any token is seen."""

    table: TopicColumns  # (n_terms, width) float32: tokens of each term in each topic
    totals: TopicColumns  # (width,) float64: tokens of each topic
    prior: float  # gamma_0

    @classmethod
    def empty(cls, n_terms: int, n_topics: int, prior: float) -> "TopicCounts":
        """Without a token."""
        width = padded(n_topics)
        return cls(np.zeros((n_terms, width), np.float32), np.zeros(width), prior)

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return len(self.table)

    @property
    def width(self) -> int:
        """Columns, those beyond the topics too."""
        return len(self.totals)

    @property
    def record(self) -> TopicTable:
        """For compiled loops."""
        return TopicTable(self.table, self.totals, self.prior)

    def expected(self, n_topics: int) -> Array:
        """The topics that the counts expect (n_terms, n_topics), in single precision."""
        inverse = 1 / (self.totals[:n_topics] + self.n_terms * self.prior)
        return np.ascontiguousarray((self.table[:, :n_topics] + np.float32(self.prior)) * inverse.astype(np.float32))

    def set_to(self, tally: TopicTally) -> None:
        """Have these counts, in the memory that they are in."""
        self.table, self.totals = tally

    def move_to(self, tokens: Tokens, late: Array, keep: float, share: float) -> None:
        """Counts <- keep * counts + share * those of the tokens' topics in each row of ``late``."""
        self.table *= np.float32(keep)
        scatter(tokens, late, share, self.table)
        self.totals *= keep
        self.totals += share * np.bincount(late.ravel(), minlength=self.width)

    def grow_terms(self, n_terms: int) -> None:
        """Have so many terms: new ones, without a token, come after those that there are."""
        self.table = np.pad(self.table, ((0, n_terms - self.n_terms), (0, 0)))

    def draw_prior(self, n_topics: int, learned: tuple[float, float] | None, rng: np.random.Generator) -> None:
        """gamma_0 given all counts: tables of the entries, and a beta variable of each topic."""  # G8
        if learned is None:
            return
        shape, rate = learned
        table, totals = self.table[:, :n_topics], self.totals[:n_topics]
        whole = np.minimum(table, LONGEST - 1).astype(np.int64).ravel()
        histogram = np.bincount(whole, minlength=LONGEST)[np.newaxis]
        tables = draw_tables(histogram, np.array([self.prior]), rng)[0]
        beyond = table[table >= LONGEST].astype(np.float64)
        tables += rng.poisson(tables_beyond(self.prior, beyond)).sum()
        used = totals[totals > 0]
        left = np.log(np.maximum(rng.beta(self.n_terms * self.prior, used), np.finfo(float).tiny)).sum()
        self.prior = float(rng.gamma(shape + tables) / (rate - self.n_terms * left))


def tables_beyond(a: float, n: Any) -> Any:
    """Tables that guests from the last column of a histogram on are expected at: each has next to no chance of one."""
    return a * (digamma(a + n) - digamma(a + LONGEST - 1))


@kernel
def count_table(tokens, topics, table, totals):  # type: ignore[no-untyped-def]
    """Add every token that has a topic to the table (n_terms, width) and to the totals (width,)."""
    for m in range(tokens.indptr.size - 1):
        t = tokens.starts[m]
        for e in range(tokens.indptr[m], tokens.indptr[m + 1]):
            fetch_cell(table, tokens.indices[e], topics[t])
            t += tokens.counts[e]
        t = tokens.starts[m]
        for e in range(tokens.indptr[m], tokens.indptr[m + 1]):
            for _ in range(tokens.counts[e]):
                if topics[t] != NO_TOPIC:
                    table[tokens.indices[e], topics[t]] += 1
                    totals[topics[t]] += 1
                t += 1


@kernel
def scatter(tokens, late, share, table):  # type: ignore[no-untyped-def]
    """Add ``share`` to the table (n_terms, width) for every token's topic in each row of ``late``."""
    share = np.float32(share)
    for m in range(tokens.indptr.size - 1):
        t = tokens.starts[m]
        for e in range(tokens.indptr[m], tokens.indptr[m + 1]):
            for _ in range(tokens.counts[e]):
                for row in range(late.shape[0]):
                    table[tokens.indices[e], late[row, t]] += share
                t += 1
