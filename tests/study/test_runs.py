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

import diln
from diln.corpus import Corpus
from diln.corpus.splits import completion_rows
from diln.engine.threads import Threads
from diln.errors import DilnError, SourceError, StoreError, WorkerError
from diln.inference.variational.documents import Limits
from diln.models.counts import as_rows
from diln.models.fitted import Fitted
from diln.simulate import diln_corpus
from diln.study import STUDIES, Comparison, ResultsFolder, comparison, settings_for
from diln.study import folder as folder_module
from diln.study.folder import MEASURES, digest_of
from diln.study.measure import RunContext, StopCheck, StoppedError, perform
from diln.study.runs import run_of
from diln.study.streams import JUDGED
from diln.study.table import ALONE

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
        corpus,
        settings_for(corpus, **told),
        ResultsFolder(folder),
        tuple(STUDIES[name] for name in studies or ("table",)),
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

    def count(context, run):
        done.append(run)
        return perform(context, run)

    monkeypatch.setattr(comparison, "perform", count)
    compared(corpus, folder)
    assert [(run.way, run.model, run.seed) for run in done] == [("model", "HDP", 1), ("model", "LDA", 1)]
    assert ALONE not in results(folder)["table"]["notes"]


def test_a_part_of_a_corpus_on_disk_is_compared_on_as_a_part(corpus, tmp_path):
    told = {"models": ("LDA",), "topics": (3,), "seeds": 1}
    made = compared(corpus[:40], tmp_path / "part", **told)
    compared(Corpus.from_matrix(corpus[:40].counts, corpus.vocabulary), tmp_path / "copy", **told)
    assert len(Corpus.open(made.folder.corpus)) == 40
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
        monkeypatch.setattr("diln.study.folder.code", lambda: "other")
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
    assert model.name not in made.folder.done()
    compared(corpus, folder)
    assert Fitted.load(model).kind == "HDP"
    assert results(folder) == results(whole)


def test_the_code_that_results_depend_on_is_all_that_measuring_imports():
    """But for records of runs, settings and results, in which nothing is computed."""
    root, names, found = Path(diln.__file__).parent, ["study/measure"], set()
    while names:
        name = names.pop()
        found.add(name)
        text = (root / f"{name}.py").read_text("utf-8")
        imported = re.findall(r"^from diln\.((?:analysis|study)\.[\w.]+) import", text, re.M)
        names += {one.replace(".", "/") for one in imported} - found
    assert found - {f"study/{record}" for record in ("runs", "settings", "folder")} == set(MEASURES)


def test_a_worker_that_dies_is_a_named_error(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(comparison, "perform", _dies_in_a_worker)
    with pytest.raises(WorkerError, match=r"a worker process died.*the same command goes on"):
        compared(corpus, tmp_path / "dead", n_jobs=2)


def _dies_in_a_worker(context, run):
    from multiprocessing import parent_process

    if parent_process() is not None:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.2)


@pytest.mark.parametrize("way", ["fit", "stream", "pass"])
def test_a_run_that_is_told_to_stop_on_its_way_leaves_nothing(corpus, tmp_path, monkeypatch, way):
    folder, looked, looks = ResultsFolder(tmp_path), StopCheck.look, []
    folder.runs.mkdir()

    def look(check, progress=None):
        looks.append(folder.under_way())
        if len(looks) == 2:  # the first is before it begins
            folder.stop()
        looked(check, progress)

    monkeypatch.setattr(StopCheck, "look", look)
    run = run_of(way, "DILN", {"max_iter": 4, "batch_size": 10}, 0)
    with pytest.raises(StoppedError, match="the same command goes on"):
        perform(RunContext(corpus.directory, digest_of(corpus), folder.directory), run)
    assert looks == [[], [run.name]]
    assert not folder.has(run)
    assert folder.under_way() == []


def test_no_run_is_said_to_be_under_way_once_a_comparison_was_interrupted(tmp_path):
    folder = ResultsFolder(tmp_path)
    with pytest.raises(KeyboardInterrupt), folder.opened("digest"):
        (folder.runs / "a.begun").touch()  # of a run that was interrupted between its mark and its guard
        raise KeyboardInterrupt
    assert folder.under_way() == []


def test_a_corpus_built_anew_at_the_same_place_is_not_taken_for_the_old_one(tmp_path):
    told = {"models": ("LDA",), "topics": (3,), "seeds": 1, "max_iter": 2}
    for seed in (1, 2):
        documents = diln_corpus(30, 40, 5, doc_length=30, rng=seed).corpus.save(tmp_path / "corpus", overwrite=True)
        compared(documents, tmp_path / f"at-one-place-{seed}", **told)
        elsewhere = documents.save(tmp_path / f"corpus-{seed}")
        compared(elsewhere, tmp_path / f"elsewhere-{seed}", **told)
        assert results(tmp_path / f"at-one-place-{seed}") == results(tmp_path / f"elsewhere-{seed}")


