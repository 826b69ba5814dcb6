"""``diln fit`` keeps documents beside its model; ``diln index`` does so later; ``diln similar`` and others use them."""

import json
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest
from commands import diln, write_texts

from diln.analysis.index import CORPUS_FOLDER, FOLDER, Index, index_of
from diln.corpus import Corpus
from diln.errors import StoreError
from diln.models.fitted import Fitted

QUICK = ("--topics", 5, "--passes", 5, "-q")


@pytest.fixture(scope="module")
def texts(tmp_path_factory) -> Path:
    return write_texts(tmp_path_factory.mktemp("texts") / "texts.jsonl", 60)


@pytest.fixture(scope="module")
def fitted(texts, tmp_path_factory) -> Path:
    """A model of a file of texts, with its documents."""
    model = tmp_path_factory.mktemp("fitted") / "model"
    assert diln("fit", texts, "-o", model, *QUICK).code == 0
    return model


@pytest.fixture
def model(fitted, tmp_path) -> Path:
    shutil.copytree(fitted, tmp_path / "model")
    return tmp_path / "model"


def known(model: Path) -> Index:
    return index_of(model, Fitted.load(model))


class TestFit:
    def test_files_are_kept_with_their_texts_and_found_after_moving(self, model):
        index = known(model)
        assert index.corpus == model / CORPUS_FOLDER
        corpus = Corpus.open(index.corpus)
        assert index.matches(corpus)
        assert corpus.documents[0].text
        moved = model.rename(model.with_name("moved"))
        assert known(moved).corpus == moved / CORPUS_FOLDER

    def test_a_corpus_directory_is_remembered_and_not_copied(self, texts, tmp_path):
        diln("corpus", "build", texts, "-o", tmp_path / "corpus", "-q")
        assert diln("fit", tmp_path / "corpus", "-o", tmp_path / "model", *QUICK).code == 0
        assert not (tmp_path / "model" / CORPUS_FOLDER).exists()
        assert known(tmp_path / "model").corpus == tmp_path / "corpus"

    @pytest.mark.parametrize("option", ["--corpus", "--no-corpus"])
    def test_documents_behind_a_link_stay_as_they_are(self, model, tmp_path, option):
        real = (model / CORPUS_FOLDER).rename(tmp_path / "real")
        (model / CORPUS_FOLDER).symlink_to(real)
        other = write_texts(tmp_path / "other.jsonl", 40, seed=9)
        assert diln("fit", other, "-o", model, "--force", option, *QUICK).code == 0
        assert len(Corpus.open(real)) == 60
        assert not (model / CORPUS_FOLDER).is_symlink()

    def test_neither_is_kept_where_that_is_asked_for(self, texts, tmp_path):
        assert diln("fit", texts, "-o", tmp_path / "model", "--no-index", "--no-corpus", *QUICK).code == 0
        assert not (tmp_path / "model" / FOLDER).exists()
        assert not (tmp_path / "model" / CORPUS_FOLDER).exists()

    def test_a_model_that_takes_the_place_of_another_takes_its_documents_away(self, model, texts):
        assert diln("fit", texts, "-o", model, "--force", "--no-index", "--no-corpus", "--seed", 1, *QUICK).code == 0
        assert not (model / FOLDER).exists()
        assert not (model / CORPUS_FOLDER).exists()

    def test_a_model_saved_in_the_place_of_another_does_not_believe_its_index(self, model, texts, tmp_path):
        diln("fit", texts, "-o", tmp_path / "other", "--no-index", "--no-corpus", "--seed", 1, *QUICK)
        Fitted.load(tmp_path / "other").save(model)
        with pytest.raises(StoreError, match="another model"):
            known(model)
        assert diln("similar", model, 0, "-q").code == 0  # made again, from the documents that are there
        assert known(model).n_docs == 60

    def test_a_folder_of_somebody_else_in_the_way_is_left_alone_and_the_model_is_written(self, model, texts):
        shutil.rmtree(model / CORPUS_FOLDER)
        (model / CORPUS_FOLDER).mkdir()
        (model / CORPUS_FOLDER / "thesis.txt").write_text("mine")
        done = diln("fit", texts, "-o", model, "--force", "--seed", 2, *QUICK)
        assert done.code == 0
        assert "has the model, but its documents could not be kept" in " ".join(done.err.split())
        assert (model / CORPUS_FOLDER / "thesis.txt").read_text() == "mine"
        assert Fitted.load(model).seed == 2

    def test_a_full_disk_loses_the_index_and_not_the_model(self, texts, tmp_path, monkeypatch):
        def full(*_):
            raise StoreError("there is no room left on the disk")

        monkeypatch.setattr(Index, "write", full)
        done = diln("fit", texts, "-o", tmp_path / "model", *QUICK)
        assert done.code == 0
        assert "no room left" in done.err
        assert "diln index" in done.err
        assert Fitted.load(tmp_path / "model").n_topics

    def test_ctrl_c_while_indexing_leaves_the_model(self, texts, tmp_path, monkeypatch):
        def interrupted(*_, **__):
            signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr(Index, "build", interrupted)
        done = diln("fit", texts, "-o", tmp_path / "model", *QUICK)
        assert done.code == 130
        assert "without its documents" in " ".join(done.err.split())
        monkeypatch.undo()
        assert Fitted.load(tmp_path / "model").n_topics
        assert diln("index", tmp_path / "model", "-q").code == 0
        assert known(tmp_path / "model").n_docs == 60


