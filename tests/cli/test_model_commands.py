"""What the commands say of a model, and of documents given a model."""

import csv
import json
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from commands import diln, write_texts
from pyarrow import parquet
from scipy.sparse import save_npz

from diln import load
from diln.analysis import correlated_pairs, in_use, largest_topics
from diln.cli import console
from diln.cli.tables import lift_range, listed, shown_lift, sparkline
from diln.corpus import Corpus
from diln.models.fitted import Fitted

COMMANDS = ["topics", "correlations", "info"]
ONE_CHAIN = (
    "Fitted with one chain: how much of this another run would find is unknown; fit with --chains 4 to see."
)  # fmt: skip


def test_topics_are_listed_with_their_numbers_and_words(shelf):
    done = diln("topics", shelf / "diln")
    assert (done.code, done.err) == (0, "")
    *table, gap, last = done.out.splitlines()[2:]
    assert (gap, last) == ("", ONE_CHAIN)
    rows = [line.split() for line in table]
    topics = largest_topics(Fitted.load(shelf / "diln"))
    assert [int(row[0]) for row in rows] == [topic.id for topic in topics]
    assert [row[1] for row in rows] == [f"{topic.weight:.1%}" for topic in topics]
    assert [tuple(row[3:]) for row in rows] == [topic.words for topic in topics]
    assert f"(all {len(topics)})" in done.out


def test_topics_can_be_fewer_and_have_more_words(shelf):
    done = diln("topics", shelf / "diln", "--top", 2, "--words", 20)
    assert "(the 2 largest of" in done.out
    assert [len(line.split()) for line in done.out.splitlines()[2:4]] == [23, 23]
    found = diln("topics", shelf / "diln", "--top", 2, "--words", 20, "--json").json
    topics = largest_topics(Fitted.load(shelf / "diln"), 2, 20)
    assert [topic["id"] for topic in found["topics"]] == [topic.id for topic in topics]
    assert [tuple(topic["words"]) for topic in found["topics"]] == [topic.words for topic in topics]
    assert [tuple(topic["probabilities"]) for topic in found["topics"]] == [topic.probabilities for topic in topics]
    assert found["truncation"] == Fitted.load(shelf / "diln").posterior.n_topics


@pytest.mark.parametrize("kind", ["diln", "ctm"])
def test_correlations_are_listed_both_ways(kind, shelf):
    found = correlated_pairs(Fitted.load(shelf / kind), 3)
    done = diln("correlations", shelf / kind, "--pairs", 3)
    assert done.code == 0
    printed = re.findall(r"^ *([\d<>.]+x) +([+-]\d\.\d\d) +(\d+) .* (\d+) ", done.out, re.MULTILINE)
    pairs = (*found.positive, *found.negative)
    assert [(lift, float(r), int(i), int(j)) for lift, r, i, j in printed] == [
        (shown_lift(pair.lift), round(pair.correlation, 2), pair.first, pair.second) for pair in pairs
    ]
    assert done.out.splitlines()[-1] == ONE_CHAIN
    by = "sorted by lift, two standard deviations nearer to 1x"
    assert [line for line in done.out.splitlines() if line.startswith("topics that")] == [
        f"topics that go together ({by})", f"topics that avoid each other ({by})",
    ]  # fmt: skip
    for kinds in (found.positive, found.negative):
        left = [max(abs(pair.log_lift) - 2 * pair.spread, 0) for pair in kinds]
        assert left == sorted(left, reverse=True)
    known = diln("correlations", shelf / kind, "--pairs", 3, "--words", 2, "--json").json
    assert [(p["first"], p["second"], p["correlation"], p["lift"], p["spread"]) for p in known["positive"]] == [
        (p.first, p.second, p.correlation, p.lift, p.spread) for p in found.positive
    ]
    assert (known["n_chains"], known["pairs"], known["sure_pairs"]) == (1, found.n_pairs, None)
    assert {pair["sure"] for pair in (*known["positive"], *known["negative"])} == {None}
    assert [(p["first"], p["second"]) for p in known["negative"]] == [(p.first, p.second) for p in found.negative]
    assert all(len(pair["first_words"]) == 2 for pair in known["positive"])


