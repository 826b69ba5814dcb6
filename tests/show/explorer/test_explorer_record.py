"""The course of a fit: what it writes down costs nothing, moves no number, and is followed to its end."""

import asyncio
import json
import shutil
import time
from dataclasses import asdict
from itertools import pairwise

import numpy as np
import pytest
from shop import client, make_corpus

from diln.errors import StoreError
from diln.inference.progress import Progress, Sight
from diln.models.counts import CorpusRows
from diln.models.fitting import fit
from diln.models.parameters import parameters_of
from diln.show.explorer.record import FlatView, Record, beside, row_of, seen
from diln.show.explorer.routes import training as routes
from diln.show.explorer.start import is_being_fitted, open_desk
from diln.show.explorer.training import Training


def progress(number: int) -> Progress:
    return Progress(number, 100 * number, 0.5 * number, 7, score=-6.5, alpha=1.5)


def sight(n_topics: int = 4, dims: int = 3, seed: int = 0) -> Sight:
    rng = np.random.default_rng(seed)
    counts = rng.gamma(1, 10, (12, n_topics)).astype(np.float32)
    return Sight(counts, counts.sum(axis=0).astype(np.float64), rng.normal(size=(n_topics, dims)))


def fitted_with(parameters, see=None, look=None):
    corpus = make_corpus(60)
    return fit(parameters, CorpusRows(corpus), corpus.vocabulary, look, see=see)


SMALL = {"n_components": 5, "random_state": 3, "n_jobs": 1}


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("DILN", {"n_dims": 2, "max_iter": 25}),
        ("DILN", {"n_dims": 2, "max_iter": 25, "n_chains": 2, "n_jobs": 2}),
        ("DILN", {"n_dims": 2, "max_iter": 5, "inference": "variational"}),
        ("LDA", {"max_iter": 1, "learning_method": "online"}),
    ],
    ids=["batch", "chains", "variational", "online"],
)
def test_whoever_looks_on_moves_no_number(kind, given):
    parameters = parameters_of(kind, {**SMALL, **given})
    sights = []

    def see(offered):
        found = offered()
        sights.append((found.counts.shape, found.locations.shape[1]))
        assert len(found.tokens) == found.counts.shape[1] == len(found.locations)

    alone, watched = fitted_with(parameters), fitted_with(parameters, see)
    assert len(sights) == len(watched.history)
    np.testing.assert_array_equal(alone.posterior.statistics, watched.posterior.statistics)
    np.testing.assert_array_equal(alone.posterior.locations, watched.posterior.locations)


def test_a_record_is_followed_line_by_line(tmp_path):
    folder = beside(tmp_path / "model")
    assert folder.name == "model.training"
    with Record(folder) as record:
        record.vocabulary = [f"word{at}" for at in range(12)]
        training = Training([], folder)
        record.look(progress(1))
        record.see(sight)
        told = training.told()
        assert told["running"]
        assert [row["sweep"] for row in told["rows"]] == [1]
        assert told["rows"][0] | {"topics": 7, "score": -6.5, "alpha": 1.5} == told["rows"][0]
        assert len(told["latest"]["topics"]) == len(told["latest"]["map"]["points"]) == 4
        record.look(progress(2))
        assert training.told()["total"] == 2
    training.poll()
    assert not training.running
    assert training.note == ""
    assert not folder.exists()


def test_a_fit_that_failed_is_told(tmp_path):
    with pytest.raises(RuntimeError), Record(tmp_path / "m.training") as record:
        training = Training([], tmp_path / "m.training")
        record.look(progress(1))
        training.poll()
        raise RuntimeError
    training.poll()
    assert not training.running
    assert training.note


def test_a_fit_that_was_killed_is_noticed(tmp_path):
    record = Record(tmp_path / "m.training").__enter__()
    training = Training([], tmp_path / "m.training")
    record.look(progress(1))
    training.poll()
    training.poll()
    assert training.running
    record.file.close()  # as when its process is gone
    training.poll()
    assert not training.running
    assert "ended" in training.note


def test_a_fit_that_is_done_between_two_looks_is_done(tmp_path, monkeypatch):
    record, training = Record(tmp_path / "m.training"), Training([], tmp_path / "m.training")
    record.__enter__()
    training.poll()
    alone = training._left_alone

    def ending() -> bool:
        record.__exit__(None, None, None)
        return alone()

    monkeypatch.setattr(training, "_left_alone", ending)
    training.poll()
    assert (training.running, training.note) == (False, "")


def test_a_record_removes_nothing_of_others(tmp_path):
    folder = tmp_path / "m.training"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    (folder / "map.json").write_text("mine, too")
    with pytest.raises(StoreError, match=r"notes\.txt"):
        Record(folder).__enter__()
    assert (folder / "map.json").read_text() == "mine, too"
    (folder / "notes.txt").unlink()
    with Record(folder):  # what a fit that was killed has left is replaced
        (folder / "late.txt").write_text("mine")
    assert [path.name for path in folder.iterdir()] == ["late.txt"]


@pytest.mark.parametrize("content", ["[]", "3", '"done"', "{}", "[" * 100_000, "\x00"])
def test_a_record_of_another_form_is_left_out(tmp_path, content):
    (tmp_path / "progress.jsonl").write_text(f"{content}\n")
    (tmp_path / "map.json").write_text(content)
    training = Training([], tmp_path)
    training.poll()
    told = training.told()  # nobody writes any more
    assert not training.running
    assert told["latest"] is None


def test_a_record_that_is_a_link_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").write_text('{"secret": 1, "map": null}\n')
    folder = tmp_path / "m.training"
    folder.mkdir()
    for name in ("progress.jsonl", "map.json"):
        (folder / name).symlink_to(tmp_path / "elsewhere")
    told = Training([], folder).told()
    assert told["rows"] == []
    assert told["latest"] is None


