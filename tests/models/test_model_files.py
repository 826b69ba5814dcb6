"""A fitted model on disk: it comes back to the bit, damage is named, and nothing is ever half-written."""

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import overwriting
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from overwriting import NEW, OLD, files, whole_model

import diln
import diln.files
import diln.models.files
from diln.corpus import Corpus
from diln.errors import StoreError
from diln.files import write_manifest
from diln.models.files import MODEL, read_model, write_model

CONTENT = {
    "class": "DILN",
    "parameters": {"n_topics": 20, "rate": 0.5, "seed": None, "names": ["a", "b"], "tied": True},
    "state": {"step": 7, "generator": {"state": 2**127 + 1, "inc": 2**100}},
    "history": [{"bound": -1234.5, "seconds": 0.25}, {"bound": -1200.125, "seconds": 0.5}],
}
TENSORS = {
    "statistics": np.random.default_rng(0).gamma(1.0, size=(4, 3)),
    "locations": np.random.default_rng(1).normal(size=(4, 2)).astype(np.float32),
    "order": np.array([3, 0, 2, 1]),
}
VOCABULARY = ["apple", "Äpfel", "лимон", "漢字", "👩‍🔬", 'quo"te', "new\nline", "\x00", ""]


def same(stored, content=CONTENT, tensors=TENSORS, vocabulary=VOCABULARY) -> bool:
    return overwriting.same(stored, content, tensors, vocabulary)


def tree(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


@pytest.fixture
def stored(tmp_path):
    write_model(tmp_path / "model", CONTENT, TENSORS, VOCABULARY)
    return tmp_path / "model"


class TestComingBack:
    def test_everything_that_was_written_comes_back_to_the_bit(self, stored):
        model = read_model(stored)
        assert same(model)
        assert files(stored) == whole_model(1)
        assert model.versions["diln"] == diln.__version__
        assert model.versions["numpy"] == np.__version__
        assert set(model.versions) == {"diln", "numpy", "python", "safetensors"}

    @settings(max_examples=30, deadline=None)
    @given(
        tensor=st.sampled_from([np.float32, np.float64, np.int64]).flatmap(
            lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
        ),
        vocabulary=st.lists(st.text(), unique=True),
    )
    def test_any_tensor_and_any_terms_come_back(self, tmp_path_factory, tensor, vocabulary):
        directory = tmp_path_factory.mktemp("store") / "model"
        write_model(directory, {}, {"x": tensor}, vocabulary)
        assert same(read_model(directory), {}, {"x": tensor}, vocabulary)

    def test_tensors_come_back_in_their_own_order_however_they_lie_in_memory(self, tmp_path):
        base = np.arange(24.0).reshape(4, 6)
        tensors = {
            "transposed": base.T,
            "every other": base[::2, ::3],
            "backwards": base[::-1],
            "fortran": np.asfortranarray(base),
            "broadcast": np.broadcast_to(base[0], (3, 6)),
            "diagonal": np.diagonal(base),
        }
        assert not any(tensor.flags.c_contiguous for tensor in tensors.values())
        write_model(tmp_path / "model", {}, tensors, [])
        assert same(read_model(tmp_path / "model"), {}, tensors, [])

    def test_empty_and_single_numbers_keep_their_shapes(self, tmp_path):
        tensors = {
            "scalar": np.array(2.5),
            "one": np.array([2.5]),
            "one by one": np.array([[7]]),
            "none": np.zeros(0),
            "no rows": np.zeros((0, 5), dtype=np.float32),
            "no columns": np.zeros((5, 0), dtype=np.int64),
            "odd numbers": np.array([np.nan, -np.inf, -0.0, 5e-324]),
        }
        write_model(tmp_path / "model", {}, tensors, [])
        assert same(read_model(tmp_path / "model"), {}, tensors, [])

    def test_a_model_of_nothing_is_a_model(self, tmp_path):
        write_model(tmp_path / "model", {}, {}, [])
        assert same(read_model(tmp_path / "model"), {}, {}, [])

    def test_tensors_can_be_written_to_without_touching_the_file(self, stored):
        before = tree(stored)
        for tensor in read_model(stored).tensors.values():
            assert tensor.flags.writeable
            assert tensor.flags.owndata
            tensor[:] = 0
        assert tree(stored) == before
        assert same(read_model(stored))

    def test_numbers_that_json_lacks_come_back_and_the_manifest_is_json_for_everyone(self, tmp_path):
        history = [math.nan, math.inf, -math.inf, 1e300, -0.0, None]
        content = {"history": history, "state": {"bound": -np.inf, "deep": [{"x": np.float64("nan")}]}}
        write_model(tmp_path / "model", content, {}, [])
        back = read_model(tmp_path / "model").content
        assert repr(back) == repr({"history": history, "state": {"bound": -math.inf, "deep": [{"x": math.nan}]}})

        def refuse(constant):
            raise ValueError(constant)

        json.loads((tmp_path / "model" / "manifest.json").read_text(), parse_constant=refuse)

    def test_a_dict_that_only_looks_like_such_a_number_stays_a_dict(self, tmp_path):
        content = {"a": {"nonfinite": 3}, "b": {"nonfinite": "words"}, "c": {"nonfinite": "nan", "other": 1}}
        write_model(tmp_path / "model", content, {}, [])
        assert read_model(tmp_path / "model").content == content

    def test_the_same_model_gives_the_same_bytes(self, stored, tmp_path):
        write_model(tmp_path / "again", CONTENT, dict(reversed(TENSORS.items())), VOCABULARY)
        assert tree(tmp_path / "again") == tree(stored)

    def test_no_file_is_a_pickle(self, stored):
        json.loads((stored / "manifest.json").read_text())
        json.loads((stored / "g0001-terms.json").read_text())
        data = (stored / "g0001-tensors.safetensors").read_bytes()
        size = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + size])
        assert {name: entry["dtype"] for name, entry in header.items()} == {
            "statistics": "F64",
            "locations": "F32",
            "order": "I64",
        }
        assert len(data) == 8 + size + sum(tensor.nbytes for tensor in TENSORS.values())  # numbers, and nothing else
        for module in (diln.files, diln.models.files):
            assert "import pickle" not in Path(module.__file__).read_text()

    def test_reading_needs_no_scikit_learn(self):
        code = "import sys, diln.models.files; print(sorted({'sklearn', 'scipy', 'numba'} & set(sys.modules)))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"