@pytest.fixture(scope="module")
def chained(shelf, tmp_path_factory):
    """Models of four chains."""
    folder = tmp_path_factory.mktemp("chained")
    for kind in ("diln", "hdp"):
        line = ("--model", kind, "--topics", 5, "--passes", 60, "--chains", 4, "-q")
        assert diln("fit", shelf / "corpus", "-o", folder / kind, *line).code == 0
    return folder


def test_what_chains_agree_on_is_shown(chained):
    fitted = Fitted.load(chained / "diln")
    agreement, topics = fitted.agreement, largest_topics(fitted)
    shown = diln("topics", chained / "diln").out
    rows = [line.split() for line in shown.splitlines()[2:]]
    assert [row[3] for row in rows] == [f"{topic.found}/4" for topic in topics]
    assert "unknown" not in shown
    found = diln("topics", chained / "diln", "--json").json
    assert [(topic["found"], topic["n_chains"]) for topic in found["topics"]] == [(one.found, 4) for one in topics]
    sure, every = correlated_pairs(fitted, 100), correlated_pairs(fitted, 100, unsure=True)
    assert sure.n_sure < every.n_pairs
    for options, pairs in (((), sure), (("--all",), every)):
        done = diln("correlations", chained / "diln", "--pairs", 100, *options)
        printed = re.findall(r"^ *([\d<>.]+x) +([\d<>.]+ to [\d<>.]+x) +(yes|no|)", done.out, re.MULTILINE)
        assert [(lift, between) for lift, between, _ in printed] == [
            (shown_lift(pair.lift), lift_range(pair.low, pair.high)) for pair in (*pairs.positive, *pairs.negative)
        ]
        if options:
            assert [word == "yes" for *_, word in printed] == [p.sure for p in (*pairs.positive, *pairs.negative)]
        assert f"{sure.n_sure} of {every.n_pairs} pairs are sure: another chain beside the 4" in done.out
        assert ("--all shows the others" in done.out) == (not options)
        listed = diln("correlations", chained / "diln", "--pairs", 100, "--json", *options).json
        assert [(p["first"], p["second"], p["sure"], p["n_chains"]) for p in listed["positive"]] == [
            (p.first, p.second, p.sure, p.n_chains) for p in pairs.positive
        ]
    info, numbers = diln("info", chained / "diln").out, diln("info", chained / "diln", "--json").json
    share = agreement.share(in_use(fitted))
    assert f"4: another finds {share:.0%} of the topics, {sure.n_sure} pairs of topics are sure" in info
    assert (numbers["n_chains"], numbers["sure_pairs"]) == (4, sure.n_sure)
    assert numbers["topics_found_again"] == pytest.approx(share)
    hdp = diln("info", chained / "hdp").out
    assert re.search(r"chains +4: another finds \d+% of the topics *$", hdp, re.MULTILINE)


def test_a_lift_is_short_and_says_what_it_is():
    assert [shown_lift(value) for value in (3.24, 0.314, 12.4, 0.996, 1e4, 1e-4)] == (
        ["3.2x", "0.31x", "12x", "1.0x", ">999x", "<0.01x"]
    )
    assert lift_range(1.94, 5.41) == "1.9 to 5.4x"
    assert lift_range(0.0, np.inf) == lift_range(None, None) == "unknown"


def test_one_chain_and_a_bound_say_that_it_is_unknown_what_another_run_would_find(shelf, chained, tmp_path):
    assert ONE_CHAIN in diln("correlations", shelf / "diln").out
    assert "Fitted by variational inference: how much of this another run" in diln("topics", shelf / "variational").out
    model = load(chained / "diln")
    model.partial_fit(Corpus.open(shelf / "corpus")).save(tmp_path / "m")
    assert "Learned from more documents since it was fitted with several" in diln("correlations", tmp_path / "m").out


@pytest.mark.parametrize("kind", ["hdp", "lda"])
def test_a_model_without_correlations_says_so(kind, shelf):
    done = diln("correlations", shelf / kind)
    assert (done.code, done.out) == (2, "")
    assert f"an {kind.upper()}, whose topics have no locations" in done.err


