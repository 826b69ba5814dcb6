"""Online fits, and what is asked of models, on a real cluster of two processes: the bits of threads, and few bytes."""

import os
import pickle
import signal
from pathlib import Path

import numpy as np
import pytest
from telling import told

from diln import CTM, DILN, HDP, Corpus, Dask, simulate
from diln.analysis import Index, complete, quality, trained_on
from diln.corpus import corpus as corpus_module
from diln.engine.dask import engine as engine_module
from diln.engine.dask import tasks
from diln.errors import WorkerError, WorkersLost
from diln.models import counts, sampling
from diln.models.batches import RowsBatch, in_parts
from diln.models.counts import CorpusRows, aligned

DOCS = 300


@pytest.fixture(scope="module")
def corpus():
    return simulate.hdp_corpus(DOCS, 60, 6, alpha=3.0, beta=5.0, doc_length=simulate.Poisson(40), rng=1).corpus


@pytest.fixture(scope="module")
def stored(corpus, tmp_path_factory):
    return corpus.save(tmp_path_factory.mktemp("corpus") / "corpus")


@pytest.fixture
def notes():
    return []


@pytest.fixture
def engine(cluster, notes):
    client, workers = cluster
    workers.whole(2)
    with Dask(client, tell=notes.append, patience=60) as one:
        yield one


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(counts, "PART", 40)
    monkeypatch.setattr(engine_module, "LITTLE", 0)
    monkeypatch.setattr(sampling, "CHAIN_DOCS", 120)


def small(model, **given):
    settings = {"n_components": 8, "max_iter": 8, "random_state": 5, "batch_size": 150}
    return told(model, **{**settings, "learning_method": "online", **given})


@pytest.fixture(scope="module")
def models(corpus):
    """A model of each kind, fitted by threads, and of them what threads say of documents."""
    return {model: small(model).fit(corpus) for model in (DILN, HDP, CTM)}


def same(one, other):
    mine, theirs = one.fitted_.posterior.tensors(), other.fitted_.posterior.tensors()
    assert mine.keys() == theirs.keys()
    for name, array in mine.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)
    scores = [[entry["score"] for entry in model.history_] for model in (one, other)]
    assert scores[0] == scores[1]


def there(model, engine):
    """The model of threads, on a cluster."""
    return type(model).of(model.fitted_).set_params(engine=engine)


@pytest.mark.parametrize(
    ("model", "inference"), [(DILN, "sampling"), (HDP, "sampling"), (CTM, "sampling"), (DILN, "variational")]
)
def test_steps_of_online_learning_run_on_workers_with_the_bits_of_threads(model, inference, engine, corpus, stored):
    alone = small(model, inference=inference).fit(corpus)
    calls = engine._tasks.shared.calls
    same(small(model, inference=inference, engine=engine).fit(stored), alone)
    assert engine._tasks.shared.calls - calls == alone.n_batch_iter_ >= 2
    assert engine.n_workers == 2


@pytest.mark.parametrize("model", [DILN, HDP, CTM])
def test_what_is_asked_of_documents_has_the_bits_of_threads(model, engine, corpus, stored, models):
    alone, elsewhere = models[model], there(models[model], engine)
    np.testing.assert_array_equal(elsewhere.transform(stored), alone.transform(corpus))
    assert elsewhere.perplexity(stored, seed=3) == alone.perplexity(corpus, seed=3)
    assert elsewhere.score(stored) == alone.score(corpus)
    halves = corpus.completion(seed=2)
    mine, right = (complete(one, halves.observed, halves.held_out) for one in (elsewhere, alone))
    np.testing.assert_array_equal(mine.log_likelihood, right.log_likelihood)
    assert quality(elsewhere, stored) == quality(alone, corpus)
    assert trained_on(elsewhere, stored) == trained_on(alone, corpus)
    if model is DILN:
        np.testing.assert_array_equal(elsewhere.document_locations(stored), alone.document_locations(corpus))


@pytest.mark.parametrize("model", [DILN, CTM])
def test_an_index_is_made_by_workers_and_grown_by_them(model, engine, corpus, stored, models):
    alone, elsewhere, pairs = models[model], there(models[model], engine), []
    for model, documents in ((alone, corpus), (elsewhere, stored)):
        whole = Index.build(model, documents)
        pairs.append((whole, Index.build(model, documents[:160]).grown(model, documents)))
    for mine, right in zip(pairs[1], pairs[0], strict=True):
        assert mine._arrays.keys() == right._arrays.keys()
        for name, array in right._arrays.items():
            np.testing.assert_array_equal(mine._arrays[name], array, err_msg=name)


def test_draws_of_states_that_were_kept_are_completed_by_workers(engine, corpus, stored):
    alone = small(HDP, learning_method="batch", keep_states=3).fit(corpus)
    expected = alone.perplexity(corpus, method="draws")
    assert there(alone, engine).perplexity(stored, method="draws") == expected


def test_streams_are_learned_on_workers_with_the_bits_of_threads(engine, corpus, stored):
    alone, elsewhere = (small(DILN, batch_size=100, engine=one).partial_fit(corpus[:200]) for one in (None, engine))
    calls = engine._tasks.shared.calls
    for model, documents in ((alone, corpus[200:]), (elsewhere, stored[200:])):
        model.partial_fit(documents)
        model.update(documents, new_topics=True)
    same(elsewhere, alone)
    assert engine._tasks.shared.calls >= calls + 3


