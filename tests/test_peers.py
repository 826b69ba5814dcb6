"""The comparison with other libraries: it runs, takes up where it ended, and judges as plain NumPy would."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz
from sklearn.decomposition import LatentDirichletAllocation

from diln import Corpus
from diln.inference.sampling.fold_in import OVER
from diln.simulate import lda_corpus
from peers import command, pages, tables, tools, watch
from peers import results as kept
from peers.drive import gains
from peers.figure import envelope
from peers.judge import TOLERANCE, TURNS, Judge, token_probabilities
from peers.plan import CORPORA, Run, ordered, tried_with
from peers.split import split
from peers.watch import State, Watch

ROOT = Path(__file__).parents[1]
TOOLS = [
    "DILN", "tomotopy LDA 50", "topica LDA 50", "DILN 50", "DILN 1/2", "scikit-learn LDA 50", "gensim LDA 50", "lda 50",
    "gensim HDP", "tomotopy HDP", "tomotopy CTM 50", "topica warp 100", "topica CTM 100", "topica HDP",
]  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    counts = lda_corpus(60, 120, 4, doc_length=40, rng=0).corpus.counts
    (folder / "made").mkdir()
    save_npz(folder / "made" / "counts.npz", csr_array(counts))
    return folder


@pytest.fixture(scope="module")
def arguments(data):
    told = ["--corpora", "made", "--seeds", "0", "--threads", "1", "--sweeps", "4", "--cap", "0.2"]
    return [str(data), *told, "--out", str(data / "results.json"), "--tools", *TOOLS]


@pytest.fixture(scope="module")
def results(arguments, data):
    call = [sys.executable, str(ROOT / "benchmarks" / "peers"), *arguments]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads((data / "results.json").read_text("utf-8"))


def test_every_tool_is_run_and_judged(results):
    rows = {row["tool"]: row for row in results["rows"]}
    assert list(rows) == TOOLS
    for row in rows.values():
        assert 1 < row["perplexity"] < 160, row
        assert 1 < row["own_perplexity"] < 1.5 * row["perplexity"], row  # far above where topics are mistaken
        assert row["cpu_s"] > 0 and row["wall_s"] > 0 and row["peak_mb"] > 10
        assert -1 <= row["coherence"] <= 1
        assert 1 < kept.predicted_new(row) < 160 and row["own_new_words"] > 1
        assert 0 < row["in_use"] <= row["topics"]
        assert row["checkpoints"][-1]["perplexity"] == row["perplexity"]
    assert len(rows["scikit-learn LDA 50"]["checkpoints"]) > 1
    assert all(row["passes"] == row["units"] for row in rows.values())  # one chunk holds these few documents


def test_a_second_call_runs_nothing(results, arguments, data, monkeypatch, capsys):
    def none(*given):
        raise AssertionError("a run that was there is run again")

    monkeypatch.setattr(command, "run", none)
    command.main(arguments)
    assert "| DILN |" in capsys.readouterr().out
    assert json.loads((data / "results.json").read_text("utf-8")) == results


def test_a_run_that_failed_is_run_again_and_takes_its_place(results):
    one = Run("made", "DILN")
    failed = kept.added(results, one, {**one.told(), "validation": False, "error": "ended"})
    assert len(failed["rows"]) == len(results["rows"])
    assert kept.done(results, one, 0.05) and not kept.done(failed, one, 0.05)
    assert not kept.done(results, Run("made", "DILN", seed=1), 0.05)
    assert not kept.done(results, Run("made", "DILN", eta=0.05), 0.05)


def test_a_run_with_another_prior_than_the_one_chosen_is_run_again(results):
    one = Run("made", "scikit-learn LDA 50")
    assert kept.done(results, one, kept.DEFAULT_ETA) and not kept.done(results, one, 0.1)


def plain_fold_in(topics, prior, counts):
    theta = np.empty((len(counts), len(prior)))
    for m, row in enumerate(counts):
        n, before, over = row.sum() * prior / prior.sum(), np.inf, OVER
        for turn in range(TURNS if row.sum() else 0):
            p = (prior + n) * topics
            fresh = (row[:, None] * p / p.sum(axis=1, keepdims=True)).sum(axis=0)
            change = np.abs(fresh - n).sum()
            over, before = (1.0 if change > before else over), change
            n = np.maximum(n + (over if turn else 1.0) * (fresh - n), 0)
            if change < TOLERANCE * row.sum():
                break
        theta[m] = (prior + n) / (prior + n).sum()
    return theta


def made_judge():
    rng = np.random.default_rng(3)
    observed, held_out = (csr_array(rng.poisson(0.6, (7, 12))) for _ in range(2))
    observed.data[observed.indptr[2] : observed.indptr[3]] = 0
    observed.eliminate_zeros()  # a document with nothing observed
    corpus = Corpus.from_matrix(csr_array(rng.poisson(0.6, (30, 12))), [f"t{i}" for i in range(12)])
    return Judge(corpus, observed, held_out)


def made_state(seed):
    rng = np.random.default_rng(seed)
    return State.of(rng.dirichlet(np.full(12, 0.3), 5), rng.gamma(1, 1, 5) + 0.05, rng.uniform(1, 9, 5))


def test_the_common_fold_in_is_that_of_plain_numpy():
    judge, state = made_judge(), made_state(0)
    theta = judge.proportions(state)
    plain = plain_fold_in(state.topics.astype(float), state.prior, judge.observed.toarray())
    np.testing.assert_allclose(theta, plain, atol=2e-5)
    held_out = judge.held_out.toarray()
    value = np.exp(-(held_out * np.log(plain @ state.topics.T)).sum() / held_out.sum())
    assert judge.perplexity(state, theta) == pytest.approx(value, rel=1e-4)


def test_states_are_averaged_token_by_token():
    judge, states = made_judge(), [made_state(seed) for seed in range(3)]
    seen = [(state, judge.proportions(state)) for state in states]
    dense = np.mean([theta @ state.topics.T.astype(float) for state, theta in seen], axis=0)
    held_out = judge.held_out.toarray()
    value = np.exp(-(held_out * np.log(dense)).sum() / held_out.sum())
    assert judge.averaged(seen) == pytest.approx(value, rel=1e-5)
    assert judge.averaged(seen[:1]) == pytest.approx(judge.perplexity(*seen[0]), rel=1e-5)
    state, theta = seen[0]
    entries = token_probabilities(state.topics, theta, judge.held_out)
    rows, columns = judge.held_out.nonzero()
    np.testing.assert_allclose(entries, (theta @ state.topics.T)[rows, columns], rtol=1e-5)


def plain_new_words(dense, observed, held_out):
    logs = []
    for p, seen, held in zip(dense, observed, held_out, strict=True):
        rest = sum(p[w] for w in range(len(p)) if seen[w] == 0)
        logs += [np.log(p[w] / rest) for w in range(len(p)) if seen[w] == 0 and held[w] > 0]
    return np.exp(-np.mean(logs))


@pytest.mark.parametrize("n_states", [1, 3])
def test_new_words_are_what_the_observed_half_lacks_each_once(n_states):
    judge = made_judge()
    states = [made_state(seed) for seed in range(n_states)]
    seen = [(state, judge.proportions(state)) for state in states]
    dense = np.mean([theta @ state.topics.T.astype(float) for state, theta in seen], axis=0)
    value = plain_new_words(dense, judge.observed.toarray(), judge.held_out.toarray())
    assert judge.new_words(seen) == pytest.approx(value, rel=1e-5)


def test_coherence_is_of_topics_in_use_alone():
    judge, state = made_judge(), made_state(1)
    first = State(state.topics[:, :1], state.prior[:1], state.tokens[:1])
    rest = State(state.topics, state.prior, np.array([1e6, 0, 0, 0, 1.0]))
    assert judge.coherence(rest) == judge.coherence(first)
    assert judge.coherence(state) != judge.coherence(first)


def test_the_clock_stands_while_a_checkpoint_is_judged(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(watch, "cpu_seconds", lambda threads: now[0])
    monkeypatch.setattr(watch, "forget_peak", lambda: None)
    seen = []

    def judged(clock, state):
        seen.append((clock.units, clock.cpu))
        now[0] += 1000
        return True

    clock = Watch(watch.marks_of(8, capped=True), True, 1, judged)
    clock.start()
    while True:
        now[0] += 0.5
        if not clock.more(clock.stride, lambda: made_state(0)):
            break
    assert seen == [(2, 1.0), (4, 2.0), (8, 4.0), (12, 6.0), (14, 7.0), (16, 8.0)]
    assert watch.marks_of(24, capped=False) == [3, 6, 12, 18, 21, 24]
    assert watch.marks_of(1, capped=False) == [1]


def test_a_fit_that_cannot_be_taken_up_again_is_judged_once_when_it_ends():
    seen = []
    clock = Watch(watch.marks_of(40, capped=False), False, 1, lambda clock, state: seen.append(clock.units) or True)
    assert clock.total == 40
    clock.start()
    clock.over(17, lambda: made_state(0))  # it has converged before its last sweep
    assert seen == [17]


def test_a_part_of_the_documents_is_a_part_of_a_pass():
    clock = Watch([100], True, 1, lambda clock, state: True)
    documents = tools.Watched(csr_array(np.ones((60, 2), int)), 25, clock)
    documents.state = lambda: made_state(0)
    clock.start()
    list(documents)
    assert (clock.units, clock.passes) == (2, 2 / 3)  # the third part is done when the next pass begins


def test_a_unit_of_work_is_one_step_of_the_library(tmp_path, monkeypatch):
    made = []

    def kept(*given, **named):
        made.append(LatentDirichletAllocation(*given, **named))
        return made[-1]

    monkeypatch.setattr("sklearn.decomposition.LatentDirichletAllocation", kept)
    monkeypatch.setattr(tools, "CHUNKS", (200, 200))  # more than the library takes at a time unless told
    save_npz(tmp_path / "train.npz", csr_array(lda_corpus(400, 20, 2, doc_length=5, rng=0).corpus.counts))
    clock = Watch([3], False, 1, lambda clock, state: True)
    tools.sklearn_lda(tmp_path, clock, seed=0, eta=0.1, size=2)
    assert (made[0].n_batch_iter_ - 1, clock.units, clock.passes) == (3, 3, 1.5)


def test_a_capped_fit_goes_on_while_it_gains():
    def seen(cpu_s, perplexity, passes=2.0):
        return {"cpu_s": cpu_s, "perplexity": perplexity, "passes": passes}

    rows = [seen(10.0, 2000.0), seen(20.0, 1995.0)]
    assert gains(rows[:1], 40)
    assert not gains(rows, 40)
    assert gains(rows, 80)  # a quarter of the cap has not passed yet
    assert gains([rows[0], seen(20.0, 1980.0)], 40)
    assert gains([rows[0], seen(20.0, 1995.0, passes=0.9)], 40)  # some documents have not been seen


def test_the_most_telling_runs_come_first_and_each_comes_once():
    runs = ordered(list(CORPORA), [0, 1, 2], [1, 2])
    assert len(runs) == len(set(runs))
    assert [run.eta for run in runs[:11]] == [*[0.01, 0.02, 0.05, 0.1] * 2, 0.05, 0.1, 0.2]
    assert [run.tool for run in runs[11:15]] == ["DILN", "HDP", "tomotopy LDA 200", "topica LDA 200"]
    assert {run.corpus for run in runs if run.tool == "DILN online"} == {"arxiv_200k"}
    assert all(run.seed == 0 for run in runs if run.threads == 2)
    only = ordered(["ap"], [1], [1])
    assert {(run.corpus, run.seed, run.threads) for run in only} == {("ap", 1, 1)}


def test_priors_are_chosen_with_about_as_many_topics():
    sizes = {0: 100, 25: 25, 50: 100, 100: 100, 200: 200, 800: 200}
    assert {size: tried_with(size) for size in sizes} == {n: f"tomotopy LDA {with_}" for n, with_ in sizes.items()}


def row_of(tool, perplexity, cpu_s, **other):
    point = {"cpu_s": cpu_s / 2, "perplexity": perplexity * 1.3, "units": 1}
    last = {"cpu_s": cpu_s, "perplexity": perplexity, "units": 2}
    common = {"topics": 9, "in_use": 7, "wall_s": cpu_s, "peak_mb": 100.0, "coherence": 0.125, "validation": False}
    return {**Run("ap", tool).told(), **common, **last, "checkpoints": [point, last], **other}


@pytest.fixture
def made():
    rows = [
        row_of("DILN", 1900.0, 10.0, own_perplexity=1500.0),
        row_of("DILN", 1900.0, 12.0, own_perplexity=1510.0, seed=1),
        row_of("DILN", 1900.0, 12.0, wall_s=6.0, threads=2),
        row_of("DILN 1/4", 1900.0, 3.0, own_perplexity=1700.0),
        row_of("HDP", 1600.0, 9.0, own_perplexity=1600.0),
        row_of("diln LDA 200", 1690.0, 8.0, own_perplexity=1690.0),
        row_of("tomotopy LDA 200", 1750.0, 40.0, averaged={"perplexity": 1700.0}),
        row_of("tomotopy LDA 50", 2000.0, 8.0, own_perplexity=2100.0),
        row_of("tomotopy LDA 100", 1800.0, 9.0, validation=True, eta=0.02),
        row_of("tomotopy LDA 100", 1700.0, 9.0, validation=True, eta=0.1),
        {**Run("ap", "lda 50").told(), "validation": False, "error": "ended"},
    ]
    return {"machine": kept.machine(), "versions": kept.versions(), "split": 0, "rows": rows}


def test_tables_show_every_seed_and_the_best_number_of_topics(made):
    assert "| DILN | **1500, 1510** |" in tables.perplexity(made)
    assert "| tomotopy LDA 200 | 1700 |" in tables.perplexity(made)
    assert "| ap | tomotopy LDA 200: 1700 (40 s) | 1600 (9 s) | 1505 (11 s) | -11.5% |" in tables.headline(made)
    assert "| ap | 1700 | 3 s | 9 s | 8 s (200) | 40 s (200) |" in tables.time_to(made)
    assert "| ap | 2125 | 3 s | 9 s | 8 s (200) | 8 s (50) |" in tables.time_to(made)
    assert "1750 / 1700 / -" in tables.judged(made)
    assert "| DILN | 10 → 6 |" in tables.threads(made)
    assert "| ap | tomotopy LDA 100 | 0.02: 1800, 0.1: 1700 | 0.1 |" in tables.priors(made)
    assert "| ap | tomotopy LDA 200 | not tried | 0.05 |" in tables.priors(made)
    assert envelope(made, "ap", "tomotopy LDA") == [(4.0, 2600.0), (8.0, 2000.0), (40.0, 1700.0)]


def test_diln_given_topics_is_beside_those_given_as_many_and_nowhere_else(made):
    made["rows"] += [
        row_of("topica LDA 800", 1400.0, 90.0),
        row_of("DILN 800", 1450.0, 20.0, own_perplexity=1300.0),
        row_of("DILN 800", 1450.0, 30.0, own_perplexity=1320.0, seed=1),
        row_of("DILN 800", 1450.0, 31.0, own_perplexity=1330.0, seed=2),
    ]
    assert "| ap | 800 | **1320** (0.125, 30 s) |  | 1400 (0.125, 90 s) | 3, -, 1 |" in tables.given(made)
    assert "| ap | 200 |  | 1700 (0.125, 40 s) |  | -, 1, - |" in tables.given(made)
    assert "| 400 |" not in tables.given(made)
    assert "| ap | topica LDA 800: 1400 (90 s) | 1600 (9 s) | 1505 (11 s) | +7.5% |" in tables.headline(made)
    assert not any("DILN 800" in table(made) for name, table in tables.TABLES.items() if name != "given")


def test_new_words_have_a_dash_where_they_were_not_counted(made):
    assert "| ap | - | - | - | - |" in tables.new_words(made)
    made["rows"] += [
        row_of("topica LDA 50", 2000.0, 9.0, new_words=3000.0, own_new_words=2800.0),
        row_of("topica LDA 50", 2000.0, 9.0, new_words=1.0, seed=1),  # another seed than the others have
    ]
    assert "| ap | topica LDA 50: 2800 | - | - | - |" in tables.new_words(made)
    made["rows"][0] |= {"new_words": 2500.0, "own_new_words": 2100.0}
    assert "| ap | topica LDA 50: 2800 | - | 2100 | -25.0% |" in tables.new_words(made)


def test_tools_that_are_no_more_do_not_stop_the_tables(made):
    before = pages.printed(made)
    made["rows"] += [row_of("a tool of old", 1.0, 1.0), row_of("a tool of old", 1.0, 1.0, validation=True, eta=0.1)]
    assert pages.printed(made) == before


def test_rows_of_a_merged_file_take_the_places_of_the_same_runs(made, tmp_path, capsys):
    again = [row_of("DILN", 1800.0, 9.0), row_of("tomotopy LDA 100", 1600.0, 9.0, validation=True, eta=0.1)]
    failed = {**Run("ap", "HDP").told(), "validation": False, "error": "ended"}
    kept.write(tmp_path / "all.json", made)
    kept.write(tmp_path / "new.json", {**made, "versions": {"topica": "1"}, "rows": [*again, failed]})
    command.main(["--merge", str(tmp_path / "new.json"), "--out", str(tmp_path / "all.json")])
    found = kept.read(tmp_path / "all.json")
    assert found["versions"] == {**made["versions"], "topica": "1"}
    assert len(found["rows"]) == len(made["rows"]) and found["rows"][-2:] == again
    assert "| DILN |" in capsys.readouterr().out


def test_a_merge_needs_a_file_to_go_to_and_files_that_are_there(tmp_path, capsys):
    for given, said in ((["--merge", "x"], "give --out"), (["--merge", "x", "--out", "y"], "x is not there")):
        with pytest.raises(SystemExit):
            command.main(given)
        assert said in capsys.readouterr().err


def test_times_leave_out_who_never_gets_there_and_show_nothing_where_nothing_was_run(made):
    made["rows"] += [row_of("gensim HDP", 4000.0, 9.0), row_of("tomotopy HDP", 1000.0, 5.0, corpus="nyt", eta=0.05)]
    table = tables.time_to(made)
    assert "gensim HDP" not in table
    assert "| ap | 1700 | 3 s | 9 s | 8 s (200) | 40 s (200) |  |" in table
    assert "| nyt | 1000 |  |  |  |  | 5 s |" in table


def test_tables_are_put_between_the_markers_of_a_page(made):
    page = "before\n<!-- peers: headline -->\nold\n<!-- /peers -->\nafter\n"
    new = pages.filled(page, made)
    assert new.startswith("before\n<!-- peers: headline -->\n") and new.endswith("\n<!-- /peers -->\nafter\n")
    assert tables.headline(made) in new and "old" not in new
    assert pages.filled(new, made) == new
    for name in tables.TABLES:
        assert f"{name}: " in pages.printed(made)


@pytest.mark.parametrize("validation", [False, True])
def test_the_split_is_the_protocols(validation):
    counts = csr_array(np.random.default_rng(0).poisson(1.0, (50, 20)))
    train, observed, held_out = split(counts, 0, validation)
    order = np.random.default_rng(0).permutation(50)
    assert train.shape[0] == (35 if validation else 40)
    assert observed.shape[0] == held_out.shape[0] == (5 if validation else 10)
    if not validation:
        np.testing.assert_array_equal((observed + held_out).toarray(), counts[order[:10]].toarray())
        np.testing.assert_array_equal(train.toarray(), counts[order[10:]].toarray())
