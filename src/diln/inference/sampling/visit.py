"""Documents given the corpus, for a step of stochastic learning: their tokens and places are drawn some times.

A document's draws are a function of the corpus, of a key and of the document's name alone, whatever other documents are
visited with it.
"""

from dataclasses import dataclass, field

import numpy as np

from diln.engine.compile import kernel
from diln.engine.threads import Threads, cut
from diln.inference.data import Array
from diln.inference.sampling.corpus_step import LONGEST, Places, Sums
from diln.inference.sampling.log_weights import draw_all_log_weights, draw_first_log_weights
from diln.inference.sampling.places import TOGETHER, draw_omega, draw_places, gather_places
from diln.inference.sampling.state import SampledDocuments, State, packed_pairs
from diln.inference.sampling.sweep import (
    add_places,
    add_sums,
    beyond,
    draw_given,
    no_places,
    room_for_places,
    rows_of_topics,
)
from diln.inference.sampling.tokens import draw_topics
from diln.prob.streams import key_of

PLACES_EVERY = 2  # draws of tokens for one of places, which take as long and move less
IN_A_CALL = 4 * TOGETHER  # documents of a call of a thread


@kernel
def visit_documents(  # type: ignore[no-untyped-def]
    indptr, indices, counts, starts, topics, first, last, a0, ells, pairs, u, s, table, totals, prior, keys, names,
    burn, late, histogram, softs, precision, linear,
    n, psi, omega, squares, matrix, x, column, normals, row, scratch, bits, powers,
):  # fmt: skip
    """Draw tokens and places of documents first to last, at most TOGETHER, as often as there are rows of ``keys``.

    After the first ``burn`` times, add to the sums and keep the tokens' topics in ``late`` (times, n_tokens). Returns
    the sum of ln p(token's term | the document's other tokens) over the same times.
    """
    nothing = np.zeros(softs.size)
    unseen = np.zeros((softs.size, 1), np.int64)
    total = 0.0
    for time in range(keys.shape[0]):
        kept = time >= burn
        score = draw_topics(
            indptr, indices, counts, starts, topics, first, last, a0, ells, u, s, table, totals, prior, False,
            keys[time, 0], names, histogram if kept else unseen, softs if kept else nothing, scratch, bits, powers,
        )  # fmt: skip
        total += score if kept else 0.0
        if kept:
            for t in range(starts[first], starts[last]):
                late[time - burn, t] = topics[t]
        if time % PLACES_EVERY == 0:
            continue
        draw_omega(
            topics, starts, first, last, a0, ells, u, s, keys[time, 1], names, n, psi, omega,
            scratch, bits, powers,
        )  # fmt: skip
        draw_places(
            starts, first, last, a0, ells, pairs, n, omega, keys[time, 1], names, u, s,
            matrix, x, column, normals, row,
        )  # fmt: skip
        if kept:
            gather_places(starts, first, last, a0, n, omega, u, s, squares, scratch[0], precision, linear)
    return total


@dataclass(slots=True)
class Visited:
    """What a visit leaves behind, of the draws that count."""

    docs: SampledDocuments
    late: Array  # (n_draws, n_tokens) topics of the tokens
    sums: Sums  # over documents and draws
    found: Places  # over documents and draws, as if places had been drawn as often as tokens
    moments: Array = field(default_factory=lambda: np.zeros((0, 0)))  # over documents and draws, of log weights


def visit(
    state: State, docs: SampledDocuments, key: tuple[int, ...], draws: int, burn: int, threads: Threads
) -> Visited:
    """Draw documents ``draws`` times, of which the first ``burn`` do not count."""
    if state.weighed:
        return visit_weighed(state, docs, key, draws, burn, threads)
    tokens, width, dims = docs.tokens, state.width, state.n_dims
    keys = np.array([[key_of(*key, time, 0), key_of(*key, time, 1)] for time in range(draws)], np.uint64)
    ranges = cut(len(docs), IN_A_CALL)
    long = min(int(np.diff(tokens.starts).max(initial=0)) + 2, LONGEST)
    late = np.zeros((draws - burn, tokens.size), np.uint16)
    sums = [Sums(np.zeros((width, long), np.int64), np.zeros(width)) for _ in ranges]
    found = [no_places(width, dims) for _ in ranges]
    given = (state.a0.astype(np.float32), state.ells, packed_pairs(state.ells))

    def step(number: int, first: int, last: int) -> None:
        room = (*room_for_places(width, dims), *rows_of_topics(width))
        for start in range(first, last, TOGETHER):
            sums[number].score += visit_documents(
                tokens.indptr, tokens.indices, tokens.counts, tokens.starts, docs.topics, start,
                min(start + TOGETHER, last), *given, docs.u, docs.s, state.table, state.totals, state.prior, keys,
                docs.names, burn, late, sums[number].histogram, sums[number].softs,
                found[number].precision, found[number].linear, *room,
            )  # fmt: skip

    threads.run(step, ranges)
    total = add_sums(sums)
    found_all = add_places(found)
    drawn = sum(time % PLACES_EVERY != 0 for time in range(burn, draws))
    found_all.precision *= (draws - burn) / drawn
    found_all.linear *= (draws - burn) / drawn
    total.beyond = [pair for topics in late for pair in beyond(tokens, topics, 0, len(docs))]
    return Visited(docs, late, total, found_all)


def visit_weighed(
    state: State, docs: SampledDocuments, key: tuple[int, ...], draws: int, burn: int, threads: Threads
) -> Visited:
    """The same of documents with log weights."""
    draw_first_log_weights(state, docs, key_of(*key, draws, 1), threads)
    late = np.zeros((draws - burn, docs.tokens.size), np.uint16)
    sums, moments = [], np.zeros((1 + state.n_topics, 1 + state.n_topics))
    for time in range(draws):
        drawn = draw_given(state, docs, key_of(*key, time, 0), threads)
        found = draw_all_log_weights(state, docs, key_of(*key, time, 1), threads)
        if time >= burn:
            late[time - burn] = docs.topics
            moments += found
            sums.append(drawn)
    return Visited(docs, late, add_sums(sums), no_places(state.width, 0), moments)
