"""Topic locations: for each topic the regression over documents that a document's location is over topics.

Topic k's location maximises, over documents m with covariates u_m and offsets s_m,

    sum_m [ n_mk psi_mk - a_mk ln(1 + e^psi_mk) ] - |ell_k|^2 / (2 c),   psi_mk = ell_k . u_m + s_m         # D10
"""

from typing import NamedTuple

import numpy as np

from diln.engine.compile import kernel
from diln.inference.data import Array
from diln.inference.weights.gate import solve_in_place
from diln.prob.gamma import sigmoid_softplus

TILE = 256
HALVINGS = 12
SAFE = 0.6  # change of psi, below ln 2


class LocatedDocuments(NamedTuple):
    """Where documents are, and how they and the prior count.

    Documents without tokens have covariates of 0 and an offset far below 0, and so no part in it.
    """

    covariates: Array  # (d, n_docs) locations u, in the precision that the Hessian is summed in
    offsets: Array  # (n_docs,) intercepts s
    longest: float  # the largest |u_m|
    precision: float  # 1/c of the prior
    scale: float  # what sums over documents are multiplied by; the prior is not


class TopicShard(NamedTuple):
    """Topics that one call of ``location_step`` is for."""

    tokens: Array  # (n_topics, n_docs) expected tokens n
    a0: Array  # (n_topics,)
    ells: Array  # (n_topics, d) their locations
    moved: Array  # (n_topics, d) where the step leaves the new ones


class Slopes(NamedTuple):
    """Gradient and Hessian of a topic's location, and where they are computed."""

    gradient: Array  # (d,)
    matrix: Array  # (d, at least d) negative Hessian, lower triangle
    work: Array  # (5, TILE)
    weighted: Array  # (TILE,) like covariates
    bits: Array  # (TILE,) of integers


@kernel
def new_slopes(covariates):  # type: ignore[no-untyped-def]
    """Memory for gradients and Hessians."""
    dims = covariates.shape[0]
    matrix = np.zeros((dims, (dims + 3) // 4 * 4))
    return Slopes(
        np.empty(dims), matrix, np.empty((5, TILE)), np.empty(TILE, covariates.dtype), np.empty(TILE, np.int64)
    )  # fmt: skip


@kernel
def topic_values(n, a0, ell, documents, sloped, slopes):  # type: ignore[no-untyped-def]
    """Objective of one topic's location and, if ``sloped``, its gradient and its negative Hessian (lower triangle)."""
    covariates, offsets, _, precision, scale = documents
    gradient, matrix, work, weighted, bits = slopes
    real = covariates.dtype.type
    dims, n_docs = covariates.shape
    psi, sigma, soft, rest, curvature = work[0], work[1], work[2], work[3], work[4]
    powers = bits.view(np.float64)
    value = 0.0
    if sloped:
        gradient[:] = 0.0
        matrix[:] = 0.0
    for first in range(0, n_docs, TILE):
        size = min(TILE, n_docs - first)
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
        if not sloped:
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
        if sloped:
            gradient[i] = scale * gradient[i] - precision * ell[i]
            for j in range(i + 1):
                matrix[i, j] *= scale
            matrix[i, i] += precision
    return value


@kernel
def location_step(shard, documents):  # type: ignore[no-untyped-def]
    """Set ``moved`` of a shard's topics to a Newton step from where they are, halved until it does not hurt.

    A step that moves no psi by ln 2 cannot hurt and is not checked: curvatures change by less than a factor of 2 along
    it, since |d ln sigma(1-sigma) / d psi| <= 1.
    """
    tokens, a0, ells, out = shard
    dims, longest = ells.shape[1], documents.longest
    slopes, step, moved = new_slopes(documents.covariates), np.empty(dims), np.empty(dims)
    column = np.empty(slopes.matrix.shape[1])
    before = 0.0
    for k in range(a0.size):
        for i in range(dims):
            moved[i] = ells[k, i]
            out[k, i] = ells[k, i]
        for turn in range(1 + HALVINGS):
            value = topic_values(tokens[k], a0[k], moved, documents, turn == 0, slopes)
            if turn == 0:
                before = value
                for i in range(dims):
                    step[i] = slopes.gradient[i]
                solve_in_place(slopes.matrix, step, column)
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


def step_locations(shard: TopicShard, documents: LocatedDocuments) -> None:
    """``location_step`` as an engine takes it: a function that another process finds by its name."""
    location_step(shard, documents)
