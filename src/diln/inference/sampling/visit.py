"""Documents given the corpus: their tokens and places are drawn some times, and what is asked of them is averaged.

The step of stochastic learning and of prediction alike. A document's draws are a function of the corpus, of a key and
of the document's name alone, whatever other documents are visited with it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from diln.engine.compile import kernel
from diln.engine.threads import Threads, cut
from diln.inference.documents import Array
from diln.inference.sampling.corpus_step import LONGEST, Places, Sums
from diln.inference.sampling.places import TOGETHER, draw_places, expect_omega, gather_places
from diln.inference.sampling.state import Documents, State, packed_pairs
from diln.inference.sampling.sweep import add_places, add_sums, no_places, room_for_places, rows_of_topics
from diln.inference.sampling.tokens import Tokens, count_topics, draw_topics, open_gate
from diln.prob.polya_gamma import gate_terms
from diln.prob.streams import GOLD, key_of, mix

IN_A_CALL = 4 * TOGETHER  # documents of a call of a thread


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


@kernel
def visit_documents(  # type: ignore[no-untyped-def]
    indptr, indices, counts, starts, topics, first, last, a0, ells, pairs, u, s, table, totals, prior, keys, names,
    burn, late, shares, places, histogram, softs, precision, linear,
    n, psi, omega, squares, matrix, x, column, normals, row, scratch, bits, powers,
):  # fmt: skip
    """Draw tokens and places of documents first to last, at most TOGETHER, as often as there are rows of ``keys``.

    After the first ``burn`` times, add to shares (n_docs, n_topics), places (n_docs, d), and to the sums that learning
    needs, and keep the tokens' topics in ``late`` (times, n_tokens); each unless it has no rows. Returns the sum of
    ln p(token's term | the document's other tokens) over the same times.
    """
    nothing = np.zeros(softs.size)
    unseen = np.zeros((softs.size, 1), np.int64)
    total = 0.0
    for time in range(keys.shape[0]):
        kept = time >= burn
        learning = kept and late.shape[0] > 0
        seen = histogram if learning else unseen
        score = draw_topics(
            indptr, indices, counts, starts, topics, first, last, a0, ells, u, s, table, totals, prior, False,
            keys[time, 0], names, seen, softs if learning else nothing, scratch, bits, powers,
        )  # fmt: skip
        total += score if kept else 0.0
        expect_omega(topics, starts, first, last, a0, ells, u, s, n, psi, omega, scratch, bits, powers)
        draw_places(
            starts, first, last, a0, ells, pairs, n, omega, keys[time, 1], names, u, s,
            matrix, x, column, normals, row,
        )  # fmt: skip
        if kept and shares.shape[0]:
            add_shares(topics, starts, first, last, a0, ells, u, s, shares, scratch, bits, powers)
            for m in range(first, last):
                for i in range(u.shape[1]):
                    places[m, i] += u[m, i]
        if learning:
            gather_places(starts, first, last, a0, n, omega, u, s, squares, scratch[0], precision, linear)
            for t in range(starts[first], starts[last]):
                late[time - burn, t] = topics[t]
    return total


@dataclass(slots=True)
class Visited:
    """What a visit leaves behind: means over the draws that count."""

    docs: Documents
    shares: Array  # (n_docs, n_topics) expected proportions of topics
    places: Array  # (n_docs, d) expected locations
    late: Array  # (n_draws, n_tokens) topics of the tokens
    sums: Sums  # over documents and draws
    found: Places  # over documents and draws


def visit(
    state: State, docs: Documents, key: tuple[int, ...], draws: int, burn: int, threads: Threads, *, learn: bool
) -> Visited:
    """Draw documents ``draws`` times; for prediction (shares, places), or to learn from (topics and sums)."""
    tokens, width, dims = docs.tokens, state.width, state.n_dims
    keys = np.array([[key_of(*key, time, 0), key_of(*key, time, 1)] for time in range(draws)], np.uint64)
    ranges = cut(len(docs), IN_A_CALL)
    long = int(np.diff(tokens.starts).max(initial=0))
    shares = np.zeros((0 if learn else len(docs), width), np.float32)
    places = np.zeros((0 if learn else len(docs), dims))
    late = np.zeros((draws - burn if learn else 0, tokens.size), np.uint16)
    sums = [Sums(np.zeros((width, min(long + 2, LONGEST) if learn else 1), np.int64), np.zeros(width)) for _ in ranges]
    found = [no_places(width, dims) for _ in ranges]
    given = (state.a0.astype(np.float32), state.ells, packed_pairs(state.ells))

    def step(number: int, first: int, last: int) -> None:
        room = (*room_for_places(width, dims), *rows_of_topics(width))
        for start in range(first, last, TOGETHER):
            sums[number].score += visit_documents(
                tokens.indptr, tokens.indices, tokens.counts, tokens.starts, docs.topics, start,
                min(start + TOGETHER, last), *given, docs.u, docs.s, state.table, state.totals, state.prior, keys,
                docs.names, burn, late, shares, places, sums[number].histogram, sums[number].softs,
                found[number].precision, found[number].linear, *room,
            )  # fmt: skip

    threads.run(step, ranges)
    return Visited(docs, shares, places, late, add_sums(sums), add_places(found))


def predict(state: State, counts: Any, seed: int, draws: int, burn: int, threads: Threads) -> tuple[Array, Array]:
    """Expected proportions (n_docs, n_topics), whose rows sum to 1, and locations (n_docs, d) of documents."""
    tokens = Tokens.of(counts)
    names = np.zeros(len(tokens), np.uint64)
    name_documents(tokens.indptr, tokens.indices, tokens.counts, names)
    docs = Documents.new(tokens, state.n_dims, names)
    visited = visit(state, docs, (seed,), draws, burn, threads, learn=False)
    shares = visited.shares[:, : state.n_topics].astype(np.float64)
    return shares / shares.sum(axis=1, keepdims=True), visited.places / (draws - burn)
