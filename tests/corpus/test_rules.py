import dataclasses
import json
import re
import warnings

import numpy as np
import pytest

import diln.corpus.in_memory
from diln.corpus import Corpus, TextOptions, TextRule
from diln.corpus.stopwords import ENGLISH
from diln.errors import DilnWarning, WorkerError


def content(corpus):
    return corpus.vocabulary, corpus.counts.toarray().tolist(), list(corpus.documents)


def shout(text):
    """A tokenizer that worker processes can import."""
    return [token + "!" for token in text.split(" ")]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"alphabet": "greek"}, ValueError, "alphabet is 'greek'; it must be 'unicode' or 'ascii'"),
        ({"min_length": 0}, ValueError, "min_length is 0; it must be a whole number of at least 1"),
        ({"min_length": 2.5}, ValueError, "min_length is 2.5; it must be a whole number"),
        ({"max_terms": 0}, ValueError, "max_terms is 0; it must be a whole number of at least 1"),
        ({"max_terms": True}, ValueError, "max_terms is True; it must be a whole number"),
        ({"min_tokens": -1}, ValueError, "min_tokens is -1; it must be a whole number of at least 0"),
        ({"min_df": 0}, ValueError, "min_df is 0; as a number of documents it must be at least 1"),
        ({"min_df": True}, ValueError, "min_df is True"),
        ({"min_df": "5"}, ValueError, "min_df is '5'; it must be a number of documents (int) or a share of them"),
        ({"max_df": 1.5}, ValueError, "max_df is 1.5; as a share of the documents it must be between 0.0 and 1.0"),
        ({"max_df": float("nan")}, ValueError, "max_df is nan; as a share of the documents"),
        ({"max_df": -0.1}, ValueError, "max_df is -0.1; as a share of the documents"),
        ({"ngram_range": (2, 1)}, ValueError, "ngram_range is (2, 1); it must be two whole numbers such as (1, 2)"),
        ({"ngram_range": (0, 1)}, ValueError, "ngram_range is (0, 1)"),
        ({"ngram_range": (1, 2, 3)}, ValueError, "ngram_range is (1, 2, 3)"),
        ({"ngram_range": (1, 1.5)}, ValueError, "ngram_range is (1, 1.5)"),
        ({"ngram_range": 2}, ValueError, "ngram_range is 2; it must be two whole numbers such as (1, 2)"),
        ({"token_pattern": "[a-z"}, ValueError, "token_pattern '[a-z' is not a regular expression"),
        ({"token_pattern": "(a)(b)"}, ValueError, "has 2 groups; use one at most, write others as (?:...)"),
        ({"token_pattern": re.compile("a")}, TypeError, "token_pattern is re.compile('a'); it must be a string"),
        ({"token_pattern": "a", "tokenizer": str.split}, ValueError, "both given; give one"),
        ({"tokenizer": 3}, TypeError, "tokenizer is 3; it must be a function from a text to its tokens"),
        ({"tokenizer": "spacy"}, ValueError, "tokenizer is 'spacy'; it must be jieba, or module:function"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused(options, error, message):
    with pytest.raises(error, match=re.escape(message)) as raised:
        TextRule(**options)
    assert "\n" not in str(raised.value)


def test_the_options_are_the_rules_fields():
    assert list(TextOptions.__annotations__) == [field.name for field in dataclasses.fields(TextRule) if field.init]


@pytest.mark.parametrize(
    "rule",
    [
        TextRule(),
        TextRule(stop_words=None, ngram_range=(1, 3), min_df=0.5, max_df=100, max_terms=5, min_tokens=3),
        TextRule(stop_words="sklearn", alphabet="ascii", lowercase=False, min_length=1),
        TextRule(stop_words=["der", "die"], token_pattern="[^ ]+", drop_duplicates=True, keep_text=False),
        TextRule(stop_words="none"),
    ],
)
def test_a_rule_comes_back_from_json(rule):
    again = TextRule.from_json(json.loads(json.dumps(rule.to_json())))
    assert again == rule
    assert again.stop_set == rule.stop_set


def test_a_rule_takes_the_words_of_a_stop_word_file_with_it(tmp_path):
    path = tmp_path / "stop.txt"
    path.write_text("der\ndas\n")
    stored = TextRule(stop_words=path).to_json()
    path.unlink()
    assert stored["stop_words"] == ["das", "der"]
    assert TextRule.from_json(stored).stop_set == {"der", "das"}


def test_a_tokenizer_is_named_in_json_and_must_be_given_again():
    stored = TextRule(tokenizer=shout).to_json()
    assert stored["tokenizer"] == "shout"
    assert TextRule.from_json(stored, shout) == TextRule(tokenizer=shout)
    with pytest.raises(ValueError, match="built with the tokenizer 'shout'; give it again"):
        TextRule.from_json(stored)
    with pytest.raises(ValueError, match="leave tokenizer out"):
        TextRule.from_json(TextRule().to_json(), shout)


def test_words_have_three_characters_unless_a_pattern_or_a_tokenizer_says_what_a_word_is():
    assert Corpus.from_texts(["a bc def ghij"]).vocabulary == ["def", "ghij"]
    assert Corpus.from_texts(["a bc def ghij"], min_length=4).vocabulary == ["ghij"]
    assert Corpus.from_texts(["x yz"], token_pattern="[a-z]+").vocabulary == ["x", "yz"]
    assert Corpus.from_texts(["x yz"], tokenizer=str.split).vocabulary == ["x", "yz"]
    assert Corpus.from_texts(["x yz"], tokenizer=str.split, min_length=2).vocabulary == ["yz"]


def test_a_token_pattern_finds_its_matches_or_its_one_group_in_lower_case():
    assert Corpus.from_texts(["C3PO and R2D2"], token_pattern=r"\w+").vocabulary == ["c3po", "r2d2"]
    assert Corpus.from_texts(["C3PO"], token_pattern=r"\w+", lowercase=False).vocabulary == ["C3PO"]
    assert Corpus.from_texts(["#elk dog #ant"], token_pattern=r"#(\w+)").vocabulary == ["ant", "elk"]


def test_empty_matches_and_empty_tokens_are_no_terms():
    assert Corpus.from_texts(["elk, dog"], token_pattern="[a-z]*").vocabulary == ["dog", "elk"]
    assert Corpus.from_tokens([["elk", "", "dog"]]).vocabulary == ["dog", "elk"]


def test_a_tokenizer_gets_the_text_as_it_is_and_its_tokens_are_taken_as_they_are():
    seen = []

    def tokenizer(text):
        seen.append(text)
        return iter(["New York", "Über", "e\u0301", "x", "42", "THE"])

    corpus = Corpus.from_texts(["  Über\u00adall\r\n the ", ""], tokenizer=tokenizer)
    assert seen == ["  Über\u00adall\r\n the ", ""]
    assert corpus.vocabulary == sorted(["New York", "Über", "e\u0301", "x", "42", "THE"])


def test_stop_words_are_taken_out_of_a_tokenizers_tokens():
    assert Corpus.from_texts(["the elk"], tokenizer=str.split).vocabulary == ["elk"]


@pytest.mark.parametrize(
    ("tokenizer", "message"),
    [
        (lambda text: [1, 2], r"the tokenizer gave 1 \(int\); it must give strings, such as token\.text"),
        (lambda text: ["elk", None], r"the tokenizer gave None \(NoneType\); it must give strings"),
        (lambda text: None, "the tokenizer gave one NoneType; it must give a list of strings for each text"),
        (lambda text: text, "the tokenizer gave one str; it must give a list of strings for each text"),
    ],
)
def test_a_tokenizer_that_gives_no_strings_is_told_so(tokenizer, message):
    with pytest.raises(TypeError, match=message):
        Corpus.from_texts(["elk dog"], tokenizer=tokenizer)


def test_token_lists_are_taken_as_they_are_with_stop_words_and_short_ones():
    corpus = Corpus.from_tokens([["The", "a", "elk"], ["a", "a"], []], ids=["x", "y", "z"])
    assert corpus.vocabulary == ["The", "a", "elk"]
    assert corpus.counts.toarray().tolist() == [[1, 1, 1], [0, 2, 0], [0, 0, 0]]
    assert corpus.documents.ids == ["x", "y", "z"]
    assert Corpus.from_tokens([["the", "a", "elk"]], stop_words="english", min_length=2).vocabulary == ["elk"]
    assert Corpus.from_tokens([["elk", "dog", "ant"]], ngram_range=(2, 2)).vocabulary == ["dog ant", "elk dog"]


@pytest.mark.parametrize(
    "text", ["自然语言处理是人工智能", "日本語のテキスト", "ภาษาไทยเป็นภาษา", "မြန်မာဘာသာ", "ភាសាខ្មែរ"]
)
def test_a_script_without_spaces_warns_and_asks_for_a_tokenizer(text):
    with pytest.warns(DilnWarning, match=r"100% of the letters .*without spaces.*pass a tokenizer .*\(tokenizer=\)"):
        Corpus.from_texts([text])


@pytest.mark.parametrize(
    "text",
    [
        "Съешь ещё этих мягких булок",
        "Élève straße façade",
        "हिन्दी में लिखा",
        "한국어 문장입니다",
        "اللغة العربية",
        "Ελληνικά",
    ],
)
def test_a_script_with_spaces_does_not_warn(text):
    assert Corpus.from_texts([text]).n_terms >= 1


def test_a_few_words_of_another_script_and_a_tokenizer_do_not_warn():
    Corpus.from_texts(["Tokyo (東京) is the capital of Japan, and Kyoto was it before"])
    assert Corpus.from_texts(["自然语言"], tokenizer=list).vocabulary == sorted("自然语言")


TEXTS = [f"elk dog{number} cat" for number in range(8)]


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(diln.corpus.in_memory, "BLOCK_BYTES", 20)


def test_a_tokenizer_that_cannot_be_sent_to_workers_says_what_to_do(small_blocks):
    with pytest.raises(WorkerError, match="define functions at the top level of a module, or use n_jobs=1"):
        Corpus.from_texts(TEXTS, tokenizer=lambda text: text.split(), n_jobs=2)


def test_a_tokenizer_gives_the_same_corpus_on_two_processes(small_blocks):
    one = Corpus.from_texts(TEXTS, tokenizer=shout, titles=range(8), stop_words=iter(["elk!"]))
    two = Corpus.from_texts(TEXTS, tokenizer=shout, titles=range(8), stop_words=iter(["elk!"]), n_jobs=2)
    assert content(one) == content(two)
    assert one.vocabulary == ["cat!", *(f"dog{number}!" for number in range(8))]


def test_the_rule_of_a_corpus_says_how_it_was_made():
    assert Corpus.from_texts(["elk"], min_length=2).rule == {**TextRule(min_length=2).to_json(), "columns": None}
    assert TextRule().stop_set == ENGLISH


def test_texts_are_kept_beside_the_counts_unless_told_otherwise():
    assert list(Corpus.from_texts(["The Elk"]).documents.texts) == ["The Elk"]
    corpus = Corpus.from_texts(["The Elk"], keep_text=False)
    assert (list(corpus.documents.texts), corpus.documents.fields) == ([""], ("id",))


def test_stop_words_are_matched_in_the_form_of_the_tokens():
    corpus = Corpus.from_texts(["Der Straße folgt ein Café", "Cafe\u0301 am Ende"], stop_words=["Straße", "CAFÉ"])
    assert corpus.vocabulary == ["der", "ein", "ende", "folgt"]
    kept = Corpus.from_texts(["Alpha beta"], stop_words=["alpha"], lowercase=False)
    assert kept.vocabulary == ["Alpha", "beta"]


def test_numbers_of_numpy_are_numbers():
    rule = TextRule(min_df=np.int64(2), max_df=np.float32(0.5), max_terms=np.int32(7))
    assert (rule.min_df, rule.max_df, rule.max_terms) == (2, 0.5, 7)
    assert json.loads(json.dumps(rule.to_json()))["max_terms"] == 7


def test_a_token_with_a_space_and_the_same_two_tokens_are_one_term():
    corpus = Corpus.from_tokens([["new york", "new", "york"], ["new"]], ngram_range=(1, 2), max_df=1.0)
    assert corpus.vocabulary.count("new york") == 1
    place = corpus.vocabulary.index("new york")
    assert corpus.counts.toarray()[:, place].tolist() == [2, 0]
    dropped = Corpus.from_tokens([["new york", "new", "york"], ["new"]], ngram_range=(1, 2), min_df=2, max_df=1.0)
    assert dropped.vocabulary == ["new"]


def test_an_unknown_option_is_named_with_those_there_are():
    with pytest.raises(TypeError, match=r"no option min_doc; there are .*min_df"):
        Corpus.from_texts(["fox"], min_doc=1)


@pytest.mark.parametrize("pattern", ["a{1,99999999999}", "(" * 2000, "[a-"])
def test_a_pattern_that_python_cannot_take_is_refused_in_a_sentence(pattern):
    with pytest.raises(ValueError, match="is not a regular expression") as caught:
        TextRule(token_pattern=pattern)
    assert len(str(caught.value)) < 500


def test_a_pattern_that_python_warns_of_is_taken_without_a_word():
    assert Corpus.from_texts(["a [b", "[b c"], token_pattern="[[b]").n_tokens == 4


@pytest.mark.parametrize(
    "text",
    ["나는 학교에 가서 친구를 만나 밥을 먹고 집에 왔다", "我们 今天 去 学校 学习 中文 和 历史"],
    ids=["korean", "chinese"],
)
def test_words_that_are_too_short_are_told_of(text):
    with pytest.warns(DilnWarning, match=r"% of the letters are in words of less than 3 .* --min-length 1 or 2"):
        Corpus.from_texts([f"{text} 아름다운"] * 20, max_df=1.0)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*less than")
        Corpus.from_texts([f"{text} 아름다운"] * 20, min_length=1, max_df=1.0)
        Corpus.from_texts(["The cat and the dog sat in a box, as everybody knows"] * 5)


def test_letters_outside_of_the_alphabet_are_told_of():
    with pytest.warns(DilnWarning, match=r"15 letters from a to z and 60 characters beyond ASCII.*--alphabet unicode"):
        Corpus.from_texts(["съешь ещё этих abc"] * 5, alphabet="ascii")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Corpus.from_texts(["the naïve café of “Zoë” again"] * 5, alphabet="ascii")
