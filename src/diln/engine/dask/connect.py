"""From an address to a client: a scheduler that runs somewhere, or workers of this machine alone."""

import signal
from contextlib import ExitStack

from distributed import Client, LocalCluster, Worker, WorkerPlugin

from diln.errors import WorkerError, brief

CONNECTING = "30 s"
STARTING = 120  # seconds that workers of this machine have to start
LOCAL = "local:"
MOST_LOCAL = 1024


def connected(address: str, closing: ExitStack) -> Client:
    """A client of the scheduler at an address, or of workers that are started here; what closes it is pushed."""
    if address.startswith(LOCAL):
        return _local(address, closing)
    try:
        return closing.enter_context(Client(address, timeout=CONNECTING, set_as_default=False))
    except (OSError, ValueError, TimeoutError) as error:
        raise WorkerError(
            f"no scheduler answers at {brief(address)} ({type(error).__name__}: {error}); give an address such as "
            "tcp://HOST:8786, as `dask scheduler` prints it, or local:4 for 4 workers of this machine"
        ) from error


def _local(address: str, closing: ExitStack) -> Client:
    """Worker processes of this machine, with a thread each, that a Ctrl-C does not reach: it is for this process."""
    number = address.removeprefix(LOCAL)
    if not (number.isascii() and number.isdigit() and 1 <= int(number) <= MOST_LOCAL):
        raise WorkerError(f"{brief(address)} is no number of workers; give local:N, such as local:4")
    cluster = LocalCluster(
        n_workers=int(number), threads_per_worker=1, processes=True, host="127.0.0.1", memory_limit=0,
        dashboard_address="127.0.0.1:0", silence_logs=50,
    )  # fmt: skip
    closing.enter_context(cluster)
    client = closing.enter_context(Client(cluster, set_as_default=False))
    client.wait_for_workers(int(number), timeout=STARTING)
    client.register_plugin(Uninterrupted())
    return client


class Uninterrupted(WorkerPlugin):  # type: ignore[misc]
    """Has workers, those that are started again too, leave Ctrl-C to the process that the user has started."""

    name = "diln-uninterrupted"

    def setup(self, worker: Worker) -> None:
        """A worker has started; this is called in its main thread."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
