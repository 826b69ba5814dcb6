import csv
import gc
import gzip
import io
import json
import os
import sys
import tempfile
import threading
from datetime import date, datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from gensim.corpora import Dictionary
from scipy import sparse

import diln.corpus.in_memory
import diln.corpus.matrix
import diln.corpus.readers.folder
import diln.corpus.readers.json_values
import diln.corpus.readers.lines
import diln.corpus.readers.table
from diln.corpus import FORMATS, Corpus, append, build
from diln.corpus.in_memory import FrameSource, TextsSource, TokensSource
from diln.corpus.readers.detect import detect_format
from diln.corpus.readers.lines import LineReader
from diln.corpus.readers.table import ParquetSource, _sound_times
from diln.errors import SourceError


def bags(corpus):
    """Each document as a dict from terms to counts."""
    table = corpus.counts.toarray()
    return [{corpus.vocabulary[k]: int(row[k]) for k in np.flatnonzero(row)} for row in table]


def content(corpus):
    return corpus.vocabulary, corpus.counts.toarray().tolist(), list(corpus.documents), corpus.tally


class Steps:
    """A watch that counts the blocks."""

    def __init__(self):
        self.seen = []

    def note(self, text):
        pass

    def step(self, position, total, documents):
        self.seen.append((position, total, documents))