def sent_by(engine):
    """What is told of parts from now on: the size of each message, and of the arrays beside it."""
    found, of = [], engine._tasks.own.of

    def counting(record, *given):
        message, large = of(record, *given)
        found.append(len(message.pickled))
        assert not large
        return message, large

    engine._tasks.own.of = counting
    return found


def read_there():
    """In a worker: corpora that it was asked to open, and how often one that was open did."""
    return tuple(corpus_module._as_it_is.cache_info()[:2])


def test_of_a_corpus_on_disk_nothing_but_where_documents_are_is_sent(engine, cluster, stored, models):
    told_of = sent_by(engine)
    before = cluster[0].run(read_there)
    model = there(models[DILN], engine)
    model.transform(stored)
    model.perplexity(stored)
    Index.build(model, stored)
    assert len(told_of) >= 3 * (DOCS // counts.PART) and max(told_of) < 1000
    small(DILN, engine=engine).fit(stored)
    assert max(told_of) < 2000  # row numbers of a mini-batch among them: one byte or two each
    after = cluster[0].run(read_there)
    for worker, (hits, misses) in after.items():
        assert hits > before[worker][0] and misses - before[worker][1] <= 1  # opened once, read many times


def test_counts_in_memory_and_other_terms_give_the_same(engine, corpus, stored, models):
    alone, elsewhere = models[HDP], there(models[HDP], engine)
    right = alone.transform(corpus)
    np.testing.assert_array_equal(elsewhere.transform(corpus.counts), right)
    np.testing.assert_array_equal(elsewhere.transform(stored[np.arange(DOCS) % 2 == 0]), right[::2])
    order = np.random.default_rng(0).permutation(corpus.n_terms)
    moved = Corpus.from_matrix(corpus.counts[:, order], [corpus.vocabulary[i] for i in order])
    np.testing.assert_array_equal(elsewhere.transform(moved), right)


def test_rows_of_another_order_of_terms_are_told_by_where_they_are(stored, tmp_path):
    order = np.random.default_rng(0).permutation(stored.n_terms)
    terms = [stored.vocabulary[i] for i in order]
    rows = aligned(stored, terms)
    (part, *_) = in_parts(rows)
    again = pickle.loads(pickle.dumps(part))
    assert isinstance(again, RowsBatch) and again.rows.corpus.directory == stored.directory.resolve()
    np.testing.assert_array_equal(again.counts().toarray(), stored.counts[: counts.PART][:, order].toarray())


@pytest.fixture
def killed(engine, monkeypatch):
    """Kills a worker amid the third call that it is sent, when parts are under way; those that it had are lost."""
    gone, collect = [], tasks._Round._collect

    def killing(self):
        if self.tasks.shared.calls == 3 and not gone:
            gone.append(next(iter(self.under_way.values()))[0])
            os.kill(engine.client.run(os.getpid, workers=gone)[gone[0]], signal.SIGKILL)
        collect(self)

    monkeypatch.setattr(tasks._Round, "_collect", killing)
    return gone


def test_a_worker_that_is_killed_amid_a_step_of_online_learning_changes_no_bit(engine, killed, notes, corpus, stored):
    alone = small(DILN, batch_size=100).fit(corpus)
    same(small(DILN, batch_size=100, engine=engine).fit(stored), alone)
    assert alone.n_batch_iter_ >= 3 and killed and any("goes to others" in one for one in notes)


def test_a_worker_that_is_killed_amid_a_transform_changes_no_bit(engine, killed, notes, corpus, stored, models):
    right, model = models[DILN].transform(corpus), there(models[DILN], engine)
    for _ in range(3):
        np.testing.assert_array_equal(model.transform(stored), right)
    assert killed and any("goes to others" in one for one in notes)


def test_without_workers_a_transform_says_so_and_ends(cluster, notes, stored, models):
    cluster[1].close()
    said = r"has had no worker for 1 s; start .* run it again"
    with Dask(cluster[0], patience=1.0, tell=notes.append) as engine, pytest.raises(WorkersLost, match=said):
        there(models[HDP], engine).transform(stored)
    assert notes[0].startswith("waiting for workers")


def test_documents_that_no_worker_sees_are_named_with_a_worker(engine, stored, models, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stored[:200].save("here")
    hidden = Corpus.open(Path("/proc/self/cwd/here"))  # another folder in each process
    monkeypatch.setattr(Path, "resolve", lambda self: self)
    with pytest.raises(WorkerError, match=r"worker tcp://\S+ on \S+: /proc/self/cwd/here"):
        there(models[HDP], engine).transform(hidden)


def test_few_documents_are_not_sent(engine, stored, models, monkeypatch):
    monkeypatch.setattr(engine_module, "LITTLE", DOCS + 1)
    calls = engine._tasks.shared.calls
    there(models[HDP], engine).transform(stored)
    assert engine._tasks.shared.calls == calls


def test_parts_are_asked_for_as_they_are_needed(engine, stored, models):
    asked = []

    def parts():
        for part in in_parts(CorpusRows(stored)):
            asked.append(part)
            yield part

    found = engine.each(first_row, parts(), 7)
    assert next(found) == 7 and len(asked) <= tasks.AHEAD * 2 + 1
    assert list(found) == [7 + number * counts.PART for number in range(1, len(asked))]
    found = engine.each(first_row, parts(), 7)
    next(found)
    found.close()  # which ends what is under way


def first_row(part, shared, engine):
    return part.rows.corpus._numbers(part.numbers)[0] + shared
