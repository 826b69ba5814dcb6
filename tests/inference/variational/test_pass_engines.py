"""Variational inference on two processes: every step can be shipped, and no bit depends on where it ran."""

import numpy as np
from two_processes import TwoProcesses

from diln.engine.threads import Threads
from diln.inference.loops import sweeps
from diln.inference.posterior import OnlineStep
from diln.inference.predict import log_likelihood
from diln.inference.sampling.fold_in import fold_in
from diln.inference.variational.documents import Limits
from diln.inference.variational.posterior import VariationalPosterior
from diln.inference.variational.run import VariationalPlan, VariationalRun
from diln.inference.variational.start import clusters, smoothed
from diln.inference.weights.dirichlet import DirichletWeights
from diln.inference.weights.gamma_process import StickWeights
from diln.inference.weights.gaussian import GaussianWeights
from diln.inference.weights.located import LocatedWeights
from diln.models.counts import as_rows

TOPICS, TERMS = 9, 600  # more topics than one call of the location step takes, more terms than a call of the topics'
COUNTS = as_rows(np.random.default_rng(0).poisson(0.1, (70, TERMS)))
STEPS = {
    "step_nearest", "step_expected", "step_topic_terms", "step_documents", "step_statistics", "step_weight_terms",
    "step_locations", "step_log_weights", "step_held_out", "step_fold_in",
}  # fmt: skip


def weights_of(kind):
    sticks = StickWeights(TOPICS, (1.0, 1e-3), (1.0, 1e-3))
    return {
        "LDA": DirichletWeights(np.full(TOPICS, 0.3), learned=True),
        "HDP": sticks,
        "DILN": LocatedWeights(sticks, np.random.default_rng(1).normal(size=(TOPICS, 3)), 0.5),
        "CTM": GaussianWeights(np.zeros(TOPICS), np.eye(TOPICS), 5.0),
    }[kind]


def fitted(kind, engine):
    """Everything that comes of a start, two passes, a stochastic step, and some documents seen again."""
    rng = np.random.default_rng(2)
    start = smoothed(clusters(COUNTS, TOPICS, rng, engine), float(COUNTS.sum()), rng)
    posterior, bounds = VariationalPosterior(start.astype(np.float32), 0.1, weights_of(kind)), []
    plan = VariationalPlan(2, 0.0, 1e-3, 0)
    sweeps(VariationalRun(posterior, COUNTS, plan, lambda: 0.0), engine, lambda progress: bounds.append(progress.bound))
    posterior.learn(as_rows(COUNTS[:40]), OnlineStep(0, 0.5, 2.0, 50, 1e-3), engine)
    posterior.refresh(engine)
    seen = posterior.infer(COUNTS, 20, 1e-3, engine)
    topics = posterior.topic_word().astype(np.float32)
    likelihood = log_likelihood(topics, seen.proportions, COUNTS, engine)
    folded = fold_in(topics, posterior.a0, posterior.locations, COUNTS, Limits(20, 1e-3), engine)
    return [*posterior.tensors().values(), np.array(bounds), seen.proportions, seen.locations, likelihood, *folded]


def test_two_processes_find_the_same_bits_as_threads_by_all_steps():
    with Threads(2) as threads, TwoProcesses() as processes:
        for kind in ("LDA", "HDP", "DILN", "CTM"):
            pairs = zip(fitted(kind, processes), fitted(kind, threads), strict=True)
            for place, (one, other) in enumerate(pairs):
                np.testing.assert_array_equal(one, other, err_msg=f"{kind}, {place}")
        assert processes.shipped >= STEPS
