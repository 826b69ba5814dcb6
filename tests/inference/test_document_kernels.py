"""The kernels of the document step against NumPy twins; the whole step against a slow loop and against the bound."""

import platform
import re
from dataclasses import dataclass, field

import llvmlite.binding as llvm
import numpy as np
import oracle
import pytest
from numba import njit, types
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import digamma, expit, gammaln, polygamma

from diln.engine.threads import Threads
from diln.inference.document_step import (
    GATE_EVERY,
    SMALL,
    document_step,
    token_step,
    weight_term,
    weight_terms,
    word_term,
)
from diln.inference.documents import FAR_BELOW, whole_like
from diln.inference.gate import (
    HALVINGS,
    WORTH_A_ROW,
    gate_curvature,
    gate_gradient,
    gate_step,
    gate_value,
    located,
    open_gate,
    packed_pairs,
    solve_in_place,
)
from diln.inference.posterior import Posterior
from diln.inference.topic_step import gather_statistics
from diln.inference.weights import LN_2PI, DirichletWeights, LocatedWeights, StickWeights, known_of, rate_constant
from diln.prob.gamma import exp_digamma, log_gamma_digamma, log_in_place, sigmoid_softplus, steps_down

REALS = [np.float32, np.float64]
each_real = pytest.mark.parametrize("real", REALS, ids=lambda real: real.__name__)


# The token step


def token_twin(rows, counts, theta):
    """Expected tokens of each topic, and count / normaliser of each term, in double precision."""
    rows, theta = rows.astype(np.float64), theta.astype(np.float64)
    ratio = counts / (rows @ theta)
    return theta * (ratio @ rows), ratio


def assert_token_step(indices, counts, first, last, topics, theta):
    """Sums of positive numbers: the relative error is a few roundings for each summand."""
    n, ratio = np.full(theta.size, np.nan, theta.dtype), np.full(len(indices), -1, theta.dtype)
    token_step(indices, counts, first, last, topics, theta, n, ratio)
    right_n, right_ratio = token_twin(topics[indices[first:last]], counts[first:last], theta)
    tolerance = 5e-6 if theta.dtype == np.float32 else 1e-14
    np.testing.assert_allclose(ratio[first:last], right_ratio, rtol=tolerance)
    np.testing.assert_allclose(n, right_n, rtol=tolerance)
    assert n.sum(dtype=np.float64) == pytest.approx(counts[first:last].sum(), rel=tolerance)
    assert (np.delete(ratio, slice(first, last)) == -1).all()


@each_real
@pytest.mark.parametrize("n_topics", [1, 2, 7, 8, 37, 200])
@pytest.mark.parametrize("n_terms", range(10))
def test_token_step_is_its_numpy_line(real, n_topics, n_terms):
    rng = np.random.default_rng(n_terms)
    topics, theta = rng.gamma(0.5, size=(30, n_topics)).astype(real) + real(1e-6), rng.gamma(0.5, size=n_topics)
    indices, counts = rng.permutation(30)[:15].astype(np.int32), rng.integers(1, 9, 15).astype(np.float32)
    assert_token_step(indices, counts, 3, 3 + n_terms, topics, theta.astype(real))


@each_real
@pytest.mark.parametrize(
    ("topic_scale", "weight_scale"), [(1, 1e-30), (1, 1e30), (1e-30, 1), (1e-30, 1e8), (1e-16, 1e-16), (1e-8, 1e8)]
)
def test_token_step_holds_at_tiny_and_huge_weights(real, topic_scale, weight_scale):
    rng = np.random.default_rng(5)
    topics = (rng.uniform(0.5, 1, size=(30, 37)) * topic_scale).astype(real)
    theta = (rng.uniform(0.5, 1, size=37) * weight_scale).astype(real)
    indices, counts = rng.permutation(30)[:9].astype(np.int32), rng.integers(1, 9, 9).astype(np.float32)
    assert_token_step(indices, counts, 0, 9, topics, theta)


@each_real
def test_token_step_holds_where_weights_of_one_document_differ_by_many_orders(real):
    rng = np.random.default_rng(6)
    topics = (10.0 ** rng.uniform(-12, 0, size=(30, 37))).astype(real)
    theta = (10.0 ** rng.uniform(-18, 3, size=37)).astype(real)
    theta[::5] = 0
    indices, counts = np.arange(30, dtype=np.int32), np.ones(30, np.float32)
    assert_token_step(indices, counts, 0, 30, topics, theta)


