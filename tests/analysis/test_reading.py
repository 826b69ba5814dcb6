"""Texts as the model reads them: the words are those that are counted, each with its topic."""

from collections import Counter

import numpy as np
import pytest
from newsroom import SECTIONS, articles, atlas, editor, paper

from diln import LDA, Corpus
from diln.analysis import Atlas, Edits


def known(reading):
    return [token for token in reading.tokens if token.topic is not None]


@pytest.mark.parametrize("row", range(0, 160, 20))
def test_the_pieces_are_the_text_and_the_known_ones_its_counts(row):
    reading = atlas().read(row)
    assert "".join(token.text for token in reading.tokens) == paper().documents[row].text
    counts = paper().rows([row])
    wanted = {paper().vocabulary[at]: int(n) for at, n in zip(counts.indices, counts.data, strict=True)}
    assert Counter(token.text.lower() for token in known(reading)) == wanted
    assert reading.n_known == int(counts.sum()) == len(known(reading))
    assert reading.n_unknown == 0


def test_words_have_the_topic_that_is_most_likely_in_the_document():
    one = atlas()
    fitted, shown = one.fitted, one.folding.shown
    reading = one.read_text("The judge and the jury saw a moon over the court, said people.")
    words = ["judge", "jury", "moon", "court", "people"]
    theta = one._view.inferred(Corpus.from_tokens([words], vocabulary=fitted.vocabulary).counts).proportions[0]
    assert [token.text for token in known(reading)] == words
    for token in known(reading):
        joint = theta * fitted.topic_word[:, fitted.vocabulary.index(token.text)]
        assert token.topic == shown[joint[shown].argmax()]
        assert token.weight == pytest.approx(joint[token.topic] / joint.sum())
    assert reading.n_unknown == 1, "saw is unknown; the, and, a are stop words"
    assert reading.location is not None


def test_a_text_of_a_section_is_about_it():
    one = atlas()
    for section in SECTIONS.values():
        reading = one.read_text(" ".join(section))
        words = {word for topic in reading.topics[:2] for word in one.topic(topic.id).words}
        assert len(words & set(section)) >= 5


def test_titles_that_were_counted_are_read_as_well():
    texts, labels, _ = articles(40, 3)
    rows = [{"title": "The judge", "text": text, "label": label} for text, label in zip(texts, labels, strict=True)]
    pandas = pytest.importorskip("pandas")
    corpus = Corpus.from_frame(
        pandas.DataFrame(rows), text=["title", "text"], title="title", id="none", date="none", label="label",
        min_df=1, max_df=1.0,
    )  # fmt: skip
    one = Atlas(LDA(4, max_iter=5, random_state=0).fit(corpus), corpus)
    reading = one.read(5)
    assert "".join(token.text for token in reading.tokens) == f"The judge\n{texts[5]}"
    assert reading.n_known == int(corpus.doc_lengths[5])


def test_runs_of_words_are_terms_and_the_longest_gives_the_topic():
    texts, _, _ = articles(60, 4)
    corpus = Corpus.from_texts(texts, ngram_range=(1, 2), min_df=3, max_df=1.0)
    one = Atlas(LDA(4, max_iter=10, random_state=0).fit(corpus), corpus)
    for row in (0, 7, 23):
        reading = one.read(row)
        assert "".join(token.text for token in reading.tokens) == texts[row]
        assert reading.n_known == int(corpus.doc_lengths[row])
    pair = next(term for term in corpus.vocabulary if " " in term)
    reading = one.read_text(f"{pair.replace(' ', ' the ')}.")
    topics = {token.topic for token in known(reading)}
    assert (len(known(reading)), len(topics)) == (2, 1)
    assert [token.text for token in known(reading)] == pair.split()


def test_texts_without_known_words_are_about_nothing():
    one = atlas()
    for text in ("", " \n ", "xyzzy plugh", "the of and", "\0\x01", "1234 5678", "😀" * 100):
        reading = one.read_text(text)
        assert "".join(token.text for token in reading.tokens) == text
        assert (reading.topics, reading.n_known, reading.location) == ((), 0, None)


def test_what_is_no_text_is_refused():
    with pytest.raises(TypeError, match="the text is a bytes"):
        atlas().read_text(b"court")
    with pytest.raises(ValueError, match=r"10,000,001 characters; give at most 10,000,000"):
        atlas().read_text("x" * 10_000_001)
    with pytest.raises(ValueError, match="there is no document 160; there are 0 to 159"):
        atlas().read(160)


def test_merged_and_hidden_topics_are_not_named_in_a_text():
    one = atlas()
    law, sport = one.word("judge")[0].topic, one.word("coach")[0].topic
    edited, words = one.edited(Edits().merge([sport, law])), " ".join((*SECTIONS["law"], *SECTIONS["sport"]))
    topics = {token.topic for token in edited.read_text(words).tokens}
    assert law not in topics
    assert sport in topics
    hidden = one.edited(Edits().hide([law]))
    assert law not in {token.topic for token in hidden.read_text("judge court trial verdict").tokens}
    assert law not in {topic.id for topic in hidden.read_text("judge court trial verdict").topics}


def test_models_of_counts_and_of_own_tokenizers_say_that_they_read_no_text():
    counts = np.random.default_rng(0).poisson(1, (30, 8))
    model = LDA(3, max_iter=3, random_state=0).fit(counts)
    with pytest.raises(ValueError, match="fitted to counts"):
        Atlas(model).read_text("x")
    corpus = Corpus.from_texts(articles(30)[0], tokenizer=str.split, min_df=1, max_df=1.0)
    model = LDA(3, max_iter=3, random_state=0).fit(corpus)
    with pytest.raises(ValueError, match=r"the tokenizer 'str\.split', which is not stored"):
        Atlas(model, corpus).read_text("x")
    assert Atlas(model, corpus).typical(topic=0, n=2)[0].sentences == ()


def test_reading_takes_no_long_time():
    import time

    one, text = Atlas(editor(), paper()), articles(1)[0][0] * 200
    one.read_text(text)
    begun = time.process_time()
    one.read_text(text)
    assert time.process_time() - begun < 2.0
