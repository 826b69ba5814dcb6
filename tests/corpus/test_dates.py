"""Dates are read once, when a corpus is built, and never guessed."""

from datetime import datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest

import diln.corpus.readers.table
from diln.corpus import Corpus, append, build, summarise
from diln.corpus.dates import ORDERS, from_days, iso, orders_seen, settled
from diln.errors import DilnWarning, SourceError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # ISO 8601
        ("2017-03-02", "2017-03-02"),
        (" 2017-03-02 ", "2017-03-02"),
        ("2017-3-2", "2017-03-02"),
        ("2017-03-02T10:30:15", "2017-03-02T10:30:15"),
        ("2017-03-02 10:30", "2017-03-02T10:30:00"),
        ("2017-03-02T10:30:15.999Z", "2017-03-02T10:30:15"),
        ("2017-03-02T01:30:15+02:00", "2017-03-01T23:30:15"),
        ("2017-03-02T00:00:00", "2017-03-02"),
        ("20170302", "2017-03-02"),
        ("20170302T103015", "2017-03-02T10:30:15"),
        ("20170302103015", "2017-03-02T10:30:15"),
        ("2017-W09-4", "2017-03-02"),
        ("2017-03", "2017-03"),
        ("2017", "2017"),
        ("1066-10-14", "1066-10-14"),
        # mail, Unix, the web
        ("Thu, 02 Mar 2017 10:30:15 +0100", "2017-03-02T09:30:15"),
        ("2 Mar 2017 10:30 EST", "2017-03-02T15:30:00"),
        ("Thu Mar  2 10:30:15 2017", "2017-03-02T10:30:15"),
        ("Thu Mar 02 10:30:15 +0000 2017", "2017-03-02T10:30:15"),
        ("1488450615", "2017-03-02T10:30:15"),
        ("1488450615123", "2017-03-02T10:30:15"),
        ("1488450615.5", "2017-03-02T10:30:15"),
        # months by name
        ("2 March 2017", "2017-03-02"),
        ("2nd of March, 2017", "2017-03-02"),
        ("Mar 2, 2017", "2017-03-02"),
        ("Thursday, March 2nd, 2017", "2017-03-02"),
        ("MARCH 2, 2017 10:30 pm", "2017-03-02T22:30:00"),
        ("March 2, 2017 at 12:05 a.m.", "2017-03-02T00:05:00"),
        ("2-Mar-2017", "2017-03-02"),
        ("2017 Mar 2", "2017-03-02"),
        ("March 2017", "2017-03"),
        ("2. März 2017", "2017-03-02"),
        ("1er août 2017", "2017-08-01"),
        ("2 de marzo de 2017", "2017-03-02"),
        ("2017年3月2日", "2017-03-02"),
        # numbers that can be read in one way only
        ("17.11.2016", "2016-11-17"),
        ("17. 11. 2016", "2016-11-17"),
        ("17/11/2016 10:30", "2016-11-17T10:30:00"),
        ("11/17/2016", "2016-11-17"),
        ("02/02/2017", "2017-02-02"),
        ("2017/03/02", "2017-03-02"),
        ("2017.3.2", "2017-03-02"),
        ("3/2017", "2017-03"),
        ("31/12/99", "1999-12-31"),
        # no dates, or more than one
        *((text, "") for text in ("", "yesterday", "n/a", "0000-00-00", "2017-13-01", "31.02.2017", "02/03/2017")),
        *((text, "") for text in ("17/11/26", "201703", "2017030210", "42", "12:30", "2017-03-02 to 2017-03-05")),
        *(
            (text, "")
            for text in ("9999-12-31T23:59:59-01:00", "13:30 pm", "2 Mar 2017 13:30 pm", "2 Mar 2017 10:30 XYZ")
        ),
        *((text, "") for text in ("2017/17/11", "Foo 2017", "٢٠١٧", "1" * 5000, "x" * 100_000, "0000", "17/11/201")),
    ],
)
def test_a_date_is_read_as_it_is_written_or_not_at_all(text, expected):
    assert iso(text) == expected
    assert iso(expected) == expected


