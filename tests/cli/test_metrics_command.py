"""What ``diln metrics`` says of one model and of several, and how sure ``diln evaluate`` is."""

import json
import re

import numpy as np
import pytest
from commands import diln, write_texts

from diln.analysis import complete, qualities, quality, stability
from diln.cli import console
from diln.corpus import Corpus
from diln.models.counts import CorpusRows, in_halves
from diln.models.fitted import Fitted


@pytest.fixture(scope="module")
def seeds(shelf, tmp_path_factory):
    """Two models of other seeds."""
    folder = tmp_path_factory.mktemp("seeds")
    for seed in (1, 2):
        done = diln("fit", shelf / "corpus", "-o", folder / f"seed-{seed}", "--topics", 5, "--seed", seed, "-q")
        assert done.code == 0, done.err
    return [folder / "seed-1", folder / "seed-2"]


def as_read(record) -> dict:
    """A record as JSON gives it back."""
    return json.loads(json.dumps(record.to_json()))


def test_one_model_is_shown_topic_by_topic(shelf):
    done = diln("metrics", shelf / "diln", "--corpus", shelf / "corpus", "--words", 4)
    assert (done.code, done.err) == (0, "")
    found = quality(Fitted.load(shelf / "diln"), Corpus.open(shelf / "corpus"), 4)
    facts, _, table = done.out.partition("\n\n")
    assert re.search(rf"^NPMI +{re.escape(f'{found.npmi:+.2f}')} *$", facts, re.MULTILINE)
    assert re.search(rf"^UMass +{re.escape(f'{found.umass:+.2f}')} *$", facts, re.MULTILINE)
    assert re.search(rf"^exclusivity +{found.exclusivity:.2f} *$", facts, re.MULTILINE)
    assert re.search(rf"^diversity +{found.diversity:.2f} *$", facts, re.MULTILINE)
    assert "200 documents, 4 words of each topic" in facts
    assert "note" not in facts
    rows = [line.split() for line in table.splitlines()[2:]]
    assert [(int(row[0]), *row[1:]) for row in rows] == [
        (one.id, f"{one.weight:.1%}", f"{one.npmi:+.2f}", f"{one.umass:+.2f}", f"{one.exclusivity:.2f}", *one.words)
        for one in found.topics
    ]


def test_fewer_topics_can_be_shown_and_all_count(shelf):
    line = ("metrics", shelf / "diln", "--corpus", shelf / "corpus")
    every, few = diln(*line), diln(*line, "--top", 2)
    assert "(the 2 largest of" in few.out
    assert few.out.partition("\n\n")[0] == every.out.partition("\n\n")[0]
    assert len(few.out.splitlines()) < len(every.out.splitlines())


def test_machines_are_told_all(shelf, seeds):
    models = [shelf / "diln", *seeds, shelf / "hdp"]
    done = diln("metrics", *models, "--corpus", shelf / "corpus", "--json")
    assert (done.code, done.err) == (0, "")
    every = [Fitted.load(model) for model in models]
    expected = qualities(every, Corpus.open(shelf / "corpus"))
    for told, model, fitted, one in zip(done.json["models"], models, every, expected, strict=True):
        assert told == {"directory": str(model), "model": fitted.kind, **as_read(one)}
    assert done.json["stability"] == as_read(stability(every))
    alone = diln("metrics", seeds[0], "--corpus", shelf / "corpus", "--json").json
    assert (alone["models"], alone["stability"]) == ([done.json["models"][1]], None)


def test_several_models_are_a_row_each_and_a_row_for_each_two(shelf, seeds):
    done = diln("metrics", *seeds, shelf / "hdp", "--corpus", shelf / "corpus")
    assert (done.code, done.err) == (0, "")
    found = stability([Fitted.load(model) for model in (*seeds, shelf / "hdp")])
    means, _, common = done.out.partition("\n\n")
    assert [line.split()[0] for line in means.splitlines()[1:]] == ["seed-1", "seed-2", "hdp"]
    rows = [line.split() for line in common.splitlines()[2:]]
    assert [row[:2] for row in rows[:3]] == [["seed-1", "seed-2"], ["seed-1", "hdp"], ["seed-2", "hdp"]]
    assert [row[2] for row in rows[:3]] == [f"{repeat.topics.share:.0%}" for repeat in found.repeats]
    assert rows[0][4] == f"{found.repeats[0].correlations.correlation:+.2f}"
    assert rows[1][4:] == ["-", "-"]
    assert rows[3][:3] == ["mean", f"{found.share:.0%}", f"{found.mean:.2f}"]


def test_models_without_correlations_have_no_column_for_them(shelf):
    done = diln("metrics", shelf / "hdp", shelf / "lda", "--corpus", shelf / "corpus")
    assert "affinity" in done.out
    assert "correlations" not in done.out


def test_texts_are_counted_in_the_terms_of_the_model(shelf, tmp_path):
    texts = tmp_path / "few.txt"
    texts.write_text("Violin, flute and zebra!\nviolin drum\nflute horn violin\nokapi\n", "utf-8")
    done = diln("metrics", shelf / "diln", "--corpus", texts, "--words", 7, "-j1")
    assert done.code == 0, done.err
    assert "4 documents" in done.out
    assert re.search(r"note +words that no document has: \d+\.\d%; topics without two words", done.out)
    assert re.search(r"% +- +- +\d", done.out)
    known = diln("metrics", shelf / "diln", "--corpus", texts, "--words", 7, "-j1", "--json").json["models"][0]
    assert known["n_scored"] < known["n_topics"]
    assert all(np.isfinite([topic["npmi"], topic["umass"]]).all() for topic in known["topics"])


