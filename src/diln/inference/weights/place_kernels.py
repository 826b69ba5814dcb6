"""Where documents are: their locations and intercepts, drawn given Polya-Gamma variables, and what topics need of them.

With n_k tokens of topic k and a_k = a0_k + n_k, a document's n are negative binomial, and given omega_k of
PolyaGamma(a_k, psi_k), psi_k = ell_k . u + s, its (u, s) are Gaussian, as are the ell_k given all documents'.
"""

from typing import Any, NamedTuple

import numpy as np

from diln.engine.compile import kernel, overloads
from diln.inference.data import Array
from diln.inference.sampling.documents import TOGETHER
from diln.inference.sampling.tokens import Histograms, Room, count_topics, draw_topics, open_document
from diln.inference.weights.gate import back_substitute, factor_in_place, packed_pairs, unpack_precision
from diln.prob.polya_gamma import draw_matched, gate_terms
from diln.prob.streams import fill_normals, stream

OMEGA = np.uint64(0x6F6D656761)  # turns the key of documents' places into that of their omega
AT_ONCE = 8  # rows that an inner loop adds up: one store for so many products
PLACES_EVERY = 2  # draws of tokens for one of places, which take as long and move less


class GatedWeights(NamedTuple):
    """The corpus for compiled loops."""

    a0: Array  # (width,) float32
    ells: Array  # (d, width) float32; d is 0 for a model without locations
    pairs: Array  # (width, d(d+1)/2 + d) float32: products of x = (ell, 1), packed row by row without the last

    @classmethod
    def of(cls, a0: Array, ells: Array) -> "GatedWeights":
        """With what follows from the locations."""
        longer = np.vstack([ells, np.ones(ells.shape[1], np.float32)])
        return cls(a0.astype(np.float32), ells, packed_pairs(longer, np.float32))


class Places(NamedTuple):
    """Where documents are."""

    u: Array  # (n_docs, d) float32
    s: Array  # (n_docs,) float32


