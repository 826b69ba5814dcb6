"""Tables in files: the same values in every format, whole or not at all, and safe to open."""

import csv
import json
import math
import resource
from datetime import date, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet
from workbooks import rows_of

from diln.cli import table_files, table_formats
from diln.cli.table_files import check_target, write_table
from diln.cli.table_formats import Column
from diln.errors import DilnError

COLUMNS = [
    Column("name", "text"), Column("size", "whole"), Column("share", "number"), Column("sure", "flag"),
    Column("day", "date"), Column("when", "time"),
]  # fmt: skip
ODD = ['a "quoted", text', "two\nlines", "tab\there", "carriage\rreturn", "", "日本 ß", "=1+1", "<r>bold</r>", "\x01"]
PART = [
    ODD,
    np.arange(9),
    [0.5, 1 / 3, None, math.nan, math.inf, 1e-9, 0.0, -2.0, 1.0],
    [True, False, None, True, True, True, True, True, True],
    ["2017-03-02", "", "1969-07-20", "1815-06-18", *["1969-07-20"] * 5],
    ["2017-03-02T12:00:00", "", "2017-03-02", "1815-06-18T20:30:00", *["1969-07-20T20:17:40"] * 5],
]
SHARES = [0.5, pytest.approx(1 / 3, rel=1e-6), None, None, None, 1e-9, 0.0, -2.0, 1.0]


def test_a_csv_has_what_was_written(tmp_path):
    for suffix, gap in ((".csv", ","), (".tsv", "\t")):
        path = tmp_path / f"a{suffix}"
        written = write_table(path, COLUMNS, [PART, PART])
        assert (written.rows, written.formulas) == (18, 2)
        with path.open(encoding="utf-8", newline="") as file:
            top, *rows = csv.reader(file, delimiter=gap)
        assert top == ["name", "size", "share", "sure", "day", "when"]
        assert rows[:9] == rows[9:]
        assert [row[0] for row in rows[:9]] == ODD
        assert [row[1] for row in rows[:9]] == [str(number) for number in range(9)]
        assert [row[2] for row in rows[:5]] == ["0.5", "0.3333333", "", "", ""]
        assert [row[3] for row in rows[:3]] == ["true", "false", ""]
        assert [row[4:] for row in rows[:3]] == (
            [["2017-03-02", "2017-03-02T12:00:00"], ["", ""], ["1969-07-20", "2017-03-02"]]
        )


def test_pandas_reads_what_was_written(tmp_path):
    write_table(tmp_path / "a.csv", COLUMNS, [PART])
    write_table(tmp_path / "a.parquet", COLUMNS, [PART])
    plain = pd.read_csv(tmp_path / "a.csv", keep_default_na=False, na_values={"share": [""]}, lineterminator="\n")
    typed = pd.read_parquet(tmp_path / "a.parquet")
    assert typed["name"].tolist() == plain["name"].tolist() == ODD
    assert plain["share"].tolist() == pytest.approx(typed["share"].tolist(), rel=1e-6, nan_ok=True)


def test_json_lines_have_null_where_there_is_nothing(tmp_path):
    write_table(tmp_path / "a.jsonl", COLUMNS, [PART])
    rows = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text("utf-8").splitlines()]
    assert [row["name"] for row in rows] == ODD
    assert [row["share"] for row in rows] == SHARES
    assert rows[1] == {"name": "two\nlines", "size": 1, "share": 0.3333333, "sure": False, "day": None, "when": None}
    assert rows[0]["day"] == "2017-03-02"


def test_parquet_has_types(tmp_path):
    write_table(tmp_path / "a.parquet", COLUMNS, [PART, PART])
    table = parquet.read_table(tmp_path / "a.parquet")
    assert [str(kind) for kind in table.schema.types] == [
        "string",
        "int64",
        "double",
        "bool",
        "date32[day]",
        "timestamp[ms]",
    ]
    rows = table.to_pylist()
    assert rows[:9] == rows[9:]
    assert [row["name"] for row in rows[:9]] == ODD
    assert [row["share"] for row in rows[:9]] == SHARES
    assert [row["sure"] for row in rows[:3]] == [True, False, None]
    assert [row["day"] for row in rows[:9]] == [None if day == "" else date.fromisoformat(day) for day in PART[4]]
    assert [row["when"] for row in rows[:3]] == [datetime(2017, 3, 2, 12), None, datetime(2017, 3, 2)]


