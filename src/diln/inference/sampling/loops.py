"""The batch algorithm: sweeps over some documents, then over more, then over all, until the score is at rest."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diln.engine.base import Engine
from diln.inference.data import Array
from diln.inference.progress import Progress, topics_in_use
from diln.inference.sampling.average import Average
from diln.inference.sampling.chain import Chain
from diln.inference.sampling.merge import merge
from diln.inference.sampling.prune import tidy
from diln.inference.sampling.state import State

WINDOW = 10  # sweeps whose mean score is compared with that of as many before them
WIDER = 0.01  # change of the spread of log weights, as a share of it, that is taken for none over as many sweeps


@dataclass(frozen=True, slots=True)
class Plan:
    """How long to go on, and in what steps."""

    max_iter: int  # sweeps at most
    n_states: int  # late sweeps that are averaged
    keep_states: int  # of these, so many are kept
    warm_up: int  # sweeps before the gate opens
    tol: float  # gain of the score, in nats a token, over WINDOW sweeps that is taken for none
    stages: tuple[tuple[int, int], ...] = ()  # (documents, sweeps) before all documents are in play
    max_time: float | None = None  # seconds
    grows: bool = False  # whether topics are added when there are too few
    merges: int | None = None  # topics that a chain which starts with more of them is to go on with

    def size(self, number: int, n_docs: int) -> int:
        """Documents that are in play in a sweep."""
        for size, sweeps in self.stages:
            if number < sweeps:
                return min(size, n_docs)
            number -= sweeps
        return n_docs

    @property
    def opens(self) -> int:
        """The sweep before which the gate opens: early enough for some sweeps with it."""
        return min(self.warm_up, self.max_iter // 4)

    @property
    def settles(self) -> int:
        """Sweeps that are made in any case before the score is asked: all documents, and the gate, must be in play."""
        return max(self.opens, sum(sweeps for _, sweeps in self.stages)) + 2 * WINDOW


@dataclass(slots=True)
class Run:
    """A chain on its way: what was seen of it, and the average of its late states."""

    chain: Chain
    average: Average = field(default_factory=Average)
    kept: list[State] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)  # ln p of a token given all others, mean of each sweep
    spreads: list[float] = field(default_factory=list)  # of log weights, where documents have them, in each sweep
    seconds: float = 0.0  # spent so far, before a stop too
    visited: int = 0  # documents, each as often as it was
    done: bool = False

    @property
    def resting(self) -> bool:
        """Whether late states are being averaged."""
        return self.average.n_states > 0


def run(
    run: Run, plan: Plan, engine: Engine, note: Callable[[Progress], None], checkpoint: Callable[[Run], None]
) -> None:
    """Sweep on until the score is at rest, average so many states, and stop; goes on where a run was left."""
    chain, begun = run.chain, time.perf_counter() - run.seconds
    while not run.done:
        chain.let_in(plan.size(chain.number, len(chain.everything)))
        if plan.merges is not None and chain.number == plan.opens and chain.state.n_topics > plan.merges:
            merge(chain, plan.merges)
        if chain.number >= plan.opens and chain.closed:
            chain.open()
        sums = chain.sweep(engine)
        run.scores.append(sums.score / max(chain.docs.tokens.size, 1))
        spread = chain.weights.spread(chain.state)
        if spread is not None:
            run.spreads.append(spread)
        run.visited += chain.size
        run.seconds = time.perf_counter() - begun
        finish(run, plan)
        note(describe(run))
        checkpoint(run)


def finish(run: Run, plan: Plan) -> None:
    """Take the state in if it is a late one, or else drop topics that nobody uses; see whether this was the last."""
    chain = run.chain
    late = plan.max_time is not None and run.seconds >= plan.max_time
    if late and chain.closed:
        chain.open()  # time is up, but a model has locations: one more sweep
        return
    if run.resting or late or at_rest(run, plan):
        run.average.add(chain.state)
        if plan.keep_states:
            run.kept = [*run.kept, chain.state.copy()][-plan.keep_states :]
        run.done = late or run.average.n_states >= plan.n_states or chain.number >= plan.max_iter
    else:
        tidy(chain, grows=plan.grows)


def at_rest(run: Run, plan: Plan) -> bool:
    """Whether averaging is to begin: the score is at rest, or what is left of sweeps or time is needed for states."""
    number = run.chain.number
    if number > plan.max_iter - plan.n_states:
        return True
    if chain_is_short(run, plan):
        return False
    if plan.max_time is not None and run.seconds >= plan.max_time * (1 - plan.n_states / plan.max_iter):
        return True
    wider = abs(gain(run.spreads)) if run.spreads else 0.0
    return number >= plan.settles and gain(run.scores) < plan.tol and wider < WIDER


def gain(values: list[float]) -> float:
    """How much larger the mean of the last WINDOW values is than that of as many before them."""
    return float(np.mean(values[-WINDOW:]) - np.mean(values[-2 * WINDOW : -WINDOW] or -np.inf))


def chain_is_short(run: Run, plan: Plan) -> bool:
    """Whether some documents, or the gate, are not in play yet."""
    return run.chain.closed or run.chain.number <= sum(sweeps for _, sweeps in plan.stages)


def describe(run: Run) -> Progress:
    """How far the run is."""
    state = run.chain.state
    return Progress(
        run.chain.number, run.visited, run.seconds, topics_in_use(state.counts.totals), score=run.scores[-1],
        topic_word_prior=state.counts.prior, n_components=state.n_topics, n_states=run.average.n_states,
        **run.chain.weights.described(state),
    )  # fmt: skip


def stored(run: Run) -> tuple[dict[str, Any], dict[str, Array]]:
    """A run as JSON and tensors, from which it goes on as if it had never stopped; documents' counts are not in it."""
    chain, docs = run.chain, run.chain.everything
    numbers = {
        "number": chain.number, "size": chain.size, "opened": chain.opened, "state": chain.state.numbers(),
        "scores": run.scores, "spreads": run.spreads, "seconds": run.seconds, "visited": run.visited, "done": run.done,
        "n_states": run.average.n_states,
        "means": {name: value for name, value in run.average.sums.items() if isinstance(value, float)},
        "kept": [state.numbers() for state in run.kept],
    }  # fmt: skip
    tensors = {"topics": docs.topics, **docs.places._asdict(), **chain.state.tensors()}
    tensors |= {f"average.{name}": value for name, value in run.average.sums.items() if not isinstance(value, float)}
    tensors |= {f"{name}.{i}": value for i, state in enumerate(run.kept) for name, value in state.tensors().items()}
    return numbers, tensors


def restore(run: Run, numbers: dict[str, Any], tensors: dict[str, Array]) -> None:
    """Bring a run that has not begun to where ``stored`` left one of the same documents."""
    chain, docs = run.chain, run.chain.everything
    chain.number, chain.size, chain.opened = numbers["number"], numbers["size"], numbers["opened"]
    weights = chain.weights.state_of(tensors)
    chain.state = State.restored(weights, tensors, numbers["state"])
    docs.topics = tensors["topics"]
    places = type(chain.weights.documents(chain.state, 0))
    docs.places = places(*(tensors[name] for name in places._fields))
    sums = {**numbers["means"]}
    sums |= {name[len("average.") :]: value for name, value in tensors.items() if name.startswith("average.")}
    run.average = Average(numbers["n_states"], sums)
    run.kept = [State.restored(weights, tensors, one, f".{i}") for i, one in enumerate(numbers["kept"])]
    run.scores, run.spreads, run.seconds = numbers["scores"], numbers.get("spreads", []), numbers["seconds"]
    run.visited, run.done = numbers["visited"], numbers["done"]
