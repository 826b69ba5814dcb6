"""The one door: what it shows of models of every kind, with and without documents, and what it says where it cannot."""

import json
import re
import shutil
from dataclasses import replace

import handmade
import numpy as np
import pytest
from newsroom import articles, atlas, editor, paper, plain_editor

from diln import CTM, DILN, HDP, LDA, Corpus
from diln.analysis import Atlas, Edits, Index
from diln.errors import StoreError


@pytest.fixture
def folder(tmp_path):
    editor().save(tmp_path / "model")
    paper().save(tmp_path / "corpus")
    return tmp_path


def everything(one, row=0):
    """All that an atlas shows, as JSON."""
    topic = one.topics()[0].id
    parts = [
        one.topics(),
        one.topic(topic),
        one.words(topic),
        one.word(one.topic(topic).words[0]),
        one.themes(),
        one.map(),
    ]
    parts += [
        one.document(row),
        one.documents(topic=topic),
        one.documents(theme=one.themes().themes[0].id),
        one.typical(topic=topic),
    ]
    parts += [one.read(row), one.trends(), one.groups(), one.summary(), one.edits]
    if one.fitted.posterior.covariance is not None:
        parts += [one.pairs(), one.friends(topic), one.rivals(topic), one.matrix()]
    return json.loads(json.dumps([part.to_json() for part in parts], allow_nan=False))


@pytest.mark.parametrize(
    "make", [atlas, lambda: atlas(2), lambda: Atlas(plain_editor(), paper())], ids=["one", "two", "lda"]
)
def test_all_that_is_shown_is_plain_json(make):
    assert everything(make())


@pytest.mark.parametrize(
    "model",
    [
        HDP(8, max_iter=8),
        CTM(5, max_iter=8),
        DILN(6, n_dims=2, max_iter=4, inference="variational"),
        LDA(1, max_iter=3),
    ],
    ids=["hdp", "ctm", "variational", "one topic"],
)
def test_models_of_every_kind_are_shown_also_with_topics_merged_and_hidden(model):
    one = Atlas(model.set_params(random_state=0).fit(paper()), paper())
    assert everything(one)
    first, second, *_, last = [topic.id for topic in one.topics()] * 3
    if second not in (first, last):
        assert everything(one.edited(Edits().merge([second, first]).hide([last]).rename(second, "Both")), 7)


def test_topics_are_the_models_with_their_numbers():
    one = atlas()
    found = one.topics()
    assert [topic.share for topic in found] == sorted((topic.share for topic in found), reverse=True)
    for topic in found:
        assert topic.share == pytest.approx(one.fitted.topic_weights[topic.id])
        assert topic.label == one.label(topic.id)
        assert set(topic.label.split(", ")) <= set(topic.telling)
        assert not topic.named
        assert -1 <= topic.coherence <= 1
        assert topic.theme == one.themes().topic_theme[topic.id]
        shares = one.index.proportions(range(one.index.n_docs))[:, topic.id]
        assert topic.n_docs == (shares >= 0.1).sum()
    frame = found.to_frame()
    assert list(frame["id"]) == [topic.id for topic in found]


@pytest.mark.parametrize("topic", [-1, 12, 10**30, 1.5, True, "1", None, [1]])
def test_unknown_topics_are_named_in_a_sentence(topic):
    one = atlas()
    calls = [
        one.topic,
        one.words,
        one.friends,
        one.rivals,
        one.label,
        lambda t: one.typical(topic=t),
        lambda t: one.documents(pair=(0, t)),
    ]
    for call in calls if topic is not None else calls[:5]:
        with pytest.raises(ValueError, match=r"there is no topic .*the model has 0 to 11"):
            call(topic)


