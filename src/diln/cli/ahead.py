"""Compile what a fit needs in processes beside this one, while its documents are read.

Processes that do so end with the one that started them, and whatever goes wrong in them only means that loops are
compiled later.
"""

import os
import pickle
import signal
import subprocess
import sys
import time
import warnings
from contextlib import ExitStack, suppress
from functools import partial
from threading import Event, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable

    from diln.models.parameters import Parameters

# What a process is told on its standard input: where to find modules, then what to call.
LISTEN = "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); pickle.load(sys.stdin.buffer)()"
PARTS = 2  # processes, each of which compiles a part
DONE = b"."
LONGEST = 120.0  # seconds that this process waits for the others: then it compiles by itself
LAST = 2.0  # seconds that a process has to end once it is told to
N_DOCS, N_TERMS = 12, 20
SMALL = {"n_components": 3, "max_iter": 8, "n_jobs": 1, "verbose": 0, "random_state": 0}
QUIET = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Ahead:
    """Processes that compile what a fit needs, if it is not kept yet and can be kept."""

    def __init__(self, parameters: "Parameters", *, wanted: bool = True, index: bool = False) -> None:
        self.parameters, self.wanted, self.index = parameters, wanted, index
        self.processes: list[subprocess.Popen[bytes]] = []
        self.done: list[Event] = []
        self.readers: list[Thread] = []

    def __enter__(self) -> Self:
        with suppress(Exception):  # then loops are compiled where they are called
            if self.wanted and cores() > 1 and to_compile(self.parameters):
                few = small(self.parameters)
                for part in range(PARTS):
                    self._start(partial(compile_fit, few, part, index=self.index))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with ExitStack() as stack:
            for process, reader in zip(self.processes, self.readers, strict=False):
                stack.callback(reader.join)
                stack.callback(_end, process)

    @property
    def busy(self) -> bool:
        """Whether what a fit needs is being compiled."""
        return not all(done.is_set() for done in self.done)

    def wait(self) -> None:
        """Return when what the fit needs is compiled, or will not be."""
        late = time.monotonic() + LONGEST
        for done in self.done:
            done.wait(max(0.0, late - time.monotonic()))

    def _start(self, call: "Callable[[], None]") -> None:
        told = pickle.dumps(sys.path) + pickle.dumps(call)
        process = subprocess.Popen(  # noqa: S603  (our own code)
            [sys.executable, "-c", LISTEN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, **QUIET},
        )  # fmt: skip
        self.processes.append(process)
        done = Event()
        self.readers.append(Thread(target=_read, args=(process, done), daemon=True))
        self.readers[-1].start()
        self.done.append(done)
        if process.stdin is not None:
            process.stdin.write(told)
            process.stdin.flush()


def _read(process: "subprocess.Popen[bytes]", done: Event) -> None:
    """Set ``done`` when a process has compiled what a fit needs, or has ended; then wait for its end."""
    with suppress(OSError, ValueError):
        if process.stdout is not None:
            process.stdout.read(1)
    done.set()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Have a process end, which it does when its standard input does."""
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    try:
        process.wait(LAST)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def to_compile(parameters: "Parameters") -> bool:
    """Whether the loops of a fit are still to be compiled, and can be kept."""
    from diln.engine.compile import is_to_keep
    from diln.inference.sampling.tokens import draw_topics
    from diln.inference.variational.document_step import document_step

    return is_to_keep({"sampling": draw_topics, "variational": document_step}[parameters.inference])


def small(parameters: "Parameters") -> "Parameters":
    """The same for a few documents, without what is large or of this process: a model or a generator to start from."""
    from diln.models.parameters import defaults

    values = defaults(parameters.kind, parameters.inference)
    few = {name: values.get(name) for name in ("init", "max_time", "n_chains", "n_states")} | SMALL
    return parameters.but(**{name: value for name, value in few.items() if name in parameters.values})


def compile_fit(parameters: "Parameters", part: int, *, index: bool) -> None:
    """Fit a small model, and make its index: that compiles what others need. For a process of its own.

    Each of the processes leaves out loops that another one compiles; they take about as long.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other process knows what an interrupt ends
    Thread(target=_end_with_other, daemon=True).start()
    warnings.simplefilter("ignore")
    import numpy as np

    from diln.analysis.index import Index
    from diln.corpus import Corpus
    from diln.engine.compile import leave_out
    from diln.engine.threads import Threads
    from diln.inference.emissions.multinomial_draws import count_table
    from diln.inference.sampling.average import follow_products
    from diln.inference.sampling.tokens import draw_topics
    from diln.inference.weights.log_weight_kernels import draw_log_weights, gather_moments, lay_out
    from diln.inference.weights.place_kernels import place_documents
    from diln.models.counts import CorpusRows
    from diln.models.fitting import fit

    parts = (
        (place_documents, lay_out, draw_log_weights, gather_moments),
        (draw_topics, count_table, follow_products),
    )
    counts = np.random.default_rng(0).poisson(1.0, (N_DOCS, N_TERMS))
    corpus = Corpus.from_matrix(counts, [f"t{column}" for column in range(N_TERMS)])
    with leave_out(*parts[part]):
        fitted = fit(parameters, CorpusRows(corpus), corpus.vocabulary)
    os.write(1, DONE)
    if index and part == 0:
        with Threads(1) as engine:
            Index.build(fitted, corpus, engine=engine)
    os._exit(0)  # without waiting for the thread that reads


def _end_with_other() -> None:
    """End this process when the one that started it is gone or closes this one's standard input."""
    from diln.engine.compile import keeping

    while os.read(0, 1):
        pass
    with keeping:  # not while what is compiled is being written
        os._exit(0)