class PlaceSums(NamedTuple):
    """What the topics' locations need of documents."""

    precision: Array  # (width, d(d+1)/2) sum omega u u', packed row by row
    linear: Array  # (d, width) sum ((n - a0)/2 - omega s) u

    @classmethod
    def of(cls, width: int, dims: int, dtype: Any = np.float32) -> "PlaceSums":
        """The sum over no document."""
        return cls(np.zeros((width, dims * (dims + 1) // 2), dtype), np.zeros((dims, width), dtype))


class PlaceRoom(NamedTuple):
    """Memory for loops over documents and topics, and for a document's linear system, in whole vectors."""

    n: Array  # (TOGETHER, width) float32: tokens of each topic
    psi: Array  # (TOGETHER, width) float32
    omega: Array  # (TOGETHER, width) float32
    squares: Array  # (TOGETHER, d(d+1)/2) float32
    matrix: Array
    x: Array
    column: Array
    normals: Array
    row: Array
    topics: Room

    @classmethod
    def of(cls, width: int, dims: int) -> "PlaceRoom":
        """Memory for so many topics and dimensions."""
        n, psi, omega = np.zeros((3, TOGETHER, width), np.float32)
        squares = np.zeros((TOGETHER, dims * (dims + 1) // 2), np.float32)
        long = -(-(dims + 1) // 4) * 4
        matrix, x, column, normals = np.zeros((dims + 1, long)), np.zeros(dims + 1), np.zeros(long), np.zeros(dims + 1)
        row = np.zeros(dims * (dims + 3) // 2, np.float32)
        return cls(n, psi, omega, squares, matrix, x, column, normals, row, Room.of(width))


@kernel
def open_gate(ells, u, s, psi):  # type: ignore[no-untyped-def]
    """Set psi = ell . u + s. Equals ``psi[:] = ells.T @ u + s``."""
    for k in range(psi.size):
        psi[k] = s
    for i in range(u.size):
        for k in range(psi.size):
            psi[k] += u[i] * ells[i, k]


@overloads(open_document)
def _open_gated(weights, docs, m, n, sigma, softs, room):  # type: ignore[no-untyped-def]
    """Of weights with a gate: n are the document's tokens, sigma is that of psi."""
    if getattr(weights, "instance_class", None) is not GatedWeights:
        return None

    def opened(weights, docs, m, n, sigma, softs, room):  # type: ignore[no-untyped-def]
        psi, soft, rate = room.rows[2], room.rows[4], room.rows[5]
        open_gate(weights.ells, docs.places.u[m], docs.places.s[m], psi)
        gate_terms(psi, sigma, soft, rate, room.bits, room.powers, n.size)
        for k in range(n.size):
            softs[k] += soft[k]
        count_topics(docs.topics, docs.tokens.starts[m], docs.tokens.starts[m + 1], n)
        return np.float32(1)

    return opened


@kernel
def draw_omega(docs, first, last, weights, key, room):  # type: ignore[no-untyped-def]
    """Set n and psi (n_docs, n_topics) of documents first to last, and draw their omega.

    omega has the mean and the variance of PolyaGamma(a0 + n, psi).  # G2
    """
    n, psi, rows, bits, powers = room.n, room.psi, room.topics.rows, room.topics.bits, room.topics.powers
    sigma, soft, rate, shape, chances, scale = rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]
    for m in range(first, last):
        row = m - first
        count_topics(docs.topics, docs.tokens.starts[m], docs.tokens.starts[m + 1], n[row])
        open_gate(weights.ells, docs.places.u[m], docs.places.s[m], psi[row])
        gate_terms(psi[row], sigma, soft, rate, bits, powers, rate.size)
        for k in range(rate.size):
            shape[k] = weights.a0[k] + n[row, k]
        state = stream(key ^ OMEGA, docs.names[m])
        draw_matched(state, shape, psi[row], rate, room.omega[row], chances, scale, bits, powers, rate.size)


@kernel
def weighted_pairs(weights, pairs, row):  # type: ignore[no-untyped-def]
    """Set row to the sum of the rows of ``pairs`` by weight. Equals ``row[:] = weights @ pairs``; both in lanes."""
    for j in range(row.size):
        row[j] = 0
    for k in range(0, weights.size, AT_ONCE):
        w0, w1, w2, w3 = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
        w4, w5, w6, w7 = weights[k + 4], weights[k + 5], weights[k + 6], weights[k + 7]
        for j in range(row.size):
            low = w0 * pairs[k, j] + w1 * pairs[k + 1, j] + w2 * pairs[k + 2, j] + w3 * pairs[k + 3, j]
            high = w4 * pairs[k + 4, j] + w5 * pairs[k + 5, j] + w6 * pairs[k + 6, j] + w7 * pairs[k + 7, j]
            row[j] += low + high


@kernel
def draw_places(docs, first, last, weights, key, room):  # type: ignore[no-untyped-def]
    """Draw (u, s) of documents first to last given n and omega (n_docs, n_topics).

    Precision diag(1, ..., 1, 0) + sum_k omega_k x_k x_k', x_k = (ell_k, 1), and linear term
    sum_k (n_k - a0_k)/2 x_k.  # G3

    A document without tokens is left as it is.
    """
    a0, ells, u, matrix, x, normals = weights.a0, weights.ells, docs.places.u, room.matrix, room.x, room.normals
    dims = u.shape[1]
    for m in range(first, last):
        if docs.tokens.starts[m] == docs.tokens.starts[m + 1]:
            continue
        omega, tokens = room.omega[m - first], room.n[m - first]
        weighted_pairs(omega, weights.pairs, room.row)
        total, excess = 0.0, 0.0
        for k in range(omega.size):
            total += omega[k]
            excess += tokens[k] - a0[k]
        unpack_precision(room.row, matrix)
        matrix[dims, dims] = total
        for i in range(dims):
            linear = np.float32(0)
            for k in range(omega.size):
                linear += (tokens[k] - a0[k]) * ells[i, k]
            x[i] = 0.5 * linear
        x[dims] = 0.5 * excess
        factor_in_place(matrix, x, room.column)
        fill_normals(stream(key, docs.names[m]), normals)
        x[dims] += normals[0]
        for i in range(dims):
            x[i] += normals[i + 1]
        back_substitute(matrix, x)
        for i in range(dims):
            u[m, i] = x[i]
        docs.places.s[m] = x[dims]


@kernel
def gather_places(docs, first, last, a0, room, sums):  # type: ignore[no-untyped-def]
    """Add what the topics' locations need of documents first to last.

    precision (n_topics, d(d+1)/2) += sum_m omega_mk u_m u_m', packed row by row, and
    linear (d, n_topics) += sum_m ((n_mk - a0_k)/2 - omega_mk s_m) u_m.  # G4
    """
    starts, u, s, omega, squares, rest = (
        docs.tokens.starts, docs.places.u, docs.places.s, room.omega, room.squares, room.topics.rows[0]
    )  # fmt: skip
    precision, linear = sums.precision, sums.linear
    dims, size = u.shape[1], last - first
    whole = -(-size // AT_ONCE) * AT_ONCE
    for row in range(whole):
        place = 0
        known = row < size and starts[first + row] < starts[first + row + 1]
        for i in range(dims):
            for j in range(i + 1):
                squares[row, place] = u[first + row, i] * u[first + row, j] if known else np.float32(0)
                place += 1
    for row in range(size, whole):
        for k in range(a0.size):
            omega[row, k] = 0
    for k in range(a0.size):
        for b in range(0, whole, AT_ONCE):
            w0, w1, w2, w3 = omega[b, k], omega[b + 1, k], omega[b + 2, k], omega[b + 3, k]
            w4, w5, w6, w7 = omega[b + 4, k], omega[b + 5, k], omega[b + 6, k], omega[b + 7, k]
            for j in range(squares.shape[1]):
                low = w0 * squares[b, j] + w1 * squares[b + 1, j] + w2 * squares[b + 2, j] + w3 * squares[b + 3, j]
                high = w4 * squares[b + 4, j] + w5 * squares[b + 5, j] + w6 * squares[b + 6, j] + w7 * squares[b + 7, j]
                precision[k, j] += low + high
    for row in range(size):
        m = first + row
        if starts[m] < starts[m + 1]:
            for k in range(a0.size):
                rest[k] = np.float32(0.5) * (room.n[row, k] - a0[k]) - omega[row, k] * s[m]
            for i in range(dims):
                for k in range(a0.size):
                    linear[i, k] += rest[k] * u[m, i]


@kernel
def place_documents(docs, weights, key, room, sums):  # type: ignore[no-untyped-def]
    """Draw omega and places of all documents, and add to the sums what topics need of them."""
    n_docs = docs.names.size
    for first in range(0, n_docs, TOGETHER):
        last = min(first + TOGETHER, n_docs)
        draw_omega(docs, first, last, weights, key, room)
        draw_places(docs, first, last, weights, key, room)
        gather_places(docs, first, last, weights.a0, room, sums)


@kernel
def visit_documents(docs, weights, known, keys, burn, late, histograms, sums, room):  # type: ignore[no-untyped-def]
    """Draw tokens and places of documents, a few at a time, as often as there are rows of ``keys``.

    After the first ``burn`` times, add to the histograms and sums, and keep the tokens' topics in ``late``
    (times, n_tokens). Returns the sum of ln p(token's term | the document's other tokens) over the same times.
    """
    starts, n_docs, score = docs.tokens.starts, docs.names.size, 0.0
    unseen = Histograms(np.zeros((histograms.softs.size, 1), np.int64), np.zeros(histograms.softs.size))
    for first in range(0, n_docs, TOGETHER):
        last = min(first + TOGETHER, n_docs)
        total = 0.0
        for time in range(keys.shape[0]):
            kept = time >= burn
            seen = histograms if kept else unseen
            found = draw_topics(docs, first, last, weights, known, False, keys[time, 0], seen, room.topics)
            total += found if kept else 0.0
            if kept:
                for t in range(starts[first], starts[last]):
                    late[time - burn, t] = docs.topics[t]
            if time % PLACES_EVERY == 0:
                continue
            draw_omega(docs, first, last, weights, keys[time, 1], room)
            draw_places(docs, first, last, weights, keys[time, 1], room)
            if kept:
                gather_places(docs, first, last, weights.a0, room, sums)
        score += total
    return score
