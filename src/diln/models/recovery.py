"""A chain whose documents may be lost with what holds them: kept now and then, and taken up again.

What comes next follows from the state and the seed, so a chain that goes back some sweeps ends in the same bits.
"""

import shutil
import time
from collections.abc import Callable
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from diln.engine.base import Engine, Note
from diln.errors import Lost
from diln.files import temporary_folder
from diln.inference import loops
from diln.inference.data import Array
from diln.inference.loops import Watch
from diln.inference.progress import Progress
from diln.inference.sampling.run import ChainRun

EVERY = 30.0  # seconds from one generation to the next, at least
SHARE = 0.05  # of the time that may go into writing generations

Result = TypeVar("Result")


class Generation(NamedTuple):
    """All that a chain goes on from."""

    numbers: dict[str, Any]
    tensors: dict[str, Array]
    folder: Path | None  # of the shards; None: as they were made
    notes: list[Note]
    n_noted: int  # entries of the history

    @property
    def there(self) -> bool:
        """Whether its files are: a checkpoint that was not completed is removed."""
        folder = self.folder
        return folder is None or all((folder / str(number)).exists() for number in range(len(self.notes)))


@dataclass(slots=True)
class Recovery:
    """Keeps a chain, where what holds its documents may lose them, and goes back to what is kept."""

    run: ChainRun
    history: list[Any]
    engine: Engine
    begin: Callable[[], None]  # brings documents that were just made to where the chain begins
    scratch: Path | None = None
    last: Generation | None = None
    checkpoints: list[Generation] = field(default_factory=list)  # the last two, where there is no scratch
    due: float = 0.0
    n_losses: int = field(default=0)

    def completed(self, watch: Watch, finish: Callable[[], Result]) -> Result:
        """Sweep until the run is done, then finish; both once more from what is kept where documents are lost."""
        if not self.run.chain.docs.held.may_lose:
            self.begin()
            loops.sweeps(self.run, self.engine, watch)
            return finish()
        within = self.engine.scratch()
        with nullcontext() if within is None else temporary_folder(within) as self.scratch:
            self.last = self._kept(None, [])
            return self._completed(watch, finish)

    def write(self, folder: Path) -> list[Note]:
        """Write all shards for a checkpoint: where there is no other place, it is what a chain goes back to."""
        notes = self.run.chain.docs.write(folder)
        if self.last is not None and self.scratch is None:
            self.checkpoints = [*self.checkpoints, self._kept(folder, notes)][-2:]
        return notes

    def _completed(self, watch: Watch, finish: Callable[[], Result]) -> Result:
        begun = False
        while True:
            try:
                if not begun:
                    self.begin()
                begun, self.due = True, time.monotonic() + EVERY
                loops.sweeps(self.run, self.engine, self._keeping(watch))
                return finish()
            except Lost:
                self.n_losses += 1
                begun = self._back()

    def _keeping(self, watch: Watch) -> Watch:
        def watched(progress: Progress) -> bool:
            over = watch(progress)
            if not over and self.scratch is not None and time.monotonic() >= self.due:
                self._keep(self.scratch / str(self.run.chain.number))
            return over

        return watched

    def _keep(self, folder: Path) -> None:
        """Write a generation; the one before goes when it is whole."""
        begun = time.monotonic()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        before, self.last = self.last, self._kept(folder, self.run.chain.docs.write(folder))
        if before is not None and before.folder is not None and before.folder != folder:
            shutil.rmtree(before.folder, ignore_errors=True)
        taken = time.monotonic() - begun
        self.due = time.monotonic() + max(EVERY, taken / SHARE)

    def _kept(self, folder: Path | None, notes: list[Note]) -> Generation:
        numbers, tensors = self.run.stored()
        return Generation(deepcopy(numbers), deepcopy(tensors), folder, notes, len(self.history))

    def _back(self) -> bool:
        """Bring the chain to the last generation; False if that is the beginning."""
        last = next((one for one in reversed(self.checkpoints) if one.there), self.last)
        if last is None:
            raise RuntimeError("a chain was lost before it was kept")
        self.run.chain.docs.read(last.folder, last.notes)
        self.run.restore(deepcopy(last.numbers), deepcopy(last.tensors))
        del self.history[last.n_noted :]
        return last.folder is not None