def test_the_documents_are_those_of_the_model_where_it_knows_them(shelf, tmp_path):
    texts = write_texts(tmp_path / "texts.jsonl", 40)
    fit = ("fit", texts, "--topics", 2, "--passes", 3, "-qj1", "-o")
    assert diln(*fit, tmp_path / "m").code == diln(*fit, tmp_path / "lost", "--no-corpus", "--no-index").code == 0
    own = diln("metrics", tmp_path / "m", "--json", "-n", 1).json
    given = diln("metrics", tmp_path / "m", "--corpus", tmp_path / "m" / "corpus", "--json").json
    assert own["models"] == given["models"]
    assert own["corpus"] == str(tmp_path / "m" / "corpus")
    lost = diln("metrics", tmp_path / "lost")
    assert (lost.code, lost.out) == (2, "")
    assert "does not know where its documents are; name some with --corpus" in lost.err
    assert diln(*fit, tmp_path / "other").code == 0
    assert "in different places" in diln("metrics", tmp_path / "m", tmp_path / "other").err


def test_a_corpus_without_any_of_the_words_is_an_error(shelf, tmp_path):
    Corpus.from_texts(["zebra okapi", "zebra"], max_df=1.0).save(tmp_path / "other")
    done = diln("metrics", shelf / "diln", "--corpus", tmp_path / "other")
    assert (done.code, done.out) == (2, "")
    assert "no document has any of the topics' words" in done.err


def test_models_of_other_terms_are_measured_and_not_matched(shelf, tmp_path):
    texts = write_texts(tmp_path / "texts.jsonl", 40)
    assert diln("fit", texts, "-o", tmp_path / "m", "--topics", 2, "--passes", 3, "--max-terms", 20, "-qj1").code == 0
    done = diln("metrics", shelf / "diln", tmp_path / "m", "--corpus", shelf / "corpus", "--json")
    assert done.code == 0
    assert done.json["stability"] is None
    assert "whether the models find the same is not known: the models have 28 and 20 terms" in done.err
    assert done.err.count("\n") == 1


def test_texts_cannot_be_counted_by_two_rules_at_once(shelf, tmp_path):
    texts = write_texts(tmp_path / "texts.jsonl", 40)
    assert diln("fit", texts, "-o", tmp_path / "m", "--topics", 2, "--passes", 3, "--case", "-qj1").code == 0
    done = diln("metrics", shelf / "diln", tmp_path / "m", "--corpus", texts)
    assert (done.code, done.out) == (2, "")
    assert "counted by different rules" in done.err


@pytest.mark.parametrize("width", [60, 80, 120])
def test_tables_fit_the_line(width, shelf, seeds, monkeypatch):
    monkeypatch.setattr(console.OUT, "width", width)
    for models in ([shelf / "diln"], [*seeds, shelf / "diln"]):
        lines = diln("metrics", *models, "--corpus", shelf / "corpus").out.splitlines()
        lines = lines[1:] if len(models) == 1 else lines  # the first is a path, which is never broken
        assert max(map(len, lines)) <= width
        assert "…" not in "".join(lines)
        assert any(re.search(r"NPMI +UMass", line) for line in lines) == (width >= 80)


def test_models_of_one_name_are_told_apart_by_their_paths(shelf, tmp_path):
    (tmp_path / "a").mkdir()
    Fitted.load(shelf / "lda").save(tmp_path / "a" / "lda")
    done = diln("metrics", shelf / "lda", tmp_path / "a" / "lda", "--corpus", shelf / "corpus")
    assert str(tmp_path / "a" / "lda") in done.out
    assert " 100% " in done.out


def test_the_command_needs_a_corpus_and_a_model(shelf, tmp_path):
    done = diln("metrics", shelf / "diln", "--corpus")
    assert (done.code, done.out) == (2, "")
    assert "--corpus" in done.err
    assert diln("metrics", "--corpus", shelf / "corpus").code == 2
    done = diln("metrics", tmp_path / "nothing", "--corpus", shelf / "corpus")
    assert (done.code, done.out) == (2, "")
    assert "there is no model here" in done.err


def test_perplexity_comes_with_its_standard_error(shelf):
    fitted, corpus = Fitted.load(shelf / "diln"), Corpus.open(shelf / "corpus")
    expected = complete(fitted, *in_halves(CorpusRows(corpus).everything(), 0))
    found = diln("evaluate", shelf / "diln", shelf / "corpus", "--json").json
    assert found["perplexity"] == pytest.approx(expected.perplexity, rel=1e-9)
    assert found["standard_error"] == pytest.approx(expected.standard_error, rel=1e-9)
    shown = diln("evaluate", shelf / "diln", shelf / "corpus").out
    assert shown.startswith(f"perplexity {expected.perplexity:,.1f} ± {expected.standard_error:,.1f}\n")


def test_one_document_has_a_perplexity_without_a_standard_error(shelf, tmp_path):
    (tmp_path / "one.txt").write_text("violin flute drum horn\n", "utf-8")
    assert "±" not in diln("evaluate", shelf / "diln", tmp_path / "one.txt", "-j1").out
    assert diln("evaluate", shelf / "diln", tmp_path / "one.txt", "-j1", "--json").json["standard_error"] is None
