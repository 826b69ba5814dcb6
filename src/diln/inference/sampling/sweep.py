"""One sweep: tokens, then weights, then documents' places, then topics' locations, each drawn given the others."""

from collections.abc import Callable
from queue import SimpleQueue

import numpy as np

from diln.engine.compile import kernel
from diln.engine.fetch import fetch_cell
from diln.engine.threads import Threads, cut
from diln.inference.data import Array
from diln.inference.sampling.corpus_step import LONGEST, Places, Sums
from diln.inference.sampling.places import TOGETHER, draw_omega, draw_places, gather_places
from diln.inference.sampling.state import SampledDocuments, State, packed_pairs
from diln.inference.sampling.tokens import NO_TOPIC, Tokens, draw_topics

BLOCK = 250_000  # tokens that are drawn given the same counts of other blocks
MOST_BLOCKS = 16

Omega = Callable[[Array, Array, int], Array]  # draws of PolyaGamma(shape, psi) for the documents of a piece


@kernel
def count_table(indptr, indices, counts, starts, topics, first, last, table, totals):  # type: ignore[no-untyped-def]
    """Add every token of documents first to last that has a topic to the table and to the totals (n_topics,)."""
    for m in range(first, last):
        t = starts[m]
        for e in range(indptr[m], indptr[m + 1]):
            fetch_cell(table, indices[e], topics[t])
            t += counts[e]
        t = starts[m]
        for e in range(indptr[m], indptr[m + 1]):
            for _ in range(counts[e]):
                if topics[t] != NO_TOPIC:
                    table[indices[e], topics[t]] += 1
                    totals[topics[t]] += 1
                t += 1


