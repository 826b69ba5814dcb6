"""Fits whose shards see old counts of the others, as workers would that do not wait for each other.

A shard knows its own tokens as they are, and the tokens of all other shards as they were some sweeps ago:
table = G(t - 1 - s) - own(t - 1 - s) + own(t - 1), with G(t) the counts after sweep t and s the extra sweeps of delay.
With s = 0 this is the sweep of the package. Everything else of a fit is the package's own: the step is put in the place
of the one that draws a shard's tokens, and counts for how many of them the topic has changed.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, load_npz

from diln import DILN, Corpus, Sampling
from diln.inference.emissions.multinomial_draws import count_table
from diln.inference.sampling import documents, token_step
from diln.inference.sampling.token_step import TokenDrawing, draw_and_count
from diln.inference.sampling.tokens import SampledShard
from diln.models import sampling

Table = NDArray[Any]
SHARD_TOKENS, SHARDS = 25_000, 32  # small shards, so that most of what a shard needs to know is of others


@dataclass
class Counts:
    """Tokens by term and topic, and by topic."""

    table: Table
    totals: Table

    @classmethod
    def of(cls, shard: SampledShard, like: "Counts") -> "Counts":
        """Of the documents of a shard."""
        counts = cls(np.zeros_like(like.table), np.zeros_like(like.totals))
        count_table(shard.tokens, shard.topics, counts.table, counts.totals)
        return counts


@dataclass
class Delayed:
    """Draws the tokens of shards given old counts of the others; told of every sweep: tokens, changed, cells."""

    delay: int
    sweeps: list[list[int]] = field(default_factory=list)
    everyone: list[Counts] = field(default_factory=list)  # after each of the last sweeps
    own: dict[int, list[Counts]] = field(default_factory=dict)  # the same of each shard
    key: int | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, shard: SampledShard, given: TokenDrawing, tally: Any) -> Any:
        """In the place of ``draw_and_count``."""
        self._begin(given)
        known, before = self._known(shard, given), shard.topics.copy()
        record = given.known._replace(table=known.table, totals=known.totals)
        found = draw_and_count(shard, given._replace(known=record), tally)
        changed = shard.topics != before
        terms = np.repeat(shard.tokens.indices, shard.tokens.counts)[changed]
        rows = terms.astype(np.int64) << 16
        cells = np.unique(np.concatenate([rows + before[changed], rows + shard.topics[changed]]))
        with self.lock:
            for place, number in enumerate((len(before), int(changed.sum()), len(cells))):
                self.sweeps[-1][place] += number
        return found

    def _begin(self, given: TokenDrawing) -> None:
        """Keep the counts that a sweep begins with; forget all when topics have become others."""
        with self.lock:
            if int(given.key) == self.key:
                return
            self.key = int(given.key)
            now = Counts(given.known.table.copy(), given.known.totals.copy())
            if self.everyone and self.everyone[-1].table.shape != now.table.shape:
                self.everyone, self.own = [], {}
            self.everyone = [*self.everyone, now][-self.delay - 1 :]
            self.sweeps.append([0, 0, 0])

    def _known(self, shard: SampledShard, given: TokenDrawing) -> Counts:
        now = Counts.of(shard, self.everyone[-1])
        with self.lock:
            self.own[shard.first] = [*self.own.get(shard.first, []), now][-self.delay - 1 :]
        back = min(len(self.everyone), len(self.own[shard.first]))
        old, mine = self.everyone[-back], self.own[shard.first][-back]
        return Counts(old.table - mine.table + now.table, old.totals - mine.totals + now.totals)


@contextmanager
def delayed(delay: int) -> Iterator[Delayed]:
    """Have fits draw with delayed counts, on many small shards, for as many sweeps as they are told."""
    step, planned = Delayed(delay), sampling.planned

    def endless(*given: Any) -> Any:
        return replace(planned(*given), tol=-np.inf)

    with (
        patch.object(token_step, "draw_and_count", step),
        patch.object(sampling, "planned", endless),
        patch.object(documents, "SHARD", SHARD_TOKENS),
        patch.object(documents, "MANY", SHARDS),
    ):
        yield step


def corpus_of(folder: Path) -> Corpus:
    counts = csr_array(load_npz(folder / "counts.npz")).astype(np.int32)
    return Corpus.from_matrix(counts, (folder / "vocab.txt").read_text(encoding="utf-8").split())


def measure(folder: Path, topics: int, sweeps: int, delay: int, seed: int, jobs: int) -> dict[str, Any]:
    """Perplexity of a DILN after so many sweeps, and how many tokens have changed their topic in each."""
    split = corpus_of(folder).completion(seed)
    begun = time.perf_counter()
    with delayed(delay) as step:
        model = DILN(
            n_components=topics, max_iter=sweeps, random_state=seed, n_jobs=jobs, learning_method="batch",
            inference=Sampling(n_states=max(1, sweeps // 5)),
        ).fit(split.train)  # fmt: skip
    perplexity = float(model.perplexity(split.observed, split.held_out))
    return {
        "corpus": folder.name, "topics": topics, "sweeps": sweeps, "delay": delay, "seed": seed, "shards": SHARDS,
        "perplexity": perplexity, "seconds": time.perf_counter() - begun,
        "changed": [round(changed / tokens, 4) for tokens, changed, _ in step.sweeps],  # share of tokens, by sweep
        "cells": [round(cells / tokens, 4) for tokens, _, cells in step.sweeps],  # counts that changed, for each token
    }  # fmt: skip