def lines_of_json(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


# ---- plain text


def test_a_folder_has_a_document_a_file_with_paths_for_ids_and_folders_for_labels(file, tmp_path):
    file("news/b.txt", "dog dog")
    file("news/a.txt", "elk")
    file("news/sport/c.txt", "cat\nelk\r\n")
    file("news/sport/empty.txt", "")
    file("news/notes.md", "cow")
    corpus = Corpus.read(tmp_path / "news")
    assert corpus.documents.ids == ["a.txt", "b.txt", "sport/c.txt", "sport/empty.txt"]
    assert corpus.documents.titles == ["a", "b", "c", "empty"]
    assert corpus.documents.labels == ["", "", "sport", "sport"]
    assert list(corpus.documents.texts) == ["elk", "dog dog", "cat\nelk\r\n", ""]
    assert bags(corpus) == [{"elk": 1}, {"dog": 2}, {"cat": 1, "elk": 1}, {}]
    assert corpus.tally.without_text == 1


def test_a_text_file_has_a_document_a_line_with_line_numbers_for_ids(file):
    corpus = Corpus.read(file("a.txt", "Elk dog\r\n\n  \t\ncat\u2028\x0bcow\nbee"))
    assert corpus.documents.ids == ["1", "4", "5"]
    assert list(corpus.documents.texts) == ["Elk dog", "cat\u2028\x0bcow", "bee"]
    assert bags(corpus) == [{"dog": 1, "elk": 1}, {"cat": 1, "cow": 1}, {"bee": 1}]


# ---- tables


def test_a_csv_file_has_quotes_line_ends_in_fields_and_empty_lines(file):
    corpus = Corpus.read(
        file("a.csv", 'id,text,title\n7,"elk, ""big"" dog\nand cat","A, B"\n\n8,,empty\n9,bee,\n'), min_length=3
    )
    assert corpus.documents.ids == ["7", "8", "9"]
    assert list(corpus.documents.texts) == ['elk, "big" dog\nand cat', "", "bee"]
    assert corpus.documents.titles == ["A, B", "empty", ""]
    assert bags(corpus) == [{"big": 1, "cat": 1, "dog": 1, "elk": 1}, {}, {"bee": 1}]
    assert corpus.tally.without_text == 1


@pytest.mark.parametrize(
    "data",
    [
        "id;text\r\nx;elk, dog\r\ny;cat\r\n",
        "\ufeffid;text\nx;elk, dog\ny;cat",
        '\n\n"id";"text"\nx;"elk, dog"\ny;cat\n',
        "id|text\nx|elk, dog\ny|cat\n",
        "id\ttext\nx\telk, dog\ny\tcat\n",
    ],
)
def test_the_delimiter_the_line_ends_and_the_byte_order_mark_of_a_csv_file_are_found_out(file, data):
    corpus = Corpus.read(file("a.csv", data))
    assert (corpus.documents.ids, list(corpus.documents.texts)) == (["x", "y"], ["elk, dog", "cat"])


def test_a_csv_file_without_ids_has_numbers_from_one(file):
    assert Corpus.read(file("a.csv", 'text\n"elk\ndog"\ncat\n')).documents.ids == ["1", "2"]


@pytest.mark.parametrize("name", ["a.tsv", "a.tab", "a.tsv.gz"])
def test_a_tsv_file_is_cut_at_tabs_alone(file, name):
    data = b"text\tlabel;x,y\nelk, dog; cat\tzoo\n"
    corpus = Corpus.read(file(name, gzip.compress(data) if name.endswith("gz") else data), label="label;x,y")
    assert list(corpus.documents.texts) == ["elk, dog; cat"]
    assert corpus.documents.labels == ["zoo"]


def test_a_parquet_file_is_read_with_its_types(tmp_path):
    table = pa.table(
        {
            "text": ["elk dog", None, "cat"],
            "id": [3, 2, 1],
            "date": [date(2020, 1, 2), None, date(1999, 12, 31)],
            "label": pa.array(["a", "b", "a"]).dictionary_encode(),
            "other": [[1], [2], [3]],
        }
    )
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    corpus = Corpus.read(tmp_path / "a.parquet")
    assert bags(corpus) == [{"dog": 1, "elk": 1}, {}, {"cat": 1}]
    assert corpus.documents.ids == ["3", "2", "1"]
    assert corpus.documents.dates == ["2020-01-02", "", "1999-12-31"]
    assert corpus.documents.labels == ["a", "b", "a"]
    assert corpus.tally.without_text == 1


FAR = [0, 2**62, -(2**62), None]


@pytest.mark.parametrize(
    ("times", "left_out"),
    [
        (pa.array(FAR, pa.timestamp("ms")), 2),
        (pa.array(FAR, pa.timestamp("us", tz="UTC")), 2),
        (pa.array(FAR, pa.timestamp("ms", tz="Nowhere/Land")), 2),
        (pa.array([0, 5, 5, None], pa.timestamp("ms", tz="Nowhere/Land")), 0),
        (pa.array([0, 2**30, -(2**30), None], pa.date32()), 2),
        (pa.array(FAR, pa.timestamp("ms")).dictionary_encode(), 2),
        (pa.array([[0], [2**62], [-(2**62)], None], pa.list_(pa.timestamp("ms"))), 2),
    ],
)
def test_times_that_are_out_of_range_in_a_parquet_file_are_left_out_and_said_to_be(times, left_out, tmp_path, recwarn):
    table = pa.table(
        {"text": ["elk dog", "dog", "cat", "elk"], "date": times, "unread": pa.array(FAR, pa.timestamp("ms"))}
    )
    pq.write_table(table, tmp_path / "a.parquet")
    dates = Corpus.read(tmp_path / "a.parquet").documents.dates
    assert (dates[0], dates[3]) == ("1970-01-01", "")
    assert all(dates[1:3]) is not bool(left_out)
    said = f"{tmp_path}/a.parquet: 2 times in the column 'date' are not of the years 1 to 9999, and are left out"
    assert [str(warning.message) for warning in recwarn] == [said] * bool(left_out)


def test_times_finer_than_microseconds_need_no_pandas():
    values, left_out = _sound_times(pa.array([1451606400123456789, None], pa.timestamp("ns")))
    assert (values, left_out) == ([datetime(2016, 1, 1, 0, 0, 0, 123456), None], 0)


@pytest.mark.parametrize("first", ["sep=;", '"sep=;"', "SEP=;"])
def test_a_first_line_that_tells_excel_the_separator_tells_it_here_too(file, first):
    corpus = Corpus.read(file("a.csv", f"\ufeff{first}\r\nid;text\r\nx;elk, dog, cat\r\n"))
    assert (corpus.documents.ids, list(corpus.documents.texts)) == (["x"], ["elk, dog, cat"])
    with pytest.raises(SourceError, match="line 3: has 1 columns where the first line has 2"):
        Corpus.read(file("b.csv", f"{first}\nid;text\nx\n"))


HEADERS = [  # text, id, title, date and label in the order of the columns, and what is not read
    ("Artikeltext;Kennung;Titel;Datum;Ressort;Seite", "text id title date label"),
    ("Inhalt;Überschrift;Veröffentlichungsdatum", "text title date"),
    ("Texte;Identifiant;Titre;Date;Catégorie", "text id title date label"),
    ("Texto;Título;Fecha de publicación;Sección", "text title date label"),
    ("Tekst;Titel;Datum;Rubriek;Samenvatting", "text title date label"),
    ("Full Text;publish-date", "text date"),
]


@pytest.mark.parametrize(("header", "fields"), HEADERS)
def test_columns_are_found_by_german_french_spanish_and_dutch_names(file, capsys, header, fields):
    row = ";".join(["2017-02-08"] * len(header.split(";")))
    Corpus.read(file("a.csv", f"{header}\n{row}\n"), token_pattern=r"\d+")
    pairs = [f"{name!r} as {field}" for name, field in zip(header.split(";"), fields.split(), strict=False)]
    assert f"a.csv: reading {', '.join(pairs)} (of" in capsys.readouterr().err


def test_where_there_are_headlines_and_no_text_the_error_says_how_to_count_them(file):
    with pytest.raises(
        SourceError, match=r"none has a usual name; name it with --text \(text=\), or count the titles "
    ):
        Corpus.read(file("a.csv", "publish_date,headline_text\n20030219,elk\n"))
    for name, option in (("Headline", "--text Headline;"), ("Überschrift", "--text 'Überschrift';")):
        with pytest.raises(SourceError, match=option):
            Corpus.read(file("a.csv", f"{name},date\nelk,2020\n"))


SITES = [{"text": f"elk dog {k}", "site": ("Globe", "Post", "Times")[k % 3], "page": str(k % 4)} for k in range(30)]


def with_sites(path):
    """The records in a file of the kind that its name tells."""
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(SITES), path)
    elif path.suffix == ".xlsx":
        pd.DataFrame(SITES).to_excel(path, index=False)
    elif path.suffix == ".jsonl":
        path.write_text(lines_of_json(*SITES))
    else:
        pd.DataFrame(SITES).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet", "a.xlsx"])