def test_an_order_that_is_given_settles_a_date():
    assert [iso("02/03/2017", order) for order in ORDERS] == ["2017-03-02", "2017-02-03", ""]
    assert [iso("02-03-04", order) for order in ORDERS] == ["2004-03-02", "2004-02-03", "2002-03-04"]
    assert [iso("11/17/2016", order) for order in ORDERS] == ["", "2016-11-17", "2016-11-17"]
    assert [iso("2017-03-02", order) for order in ORDERS] == ["2017-03-02"] * 3


@pytest.mark.parametrize(
    ("column", "order"),
    [
        (["02/03/2017", "17/11/2016"], "dmy"),
        (["02/03/2017", "11/17/2016"], "mdy"),
        (["02/03/2017"], None),
        (["02/03/2017", "17/11/2016", "11/17/2016"], None),
        (["02-03-04", "99-12-31"], "ymd"),
        (["2017/03/02", "2017-11-17"], None),
        (["2017-03-02", "17.11.2016", "yesterday", ""], "dmy"),
        ([], None),
    ],
)
def test_the_order_is_settled_by_the_whole_column(column, order):
    assert settled(orders_seen(column)) == order


WORDS = ["elk dog", "elk cat", "elk bee", "elk cow"]


def test_dates_of_a_corpus_are_iso_and_numbers_to_calculate_with():
    given = ["17.11.2016", "02.03.2017", None, "2017-03"]
    corpus = Corpus.from_texts(WORDS, dates=given)
    assert corpus.documents.dates == ["2016-11-17", "2017-03-02", "", "2017-03"]
    assert corpus.documents[1].date == "2017-03-02"
    assert corpus.dates.order == "dmy"
    stamps = corpus.documents.timestamps
    assert stamps.dtype == np.dtype("datetime64[s]")
    assert (stamps[1] - stamps[0]) / np.timedelta64(1, "D") == 105
    assert np.isnat(stamps).tolist() == [False, False, True, False]
    assert corpus.tally.dates_left_out == 0


def test_what_is_no_date_is_left_out_counted_and_said():
    with pytest.warns(DilnWarning, match="2 dates cannot be read, such as 'yesterday' and 'n/a', and are left out"):
        corpus = Corpus.from_texts(WORDS, dates=["2017-03-02", "yesterday", "n/a", ""])
    assert corpus.documents.dates == ["2017-03-02", "", "", ""]
    assert corpus.tally.dates_left_out == 2
    summary = summarise(corpus)
    assert (summary.dates, summary.undated) == (["2017-03-02", "2017-03-02"], 3)


def test_a_date_of_thousands_of_digits_is_not_printed_whole():
    with pytest.warns(DilnWarning, match="1 dates cannot be read, such as '9{70,}") as told:
        Corpus.from_texts(["elk", "dog"], dates=["2017", "9" * 4000])
    assert len(str(told[0].message)) < 300


def test_what_could_be_two_dates_is_left_out_and_the_option_is_named():
    given = ["2017-01-01", "02/03/2017", "03/04/2017", "05/05/2017"]
    with pytest.warns(
        DilnWarning, match=r"2 dates can be read in more than one way, such as '02/03/2017'.*--date-order"
    ):
        corpus = Corpus.from_texts(WORDS, dates=given)
    assert corpus.documents.dates == ["2017-01-01", "", "", "2017-05-05"]
    for order, second in (("dmy", "2017-03-02"), ("mdy", "2017-02-03")):
        corpus = Corpus.from_texts(WORDS, dates=given, date_order=order)
        assert (corpus.documents.dates[1], corpus.dates.order) == (second, order)
    with pytest.raises(SourceError, match="date_order is 'dym'; use one of dmy, mdy, ymd"):
        Corpus.from_texts(WORDS, dates=given, date_order="dym")


def test_python_numpy_and_pandas_dates_are_dates():
    zone = timezone(timedelta(hours=2))
    given = [datetime(2017, 3, 2, 1, 30, tzinfo=zone), np.datetime64("2017-03-02", "ns"), pd.Timestamp("2017"), pd.NaT]
    assert Corpus.from_texts(WORDS, dates=given).documents.dates == [
        "2017-03-01T23:30:00",
        "2017-03-02",
        "2017-01-01",
        "",
    ]
    times = np.array(["2017-03-02T10:30", "NaT"], "datetime64[ns]")
    assert Corpus.from_matrix(np.eye(2, dtype=int), ["elk", "dog"], dates=times).documents.dates == [
        "2017-03-02T10:30:00",
        "",
    ]


