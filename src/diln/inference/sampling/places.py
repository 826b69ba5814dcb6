"""Where documents are: their locations and intercepts, drawn given Polya-Gamma variables, and what topics need of them.

With n_k tokens of topic k and a_k = a0_k + n_k, a document's n are negative binomial, and given omega_k of
PolyaGamma(a_k, psi_k), psi_k = ell_k . u + s, its (u, s) are Gaussian, as are the ell_k given all documents'.
"""

import numpy as np

from diln.engine.compile import kernel
from diln.inference.sampling.tokens import count_topics, open_gate
from diln.inference.weights.gate import back_substitute, factor_in_place, unpack_precision
from diln.prob.polya_gamma import draw_matched, gate_terms
from diln.prob.streams import fill_normals, stream

TOGETHER = 32  # documents whose tokens by topic are laid out at once
OMEGA = np.uint64(0x6F6D656761)  # turns the key of documents' places into that of their omega
AT_ONCE = 8  # rows that an inner loop adds up: one store for so many products


@kernel
def draw_omega(  # type: ignore[no-untyped-def]
    topics, starts, first, last, a0, ells, u, s, key, names, n, psi, omega, scratch, bits, powers
):
    """Set n and psi (n_docs, n_topics) of documents first to last, and draw their omega.

    omega has the mean and the variance of PolyaGamma(a0 + n, psi).  # G2
    """
    sigma, soft, rate, shape, chances, scale = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5]
    for m in range(first, last):
        row = m - first
        count_topics(topics, starts[m], starts[m + 1], n[row])
        open_gate(ells, u[m], s[m], psi[row])
        gate_terms(psi[row], sigma, soft, rate, bits, powers, rate.size)
        for k in range(rate.size):
            shape[k] = a0[k] + n[row, k]
        state = stream(key ^ OMEGA, names[m])
        draw_matched(state, shape, psi[row], rate, omega[row], chances, scale, bits, powers, rate.size)


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
def draw_places(  # type: ignore[no-untyped-def]
    starts, first, last, a0, ells, pairs, n, omega, key, names, u, s, matrix, x, column, normals, row
):
    """Draw (u, s) of documents first to last given n and omega (n_docs, n_topics).

    Precision diag(1, ..., 1, 0) + sum_k omega_k x_k x_k', x_k = (ell_k, 1), and linear term
    sum_k (n_k - a0_k)/2 x_k.  # G3

    ``pairs`` (n_topics, d(d+1)/2 + d) are the products of x_k packed row by row, without the last. A document without
    tokens is left as it is.
    """
    dims = u.shape[1]
    for m in range(first, last):
        if starts[m] == starts[m + 1]:
            continue
        weights, tokens = omega[m - first], n[m - first]
        weighted_pairs(weights, pairs, row)
        total, excess = 0.0, 0.0
        for k in range(weights.size):
            total += weights[k]
            excess += tokens[k] - a0[k]
        unpack_precision(row, matrix)
        matrix[dims, dims] = total
        for i in range(dims):
            linear = np.float32(0)
            for k in range(weights.size):
                linear += (tokens[k] - a0[k]) * ells[i, k]
            x[i] = 0.5 * linear
        x[dims] = 0.5 * excess
        factor_in_place(matrix, x, column)
        fill_normals(stream(key, names[m]), normals)
        x[dims] += normals[0]
        for i in range(dims):
            x[i] += normals[i + 1]
        back_substitute(matrix, x)
        for i in range(dims):
            u[m, i] = x[i]
        s[m] = x[dims]


@kernel
def gather_places(starts, first, last, a0, n, omega, u, s, squares, rest, precision, linear):  # type: ignore[no-untyped-def]
    """Add what the topics' locations need of documents first to last.

    precision (n_topics, d(d+1)/2) += sum_m omega_mk u_m u_m', packed row by row, and
    linear (d, n_topics) += sum_m ((n_mk - a0_k)/2 - omega_mk s_m) u_m.  # G4

    ``squares`` (at least as many as documents in whole AT_ONCE, d(d+1)/2) and ``rest`` (n_topics,) are scratch.
    """
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
                rest[k] = np.float32(0.5) * (n[row, k] - a0[k]) - omega[row, k] * s[m]
            for i in range(dims):
                for k in range(a0.size):
                    linear[i, k] += rest[k] * u[m, i]
