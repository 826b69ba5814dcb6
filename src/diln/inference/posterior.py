"""What a fitted model knows, however it was found: the face that variational and sampled posteriors share."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.engine.base import Engine
from diln.inference.data import Array, Batch, TermCounts
from diln.inference.progress import Sight


@dataclass(frozen=True, slots=True)
class Inferred:
    """Documents as a model sees them."""

    proportions: Array  # (n_docs, n_topics) expected proportions of topics; rows sum to 1
    locations: Array  # (n_docs, d) expected locations


class FoldIn(ABC):
    """What new documents are inferred from, without all else that a posterior knows; it can be pickled."""

    @abstractmethod
    def infer(self, counts: TermCounts | csr_array, engine: Engine) -> Inferred:
        """Documents seen for the first time, each as if alone."""


class OnlineStep(NamedTuple):
    """A step of online learning."""

    number: int  # from 0 on
    rho: float  # its length, from 0 to 1
    scale: float  # documents that each of its documents stands for
    most: int  # updates of a document at most, where documents are updated
    tolerance: float  # change of a document's tokens by topic that is taken for none


class Posterior(ABC):
    """Topics and weights after some documents."""

    statistics: Array  # (n_terms, n_topics) float32: expected tokens of each term in each topic
    prior: float  # gamma_0

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return len(self.statistics)

    @property
    def n_topics(self) -> int:
        """Number of topics, used or not."""
        return int(self.statistics.shape[1])

    @property
    def topic_tokens(self) -> Array:
        """Expected tokens of each topic (n_topics,)."""
        return np.asarray(self.statistics.sum(axis=0, dtype=np.float64))

    def topic_word(self) -> Array:
        """E eta (n_terms, n_topics): columns sum to 1."""
        lam = self.statistics.astype(np.float64) + self.prior
        return np.asarray(lam / lam.sum(axis=0))

    @property
    @abstractmethod
    def a0(self) -> Array:
        """What a document's weight of a topic is before its tokens are seen (n_topics,)."""

    @property
    @abstractmethod
    def locations(self) -> Array:
        """Topic locations ell (n_topics, d); d is 0 for a model without."""

    def sight(self) -> Sight:
        """The topics as they are now."""
        return Sight(self.statistics, self.topic_tokens, self.locations)

    @property
    @abstractmethod
    def covariance(self) -> Array | None:
        """Covariance of the topics' log weights over documents (n_topics, n_topics), of a model that has it."""

    @abstractmethod
    def log_lift(self, covariance: Array) -> Array:
        """Log lifts of pairs of topics (n_topics, n_topics) if their log weights have this covariance.

        Of a model that has it: ``covariance``, or what several chains agree on.
        """

    spread: Array | None = None  # (n_topics, n_topics) how far the covariance is from state to state, where known

    def some_spread(self) -> Array | None:
        """The spread, or where no states have told, what is expected of it; None of a model that cannot say."""
        return self.spread

    @property
    def placed(self) -> NDArray[np.bool_]:
        """For each topic whether it takes part in correlations (n_topics,): whether it is told from the origin."""
        return np.ones(self.n_topics, bool)

    @property
    @abstractmethod
    def alpha(self) -> float | None:
        """Top-level concentration, of a model that has it."""

    @property
    @abstractmethod
    def beta(self) -> float | None:
        """Second-level concentration, of a model that has it."""

    @abstractmethod
    def refresh(self, engine: Engine) -> None:
        """Bring up to date what follows from the rest."""

    @abstractmethod
    def fold_in(self, most: int, tolerance: float) -> FoldIn:
        """What documents are inferred from, with at most so many steps for each."""

    def infer(self, counts: TermCounts | csr_array, most: int, tolerance: float, engine: Engine) -> Inferred:
        """Documents seen for the first time, each as if alone; with at most so many steps for each."""
        return self.fold_in(most, tolerance).infer(counts, engine)

    @abstractmethod
    def draws(
        self, counts: csr_array, most: int, tolerance: float, number: int, rng: np.random.Generator, engine: Engine
    ) -> Iterator[tuple[Array, Array]]:
        """Draws from the posterior: topics (n_terms, n_topics) and the documents' proportions (n_docs, n_topics)."""

    @abstractmethod
    def learn(self, documents: Batch | csr_array, step: OnlineStep, engine: Engine) -> float | None:
        """Visit documents, then move the corpus a step towards what they say.

        Returns the mean of ln p(token's term | the document's other tokens), of sampling.
        """

    @abstractmethod
    def grow_terms(self, n_terms: int) -> None:
        """Have so many terms: new ones, that no document has had, come after those that there are.

        gamma_0 of a term stays as it is, so that what a topic says of old terms beside each other does, too: each
        probability is (n_k + V gamma_0) / (n_k + V' gamma_0) times what it was.
        """

    @abstractmethod
    def tensors(self) -> dict[str, Array]:
        """All arrays, by name."""
