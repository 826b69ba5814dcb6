"""Whatever is wrong with the input is named in one sentence that says what to do."""

import gzip
import itertools
import json
import re
import zipfile
from io import BytesIO

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

import diln.corpus.readers.json_values
import diln.corpus.readers.lines
import diln.corpus.readers.table
from diln.corpus import Corpus
from diln.corpus.readers.table import _one_character
from diln.corpus.sources import as_text
from diln.errors import DilnWarning, SourceError

VOCABULARY = ["elk", "dog", "cat"]
BROKEN = "Äpfel".encode("latin-1")


def refused(make, *fragments, error=SourceError):
    """The message with which ``make`` fails; it is one sentence that has the fragments in their order."""
    with pytest.raises(error) as raised:
        make()
    message = str(raised.value)
    assert "\n" not in message
    assert not message.endswith(".")
    assert re.search(".*".join(map(re.escape, fragments)), message), message
    return message


# Name and content of a file, how it is read, and parts of what the error says, in order.
FILES = [
    # nothing in it
    ("a.jsonl", "", {}, ["a.jsonl", "the file is empty", "give one with documents"]),
    ("a.txt", "", {}, ["a.txt", "the file is empty"]),
    ("a.csv", "", {}, ["a.csv", "the file is empty"]),
    ("a.parquet", "", {}, ["a.parquet", "the file is empty"]),
    ("a.npz", "", {"vocabulary": VOCABULARY}, ["a.npz", "the file is empty"]),
    ("a.jsonl", " \n\t\n\r\n", {}, ["a.jsonl", "no line with a document", "give a file with an object a line"]),
    ("a.jsonl.gz", gzip.compress(b""), {}, ["a.jsonl.gz", "no line with a document"]),
    ("a.txt", " \n\n", {}, ["a.txt", "there is no document in it", "give a source with documents"]),
    ("a.txt.gz", gzip.compress(b""), {}, ["a.txt.gz", "there is no document in it"]),
    ("a.txt", b"\xef\xbb\xbf", {}, ["a.txt", "there is no document in it"]),
    ("a.csv", "\n\n", {}, ["a.csv", "the first line names no columns", "start the file with a line of names"]),
    ("a.csv", "text,id\n", {}, ["a.csv", "there is no document in it"]),
    ("a.txt", "the and\nof it\n", {}, ["a.txt", "2 documents have no usable token", "check", "the stop words"]),
    ("a.jsonl", '{"text": null}\n{"text": ""}\n', {}, ["a.jsonl", "2 documents have no usable token"]),
    # columns
    (
        "a.csv",
        "text,id\nelk,1\n",
        {"text": "body"},
        ["a.csv", "no column 'body' for the text", "the columns are text, id"],
    ),
    ("a.jsonl", '{"text": "elk"}\n', {"date": "when"}, ["a.jsonl", "no column 'when' for the date", "are text"]),
    ("a.csv", "a,b\nelk,1\n", {}, ["which column holds the text?", "none has a usual name", "--text", "are a, b"]),
    ("a.csv", "body,summary\nelk,1\n", {}, ["body and summary could each be it", "--text (text=)", "body, summary"]),
    ("a.jsonl", '{"a": 1, "b": 2}\n', {}, ["a.jsonl", "which column holds the text?", "--text", "are a, b"]),
    ("a.csv", "text,text\nelk,1\n", {}, ["there are 2 columns 'text'", "rename all but one"]),
    ("a.csv", "text,Text\nelk,1\n", {}, ["text and Text could each be it", "--text"]),
    # bytes
    ("a.txt", b"elk\ndog " + BROKEN, {}, ["a.txt, line 2, byte 8", r"b'\xc4'", "utf-8", "--encoding", "--errors"]),
    ("a.txt", b"\xef\xbb\xbfelk " + BROKEN, {}, ["a.txt, line 1, byte 7", r"b'\xc4'"]),
    (
        "a.csv",
        b'text,id\n"elk\n' + BROKEN + b'",1\n',
        {},
        ["a.csv, line 3, byte 13", "not valid utf-8", "--encoding", "--errors"],
    ),
    (
        "a.jsonl",
        b'{"text": "elk"}\n{"text": "' + BROKEN + b'"}\n',
        {},
        ["a.jsonl, line 2, byte 26", "not valid utf-8", "--encoding", "--errors"],
    ),
    ("a.txt.gz", gzip.compress(b"elk\n" + BROKEN), {}, ["a.txt.gz, line 2, byte 4", "not valid utf-8"]),
    ("a.txt", "elk".encode("utf-16") + b"x", {"encoding": "utf-16"}, ["a.txt, byte 8", "b'x'", "utf-16", "--encoding"]),
    ("a.txt", b"elk\n\xe4", {"encoding": "ascii"}, ["a.txt, line 2, byte 4", "not valid ascii"]),
    ("a.txt", "elk", {"encoding": "klingon"}, ["no encoding 'klingon'", "use utf-8, latin-1"]),
    ("a.txt", "elk", {"encoding": "base64"}, ["no encoding 'base64'", "use utf-8, latin-1"]),
    ("a.txt", "elk", {"errors": "hide"}, ["errors is 'hide'", "use one of strict, replace, ignore"]),
    ("a.txt", "elk dog".encode("utf-16"), {}, ["a.txt: begins as a file in utf-16 does", "--encoding utf-16"]),
    ("a.csv", "text\nelk".encode("utf-32"), {}, ["a.csv: begins", "--encoding utf-32"]),
    ("a.txt", "elk dog".encode("utf-16-le"), {}, ["a.txt", "full of zero bytes", "--encoding utf-16-le"]),
    ("a.jsonl", '{"text": "elk"}'.encode("utf-16-be"), {}, ["full of zero bytes", "--encoding utf-16-be"]),
    # JSON
    ("a.jsonl", '{"text": "elk"}\n[1]\n', {}, ["line 2: holds a list, not an object", "write one object a line"]),
    ("a.jsonl", '{"text": "elk"}\n"dog"\n', {}, ["line 2: holds a str, not an object", "write one object a line"]),
    ("a.jsonl", '{"text": "elk"}\n\nnot json\n', {}, ["line 3: not valid JSON", "character 1", "one object a line"]),
    ("a.jsonl", '{"text": "elk"} {"text": "dog"}\n', {}, ["line 1: holds more than one value", "one object a line"]),
    ("a.jsonl", '{"text": "elk"}\n{"text": "dog\n"}\n', {}, ["line 2: not valid JSON", "write one object a line"]),
    ("a.jsonl", '{"text": "elk"},\n', {}, ["line 1: holds more than one value"]),
    ("a.jsonl", '[{"text": "elk"}]', {}, ["line 1: holds a list, not an object", "write one object a line"]),
    ("a.json", '[{"text": "elk"}, {"text": "dog"}', {}, ["a.json: its array does not end", "cut off", "again"]),
    ("a.json", '[{"text": "elk"}] {"text": "dog"}', {}, ["a.json: goes on after the end of its array"]),
    (
        "a.json",
        '[{"text": "elk"}, {"text": elk}]',
        {},
        ["a.json, object 2: not valid JSON", "character 10", "array of"],
    ),
    ("a.json", '{\n"text": "elk', {}, ["a.json, object 1: not valid JSON", "Unterminated string"]),
    ("a.json", '["elk", "dog"]', {}, ["a.json, object 1: holds a str, not an object"]),
    ("a.json", "[]", {}, ["a.json", "no line with a document"]),
    ("a.json", "[" * 200_000, {}, ["a.json, object 1: not valid JSON"]),
    ("a.json", "elk", {}, ["a.json, line 1: not valid JSON", "write one object a line"]),
    ("a.jsonl", '{"text": ' + "[" * 200_000, {}, ["line 1: not valid JSON", "write one object a line"]),
    ("a.jsonl", '{"text": ' + "1" * 5_000 + "}", {}, ["line 1: not valid JSON", "write one object a line"]),
    ("a.jsonl", '{"text": "elk"}\n{"text": {"key": "red fox"}}\n', {}, ["line 2: 'text' is a nested object, not text"]),
    ("a.jsonl", '{"text": ["elk", {"key": "red"}]}\n', {}, ["line 1: 'text' is a nested object", "--text"]),
    ("a.jsonl", '{"text": "elk"}\n{"text": true}\n', {}, ["line 2: 'text' is true or false, not text"]),
    # CSV
    ("a.csv", "text,text\nelk,1\n", {"text": "text"}, ["a.csv: there are 2 columns 'text'", "rename all but one"]),
    (
        "a.csv",
        ",".join(f"c{n}" for n in range(100_000)) + "\n",
        {},
        ["none has a usual name", "c18, c19 and 99,980 more"],
    ),
    ("a.csv", "text,id\nelk,1\ndog,2,3\n", {}, ["a.csv, line 3: has 3 columns where the first line has 2", "quote"]),
    ("a.csv", 'text,id\n"elk\ndog",1\ncat\n', {}, ["a.csv, line 4: has 1 columns where the first line has 2"]),
    ("a.csv", 'text,id\n"elk,1\ndog,2\ncat,3\n', {}, ["a.csv, line 2 to 4: not valid CSV", "quote fields with"]),
    ("a.csv", 'text,id\nelk,1\n"dog"x,2\n', {}, ["a.csv, line 3: not valid CSV", "double each quote inside"]),
    ("a.csv", 'text,id\n"elk,1\ndog,2\n', {}, ["line 2 to 3", "(a quote opens and does not close)", "double each"]),
    ("a.csv", "text,id\nelk\rdog,1\n", {}, ["line 2", "(a carriage return is not in quotes)"]),
    ("a.csv", "text,id\nelk,1\n", {"delimiter": '"'}, ["the delimiter '\"' is no character that can", "give one"]),
    # packed and other binary files
    ("a.jsonl.gz", b"\x1f\x8c" + gzip.compress(b'{"text": "elk"}')[2:], {}, ["neither gzip nor text", "damaged"]),
    ("a.txt.gz", bytes(range(40, 250)) * 40, {}, ["a.txt.gz", "not valid utf-8"]),
    (
        "a.jsonl.gz",
        gzip.compress(b'{"text": "elk"}\n' * 9)[:-9],
        {},
        ["a.jsonl.gz", "it was cut off", "download it again"],
    ),
    ("a.txt.gz", gzip.compress(b"elk\n")[:5], {}, ["a.txt.gz", "it was cut off", "copy or download it again"]),
    ("a.txt.gz", gzip.compress(b"elk\n" * 99)[:-8] + bytes(8), {}, ["a.txt.gz", "is damaged", "download it again"]),
    ("a.txt.gz", gzip.compress(b"elk\n") + b"junk", {}, ["a.txt.gz", "is damaged", "copy or download it again"]),
    ("a.parquet", "PAR1 this is not a table", {}, ["a.parquet", "not a readable parquet file", "write it again"]),
    ("a.npz", "this is no archive", {"vocabulary": VOCABULARY}, ["a.npz", "scipy.sparse.save_npz", "save it so"]),
    # formats
    ("a.doc", "elk", {}, ["a.doc", "does not tell what is in the file", "--format, one of folder, lines, csv"]),
    ("a.txt", "elk", {"format": "word"}, ["no format 'word'", "use one of folder, lines, csv"]),
    ("a.txt", "elk", {"format": "folder"}, ["a.txt", "is a file, not a folder", "give a folder"]),
    # counts
    ("a.ldac", "1 0:1\n", {}, ["a.ldac", "counts without words", "--vocabulary"]),
    ("docword.a.txt", "1\n3\n1\n1 1 1\n", {}, ["docword.a.txt", "counts without words", "--vocabulary"]),
    (
        "a.ldac",
        "1 0:1\n1 3:1\n",
        {"vocabulary": VOCABULARY},
        ["line 2", "term number 3", "from 0 to 2", "give the voc"],
    ),
    ("a.ldac", "1 -1:1\n", {"vocabulary": VOCABULARY}, ["line 1", "term number -1", "from 0 to 2"]),
    ("a.ldac", "1 0:-1\n", {"vocabulary": VOCABULARY}, ["line 1", "a count of -1", "whole numbers from 0"]),
    ("a.ldac", "1 0:1.5\n", {"vocabulary": VOCABULARY}, ["line 1", "not an LDA-C document", "all whole numbers"]),
    ("a.ldac", "1 0:nan\n", {"vocabulary": VOCABULARY}, ["line 1", "not an LDA-C document", "all whole numbers"]),
    ("a.ldac", "1 0:inf\n", {"vocabulary": VOCABULARY}, ["line 1", "not an LDA-C document", "all whole numbers"]),
    ("a.ldac", "1 0:3000000000\n", {"vocabulary": VOCABULARY}, ["line 1", "a count of 3000000000", "to 2147483647"]),
    ("a.ldac", "1 0:99999999999999999999\n", {"vocabulary": VOCABULARY}, ["line 1", "not an LDA-C document"]),
    ("a.ldac", "3 0:1:1 1:0:1\n", {"vocabulary": VOCABULARY}, ["line 1", "not an LDA-C document"]),
    ("a.ldac", "elk dog\n", {"vocabulary": VOCABULARY}, ["line 1", "not an LDA-C document"]),
    ("a.ldac", "3 0:1 1:1\n", {"vocabulary": VOCABULARY}, ["line 1", "says 3 terms but lists 2", "was cut or"]),
    ("docword.a.txt", "1\n4\n1\n1 1 1\n", {"vocabulary": VOCABULARY}, ["says 4 terms", "has 3", "give the vocabulary"]),
    ("docword.a.txt", "1\n4\n0\n", {"vocabulary": VOCABULARY}, ["says 4 terms", "has 3", "give the vocabulary"]),
    (
        "docword.a.txt",
        "1\n3\n1\n1 4 1\n",
        {"vocabulary": VOCABULARY},
        ["line 4", "term number 4", "from 1 to 3", "give"],
    ),
    ("docword.a.txt", "1\n3\n1\n1 1 -1\n", {"vocabulary": VOCABULARY}, ["line 4", "a count of -1", "from 0"]),
    ("docword.a.txt", "1\n3\n2\n1 1 1\n1 2 1.5\n", {"vocabulary": VOCABULARY}, ["line 5", "not three whole numbers"]),
    (
        "docword.a.txt",
        "1\n3\n1\n1 1 nan\n",
        {"vocabulary": VOCABULARY},
        ["line 4", "not three whole numbers", "mend it"],
    ),
    (
        "docword.a.txt",
        "1\n3\n1\n1 1 inf\n",
        {"vocabulary": VOCABULARY},
        ["line 4", "not three whole numbers", "mend it"],
    ),
    ("docword.a.txt", "2\n3\n2\n1 1 1\n2 1\n", {"vocabulary": VOCABULARY}, ["line 5", "not three whole numbers"]),
    ("docword.a.txt", f"1\n3\n1\n1 1 {9**99}\n", {"vocabulary": VOCABULARY}, ["line 4", "not three whole numbers"]),
    ("docword.a.txt", "2\n3\n2\n1 1 1\n3 1 1\n", {"vocabulary": VOCABULARY}, ["line 5", "from 1 to 2", "mend it"]),
    ("docword.a.txt", "2\n3\n2\n2 1 1\n1 1 1\n", {"vocabulary": VOCABULARY}, ["not in order", "sort the lines"]),
    ("docword.a.txt", "1\n3\n2\n1 1 1\n", {"vocabulary": VOCABULARY}, ["says 2 entries", "has 1", "cut off", "again"]),
    ("docword.a.txt", "1\n3\n", {"vocabulary": VOCABULARY}, ["three numbers at the top are missing", "UCI docword"]),
    ("docword.a.txt", "1\nelk\n1\n", {"vocabulary": VOCABULARY}, ["line 2", "not one whole number", "mend it"]),
    ("a.ldac", "1 0:1\n", {"vocabulary": ["elk", "dog", "elk"]}, ["'elk' is both entry 1 and 3", "stand there once"]),
    ("a.txt", "elk\n", {"vocabulary": "none.txt"}, ["none.txt", "the vocabulary cannot be read", "name its file"]),
    # ids
    (
        "a.jsonl",
        '{"text": "elk", "id": 7}\n{"text": "dog", "id": "x"}\n{"text": "cat", "id": 7}\n',
        {},
        ["a.jsonl", "documents 1 and 3 have the same id '7'", "make ids differ", "--id none"],
    ),
]


