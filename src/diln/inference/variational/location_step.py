"""Topic locations: for each topic the regression over documents that a document's location is over topics.

Topic k's location maximises, over documents m with covariates u_m and offsets s_m,

    sum_m [ n_mk psi_mk - a_mk ln(1 + e^psi_mk) ] - |ell_k|^2 / (2 c),   psi_mk = ell_k . u_m + s_m         # D10
"""

import numpy as np

from diln.engine.compile import kernel
from diln.inference.weights.gate import solve_in_place
from diln.prob.gamma import sigmoid_softplus

TILE = 256
HALVINGS = 12
SAFE = 0.6  # change of psi, below ln 2


@kernel
def topic_values(  # type: ignore[no-untyped-def]
    n, a0, covariates, offsets, ell, precision, scale, slopes, gradient, matrix, work, weighted, bits
):
    """Objective of one topic's location and, if ``slopes``, its gradient and its negative Hessian (lower triangle).

    ``covariates`` (d, n_docs) are the documents' locations, in the precision that the Hessian is summed in; sums over
    documents are multiplied by ``scale``, the prior is not. ``work`` (5, TILE), ``weighted`` (TILE,) like covariates
    and ``bits`` (TILE,) are scratch. Documents without tokens have covariates of 0 and an offset far below 0, and so
    no part in it.
    """
    real = covariates.dtype.type
    dims, documents = covariates.shape
    psi, sigma, soft, rest, curvature = work[0], work[1], work[2], work[3], work[4]
    powers = bits.view(np.float64)
    value = 0.0
    if slopes:
        gradient[:] = 0.0
        matrix[:] = 0.0
    for first in range(0, documents, TILE):
        size = min(TILE, documents - first)
        for m in range(size):
            psi[m] = offsets[first + m]
        for i in range(dims):
            for m in range(size):
                psi[m] += ell[i] * covariates[i, first + m]
        sigmoid_softplus(psi, sigma, soft, bits, powers, size)
        for m in range(size):
            tokens = np.float64(n[first + m])
            a = a0 + tokens
            value += tokens * psi[m] - a * soft[m]
        if not slopes:
            continue
        for m in range(size):
            a = a0 + np.float64(n[first + m])
            rest[m] = np.float64(n[first + m]) - a * sigma[m]
            curvature[m] = a * sigma[m] * (1.0 - sigma[m])
        for i in range(dims):
            slope = 0.0
            for m in range(size):
                slope += rest[m] * covariates[i, first + m]
            for m in range(size):
                weighted[m] = real(curvature[m]) * covariates[i, first + m]
            gradient[i] += slope
            for j in range(i + 1):
                total = real(0)
                for m in range(size):
                    total += weighted[m] * covariates[j, first + m]
                matrix[i, j] += total
    value *= scale
    for i in range(dims):
        value -= 0.5 * precision * ell[i] * ell[i]
        if slopes:
            gradient[i] = scale * gradient[i] - precision * ell[i]
            for j in range(i + 1):
                matrix[i, j] *= scale
            matrix[i, i] += precision
    return value


@kernel
def location_step(  # type: ignore[no-untyped-def]
    tokens, a0, covariates, offsets, longest, precision, scale, first, last, ells, out
):
    """Set ``out`` of topics first to last to a Newton step from ``ells`` (n_topics, d), halved until it does not hurt.

    ``tokens`` (n_topics, n_docs) are the expected tokens n, ``longest`` is the largest |u_m|. A step that moves no psi
    by ln 2 cannot hurt and is not checked: curvatures change by less than a factor of 2 along it, since
    |d ln sigma(1-sigma) / d psi| <= 1.
    """
    dims = covariates.shape[0]
    gradient, step, moved, column = np.empty(dims), np.empty(dims), np.empty(dims), np.empty((dims + 3) // 4 * 4)
    matrix = np.zeros((dims, column.size))
    work, weighted, bits = np.empty((5, TILE)), np.empty(TILE, covariates.dtype), np.empty(TILE, np.int64)
    before = 0.0
    for k in range(first, last):
        n = tokens[k]
        for i in range(dims):
            moved[i] = ells[k, i]
            out[k, i] = ells[k, i]
        for turn in range(1 + HALVINGS):
            slopes = turn == 0
            value = topic_values(
                n, a0[k], covariates, offsets, moved, precision, scale, slopes, gradient, matrix, work, weighted, bits
            )
            if slopes:
                before = value
                for i in range(dims):
                    step[i] = gradient[i]
                solve_in_place(matrix, step, column)
                length = 0.0
                for i in range(dims):
                    length += step[i] * step[i]
                if longest * longest * length < SAFE * SAFE:
                    for i in range(dims):
                        out[k, i] = ells[k, i] + step[i]
                    break
            elif value >= before:
                for i in range(dims):
                    out[k, i] = moved[i]
                break
            for i in range(dims):
                moved[i] = ells[k, i] + 0.5**turn * step[i]