class TestReplacing:
    def test_the_new_model_takes_the_place_of_the_old_one(self, stored):
        write_model(stored, {"new": True}, {"x": np.ones(3)}, ["a"])
        assert same(read_model(stored), {"new": True}, {"x": np.ones(3)}, ["a"])
        assert files(stored) == whole_model(2)

    def test_the_files_are_on_the_disk_before_the_manifest_that_names_them(self, tmp_path, monkeypatch):
        synced = []
        monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
        write_model(tmp_path, CONTENT, TENSORS, VOCABULARY)
        names = {path.stat().st_ino: path.name for path in (tmp_path, *tmp_path.iterdir())}
        assert [names[inode] for inode in synced] == [*sorted(whole_model(1) - {".lock"}), tmp_path.name]

    def test_a_model_that_was_read_stays_as_it_was(self, stored):
        model = read_model(stored)
        write_model(stored, {}, {name: tensor * 0 for name, tensor in TENSORS.items()}, [])
        assert same(model)

    def test_a_damaged_model_can_be_replaced_as_its_message_says(self, stored):
        for text in ("{", "", json.dumps({"format": "diln-model", "schema": 99}), '{"format": "diln-model"}'):
            (stored / "manifest.json").write_text(text)
            with pytest.raises(StoreError):
                read_model(stored)
            write_model(stored, CONTENT, TENSORS, VOCABULARY)
            assert same(read_model(stored))
            assert len(files(stored)) == 4

    def test_what_the_user_has_put_beside_a_model_is_kept(self, stored):
        for name in ("notes.txt", ".DS_Store", "g2024-results.csv"):
            (stored / name).write_text("mine")
        write_model(stored, {}, {}, [])
        assert files(stored) == whole_model(2025) | {"notes.txt", ".DS_Store", "g2024-results.csv"}
        assert (stored / "notes.txt").read_text() == "mine"

    def test_missing_parents_are_made(self, tmp_path):
        write_model(tmp_path / "a" / "b" / "model", CONTENT, TENSORS, VOCABULARY)
        assert same(read_model(str(tmp_path / "a" / "b" / "model")))

    def test_an_empty_directory_is_as_good_as_none(self, tmp_path):
        write_model(str(tmp_path), CONTENT, TENSORS, VOCABULARY)
        assert same(read_model(tmp_path))


