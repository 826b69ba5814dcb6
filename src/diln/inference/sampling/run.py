"""A fit by sampling: sweeps over some documents, then over more, then over all, until the score settles."""

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diln.engine.base import Engine
from diln.inference.data import Array
from diln.inference.followed import Correlations, Followed, follow
from diln.inference.progress import Progress, Sight, topics_in_use
from diln.inference.sampling.average import Average
from diln.inference.sampling.chain import Chain
from diln.inference.sampling.merge import merge
from diln.inference.sampling.prune import prune_and_split
from diln.inference.sampling.state import State

WINDOW = 10  # sweeps whose mean score is compared with that of as many before them
WIDER = 0.01  # change of the spread of log weights, as a share of it, that is taken for none over as many sweeps


@dataclass(frozen=True, slots=True)
class ChainPlan:
    """How long to go on, and in what steps."""

    max_iter: int  # sweeps at most
    n_states: int  # late sweeps that are averaged
    keep_states: int  # of these, how many are kept
    warm_up: int  # sweeps before the weights open
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
    def staged(self) -> int:
        """Sweeps before all documents are in play."""
        return sum(sweeps for _, sweeps in self.stages)

    @property
    def opens(self) -> int:
        """The sweep before which the weights open: early enough for some sweeps after it."""
        return min(self.warm_up, self.max_iter // 4)

    @property
    def settles(self) -> int:
        """Sweeps that are made in any case before the score is asked: all documents and weights must be in play."""
        return max(self.opens, self.staged) + 2 * WINDOW


@dataclass(slots=True)
class ChainRun:
    """A chain on its way: what was seen of it, and the average of its late states."""

    chain: Chain
    plan: ChainPlan
    average: Average = field(default_factory=Average)
    kept: list[State] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)  # ln p of a token given all others, mean of each sweep
    spreads: list[float] = field(default_factory=list)  # what else must settle, of weights that have it, in each sweep
    seconds: float = 0.0  # spent so far, before a stop too
    visited: int = 0  # documents, each as often as it was
    done: bool = False
    begun: float | None = None  # when a run that had taken no second would have begun, on the clock of this process

    def sweep(self, engine: Engine) -> Progress:
        """One sweep; then take the state in if it is a late one."""
        chain, plan = self.chain, self.plan
        self.begun = time.perf_counter() - self.seconds if self.begun is None else self.begun
        chain.let_in(plan.size(chain.number, chain.docs.n_docs))
        if plan.merges is not None and chain.number == plan.opens and chain.state.n_topics > plan.merges:
            merge(chain, plan.merges)
        if chain.number >= plan.opens and chain.closed:
            chain.open()
        sums = chain.sweep()
        self.scores.append(sums.score / max(sums.n_tokens, 1))
        spread = chain.weights.spread(chain.state)
        self.spreads += [] if spread is None else [spread]
        self.visited += chain.docs.size
        self.seconds = time.perf_counter() - self.begun
        self._finish()
        return self.described()

    def _finish(self) -> None:
        """Take the state in if it is a late one, or else drop topics that nobody uses; see whether it was the last."""
        chain, plan = self.chain, self.plan
        late = plan.max_time is not None and self.seconds >= plan.max_time
        if late and chain.closed:
            chain.open()  # time is up, but a model has its weights: one more sweep
            return
        if self.average.n_states or late or self.settled:
            self.average.add(chain.state)
            if plan.keep_states:
                self.kept = [*self.kept, chain.state.copy()][-plan.keep_states :]
            self.done = late or self.average.n_states >= plan.n_states or chain.number >= plan.max_iter
        else:
            prune_and_split(chain, grows=plan.grows)

    @property
    def settled(self) -> bool:
        """Whether averaging is to begin: the score gains no more, or what is left of sweeps or time is needed."""
        number, plan = self.chain.number, self.plan
        if number > plan.max_iter - plan.n_states:
            return True
        if self.chain.closed or number <= plan.staged:
            return False
        if plan.max_time is not None and self.seconds >= plan.max_time * (1 - plan.n_states / plan.max_iter):
            return True
        wider = abs(gain(self.spreads)) if self.spreads else 0.0
        return number >= plan.settles and gain(self.scores) < plan.tol and wider < WIDER

    def described(self) -> Progress:
        """How far the run is."""
        state = self.chain.state
        return Progress(
            self.chain.number, self.visited, self.seconds, topics_in_use(state.counts.totals), score=self.scores[-1],
            topic_word_prior=state.counts.prior, n_components=state.n_topics, n_states=self.average.n_states,
            correlations=self._correlations(), **self.chain.weights.described(state),
        )  # fmt: skip

    def _correlations(self) -> Correlations:
        """Those of a few pairs of topics, from when the weights are open; of a model that has them."""
        chain, state = self.chain, self.chain.state
        chain.followed, found = follow(
            chain.followed, chain.seed, state.tokens, chain.weights.locations(state),
            lambda: None if chain.closed else chain.weights.covariance(state),
        )  # fmt: skip
        return found

    def sight(self) -> Sight:
        """The topics as they are now."""
        state = self.chain.state
        return Sight(state.counts.table[:, : state.n_topics], state.tokens, self.chain.weights.locations(state))

    def stored(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """As JSON and tensors, from which it goes on as if it had never stopped; documents are not in it."""
        chain, sums = self.chain, self.average.sums
        numbers = {
            "number": chain.number, "size": chain.docs.size, "opened": chain.opened, "state": chain.state.numbers(),
            "scores": self.scores, "spreads": self.spreads, "seconds": self.seconds, "visited": self.visited,
            "done": self.done, "n_states": self.average.n_states,
            "means": {name: value for name, value in sums.items() if isinstance(value, float)},
            "kept": [state.numbers() for state in self.kept], "followed": chain.followed.stored(),
        }  # fmt: skip
        tensors = dict(chain.state.tensors())
        tensors |= {f"average.{name}": value for name, value in sums.items() if not isinstance(value, float)}
        kept = enumerate(self.kept)
        tensors |= {f"{name}.{i}": value for i, state in kept for name, value in state.tensors().items()}
        return numbers, tensors

    def restore(self, numbers: dict[str, Any], tensors: dict[str, Array]) -> None:
        """Bring a run to where ``stored`` left one of the same documents, which are to be brought there, too."""
        chain = self.chain
        chain.number, chain.docs.size, chain.opened = numbers["number"], numbers["size"], numbers["opened"]
        weights = chain.weights.state_of(tensors)
        chain.state = State.restored(weights, tensors, numbers["state"])
        sums = {**numbers["means"]}
        sums |= {name[len("average.") :]: value for name, value in tensors.items() if name.startswith("average.")}
        self.average = Average(numbers["n_states"], sums)
        self.kept = [State.restored(weights, tensors, one, f".{i}") for i, one in enumerate(numbers["kept"])]
        self.scores, self.spreads, self.seconds = [*numbers["scores"]], [*numbers["spreads"]], numbers["seconds"]
        self.visited, self.done, self.begun = numbers["visited"], numbers["done"], None
        chain.followed = Followed.restored(numbers["followed"])


def gain(values: list[float]) -> float:
    """How much larger the mean of the last WINDOW values is than that of as many before them."""
    return float(np.mean(values[-WINDOW:]) - np.mean(values[-2 * WINDOW : -WINDOW] or -np.inf))
