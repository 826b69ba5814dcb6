"""Words found together: by hand, against gensim, and where there is nothing to be found."""

from math import log

import numpy as np
import pytest
from gensim.corpora import Dictionary
from gensim.models.coherencemodel import CoherenceModel
from hypothesis import given, settings
from hypothesis import strategies as st

from diln.analysis import coherence, count_together, npmi, umass
from diln.corpus import Corpus

DOCUMENTS = ["a b b", "b a", "a a", "c"]


def corpus_of(documents: list[str], vocabulary: str | None = None) -> Corpus:
    return Corpus.from_tokens([text.split() for text in documents], max_df=1.0, vocabulary=vocabulary)


def found_in(documents: list[str], words: str):
    (found,) = count_together(corpus_of(documents), [words.split()])
    return found


def random_texts(seed: int, n_docs: int, n_terms: int, length: int) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    return [[f"w{j}" for j in rng.integers(0, n_terms, length)] for _ in range(n_docs)]


def test_documents_are_counted_once_for_each_pair():
    found = found_in(DOCUMENTS, "a b c")
    assert found.words == ("a", "b", "c")
    assert found.documents.tolist() == [[3, 2, 0], [2, 2, 0], [0, 0, 1]]
    assert (found.n_docs, found.n_missing, found.n_pairs) == (4, 0, 3)


def test_npmi_is_what_it_is_by_hand():
    both = log((2 / 4) / ((3 / 4) * (2 / 4))) / -log(2 / 4)
    assert npmi(found_in(DOCUMENTS, "a b")) == pytest.approx(both)
    assert npmi(found_in(DOCUMENTS, "a b c")) == pytest.approx((both - 1 - 1) / 3)


def test_umass_is_what_it_is_by_hand_and_depends_on_the_order():
    assert umass(found_in(DOCUMENTS, "a b")) == pytest.approx(log(3 / 3))
    assert umass(found_in(DOCUMENTS, "b a")) == pytest.approx(log(3 / 2))
    assert umass(found_in(DOCUMENTS, "a b c")) == pytest.approx((log(3 / 3) + log(1 / 3) + log(1 / 2)) / 3)
    assert umass(found_in(DOCUMENTS, "a b"), 0.5) == pytest.approx(log(2.5 / 3))
    with pytest.raises(ValueError, match="smoothing is 0"):
        umass(found_in(DOCUMENTS, "a b"), 0)


def test_npmi_has_its_limits():
    assert npmi(found_in(["a", "b", "a", "c"], "a b")) == -1  # never together
    assert npmi(found_in(["a b", "a b"], "a b")) == 1  # in all documents
    assert npmi(found_in(["a b", "c"], "a b")) == 1  # never apart
    assert npmi(found_in(["a b", "a", "b", "c"], "a b")) == pytest.approx(0)  # as by chance


def test_words_that_no_document_has_are_left_out_and_counted():
    with_more, without = found_in(DOCUMENTS, "zebra a okapi b"), found_in(DOCUMENTS, "a b")
    assert (with_more.words, with_more.n_missing) == (("a", "b"), 2)
    assert (npmi(with_more), umass(with_more)) == (npmi(without), umass(without))


def test_a_term_of_the_vocabulary_that_no_document_has_is_missing_too():
    (found,) = count_together(corpus_of(DOCUMENTS, ["a", "b", "c", "d"]), [["d", "a", "b"]])
    assert (found.words, found.n_missing) == (("a", "b"), 1)
    assert np.isfinite([npmi(found), umass(found)]).all()


@pytest.mark.parametrize("words", ["", "a", "zebra", "a zebra"])
def test_without_a_pair_coherence_is_0_and_says_nothing(words):
    found = found_in(DOCUMENTS, words)
    assert (found.n_pairs, npmi(found), umass(found)) == (0, 0, 0)


def test_empty_documents_are_documents():
    some = found_in(DOCUMENTS, "a b")
    (more,) = count_together(corpus_of([*DOCUMENTS, "", ""], ["a", "b", "c"]), [["a", "b"]])
    assert (more.n_docs, more.documents.tolist()) == (6, some.documents.tolist())
    assert npmi(more) == pytest.approx(log((2 / 6) / ((3 / 6) * (2 / 6))) / -log(2 / 6))


