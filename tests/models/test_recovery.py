"""A fit whose documents are lost at any moment ends in the bits of one that was not disturbed."""

import numpy as np
import pytest
from killing import write_corpus

from diln.corpus import Corpus
from diln.engine import threads
from diln.engine.threads import HeldHere, Threads
from diln.errors import Lost
from diln.inference.sampling import documents
from diln.models import fitting, parameters, recovery
from diln.models.counts import CorpusRows
from diln.models.parameters import parameters_of

QUICK = {"n_components": 6, "max_iter": 12, "random_state": 0}


class Losing(Threads):
    """Loses all shards as the calls of these numbers come to them."""

    def __init__(self, losses, folder):
        super().__init__(1)
        self.losses, self.folder, self.calls = set(losses), folder, 0

    def scratch(self):
        return self.folder

    def hold(self, homes):
        return LosingHeld(self, homes)


class LosingHeld(HeldHere):
    """Shards of which some step has run when they are lost: nothing of them is as it was."""

    may_lose = True

    def lose(self):
        self.engine.calls += 1
        if self.engine.calls in self.engine.losses:
            self.shards = [None] * len(self.shards)
            raise Lost("all workers are gone")

    def map(self, step, shared):
        found = list(super().map(step, shared))
        self.lose()
        return iter(found)

    def total(self, step, shared, zero):
        found = super().total(step, shared, zero)
        self.lose()
        return found

    def replace(self, step, shared):
        super().replace(step, shared)
        self.lose()

    def write(self, folder):
        found = super().write(folder)
        self.lose()
        return found


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    return CorpusRows(Corpus.open(write_corpus(tmp_path_factory.mktemp("documents") / "corpus", 150)))


def fitted(kind, rows, engine, monkeypatch, **given):
    monkeypatch.setattr(threads, "Threads", lambda jobs: engine)
    return fitting.fit(parameters_of(kind, {**QUICK, **given}), rows, [f"t{i}" for i in range(rows.n_terms)])


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "from the start"])
@pytest.mark.parametrize("kind", ["DILN", "HDP", "CTM"])
def test_documents_that_are_lost_cost_no_bit(kind, kept, rows, tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "SHARD", int(rows.n_tokens) // 6)
    monkeypatch.setattr(parameters, "STAGES", ((20, 60), (40, 20)))
    monkeypatch.setattr(recovery, "EVERY", 0.0)
    monkeypatch.setattr(recovery, "SHARE", np.inf)
    given = {"learning_method": "grow", "keep_states": 2}
    folder = tmp_path if kept else None
    undisturbed = Losing([], folder)
    right = fitted(kind, rows, undisturbed, monkeypatch, **given)
    for losses in ((1,), (5, 11, 12), (undisturbed.calls,)):  # the last: as the model is made of the chain
        engine = Losing(losses, folder)
        found = fitted(kind, rows, engine, monkeypatch, **given)
        assert engine.calls > max(losses)
        for name, tensor in right.posterior.tensors().items():
            assert np.array_equal(tensor, found.posterior.tensors()[name]), name
        assert [one["score"] for one in found.history] == [one["score"] for one in right.history]
        assert found.passes == right.passes
    assert not list(tmp_path.iterdir())


def test_a_chain_that_begins_from_a_model_begins_from_it_again(rows, tmp_path, monkeypatch):
    start = fitted("LDA", rows, Losing([], tmp_path), monkeypatch)
    right = fitted("DILN", rows, Losing([], tmp_path), monkeypatch, init=start)
    found = fitted("DILN", rows, Losing([1, 4], tmp_path), monkeypatch, init=start)
    assert np.array_equal(right.topic_word, found.topic_word)
