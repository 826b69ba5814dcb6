"""What the commands write to files: with ids, titles, dates, labels and words, wide or long."""

import csv
import json
import shutil

import numpy as np
import pandas as pd
import pytest
from commands import diln, write_texts
from pyarrow import parquet
from workbooks import rows_of

from diln import load
from diln.analysis import correlated_pairs, document_topics, in_use, largest_topics, topic_documents
from diln.cli import console
from diln.corpus import Corpus
from diln.models.fitted import Fitted

SUFFIXES = [".csv", ".tsv", ".jsonl", ".parquet", ".xlsx"]


@pytest.fixture(scope="module")
def known(shelf, tmp_path_factory):
    """A corpus with ids, titles, dates and labels, some of them odd."""
    folder = tmp_path_factory.mktemp("known")
    texts = [json.loads(line)["text"] for line in write_texts(folder / "t.jsonl", 30, seed=3).read_text().splitlines()]
    titles = [f'=Title {i}, "x"\nof two lines' for i in range(30)]
    numbers = range(30)
    dates = [f"2017-03-{i + 1:02}" for i in numbers]
    texts[4] = "zebra"
    Corpus.from_texts(
        texts, ids=[f"id {i}" for i in numbers], titles=titles, dates=dates, labels=["a", "b"] * 15,
        vocabulary=load(shelf / "diln").vocabulary_,
    ).save(folder / "corpus")  # fmt: skip
    return folder / "corpus"


@pytest.fixture(scope="module")
def sparse_model(shelf, tmp_path_factory):
    """A model some of whose topics are not in use."""
    model = load(shelf / "variational")
    tensor = model.fitted_.posterior.statistics
    tensor[:, [1, 3]] *= 1e-5
    directory = tmp_path_factory.mktemp("sparse") / "model"
    model.save(directory)
    assert in_use(Fitted.load(directory)).tolist() == [True, False, True, False, True]
    return directory


def read(path) -> pd.DataFrame:
    """A table of any kind as pandas has it."""
    match path.suffix:
        case ".csv":
            return pd.read_csv(path, keep_default_na=False, na_values={})
        case ".tsv":
            return pd.read_csv(path, sep="\t", keep_default_na=False)
        case ".jsonl":
            return pd.read_json(path, lines=True)
        case ".parquet":
            return pd.read_parquet(path)
        case _:
            top, *rows = rows_of(path)
            return pd.DataFrame(rows).rename(columns=top)


def of(words) -> str:
    return " ".join(words)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_row_of_proportions_says_what_it_is_of_and_sums_to_1(suffix, known, sparse_model, tmp_path):
    target = tmp_path / f"a{suffix}"
    done = diln("transform", sparse_model, known, "-o", target, "--json")
    assert done.code == 0, done.err
    assert {name: done.json[name] for name in ("rows", "columns", "topics", "empty_documents")} == (
        {"rows": 30, "columns": 9, "topics": 3, "empty_documents": 1}
    )
    found, fitted, corpus = read(target), Fitted.load(sparse_model), Corpus.open(known)
    topics = {topic.id: topic.words for topic in largest_topics(fitted)}
    assert set(topics) == {0, 2, 4}
    names = [f"topic_{k} {of(topics[k][:3])}" for k in (0, 2, 4)]
    assert list(found.columns) == ["id", "title", "date", "label", "n_tokens", *names, "other"]
    assert found["id"].tolist() == corpus.documents.ids
    assert found["title"].tolist() == corpus.documents.titles
    assert found["label"].tolist() == corpus.documents.labels
    assert found["n_tokens"].tolist() == corpus.doc_lengths.tolist()
    with pytest.warns(UserWarning, match="no known term"):
        theta = load(sparse_model).transform(corpus)
    assert found[names].to_numpy() == pytest.approx(theta[:, [0, 2, 4]], rel=1e-6)
    assert found["other"].tolist() == pytest.approx(theta[:, [1, 3]].sum(axis=1), rel=1e-5)
    assert found[[*names, "other"]].sum(axis=1).tolist() == pytest.approx([1] * 30, abs=1e-6)