def test_a_corpus_that_changes_while_it_is_compared_on_is_an_error(tmp_path):
    documents = diln_corpus(30, 40, 5, doc_length=30, rng=1).corpus.save(tmp_path / "corpus")
    context = RunContext(tmp_path / "corpus", digest_of(documents), tmp_path)
    diln_corpus(30, 40, 5, doc_length=30, rng=2).corpus.save(tmp_path / "corpus", overwrite=True)
    with pytest.raises(StoreError, match="has other documents than when the comparison began"):
        context.documents()


def test_splits_without_a_token_to_predict_are_named_before_anything_is_written(tmp_path):
    counts = np.zeros((30, 6), int)
    counts[completion_rows(30, 0)[0]] = 2
    with pytest.raises(
        SourceError, match=r"split 1 \(seed 0\): none of its 6 test documents, which are drawn at random"
    ):
        compared(Corpus.from_matrix(counts, list("abcdef")), tmp_path / "some")
    counts[:] = 2
    counts[completion_rows(30, 1, validation=True)[1]] = 0
    with pytest.raises(SourceError, match=r"split 2 \(seed 1\): none of its 3 validation documents"):
        compared(Corpus.from_matrix(counts, list("abcdef")), tmp_path / "some", splits=2)
    with pytest.raises(SourceError, match=r"split 3 \(seed 2\): none of its 6 test documents"):
        counts[:] = 2
        counts[completion_rows(30, 2)[1]] = 0
        compared(Corpus.from_matrix(counts, list("abcdef")), tmp_path / "some", "prior", models=("HDP",))
    assert not (tmp_path / "some").exists()


def test_topics_of_which_no_two_words_are_in_the_corpus_have_no_coherence(tmp_path):
    counts = np.full((20, 1), 3)
    compared(Corpus.from_matrix(counts, ["alone"]), tmp_path / "some", models=("LDA",), topics=(1,))
    (row,) = results(tmp_path / "some")["table"]["rows"]
    assert row["npmi"] is None


def test_numbers_of_numpy_are_numbers(corpus, tmp_path):
    plain = settings_for(corpus, topics=(3,), priors=(1.0,), seeds=2, splits=1, max_iter=4)
    told = {
        "topics": (np.int64(3), 3), "priors": (1, np.float64(1.0)), "seeds": np.int32(2), "splits": np.uint8(1),
        "max_iter": np.int64(4),
    }  # fmt: skip
    assert json.dumps(settings_for(corpus, **told).to_json()) == json.dumps(plain.to_json())
    with pytest.raises(ValueError, match=r"topics is 2\.5; give a whole number"):
        settings_for(corpus, models=("HDP",), topics=(2.5,))


def test_results_made_with_other_libraries_are_not_mixed_in(corpus, whole, monkeypatch):
    assert results(whole)["versions"]["numpy"] == np.__version__
    known = folder_module.version
    monkeypatch.setattr(folder_module, "version", lambda name: "99.9" if name == "numpy" else known(name))
    with pytest.raises(StoreError, match=f"made with numpy {np.__version__}, and this is numpy 99.9; give another"):
        compared(corpus, whole)


def test_a_damaged_model_is_named_with_what_to_do_before_any_fit(corpus, tmp_path, monkeypatch):
    folder = tmp_path / "some"
    compared(corpus, folder, models=("LDA",), topics=(3,))
    model, other = sorted((folder / "models").iterdir())
    tensors = next(model.glob("*.safetensors"))
    data = tensors.read_bytes()
    shutil.rmtree(other)  # which would be made again
    with monkeypatch.context() as patched:
        patched.setattr(comparison, "perform", pytest.fail)
        for damaged, how in ((data[:50], f"has 50 bytes in place of {len(data)}"), (None, "is missing")):
            tensors.write_bytes(damaged) if damaged else tensors.unlink()
            with pytest.raises(
                StoreError, match=rf"^{model} is damaged \(g0001-.*: the file {how}\); remove it, and the"
            ):
                compared(corpus, folder, models=("LDA",), topics=(3,))
    tensors.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(
        StoreError, match=rf"^{model} is damaged \(.* does not match its checksum\); remove it, and the"
    ):
        compared(corpus, folder, models=("LDA",), topics=(3,))
    shutil.rmtree(model)
    compared(corpus, folder, models=("LDA",), topics=(3,))


def test_another_corpus_in_the_folder_of_a_comparison_is_left_alone(corpus, tmp_path):
    documents, told = Corpus.from_matrix(corpus.counts, corpus.vocabulary), {"models": ("LDA",), "topics": (3,)}
    compared(corpus, tmp_path / "some", **told)
    mine = diln_corpus(20, 40, 5, doc_length=30, rng=7).corpus.save(tmp_path / "some" / "corpus")
    with pytest.raises(StoreError, match="holds other documents than those compared; move it elsewhere"):
        compared(documents, tmp_path / "some", **told)
    assert len(Corpus.open(mine.directory)) == 20
    shutil.rmtree(mine.directory)
    compared(documents, tmp_path / "some", **told)
    next(mine.directory.glob("*/counts.npy")).unlink()
    with pytest.raises(StoreError, match=r"corpus is damaged \(.*counts\.npy: the file is missing\); remove it"):
        compared(documents, tmp_path / "some", **told)


