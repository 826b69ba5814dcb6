"""The kernels that draw where documents are, and gather what topics' locations need of that, against NumPy twins."""

import platform
import re
from copy import deepcopy

import llvmlite.binding as llvm
import numpy as np
import pytest
from numba import njit, typeof
from scipy import stats
from small import counts_by_document, gates, held, record, room_for, some_counts, some_documents, some_state, whole

from diln.engine.threads import Threads
from diln.inference.sampling.documents import TOGETHER, pieces
from diln.inference.weights import gamma_process_draws
from diln.inference.weights.draws import Sweep
from diln.inference.weights.gamma_process_draws import EXACT, GammaProcessDraws
from diln.inference.weights.place_kernels import (
    AT_ONCE,
    PlaceRoom,
    PlaceSums,
    draw_omega,
    draw_places,
    gather_places,
    open_gate,
    weighted_pairs,
)
from diln.prob.streams import key_of


def problem(seed, n_docs=20, n_topics=20, n_dims=3, spread=1.0, mean=2.0, a0=None):
    rng = np.random.default_rng(seed)
    empty = [m for m in (2, 7) if m < n_docs - 1]
    docs = some_documents(rng, some_counts(rng, n_docs, 15, mean, empty), n_topics, n_dims, spread)
    return some_state(rng, docs, n_topics, n_dims, spread=spread, a0=a0), docs