@each_real
def test_word_term_is_its_numpy_line(real):
    rng = np.random.default_rng(7)
    for n_terms in (0, 1, 2, 50):
        theta, rows = (10.0 ** rng.uniform(-20, 3, 37)).astype(real), rng.gamma(1.0, size=(n_terms, 37))
        theta[::5] = 0
        counts = rng.integers(1, 1_000, n_terms).astype(np.float32)
        n, ratio = (part.astype(real) for part in token_twin(rows, counts, theta))
        used = n > 0
        pieces = counts * np.log(counts / ratio.astype(np.float64)), n[used] * np.log(theta[used].astype(np.float64))
        size = 1 + sum(np.abs(piece).sum() for piece in pieces)
        tolerance = 1e-14 if real is np.float64 else 1e-6
        value = word_term(counts, 0, n_terms, ratio, theta, n)
        assert abs(value - (pieces[0].sum() - pieces[1].sum())) <= tolerance * size


# The weights' term of the bound

A0 = np.array([1e-8, 1e-6, 1e-4, 1e-2, 0.1, 0.5, 1.0, 1.46, 3.0, 10.0, 100.0, 1e4])


def weight_term_of(a0, n, tables):
    size = a0.size
    work = np.full((5, size), np.nan)
    return weight_term(a0, known_of(a0), n, tables, np.empty(size, np.int64), work, work[3:].view(np.int64))


def one_by_one(a0, n):
    """Value and tables of weight_term, a topic at a time."""
    values, tables = np.empty(a0.size), np.zeros((a0.size, 1))
    for k in range(a0.size):
        values[k] = weight_term_of(a0[k : k + 1], n[k : k + 1], tables[k])
    return values, tables[:, 0]


def series(a0, n):
    """What weight_term gives, to five terms of the series in n: for n well below a0."""
    psi = [digamma(a0), *(polygamma(i, a0) for i in range(1, 5))]
    value = n * (psi[0] + n * (psi[1] / 2 + n * (psi[2] / 6 + n * (psi[3] / 24 + n * psi[4] / 120))))
    return value, a0 * n * (psi[1] + n * (psi[2] / 2 + n * (psi[3] / 6 + n * psi[4] / 24)))


@pytest.mark.parametrize("n_over_a0", [SMALL, 0.1, 1.0, 1e3, 1e8])
def test_weight_term_is_scipys_where_n_is_not_small(n_over_a0):
    n = A0 * n_over_a0
    values, tables = one_by_one(A0, n)
    right = gammaln(A0 + n) - gammaln(A0)
    assert (np.abs(values - right) <= 1e-13 * (1 + np.abs(gammaln(A0 + n)) + np.abs(gammaln(A0)))).all()
    tabled = A0 * (digamma(A0 + n) - digamma(A0))
    np.testing.assert_allclose(tables, tabled, rtol=0, atol=1e-13 * (1 + A0 * np.log(1 + A0 + n)).max())


@pytest.mark.parametrize("share", [0.0, 1e-6, 1e-3, 0.1, 0.5, 0.999])
def test_weight_term_is_close_in_nats_where_n_is_small(share):
    """The series' third term, n^3 digamma''(a0) / 6, is below max(1, a0) SMALL^3 / 2."""
    n = A0 * SMALL * share
    values, _ = one_by_one(A0, n)
    right, _ = series(A0, n)
    assert (np.abs(values - right) <= 5e-10 * np.maximum(1, A0)).all()


@pytest.mark.parametrize("share", [1e-6, 1e-3, 0.1, 0.5, 0.999])
def test_tables_are_right_to_a_millionth_where_n_is_small(share):
    n = A0 * SMALL * share
    _, tables = one_by_one(A0, n)
    np.testing.assert_allclose(tables, series(A0, n)[1], rtol=1.1e-6)


def test_weight_term_does_not_jump_where_it_turns_to_the_series():
    above, below = A0 * SMALL, np.nextafter(A0 * SMALL, 0)
    assert (below < SMALL * A0).all()
    jump = np.abs(one_by_one(A0, below)[0] - one_by_one(A0, above)[0])
    assert (jump <= 5e-10 * np.maximum(1, A0) + 1e-13 * np.abs(gammaln(A0))).all()


