"""Spread a function over worker processes, with results in order and a bounded number of items in memory."""

import os
import pickle
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing import get_context, parent_process
from shutil import rmtree
from threading import Thread
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, cast

from diln.engine.interrupts import true_interrupts, without_interrupts
from diln.engine.parcels import Parcel, Parcels, claim, pack
from diln.errors import WorkerError

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_ON_WINDOWS = 61
WORTHWHILE = 4  # items for which starting processes pays
QUEUED_PER_WORKER = 5  # one being worked on, the others waiting: a worker is not to idle while this process is busy

_context: Any = None


def _receive(context: bytes, folder: str) -> None:
    """Keep what every call in this worker process needs, sent once when the process starts."""
    global _context
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # for systems that cannot hold it back from the start
    Thread(target=_end_with_parent, args=(folder,), daemon=True).start()
    try:
        _context = pickle.loads(context)  # noqa: S301 - from the process that started this one
    except Exception as error:  # raised by the calls, which can say so to the parent
        _context = WorkerError(
            f"a worker process cannot load its work ({type(error).__name__}: {error}); define functions in a module "
            "that can be imported, or use n_jobs=1"
        )


def _end_with_parent(folder: str) -> None:
    """End this process when the one that started it is gone, however it went: nobody wants what it would write.

    The parent's temporary folder goes, too: the parent may have had no time to remove it.
    """
    parent = parent_process()
    if parent is not None:
        parent.join()
        rmtree(folder, ignore_errors=True)
        os._exit(1)


def _call(function: Callable[[Any, Any], Any], parcel: Parcel) -> Parcel | None:
    """Apply the function to a parcel's item, unless it was taken back; the result goes back in the same file."""
    if isinstance(_context, WorkerError):
        raise _context
    if not claim(parcel):
        return None
    try:
        return pack(parcel.path, function(_context, parcel.unpack()))
    except Exception as error:
        raise _sendable(error) from None


def _sendable(error: Exception) -> Exception:
    """The error itself if it can be sent to another process, or else one that says the same."""
    try:
        return cast(Exception, pickle.loads(pickle.dumps(error)))  # noqa: S301 - made on the spot
    except Exception:
        return WorkerError(f"{type(error).__name__}: {error}")


@dataclass(frozen=True, slots=True)
class Done(Generic[Result]):
    """A result, or an error, that is there already."""

    value: Result | None = None
    error: Exception | None = None

    def done(self) -> bool:
        """It is."""
        return True

    def result(self) -> Result:
        """The result; raises the error."""
        if self.error is not None:
            raise self.error
        return cast(Result, self.value)


@dataclass(frozen=True, slots=True)
class Sent(Generic[Item, Result]):
    """An item that was sent to a worker process."""

    item: Item
    parcel: Parcel
    future: Future[Parcel | None]
    parcels: Parcels

    def done(self) -> bool:
        """Whether the result is there."""
        return self.future.done()

    def result(self) -> Result:
        """The result, once it is there; raises the worker's error."""
        value = cast(Parcel, self.future.result()).unpack()
        self.parcels.release(self.parcel)
        return cast(Result, value)


Task = Done[Result] | Sent[Item, Result]