@pytest.mark.parametrize(("name", "data", "read", "fragments"), FILES, ids=[" ".join(case[3][:2]) for case in FILES])
def test_a_file_with_something_wrong_in_it_is_refused_with_what_to_do(file, name, data, read, fragments):
    path = file(name, data)
    refused(lambda: Corpus.read(path, **read), *fragments)


def test_a_path_with_nothing_there_is_named(tmp_path):
    refused(lambda: Corpus.read(tmp_path / "none.jsonl"), "none.jsonl", "no such file or folder", "check the path")
    refused(lambda: Corpus.read(str(tmp_path / "none")), "none", "no such file or folder", "check the path")


def test_a_folder_without_texts_and_one_read_as_a_file_are_named(tmp_path):
    refused(lambda: Corpus.read(tmp_path), str(tmp_path), "no .txt file", "give one that has some")
    refused(lambda: Corpus.read(tmp_path, format="csv"), "is a folder, not a csv file", "--format folder")


def test_a_broken_file_in_a_folder_is_named_with_the_byte(file):
    file("news/a.txt", "elk")
    path = file("news/b/c.txt", b"dog " + BROKEN)
    message = refused(lambda: Corpus.read(path.parent.parent), "c.txt, byte 4", "utf-8", "--encoding", "--errors")
    assert str(path) in message


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.txt", b"elk\n" + BROKEN),
        ("a.csv", b"text\nelk\n" + BROKEN),
        ("a.jsonl", b'{"text": "elk"}\n{"text": "' + BROKEN + b'"}'),
        ("folder/a.txt", b"elk " + BROKEN),
    ],
)
def test_broken_bytes_can_be_marked_left_out_or_read_in_their_encoding(file, name, data):
    path = file(name, data)
    path = path.parent if "folder" in name else path
    assert Corpus.read(path, encoding="latin-1").vocabulary == ["elk", "äpfel"]
    marked = Corpus.read(path, errors="replace")
    assert marked.vocabulary == ["elk", "pfel"]
    assert "\ufffdpfel" in " ".join(marked.documents.texts)
    left_out = Corpus.read(path, errors="ignore")
    assert left_out.vocabulary == ["elk", "pfel"]
    assert "\ufffd" not in " ".join(left_out.documents.texts)