class TestIndex:
    def test_it_is_made_again_where_it_is_missing_or_damaged(self, model):
        shutil.rmtree(model / FOLDER)
        assert diln("index", model, "-q").code == 0
        path = next((model / FOLDER).glob("*-topics.npy"))
        path.write_bytes(b"nonsense")
        assert diln("similar", model, 0).code == 2
        assert "diln index MODEL" in diln("similar", model, 0).err
        done = diln("index", model, "--json")
        assert done.code == 0
        assert done.json["documents"] == 60
        assert known(model).n_docs == 60

    def test_a_corpus_that_was_moved_is_named_and_nothing_is_inferred_again(self, texts, tmp_path, monkeypatch):
        diln("corpus", "build", texts, "-o", tmp_path / "corpus", "-q")
        diln("fit", tmp_path / "corpus", "-o", tmp_path / "model", *QUICK)
        (tmp_path / "corpus").rename(tmp_path / "elsewhere")
        done = diln("index", tmp_path / "model", "-q")
        assert done.code == 2
        assert "give them: diln index MODEL SOURCE" in done.err
        monkeypatch.setattr(Index, "build", None)
        assert diln("index", tmp_path / "model", tmp_path / "elsewhere", "-q").code == 0
        assert known(tmp_path / "model").corpus == tmp_path / "elsewhere"

    def test_files_are_counted_as_the_model_counts_and_kept(self, texts, tmp_path):
        diln("fit", texts, "-o", tmp_path / "model", "--no-index", "--no-corpus", *QUICK)
        assert diln("index", tmp_path / "model", texts, "-q").code == 0
        assert known(tmp_path / "model").matches(Corpus.open(tmp_path / "model" / CORPUS_FOLDER))

    def test_documents_are_added_after_those_that_are_kept(self, model, tmp_path):
        before = known(model).proportions(range(60))
        more = tmp_path / "more.jsonl"
        row = {"id": "new-1", "title": "Fruit", "text": "apple pear plum cherry orchard fruit harvest apple pear"}
        more.write_text(json.dumps(row) + "\n")
        assert diln("index", model, "--add", more, "-q").code == 0
        index = known(model)
        assert index.n_docs == 61
        np.testing.assert_allclose(index.proportions(range(60)), before, atol=1e-3)
        assert diln("similar", model, "new-1", "--json").json["row"] == 60

    def test_documents_are_not_added_to_a_corpus_elsewhere(self, texts, tmp_path):
        diln("corpus", "build", texts, "-o", tmp_path / "corpus", "-q")
        diln("fit", tmp_path / "corpus", "-o", tmp_path / "model", *QUICK)
        done = diln("index", tmp_path / "model", "--add", texts, "-q")
        assert done.code == 2
        assert "diln corpus append" in done.err
        assert diln("index", tmp_path / "model", texts, "--add", texts).code == 2

    def test_documents_that_are_given_from_beside_the_model_are_not_removed(self, model):
        assert diln("index", model, model / CORPUS_FOLDER, "--no-corpus", "-q").code == 0
        assert diln("fit", model / CORPUS_FOLDER, "-o", model, "--force", "--no-corpus", *QUICK).code == 0
        assert known(model).matches(Corpus.open(model / CORPUS_FOLDER))

    def test_other_documents_are_taken_with_a_warning(self, model, tmp_path):
        other = write_texts(tmp_path / "other.jsonl", 40, seed=9)
        assert "trained on none of these 40 documents" in diln("index", model, other, "-q").err