def table(n_rows):
    days = pd.date_range("2016-11-01", periods=n_rows)
    return "text,date\n" + "".join(f"elk {chr(97 + n % 26) * 3},{day:%d/%m/%Y}\n" for n, day in enumerate(days))


def test_the_order_is_settled_by_a_later_block_with_the_same_bytes_for_any_number_of_processes(
    file, tmp_path, monkeypatch
):
    monkeypatch.setattr(diln.corpus.readers.table, "BLOCK_BYTES", 40)
    path = file("a.csv", table(40))
    for jobs in (1, 2):
        build(path, tmp_path / f"{jobs}", n_jobs=jobs)
    one, two = ({p.relative_to(tmp_path / n): p.read_bytes() for p in (tmp_path / n).rglob("*.*")} for n in "12")
    assert one == two
    corpus = Corpus.open(tmp_path / "1")
    assert corpus.documents.dates[:2] == ["2016-11-01", "2016-11-02"]
    assert corpus.dates.order == "dmy"


def test_added_documents_have_their_dates_read_in_the_order_of_the_corpus(file, tmp_path):
    build(file("a.csv", table(40)), tmp_path / "corpus")
    corpus = append(file("b.csv", "text,date\nelk,02/03/2017\n"), tmp_path / "corpus")
    assert corpus.documents.dates[-1] == "2017-03-02"
    corpus = append(file("c.csv", "text,date\nelk,02/03/2017\n"), tmp_path / "corpus", date_order="mdy")
    assert corpus.documents.dates[-1] == "2017-02-03"
    assert corpus.dates.order == "dmy"
    assert corpus[[0]].save(tmp_path / "copy").dates == corpus.dates


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("42774", "2017-02-08"),
        (" 42774 ", "2017-02-08"),
        ("42774.0", "2017-02-08"),
        ("42774.5", "2017-02-08T12:00:00"),
        ("42774,75", "2017-02-08T18:00:00"),
        ("43100.99999", "2017-12-31T23:59:59"),
        ("20000", "1954-10-03"),
        ("60000", "2064-04-08"),
        ("19999", ""),
        ("60001", ""),
        ("4277", ""),
        ("427740", ""),
        ("42774 days", ""),
        ("٤٢٧٧٤", ""),
    ],
)
def test_a_number_of_days_is_read_as_spreadsheets_count_them(number, expected):
    assert from_days(number) == expected


def test_days_are_those_of_openpyxl():
    excel = pytest.importorskip("openpyxl.utils.datetime")
    for number in range(20_000, 60_001, 997):
        assert from_days(str(number)) == excel.from_excel(number).date().isoformat()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_column_of_numbers_of_days_is_a_column_of_dates_and_is_said_to_be(tmp_path, capsys, n_jobs, monkeypatch):
    monkeypatch.setattr(diln.corpus.readers.table, "BLOCK_BYTES", 50)
    path = tmp_path / "a.csv"
    path.write_text("date,text\n" + "".join(f"{42774 + number},elk dog\n" for number in range(20)) + ",fox\nsoon,fox\n")
    with pytest.warns(DilnWarning, match="1 dates cannot be read, such as 'soon'"):
        corpus = Corpus.read(path, n_jobs=n_jobs)
    assert corpus.documents.dates[:2] == ["2017-02-08", "2017-02-09"]
    assert corpus.documents.dates[-3:] == ["2017-02-27", "", ""]
    said = capsys.readouterr().err
    assert "20 dates are numbers of days, as spreadsheets count them, and are read so: 42774 is 2017-02-08" in said


def test_a_number_among_dates_is_no_date():
    with pytest.warns(DilnWarning, match="1 dates cannot be read, such as '42774'"):
        corpus = Corpus.from_texts(["elk"] * 3, dates=["42774", "2017-03-02", "2017-03-03"])
    assert corpus.documents.dates == ["", "2017-03-02", "2017-03-03"]


def test_added_documents_may_have_numbers_of_days(tmp_path):
    (tmp_path / "a.csv").write_text("date,text\n2017-03-02,elk\n")
    (tmp_path / "b.csv").write_text("date,text\n42774,elk\n")
    build(tmp_path / "a.csv", tmp_path / "corpus")
    corpus = append(tmp_path / "b.csv", tmp_path / "corpus")
    assert corpus.documents.dates == ["2017-03-02", "2017-02-08"]
