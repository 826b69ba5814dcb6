"""What a chain knows of the corpus, and of its documents, at one moment."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diln.inference.data import Array
from diln.inference.sampling.tokens import NO_TOPIC, Tokens, padded
from diln.inference.weights import gate

ARRAYS = ("table", "totals", "a0", "ells")
GAUSSIAN = ("mean", "covariance")
LEAST_WEIGHT = 1e-20  # that float32 products still hold


@dataclass(slots=True)
class State:
    """The corpus: counts, weights and locations of topics. Arrays are as wide as whole lanes; what is beyond is 0."""

    table: Array  # (n_terms, width) float32: tokens of each term in each topic
    totals: Array  # (width,) float64: tokens of each topic
    a0: Array  # (width,) float64: beta p
    ells: Array  # (d, width) float32: locations; d is 0 while the gate is closed, and always without locations
    prior: float  # gamma_0
    alpha: float  # mass of the gamma process that a0 is drawn from
    variance: float  # c
    n_topics: int  # topics that there are, empty ones too
    truncation: int  # T: a0_k is from Gamma(alpha / T, rate)
    mean: Array = field(default_factory=lambda: np.zeros(0))  # (n_topics,) of log weights, once documents have them
    covariance: Array = field(default_factory=lambda: np.zeros((0, 0)))  # (n_topics, n_topics) of log weights

    @classmethod
    def empty(
        cls, n_terms: int, n_topics: int, a0: float | Array, prior: float, alpha: float, variance: float
    ) -> "State":
        """A corpus without a token, its topics all alike."""
        width = padded(n_topics)
        weights = np.zeros(width)
        weights[:n_topics] = a0
        table, totals, ells = np.zeros((n_terms, width), np.float32), np.zeros(width), np.zeros((0, width), np.float32)
        return cls(table, totals, weights, ells, prior, alpha, variance, n_topics, n_topics)

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return len(self.table)

    @property
    def n_dims(self) -> int:
        """Dimensions of the locations: 0 while the gate is closed."""
        return len(self.ells)

    @property
    def weighed(self) -> bool:
        """Whether documents have log weights."""
        return self.mean.size > 0

    @property
    def expected_topics(self) -> Array:
        """The topics that the counts expect (n_terms, n_topics), in single precision."""
        size = self.n_topics
        inverse = 1 / (self.totals[:size] + self.n_terms * self.prior)
        return np.ascontiguousarray((self.table[:, :size] + np.float32(self.prior)) * inverse.astype(np.float32))

    @property
    def width(self) -> int:
        """Columns, those beyond the topics too."""
        return len(self.a0)

    @property
    def beta(self) -> float:
        """Concentration of a document's weights."""
        return float(self.a0.sum())

    def open(self, n_dims: int, scale: float, rng: np.random.Generator) -> None:
        """Give the topics locations, near the origin."""
        self.ells = np.zeros((n_dims, self.width), np.float32)
        self.ells[:, : self.n_topics] = scale * rng.standard_normal((n_dims, self.n_topics))

    def chosen(self, topics: NDArray[np.intp]) -> "State":
        """The same corpus with these topics, in this order."""
        width = padded(len(topics))

        def columns(array: Array) -> Array:
            out = np.zeros((*array.shape[:-1], width), array.dtype)
            out[..., : len(topics)] = array[..., topics]
            return out

        state = State(
            columns(self.table), columns(self.totals), columns(self.a0), columns(self.ells),
            self.prior, self.alpha, self.variance, len(topics), self.truncation,
        )  # fmt: skip
        if self.weighed:
            state.mean, state.covariance = self.mean[topics], self.covariance[np.ix_(topics, topics)]
        return state

    def copy(self) -> "State":
        """The same in memory of its own."""
        arrays: dict[str, Any] = {name: array.copy() for name, array in self.tensors().items()}
        return replace(self, **arrays)

    def tensors(self) -> dict[str, Array]:
        """The arrays by name."""
        return {name: getattr(self, name) for name in ARRAYS + (GAUSSIAN if self.weighed else ())}

    def numbers(self) -> dict[str, Any]:
        """The numbers by name."""
        return {name: getattr(self, name) for name in ("prior", "alpha", "variance", "n_topics", "truncation")}

    @classmethod
    def restored(cls, tensors: dict[str, Array], numbers: dict[str, Any], end: str = "") -> "State":
        """Take back what ``tensors`` and ``numbers`` gave, the former with this end to their names."""
        names = [name for name in ARRAYS + GAUSSIAN if name in ARRAYS or name + end in tensors]
        arrays: dict[str, Any] = {name: tensors[name + end] for name in names}
        return cls(**arrays, **numbers)


@dataclass(slots=True)
class SampledDocuments:
    """Some documents: their tokens' topics, and where they are."""

    tokens: Tokens
    topics: NDArray[np.uint16]  # (n_tokens,) NO_TOPIC before the first draw
    u: Array  # (n_docs, d) float32; (n_docs, width) log weights, once documents have them
    s: Array  # (n_docs,) float32
    names: NDArray[np.uint64]  # (n_docs,) numbers of the streams that the documents' draws come from

    @classmethod
    def new(cls, tokens: Tokens, n_dims: int, names: Array) -> "SampledDocuments":
        """Documents whose tokens have no topic yet."""
        topics = np.full(tokens.size, NO_TOPIC, np.uint16)
        u, s = np.zeros((len(tokens), n_dims), np.float32), np.zeros(len(tokens), np.float32)
        return cls(tokens, topics, u, s, np.asarray(names, np.uint64))

    def __len__(self) -> int:
        return len(self.tokens)

    def first(self, size: int) -> "SampledDocuments":
        """The first so many documents, sharing memory."""
        tokens = self.tokens.cut(0, size)
        return SampledDocuments(tokens, self.topics[: tokens.size], self.u[:size], self.s[:size], self.names[:size])

    def renamed(self, topics: NDArray[np.intp]) -> None:
        """Follow ``State.chosen``: tokens of topics that are gone have none."""
        new = np.full(NO_TOPIC + 1, NO_TOPIC, np.uint16)
        new[topics] = np.arange(len(topics))
        self.topics[:] = new[self.topics]


def packed_pairs(ells: Array) -> Array:
    """Products of x = (ell, 1) of each topic, packed row by row without the last: (width, d(d+1)/2 + d) float32."""
    return gate.packed_pairs(np.vstack([ells, np.ones(ells.shape[1], np.float32)]), np.float32)