def test_a_fit_that_fails_is_named(corpus, tmp_path, monkeypatch):
    def fail(*_):
        raise ValueError("the counts are odd; give even ones")

    monkeypatch.setattr("diln.study.measure.fit", fail)
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


def log_probabilities(topics, proportions, counts):
    """ln p of each document's counts: sum_w x_w ln sum_k theta_k eta_kw."""
    p = proportions.astype(np.float64) @ topics.astype(np.float64).T
    return (counts.toarray() * np.log(p)).sum(axis=1)


def variational_draws(fitted, observed, number):
    """Topics and proportions drawn from q: Dirichlet topics, gamma weights times the documents' gates."""
    posterior, rng = fitted.posterior, np.random.default_rng([fitted.seed, 2])
    limits = Limits(fitted.parameters.document_steps, fitted.parameters.mean_change_tol)
    with Threads(1) as threads:
        documents = posterior.first_beliefs(observed, limits, threads)
    lam, a = posterior.statistics.astype(np.float64) + posterior.prior, posterior.weights.a0 + documents.tokens
    gate = np.ones(a.shape)
    if fitted.kind == "DILN":
        psi = documents.locations @ posterior.weights.locations.T + documents.intercepts[:, None]
        gate = 1 / (1 + np.exp(-psi))
    for _ in range(number):
        eta, z = rng.standard_gamma(lam), rng.standard_gamma(a) * gate
        yield eta / eta.sum(axis=0), z / z.sum(axis=1, keepdims=True)


def sampled_states(fitted, observed, number):
    """Expected topics and proportions of each of the last states."""
    limits = fitted.parameters.document_steps, fitted.parameters.mean_change_tol
    assert len(fitted.posterior.states) == number
    with Threads(1) as threads:
        for state in fitted.posterior.fold_ins(*limits, number):
            yield state.topics, state.infer(observed, threads).proportions


@pytest.mark.parametrize(("inference", "drawn"), [("variational", variational_draws), ("sampling", sampled_states)])
def test_draws_judge_by_the_mean_probability_of_each_document(inference, drawn, corpus, tmp_path):
    given = {"models": ("DILN", "HDP"), "priors": (0.1, 0.3), "seeds": 1, "max_iter": 6, "n_draws": 3}
    made = compared(corpus, tmp_path / "out", inference=inference, **given)
    parts = corpus.completion(0)
    for model in given["models"]:
        (run,) = (run for run in STUDIES["table"].then(made.settings, made.folder) if run.model == model)
        fitted = made.folder.load(run)
        draws = drawn(fitted, as_rows(parts.observed), 3)
        each = [log_probabilities(*draw, parts.held_out) for draw in draws]
        np.testing.assert_allclose(
            made.folder.read(run)["log_likelihood"], np.log(np.mean(np.exp(each), axis=0)), rtol=1e-4
        )
    told = [json.loads(path.read_text("utf-8"))["run"] for path in (tmp_path / "out" / "runs").iterdir()]
    assert {run["documents"]: run["n_draws"] for run in told} == {"validation": 3, "test": 3}


def test_streams_can_be_judged_by_draws(corpus, tmp_path):
    given = {"models": ("LDA",), "topics": (3,), "inference": "variational"}
    curves = []
    for n_draws in (None, 2):
        compared(corpus, tmp_path / str(n_draws), "time", n_draws=n_draws, **given)
        curves.append(results(tmp_path / str(n_draws), "time.json")["time"]["curves"])
    for plug_in, drawn in zip(*curves, strict=True):
        assert len(plug_in["perplexity"]) == len(drawn["perplexity"])
        assert not set(plug_in["perplexity"]) & set(drawn["perplexity"])


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


def test_fits_by_variational_inference_take_as_many_passes_as_they_are_given_time_for(corpus, tmp_path):
    compared(corpus, tmp_path / "out", "time", models=("LDA",), inference="variational")
    passes = [
        json.loads(path.read_text("utf-8"))["result"]["passes"] for path in (tmp_path / "out" / "runs").glob("fit*")
    ]
    assert sorted(passes) == [10, 20, 40, 80, 150]
    (_, batch) = results(tmp_path / "out", "time.json")["time"]["curves"]
    assert len(set(batch["perplexity"])) == 5


def test_a_pass_follows_the_same_pairs_and_topics(curves):
    found = results(curves, "pass.json")["pass"]
    points = len(found["documents"])
    assert (found["documents"][0], found["documents"][-1]) == (6, 64)
    assert {len(found[name]) for name in ("alpha", "beta", "topics_in_use", "correlations", "shares")} == {points}
    assert len({len(values) for values in found["correlations"]}) == 1
    assert np.abs(found["correlations"]).max() <= 1
    np.testing.assert_allclose(np.sum(found["shares"], axis=1), 1, atol=1e-5)
