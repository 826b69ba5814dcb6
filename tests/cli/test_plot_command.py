"""``diln plot`` writes figures of every kind, or says in a sentence what is in the way."""

import sys
from shutil import copytree

import pytest
from commands import diln

from diln.cli.plot import FLAGS
from diln.corpus import Corpus
from diln.show.figures import KINDS

SIGNS = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}


@pytest.fixture(scope="module")
def model(shelf, tmp_path_factory):
    """A copy of a model that this file may change."""
    return copytree(shelf / "diln", tmp_path_factory.mktemp("plots") / "model")


@pytest.fixture(scope="module")
def corpus(shelf):
    return shelf / "corpus"


@pytest.mark.parametrize("form", sorted(SIGNS))
def test_a_figure_is_written_in_the_format_of_its_name(model, corpus, tmp_path, form):
    target = tmp_path / f"words.{form}"
    done = diln("plot", model, "words", "-o", target, "--corpus", corpus, "--top", 2, "-qj1")
    assert done.code == 0, done.err
    assert target.read_bytes().startswith(SIGNS[form])
    before = target.read_bytes()
    assert diln("plot", model, "words", "-o", target, "--corpus", corpus, "--top", 2, "-qj1").code == 0
    assert target.read_bytes() == before


def test_what_was_written_is_told_to_machines(model, corpus, shelf, tmp_path):
    target = tmp_path / "match.svg"
    done = diln("plot", model, "match", "-o", target, "--other", shelf / "lda", "--corpus", corpus, "--json")
    assert done.json == {"output": str(target), "kind": "match"}


def test_all_kinds_are_listed_with_their_options(model):
    done = diln("plot", "--list")
    assert done.code == 0
    assert diln("plot", model, "--list") == done
    for name, kind in KINDS.items():
        line = next(line for line in done.out.splitlines() if line.startswith(name))
        assert kind.shows in line
    told = diln("plot", "--list", "--json").json["kinds"]
    assert list(told) == list(KINDS)
    assert told["trends"]["options"] == [
        "--top", "--topics", "--themes", "--by", "--granularity", "--label", "--standardise", "--min-documents",
    ]  # fmt: skip


def test_every_option_of_a_figure_has_a_flag():
    for kind in KINDS.values():
        assert kind.options - {"width"} <= set(FLAGS)


def test_options_come_through(model, corpus, tmp_path):
    for options in (
        ("map", "--themes", 2, "--width", 5),
        ("words", "--topics", "0,1", "--words", 3),
        ("network", "--top", 3, "--all"),
        ("similar", "--document", 4, "--top", 2),
    ):
        target = tmp_path / f"{options[0]}.svg"
        done = diln("plot", model, *options, "-o", target, "--corpus", corpus, "-qj1")
        assert done.code == 0, done.err
        assert target.exists()


def test_a_document_is_named_by_its_id_as_in_similar(model, corpus, tmp_path):
    name = Corpus.open(corpus).documents.ids[4]
    for number, document in enumerate((4, name)):
        target = tmp_path / f"{number}.svg"
        done = diln("plot", model, "similar", "--document", document, "-o", target, "--corpus", corpus, "-qj1")
        assert done.code == 0, done.err
    assert (tmp_path / "0.svg").read_bytes() == (tmp_path / "1.svg").read_bytes()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("nothing", "-o", "x.svg"), "there is no kind of figure 'nothing'; give one of map, network"),
        (("map",), "name what to draw and the file"),
        ((), "name what to draw and the file"),
        (("map", "-o", "x.bmp"), "must end in one of .svg, .png, .pdf"),
        (("map", "-o", "missing/x.svg"), "there is no such folder"),
        (("match", "-o", "x.svg"), "name the second with --other"),
        (("similar", "-o", "x.svg"), "name it with --document"),
        (("words", "-o", "x.svg", "--granularity", "year"), "--granularity does not go with words"),
        (("words", "-o", "x.svg", "--topics", "one"), "is no list of topic ids"),
        (("words", "-o", "x.svg", "--topics", "7777"), "there is no topic 7777"),
        (("map", "-o", "x.svg", "--themes", "0"), "is no number of themes"),
        (("labels", "-o", "x.svg", "--by", "word"), "give 'theme' or 'topic'"),
        (("labels", "-o", "x.svg"), "label"),
        (("trends", "-o", "x.svg"), "date"),
        (("similar", "-o", "x.svg", "--document", "99999"), "there is no document"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(model, corpus, tmp_path, monkeypatch, options, told):
    monkeypatch.chdir(tmp_path)
    done = diln("plot", model, *options, "--corpus", corpus, "-qj1")
    assert done.code == 2
    assert told in " ".join(done.err.replace("│", " ").split())
    assert not list(tmp_path.iterdir())


def test_no_figure_takes_the_place_of_a_folder_or_lies_in_the_model(model, tmp_path):
    (tmp_path / "figure.svg").mkdir()
    assert "is a folder; name a file" in diln("plot", model, "map", "-o", tmp_path / "figure.svg").err
    assert "holds only what diln puts there" in diln("plot", model, "map", "-o", model / "map.svg").err


def test_a_model_without_locations_has_no_network(shelf, corpus, tmp_path):
    done = diln("plot", shelf / "lda", "network", "-o", tmp_path / "x.svg", "--corpus", corpus, "-qj1")
    assert done.code == 2
    assert "fit a DILN or a CTM" in done.err


def test_without_matplotlib_it_says_what_to_install(model, tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.startswith(("diln.show.figures", "diln.show.style"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = diln("plot", model, "map", "-o", tmp_path / "x.svg")
    assert done.code == 2
    assert "pip install 'diln[plots]'" in done.err
