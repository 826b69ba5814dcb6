"""The engine of a Dask cluster."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path

from distributed import Client

from diln.engine.base import Engine, Found, Held, Home, Part, Shard, Shared
from diln.engine.dask.cluster import PATIENCE, Cluster, Tell
from diln.engine.dask.connect import connected
from diln.engine.dask.held import DaskHeld
from diln.engine.dask.tasks import Tasks
from diln.engine.threads import Threads
from diln.files import TemporaryFolder

LITTLE = 128  # documents that are not worth sending


class Dask(Engine):
    """Runs fits, and what is asked of models, on a Dask cluster: the bits are those of threads.

    Parameters
    ----------
    client : distributed.Client or str
        A client, the address of a scheduler, or "local:N" for N worker processes of this machine. A client that you
        give stays open.
    threads : int, default=1
        Threads of each worker.
    folder : path, optional
        A folder that all workers and this machine see, for states to go back to when a worker is lost. Default: a
        temporary one if all workers are on this machine; else what checkpoints are written to, or the fit begins anew.
    patience : float, default=600
        Seconds to wait for workers when there is none.
    tell : callable, optional
        Is told of workers that were lost or are waited for. Default: a log named "diln.cluster".
    n_jobs : int, default=1
        Threads of this process, for steps that are not worth sending.
    """

    def __init__(
        self,
        client: Client | str,
        *,
        threads: int = 1,
        folder: str | Path | None = None,
        patience: float = PATIENCE,
        tell: Tell | None = None,
        n_jobs: int = 1,
    ) -> None:
        self._closing = ExitStack()
        self.client = connected(client, self._closing) if isinstance(client, str) else client
        self.threads, self.folder, self.patience = threads, None if folder is None else Path(folder), patience
        self.cluster = Cluster(self.client, patience, tell)
        self._here, self._tasks = Threads(n_jobs), Tasks(self.cluster, threads)
        self._held: DaskHeld | None = None
        self._temporary: TemporaryFolder | None = None

    def map(self, step: Callable[[Shard, Shared], Found], shards: Iterable[Shard], shared: Shared) -> Iterator[Found]:
        """Yield ``step(shard, shared)`` of every shard, in order, from threads of this process, which has them."""
        return self._here.map(step, shards, shared)

    def each(
        self, step: Callable[[Part, Shared, Engine], Found], parts: Iterable[Part], shared: Shared
    ) -> Iterator[Found]:
        """Yield ``step(part, shared, engine)`` of every part, in order, from the workers; of few documents, from here.

        Parts are small where they only say what they are of; what is shared is sent once to each worker.
        """
        every, some = iter(parts), []
        for part in every:
            some.append(part)
            if sum(getattr(one, "weight", LITTLE) for one in some) >= LITTLE:
                self._held = None  # a fit that has come to other work, or is done
                return self._tasks.each(step, chain(some, every), shared)
        return self._here.each(step, some, shared)

    @property
    def ways(self) -> int:
        """How many workers there are."""
        return len(self._tasks.look())

    def hold(self, homes: Sequence[Home]) -> Held:
        """Shards that live with the workers."""
        self._held = None  # while workers are waited for
        self._held = DaskHeld(self.cluster, homes, self.threads)
        return self._held

    @property
    def n_workers(self) -> int:
        """Workers that have shards of the fit that was begun last, or parts of other work; 0 while there are none."""
        return len(self._tasks.workers) if self._held is None else len(self._held.workers)

    def scratch(self) -> Path | None:
        """A folder that this process and all workers see, if one is known."""
        if self.folder is not None:
            return self.folder
        if self._temporary is None and self._on_this_machine():
            self._temporary = TemporaryFolder()
        return None if self._temporary is None else self._temporary.path

    def close(self) -> None:
        """Let go of threads and files, and of the connection if it was made here."""
        self._here.close()
        self._tasks.forget()
        if self._temporary is not None:
            self._temporary.remove()
            self._temporary = None
        self._closing.close()

    def _on_this_machine(self) -> bool:
        """Whether all workers that there are can be on this machine alone."""
        workers = self.cluster.workers()
        return bool(workers) and all(one.startswith(("inproc://", "tcp://127.", "tcp://[::1]")) for one in workers)
