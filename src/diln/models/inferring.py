"""What is asked of documents in parts, wherever a part is worked on: proportions, locations, and halves completed."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.engine.base import Engine
from diln.inference import predict
from diln.inference.data import Array, Batch
from diln.inference.posterior import FoldIn
from diln.models.batches import HalvesPart
from diln.models.counts import Halves

Floats = NDArray[np.float64]


def check_columns(n_columns: int, n_terms: int) -> None:
    """Raise unless there are as many columns as the model has terms."""
    if n_columns != n_terms:
        raise ValueError(
            f"the counts have {n_columns:,} columns but the model knows {n_terms:,} terms; count the documents with "
            "vocabulary=model.vocabulary_"
        )


def tokens_of(counts: csr_array) -> Floats:
    """Tokens of each document."""
    return np.asarray(counts.sum(axis=1, dtype=np.float64))


def checked_halves(part: HalvesPart, n_terms: int) -> Halves:
    """What is observed and what is held out of documents, over so many terms."""
    observed, held_out = part.halves()
    for counts in (held_out, observed):
        check_columns(counts.shape[1], n_terms)
    return observed, held_out


def step_transform(part: Batch, fold_in: FoldIn, engine: Engine) -> tuple[Floats, Floats]:
    """The number of tokens of each document, and its proportions of topics; rows sum to 1."""
    counts = part.counts()
    return tokens_of(counts), fold_in.infer(counts, engine).proportions


def step_locate(part: Batch, fold_in: FoldIn, engine: Engine) -> Floats:
    """The locations of documents."""
    return fold_in.infer(part.counts(), engine).locations


class Completing(NamedTuple):
    """What documents are completed with."""

    draws: list[tuple[FoldIn, Array]]  # what they are inferred from, and topics (n_terms, n_topics)

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return len(self.draws[0][1])


def step_complete(part: HalvesPart, given: Completing, engine: Engine) -> tuple[Floats, Floats]:
    """The log probability of each document's held-out tokens, averaged over draws, and their number."""
    observed, held_out = checked_halves(part, given.n_terms)
    drawn = ((topics, fold_in.infer(observed, engine).proportions) for fold_in, topics in given.draws)
    return predict.mean_log_likelihood(drawn, held_out, engine), tokens_of(held_out)


def step_complete_sums(part: HalvesPart, given: Completing, engine: Engine) -> tuple[float, float]:
    """The sums of both over documents."""
    return added(*step_complete(part, given, engine))


def added(values: Floats, tokens: Floats) -> tuple[float, float]:
    """Both sums."""
    return float(values.sum()), float(tokens.sum())