class TestSimilar:
    def test_documents_like_a_document_are_shown_by_row_and_by_id(self, model):
        ids = Corpus.open(model / CORPUS_FOLDER).documents.ids
        done = diln("similar", model, ids[7], "-n", 3, "--json")
        assert done.json["row"] == 7
        assert len(done.json["documents"]) == 3
        assert all(one["row"] != 7 for one in done.json["documents"])
        shown = diln("similar", model, ids[7], "-n", 3).out
        assert all(f"{one['similarity']:.2f}" in shown for one in done.json["documents"])
        assert shown.startswith("like doc-7 ")
        assert all(f"{one['similarity']:.2f}  {one['id']} " in shown for one in done.json["documents"])

    def test_documents_like_a_text_are_written_to_a_file(self, model, tmp_path):
        (tmp_path / "new.txt").write_text("The violin and the flute in a concert of the orchestra")
        done = diln("similar", model, "--text", tmp_path / "new.txt", "-o", tmp_path / "out.csv", "-q")
        assert done.code == 0
        lines = (tmp_path / "out.csv").read_text().splitlines()
        assert lines[0].startswith("similarity,row,id,")
        assert len(lines) == 11

    @pytest.mark.parametrize(
        ("args", "told"),
        [
            (("nobody",), "there is no document 'nobody'"),
            (("60000",), "there is no document"),
            ((), "give a document, or a text"),
            (("1", "--text", "x"), "give a document, or a text"),
            (("--text", "/nowhere/at/all"), "cannot be read"),
        ],
    )
    def test_what_cannot_be_found_is_one_sentence(self, model, args, told):
        done = diln("similar", model, *args)
        assert done.code == 2
        assert told in " ".join(done.err.replace("│", " ").split())

    def test_a_text_of_unknown_words_is_one_sentence(self, model, tmp_path):
        (tmp_path / "new.txt").write_text("xyzzy")
        done = diln("similar", model, "--text", tmp_path / "new.txt")
        assert (done.code, "no word that the model knows" in done.err) == (2, True)

    def test_outliers_and_duplicates_are_listed(self, model, tmp_path):
        done = diln("outliers", model, "-n", 4, "--json")
        assert len(done.json["documents"]) == 4
        assert diln("outliers", model, "-o", tmp_path / "outliers.csv").code == 0
        first = Corpus.open(model / CORPUS_FOLDER).documents[0].text
        more = tmp_path / "more.jsonl"
        more.write_text(json.dumps({"id": "copy", "text": first}) + "\n")
        diln("index", model, "--add", more, "-q")
        pairs = diln("duplicates", model, "--json").json["pairs"]
        assert (pairs[0]["first_row"], pairs[0]["second_id"], pairs[0]["share"]) == (0, "copy", 1.0)
        assert diln("duplicates", model, "-o", tmp_path / "pairs.csv").code == 0
        assert "copy" in (tmp_path / "pairs.csv").read_text()