@pytest.mark.parametrize("size", [2, 3, 5, 8, 1 << 20])
def test_a_broken_byte_of_a_wide_encoding_is_placed_whatever_the_size_of_blocks(file, monkeypatch, size):
    monkeypatch.setattr(diln.corpus.readers.lines, "BLOCK_BYTES", size)
    data = "elk 𐐨\n".encode("utf-16-le")
    wide = {"encoding": "utf-16-le"}
    refused(lambda: Corpus.read(file("a.txt", data + b"\x00\xdcx\0"), **wide), "a.txt, byte 14:")
    refused(lambda: Corpus.read(file("a.txt", data + b"x\0y"), **wide), "a.txt, byte 16:")


def many_records(bad_line, bad):
    lines = [json.dumps({"text": f"elk dog {'x' * number}"}) for number in range(40)]
    lines[bad_line - 1] = bad
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("bad", "fragments"),
    [
        (b"not json", ["line 33: not valid JSON", "one object a line"]),
        (b"[]", ["line 33: holds a list", "one object a line"]),
        (b'{"text": "elk"} {}', ["line 33: holds more than one value"]),
        (b'{"text": "\xff"}', ["line 33, byte ", "--errors"]),
    ],
)
def test_a_wrong_line_in_a_later_block_has_its_number(file, monkeypatch, bad, fragments):
    data = many_records(33, "@").encode().replace(b"@", bad)
    whole = refused(lambda: Corpus.read(file("a.jsonl", data)), *fragments)
    monkeypatch.setattr(diln.corpus.readers.lines, "BLOCK_BYTES", 100)
    assert refused(lambda: Corpus.read(file("a.jsonl", data)), *fragments) == whole
    if b"\xff" in bad:
        assert f"byte {data.index(0xFF)}:" in whole