def test_excel_has_text_as_text_numbers_as_numbers_and_days_as_days(tmp_path):
    write_table(tmp_path / "a.xlsx", COLUMNS, [PART])
    top, *rows = rows_of(tmp_path / "a.xlsx")
    assert list(top.values()) == ["name", "size", "share", "sure", "day", "when"]
    assert [row.get("A", "") for row in rows] == ODD
    assert [row["B"] for row in rows] == list(range(9))
    assert [row.get("C") for row in rows] == [0.5, 1 / 3, None, None, None, 1e-9, 0.0, -2.0, 1.0]
    assert [row.get("D") for row in rows[:3]] == [True, False, None]
    assert [row.get("E") for row in rows[:4]] == [42796, None, 25404, "1815-06-18"]  # days since the end of 1899
    assert [row.get("F") for row in rows[:4]] == [42796.5, None, 42796, "1815-06-18T20:30:00"]


def test_half_characters_are_written_as_their_codes(tmp_path):
    for suffix in table_files.WRITERS:
        write_table(tmp_path / f"a{suffix}", [Column("name", "text")], [[["half \ud800"]]])
    assert (tmp_path / "a.csv").read_text("utf-8") == "name\nhalf \\ud800\n"
    assert json.loads((tmp_path / "a.jsonl").read_text("utf-8")) == {"name": "half \ud800"}
    assert rows_of(tmp_path / "a.xlsx")[1] == {"A": "half \\ud800"}


def test_what_a_spreadsheet_takes_as_a_formula_is_counted_or_marked(tmp_path):
    texts = ["=cmd()", "+1", "-x", "@sum", "-5", "1e5", "a=b", "\t=1", ""]
    columns = [Column("id", "text")]
    assert write_table(tmp_path / "a.csv", columns, [[texts]]).formulas == 4
    marked = write_table(tmp_path / "b.csv", columns, [[texts]], for_excel=True)
    assert marked.formulas == 0
    data = (tmp_path / "b.csv").read_bytes()
    assert data.startswith(b"\xef\xbb\xbfid\n")
    with (tmp_path / "b.csv").open(encoding="utf-8-sig", newline="") as file:
        assert [row[0] if row else "" for row in csv.reader(file)][1:] == (
            ["'=cmd()", "+1", "'-x", "'@sum", "-5", "1e5", "a=b", "'\t=1", ""]
        )


HIDDEN = [
    "\uff1d1+1", "\uff0bcmd", "\uff0dx", "\uff20sum", "\ufe661", "\u200b=1", "\ufeff=1", "\u2060\u00ad@x", " =1",
    "\n=1", "\x00=1", "\u3164=1", "\u0301=1", "\u202e-x", "\u200b-5", "\ud800=1", "\ufeff \t\uff1d1", "\xa0+x",
    "-1+cmd|' /C calc'!A0", "+inf", "-0x10", "\r=1",
]  # fmt: skip


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_what_hides_a_formula_is_no_way_around_the_mark(suffix, tmp_path):
    harmless = ["\u200bword", "\uff11", " x=1", "#=1", "-5.5e-3", "+.5", "1", "\u65e5", "\u00e9=1", " "]
    table = [Column("=id", "text")]
    assert write_table(tmp_path / f"a{suffix}", table, [[[*HIDDEN, *harmless]]]).formulas == len(HIDDEN) + 1
    marked = write_table(tmp_path / f"b{suffix}", table, [[[*HIDDEN, *harmless]]], for_excel=True)
    assert marked.formulas == 0
    with (tmp_path / f"b{suffix}").open(encoding="utf-8-sig", newline="") as file:
        rows = [row[0] for row in csv.reader(file, delimiter="\t" if suffix == ".tsv" else ",")]
    kept = [text.encode("utf-8", "backslashreplace").decode() for text in HIDDEN]
    assert rows == ["'=id", *(f"'{text}" for text in kept), *harmless]


