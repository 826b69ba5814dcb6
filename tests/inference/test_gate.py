"""The gate, through which a document's location acts, against NumPy twins, finite differences and SciPy's optimum."""

from dataclasses import dataclass, field

import numpy as np
import oracle
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from twins import each_real

from diln.inference.weights.gate import (
    WORTH_A_ROW,
    gate_curvature,
    gate_gradient,
    gate_step,
    gate_value,
    new_gate,
    open_gate,
    packed_pairs,
    solve_in_place,
    with_intercepts,
)


@dataclass
class Problem:
    """One document's problem in (u, s), with the scratch that the kernels want."""

    ell: np.ndarray  # (T, d)
    n: np.ndarray
    a0: np.ndarray
    real: type = np.float64
    a: np.ndarray = field(init=False)

    def __post_init__(self):
        size, dims = self.ell.shape
        self.a = self.a0 + self.n
        self.ells = with_intercepts(self.ell)
        self.pairs = packed_pairs(self.ells, self.real)
        bits, row = np.empty(size, np.int64), np.full(self.pairs.shape[1], np.nan, self.real)
        self.psi, self.sigma, self.soft = values = np.full((3, size), np.nan)
        self.gradient, self.matrix = np.full(dims + 1, np.nan), np.full((dims + 1, dims + 1), np.nan)
        x, step, moved, column = np.full((4, dims + 1), np.nan)
        self.gate = Problem(
            x, *values, bits, bits.view(np.float64), self.gradient, step, moved, self.matrix, row,
            np.empty(size, np.int64), np.full(size, np.nan), column,
        )  # fmt: skip

    def values(self, x):
        """f(u, s); psi, sigma and soft are set."""
        open_gate(self.ells, x, self.gate)
        return gate_value(x, self.n, self.a, self.psi, self.soft)

    def slope(self, x):
        self.values(x)
        gate_gradient(self.ells, x, self.n, self.a, self.sigma, self.gate.rest, self.gradient)
        return self.gradient.copy()

    def curvature(self, x):
        """The whole matrix, from its lower triangle."""
        self.values(x)
        gate_curvature(self.pairs, self.a, self.sigma, self.gate.row, self.gate.used, self.matrix)
        return np.tril(self.matrix) + np.tril(self.matrix, -1).T

    def move(self, x):
        """A step of x, from where psi, sigma and soft are those of x."""
        self.values(x)
        return self.move_on(x)

    def move_on(self, x):
        self.gate.x[:] = x
        promised = gate_step(self.ells, self.pairs, self.n, self.a, self.gate)
        x[:] = self.gate.x
        return promised

    def objective(self, x):
        return oracle.doc_objective(x[:-1], x[-1], self.n, self.a0, self.ell)

    def size(self, x):
        """The size of what the objective sums: the measure of its rounding."""
        psi = self.ell @ x[:-1] + x[-1]
        return 1 + (np.abs(self.n * psi) + self.a * np.logaddexp(0, psi)).sum() + x[:-1] @ x[:-1]


def some_gate(rng, n_topics=23, n_dims=4, spread=1.0, tokens=30.0, real=np.float64):
    n = rng.gamma(0.3, tokens / n_topics / 0.3, n_topics) + 1e-12
    return Problem(rng.normal(size=(n_topics, n_dims)) * spread, n, rng.gamma(0.5, size=n_topics) + 1e-8, real)