def test_one_topic_has_no_pairs(shelf, tmp_path):
    assert diln("fit", shelf / "corpus", "-o", tmp_path / "m", "--topics", 1, "--passes", 1).code == 0
    assert diln("correlations", tmp_path / "m").out == "there are no pairs: one topic is in use\n"
    assert diln("correlations", tmp_path / "m", "--json").json["positive"] == []
    assert len(diln("topics", tmp_path / "m", "--json").json["topics"]) == 1


@pytest.mark.parametrize("name", ["diln", "hdp", "lda", "ctm", "variational"])
def test_info_says_what_a_model_is(name, shelf):
    done, found = diln("info", shelf / name), diln("info", shelf / name, "--json").json
    fitted, kind = Fitted.load(shelf / name), "DILN" if name == "variational" else name.upper()
    size = fitted.posterior.n_topics
    assert (done.code, done.err) == (0, "")
    for shown in (kind, "--topics 5", "200", "28", f"{fitted.n_topics} in use of {size}", "diln 0.", "numpy"):
        assert shown in done.out
    assert f"{fitted.parameters.inference}, learning: batch" in done.out
    assert ("alpha, beta" in done.out) == (kind in ("DILN", "HDP"))
    assert ("location variance" in done.out) == (kind == "DILN")
    assert "--jobs" not in done.out
    assert "--init" not in done.out
    assert (found["model"], found["documents"], found["terms"]) == (kind, 200, 28)
    assert (found["alpha"], found["beta"], found["bound"]) == (fitted.alpha, fitted.beta, fitted.bound)
    assert (found["topic_prior"], found["truncation"]) == (fitted.posterior.prior, size)
    assert found["location_variance"] == {"DILN": pytest.approx(fitted.parameters.variance)}.get(kind)
    assert found["history"] == fitted.history
    assert found["parameters"]["n_components"] == 5
    assert set(found["versions"]) >= {"diln", "numpy", "python"}
    assert found["bytes"] == sum(path.stat().st_size for path in (shelf / name).rglob("*") if path.is_file())


def test_info_tells_a_sampled_model_from_one_with_a_bound(shelf):
    sampled, bound = diln("info", shelf / "diln"), diln("info", shelf / "variational")
    averaged = load(shelf / "diln").history_[-1]["n_states"]
    assert f"the last {averaged} averaged" in sampled.out
    assert re.search(r"^states kept +3 *$", sampled.out, re.MULTILINE)
    assert re.search(r"^history +score -\d\.\d{3} [▁-█]+ -\d\.\d{3} *$", sampled.out, re.MULTILINE)
    assert "bound" not in sampled.out
    assert re.search(r"^history +bound -[\d,]+ [▁-█]+ -[\d,]+ *$", bound.out, re.MULTILINE)
    for absent in ("score", "states", "sweeps"):
        assert absent not in bound.out
    found, other = (diln("info", shelf / name, "--json").json for name in ("diln", "variational"))
    assert found["score"] == found["history"][-1]["score"]
    assert (found["states_averaged"], found["states_kept"], found["bound"]) == (averaged, 3, None)
    assert (other["states_averaged"], other["states_kept"], other["score"]) == (None, None, None)


def test_the_history_is_drawn_from_the_lowest_to_the_highest():
    assert sparkline([0, 1, 2, 3, 4, 5, 6, 7], 40) == "▁▂▃▄▅▆▇█"
    assert sparkline([5.0, 5.0], 40) == "▁▁"
    line = sparkline(list(range(1000)), 40)
    assert (len(line), line[0], line[-1]) == (40, "▁", "█")


