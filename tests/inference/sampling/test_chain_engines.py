"""A chain has the same bits on an engine of two processes as on threads."""

import numpy as np
import pytest
from small import new_chain, some_counts
from two_processes import TwoProcesses

from diln.engine.threads import Threads
from diln.inference.loops import sweeps
from diln.inference.posterior import OnlineStep
from diln.inference.sampling import token_step
from diln.inference.sampling.posterior import SampledPosterior
from diln.inference.sampling.run import ChainPlan, ChainRun
from diln.inference.weights.dirichlet_draws import DirichletDraws
from diln.inference.weights.gamma_process_draws import GammaProcessDraws
from diln.inference.weights.gaussian_draws import GaussianDraws
from diln.inference.weights.located_draws import LocatedDraws

COUNTS = some_counts(np.random.default_rng(0), 140, 40)
PLAN = ChainPlan(max_iter=8, n_states=2, keep_states=0, warm_up=2, tol=0.0)
WEIGHTS = {
    "LDA": DirichletDraws(), "HDP": GammaProcessDraws(), "DILN": LocatedDraws(n_dims=2),
    "DILN, exact": LocatedDraws(n_dims=2, exact=True), "CTM": GaussianDraws(4.0),
}  # fmt: skip
STEPS = {"draw_block", "draw_shard", "place_shard", "place_exactly", "visit_shard", "weigh_shard", "step_fold_in"}


@pytest.fixture(scope="module")
def processes():
    with TwoProcesses() as engine:
        yield engine


def fitted(weights, engine):
    """Everything that comes of a chain, a stochastic step, and some documents seen again."""
    run = ChainRun(new_chain(weights, COUNTS, 4), PLAN)
    sweeps(run, engine, lambda progress: False)
    state = run.average.state(run.chain.state)
    posterior = SampledPosterior(state, run.chain.gather(engine), weights, 0)
    score = posterior.learn(COUNTS[:60], OnlineStep(0, 0.5, 2.0, 20, 1e-3), engine)
    seen = posterior.infer(COUNTS, 20, 1e-3, engine)
    return [*posterior.tensors().values(), np.array([*run.scores, score]), seen.proportions, seen.locations]


@pytest.mark.parametrize("kind", WEIGHTS)
def test_two_processes_find_the_same_bits_as_threads(kind, processes, monkeypatch):
    monkeypatch.setattr(token_step, "BLOCK", COUNTS.sum() // 6)  # several blocks
    with Threads(2) as threads:
        right = fitted(WEIGHTS[kind], threads)
    for one, other in zip(fitted(WEIGHTS[kind], processes), right, strict=True):
        np.testing.assert_array_equal(one, other)


def test_all_steps_have_been_to_another_process(processes):
    assert processes.shipped >= STEPS
