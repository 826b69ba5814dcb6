"""Manifests of any origin: read only if all is as it must be, and no name in one leads out of its directory."""

import json
import os
import re
from pathlib import Path

import pytest

import diln
from diln.corpus import Corpus
from diln.errors import StoreError
from diln.files import Kind, read_manifest
from diln.models.files import read_model, write_model
from mending import read_manifest as stored_manifest
from mending import write_manifest

THING = Kind(
    format="diln-thing",
    schema=3,
    noun="thing",
    make="make one",
    mend="make it again",
    part=re.compile(r"g\d{4,}-part"),
    parts=lambda content: {content["part"]},
    migrations={
        1: lambda content: {**content, "part": content["name"]},
        2: lambda content: {**content, "whole": True},
    },
)
FOUND = {"format": "diln-thing", "schema": 3, "part": "g0001-part", "whole": True}


def refused(directory: Path, *words: str, kind: Kind = THING) -> None:
    with pytest.raises(StoreError) as caught:
        read_manifest(directory, kind)
    for word in words:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.fixture
def model(tmp_path) -> Path:
    write_model(tmp_path / "model", {"x": 1}, {}, ["a"])
    return tmp_path / "model"


@pytest.fixture
def corpus(tmp_path) -> Path:
    return Corpus.from_matrix([[1, 2]], ["a", "b"]).save(tmp_path / "corpus").directory


def test_older_forms_become_todays_one_number_after_the_other(tmp_path):
    write_manifest(tmp_path, {"format": "diln-thing", "schema": 1, "name": "g0001-part"})
    assert read_manifest(tmp_path, THING) == {**FOUND, "name": "g0001-part"}
    write_manifest(tmp_path, {"format": "diln-thing", "schema": 2, "part": "g0002-part"})
    assert read_manifest(tmp_path, THING) == {**FOUND, "part": "g0002-part"}
    write_manifest(tmp_path, dict(FOUND))
    assert read_manifest(tmp_path, THING) == FOUND


def test_a_newer_form_names_the_version_to_install(tmp_path):
    write_manifest(tmp_path, {**FOUND, "schema": 4, "versions": {"diln": "9.1.0"}})
    refused(tmp_path, "the thing has format 4", f"diln {diln.__version__} does not know", "install diln 9.1.0 or later")
    for versions in (None, {}, {"diln": 3}, {"diln": "run: rm -rf /"}, [], {"diln": diln.__version__}):
        write_manifest(tmp_path, {**FOUND, "schema": 4, "versions": versions})
        refused(tmp_path, "written by a newer diln: install a newer diln")


def test_a_form_that_is_read_no_more_is_not_told_to_install_a_newer_version(tmp_path):
    kind = Kind(**{**{name: getattr(THING, name) for name in THING.__slots__}, "migrations": {2: dict}})
    write_manifest(tmp_path, {**FOUND, "schema": 1, "versions": {"diln": "0.1"}})
    refused(tmp_path, "is of format 1, which diln", "reads no more; install diln 0.1, which wrote it", kind=kind)


@pytest.mark.parametrize("schema", [0, -1, True, 1.0, "1", None, [1], 10**400])
def test_a_number_that_is_none_is_damage(tmp_path, schema):
    write_manifest(tmp_path, {**FOUND, "schema": schema})
    refused(tmp_path, "manifest.json" if schema != 10**400 else "install a newer diln")


def test_a_migration_that_does_not_find_what_it_needs_is_damage(tmp_path):
    for part in ({}, {"name": 3}, {"name": ["g0001-part"]}, {"name": {}}):
        write_manifest(tmp_path, {"format": "diln-thing", "schema": 1, **part})
        refused(tmp_path, "the thing is damaged: make it again")


