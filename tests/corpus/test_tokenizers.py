"""Tokenizers by name: found again where that is safe, and never imported because a file names them."""

import pickle
import sys
from pathlib import Path

import pytest

from diln import LDA, Corpus, load
from diln.analysis import Atlas
from diln.analysis.spans import token_spans
from diln.corpus import append, build, tokenizers
from diln.corpus.rules import TextRule
from diln.errors import SourceError

HERE = str(Path(__file__).parent)
OURS = "tokens_of_ours:words"
TEXT = "Foxes of the state-of-the-art, hunting foxes."
CHINESE = ["银行投资，增长。", "足球比赛，教练EU"]


@pytest.fixture(autouse=True)
def module(monkeypatch):
    """A module of tokenizers that can be imported, and a process in which none was named."""
    monkeypatch.syspath_prepend(HERE)
    forget(monkeypatch)
    yield
    forget(monkeypatch)


def forget(monkeypatch):
    """As if nothing had been named, nor imported."""
    monkeypatch.setattr(tokenizers, "_named", set())
    tokenizers.function_of.cache_clear()
    sys.modules.pop("tokens_of_ours", None)


def test_a_function_of_a_module_makes_the_tokens():
    corpus = Corpus.from_texts([TEXT, "Dogs bark"], tokenizer=OURS, stop_words=None)
    expected = ["bark", "foxes", "hunting", "lemma-dogs", "lemma-foxes", "of", "state-of-the-art", "the"]
    assert corpus.vocabulary == expected
    assert corpus.rule["tokenizer"] == OURS
    assert Corpus.from_texts([TEXT] * 30, tokenizer=OURS, n_jobs=2, max_df=1.0).n_tokens > 0
    assert pickle.loads(pickle.dumps(TextRule(tokenizer=OURS))).tokenizer("a b") == ["lemma-a", "b"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("spacy", "must be jieba, or module:function"),
        ("none_such:words", r"cannot be loaded \(No module named 'none_such'\)"),
        ("tokens_of_ours:none", "cannot be loaded .*no attribute 'none'"),
        ("tokens_of_ours:NUMBER", "is a int; name a function"),
        ("a:", "must be jieba, or module:function"),
        (":b", "must be jieba, or module:function"),
        ("x" * 5000, "must be jieba"),
    ],
)
def test_a_name_that_stands_for_no_tokenizer_is_refused(name, message):
    with pytest.raises(SourceError, match=message) as caught:
        TextRule(tokenizer=name)
    assert len(str(caught.value)) < 600


def test_a_stored_name_is_used_again_only_if_the_user_has_named_it(monkeypatch):
    stored = TextRule(tokenizer=OURS).to_json()
    assert TextRule.from_json(stored).tokenizer.name == OURS
    forget(monkeypatch)
    with pytest.raises(SourceError, match="give it again as tokenizer="):
        TextRule.from_json(stored)
    assert "tokens_of_ours" not in sys.modules
    with pytest.raises(SourceError, match="was built with the tokenizer 'tokens_of_ours:words', not with"):
        TextRule.from_json(stored, "tokens_of_ours:others")
    assert TextRule.from_json(stored, OURS).tokenizer.name == OURS


def test_a_model_reads_by_a_tokenizer_that_was_named(tmp_path, monkeypatch):
    corpus = Corpus.from_texts([TEXT, "Dogs bark at foxes"] * 10, tokenizer=OURS, max_df=1.0, stop_words=None)
    LDA(2, max_iter=3, random_state=0).fit(corpus).save(tmp_path / "model")
    forget(monkeypatch)
    monkeypatch.setenv("MARK_OF_TOKENS", str(tmp_path / "mark"))
    model = load(tmp_path / "model")
    with pytest.raises(ValueError, match=r"tokens_of_ours:words', which is not stored with the model.*name it"):
        Atlas(model, corpus).read_text(TEXT)
    assert Atlas(model, corpus).typical(topic=0, n=1)[0].sentences == ()
    assert not (tmp_path / "mark").exists()
    tokenizers.named(OURS)
    assert (tmp_path / "mark").exists()
    read = Atlas(model, corpus).read_text(TEXT)
    assert "".join(token.text for token in read.tokens) == TEXT
    assert [token.text for token in read.tokens if token.topic is not None][:3] == ["of", "the", "state-of-the-art"]
    assert read.n_known == 6


def test_a_corpus_is_added_to_by_its_tokenizer(tmp_path):
    (tmp_path / "a.txt").write_text("Dogs bark\n")
    build(tmp_path / "a.txt", tmp_path / "corpus", tokenizer=OURS, stop_words=None)
    assert len(append(tmp_path / "a.txt", tmp_path / "corpus", tokenizer=OURS, id="none")) == 2


def test_tokens_are_marked_where_they_stand():
    spans = token_spans([TEXT], TextRule(tokenizer=OURS, stop_words=None))[0]
    assert [(span.token, TEXT[span.first : span.last]) for span in spans] == [
        ("lemma-foxes", ""), ("of", "of"), ("the", "the"), ("state-of-the-art", "state-of-the-art"),
        ("hunting", "hunting"), ("foxes", "foxes"),
    ]  # fmt: skip


def test_jieba_needs_no_name_given_again():
    jieba = pytest.importorskip("jieba")
    words = [[word for word in jieba.lcut(text) if word not in "，。"] for text in CHINESE]
    assert len(words[0]) > 1
    corpus = Corpus.from_texts(CHINESE, tokenizer="jieba")
    assert corpus.vocabulary == sorted({word.lower() for found in words for word in found})
    again = TextRule.from_json(corpus.rule)
    assert again.tokenizer.name == "jieba"
    spans = token_spans(CHINESE, again)
    assert [[CHINESE[at][one.first : one.last] for one in found] for at, found in enumerate(spans)] == words


def test_jieba_that_is_not_installed_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "jieba", None)
    with pytest.raises(SourceError, match=r"pip install 'diln\[chinese\]'"):
        TextRule(tokenizer="jieba")


def test_a_model_counted_by_jieba_is_looked_at_where_there_is_none(monkeypatch):
    pytest.importorskip("jieba")
    corpus = Corpus.from_texts(CHINESE * 10, tokenizer="jieba", max_df=1.0)
    atlas = Atlas(LDA(2, max_iter=3, random_state=0).fit(corpus), corpus)
    forget(monkeypatch)
    monkeypatch.setitem(sys.modules, "jieba", None)
    assert atlas.typical(topic=0, n=1)[0].sentences == ()
    with pytest.raises(SourceError, match=r"pip install 'diln\[chinese\]'"):
        atlas.read_text(CHINESE[0])
