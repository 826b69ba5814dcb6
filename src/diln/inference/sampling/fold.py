"""What a model says of documents it has not seen: their tokens and places are drawn given the topics, and averaged.

A document's draws are a function of the document and the model alone: its stream is named by what it holds.
"""

from dataclasses import dataclass

import numpy as np

from diln.engine.compile import kernel
from diln.engine.threads import Threads
from diln.inference.documents import Array
from diln.inference.sampling.state import Documents, State, scratch
from diln.inference.sampling.sweep import draw_documents, draw_given, pieces
from diln.inference.sampling.tokens import Tokens, count_topics, open_gate
from diln.prob.polya_gamma import gate_terms
from diln.prob.streams import GOLD, key_of, mix

SWEEPS = 40
BURN = 10  # of them not averaged


@kernel
def name_documents(indptr, indices, counts, names):  # type: ignore[no-untyped-def]
    """Set names (n_docs,) to numbers that follow from each document's terms and counts."""
    for m in range(names.size):
        name = np.uint64(0)
        for e in range(indptr[m], indptr[m + 1]):
            name = mix(name + np.uint64(indices[e]) + GOLD)
            name = mix(name + np.uint64(counts[e]) + GOLD)
        names[m] = name


@kernel
def add_shares(topics, starts, first, last, a0, ells, u, s, out, scratch, bits, powers):  # type: ignore[no-untyped-def]
    """Add to ``out`` (n_docs, n_topics) the proportions of topics that are expected given tokens and places.

    Proportional to (a0_k + n_mk) sigma(psi_mk).  # G9
    """
    n, psi, sigma, soft, rate = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    for m in range(first, last):
        count_topics(topics, starts[m], starts[m + 1], n)
        open_gate(ells, u[m], s[m], psi)
        gate_terms(psi, sigma, soft, rate, bits, powers, psi.size)
        for k in range(psi.size):
            n[k] = (a0[k] + n[k]) * sigma[k]
        total = np.float32(0)
        for k in range(psi.size):
            total += n[k]
        for k in range(psi.size):
            out[m, k] += n[k] / total


@dataclass(slots=True)
class Folded:
    """Documents as the model sees them."""

    proportions: Array  # (n_docs, n_topics) expected; rows sum to 1
    locations: Array  # (n_docs, d) expected


def fold_in(state: State, counts: Array, seed: int, threads: Threads, sweeps: int = SWEEPS, burn: int = BURN) -> Folded:
    """Average over ``sweeps - burn`` draws of the documents' tokens and places, given the corpus."""
    tokens = Tokens.of(counts)
    names = np.zeros(len(tokens), np.uint64)
    name_documents(tokens.indptr, tokens.indices, tokens.counts, names)
    docs = Documents.new(tokens, state.n_dims, names)
    shares, places = np.zeros((len(docs), state.width)), np.zeros((len(docs), state.n_dims))
    a0 = state.a0.astype(np.float32)

    def step(number: int, first: int, last: int) -> None:
        add_shares(
            docs.topics, tokens.starts, first, last, a0, state.ells, docs.u, docs.s, shares, *scratch(state.width)
        )

    for sweep in range(sweeps):
        draw_given(state, docs, key_of(seed, sweep, 0), threads)
        draw_documents(state, docs, key_of(seed, sweep, 1), threads)
        if sweep >= burn:
            threads.run(step, pieces(len(docs)))
            places += docs.u
    shares = shares[:, : state.n_topics]
    return Folded(shares / shares.sum(axis=1, keepdims=True), places / (sweeps - burn))
