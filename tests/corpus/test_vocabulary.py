import numpy as np
import pytest

from diln.corpus import Corpus, TextRule
from diln.corpus.vocabulary import TermTable, choose, given_vocabulary, keep_terms, limits
from diln.errors import SourceError

# In documents: ant 1, bee 2, cat 3, dog 4, elk 4
TEXTS = ["elk dog cat bee ant", "elk dog cat bee", "elk dog cat", "elk dog dog dog"]


def kept(**options):
    return Corpus.from_texts(TEXTS, **options).vocabulary


@pytest.mark.parametrize(
    ("options", "vocabulary"),
    [
        ({}, ["ant", "bee", "cat", "dog", "elk"]),
        ({"min_df": 2}, ["bee", "cat", "dog", "elk"]),
        ({"min_df": 0.5}, ["bee", "cat", "dog", "elk"]),
        ({"min_df": 0.51}, ["cat", "dog", "elk"]),
        ({"min_df": 0.0}, ["ant", "bee", "cat", "dog", "elk"]),
        ({"min_df": 1.0}, ["dog", "elk"]),
        ({"min_df": 1}, ["ant", "bee", "cat", "dog", "elk"]),
        ({"max_df": 1}, ["ant"]),
        ({"max_df": 1.0}, ["ant", "bee", "cat", "dog", "elk"]),
        ({"max_df": 0.75}, ["ant", "bee", "cat"]),
        ({"min_df": 2, "max_df": 3}, ["bee", "cat"]),
        ({"max_terms": 3}, ["cat", "dog", "elk"]),
        ({"max_terms": 1}, ["dog"]),
        ({"max_terms": 1, "max_df": 3}, ["cat"]),
        ({"max_terms": 99}, ["ant", "bee", "cat", "dog", "elk"]),
    ],
)
def test_terms_are_kept_by_the_documents_they_are_in(options, vocabulary):
    assert kept(**options) == vocabulary


def test_a_whole_number_counts_documents_and_a_float_is_a_share_of_them():
    assert kept(min_df=1) != kept(min_df=1.0)
    assert limits(40, TextRule(min_df=4, max_df=30))[:2] == (4, 30)
    assert limits(40, TextRule(min_df=0.1, max_df=0.75))[:2] == (4, 30)


def test_ties_for_the_last_place_go_by_the_alphabet_whatever_the_order_of_appearance():
    frequency = np.array([2, 2, 3, 2])
    assert sorted(keep_terms(frequency, ["zoo", "ark", "mid", "bat"], 10, TextRule(max_terms=3))) == [1, 2, 3]
    forward = Corpus.from_texts(["zoo ark bat", "bat ark zoo"], max_terms=2)
    backward = Corpus.from_texts(["bat ark zoo", "zoo ark bat"], max_terms=2)
    assert forward.vocabulary == backward.vocabulary == ["ark", "bat"]


@pytest.mark.parametrize(
    ("n_docs", "expected"),
    [
        (1, (1, 1, 10_000)),
        (19, (1, 19, 10_000)),
        (20, (1, 10, 10_000)),
        (224, (1, 112, 10_000)),
        (225, (2, 112.5, 10_000)),
        (2_500, (5, 1_250, 10_000)),
        (9_024, (9, 4_512, 10_000)),
        (9_025, (10, 4_512.5, 10_000)),
        (999_999, (10, 499_999.5, 10_000)),
        (1_000_000, (10, 500_000, 20_000)),
        (300_000_000, (10, 150_000_000, 20_000)),
    ],
)
def test_default_limits_scale_with_the_corpus(n_docs, expected):
    assert limits(n_docs, TextRule()) == expected


def test_the_vocabulary_is_in_alphabetical_order_of_code_points():
    assert Corpus.from_texts(["zebra élan Äpfel apple ωμέγα"]).vocabulary == [
        "apple",
        "zebra",
        "äpfel",
        "élan",
        "ωμέγα",
    ]


def test_a_fixed_vocabulary_keeps_its_order_and_counts_unknown_tokens():
    corpus = Corpus.from_texts(TEXTS, vocabulary=["yak", "elk", "ant"])
    assert corpus.vocabulary == ["yak", "elk", "ant"]
    assert corpus.counts.toarray().tolist() == [[0, 1, 1], [0, 1, 0], [0, 1, 0], [0, 1, 0]]
    assert corpus.tally.unknown_tokens == 11
    assert Corpus.from_texts(TEXTS).tally.unknown_tokens == 0


def test_a_fixed_vocabulary_is_not_pruned():
    assert Corpus.from_texts(TEXTS, vocabulary=["yak", "elk"], min_df=2, max_terms=1).vocabulary == ["yak", "elk"]


