"""A document's location: Newton steps on the concave problem that is left when its weights are profiled out.

With n_k expected tokens and a_k = a0_k + n_k, the document's location u and intercept s maximise

    f(u, s) = sum_k [ n_k psi_k - a_k ln(1 + e^psi_k) ] - |u|^2 / 2,   psi_k = ell_k . u + s        # D6
"""

from math import sqrt

from diln.engine.compile import kernel
from diln.prob.gamma import sigmoid_softplus

WORTH_A_ROW = 1e-3  # curvature below which a topic is left out of the Hessian, never of the gradient
HALVINGS = 12


@kernel
def gate_values(ells, x, n, a, psi, sigma, soft, bits, powers):  # type: ignore[no-untyped-def]
    """Set psi, sigma(psi) and ln(1+e^psi) at x = (u, s); returns f(u, s).

    Equals ``psi = ells.T @ x; (n * psi - a * np.logaddexp(0, psi)).sum() - x[:-1] @ x[:-1] / 2``.
    """
    size, dims = psi.size, x.size - 1
    for k in range(size):
        psi[k] = x[dims]
    value = 0.0
    for i in range(dims):
        for k in range(size):
            psi[k] += x[i] * ells[i, k]
        value -= 0.5 * x[i] * x[i]
    sigmoid_softplus(psi, sigma, soft, bits, powers, size)
    for k in range(size):
        value += n[k] * psi[k] - a[k] * soft[k]
    return value


@kernel
def gate_gradient(ells, x, n, a, sigma, out):  # type: ignore[no-untyped-def]
    """Set ``out`` to the gradient of f. Equals ``ells @ (n - a * sigma) - np.append(x[:-1], 0)``."""
    dims = x.size - 1
    for i in range(dims + 1):
        total = 0.0
        for k in range(sigma.size):
            total += (n[k] - a[k] * sigma[k]) * ells[i, k]
        out[i] = total
    for i in range(dims):
        out[i] -= x[i]


@kernel
def gate_curvature(pairs, a, sigma, row, out):  # type: ignore[no-untyped-def]
    """Set the lower triangle of ``out`` to about the negative Hessian of f.

    ``pairs`` (n_topics, d(d+1)/2) are the products ell_i ell_j and the ell_i of each topic, packed row by row; ``row``
    is scratch as long. Topics of hardly any curvature are left out, except from the last entry: the result stays
    positive definite, and Newton's method still ends where the (exact) gradient vanishes.
    """
    size, dims = sigma.size, out.shape[0] - 1
    real = row.dtype.type
    for j in range(row.size):
        row[j] = real(0)
    total = 0.0
    for k in range(size):
        curvature = a[k] * sigma[k] * (1.0 - sigma[k])
        total += curvature
        if curvature > WORTH_A_ROW:
            c = real(curvature)
            for j in range(row.size):
                row[j] += c * pairs[k, j]
    place = 0
    for i in range(dims):
        for j in range(i + 1):
            out[i, j] = row[place]
            place += 1
        out[i, i] += 1.0
    for j in range(dims):
        out[dims, j] = row[place]
        place += 1
    out[dims, dims] = total * (1.0 + 1e-9) + 1e-12


@kernel
def solve_in_place(matrix, x):  # type: ignore[no-untyped-def]
    """Solve matrix @ y = x by Cholesky's method; y replaces x, and the factor the lower triangle of the matrix."""
    size = x.size
    for i in range(size):
        for j in range(i + 1):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            if i == j:
                matrix[i, i] = sqrt(max(total, 1e-12))
            else:
                matrix[i, j] = total / matrix[j, j]
        total = x[i]
        for k in range(i):
            total -= matrix[i, k] * x[k]
        x[i] = total / matrix[i, i]
    for i in range(size - 1, -1, -1):
        total = x[i]
        for k in range(i + 1, size):
            total -= matrix[k, i] * x[k]
        x[i] = total / matrix[i, i]


@kernel
def gate_step(  # type: ignore[no-untyped-def]
    ells, pairs, n, a, x, psi, sigma, soft, bits, powers, gradient, step, moved, matrix, row
):
    """One Newton step of x = (u, s), halved until f does not fall; psi, sigma and soft are set at the new x.

    Returns what a full step promised, g . H^-1 g, in nats.
    """
    before = gate_values(ells, x, n, a, psi, sigma, soft, bits, powers)
    gate_gradient(ells, x, n, a, sigma, gradient)
    gate_curvature(pairs, a, sigma, row, matrix)
    for i in range(x.size):
        step[i] = gradient[i]
    solve_in_place(matrix, step)
    promised = 0.0
    for i in range(x.size):
        promised += gradient[i] * step[i]
    share = 1.0
    for _ in range(HALVINGS):
        for i in range(x.size):
            moved[i] = x[i] + share * step[i]
        if gate_values(ells, moved, n, a, psi, sigma, soft, bits, powers) >= before:
            for i in range(x.size):
                x[i] = moved[i]
            return promised
        share *= 0.5
    gate_values(ells, x, n, a, psi, sigma, soft, bits, powers)
    return promised
