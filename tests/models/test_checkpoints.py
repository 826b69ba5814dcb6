"""A fit that is stopped at any moment goes on from its checkpoint to the same bits as if it had not been."""

import errno
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from killing import begin, beside, complete, differences, killed_and_resumed, place, write_corpus

from diln.cli.fit import beside as said_to_be
from diln.corpus import Corpus
from diln.errors import DilnWarning, StoreError
from diln.inference.sampling import documents
from diln.models import checkpoints, fitting, parameters
from diln.models.checkpoints import CHECKPOINT, Checkpoints, fingerprint
from diln.models.counts import CorpusRows, MatrixRows, as_rows
from diln.models.files import read_model
from diln.models.parameters import parameters_of

EVERY_SWEEP = ("--checkpoint-every", "0")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("documents") / "corpus", 150)


@pytest.fixture(scope="module")
def whole(corpus, tmp_path_factory):
    """Models of fits that nobody stopped, by the way they learn."""
    known = {}

    def model_of(learning: str):
        if learning not in known:
            known[learning] = complete(corpus, tmp_path_factory.mktemp("whole") / learning, learning)
        return known[learning]

    return model_of


@pytest.mark.parametrize(("learning", "kills"), [("batch", 3), ("grow", 2), ("online", 2)])
def test_a_fit_killed_at_random_moments_ends_in_the_same_bits(learning, kills, corpus, whole, tmp_path):
    rng = np.random.default_rng(kills)
    stored, deaths = killed_and_resumed(corpus, tmp_path / "model", learning, kills, rng)
    assert differences(whole(learning), stored) == [], deaths
    assert not beside(tmp_path / "model").exists()


def test_a_fit_killed_as_it_writes_a_checkpoint_has_the_last_one(corpus, whole, tmp_path):
    # Six syncs to a checkpoint: tensors, terms, the shard and its folder, the manifest and its folder. The number of
    # jobs may be another each time.
    for sync, jobs, found in ((9, "1", "sweep 1"), (7, "2", "sweep 2"), (16, "1", "sweep 4")):
        process = begin(corpus, tmp_path / "model", "batch", *EVERY_SWEEP, "--resume", "--jobs", jobs, die=sync)
        _, printed = process.communicate(timeout=120)
        assert process.returncode == -signal.SIGKILL, printed
        assert place(tmp_path / "model") == found
    stored = complete(corpus, tmp_path / "model", "batch", *EVERY_SWEEP, "--resume", "--jobs", "2")
    assert stored.content["parameters"]["n_jobs"] == 2
    assert differences(whole("batch"), stored, but=("n_jobs",)) == []
    assert not beside(tmp_path / "model").exists()


class Stopped(Exception):  # noqa: N818
    """Stands for a process that ends."""


class StopAt:
    """Ends a fit after so many sweeps or steps, and knows what it has seen."""

    def __init__(self, number: int | None = None) -> None:
        self.number, self.seen = number, []

    def look(self, progress) -> None:
        self.seen.append(progress)
        if len(self.seen) == self.number:
            raise Stopped


QUICK = {"n_components": 6, "max_iter": 12, "random_state": 0, "max_doc_update_iter": 8}


@pytest.fixture
def rows(corpus) -> CorpusRows:
    return CorpusRows(Corpus.open(corpus))


def stopped(rows, directory: Path, kind: str = "DILN", after: int = 4, **given) -> Checkpoints:
    """A fit that was stopped, with its checkpoint of the sweep before."""
    kept, terms = Checkpoints(directory, 0), [f"t{i}" for i in range(rows.n_terms)]
    with pytest.raises(Stopped):
        fitting.fit(parameters_of(kind, {**QUICK, **given}), rows, terms, StopAt(after), kept)
    return kept


def resumed(rows, directory: Path, kind: str = "DILN", look=None, **given):
    kept, terms = Checkpoints(directory, 1000, resume=True), [f"t{i}" for i in range(rows.n_terms)]
    return fitting.fit(parameters_of(kind, {**QUICK, **given}), rows, terms, look, kept)