def test_a_column_of_few_values_is_proposed_as_the_label_and_then_confirmed(tmp_path, capsys, name):
    path = with_sites(tmp_path / name)
    Corpus.read(path, max_df=1.0)
    said = capsys.readouterr().err
    assert "'site' has 3 different values in the first rows and could be the label: pass --label site (label=)" in said
    assert "'page'" not in said
    assert Corpus.read(path, label="site", max_df=1.0).documents.labels[:3] == ["Globe", "Post", "Times"]
    said = capsys.readouterr().err
    assert "reading 'text' as text, 'site' as label (of the columns text, site, page)" in said
    assert "could be" not in said
    Corpus.read(path, label="none", max_df=1.0)
    assert "could be" not in capsys.readouterr().err


def test_a_column_of_many_long_or_single_values_is_not_proposed_as_the_label(file, capsys):
    lines = [f"elk dog,{k},{'long ' * 9}{k % 2},one,{'a' if k % 9 == 0 else ''}" for k in range(60)]
    Corpus.read(file("a.csv", "text,many,long,same,gaps\n" + "\n".join(lines)), max_df=1.0)
    assert "could be" not in capsys.readouterr().err


# ---- JSON lines


def test_a_jsonl_file_has_an_object_a_line_with_keys_that_are_not_asked_for(file):
    corpus = Corpus.read(
        file(
            "a.jsonl",
            '{"text": "elk", "id": 5, "junk": {"deep": [1, {}]}, "year": 1999}\r\n'
            "\n"
            '  {"id": "b", "text": null, "new": true}  \n'
            '{"id": "c"}\n'
            '{"text": ["dog", "cat"], "id": 2.5, "year": null}',
        )
    )
    assert corpus.documents.ids == ["5", "b", "c", "2.5"]
    assert corpus.documents.dates == ["1999", "", "", ""]
    assert list(corpus.documents.texts) == ["elk", "", "", "dog\ncat"]
    assert bags(corpus) == [{"elk": 1}, {}, {}, {"dog": 1, "cat": 1}]
    assert (corpus.tally.documents, corpus.tally.without_text) == (4, 2)


def test_without_an_id_key_documents_have_their_line_numbers(file):
    assert Corpus.read(file("a.jsonl", '\n{"text": "elk"}\n\n{"text": "dog"}\n')).documents.ids == ["2", "4"]


def test_escapes_half_characters_and_line_separators_in_strings_come_through(file):
    data = '{"text": "\\u00e9lan \\ud83d\\ude00 elk\\ud800dog", "id": "\\udfff"}\n'
    data += '{"text": "cat\u2028cow\u0085bee", "id": 1}\n'
    corpus = Corpus.read(file("a.jsonl", data))
    assert list(corpus.documents.texts) == ["élan 😀 elk\ud800dog", "cat\u2028cow\u0085bee"]
    assert corpus.documents.ids == ["\udfff", "1"]
    assert corpus.vocabulary == ["bee", "cat", "cow", "dog", "elk", "élan"]


@pytest.mark.parametrize("padding", [b"", b"\0" * 512])
def test_gzip_members_end_to_end_are_one_file(file, padding):
    members = [lines_of_json({"text": word}) for word in ("elk", "dog", "cat")] + [""]
    data = b"".join(gzip.compress(member.encode()) for member in members) + padding
    corpus = Corpus.read(file("a.jsonl.gz", data))
    assert (corpus.documents.ids, corpus.vocabulary) == (["1", "2", "3"], ["cat", "dog", "elk"])


def test_a_gzip_member_may_end_in_the_middle_of_a_line_and_of_a_character(file):
    data = lines_of_json({"text": "elk"}) + '{"text": "élan"}\n'
    cut = data.encode().index("é".encode()) + 1
    parts = data.encode()[:cut], data.encode()[cut:]
    corpus = Corpus.read(file("a.jsonl.gz", b"".join(map(gzip.compress, parts))))
    assert corpus.vocabulary == ["elk", "élan"]


def test_a_file_is_unpacked_by_what_is_in_it_not_by_its_name(file):
    data = lines_of_json({"text": "elk"}).encode()
    assert Corpus.read(file("a.jsonl", gzip.compress(data))).vocabulary == ["elk"]
    assert Corpus.read(file("b.jsonl.gz", data)).vocabulary == ["elk"]


