"""The mean of states: a space that turns shrinks nothing, and inner products have a mean and a spread of their own."""

import numpy as np
import pytest
from small import empty_state, go_on, new_chain, saved, some_counts

from diln.engine.threads import Threads
from diln.inference.loops import sweeps
from diln.inference.sampling.average import Average, follow, follow_products, turned
from diln.inference.sampling.posterior import SampledPosterior
from diln.inference.sampling.run import ChainPlan, ChainRun
from diln.inference.sampling.state import State
from diln.inference.weights.gaussian import centred
from diln.inference.weights.gaussian_draws import GaussianDraws, spread_of_scatter
from diln.inference.weights.located_draws import LocatedDraws, spread_of_products

COUNTS = some_counts(np.random.default_rng(0), 60, 40)
LOCATED = LocatedDraws(n_dims=2)


def orthogonal(rng, dims):
    return np.linalg.qr(rng.standard_normal((dims, dims)))[0]


def state_at(places) -> State:
    """A state with topics at these places (d, n_topics)."""
    state = empty_state(5, places.shape[1], n_dims=len(places))
    state.weights.ells[:, : places.shape[1]] = places
    return state


def averaged(states) -> Average:
    average = Average()
    for state in states:
        average.add(state)
    return average


def known(average: Average, last: State) -> SampledPosterior:
    return SampledPosterior(
        average.state(last), None, LOCATED, 0, average.n_states, [], average.products(last), average.spread
    )


def chain_of(weights, n_states=12, max_iter=40, **given):
    """A chain whose late states are all kept."""
    plan = ChainPlan(max_iter=max_iter, n_states=n_states, keep_states=n_states, warm_up=4, tol=0.0)
    one = ChainRun(new_chain(weights, COUNTS, 6, **given), plan)
    with Threads(1) as threads:
        sweeps(one, threads, lambda progress: False)
    return one


def test_a_space_that_turns_from_state_to_state_shrinks_no_location():
    rng = np.random.default_rng(1)
    places = rng.standard_normal((4, 30)).astype(np.float32)
    states = [state_at(orthogonal(rng, 4) @ places) for _ in range(20)]
    average = averaged(states)
    mean = average.state(states[-1]).weights.ells[:, :30]
    np.testing.assert_allclose(mean, states[-1].weights.ells[:, :30], atol=1e-5)  # in the last state's own space
    np.testing.assert_allclose(average.products(states[-1]), places.T @ places, atol=1e-5)
    assert average.spread.max() < 1e-5
    plain = np.mean([state.weights.ells[:, :30] for state in states], axis=0)  # what is averaged as it is has shrunk
    assert np.linalg.norm(plain) < 0.5 * np.linalg.norm(mean)


def test_turning_finds_the_nearest_of_all_turns_and_mirrors():
    rng = np.random.default_rng(2)
    ells, like = rng.standard_normal((2, 3, 16))
    best = ((turned(ells, like) - like) ** 2).sum()
    assert all(((orthogonal(rng, 3) @ ells - like) ** 2).sum() > best for _ in range(2000))
    turn = orthogonal(rng, 3)
    np.testing.assert_allclose(turned(ells, turn @ ells), turn @ ells, atol=1e-12)


def test_one_state_is_as_it_was():
    state = state_at(np.random.default_rng(0).standard_normal((3, 7)))
    average = averaged([state])
    np.testing.assert_array_equal(average.state(state).weights.ells, state.weights.ells)
    assert average.products(state) is None
    assert average.spread is None