def test_tables_do_not_jump_where_they_turn_to_the_series():
    above, below = A0 * SMALL, np.nextafter(A0 * SMALL, 0)
    np.testing.assert_allclose(one_by_one(A0, below)[1], one_by_one(A0, above)[1], rtol=1.1e-6)


@each_real
@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 50])
def test_weight_term_sums_over_topics_and_adds_to_the_tables(real, size):
    """Topics of small n and of large n, in any order."""
    rng = np.random.default_rng(size)
    a0 = rng.gamma(1.0, size=size) * 0.01 + 1e-4
    n = (a0 * 10.0 ** rng.uniform(-6, 3, size)).astype(real)
    tables, exact = np.ones(size), n.astype(np.float64)
    small = exact < SMALL * a0
    assert small.any() or size < 7
    value = weight_term_of(a0, n, tables)
    by_series = series(a0, exact)
    values = np.where(small, by_series[0], gammaln(a0 + exact) - gammaln(a0))
    assert value == pytest.approx(values.sum(), rel=1e-12, abs=4e-10 * size)
    right = np.where(small, by_series[1], a0 * (digamma(a0 + exact) - digamma(a0)))
    np.testing.assert_allclose(tables, 1 + right, rtol=1e-8)


@each_real
def test_weight_terms_sum_over_documents(real):
    rng = np.random.default_rng(8)
    a0, tokens = rng.gamma(1.0, size=13) + 0.05, rng.gamma(0.5, 4.0, size=(9, 13)).astype(real) + real(0.1)
    right = gammaln(a0 + tokens.astype(np.float64)) - gammaln(a0)
    for first, last in ((0, 9), (3, 7), (4, 4)):
        value = weight_terms(a0, known_of(a0), tokens, first, last)
        assert value == pytest.approx(right[first:last].sum(), rel=1e-12)


# The gate


@dataclass
class Gate:
    """One document's problem in (u, s), with the scratch that the kernels want."""

    ell: np.ndarray  # (T, d)
    n: np.ndarray
    a0: np.ndarray
    real: type = np.float64
    a: np.ndarray = field(init=False)

    def __post_init__(self):
        size, dims = self.ell.shape
        self.a = self.a0 + self.n
        self.ells = located(self.ell)
        self.pairs = packed_pairs(self.ells, self.real)
        self.psi, self.sigma, self.soft = np.full((3, size), np.nan)
        self.bits = np.empty(size, np.int64)
        self.gradient, self.step, self.moved = np.full((3, dims + 1), np.nan)
        self.matrix = np.full((dims + 1, dims + 1), np.nan)
        self.row = np.full(self.pairs.shape[1], np.nan, self.real)
        self.used, self.rest = np.empty(size, np.int64), np.full(size, np.nan)
        self.column = np.full(dims + 1, np.nan)

    def values(self, x):
        """f(u, s); psi, sigma and soft are set."""
        open_gate(self.ells, x, self.psi, self.sigma, self.soft, self.bits, self.bits.view(np.float64))
        return gate_value(x, self.n, self.a, self.psi, self.soft)

    def slope(self, x):
        self.values(x)
        gate_gradient(self.ells, x, self.n, self.a, self.sigma, self.rest, self.gradient)
        return self.gradient.copy()

    def curvature(self, x):
        """The whole matrix, from its lower triangle."""
        self.values(x)
        gate_curvature(self.pairs, self.a, self.sigma, self.row, self.used, self.matrix)
        return np.tril(self.matrix) + np.tril(self.matrix, -1).T

    def move(self, x):
        """A step of x, from where psi, sigma and soft are those of x."""
        self.values(x)
        return self.move_on(x)

    def move_on(self, x):
        return gate_step(
            self.ells, self.pairs, self.n, self.a, x, self.psi, self.sigma, self.soft, self.bits,
            self.bits.view(np.float64), self.gradient, self.step, self.moved, self.matrix, self.row, self.used,
            self.rest, self.column,
        )  # fmt: skip

    def objective(self, x):
        return oracle.doc_objective(x[:-1], x[-1], self.n, self.a0, self.ell)

    def size(self, x):
        """The size of what the objective sums: the measure of its rounding."""
        psi = self.ell @ x[:-1] + x[-1]
        return 1 + (np.abs(self.n * psi) + self.a * np.logaddexp(0, psi)).sum() + x[:-1] @ x[:-1]