def blocks(docs: SampledDocuments) -> list[tuple[int, int]]:
    """Ranges of documents with about as many tokens each; they depend on the documents alone.

    One where there are few tokens, else a multiple of four, so that two or four threads have as much to do each.
    """
    size = docs.tokens.size
    number = 1 if size < 2 * BLOCK else min(4 * -(-size // (4 * BLOCK)), MOST_BLOCKS, len(docs))
    edges = np.searchsorted(docs.tokens.starts, np.linspace(0, size, number + 1)[1:-1])
    edges = np.unique([0, *edges, len(docs)])
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def pieces(n_docs: int) -> list[tuple[int, int]]:
    """Documents of each call of a thread, where they do not depend on each other."""
    return cut(n_docs, max(TOGETHER, -(-n_docs // 32)))


def draw_tokens(state: State, docs: SampledDocuments, key: np.uint64, threads: Threads) -> Sums:
    """Draw every token's topic given all others; the counts follow.

    In blocks of documents: tokens of other blocks are known as they were before the sweep. One block is exact.
    """
    ranges = blocks(docs)
    if len(ranges) == 1:
        return _draw(state, docs, key, ranges[0], state.table, state.totals, learning=True)
    sums: list[Sums | None] = [None] * len(ranges)
    free: SimpleQueue[tuple[Array, Array, Array]] = SimpleQueue()
    rooms = [_room(state) for _ in range(min(threads.n_jobs, len(ranges)))]
    for room in rooms:
        free.put(room)

    def step(number: int, first: int, last: int) -> None:
        room = free.get()
        try:
            before, table, totals = room
            np.copyto(before, state.table)
            sums[number] = _draw(state, docs, key, (first, last), before, state.totals.copy(), learning=True)
            _count(docs, first, last, table, totals)
        finally:
            free.put(room)

    threads.run(step, ranges)
    state.table[:], state.totals[:] = rooms[0][1], rooms[0][2]
    for _, table, totals in rooms[1:]:  # whole numbers: whichever thread counted what, the sums are the same
        state.table += table
        state.totals += totals
    return add_sums([one for one in sums if one is not None])


def _room(state: State) -> tuple[Array, Array, Array]:
    """What a thread works in: a copy of the counts, and counts and totals of what it has drawn."""
    return np.empty_like(state.table), np.zeros_like(state.table), np.zeros_like(state.totals)


def _count(docs: SampledDocuments, first: int, last: int, table: Array, totals: Array) -> None:
    tokens = docs.tokens
    count_table(
        tokens.indptr, tokens.indices, tokens.counts, tokens.starts, docs.topics, first, last, table, totals
    )  # fmt: skip


def draw_given(state: State, docs: SampledDocuments, key: np.uint64, threads: Threads) -> Sums:
    """Draw every token's topic given the corpus' counts, which stay."""
    ranges = pieces(len(docs))
    sums: list[Sums | None] = [None] * len(ranges)

    def step(number: int, first: int, last: int) -> None:
        sums[number] = _draw(state, docs, key, (first, last), state.table, state.totals, learning=False)

    threads.run(step, ranges)
    return add_sums([one for one in sums if one is not None])


def _draw(
    state: State,
    docs: SampledDocuments,
    key: np.uint64,
    piece: tuple[int, int],
    table: Array,
    totals: Array,
    *,
    learning: bool,
) -> Sums:
    first, last = piece
    tokens = docs.tokens
    lengths = np.diff(tokens.starts[first : last + 1])
    longest = int(lengths.max(initial=0))
    sums = Sums(np.zeros((state.width, min(longest + 2, LONGEST)), np.int64), np.zeros(state.width))
    sums.score = draw_topics(
        tokens.indptr, tokens.indices, tokens.counts, tokens.starts, docs.topics, first, last,
        state.a0.astype(np.float32), state.ells, docs.u, docs.s,
        table, totals, state.prior, learning, key, docs.names,
        sums.histogram, sums.softs, *rows_of_topics(state.width),
    )  # fmt: skip
    sums.beyond = beyond(tokens, docs.topics, first, last)
    return sums


def beyond(tokens: Tokens, topics: Array, first: int, last: int) -> list[tuple[int, int]]:
    """Topic and number of tokens where a document has more of it than a histogram's columns hold."""
    long = first + np.flatnonzero(np.diff(tokens.starts[first : last + 1]) >= LONGEST)
    counts = [np.bincount(topics[tokens.starts[m] : tokens.starts[m + 1]]) for m in long]
    return [(int(k), int(one[k])) for one in counts for k in np.flatnonzero(one >= LONGEST)]


def recount(state: State, docs: SampledDocuments) -> None:
    """Set the corpus' counts to those of the documents' tokens."""
    state.table[:] = 0
    state.totals[:] = 0
    _count(docs, 0, len(docs), state.table, state.totals)


def draw_documents(
    state: State, docs: SampledDocuments, key: np.uint64, threads: Threads, omega: Omega | None = None
) -> Places:
    """Draw every document's place given its tokens' topics; what the topics' locations need is added up on the way.

    Polya-Gamma variables are what ``omega`` draws, if given, else numbers with their mean and variance.
    """
    ranges, dims, width = pieces(len(docs)), state.n_dims, state.width
    pairs, a0 = packed_pairs(state.ells), state.a0.astype(np.float32)
    places = [no_places(width, dims) for _ in ranges]
    tokens = docs.tokens

    def step(number: int, first: int, last: int) -> None:
        n, psi, rates, squares, *solving = room_for_places(width, dims)
        rows, bits, powers = rows_of_topics(width)
        for start in range(first, last, TOGETHER):
            stop = min(start + TOGETHER, last)
            where = (tokens.starts, start, stop)
            draw_omega(
                docs.topics, *where, a0, state.ells, docs.u, docs.s, key, docs.names, n, psi, rates,
                rows, bits, powers,
            )  # fmt: skip
            if omega is not None:
                size = stop - start
                rates[:size, : state.n_topics] = omega(
                    state.a0[: state.n_topics] + n[:size, : state.n_topics], psi[:size, : state.n_topics], start
                )
            draw_places(*where, a0, state.ells, pairs, n, rates, key, docs.names, docs.u, docs.s, *solving)
            gather_places(
                *where, a0, n, rates, docs.u, docs.s, squares, rows[0],
                places[number].precision, places[number].linear,
            )  # fmt: skip

    threads.run(step, ranges)
    return add_places(places)


def add_sums(sums: list[Sums]) -> Sums:
    """The sum, in this order."""
    width = max(one.histogram.shape[1] for one in sums)
    out = Sums(np.zeros((len(sums[0].softs), width), np.int64), np.zeros(len(sums[0].softs)))
    for one in sums:
        out.histogram[:, : one.histogram.shape[1]] += one.histogram
        out.softs += one.softs
        out.score += one.score
        out.beyond += one.beyond
    return out


def add_places(places: list[Places]) -> Places:
    """The sum, in this order."""
    out = Places(*(np.zeros(array.shape) for array in (places[0].precision, places[0].linear)))
    for one in places:
        out.precision += one.precision
        out.linear += one.linear
    return out


def no_places(width: int, dims: int) -> Places:
    """The sum over no document."""
    return Places(np.zeros((width, dims * (dims + 1) // 2), np.float32), np.zeros((dims, width), np.float32))


def rows_of_topics(width: int) -> tuple[Array, Array, Array]:
    """Memory for loops over topics: rows, and one of integers that is seen as floats, too."""
    bits = np.zeros(width, np.int32)
    return np.zeros((8, width), np.float32), bits, bits.view(np.float32)


def room_for_places(width: int, dims: int) -> tuple[Array, ...]:
    """Memory for loops over documents and topics, and for a document's linear system, in whole vectors."""
    n, psi, omega = np.zeros((3, TOGETHER, width), np.float32)
    squares = np.zeros((TOGETHER, dims * (dims + 1) // 2), np.float32)
    long = -(-(dims + 1) // 4) * 4
    matrix, x, column, normals = np.zeros((dims + 1, long)), np.zeros(dims + 1), np.zeros(long), np.zeros(dims + 1)
    return n, psi, omega, squares, matrix, x, column, normals, np.zeros(dims * (dims + 3) // 2, np.float32)
