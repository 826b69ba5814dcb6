"""What all workers need for a call: sent to one of them, from where others fetch it, and only if it is new to them."""

import itertools
from typing import Any

from distributed import Future

from diln.engine.dask.cluster import Cluster
from diln.engine.dask.parts import Bytes, Message, content, taken_apart

CALLS = 4  # calls that an array is kept for after it was last needed


class Broadcast:
    """The large arrays that workers have, by their content."""

    def __init__(self, cluster: Cluster, token: str) -> None:
        self.cluster, self.token = cluster, token
        self._there: dict[str, tuple[Future, int]] = {}  # with the call that last needed it
        self._numbers = itertools.count()
        self.calls = 0
        self.sent = 0  # bytes, so far

    def of(self, record: Any, worker: str, among: set[str]) -> tuple[Message, list[Future]]:
        """A message and the record's large arrays on the cluster: those that are new go to this worker."""
        self.calls += 1
        message, large = taken_apart(record)
        names = [content(part) for part in large]
        new = {name: part for name, part in zip(names, large, strict=True) if name not in self._there}
        self._there |= {name: (future, 0) for name, future in self._send(new, worker, among).items()}
        for name in names:
            self._there[name] = self._there[name][0], self.calls
        self._there = {name: one for name, one in self._there.items() if one[1] > self.calls - CALLS}
        return message, [self._there[name][0] for name in names]

    def _send(self, parts: dict[str, Bytes], worker: str, among: set[str]) -> dict[str, Future]:
        if not parts:
            return {}
        self.sent += sum(part.nbytes for part in parts.values())
        if self.cluster.address.startswith("inproc"):
            parts = {name: part.copy() for name, part in parts.items()}  # the caller may write to its own
        keys = {name: f"diln-shared-{self.token}-{next(self._numbers)}" for name in parts}
        client = self.cluster.client
        coming = client._scatter(
            {keys[name]: part for name, part in parts.items()}, workers=[worker], direct=self.cluster.direct, hash=False
        )
        found = self.cluster.wait_for(coming, "sending what workers share", among)
        return {name: found[keys[name]] for name in parts}

    def forget(self) -> None:
        """Send everything anew: workers were lost."""
        self._there.clear()
