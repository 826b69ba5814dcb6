"""A comparison does every run once, in any number of processes, and goes on after whatever has stopped it."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from diln import analysis
from diln.analysis.study import STUDIES, Comparison, Shelf, comparison, settings_for
from diln.analysis.study.measure import StoppedError, perform
from diln.analysis.study.runs import run_of
from diln.analysis.study.shelf import MEASURES
from diln.analysis.study.streams import JUDGED
from diln.analysis.study.table import ALONE
from diln.corpus import Corpus
from diln.errors import DilnError, StoreError, WorkerError
from diln.models.fitted import Fitted
from diln.simulate import diln_corpus

TIMES = ("cpu_seconds",)
OPTIONS = (
    "--model", "hdp", "--model", "lda", "--topics", "3", "--topics", "5", "--prior", "0.1", "--seeds", "2",
    "--max-iter", "4", "--quiet",
)  # fmt: skip


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Corpus:
    return diln_corpus(80, 40, 5, doc_length=30, rng=1).corpus.save(tmp_path_factory.mktemp("documents") / "corpus")


def compared(corpus: Corpus, folder: Path, *studies: str, n_jobs: int = 1, **given) -> Comparison:
    told = {"models": ("HDP", "LDA"), "topics": (3, 5), "priors": (0.1,), "seeds": 2, "max_iter": 4, **given}
    made = Comparison(
        corpus, settings_for(corpus, **told), Shelf(folder), tuple(STUDIES[name] for name in studies or ("table",))
    )
    made.carry_out(n_jobs)
    return made


def timeless(value):
    """JSON without times."""
    if isinstance(value, dict):
        return {name: timeless(part) for name, part in value.items() if name not in TIMES}
    return [timeless(part) for part in value] if isinstance(value, list) else value


def results(folder: Path, name: str = "results.json"):
    return timeless(json.loads((folder / name).read_text("utf-8")))


@pytest.fixture(scope="module")
def whole(corpus, tmp_path_factory) -> Path:
    """A comparison that nobody stopped, of one process."""
    folder = tmp_path_factory.mktemp("whole") / "comparison"
    compared(corpus, folder)
    return folder


def test_every_run_is_a_file_that_says_what_it_is(whole):
    files = sorted(path.name for path in (whole / "runs").iterdir())
    assert len(files) == 2 + 2 * 2  # LDA's two numbers of topics, then two seeds of two models
    found = json.loads((whole / "runs" / files[0]).read_text("utf-8"))
    assert found["run"]["documents"] == "validation"
    assert found["run"]["model"] == "LDA"
    assert np.exp(-np.sum(found["result"]["log_likelihood"]) / np.sum(found["result"]["tokens"])) == pytest.approx(
        found["result"]["perplexity"]
    )


def test_several_processes_come_to_the_same_results(corpus, whole, tmp_path):
    compared(corpus, tmp_path / "two", n_jobs=2)
    assert results(tmp_path / "two") == results(whole)


def test_runs_that_are_done_are_not_done_again(corpus, whole, tmp_path, monkeypatch):
    compared(corpus, tmp_path / "again")
    before = results(tmp_path / "again")
    monkeypatch.setattr(comparison, "perform", pytest.fail)
    compared(corpus, tmp_path / "again")
    assert results(tmp_path / "again") == before == results(whole)


def test_more_seeds_need_only_the_runs_that_are_missing(corpus, tmp_path, monkeypatch):
    folder, done = tmp_path / "more", []
    compared(corpus, folder, seeds=1)
    assert ALONE in results(folder)["table"]["notes"]

    def count(place, run):
        done.append(run)
        return perform(place, run)

    monkeypatch.setattr(comparison, "perform", count)
    compared(corpus, folder)
    assert [(run.way, run.model, run.seed) for run in done] == [("model", "HDP", 1), ("model", "LDA", 1)]
    assert ALONE not in results(folder)["table"]["notes"]


def test_a_part_of_a_corpus_on_disk_is_compared_on_as_a_part(corpus, tmp_path):
    told = {"models": ("LDA",), "topics": (3,), "seeds": 1}
    made = compared(corpus[:40], tmp_path / "part", **told)
    compared(Corpus.from_matrix(corpus[:40].counts, corpus.vocabulary), tmp_path / "copy", **told)
    assert len(Corpus.open(made.shelf.corpus)) == 40
    assert results(tmp_path / "part") == results(tmp_path / "copy")


def test_results_of_other_documents_are_not_mixed_in(corpus, whole):
    other = diln_corpus(80, 40, 5, doc_length=30, rng=2).corpus
    before = results(whole)
    with pytest.raises(StoreError, match="holds a comparison on other documents; give the source"):
        compared(other, whole)
    assert results(whole) == before


@pytest.mark.parametrize("changed", ["version", "code"])
def test_results_of_other_code_are_not_mixed_in(corpus, tmp_path, monkeypatch, changed):
    compared(corpus, tmp_path / "old", models=("LDA",), topics=(3,), seeds=1)
    if changed == "version":
        monkeypatch.setattr("diln.__version__", "99.0")
    else:
        monkeypatch.setattr("diln.analysis.study.shelf.code", lambda: "other")
    with pytest.raises(StoreError, match="made by other code"):
        compared(corpus, tmp_path / "old", models=("LDA",), topics=(3,), seeds=1)


def test_a_folder_with_other_things_is_refused(corpus, tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(StoreError, match=r"'thesis\.txt', which is no part of a comparison"):
        compared(corpus, tmp_path)


def test_a_damaged_result_is_named(corpus, tmp_path):
    compared(corpus, tmp_path / "some", models=("LDA",), topics=(3,), seeds=1)
    (path,) = (tmp_path / "some" / "runs").iterdir()
    path.write_text("{")
    with pytest.raises(StoreError, match=f"{path.name}: cannot be read; remove it"):
        compared(corpus, tmp_path / "some", models=("LDA",), topics=(3,), seeds=1)


def test_a_damaged_result_is_named_before_any_fit(corpus, tmp_path, monkeypatch):
    folder = tmp_path / "some"
    compared(corpus, folder)
    first, *_, last = sorted((folder / "runs").iterdir())
    first.unlink()
    monkeypatch.setattr(comparison, "perform", pytest.fail)
    for damaged in ("", "{}", '{"result": 3}'):
        last.write_text(damaged)
        with pytest.raises(StoreError, match=f"{last.name}: cannot be read; remove it"):
            compared(corpus, folder)


@pytest.mark.parametrize("gone", ["all", "manifest.json"])
def test_a_model_that_is_gone_is_made_again(corpus, tmp_path, whole, gone):
    folder = tmp_path / "some"
    made = compared(corpus, folder)
    model = sorted((folder / "models").iterdir())[1]
    if gone == "all":
        shutil.rmtree(model)
    else:
        (model / gone).unlink()
    assert model.name not in made.shelf.done()
    compared(corpus, folder)
    assert Fitted.load(model).kind == "HDP"
    assert results(folder) == results(whole)


def test_the_code_that_results_depend_on_is_all_that_measuring_imports():
    """But for records of runs, settings and results, in which nothing is computed."""
    root, names, found = Path(analysis.__file__).parent, ["study/measure"], set()
    while names:
        name = names.pop()
        found.add(name)
        imported = re.findall(r"^from diln\.analysis\.([\w.]+) import", (root / f"{name}.py").read_text("utf-8"), re.M)
        names += {one.replace(".", "/") for one in imported} - found
    assert found - {f"study/{record}" for record in ("runs", "settings", "shelf")} == set(MEASURES)


def test_a_worker_that_dies_is_a_named_error(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(comparison, "perform", _dies_in_a_worker)
    with pytest.raises(WorkerError, match=r"a worker process died.*the same command goes on"):
        compared(corpus, tmp_path / "dead", n_jobs=2)


def _dies_in_a_worker(place, run):
    from multiprocessing import parent_process

    if parent_process() is not None:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.2)


def test_a_run_that_is_told_to_stop_leaves_nothing(corpus, tmp_path):
    made = compared(corpus, tmp_path / "stopped", models=("LDA",), topics=(3,), seeds=1)
    made.shelf.stop()
    run = run_of("fit", "HDP", {"max_iter": 4}, 0)
    with pytest.raises(StoppedError, match="the same command goes on"):
        perform(comparison.Place(corpus.directory, made.shelf.directory), run)
    assert not made.shelf.has(run)
    assert made.shelf.under_way() == []


def test_a_fit_that_fails_is_named(corpus, tmp_path, monkeypatch):
    def fail(*_):
        raise ValueError("the counts are odd; give even ones")

    monkeypatch.setattr("diln.analysis.study.measure.fit", fail)
    with pytest.raises(DilnError, match=r"LDA, 3 topics, prior 0\.1: the counts are odd"):
        compared(corpus, tmp_path / "failed", models=("LDA",))
    assert not list((tmp_path / "failed" / "runs").iterdir())


def begin(corpus: Corpus, folder: Path, jobs: int = 2) -> subprocess.Popen:
    told = ["-o", str(folder), "--jobs", str(jobs), *OPTIONS]
    words = [sys.executable, "-m", "diln", "compare", str(corpus.directory), *told]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)


def test_a_comparison_killed_at_any_moment_goes_on_to_the_same_results(corpus, whole, tmp_path):
    folder = tmp_path / "killed"
    for number, jobs in ((1, 2), (4, 1)):  # runs that are done when it dies
        process = begin(corpus, folder, jobs)
        while process.poll() is None and len(list(folder.glob("runs/*.json"))) < number:
            time.sleep(0.002)
        process.kill()
        process.communicate()
        assert process.returncode in (-signal.SIGKILL, 0)  # 0 where it was done before it could be killed
        for path in folder.glob("runs/*.json"):
            json.loads(path.read_text("utf-8"))
    left = set(folder.glob("runs/*.json"))
    times = {path: path.stat().st_mtime_ns for path in left}
    process = begin(corpus, folder, 1)
    _, printed = process.communicate(timeout=120)
    assert process.returncode == 0, printed
    assert results(folder) == results(whole)
    assert {path: path.stat().st_mtime_ns for path in left} == times
    assert not list(folder.glob("runs/*.begun")) + list(folder.glob("runs/*.new"))


@pytest.mark.parametrize("moment", ["runs", "runs/*.json"])  # workers start; a run is done
def test_an_interrupt_stops_all_processes_and_says_what_is_kept(corpus, tmp_path, moment):
    process = begin(corpus, tmp_path / "interrupted")
    while process.poll() is None and not list(tmp_path.glob(f"interrupted/{moment}")):
        time.sleep(0.002)
    time.sleep(0.3 if moment == "runs" else 0)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, printed = process.communicate(timeout=60)
    assert process.returncode == 130
    assert printed == "error: interrupted; runs that were done are kept, and the same command goes on\n"


@pytest.fixture(scope="module")
def curves(corpus, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("curves") / "comparison"
    compared(corpus, folder, "prior", "steps", "time", "pass", models=("DILN", "LDA"), priors=(0.1, 0.3))
    return folder


def test_priors_have_a_mean_over_five_splits(curves):
    found = results(curves, "prior.json")["prior"]
    assert found["n_splits"] == 5
    assert [curve["x"] for curve in found["curves"]] == [[0.1, 0.3]] * 2
    for curve in found["curves"]:
        for place, prior in enumerate(curve["x"]):
            pattern = f"fit-{curve['model'].lower()}-split*prior{prior}-*passes4.json"
            some = [json.loads(path.read_text("utf-8")) for path in (curves / "runs").glob(pattern)]
            values = [one["result"]["perplexity"] for one in some if "learning_method" not in one["run"]["parameters"]]
            assert len(values) == 5
            assert curve["perplexity"][place] == pytest.approx(np.mean(values))
            assert curve["standard_error"][place] == pytest.approx(np.std(values, ddof=1) / np.sqrt(5))


def test_streams_see_every_training_document_once(curves):
    panels = results(curves, "steps.json")["steps"]["panels"]
    assert sorted({panel["decay"] for panel in panels}) == [0.6, 0.75, 0.9]
    for panel in panels:
        assert [curve["model"] for curve in panel["curves"]] == ["DILN", "LDA"]
        for curve in panel["curves"]:
            assert curve["x"] == sorted(set(curve["x"]))
            assert curve["x"][0] == 6  # a tenth of 64
            assert curve["x"][-1] == 64
            assert curve["perplexity"][-1] < curve["perplexity"][0]


def test_batch_learning_is_judged_on_the_documents_that_judge_streams(curves):
    online, batch = json.loads((curves / "time.json").read_text("utf-8"))["time"]["curves"]
    assert (online["label"], batch["label"]) == ("mini-batches", "batch")
    assert online["x"] == sorted(online["x"])
    assert len(batch["x"]) == 5
    (longest,) = (curves / "runs").glob("fit-diln-*passes150-batch.json")
    result = json.loads(longest.read_text("utf-8"))["result"]
    some = [np.sum(result[name][:JUDGED]) for name in ("log_likelihood", "tokens")]
    assert batch["perplexity"][-1] == pytest.approx(np.exp(-some[0] / some[1]))


def test_a_pass_follows_the_same_pairs_and_topics(curves):
    found = results(curves, "pass.json")["pass"]
    points = len(found["documents"])
    assert (found["documents"][0], found["documents"][-1]) == (6, 64)
    assert {len(found[name]) for name in ("alpha", "beta", "topics_in_use", "correlations", "shares")} == {points}
    assert len({len(values) for values in found["correlations"]}) == 1
    assert np.abs(found["correlations"]).max() <= 1
    np.testing.assert_allclose(np.sum(found["shares"], axis=1), 1, atol=1e-5)