def test_inner_products_have_the_mean_and_the_deviation_of_the_states_kept():
    one = chain_of(LOCATED)
    size = one.chain.state.n_topics
    every = np.array([state.weights.ells[:, :size].T @ state.weights.ells[:, :size] for state in one.kept], np.float64)
    assert len(every) == one.average.n_states == 12
    np.testing.assert_allclose(one.average.products(one.chain.state), every.mean(axis=0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(one.average.spread, every.std(axis=0, ddof=1), rtol=1e-3, atol=1e-5)


def test_covariances_of_log_weights_have_a_deviation_too():
    one = chain_of(GaussianDraws(6.0), prunes=False)
    every = np.array([centred(state.weights.covariance) for state in one.kept])
    np.testing.assert_allclose(one.average.spread, every.std(axis=0, ddof=1), rtol=1e-3, atol=1e-5)
    assert one.average.products(one.chain.state) is None  # their mean is that of the covariance
    mean = one.average.state(one.chain.state).weights.covariance
    np.testing.assert_allclose(centred(mean), every.mean(axis=0), rtol=1e-9, atol=1e-12)


def test_an_average_goes_on_from_where_it_was_stored_to_the_same_bits():
    whole, kept = chain_of(LOCATED), []
    plan = ChainPlan(max_iter=40, n_states=12, keep_states=12, warm_up=4, tol=0.0)
    one = ChainRun(new_chain(LOCATED, COUNTS, 6), plan)

    def keep(progress):
        if one.chain.number == 33:
            kept.append(saved(one))
        return False

    with Threads(1) as threads:
        sweeps(one, threads, keep)
        again = ChainRun(new_chain(LOCATED, COUNTS, 6), plan)
        go_on(again, kept[0])
        assert 0 < again.average.n_states < 12
        sweeps(again, threads, lambda progress: False)
    for name, value in whole.average.sums.items():
        np.testing.assert_array_equal(again.average.sums[name], value, err_msg=name)


def test_a_topic_that_wanders_about_the_origin_is_not_told_from_it_and_correlates_with_none():
    rng = np.random.default_rng(3)
    places = rng.standard_normal((4, 12))
    states = []
    for _ in range(50):
        now = places + 0.05 * rng.standard_normal(places.shape)
        now[:, 0] = 2 * rng.standard_normal(4)
        states.append(state_at(now))
    found = known(averaged(states), states[-1])
    assert found.placed.tolist() == [False] + [True] * 11
    deviations = np.sqrt(np.diag(found.covariance))
    correlation = found.covariance / np.outer(deviations, deviations)
    assert np.abs(correlation[0, 1:]).max() < 0.25
    one = states[-1].weights.ells[:, :12]
    cosines = (one.T @ one) / np.outer(*2 * [np.linalg.norm(one, axis=0)])
    assert np.abs(cosines[0, 1:]).max() > 0.5  # of one state, whatever it happens to be


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_the_kernels_are_what_they_say_they_equal(scale):
    rng = np.random.default_rng(4)
    every = (scale * rng.standard_normal((9, 3, 21))).astype(np.float32)
    found = [[np.zeros((21, 21), np.float32) for _ in range(2)] for _ in range(2)]
    for number, ells in enumerate(every, 1):
        follow_products(ells, number, *found[0])
        follow(ells.T @ ells, number, *found[1])
    products = np.einsum("nki,nkj->nij", every.astype(float), every.astype(float))
    mean, lower = products.mean(axis=0), np.tril_indices(21)
    for means, squares in found:
        np.testing.assert_allclose(means[lower], mean[lower], rtol=1e-4, atol=1e-5 * scale**2)
        np.testing.assert_allclose(squares[lower], ((products - mean) ** 2).sum(axis=0)[lower], rtol=1e-4)


def test_the_spread_of_a_stream_is_that_of_draws_given_its_documents():
    rng = np.random.default_rng(5)
    means, roots = rng.standard_normal((2, 3)), 0.3 * rng.standard_normal((2, 3, 3))
    draws = means[:, np.newaxis] + np.einsum("kab,knb->kna", roots, rng.standard_normal((2, 200_000, 3)))
    found = spread_of_products(means, roots @ roots.transpose(0, 2, 1))
    assert found[0, 1] == found[1, 0] == pytest.approx((draws[0] * draws[1]).sum(axis=1).std(), rel=0.02)
    covariance = np.array([[2.0, 0.7], [0.7, 1.0]])
    logs = rng.multivariate_normal(np.zeros(2), covariance, (4000, 50))
    scatter = np.einsum("rni,rnj->rij", logs, logs) / 50
    np.testing.assert_allclose(spread_of_scatter(covariance, 50), scatter.std(axis=0), rtol=0.05)