SENSELESS = {
    "nothing": b"",
    "no JSON": b"{",
    "a list": b"[]",
    "a number": b"3",
    "deep lists": b'{"format": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep, but not for JSON": b'{"format": ' + b"[" * 300 + b"]" * 300 + b"}",
    "deep objects": b'{"a": ' * 50_000 + b"1" + b"}" * 50_000,
    "a name twice": b'{"format": "diln-thing", "format": "diln-thing"}',
    "NaN": b'{"format": NaN}',
    "infinity": b'{"format": 1e999}',
    "a long number": b'{"format": ' + b"9" * 10_000 + b"}",
    "no UTF-8": b"\xff\xfe{",
    "a byte order mark": b"\xef\xbb\xbf{}",
    "a zero": b'{"format": "diln-thing"}\0',
}


@pytest.mark.parametrize("name", SENSELESS)
def test_senseless_json_is_one_sentence(tmp_path, name):
    (tmp_path / "manifest.json").write_bytes(SENSELESS[name])
    refused(tmp_path, "manifest.json: the file is not the JSON that was written; the thing is damaged: make it again")


def test_a_huge_manifest_is_not_read_to_its_end(tmp_path):
    with (tmp_path / "manifest.json").open("wb") as file:
        file.truncate(1 << 40)
    refused(tmp_path, "is not the JSON that was written")


OUTSIDE = ["/etc/passwd", "../g0001-part", "..", ".", "", "a/b", "a\\b", "C:g0001-part", "g0001-part\0", "g0001-part\n",
           "\ud800", 3, None, ["g0001-part"], True, "g" * 300]  # fmt: skip


@pytest.mark.parametrize("name", OUTSIDE, ids=repr)
def test_no_name_leads_out_of_the_directory(tmp_path, name, model, corpus):
    write_manifest(tmp_path, {**FOUND, "part": name})
    refused(tmp_path, "the thing is damaged")
    manifest = stored_manifest(model)
    manifest["files"]["terms.json"]["file"] = name
    write_manifest(model, manifest)
    with pytest.raises(StoreError, match="the model is damaged"):
        read_model(model)
    sound = stored_manifest(corpus)
    for change in (
        {"vocabulary": {**sound["vocabulary"], "file": name}},
        {"shards": [{**sound["shards"][0], "name": name}]},
        *([{"shards": [{**sound["shards"][0], "files": {name: {"bytes": 0, "sha256": ""}}}]}] if isinstance(name, str)
          else []),
    ):  # fmt: skip
        write_manifest(corpus, {**sound, **change})
        with pytest.raises(StoreError, match=r"the corpus (is damaged|has a file)"):
            Corpus.open(corpus, check=True)


@pytest.mark.parametrize("name", ["manifest.json", "g0001-terms.json", "g0001-tensors.safetensors"])
def test_a_file_of_a_model_that_is_a_link_is_not_read(model, tmp_path, name):
    (model / name).rename(tmp_path / name)
    (model / name).symlink_to(tmp_path / name)
    with pytest.raises(StoreError, match=f"{name}: is a symbolic link, and diln follows none .* in its place"):
        read_model(model)


@pytest.mark.parametrize("name", ["g0001-00000", "g0001-00000/counts.npy", "g0001-vocabulary.json"])
def test_nor_is_one_of_a_corpus(corpus, tmp_path, name):
    moved = (corpus / name).rename(tmp_path / "moved")
    (corpus / name).symlink_to(moved, target_is_directory=moved.is_dir())
    with pytest.raises(StoreError, match="is a symbolic link"):
        Corpus.open(corpus, check=True)


def test_a_directory_that_is_a_link_is_the_users_choice(model, tmp_path):
    (tmp_path / "link").symlink_to(model, target_is_directory=True)
    assert read_model(tmp_path / "link").vocabulary == ["a"]
    write_model(tmp_path / "link", {"x": 2}, {}, ["a"])
    assert read_model(model).content == {"x": 2}


def test_what_is_no_plain_file_is_not_waited_for(model):
    (model / "manifest.json").unlink()
    os.mkfifo(model / "manifest.json")
    with pytest.raises(StoreError, match="cannot be read \\(it is no plain file\\)"):
        read_model(model)
    (model / "manifest.json").unlink()
    (model / "manifest.json").mkdir()
    with pytest.raises(StoreError, match="cannot be read \\(it is a folder\\)"):
        read_model(model)


@pytest.mark.parametrize("entry", [{}, None, 3, {"bytes": 1}, {"bytes": "1", "sha256": ""}, {"bytes": 1, "sha256": 1},
                                   {"bytes": True, "sha256": ""}], ids=json.dumps)  # fmt: skip
def test_what_is_told_of_a_file_is_told_in_full(model, entry):
    manifest = stored_manifest(model)
    told = {**entry, "file": "g0001-terms.json"} if isinstance(entry, dict) else entry
    write_manifest(model, {**manifest, "files": {**manifest["files"], "terms.json": told}})
    with pytest.raises(StoreError, match=r"manifest\.json: the file .*the model is damaged"):
        read_model(model)