def test_tables_follow_merged_hidden_and_named_topics_and_arrays_do_not(known, sparse_model, tmp_path):
    model = shutil.copytree(sparse_model, tmp_path / "model")
    for step in (["merge", model, 2, 3], ["hide", model, 4], ["label", model, 2, "Strings"]):
        assert diln(*step).code == 0
    with pytest.warns(UserWarning, match="no known term"):
        theta = load(model).transform(Corpus.open(known))
    done = diln("transform", model, known, "-o", tmp_path / "a.csv", "--json")
    assert done.json["topics"] == 2
    found = read(tmp_path / "a.csv")
    assert [name.split(":")[0].split()[0] for name in found.columns[5:]] == ["topic_0", "topic_2", "other"]
    assert found.columns[6].startswith("topic_2 Strings: ")
    expected = [theta[:, 0], theta[:, [2, 3]].sum(axis=1), theta[:, [1, 4]].sum(axis=1)]
    assert found.iloc[:, 5:].to_numpy() == pytest.approx(np.stack(expected, axis=1), rel=1e-5)
    assert diln("transform", model, known, "-o", tmp_path / "b.csv", "--names", "ids", "--all-topics").code == 0
    assert list(read(tmp_path / "b.csv").columns[5:]) == ["topic_0", "topic_1", "topic_2", "topic_4"]
    assert diln("transform", model, known, "-o", tmp_path / "c.csv", "--no-edits", "--names", "ids").code == 0
    assert list(read(tmp_path / "c.csv").columns[5:]) == ["topic_0", "topic_2", "topic_4", "other"]
    assert diln("transform", model, known, "-o", tmp_path / "d.npz").code == 0
    assert np.load(tmp_path / "d.npz")["theta"] == pytest.approx(theta)


@pytest.mark.parametrize(
    ("dates", "kind"),
    [
        (["2017-03-02", "", "1999-12-31"], "date32[day]"),
        (["2017-03-02T10:00:00", "", "1999-12-31"], "timestamp[ms]"),
        (["2017-03-02", "", "1999"], "string"),
        (["2017-03-02", "", "1999-12"], "string"),
    ],
)
def test_dates_are_as_exact_as_the_documents_have_them(dates, kind, shelf, tmp_path):
    Corpus.from_texts(["violin flute"] * 3, dates=dates).save(tmp_path / "corpus")
    for suffix in (".csv", ".parquet"):
        assert diln("documents", shelf / "diln", tmp_path / "corpus", "-o", tmp_path / f"a{suffix}", "-q").code == 0
    assert read(tmp_path / "a.csv")["date"].tolist() == dates
    assert str(parquet.read_schema(tmp_path / "a.parquet").field("date").type) == kind


def test_columns_can_be_numbers_alone_and_of_all_topics(known, sparse_model, tmp_path):
    assert diln("transform", sparse_model, known, "-o", tmp_path / "a.csv", "--names", "ids", "--all-topics").code == 0
    names = [f"topic_{k}" for k in range(5)]
    assert list(read(tmp_path / "a.csv").columns) == ["id", "title", "date", "label", "n_tokens", *names]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_long_table_has_a_row_for_each_document_and_topic(suffix, known, sparse_model, tmp_path):
    target, model = tmp_path / f"a{suffix}", load(sparse_model)
    done = diln("transform", sparse_model, known, "-o", target, "--long", "--min-share", 0.2, "--json")
    assert done.code == 0, done.err
    corpus, words = Corpus.open(known), {topic.id: topic.words for topic in largest_topics(model)}
    with pytest.warns(UserWarning, match="no known term"):
        theta = model.transform(corpus)
    expected = [
        (name, rank, k, row[k], of(words[k]))
        for name, row in zip(corpus.documents.ids, theta, strict=True)
        for rank, k in enumerate(sorted((k for k in (0, 2, 4) if row[k] >= 0.2), key=lambda k: -row[k]), 1)
    ]
    found = read(target)
    assert list(found.columns) == ["id", "title", "date", "label", "n_tokens", "rank", "topic", "share", "words"]
    assert found["share"].tolist() == pytest.approx([row[3] for row in expected], rel=1e-6)
    plain = found.drop(columns=["title", "date", "label", "n_tokens", "share"])
    assert [tuple(row) for row in plain.to_numpy().tolist()] == [(*row[:3], row[4]) for row in expected]
    assert done.json["rows"] == len(expected) > 30


def test_a_long_table_of_any_share_has_all_topics_where_asked(known, sparse_model, tmp_path, monkeypatch):
    monkeypatch.setattr("diln.cli.proportions.CELLS", 7)  # a document at a time
    options = ("--long", "--min-share", 0, "--all-topics")
    assert diln("transform", sparse_model, known, "-o", tmp_path / "a.csv", *options).code == 0
    found = read(tmp_path / "a.csv")
    assert len(found) == 5 * 30
    assert found.groupby("id")["share"].sum().tolist() == pytest.approx([1] * 30, abs=1e-6)
    assert found["rank"].tolist() == [1, 2, 3, 4, 5] * 30


def test_arrays_have_all_topics_and_no_options(known, sparse_model, tmp_path):
    assert diln("transform", sparse_model, known, "-o", tmp_path / "a.npz").code == 0
    with np.load(tmp_path / "a.npz") as stored:
        assert stored["theta"].shape == (30, 5)
    for option in ("--long", "--all-topics", "--for-excel"):
        done = diln("transform", sparse_model, known, "-o", tmp_path / "b.npz", option)
        assert (done.code, "arrays of all topics" in " ".join(done.err.split())) == (2, True)
    done = diln("transform", sparse_model, known, "-o", tmp_path / "b.csv", "--min-share", 0.1)
    assert (done.code, "--min-share is for --long" in done.err) == (2, True)