def place_room(state, rows):
    """Memory for so many documents at once; what is in it must not count."""
    d, long = state.weights.n_dims, -(-(state.weights.n_dims + 1) // 4) * 4
    n, psi, omega = np.full((3, rows, state.width), np.nan, np.float32)
    squares = np.full((rows, d * (d + 1) // 2), np.nan, np.float32)
    matrix, x, column, normals = np.zeros((d + 1, long)), *(np.full(size, np.nan) for size in (d + 1, long, d + 1))
    row = np.full(d * (d + 3) // 2, np.nan, np.float32)
    return PlaceRoom(n, psi, omega, squares, matrix, x, column, normals, row, room_for(state.width))


def known(docs):
    return np.diff(docs.tokens.starts) > 0


def mean_omega(state, docs):
    """n, psi and the expected omega (n_docs, width), in double precision."""
    n, psi = counts_by_document(docs, state.width), gates(state, docs)
    near = np.abs(psi) < 1e-6
    rate = np.where(near, 0.25, np.tanh(psi / 2) / (2 * np.where(near, 1, psi)))
    return n, psi, (state.weights.a0 + n) * rate


def gaussian(state, n, omega):
    """Precision and linear term of one document's (u, s)."""
    x = np.vstack([state.weights.ells, np.ones(state.width)]).astype(float)
    prior = np.diag([*np.ones(state.weights.n_dims), 0.0])
    return prior + (x * omega) @ x.T, x @ (0.5 * (n - state.weights.a0))


# The gate and the Polya-Gamma variables


@pytest.mark.parametrize("spread", [0.0, 1e-6, 1.0, 1e4])
@pytest.mark.parametrize("n_dims", [0, 1, 5])
def test_open_gate_is_its_numpy_line(spread, n_dims):
    rng = np.random.default_rng(13)
    ells, u = (rng.normal(size=(n_dims, 32)) * spread).astype(np.float32), rng.normal(size=n_dims).astype(np.float32)
    psi = np.full(32, np.nan, np.float32)
    open_gate(ells, u, np.float32(-1.5), psi)
    size = 1.5 + np.abs(ells.T.astype(float)) @ np.abs(u)
    assert (np.abs(psi - (ells.T.astype(float) @ u - 1.5)) <= 1e-6 * size).all()


def omega_of(state, docs, first=0, last=None, key=0):
    """n, psi and omega of documents first to last."""
    last = len(docs) if last is None else last
    room = place_room(state, last - first)
    draw_omega(whole(docs), first, last, record(state), np.uint64(key), room)
    return room.n, room.psi, room.omega


@pytest.mark.parametrize("spread", [0.0, 1e-5, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("n_dims", [0, 1, 4])
def test_omega_is_drawn_given_tokens_and_gates(spread, n_dims):
    state, docs = problem(1, n_dims=n_dims, spread=spread)
    n, psi, _ = omega_of(state, docs, 5, 14)
    right = [part[5:14] for part in mean_omega(state, docs)]
    np.testing.assert_array_equal(n, right[0])
    np.testing.assert_allclose(psi, right[1], rtol=1e-6, atol=2e-6 * (spread + spread**2))


@pytest.mark.parametrize("weight", [0.05, 2.0, 1e6])
def test_omega_is_drawn_about_its_mean_from_the_stream_of_the_document(weight):
    state, docs = problem(2, a0=weight)
    mean = mean_omega(state, docs)[2][:, : state.n_topics]
    drawn = [omega_of(state, docs, key=key)[2][:, : state.n_topics] for key in range(4_000)]
    spread = np.std(drawn, axis=0)
    assert (spread > 0).all()
    assert (np.abs(np.mean(drawn, axis=0) - mean) < 5.5 * spread / np.sqrt(4_000) + 3e-6 * mean).all()
    alone = omega_of(state, docs, 5, 6, key=3)[2][:, : state.n_topics]
    np.testing.assert_array_equal(alone[0], drawn[3][5])
    assert (drawn[0] != drawn[1]).any()


@pytest.mark.parametrize("weight", [1e-20, 1e-8, 1e6])
def test_omega_is_finite_at_tiny_and_huge_weights(weight):
    state, docs = problem(2, a0=weight, spread=30.0)
    omega = omega_of(state, docs)[2]
    assert np.isfinite(omega).all()
    assert (omega >= 0).all()


# Sums over topics


@pytest.mark.parametrize("n_pairs", [0, 2, 5, 9, 65, 230])
@pytest.mark.parametrize("width", [16, 32, 208])
def test_weighted_pairs_are_their_numpy_line(width, n_pairs):
    rng = np.random.default_rng(3)
    for size in (1e-12, 1.0, 1e12):
        weights = (rng.gamma(0.3, size=width) * size).astype(np.float32)
        pairs = rng.normal(size=(width, n_pairs)).astype(np.float32)
        row = np.full(n_pairs, np.nan, np.float32)
        weighted_pairs(weights, pairs, row)
        right = weights.astype(float) @ pairs
        scale = weights.astype(float) @ np.abs(pairs)
        assert (np.abs(row - right) <= 2e-6 * scale).all()


@pytest.mark.parametrize("n_dims", [0, 1, 4])
def test_pairs_are_the_products_of_locations_and_one(n_dims):
    state, _ = problem(4, n_dims=n_dims)
    pairs = record(state).pairs
    assert pairs.flags.c_contiguous
    assert pairs.shape == (state.width, n_dims * (n_dims + 3) // 2)
    for k in range(state.width):
        x = np.append(state.weights.ells[:, k], np.float32(1))
        np.testing.assert_array_equal(pairs[k], np.outer(x, x)[np.tril_indices(n_dims + 1)][:-1])


# A document's place


def place(state, docs, n, omega, key, first=0, last=None):
    """Draw the places of documents, whose n and omega begin with those of the first."""
    last = len(docs) if last is None else last
    room = place_room(state, last - first)._replace(n=n.astype(np.float32), omega=omega.astype(np.float32))
    draw_places(whole(docs), first, last, record(state), key, room)


def many_places(state, docs, m, n_draws):
    """Draws (n_draws, d + 1) of one document's place, and their Gaussian's precision and linear term."""
    n, _, omega = mean_omega(state, docs)
    drawn = np.empty((n_draws, state.weights.n_dims + 1))
    for number in range(n_draws):
        place(state, docs, n[m : m + 1], omega[m : m + 1], key_of(5, number), m, m + 1)
        drawn[number] = [*docs.places.u[m], docs.places.s[m]]
    return drawn, *gaussian(state, n[m], omega[m])


@pytest.mark.parametrize("n_dims", [0, 1, 2, 5])
@pytest.mark.parametrize("mean", [0.3, 2.0, 100.0])
def test_places_have_the_mean_and_covariance_of_their_gaussian(n_dims, mean):
    """Made white by the Gaussian's own factor, the draws are independent standard normal numbers."""
    size = 1_000
    state, docs = problem(5, n_dims=n_dims, mean=mean)
    m = int(np.flatnonzero(known(docs))[1])
    drawn, precision, linear = many_places(state, docs, m, size)
    white = (drawn - np.linalg.solve(precision, linear)) @ np.linalg.cholesky(precision)
    assert stats.kstest(white.ravel(), "norm").pvalue > 1e-3
    np.testing.assert_allclose(white.mean(axis=0), 0, atol=4.5 / np.sqrt(size))
    covariance = white.T @ white / size
    np.testing.assert_allclose(np.diag(covariance), 1, atol=4.5 * np.sqrt(2 / size))
    np.testing.assert_allclose(covariance - np.diag(np.diag(covariance)), 0, atol=4.5 / np.sqrt(size))


@pytest.mark.parametrize(("spread", "weight"), [(1e-3, 0.5), (1.0, 1e-20), (1.0, 1e5), (10.0, 0.5)])
def test_places_are_the_gaussians_at_tiny_and_huge_values(spread, weight):
    """Two draws of the same stream differ only by their means: what is drawn less its mean is the same."""
    state, docs = problem(6, spread=spread, a0=weight)
    n, _, omega = mean_omega(state, docs)
    linears = np.zeros((2, len(docs), state.weights.n_dims + 1))
    drawn = np.zeros_like(linears)
    for one, tokens in enumerate((n, n + 1.0 * (n > 0))):
        place(state, docs, tokens, omega, key_of(6))
        drawn[one] = np.column_stack([docs.places.u, docs.places.s])
        linears[one] = [gaussian(state, row, weights)[1] for row, weights in zip(tokens, omega, strict=True)]
    for m in np.flatnonzero(known(docs)):
        precision = gaussian(state, n[m], omega[m])[0]
        right = np.linalg.solve(precision, linears[1, m] - linears[0, m])
        size = np.abs(np.linalg.inv(precision)) @ np.abs(linears[:, m]).max(axis=0) + np.abs(drawn[:, m]).max()
        assert (np.abs(drawn[1, m] - drawn[0, m] - right) <= 2e-4 * size).all()


def test_a_document_without_tokens_stays_where_it_is():
    state, docs = problem(7)
    u, s = docs.places.u.copy(), docs.places.s.copy()
    n, _, omega = mean_omega(state, docs)
    place(state, docs, n, omega, key_of(7))
    empty = ~known(docs)
    assert empty.sum() == 2
    np.testing.assert_array_equal(docs.places.u[empty], u[empty])
    np.testing.assert_array_equal(docs.places.s[empty], s[empty])
    assert (docs.places.u[~empty] != u[~empty]).all()


def test_a_place_does_not_depend_on_the_documents_around_it():
    state, docs = problem(8)
    n, _, omega = mean_omega(state, docs)
    alone = deepcopy(docs)
    place(state, docs, n, omega, key_of(8))
    for m in range(len(docs)):
        place(state, alone, n[m : m + 1], omega[m : m + 1], key_of(8), m, m + 1)
    np.testing.assert_array_equal(docs.places.u, alone.places.u)
    np.testing.assert_array_equal(docs.places.s, alone.places.s)


# What topics' locations need


def gathered_twin(state, docs, n, omega):
    """Precision (width, d(d+1)/2) and linear (d, width), and the sizes of what they sum."""
    i, j = np.tril_indices(state.weights.n_dims)
    u, s = docs.places.u.astype(float)[known(docs)], docs.places.s.astype(float)[known(docs)]
    n, omega = n[known(docs)], omega[known(docs)]
    rest = 0.5 * (n - state.weights.a0) - omega * s[:, None]
    size = 0.5 * np.abs(n - state.weights.a0) + omega * np.abs(s)[:, None]
    sizes = omega.T @ np.abs(u[:, i] * u[:, j]), np.abs(u).T @ size
    return omega.T @ (u[:, i] * u[:, j]), u.T @ rest, *sizes


def gather(state, docs, n, omega, found, first=0, last=None):
    """Add what documents give to ``found``; rows of omega beyond them hold anything."""
    last = len(docs) if last is None else last
    rows = -(-(last - first) // AT_ONCE) * AT_ONCE
    room = place_room(state, rows)
    room.n[: last - first] = n
    room.omega[:] = 1e9
    room.omega[: last - first] = omega
    gather_places(whole(docs), first, last, record(state).a0, room, found)


def nothing(state):
    return PlaceSums.of(state.width, state.weights.n_dims)


@pytest.mark.parametrize("n_docs", [1, 7, 8, 9, TOGETHER])
@pytest.mark.parametrize("n_dims", [0, 1, 2, 5, 20])
def test_gathered_places_are_their_numpy_lines(n_docs, n_dims):
    state, docs = problem(9, n_docs, n_dims=n_dims)
    n, _, omega = mean_omega(state, docs)
    found = nothing(state)
    gather(state, docs, n, omega, found)
    right = gathered_twin(state, docs, n, omega)
    for one, two, size in zip(found, right[:2], right[2:], strict=True):
        assert (np.abs(one - two) <= 5e-6 * size).all()


@pytest.mark.parametrize(("spread", "weight"), [(1e-4, 0.5), (1.0, 1e-20), (1.0, 1e6), (30.0, 0.5)])
def test_gathered_places_hold_at_tiny_and_huge_values(spread, weight):
    state, docs = problem(10, spread=spread, a0=weight)
    n, _, omega = mean_omega(state, docs)
    found = nothing(state)
    gather(state, docs, n, omega, found)
    right = gathered_twin(state, docs, n, omega)
    for one, two, size in zip(found, right[:2], right[2:], strict=True):
        assert (np.abs(one - two) <= 5e-6 * size).all()


def test_gathered_places_of_pieces_add_up_to_the_whole():
    state, docs = problem(11)
    n, _, omega = mean_omega(state, docs)
    found = nothing(state)
    for first, last in ((0, 3), (3, 3), (3, 14), (14, 20)):
        gather(state, docs, n[first:last], omega[first:last], found, first, last)
    right = gathered_twin(state, docs, n, omega)
    for one, two, size in zip(found, right[:2], right[2:], strict=True):
        assert (np.abs(one - two) <= 5e-6 * size).all()


# All documents


def place_all(state, docs, key, threads, exact=False, number=0):
    """Draw the places of all documents as a sweep does."""
    return GammaProcessDraws(exact=exact).place(state, held(docs, threads), Sweep(number, None, 12, key, None))


def noise(shape, psi, rng):
    """Numbers in the place of Polya-Gamma ones that do not depend on a last bit of psi."""
    assert shape.shape == psi.shape
    return rng.gamma(shape, 0.2)


@pytest.mark.parametrize("exact", [False, True], ids=["matched", "exact"])
def test_all_documents_are_placed_and_gathered(exact, monkeypatch):
    """Places are checked by what makes them; the sums, by a twin that is given the places."""
    monkeypatch.setattr(gamma_process_draws, "draw_polya_gamma", noise)
    state, docs = problem(12, n_docs=150)
    before, n = deepcopy(docs), counts_by_document(docs, state.width)
    with Threads(1) as threads:
        found = place_all(state, docs, key_of(12), threads, exact)
    weights = omega_of(state, before, key=key_of(12))[2]
    if exact:
        psi = gates(state, before)
        for first, last in pieces(len(docs)):
            for start in range(first, last, TOGETHER):
                here = slice(start, min(start + TOGETHER, last)), slice(20)
                rng = np.random.default_rng([12, 0, EXACT, start + 1])
                weights[here] = noise((state.weights.a0 + n)[here], psi[here], rng)
    place(state, before, n, weights, key_of(12))
    np.testing.assert_allclose(docs.places.u, before.places.u, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(docs.places.s, before.places.s, rtol=1e-3, atol=1e-4)
    right = gathered_twin(state, docs, n, weights)
    for one, two, size in zip(found, right[:2], right[2:], strict=True):
        assert (np.abs(one - two) <= 1e-5 * size).all()


@pytest.mark.parametrize("n_dims", [0, 3])
@pytest.mark.parametrize("exact", [False, True], ids=["matched", "exact"])
def test_threads_change_no_bit_of_the_places(n_dims, exact):
    found = []
    for n_jobs in (1, 2, 4):
        state, docs = problem(13, n_docs=150, n_dims=n_dims)
        assert len(pieces(len(docs))) > 4
        with Threads(n_jobs) as threads:
            for number in range(3):
                gathered = place_all(state, docs, key_of(13, number), threads, exact, number)
        found.append([*docs.places, *gathered])
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


# Loops that must run on all lanes of the processor


def given_to_pairs():
    state, _ = problem(14)
    room = place_room(state, AT_ONCE)
    return room.omega[0], record(state).pairs, room.row


def given_to_gather():
    state, docs = problem(14)
    return whole(docs), 0, len(docs), record(state).a0, place_room(state, TOGETHER), nothing(state)


LOOPS = {
    "weighted pairs": (weighted_pairs, given_to_pairs, 7),
    "gathered places": (gather_places, given_to_gather, 7 + 1 + 1),  # squares, a topic's rest, linear terms
}


def has_vectors():
    features = llvm.get_host_cpu_features() if platform.machine().lower() in ("x86_64", "amd64") else {}
    return features.get("avx2", False) and features.get("fma", False)


@pytest.mark.skipif(not has_vectors(), reason="a processor with AVX2 and FMA is needed")
@pytest.mark.parametrize("name", LOOPS)
def test_sums_over_topics_and_documents_multiply_and_add_on_all_lanes(name):
    """Compiled anew: numba shows no assembly of what it read from its cache. Of 8 products 7 are added to others."""
    loop, given, least = LOOPS[name]
    options = {key: loop.targetoptions[key] for key in ("nogil", "fastmath", "error_model")}
    fresh = njit(**options)(loop.py_func)
    fresh.compile(tuple(map(typeof, given())))
    (assembly,) = fresh.inspect_asm().values()
    assert len(re.findall(r"\bvfn?m(?:add|sub)\d+ps\b.*%[yz]mm", assembly)) >= least
