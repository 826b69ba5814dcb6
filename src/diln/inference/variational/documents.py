"""What is known of some documents: q(Z), q(u), and what their token step left behind."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from diln.inference.data import Array, TermCounts

Step = Callable[[int, int, int], None]  # what a thread does of a visit: (number of the piece, first, last document)
FAR_BELOW = -700.0  # intercept of a document without tokens: e^s = N / xi = 0


@dataclass(slots=True)
class Documents:
    """Variational parameters of documents, a row each."""

    tokens: Array  # (n_docs, n_topics) n: expected tokens of each topic; q(Z_mk) has shape a0_k + n_mk
    locations: Array  # (n_docs, d) u; of the CTM (n_docs, n_topics) lambda, the mean of q(eta)
    intercepts: Array  # (n_docs,) s = ln(N / xi); q(Z_mk) has rate e^-w_mk + e^s_m  # D4
    spreads: Array = field(default_factory=lambda: np.zeros((0, 0)))  # CTM: (n_docs, n_topics) variances of q(eta)

    def __getitem__(self, rows: slice) -> "Documents":
        return Documents(self.tokens[rows], self.locations[rows], self.intercepts[rows], self.spreads[rows])

    def __len__(self) -> int:
        return len(self.tokens)


@dataclass(slots=True)
class Summary:
    """Sums over documents that a corpus step needs, and the documents' part of the bound."""

    tables: Array  # (n_topics,) sum_m a0_k (digamma(a0_k + n_mk) - digamma(a0_k))
    lifts: Array  # (n_topics,) sum_m of what multiplies -a0_k in the bound: ln(1 + e^psi_mk) with gamma weights
    words: float  # E ln p(X | eta) + H[q(C)]
    weights: float  # E ln p(C | Z) + E ln p(Z) + H[q(Z)]; of the CTM E ln p(C | eta)
    locations: float  # ln p(u); of the CTM E ln p(eta) + H[q(eta)]
    profile: float  # of weights, sum_mk ln Gamma(a0_k + n_mk) - ln Gamma(a0_k)

    def __add__(self, other: "Summary") -> "Summary":
        return Summary(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    @property
    def bound(self) -> float:
        """The documents' part of the bound."""
        return self.words + self.weights + self.locations


@dataclass(frozen=True, slots=True)
class Visit:
    """What a document step is given, and where it leaves what it finds."""

    batch: TermCounts
    topics: Array  # (n_terms, n_topics) exp E ln eta, or expected topics
    documents: Documents
    most: int  # turns of a document
    tolerance: float  # mean change of n at which a document is settled
    theta: Array  # (n_docs, n_topics) as in the last token step
    ratio: Array  # (n_entries,) count / normaliser of each term of each document
    terms: Array  # (n_docs, 4) of the bound: words, weights, locations, and of the weights the profile
    tables: Array  # (n_pieces, n_topics)
    lifts: Array  # (n_pieces, n_topics)

    @property
    def whole(self) -> Array:
        """An empty array of integers as wide as the topics' floats."""
        return whole_like(self.topics)


def whole_like(floats: Array) -> Array:
    """An empty array of integers as wide as these floats."""
    return np.empty(0, np.int32 if floats.dtype == np.float32 else np.int64)


def even_start(lengths: Array, n_topics: int, n_dims: int, intercepts: Array, dtype: Any) -> Documents:
    """Documents whose tokens are spread evenly over the topics, at the origin."""
    tokens = np.repeat((lengths / n_topics).astype(dtype)[:, np.newaxis], n_topics, axis=1)
    return Documents(tokens, np.zeros((len(lengths), n_dims)), intercepts)