def test_words_fill_the_line_and_are_never_cut():
    words = ("orchard", "engine", "violin")
    assert listed(words, None, 100) == "orchard engine violin"
    assert listed(words, None, 20) == "orchard engine"
    assert listed(words, None, 3) == "orchard"
    assert listed(words, 3, 3) == "orchard engine violin"
    assert listed(("fuel", "brake fluid", "gear"), None, 20) == "fuel, brake fluid"
    assert listed(("音楽", "楽器"), None, 8) == "音楽"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_model_that_is_none_is_one_sentence_and_exit_code_2(command, shelf, tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    for directory, message in (
        (tmp_path / "nothing", "there is no model here"),
        (tmp_path / "file", "there is no model here"),
        (tmp_path / "folder", "there is no model here"),
        (shelf / "corpus", "not a model"),
    ):
        done = diln(command, directory)
        assert (done.code, done.out) == (2, "")
        assert message in done.err
        assert done.err.count("\n") == 1


@pytest.mark.parametrize("part", ["manifest.json", "tensors.safetensors", "terms.json"])
def test_a_damaged_model_is_one_sentence_and_exit_code_2(part, shelf, tmp_path):
    load(shelf / "lda").save(tmp_path / "m")
    victim = next(path for path in (tmp_path / "m").iterdir() if path.name.endswith(part))
    data = bytearray(victim.read_bytes())
    data[len(data) // 2] ^= 1
    victim.write_bytes(data)
    for command in ("topics", "info"):
        done = diln(command, tmp_path / "m")
        assert (done.code, done.out) == (2, "")
        assert "damaged" in done.err
        assert done.err.count("\n") == 1


def read_proportions(path) -> tuple[list[str], list[int], np.ndarray]:
    """Ids, numbers of tokens, and proportions of a file of any kind."""
    if path.suffix == ".npz":
        with np.load(path) as stored:
            return stored["ids"].tolist(), stored["n_tokens"].tolist(), stored["theta"]
    if path.suffix == ".parquet":
        rows = parquet.read_table(path).to_pylist()
    elif path.suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    else:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","))
    names = list(rows[0])
    assert names[:2] == ["id", "n_tokens"]
    theta = np.array([[float(row[name]) for name in names[2:]] for row in rows])
    return [row["id"] for row in rows], [int(row["n_tokens"]) for row in rows], theta


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".npz", ".parquet"])
def test_proportions_are_those_of_the_model(suffix, shelf, tmp_path):
    target = tmp_path / f"theta{suffix}"
    options = () if suffix == ".npz" else ("--all-topics",)
    done = diln("transform", shelf / "diln", shelf / "corpus", "-o", target, "--json", *options)
    assert done.code == 0, done.err
    assert done.json["documents"] == 200
    corpus = Corpus.open(shelf / "corpus")
    ids, tokens, theta = read_proportions(target)
    assert ids == corpus.documents.ids
    assert tokens == corpus.doc_lengths.tolist()
    assert theta == pytest.approx(load(shelf / "diln").transform(corpus), rel=1e-6)
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


def test_texts_are_counted_in_the_terms_of_the_model(shelf, tmp_path):
    texts = tmp_path / "new.csv"
    texts.write_text('id,body\n"one, two",Violin flute zebra!\nb,zebra okapi\nc,engine gear\n')
    done = diln("transform", shelf / "diln", texts, "-o", tmp_path / "a.csv", "--text", "body", "-j1")
    assert done.code == 0, done.err
    assert "without a known term: 1; tokens of unknown terms, left out: 3" in done.out
    ids, tokens, theta = read_proportions(tmp_path / "a.csv")
    assert (ids, tokens) == (["one, two", "b", "c"], [2, 0, 2])
    assert theta.sum(axis=1) == pytest.approx([1, 1, 1])
    first = largest_topics(Fitted.load(shelf / "diln"), n_words=28)
    best = next(topic for topic in first if topic.id == theta[0].argmax())
    assert {"violin", "flute"} <= set(best.words[:8])


@pytest.mark.parametrize("source", ["a.txt", "hollow"])
def test_documents_without_any_known_term_get_what_is_expected_of_any_document(source, shelf, tmp_path):
    (tmp_path / "a.txt").write_text("zebra okapi\n")
    Corpus.from_texts(["zebra okapi", "violin"])[[0]].save(tmp_path / "hollow")
    done = diln("transform", shelf / "diln", tmp_path / source, "-o", tmp_path / "a.csv", "-j1")
    assert done.code == 0, done.err
    assert "without a known term: 1; tokens of unknown terms, left out: 2" in done.out
    _, tokens, theta = read_proportions(tmp_path / "a.csv")
    assert (tokens, theta.sum()) == ([0], pytest.approx(1))
    done = diln("evaluate", shelf / "diln", tmp_path / source, "-j1")
    assert (done.code, done.out) == (2, "")
    assert "there is no token to predict; give documents with at least one known term" in done.err


