"""Real clusters for tests: a scheduler in this process, and workers in processes that a test may kill."""

import os
import subprocess
import sys
import time
from contextlib import contextmanager

ENVIRONMENT = {"OMP_NUM_THREADS": "1", "DASK_LOGGING__DISTRIBUTED": "critical"}


class Workers:
    """Worker processes of a scheduler, with a thread each and nobody to start them again."""

    def __init__(self, client):
        self.client, self.processes = client, []

    def whole(self, number=2):
        """Have so many workers, those that are there among them."""
        self.processes = [one for one in self.processes if one.poll() is None]
        self.processes += [start_worker(self.client.scheduler.address) for _ in range(number - len(self.processes))]
        until(lambda: len(self.client.nthreads()) == number, f"{number} workers")

    def close(self):
        for one in self.processes:
            one.kill()
        for one in self.processes:
            one.wait()


def start_worker(address):
    path = os.pathsep.join([os.environ.get("PYTHONPATH", ""), *sys.path])
    options = ["--nthreads", "1", "--no-nanny", "--no-dashboard"]
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_worker", address, *options],
        env={**os.environ, **ENVIRONMENT, "PYTHONPATH": path}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


@contextmanager
def processes(n_workers=2):
    """A client, and so many worker processes."""
    with threads(0) as client:
        workers = Workers(client)
        try:
            workers.whole(n_workers)
            yield client, workers
        finally:
            workers.close()


@contextmanager
def threads(n_workers, **told):
    """A client of workers in this process; told otherwise, of processes that nannies start again."""
    from distributed import Client, LocalCluster

    given = {"protocol": "tcp://", "processes": False, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with (
        LocalCluster(n_workers=n_workers, **given | told, silence_logs=50) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def until(condition, what, seconds=120):
    """Wait for something that will come."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"{what} did not come in {seconds} s"
        time.sleep(0.05)
    return found
