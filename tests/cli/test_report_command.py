"""``diln report`` writes one file, says what it wrote, and refuses with a sentence."""

from pathlib import Path

import pytest
from commands import diln


@pytest.fixture(scope="module")
def written(shelf, tmp_path_factory):
    """A report on the DILN of the shelf."""
    target = tmp_path_factory.mktemp("reports") / "report.html"
    return diln("report", shelf / "diln", "--corpus", shelf / "corpus", "-o", target, "-qj1"), target


def test_a_report_is_written(written):
    done, target = written
    assert done.code == 0, done.err
    assert "report.html" in done.out and "topics" in done.out and "size" in done.out
    text = target.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>") and "<h1>Topics of diln</h1>" in text and "doc-" in text


@pytest.mark.parametrize("kind", ["hdp", "lda", "ctm", "variational"])
def test_every_model_has_a_report(shelf, tmp_path, kind):
    done = diln("report", shelf / kind, "--corpus", shelf / "corpus", "-o", tmp_path / "r.html", "--json", "-j1")
    assert done.code == 0, done.err
    assert done.json["bytes"] == (tmp_path / "r.html").stat().st_size
    assert done.json["documents"] is True
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert ('id="network"' in text) == (kind in ("ctm", "variational"))
    assert "variational inference" in text if kind == "variational" else "one chain" in text


def test_the_name_comes_from_the_model_and_the_title_from_the_user(shelf, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = diln("report", shelf / "lda", "--title", "My <news>", "--themes", 2, "--documents", 1, "--no-texts", "-qj1")
    assert done.code == 0, done.err
    text = Path("lda-report.html").read_text(encoding="utf-8")
    assert "<h1>My &lt;news&gt;</h1>" in text and "doc-" not in text


def test_a_file_is_replaced_only_if_forced(shelf, written):
    _, target = written
    before = target.read_bytes()
    done = diln("report", shelf / "lda", "-o", target, "-qj1")
    assert done.code == 2 and "is there already" in done.err and "--force" in done.err
    assert target.read_bytes() == before
    done = diln("report", shelf / "diln", "--corpus", shelf / "corpus", "-o", target, "-qj1", "--force")
    assert done.code == 0 and target.read_bytes() == before


def test_odd_places_and_values_are_refused_with_a_sentence(shelf, tmp_path):
    model = shelf / "diln"
    (tmp_path / "folder.html").mkdir()
    cases = {
        (model, "-o", tmp_path / "r.pdf"): "must end in one of .html",
        (model, "-o", tmp_path / "folder.html"): "is a folder",
        (model, "-o", tmp_path / "no" / "r.html"): "no such folder",
        (model, "-o", model / "r.html"): "holds only what diln puts there",
        (model, "-o", tmp_path / "r.html", "--themes", "99", "--corpus", shelf / "corpus"): "99",
        (model, "-o", tmp_path / "r.html", "--corpus", tmp_path): str(tmp_path),
        (tmp_path, "-o", tmp_path / "r.html"): str(tmp_path),
    }
    for arguments, sentence in cases.items():
        done = diln("report", *arguments, "-qj1")
        assert done.code == 2 and sentence in done.err and done.err.count("\n") == 1, (arguments, done)
    assert not (tmp_path / "r.html").exists()


def test_without_the_corpus_the_report_says_so(shelf, tmp_path):
    copy = tmp_path / "model"
    copy.mkdir()
    for file in (shelf / "diln").iterdir():
        if file.is_file():
            (copy / file.name).write_bytes(file.read_bytes())
    done = diln("report", copy, "-o", tmp_path / "r.html", "-qj1")
    assert done.code == 0, done.err
    assert "--corpus" in done.out and "--corpus" in (tmp_path / "r.html").read_text(encoding="utf-8")
