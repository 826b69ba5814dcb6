"""Terms outside a vocabulary are counted in bounded memory, never too high, and never too low by more than is said."""

from collections import Counter

import numpy as np
import pytest

from diln.corpus import candidates
from diln.corpus.candidates import Candidates


def seen(documents: list[set[str]]) -> tuple[Counter, int]:
    return Counter(term for document in documents for term in document), len(documents)


def stream(rng: np.random.Generator, n_batches: int, n_terms: int) -> list[tuple[Counter, int]]:
    """Batches of documents whose terms are as rare as words are."""
    shares = 1 / np.arange(1, n_terms + 1)
    shares /= shares.sum()
    names = np.array([f"t{i}" for i in range(n_terms)])
    return [seen([set(rng.choice(names, 20, p=shares).tolist()) for _ in range(40)]) for _ in range(n_batches)]


def test_a_count_is_never_above_the_truth_nor_below_it_by_more_than_was_missed(monkeypatch):
    monkeypatch.setattr(candidates, "ROOM", 60)
    found, truth = Candidates(), Counter()
    for counts, n_docs in stream(np.random.default_rng(0), 30, 2000):
        found.see(counts, counts.values(), n_docs)
        keep = 0.5 ** (n_docs / candidates.HALF_LIFE)
        truth = Counter({term: keep * count for term, count in truth.items()})
        truth.update(counts)
        assert len(found.counts) <= 60
        for term, count in truth.items():
            known = found.counts.get(term, 0.0)
            assert known <= count + 1e-9
            assert known >= count - found.missed - 1e-9
    assert found.missed > 0
    assert found.missed <= sum(truth.values()) / 60  # what a summary of so many terms may miss


def test_a_term_that_was_in_fewer_documents_than_asked_for_never_comes_in(monkeypatch):
    monkeypatch.setattr(candidates, "ROOM", 60)
    found, truth = Candidates(), Counter()
    for counts, n_docs in stream(np.random.default_rng(1), 30, 2000):
        found.see(counts, counts.values(), n_docs)
        truth.update(counts)
        for term in found.ripe(12, 1.0, 1000):
            assert truth.pop(term) >= 12


def test_old_documents_count_for_half_after_the_half_life():
    found = Candidates()
    found.see(["comet"], [8], 8)
    found.see([], [], int(candidates.HALF_LIFE))
    assert found.counts == {"comet": pytest.approx(4.0)}
    assert found.seen == pytest.approx(4 + candidates.HALF_LIFE)


def test_a_term_in_most_documents_stays_out_and_those_in_most_others_come_first():
    found = Candidates()
    found.see(["footer", "comet", "orbit", "rare"], [100, 30, 30, 2], 100)
    assert found.ripe(3, 0.5, 1) == ["comet"]
    assert found.ripe(3, 0.5, 10) == ["orbit"]
    assert set(found.counts) == {"footer", "rare"}
    assert found.ripe(1, 0.5, 0) == []