@pytest.mark.parametrize("suffix", table_files.WRITERS)
def test_a_table_without_rows_is_a_file_with_names(suffix, tmp_path):
    path = tmp_path / f"a{suffix}"
    assert write_table(path, COLUMNS, []).rows == 0
    if suffix == ".parquet":
        assert parquet.read_table(path).column_names == [column.name for column in COLUMNS]
    assert path.exists()


@pytest.mark.parametrize("suffix", table_files.WRITERS)
def test_a_write_that_fails_leaves_the_file_that_was_there(suffix, tmp_path):
    path = tmp_path / f"a{suffix}"
    path.write_text("mine")

    def parts():
        yield PART
        raise RuntimeError("amid it")

    with pytest.raises(RuntimeError, match="amid it"):
        write_table(path, COLUMNS, parts())
    assert path.read_text() == "mine"
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", table_files.WRITERS)
def test_a_file_that_there_is_no_room_for_is_one_sentence_about_it(suffix, tmp_path):
    path = tmp_path / f"a{suffix}"
    path.write_text("mine")
    texts = [["".join(map(chr, np.random.default_rng(0).integers(97, 123, 30_000)))]] * 100
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(DilnError, match=rf"a{suffix}: .*; make room"):
            write_table(path, [Column(f"c{at}", "text") for at in range(100)], [texts])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_text() == "mine"
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_a_link_is_replaced_and_not_written_through(tmp_path):
    (tmp_path / "victim.csv").write_text("mine")
    (tmp_path / "a.csv").symlink_to(tmp_path / "victim.csv")
    write_table(tmp_path / "a.csv", COLUMNS, [PART])
    assert (tmp_path / "victim.csv").read_text() == "mine"
    assert not (tmp_path / "a.csv").is_symlink()


def test_the_limits_of_excel_are_one_sentence(tmp_path, monkeypatch):
    path = tmp_path / "a.xlsx"
    many = [Column(f"c{number}", "whole") for number in range(16_385)]
    with pytest.raises(DilnError, match=r"has 16,384 columns, and the table has 16,385; write .csv or .parquet"):
        write_table(path, many, [])
    with pytest.raises(DilnError, match=r"holds 32,767 characters, and column 'name' has one of 32,768; write .csv"):
        write_table(path, [Column("name", "text")], [[["😀" * 16_384]]])
    write_table(path, [Column("name", "text")], [[["x" * 32_767]]])
    monkeypatch.setattr(table_formats, "EXCEL_ROWS", 10)
    assert write_table(path, COLUMNS, [PART]).rows == 9
    with pytest.raises(
        DilnError, match=r"a sheet of Excel has 10 rows, and the table has more; write .csv or .parquet"
    ):
        write_table(path, COLUMNS, [PART, PART])


def test_a_part_of_the_rows_is_taken_at_a_time(tmp_path):
    taken = 0

    def parts():
        nonlocal taken
        for _ in range(50):
            taken += 1
            yield PART

    table = table_formats.FileTable(COLUMNS, parts())
    rows = table.in_rows()
    next(rows)
    assert (taken, table.rows) == (1, 9)


@pytest.mark.parametrize(("suffix", "module"), [(".parquet", "pyarrow"), (".xlsx", "xlsxwriter")])
def test_a_format_that_needs_an_extra_says_which(suffix, module, tmp_path, monkeypatch):
    monkeypatch.setattr(table_files, "find_spec", lambda name: None)
    extra = {".parquet": "tables", ".xlsx": "excel"}[suffix]
    with pytest.raises(DilnError, match=rf"needs {module}; install it with: pip install 'diln\[{extra}\]', or write"):
        check_target(Path(tmp_path / f"a{suffix}"))