# ---- counts


def test_an_ldac_file_has_terms_from_zero_and_an_empty_document(file):
    corpus = Corpus.read(
        file("a.ldac", "2 0:1 2:3\n0\n\n3 1:1 1:4 0:0\n"), vocabulary=file("vocab.txt", "elk\ndog\ncat\n")
    )
    assert corpus.vocabulary == ["elk", "dog", "cat"]
    assert bags(corpus) == [{"elk": 1, "cat": 3}, {}, {"dog": 5}]
    assert corpus.documents.ids == ["1", "2", "4"]


UCI = "5\n3\n4\n2 1 1\n2 3 3\n4 2 5\n4 1 1\n"


@pytest.mark.parametrize("name", ["docword.kos.txt", "docword.kos.txt.gz", "counts"])
def test_a_uci_file_has_documents_and_terms_from_one_and_missing_documents_are_empty(file, name):
    data = gzip.compress(UCI.encode()) if name.endswith("gz") else UCI
    corpus = Corpus.read(file(name, data), vocabulary=["elk", "dog", "cat"], format="uci")
    assert bags(corpus) == [{}, {"elk": 1, "cat": 3}, {}, {"elk": 1, "dog": 5}, {}]
    assert corpus.documents.ids == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_a_saved_sparse_matrix_is_read(tmp_path, kind):
    sparse.save_npz(tmp_path / "a.npz", kind(np.array([[1.0, 0, 2], [0, 0, 0], [0, 3, 0]])))
    corpus = Corpus.read(tmp_path / "a.npz", vocabulary=["elk", "dog", "cat"])
    assert bags(corpus) == [{"elk": 1, "cat": 2}, {}, {"dog": 3}]
    assert corpus.documents.ids == ["0", "1", "2"]


def test_counts_keep_their_whole_vocabulary_unless_limits_are_given(file):
    path = file("a.ldac", "2 0:1 2:3\n2 0:1 1:0\n3 2:1 2:1 0:1\n")
    read = {"vocabulary": ["elk", "dog", "cat", "cow"]}
    assert Corpus.read(path, **read).vocabulary == ["elk", "dog", "cat", "cow"]
    assert Corpus.read(path, **read, min_df=1).vocabulary == ["elk", "cat"]
    assert Corpus.read(path, **read, max_df=2).vocabulary == ["cat"]
    assert Corpus.read(path, **read, max_terms=1).vocabulary == ["elk"]


DENSE = [[1, 0, 2], [0, 0, 0], [0, 3, 0]]


@pytest.mark.parametrize(
    "X",
    [
        DENSE,
        np.array(DENSE),
        np.array(DENSE, np.float32),
        np.array(DENSE, np.uint8),
        pd.DataFrame(DENSE),
        sparse.csr_matrix(DENSE),
        sparse.lil_array(DENSE),
        sparse.coo_array(([1, 1, 1, 3, 0], ([0, 0, 0, 2, 1], [0, 2, 2, 1, 1])), shape=(3, 3)),
        sparse.csr_array(([2, 1, 0, 3], [2, 0, 1, 1], [0, 2, 3, 4]), shape=(3, 3)),
    ],
    ids=["lists", "int", "float", "uint8", "frame", "csr", "lil", "repeated", "unsorted and zeros"],
)
def test_a_matrix_of_any_kind_is_the_same_counts(X):
    corpus = Corpus.from_matrix(X, ["elk", "dog", "cat"], titles=["a", None, 5])
    assert corpus.counts.toarray().tolist() == DENSE
    assert corpus.documents.titles == ["a", "", "5"]
    assert corpus.counts.nnz == 3


def test_the_callers_matrix_is_left_as_it_is():
    X = sparse.csr_array((np.array([2, 1, 1, 0]), np.array([2, 0, 0, 1]), np.array([0, 3, 4])), shape=(2, 3))
    Corpus.from_matrix(X, ["elk", "dog", "cat"])
    assert (X.data.tolist(), X.indices.tolist(), X.indptr.tolist()) == ([2, 1, 1, 0], [2, 0, 0, 1], [0, 3, 4])


def test_gensims_bags_of_words_come_with_its_dictionary():
    documents = [["elk", "dog", "elk"], [], ["cat", "dog"]]
    dictionary = Dictionary(documents)
    corpus = Corpus.from_bow([dictionary.doc2bow(document) for document in documents], dictionary)
    assert bags(corpus) == [{"elk": 2, "dog": 1}, {}, {"cat": 1, "dog": 1}]
    assert corpus.vocabulary == [dictionary[number] for number in range(3)]
    assert bags(Corpus.from_bow([[(1, 2.0)], [(0, 1)]], {1: "elk", 0: "dog"})) == [{"elk": 2}, {"dog": 1}]


# ---- frames


