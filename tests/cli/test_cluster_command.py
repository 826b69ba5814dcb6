"""``--scheduler``: the same model and the same answers from workers, and what is said of them."""

import shutil

import numpy as np
import pytest
from clusters import processes
from commands import diln, write_texts

from diln.analysis.index import Index
from diln.engine.dask import engine
from diln.models import counts
from diln.models.files import read_model


def tensors(directory):
    return read_model(directory).tensors


def test_workers_of_this_machine_give_the_model_of_threads(shelf, tmp_path):
    options = ("--topics", 5, "--passes", 12, "--checkpoint-every", 0)
    alone = diln("fit", shelf / "corpus", "-o", tmp_path / "alone", "-q", *options)
    there = diln("fit", shelf / "corpus", "-o", tmp_path / "there", "-q", "--scheduler", "local:1", *options)
    assert (alone.code, there.code) == (0, 0), there.err
    mine, theirs = tensors(tmp_path / "alone"), tensors(tmp_path / "there")
    assert mine.keys() == theirs.keys()
    assert all(np.array_equal(mine[name], theirs[name]) for name in mine)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alone", "there"]


@pytest.mark.parametrize(
    ("scheduler", "said"),
    [
        ("local:none", "error: 'local:none' is no number of workers; give local:N, such as local:4"),
        ("tcp://127.0.0.1:9", "error: no scheduler answers at 'tcp://127.0.0.1:9' "),
        ("nonsense", "error: no scheduler answers at 'nonsense' "),
    ],
)
def test_a_scheduler_that_is_none_is_one_sentence(scheduler, said, shelf, tmp_path, monkeypatch):
    monkeypatch.setattr("diln.engine.dask.connect.CONNECTING", "1 s")
    done = diln("fit", shelf / "corpus", "-o", tmp_path / "model", "-q", "--scheduler", scheduler)
    assert done.code == 1 and done.err.startswith(said) and done.err.count("\n") == 1, done.err
    assert list(tmp_path.iterdir()) == []


def test_waiting_for_workers_is_for_clusters(shelf, tmp_path):
    done = diln("fit", shelf / "corpus", "-o", tmp_path / "model", "-q", "--worker-timeout", 5)
    assert done.code == 2 and "--worker-timeout is for --scheduler" in " ".join(done.err.replace("│", " ").split())


@pytest.fixture(scope="module")
def address():
    with processes(2) as (client, _):
        yield client.scheduler.address


@pytest.fixture
def sent(monkeypatch):
    """Steps that workers were given."""
    found, each = set(), engine.Tasks.each
    monkeypatch.setattr(counts, "PART", 64)
    monkeypatch.setattr(engine, "LITTLE", 0)
    monkeypatch.setattr(
        engine.Tasks, "each", lambda self, step, *given: found.add(step.__name__) or each(self, step, *given)
    )
    return found


@pytest.mark.parametrize(
    ("words", "steps"),
    [
        (("evaluate",), {"step_complete", "step_look_up"}),
        (("evaluate", "--method", "draws"), {"step_complete", "step_look_up"}),
        (("metrics", "--corpus"), {"step_together"}),
    ],
)
def test_workers_give_the_numbers_of_threads(words, steps, shelf, address, sent):
    given = (words[0], shelf / "diln", *words[1:], shelf / "corpus", "--json")
    alone, there = diln(*given), diln(*given, "--scheduler", address)
    assert (alone.code, there.code) == (0, 0), there.err
    assert there.out == alone.out and sent == steps


def test_workers_give_the_proportions_of_threads(shelf, tmp_path, address, sent):
    for name, more in (("alone", ()), ("there", ("--scheduler", address))):
        done = diln("transform", shelf / "ctm", shelf / "corpus", "-o", tmp_path / f"{name}.npz", "-q", *more)
        assert done.code == 0, done.err
    alone, there = (np.load(tmp_path / f"{name}.npz") for name in ("alone", "there"))
    assert all(np.array_equal(alone[name], there[name]) for name in alone) and sent == {"step_transform"}


def test_workers_make_the_index_and_the_update_of_threads(shelf, tmp_path, address, sent):
    more = write_texts(tmp_path / "more.jsonl", 90, seed=3)
    for name, where in (("alone", ()), ("there", ("--scheduler", address, "--worker-timeout", 60))):
        model = tmp_path / name
        shutil.copytree(shelf / "hdp", model)
        shutil.rmtree(model / "documents")
        done = [diln("index", model, shelf / "corpus", "-q", *where)]
        done += [diln("update", model, more, "--new-topics", "-q", *where)]
        assert {one.code for one in done} == {0}, done
    alone, there = (Index.open(tmp_path / name / "documents") for name in ("alone", "there"))
    assert all(np.array_equal(alone._arrays[name], there._arrays[name]) for name in alone._arrays)
    mine, theirs = tensors(tmp_path / "alone"), tensors(tmp_path / "there")
    assert all(np.array_equal(mine[name], theirs[name]) for name in mine)
    assert sent == {"step_look_up", "step_index", "step_together", "step_visit", "step_score"}


def test_workers_build_a_corpus(tmp_path, address):
    for number in range(3):
        write_texts(tmp_path / f"{number}.jsonl", 20, number)
    for name, told in (("here", ()), ("there", ("--scheduler", address, "--worker-timeout", 60))):
        done = diln("corpus", "build", tmp_path / "*.jsonl", "-o", tmp_path / name, "--id", "none", "-q", *told)
        assert done.code == 0, done.err
    here, there = (
        {
            path.relative_to(tmp_path / name): path.read_bytes()
            for path in (tmp_path / name).rglob("*")
            if path.is_file()
        }
        for name in ("here", "there")
    )
    assert here == there