SPREADS = [0.0, 1e-6, 0.3, 3.0, 100.0]


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("n_topics", [1, 2, 5, 8, 23])
def test_gate_values_are_their_numpy_line(spread, n_topics):
    rng = np.random.default_rng(9)
    gate, x = some_gate(rng, n_topics, spread=spread), rng.normal(size=5)
    value = gate.values(x)
    psi = with_intercepts(gate.ell).T @ x
    np.testing.assert_allclose(gate.psi, psi, rtol=0, atol=1e-14 * (1 + spread * 20))
    np.testing.assert_allclose(gate.sigma, expit(gate.psi), rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(gate.soft, np.logaddexp(0, gate.psi), rtol=1e-13, atol=1e-300)
    assert value == pytest.approx(gate.objective(x), rel=0, abs=1e-13 * gate.size(x))


@pytest.mark.parametrize("intercept", [-1e4, -700.0, 700.0, 1e4])
def test_gate_values_are_finite_far_out(intercept):
    rng = np.random.default_rng(10)
    gate, x = some_gate(rng), np.append(rng.normal(size=4), intercept)
    assert gate.values(x) == pytest.approx(gate.objective(x), rel=1e-13)
    assert np.isfinite(gate.slope(x)).all()
    assert np.isfinite(gate.curvature(x)).all()


@pytest.mark.parametrize("spread", SPREADS)
def test_gate_gradient_is_its_numpy_line_and_the_slope_of_the_values(spread):
    rng = np.random.default_rng(11)
    for n_topics in (1, 4, 23):
        gate, x = some_gate(rng, n_topics, spread=spread), rng.normal(size=5) / max(1, spread)
        slope = gate.slope(x)
        right = gate.ells @ (gate.n - gate.a * expit(gate.psi)) - np.append(x[:-1], 0)
        scale = 1 + np.abs(gate.ells) @ gate.a
        assert (np.abs(slope - right) <= 1e-13 * scale).all()
        h = 1e-5 / max(1, spread)
        found = [(gate.values(x + h * e) - gate.values(x - h * e)) / (2 * h) for e in np.eye(5)]
        assert (np.abs(slope - found) <= 1e-8 * scale).all()


@each_real
@pytest.mark.parametrize("spread", SPREADS)
def test_gate_curvature_is_the_negative_hessian_when_all_topics_matter(real, spread):
    rng = np.random.default_rng(12)
    for n_dims in (1, 2, 7):
        gate = some_gate(rng, n_dims=n_dims, spread=spread, tokens=5_000.0, real=real)
        x = rng.normal(size=n_dims + 1) / max(1, spread) / n_dims
        gate.n += 50
        gate.a = gate.a0 + gate.n
        matrix = gate.curvature(x)
        assert (gate.a * gate.sigma * (1 - gate.sigma) > WORTH_A_ROW).all()
        right = oracle.hess_doc(x[:-1], x[-1], gate.n, gate.a0, gate.ell)
        tolerance = 1e-6 if real is np.float32 else 1.1e-9  # the last entry is raised by 1e-9 of itself
        size = np.sqrt(np.outer(np.diag(right), np.diag(right)))
        assert (np.abs(matrix - right) <= tolerance * size).all()


@each_real
def test_gate_curvature_stays_positive_definite_when_small_topics_are_left_out(real):
    rng = np.random.default_rng(13)
    left_out = 0
    for _ in range(200):
        gate = some_gate(rng, spread=10.0 ** rng.uniform(-3, 0.5), tokens=10.0 ** rng.uniform(-3, 3), real=real)
        matrix = gate.curvature(rng.normal(size=5) * 3)
        curvature = gate.a * gate.sigma * (1 - gate.sigma)
        left_out += 0 < (curvature > WORTH_A_ROW).sum() < curvature.size
        assert matrix[-1, -1] == pytest.approx(curvature.sum(), rel=2e-9, abs=1.1e-12)
        np.linalg.cholesky(matrix)
        assert np.linalg.eigvalsh(matrix).min() > 0
    assert left_out > 100


def test_gate_curvature_of_topics_that_do_not_matter_is_the_priors():
    gate = Problem(np.ones((3, 2)), np.full(3, 1e-6), np.full(3, 1e-6))
    matrix = gate.curvature(np.zeros(3))
    np.testing.assert_array_equal(matrix[:2], np.eye(3)[:2])
    assert matrix[2, 2] == pytest.approx(3 * 2e-6 / 4, rel=2e-6)


def spd(rng, size, condition):
    basis = np.linalg.qr(rng.normal(size=(size, size)))[0]
    return (basis * np.geomspace(1, 1 / condition, size)) @ basis.T


@pytest.mark.parametrize("condition", [1.0, 1e2, 1e6, 1e10])
@pytest.mark.parametrize("scale", [1e-1, 1.0, 1e12])
def test_solve_in_place_solves_what_numpy_solves(condition, scale):
    """To within rounding times the matrix' condition; pivots here are above the least that is told from 0."""
    rng = np.random.default_rng(14)
    for size in (1, 2, 5, 21):
        matrix, x = spd(rng, size, condition) * scale, rng.normal(size=size)
        matrix = (matrix + matrix.T) / 2
        right, solved, factor = np.linalg.solve(matrix, x), x.copy(), np.tril(matrix)
        solve_in_place(factor, solved, np.full(size, np.nan))
        error = np.linalg.norm(solved - right) / np.linalg.norm(right)
        assert error <= 1e-14 * size * condition
        residual = np.linalg.norm(matrix @ solved - x) / (np.linalg.norm(matrix) * np.linalg.norm(solved))
        assert residual <= 1e-15 * size
        factor[np.diag_indices(size)] = 1 / np.diag(factor)
        np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(matrix), atol=1e-13 * condition * scale**0.5)


def test_solve_in_place_reads_the_lower_triangle_alone():
    rng = np.random.default_rng(15)
    matrix, x = spd(rng, 4, 10.0), rng.normal(size=4)
    right = np.linalg.solve(matrix, x)
    matrix[np.triu_indices(4, 1)] = np.nan
    solve_in_place(matrix, x, np.empty(4))
    np.testing.assert_allclose(x, right, rtol=1e-13)


@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), np.ones((3, 3)), np.diag([1.0, 0.0, -1e-9])])
def test_solve_in_place_of_a_singular_matrix_is_finite(matrix):
    x = np.array([1.0, 2.0, 3.0])
    solve_in_place(matrix.copy(), x, np.empty(3))
    assert np.isfinite(x).all()


