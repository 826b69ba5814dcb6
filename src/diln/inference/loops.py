"""The algorithms, once for all models and both inferences.

``sweeps`` is batch learning, and "grow", which begins with some documents: all that are in play, then the corpus, until
nothing is gained. ``steps`` is online learning: some documents, then a step of the corpus towards them. What a sweep or
a step does is the inference's; where it runs is the engine's.
"""

import time
from collections.abc import Callable, Iterable
from typing import Protocol

from diln.engine.base import Engine
from diln.inference.data import Batch
from diln.inference.progress import Progress

Watch = Callable[[Progress], bool]  # is told of every sweep or step; says whether to end before the next


class SweepingRun(Protocol):
    """A fit that goes on by sweeps over its documents, and knows when it is done."""

    done: bool

    def sweep(self, engine: Engine) -> Progress:
        """Visit all documents in play, then move the corpus to where they say."""


class Learner(Protocol):
    """A model that learns from some documents at a time."""

    def learn(self, documents: Batch, engine: Engine) -> Progress:
        """Visit these documents, then move the corpus a step towards them."""


def sweeps(run: SweepingRun, engine: Engine, watch: Watch) -> None:
    """Sweep on until the run is done; goes on where a run was left."""
    while not run.done:
        if watch(run.sweep(engine)):
            break


def steps(learner: Learner, batches: Iterable[Batch], engine: Engine, watch: Watch, seconds: float = 0.0) -> None:
    """A step for every mini-batch; ``seconds`` were spent before."""
    begun = time.perf_counter() - seconds
    for batch in batches:
        progress = learner.learn(batch, engine)
        progress.seconds = time.perf_counter() - begun
        if watch(progress):
            break