PANDAS = pd.DataFrame(
    {
        "text": ["elk dog", None, "cat", float("nan")],
        "id": [1, 2, 3, 4],
        "date": pd.to_datetime(["2020-01-02", None, "1999-12-31 23:59:58", "2000-01-01"], format="ISO8601"),
        "label": pd.Categorical(["a", None, "b", "a"]),
        "title": pd.array(["A", pd.NA, "C", "D"], dtype="string"),
    }
)
POLARS = pl.DataFrame(
    {
        "text": ["elk dog", None, "cat", None],
        "id": [1, 2, 3, 4],
        "date": [datetime(2020, 1, 2), None, datetime(1999, 12, 31, 23, 59, 58), datetime(2000, 1, 1)],
        "label": pl.Series(["a", None, "b", "a"], dtype=pl.Categorical),
        "title": ["A", None, "C", "D"],
    }
)


@pytest.mark.parametrize("frame", [PANDAS, PANDAS.set_index("id", drop=False).iloc[:], POLARS])
def test_frames_are_read_with_missing_values_and_dates(frame):
    corpus = Corpus.from_frame(frame)
    assert bags(corpus) == [{"elk": 1, "dog": 1}, {}, {"cat": 1}, {}]
    assert corpus.documents.ids == ["1", "2", "3", "4"]
    assert corpus.documents.dates == ["2020-01-02", "", "1999-12-31T23:59:58", "2000-01-01"]
    assert corpus.documents.labels == ["a", "", "b", "a"]
    assert corpus.documents.titles == ["A", "", "C", "D"]
    assert corpus.tally.without_text == 2


def test_a_frame_whose_columns_are_numbers_is_read():
    corpus = Corpus.from_frame(pd.DataFrame([["elk", "x"], ["dog", "y"]]), text="0", label="1")
    assert (bags(corpus), corpus.documents.labels) == ([{"elk": 1}, {"dog": 1}], ["x", "y"])


def test_texts_come_with_ids_titles_dates_and_labels_of_any_type():
    corpus = Corpus.from_texts(
        (text for text in ("elk", "", "dog")),
        ids=np.array([3, 1, 2]),
        titles=iter(["A", None, float("nan")]),
        dates=pd.Series(pd.to_datetime(["2020-01-02", None, "2020-01-03 04:05"], format="ISO8601")),
        labels=[1, "x", True],
    )
    assert corpus.documents.ids == ["3", "1", "2"]
    assert corpus.documents.titles == ["A", "", ""]
    assert corpus.documents.dates == ["2020-01-02", "", "2020-01-03T04:05:00"]
    assert corpus.documents.labels == ["1", "x", "True"]
    assert corpus.tally.without_text == 1
    assert Corpus.from_texts(["elk", "dog"]).documents.ids == ["0", "1"]


# ---- columns


def test_columns_are_said_unless_every_one_is_named(file, capsys):
    path = file("a.csv", "Body,Headline,published,doc_id,section\nelk,Big,2020,x,zoo\n")
    guessed = Corpus.read(path)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        f"{path}: reading 'Body' as text, 'doc_id' as id, 'Headline' as title, 'published' as date, "
        "'section' as label (of the columns Body, Headline, published, doc_id, section)\n"
    )
    read = {"text": "Body", "id": "doc_id", "title": "Headline", "date": "published", "label": "section"}
    assert content(Corpus.read(path, **read)) == content(guessed)
    assert capsys.readouterr().err == ""


def test_text_wins_over_other_usual_names_and_a_single_column_over_none(file, capsys):
    assert Corpus.read(file("a.csv", "summary,text\ncow,elk\n")).vocabulary == ["elk"]
    assert Corpus.read(file("b.csv", "whatever\nelk\n")).vocabulary == ["elk"]
    assert "reading 'whatever' as text" in capsys.readouterr().err


def test_none_says_that_there_is_no_such_column(file):
    path = file("a.csv", "text,id,title,date,label\nelk,x,A,1999,zoo\ndog,x,B,2000,zoo\n")
    corpus = Corpus.read(path, id="none", title="none", date="none", label="none")
    assert corpus.documents.fields == ("id", "text")
    assert corpus.documents.ids == ["1", "2"]


def test_a_column_that_is_called_none_can_be_named(file):
    assert Corpus.read(file("a.csv", "text,none\nelk,x\n"), label="none").documents.labels == ["x"]


def test_several_text_columns_are_counted_together_and_the_title_is_not_repeated_in_the_text(file):
    path = file("a.jsonl", lines_of_json({"title": "Elk", "lead": "dog", "body": "cat"}, {"body": "cow", "lead": ""}))
    corpus = Corpus.read(path, text=["title", "lead", "body"])
    assert bags(corpus) == [{"elk": 1, "dog": 1, "cat": 1}, {"cow": 1}]
    assert corpus.documents.titles == ["Elk", ""]
    assert list(corpus.documents.texts) == ["dog\ncat", "cow"]
    untitled = Corpus.read(path, text=["title", "lead", "body"], title="none")
    assert list(untitled.documents.texts) == ["Elk\ndog\ncat", "cow"]