def test_documents_are_found_by_topic_theme_pair_label_and_time():
    one = atlas()
    every = one.documents(n=1000)
    assert (every.total, len(every.documents)) == (160, 160)
    assert [document.row for document in one.documents(n=5, offset=3).documents] == [3, 4, 5, 6, 7]
    law = one.documents(label="law", n=1000)
    assert {document.label for document in law.documents} == {"law"}
    assert law.total == len(law.documents)
    march = one.documents(since="2020-03", until="2020-03", n=1000)
    assert {document.date[:7] for document in march.documents} == {"2020-03"}
    assert one.documents(since="2021").total == 0
    first, second = (topic.id for topic in one.topics()[:2])
    both = one.documents(pair=(first, second), n=1000)
    shares = one.index.proportions(range(160))
    for document in both.documents:
        assert document.share == pytest.approx(shares[document.row, [first, second]].min(), abs=1e-4)
    listed = [document.share for document in both.documents]
    assert listed == sorted(listed, reverse=True)
    of_theme = one.documents(theme=0, rows=[3, 1, 2], n=9)
    assert {document.row for document in of_theme.documents} <= {1, 2, 3}
    assert [document.row for document in one.documents(rows=[3, 1, 2]).documents] == [3, 1, 2]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"topic": 0, "theme": 0}, "not several"), ({"theme": 99}, "there is no theme 99"), ({"pair": 3}, "two topics"),
        ({"pair": (1, 2, 3)}, "two topics"), ({"label": "x"}, "there is no label 'x'"), ({"n": 0}, "n is 0"),
        ({"since": "yesterday"}, "since is 'yesterday'; give a date"), ({"offset": -1}, "offset is -1"),
        ({"rows": [0, 160]}, "there is no document 160"), ({"n_themes": 0}, "n is 0"), ({"n_themes": 99}, "n is 99"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_said_in_a_sentence(asked, said):
    with pytest.raises(ValueError, match=said):
        atlas().documents(**asked)


def test_without_documents_the_model_still_tells_of_topics():
    one = Atlas(editor())
    assert one.topics()[0].n_docs is None
    assert one.map().points
    assert one.themes().document_theme is None
    assert one.read_text("judge court").n_known == 2
    assert one.summary().sentences
    for call in (one.documents, one.trends, one.groups, lambda: one.document(0), lambda: one.typical(topic=0)):
        with pytest.raises(ValueError, match=r"the documents are needed for this.*give the corpus"):
            call()


def test_one_topic_is_enough():
    one = Atlas(handmade.model([[1, 2, 3]], vocabulary=["elk", "owl", "fox"], locations=[[1.0, 0.5]]))
    assert len(one.topics()) == 1
    assert one.pairs().n_pairs == 0
    assert one.matrix().log_lift.tolist() == [[0]]
    assert one.friends(0) == one.rivals(0) == ()
    assert one.themes().n == 1
    assert "The model shows 1 topic, which holds 100% of all words." in one.summary().sentences


def test_a_model_finds_its_documents_where_they_were(folder):
    one = Atlas.open(folder / "model", folder / "corpus")
    assert (folder / "model" / "documents").is_dir()
    two = Atlas.open(folder / "model")
    assert two.corpus.directory == folder / "corpus"
    assert two.topics() == one.topics()
    (folder / "corpus").rename(folder / "model" / "corpus")
    assert len(Atlas.open(folder / "model").corpus) == 160
    shutil.rmtree(folder / "model" / "corpus")
    gone = Atlas.open(folder / "model")
    assert gone.corpus is None
    assert gone.documents(topic=0).total, "what the index knows is known still"
    with pytest.raises(ValueError, match="give the corpus"):
        gone.read(0)


def test_documents_of_another_corpus_do_not_take_the_place_of_the_models(folder):
    Atlas.open(folder / "model", folder / "corpus")
    other = Corpus.from_texts(articles(30, 9)[0], min_df=1, max_df=1.0)
    with pytest.raises(ValueError, match="the model was trained on none of these 30 documents"):
        Atlas.open(folder / "model", other)
    some = Atlas.open(folder / "model", paper()[:50])
    assert some.index.n_docs == 50
    assert Atlas.open(folder / "model").index.n_docs == 160


def test_a_corpus_that_was_replaced_where_the_model_finds_it_is_told(folder):
    Atlas.open(folder / "model", folder / "corpus")
    other = Corpus.from_texts(articles(30, 9)[0], min_df=1, max_df=1.0)
    other.save(folder / "corpus", overwrite=True)
    with pytest.raises(ValueError, match="the model was trained on none of these 30 documents"):
        Atlas.open(folder / "model")
    assert Index.open(folder / "model" / "documents").n_docs == 160


def test_dates_and_labels_that_were_changed_in_the_corpus_are_seen(folder):
    before = Atlas.open(folder / "model", folder / "corpus")
    texts = list(paper().documents.texts)
    again = Corpus.from_texts(texts, dates=["1999-01-01"] * 160, labels=["new"] * 160, min_df=1, max_df=1.0)
    again.save(folder / "corpus", overwrite=True)
    after = Atlas.open(folder / "model")
    assert after.index.matches(after.corpus)
    assert after.documents(label="new", until="1999").total == 160
    np.testing.assert_array_equal(after.index.proportions([3]), before.index.proportions([3]))
    assert Index.open(folder / "model" / "documents").label_names == ("new",)


def test_an_old_index_does_not_bring_its_labels_to_documents_that_have_others():
    one, documents = atlas(), paper().documents
    labels = ["new" if at == 7 else label for at, label in enumerate(documents.labels)]
    corpus = Corpus.from_texts(list(documents.texts), labels=labels, min_df=1, max_df=1.0)
    assert one.index.describes(paper()) and not one.index.describes(corpus)
    other = Atlas(one.fitted, corpus, index=one.index)
    assert set(other.labels()) == {*one.labels(), "new"}
    assert other.documents(label="new").documents[0].row == 7
    with pytest.raises(ValueError, match="none of these documents has a date"):
        other.trends()
    assert one.index.label_names == atlas().index.label_names, "the index itself stays"
    assert Atlas(one.fitted, paper(), index=one.index).index is one.index


def test_an_index_of_another_model_or_of_other_documents_is_refused():
    one = atlas()
    for documents in (paper(), None):
        with pytest.raises(ValueError, match="the index was made with another model"):
            Atlas(plain_editor(), documents, index=one.index)
    with pytest.raises(ValueError, match="does not begin with the documents of the index"):
        Atlas(one.fitted, paper()[5:], index=one.index)


def test_themes_of_few_numbers_are_kept_at_a_time():
    one = Atlas(editor(), paper())
    usual = one.themes()
    for n in range(1, len(one.topics()) + 1):
        assert one.themes(n).n == n
        assert one.themes(n) is one.themes(n)
    assert one.themes() is usual
    assert len(one._themes) <= 5


def test_nothing_is_written_where_nothing_is_to_be_kept(folder):
    before = sorted((folder / "model").rglob("*"))
    assert Atlas.open(folder / "model", folder / "corpus", keep=False).index.n_docs == 160
    assert sorted((folder / "model").rglob("*")) == before


def test_a_folder_that_cannot_be_written_to_is_no_hindrance(folder, monkeypatch):
    def refuse(*args):
        raise StoreError("no room")

    monkeypatch.setattr(Index, "write", refuse)
    assert Atlas.open(folder / "model", folder / "corpus").index.n_docs == 160


def test_a_model_that_was_fitted_anew_is_not_changed_by_whoever_has_the_old_one_open(folder):
    old = Atlas.open(folder / "model", folder / "corpus")
    plain_editor().save(folder / "model")
    Atlas.open(folder / "model").change(lambda edits: edits.rename(0, "New"))
    with pytest.raises(StoreError, match="fitted anew"):
        old.change(lambda edits: edits.rename(1, "Old"))
    assert Atlas.open(folder / "model").edits.labels == {0: "New"}


def test_changes_are_kept_and_seen_by_whoever_opens_the_model(folder):
    one = Atlas.open(folder / "model", folder / "corpus")
    two = one.change(lambda edits: edits.rename(0, "Courts").hide([1]))
    assert (two.topic(0).label, two.topic(0).named) == ("Courts", True)
    assert two.topic(0).words == one.topic(0).words
    assert [topic.id for topic in Atlas.open(folder / "model").topics()] == [topic.id for topic in two.topics()]
    assert two.change(Edits.undo).edits.hidden == frozenset()
    assert one.edits == Edits()


def test_names_of_themes_stay_with_their_topics():
    one = atlas()
    theme = one.themes(4).themes[1]
    two = one.edited(Edits().rename_theme(theme.topics, "My theme"))
    assert two.themes(4).themes[1].label == "My theme"
    assert two.themes(4).themes[1].words == theme.words
    assert [each.label for each in two.themes(4).themes].count("My theme") == 1
    same = [each for each in two.themes(5).themes if set(each.topics) == set(theme.topics)]
    assert all(each.label == "My theme" for each in same)
    assert two.trends("theme", n_themes=4).series[1].label == "My theme"
    again = two.edited(two.edits.rename_theme(theme.topics, "Better"))
    assert again.themes(4).themes[1].label == "Better"
    assert one.edited(two.edits.rename_theme(theme.topics, "")).themes(4).themes[1].label == theme.label


@pytest.mark.parametrize("edits", [Edits(), Edits().hide([0]), Edits().merge([1, 2]).hide([3])])
def test_themes_have_the_shares_of_all_words_that_their_topics_have(edits):
    one = atlas().edited(edits)
    share = {topic.id: topic.share for topic in one.topics()}
    assert bool(edits.hidden) == (sum(share.values()) < 0.95)
    for n in (2, 3):
        found = one.themes(n)
        for theme in found.themes:
            assert theme.share == pytest.approx(sum(share[topic] for topic in theme.topics))
        by_topic = {series.id: np.array(series.values) for series in one.trends("topic", "quarter").series}
        for theme, series in zip(found.themes, one.trends("theme", "quarter", n_themes=n).series, strict=True):
            whole = sum(by_topic[topic] for topic in theme.topics)
            assert np.allclose(series.values, whole)
        cells = {(cell.id, cell.label_name): cell.share for cell in one.groups("topic").cells}
        for cell in one.groups("theme", n_themes=n).cells:
            topics = found.theme(cell.id).topics
            assert cell.share == pytest.approx(sum(cells[topic, cell.label_name] for topic in topics))
        rows = np.arange(5)
        shown = one.index.proportions(rows)[:, [part for topic in share for part in one.folding.parts(topic)]]
        assert np.allclose(found.shares_of(rows).sum(axis=1), shown.sum(axis=1), atol=1e-5)


def test_pairs_are_those_of_the_model_without_what_is_hidden():
    from diln.analysis import correlated_pairs

    one = atlas(2)
    assert one.pairs(5, unsure=True) == correlated_pairs(editor(2), 5, unsure=True)
    pair = (one.pairs(1, unsure=True).positive + one.pairs(1, unsure=True).negative)[0]
    two = one.edited(Edits().hide([pair.first]))
    found = two.pairs(50, unsure=True)
    assert pair.first not in {
        topic for each in (*found.positive, *found.negative) for topic in (each.first, each.second)
    }
    assert found.n_pairs < one.pairs().n_pairs
    friends = one.friends(pair.first, unsure=True) + one.rivals(pair.first, unsure=True)
    assert pair in friends
    matrix = one.matrix()
    at, to = matrix.order.index(pair.first), matrix.order.index(pair.second)
    assert matrix.log_lift[at, to] == pair.log_lift
    assert list(matrix.themes) == sorted(matrix.themes)
    assert np.diag(matrix.log_lift).tolist() == [0] * len(matrix.order)


def test_a_summary_is_honest_about_one_chain():
    sentences = " ".join(atlas().summary().sentences)
    assert "160 documents under 4 labels, from January 2020 to December 2020" in sentences
    assert "fitted once, so how much of the topics and of the pairs another run would find is unknown" in sentences
    several = " ".join(atlas(2).summary().sentences)
    assert "fitted twice; another run finds" in several
    edited = atlas().edited(Edits().rename(0, "Law").hide([1]).merge([2, 3])).summary()
    assert "By hand, topics were changed: 1 named; 1 merged into others and 1 hidden." in edited.sentences
    assert edited.numbers["hidden"] == 1


def test_a_summary_says_what_a_pair_does_whichever_kinds_there_are(monkeypatch):
    one, pairs = atlas(2), atlas(2).pairs(1, unsure=True)
    monkeypatch.setattr(Atlas, "pairs", lambda self, n: pairs)
    both = " ".join(one.summary().sentences)
    assert re.search(r"For example, .* are together [\d.]+ times as often as by chance, but .* only [\d.]+ times", both)
    monkeypatch.setattr(Atlas, "pairs", lambda self, n: replace(pairs, positive=()))
    avoiding = " ".join(one.summary().sentences)
    assert re.search(r"For example, [^.]* are together only [\d.]+ times as often as by chance\.", avoiding)


def test_similar_documents_are_of_the_same_section():
    one, right = atlas(), 0
    for row in range(0, 160, 8):
        near = one.similar(row, n=5)
        assert row not in [each.document.row for each in near]
        assert [each.similarity for each in near] == sorted((each.similarity for each in near), reverse=True)
        right += sum(each.document.label == one.document(row).label for each in near)
    assert right > 80
    text = paper().documents[7].text
    assert one.similar(text=text, n=1)[0].document.row == 7
    with pytest.raises(ValueError, match="no word that the model knows"):
        one.similar(text="xyzzy")
    with pytest.raises(ValueError, match="give a document or a text"):
        one.similar()


def test_outliers_and_duplicates_are_found():
    texts = [*articles(80, 5)[0], "Judge moon coach bank jury rocket goal tax verdict comet fans profit " * 3]
    one = Atlas(editor(), Corpus.from_texts([*texts, texts[3]], min_df=1, max_df=1.0))
    assert 80 in [document.row for document in one.outliers(8)]
    assert one.duplicates() == ((3, 81, 1.0),)


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_frames_are_of_whatever_is_installed(name, monkeypatch):
    frames = pytest.importorskip(name)
    monkeypatch.setattr("diln.analysis.records.find_spec", lambda other: other if other == name else None)
    one = atlas()
    for found in (one.topics(), one.words(0), one.word("judge"), one.documents(topic=0), one.similar(0), one.groups()):
        assert isinstance(found.to_frame(), frames.DataFrame)
        assert len(found.to_frame())


def test_without_pandas_and_polars_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr("diln.analysis.records.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="frames need pandas or polars; install one of them with: pip install pandas"):
        atlas().topics().to_frame()


def test_a_name_changes_no_group_and_no_place():
    one = atlas()
    one.map()
    two = one.edited(Edits().rename(0, "Courts"))
    assert two.themes().themes == one.themes().themes
    assert two.map() is one.map()
    assert two.topics()[0].label != one.topics()[0].label or two.topics()[0].id != 0
    assert two.edited(Edits().hide([0])).map() is not one.map()
    assert [topic.label for topic in two.topics() if topic.id == 0] == ["Courts"]