def test_several_lists_are_counted_as_each_alone():
    corpus = Corpus.from_tokens(random_texts(0, 50, 12, 6), max_df=1.0)
    lists = [["w1", "w2", "w3"], ["w3", "w9"], ["nothing"], ["w4", "w1", "w4"]]
    for found, words in zip(count_together(corpus, lists), lists, strict=True):
        (alone,) = count_together(corpus, [words])
        assert found.words == alone.words
        assert np.array_equal(found.documents, alone.documents)
    assert found.words == ("w4", "w1")


@pytest.mark.parametrize(("most", "entries"), [(7, 1 << 24), (8192, 1), (8192, 40)])
def test_parts_and_disk_change_nothing(most, entries, monkeypatch, tmp_path):
    corpus, words = Corpus.from_tokens(random_texts(1, 100, 15, 8), max_df=1.0), [["w0", "w5", "w9"], ["w5", "w14"]]
    expected = count_together(corpus, words)
    seen = []

    class Watch:
        def note(self, text: str) -> None:
            raise AssertionError

        def step(self, position: int, total: int, documents: int) -> None:
            seen.append((position, total, documents))

    monkeypatch.setattr(coherence, "MOST_DOCUMENTS", most)
    monkeypatch.setattr(coherence, "ENTRIES", entries)
    for found, one in zip(count_together(corpus.save(tmp_path / "c"), words, Watch()), expected, strict=True):
        assert np.array_equal(found.documents, one.documents)
    assert len(seen) > 1
    assert seen[-1] == (100, 100, 100)


@pytest.fixture(scope="module")
def with_gensim():
    texts = [sorted(set(text)) for text in random_texts(2, 300, 40, 14)]
    topics = [[f"w{j}" for j in np.random.default_rng(k).permutation(40)[:10]] for k in range(5)]
    return texts, topics, Dictionary(texts), count_together(Corpus.from_tokens(texts, max_df=1.0), topics)


def test_umass_is_that_of_gensim_with_its_smoothing(with_gensim):
    texts, topics, dictionary, found = with_gensim
    bags = [dictionary.doc2bow(text) for text in texts]
    theirs = CoherenceModel(topics=topics, corpus=bags, dictionary=dictionary, coherence="u_mass", topn=10)
    ours = [umass(one, smoothing=1e-12 * len(texts)) for one in found]
    assert ours == pytest.approx(theirs.get_coherence_per_topic(), rel=1e-9)


def test_npmi_is_that_of_gensim_with_a_window_wider_than_any_document(with_gensim):
    texts, topics, dictionary, found = with_gensim
    assert all((one.documents > 0).all() for one in found), "gensim smoothes pairs that are never together"
    theirs = CoherenceModel(
        topics=topics, texts=texts, dictionary=dictionary, coherence="c_npmi", topn=10, window_size=1000, processes=1
    )
    assert [npmi(one) for one in found] == pytest.approx(theirs.get_coherence_per_topic(), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sets(st.sampled_from("abcde")), min_size=1, max_size=12), st.permutations("abcdef"))
def test_counts_are_those_of_sets_and_coherence_is_a_number_in_its_range(documents, words):
    vocabulary = list("abcdef")
    table = [[int(term in document) for term in vocabulary] for document in [*documents, set("abcdef")]]
    (found,) = count_together(Corpus.from_matrix(table, vocabulary)[: len(documents)], [words])
    assert set(found.words) == set().union(*documents)
    for i, first in enumerate(found.words):
        for j, second in enumerate(found.words):
            assert found.documents[i, j] == sum({first, second} <= document for document in documents)
    assert -1 <= npmi(found) <= 1
    assert -log(len(documents)) <= umass(found) <= log(2)


def test_what_cannot_be_counted_is_refused():
    corpus = corpus_of(DOCUMENTS)
    with pytest.raises(ValueError, match="no documents"):
        count_together(corpus[[]], [["a"]])
    with pytest.raises(TypeError, match="a list of lists"):
        count_together(corpus, ["abc"])
