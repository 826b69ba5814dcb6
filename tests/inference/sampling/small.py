"""Small problems for the sampler, and the memory that its kernels want."""

import numpy as np
from diln.inference.sampling.corpus_step import LONGEST
from scipy.sparse import csr_array

from diln.inference.sampling.state import SampledDocuments, State
from diln.inference.sampling.tokens import Tokens, draw_topics, padded


def rows_for(width):
    """Rows of topics, and one of integers that is seen as floats, too; what is in them must not count."""
    bits = np.full(width + 16, -1, np.int32)
    return np.full((8, width), np.nan, np.float32), bits, bits.view(np.float32)


def some_counts(rng, n_docs, n_terms, mean=2.0, empty=()):
    counts = rng.poisson(mean, (n_docs, n_terms)) * (rng.random((n_docs, n_terms)) < 0.4)
    counts[list(empty)] = 0
    return csr_array(counts)


def some_documents(rng, counts, n_topics, n_dims=0, spread=1.0):
    """Documents anywhere, each token with a topic."""
    docs = SampledDocuments.new(Tokens.of(counts), n_dims, np.arange(counts.shape[0]) + 7)
    docs.topics[:] = rng.integers(n_topics, size=len(docs.topics))
    docs.u[:] = rng.normal(size=docs.u.shape) * spread
    docs.s[:] = rng.normal(size=docs.s.shape) * spread
    return docs


def some_state(rng, docs, n_topics, n_dims=0, prior=0.1, spread=1.0, a0=None):
    """A corpus whose counts are those of the documents."""
    weights = rng.gamma(0.5, size=n_topics) + 1e-3 if a0 is None else a0
    state = State.empty(docs.tokens.n_terms, n_topics, weights, prior, 1.0, 1.0)
    state.ells = np.zeros((n_dims, padded(n_topics)), np.float32)
    state.ells[:, :n_topics] = rng.normal(size=(n_dims, n_topics)) * spread
    state.table[:], state.totals[:] = counted(docs, state.width)
    return state


def terms_of(tokens):
    """Term (n_tokens,) of each token."""
    return np.repeat(tokens.indices, tokens.counts)


def docs_of(tokens):
    """Document (n_tokens,) of each token."""
    return np.repeat(np.arange(len(tokens)), np.diff(tokens.starts))


def counted(docs, width):
    """Counts (n_terms, width) of the documents' tokens, and their totals (width,)."""
    table = np.zeros((docs.tokens.n_terms, width))
    np.add.at(table, (terms_of(docs.tokens), docs.topics), 1)
    return table, table.sum(axis=0)


def counts_by_document(docs, width):
    """n (n_docs, width)."""
    n = np.zeros((len(docs), width))
    np.add.at(n, (docs_of(docs.tokens), docs.topics), 1)
    return n


def gates(state, docs):
    """psi (n_docs, width) in double precision."""
    return docs.u.astype(float) @ state.ells.astype(float) + docs.s[:, None].astype(float)


def draw(state, docs, key, learning=True, first=0, last=None, columns=LONGEST):
    """Draw topics by the kernel itself: histogram, softs and score; the arrays of state and docs follow."""
    tokens, width = docs.tokens, state.width
    histogram, softs = np.zeros((width, columns), np.int64), np.zeros(width)
    score = draw_topics(
        tokens.indptr, tokens.indices, tokens.counts, tokens.starts, docs.topics, first,
        len(docs) if last is None else last, state.a0.astype(np.float32), state.ells, docs.u, docs.s, state.table,
        state.totals, state.prior, learning, key, docs.names, histogram, softs, *rows_for(width),
    )  # fmt: skip
    return histogram, softs, score
