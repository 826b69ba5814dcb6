"""A document's location: Newton steps on the concave problem that is left when its weights are profiled out.

With n_k expected tokens and a_k = a0_k + n_k, the document's location u and intercept s maximise

    f(u, s) = sum_k [ n_k psi_k - a_k ln(1 + e^psi_k) ] - |u|^2 / 2,   psi_k = ell_k . u + s        # D6
"""

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from diln.engine.compile import kernel
from diln.inference.data import Array
from diln.prob.gamma import sigmoid_softplus

WORTH_A_ROW = 1e-3  # curvature below which a topic is left out of the Hessian, never of the gradient
HALVINGS = 12
ROUNDING = 1e-14  # of f: without it the last steps, of which f knows nothing, would be refused


def with_intercepts(locations: Array) -> Array:
    """Locations (n_topics, d) as (d+1, n_topics), with a last row of ones for the intercept."""
    return np.ascontiguousarray(np.vstack([locations.T, np.ones(len(locations))]))


def packed_pairs(ells: Array, dtype: Any) -> Array:
    """Products ell_i ell_j, j <= i, of each topic, row by row, without the last: (n_topics, d(d+1)/2 + d)."""
    i, j = np.tril_indices(len(ells))
    return np.ascontiguousarray((ells[i[:-1]] * ells[j[:-1]]).T.astype(dtype))


class Gate(NamedTuple):
    """A document's location, what follows from it, and where a step of it is computed."""

    x: Array  # (d+1,) u and s
    psi: Array  # (n_topics,) ell_k . u + s
    sigma: Array  # (n_topics,) 1 / (1 + e^-psi)
    soft: Array  # (n_topics,) ln(1 + e^psi)
    bits: Array  # (n_topics,) integers, scratch of the functions of psi
    powers: Array  # (n_topics,) the same memory, seen as floats
    gradient: Array  # (d+1,)
    step: Array  # (d+1,)
    moved: Array  # (d+1,)
    matrix: Array  # (d+1, at least d+1) negative Hessian, lower triangle
    row: Array  # (d(d+1)/2 + d,) the same, packed
    used: Array  # (n_topics,) topics that count in it
    rest: Array  # (n_topics,) n - a sigma
    column: Array  # as long as a row of the matrix


