"""What is known of some documents: q(Z), q(u), and what their token step left behind."""

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from diln.inference.data import Array, Entries

FAR_BELOW = -700.0  # intercept of a document without tokens: e^s = N / xi = 0


class DocumentBeliefs(NamedTuple):
    """Variational parameters of documents, a row each."""

    tokens: Array  # (n_docs, n_topics) n: expected tokens of each topic; q(Z_mk) has shape a0_k + n_mk
    locations: Array  # (n_docs, d) u; of the CTM (n_docs, n_topics) lambda, the mean of q(eta)
    intercepts: Array  # (n_docs,) s = ln(N / xi); q(Z_mk) has rate e^-w_mk + e^s_m  # D4
    spreads: Array = np.zeros((0, 0))  # CTM: (n_docs, n_topics) variances of q(eta)

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return len(self.tokens)

    def cut(self, first: int, last: int) -> "DocumentBeliefs":
        """Documents first to last, in the same memory."""
        return DocumentBeliefs(*(array[first:last] for array in self))


@dataclass(frozen=True, slots=True)
class DocumentSums:
    """Sums over documents that a corpus step needs, and the documents' part of the bound."""

    tables: Array  # (n_topics,) sum_m a0_k (digamma(a0_k + n_mk) - digamma(a0_k))
    lifts: Array  # (n_topics,) sum_m of what multiplies -a0_k in the bound: ln(1 + e^psi_mk) with gamma weights
    words: float  # E ln p(X | eta) + H[q(C)]
    weights: float  # E ln p(C | Z) + E ln p(Z) + H[q(Z)]; of the CTM E ln p(C | eta)
    locations: float  # ln p(u); of the CTM E ln p(eta) + H[q(eta)]
    profile: float  # of weights, sum_mk ln Gamma(a0_k + n_mk) - ln Gamma(a0_k)

    @property
    def bound(self) -> float:
        """The documents' part of the bound."""
        return self.words + self.weights + self.locations

    def __add__(self, other: "DocumentSums") -> "DocumentSums":
        """The sums over the documents of both."""
        return DocumentSums(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


class Limits(NamedTuple):
    """When a document step ends."""

    most: int  # turns of a document
    tolerance: float  # mean change of n at which a document is settled


class DocumentShard(NamedTuple):
    """Documents that one call of a document step is for, and where it leaves what it finds."""

    entries: Entries
    beliefs: DocumentBeliefs  # from where it starts, and to where it comes
    theta: Array  # (n_docs, n_topics) proportional to exp E ln Z, as in the last token step
    ratio: Array  # (n_entries,) count / normaliser of each term of each document
    terms: Array  # (n_docs, 4) of the bound: words, weights, locations, and of the weights the profile
    tables: Array  # (n_topics,) of ``DocumentSums``; it adds to these
    lifts: Array  # (n_topics,)


def integers_like(floats: Array) -> Array:
    """An empty array of integers as wide as these floats."""
    return np.empty(0, np.int32 if floats.dtype == np.float32 else np.int64)


def even_start(lengths: Array, n_topics: int, n_dims: int, intercepts: Array, dtype: Any) -> DocumentBeliefs:
    """Documents whose tokens are spread evenly over the topics, at the origin."""
    tokens = np.repeat((lengths / n_topics).astype(dtype)[:, np.newaxis], n_topics, axis=1)
    return DocumentBeliefs(tokens, np.zeros((len(lengths), n_dims)), intercepts)