def random_gate(rng, real):
    """From a document of a millionth of a token to one of a hundred thousand, from flat to steep, near and far."""
    n_topics, n_dims = int(rng.integers(1, 40)), int(rng.integers(1, 8))
    n = rng.gamma(0.2, size=n_topics) * 10.0 ** rng.uniform(-6, 5)
    a0 = np.maximum(rng.gamma(0.3, size=n_topics) * 10.0 ** rng.uniform(-4, 3), 1e-8)
    gate = Problem(rng.normal(size=(n_topics, n_dims)) * 10.0 ** rng.uniform(-4, 1.5), n, a0, real)
    x = rng.normal(size=n_dims + 1) * 10.0 ** rng.uniform(-3, 1.5)
    x[-1] += np.log(max(n.sum(), 1e-300) / a0.sum()) if rng.random() < 0.7 else 0
    return gate, x


@each_real
def test_gate_step_never_lowers_the_objective(real):
    rng = np.random.default_rng(16)
    raised = 0
    for _ in range(300):
        gate, x = random_gate(rng, real)
        before = gate.objective(x)
        gate.values(x)
        for _ in range(3):
            promised = gate.move_on(x)
            after = gate.objective(x)
            assert np.isfinite(x).all()
            assert np.isfinite(promised)
            assert promised >= 0
            assert after >= before - 1e-13 * gate.size(x)
            raised += after > before
            before = after
    assert raised > 400


@each_real
def test_gate_step_leaves_values_of_where_it_went(real):
    rng = np.random.default_rng(17)
    for _ in range(50):
        gate, x = random_gate(rng, real)
        gate.move(x)
        left = gate.psi.copy(), gate.sigma.copy(), gate.soft.copy()
        gate.values(x)
        for kept, right in zip(left, (gate.psi, gate.sigma, gate.soft), strict=True):
            np.testing.assert_array_equal(kept, right)


def test_memory_for_a_gate_is_wide_enough_for_whole_vectors():
    for dims in (0, 1, 3, 4, 7):
        ells = with_intercepts(np.ones((5, dims)))
        gate = new_gate(ells, packed_pairs(ells, np.float32))
        assert gate.x.shape == gate.step.shape == (dims + 1,)
        assert gate.column.size >= dims + 1
        assert gate.column.size % 4 == 0
        assert gate.matrix.shape == (dims + 1, gate.column.size)
        assert not gate.matrix.any()
        assert (gate.sigma == 1).all()


def test_gate_step_promises_what_newton_promises():
    rng = np.random.default_rng(18)
    gate, x = some_gate(rng, tokens=500.0), np.zeros(5)
    gate.n += 20
    gate.a = gate.a0 + gate.n
    slope = oracle.grad_doc(x[:-1], x[-1], gate.n, gate.a0, gate.ell)
    newton = np.linalg.solve(oracle.hess_doc(x[:-1], x[-1], gate.n, gate.a0, gate.ell), slope)
    assert gate.move(x) == pytest.approx(slope @ newton, rel=1e-8)


@each_real
def test_gate_steps_end_at_scipys_optimum(real):
    rng = np.random.default_rng(19)
    for _ in range(40):
        n_topics, n_dims = int(rng.integers(2, 30)), int(rng.integers(1, 6))
        spread, tokens = 10.0 ** rng.uniform(-2, 0.3), 10.0 ** rng.uniform(0, 3)
        gate = some_gate(rng, n_topics, n_dims, spread, tokens, real)
        x = np.append(np.zeros(n_dims), np.log(gate.n.sum() / gate.a0.sum()))
        for _ in range(60):
            promised = gate.move(x)
        assert promised < 1e-10
        best = minimize(
            lambda x, gate=gate: -gate.objective(x),
            np.zeros(n_dims + 1),
            jac=lambda x, gate=gate: -oracle.grad_doc(x[:-1], x[-1], gate.n, gate.a0, gate.ell),
            method="BFGS",
            options={"gtol": 1e-9, "maxiter": 2_000},
        )
        assert gate.objective(x) >= -best.fun - 1e-9 * gate.size(x)
        scale = 1 + np.abs(gate.ells) @ gate.a
        assert (np.abs(gate.slope(x)) <= 1e-5 * scale).all()


@pytest.mark.parametrize("n_dims", [1, 5])
@pytest.mark.parametrize("tokens", [1e-3, 1.0, 50.0, 1e6])
def test_without_locations_the_gate_is_the_hdps(n_dims, tokens):
    """ell = 0: e^s = N / beta, and u = 0."""
    rng = np.random.default_rng(20)
    n, a0 = rng.dirichlet(np.ones(12)) * tokens, rng.gamma(1.0, size=12)
    gate, x = Problem(np.zeros((12, n_dims)), n, a0), np.full(n_dims + 1, 0.5)
    for _ in range(40):
        gate.move(x)
    np.testing.assert_allclose(x[:-1], 0, atol=1e-12)
    assert x[-1] == pytest.approx(np.log(tokens / a0.sum()), rel=1e-6, abs=1e-6)
    np.testing.assert_allclose(gate.sigma, tokens / (tokens + a0.sum()), rtol=1e-6)