class TestRefusing:
    def refused(self, directory, match):
        before = {path: path.read_bytes() if path.is_file() else None for path in directory.rglob("*")}
        with pytest.raises(StoreError, match=match) as caught:
            write_model(directory, CONTENT, TENSORS, VOCABULARY)
        assert "name another directory" in str(caught.value)
        assert {path: path.read_bytes() if path.is_file() else None for path in directory.rglob("*")} == before

    def test_other_files_are_never_touched(self, tmp_path):
        (tmp_path / "thesis.tex").write_text("years of work")
        self.refused(tmp_path, r"holds 'thesis\.tex', which is no part of a model")

    @pytest.mark.parametrize("text", ['{"name": "an app"}', "[]", "{} // with a comment", '{"format": "theirs"}'])
    @pytest.mark.parametrize("beside", [[], ["index.html"]], ids=["alone", "with others"])
    def test_a_manifest_of_something_else_is_never_replaced(self, tmp_path, text, beside):
        (tmp_path / "manifest.json").write_text(text)
        for name in beside:
            (tmp_path / name).write_text("")
        self.refused(tmp_path, "theirs" if "theirs" in text else "no part of a model")

    @pytest.mark.parametrize("manifest", [None, "{"], ids=["sound", "damaged"])
    def test_a_corpus_is_never_replaced(self, tmp_path, manifest):
        directory = Corpus.from_matrix([[1, 2]], ["a", "b"]).save(tmp_path / "corpus").directory
        if manifest is not None:
            (directory / "manifest.json").write_text(manifest)
        self.refused(directory, "holds a 'diln-corpus', not a model" if manifest is None else "no part of a model")

    @pytest.mark.parametrize("manifest", [None, "{"], ids=["sound", "damaged"])
    @pytest.mark.parametrize("overwrite", [True, False])
    def test_nor_is_a_model_by_a_corpus(self, stored, manifest, overwrite):
        if manifest is not None:
            (stored / "manifest.json").write_text(manifest)
        before = tree(stored)
        with pytest.raises(StoreError, match="name another directory"):
            Corpus.from_matrix([[1, 2]], ["a", "b"]).save(stored, overwrite=overwrite)
        assert tree(stored) == before

    def test_a_file_is_no_directory(self, tmp_path):
        (tmp_path / "file").write_text("mine")
        for path in (tmp_path / "file", tmp_path / "file" / "model"):
            with pytest.raises(StoreError, match="cannot be made"):
                write_model(path, CONTENT, TENSORS, VOCABULARY)
        assert (tmp_path / "file").read_text() == "mine"

    def test_what_cannot_be_stored_is_said_before_anything_is_touched(self, stored, tmp_path):
        before = tree(stored)
        for directory in (stored, tmp_path / "new"):
            for dtype in (object, np.int32, np.complex128, ">f8", "U3"):
                with pytest.raises(TypeError, match=r"tensor 'x' is of type .* convert it with astype"):
                    write_model(directory, {}, {"x": np.zeros(2, dtype=dtype)}, [])
            with pytest.raises(TypeError, match="not JSON serializable"):
                write_model(directory, {"x": object()}, {}, [])
        assert tree(stored) == before
        assert not (tmp_path / "new").exists()