def test_what_a_spreadsheet_takes_as_a_formula_is_said_or_marked(known, shelf, tmp_path):
    done = diln("transform", shelf / "diln", known, "-o", tmp_path / "a.csv")
    assert (
        "texts that begin with =, +, - or @ as formulas, and there are 30; write .xlsx, or add --for-excel" in done.err
    )
    done = diln("transform", shelf / "diln", known, "-o", tmp_path / "a.csv", "--for-excel")
    assert (done.code, done.err) == (0, "")
    with (tmp_path / "a.csv").open(encoding="utf-8-sig", newline="") as file:
        assert all(row["title"].startswith("'=Title") for row in csv.DictReader(file))
    assert diln("transform", shelf / "diln", known, "-o", tmp_path / "a.xlsx").err == ""


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_topics_are_written_with_shares_and_words(suffix, shelf, sparse_model, tmp_path):
    target, fitted = tmp_path / f"a{suffix}", Fitted.load(sparse_model)
    assert diln("topics", sparse_model, "-o", target, "--words", 4, "--json").json == (
        {"output": str(target), "rows": 3, "columns": 3, "topics": 3}
    )
    topics, found = largest_topics(fitted, n_words=4), read(target)
    assert list(found.columns) == ["topic", "share", "words"]
    assert found["topic"].tolist() == [topic.id for topic in topics]
    assert found["share"].tolist() == pytest.approx([topic.weight for topic in topics], rel=1e-6)
    assert found["words"].tolist() == [of(topic.words) for topic in topics]


def test_topics_can_be_all_and_are_written_with_terms(sparse_model, tmp_path):
    done = diln("topics", sparse_model, "--all-topics")
    assert "topics (all 5)" in done.out
    target = tmp_path / "terms.csv"
    assert diln("topics", sparse_model, "-o", target, "--terms", 28, "--all-topics").code == 0
    found, model = read(target), load(sparse_model)
    assert list(found.columns) == ["topic", "rank", "term", "probability"]
    assert len(found) == 5 * 28
    assert found.groupby("topic")["probability"].sum().tolist() == pytest.approx([1] * 5, abs=1e-5)
    row = found.iloc[30]
    assert row["probability"] == pytest.approx(
        model.topic_word_[row["topic"], model.vocabulary_.index(row["term"])], rel=1e-6
    )
    done = diln("topics", sparse_model, "--terms", 5)
    assert (done.code, "--terms is for a file" in done.err) == (2, True)


def test_topics_say_in_how_many_chains_they_were_found(shelf, tmp_path):
    line = ("--topics", 5, "--passes", 20, "--chains", 2, "-q")
    assert diln("fit", shelf / "corpus", "-o", tmp_path / "m", *line).code == 0
    assert diln("topics", tmp_path / "m", "-o", tmp_path / "a.csv").code == 0
    found = read(tmp_path / "a.csv")
    assert found["found"].tolist() == [topic.found for topic in largest_topics(Fitted.load(tmp_path / "m"))]
    assert set(found["chains"]) == {2}
    done = diln("correlations", tmp_path / "m", "-o", tmp_path / "b.parquet", "--all")
    assert done.code == 0, done.err
    pairs, every = read(tmp_path / "b.parquet"), correlated_pairs(Fitted.load(tmp_path / "m"), 1000, unsure=True)
    assert pairs["sure"].tolist() == [pair.sure for pair in (*every.positive, *every.negative)]
    assert pairs["sure"].dtype == bool


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_all_pairs_of_topics_are_written_with_their_words(suffix, shelf, tmp_path):
    target, fitted = tmp_path / f"a{suffix}", Fitted.load(shelf / "diln")
    done = diln("correlations", shelf / "diln", "-o", target, "--words", 2)
    assert done.code == 0, done.err
    found, every = read(target), correlated_pairs(fitted, 1000)
    pairs = [*every.positive, *every.negative]
    words = {topic.id: of(topic.words[:2]) for topic in largest_topics(fitted)}
    assert found["first"].tolist() == [pair.first for pair in pairs]
    assert found["second_words"].tolist() == [words[pair.second] for pair in pairs]
    assert found["lift"].tolist() == pytest.approx([pair.lift for pair in pairs], rel=1e-6)
    assert found["correlation"].tolist() == pytest.approx([pair.correlation for pair in pairs], rel=1e-6)
    assert ("sure" in found) == any(pair.sure is not None for pair in pairs)
    assert diln("correlations", shelf / "diln", "-o", target, "--pairs", 1, "--json").json["rows"] <= 2


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_documents_are_written_with_their_largest_topics(suffix, known, shelf, tmp_path):
    target = tmp_path / f"a{suffix}"
    done = diln("documents", shelf / "diln", known, "-o", target, "--topics", 2, "--words", 3, "--json")
    assert done.code == 0, done.err
    assert (done.json["rows"], done.json["documents"], done.json["of"]) == (30, 30, 30)
    expected = list(document_topics(load(shelf / "diln"), Corpus.open(known), 2, 3))
    found = read(target)
    assert list(found.columns) == [
        "id", "title", "date", "label", "n_tokens", "top1_topic", "top1_share", "top1_words", "top2_topic",
        "top2_share", "top2_words",
    ]  # fmt: skip
    assert found["title"].tolist() == [one.title for one in expected]
    assert expected[4].topics == ()
    some = [row for row in range(30) if row != 4]
    assert [int(k) for k in found["top2_topic"][some]] == [expected[row].topics[1].id for row in some]
    assert [float(value) for value in found["top1_share"][some]] == pytest.approx(
        [expected[row].topics[0].share for row in some], rel=1e-6
    )
    assert found["top1_words"][0] == of(expected[0].topics[0].words)


