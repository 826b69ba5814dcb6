"""Splits follow the published protocol to the letter, and lose no token."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array

from diln.corpus import Corpus, splits
from diln.corpus.splits import halves

counts = hnp.arrays(np.int64, st.tuples(st.integers(5, 12), st.integers(1, 6)), elements=st.integers(0, 4))


def corpus_of(X) -> Corpus:
    X = X.copy()
    X[0, 0] += 1
    return Corpus.from_matrix(X, [f"t{j}" for j in range(X.shape[1])])


def protocol(X, seed):
    """Document completion, written out as it is described."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    n_test = min(2000, len(X) // 5)
    test, train = order[:n_test], order[n_test:]
    observed, held_out = np.zeros((2, n_test, X.shape[1]), int)
    for row, document in enumerate(test):
        tokens = np.array([term for term, count in enumerate(X[document]) for _ in range(count)])
        rng.shuffle(tokens)
        for place, term in enumerate(tokens):
            (observed if place < len(tokens) // 2 else held_out)[row, term] += 1
    return train, test, observed, held_out


@settings(max_examples=100, deadline=None)
@given(X=counts, seed=st.integers(0, 2**32))
def test_completion_is_the_protocol_to_the_letter(X, seed):
    corpus = corpus_of(X)
    train, test, observed, held_out = protocol(corpus.counts.toarray(), seed)
    split = corpus.completion(seed)
    assert split.train.documents.ids == [str(row) for row in train]
    assert split.test.documents.ids == [str(row) for row in test]
    np.testing.assert_array_equal(split.observed.toarray(), observed)
    np.testing.assert_array_equal(split.held_out.toarray(), held_out)


@settings(max_examples=100, deadline=None)
@given(X=counts, seed=st.integers(0, 2**32))
def test_halves_add_up_and_are_halves(X, seed):
    observed, held_out = halves(csr_array(X), np.random.default_rng(seed))
    np.testing.assert_array_equal((observed + held_out).toarray(), X)
    np.testing.assert_array_equal(observed.sum(axis=1), X.sum(axis=1) // 2)


@settings(max_examples=50, deadline=None)
@given(X=counts, seed=st.integers(0, 2**32), n_test=st.integers(1, 4))
def test_a_split_loses_no_document_and_no_token(X, seed, n_test):
    corpus = corpus_of(X)
    train, test = corpus.split(seed, n_test)
    assert len(test) == n_test
    assert sorted(train.documents.ids + test.documents.ids) == sorted(corpus.documents.ids)
    assert train.n_tokens + test.n_tokens == corpus.n_tokens
    assert train.vocabulary == test.vocabulary == corpus.vocabulary


def test_the_split_of_a_seed_is_that_of_completion():
    corpus = corpus_of(np.ones((20, 3), int))
    split = corpus.completion(7)
    train, test = corpus.split(7)
    assert split.train.documents.ids == train.documents.ids
    assert split.test.documents.ids == test.documents.ids


@pytest.mark.parametrize("n_test", [0, 3, 4])
def test_a_split_without_training_or_test_documents_is_refused(n_test):
    with pytest.raises(ValueError, match="set aside 1 to 2"):
        corpus_of(np.ones((3, 2), int)).split(0, n_test)


def test_the_order_of_terms_in_memory_does_not_change_the_halves():
    X = np.array([[3, 0, 2, 5]])
    shuffled = csr_array((np.array([5, 3, 2]), np.array([3, 0, 2]), np.array([0, 3])), shape=(1, 4))
    given = Corpus.from_matrix(shuffled, list("abcd")).counts
    for a, b in zip(
        halves(csr_array(X), np.random.default_rng(1)), halves(given, np.random.default_rng(1)), strict=True
    ):
        np.testing.assert_array_equal(a.toarray(), b.toarray())


@pytest.mark.parametrize("scale", [2**22, 2**30])
def test_documents_of_very_many_tokens_are_halved_without_writing_them_out(scale):
    counts = csr_array(np.array([[1, 0, 1], [1, 1, 0]]) * (scale - 1))
    observed, held_out = halves(counts, np.random.default_rng(0))
    np.testing.assert_array_equal((observed + held_out).toarray(), counts.toarray())
    np.testing.assert_allclose(observed.toarray(), counts.toarray() / 2, rtol=5e-3)


@pytest.mark.parametrize("most", [2**22, 5])
def test_a_generator_that_passes_over_documents_is_where_halving_them_leaves_it(most, monkeypatch):
    monkeypatch.setattr(splits, "MOST_SHUFFLED", most)
    counts = csr_array(np.random.default_rng(3).poisson(1.5, (200, 6)) * (np.arange(200) % 7 > 0)[:, np.newaxis])
    halved, passed = np.random.default_rng(4), np.random.default_rng(4)
    halves(counts, halved)
    splits.pass_over(counts, passed)
    assert halved.bit_generator.state == passed.bit_generator.state


def test_drawing_halves_follows_the_law_of_shuffling_them(monkeypatch):
    counts = csr_array(np.tile([[6, 3, 1]], (4000, 1)))
    shuffled = halves(counts, np.random.default_rng(0))[0].toarray()
    monkeypatch.setattr(splits, "MOST_SHUFFLED", 1)
    drawn = halves(counts, np.random.default_rng(1))[0].toarray()
    assert (shuffled.sum(axis=1) == 5).all()
    assert (drawn.sum(axis=1) == 5).all()
    np.testing.assert_allclose(drawn.mean(axis=0), shuffled.mean(axis=0), atol=0.06)
    np.testing.assert_allclose(np.cov(drawn.T), np.cov(shuffled.T), atol=0.06)