def test_the_error_is_the_same_on_two_processes(file, monkeypatch):
    monkeypatch.setattr(diln.corpus.readers.lines, "BLOCK_BYTES", 100)
    path = file("a.jsonl", many_records(20, "not json"))
    one, two = (refused(lambda n=n_jobs: Corpus.read(path, n_jobs=n), "line 20: not valid JSON") for n_jobs in (1, 2))
    assert one == two


def test_a_csv_file_in_many_blocks_has_the_line_of_what_is_wrong(file, monkeypatch):
    monkeypatch.setattr(diln.corpus.readers.lines, "BLOCK_BYTES", 16)
    rows = '"elk\ndog",1\n' * 9
    refused(lambda: Corpus.read(file("a.csv", f"text,id\n{rows}cat\n")), "a.csv, line 20: has 1 columns")
    refused(lambda: Corpus.read(file("a.csv", f'text,id\n{rows}"cat\n\n\n')), "a.csv, line 20 to 22: not valid CSV")
    refused(lambda: Corpus.read(file("a.csv", f"text,id\n{rows}".encode() + BROKEN)), "a.csv, line 20, byte 116:")


def test_a_gzip_file_cut_off_or_damaged_anywhere_is_refused(file):
    rng = np.random.default_rng(2)
    lines = [json.dumps({"text": "".join(map(chr, rng.integers(97, 123, 40)))}) for _ in range(200)]
    data = gzip.compress("\n".join(lines).encode())
    for cut in (1, 2, 10, 11, len(data) // 2, len(data) - 1):
        with pytest.raises(SourceError):
            Corpus.read(file("a.jsonl.gz", data[:cut]))
    for place in (len(data) // 3, len(data) // 2, len(data) - 5):
        broken = data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :]
        with pytest.raises(SourceError):
            Corpus.read(file("a.jsonl.gz", broken))


def test_what_a_damaged_gzip_file_unpacks_to_is_not_blamed(file):
    rng = np.random.default_rng(2)
    lines = [json.dumps({"text": "".join(map(chr, rng.integers(97, 123, 40)))}) for _ in range(2000)]
    data = gzip.compress("\n".join(lines).encode(), 0)  # stored as it is: every byte changed is one of a line
    for place in (100, len(data) - 200):
        broken = data[:place] + b"\x07" + data[place + 1 :]
        for name in ("a.jsonl.gz", "a.txt.gz"):
            path = file(name, broken)
            refused(lambda path=path: Corpus.read(path), "gz: the gzip file is damaged", "copy or download")


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv", "a.json", "a.txt.gz"])
def test_a_line_or_row_without_an_end_is_refused_before_it_fills_the_memory(file, monkeypatch, name):
    for module in (diln.corpus.readers.lines, diln.corpus.readers.table, diln.corpus.readers.json_values):
        monkeypatch.setattr(module, "LONGEST", 1000)
        monkeypatch.setattr(module, "BLOCK_BYTES", 100)
    head = {"a.jsonl": '{"text": "', "a.json": '[{"text": "', "a.csv": 'text\n"'}.get(name, "")
    data = head + ("elk\n" if "csv" in name else "elk ") * 1000
    message = refused(lambda: Corpus.read(file(name, gzip.compress(data.encode()) if "gz" in name else data)), name)
    assert "256 MB" in message


def test_values_within_values_without_an_end_are_refused(file):
    deep = "[" * 900 + '"elk"' + "]" * 900
    for record in ({"text": "@"}, {"text": "elk", "title": "@"}):
        data = json.dumps(record).replace('"@"', deep)
        try:
            assert Corpus.read(file("a.jsonl", data)).vocabulary == ["elk"]
        except SourceError as error:
            assert "too many lists in lists" in str(error) or "not valid JSON" in str(error)


def test_documents_without_ids_are_named(file):
    data = '{"text": "elk", "id": ""}\n{"text": "dog"}\n'
    refused(lambda: Corpus.read(file("a.jsonl", data)), "documents 1 and 2 have no id; give every document one", "none")


def test_a_parquet_file_with_values_that_are_no_text_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [{"key": "red"}]}), path)
    refused(lambda: Corpus.read(path), "a.parquet, row 1: 'text' is a nested object, not text")
    pq.write_table(pa.table({"text": pa.array([[("key", "red")]], pa.map_(pa.string(), pa.string()))}), path)
    refused(lambda: Corpus.read(path), "a.parquet: column 'text' is a map, not text")
    broken = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(np.array([0, 2], np.int32)), pa.py_buffer(b"\xff\xfe")]
    )
    pq.write_table(pa.table({"text": broken}), path)
    refused(lambda: Corpus.read(path), "a.parquet: column 'text' has values that cannot be read", "write it again")


