"""``--scheduler``: a command that runs on a Dask cluster, or else on threads."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from diln.cli.console import complain

if TYPE_CHECKING:
    from diln.engine.base import Engine
    from diln.engine.dask.engine import Dask

CLUSTER = "Cluster"
PATIENCE = 600.0  # of diln.engine.dask.cluster, which takes long to import

SchedulerOption = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS|local:N",
        help="Run on a Dask cluster: the address of its scheduler, as in tcp://HOST:8786, or local:4 for 4 worker "
        "processes of this machine. The result is the same. Workers must see SOURCE, if it is a corpus directory; of "
        "a fit, the folder of MODEL, too.",
        show_default="threads of this process",
        rich_help_panel=CLUSTER,
    ),
]
WorkerTimeoutOption = Annotated[
    float | None,
    typer.Option(
        "--worker-timeout",
        metavar="SECONDS",
        min=0,
        help="How long to wait for workers when there is none.",
        show_default=f"{PATIENCE:.0f}",
        rich_help_panel=CLUSTER,
    ),
]


@contextmanager
def cluster_of(scheduler: str | None, timeout: float | None, jobs: int) -> "Iterator[Dask | None]":
    """The engine of a cluster, if one is asked for."""
    if scheduler is None:
        if timeout is not None:
            raise typer.BadParameter("--worker-timeout is for --scheduler; give both or neither")
        yield None
        return
    from diln.engine.dask.engine import Dask

    patience = PATIENCE if timeout is None else timeout
    with Dask(scheduler, patience=patience, tell=_tell, n_jobs=jobs) as engine:
        yield engine


@contextmanager
def engine_of(scheduler: str | None, timeout: float | None, jobs: int) -> "Iterator[Engine]":
    """The engine of a cluster, or threads if none is asked for."""
    from diln.engine.threads import Threads

    with ExitStack() as stack:
        yield stack.enter_context(cluster_of(scheduler, timeout, jobs)) or stack.enter_context(Threads(jobs))


def _tell(text: str) -> None:
    complain("warning", text)


def pace_of_workers(engine: "Dask | None", tokens_a_document: float) -> Callable[[float], str] | None:
    """What a progress line says of a cluster that does so many documents a second."""
    if engine is None:
        return None

    def told(documents_a_second: float) -> str:
        number = engine.n_workers
        if not number:
            return "waiting for workers"
        each = documents_a_second * tokens_a_document / number
        return f"{number:,} worker{'s' if number > 1 else ''} at {each:,.0f} tokens/s"

    return told
