"""Whether documents are those that a model was trained on."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from diln import LDA, Corpus
from diln.analysis import TrainedOn, trained_on
from diln.models import trained
from diln.simulate import lda_corpus


@pytest.fixture(scope="module")
def counts():
    drawn = lda_corpus(300, 40, 4, doc_length=30, rng=0).corpus.counts.toarray()
    drawn[[5, 17]] = 0
    return csr_array(drawn)


@pytest.fixture(scope="module")
def corpus(counts):
    return Corpus.from_matrix(counts, [f"w{i}" for i in range(40)])


@pytest.fixture(scope="module")
def model(corpus):
    return LDA(3, random_state=0, max_iter=2).fit(corpus[:200])


def test_documents_of_training_are_told_from_others(model, corpus, counts, tmp_path):
    assert trained_on(model, corpus[:200]) == TrainedOn(198, 198, 198, exact=True)
    assert trained_on(model, corpus[200:]) == TrainedOn(100, 100, 0, exact=True)
    mixed = trained_on(model, corpus[np.arange(150, 250)])
    assert (mixed.share, mixed.n_found) == (0.5, 50)
    assert mixed.to_json() == {"share": 0.5, "exact": True, "n_docs": 100, "n_compared": 100, "n_found": 50}
    assert trained_on(model, corpus.save(tmp_path / "c")[:200]) == trained_on(model, counts[:200])
    assert trained_on(model, counts[:200].astype(float)) == trained_on(model, corpus[:200])


def test_the_order_of_terms_and_terms_beyond_do_not_matter(model, corpus, counts):
    terms = [*corpus.vocabulary[::-1], "unknown"]
    other = Corpus.from_matrix(np.hstack([counts.toarray()[:, ::-1], np.ones((300, 1), int)]), terms)
    with pytest.warns(UserWarning, match="200 of 6,140 tokens"):
        assert trained_on(model, other[:200]).n_found == 198


def test_halves_of_documents_are_new(model, corpus):
    split = corpus[:200].completion(0, n_test=100)
    assert trained_on(model, split.observed).n_found == 0


def test_of_many_documents_the_share_is_an_estimate(counts, monkeypatch):
    monkeypatch.setattr(trained, "KEPT", 50)
    model = LDA(3, random_state=0, max_iter=2).fit(counts[:150])
    found = trained_on(model, counts)
    assert (found.exact, found.n_docs, found.n_found) == (False, 298, 50)
    assert found.share == pytest.approx(0.5, abs=0.12)
    assert trained_on(model, counts[:150]).share == 1
    hidden = next(row for row in range(150, 300) if trained_on(model, counts[[row]]).n_compared == 0)
    assert trained_on(model, counts[[hidden]]).share is None


def test_what_are_no_counts_of_the_models_terms_is_said(model, counts):
    with pytest.raises(ValueError, match="the counts have 39 columns but the model knows 40 terms"):
        trained_on(model, counts[:, 1:])
    with pytest.raises(ValueError, match="X"):
        trained_on(model, -counts)
    with pytest.raises((TypeError, ValueError)):
        trained_on(model, "violin flute")


def test_a_model_that_does_not_know_says_nothing(model, corpus):
    model.fitted_.trained, known = None, model.fitted_.trained
    assert trained_on(model, corpus) is None
    model.fitted_.trained = known