@pytest.mark.parametrize("kind", ["DILN", "HDP", "LDA", "CTM"])
@pytest.mark.parametrize(
    ("learning", "phase", "after"),
    [("batch", "chain", 2), ("batch", "chain", 9), ("online", "chain", 9), ("online", "online", 3)],
)
def test_every_model_goes_on_from_any_of_its_parts(kind, learning, phase, after, rows, tmp_path):
    given = {"learning_method": learning, "batch_size": 40, "max_iter": 12 if learning == "batch" else 2}
    given |= {"keep_states": 2}
    terms = [f"t{i}" for i in range(rows.n_terms)]
    one = fitting.fit(parameters_of(kind, {**QUICK, **given}), rows, terms)
    begun = len(one.history) - one.steps if phase == "online" else 0  # sweeps of the chain, which is done by then
    kept = stopped(rows, tmp_path / "c", kind, begun + after, **given)
    assert read_model(kept.directory, CHECKPOINT).content["phase"] == phase
    look = StopAt()
    other = resumed(rows, tmp_path / "c", kind, look, **given)
    assert [p.iteration for p in look.seen] == [entry["iteration"] for entry in one.history]
    for name, tensor in one.posterior.tensors().items():
        assert np.array_equal(tensor, other.posterior.tensors()[name]), name
    assert one.posterior.numbers() == other.posterior.numbers()
    assert [{**entry, "seconds": 0} for entry in one.history] == [{**entry, "seconds": 0} for entry in other.history]


def test_a_fit_that_was_done_but_not_saved_is_done_at_once(rows, tmp_path):
    terms = [f"t{i}" for i in range(rows.n_terms)]
    one = fitting.fit(parameters_of("DILN", QUICK), rows, terms, None, Checkpoints(tmp_path / "c", 0))
    assert read_model(tmp_path / "c", CHECKPOINT).content["chain"]["run"]["done"]
    other = resumed(rows, tmp_path / "c")
    assert one.history == other.history  # times too: no sweep was made
    for name, tensor in one.posterior.tensors().items():
        assert np.array_equal(tensor, other.posterior.tensors()[name]), name


def test_a_seed_that_was_drawn_is_that_of_the_checkpoint(rows, tmp_path):
    kept = stopped(rows, tmp_path / "c", random_state=None)
    seed = read_model(kept.directory, CHECKPOINT).content["seed"]
    assert resumed(rows, tmp_path / "c", random_state=None).seed == seed


def test_a_fit_with_a_limit_of_time_can_be_given_more(rows, tmp_path):
    stopped(rows, tmp_path / "c", max_time=1000)
    assert resumed(rows, tmp_path / "c", max_time=2000).passes == QUICK["max_iter"]


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        ("DILN", {"n_components": 7}, "a fit with --n_components 6, not 7"),
        ("DILN", {"max_iter": None}, "a fit with --max_iter 12, not left out"),
        ("DILN", {"random_state": 1}, "a fit with --random_state 0, not 1"),
        ("HDP", {}, "a fit with --model DILN, not HDP"),
    ],
    ids=str,
)
def test_a_checkpoint_of_other_parameters_is_refused(kind, given, message, rows, tmp_path):
    directory = stopped(rows, tmp_path / "c").directory
    kept = Checkpoints(directory, 0, resume=True, name=lambda name: f"--{name}")
    parameters = parameters_of(kind, {**QUICK, **given})
    with pytest.raises(StoreError, match=f"the checkpoint is of {message}; give what it was begun with, or begin anew"):
        fitting.fit(parameters, rows, [f"t{i}" for i in range(rows.n_terms)], None, kept)