def test_a_text_column_is_not_taken_for_another_field(file):
    corpus = Corpus.read(file("a.csv", "source,name\nelk,x\n"), text="source")
    assert (corpus.documents.labels, corpus.documents.titles) == ([""], ["x"])


# ---- encodings


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", ""),
        ("utf-8", "\ufeff"),
        ("utf-8-sig", ""),
        ("utf-16", ""),
        ("utf-16-le", "\ufeff"),
        ("utf-16-be", ""),
        ("utf-32", ""),
        ("latin-1", ""),
        ("cp037", ""),
    ],
)
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.txt", "Äpfel elk\r\nøre\n"),
        ("a.csv", 'text,id\r\n"Äpfel\r\nelk",1\r\nøre,2\r\n'),
        ("a.jsonl", '{"text": "Äpfel elk"}\n{"text": "øre"}'),
        ("folder/a.txt", "Äpfel elk øre"),
    ],
)
def test_files_are_read_in_the_encoding_that_is_named(file, name, data, encoding, mark):
    path = file(name, (mark + data).encode(encoding))
    corpus = Corpus.read(path.parent if "folder" in name else path, encoding=encoding)
    assert corpus.vocabulary == ["elk", "äpfel", "øre"]
    assert "\ufeff" not in "".join(corpus.documents.texts)


# ---- formats and names


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.txt", "lines"),
        ("a.TXT", "lines"),
        ("a.b.csv.gz", "csv"),
        ("a.ndjson", "jsonl"),
        ("a.json", "json"),
        ("a.pq", "parquet"),
        ("ap.dat", "ldac"),
        ("docword.nips.txt.gz", "uci"),
        ("a.npz", "npz"),
    ],
)
def test_a_name_tells_the_format(tmp_path, name, kind):
    assert detect_format(tmp_path / name) == kind
    assert detect_format(tmp_path) == "folder"
    assert kind in FORMATS


def test_a_format_that_is_named_wins_over_the_name(file):
    corpus = Corpus.read(file("a.txt", "text;id\nelk;x\n"), format="csv")
    assert corpus.documents.ids == ["x"]


# ---- blocks


WORDS = "elk dog cat cow bee ant fox owl élan жук".split()


def documents():
    rng = np.random.default_rng(5)
    return [" ".join(rng.choice(WORDS, size=rng.integers(0, 30))) for _ in range(40)]


def csv_text(texts):
    out = io.StringIO(newline="")
    rows = csv.writer(out)
    rows.writerow(["text", "label"])
    rows.writerows([text.replace(" ", "\n", 2), f'"{number}"'] for number, text in enumerate(texts))
    return out.getvalue()


def ldac_text(table):
    rows = [[f"{k}:{count}" for k, count in enumerate(row) if count] for row in table]
    return "".join(" ".join([str(len(row)), *row]) + "\n" for row in rows)


def uci_text(table):
    entries = [f"{m + 1} {k + 1} {count}\n" for m, row in enumerate(table) for k, count in enumerate(row) if count]
    return f"{len(table)}\n{len(table[0])}\n{len(entries)}\n{''.join(entries)}"


def write_all(folder):
    """The same documents in every format; returns paths with how each is to be read."""
    texts = documents()
    table = [[text.split().count(word) for word in WORDS] for text in texts]
    records = lines_of_json(*({"text": text, "label": str(n)} for n, text in enumerate(texts)))
    contents = {
        "a.txt": "\n".join(texts).encode(),
        "a.txt.gz": gzip.compress("\r\n".join(texts).encode()),
        "utf16.txt": "\n".join(texts).encode("utf-16"),
        "a.csv": csv_text(texts).encode(),
        "a.jsonl": records.encode(),
        "a.jsonl.gz": gzip.compress(records.encode()[:500]) + gzip.compress(records.encode()[500:]),
        "a.ldac": ldac_text(table).encode(),
        "docword.txt": uci_text(table).encode(),
    }
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    sparse.save_npz(folder / "a.npz", sparse.csr_array(table))
    pq.write_table(pa.table({"text": texts}), folder / "a.parquet")
    for number, text in enumerate(texts):
        path = folder / "folder" / str(number % 3) / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    how = {name: {"vocabulary": WORDS} for name in ("a.ldac", "docword.txt", "a.npz")}
    how["utf16.txt"] = {"encoding": "utf-16"}
    return [(folder / name, how.get(name, {})) for name in (*contents, "a.npz", "a.parquet", "folder")]


@pytest.fixture
def small_blocks(monkeypatch):
    for module in (
        diln.corpus.readers.folder,
        diln.corpus.readers.lines,
        diln.corpus.readers.table,
        diln.corpus.in_memory,
    ):
        monkeypatch.setattr(module, "BLOCK_BYTES", 64)
    monkeypatch.setattr(diln.corpus.in_memory, "BLOCK_DOCS", 7)
    monkeypatch.setattr(diln.corpus.matrix, "BLOCK_ENTRIES", 10)
    monkeypatch.setattr(ParquetSource, "BATCH", 7)


