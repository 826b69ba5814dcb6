"""Typical documents and telling sentences."""

import numpy as np
import pytest
from newsroom import SECTIONS, articles, atlas, editor, paper

from diln import Corpus
from diln.analysis import Atlas
from diln.analysis.sentences import sentences


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("One ends. Two ends! Three? Four", ["One ends.", "Two ends!", "Three?", "Four"]),
        ("Mr. Smith met Dr. J. R. Jones. They left.", ["Mr. Smith met Dr. J. R. Jones.", "They left."]),
        ("It cost 3.50 in the U.S. last year. He said so.", ["It cost 3.50 in the U.S. last year.", "He said so."]),
        ('"Stop." He left. (She did not.) Then', ['"Stop."', "He left.", "(She did not.)", "Then"]),
        ("A head\n\nThe text\nof two lines. More", ["A head", "The text of two lines.", "More"]),
        ("In 2017. The next.", ["In 2017.", "The next."]),
        ("cells (Fig. 2) grow, e.g. in mice. We do, too.", ["cells (Fig. 2) grow, e.g. in mice.", "We do, too."]),
        ("中文句子。第二句！", ["中文句子。", "第二句！"]),
        ("", []), (" \n\n ", []), ("...", ["..."]),
    ],
)  # fmt: skip
def test_sentences_end_where_people_end_them(text, wanted):
    assert sentences(text) == wanted


def test_typical_documents_are_of_the_topic_and_their_sentences_tell_it():
    one = atlas()
    for word, section in (("judge", "law"), ("coach", "sport"), ("bank", "money"), ("moon", "space")):
        topic = one.word(word)[0].topic
        found = one.typical(topic=topic, n=3)
        assert len(found) == 3
        for each in found:
            assert each.document.label == section
            assert each.document.share > 0.2
            text = " ".join(paper().documents[each.document.row].text.split())
            for sentence in each.sentences:
                assert sentence in text
                assert sum(term in sentence.lower() for term in SECTIONS[section]) >= 3


def test_a_tiny_document_is_not_typical_although_its_share_is_largest():
    texts, labels, dates = articles(100, 1)
    texts += ["Court court court."] * 3
    corpus = Corpus.from_texts(texts, labels=[*labels, *[""] * 3], dates=[*dates, *[""] * 3], min_df=1, max_df=1.0)
    one = Atlas(editor(), corpus)
    topic = one.word("court")[0].topic
    assert not {each.document.row for each in one.typical(topic=topic, n=5)} & {100, 101, 102}


def test_of_documents_that_are_almost_the_same_one_is_typical():
    texts, _, _ = articles(60, 2)
    law = max(texts, key=lambda text: sum(text.lower().count(word) for word in SECTIONS["law"]))
    corpus = Corpus.from_texts([*texts, law + " Today.", law + " Week."], min_df=1, max_df=1.0)
    one = Atlas(editor(), corpus)
    rows = {each.document.row for each in one.typical(topic=one.word("judge")[0].topic, n=10)}
    assert len(rows & {texts.index(law), 60, 61}) <= 1


def test_themes_have_typical_documents_too_and_few_documents_are_enough():
    one = atlas()
    for theme in one.themes().themes:
        found = one.typical(theme=theme.id, n=2)
        assert len(found) == 2
        assert all(each.document.theme == theme.id for each in found)
    few = Atlas(editor(), paper()[:3])
    assert all(len(few.typical(topic=topic.id, n=5)) <= 3 for topic in few.topics())
    with pytest.raises(ValueError, match="give a topic or a theme"):
        one.typical()
    with pytest.raises(ValueError, match="there is no theme 77"):
        one.typical(theme=77)


def test_texts_that_were_not_kept_have_no_sentences():
    texts, _, _ = articles(30, 3)
    one = Atlas(editor(), Corpus.from_texts(texts, keep_text=False, min_df=1, max_df=1.0))
    found = one.typical(topic=0, n=2)
    assert [each.sentences for each in found] == [(), ()]
    assert np.isfinite([each.document.share for each in found]).all()
    with pytest.raises(ValueError, match="document 3 has no text, or its text was not kept"):
        one.read(3)
