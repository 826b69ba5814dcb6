"""The one judge of all tools: how well topics predict the halves of documents that were held out."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from diln import Corpus
from diln.analysis.coherence import count_together, npmi
from diln.engine.threads import Threads
from diln.inference.predict import LEAST, log_likelihood
from diln.inference.progress import in_use
from diln.inference.sampling.fold_in import fold_in
from diln.inference.variational.documents import Limits
from peers.split import read
from peers.watch import Array, State

TURNS, TOLERANCE = 50, 1e-3  # of the fold-in, at most; share of a document's tokens that still move
TOP = 10  # words of a topic that coherence is of


@dataclass
class Judge:
    """Test documents in two halves, and the training documents, in which coherence is counted."""

    train: Corpus
    observed: csr_array
    held_out: csr_array

    @classmethod
    def of(cls, folder: Path) -> "Judge":
        """With the documents that ``split.written`` wrote."""
        return cls(*read(folder))

    def proportions(self, state: State) -> Array:
        """Proportions of topics of the observed halves by the fold-in that all tools have in common."""
        none = np.zeros((len(state.prior), 0))
        with Threads(1) as threads:
            return fold_in(state.topics, state.prior, none, self.observed, Limits(TURNS, TOLERANCE), threads)[0]

    def perplexity(self, state: State, theta: Array) -> float:
        """Of the held-out halves, given proportions of topics."""
        with Threads(1) as threads:
            total = log_likelihood(state.topics, theta, self.held_out, threads).sum()
        return float(np.exp(-total / self.held_out.data.sum()))

    def averaged(self, states: Sequence[tuple[State, Array]]) -> float:
        """Perplexity where each token's probability is the mean over states, each with its proportions."""
        mean = np.mean([token_probabilities(state.topics, theta, self.held_out) for state, theta in states], axis=0)
        total = (self.held_out.data * np.log(np.maximum(mean, LEAST))).sum()
        return float(np.exp(-total / self.held_out.data.sum()))

    def new_words(self, states: Sequence[tuple[State, Array]]) -> float:
        """Perplexity of the held-out terms that a document's observed half lacks, each counted once.

        Probabilities are means over states, each with its proportions, and sum to 1 over the terms that the observed
        half lacks: words that are merely said again count for nothing.
        """
        new, rows = self._new, np.repeat(np.arange(self._new.shape[0]), np.diff(self._new.indptr))
        rest = np.mean([unseen(state.topics, theta, self.observed) for state, theta in states], axis=0)
        mean = np.mean([token_probabilities(state.topics, theta, new) for state, theta in states], axis=0)
        total = np.log(np.maximum(mean, LEAST)).sum() - np.log(np.maximum(rest, LEAST))[rows].sum()
        return float(np.exp(-total / len(rows)))

    @cached_property
    def _new(self) -> csr_array:
        """Ones where a term is in the held-out half and not in the observed one."""
        held_out, observed = (csr_array((counts > 0).astype(np.int32)) for counts in (self.held_out, self.observed))
        new = csr_array(held_out - held_out.multiply(observed))
        new.eliminate_zeros()
        return new

    def coherence(self, state: State) -> float | None:
        """Mean over topics in use of the NPMI of their most probable words in the training documents, if there are."""
        used = np.flatnonzero(in_use(state.tokens))
        if not len(used):
            return None
        first = np.argsort(-state.topics[:, used], axis=0, kind="stable")[:TOP].T
        words = [[self.train.vocabulary[term] for term in terms] for terms in first]
        return float(np.mean([npmi(together) for together in count_together(self.train, words)]))


def token_probabilities(topics: Array, theta: Array, counts: csr_array) -> Array:
    """Probability of each entry's term, in the order of the entries: (n_entries,)."""
    out = np.empty(len(counts.indices))
    for m in range(counts.shape[0]):
        row = slice(counts.indptr[m], counts.indptr[m + 1])
        # not "@", which in single precision has warned of an invalid value, once in thousands, where all are finite
        out[row] = (topics[counts.indices[row]] * theta[m].astype(topics.dtype)).sum(axis=1)
    return out


def unseen(topics: Array, theta: Array, observed: csr_array) -> Array:
    """Probability of all terms that a document does not have: (n_docs,)."""
    seen = csr_array((token_probabilities(topics, theta, observed), observed.indices, observed.indptr), observed.shape)
    return np.asarray(theta @ topics.sum(axis=0, dtype=np.float64) - seen.sum(axis=1))