def test_documents_of_a_topic_are_written_the_largest_share_first(known, shelf, tmp_path):
    expected = list(topic_documents(load(shelf / "diln"), Corpus.open(known), 1, None, min_share=0.3))
    options = ("--topic", 1, "--min-share", 0.3, "--json")
    done = diln("documents", shelf / "diln", known, "-o", tmp_path / "a.parquet", *options)
    assert done.json["rows"] == len(expected) < 30
    found = read(tmp_path / "a.parquet")
    assert list(found.columns[:3]) == ["share", "id", "title"]
    assert found["id"].tolist() == [one.id for one in expected]
    assert found["share"].tolist() == [one.share for one in expected]
    shown = diln("documents", shelf / "diln", known, *options, "--top", 2).json["documents"]
    assert [one["id"] for one in shown] == [one.id for one in expected[:2]]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_documents_are_shown_on_lines_that_fit(width, known, shelf, monkeypatch):
    monkeypatch.setattr(console.OUT, "width", width)
    done = diln("documents", shelf / "diln", known, "--top", 5)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == "documents (the first 5 of 30)"
    assert max(map(len, lines)) <= width
    assert all(f"id {number}  =Title {number}, " in done.out for number in range(5))
    assert "2017-03-01" in done.out
    first = next(document_topics(load(shelf / "diln"), Corpus.open(known))).topics[0]
    assert f"{first.share:.0%} topic {first.id} {first.words[0]}" in lines[3]
    done = diln("documents", shelf / "diln", known, "--topic", 2)
    assert "documents of topic 2: " in done.out
    assert max(map(len, done.out.splitlines())) <= width
    assert "topic 2 " not in "".join(done.out.splitlines()[1:])


def test_documents_say_what_cannot_be(known, shelf, tmp_path):
    done = diln("documents", shelf / "diln", known, "--topic", 99)
    assert (done.code, done.out) == (2, "")
    assert "there is no topic 99; the model has 0 to 4" in done.err
    done = diln("documents", shelf / "diln", known, "--min-share", 0.5)
    assert (done.code, "--min-share is for --topic" in done.err) == (2, True)
    done = diln("documents", shelf / "diln", known, "--topic", 1, "--min-share", 1)
    assert "there is none with as large a share of it; give a smaller --min-share" in done.out


@pytest.mark.parametrize("command", ["topics", "correlations", "documents"])
def test_no_table_is_written_into_a_directory_of_diln(command, known, shelf):
    corpus = [known] if command == "documents" else []
    for target in (shelf / "diln" / "a.csv", *(one / "a.csv" for one in corpus)):
        done = diln(command, shelf / "diln", *corpus, "-o", target)
        assert (done.code, done.out) == (2, "")
        assert "holds only what diln puts there; name another file" in done.err
        assert not target.exists()
    done = diln(command, shelf / "diln", *corpus, "-o", shelf / "a.docx")
    assert "must end in one of .csv, .tsv, .jsonl, .parquet, .xlsx; choose" in done.err


def test_documents_are_the_models_own_where_no_others_are_named(shelf, tmp_path):
    own = diln("documents", shelf / "diln", "--top", 5, "--json")
    assert (
        own.json["documents"]
        == diln("documents", shelf / "diln", shelf / "corpus", "--top", 5, "--json").json["documents"]
    )
    shutil.copytree(shelf / "diln", tmp_path / "alone")
    shutil.rmtree(tmp_path / "alone" / "documents")
    done = diln("documents", tmp_path / "alone")
    assert done.code == 2
    assert "does not know where its documents are" in done.err
