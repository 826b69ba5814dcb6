"""The batch algorithm: sweeps over some documents, then over more, then over all, until the score is at rest."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diln.engine.threads import Threads
from diln.inference.loops import Progress
from diln.inference.sampling.chain import Average, Chain
from diln.inference.sampling.corpus_step import Sums

WINDOW = 10  # sweeps whose mean score is compared with that of as many before them


@dataclass(frozen=True, slots=True)
class Plan:
    """How long to go on, and in what steps."""

    max_iter: int  # sweeps at most
    n_states: int  # late sweeps that are averaged
    warm_up: int  # sweeps before the gate opens
    places_every: int  # sweeps from one draw of documents' places to the next
    tol: float  # gain of the score, in nats a token, over WINDOW sweeps that is taken for none
    stages: tuple[tuple[int, int], ...]  # (documents, sweeps) before all documents are in play
    max_time: float | None = None  # seconds

    def size(self, number: int, n_docs: int) -> int:
        """Documents that are in play in a sweep."""
        for size, sweeps in self.stages:
            if number < sweeps:
                return min(size, n_docs)
            number -= sweeps
        return n_docs

    @property
    def before(self) -> int:
        """Sweeps before all documents are in play."""
        return sum(sweeps for _, sweeps in self.stages)


@dataclass(slots=True)
class Run:
    """A chain on its way: what was seen of it, and the average of its late states."""

    chain: Chain
    average: Average = field(default_factory=Average)
    scores: list[float] = field(default_factory=list)  # ln p of a token given all others, mean of each sweep
    rested: int | None = None  # sweep after which averaging began
    seconds: float = 0.0  # spent so far, before a stop too
    done: bool = False


def run(
    run: Run,
    plan: Plan,
    threads: Threads,
    note: Callable[[Progress], None],
    tidy: Callable[[Chain], None],
    checkpoint: Callable[[Run], None],
) -> None:
    """Sweep on until the score is at rest, average so many states, and stop; goes on where a run was left."""
    chain, before = run.chain, time.perf_counter() - run.seconds
    while not run.done:
        chain.size = plan.size(chain.number, len(chain.everything))
        if chain.number == plan.warm_up and chain.prior.n_dims:
            chain.open()
        sums = chain.sweep(threads, places=chain.number % plan.places_every == 0 or chain.number < plan.warm_up)
        run.scores.append(sums.score / max(chain.docs.tokens.size, 1))
        run.seconds = time.perf_counter() - before
        if run.rested is None and resting(run, plan):
            run.rested = chain.number
        if run.rested is not None:
            run.average.add(chain.state)
        else:
            tidy(chain)
        late = plan.max_time is not None and run.seconds >= plan.max_time
        run.done = run.average.n_states >= plan.n_states or chain.number >= plan.max_iter or late
        if run.done and not run.average.n_states:
            run.average.add(chain.state)
        note(describe(run, plan))
        checkpoint(run)


def resting(run: Run, plan: Plan) -> bool:
    """Whether averaging is to begin: the score is at rest, or what is left of sweeps or time is needed for states."""
    number = run.chain.number
    if number >= plan.max_iter - plan.n_states:
        return True
    if plan.max_time is not None and run.seconds >= plan.max_time * (1 - plan.n_states / plan.max_iter):
        return True
    since = number - max(plan.before, plan.warm_up)
    if since < 2 * WINDOW:
        return False
    late, early = np.mean(run.scores[-WINDOW:]), np.mean(run.scores[-2 * WINDOW : -WINDOW])
    return bool(late - early < plan.tol)


def describe(run: Run, plan: Plan) -> Progress:
    """How far the run is."""
    state = run.chain.state
    shares = state.totals / max(state.totals.sum(), 1)
    return Progress(
        run.chain.number, 0, run.seconds, 0,
        perplexity=float(np.exp(-run.scores[-1])), alpha=state.alpha, beta=state.beta,
    )  # fmt: skip
