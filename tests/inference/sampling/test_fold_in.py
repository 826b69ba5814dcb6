"""New documents settle where tokens, location and intercept agree; each by itself, whatever is asked with it."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import expit

from diln.engine.threads import Threads
from diln.inference.sampling.fold_in import OVER, distance, fold_in, go_beyond
from diln.inference.variational.documents import Limits

TERMS, TOPICS, DIMS = 30, 7, 3


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(TERMS, 0.1), TOPICS).T.astype(np.float32) + np.float32(1e-6)
    return np.ascontiguousarray(topics), rng.gamma(1.0, 0.3, TOPICS), rng.normal(0, 1, (TOPICS, DIMS))


@pytest.fixture
def counts():
    return csr_array(np.random.default_rng(1).poisson(0.5, (80, TERMS)).astype(np.float32))


def asked(model, counts, n_jobs=1, most=2000, tolerance=1e-7):
    with Threads(n_jobs) as threads:
        return fold_in(*model, counts, Limits(most, tolerance), threads)


def gate_gradient(model, n, x):
    """Of sum_k n_k psi_k - a_k ln(1 + e^psi_k) - u.u/2 at x = (u, s)."""
    _, a0, ells = model
    covariates = np.column_stack([ells, np.ones(len(a0))])
    rest = n - (a0 + n) * expit(covariates @ x)
    return covariates.T @ rest - np.append(x[:-1], 0)


def test_a_settled_document_is_a_fixed_point(model, counts):
    topics, a0, ells = model
    shares, places = asked(model, counts)
    for m in range(10):
        row = counts[[m]].toarray()[0]
        phi = topics * shares[m]  # proportional to (a0 + n) sigma
        phi /= phi.sum(axis=1, keepdims=True)
        n = row @ phi
        # the intercept is where the expected proportions add up to the tokens
        values = np.linspace(-12, 12, 20001)
        slopes = [abs(gate_gradient(model, n, np.append(places[m], value))[-1]) for value in values[::200]]
        near = values[::200][int(np.argmin(slopes))]
        fine = np.linspace(near - 0.3, near + 0.3, 4001)
        s = fine[int(np.argmin([abs(gate_gradient(model, n, np.append(places[m], v))[-1]) for v in fine]))]
        weights = (a0 + n) * expit(ells @ places[m] + s)
        assert np.allclose(weights / weights.sum(), shares[m], atol=2e-3)
        assert np.abs(gate_gradient(model, n, np.append(places[m], s))).max() < 0.05


def test_without_locations_it_is_the_fixed_point_of_the_weights(model, counts):
    topics, a0, _ = model
    shares, places = asked((topics, a0, np.zeros((TOPICS, 0))), counts)
    assert places.shape == (80, 0)
    row, n = counts[[3]].toarray()[0], np.full(TOPICS, counts[[3]].sum() / TOPICS)
    for _ in range(3000):
        phi = topics * (a0 + n)
        n = row @ (phi / phi.sum(axis=1, keepdims=True))
    assert np.allclose((a0 + n) / (a0 + n).sum(), shares[3], atol=1e-4)


def plain_turns(model, row, turns):
    """A document's proportions and location after so many turns that go as far as they lead, and no further."""
    topics, a0, ells = model
    covariates, n = np.column_stack([ells, np.ones(len(a0))]), row.sum() * a0 / a0.sum()
    x = np.append(np.zeros(ells.shape[1]), np.log(row.sum() / a0.sum()))
    for turn in range(turns):
        phi = topics * ((a0 + n) * expit(covariates @ x))
        n = row @ (phi / phi.sum(axis=1, keepdims=True))
        if turn % 2 == 1:
            sigma = expit(covariates @ x)
            curvature = (covariates.T * ((a0 + n) * sigma * (1 - sigma))) @ covariates
            x = x + np.linalg.solve(curvature + np.diag([1.0] * ells.shape[1] + [1e-9]), gate_gradient(model, n, x))
    weights = (a0 + n) * expit(covariates @ x)
    return weights / weights.sum(), x[:-1]


@pytest.mark.parametrize("dims", [0, DIMS])
def test_turns_that_go_beyond_end_where_plain_ones_do_and_are_nearer_after_as_many(model, counts, dims):
    topics, a0, ells = model
    model, rows = (topics, a0, ells[:, :dims]), counts.toarray()[:20]
    ends = [plain_turns(model, row, 800) for row in rows]
    shares, places = asked(model, counts, most=3000, tolerance=0)
    for m, (share, place) in enumerate(ends):
        assert np.abs(share - shares[m]).sum() < 1e-3
        assert np.allclose(place, places[m], atol=1e-3)
    for turns in (6, 12, 24):
        short = np.array([plain_turns(model, row, turns)[0] for row in rows])
        plain = np.abs(short - [end for end, _ in ends]).sum(axis=1)
        beyond = np.abs(asked(model, counts, most=turns, tolerance=0)[0][:20] - [end for end, _ in ends]).sum(axis=1)
        assert beyond.mean() < 0.8 * plain.mean()
        assert np.quantile(beyond, 0.95) < np.quantile(plain, 0.95)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_what_a_turn_moves_is_numpys(scale):
    rng = np.random.default_rng(4)
    fresh, n, a0 = rng.gamma(0.3, scale, 50).astype(np.float32), rng.gamma(0.3, scale, 50), rng.gamma(0.3, 1, 50)
    assert np.isclose(distance(fresh, n), np.abs(fresh - n).sum())
    wanted, a = np.maximum(n + OVER * (fresh - n), 0), np.empty(50)
    go_beyond(fresh, OVER, a0, n, a)
    assert np.allclose(n, wanted)
    assert np.allclose(a, a0 + wanted)
    assert (n == 0).any()


def test_documents_do_not_know_of_each_other(model, counts):
    shares, places = asked(model, counts, most=50, tolerance=1e-3)
    order = np.random.default_rng(2).permutation(80)
    for n_jobs in (1, 2, 4):
        mixed = asked(model, csr_array(counts[order]), n_jobs, most=50, tolerance=1e-3)
        assert np.array_equal(mixed[0], shares[order])
        assert np.array_equal(mixed[1], places[order])
    alone = asked(model, csr_array(counts[[5]]), most=50, tolerance=1e-3)
    assert np.array_equal(alone[0][0], shares[5])


def test_a_document_without_tokens_gets_the_prior_and_the_origin(model):
    shares, places = asked(model, csr_array((2, TERMS), dtype=np.float32))
    assert np.allclose(shares, model[1] / model[1].sum())
    assert not places.any()


def test_rows_sum_to_one_with_tiny_and_huge_weights(model, counts):
    topics, a0, ells = model
    for scale in (1e-12, 1e6):
        shares, _ = asked((topics, a0 * scale, ells * 5), counts, most=30, tolerance=1e-3)
        assert np.isfinite(shares).all()
        assert np.allclose(shares.sum(axis=1), 1)