def test_many_blocks_are_the_same_corpus_as_one(tmp_path, request):
    sources = write_all(tmp_path)
    whole = [content(Corpus.read(path, **read, max_df=1.0)) for path, read in sources]
    request.getfixturevalue("small_blocks")
    for (path, read), expected in zip(sources, whole, strict=True):
        steps = Steps()
        assert content(Corpus.read(path, **read, max_df=1.0, watch=steps)) == expected, path.name
        assert len(steps.seen) > 4, path.name
        position, total, n_docs = steps.seen[-1]
        assert position == total > 0, path.name
        assert n_docs == len(expected[2]), path.name


def test_every_format_counts_the_same_documents_the_same(tmp_path):
    texts = documents()
    expected = [{word: text.split().count(word) for word in set(text.split())} for text in texts]
    for path, read in write_all(tmp_path):
        corpus = Corpus.read(path, **read, max_df=1.0)
        found = bags(corpus)
        if path.name == "folder":
            found = [found[corpus.documents.titles.index(str(number))] for number in range(len(texts))]
        without_blank = path.name in ("a.txt", "a.txt.gz", "utf16.txt")
        assert found == [bag for bag in expected if bag or not without_blank], path.name


def test_python_objects_in_many_blocks_are_the_same_corpus_as_in_one(request):
    texts = documents()
    tokens = [text.split() for text in texts]
    frame = pd.DataFrame({"text": texts, "label": range(40)})
    table = np.random.default_rng(1).poisson(0.5, (40, 6))

    def corpora():
        return [
            Corpus.from_texts(iter(texts), titles=range(40), max_df=1.0),
            Corpus.from_tokens(tokens, labels=range(40), max_df=1.0),
            Corpus.from_frame(frame, max_df=1.0),
            Corpus.from_frame(pl.from_pandas(frame), max_df=1.0),
            Corpus.from_matrix(table, WORDS[:6], ids=range(1, 41)),
        ]

    whole = list(map(content, corpora()))
    request.getfixturevalue("small_blocks")
    sources = [TextsSource(texts, {}), TokensSource(tokens, {}), FrameSource(frame, {})]
    assert all(len(list(source.blocks())) > 4 for source in sources)
    assert list(map(content, corpora())) == whole


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1 << 20])
def test_blocks_of_any_size_are_whole_lines_with_their_numbers_and_offsets(file, size):
    data = "\ufeffélan\n\n\nжук elk\r\n𐐨\nend".encode()
    blocks = list(LineReader(file("a.txt", data)).blocks(size))
    assert b"".join(block.data for block in blocks) == data
    assert [data.count(b"\n", 0, block.offset) + 1 for block in blocks] == [block.first for block in blocks]
    found = [numbered for block in blocks for numbered in block.numbered()]
    assert found == [(1, "élan"), (4, "жук elk"), (5, "𐐨"), (6, "end")]


def test_a_file_is_the_same_corpus_on_two_processes(tmp_path, small_blocks):
    write_all(tmp_path)
    path = tmp_path / "a.jsonl"
    assert content(Corpus.read(path, max_df=1.0, n_jobs=2)) == content(Corpus.read(path, max_df=1.0))


# ---- columns of before


def test_a_corpus_knows_which_columns_it_was_read_from(file, tmp_path):
    path = file("a.csv", "headline,body,day,source\nelk,dog,2017,zoo\n")
    corpus = Corpus.read(path, text=["headline", "body"], date="day", label="none")
    read = {"text": ["headline", "body"], "id": None, "title": "headline", "date": "day", "label": None}
    assert corpus.rule["columns"] == read
    assert corpus.save(tmp_path / "corpus").rule["columns"] == read
    assert Corpus.from_texts(["elk"]).rule["columns"] is None


def test_added_documents_are_read_from_the_same_columns(file, tmp_path, capsys):
    first = file("a.csv", "headline,body,day\nelk,dog,2017\n")
    build(first, tmp_path / "corpus", text=["headline", "body"], date="day")
    capsys.readouterr()
    corpus = append(file("b.csv", "day,text,headline,body\n2018,cow,elk,elk\n"), tmp_path / "corpus")
    assert corpus.counts.toarray().tolist() == [[1, 1], [0, 2]]
    assert corpus.documents.dates == ["2017", "2018"]
    said = capsys.readouterr().err
    assert "reading 'headline' and 'body' as text (as before), 'headline' as title (as before), 'day' as date" in said
    with pytest.raises(SourceError, match=r"no column 'headline', and the text was in 'headline' and 'body'.*--text"):
        append(file("c.csv", "body,text\nelk,dog\n"), tmp_path / "corpus")
    assert len(append(file("c.csv", "body,text\nelk,dog\n"), tmp_path / "corpus", text="text")) == 3


