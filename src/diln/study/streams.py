"""A model that learns from mini-batches, looked at on its way: how well it does, and what it has found so far."""

import time
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.analysis.completion import complete
from diln.analysis.inputs import in_use
from diln.corpus.splits import Completion
from diln.engine.threads import even_cut
from diln.models.counts import CorpusRows, MatrixRows
from diln.models.fitted import Fitted
from diln.models.fitting import first, more
from diln.models.parameters import Parameters

BEGUN_WITH = 10  # one in ten documents is read before the first mini-batch
MOST_BEGUN_WITH = 20_000
JUDGED = 500  # test documents, the first ones, that judge a model on its way
POINTS = 20  # of a pass at which they do
RECORDS = 100  # of a pass at which what a model has found is put down, at most
PAIRS = 100  # of topics whose correlation is followed


class Learned(NamedTuple):
    """A model on its way."""

    fitted: Fitted
    seen: int  # documents, each as often as it is
    seconds: float  # of CPU time that learning took


class Stream:
    """The training documents in a random order: some to begin with, then mini-batches of those that are left."""

    def __init__(self, parameters: Parameters, parts: Completion, seed: int) -> None:
        self.rows = CorpusRows(parts.train)
        self.vocabulary = parts.train.vocabulary
        size = self.rows.n_docs
        self.parameters = parameters.but(learning_method="online", total_samples=size)
        self.seed, self.passes = seed, parameters.max_iter or 1
        self.order = self.shuffled(0)
        self.begun_with = max(1, min(MOST_BEGUN_WITH, size // BEGUN_WITH))

    def shuffled(self, number: int) -> NDArray[np.int64]:
        """The order of a pass, from 0 on."""
        return np.random.default_rng([self.seed, 3, number]).permutation(self.rows.n_docs)

    def learned(self, look: Callable[[], None]) -> Iterator[Learned]:
        """The model after its start and after each mini-batch; no clock runs while it is looked at."""
        begun = time.thread_time()
        fitted = first(self.parameters, MatrixRows(self.taken(self.order[: self.begun_with])), self.vocabulary)
        seconds = time.thread_time() - begun
        yield Learned(fitted, self.begun_with, seconds)
        for seen, documents in self.batches():
            look()
            rows = MatrixRows(self.taken(documents))
            begun = time.thread_time()
            more(fitted, rows)
            seconds += time.thread_time() - begun
            yield Learned(fitted, seen, seconds)

    def batches(self) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """The documents of each mini-batch, and the number of documents seen after it, each as often as it is."""
        for number in range(self.passes):
            order = self.order[self.begun_with :] if number == 0 else self.shuffled(number)
            before = number * self.rows.n_docs + self.rows.n_docs - len(order)
            for start, end in even_cut(len(order), int(self.parameters.settled("batch_size"))):
                yield before + end, order[start:end]

    @property
    def length(self) -> int:
        """Documents of all passes."""
        return self.passes * self.rows.n_docs

    def taken(self, documents: NDArray[np.int64]) -> csr_array:
        """The counts of these documents."""
        return self.rows.take(np.sort(documents))


def along_a_stream(
    parameters: Parameters, parts: Completion, seed: int, look: Callable[[], None], n_draws: int | None = None
) -> dict[str, list[float]]:
    """The perplexity of some test documents against documents seen and seconds; no clock runs while they are judged."""
    observed, held_out = parts.observed[:JUDGED], parts.held_out[:JUDGED]
    stream, points = Stream(parameters, parts, seed), Points()
    every, last = stream.rows.n_docs / POINTS, -np.inf
    for fitted, seen, seconds in stream.learned(look):
        if seen - last >= every or seen == stream.length:
            points.add(seen, seconds, complete(fitted, observed, held_out, n_draws=n_draws).perplexity)
            last = seen
    return points.to_json()


class Points:
    """A curve that grows point by point."""

    def __init__(self) -> None:
        self.documents: list[float] = []
        self.seconds: list[float] = []
        self.perplexity: list[float] = []

    def add(self, documents: int, seconds: float, perplexity: float) -> None:
        """One more point of it."""
        self.documents.append(documents)
        self.seconds.append(seconds)
        self.perplexity.append(perplexity)

    def to_json(self) -> dict[str, list[float]]:
        """As plain numbers."""
        return {"documents": self.documents, "cpu_seconds": self.seconds, "perplexities": self.perplexity}


def over_a_pass(parameters: Parameters, parts: Completion, seed: int, look: Callable[[], None]) -> dict[str, Any]:
    """What becomes of a model with locations over one pass: its concentrations, correlations and topics' shares."""
    stream = Stream(parameters, parts, seed)
    batches = len(list(stream.batches()))
    every = max(1, -(-batches // RECORDS))
    learned = stream.learned(look)
    start = next(learned)
    pairs = some_pairs(start.fitted, np.random.default_rng([seed, 4]))
    seen, records = [start.seen], [record(start.fitted, pairs)]
    for number, (fitted, documents, _) in enumerate(learned, 1):
        if number % every == 0 or number == batches:
            seen.append(documents)
            records.append(record(fitted, pairs))
    return {"documents": seen, "pairs": pairs.tolist(), **{name: [one[name] for one in records] for name in records[0]}}


def some_pairs(fitted: Fitted, rng: np.random.Generator) -> NDArray[np.int64]:
    """Pairs, at random, of topics that are in use."""
    every = np.array(list(combinations(np.flatnonzero(in_use(fitted)).tolist(), 2)), np.int64).reshape(-1, 2)
    return every[np.sort(rng.permutation(len(every))[:PAIRS])]


def record(fitted: Fitted, pairs: NDArray[np.int64]) -> dict[str, Any]:
    """What a model has found by now."""
    correlation = fitted.correlation
    if correlation is None:
        raise ValueError(f"the model is an {fitted.kind}, whose topics have no locations; follow a DILN over a pass")
    return {
        "alpha": fitted.alpha, "beta": fitted.beta, "topics_in_use": fitted.n_topics,
        "correlations": np.round(correlation[pairs[:, 0], pairs[:, 1]], 6).tolist(),
        "shares": np.round(fitted.topic_weights, 8).tolist(),
    }  # fmt: skip
