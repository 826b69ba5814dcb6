"""New documents given the topics: the point at which expected tokens, location and intercept agree with each other.

Tokens are spread over topics by their probabilities instead of being drawn, so the result follows from the document and
the model alone. It predicts better than averages of draws, which take long to come by for a document.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from diln.engine.base import Engine, run
from diln.engine.compile import kernel
from diln.inference.data import Array, Entries, TermCounts
from diln.inference.variational.document_step import GammaCorpus, new_workspace, token_step
from diln.inference.variational.documents import Limits
from diln.inference.weights.gate import gate_step, new_gate, open_gate

GATE_EVERY = 2  # turns from one step of a document's location to the next
GATE_NATS = 1e-2  # a location step that promises less is the last
OVER = 1.6  # times as far as a turn leads is gone: turns are steps of EM, which go the right way and stop short


class NewDocuments(NamedTuple):
    """Documents that one call of ``fold_in_documents`` is for, and where it leaves what it finds."""

    entries: Entries
    proportions: Array  # (n_docs, n_topics)
    locations: Array  # (n_docs, d)
    ratio: Array  # (n_entries,) scratch


@kernel
def distance(fresh, n):  # type: ignore[no-untyped-def]
    """How many tokens change their topic from n to the fresh ones, twice. Equals ``np.abs(fresh - n).sum()``."""
    change = 0.0
    for k in range(n.size):
        change += abs(fresh[k] - n[k])
    return change


@kernel
def go_beyond(fresh, over, a0, n, a):  # type: ignore[no-untyped-def]
    """Move n towards the fresh ones and beyond, and a with it.

    Equals ``n[:] = np.maximum(n + over * (fresh - n), 0); a[:] = a0 + n``.
    """
    for k in range(n.size):
        n[k] = max(n[k] + over * (fresh[k] - n[k]), 0.0)
        a[k] = a0[k] + n[k]


@kernel
def take_turns(m, length, shard, corpus, space, gate):  # type: ignore[no-untyped-def]
    """The turns of one document.

    In turn: n_k = sum over tokens of p(topic k), proportional to (a0_k + n_k) sigma(psi_k) topic_k(term)  # G9; every
    few turns a Newton step of (u, s) given n  # D6. It ends when the mean change of n falls below the tolerance and
    its location has settled, or after the most turns.

    Given the location, a turn is a step of EM for sum_w count_w ln sum_k a_k sigma_k topic_k(w) + sum_k a0_k ln a_k,
    which is concave, so that near its end a turn leaves between none and all of an error, and one that goes ``OVER``
    times as far between 1 - OVER and all of it: it ends at the same place, sooner. Should n change more than in the
    turn before while the location stays, the rest of the turns go as far as they lead.
    """
    entries, topics, (most, tolerance) = shard.entries, corpus.topics, corpus.limits
    n, a, theta, fresh = space.n, space.a, space.theta, space.fresh
    start, stop = entries.indptr[m], entries.indptr[m + 1]
    real = topics.dtype.type
    gated = gate.x.size > 1
    over, before = OVER, np.inf
    for turn in range(most):
        for k in range(n.size):
            theta[k] = real(a[k] * gate.sigma[k])
        token_step(entries.indices, entries.counts, start, stop, topics, theta, fresh, shard.ratio)
        change = distance(fresh, n)
        if change > before:
            over = 1.0
        before = change
        go_beyond(fresh, over if turn > 0 else 1.0, corpus.a0, n, a)
        settled = change < tolerance * length
        if gated and (settled or turn % GATE_EVERY == GATE_EVERY - 1):
            promised = gate_step(corpus.ells, corpus.pairs, n, a, gate)
            settled = settled and promised < GATE_NATS
            before = np.inf
        if settled:
            break


@kernel
def fold_in_documents(shard, corpus):  # type: ignore[no-untyped-def]
    """Set proportions and locations of a shard's documents; one without tokens is left at the prior.

    A document begins with its tokens spread as the prior has them, at the origin.
    """
    entries, proportions, locations, _ = shard
    a0, ells = corpus.a0, corpus.ells
    size, dims = a0.size, ells.shape[0] - 1
    space, gate = new_workspace(corpus.topics, corpus.integers), new_gate(ells, corpus.pairs)
    n, a, x, sigma = space.n, space.a, gate.x, gate.sigma
    beta = 0.0
    for k in range(size):
        beta += a0[k]
    for m in range(locations.shape[0]):
        start, stop = entries.indptr[m], entries.indptr[m + 1]
        length = 0.0
        for j in range(start, stop):
            length += entries.counts[j]
        for k in range(size):
            n[k] = length * a0[k] / beta
            a[k] = a0[k] + n[k]
            sigma[k] = 1.0
        for i in range(dims):
            x[i] = 0.0
        if stop > start:
            x[dims] = np.log(max(length, 1e-300) / beta)
            if dims > 0:
                open_gate(ells, x, gate)
            take_turns(m, length, shard, corpus, space, gate)
        total = 0.0
        for k in range(size):
            total += a[k] * sigma[k]
        for k in range(size):
            proportions[m, k] = a[k] * sigma[k] / total
        for i in range(dims):
            locations[m, i] = x[i]


def step_fold_in(shard: NewDocuments, corpus: GammaCorpus) -> None:
    """``fold_in_documents`` as an engine takes it: a function that another process finds by its name."""
    fold_in_documents(shard, corpus)


def fold_in(
    topics: Array, a0: Array, locations: Array, counts: TermCounts | csr_array, limits: Limits, engine: Engine
) -> tuple[Array, Array]:
    """Proportions (n_docs, n_topics), whose rows sum to 1, and locations (n_docs, d), given topics (n_terms, n_topics).

    The tolerance is a share of a document's tokens.
    """
    batch = TermCounts.of(counts)
    proportions, places = np.empty((len(batch), len(a0))), np.empty((len(batch), locations.shape[1]))

    def shard(first: int, last: int) -> NewDocuments:
        entries = batch.entries(first, last)
        ratio = np.empty(len(entries.counts), topics.dtype)
        return NewDocuments(entries, proportions[first:last], places[first:last], ratio)

    corpus = GammaCorpus.of(topics, a0, locations, limits)
    run(engine, step_fold_in, [shard(*piece) for piece in batch.pieces], corpus)
    return proportions, places
