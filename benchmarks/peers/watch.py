"""The clock of a fit: it runs while the tool works and stands while a checkpoint is judged."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
SHARES = (1 / 8, 1 / 4, 1 / 2, 3 / 4, 7 / 8, 1)  # of a budget, at which checkpoints are


@dataclass
class State:
    """What a tool has learned: all that a judge needs to see."""

    topics: Array  # (n_terms, n_topics) probabilities of terms; columns sum to 1
    prior: Array  # (n_topics,) a document's weight of each topic before its words are seen
    tokens: Array  # (n_topics,) tokens that each topic holds

    @classmethod
    def of(cls, topics: Any, prior: Any, tokens: Any) -> "State":
        """From topics by rows (n_topics, n_terms), which need not sum to 1."""
        columns = np.asarray(topics, np.float64).T
        whole = np.ascontiguousarray(columns / columns.sum(axis=0), np.float32)
        return cls(whole, np.asarray(prior, np.float64), np.asarray(tokens, np.float64))


class Watch:
    """Tells a fit when to stop, and has it judged at marks: so many units of work, or so many CPU seconds.

    ``judged`` is given the watch and a state, and says whether to go on.
    """

    def __init__(
        self, marks: Sequence[float], capped: bool, threads: int, judged: Callable[["Watch", State], bool]
    ) -> None:
        self.marks, self.capped, self.threads, self.judged = list(marks), capped, threads, judged
        self.units, self.cpu, self.wall, self.peak = 0, 0.0, 0.0, 0.0
        self.units_of_a_pass = 1  # more where a unit of work is a part of the documents
        self._since = (0.0, 0.0)

    @property
    def passes(self) -> float:
        """How often each document has been seen."""
        return self.units / self.units_of_a_pass

    @property
    def stride(self) -> int:
        """Units of work to the next mark; 1 where marks are CPU seconds."""
        return 1 if self.capped else int(self.marks[0]) - self.units

    @property
    def total(self) -> int:
        """Units of work to the last mark."""
        return int(self.marks[-1])

    def start(self) -> None:
        """Let the clock run."""
        forget_peak()
        self._since = (cpu_seconds(self.threads), time.perf_counter())

    def stop(self) -> None:
        """Stop the clock."""
        self.cpu += cpu_seconds(self.threads) - self._since[0]
        self.wall += time.perf_counter() - self._since[1]
        self.peak = max(self.peak, peak_megabytes())

    def more(self, done: int, state: Callable[[], State]) -> bool:
        """Whether to go on after so many more units of work; has the state judged where a mark is reached."""
        self.stop()
        self.units += done
        at = self.cpu if self.capped else self.units
        left = [mark for mark in self.marks if mark > at]
        due, self.marks = len(left) < len(self.marks), left
        on = (self.judged(self, state()) if due else True) and bool(left)
        if on:
            self.start()
        return on

    def over(self, done: int, state: Callable[[], State]) -> None:
        """Have the state judged after so many units of work, which are the last, whatever the marks."""
        self.marks = [0.0]
        self.more(done, state)


def marks_of(total: float, capped: bool) -> list[float]:
    """Where checkpoints are: CPU seconds, or whole sweeps."""
    return [share * total for share in SHARES] if capped else sorted({max(1, round(share * total)) for share in SHARES})


def cpu_seconds(threads: int) -> float:
    """Of this process, and of the processes that it has at work where it was told to use several threads."""
    seconds = time.process_time()
    if threads > 1:
        import psutil

        for child in psutil.Process().children(recursive=True):
            spent = child.cpu_times()
            seconds += spent.user + spent.system
    return seconds


def peak_megabytes() -> float:
    """Most memory that this process has held, since ``forget_peak`` if that was called.

    ``resource.getrusage`` would count what the parent process had before.
    """
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) / 1024


def forget_peak() -> None:
    """Count the most memory from here on."""
    Path("/proc/self/clear_refs").write_text("5")