@pytest.mark.parametrize("texts", [["cow"], ["cow", "dog yak", ""], [""], ["the and of"]])
def test_documents_without_any_known_term_are_empty_rows(texts):
    corpus = Corpus.from_texts(texts, vocabulary=["elk", "ant"])
    assert (corpus.vocabulary, corpus.doc_lengths.tolist()) == (["elk", "ant"], [0] * len(texts))
    assert Corpus.from_tokens([["cow"]], vocabulary=["elk"]).doc_lengths.tolist() == [0]


def test_documents_with_no_known_term_that_are_dropped_leave_nothing():
    with pytest.raises(SourceError, match="no document has a token of the vocabulary"):
        Corpus.from_texts(["cow"], vocabulary=["elk"], min_tokens=1)


def test_documents_without_a_known_term_stay_unless_told_otherwise():
    corpus = Corpus.from_texts(["elk", "cow", "elk dog"], vocabulary=["elk"])
    assert corpus.doc_lengths.tolist() == [1, 0, 1]
    without = Corpus.from_texts(["elk", "cow", "elk dog"], vocabulary=["elk"], min_tokens=1)
    assert (without.documents.ids, without.tally.short_dropped) == (["0", "2"], 1)


def test_min_tokens_counts_tokens_of_the_vocabulary_that_is_kept():
    corpus = Corpus.from_texts(["elk elk ant", "elk ant", "elk bee cow"], min_df=2, min_tokens=2)
    assert corpus.vocabulary == ["ant", "elk"]
    assert corpus.documents.ids == ["0", "1"]


def test_only_the_first_of_equal_documents_is_kept_and_counted():
    corpus = Corpus.from_texts(["elk dog", "elk dog", "dog", "Elk dog"], drop_duplicates=True, min_df=3)
    assert corpus.vocabulary == ["dog"]
    assert (corpus.documents.ids, corpus.tally.duplicates_dropped) == (["0", "2", "3"], 1)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_vocabulary_file_has_a_term_a_line(tmp_path, ending):
    path = tmp_path / "vocab.txt"
    path.write_bytes(("\ufeff" + ending.join(["new york", "élan", "42", ""])).encode())
    assert given_vocabulary(path) == given_vocabulary(str(path)) == ["new york", "élan", "42"]
    path.write_bytes(ending.join(["a", "b"]).encode())
    assert given_vocabulary(path) == ["a", "b"]


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        (["a", "b", "a"], "'a' is both entry 1 and 3; every term must stand there once"),
        (["a", ""], "entry 2 is ''; every term must be a string that is not empty"),
        (["a", 5], "entry 2 is 5; every term must be a string that is not empty"),
        ([], "there is no term; give at least one"),
    ],
)
def test_a_vocabulary_of_wrong_terms_is_refused(terms, message):
    with pytest.raises(SourceError, match=message):
        Corpus.from_texts(TEXTS, vocabulary=terms)


def test_a_file_that_holds_a_wrong_vocabulary_is_named(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_bytes(b"elk\n\ndog\n")
    with pytest.raises(SourceError, match=r"vocab\.txt: entry 2 is ''"):
        Corpus.from_texts(TEXTS, vocabulary=path)
    path.write_bytes("élan".encode("latin-1"))
    with pytest.raises(SourceError, match=r"vocab\.txt: .*not UTF-8 text \(byte 0\); save it as UTF-8"):
        Corpus.from_texts(TEXTS, vocabulary=path)
    with pytest.raises(SourceError, match=r"none\.txt: .*cannot be read \(No such file.*name its file"):
        Corpus.from_texts(TEXTS, vocabulary=tmp_path / "none.txt")


def test_one_string_is_no_vocabulary():
    with pytest.raises(TypeError, match="vocabulary is one str; give a list of terms"):
        Corpus.from_matrix(np.eye(3, dtype=int), "abc")


def test_a_table_numbers_terms_by_appearance_and_makes_room():
    table = TermTable()
    terms = [f"t{number}" for number in range(3_000)]
    assert table.numbers(terms[:2]).tolist() == [0, 1]
    assert table.numbers(terms[::-1])[-3:].tolist() == [2_999, 1, 0]
    assert len(table) == 3_000 <= len(table.document_frequency)


def test_a_closed_table_takes_no_new_terms():
    table = TermTable(["b", "a"], closed=True)
    assert table.numbers(["a", "c", "b"]).tolist() == [1, -1, 0]
    assert choose(table, 1, TextRule()).vocabulary == ["b", "a"]


def test_known_terms_come_first_and_new_ones_follow_in_order():
    table = TermTable(["zoo", "ant"])
    numbers = table.numbers(["cow", "zoo", "bee"])
    np.add.at(table.document_frequency, numbers, [2, 1, 2])
    choice = choose(table, 2, TextRule(min_df=2))
    assert choice.vocabulary == ["zoo", "ant", "bee", "cow"]
    assert choice.numbers.tolist() == [0, 1, 3, 2]
