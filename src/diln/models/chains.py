"""Several chains over the same documents, side by side: the first is the model, the others say how sure it is."""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cache, partial

from diln.engine.base import Engine
from diln.engine.threads import Threads
from diln.inference.progress import Look, Progress
from diln.models.agreement import ChainAgreement, ChainSummary
from diln.models.checkpoints import Checkpoints, Keeper, fingerprint
from diln.models.fitted import Fitted
from diln.models.job import Job

SHOWN_EVERY = 0.5  # seconds from one look at chains that go on to the next, once the model's own is done


class Stopped(Exception):  # noqa: N818
    """Another chain has failed, or all were interrupted: this one ends."""


def fit(job: Job, engine: Engine, checkpoints: Checkpoints | None, fit_one: Callable[[Job, Engine], Fitted]) -> Fitted:
    """Fit a model, with as many chains as asked for, or go on with a fit that was stopped.

    Chain i has the bits of a fit with seed + i. As many chains run at a time as there are threads for, and share them:
    how many there are changes no bit. On an engine other than threads they run one after the other. Of a fit that the
    user ends, those agree that were done.
    """
    number, seed = job.parameters.n_chains, job.seed
    told = cache(partial(fingerprint, job.parameters, job.rows, job.vocabulary))
    keepers = [Keeper.of_chain(checkpoints, i, told, job.vocabulary, last=number > 1) for i in range(number)]
    if not isinstance(job.parameters.random_state, int):  # else it is that of all chains that were stopped, too
        seed = next((found.content["seed"] - i for i, one in enumerate(keepers) if (found := one.found())), seed)
    if number == 1:
        return fit_one(job.of_chain(0, seed, job.look, keepers[0]), engine)

    def chain(i: int, engine: Engine, look: Look) -> Fitted:
        return fit_one(job.of_chain(i, seed + i, look, keepers[i]), engine)

    fitted, others = Together(number, engine, job).run(chain)
    if fitted.stopped is None and len(others) < number - 1:
        fitted.stopped = "chains"
    if fitted.stopped is None or (fitted.stopped == "chains" and others):
        fitted.agreement = ChainAgreement.of(fitted.posterior, others)
    return fitted


class Together:
    """Chains under way: the first in this thread, as many others beside it as there are jobs for.

    This thread goes on with others that nobody has begun when the first is done. It alone looks, so that what looks on
    may raise, and an interrupt ends all.
    """

    def __init__(self, number: int, engine: Engine, job: Job) -> None:
        self.number, self.inner, self.asked, self.engine = number, job.look, job.stop, engine
        n_jobs = engine.n_jobs if isinstance(engine, Threads) else 1
        self.at_once = min(number, n_jobs)
        self.jobs = n_jobs // self.at_once
        self.waiting = deque(range(1, number))
        self.found: dict[int, ChainSummary] = {}
        self.latest: dict[int, Progress] = {}  # of chains in other threads
        self.stop = threading.Event()

    def run(self, chain: Callable[[int, Engine, Look], Fitted]) -> tuple[Fitted, list[ChainSummary]]:
        """The first chain's model, and what is kept of the others that are done, in order."""
        with ThreadPoolExecutor(max(1, self.at_once - 1)) as pool:
            beside = [pool.submit(self._others, chain, shown=False) for _ in range(self.at_once - 1)]
            try:
                with self._own() as running:
                    first = chain(0, running, _Watch(self, 0, shown=True))
                self._others(chain, shown=True)
                self._wait(beside)
            except BaseException as error:
                self.stop.set()
                _raise_what_stopped(beside, error)
                raise
        return first, [self.found[i] for i in range(1, self.number) if i in self.found]

    def _own(self) -> AbstractContextManager[Engine]:
        """A chain's part of the threads; another engine has one chain at a time."""
        return Threads(self.jobs) if isinstance(self.engine, Threads) else nullcontext(self.engine)

    def _others(self, chain: Callable[[int, Engine, Look], Fitted], *, shown: bool) -> None:
        """Fit chains that nobody has begun, one after the other, and keep what is asked of each."""
        while self.waiting and not self.stop.is_set() and not self.asked():
            try:
                number = self.waiting.popleft()
            except IndexError:  # another thread was faster
                return
            try:
                with self._own() as running:
                    fitted = chain(number, running, _Watch(self, number, shown=shown))
                if fitted.stopped is None:
                    self.found[number] = ChainSummary.of(fitted.posterior)
            except BaseException:
                self.stop.set()
                raise
            self.latest.pop(number, None)

    def _wait(self, beside: list[Future[None]]) -> None:
        """Show the chains that go on until all are done."""
        while (left := wait(beside, SHOWN_EVERY).not_done) and not self.stop.is_set():
            number = min(self.latest, default=None)
            if number is not None and (progress := self.latest.get(number)):
                self.show(number, progress)
            beside = list(left)
        for one in beside:
            one.result()

    def show(self, number: int, progress: Progress) -> None:
        """Have a chain's progress looked at, with how many chains there are and are done."""
        if self.inner is not None:
            done = len(self.found) + (number > 0)  # the first is, before another is shown
            self.inner.look(replace(progress, chain=number + 1, chains_done=done))


class _Watch:
    """Looks at a chain: shows it, or keeps its latest; ends it where all are to end."""

    def __init__(self, together: Together, number: int, *, shown: bool) -> None:
        self.together, self.number, self.shown = together, number, shown

    def look(self, progress: Progress) -> None:
        """A sweep or a step is done."""
        if self.together.stop.is_set():
            raise Stopped
        if self.shown:
            self.together.show(self.number, progress)
        else:
            self.together.latest[self.number] = progress


def _raise_what_stopped(beside: list[Future[None]], error: BaseException) -> None:
    """Raise the error of another chain where this one has ended for it."""
    if not isinstance(error, Stopped):
        return
    for one in beside:
        found = one.exception()
        if found is not None and not isinstance(found, Stopped):
            raise found from None
