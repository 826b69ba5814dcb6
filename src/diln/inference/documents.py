"""What is known of some documents: q(Z), q(u), and what their token step left behind."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
FAR_BELOW = -700.0  # intercept of a document without tokens: e^s = N / xi = 0


@dataclass(slots=True)
class Documents:
    """Variational parameters of documents, a row each."""

    tokens: Array  # (n_docs, n_topics) n: expected tokens of each topic; q(Z_mk) has shape a0_k + n_mk
    locations: Array  # (n_docs, d) u
    intercepts: Array  # (n_docs,) s = ln(N / xi); q(Z_mk) has rate e^-w_mk + e^s_m  # D4

    def __getitem__(self, rows: slice) -> "Documents":
        return Documents(self.tokens[rows], self.locations[rows], self.intercepts[rows])

    def __len__(self) -> int:
        return len(self.tokens)


@dataclass(slots=True)
class Summary:
    """Sums over documents that a corpus step needs, and the documents' part of the bound."""

    tables: Array  # (n_topics,) sum_m a0_k (digamma(a0_k + n_mk) - digamma(a0_k))
    lifts: Array  # (n_topics,) sum_m of what multiplies -a0_k in the bound: ln(1 + e^psi_mk) with gamma weights
    words: float  # E ln p(X | eta) + H[q(C)]
    weights: float  # E ln p(C | Z) + E ln p(Z) + H[q(Z)]
    locations: float  # ln p(u)
    profile: float  # of weights, sum_mk ln Gamma(a0_k + n_mk) - ln Gamma(a0_k)

    @property
    def bound(self) -> float:
        """The documents' part of the bound."""
        return self.words + self.weights + self.locations


def even_start(lengths: Array, n_topics: int, n_dims: int, intercepts: Array, dtype: Any) -> Documents:
    """Documents whose tokens are spread evenly over the topics, at the origin."""
    tokens = np.repeat((lengths / n_topics).astype(dtype)[:, np.newaxis], n_topics, axis=1)
    return Documents(tokens, np.zeros((len(lengths), n_dims)), intercepts)
