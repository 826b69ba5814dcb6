"""A sweep on many machines, event by event, with figures measured on one.

A table of counts by term and topic goes to all workers, from one to another; each draws the tokens of its shards; their
tallies are added up, eight at a time, and the last sum goes to the client, which makes the corpus' step. A worker sends
one thing at a time and receives one thing at a time, at the speed of its network card.
"""

import heapq
from dataclasses import dataclass, replace
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray

CALLS = 2  # of workers in a sweep: tokens with their counts, then documents' own draws
FANNED = 8  # tallies that are added up at once, as diln.engine.dask does
FLOAT = 4  # bytes of a count
CHANGE = 8  # bytes of a changed count: term, topic and by how much
LONGEST = 1024  # columns of a histogram of tokens by topic


@dataclass(frozen=True)
class Machines:
    """Workers and the network between them."""

    workers: int
    cores: float = 8  # of each worker
    bandwidth: float = 1.25e9  # bytes a second of a network card, each way: 10 Gbit/s
    latency: float = 2e-4  # seconds of a message
    overhead: float = 0.01  # seconds of a task: the scheduler's
    spread: float = 0.1  # standard deviation of the log of workers' speeds
    tree: bool = True  # whether who has the table passes it on; else one sends it to all


@dataclass(frozen=True)
class Costs:
    """What was measured."""

    token: float  # seconds to draw a token, with its part of the document's own draws
    corpus: float  # seconds of the corpus' step
    add: float  # bytes a second of adding tables
    pack: float  # bytes a second of packing and unpacking a table


@dataclass(frozen=True)
class Fit:
    """What is to be fitted."""

    documents: float
    length: float
    topics: int
    terms: int

    @property
    def tokens(self) -> float:
        """Of all documents."""
        return self.documents * self.length

    @property
    def table(self) -> float:
        """Bytes of the counts by term and topic, and of the histogram of documents by topic and tokens of it."""
        return FLOAT * self.topics * (self.terms + LONGEST)


@dataclass(frozen=True)
class Sweep:
    """Seconds of a sweep, and of its parts as they follow each other."""

    seconds: float
    broadcast: float  # until the last worker has the table
    drawing: float  # of the mean worker
    reduction: float  # from the last worker's end to the client's sum
    corpus: float


def arrivals(machines: Machines, size: float, pack: float) -> NDArray[np.float64]:
    """When each worker has the table: the client sends it to the first, who has it passes it on."""
    one = machines.latency + size / machines.bandwidth + size / pack
    if not machines.tree:
        sent = one + np.arange(machines.workers) * size / machines.bandwidth
        return np.asarray(sent, np.float64)
    free, found = [one], [one]  # when those that have it can send it on
    while len(found) < machines.workers:
        there = heapq.heappop(free) + one
        found.append(there)
        heapq.heappush(free, there)
        heapq.heappush(free, there)
    return np.array(found)


def reduced(machines: Machines, ends: NDArray[np.float64], size: float, costs: Costs) -> float:
    """When the client has the sum of all tallies, which are there at these times."""
    fetch = size / machines.bandwidth + size / costs.pack + size / costs.add
    while len(ends) > FANNED:
        parts = [ends[first : first + FANNED] for first in range(0, len(ends), FANNED)]
        ends = np.array([received(part[1:], part[0], fetch) + machines.overhead for part in parts])
    return received(ends, 0.0, fetch) + machines.latency


def received(others: NDArray[np.float64], own: float, fetch: float) -> float:
    """When tallies that are there at these times have come, one after the other, to one that is free from then on."""
    at = own
    for there in np.sort(others):
        at = max(at, float(there)) + fetch
    return at


def sweep(fit: Fit, machines: Machines, costs: Costs, seed: int = 0) -> Sweep:
    """A sweep as the cluster engine makes it."""
    rng = np.random.default_rng(seed)
    slow = np.exp(rng.normal(0, machines.spread, machines.workers)) if machines.spread else np.ones(machines.workers)
    starts = arrivals(machines, fit.table, costs.pack)
    drawing = fit.tokens * costs.token / (machines.workers * machines.cores)
    ends = starts + CALLS * machines.overhead + drawing * slow
    summed = reduced(machines, ends, fit.table, costs)
    return Sweep(summed + costs.corpus, float(starts.max()), drawing, summed - float(ends.max()), costs.corpus)


def formula(fit: Fit, machines: Machines, costs: Costs) -> float:
    """The same in one line, for machines of one speed."""
    workers = machines.workers
    hop = fit.table * (1 / machines.bandwidth + 1 / costs.pack)
    levels = max(ceil(np.log(workers) / np.log(FANNED)), 1)
    adding = min(workers, FANNED) * (hop + fit.table / costs.add)
    drawing = fit.tokens * costs.token / (workers * machines.cores)
    return float(drawing + (1 + log2(workers)) * hop + levels * adding + costs.corpus)


def best_workers(fit: Fit, machines: Machines, costs: Costs) -> int:
    """The number of workers beyond which twice as many save less than a fifth of a sweep."""
    workers = 1
    while workers < 1 << 20:
        here, more = (sweep(fit, replace(machines, workers=n), costs).seconds for n in (workers, 2 * workers))
        if more > 0.8 * here:
            return workers
        workers *= 2
    return workers


def terms_met(fit: Fit, tokens: float) -> float:
    """The share of all terms that a worker with so many tokens meets, by Zipf's law."""
    chances = 1 / (np.arange(fit.terms) + 10.0)
    chances /= chances.sum()
    return float(np.mean(-np.expm1(-tokens * chances)))


def by_term(fit: Fit, machines: Machines, costs: Costs, changed: float | None = None) -> float:
    """Seconds of a sweep where every worker keeps the counts of some terms, and others ask it for those they need.

    A worker receives the rows of its terms once, and as many are asked of it; what comes back is as large, or, of
    ``changed`` tokens only, two changed counts for each.
    """
    drawing = fit.tokens * costs.token / (machines.workers * machines.cores) * np.exp(2 * machines.spread)
    own = fit.tokens / machines.workers
    rows = terms_met(fit, own) * fit.table
    back = rows if changed is None else min(2 * changed * own * CHANGE, rows)
    moved = (rows + back) * (1 / machines.bandwidth + 1 / costs.pack) + back / costs.add
    return float(drawing + moved + 2 * machines.latency * log2(max(machines.workers, 2)) + costs.corpus)


def unwaited(fit: Fit, machines: Machines, costs: Costs) -> float:
    """Seconds of a sweep where workers draw with old counts while tables are under way: the slower of the two.

    Each sends the table on to two others and adds up those of eight, all while it draws.
    """
    drawing = fit.tokens * costs.token / (machines.workers * machines.cores)
    tables = fit.table * ((FANNED + 1) * (1 / machines.bandwidth + 1 / costs.pack) + FANNED / costs.add)
    return max(drawing, tables)
