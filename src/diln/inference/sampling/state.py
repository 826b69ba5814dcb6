"""What a chain knows of the corpus, and of its documents, at one moment."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diln.inference.data import Array, Tokens
from diln.inference.emissions.multinomial_draws import TopicCounts
from diln.inference.sampling.tokens import NO_TOPIC, SampledShard
from diln.inference.stats import Stats


@dataclass(slots=True)
class State:
    """The corpus: counts of terms in topics, and the topics' weights. Arrays are as wide as whole lanes."""

    counts: TopicCounts
    weights: Any  # Stats, as the model's weights have it
    n_topics: int  # topics that there are, empty ones too

    @property
    def width(self) -> int:
        """Columns, those beyond the topics too."""
        return self.counts.width

    @property
    def expected_topics(self) -> Array:
        """The topics that the counts expect (n_terms, n_topics), in single precision."""
        return self.counts.expected(self.n_topics)

    @property
    def tokens(self) -> Array:
        """Tokens of each topic (n_topics,)."""
        return self.counts.totals[: self.n_topics]

    def uncounted(self) -> "State":
        """The same without its counts, for what asks for the weights alone."""
        return State(TopicCounts.empty(0, self.n_topics, self.counts.prior), self.weights, self.n_topics)

    def chosen(self, topics: NDArray[np.intp]) -> "State":
        """The same corpus with these topics, in this order."""
        return State(self.counts.chosen(topics), self.weights.chosen(topics), len(topics))

    def copy(self) -> "State":
        """The same in memory of its own."""
        return State(self.counts.copy(), self.weights.copy(), self.n_topics)

    def tensors(self) -> dict[str, Array]:
        """The arrays by name."""
        return {**self.counts.tensors(), **self.weights.tensors()}

    def numbers(self) -> dict[str, Any]:
        """The numbers by name."""
        return {**self.counts.numbers(), **self.weights.numbers(), "n_topics": self.n_topics}

    @classmethod
    def restored(
        cls, weights: type[Stats], tensors: dict[str, Array], numbers: dict[str, Any], end: str = ""
    ) -> "State":
        """Take back what ``tensors`` and ``numbers`` gave, the former with this end to their names."""
        counts = TopicCounts.restored(tensors, numbers, end)
        return cls(counts, weights.restored(tensors, numbers, end), numbers["n_topics"])


@dataclass(slots=True)
class SampledDocuments:
    """Some documents: their tokens' topics, and what the model's weights know of each."""

    tokens: Tokens
    topics: NDArray[np.uint16]  # (n_tokens,) NO_TOPIC before the first draw
    places: Any  # a named tuple of arrays, a row for each document
    names: NDArray[np.uint64]  # (n_docs,) numbers of the streams that the documents' draws come from
    start: int = 0  # number of the first document among all

    @classmethod
    def new(cls, tokens: Tokens, places: Any, names: Array, start: int = 0) -> "SampledDocuments":
        """Documents whose tokens have no topic yet."""
        return cls(tokens, np.full(tokens.size, NO_TOPIC, np.uint16), places, np.asarray(names, np.uint64), start)

    def __len__(self) -> int:
        return self.tokens.n_docs

    def shard(self, first: int, last: int) -> SampledShard:
        """Documents first to last for a step, sharing memory."""
        tokens = self.tokens.cut(first, last)
        start = self.tokens.starts[first]
        places = type(self.places)(*(array[first:last] for array in self.places))
        topics = self.topics[start : start + tokens.size]
        return SampledShard(tokens, topics, self.names[first:last], places, self.start + first)

    def opened(self) -> "SampledDocuments":
        """These documents, which are in memory."""
        return self

    def placed(self, places: Any) -> "SampledDocuments":
        """The same documents with another record of what the weights know of each."""
        return replace(self, places=places)

    def restored(self, topics: NDArray[np.uint16], places: Any) -> "SampledDocuments":
        """The same documents with other topics of their tokens, too."""
        return replace(self, topics=topics, places=places)