@kernel
def new_gate(ells, pairs):  # type: ignore[no-untyped-def]
    """Memory for the locations of documents, at the origin and with every sigma at 1."""
    size, dims = ells.shape[1], ells.shape[0] - 1
    bits, column = np.empty(size, np.int64), np.empty((dims // 4 + 1) * 4)
    return Gate(
        np.zeros(dims + 1), np.empty(size), np.ones(size), np.empty(size), bits, bits.view(np.float64),
        np.empty(dims + 1), np.empty(dims + 1), np.empty(dims + 1), np.zeros((dims + 1, column.size)),
        np.empty(pairs.shape[1], pairs.dtype), np.empty(size, np.int64), np.empty(size), column,
    )  # fmt: skip


@kernel
def open_gate(ells, x, gate):  # type: ignore[no-untyped-def]
    """Set psi, sigma(psi) and ln(1+e^psi) at x = (u, s). psi equals ``ells.T @ x``."""
    psi = gate.psi
    size, dims = psi.size, x.size - 1
    for k in range(size):
        psi[k] = x[dims]
    for i in range(dims):
        for k in range(size):
            psi[k] += x[i] * ells[i, k]
    sigmoid_softplus(psi, gate.sigma, gate.soft, gate.bits, gate.powers, size)


@kernel
def gate_value(x, n, a, psi, soft):  # type: ignore[no-untyped-def]
    """f(u, s). Equals ``n @ psi - a @ soft - x[:-1] @ x[:-1] / 2``."""
    value = 0.0
    for k in range(psi.size):
        value += n[k] * psi[k] - a[k] * soft[k]
    for i in range(x.size - 1):
        value -= 0.5 * x[i] * x[i]
    return value


@kernel
def gate_gradient(ells, x, n, a, sigma, rest, out):  # type: ignore[no-untyped-def]
    """Set ``out`` to the gradient of f, with scratch ``rest`` (n_topics,).

    Equals ``ells @ (n - a * sigma) - np.append(x[:-1], 0)``.
    """
    dims = x.size - 1
    for k in range(sigma.size):
        rest[k] = n[k] - a[k] * sigma[k]
    for i in range(dims + 1):
        total = 0.0
        for k in range(sigma.size):
            total += rest[k] * ells[i, k]
        out[i] = total
    for i in range(dims):
        out[i] -= x[i]


@kernel
def unpack_precision(row, out):  # type: ignore[no-untyped-def]
    """Set the lower triangle of ``out``, but its last entry, to what ``row`` holds packed; adds u's prior of 1."""
    dims = out.shape[0] - 1
    place = 0
    for i in range(dims):
        for j in range(i + 1):
            out[i, j] = row[place]
            place += 1
        out[i, i] += 1.0
    for j in range(dims):
        out[dims, j] = row[place]
        place += 1


@kernel
def gate_curvature(pairs, a, sigma, row, used, out):  # type: ignore[no-untyped-def]
    """Set the lower triangle of ``out`` to about the negative Hessian of f.

    ``pairs`` (n_topics, d(d+1)/2 + d) are the products ell_i ell_j and the ell_i of each topic, packed row by row;
    ``row``, as long, and ``used`` (n_topics,), of integers, are scratch. Topics of hardly any curvature are left out,
    except from the last entry: the result stays positive definite, and Newton's method still ends where the (exact)
    gradient vanishes.
    """
    dims = out.shape[0] - 1
    real = row.dtype.type
    for j in range(row.size):
        row[j] = real(0)
    total, size = 0.0, 0
    for k in range(sigma.size):
        curvature = a[k] * sigma[k] * (1.0 - sigma[k])
        total += curvature
        if curvature > WORTH_A_ROW:
            used[size] = k
            size += 1
    middle = size // 4 * 4
    for i in range(0, middle, 4):
        k0, k1, k2, k3 = used[i], used[i + 1], used[i + 2], used[i + 3]
        c0, c1 = real(a[k0] * sigma[k0] * (1.0 - sigma[k0])), real(a[k1] * sigma[k1] * (1.0 - sigma[k1]))
        c2, c3 = real(a[k2] * sigma[k2] * (1.0 - sigma[k2])), real(a[k3] * sigma[k3] * (1.0 - sigma[k3]))
        for j in range(row.size):
            row[j] += c0 * pairs[k0, j] + c1 * pairs[k1, j] + c2 * pairs[k2, j] + c3 * pairs[k3, j]
    for i in range(middle, size):
        k0 = used[i]
        c0 = real(a[k0] * sigma[k0] * (1.0 - sigma[k0]))
        for j in range(row.size):
            row[j] += c0 * pairs[k0, j]
    unpack_precision(row, out)
    out[dims, dims] = total * (1.0 + 1e-9) + 1e-12


@kernel
def factor_in_place(matrix, x, column):  # type: ignore[no-untyped-def]
    """Factor a matrix L L' by Cholesky's method, given its lower triangle, and replace x by L^-1 x.

    Column by column, each subtracted from what is right of it. Rows are contiguous, no loop is a sum, and the one that
    counts is always as long as a row of the matrix and of ``column``, which is scratch: both may be longer than x. The
    matrix becomes L, with the inverses of its diagonal on the diagonal.
    """
    size = x.size
    for k in range(column.size):
        column[k] = 0.0
    for j in range(size):
        inverse = 1.0 / sqrt(max(matrix[j, j], 1e-12))
        x[j] *= inverse
        column[j] = 0.0
        for i in range(j + 1, size):
            column[i] = matrix[i, j] * inverse
            x[i] -= column[i] * x[j]
        for i in range(j + 1, size):
            factor = column[i]
            for k in range(column.size):
                matrix[i, k] -= factor * column[k]
            matrix[i, j] = factor
        matrix[j, j] = inverse


@kernel
def back_substitute(matrix, x):  # type: ignore[no-untyped-def]
    """Replace x by L'^-1 x, with L as ``factor_in_place`` leaves it."""
    for i in range(x.size - 1, -1, -1):
        x[i] *= matrix[i, i]
        for k in range(i):
            x[k] -= matrix[i, k] * x[i]


@kernel
def solve_in_place(matrix, x, column):  # type: ignore[no-untyped-def]
    """Solve matrix @ y = x, given the lower triangle; y replaces x, and the matrix is used up."""
    factor_in_place(matrix, x, column)
    back_substitute(matrix, x)


@kernel
def gate_step(ells, pairs, n, a, gate):  # type: ignore[no-untyped-def]
    """One Newton step of x = (u, s), halved until f does not fall.

    psi, sigma and soft are those of x, before and after. Returns what a full step promised, g . H^-1 g, in nats.
    """
    x, step, moved, gradient = gate.x, gate.step, gate.moved, gate.gradient
    before = gate_value(x, n, a, gate.psi, gate.soft)
    gate_gradient(ells, x, n, a, gate.sigma, gate.rest, gradient)
    gate_curvature(pairs, a, gate.sigma, gate.row, gate.used, gate.matrix)
    for i in range(x.size):
        step[i] = gradient[i]
    solve_in_place(gate.matrix, step, gate.column)
    promised = 0.0
    for i in range(x.size):
        promised += gradient[i] * step[i]
    share = 1.0
    for _ in range(HALVINGS):
        for i in range(x.size):
            moved[i] = x[i] + share * step[i]
        open_gate(ells, moved, gate)
        if gate_value(moved, n, a, gate.psi, gate.soft) >= before - ROUNDING * abs(before):
            for i in range(x.size):
                x[i] = moved[i]
            return promised
        share *= 0.5
    open_gate(ells, x, gate)
    return promised
