"""A chain has the same bits on an engine of two processes as on threads."""

import numpy as np
from small import new_chain, some_counts
from two_processes import TwoProcesses

from diln.engine.threads import Threads
from diln.inference.loops import sweeps
from diln.inference.posterior import OnlineStep
from diln.inference.sampling import documents
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
STEPS = {
    "draw_and_count", "draw_shard", "place_shard", "place_exactly", "visit_shard", "weigh_shard", "step_fold_in",
    "at_the_origin", "first_log_weights", "moments_of",
}  # fmt: skip


def fitted(weights, engine):
    """Everything that comes of a chain, a stochastic step, and some documents seen again."""
    run = ChainRun(new_chain(weights, COUNTS, 4, engine=engine), PLAN)
    sweeps(run, engine, lambda progress: False)
    state = run.average.state(run.chain.state)
    posterior = SampledPosterior(state, run.chain.gather(), weights, 0)
    score = posterior.learn(COUNTS[:60], OnlineStep(0, 0.5, 2.0, 20, 1e-3), engine)
    seen = posterior.infer(COUNTS, 20, 1e-3, engine)
    return [*posterior.tensors().values(), np.array([*run.scores, score]), seen.proportions, seen.locations]


def test_two_processes_find_the_same_bits_as_threads_by_all_steps(monkeypatch):
    monkeypatch.setattr(documents, "SHARD", COUNTS.sum() // 6)  # several shards
    with Threads(2) as threads, TwoProcesses() as processes:
        for kind in WEIGHTS:
            pairs = zip(fitted(WEIGHTS[kind], processes), fitted(WEIGHTS[kind], threads), strict=True)
            for place, (one, other) in enumerate(pairs):
                np.testing.assert_array_equal(one, other, err_msg=f"{kind}, {place}")
        assert processes.shipped >= STEPS