class TestFailing:
    @pytest.fixture
    def full_disk(self, monkeypatch):
        room = iter([True])  # for one file, and then no more

        def fail(descriptor):
            if not next(room, False):
                raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", fail)

    def test_leaves_the_old_model(self, stored, full_disk):
        before = tree(stored)
        with pytest.raises(StoreError, match="there is no room left on the disk; make room"):
            write_model(stored, {"new": True}, {"x": np.ones(3)}, ["a"])
        assert tree(stored) == before

    def test_takes_the_directory_away_that_it_made(self, tmp_path, full_disk):
        with pytest.raises(StoreError, match="no room left"):
            write_model(tmp_path / "model", CONTENT, TENSORS, VOCABULARY)
        assert files(tmp_path) == set()

    def test_leaves_no_part_of_a_model_in_a_directory_that_was_there(self, tmp_path, full_disk):
        with pytest.raises(StoreError, match="no room left"):
            write_model(tmp_path, CONTENT, TENSORS, VOCABULARY)
        assert files(tmp_path) == {".lock"}

    def test_of_any_kind_leaves_the_old_model(self, stored, monkeypatch):
        before = tree(stored)
        for error in (KeyboardInterrupt, MemoryError):
            monkeypatch.setattr(
                diln.files.folders, "write_manifest", lambda *_, error=error: (_ for _ in ()).throw(error)
            )
            with pytest.raises(error):
                write_model(stored, {}, {}, [])
            assert tree(stored) == before