def test_a_file_is_read_from_the_columns_that_the_models_documents_were(tmp_path):
    rows = "".join(
        f"{a} {b},{b} {a} {a}\n" for a, b in (("violin", "flute"), ("engine", "gear"), ("violin", "gear")) * 4
    )
    (tmp_path / "a.csv").write_text(f"headline,body\n{rows}")
    fit = ("--text", "headline", "--text", "body", "--model", "lda", "--topics", 2, "--max-df", "1.0", "-qj1")
    assert diln("fit", tmp_path / "a.csv", "-o", tmp_path / "model", *fit).code == 0
    (tmp_path / "b.csv").write_text("body,headline\nviolin,flute engine\n")
    done = diln("transform", tmp_path / "model", tmp_path / "b.csv", "-o", tmp_path / "o.csv", "-j1")
    assert done.code == 0
    assert "reading 'headline' and 'body' as text (as before)" in done.err
    assert next(csv.DictReader((tmp_path / "o.csv").read_text().splitlines()))["n_tokens"] == "3"
    (tmp_path / "c.csv").write_text("body\nviolin\n")
    done = diln("transform", tmp_path / "model", tmp_path / "c.csv", "-o", tmp_path / "o.csv", "-j1")
    assert (done.code, done.out) == (2, "")
    assert "there is no column 'headline', and the text was in 'headline' and 'body' before; name" in done.err
    done = diln("transform", tmp_path / "model", tmp_path / "c.csv", "-o", tmp_path / "o.csv", "--text", "body", "-qj1")
    assert (done.code, done.err) == (0, "")


def test_a_corpus_of_other_terms_is_aligned_and_what_is_unknown_is_reported(shelf, tmp_path):
    Corpus.from_texts(["violin zebra zebra", "apple plum"], ids=["x", "y"]).save(tmp_path / "corpus")
    done = diln("transform", shelf / "diln", tmp_path / "corpus", "-o", tmp_path / "a.jsonl", "--json")
    assert done.code == 0
    assert "2 of 5 tokens are of terms that the model does not know" in done.err
    assert (done.json["unknown_tokens"], done.json["empty_documents"]) == (2, 0)
    assert read_proportions(tmp_path / "a.jsonl")[:2] == (["x", "y"], [1, 2])


def test_counts_without_a_vocabulary_are_in_the_order_of_the_model(shelf, tmp_path):
    corpus = Corpus.open(shelf / "corpus")
    save_npz(tmp_path / "counts.npz", corpus.counts)
    assert diln("transform", shelf / "diln", tmp_path / "counts.npz", "-o", tmp_path / "a.npz", "-j1").code == 0
    assert diln("transform", shelf / "diln", shelf / "corpus", "-o", tmp_path / "b.npz").code == 0
    assert np.array_equal(read_proportions(tmp_path / "a.npz")[2], read_proportions(tmp_path / "b.npz")[2])


def test_a_target_that_cannot_be_written_is_said_at_once(shelf, tmp_path):
    (tmp_path / "folder.csv").mkdir()
    for target, message in (
        (tmp_path / "a.docx", "must end in one of .csv, .tsv, .jsonl, .parquet, .xlsx, .npz"),
        (tmp_path / "folder.csv", "is a folder"),
        (tmp_path / "nowhere" / "a.csv", "there is no such folder"),
    ):
        done = diln("transform", shelf / "diln", shelf / "corpus", "-o", target)
        assert (done.code, done.out) == (2, "")
        assert message in done.err


