"""What runs on a worker: it keeps the shards that it was given, and calls steps on them.

Shards are in the memory of the worker's process, by the fit that they are of; no actor and no chain of results that
build on each other, which a lost worker would have made again from the start. A call says how many calls the shards
must have seen. One that Dask makes twice, or makes on a worker that was started again, finds that they have not, and
changes nothing.
"""

import logging
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from distributed import Worker, get_worker

from diln.engine.base import Home, Note, summed
from diln.engine.dask.parts import Bytes, Message, put_together
from diln.engine.threads import HeldHere, Threads
from diln.errors import DilnError

LOOKED_AT = 5.0  # seconds from one look for fits that have ended to the next
SLOW = 1.0  # seconds that a first call takes where loops are compiled

Step = Callable[[Any, Any], Any]
Tallying = Callable[[Any, Any, Any], Any]

logger = logging.getLogger("distributed.worker.diln")


class ShardsGone(Exception):  # noqa: N818
    """The shards are not here, or not as the call expects them."""


class Order(NamedTuple):
    """Of which fit a call is, and what its shards have seen."""

    token: str  # the fit
    epoch: int  # how often shards were placed
    call: int  # calls since


class Written(NamedTuple):
    """Where shards were written, and what was noted of each."""

    folder: str
    notes: Sequence[Note]


class How(NamedTuple):
    """How shards are placed."""

    fresh: bool  # whether those that are here are made or read again, too
    threads: int  # of the worker, for steps


class Counted(NamedTuple):
    """What a step returned by the shards' numbers, and the sum of what it added to tallies."""

    found: dict[int, Any]
    tally: Any


class Failure(NamedTuple):
    """Why a worker cannot have its shards, in words."""

    message: str


class HomesMissing(NamedTuple):
    """The worker does not know how to make its shards: it is not the one that was told."""


@dataclass(slots=True)
class Kept:
    """The shards of one fit on this worker."""

    worker: Worker
    here: HeldHere
    homes: dict[int, Home] = field(default_factory=dict)  # of all shards that were here, too
    seen: tuple[int, int] | None = None  # epoch and calls; None while a call is under way, or after one has failed
    lease: str | None = None  # the key of the result that the client keeps for as long as the fit goes on
    called: set[str] = field(default_factory=set)  # steps
    lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def numbers(self) -> list[int]:
        """Those of the shards, in order."""
        return [home.number for home in self.here.homes]

    @property
    def over(self) -> bool:
        """Whether the client has ended, or has let go of the fit."""
        if self.lease is None:
            return False
        task = self.worker.state.tasks.get(self.lease)
        under_way = task is not None and task.state == "executing"
        return not under_way and self.lease not in self.worker.data


_KEPT: dict[tuple[str, str], Kept] = {}  # by worker, of which a process may have several, and token
_DOOR = threading.Lock()


def place(
    order: Order, numbers: list[int], homes: Message, large: list[Bytes], written: Written | None, how: How
) -> Failure | HomesMissing | None:
    """Have these shards from now on, as they were written or else as they are made.

    Those that are here are kept, unless ``how.fresh``. Only homes that this worker does not know are sent.
    """
    worker = get_worker()
    kept = _entry(worker, order.token, how.threads)
    with kept.lock:
        kept.lease = kept.seen = None
        try:
            kept.homes |= {home.number: home for home in put_together(homes, large)}
            if set(numbers) - set(kept.homes):
                return HomesMissing()
            _bring(kept, numbers, written, fresh=how.fresh)
            kept.seen = (order.epoch, 0)
        except Exception as error:  # told by the client, who knows whether others can go on without this worker
            logger.warning("shards %s cannot be had: %s", ranges(numbers), error)
            return Failure(f"{named(worker)}: {_told(error)}")
        finally:
            kept.lease = str(worker.get_current_task())
    logger.info("fit %s: shards %s are here", order.token, ranges(numbers))
    return None


def _bring(kept: Kept, numbers: list[int], written: Written | None, *, fresh: bool) -> None:
    """Make or read the shards of these numbers that are not here, and let go of others."""
    here = kept.here
    before = {} if fresh else dict(zip(kept.numbers, here.shards, strict=True))
    here.homes, here.shards = [], []
    for number in numbers:
        home = kept.homes[number]
        if number in before:
            shard = before.pop(number)
        elif written is None:
            shard = home.make()
        else:
            shard = home.read(Path(written.folder) / str(number), written.notes[number])
        here.homes.append(home)
        here.shards.append(shard)


def each(order: Order, step: Step, shared: Message, large: list[Bytes]) -> dict[int, Any]:
    """What a step returns for all shards that are here, by their numbers."""
    with _Call(order, step) as kept:
        return dict(zip(kept.numbers, kept.here.map(step, put_together(shared, large)), strict=True))


def replace(order: Order, step: Step, shared: Message, large: list[Bytes]) -> None:
    """Put what a step returns in the place of all shards that are here."""
    with _Call(order, step) as kept:
        kept.here.replace(step, put_together(shared, large))