def test_a_checkpoint_of_other_documents_is_refused(rows, tmp_path):
    directory = stopped(rows, tmp_path / "c").directory
    counts = rows.everything().copy()
    counts.data = counts.data[::-1].copy()
    assert (counts.data != rows.everything().data).any()
    for other, terms in (
        (MatrixRows(as_rows(counts)), [f"t{i}" for i in range(rows.n_terms)]),
        (rows, [f"u{i}" for i in range(rows.n_terms)]),
    ):
        kept = Checkpoints(directory, 0, resume=True)
        with pytest.raises(StoreError, match="the checkpoint is of other documents; give what it was begun with"):
            fitting.fit(parameters_of("DILN", QUICK), other, terms, None, kept)


def test_a_checkpoint_of_another_version_is_taken_up_with_a_word(rows, tmp_path, monkeypatch):
    whole = resumed(rows, tmp_path / "none")
    stopped(rows, tmp_path / "c")
    monkeypatch.setattr(checkpoints.diln, "__version__", "99.0")
    with pytest.warns(DilnWarning, match=r"of diln 0\..*, and this is 99.0; the model may differ in its last digits"):
        found = resumed(rows, tmp_path / "c")
    np.testing.assert_array_equal(found.topic_word, whole.topic_word)


def test_a_checkpoint_begun_from_another_model_is_refused(rows, tmp_path):
    terms = [f"t{i}" for i in range(rows.n_terms)]
    starts = [fitting.fit(parameters_of("LDA", {**QUICK, "random_state": seed}), rows, terms) for seed in (0, 1)]
    stopped(rows, tmp_path / "c", init=starts[0])
    assert resumed(rows, tmp_path / "c", init=starts[0]).passes == QUICK["max_iter"]
    with pytest.raises(StoreError, match="a fit with another init"):
        resumed(rows, tmp_path / "c", init=starts[1])


def test_the_same_documents_are_known_in_any_form(rows):
    terms = [f"t{i}" for i in range(rows.n_terms)]
    parameters, counts = parameters_of("DILN", QUICK), rows.everything()
    found = fingerprint(parameters, rows, terms)
    assert fingerprint(parameters, MatrixRows(as_rows(counts.astype(np.int64))), terms) == found
    assert fingerprint(parameters_of("DILN", {**QUICK, "n_jobs": 2, "verbose": 1}), rows, terms) == found


