"""A theme that comes up in a stream becomes a topic; documents that are merely odd do not."""

import copy
from itertools import product

import numpy as np
import pytest

import diln
from diln.engine.threads import Threads
from diln.models import births

NAMES = np.array(["".join(letters) for letters in product("bdfgklmnprst", "aeiou", "bdfgk")])
OLD, FRESH = 260, 40  # terms of old themes, and of the new one alone
N_THEMES = 10


def themes() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    old = np.hstack([rng.dirichlet(np.full(OLD, 0.06), N_THEMES), np.zeros((N_THEMES, FRESH))])
    new = np.concatenate([0.3 * rng.dirichlet(np.full(OLD, 0.05)), 0.7 * rng.dirichlet(np.full(FRESH, 0.5))])
    return old, new


def texts(n_docs: int, seed: int, share: float = 0.0) -> list[str]:
    """Documents of a few themes each; a share of them are for the most part of the new one."""
    (old, new), rng = themes(), np.random.default_rng(seed)
    found = []
    for _ in range(n_docs):
        words = rng.dirichlet(np.full(N_THEMES, 0.15)) @ old
        words = 0.3 * words + 0.7 * new if rng.random() < share else words
        found.append(" ".join(rng.choice(NAMES[: OLD + FRESH], 50, p=words / words.sum())))
    return found


@pytest.fixture(scope="module", params=["HDP", "DILN"])
def known(request):
    """A model without a topic to spare."""
    few = {"n_components": N_THEMES, "random_state": 0, "max_iter": 40, "inference": diln.Sampling(batch_size=100)}
    model = getattr(diln, request.param)(**few)
    return model.fit(diln.Corpus.from_texts(texts(600, 1), min_df=1))


def test_a_theme_that_comes_up_is_born_within_some_hundred_documents_and_none_before(known):
    model, size = copy.deepcopy(known), len(known.topic_weights_)
    assert model.update(texts(300, 2), new_topics=True).new_topics == []
    assert len(model.topic_weights_) == size
    found = model.update(texts(400, 3, share=0.15), new_topics=True)
    assert found.new_topics == [size]
    born = model.fitted_.stream.born
    assert [one["topic"] for one in born] == [size]
    assert born[0]["documents"] <= 600  # within 300 documents, of which some 45 are of the theme
    words = [model.vocabulary_[term] for term in np.argsort(-model.topic_word_[size])[:10]]
    top = NAMES[np.argsort(-themes()[1])[:15]]
    assert len(set(words) & set(top.tolist())) >= 8
    assert model.topic_weights_[size] > 0.02
    assert not model.fitted_.posterior.locations.size or np.isfinite(model.fitted_.posterior.locations).all()


def test_a_model_with_a_born_topic_goes_on_from_disk_with_the_same_bits(known, tmp_path):
    model, more = copy.deepcopy(known), texts(400, 3, share=0.15)
    other = copy.deepcopy(known)
    model.update(more, new_topics=True)
    other.update(more[:200], new_topics=True)
    other.save(tmp_path / "model")
    other = diln.load(tmp_path / "model")
    other.update(more[200:], new_topics=True)
    assert len(model.topic_weights_) == len(known.topic_weights_) + 1
    np.testing.assert_array_equal(model.topic_word_, other.topic_word_)
    assert model.fitted_.stream.born == other.fitted_.stream.born
    assert model.transform(diln.Corpus.from_texts(more[-3:], vocabulary=model.vocabulary_)).shape[1] == len(
        model.topic_weights_
    )


def test_no_topic_is_born_where_none_is_asked_for_or_none_can_be(known):
    model = copy.deepcopy(known)
    assert model.update(texts(400, 3, share=0.15)).new_topics == []  # as many topics as were asked for
    assert model.fitted_.stream.scored == 0  # nobody looks
    corpus = diln.Corpus.from_texts(texts(60, 1), min_df=1)
    found = diln.HDP(random_state=0, max_iter=4).fit(corpus)
    found.update(texts(20, 2))
    assert found.fitted_.stream.scored == 20  # where any number may be found
    found.update(texts(20, 2), new_topics=False)
    assert found.fitted_.stream.scored == 20
    lda = diln.LDA(5, random_state=0, max_iter=4).fit(corpus)
    with pytest.raises(ValueError, match="new_topics is for DILN and HDP by sampling"):
        lda.update(texts(20, 2), new_topics=True)


def test_a_newborn_topic_changes_nothing_of_the_others_but_their_weights(known):
    model, terms = copy.deepcopy(known), len(known.vocabulary_)
    posterior, counts = model.fitted_.posterior, np.zeros(terms, np.float32)
    counts[:4] = (40, 30, 20, 10)
    before, locations = posterior.topic_word().copy(), posterior.locations.copy()
    sums = {name: array.copy() for name, array in posterior.sums.tensors().items()}
    number = posterior.bear(counts, 12.0)
    size = before.shape[1]
    assert number == size == posterior.n_topics - 1
    np.testing.assert_array_equal(posterior.topic_word()[:, :size], before)
    expected = (counts + posterior.prior) / (100 + terms * posterior.prior)
    np.testing.assert_allclose(posterior.topic_word()[:, size], expected, rtol=1e-6)
    np.testing.assert_allclose(posterior.locations[:size], locations, rtol=2e-4, atol=1e-5)
    np.testing.assert_array_equal(posterior.locations[size], 0)
    assert posterior.sums.tables[size] == 12.0
    np.testing.assert_array_equal(posterior.sums.tables[:size], sums["tables"][:size])
    alpha, softs = posterior.state.weights.alpha, posterior.sums.softs[size]
    share = alpha / posterior.state.weights.truncation + 12.0
    assert posterior.a0[size] == pytest.approx(share / (posterior.weights.rate + softs))


def test_a_theme_and_its_shares_are_the_maximum_of_the_mixtures_likelihood(known):
    """Nothing near them is more probable: neither other shares of a document, nor another theme."""
    counts = diln.Corpus.from_texts(texts(40, 5, share=1.0), vocabulary=known.vocabulary_).counts
    with Threads(1) as engine:
        pool = births.Pool.of(known.fitted_, counts.astype(np.float32), engine)
    theta = known.transform(counts)
    np.testing.assert_allclose(pool.old, (theta @ known.topic_word_)[pool.docs, pool.terms], rtol=1e-5)
    phi = pool.theme(np.ones(40, bool), 1e-9)
    shares = pool.shares(phi)[0]

    def likelihood(phi: np.ndarray, shares: np.ndarray) -> float:
        mixed = shares[pool.docs] * phi[pool.terms] + (1 - shares[pool.docs]) * pool.old
        return float(pool.counts @ np.log(mixed))

    best, rng = likelihood(phi, shares), np.random.default_rng(0)
    for _ in range(20):
        near = phi * np.exp(0.2 * rng.standard_normal(len(phi)))
        assert likelihood(near / near.sum(), shares) < best
        assert likelihood(phi, np.clip(shares + 0.1 * rng.standard_normal(40), 0.001, 0.999)) < best


def test_a_theme_that_a_topic_has_is_not_born_again(known):
    model = copy.deepcopy(known)
    topics = model.fitted_.posterior.topics
    assert births.affinity(topics, topics[:, 0].astype(np.float64)) == pytest.approx(1.0, abs=1e-4)
    stream_of_one_theme = texts(400, 3, share=0.15)
    assert len(model.update(stream_of_one_theme, new_topics=True).new_topics) == 1
    assert model.update(texts(400, 4, share=0.15), new_topics=True).new_topics == []