def total(order: Order, steps: tuple[Tallying, Callable[[Any], Any]], shared: Message, large: list[Bytes]) -> Counted:
    """What a step returns for all shards that are here, and the sum of what it adds to tallies."""
    step, zero = steps
    with _Call(order, step) as kept:
        found, tally = kept.here.total(step, put_together(shared, large), zero)
        return Counted(dict(zip(kept.numbers, found, strict=True)), tally)


def added_up(parts: list[Counted]) -> Counted:
    """The sum of what was counted here and there; the parts stay as they are."""
    first = type(parts[0].tally)(*(array.copy() for array in parts[0].tally))
    found = {number: one for part in parts for number, one in part.found.items()}
    return Counted(found, summed([first, *(part.tally for part in parts[1:])]))


def part(
    step: Callable[[Any, Any, Any], Any], one: Message, large: list[Bytes], shared: Message, more: list[Bytes],
    n_threads: int,
) -> Any:  # fmt: skip
    """What a step returns for a part; where that cannot be read here, why."""
    begun, name = time.perf_counter(), name_of(step)
    try:
        with Threads(n_threads) as engine:
            found = step(put_together(one, large), put_together(shared, more), engine)
    except DilnError as error:  # told by the client, who knows whether others can do it
        return Failure(f"{named(get_worker())}: {error}")
    logger.debug("%s of a part took %.3f s", name, time.perf_counter() - begun)
    return found


def write(order: Order, folder: str) -> dict[int, Note] | Failure:
    """Write all shards that are here: what is noted of each, or what is wrong with the folder."""
    with _Call(order, write) as kept:
        if not Path(folder).is_dir():
            return Failure(
                f"{named(kept.worker)} does not see {folder}; give a folder on a file system that all workers share"
            )
        try:
            notes = kept.here.write(Path(folder))
        except (DilnError, OSError) as error:
            return Failure(f"{named(kept.worker)} cannot write its shards: {_told(error)}")
        logger.info("fit %s: shards %s are written to %s", order.token, ranges(kept.numbers), folder)
        return dict(zip(kept.numbers, notes, strict=True))


def drop(token: str) -> None:
    """Let go of a fit's shards."""
    with _DOOR:
        kept = _KEPT.pop((get_worker().address, token), None)
    if kept is not None:
        kept.here.engine.close()


def _entry(worker: Worker, token: str, n_threads: int) -> Kept:
    with _DOOR:
        if not _KEPT:
            threading.Thread(target=_look_after, name="diln-ended-fits", daemon=True).start()
        return _KEPT.setdefault((worker.address, token), Kept(worker, HeldHere(Threads(n_threads), [])))


def _kept(order: Order) -> Kept:
    found = _KEPT.get((get_worker().address, order.token))
    if found is None:
        raise ShardsGone(f"{named(get_worker())} was started again, and has no shards any more")
    return found


class _Call:
    """A call on the shards that are here: alone, once, and on shards that have seen all calls before it."""

    def __init__(self, order: Order, step: Any) -> None:
        self.order, self.kept = order, _kept(order)
        self.name = name_of(step)
        self.begun = 0.0

    def __enter__(self) -> Kept:
        self.kept.lock.acquire()
        if self.kept.seen != (self.order.epoch, self.order.call):
            self.kept.lock.release()
            raise ShardsGone(f"{named(self.kept.worker)} has other states of its shards than the fit is at")
        self.kept.seen, self.begun = None, time.perf_counter()
        logger.debug("fit %s: %s on shards %s", self.order.token, self.name, ranges(self.kept.numbers))
        return self.kept

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            if error is None:
                self.kept.seen = (self.order.epoch, self.order.call + 1)
            seconds = time.perf_counter() - self.begun
            if self.name not in self.kept.called and seconds > SLOW:
                logger.info("the first call of %s took %.1f s, loops compiled or loaded", self.name, seconds)
            self.kept.called.add(self.name)
        finally:
            self.kept.lock.release()


def _look_after() -> None:
    """Let go of the shards of fits whose client has ended without a word; ends when there is no fit."""
    while True:
        time.sleep(LOOKED_AT)
        with _DOOR:
            for key, kept in list(_KEPT.items()):
                if kept.over:
                    logger.info("fit %s has ended: its shards are let go", key[1])
                    _KEPT.pop(key).here.engine.close()
            if not _KEPT:
                return


def name_of(step: Any) -> str:
    """A step's name in logs and on dashboards: that of the function, also inside a record."""
    inside = getattr(step, "step", None)
    return str(getattr(step, "__name__", type(step).__name__ if inside is None else name_of(inside)))


def named(worker: Worker) -> str:
    """A worker as sentences have it."""
    return f"worker {worker.address} on {socket.gethostname()}"


def _told(error: Exception) -> str:
    return str(error) if isinstance(error, DilnError) else f"{type(error).__name__}: {error}"


def ranges(numbers: list[int]) -> str:
    """Numbers in order as text: 0-3, 5."""
    out: list[list[int]] = []
    for number in numbers:
        if out and number == out[-1][1] + 1:
            out[-1][1] = number
        else:
            out.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in out) or "none"
