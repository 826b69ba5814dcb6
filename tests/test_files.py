"""Directories that diln writes: nothing in them is removed or replaced that is not surely its own."""

import json
from pathlib import Path

import pytest

from diln.corpus import Corpus
from diln.corpus.store import CORPUS
from diln.errors import StoreError
from diln.files import Kind, whole, writing
from diln.models.checkpoints import CHECKPOINT
from diln.models.files import MODEL
from diln.study.folder import COMPARISON

KINDS = {kind.noun: kind for kind in (CORPUS, MODEL, CHECKPOINT, COMPARISON)}
ALIKE = {
    "corpus": ("g2024-00001/photo.jpg", "g2024-00001/id.npy", "g2024-vocabulary.json", ".raw-notes",
               ".raw-0123abcd-000001", "manifest.json.new"),
    "model": ("g2024-terms.json", "g2024-tensors.safetensors", "g2024-terms.json/mine.txt"),
    "checkpoint": ("g2024-terms.json", "g2024-tensors.safetensors"),
    "comparison": ("corpus/mine.txt", "models/best/mine.txt", "figures/paper.pdf", "runs/mine.json", "table.md",
                   "results.json", "prior.json", "stop", "stop/mine.txt", "table.md.new"),
}  # fmt: skip


def put(directory: Path, name: str, text: str = "years of work") -> Path:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def tree(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def refused(directory: Path, kind: Kind, mode: str, why: str) -> None:
    with pytest.raises(StoreError, match=why), writing(directory, kind, mode):
        pytest.fail("it was taken for ours")


@pytest.mark.parametrize("mode", ["new", "replace"])
@pytest.mark.parametrize(("noun", "name"), [(noun, name) for noun, names in ALIKE.items() for name in names])
def test_what_bears_the_name_of_a_part_is_somebody_elses_where_nothing_was_begun(noun, name, mode, tmp_path):
    put(tmp_path, name)
    first = name.split("/")[0]
    refused(tmp_path, KINDS[noun], mode, f"holds '{first}', which is no part of a {noun} that was begun here")
    assert tree(tmp_path) == {name: b"years of work"}


@pytest.mark.parametrize("noun", sorted(KINDS))
def test_even_where_something_was_begun_folders_with_other_things_are_somebody_elses(noun, tmp_path):
    with writing(tmp_path, KINDS[noun], "replace"):
        pass
    names = [name for name in ALIKE[noun] if "/" in name and not name.endswith(".npy")] or ["thesis/mine.txt"]
    for name in names:
        path = put(tmp_path, name)
        refused(tmp_path, KINDS[noun], "replace", "that was begun here; name another directory")
        assert path.read_text() == "years of work"
        path.unlink()
        path.parent.rmdir()
        if path.parent.parent != tmp_path:
            path.parent.parent.rmdir()


def test_what_a_write_has_left_is_removed_where_it_was_begun(tmp_path):
    with writing(tmp_path, CORPUS, "new"):
        pass
    for name in (
        "g0001-00000/id.npy",
        "g0001-00000/.DS_Store",
        ".raw-0123abcd-000001",
        ".raw-0123abcd-000001.numbers.npy",
    ):
        put(tmp_path, name)
    with writing(tmp_path, CORPUS, "new"):
        assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_what_was_begun_as_one_thing_is_not_taken_for_another(tmp_path):
    with writing(tmp_path, MODEL, "new"):
        pass
    put(tmp_path, "g0001-terms.json")
    refused(tmp_path, CHECKPOINT, "replace", r"'g0001-terms\.json', which is no part of a checkpoint")
    with writing(tmp_path, MODEL, "new"):
        assert [path.name for path in tmp_path.iterdir()] == [".lock"]
    with writing(tmp_path, CORPUS, "new"):
        put(tmp_path, ".raw-0123abcd-000001")
    assert tree(tmp_path) == {".lock": b"diln-corpus"}


def test_other_things_in_a_corpus_stay_when_it_is_replaced(tmp_path):
    corpus = Corpus.from_matrix([[1, 2]], ["a", "b"])
    corpus.save(tmp_path / "corpus")
    mine = [put(tmp_path / "corpus", name) for name in ("g2024-00001/photo.jpg", ".raw-notes", "thesis.tex")]
    put(tmp_path, "shared/id.npy")
    (tmp_path / "corpus" / "g2024-00002").symlink_to(tmp_path / "shared", target_is_directory=True)
    corpus.save(tmp_path / "corpus", overwrite=True)
    assert [path.read_text() for path in mine] == ["years of work"] * 3
    assert (tmp_path / "corpus" / "g2024-00002").is_symlink()
    assert len(Corpus.open(tmp_path / "corpus")) == 1


def test_a_manifest_that_is_not_ours_is_not_replaced(tmp_path):
    put(tmp_path, "manifest.json", json.dumps({"name": "a page of the web"}))
    put(tmp_path, "g0001-00000/id.npy")
    before = tree(tmp_path)
    with pytest.raises(StoreError, match=r"'manifest\.json', which is no part of a corpus"):
        Corpus.from_matrix([[1]], ["a"]).save(tmp_path, overwrite=True)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("data", [b"12345\n", b"\xff\xfe"])
def test_a_lock_that_is_not_ours_is_not_written_to(tmp_path, data):
    (tmp_path / ".lock").write_bytes(data)
    with pytest.raises(StoreError, match=r"'\.lock', which is no part"):
        Corpus.from_matrix([[1]], ["a"]).save(tmp_path)
    assert tree(tmp_path) == {".lock": data}


def test_a_directory_that_was_made_for_nothing_keeps_what_others_put_there(tmp_path):
    with pytest.raises(RuntimeError), writing(tmp_path / "some" / "corpus", CORPUS, "new"):
        put(tmp_path / "some" / "corpus", ".raw-0123abcd-000001")
        put(tmp_path / "some" / "corpus", "thesis.tex")
        raise RuntimeError
    assert tree(tmp_path) == {"some/corpus/thesis.tex": b"years of work"}


@pytest.mark.parametrize("there", [True, False])
def test_a_file_that_cannot_be_written_whole_stays_as_it_was(tmp_path, there):
    if there:
        put(tmp_path, "table.svg", "old")
    with pytest.raises(RuntimeError), whole(tmp_path / "table.svg") as file:
        file.write(b"half of")
        file.flush()
        raise RuntimeError
    assert tree(tmp_path) == ({"table.svg": b"old"} if there else {})
