"""Directories that diln writes: nothing in them is removed or replaced that is not surely its own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import diln.files
from diln.corpus import Corpus
from diln.corpus.store import CORPUS
from diln.errors import StoreError
from diln.files import Kind, whole, write_manifest, writing
from diln.models.checkpoints import CHECKPOINT
from diln.models.files import MODEL, read_model, write_model
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


def test_a_manifest_that_has_come_meanwhile_is_not_replaced_unasked(tmp_path):
    mine, other = {"format": "diln-model", "schema": 1}, {"format": "diln-model", "schema": 1, "other": True}
    with writing(tmp_path, MODEL, "new") as held:
        write_manifest(tmp_path, other)
        with pytest.raises(StoreError, match="there is a model already; pass --force"):
            held.commit(mine)
    assert json.loads((tmp_path / "manifest.json").read_text())["other"]
    with writing(tmp_path, MODEL, "replace") as held:
        held.commit(mine)
    assert "other" not in json.loads((tmp_path / "manifest.json").read_text())


@pytest.mark.parametrize("mode", ["new", "replace"])
def test_a_second_writer_is_told_at_once_for_as_long_as_the_first_holds_on(tmp_path, mode):
    with writing(tmp_path / "model", MODEL, mode):
        for _ in range(2):
            refused(tmp_path / "model", MODEL, "replace", "another process is writing here; wait until it is done")
        refused(tmp_path / "model", MODEL, "new", "another process is writing here; wait until it is done")
    with writing(tmp_path / "model", MODEL, "new"):
        pass


def test_a_directory_that_was_removed_under_the_writers_hands_is_made_again(tmp_path):
    with writing(tmp_path / "model", MODEL, "new") as held:
        shutil.rmtree(tmp_path / "model")
        write_model(tmp_path / "model", {"x": 1}, {}, [], held=held)
        with writing(tmp_path / "model", MODEL, "replace"):  # another's by now: the first one touches it no more
            put(tmp_path / "model", "g0007-terms.json")
    assert read_model(tmp_path / "model").content == {"x": 1}
    assert list(tmp_path.iterdir()) == [tmp_path / "model"]


def test_a_lock_that_its_last_holder_has_removed_keeps_nobody_out_and_lets_nobody_in(tmp_path, monkeypatch):
    whole, times = diln.files.lock.claimed, []

    def late(descriptor):  # the holder of the lock that was opened removes it before it can be had
        times.append(descriptor)
        if len(times) == 1:
            (tmp_path / ".lock").unlink()
        return whole(descriptor)

    monkeypatch.setattr(diln.files.lock, "claimed", late)
    with writing(tmp_path, MODEL, "new") as held:
        assert held.there
        refused(tmp_path, MODEL, "new", "another process")
    assert len(times) == 3


def test_a_directory_that_others_remove_as_it_is_taken_is_made_again(tmp_path, monkeypatch):
    whole, times = diln.files.folders.locked, []

    def late(directory):
        times.append(directory)
        if len(times) < 4:
            directory.rmdir()
        return whole(directory)

    monkeypatch.setattr(diln.files.folders, "locked", late)
    write_model(tmp_path / "a" / "model", {"x": 1}, {}, [])
    assert read_model(tmp_path / "a" / "model").content == {"x": 1}


@pytest.mark.parametrize("name", ["manifest.json.new", ".manifest.json.0123456789abcdef.new", "g0002-terms.json"])
def test_nothing_is_written_through_a_link_in_a_directory(tmp_path, name):
    victim = put(tmp_path, "victim.txt")
    write_model(tmp_path / "model", {"x": 1}, {}, [])
    (tmp_path / "model" / name).symlink_to("../victim.txt")
    write_model(tmp_path / "model", {"x": 2}, {}, [])
    assert victim.read_text() == "years of work"
    assert read_model(tmp_path / "model").content == {"x": 2}
    assert not (tmp_path / "model" / "manifest.json").is_symlink()
    assert (tmp_path / "model" / name).is_symlink()


@pytest.mark.parametrize("name", ["manifest.json", ".lock"])
def test_a_manifest_or_a_lock_that_is_a_link_is_refused(tmp_path, name):
    write_model(tmp_path / "model", {"x": 1}, {}, [])
    (tmp_path / "model" / name).rename(tmp_path / "victim.txt")
    (tmp_path / "model" / name).symlink_to("../victim.txt")
    before = tree(tmp_path)
    for mode in ("replace", "new", "extend"):
        refused(tmp_path / "model", MODEL, mode, "symbolic link|not the plain file|already; pass --force")
    assert tree(tmp_path) == before


def test_a_lock_that_is_no_file_is_not_waited_for(tmp_path):
    write_model(tmp_path, {"x": 1}, {}, [])
    (tmp_path / ".lock").unlink()
    os.mkfifo(tmp_path / ".lock")
    refused(tmp_path, MODEL, "replace", "not the plain file that diln keeps there")


def test_what_a_killed_process_left_of_a_manifest_is_swept(tmp_path):
    write_model(tmp_path, {"x": 1}, {}, [])
    for name in ("manifest.json.new", ".manifest.json.0123456789abcdef.new"):
        put(tmp_path, name)
    mine = [put(tmp_path, name) for name in (".manifest.json.new", ".manifest.json.0123.new", "notes.json.new")]
    write_model(tmp_path, {"x": 2}, {}, [])
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.endswith(".new")) == sorted(
        path.name for path in mine
    )


@pytest.mark.parametrize("name", ["/", "file", "file/model", "a" * 300])
def test_where_nothing_can_be_written_is_a_sentence(tmp_path, name):
    put(tmp_path, "file")
    refused(
        tmp_path / name,
        MODEL,
        "replace",
        "is the root of all files|cannot be made|cannot be written|the name is too long",
    )
    assert tree(tmp_path) == {"file": b"years of work"}


@pytest.mark.parametrize(
    ("what", "only", "times"), [("race", "fit", 2), ("interrupt", "transform", 6), ("closed", "streams", 4)]
)
def test_the_commands_survive_a_little_torture(what, only, times):
    script = Path(__file__).parents[2] / "benchmarks" / "torture.py"
    command = [sys.executable, script, what, "--only", only, "--times", str(times)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{what} {only}".ljust(22) + " faults: 0" in done.stdout