def some_gate(rng, n_topics=23, n_dims=4, spread=1.0, tokens=30.0, real=np.float64):
    n = rng.gamma(0.3, tokens / n_topics / 0.3, n_topics) + 1e-12
    return Gate(rng.normal(size=(n_topics, n_dims)) * spread, n, rng.gamma(0.5, size=n_topics) + 1e-8, real)


SPREADS = [0.0, 1e-6, 0.3, 3.0, 100.0]


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("n_topics", [1, 2, 5, 8, 23])
def test_gate_values_are_their_numpy_line(spread, n_topics):
    rng = np.random.default_rng(9)
    gate, x = some_gate(rng, n_topics, spread=spread), rng.normal(size=5)
    value = gate.values(x)
    psi = located(gate.ell).T @ x
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
    gate = Gate(np.ones((3, 2)), np.full(3, 1e-6), np.full(3, 1e-6))
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
    gate = Gate(rng.normal(size=(n_topics, n_dims)) * 10.0 ** rng.uniform(-4, 1.5), n, a0, real)
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
    gate, x = Gate(np.zeros((12, n_dims)), n, a0), np.full(n_dims + 1, 0.5)
    for _ in range(40):
        gate.move(x)
    np.testing.assert_allclose(x[:-1], 0, atol=1e-12)
    assert x[-1] == pytest.approx(np.log(tokens / a0.sum()), rel=1e-6, abs=1e-6)
    np.testing.assert_allclose(gate.sigma, tokens / (tokens + a0.sum()), rtol=1e-6)


# The document step as a whole


def as_counts(x):
    """A matrix of counts in the types that the models hand in."""
    rows = csr_array(np.asarray(x, np.float32))
    rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int64)
    return rows


@dataclass
class Visit:
    """A corpus, topics and weights; and what the document step makes of them."""

    counts: np.ndarray  # (M, V)
    topics: np.ndarray  # (V, T)
    a0: np.ndarray
    ell: np.ndarray  # (T, d), d = 0 for no gate
    real: type

    def __post_init__(self):
        (documents, _), (topics, dims) = self.counts.shape, self.ell.shape
        lengths = self.counts.sum(axis=1)
        self.tokens = np.repeat((lengths / topics).astype(self.real)[:, None], topics, axis=1)
        self.locations = np.zeros((documents, dims))
        self.intercepts = np.where(lengths > 0, np.log(np.maximum(lengths, 1e-300) / self.a0.sum()), FAR_BELOW)
        self.theta = np.full((documents, topics), np.nan, self.real)
        self.terms = np.full((documents, 4), np.nan)
        self.tables, self.lifts = np.zeros((2, topics))

    def run(self, most, tolerance, first=0, last=None):
        rows, ells = as_counts(self.counts), located(self.ell)
        topics = np.ascontiguousarray(self.topics, self.real)
        self.ratio = np.full(rows.nnz, np.nan, self.real)
        document_step(
            rows.indptr, rows.indices, rows.data, topics, self.a0, known_of(self.a0), ells,
            packed_pairs(ells, self.real), first, len(self.counts) if last is None else last, most, tolerance,
            self.tokens, self.locations, self.intercepts, self.theta, self.ratio, self.terms, self.tables, self.lifts,
            whole_like(topics),
        )  # fmt: skip
        return self


def newton_twin(ell, n, a0, x):
    """One step of (u, s), halved until the objective does not fall."""
    design = np.column_stack([ell, np.ones(len(ell))])
    a, gate = a0 + n, expit(design @ x)
    slope = design.T @ (n - a * gate) - np.append(x[:-1], 0)
    curvature = a * gate * (1 - gate)
    worth = np.where(curvature > WORTH_A_ROW, curvature, 0)
    matrix = (design.T * worth) @ design + np.diag(np.append(np.ones(len(x) - 1), 0))
    matrix[-1, -1] = curvature.sum() * (1 + 1e-9) + 1e-12
    step, before = np.linalg.solve(matrix, slope), oracle.doc_objective(x[:-1], x[-1], n, a0, ell)
    for halving in range(HALVINGS):
        moved = x + step / 2**halving
        if oracle.doc_objective(moved[:-1], moved[-1], n, a0, ell) >= before:
            return moved
    return x


