"""A corpus on disk whose checksums are right and whose content is not: a sentence, whatever is in it."""

import json

import numpy as np
import pytest

from diln.corpus import Corpus, append
from diln.corpus.in_memory import TextsSource
from diln.errors import StoreError
from mending import mend, read_manifest, write_manifest

TEXTS = ["red fox red dog", "dog cat", "", "süß fox cat cat", "elk"]


@pytest.fixture
def folder(tmp_path):
    corpus = Corpus.from_texts(TEXTS, titles=["A", "Bé", "", "D", "E"], stop_words=None, min_df=1)
    corpus.save(tmp_path / "corpus")
    return tmp_path / "corpus"


def shard_of(folder):
    return folder / read_manifest(folder)["shards"][0]["name"]


def rewrite(folder, name, array, *, told=True):
    """Put another array in the place of one, and have the manifest agree."""
    np.save(shard_of(folder) / f"{name}.npy", array)
    if told:
        manifest = read_manifest(folder)
        manifest["shards"][0]["files"][f"{name}.npy"] |= {"dtype": array.dtype.str, "shape": list(array.shape)}
        (folder / "manifest.json").write_text(json.dumps(manifest))
    mend(folder)


def array_of(folder, name):
    return np.load(shard_of(folder) / f"{name}.npy")


def look(folder):
    """Use all that a corpus has."""
    corpus = Corpus.open(folder)
    return corpus.counts, corpus.n_tokens, list(corpus.documents), corpus.document_frequency


def refused(folder, *fragments):
    for use in (look, lambda path: Corpus.open(path, check=True)):
        with pytest.raises(StoreError, match="the corpus is damaged: build it again") as raised:
            use(folder)
        for fragment in fragments:
            assert fragment in str(raised.value)
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "place", "value", "fragment"),
    [
        ("offsets", 0, 1, "without a step back"),
        ("offsets", -1, 10**9, "without a step back"),
        ("offsets", 1, 10**9, "without a step back"),
        ("offsets", 2, -5, "without a step back"),
        ("terms", 0, 77, "has term number 77, and there are 6 terms"),
        ("terms", 0, 2**32 - 1, "has term number 4294967295"),
        ("terms", 1, 0, "terms do not ascend"),
        ("counts", 0, 0, "has a count that is not from 1 to"),
        ("counts", 0, 2**31, "has a count that is not from 1 to"),
        ("counts", 0, 5, "tokens in place of"),
        ("id.offsets", 1, 10**9, "without a step back"),
        ("id.offsets", 1, -1, "without a step back"),
        ("title.offsets", 1, 3, "begins amid a character"),
        ("title", 0, 0xFF, "is not utf-8"),
        ("id", 1, ord("0"), "has an id twice"),
    ],
)
def test_what_points_outside_or_breaks_a_promise_is_refused(folder, name, place, value, fragment):
    array = array_of(folder, name).astype(np.int64)
    if fragment == "begins amid a character":
        place, value = 2, array[2] - 1
    array[place] = value
    types = {"terms": np.uint32, "counts": np.uint32, "id": np.uint8, "title": np.uint8}
    rewrite(folder, name, array.astype(types.get(name, np.int64)))
    refused(folder, fragment)


@pytest.mark.parametrize("name", ["offsets", "terms", "counts", "id", "id.offsets"])
@pytest.mark.parametrize("dtype", ["<f8", "<i4", "|S3", "|b1", "<c16", "<M8[s]"])
def test_arrays_of_another_type_are_refused(folder, name, dtype):
    rewrite(folder, name, np.zeros(len(array_of(folder, name)), dtype))
    refused(folder, "which it cannot be")


@pytest.mark.parametrize("name", ["offsets", "terms", "counts", "title", "title.offsets"])
@pytest.mark.parametrize("change", [lambda a: a[:-1], lambda a: np.append(a, a[-1:]), lambda a: a[:0]])
def test_arrays_of_another_length_are_refused(folder, name, change):
    rewrite(folder, name, change(array_of(folder, name)))
    refused(folder)


def test_an_array_that_is_not_what_the_manifest_says_is_refused(folder):
    rewrite(folder, "counts", array_of(folder, "counts").astype(np.uint32), told=False)
    refused(folder, "counts.npy", "type <u4")
    rewrite(folder, "counts", array_of(folder, "counts").reshape(1, -1))
    refused(folder, "counts.npy", "shape (1, ")


@pytest.mark.parametrize(
    "shape", ["(1000000000000000,)", "(-1,)", "(2, 4611686018427387904)", "'x'", "(1.5,)", "(" * 3000]
)
def test_a_header_that_promises_what_is_not_there_takes_no_memory(folder, shape):
    text = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}".ljust(118) + "\n"
    data = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()
    (shard_of(folder) / "counts.npy").write_bytes(data)
    mend(folder)
    refused(folder, "counts.npy")


def test_pickles_and_what_is_no_array_are_refused(folder):
    np.save(shard_of(folder) / "counts.npy", np.array([{}, 1], object), allow_pickle=True)
    mend(folder)
    refused(folder, "counts.npy", "holds values of type object")
    (shard_of(folder) / "counts.npy").write_bytes(b"")
    mend(folder)
    refused(folder, "counts.npy", "is not a .npy file")


@pytest.mark.parametrize(
    "terms",
    [
        ["cat", "cat", "dog", "elk", "red"], ["", "b", "c", "d", "e"], [1, 2, 3, 4, 5], {"a": 1}, "abcde", None,
        ["cat"], [["a"], "b", "c", "d", "e"],
    ],
)  # fmt: skip
def test_a_vocabulary_that_is_none_is_refused(folder, terms):
    (folder / read_manifest(folder)["vocabulary"]["file"]).write_text(json.dumps(terms))
    mend(folder)
    refused(folder, "vocabulary.json")


@pytest.mark.parametrize("data", [b"", b"[", b"\xff", b"[" * 100_000])
def test_a_vocabulary_that_is_no_json_is_refused(folder, data):
    (folder / read_manifest(folder)["vocabulary"]["file"]).write_bytes(data)
    mend(folder)
    refused(folder, "vocabulary.json")


def test_a_shard_that_is_there_twice_is_refused(folder):
    manifest = read_manifest(folder)
    manifest["shards"] *= 2
    manifest["documents"] *= 2
    manifest["tokens"] *= 2
    write_manifest(folder, manifest)
    refused(folder, "has a shard twice")


def test_documents_are_not_added_to_a_damaged_corpus(folder):
    array = array_of(folder, "id")
    array[1] = array[0]
    rewrite(folder, "id", array)
    with pytest.raises(StoreError, match="has an id twice"):
        append(TextsSource(["fox"], {}), folder)


def test_what_was_looked_at_is_not_looked_at_again(folder, monkeypatch):
    corpus = Corpus.open(folder)
    before = corpus.n_tokens, list(corpus.documents)
    monkeypatch.setattr("diln.corpus.store.check_rows", None)
    monkeypatch.setattr("diln.corpus.store.check_strings", None)
    corpus._shards.mapped.clear()  # as after many other shards
    assert (int(corpus.counts.sum()), list(corpus.documents)) == before