# ---- JSON that is not by line, and lines that end otherwise


ELK = [{"text": "elk, [dog]", "id": "}"}, {"text": "cat\n", "id": 'a"b'}, {"text": "élan", "id": 3}]


@pytest.mark.parametrize("size", [1, 3, 7, 64, 1 << 20])
@pytest.mark.parametrize(
    "data",
    [
        json.dumps(ELK),
        json.dumps(ELK, indent=2, ensure_ascii=False),
        "\ufeff  " + json.dumps(ELK, indent=1).replace("\n", "\r\n") + "\n\n",
        "\n".join(json.dumps(one, indent=1) for one in ELK),
        " ".join(map(json.dumps, ELK)),
        ",\n".join(map(json.dumps, ELK)),
        lines_of_json(*ELK),
    ],
    ids=["array", "indented", "marked", "objects", "in a row", "with commas", "lines"],
)
def test_a_json_file_has_an_array_or_objects_one_after_the_other(file, monkeypatch, data, size):
    monkeypatch.setattr(diln.corpus.readers.json_values, "BLOCK_BYTES", size)
    corpus = Corpus.read(file("a.json", data))
    assert corpus.documents.ids == ["}", 'a"b', "3"]
    assert list(corpus.documents.texts) == ["elk, [dog]", "cat\n", "élan"]


def test_an_object_of_an_array_without_an_id_has_its_number(file):
    wide = json.dumps([{"text": "elk"}, {"text": "dog"}]).encode("utf-16")
    for name, data, how in (("a.json", wide, {"encoding": "utf-16"}), ("b", gzip.compress(wide[2:]), {})):
        read = {"format": "json", "encoding": "utf-16-le"} if name == "b" else how
        assert Corpus.read(file(name, data), **read).documents.ids == ["1", "2"]


@pytest.mark.parametrize(
    ("name", "data"),
    [("a.txt", "elk\rdog\r"), ("a.csv", "text\relk\rdog\r"), ("a.jsonl", '{"text": "elk"}\r{"text": "dog"}')],
)
def test_lines_may_end_as_on_old_macs(file, name, data):
    assert list(Corpus.read(file(name, data)).documents.texts) == ["elk", "dog"]


def test_ids_and_dates_of_mongodb_are_taken_out_of_their_objects(file):
    data = '{"_id": {"$oid": "5f1d"}, "text": "elk", "date": {"$date": {"$numberLong": "1488450615000"}}}\n'
    corpus = Corpus.read(file("a.jsonl", data))
    assert (corpus.documents.ids, corpus.documents.dates) == (["5f1d"], ["2017-03-02T10:30:15"])


# ---- streams


class Input:
    """Stands for the standard input."""

    closed = False

    def __init__(self, data):
        self.buffer = io.BytesIO(data)


STREAMS = [
    ("jsonl", b'{"text": "elk"}\n{"text": "dog"}\n'),
    ("jsonl", gzip.compress(b'{"text": "elk"}\n{"text": "dog"}\n', mtime=0)),
    ("csv", b"text\nelk\ndog\n"),
    ("lines", b"elk\ndog"),
    ("json", b'[{"text": "elk"}, {"text": "dog"}]'),
]


@pytest.mark.parametrize(("kind", "data"), STREAMS)
def test_documents_come_through_the_standard_input_and_leave_no_file_behind(monkeypatch, tmp_path, kind, data):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", Input(data))
    corpus = Corpus.read("-", format=kind)
    assert (list(corpus.documents.texts), corpus.documents.ids) == (["elk", "dog"], ["1", "2"])
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_parquet_comes_through_the_standard_input(monkeypatch, tmp_path):
    pq.write_table(pa.table({"text": ["elk", "dog"]}), tmp_path / "a.parquet")
    monkeypatch.setattr(sys, "stdin", Input((tmp_path / "a.parquet").read_bytes()))
    assert Corpus.read("-", format="parquet").vocabulary == ["dog", "elk"]


def test_documents_come_through_a_pipe_with_a_name(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(b"text,id\nelk,x\n"))
    writer.start()
    assert Corpus.read(pipe, format="csv").documents.ids == ["x"]
    writer.join()


def test_a_stream_must_have_a_format_and_something_in_it(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", Input(b""))
    with pytest.raises(SourceError, match=r"standard input: the name does not tell.*--format"):
        Corpus.read("-")
    with pytest.raises(SourceError, match="standard input: the file is empty"):
        Corpus.read("-", format="jsonl")
    monkeypatch.setattr(sys, "stdin", Input(b"not json"))
    with pytest.raises(SourceError, match="standard input, line 1: not valid JSON"):
        Corpus.read("-", format="jsonl")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(SourceError, match="standard input: is closed"):
        Corpus.read("-", format="jsonl")
    with pytest.raises(SourceError, match="/dev/zero: is a device or socket, which may never end"):
        Corpus.read("/dev/zero", format="lines")
    assert list(tmp_path.iterdir()) == []
