"""Fits on a real cluster where a worker is slow, has another time, or finds its documents spoilt."""

import os
import shutil
import signal
import threading

import numpy as np
import pytest
from clusters import Workers, threads, until

from diln import DILN, Corpus, Dask, simulate
from diln.errors import WorkersLost
from diln.models import fitting
from diln.models.checkpoints import Checkpoints
from diln.models.counts import CorpusRows
from diln.models.options import flat
from diln.models.parameters import parameters_of

pytestmark = pytest.mark.usefixtures("many_small_shards")
PAUSE = 2.0  # seconds that a slow worker does nothing
SKEW = 86_400.0  # seconds that a worker's clock is ahead: a day


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    made = simulate.hdp_corpus(300, 60, 6, alpha=3.0, beta=5.0, doc_length=simulate.Poisson(40), rng=1)
    return made.corpus.save(tmp_path_factory.mktemp("corpus") / "corpus")


def model(**given):
    return DILN(8, learning_method="batch", max_iter=12, random_state=5, **given)


class At:
    """Looks at a fit, and does something when a sweep is done, once."""

    def __init__(self, sweep, act):
        self.sweep, self.act = sweep, act

    def look(self, progress):
        if progress.iteration == self.sweep:
            self.sweep = None
            self.act()


def fit(corpus, engine, look=None, kept=None):
    wanted = parameters_of("DILN", flat(model()))
    return fitting.fit(wanted, CorpusRows(corpus), corpus.vocabulary, look, kept, engine=engine)


def same(fitted, other):
    mine, theirs = fitted.posterior.tensors(), other.fitted_.posterior.tensors()
    assert mine.keys() == theirs.keys()
    for name, array in mine.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)


def first_worker(engine):
    worker = engine._held.workers[0]
    return engine.client.run(os.getpid, workers=[worker])[worker]


def test_a_slow_worker_is_waited_for(stored, cluster):
    lost, resting = [], []
    with Dask(cluster[0], tell=lost.append, patience=60) as engine:

        def rest():
            pid = first_worker(engine)
            os.kill(pid, signal.SIGSTOP)
            resting.append(threading.Timer(PAUSE, os.kill, (pid, signal.SIGCONT)))
            resting[0].start()

        fitted = fit(stored, engine, At(4, rest))
        resting[0].join()
    same(fitted, model().fit(stored))
    assert lost == []


def test_a_worker_whose_clock_is_a_day_ahead_changes_no_bit(stored, tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(
        f"import time\nthe_time = time.time\ntime.time = lambda: the_time() + {SKEW}\n"
        f"time.time_ns = lambda: int(1e9 * time.time())\n"
    )
    with threads(0) as client:
        workers = Workers(client)
        try:
            workers.whole(1)
            monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
            workers.whole(2)
            with Dask(client, tell=lambda text: None, patience=60) as engine:
                clocks = sorted(client.run(_time).values())
                assert clocks[1] - clocks[0] > SKEW / 2
                kill = At(6, lambda: os.kill(first_worker(engine), signal.SIGKILL))
                fitted = fit(stored, engine, kill, Checkpoints(tmp_path / "kept", 0.0))
        finally:
            workers.close()
    same(fitted, model().fit(stored))


def _time():
    import time

    return time.time()


@pytest.mark.parametrize("deleted", [True, False])
def test_documents_that_are_spoilt_under_way_are_named_and_the_fit_is_taken_up_when_they_are_back(
    stored, cluster, tmp_path, deleted
):
    corpus = stored.save(tmp_path / "corpus")
    copy = tmp_path / "copy"
    shutil.copytree(tmp_path / "corpus", copy)
    victim = next((tmp_path / "corpus").glob("*/counts.npy"))
    client, workers = cluster
    workers.whole(2)
    with Dask(client, tell=lambda text: None, patience=1) as engine:

        def spoil():
            data = bytearray(victim.read_bytes())
            data[-1] ^= 1
            victim.unlink()
            if not deleted:
                victim.write_bytes(data)
            os.kill(first_worker(engine), signal.SIGKILL)
            until(lambda: len(client.nthreads()) == 1, "the loss")

        with pytest.raises(WorkersLost, match=r"counts\.npy"):
            fit(corpus, engine, At(6, spoil), Checkpoints(tmp_path / "kept", 0.0))
        shutil.rmtree(tmp_path / "corpus")
        copy.rename(tmp_path / "corpus")
        workers.whole(2)
        again = Checkpoints(tmp_path / "kept", 0.0, resume=True)
        fitted = fit(Corpus.open(tmp_path / "corpus"), engine, kept=again)
    same(fitted, model().fit(stored))
