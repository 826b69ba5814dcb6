"""Documents and their topics are those of transform, with what the corpus knows of them."""

import numpy as np
import pytest

from diln import LDA, Corpus
from diln.analysis import document_topics, largest_topics, topic_documents

TEXTS = ["violin flute drum", "apple pear plum apple", "violin apple", "zebra", "flute flute violin pear"] * 8


@pytest.fixture(scope="module")
def corpus():
    numbers = range(len(TEXTS))
    return Corpus.from_texts(TEXTS, ids=[f"d{i}" for i in numbers], titles=[f"Title {i}" for i in numbers], max_df=1.0)


@pytest.fixture(scope="module")
def model(corpus):
    fruit = Corpus.from_texts(TEXTS, vocabulary=["violin", "flute", "drum", "apple", "pear", "plum"])
    return LDA(3, random_state=0, max_iter=5).fit(fruit)


@pytest.mark.filterwarnings("ignore:.*does not know")
def test_largest_topics_of_documents_are_those_of_transform(model, corpus):
    with pytest.warns(UserWarning, match="no known term"):
        theta = model.transform(corpus)
    found = list(document_topics(model, corpus, n_topics=2, n_words=3))
    words = {topic.id: topic.words for topic in largest_topics(model, n_words=3, unused=True)}
    assert [one.row for one in found] == list(range(len(corpus)))
    assert [(one.id, one.title, one.date, one.label) for one in found[:2]] == (
        [("d0", "Title 0", "", ""), ("d1", "Title 1", "", "")]
    )
    assert [one.n_tokens for one in found[:5]] == [3, 4, 2, 0, 4]
    assert found[3].topics == ()
    assert {one.share for one in found} == {None}
    for one, row in zip(found, theta, strict=True):
        if one.topics:
            best = np.argsort(-row, kind="stable")[:2].tolist()
            assert [(topic.id, topic.share, topic.words) for topic in one.topics] == [
                (k, row[k], words[k]) for k in best
            ]


@pytest.mark.filterwarnings("ignore:.*does not know")
def test_documents_of_a_topic_are_sorted_by_its_share_and_none_is_empty(model, corpus):
    with pytest.warns(UserWarning, match="no known term"):
        share = model.transform(corpus)[:, 1]
    known = np.array([text != "zebra" for text in TEXTS])
    order = [int(row) for row in np.argsort(-share, kind="stable") if known[row]]
    found = list(topic_documents(model, corpus, 1, None))
    assert [one.row for one in found] == order
    assert [one.id for one in found] == [f"d{row}" for row in order]
    assert [one.share for one in found] == share[order].tolist()
    assert list(topic_documents(model, corpus, 1, 4, n_jobs=2)) == found[:4]
    some = list(topic_documents(model, corpus, 1, None, min_share=0.5))
    assert some == [one for one in found if one.share >= 0.5]


@pytest.mark.filterwarnings("ignore:.*does not know")
def test_progress_is_told(model, corpus):
    steps = []

    class Watch:
        def step(self, *numbers):
            steps.append(numbers)

    assert len(list(document_topics(model, corpus, watch=Watch()))) == len(corpus)
    assert steps == [(len(corpus),) * 3]


@pytest.mark.filterwarnings("ignore:.*does not know")
def test_what_cannot_be_is_said_at_once(model, corpus):
    for odd in (3, -1, True, 1.0, "1", None):
        with pytest.raises(ValueError, match=r"there is no topic .*; the model has 0 to 2"):
            topic_documents(model, corpus, odd)
    with pytest.raises(ValueError, match="n_docs is 0; give a whole number from 1 on, or None for all"):
        topic_documents(model, corpus, 0, 0)
    with pytest.raises(ValueError, match="n_words is 0"):
        document_topics(model, corpus, n_words=0)
    with pytest.raises(TypeError, match="a csr_array was given as the documents; give a Corpus"):
        document_topics(model, corpus.counts)
    with pytest.raises(ValueError, match="the corpus has no documents"):
        document_topics(model, corpus[:0])
