"""Parts that workers are given one after the other: each finds what its part is of, and sends back what it found.

Nothing is kept by a worker from one part to the next, so a part that is lost with its worker is given to another. Some
parts are under way at a time, and results are handed on in the order of the parts, so that memory does not grow with
their number.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from distributed import Future
from distributed.client import _wait

from diln.engine.dask import worker
from diln.engine.dask.broadcast import Broadcast
from diln.engine.dask.cluster import Cluster
from diln.engine.dask.parts import Message
from diln.errors import Lost, WorkerError, WorkersLost

AT_ONCE = 2  # parts that a worker has: the next is there when one is done
AHEAD = 4  # parts for each worker that may be done before one that is not
MOST_LOSSES = 20  # since a part was last done: more than that, and something about the parts kills workers
LOOKED_AT = 5.0  # seconds from one look for workers that have come to the next


class Tasks:
    """Gives parts to the workers of a cluster."""

    def __init__(self, cluster: Cluster, threads: int) -> None:
        self.cluster, self.threads = cluster, threads
        self.shared = Broadcast(cluster, f"{uuid4().hex[:12]}-all")
        self.own = Broadcast(cluster, f"{uuid4().hex[:12]}-part")
        self.unfit: dict[str, str] = {}  # workers that are left out, and why
        self.workers: list[str] = []
        self._looked = 0.0

    def look(self) -> list[str]:
        """The workers that can be used, those that have come since, too; waits if there is none."""
        if not self.workers or time.monotonic() - self._looked >= LOOKED_AT:
            losses = 0
            self.workers = []
            while not self.workers:
                try:
                    self.workers = self._found()
                except Lost as lost:  # it went while it was asked
                    losses += 1
                    check_losses(losses, lost)
            self._looked = time.monotonic()
        return self.workers

    def _found(self) -> list[str]:
        why = f" that can be used ({next(iter(self.unfit.values()))})" if self.unfit else ""
        found = self.cluster.wait_for_workers(self.unfit, why)
        for one, wrong in self.cluster.check(found).items():
            self.leave_out(one, wrong)
        return [one for one in found if one not in self.unfit]

    def leave_out(self, one: str, why: str) -> None:
        """Give a worker no parts; without any other, that is an error."""
        if len(self.workers) == 1 or (not self.workers and len(self.cluster.workers()) == len(self.unfit) + 1):
            raise WorkerError(why)
        self.cluster.tell(f"{why}; it gets no work")
        self.unfit[one] = why
        self.workers = [other for other in self.workers if other != one]

    def each(self, step: Callable[..., Any], parts: Iterable[Any], shared: Any) -> Iterator[Any]:
        """What the step returns for every part, in order."""
        return _Round(self, step, shared).results(iter(parts))

    def forget(self) -> None:
        """Send everything anew: workers were lost."""
        self.workers = []
        self.shared.forget()
        self.own.forget()


def check_losses(number: int, lost: Lost) -> None:
    """Raise if workers were lost too often."""
    if number > MOST_LOSSES:
        raise WorkersLost(
            f"workers were lost {number} times at the same work, most recently: {lost}; give workers more memory, or "
            "look at their logs"
        ) from lost


@dataclass(slots=True)
class _Round:
    """One call: which parts are under way, where, and what was found of those before others."""

    tasks: Tasks
    step: Callable[..., Any]
    shared: Any
    sent: tuple[Message, list[Future]] | None = None  # what is shared, on the cluster
    under_way: dict[int, tuple[str, Future]] = field(default_factory=dict)  # by the part's number
    waiting: deque[tuple[int, Any]] = field(default_factory=deque)  # to be given to another worker
    given: dict[int, Any] = field(default_factory=dict)  # the parts that are under way
    found: dict[int, Any] = field(default_factory=dict)  # that are not handed on yet
    next_part: int = 0
    losses: int = 0

    def results(self, parts: Iterator[Any]) -> Iterator[Any]:
        """Results in order; whatever happens, nothing is under way at the end."""
        number = 0
        try:
            while True:
                self._fill(parts, number)
                if not self.under_way and not self.waiting and not self.found:
                    return
                while number in self.found:
                    yield self.found.pop(number)
                    number += 1
                    self._fill(parts, number)
                if self.under_way:
                    self._collect()
        finally:
            self._cancel()

    def _fill(self, parts: Iterator[Any], number: int) -> None:
        """Give parts to workers that have room for more."""
        try:
            for one in self._free(number):
                part = self._next(parts)
                if part is None:
                    return
                self._give(one, *part)
        except Lost as lost:
            self._lost(lost)

    def _free(self, number: int) -> Iterator[str]:
        """Workers with room for another part, the idlest first, as long as not too much is ahead of part ``number``."""
        while True:
            workers = self.tasks.look()
            loads = dict.fromkeys(workers, 0)
            for one, _ in self.under_way.values():
                loads[one] = loads.get(one, 0) + 1
            idlest = min(workers, key=loads.__getitem__)
            ahead = self.next_part - number >= AHEAD * len(workers) and not self.waiting
            if loads[idlest] >= AT_ONCE or ahead:
                return
            yield idlest

    def _next(self, parts: Iterator[Any]) -> tuple[int, Any] | None:
        if self.waiting:
            return self.waiting.popleft()
        for part in parts:
            self.next_part += 1
            return self.next_part - 1, part
        return None

    def _give(self, one: str, number: int, part: Any) -> None:
        tasks = self.tasks
        try:
            if self.sent is None:
                self.sent = tasks.shared.of(self.shared, one, {one})
            message, large = tasks.own.of(part, one, {one})
            given = (worker.part, self.step, message, large, *self.sent, tasks.threads)
            future = tasks.cluster.submit(*given, worker=one, name=worker.name_of(self.step))
        except BaseException:
            self.waiting.appendleft((number, part))
            raise
        self.under_way[number], self.given[number] = (one, future), part

    def _collect(self) -> None:
        """Wait for a part to be done, and take in all that are."""
        cluster, doing = self.tasks.cluster, worker.name_of(self.step)
        futures = {number: future for number, (_, future) in self.under_way.items()}
        there = {one for one, _ in self.under_way.values()}
        try:
            coming = _wait(list(futures.values()), return_when="FIRST_COMPLETED")
            cluster.wait_for(coming, doing, there)
            done = {str(number): future for number, future in futures.items() if future.status != "pending"}
            for number, answer in cluster.gathered(done, doing, there).items():
                self._take(int(number), answer)
        except Lost as lost:
            self._lost(lost)

    def _take(self, number: int, answer: Any) -> None:
        one, _ = self.under_way.pop(number)
        part = self.given.pop(number)
        if isinstance(answer, worker.Failure):
            self.tasks.leave_out(one, answer.message)
            self.waiting.append((number, part))
            return
        self.found[number], self.losses = answer, 0

    def _lost(self, lost: Lost) -> None:
        """Give what is under way to other workers; raise if that was so too often."""
        self._cancel()
        self.waiting.extendleft(sorted(self.given.items(), reverse=True))
        self.given.clear()
        self.under_way.clear()
        self.sent = None
        self.tasks.forget()
        self.losses += 1
        check_losses(self.losses, lost)
        self.tasks.cluster.tell(f"{lost}; what it was at goes to others")

    def _cancel(self) -> None:
        with suppress(Exception):  # they may be gone with the scheduler
            futures = [future for _, future in self.under_way.values()]
            if futures:
                self.tasks.cluster.client.cancel(futures, force=True)