@pytest.mark.parametrize("name", ["a\0b.txt", "a" * 5000 + ".txt"])
def test_a_path_that_can_be_none_is_refused(name):
    refused(lambda: Corpus.read(name), "cannot be read", "check the path")


def test_a_parquet_file_damaged_inside_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [f"elk {number}" for number in range(500)]}), path, compression="gzip")
    data = bytearray(path.read_bytes())
    data[4:400] = bytes(396)
    path.write_bytes(data)
    refused(lambda: Corpus.read(path), "a.parquet", "the parquet file is damaged", "write it again")
    path.write_bytes(data[: len(data) // 2])
    refused(lambda: Corpus.read(path), "a.parquet", "not a readable parquet file", "write it again")


def test_a_parquet_file_without_a_text_column_is_refused(tmp_path):
    pq.write_table(pa.table({"a": ["elk"], "b": ["dog"]}), tmp_path / "a.parquet")
    refused(lambda: Corpus.read(tmp_path / "a.parquet"), "which column holds the text?", "--text", "are a, b")


BAD_COUNTS = [
    ([[1, -1, 0]], ["Negative values in data, such as -1", "counts are whole numbers from 0 on"]),
    ([[1, 0.5, 0]], ["has a fractional value (0.5)", "give raw counts", "CountVectorizer"]),
    ([[1, np.nan, 0]], ["NaN or infinite", "put 0 where a term does not occur"]),
    ([[1, np.inf, 0]], ["NaN or infinite", "put 0 where a term does not occur"]),
    ([[1, 2**31, 0]], ["a count of 2147483648", "the largest that can be held is 2147483647"]),
    ([[1, 1]], ["has 2 columns but the vocabulary has 3 terms", "give the vocabulary that belongs"]),
]


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize(("X", "fragments"), BAD_COUNTS)
def test_a_matrix_that_holds_no_counts_is_refused(kind, X, fragments):
    refused(lambda: Corpus.from_matrix(kind(X), VOCABULARY), "matrix", *fragments)


def test_a_saved_matrix_that_holds_no_counts_or_has_another_vocabulary_is_named(tmp_path):
    path = tmp_path / "a.npz"
    sparse.save_npz(path, sparse.csr_array([[0.5, 1, 2]]))
    refused(lambda: Corpus.read(path, vocabulary=VOCABULARY), "a.npz", "fractional", "raw counts")
    sparse.save_npz(path, sparse.csr_array([[1, 1, 2]]))
    refused(lambda: Corpus.read(path, vocabulary=["elk"]), "a.npz", "3 columns", "1 terms", "give the voc")
    refused(lambda: Corpus.read(path), "a.npz", "counts without words", "--vocabulary")


@pytest.mark.parametrize(
    "X",
    [
        np.array([1, 2, 3]),
        sparse.coo_array(np.array([1, 2, 3])),
        np.zeros((1, 3, 1)),
        np.array([["a", "b", "c"]]),
        np.array([[1, 2, "x"]], object),
        sparse.csr_array(np.array([[1j, 0, 0]])),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(X):
    refused(lambda: Corpus.from_matrix(X, VOCABULARY), "counts must be a table of numbers", "a document a row")


def test_a_matrix_without_documents_or_counts_is_refused():
    refused(lambda: Corpus.from_matrix(np.zeros((0, 3), int), VOCABULARY), "there is no document in it")
    refused(lambda: Corpus.from_matrix(np.zeros((2, 3), int), VOCABULARY), "no document has a token")


@pytest.mark.parametrize(
    ("bag", "fragments"),
    [
        ([(0, -1)], ["Negative values in data, such as -1", "whole numbers from 0 on"]),
        ([(0, 0.5)], ["has a fractional value (0.5)", "give raw counts"]),
        ([(0, float("nan"))], ["NaN or infinite"]),
        ([(0, float("inf"))], ["NaN or infinite"]),
        ([(0, 10**30)], ["the largest that can be held"]),
        ([(0, "x")], ["values of type", "counts are whole numbers"]),
        ([(3, 1)], ["term number 3", "dictionary has 3 terms", "give the dictionary that belongs"]),
        ([(-1, 1), (0, 1)], ["term number -1", "dictionary has 3 terms"]),
    ],
)
def test_a_bag_of_words_that_holds_no_counts_is_refused(bag, fragments):
    refused(lambda: Corpus.from_bow([[(1, 1)], bag], dict(enumerate(VOCABULARY))), "bag of words", *fragments)


def test_a_dictionary_with_gaps_or_of_another_kind_is_refused():
    refused(lambda: Corpus.from_bow([[(0, 1)]], {0: "elk", 2: "dog"}), "dictionary", "gaps", "renumber", "compactify()")
    refused(lambda: Corpus.from_bow([[(0, 1)]], {0: "elk", 1: "elk"}), "'elk' is both entry 1 and 2")
    refused(lambda: Corpus.from_bow([[(0, 1)]], ["elk"]), "dictionary is a list", "give gensim's", error=TypeError)


@pytest.mark.parametrize(
    ("texts", "fragments"),
    [
        ("elk dog", ["texts is one str", "give a list", "with a string a document"]),
        (b"elk", ["texts is one bytes", "give a list"]),
        ({"text": ["elk"]}, ["texts is one dict", "give a list"]),
        (pd.DataFrame({"text": ["elk"]}), ["texts is one DataFrame", "from_frame"]),
        (pl.DataFrame({"text": ["elk"]}), ["texts is one DataFrame", "from_frame"]),
        (["elk", None], ["document 1 is a NoneType, not a string", "put '' where there is no text"]),
        (["elk", ["dog"]], ["document 1 is a list, not a string", "lists of tokens to from_tokens"]),
        ([b"elk"], ["document 0 is a bytes, not a string", "give strings to from_texts"]),
    ],
)
def test_what_is_no_list_of_strings_is_refused(texts, fragments):
    refused(lambda: Corpus.from_texts(texts), *fragments, error=TypeError)


@pytest.mark.parametrize("tokens", ["elk", ["elk", "dog"], [["elk", 5]], [None], [{"elk"}]])
def test_what_is_no_list_of_token_lists_is_refused(tokens):
    refused(lambda: Corpus.from_tokens(tokens), "is not a list of strings", "give lists of tokens", error=TypeError)


MAKERS = [
    lambda **fields: Corpus.from_texts(["elk", "dog", "cat"], **fields),
    lambda **fields: Corpus.from_tokens([["elk"], ["dog"], ["cat"]], **fields),
    lambda **fields: Corpus.from_matrix(np.eye(3, dtype=int), VOCABULARY, **fields),
]


@pytest.mark.parametrize("make", MAKERS, ids=["texts", "tokens", "matrix"])
@pytest.mark.parametrize("name", ["ids", "titles", "dates", "labels"])
def test_fields_must_be_as_many_as_documents(make, name):
    refused(lambda: make(**{name: ["a", "b"]}), f"{name}: there are fewer of them than documents", "give one for each")
    refused(lambda: make(**{name: list("abcd")}), f"{name}: there are more of them than documents", "give one for each")
    refused(lambda: make(**{name: ["a", "b", "c", None]}), f"{name}: there are more of them than documents")


@pytest.mark.parametrize("make", MAKERS, ids=["texts", "tokens", "matrix"])
def test_ids_that_stand_twice_are_named(make):
    refused(lambda: make(ids=["x", "y", "x"]), "documents 1 and 3 have the same id 'x'", "make ids differ")


def test_ids_that_stand_twice_can_be_left_out(file, monkeypatch):
    rows = "".join(f"elk,{number}\n" for number in range(30))
    path = file("a.csv", f"text,id\n{rows}dog,7\n")
    for size in (1 << 20, 64):
        monkeypatch.setattr(diln.corpus.readers.lines, "BLOCK_BYTES", size)
        refused(lambda: Corpus.read(path), "a.csv", "documents 8 and 31 have the same id '7'", "--id none")
    assert Corpus.read(path, id="none", max_df=1.0).documents.ids == [str(n) for n in range(1, 32)]
    frame = pd.DataFrame({"text": ["elk", "dog"], "id": [1, 1]})
    refused(lambda: Corpus.from_frame(frame), "pandas frame", "same id '1'")
    assert Corpus.from_frame(frame, id="none").documents.ids == ["0", "1"]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_frame_without_a_text_column_lists_its_columns(frame):
    table = frame({"a": ["elk"], "b": ["dog"]})
    refused(lambda: Corpus.from_frame(table), "frame: which column holds the text?", "text=", "the columns are a, b")
    refused(lambda: Corpus.from_frame(table, text="c"), "no column 'c' for the text", "the columns are a, b")
    refused(lambda: Corpus.from_frame(table, text=["a", "c"]), "no column 'c' for the text")
    refused(lambda: Corpus.from_frame(frame({"text": []})), "there is no document in it")


def test_a_frame_with_a_column_twice_is_refused():
    frame = pd.DataFrame([["elk", "dog"]], columns=["text", "text"])
    refused(lambda: Corpus.from_frame(frame, text="text"), "there are 2 columns 'text'", "rename all but one")
    refused(lambda: Corpus.from_frame(frame), "there are 2 columns 'text'", "rename all but one")


@pytest.mark.parametrize(
    "frame", [["elk"], {"text": ["elk"]}, "elk", pd.Series(["elk"]), pl.LazyFrame({"text": ["elk"]}), None]
)
def test_what_is_no_frame_is_refused(frame):
    refused(lambda: Corpus.from_frame(frame), "frame is a ", "give a DataFrame of pandas or polars", error=TypeError)


def test_limits_that_leave_no_term_say_how_many_there_were():
    refused(lambda: Corpus.from_texts(["elk", "dog"], min_df=2), "none of its 2 terms", "lower min_df or raise max_df")
    refused(lambda: Corpus.from_texts(["elk"], min_tokens=2), "no document has a token", "lower min_df, min_tokens")
    refused(lambda: Corpus.from_texts(itertools.repeat("", 3)), "3 documents have no usable token")
    refused(lambda: Corpus.from_texts([]), "there is no document in it", "give a source with documents")


@pytest.mark.parametrize("line", ["1 3 2", "2 0 1 1 2", "1 0"])
def test_ldac_without_colons_is_refused(file, line):
    refused(lambda: Corpus.read(file("a.ldac", f"{line}\n"), vocabulary=list("abcdef")), "a.ldac, line 1", "term:count")


def test_counts_that_add_up_to_too_much_are_refused(file):
    path = file("a.ldac", "2 0:2147483647 0:2\n")
    refused(lambda: Corpus.read(path, vocabulary=["elk"]), "a.ldac", "the largest that can be held")


@pytest.mark.parametrize("head", ["-1", "99999999999"])
def test_an_impossible_number_of_documents_is_refused(file, head):
    path = file("docword.a.txt", f"{head}\n1\n1\n1 1 1\n")
    refused(lambda: Corpus.read(path, vocabulary=["elk"]), "docword.a.txt, line 1")


@pytest.mark.parametrize("delimiter", [";;", ""])
def test_a_delimiter_is_one_character(file, delimiter):
    refused(lambda: Corpus.read(file("a.csv", "text\nelk\n"), delimiter=delimiter or "ab"), "not one character")


def test_a_delimiter_can_be_named():
    assert _one_character("\\t") == _one_character("tab") == "\t"


def test_bytes_and_arrays_in_a_cell_are_text():
    assert as_text("café".encode()) == "café"
    assert as_text(np.array(["red"] * 1200)).count("red") == 1200
    assert as_text(np.float64(1999.0)) == as_text(np.int64(1999)) == "1999"


def npz(path, **arrays):
    """An archive of these arrays; bytes go in as they are."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            data = BytesIO()
            np.save(data, array) if not isinstance(array, bytes) else data.write(array)
            archive.writestr(f"{name}.npy", data.getvalue())
    return path


def csr_parts(**others):
    """A matrix of one document and three terms as SciPy saves it, some of it otherwise."""
    return {
        "format": np.array(b"csr"), "shape": np.array([1, 3]), "data": np.array([1, 2]), "indices": np.array([0, 2]),
        "indptr": np.array([0, 2]), **others,
    }  # fmt: skip


def header(shape, descr="<i8"):
    data = BytesIO()
    np.lib.format.write_array_header_1_0(data, {"descr": descr, "fortran_order": False, "shape": shape})
    return data.getvalue()


@pytest.mark.parametrize(
    ("others", "fragments"),
    [
        ({"indices": np.array([0, 10**8])}, ["not a sound sparse matrix", "indices must be < 3"]),
        ({"indices": np.array([0, -1])}, ["not a sound sparse matrix", "indices must be >= 0"]),
        ({"indptr": np.array([0, 9])}, ["not a sparse matrix of scipy.sparse.save_npz (ValueError)"]),
        ({"indptr": np.array([1, 2])}, ["not a sparse matrix"]),
        ({"shape": np.array([10**15, 3])}, ["not a sparse matrix"]),
        ({"shape": np.array([1, 10**15])}, ["columns; at most"]),
        ({"format": np.array(b"csc"), "shape": np.array([10**15, 1])}, ["1,000,000,000,000,000 rows", "leave out"]),
        ({"format": np.array(b"zip")}, ["not a sparse matrix"]),
        ({"format": np.array(3)}, ["not a sparse matrix"]),
        ({"data": np.array(["a", "b"])}, ["counts must be a table of numbers"]),
        ({"data": np.array([1j, 2])}, ["counts must be a table of numbers"]),
        ({"data": header((10**15,))}, ["'data.npy' in it says 8,000,000,000,000", "and has"]),
        ({"data": header((2,), "|O") + b"pickle"}, ["'data.npy' in it holds values of type object"]),
        ({"data": b"\x93NUMPY"}, ["'data.npy' in it is not a .npy file"]),
        ({"data": np.zeros(10**8, np.int8)}, ["unpacks to 100,", "far more than a matrix"]),
        ({"data": np.array(5)}, ["not a sparse matrix"]),
    ],
)
def test_a_saved_matrix_whose_parts_do_not_fit_is_refused(tmp_path, others, fragments):
    path = npz(tmp_path / "a.npz", **csr_parts(**others))
    refused(lambda: Corpus.read(path, vocabulary=VOCABULARY), "a.npz", *fragments)


@pytest.mark.parametrize("size", [1, 30, 200, -1])
def test_a_saved_matrix_that_was_cut_off_is_refused(tmp_path, size):
    path = npz(tmp_path / "a.npz", **csr_parts())
    path.write_bytes(path.read_bytes()[:size])
    refused(lambda: Corpus.read(path, vocabulary=VOCABULARY), "a.npz", "not a sparse matrix")


def test_a_saved_matrix_comes_in_as_it_was(tmp_path):
    path = npz(tmp_path / "a.npz", **csr_parts())
    np.testing.assert_array_equal(Corpus.read(path, vocabulary=VOCABULARY).counts.toarray(), [[1, 0, 2]])


@pytest.mark.parametrize("entries", ["", "1 1 1\n", "1 1 1\n2000000000 1 1\n"])
def test_documents_that_a_docword_file_only_speaks_of_take_no_memory(tmp_path, entries):
    path = tmp_path / "docword.txt"
    path.write_text(f"2000000000\n3\n{entries.count(chr(10))}\n{entries}")
    refused(lambda: Corpus.read(path, format="uci", vocabulary=VOCABULARY), "docword", "documents but", "leave out")


@pytest.mark.parametrize("option", ["vocabulary", "stop_words"])
@pytest.mark.parametrize("name", ["\ud800", "a\0b"])
def test_a_name_that_no_file_can_have_is_refused_as_any_other(tmp_path, option, name):
    (tmp_path / "a.txt").write_text("red fox")
    with pytest.raises(SourceError):
        Corpus.read(tmp_path / "a.txt", **{option: name})


def test_a_column_named_by_a_number_is_missed_as_any_other(tmp_path):
    (tmp_path / "a.csv").write_text("text,id\nred fox,1\n")
    with pytest.raises(SourceError, match="there is no column '3' for the text"):
        Corpus.read(tmp_path / "a.csv", text=[3])


def test_counts_of_many_types_beside_a_huge_one_are_compared_without_a_warning():
    with pytest.raises(SourceError, match="bag of words: has a"):
        Corpus.from_bow([[(0, 10**30), (1, np.float32(2))]], {0: "a", 1: "b"})


WINDOWS = "\u201cElk\u201d \u2013 caf\u00e9 \u20ac5\u2026".encode("cp1252")
FILES = {
    "a.txt": b"%b\n",
    "a.csv": b"text\n%b\n",
    "a.jsonl": b'{"text": "%b"}\n',
    "folder/a.txt": b"%b\n",
    "a.txt.gz": b"%b\n",
}


def written(file, name, content):
    data = FILES[name].replace(b"%b", content)
    path = file(name, gzip.compress(data) if name.endswith(".gz") else data)
    return path.parent if "folder" in name else path


@pytest.mark.parametrize("name", FILES)
def test_text_of_windows_is_told_its_encoding(file, name):
    path = written(file, name, WINDOWS)
    with pytest.raises(
        SourceError, match="if it comes from Windows or Excel, pass --encoding cp1252, or pass --errors"
    ):
        Corpus.read(path)
    assert Corpus.read(path, encoding="cp1252").vocabulary == ["café", "elk"]


@pytest.mark.parametrize("text", ["これは日本語の文章です", "Привет, как дела"], ids=["shift_jis", "cp1251"])
def test_text_of_other_scripts_is_not_told_to_be_of_windows(file, text):
    codec = "shift_jis" if "は" in text else "cp1251"
    with pytest.raises(SourceError, match="for example --encoding gb18030, shift_jis or cp1251"):
        Corpus.read(file("a.txt", text.encode(codec)))


@pytest.mark.parametrize("name", FILES)
def test_control_characters_of_latin_1_are_warned_of_once(file, name):
    path = written(file, name, WINDOWS)
    with pytest.warns(DilnWarning, match="has control characters as latin-1, such as byte b'.x9[34]'.*cp1252") as seen:
        Corpus.read(path, encoding="latin-1")
    assert len(seen) == 1
    clean = written(file, name, BROKEN)
    assert Corpus.read(clean, encoding="latin-1").vocabulary == ["äpfel"]