def document_twin(visit, most):
    """The same turns, a document and a line at a time: tokens, locations, intercepts, theta, terms, tables, lifts."""
    documents, (_, dims) = len(visit.counts), visit.ell.shape
    found = Visit(visit.counts, visit.topics, visit.a0, visit.ell, np.float64)
    ratios = []
    for m in range(documents):
        words, a0 = np.flatnonzero(visit.counts[m]), visit.a0
        if not len(words):
            found.tokens[m], found.theta[m], found.terms[m] = 0, 0, 0
            continue
        rows, counts = visit.topics[words], visit.counts[m, words]
        n, x = found.tokens[m].copy(), np.append(found.locations[m], found.intercepts[m])
        for turn in range(most):
            gate = expit(visit.ell @ x[:-1] + x[-1]) if dims else 1.0
            theta = np.exp(digamma(a0 + n) + steps_down((a0 + n).max())) * gate
            n, ratio = token_twin(rows, counts, theta)
            if dims and ((turn + 1) % GATE_EVERY == 0 or turn == most - 1):
                x = newton_twin(visit.ell, n, a0, x)
        found.tokens[m], found.theta[m], found.locations[m], found.intercepts[m] = n, theta, x[:-1], x[-1]
        ratios.append(ratio)
        found.terms[m, 0] = counts @ np.log(counts / ratio) - n @ np.log(theta)
        found.terms[m, [1, 3]] = (gammaln(a0 + n) - gammaln(a0)).sum()
        found.terms[m, 2] = -0.5 * x[:-1] @ x[:-1]
        found.tables += a0 * (digamma(a0 + n) - digamma(a0))
        if dims:
            psi = visit.ell @ x[:-1] + x[-1]
            found.terms[m, 1] += n @ psi - (a0 + n) @ np.logaddexp(0, psi)
            found.lifts += np.logaddexp(0, psi)
    found.ratio = np.concatenate(ratios)
    return found


def some_visit(seed, n_dims, real=np.float64, n_docs=9, n_terms=40, n_topics=13):
    """Documents of which one is empty and one a single word."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(0.5, 2.0, size=(n_docs, n_terms))).astype(np.float64)
    counts[2], counts[5] = 0, np.arange(n_terms) == 7
    topics = rng.dirichlet(np.full(n_terms, 0.3), n_topics).T + 1e-4
    a0, ell = rng.gamma(1.0, size=n_topics) + 0.05, rng.normal(size=(n_topics, n_dims))
    return Visit(counts, topics, a0, ell, real)


PARTS = ["tokens", "locations", "intercepts", "theta", "ratio", "terms", "tables", "lifts"]


@pytest.mark.parametrize("n_dims", [0, 1, 3])
@pytest.mark.parametrize("most", [1, 3, 4, 10])
def test_document_step_is_the_slow_loop(n_dims, most):
    """Tables and weights to what the series for small n leaves out."""
    visit = some_visit(21, n_dims).run(most, 0.0)
    right = document_twin(visit, most)
    for part in PARTS:
        loose = {"tables": 1e-6, "terms": 1e-9}.get(part, 1e-9 if n_dims else 1e-10)
        np.testing.assert_allclose(getattr(visit, part), getattr(right, part), rtol=loose, atol=loose, err_msg=part)


@pytest.mark.parametrize("n_dims", [0, 3])
def test_document_step_in_single_precision_follows_the_slow_loop(n_dims):
    visit = some_visit(22, n_dims, np.float32).run(10, 0.0)
    right = document_twin(visit, 10)
    for part in PARTS:
        np.testing.assert_allclose(getattr(visit, part), getattr(right, part), rtol=2e-4, atol=2e-4, err_msg=part)


@each_real
@pytest.mark.parametrize("n_dims", [0, 3])
def test_an_empty_document_keeps_nothing_and_adds_nothing(real, n_dims):
    visit = some_visit(23, n_dims, real)
    visit.counts[:] = 0
    visit = Visit(visit.counts, visit.topics, visit.a0, visit.ell, real).run(5, 0.0)
    for part in ("tokens", "locations", "theta", "terms", "tables", "lifts"):
        assert (getattr(visit, part) == 0).all(), part
    assert (visit.intercepts == FAR_BELOW).all()


@each_real
@pytest.mark.parametrize("n_dims", [0, 3])
def test_a_document_of_one_word_has_one_token(real, n_dims):
    visit = some_visit(24, n_dims, real).run(50, 1e-6)
    assert visit.tokens[5].sum(dtype=np.float64) == pytest.approx(1, rel=1e-6)
    assert np.isfinite(visit.terms).all()


@pytest.mark.parametrize("n_dims", [0, 3])
def test_documents_outside_the_range_are_not_touched(n_dims):
    whole, part = some_visit(25, n_dims).run(6, 0.0), some_visit(25, n_dims).run(6, 0.0, 3, 6)
    for name in ("tokens", "locations", "intercepts", "theta", "terms"):
        np.testing.assert_array_equal(getattr(part, name)[3:6], getattr(whole, name)[3:6])
    fresh = some_visit(25, n_dims)
    np.testing.assert_array_equal(part.tokens[:3], fresh.tokens[:3])
    np.testing.assert_array_equal(part.tokens[6:], fresh.tokens[6:])
    assert np.isnan(part.terms[[0, 1, 2, 6, 7, 8]]).all()


@pytest.mark.parametrize("n_dims", [0, 3])
def test_a_settled_document_hardly_moves_when_it_goes_on(n_dims):
    """The mean change of n is below the tolerance, and the location's next step promises next to nothing."""
    visit = some_visit(26, n_dims).run(10_000, 1e-8)
    tokens = visit.tokens.copy()
    visit.run(1, 0.0)
    assert np.abs(visit.tokens - tokens).mean(axis=1).max() < (1e-3 if n_dims else 1e-8)


