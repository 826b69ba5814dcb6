"""Search takes whatever is typed, finds what is there, and is never in the way."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shop import make_corpus

from diln.corpus import Corpus, build
from diln.corpus.in_memory import TextsSource
from diln.corpus.store import StoredShards
from diln.show.explorer.search import Search, find, store
from diln.show.explorer.search.query import fold, parse
from diln.show.explorer.search.snippets import BEGIN, END, pattern_of, snippet

TEXTS = ["the quick brown fox", "a lazy dog sleeps", "the fox and the dog", "Café au lait", "naïve foxes, running", ""]
TITLES = ["Animals", "Animals", "Both", "Breakfast", "fox", "Empty"]


def searched(texts=TEXTS, titles=TITLES, folder=None) -> Search:
    corpus = Corpus.from_texts(texts, titles=titles, min_df=1, max_df=1.0, stop_words=None)
    search = Search(corpus, folder)
    search.prepare()
    assert search.ready, search.state()
    return search


@pytest.fixture(scope="module")
def search():
    made = searched()
    yield made
    made.close()


def rows(search, text, **how):
    return sorted(search.find(text, **how).rows.tolist())


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("fox", [0, 2, 4]), ('"fox"', [0, 2, 4]), ("FOX dog", [2]), ("fox -dog", [0, 4]), ('"the dog"', [2]),
        ('"quick brown" fox', [0]), ("cafe", [3]), ("CAFÉ", [3]), ("naive", [4]), ("runn", [4]), ("run", [4]),
        ("ru", []), ("runn lazy", []), ("runn* naive", [4]), ("fox OR dog", [2]), ("the", [0, 2]),
        ("the fox", [0, 2, 4]), ("breakfast", [3]), ("zebra", []), ("", []), ("-fox", []), ('"', []),
        ("fox AND", [0, 2, 4]), ("title:fox", []),
        ("fox)", [0, 2, 4]), ("NEAR(fox dog)", []), ("fox*", [0, 2, 4]), ("fox^2", []), ("{title}:fox", []),
    ],
)  # fmt: skip
def test_words_phrases_beginnings_and_exclusions(search, typed, found):
    assert rows(search, typed) == found


def test_the_best_hits_are_first(search):
    assert search.find("fox").rows[0] == 4  # in its title


def test_only_allowed_documents_are_found(search):
    allowed = np.array([True, False, False, True, True, True])
    assert rows(search, "fox", allowed=allowed, key="some") == [0, 4]
    assert rows(search, "fox", allowed=~allowed, key="others") == [2]
    assert rows(search, "fox") == [0, 2, 4]


def test_each_shard_is_read_once_for_all_documents_that_are_read_at_a_time(monkeypatch, tmp_path):
    texts = [f"word{number % 7} text{number}" for number in range(400)]
    monkeypatch.setattr("diln.corpus.in_memory.BLOCK_BYTES", 400)
    monkeypatch.setattr("diln.corpus.assemble.SHARD_BYTES", 1)
    monkeypatch.setattr("diln.corpus.store.MAPPED_AT_ONCE", 2)
    build(TextsSource(texts, {}), tmp_path / "corpus", min_df=1, max_df=1.0, stop_words=None)
    corpus = Corpus.open(tmp_path / "corpus")
    read = []
    plain = StoredShards._map
    monkeypatch.setattr(StoredShards, "_map", lambda self, number: read.append(number) or plain(self, number))
    found = list(store._documents(corpus, lambda share: True))
    assert [text for _, _, text in found] == [texts[row] for row in store.order(400)]
    assert len(corpus._shards) > 5
    assert len(read) <= 4 * len(corpus._shards)  # not once for each document


def test_documents_are_found_however_few_are_read_at_a_time(monkeypatch):
    texts = [f"word{number % 7} text{number}" for number in range(30)]
    monkeypatch.setattr("diln.show.explorer.search.store.at_once", lambda corpus: 4)
    searching = searched(texts, None)
    try:
        assert rows(searching, "word3") == list(range(3, 30, 7))
        assert [rows(searching, f'"text{number}"') for number in range(30)] == [[number] for number in range(30)]
    finally:
        searching.close()


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.one_of(st.text(max_size=60), st.text("\"'*-()^:{}+ANDORTNEAR fox\x00\ud800é", max_size=30)))
def test_nothing_that_is_typed_is_an_error(search, typed):
    hits = search.find(typed)
    assert len(set(hits.rows.tolist())) == len(hits.rows)
    pattern = pattern_of(parse(typed))
    for text in TEXTS:
        piece = None if pattern is None else snippet(text, pattern)
        if piece is not None:
            assert piece.count(BEGIN) == piece.count(END) > 0


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(max_size=100))
def test_folding_keeps_the_length(text):
    assert len(fold(text)) == len(text)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.text(max_size=40), min_size=1, max_size=5), st.data())
def test_a_word_of_a_document_finds_it(texts, data):
    words = [word for text in texts for word in text.split() if word.isascii() and word.isalnum()]
    if not words:
        return
    made = searched(["common word", *texts], ["t"] * (len(texts) + 1))
    word = data.draw(st.sampled_from(words))
    holding = {row + 1 for row, text in enumerate(texts) if word.lower() in text.lower().split()}
    assert holding <= set(rows(made, f'"{word}"'))
    made.close()


def test_snippets_show_the_hits_of_a_long_text():
    text = "before " * 100 + "the naïve fox jumped " + "after " * 100
    piece = snippet(text, pattern_of(parse("fox naive")))
    assert piece.startswith("… ")
    assert piece.endswith(" …")
    assert f"{BEGIN}naïve{END} {BEGIN}fox{END} jumped" in piece
    assert len(piece) < 400
    assert snippet("nothing of it", pattern_of(parse("fox"))) is None


def test_all_hits_are_there_though_only_some_are_ranked(monkeypatch):
    monkeypatch.setattr(find, "RANKED", 10)
    made = searched(
        [f"fox number{at}" for at in range(100)], [f"{'fox' if at == 77 else 'title'}" for at in range(100)]
    )
    hits = made.find("fox")
    assert sorted(hits.rows.tolist()) == list(range(100))
    assert hits.rows[0] == 77
    assert hits.ranked < 25
    allowed = np.arange(100) >= 90
    assert rows(made, "fox", allowed=allowed, key="late") == list(range(90, 100))
    made.close()


def test_the_file_is_made_once_and_used_again(tmp_path, monkeypatch):
    searched(folder=tmp_path).close()
    file = tmp_path / store.FILE
    assert file.is_file()
    assert [one.name for one in tmp_path.iterdir()] == [store.FILE]
    monkeypatch.setattr(store, "build", lambda *_: pytest.fail("the file is there"))
    assert rows(searched(folder=tmp_path), "fox") == [0, 2, 4]


def test_titles_that_were_changed_are_found(tmp_path):
    searched(folder=tmp_path).close()
    assert rows(searched(titles=["Zebras", *TITLES[1:]], folder=tmp_path), "zebras") == [0]


@pytest.mark.parametrize("spoil", ["bytes", "cut", "empty", "other corpus", "another table", "a view"])
def test_a_file_that_is_not_ours_is_made_anew(tmp_path, spoil):
    searched(folder=tmp_path).close()
    file = tmp_path / store.FILE
    if spoil == "bytes":
        file.write_bytes(b"not a database at all" * 100)
    elif spoil == "cut":
        file.write_bytes(file.read_bytes()[:100])
    elif spoil == "empty":
        file.write_bytes(b"")
    elif spoil == "other corpus":
        searched(["other texts entirely"], ["x"], folder=tmp_path).close()
    else:
        with closing(sqlite3.connect(file)) as db:
            made = "CREATE TABLE more(x)" if spoil == "another table" else "CREATE VIEW v AS SELECT load_extension('x')"
            db.execute(made)
            db.commit()
    assert rows(searched(folder=tmp_path), "fox") == [0, 2, 4]


def test_a_damaged_file_is_told_in_a_sentence(tmp_path):
    made = searched([f"fox number{at}" for at in range(300)], ["t"] * 300, folder=tmp_path)
    file = tmp_path / store.FILE
    data = bytearray(file.read_bytes())
    data[8192 * 2 :] = b"\xff" * (len(data) - 8192 * 2)
    file.write_bytes(data)
    with pytest.raises(ValueError, match="search file"):
        made.find("fox")
    made.close()


def test_where_nothing_can_be_written_the_file_is_temporary(tmp_path):
    folder = tmp_path / "model"
    folder.write_text("a file, and no folder")
    made = searched(folder=folder)
    kept = made._path
    assert rows(made, "fox") == [0, 2, 4]
    assert folder not in kept.parents
    made.close()
    assert not kept.exists()


def test_read_only_writes_nothing_into_the_model(tmp_path):
    corpus = make_corpus(10)
    search = Search(corpus, tmp_path, keep=False)
    search.prepare()
    assert search.ready
    assert list(tmp_path.iterdir()) == []
    search.close()


def test_without_fts5_search_is_off_and_says_so(monkeypatch):
    monkeypatch.setattr(store, "TABLE", "CREATE VIRTUAL TABLE docs USING nothing(x)")
    search = Search(make_corpus(10))
    search.prepare()
    assert search.state()["state"] == "off"
    assert "FTS5" in search.state()["note"]


def test_a_corpus_without_texts_has_no_search():
    counts = Corpus.from_matrix(np.eye(3, dtype=int), ["a", "b", "c"])
    search = Search(counts)
    search.prepare()
    assert "no texts" in search.state()["note"]


def test_search_tells_how_far_it_is_and_can_be_given_up(tmp_path):
    search = Search(make_corpus(20), tmp_path)
    told = []
    search._stopped = True
    search._tell, tell = (lambda progress: told.append(progress) or tell(progress)), search._tell
    search.prepare()
    assert told == [0.0]
    assert search.state()["state"] == "off"
    assert list(tmp_path.iterdir()) == []
