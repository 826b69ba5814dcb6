"""Fits on a real cluster of two processes: the bits of threads, through lost workers too."""

import os
import pickle
import signal
from pathlib import Path

import numpy as np
import pytest
from clusters import until
from sklearn.base import clone
from telling import told

import diln
from diln import CTM, DILN, HDP, Corpus, Dask, simulate
from diln.errors import WorkerError, WorkersLost
from diln.models import fitting, parameters
from diln.models.checkpoints import Checkpoints
from diln.models.counts import CorpusRows
from diln.models.parameters import parameters_of


@pytest.fixture(scope="module")
def corpus():
    return simulate.hdp_corpus(300, 60, 6, alpha=3.0, beta=5.0, doc_length=simulate.Poisson(40), rng=1).corpus


@pytest.fixture(scope="module")
def stored(corpus, tmp_path_factory):
    return corpus.save(tmp_path_factory.mktemp("corpus") / "corpus")


@pytest.fixture
def engine(cluster):
    client, workers = cluster
    workers.whole(2)
    with Dask(client, tell=lambda text: None, patience=60) as one:
        yield one


@pytest.fixture(autouse=True)
def early_stages(many_small_shards, monkeypatch):
    monkeypatch.setattr(parameters, "STAGES", ((90, 6), (180, 4)))


def small(model, **given):
    return told(model, **{"n_components": 8, "max_iter": 16, "random_state": 5, "batch_size": 70, **given})


def same(one, other):
    mine, theirs = one.fitted_.posterior.tensors(), other.fitted_.posterior.tensors()
    assert mine.keys() == theirs.keys()
    for name, array in mine.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)
    scores = [[entry["score"] for entry in model.history_] for model in (one, other)]
    assert scores[0] == scores[1]


@pytest.mark.parametrize("learning", ["batch", "grow"])
@pytest.mark.parametrize("model", [DILN, HDP, CTM])
def test_a_cluster_gives_the_bits_of_threads(model, learning, engine, corpus, stored):
    alone = small(model, learning_method=learning, n_jobs=2).fit(corpus)
    same(small(model, learning_method=learning, engine=engine).fit(stored), alone)
    assert engine.n_workers == 2


def test_counts_in_memory_and_parts_of_a_corpus_on_disk_give_them_too(engine, corpus, stored):
    alone = small(DILN).fit(corpus[:200])
    same(small(DILN, engine=engine).fit(stored[:200]), alone)
    same(small(DILN, engine=engine).fit(stored[np.arange(300) < 200]), alone)
    same(small(DILN, engine=engine).fit(corpus[:200].counts), alone)


def test_chains_run_one_after_the_other_with_the_bits_of_threads(engine, stored):
    alone = small(HDP, n_chains=2, n_jobs=2).fit(stored)
    together = small(HDP, n_chains=2, engine=engine).fit(stored)
    same(together, alone)
    assert together.fitted_.agreement.n_chains == 2


def test_a_fit_begins_with_another_models_topics(engine, stored):
    start = small(DILN, max_iter=6).fit(stored)
    same(small(DILN, init=start, engine=engine).fit(stored), small(DILN, init=start).fit(stored))


class Killing:
    """Looks at a fit, and kills workers when some sweeps are done, each once."""

    def __init__(self, engine, at):
        self.engine, self.at = engine, list(at)

    def look(self, progress):
        if self.at and progress.iteration == self.at[0]:
            del self.at[0]
            worker = self.engine._held.workers[0]
            os.kill(self.engine.client.run(os.getpid, workers=[worker])[worker], signal.SIGKILL)


def settings(model, **given):
    from diln.models.options import flat

    return parameters_of(model.kind, flat(small(model, **given)))


@pytest.mark.parametrize(("model", "learning"), [(DILN, "grow"), (CTM, "batch")])
def test_a_worker_that_is_killed_changes_no_bit(model, learning, engine, cluster, stored):
    cluster[1].whole(3)
    alone = small(model, learning_method=learning).fit(stored)
    killing = Killing(engine, [5, 12])  # all but one
    rows, wanted = CorpusRows(stored), settings(model, learning_method=learning)
    fitted = fitting.fit(wanted, rows, stored.vocabulary, killing, engine=engine)
    assert not killing.at
    same(type(alone).of(fitted), alone)
    assert [entry["iteration"] for entry in fitted.history] == [entry["iteration"] for entry in alone.history_]


