"""A model follows a stream: its vocabulary grows by a rule, old documents fade as told, and bits are the same."""

import copy
import tracemalloc

import numpy as np
import pytest

import diln
from diln.corpus.batches import in_batches, of_corpus
from diln.engine.threads import Threads
from diln.models.updating import Growth, HalfLife, Updater

THEMES = [
    "apple pear plum cherry orchard fruit harvest",
    "brake wheel engine gear motor fuel driver",
    "violin flute drum horn concert music orchestra",
]
STARS = "galaxy comet orbit planet telescope star nebula"


def texts(n_docs: int, seed: int, themes: list[str] = THEMES) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(themes[rng.integers(len(themes))].split(), 12)) for _ in range(n_docs)]


def fitted(kind: str = "DILN", inference: str = "sampling", **options) -> diln.DILN:
    way = diln.Sampling if inference == "sampling" else diln.Variational
    few = {"n_components": 4, "max_iter": 12, "random_state": 0, **options}
    return getattr(diln, kind)(**few, inference=way(batch_size=20)).fit(diln.Corpus.from_texts(texts(100, 0)))


@pytest.fixture(scope="module")
def known() -> diln.DILN:
    return fitted()


@pytest.fixture
def model(known) -> diln.DILN:
    return copy.deepcopy(known)


def bits(model) -> dict[str, bytes]:
    content, tensors = model.fitted_.stored()
    history = [{**entry, "seconds": 0} for entry in content["history"]]
    rest = {name: value for name, value in content.items() if name != "history"}
    return {"": repr((rest, history, model.vocabulary_)).encode()} | {
        name: tensor.tobytes() for name, tensor in tensors.items()
    }


@pytest.mark.parametrize(
    ("kind", "inference"),
    [(kind, "sampling") for kind in ("DILN", "HDP", "LDA", "CTM")] + [("DILN", "variational"), ("LDA", "variational")],
)
def test_new_terms_change_what_is_said_of_old_ones_by_the_priors_norm_alone(kind, inference):
    model = fitted(kind, inference)
    posterior, before, n_terms = model.fitted_.posterior, model.topic_word_.copy(), len(model.vocabulary_)
    norm = posterior.topic_tokens + n_terms * posterior.prior
    with Threads(1) as engine:
        Updater(model.fitted_, Growth(), engine).take_in([f"new{i}" for i in range(5)])
    after = model.topic_word_
    factor = norm / (norm + 5 * posterior.prior)
    np.testing.assert_allclose(after[:, :n_terms], before * factor[:, np.newaxis], rtol=1e-9)
    np.testing.assert_allclose(after[:, n_terms:], np.tile(posterior.prior / (norm + 5 * posterior.prior), (5, 1)).T)
    among_old = after[:, :n_terms] / after[:, :n_terms].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(among_old, before, rtol=1e-9)
    assert model.vocabulary_[n_terms:] == [f"new{i}" for i in range(5)]


@pytest.mark.parametrize("kind", ["DILN", "LDA"])
def test_whole_batches_of_known_terms_have_the_bits_of_partial_fit(kind):
    model = fitted(kind, learning_method="online", max_iter=2)
    other, more = copy.deepcopy(model), texts(60, 1)
    assert model.n_batch_iter_ >= 100 / 20
    model.update(more, new_terms=False)
    for first in range(0, 60, 20):
        other.partial_fit(diln.Corpus.from_texts(more[first : first + 20], vocabulary=other.vocabulary_))
    model.fitted_.stream = None
    assert bits(model) == bits(other)


def test_one_update_is_the_same_as_two_with_the_same_batches_also_from_disk(model, tmp_path):
    other, more = copy.deepcopy(model), texts(80, 1, [*THEMES, STARS])
    model.update(more)
    other.update(more[:40])
    other.save(tmp_path / "model")
    loaded = diln.load(tmp_path / "model")
    loaded.update(more[40:])
    assert bits(model) == bits(loaded)
    assert set(STARS.split()) < set(model.vocabulary_)


def test_the_same_bits_for_any_number_of_threads(model):
    other, more = copy.deepcopy(model).set_params(n_jobs=2), texts(60, 1, [*THEMES, STARS])
    model.update(more)
    other.update(more)
    other.set_params(n_jobs=model.n_jobs)
    other.fitted_.parameters = model.fitted_.parameters
    assert bits(model) == bits(other)