@pytest.mark.parametrize("part", ["manifest.json", "tensors.safetensors", "terms.json", "shards/0"])
def test_a_damaged_checkpoint_is_named(part, rows, tmp_path):
    directory = stopped(rows, tmp_path / "c").directory
    victim = next(path for path in directory.rglob("*") if path.as_posix().endswith(part))
    data = bytearray(victim.read_bytes())
    data[len(data) // 2] ^= 1
    victim.write_bytes(data)
    with pytest.raises(StoreError, match="the checkpoint is damaged: begin anew with --force in place of --resume"):
        resumed(rows, tmp_path / "c")
    anew = stopped(rows, tmp_path / "c")  # writes over it
    assert read_model(anew.directory, CHECKPOINT).content["phase"] == "chain"


def test_a_shard_that_is_missing_or_one_too_many_is_named(rows, tmp_path):
    directory = stopped(rows, tmp_path / "c").directory
    next(directory.glob("*-shards/0")).unlink()
    with pytest.raises(StoreError, match=r"shards/0: the file is missing; the checkpoint is damaged: begin anew"):
        resumed(rows, tmp_path / "c")


@pytest.mark.parametrize("kind", ["DILN", "HDP", "CTM"])
@pytest.mark.parametrize("learning", ["batch", "grow"])
def test_a_fit_of_several_shards_goes_on_with_any_number_of_jobs(kind, learning, rows, tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "SHARD", int(rows.n_tokens) // 6)
    monkeypatch.setattr(parameters, "STAGES", ((20, 60), (40, 20)))
    given = {"learning_method": learning, "n_jobs": 2}
    terms = [f"t{i}" for i in range(rows.n_terms)]
    one = fitting.fit(parameters_of(kind, {**QUICK, **given, "n_jobs": 1}), rows, terms)
    directory = stopped(rows, tmp_path / "c", kind, 6, **given).directory
    assert len(list(directory.glob("*-shards/*"))) == 8
    other = resumed(rows, tmp_path / "c", kind, **given)
    for name, tensor in one.posterior.tensors().items():
        assert np.array_equal(tensor, other.posterior.tensors()[name]), name


def test_a_full_disk_is_a_warning_and_the_fit_goes_on(rows, tmp_path, monkeypatch):
    terms, write, calls = [f"t{i}" for i in range(rows.n_terms)], checkpoints.write_model, 0

    def fill(*given) -> None:
        nonlocal calls
        calls += 1
        if calls > 3:
            monkeypatch.setattr(os, "fsync", no_room)
        write(*given)

    def no_room(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(checkpoints, "write_model", fill)
    kept = Checkpoints(tmp_path / "c", 0)
    with pytest.warns(DilnWarning, match=r"no checkpoint was written, and the fit goes on without: .*no room left"):
        fitted = fitting.fit(parameters_of("DILN", QUICK), rows, terms, None, kept)
    assert fitted.passes == calls == QUICK["max_iter"]
    assert read_model(kept.directory, CHECKPOINT).content["chain"]["run"]["number"] == 3
    assert len(list(kept.directory.iterdir())) == 5  # manifest, lock, tensors, terms, shards


def test_what_is_not_a_checkpoint_is_neither_written_over_nor_removed(rows, tmp_path):
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "thesis.tex").write_text("mine")
    kept = Checkpoints(tmp_path / "c", 0)
    with pytest.raises(StoreError, match=r"holds 'thesis.tex', which is no part of a checkpoint"):
        kept.check()
    kept.remove()
    assert [path.name for path in (tmp_path / "c").iterdir()] == ["thesis.tex"]


def test_removing_leaves_nothing(rows, tmp_path):
    kept = stopped(rows, tmp_path / "c")
    assert kept.there
    assert kept.current
    kept.remove()
    assert not (tmp_path / "c").exists()
    kept.remove()


def test_checkpoints_are_written_as_often_as_said(rows, tmp_path, monkeypatch):
    now, written = 0.0, []

    class Clock:
        def look(self, progress) -> None:
            nonlocal now
            now += 1.0

    monkeypatch.setattr(checkpoints.time, "monotonic", lambda: now)
    monkeypatch.setattr(
        checkpoints, "write_model", lambda _, content, *rest: written.append(content["chain"]["run"]["number"])
    )
    terms = [f"t{i}" for i in range(rows.n_terms)]
    fitting.fit(parameters_of("DILN", QUICK), rows, terms, Clock(), Checkpoints(tmp_path / "c", 5.0))
    assert written == [5, 10]


@pytest.mark.parametrize(("first", "expected"), [(3.0, [3, 8]), (100.0, [])])
def test_the_first_checkpoint_may_come_at_another_time(first, expected, rows, tmp_path, monkeypatch):
    now, written = 0.0, []

    class Clock:
        def look(self, progress) -> None:
            nonlocal now
            now += 1.0

    monkeypatch.setattr(checkpoints.time, "monotonic", lambda: now)
    monkeypatch.setattr(
        checkpoints, "write_model", lambda _, content, *rest: written.append(content["chain"]["run"]["number"])
    )
    kept, terms = Checkpoints(tmp_path / "c", 5.0, first=first), [f"t{i}" for i in range(rows.n_terms)]
    fitting.fit(parameters_of("DILN", QUICK), rows, terms, Clock(), kept)
    assert written == expected


def test_there_are_none_of_variational_inference(rows, tmp_path):
    with pytest.raises(ValueError, match="checkpoints are for inference='sampling'"):
        fitting.fit(
            parameters_of("DILN", {"inference": "variational"}), rows, ["a"], None, Checkpoints(tmp_path / "c", 0)
        )


def test_the_command_puts_them_where_the_tests_look(tmp_path, monkeypatch):
    assert said_to_be(tmp_path / "model") == beside(tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    assert said_to_be(Path()) == beside(tmp_path)
    assert said_to_be(Path("model/")) == Path("model.checkpoint")