def test_looking_takes_a_hundredth_of_the_time_at_most(tmp_path, monkeypatch):
    clock, work = iter(np.arange(0, 1000, 0.5)), iter(np.arange(0, 1000, 0.25))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(clock)))
    monkeypatch.setattr(time, "thread_time", lambda: float(next(work)))
    looks = []
    with Record(tmp_path / "m.training") as record:
        record.vocabulary = [f"word{at}" for at in range(12)]
        for number in range(400):
            record.see(lambda number=number: looks.append(number) or sight())
    assert looks[0] == 0
    assert all(later - sooner == 50 for sooner, later in pairwise(looks))  # 0.25 s of work, every 25 s


def test_a_full_disk_does_not_end_a_fit(tmp_path, monkeypatch):
    with Record(tmp_path / "m.training") as record:
        record.vocabulary = [f"word{at}" for at in range(12)]

        def full(*_):
            raise OSError(28, "No space left on device")

        record.file.close()
        monkeypatch.setattr(record, "file", type("Full", (), {"write": full, "close": lambda self: None})())
        record.look(progress(1))
        record.look(progress(2))
        record.see(sight)
    assert not (tmp_path / "m.training").exists()


def test_the_flat_view_does_not_turn_by_itself():
    view, there = FlatView(), sight(6)
    shares = there.tokens / there.tokens.sum()
    first, explained = view.places(there.locations, shares)
    mirrored, _ = view.places(there.locations + 1e-6, shares)
    np.testing.assert_allclose(first, mirrored, atol=1e-3)
    assert 0 < explained <= 1
    assert np.abs(first).max() == pytest.approx(0.95)


def test_topics_without_places_have_words():
    found = seen(sight(3, dims=0), [f"word{at}" for at in range(12)], FlatView())
    assert found["map"] is None
    counts = sight(3, dims=0).counts
    assert found["topics"][0]["words"][0] == f"word{counts[:, 0].argmax()}"


def test_a_model_remembers_how_it_was_fitted(page, desk):
    found = page.get("/api/training").json()
    assert not found["running"]
    assert found["total"] == len(found["rows"]) == len(desk.atlas.fitted.history)
    assert found["rows"][-1]["topics"] == desk.atlas.fitted.history[-1]["n_topics"]


def test_a_long_history_is_thinned_and_keeps_its_end():
    told = Training([asdict(progress(number)) for number in range(1, 9001)]).told()
    assert told["total"] == 9000
    assert len(told["rows"]) <= 2001
    assert told["rows"][-1]["sweep"] == 9000


def test_rows_leave_out_what_is_not_known():
    assert "beta" not in row_of(asdict(progress(1)), 1)


def events(text: str) -> list[tuple[str, dict]]:
    blocks = [dict(line.split(": ", 1) for line in block.splitlines()) for block in text.strip().split("\n\n")]
    return [(block["event"], json.loads(block["data"])) for block in blocks]


def test_events_follow_a_fit_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(routes, "EVERY", 0.01)
    folder = tmp_path / "m.training"

    async def follow():
        with Record(folder) as record:
            record.vocabulary = [f"word{at}" for at in range(12)]
            training, found = Training([], folder), []
            stream = routes.follow(training, 0)
            for number in (1, 2):
                record.look(progress(number))
            record.see(sight)
            found = [await anext(stream) for _ in range(3)]
        training.poll()
        training.ended = True
        return found + [event async for event in stream]

    found = events("".join(asyncio.run(follow())))
    assert [name for name, _ in found] == ["progress", "progress", "map", "done"]
    assert found[1][1]["sweep"] == 2


def test_events_of_a_fit_that_is_over_end_at_once(page):
    with page.stream("GET", "/api/training/events", params={"since": 0}) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        found = events("".join(answer.iter_text()))
    assert found[-1][0] == "done"
    assert len(found) > 5


def test_only_some_pages_follow_a_fit(desk):
    page = client(desk, listeners=0)
    assert page.get("/api/training/events").status_code == 503


def test_a_desk_waits_for_the_model_and_then_shows_it(tmp_path, shop):
    model = tmp_path / "model"
    with Record(beside(model)) as record:
        assert is_being_fitted(model)
        desk = open_desk(model, shop / "corpus", None, read_only=False, jobs=1)
        page = client(desk)
        record.look(progress(1))
        assert page.get("/api/model").json()["watching"]
        assert page.get("/api/topics").status_code == 409
        assert page.get("/api/training").json()["running"]
        shutil.copytree(shop / "model0", model)
    for _ in range(600):
        if desk.training.ended:
            break
        time.sleep(0.05)
    assert page.get("/api/topics").status_code == 200
    assert not page.get("/api/training").json()["running"]
    desk.close()


def test_a_desk_says_if_there_will_be_no_model(tmp_path):
    model = tmp_path / "model"
    with pytest.raises(RuntimeError), Record(beside(model)):
        desk = open_desk(model, None, None, read_only=False, jobs=1)
        raise RuntimeError
    for _ in range(200):
        if desk.training.ended:
            break
        time.sleep(0.05)
    assert not desk.ready
    assert client(desk).get("/api/training").json()["note"]


def test_a_folder_that_is_no_fit_is_no_fit(tmp_path):
    assert not is_being_fitted(tmp_path / "nothing")
    (tmp_path / "model.training").mkdir()
    training = Training([], tmp_path / "model.training")
    training.poll()
    assert training.running  # it may be about to begin
    (tmp_path / "model.training").rmdir()
    training.poll()
    assert not training.running
