import sys
import warnings

import numpy as np
import pytest
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from diln.corpus import Corpus, TextRule
from diln.corpus.stopwords import ENGLISH, stop_words
from diln.errors import DilnWarning, SourceError


def test_the_english_list_has_function_words_in_lower_case_and_no_topics():
    assert stop_words("english") == ENGLISH
    assert {"the", "and", "would", "because", "don", "himself"} <= ENGLISH
    assert all(word.isascii() and word.isalpha() and word.islower() for word in ENGLISH)
    assert not {"system", "fire", "bill", "government", "music", "money"} & ENGLISH


def test_the_sklearn_list_is_scikit_learns():
    assert stop_words("sklearn") == ENGLISH_STOP_WORDS


@pytest.mark.parametrize("none", [None, "none", [], ()])
def test_no_list_is_no_stop_word(none):
    assert stop_words(none) == frozenset()


@pytest.mark.parametrize("many", [list, tuple, set, iter, np.array, dict.fromkeys])
def test_words_are_taken_from_any_iterable(many):
    assert stop_words(many(["uno", "dos"])) == {"uno", "dos"}


@pytest.mark.parametrize("as_path", [str, lambda path: path])
def test_a_file_has_a_word_a_line_with_comments_blank_lines_and_a_byte_order_mark(tmp_path, as_path):
    path = tmp_path / "stop.txt"
    path.write_bytes("\ufeffder # article\r\n\r\n# pronouns\r\n  ich  \r\nüber   | over\r\nc#\r\n".encode())
    assert stop_words(as_path(path)) == {"der", "ich", "über", "c#"}


def test_a_name_that_is_no_list_says_which_lists_there_are():
    with pytest.raises(SourceError, match=r"'klingon'.*'english', 'sklearn' nor 'none'.*'de'.*a word a line.*name one"):
        stop_words("klingon")


def test_a_file_that_is_not_utf8_is_named(tmp_path):
    path = tmp_path / "stop.txt"
    path.write_bytes("über".encode("latin-1"))
    with pytest.raises(SourceError, match=r"stop\.txt.*UTF-8 file"):
        stop_words(path)


def test_stop_words_are_left_out_of_the_counts_and_out_of_ngrams():
    corpus = Corpus.from_texts(["The bank of the river", "The river bank"], ngram_range=(1, 2))
    assert corpus.vocabulary == ["bank", "bank river", "river", "river bank"]
    assert Corpus.from_texts(["bank river"], stop_words=["bank"]).vocabulary == ["river"]
    assert Corpus.from_texts(["bank the river"], stop_words=None).vocabulary == ["bank", "river", "the"]


def test_an_iterator_of_stop_words_is_kept_for_later_use():
    rule = TextRule(stop_words=iter(["bank"]))
    assert rule.stop_set == {"bank"}
    assert rule == TextRule(stop_words=["bank"])
    assert hash(rule) == hash(TextRule(stop_words={"bank"}))


def test_a_language_has_a_list_that_models_keep():
    pytest.importorskip("stopwordsiso")
    assert {"der", "die", "und"} <= stop_words("de")
    assert {"и", "не"} <= stop_words("RU")
    with pytest.raises(SourceError, match=r"no stop words of the language 'xx'; there are .* de .* zh"):
        stop_words("xx")
    corpus = Corpus.from_texts(["der Hund und die Katze"], stop_words="de")
    assert corpus.vocabulary == ["hund", "katze"]
    assert {"der", "und"} <= set(corpus.rule["stop_words"])


def test_a_language_without_the_package_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "stopwordsiso", None)
    with pytest.raises(SourceError, match=r"'de' need a package: pip install 'diln\[languages\]'"):
        stop_words("de")


GERMAN = ["Die Katze ist nicht auf dem Dach", "Der Hund und die Katze sind mit dem Ball im Garten", "Das ist der Ball"]


def test_stop_words_of_another_language_are_told_of():
    with pytest.warns(DilnWarning, match=r"stop words of language 'de' \(die, .*--stop-words de"):
        Corpus.from_texts(GERMAN)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Corpus.from_texts(GERMAN, stop_words=None)  # as was asked for
        Corpus.from_texts(GERMAN, stop_words="die der das ist dem und mit nicht auf sind".split())
        Corpus.from_texts(["The cat is not on the roof", "The dog and the cat have the ball with them"])
