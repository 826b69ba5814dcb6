import datetime
import io
import zipfile

import pytest
import xlsxwriter

import diln.corpus.readers.excel as excel
from diln.corpus import Corpus, append, build
from diln.errors import SourceError

HEADER = ["id", "title", "text", "date"]
ROWS = [
    [7, "Elk", "elk dog, elk", datetime.datetime(2017, 2, 8)],
    [8, "", "cat <b> & “cow”", datetime.datetime(2017, 2, 9, 10, 30)],
    [],
    [9.5, "Bee", "", None],
]
SHEET, STRINGS = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"


def workbook(sheets=None, **options):
    """The bytes of a workbook with these sheets, each a list of rows."""
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True, **options}) as book:
        day = book.add_format({"num_format": "dd/mm/yyyy hh:mm"})
        for name, rows in (sheets or {"News": [HEADER, *ROWS]}).items():
            sheet = book.add_worksheet(name.removesuffix("(hidden)"))
            if name.endswith("(hidden)"):
                sheet.hide()
            else:
                sheet.activate()  # the first is not hidden otherwise
            for number, row in enumerate(rows):
                for at, value in enumerate(row):
                    sheet.write(number, at, value, *([day] if isinstance(value, datetime.datetime) else []))
    return buffer.getvalue()


def changed(data, part, change):
    """The workbook with another content of a part."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, change(old.read(name)) if name == part else old.read(name))
    return buffer.getvalue()


class Watch:
    def __init__(self):
        self.notes, self.steps = [], []

    def note(self, text):
        self.notes.append(text)

    def step(self, *position):
        self.steps.append(position)


@pytest.mark.parametrize("constant_memory", [False, True], ids=["shared strings", "strings in their cells"])
def test_a_sheet_has_a_document_a_row_with_dates_numbers_and_empty_cells(file, constant_memory):
    path = file("a.xlsx", workbook(constant_memory=constant_memory))
    watch = Watch()
    corpus = Corpus.read(path, watch=watch)
    assert corpus.documents.ids == ["7", "8", "9.5"]
    assert corpus.documents.titles == ["Elk", "", "Bee"]
    assert corpus.documents.dates == ["2017-02-08", "2017-02-09T10:30:00", ""]
    assert list(corpus.documents.texts) == ["elk dog, elk", "cat <b> & “cow”", ""]
    assert corpus.vocabulary == ["cat", "cow", "dog", "elk"]
    assert corpus.tally.without_text == 1
    assert watch.notes == [
        f"{path}, sheet 'News': reading 'text' as text, 'id' as id, 'title' as title, 'date' as date "
        "(of the columns id, title, text, date)"
    ]


def test_documents_of_a_sheet_without_ids_are_numbered_and_columns_without_a_name_are_left_out(file):
    rows = [[], ["", "text", " Label ", ""], ["x", "elk", "zoo"], ["note"], ["", "dog", "farm", "y", "z"]]
    corpus = Corpus.read(file("a.xlsx", workbook({"A": rows})))
    assert corpus.documents.ids == ["1", "2", "3"]
    assert list(corpus.documents.texts) == ["elk", "", "dog"]
    assert corpus.documents.labels == ["zoo", "", "farm"]


def test_the_first_sheet_that_is_not_hidden_is_read_and_named_unless_another_is_asked_for(file):
    sheets = {"Old(hidden)": [["text"], ["elk"]], "News": [["text"], ["dog"]], "2": [["text"], ["cat"]]}
    path, watch = file("a.xlsx", workbook(sheets)), Watch()
    assert Corpus.read(path, watch=watch).vocabulary == ["dog"]
    assert watch.notes[0] == f"{path}: reading the sheet 'News' of Old, News, 2; name another with --sheet (sheet=)"
    assert Corpus.read(path, sheet="Old").vocabulary == ["elk"]
    assert Corpus.read(path, sheet="2").vocabulary == ["cat"]  # its name, not its place
    assert Corpus.read(path, sheet=1).vocabulary == ["elk"]
    for odd in ("4", "0", "news", "-1", ""):
        with pytest.raises(SourceError, match=f"there is no sheet '{odd}'; the sheets are Old, News, 2"):
            Corpus.read(path, sheet=odd)


def test_an_empty_sheet_is_an_error_that_says_how_to_name_another(file):
    with pytest.raises(SourceError, match=r"sheet 'A': has no cell with text; name another sheet with --sheet"):
        Corpus.read(file("a.xlsx", workbook({"A": [], "B": [["text"], ["elk"]]})))


def test_what_a_failed_formula_leaves_is_no_text_and_escaped_characters_are_what_they_stand_for(file):
    strings = changed(
        workbook({"A": [["text", "id"], ["#NAME?", "a"], ["elk#cow", "b"], ["dog", "c"]]}),
        STRINGS,
        lambda data: data.replace(b"elk#cow", b"elk_x000D_cow"),
    )
    corpus = Corpus.read(file("a.xlsx", strings))
    assert list(corpus.documents.texts) == ["", "elk\rcow", "dog"]


def test_the_values_of_formulas_are_read_not_the_formulas(file, tmp_path):
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write(0, 0, "text")
        sheet.write_formula(1, 0, '="elk "&"dog"', None, "elk dog")
    assert list(Corpus.read(tmp_path / "a.xlsx").documents.texts) == ["elk dog"]


def test_a_workbook_comes_by_pattern_by_stream_and_is_appended(file, tmp_path, monkeypatch):
    one, two = (
        workbook({"A": [["Body", "Title"], ["elk", "x"]]}),
        workbook({"B": [["Title", "Body"], ["y", "elk dog"]]}),
    )
    file("1.xlsx", one)
    file("2.XLSX", two)
    both = Corpus.read(tmp_path / "*.[xX]*", format="xlsx")
    assert (both.documents.ids, both.documents.titles) == (["1", "2"], ["x", "y"])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(one)))
    built = build("-", tmp_path / "corpus", format="xlsx", min_df=1)
    assert built.rule["columns"]["text"] == ["Body"]
    corpus = append(tmp_path / "2.XLSX", tmp_path / "corpus", grow=True)
    assert (corpus.documents.titles, corpus.vocabulary) == (["x", "y"], ["elk", "dog"])


def test_a_large_sheet_is_read_in_blocks_and_tells_how_far_it_is(file, monkeypatch):
    monkeypatch.setattr("diln.corpus.readers.table.BLOCK_BYTES", 2000)
    rows = [["text"], *(["elk dog"] for _ in range(1000))]
    watch = Watch()
    assert len(Corpus.read(file("a.xlsx", workbook({"A": rows})), watch=watch, max_df=1.0)) == 1000
    assert len(watch.steps) == 4
    assert watch.steps[-1] == (1001, 1001, 1000)


def entities(data):
    start = data.index(b"<sst")
    doctype = b'<!DOCTYPE sst [<!ENTITY e "elk"><!ENTITY f SYSTEM "file:///etc/passwd">]>'
    return data[:start] + doctype + data[start:].replace(b"<t>elk dog, elk", b"<t>&e;&f;")


BAD = {
    "no zip": (lambda data: b"elk" * 50, {}, "a.xlsx: not a readable .xlsx file"),
    "an old one": (lambda data: b"\xd0\xcf\x11\xe0" + data, {}, "is an .xls file, or has a password"),
    "cut off": (lambda data: data[: len(data) // 2], {}, "not a readable .xlsx file"),
    "no workbook": (lambda data: _zip({"a.txt": b"elk"}), {}, "not a readable .xlsx file"),
    "entities": (lambda data: changed(data, STRINGS, entities), {}, "'xl/sharedStrings.xml' declares a document type"),
    "a bomb": (
        lambda data: changed(data, STRINGS, lambda part: part.replace(b"</sst>", b"<si/>" * 300_000 + b"</sst>")),
        {},
        "'xl/sharedStrings.xml' unpacks to more than 100 times its size",
    ),
    "too much": (lambda data: data, {"LARGEST": 1000}, "GB unpacked"),
    "too many elements": (lambda data: data, {"MOST": 9}, "has more elements than a sheet can have"),
    "too many elements of one": (
        lambda data: changed(data, SHEET, lambda part: part.replace(b"<v>", b"<u/><u/><u/><u/><u/><v>")),
        {"MOST_BELOW": 25},
        "'xl/worksheets/sheet1.xml' has more elements",
    ),
    "too deep": (
        lambda data: changed(data, SHEET, lambda part: part.replace(b"<v>", b"<u>" * 200 + b"</u>" * 200 + b"<v>")),
        {},
        "has more elements than a sheet can have",
    ),
    "no such column": (
        lambda data: changed(data, SHEET, lambda part: part.replace(b'r="A2"', b'r="ZZZZ2"')),
        {},
        "the .xlsx file is damaged",
    ),
    "no such string": (
        lambda data: changed(data, SHEET, lambda part: part.replace(b"<v>4</v>", b"<v>99999</v>")),
        {},
        "the .xlsx file is damaged",
    ),
}


def _zip(parts):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as new:
        for name, data in parts.items():
            new.writestr(name, data)
    return buffer.getvalue()


@pytest.mark.parametrize("case", BAD)
def test_a_spoilt_or_hostile_workbook_ends_in_one_sentence(file, monkeypatch, case):
    spoil, limits, words = BAD[case]
    for name, value in limits.items():
        monkeypatch.setattr(excel, name, value)
    path = file("a.xlsx", spoil(workbook()))
    with pytest.raises(SourceError) as caught:
        Corpus.read(path)
    message = str(caught.value)
    assert words in message
    assert message.startswith(str(path))
    assert "\n" not in message
    assert "save it" in message


@pytest.mark.parametrize("place", ["XFD1048576", "A4294967295", "XFD4"])
def test_a_cell_far_away_takes_neither_time_nor_memory(file, place):
    row = place.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    cell = f'<row r="{row}"><c r="{place}"><v>1</v></c></row></sheetData>'.encode()
    data = changed(
        workbook({"A": [["text"], ["elk"]]}),
        SHEET,
        lambda part: part.replace(b"</sheetData>", cell).replace(b'ref="A1:A2"', b'ref="A1:XFD1048576"'),
    )
    assert list(Corpus.read(file("a.xlsx", data)).documents.texts) == ["elk"]


def test_other_kinds_of_sheets_and_sheets_of_other_kinds_of_files_are_refused(file):
    with pytest.raises(SourceError, match=r"\.ods is not read; save it as \.xlsx, or as \.csv"):
        Corpus.read(file("a.ods", "elk"))
    with pytest.raises(SourceError, match="is csv, which has no sheets; leave out --sheet"):
        Corpus.read(file("a.csv", "text\nelk"), sheet="A")
