"""A cluster as this process sees it: which workers there are, and waiting for them with an end to it.

A result is waited for a second at a time. In between the scheduler is asked which workers it has: what a worker that is
gone was to do would otherwise be waited for without end.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as NotYet
from typing import Any

from distributed import Client, Future
from distributed.client import FutureCancelledError, _wait
from distributed.comm.core import CommClosedError
from distributed.scheduler import KilledWorker

from diln.engine.dask.versions import Versions, difference, versions, versions_of_worker
from diln.engine.dask.worker import ShardsGone
from diln.errors import Lost, SchedulerLost, WorkerError, WorkersLost

EVERY = 1.0  # seconds from one look at the workers to the next
TOLD_EVERY = 10.0  # seconds from one message to the next
ANSWERS = 20.0  # seconds that a scheduler has for an answer
DIRECT = 5.0  # seconds that a worker has to answer this process itself
PATIENCE = 600.0  # seconds that workers are waited for
AGAIN = (
    "start a scheduler and workers, and run it again; a fit goes on from its checkpoint, if it has one, with --resume"
)

Tell = Callable[[str], None]


class Cluster:
    """The workers of a client."""

    def __init__(self, client: Client, patience: float = PATIENCE, tell: Tell | None = None) -> None:
        self.client, self.patience = client, patience
        self.address = str(client.scheduler.address)  # which the client forgets when it closes
        self.tell: Tell = tell or logging.getLogger("diln.cluster").warning
        self.direct = bool(client.direct_to_workers)
        self.own = versions()
        self.known: dict[str, str | None] = {}  # what is wrong with a worker, of those that were asked

    def workers(self) -> list[str]:
        """The addresses of all workers that the scheduler has."""
        self._check_scheduler()
        try:
            found = self.client.sync(self.client.scheduler.ncores, callback_timeout=ANSWERS)
        except (OSError, CommClosedError, TimeoutError, NotYet, CancelledError) as error:
            self._check_scheduler()
            raise self._scheduler_lost() from error
        return sorted(found)

    def _check_scheduler(self) -> None:
        """Raise if the client has lost its scheduler; it tries for a while to reach it again."""
        if self.client.status == "running":
            return
        self.tell(f"the scheduler at {self.address} does not answer; waiting for it")
        end = time.monotonic() + self.patience
        while self.client.status == "connecting" and time.monotonic() < end:
            time.sleep(0.1)
        if self.client.status != "running":
            raise self._scheduler_lost()
        raise Lost("the scheduler was gone for a moment, and what it knew of the workers with it")

    def _scheduler_lost(self) -> SchedulerLost:
        return SchedulerLost(f"the scheduler at {self.address} does not answer any more; {AGAIN}")

    def wait_for_workers(self, but: Iterable[str] = (), why: str = "") -> list[str]:
        """All workers but some, as soon as there is one; raises when none has come in time."""
        begun = told = time.monotonic()
        while True:
            found = sorted(set(self.workers()) - set(but))
            if found:
                return found
            now = time.monotonic()
            if now - begun >= self.patience:
                raise WorkersLost(
                    f"the scheduler at {self.address} has had no worker{why} for {self.patience:.0f} s; {AGAIN}"
                )
            if now - told >= TOLD_EVERY or told == begun:
                left = self.patience - (now - begun)
                self.tell(f"waiting for workers: the scheduler at {self.address} has none; giving up in {left:.0f} s")
                told = now + 1e-9
            time.sleep(min(EVERY, self.patience / 10))

    def gathered(
        self, futures: Mapping[str, Future], doing: str, workers: Iterable[str] | None = None
    ) -> dict[str, Any]:
        """The results, by name, once all are there.

        Raises ``Lost`` if one of the workers is gone that they come from; without ``workers``, these are the names.
        """
        of = set(futures if workers is None else workers)
        try:
            values = self.wait_for(self._results(list(futures.values())), doing, of)
        except ShardsGone as error:
            raise Lost(f"{error}") from error
        except (KilledWorker, FutureCancelledError) as error:
            raise Lost(f"a worker was lost during {doing}") from error
        return dict(zip(futures, values, strict=True))

    async def _results(self, futures: list[Future]) -> list[Any]:
        """The results once all tasks have ended; raises the first error."""
        await _wait(futures)
        return list(await self.client._gather(futures, direct=self.direct))

    def wait_for(self, coming: Coroutine[Any, Any, Any], doing: str, workers: set[str]) -> Any:
        """What a coroutine of the client returns, as long as these workers are there."""
        under_way = asyncio.run_coroutine_threadsafe(coming, self.client.loop.asyncio_loop)
        try:
            while True:
                try:
                    return under_way.result(EVERY)
                except NotYet:
                    if under_way.done():
                        raise
                except CancelledError as error:
                    self._check_scheduler()
                    raise Lost(f"{doing} was cancelled on the cluster") from error
                except (OSError, CommClosedError) as error:
                    self._check_there(workers, doing)
                    raise Lost(f"a worker does not answer ({error}) during {doing}") from error
                self._check_there(workers, doing)
        finally:
            under_way.cancel()

    def _check_there(self, workers: set[str], doing: str) -> None:
        gone = sorted(workers - set(self.workers()))
        if gone:
            raise Lost(f"worker {', '.join(gone)} was lost during {doing}")

    def check(self, workers: Iterable[str]) -> dict[str, str]:
        """What is wrong with each of these workers, of those that cannot be used: other versions, or no diln."""
        new = [worker for worker in workers if worker not in self.known]
        futures = {one: self.submit(versions_of_worker, worker=one, name="versions") for one in new}
        for worker, future in futures.items():
            try:
                found = self.gathered({worker: future}, "the comparison of versions")[worker]
            except ImportError as error:
                self.known[worker] = f"worker {worker} cannot import diln ({error}); install diln[cluster] there"
                continue
            self.known[worker] = difference(self.own, found)
            self._compare_processors(found)
        if new:
            self._find_way(futures)
        return {one: wrong for one in workers if (wrong := self.known[one]) is not None}

    def _compare_processors(self, found: Versions) -> None:
        if found.processor != self.own.processor and found.parts == self.own.parts:
            self.tell(
                f"{found.worker} has another processor ({found.processor}, here {self.own.processor}); "
                "results may differ in their last digits"
            )

    def _find_way(self, futures: Mapping[str, Future]) -> None:
        """Whether workers answer this process itself, so that results need not go through the scheduler."""
        if self.direct or self.client.direct_to_workers is not None:
            return
        one = next((future for future in futures.values() if future.status == "finished"), None)
        if one is not None:
            coming = self.client._gather([one], direct=True)
            under_way = asyncio.run_coroutine_threadsafe(coming, self.client.loop.asyncio_loop)
            try:
                under_way.result(DIRECT)
                self.direct = True
            except (NotYet, OSError, CommClosedError):
                under_way.cancel()

    def submit(self, function: Callable[..., Any], *given: Any, worker: str, name: str) -> Future:
        """Call a function on a worker, and on no other."""
        key = f"diln-{name}-{time.monotonic_ns()}"
        try:
            return self.client.submit(
                function, *given, key=key, workers=[worker], allow_other_workers=False, pure=False, retries=0
            )
        except (OSError, CommClosedError, RuntimeError) as error:  # the client is closed
            self._check_scheduler()
            raise WorkerError(f"the cluster takes no work: {error}") from error
