"""How long a chain goes on, what is averaged, and that a run goes on from where it was stored to the same bits."""

import numpy as np
import pytest
from small import everything, go_on, new_chain, saved, some_counts

from diln.engine.threads import Threads
from diln.inference.loops import sweeps
from diln.inference.sampling.run import WINDOW, ChainPlan, ChainRun
from diln.inference.weights import located_draws
from diln.inference.weights.gamma_process_draws import GammaProcessDraws
from diln.inference.weights.gaussian_draws import GaussianDraws, GaussianState
from diln.inference.weights.located_draws import LocatedDraws

COUNTS = some_counts(np.random.default_rng(0), 50, 40)


def plan_of(**given):
    return ChainPlan(**{"max_iter": 24, "n_states": 5, "keep_states": 2, "warm_up": 4, "tol": 0.0, **given})


def new_run(plan, seed=0, dims=2):
    weights = LocatedDraws(n_dims=dims) if dims else GammaProcessDraws()
    return ChainRun(new_chain(weights, COUNTS, 6, seed=seed), plan)


def made(plan, one=None, watch=None, stop=None, n_jobs=1):
    one, seen = one or new_run(plan), []

    def keep(progress):
        if watch is not None:
            watch(progress)
        seen.append(saved(one))
        return stop is not None and one.chain.number == stop

    with Threads(n_jobs) as threads:
        sweeps(one, threads, keep)
    return one, seen


def test_documents_come_in_by_stages():
    plan = plan_of(stages=((10, 3), (20, 2)))
    assert [plan.size(number, 50) for number in range(7)] == [10, 10, 10, 20, 20, 50, 50]
    assert plan.size(0, 7) == 7


def test_late_states_are_averaged_and_some_kept():
    one, _ = made(plan_of())
    assert one.done
    assert one.chain.number == 24
    assert one.average.n_states == 5
    assert len(one.kept) == 2
    mean = one.average.state(one.chain.state)
    assert mean.tokens.sum() == pytest.approx(one.chain.docs.n_tokens)
    assert np.allclose(mean.counts.table.sum(axis=0), mean.counts.totals, rtol=1e-5)


def test_topics_are_the_same_ones_in_all_states_that_are_averaged():
    sizes = []
    made(plan_of(max_iter=40), watch=lambda progress: sizes.append((progress.n_states, progress.n_components)))
    assert len({size for states, size in sizes if states}) == 1


def test_a_run_that_has_settled_begins_to_average_early():
    one, _ = made(plan_of(max_iter=300, tol=1e9))
    assert one.chain.number == plan_of(max_iter=300).settles + 5 - 1


def test_a_run_that_gains_has_not_settled():
    one = new_run(plan_of(max_iter=300, tol=0.01), dims=0)
    one.chain.number = 100
    one.scores = list(np.linspace(-8, -7, 100))
    assert not one.settled
    one.scores = [-7.0] * 2 * WINDOW
    assert one.settled


@pytest.mark.parametrize("change", [0.02, -0.02])
def test_a_run_whose_log_weights_spread_or_shrink_has_not_settled(change):
    one = new_run(plan_of(max_iter=300, tol=0.01), dims=0)
    one.chain.number, one.scores = 100, [-7.0] * 2 * WINDOW
    one.spreads = [0.0] * WINDOW + [change] * WINDOW
    assert not one.settled
    one.spreads = [change] * 2 * WINDOW
    assert one.settled


def test_the_spread_of_log_weights_is_about_their_mean_in_a_document():
    state = new_run(plan_of(), dims=0).chain.state
    assert GaussianDraws().spread(state) is None  # before there are any
    state.weights = GaussianState(np.zeros(state.n_topics), 7.0 + 2.0 * np.eye(state.n_topics))
    assert GaussianDraws().spread(state) == pytest.approx(np.log(2.0 * (state.n_topics - 1)))


def test_time_is_kept():
    one, _ = made(plan_of(max_iter=10**6, max_time=0.5, n_states=1, tol=-1e9))
    assert one.done
    assert one.seconds < 10
    assert one.average.n_states >= 1


def test_the_gate_opens_after_the_warm_up_and_in_short_runs_too():
    one, _ = made(plan_of(max_iter=8, warm_up=100))
    assert one.chain.state.weights.n_dims == 2
    assert everything(one.chain).places.u.any()
    assert made(plan_of(), new_run(plan_of(), dims=0))[0].chain.state.weights.n_dims == 0


@pytest.mark.parametrize("stop", [1, 3, 4, 5, 11, 19, 20, 22, 24])
def test_a_run_that_was_stopped_goes_on_to_the_same_bits(stop):
    whole, _ = made(plan_of(stages=((20, 6),)))
    _, seen = made(plan_of(stages=((20, 6),)), stop=stop)
    again = new_run(plan_of(stages=((20, 6),)))
    go_on(again, seen[-1])
    made(plan_of(stages=((20, 6),)), again)
    assert np.array_equal(everything(again.chain).topics, everything(whole.chain).topics)
    assert np.array_equal(everything(again.chain).places.u, everything(whole.chain).places.u)
    for name, array in whole.average.state(whole.chain.state).tensors().items():
        assert np.array_equal(array, again.average.state(again.chain.state).tensors()[name]), name
    assert again.scores == whole.scores
    assert [state.numbers() for state in again.kept] == [state.numbers() for state in whole.kept]


def test_runs_of_different_seeds_differ():
    first, second = made(plan_of())[0], made(plan_of(), new_run(plan_of(), seed=1))[0]
    assert not np.array_equal(everything(first.chain).topics, everything(second.chain).topics)


def test_a_model_without_locations_is_one_whose_locations_are_zero(monkeypatch):
    """The HDP is DILN with all topics at the origin: the same code, the same draws of tokens and intercepts."""

    monkeypatch.setattr(located_draws, "NEAR", 0.0)
    monkeypatch.setattr(located_draws, "draw_locations", lambda *given: None)
    located, plain = made(plan_of())[0], made(plan_of(), new_run(plan_of(), dims=0))[0]
    assert located.chain.state.weights.n_dims == 2
    assert not located.chain.state.weights.ells.any()
    assert np.array_equal(everything(located.chain).topics, everything(plain.chain).topics)
    assert np.array_equal(everything(located.chain).places.s, everything(plain.chain).places.s)
    assert np.array_equal(located.chain.state.weights.a0, plain.chain.state.weights.a0)
