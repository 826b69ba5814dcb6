"""A model knows which documents it was trained on, in bounded memory, however they came."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from diln import CTM, DILN, HDP, LDA, Corpus, Sampling, Variational, load
from diln.errors import StoreError
from diln.models import trained
from diln.models.counts import CorpusRows, as_rows
from diln.models.trained import TrainingSketch, document_hashes
from diln.simulate import lda_corpus


@pytest.fixture(scope="module")
def counts() -> csr_array:
    drawn = lda_corpus(300, 40, 4, doc_length=30, rng=0).corpus.counts.toarray()
    drawn[[5, 17]] = 0
    return as_rows(drawn)


def hashes_of(counts) -> list[int]:
    return document_hashes(counts, 0, counts.shape[0]).tolist()


def in_python(counts) -> list[int]:
    """The same hashes, number by number."""
    found = []
    for row in counts.toarray():
        entries = [(term, np.float32(count)) for term, count in enumerate(row) if count]
        mixed = [mix((term << 32 | int(count.view(np.uint32))) % 2**64) for term, count in entries]
        found += [sum(mixed) % 2**64] if mixed else []
    return found


def mix(value: int) -> int:
    value = (value + 0x9E3779B97F4A7C15) % 2**64
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB % 2**64
    return value ^ (value >> 31)


def test_a_document_has_a_hash_of_its_terms_and_counts(counts):
    assert hashes_of(counts) == in_python(counts)
    assert len(hashes_of(counts)) == 298  # none of documents without tokens
    assert len(set(hashes_of(counts))) == 298


def test_the_hash_is_the_same_in_memory_on_disk_and_of_a_matrix(counts, tmp_path):
    corpus = Corpus.from_matrix(counts.astype(np.int64), [f"w{i}" for i in range(40)])
    stored = corpus.save(tmp_path / "corpus")
    order = np.argsort(np.repeat(np.arange(300), np.diff(counts.indptr)) * 40 - counts.indices)  # the last term first
    shuffled = csr_array((counts.data[order].astype(np.float64), counts.indices[order], counts.indptr), counts.shape)
    for same in (CorpusRows(corpus).everything(), CorpusRows(stored).everything(), shuffled):
        assert hashes_of(same) == hashes_of(counts)
    assert hashes_of(csr_array(CorpusRows(stored).take(np.arange(9, 20)))) == hashes_of(csr_array(counts[9:20]))


def test_the_sketch_is_of_bounded_size_and_the_same_in_whatever_order(counts, monkeypatch):
    monkeypatch.setattr(trained, "KEPT", 50)
    monkeypatch.setattr(trained, "PART", 64)
    smallest = sorted(in_python(counts))[:50]
    whole = TrainingSketch.of(counts)
    assert whole.hashes.tolist() == smallest
    parts = TrainingSketch.of(counts[200:]).with_documents(counts[:120]).with_documents(counts[100:200])
    again = parts.with_documents(counts)
    assert parts.hashes.tolist() == again.hashes.tolist() == smallest
    assert not whole.complete
    assert TrainingSketch.restored(whole.tensors()).hashes.tolist() == smallest
    assert TrainingSketch.of(counts[:0]).hashes.tolist() == []


def test_documents_are_looked_up_exactly_or_by_a_random_part(counts, monkeypatch):
    half = csr_array(counts[:150])
    sketch = TrainingSketch.of(half)
    assert (sketch.complete, sketch.looked_up(half), sketch.looked_up(counts)) == (True, (148, 148), (298, 148))
    assert sketch.looked_up(csr_array(counts[150:])) == (150, 0)
    monkeypatch.setattr(trained, "KEPT", 60)
    compared, found = TrainingSketch.of(half).looked_up(counts)
    assert 60 == found < compared < 298
    assert found / compared == pytest.approx(0.5, abs=0.12)


WAYS = [
    ("batch", {"max_iter": 2}),
    ("grow", {"max_iter": 2}),
    ("online", {"inference": Sampling(batch_size=100)}),
    ("batch", {"inference": "variational", "max_iter": 2}),
    ("online", {"inference": Variational(batch_size=100), "max_iter": 1}),
]


@pytest.mark.parametrize(("method", "told"), WAYS)
def test_a_fit_knows_its_documents(method, told, counts, tmp_path):
    known = TrainingSketch.of(counts).hashes.tolist()
    model = LDA(3, learning_method=method, random_state=0, **told).fit(counts)
    assert model.fitted_.trained.hashes.tolist() == known
    model.save(tmp_path / "m")
    assert load(tmp_path / "m").fitted_.trained.hashes.tolist() == known


@pytest.mark.parametrize("model", [DILN, HDP, CTM])
def test_every_model_knows_its_documents_for_any_number_of_threads(model, counts):
    told = {"n_components": 3, "max_iter": 1, "random_state": 0}
    found = [model(n_jobs=jobs, **told).fit(counts).fitted_.trained.hashes.tolist() for jobs in (1, 2)]
    assert found == [TrainingSketch.of(counts).hashes.tolist()] * 2


@pytest.mark.parametrize("inference", [Sampling(batch_size=40), Variational(batch_size=40)])
def test_a_stream_adds_its_documents(inference, counts, tmp_path):
    model = LDA(3, inference=inference, random_state=0, max_iter=2).partial_fit(counts[:100])
    assert model.fitted_.trained.hashes.tolist() == TrainingSketch.of(counts[:100]).hashes.tolist()
    model.save(tmp_path / "m")
    model = load(tmp_path / "m").partial_fit(counts[100:])
    assert model.fitted_.trained.hashes.tolist() == TrainingSketch.of(counts).hashes.tolist()


def test_a_model_that_did_not_keep_its_documents_knows_none_of_later_ones_either(counts):
    model = LDA(3, random_state=0, max_iter=2).fit(counts[:100])
    model.fitted_.trained = None
    assert model.partial_fit(counts[100:]).fitted_.trained is None


def test_hashes_in_a_file_are_checked(counts, tmp_path):
    model = LDA(3, random_state=0, max_iter=2).fit(counts)
    known = model.fitted_.trained.hashes
    for wrong, message in (
        (known[::-1].copy(), "has numbers in tensor 'trained' that do not ascend"),
        (np.arange(16_385, dtype=np.uint64), r"has tensor 'trained' of shape \(16385,\) in place of \(16384,\)"),
    ):
        model.fitted_.trained = TrainingSketch(wrong)
        model.save(tmp_path / "m")
        with pytest.raises(StoreError, match=message):
            load(tmp_path / "m")


def test_counts_that_are_rounded_up_are_looked_up_as_they_were_learned(counts):
    mixed = csr_array(counts[:50] * np.float32(1.25))
    with pytest.warns(UserWarning, match="not whole numbers"):
        model = LDA(3, random_state=0, max_iter=2).fit(mixed)
    rounded = csr_array(np.ceil(mixed.toarray()))
    assert model.fitted_.trained.hashes.tolist() == TrainingSketch.of(rounded).hashes.tolist()