def test_a_fit_that_keeps_nothing_begins_anew(engine, stored, monkeypatch):
    monkeypatch.setattr(engine, "scratch", lambda: None)
    alone = small(DILN).fit(stored)
    fitted = fitting.fit(settings(DILN), CorpusRows(stored), stored.vocabulary, Killing(engine, [9]), engine=engine)
    same(DILN.of(fitted), alone)


def test_a_checkpoint_is_a_state_to_go_back_to(engine, stored, tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "scratch", lambda: None)
    alone, seen = small(DILN).fit(stored), []
    killing = Killing(engine, [9])
    look = killing.look
    killing.look = lambda progress: (seen.append(progress.iteration), look(progress))
    kept = Checkpoints(tmp_path / "kept", 0.0)
    fitted = fitting.fit(settings(DILN), CorpusRows(stored), stored.vocabulary, killing, kept, engine=engine)
    same(DILN.of(fitted), alone)
    assert seen.count(9) == 2 and seen.count(8) == 1


def test_a_fit_that_lost_all_workers_is_taken_up_by_threads_or_by_others(cluster, stored, tmp_path):
    client, workers = cluster
    workers.whole(2)
    alone = small(DILN).fit(stored)

    def losing(progress):
        if progress.iteration == 7:
            workers.close()

    look = type("Look", (), {"look": staticmethod(losing)})()
    with Dask(client, patience=1.0, tell=lambda text: None) as engine:
        kept = Checkpoints(tmp_path / "kept", 0.0)
        with pytest.raises(WorkersLost, match="--resume"):
            fitting.fit(settings(DILN), CorpusRows(stored), stored.vocabulary, look, kept, engine=engine)
    again = Checkpoints(tmp_path / "kept", 0.0, resume=True)
    here = fitting.fit(settings(DILN), CorpusRows(stored), stored.vocabulary, None, again)
    same(DILN.of(here), alone)
    assert [entry["iteration"] for entry in here.history] == [entry["iteration"] for entry in alone.history_]


def test_a_fit_of_threads_is_taken_up_on_a_cluster(engine, stored, tmp_path):
    alone = small(DILN).fit(stored)
    asked = iter([False] * 6 + [True] * 100)
    kept = Checkpoints(tmp_path / "kept", 0.0)
    fitting.fit(settings(DILN), CorpusRows(stored), stored.vocabulary, None, kept, lambda: next(asked))
    again = Checkpoints(tmp_path / "kept", 0.0, resume=True)
    there = fitting.fit(settings(DILN), CorpusRows(stored), stored.vocabulary, None, again, engine=engine)
    same(DILN.of(there), alone)


def test_nothing_of_the_corpus_size_is_sent_of_a_corpus_on_disk(engine, stored):
    homes = []
    hold = engine.hold
    engine.hold = lambda given: homes.extend(given) or hold(given)
    small(DILN, max_iter=4, engine=engine).fit(stored)
    assert max(len(pickle.dumps(home)) for home in homes) < 10_000


def test_a_corpus_that_workers_do_not_see_is_named(engine, stored, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stored[:200].save("here")
    there = Corpus.open(Path("/proc/self/cwd/here"))  # another folder in each process
    monkeypatch.setattr(Path, "resolve", lambda self: self)
    with pytest.raises(WorkerError, match=r"worker tcp://\S+ on \S+: /proc/self/cwd/here"):
        small(DILN, engine=engine).fit(there)


def test_states_are_removed_when_a_fit_is_done(engine, stored, tmp_path):
    engine.folder = tmp_path
    small(DILN, engine=engine).fit(stored)
    assert list(tmp_path.iterdir()) == []


def test_an_engine_is_no_parameter_of_a_model_nor_in_its_files(engine, stored, tmp_path):
    model = small(DILN, max_iter=4, engine=engine).fit(stored)
    assert "engine" not in model.get_params() and "engine" not in repr(model)
    assert clone(model).engine is engine and not hasattr(clone(model), "fitted_")
    assert clone(model).set_params(engine=None).engine is None
    again = pickle.loads(pickle.dumps(model))
    assert again.engine is None
    np.testing.assert_array_equal(again.transform(stored), model.transform(stored))
    model.save(tmp_path / "model")
    assert diln.load(tmp_path / "model").engine is None
    assert diln.load(tmp_path / "model", engine=engine).engine is engine
    assert until(lambda: len(engine.client.nthreads()) == 2, "workers")  # which the model's end is none of