def test_terms_come_in_when_enough_documents_have_them_and_old_ones_stay_where_they_are(model):
    before = list(model.vocabulary_)
    found = model.update(["apple pear comet", "pear comet", "plum orbit"], min_docs=2)
    assert found.new_terms == ["comet"]
    assert model.vocabulary_ == [*before, "comet"]
    assert model.n_features_in_ == len(before) + 1
    assert found.tokens == 2 + 1 + 1 + 2  # comet in both documents of the batch that it came with
    assert model.update(["orbit plum"], min_docs=2).new_terms == ["orbit"]  # seen in the update before, too
    assert model.transform(diln.Corpus.from_texts(["comet orbit"], vocabulary=model.vocabulary_)).shape[0] == 1


def test_the_vocabulary_grows_no_further_than_it_may(model):
    size = len(model.vocabulary_)
    many = ["comet orbit star", "comet orbit star", "comet"]
    assert model.update(many, min_docs=2, new_terms=False).new_terms == []
    assert model.update(many, min_docs=2, max_terms=size + 1).new_terms == ["comet"]
    assert model.update(many, min_docs=2, max_terms=size + 1).new_terms == []
    assert model.update(many, min_docs=2).new_terms == ["orbit", "star"]


def test_a_term_in_most_documents_does_not_come_in(model):
    found = model.update([f"{text} footer" for text in texts(40, 1)])
    assert found.new_terms == []


def test_a_batch_of_few_documents_moves_the_model_as_far_as_they_are_of_a_whole_one(model):
    few, whole = copy.deepcopy(model), copy.deepcopy(model)
    before, more = model.topic_word_.copy(), texts(20, 1)
    few.update(more[:2], new_terms=False)
    whole.update(more, new_terms=False)
    small, large = (np.abs(one.topic_word_ - before).sum() for one in (few, whole))
    assert 0 < small < large / 4


def test_after_the_half_life_old_documents_count_for_half(model):
    before, more = model.fitted_.posterior.topic_tokens.sum(), texts(20, 1)
    population = model.fitted_.population
    found = model.update(more, half_life=20, new_terms=False)
    after = model.fitted_.posterior.topic_tokens.sum()
    assert after == pytest.approx(before / 2 + found.tokens, rel=1e-5)
    assert model.fitted_.population == pytest.approx(population / 2 + 20)


def test_a_half_life_in_days_goes_by_the_documents_dates(model):
    def month(number: int, seed: int) -> diln.Corpus:
        return diln.Corpus.from_texts(
            texts(20, seed), vocabulary=model.vocabulary_, dates=[f"2020-{number:02}-15"] * 20
        )

    model.update(month(1, 1), half_life="31d")  # nothing fades before there is a date to count from
    assert model.fitted_.population == pytest.approx(120)
    model.update(month(2, 2), half_life="31d")
    assert model.fitted_.population == pytest.approx(120 / 2 + 20)
    model.update(month(2, 3), half_life="31d")
    assert model.fitted_.population == pytest.approx(120 / 2 + 40)
    with pytest.raises(ValueError, match="have no dates"):
        model.update(texts(5, 1), half_life="31d")


@pytest.mark.parametrize("given", ["soon", 0, -3, "5 weeks", True, float("nan"), float("inf")])
def test_what_is_no_half_life_is_refused_with_a_sentence(given):
    with pytest.raises(ValueError, match="give a number of documents"):
        HalfLife.of(given)


def test_half_lives_are_read_as_documents_or_days():
    assert HalfLife.of("5000") == HalfLife(5000.0) == HalfLife.of(5000)
    assert HalfLife.of("90d") == HalfLife.of("90 days") == HalfLife(90.0, days=True)
    assert HalfLife.of(None) is None


def test_texts_need_a_model_that_knows_how_they_are_counted():
    model = diln.HDP(3, max_iter=4, random_state=0).fit(np.eye(6, dtype=int) + 1)
    with pytest.raises(ValueError, match="give a Corpus"):
        model.update(["a text"])


def test_a_model_keeps_as_much_memory_after_many_updates_as_after_few(model):
    corpus = diln.Corpus.from_texts(texts(20, 1, [*THEMES, STARS]))
    (batch,) = in_batches(of_corpus(corpus), 20)
    with Threads(1) as engine:
        updater, sizes = Updater(model.fitted_, Growth(), engine), []
        for number in range(90):
            updater.learn(batch)
            if number == 29:
                tracemalloc.start()
        sizes = tracemalloc.take_snapshot().compare_to(tracemalloc.Snapshot((), 1), "filename")
        grown = sum(one.size for one in sizes)
        tracemalloc.stop()
    assert grown < 300_000, grown  # 60 entries of the history, and what was replaced