class Processes:
    """``n_jobs`` processes, this one among them, that apply ``function(context, item)`` to items.

    With ``n_jobs=1``, or with few items, no process is started. Otherwise ``n_jobs - 1`` workers are started on first
    use, and this process takes an item itself whenever every worker has enough to do. Few items are fewer than
    ``worthwhile``.
    """

    def __init__(self, n_jobs: int, context: Any = None, worthwhile: int = WORTHWHILE) -> None:
        self.n_jobs = count_jobs(n_jobs)
        self.context, self.worthwhile = context, worthwhile
        self._pool: ProcessPoolExecutor | None = None
        self._parcels = Parcels()
        self._sent: set[Future[Parcel | None]] = set()  # what workers have not come back from

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        pool, self._pool = self._pool, None
        try:
            if pool is not None:
                # Workers may still be at items, on files perhaps; if not they are idle, and end by themselves.
                _end(pool, wait=bool(self._sent))
        finally:
            self._parcels.close()

    def map(self, function: Callable[[Any, Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield ``function(context, item)`` for each item, in the items' order whatever the number of processes."""
        if self.n_jobs == 1:
            yield from (function(self.context, item) for item in items)
            return
        drawn = _drawn(items)
        first = list(islice(drawn, self.worthwhile))
        if len(first) < self.worthwhile and self._pool is None:
            yield from (self._here(function, item, error).result() for item, error in first)
            return
        waiting: deque[Task[Result, Item]] = deque()
        try:
            for item, error in chain(first, drawn):
                busy = sum(not task.done() for task in waiting) >= QUEUED_PER_WORKER * (self.n_jobs - 1)
                here = error is not None or busy
                waiting.append(self._here(function, item, error) if here else self._there(function, item))
                while waiting and (waiting[0].done() or len(waiting) > 2 * QUEUED_PER_WORKER * self.n_jobs):
                    yield waiting.popleft().result()
            while waiting:
                if not waiting[0].done():
                    self._help(function, waiting)
                yield waiting.popleft().result()
        except BrokenProcessPool as error:
            raise WorkerError(
                "a worker process died (out of memory, or killed from outside); run again with fewer processes"
            ) from error

    def _here(
        self, function: Callable[[Any, Item], Result], item: Item, error: Exception | None = None
    ) -> "Done[Result]":
        """The result of a call in this process, or an error, to be taken when its turn comes."""
        if error is not None:
            return Done(error=error)
        try:
            with true_interrupts():  # which do not wait for their turn
                return Done(value=function(self.context, item))
        except Exception as raised:
            return Done(error=raised)

    def _there(self, function: Callable[[Any, Item], Result], item: Item) -> "Sent[Item, Result]":
        """The result of a call in a worker process."""
        pool, parcel = self._workers(), self._parcels.pack(item)
        with without_interrupts():  # this is where processes are started
            future = pool.submit(_call, function, parcel)
            self._sent.add(future)
        future.add_done_callback(self._sent.discard)
        return Sent(item, parcel, future, self._parcels)

    def _help(self, function: Callable[[Any, Item], Result], waiting: "deque[Task[Result, Item]]") -> None:
        """Take the last item that no worker has begun, and do it here instead of waiting."""
        for place, task in reversed(list(enumerate(waiting))):
            if isinstance(task, Sent) and claim(task.parcel):
                waiting[place] = self._here(function, task.item)
                return

    def _workers(self) -> ProcessPoolExecutor:
        if self._pool is None:
            try:
                context = pickle.dumps(self.context)
            except (pickle.PicklingError, AttributeError, TypeError) as error:
                raise WorkerError(
                    f"the work cannot be sent to worker processes ({error}); define functions at the top level of a "
                    "module, or use n_jobs=1"
                ) from error
            # A fresh interpreter for each worker: forking a process that has threads (BLAS, notebooks) can deadlock.
            workers = min(self.n_jobs - 1, MOST_ON_WINDOWS) if sys.platform == "win32" else self.n_jobs - 1
            self._pool = ProcessPoolExecutor(workers, get_context("spawn"), _receive, (context, self._parcels.folder))
        return self._pool


def _end(pool: ProcessPoolExecutor, wait: bool) -> None:
    """Have workers end after what they are at; whoever is interrupted while waiting for them kills them.

    The pool's own waiting is for its thread, which Python takes for ended where that is interrupted.
    """
    workers = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    if not wait:
        return
    try:
        for worker in workers:
            worker.join()
    except BaseException:
        for worker in workers:
            worker.kill()
        for worker in workers:
            worker.join()
        raise


def _drawn(items: Iterable[Item]) -> Iterator[tuple[Any, Exception | None]]:
    """The items, each with None, and if drawing them fails the error: it must wait for the results before it."""
    try:
        for item in items:
            yield item, None
    except Exception as error:
        yield None, error


def count_jobs(n_jobs: int) -> int:
    """Number of processes that ``n_jobs`` asks for: -1 is one for each core, -2 one fewer, and so on."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not isinstance(n_jobs, int) or n_jobs == 0:
        raise ValueError(f"n_jobs is {n_jobs!r}; give a number of processes, or -1 for one for each core")
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)