@pytest.mark.parametrize("most", [1, 3, 5])
@pytest.mark.parametrize("n_dims", [0, 3])
def test_going_on_never_lowers_a_documents_bound(n_dims, most):
    visit, reached = some_visit(27, n_dims), []
    lengths, beta = visit.counts.sum(axis=1), visit.a0.sum()
    gate = 0 if n_dims else (lengths * visit.intercepts - (lengths + beta) * np.log1p(lengths / beta))
    for _ in range(40):
        visit.run(most, 0.0)
        reached.append(np.where(lengths > 0, visit.terms[:, :3].sum(axis=1) + gate, 0))
    rises = np.diff(reached, axis=0)
    assert rises.min() >= -1e-8
    assert rises[0].max() > 1e-3


@pytest.mark.parametrize("n_dims", [0, 2])
def test_the_documents_terms_are_the_bounds(n_dims):
    """Against the bound spelled out, at the q that the document step leaves."""
    for seed in range(5):
        rng = np.random.default_rng([28, seed])
        problem, q = oracle.random_problem(rng, n_dims=max(n_dims, 1))
        if not n_dims:
            q.ell[:] = 0
        topics = np.exp(oracle.mean_log_eta(q)).T
        ell = q.ell if n_dims else np.zeros((len(q.ell), 0))
        visit = Visit(problem.counts.astype(np.float64), topics, q.a0, ell, np.float64).run(7, 0.0)
        q.phi = [theta * topics[problem.words(m)] for m, theta in enumerate(visit.theta)]
        q.phi = [phi / phi.sum(axis=1, keepdims=True) for phi in q.phi]
        np.testing.assert_allclose(visit.tokens, oracle.topic_counts(problem, q), rtol=1e-10, atol=1e-12)
        q.u = visit.locations if n_dims else np.zeros((len(q.u), 1))
        full = problem.n_tokens > 0
        q = oracle.optimal_z(problem, q, visit.intercepts)
        words, weights, places, _ = visit.terms.sum(axis=0)
        assert words == pytest.approx(oracle.words_given_topics(problem, q) + oracle.entropy_c(problem, q), rel=1e-10)
        if not n_dims:
            lengths = problem.n_tokens[full]
            weights += (lengths * visit.intercepts[full] - (lengths + q.beta) * np.log1p(lengths / q.beta)).sum()
        parts = oracle.topics_given_weights, oracle.weights_given_locations, oracle.entropy_z
        right = sum(part(problem, q) for part in parts)
        assert weights + rate_constant(problem.n_tokens) == pytest.approx(right, rel=1e-8, abs=1e-8)
        if n_dims:
            assert places - 0.5 * visit.locations.size * LN_2PI == pytest.approx(oracle.prior_u(problem, q), rel=1e-12)


# Documents so short, and topics so many, that no weight of a topic is a number that single precision has


