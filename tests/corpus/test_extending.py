"""A corpus on disk takes in the documents of a stream: old rows and columns stay, and shards stay few."""

import pytest

from diln.corpus import Corpus
from diln.corpus import extending as module
from diln.corpus.extending import extending
from diln.errors import SourceError, StoreError


def some(first: int, n_docs: int, vocabulary: list[str]) -> Corpus:
    """Documents of the last term and the first."""
    texts, ids = [f"{vocabulary[-1]} {vocabulary[0]}"] * n_docs, [f"d{first + i}" for i in range(n_docs)]
    return Corpus.from_texts(texts, ids=ids, vocabulary=vocabulary, dates=["2020-01-05"] * n_docs)


@pytest.fixture
def place(tmp_path):
    some(0, 3, ["alpha", "beta"]).save(tmp_path / "corpus")
    return tmp_path / "corpus"


def test_documents_come_behind_those_that_are_there_and_terms_too(place):
    with extending(place, ["alpha", "beta", "gamma"]) as extension:
        extension.add(some(3, 2, ["alpha", "beta", "gamma"]))
        assert len(Corpus.open(place)) == 3  # not before
        extension.commit()
        extension.add(some(5, 1, ["alpha", "beta", "gamma", "delta"]))
        extension.commit()
    corpus = Corpus.open(place, check=True)
    assert corpus.vocabulary == ["alpha", "beta", "gamma", "delta"]
    assert corpus.counts.toarray().tolist() == [[1, 1, 0, 0]] * 3 + [[1, 0, 1, 0]] * 2 + [[1, 0, 0, 1]]
    assert corpus.documents.ids == [f"d{i}" for i in range(6)]
    assert corpus.documents.dates == ["2020-01-05"] * 6


def test_what_is_not_committed_is_not_there(place):
    before = sorted(path.name for path in place.iterdir())
    with pytest.raises(RuntimeError), extending(place, ["alpha", "beta"]) as extension:
        extension.add(some(3, 2, ["alpha", "beta"]))
        raise RuntimeError
    assert sorted(path.name for path in place.iterdir()) == before
    assert len(Corpus.open(place, check=True)) == 3


def test_many_small_updates_leave_few_shards(place, monkeypatch):
    monkeypatch.setattr(module, "SHARD_DOCS", 10)
    for number in range(20):
        with extending(place, ["alpha", "beta"]) as extension:
            extension.add(some(3 + 2 * number, 2, ["alpha", "beta"]))
            extension.commit()
    corpus = Corpus.open(place, check=True)
    assert len(corpus) == 43
    assert len(list(place.glob("g*-0*"))) <= 6
    assert corpus.documents.ids == [f"d{i}" for i in range(43)]


def test_an_id_that_is_there_is_refused(place):
    with extending(place, ["alpha", "beta"]) as extension:
        with pytest.raises(SourceError, match="same id 'd2'"):
            extension.check(some(2, 2, ["alpha", "beta"]))
        extension.check(some(3, 2, ["alpha", "beta"]))


def test_other_terms_are_refused(place):
    with pytest.raises(StoreError, match="other terms than the model"), extending(place, ["beta", "alpha"]):
        pass
