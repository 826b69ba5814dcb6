"""Shards that live with the workers of a cluster."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from distributed import Future

from diln.engine.base import Held, Home, Note
from diln.engine.dask import worker
from diln.engine.dask.broadcast import Broadcast
from diln.engine.dask.cluster import Cluster
from diln.engine.dask.spread import spread
from diln.errors import DilnError, Lost, WorkerError, WorkersLost

MOST_LOSSES = 20  # since shards were last written: more than that, and something about them kills workers
FANNED = 8  # sums that are added up at once
CLOSING = 5.0  # seconds that workers have to let go


class DaskHeld(Held):
    """Shards on workers, one task for each worker and call; what is lost with a worker is read or made again."""

    may_lose = True

    def __init__(self, cluster: Cluster, homes: Sequence[Home], threads: int) -> None:
        self.cluster, self.threads, self.token = cluster, threads, uuid4().hex[:12]
        self.homes = {home.number: home for home in homes}
        self.where: dict[int, str] = {}
        self.broadcast = Broadcast(cluster, self.token)
        self._told: dict[str, set[int]] = {}  # homes that workers know
        self._leases: dict[str, Future] = {}  # what workers keep their shards for
        self._unfit: dict[str, str] = {}  # workers that are left out, and why
        self._epoch = self._call = self._losses = 0
        try:
            self._place(None, fresh=True, strict=True)
        except BaseException:
            self.close()
            raise

    @property
    def workers(self) -> list[str]:
        """Those that have shards."""
        return sorted(set(self.where.values()))

    def map(self, step: worker.Step, shared: Any) -> Iterator[Any]:
        """What the step returns for every shard, in order, once all are done."""
        parts = self._gathered(self._run(worker.each, step, shared, worker.name_of(step)), worker.name_of(step))
        found = {number: one for part in parts.values() for number, one in part.items()}
        return (found.pop(number) for number in sorted(found))

    def total(self, step: worker.Tallying, shared: Any, zero: Callable[[Any], Any]) -> tuple[list[Any], Any]:
        """What the step returns for every shard, in order, and the sum of the tallies.

        A tally for each worker; those of some workers at a time are added up on one of them.
        """
        futures = list(self._run(worker.total, (step, zero), shared, worker.name_of(step)).values())
        while len(futures) > FANNED:
            some = [futures[first : first + FANNED] for first in range(0, len(futures), FANNED)]
            futures = [self.cluster.client.submit(worker.added_up, part, pure=False) for part in some]
        parts = self._gathered(dict(zip(map(str, range(len(futures))), futures, strict=True)), worker.name_of(step))
        counted = worker.added_up(list(parts.values()))
        return [counted.found[number] for number in sorted(counted.found)], counted.tally

    def replace(self, step: worker.Step, shared: Any) -> None:
        """Put what the step returns in the place of every shard."""
        self._gathered(self._run(worker.replace, step, shared, worker.name_of(step)), worker.name_of(step))

    def write(self, folder: Path) -> list[Note]:
        """Have workers write their shards; then workers that have come since get their part of them."""
        Path(folder).mkdir(parents=True, exist_ok=True)
        order, submit = self._next(), self.cluster.submit
        futures = {one: submit(worker.write, order, str(folder), worker=one, name="write") for one in self.workers}
        found = self._gathered(futures, "writing shards")
        for answer in found.values():
            if isinstance(answer, worker.Failure):
                raise WorkerError(answer.message)
        notes = {number: note for part in found.values() for number, note in part.items()}
        self._losses = 0
        self._take_in(worker.Written(str(folder), [notes[number] for number in sorted(notes)]))
        return [notes[number] for number in sorted(notes)]

    def read(self, folder: Path | None, notes: Sequence[Note]) -> None:
        """Bring every shard back, on the workers that there are."""
        self._place(None if folder is None else worker.Written(str(folder), notes), fresh=True, strict=False)

    def close(self) -> None:
        """Have workers let go of the shards; they do so by themselves if they cannot be reached now."""
        leases, self._leases = self._leases, {}
        self.broadcast.forget()
        with suppress(DilnError, RuntimeError, TimeoutError):
            there = set(self.cluster.workers()) if self.cluster.client.status == "running" else set()
            futures = [
                self.cluster.submit(worker.drop, self.token, worker=one, name="drop") for one in there & set(leases)
            ]
            if futures:
                self.cluster.client.sync(self.cluster.client._gather, futures, callback_timeout=CLOSING)

    def _run(self, function: Callable[..., Any], step: Any, shared: Any, name: str) -> dict[str, Future]:
        """A task for each worker that has shards, by the worker's address."""
        workers = self.workers
        try:
            message, large = self.broadcast.of(shared, workers[self._call % len(workers)], set(workers))
        except Lost as lost:
            raise self._lost(lost) from lost
        given = (function, self._next(), step, message, large)
        return {one: self.cluster.submit(*given, worker=one, name=name) for one in workers}

    def _next(self) -> worker.Order:
        order = worker.Order(self.token, self._epoch, self._call)
        self._call += 1
        return order

    def _gathered(self, futures: dict[str, Future], doing: str) -> dict[str, Any]:
        try:
            return self.cluster.gathered(futures, doing, self.workers)
        except Lost as lost:
            self._cancel(futures)
            raise self._lost(lost) from lost
        except BaseException:
            self._cancel(futures)
            raise

    def _cancel(self, futures: dict[str, Future]) -> None:
        with suppress(Exception):  # they may be gone with the scheduler
            self.cluster.client.cancel(list(futures.values()), force=True)

    def _lost(self, lost: Lost) -> DilnError:
        """What to raise: a loss to go back from, or the last of too many."""
        self.broadcast.forget()
        self._losses += 1
        if self._losses <= MOST_LOSSES:
            self.cluster.tell(f"{lost}; its shards go to others, and the fit goes back to what was last kept")
            return lost
        return WorkersLost(
            f"workers were lost {self._losses} times since shards were last kept, most recently: {lost}; give workers "
            "more memory, or look at their logs. A checkpoint, if the fit writes any, is whole"
        )

    def _take_in(self, written: worker.Written) -> None:
        """Give shards, as they have just been written, to workers that have come."""
        try:
            new = set(self.cluster.workers()) - set(self.workers) - set(self._unfit)
            if new and self._spread(self._fit(sorted(new | set(self.workers)), strict=False)) != self.where:
                self._place(written, fresh=False, strict=False)
        except Lost as lost:
            self._lost(lost)
            self._place(written, fresh=True, strict=False)

    def _fit(self, workers: list[str], *, strict: bool) -> list[str]:
        """The workers that can be used; where ``strict``, all must be."""
        wrong = self.cluster.check(workers)
        for one, why in wrong.items():
            if strict:
                raise WorkerError(why)
            self._leave_out(one, why)
        return [one for one in workers if one not in wrong]

    def _leave_out(self, one: str, why: str) -> None:
        if one not in self._unfit:
            self.cluster.tell(f"{why}; it gets no shards")
        self._unfit[one] = why

    def _spread(self, workers: list[str]) -> dict[int, str]:
        return spread({number: home.weight for number, home in self.homes.items()}, workers, self.where)

    def _place(self, written: worker.Written | None, *, fresh: bool, strict: bool) -> None:
        """Give every shard to a worker, until all have theirs.

        Where ``strict`` a worker that cannot have them is an error; later it is left out.
        """
        while True:
            try:
                if self._placed(written, fresh=fresh, strict=strict):
                    return
            except Lost as lost:
                raised = self._lost(lost)
                if not isinstance(raised, Lost):
                    raise raised from lost
            fresh = True

    def _placed(self, written: worker.Written | None, *, fresh: bool, strict: bool) -> bool:
        """Whether all workers have the shards that they were given."""
        why = f" that can be used ({next(iter(self._unfit.values()))})" if self._unfit else ""
        workers = self._fit(self.cluster.wait_for_workers(self._unfit, why), strict=strict)
        if not workers:
            return False
        self.where, self._epoch, self._call = self._spread(workers), self._epoch + 1, 0
        futures = {one: self._told_to_place(one, written, fresh) for one in self.workers}
        self._leases = futures  # workers that have no shards any more let go of what they had
        found = self.cluster.gathered(futures, "placing shards")
        for one, answer in found.items():
            if isinstance(answer, worker.Failure):
                if strict:
                    raise WorkerError(answer.message)
                self._leave_out(one, answer.message)
            if isinstance(answer, worker.HomesMissing):
                self._told.pop(one, None)
        return all(answer is None for answer in found.values())

    def _told_to_place(self, one: str, written: worker.Written | None, fresh: bool) -> Future:
        numbers = sorted(number for number, where in self.where.items() if where == one)
        new = [self.homes[number] for number in numbers if number not in self._told.get(one, set())]
        message, large = self.broadcast.of(new, one, {one})
        self._told[one] = self._told.get(one, set()) | set(numbers)
        order = worker.Order(self.token, self._epoch, 0)
        given = (worker.place, order, numbers, message, large, written, worker.How(fresh, self.threads))
        return self.cluster.submit(*given, worker=one, name="place")
