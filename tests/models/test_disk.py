"""Documents that are kept on disk while a model is fitted: the same bits, bounded memory, and nothing left behind."""

import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from killing import write_corpus

from diln import DILN, Sampling
from diln.corpus import Corpus
from diln.errors import DilnWarning, StoreError
from diln.files import LOCK, writing
from diln.inference.data import Tokens
from diln.inference.sampling import documents
from diln.inference.sampling.state import SampledDocuments
from diln.inference.weights.place_kernels import Places
from diln.models import disk, fitting, memory, parameters
from diln.models.checkpoints import CHECKPOINT, Checkpoints
from diln.models.checks import ParameterError, bytes_of
from diln.models.counts import CorpusRows
from diln.models.disk import SCRATCH, DiskShard, Stored
from diln.models.files import read_model
from diln.models.parameters import parameters_of

QUICK = {"n_components": 6, "max_iter": 12, "random_state": 0}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("documents") / "corpus", 150)


@pytest.fixture
def rows(corpus):
    return CorpusRows(Corpus.open(corpus))


@pytest.fixture
def several_shards(rows, monkeypatch):
    monkeypatch.setattr(documents, "SHARD", int(rows.n_tokens) // 6)
    monkeypatch.setattr(parameters, "STAGES", ((20, 60), (40, 20)))
    monkeypatch.setattr("diln.models.checks.LEAST", 1.0)


def fitted(kind, rows, scratch, on_disk, look=None, kept=None, **given):
    told = parameters_of(kind, {**QUICK, **given, "memory": "1 B" if on_disk else "1 TB"})
    terms = [f"t{i}" for i in range(rows.n_terms)]
    return fitting.fit(told, rows, terms, look, kept, scratch=scratch)


def same(one, other):
    for name, tensor in one.posterior.tensors().items():
        assert np.array_equal(tensor, other.posterior.tensors()[name]), name
    assert [entry["score"] for entry in one.history] == [entry["score"] for entry in other.history]


class Look:
    """Calls something after a sweep."""

    def __init__(self, number, call):
        self.number, self.call = number, call

    def look(self, progress):
        if progress.iteration == self.number:
            self.call()


@pytest.mark.usefixtures("several_shards")
@pytest.mark.parametrize("learning", ["batch", "grow"])
@pytest.mark.parametrize("kind", ["DILN", "HDP", "CTM"])
def test_documents_on_disk_give_the_same_bits_and_leave_nothing(kind, learning, rows, tmp_path):
    given = {"learning_method": learning, "keep_states": 2, "n_jobs": 2}
    seen = []
    look = Look(5, lambda: seen.extend(path.name for path in (tmp_path / "scratch").iterdir()))
    on_disk = fitted(kind, rows, tmp_path / "scratch", on_disk=True, look=look, **given)
    assert sum(name.endswith(".topics") for name in seen) == 8
    assert not list(tmp_path.iterdir())
    same(on_disk, fitted(kind, rows, tmp_path / "scratch", on_disk=False, **given))


@pytest.mark.usefixtures("several_shards")
@pytest.mark.parametrize("kind", ["DILN", "CTM"])
def test_a_fit_goes_on_from_memory_on_disk_and_back(kind, rows, tmp_path):
    class Stopped(Exception):  # noqa: N818
        pass

    def stop():
        raise Stopped

    whole = fitted(kind, rows, tmp_path / "s", on_disk=False)
    for on_disk in (True, False):
        with pytest.raises(Stopped):
            fitted(kind, rows, tmp_path / "s", on_disk, Look(6, stop), Checkpoints(tmp_path / "c", 0))
        kept = Checkpoints(tmp_path / "c", 1000, resume=True)
        same(fitted(kind, rows, tmp_path / "s", not on_disk, None, kept), whole)
        kept.remove()
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("several_shards")
def test_chains_have_scratch_of_their_own(rows, tmp_path):
    given = {"n_chains": 2, "n_jobs": 2}
    same(
        fitted("DILN", rows, tmp_path / "s", on_disk=True, **given),
        fitted("DILN", rows, tmp_path / "s", on_disk=False, **given),
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("several_shards")
@pytest.mark.parametrize("part", ["tokens", "topics", "places"])
@pytest.mark.parametrize(
    ("spoil", "said"), [("flip", "is not as it was written"), ("cut", "cut off"), ("unlink", "No such")]
)
def test_a_scratch_file_that_is_spoilt_under_way_is_named(part, spoil, said, rows, tmp_path):
    victim = tmp_path / "s" / f"3.{part}"

    def call():
        data = bytearray(victim.read_bytes())
        data[len(data) // 2] ^= 1
        victim.unlink()
        if spoil != "unlink":
            victim.write_bytes(data if spoil == "flip" else data[:-3])

    with pytest.raises(StoreError, match=rf"{re.escape(str(victim))}: the scratch file .*{said}"):
        fitted("DILN", rows, tmp_path / "s", on_disk=True, look=Look(4, call))
    assert not list(tmp_path.iterdir())


@pytest.fixture
def full_disk():
    """Has no file grow any more, once it is called."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("several_shards")
def test_a_disk_that_is_full_at_once_is_named(rows, tmp_path, full_disk):
    full_disk()
    with pytest.raises(StoreError, match=r"0\.tokens: there is no room left on the disk; make room or name another"):
        fitted("DILN", rows, tmp_path / "s", on_disk=True)


@pytest.mark.usefixtures("several_shards")
def test_a_disk_that_fills_under_way_is_named_and_the_checkpoint_stays(rows, tmp_path, full_disk):
    kept = Checkpoints(tmp_path / "c", 0)
    with (
        pytest.warns(DilnWarning, match="no checkpoint was written"),
        pytest.raises(StoreError, match=r"\.topics: there is no room left on the disk"),
    ):
        fitted("DILN", rows, tmp_path / "s", True, Look(4, full_disk), kept)
    assert [path.name for path in tmp_path.iterdir()] == ["c"]
    assert read_model(kept.directory, CHECKPOINT).content["chain"]["run"]["number"] == 3


def test_a_folder_that_another_fit_has_or_that_is_not_ours_is_refused(rows, tmp_path, monkeypatch):
    monkeypatch.setattr("diln.models.checks.LEAST", 1.0)
    with (
        writing(tmp_path / "s", SCRATCH, "replace"),
        pytest.raises(StoreError, match="another process is writing here"),
    ):
        fitted("DILN", rows, tmp_path / "s", on_disk=True)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("mine")
    with pytest.raises(StoreError, match=r"holds 'thesis.tex', which is no part of a scratch folder"):
        fitted("DILN", rows, tmp_path / "mine", on_disk=True)


def test_without_a_folder_the_system_s_own_is_used_beside_other_fits(rows, tmp_path, monkeypatch):
    monkeypatch.setattr("diln.models.checks.LEAST", 1.0)
    monkeypatch.setattr(disk, "gettempdir", lambda: str(tmp_path))
    seen = []
    with writing(tmp_path / "diln-scratch-0", SCRATCH, "replace"):
        fitted("DILN", rows, None, True, Look(3, lambda: seen.extend(path.name for path in tmp_path.iterdir())))
    assert sorted(seen) == ["diln-scratch-0", "diln-scratch-1"]
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal")
def test_what_a_killed_fit_has_left_the_next_removes(corpus, tmp_path):
    command = [sys.executable, "-m", "diln", "fit", str(corpus), "-o", str(tmp_path / "model"), "--topics", "6"]
    command += ["--memory", "1 MB", "--passes", "12", "--quiet"]
    code = (
        "import os, signal, sys\n"
        "from diln.inference.sampling.run import ChainRun\n"
        "import diln.models.checks as checks\n"
        "checks.LEAST, sys.argv = 1.0, sys.argv[1:]\n"
        "sweep, times = ChainRun.sweep, []\n"
        "def die(run, engine):\n"
        "    times.append(1)\n"
        "    if len(times) == 4 and os.environ['FATE'] == 'die':\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return sweep(run, engine)\n"
        "ChainRun.sweep = die\n"
        "from diln.cli.main import main\n"
        "main()\n"
    )
    told = ["1 B" if one == "1 MB" else one for one in command[2:]]
    given = [sys.executable, "-c", code, *told]
    died = subprocess.run(given, env={**os.environ, "FATE": "die"}, capture_output=True, timeout=300, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr
    left = {path.name for path in (tmp_path / "model.scratch").iterdir()}
    assert {LOCK, "0.tokens", "0.topics", "0.places"} <= left
    subprocess.run(given, env={**os.environ, "FATE": ""}, capture_output=True, timeout=300, check=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model"]


def test_a_corpus_that_is_spoilt_before_its_documents_are_read_is_named(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr("diln.models.checks.LEAST", 1.0)
    Corpus.open(corpus).save(tmp_path / "copy")
    rows = CorpusRows(Corpus.open(tmp_path / "copy"))
    victim = next((tmp_path / "copy").glob("*/counts.npy"))
    data = bytearray(victim.read_bytes())
    data[-1] ^= 1
    victim.write_bytes(data)
    with pytest.raises(StoreError, match=r"counts.npy: the file does not match its checksum; the corpus is damaged"):
        fitted("DILN", rows, tmp_path / "s", on_disk=True)
    victim.unlink()
    with pytest.raises(StoreError, match=r"counts.npy"):
        fitted("DILN", rows, tmp_path / "s", on_disk=True)


@pytest.mark.usefixtures("several_shards")
def test_a_corpus_that_is_gone_once_its_documents_are_read_is_not_missed(corpus, tmp_path):
    Corpus.open(corpus).save(tmp_path / "copy")
    rows = CorpusRows(Corpus.open(tmp_path / "copy"))

    def remove():
        for path in (tmp_path / "copy").glob("*/*.npy"):
            path.unlink()

    found = fitted("DILN", rows, tmp_path / "s", True, Look(2, remove))
    same(found, fitted("DILN", CorpusRows(Corpus.open(corpus)), None, on_disk=False))


def test_only_what_a_step_has_changed_is_written(rows, tmp_path, monkeypatch):
    written = []
    write = Stored.write.__func__
    monkeypatch.setattr(
        Stored, "write", classmethod(lambda cls, path, arrays: (written.append(path.name), write(cls, path, arrays))[1])
    )
    tokens = Tokens.of(rows.take(np.arange(5)))
    places = Places(np.zeros((5, 2), np.float32), np.zeros(5, np.float32))
    shard = DiskShard.of(SampledDocuments.new(tokens, places, np.arange(5)), tmp_path, 7)
    assert written == ["7.tokens", "7.topics", "7.places"]
    written.clear()
    shard.opened()
    shard.closed()
    shard.closed()
    assert written == []
    shard.opened().topics[0] = 3
    shard.closed()
    shard.opened().places.s[1] = 2.5
    shard.closed()
    assert written == ["7.topics", "7.places"]
    docs = shard.opened()
    assert (docs.topics[0], docs.places.s[1]) == (3, 2.5)


@pytest.mark.parametrize(
    ("given", "size"),
    [("8 GB", 8e9), ("500mb", 5e8), ("1.5 TB", 1.5e12), ("2000000", 2e6), (" 3 MB ", 3e6), ("auto", None)],
)
def test_sizes_of_memory_are_read(given, size):
    assert bytes_of(given) == size


@pytest.mark.parametrize(
    "given", ["", "lots", "8 GiB of it", "-3 GB", "0 GB", "10 KB", 8, None, "1e9 GB", "9" * 400], ids=str
)
def test_what_is_no_size_of_memory_is_refused(given):
    with pytest.raises(ParameterError, match=r'memory is .*; give a size from "1 MB" on, such as "8 GB", or "auto"'):
        parameters_of("DILN", {"memory": given})


def test_free_memory_is_what_is_left_of_the_narrowest_limit(tmp_path):
    proc = tmp_path / "meminfo"
    proc.write_text("MemTotal:  9000000 kB\nMemAvailable:  4000000 kB\n")
    assert memory.free(proc, tmp_path) == 4000000 * 1024
    (tmp_path / "memory.max").write_text("2000000000\n")
    (tmp_path / "memory.current").write_text("500000000\n")
    assert memory.free(proc, tmp_path) == 1.5e9
    assert memory.total(tmp_path) == 2e9
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.free(proc, tmp_path) == 4000000 * 1024
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "memory.limit_in_bytes").write_text("800")
    (tmp_path / "memory" / "memory.usage_in_bytes").write_text("900")
    assert memory.free(proc, tmp_path) == 0


def test_what_is_too_much_for_memory_is_kept_on_disk_and_told(rows, tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "gettempdir", lambda: str(tmp_path))
    corpus = rows.corpus
    model = DILN(6, max_iter=4, random_state=0, inference=Sampling())
    plain = model.fit(corpus).topic_word_
    monkeypatch.setattr(memory, "free", lambda: 100.0)
    with pytest.warns(
        DilnWarning, match=r"150 documents would take 0.1 MB of memory and may take 0.0 MB, half of what"
    ):
        found = model.fit(corpus).topic_word_
    np.testing.assert_array_equal(found, plain)
    monkeypatch.setattr(memory, "free", lambda: 1e12)
    np.testing.assert_array_equal(model.fit(corpus).topic_word_, plain)  # without a word