class TestDamage:
    def read_fails(self, directory, *words):
        with pytest.raises(StoreError) as caught:
            read_model(directory)
        message = str(caught.value)
        assert "\n" not in message
        for word in (str(directory), *words):
            assert word in message
        return message

    def test_any_flipped_bit_is_seen(self, stored):
        rng = np.random.default_rng(3)
        for path in sorted(set(stored.iterdir()) - {stored / ".lock"}):
            whole = path.read_bytes()
            for place in rng.integers(0, max(1, len(whole)), 60 if whole else 0):
                data = bytearray(whole)
                data[place] ^= 1 << int(rng.integers(8))
                path.write_bytes(data)
                message = self.read_fails(stored)
                if path.name != "manifest.json":
                    assert f"{path}: the file does not match its checksum" in message
                    assert "fit it again with: diln fit SOURCE -o DIR, or restore it from a copy" in message
            path.write_bytes(whole)
        assert same(read_model(stored))

    def test_files_of_another_length_are_seen(self, stored):
        for path in sorted(set(stored.iterdir()) - {stored / ".lock"}):
            whole = path.read_bytes()
            for data in (b"", whole[:-2], whole[: len(whole) // 2], whole + b"x"):
                path.write_bytes(data)
                self.read_fails(stored, path.name, "fit it again with: diln fit SOURCE -o DIR, or restore")
            path.write_bytes(whole)

    def test_missing_files_are_named(self, stored):
        for name in whole_model(1) - {".lock"}:
            data = (stored / name).read_bytes()
            (stored / name).unlink()
            self.read_fails(stored, name, "diln fit SOURCE -o DIR")
            (stored / name).write_bytes(data)
        (stored / "g0001-terms.json").unlink()
        (stored / "g0001-terms.json").mkdir()
        self.read_fails(stored, "g0001-terms.json", "is no plain file")

    @pytest.mark.parametrize("name", ["manifest.json", "g0001-terms.json", "g0001-tensors.safetensors"])
    def test_a_file_that_cannot_be_read_is_named_and_not_called_damaged(self, stored, monkeypatch, name):
        whole = os.open

        def refuse(path, *args, **kwargs):
            if Path(path).name == name:
                raise PermissionError(13, "Permission denied")
            return whole(path, *args, **kwargs)

        monkeypatch.setattr(os, "open", refuse)
        message = self.read_fails(stored, f"{name}: cannot be read (Permission denied); see that you may read it")
        assert "damaged" not in message

    def test_tensors_of_another_model_are_not_taken_for_this_ones(self, stored, tmp_path):
        write_model(tmp_path / "other", CONTENT, {**TENSORS, "order": TENSORS["order"][::-1]}, VOCABULARY)
        shutil.copy(tmp_path / "other" / "g0001-tensors.safetensors", stored)
        self.read_fails(stored, "g0001-tensors.safetensors: the file does not match its checksum")

    def test_a_newer_format_is_told_from_a_damaged_one(self, stored):
        content = json.loads((stored / "manifest.json").read_text())
        del content["checksum"]
        newer = MODEL.schema + 1
        write_manifest(stored, {**content, "schema": newer})
        self.read_fails(stored, f"has format {newer}, which diln", "does not know", "install a newer diln")
        write_manifest(stored, {**content, "schema": newer, "versions": {"diln": "99.1"}})
        self.read_fails(stored, "it was written by diln 99.1: install diln 99.1 or later")

    def test_what_is_no_model_is_called_so(self, tmp_path):
        corpus = Corpus.from_matrix([[1, 2]], ["a", "b"]).save(tmp_path / "corpus").directory
        self.read_fails(corpus, "holds a 'diln-corpus', not a model; name a model directory")
        (tmp_path / "file").write_text("")
        for path in (tmp_path, tmp_path / "file", tmp_path / "nowhere"):
            self.read_fails(path, "there is no model here (no manifest.json); fit one with: diln fit SOURCE -o DIR")
        for text in ('{"name": "an app"}', "[]", "3", "null", "text", "\ufeff{}"):
            (tmp_path / "manifest.json").write_text(text, encoding="utf-8")
            self.read_fails(tmp_path, "manifest.json", "is not the JSON that was written")
        (tmp_path / "manifest.json").write_bytes(b"\xff\xfe")
        self.read_fails(tmp_path, "manifest.json", "is not the JSON that was written")


class TestKilling:
    @pytest.mark.parametrize("there", ["old model", "no model"])
    def test_at_any_line_leaves_the_old_model_or_the_new_one(self, tmp_path, there):
        command = [sys.executable, overwriting.__file__, "die", tmp_path, there]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        outcomes = done.stdout.split()
        turn = outcomes.index("new")
        assert set(outcomes[:turn]) == {"old" if there == "old model" else "none"}
        assert set(outcomes[turn:]) == {"new"}  # there is one step that makes it so, and none that goes back
        assert turn > 50
        assert len(outcomes) - turn > 5

    def test_within_a_file_leaves_the_old_model(self, stored):
        code = """
import os, signal, sys
import diln.models.files as models
def half(path, data, **options):
    with path.open("wb") as file:
        file.write(data[: len(data) // 2])
        file.flush()
        os.kill(os.getpid(), signal.SIGKILL)
models.write_parts = half
models.write_model(sys.argv[1], {}, {}, ["a", "b"])
"""
        done = subprocess.run([sys.executable, "-c", code, stored], capture_output=True, text=True, check=False)
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert files(stored) == whole_model(1) | {"g0002-tensors.safetensors"}
        assert same(read_model(stored))
        write_model(stored, {}, {}, [])
        assert files(stored) == whole_model(2)


class TestTogether:
    def test_a_second_writer_is_kept_out(self, stored):
        fcntl = pytest.importorskip("fcntl")
        before = tree(stored)
        with (stored / ".lock").open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            with pytest.raises(StoreError, match="another process is writing here; wait until it is done"):
                write_model(stored, {}, {}, [])
            assert tree(stored) == before
        write_model(stored, {}, {}, [])
        assert same(read_model(stored), {}, {}, [])

    def test_a_reader_always_gets_one_whole_model_while_another_writes(self, tmp_path):
        write_model(tmp_path / "model", *OLD)
        command = [sys.executable, overwriting.__file__, "alternate", tmp_path / "model"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            try:
                assert writer.stdout.readline() == "begun\n"
                seen, deadline = [], time.monotonic() + 20
                while len(seen) < 100 or len(set(seen)) < 2:
                    assert time.monotonic() < deadline, "the writer writes nothing"
                    model = read_model(tmp_path / "model")
                    seen.append(model.content["which"])
                    assert same(model, *{"old": OLD, "new": NEW}[model.content["which"]])
                assert writer.poll() is None
            finally:
                writer.kill()

    def test_a_model_replaced_while_it_is_read_is_read_again(self, stored, monkeypatch):
        whole, replaced = diln.models.files.StoredFiles, []

        def late(*args):
            if not replaced:
                replaced.append(True)
                write_model(stored, *NEW)
            return whole(*args)

        monkeypatch.setattr(diln.models.files, "StoredFiles", late)
        assert same(read_model(stored), *NEW)
        assert replaced