@pytest.mark.parametrize("read", ["source", "link", "vocabulary", "stop words", "model", "folder in it", "corpus"])
def test_nothing_that_is_read_is_written_over(read, shelf, tmp_path):
    shelf = shutil.copytree(shelf, tmp_path / "shelf")
    source, output, options = shelf / "texts.jsonl", tmp_path / "words.csv", []
    output.write_text("violin\nflute\nengine\n")
    match read:
        case "source":
            output = shelf / "hdp" / ".." / "texts.jsonl"
        case "link":
            output = tmp_path / "link.jsonl"
            output.symlink_to(source)
        case "vocabulary" | "stop words":
            options = ["--" + read.replace(" ", "-"), output]
        case "model":
            output = shelf / "diln" / "theta.csv"
        case "folder in it":
            output = shelf / "diln" / "mine" / "theta.csv"
            output.parent.mkdir()
        case "corpus":
            source, output = shelf / "corpus", shelf / "corpus" / "theta.csv"
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    done = diln("transform", shelf / "diln", source, "-o", output, "-j1", *options)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {output}: ")
    assert done.err.endswith("name another file\n")
    assert done.err.count("\n") == 1
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_proportions_can_replace_a_file_beside_the_source(shelf, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_text("violin flute")
    target = tmp_path / "folder" / "theta.csv"
    target.write_text("old")
    assert diln("transform", shelf / "diln", tmp_path / "folder", "-o", target, "-qj1").code == 0
    assert target.read_text().startswith("id,title,label,n_tokens,topic_0 ")


@pytest.mark.parametrize("command", ["transform", "evaluate"])
def test_a_corpus_of_other_terms_only_is_an_error(command, shelf, tmp_path):
    Corpus.from_texts(["zebra okapi"]).save(tmp_path / "other")
    target = ["-o", tmp_path / "a.csv"] if command == "transform" else []
    done = diln(command, shelf / "diln", tmp_path / "other", *target)
    assert (done.code, done.out) == (2, "")
    assert "none of them is among the model's 28" in done.err.splitlines()[-1]
    assert not (tmp_path / "a.csv").exists()


def test_interrupting_a_transform_leaves_the_file_that_was_there(shelf, tmp_path):
    Corpus.read(write_texts(tmp_path / "many.jsonl", 40_000), text="text").save(tmp_path / "corpus")
    target = tmp_path / "a.csv"
    target.write_text("mine")
    args = ["transform", shelf / "diln", tmp_path / "corpus", "-o", target, "-j1"]
    process = subprocess.Popen([sys.executable, "-m", "diln", *map(str, args)], stderr=subprocess.PIPE, text=True)
    while not any(tmp_path.glob(".a.csv*")):
        time.sleep(0.01)
        assert process.poll() is None, "it was done before it could be interrupted"
    process.send_signal(signal.SIGINT)
    _, printed = process.communicate(timeout=60)
    assert process.returncode == 130
    assert printed == "error: interrupted; nothing was written\n"
    assert target.read_text() == "mine"
    assert not any(tmp_path.glob(".a.csv*"))


def test_perplexity_is_that_of_the_model(shelf, tmp_path):
    texts = write_texts(tmp_path / "new.jsonl", 40, seed=5)
    model, corpus = load(shelf / "diln"), Corpus.open(shelf / "corpus")
    found = diln("evaluate", shelf / "diln", shelf / "corpus", "--json").json
    assert found["perplexity"] == pytest.approx(model.perplexity(corpus), rel=1e-9)
    assert (found["documents"], found["tokens_predicted"], found["empty_documents"]) == (200, 3000, 0)
    other = diln("evaluate", shelf / "diln", shelf / "corpus", "--seed", 3, "--json").json
    assert other["perplexity"] == pytest.approx(model.perplexity(corpus, seed=3), rel=1e-9)
    counted = Corpus.read(texts, vocabulary=model.vocabulary_)
    for name, n_draws in (("diln", 2), ("variational", 4)):
        line = ("--method", "draws", "--draws", n_draws, "--json", "-j1")
        drawn, model = diln("evaluate", shelf / name, texts, *line).json, load(shelf / name)
        assert drawn["perplexity"] == pytest.approx(
            model.perplexity(counted, method="draws", n_draws=n_draws), rel=1e-9
        )
        assert (drawn["method"], drawn["draws"], drawn["documents"]) == ("draws", n_draws, 40)
    assert diln("evaluate", shelf / "diln", texts, "--method", "draws", "--json", "-j1").json["draws"] == 3
    shown = diln("evaluate", shelf / "diln", shelf / "corpus").out
    assert shown.startswith(f"perplexity {found['perplexity']:,.1f} ± ")
    assert "3,000 tokens" in shown


def test_documents_that_the_model_was_trained_on_are_told(shelf, tmp_path):
    done = diln("evaluate", shelf / "diln", shelf / "corpus", "--json")
    assert done.json["trained_on"] == {"share": 1, "exact": True, "n_docs": 200, "n_compared": 200, "n_found": 200}
    told = "the model was trained on {} documents, so the perplexity says little about new ones; set documents aside"
    assert told.format("200 of these 200") in done.err
    assert done.err.count("\n") == 1
    new = write_texts(tmp_path / "new.jsonl", 40, seed=5)
    done = diln("evaluate", shelf / "diln", new, "--json", "-j1")
    assert (done.json["trained_on"]["n_found"], "trained on" in done.err) == (0, False)
    with new.open("a") as file:
        file.write((shelf / "texts.jsonl").read_text().replace("doc-", "old-"))
    assert told.format("200 of these 240") in diln("evaluate", shelf / "diln", new, "-j1").err
    model = load(shelf / "diln")
    model.fitted_.trained = None  # as it is of a model that an earlier version wrote
    model.save(tmp_path / "model")
    done = diln("evaluate", tmp_path / "model", shelf / "corpus", "--json")
    assert (done.json["trained_on"], done.err) == (None, "")


def test_of_many_documents_the_share_that_the_model_was_trained_on_is_an_estimate(shelf, tmp_path, monkeypatch):
    monkeypatch.setattr("diln.models.trained.KEPT", 100)
    assert diln("fit", shelf / "corpus", "-o", tmp_path / "m", "--passes", 3, "-qj1").code == 0
    done = diln("evaluate", tmp_path / "m", shelf / "corpus", "--json")
    assert "the model was trained on about 100% of these 200 documents" in done.err
    assert (done.json["trained_on"]["exact"], done.json["trained_on"]["n_compared"]) == (False, 100)


def test_draws_of_a_chain_are_the_states_that_were_kept(shelf, tmp_path):
    assert diln("fit", shelf / "corpus", "-o", tmp_path / "m", "--passes", 3, "-qj1").code == 0
    done = diln("evaluate", tmp_path / "m", shelf / "corpus", "--method", "draws")
    assert (done.code, done.out) == (2, "")
    assert "no state of its chain was kept; fit it with --keep-states, or leave out --method" in done.err


def test_draws_are_for_the_method_of_draws(shelf, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    done = diln("evaluate", shelf / "diln", shelf / "corpus", "--draws", 4)
    assert done.code == 2
    assert "--draws is for --method draws" in done.err


@pytest.mark.parametrize("width", [60, 80, 120])
def test_tables_fit_the_line(width, shelf, chained, monkeypatch):
    monkeypatch.setattr(console.OUT, "width", width)
    lines = [(command, shelf / "diln") for command in COMMANDS] + [(command, chained / "diln") for command in COMMANDS]
    for line in [*lines, ("correlations", chained / "diln", "--all")]:
        shown = diln(*line).out.splitlines()[1:]  # the first may be a path, which is never broken
        assert max(map(len, shown)) <= width
        assert "…" not in "".join(shown)


def test_text_is_counted_by_the_rule_of_the_models_own_documents(tmp_path):
    source, model, out = tmp_path / "texts.txt", tmp_path / "model", tmp_path / "out.csv"
    source.write_text("\n".join(["Red Fox runs", "red fox sleeps", "Red Fox hunts red fox"] * 5), "utf-8")
    done = diln("fit", source, "-o", model, "--topics", 2, "--ngrams", 2, "--case", "--max-df", "1.0", "--quiet")
    assert done.code == 0, done.err
    assert diln("transform", model, source, "-o", out, "--json").json["unknown_tokens"] == 0
    assert out.read_text("utf-8").splitlines()[1].split(",")[1] == "5"  # Red, Fox, runs, Red Fox, Fox runs