def short_documents(n_terms):
    return as_counts([np.arange(n_terms) < length for length in (1, 2, 4, 10)])


@pytest.mark.parametrize("n_topics", [100, 200, 400, 1_000])
@pytest.mark.parametrize("kind", ["LDA", "HDP", "DILN"])
def test_short_documents_have_their_tokens_however_many_the_topics(kind, n_topics):
    rng = np.random.default_rng(29)
    sticks = StickWeights(n_topics, (1.0, 1e-3), (1.0, 1e-3))
    weights = {
        "LDA": DirichletWeights(np.full(n_topics, 1 / n_topics), False),
        "HDP": sticks,
        "DILN": LocatedWeights(sticks, rng.normal(size=(n_topics, 3)) * 0.5, 1 / 3),
    }[kind]
    posterior = Posterior(rng.gamma(0.1, 100.0, size=(50, n_topics)).astype(np.float32), 0.1, weights)
    with Threads(1) as threads:
        posterior.refresh(threads)
        documents = posterior.settled(short_documents(50), 100, 1e-3, threads)
    np.testing.assert_allclose(documents.tokens.sum(axis=1, dtype=np.float64), [1, 2, 4, 10], rtol=1e-5)


@pytest.mark.parametrize("n_topics", [20, 50, 100, 200])
def test_a_word_never_seen_before_has_its_tokens_in_a_short_document(n_topics):
    """A small prior leaves every topic of such a word at the least value that topics have."""
    rng = np.random.default_rng(30)
    statistics = rng.gamma(1.0, 10.0, size=(50, n_topics)).astype(np.float32)
    statistics[0] = 0
    posterior = Posterior(statistics, 0.01, DirichletWeights(np.full(n_topics, 1 / n_topics), False))
    with Threads(1) as threads:
        posterior.refresh(threads)
        documents = posterior.settled(short_documents(50), 100, 1e-3, threads)
    np.testing.assert_allclose(documents.tokens.sum(axis=1, dtype=np.float64), [1, 2, 4, 10], rtol=1e-5)


# Loops that must run on all lanes of the processor


def array(item, n_dims=1):
    return types.Array(item, n_dims, "C")


F, D, W, L = types.float32, types.float64, types.int32, types.int64
WIDE, ANY = r"%[yz]mm", r"%[xyz]mm"
LOOPS = {
    "token step": (token_step, (array(W), array(F), L, L, array(F, 2), array(F), array(F), array(F)), "ps", WIDE),
    "exp digamma, single": (exp_digamma, (array(F), D, array(F), array(W), array(F), L), "ps", WIDE),
    "exp digamma, double": (exp_digamma, (array(D), D, array(D), array(L), array(D), L), "pd", WIDE),
    "exp digamma, double to single": (exp_digamma, (array(D), D, array(F), array(W), array(F), L), "ps", ANY),
    "sigmoid": (sigmoid_softplus, (*(array(D),) * 3, array(L), array(D), L), "pd", WIDE),
    "logarithm": (log_in_place, (array(D), array(L), L), "pd", WIDE),
    "log gamma": (log_gamma_digamma, (*(array(D),) * 3, array(D, 2), array(L, 2), L), "pd", WIDE),
    "gather": (
        gather_statistics,
        (array(L), array(W), array(L), array(F), array(F, 2), array(F, 2), L, L, D, D, array(F, 2)),
        "ps",
        WIDE,
    ),
}


def has_vectors():
    features = llvm.get_host_cpu_features() if platform.machine().lower() in ("x86_64", "amd64") else {}
    return features.get("avx2", False) and features.get("fma", False)


@pytest.mark.skipif(not has_vectors(), reason="a processor with AVX2 and FMA is needed")
@pytest.mark.parametrize("name", LOOPS)
def test_hot_loops_multiply_and_add_on_all_lanes(name):
    """Compiled anew: numba shows no assembly of what it read from its cache."""
    loop, signature, suffix, register = LOOPS[name]
    options = {key: loop.targetoptions[key] for key in ("nogil", "fastmath", "error_model")}
    fresh = njit(**options)(loop.py_func)
    fresh.compile(signature)
    (assembly,) = fresh.inspect_asm().values()
    assert re.search(rf"\bvfn?m(add|sub)\d+{suffix}\b.*{register}", assembly)
