"""Completed documents: their perplexity, its standard error, and which of two models is better."""

from types import SimpleNamespace

import numpy as np
import pytest

from diln import HDP, LDA, Sampling
from diln.analysis import Completed, compare_completions, complete
from diln.analysis.completion import by_chance, complete_halves
from diln.corpus import Corpus
from diln.engine.threads import Threads
from diln.models import counts

pytestmark = pytest.mark.filterwarnings("ignore::diln.DilnWarning")


def documents(n_docs: int = 400, seed: int = 0) -> tuple[Completed, Completed]:
    """Two models at documents of very different lengths, some hard for both."""
    rng = np.random.default_rng(seed)
    tokens = np.floor(np.exp(rng.normal(3, 1, n_docs))) + 1
    hard = rng.normal(6, 0.5, n_docs)
    one, two = (hard + shift + rng.normal(0, 0.05, n_docs) for shift in (0.0, 0.02))
    return Completed(-tokens * one, tokens), Completed(-tokens * two, tokens)


def resampled(n_docs: int, number: int = 2000) -> np.ndarray:
    return np.random.default_rng(1).integers(0, n_docs, (number, n_docs))


@pytest.fixture(scope="module")
def split():
    rng = np.random.default_rng(3)
    corpus = Corpus.from_matrix(rng.poisson(0.6, (60, 12)), [f"w{j}" for j in range(12)])
    return corpus.completion(seed=0, n_test=25)


@pytest.fixture(scope="module")
def lda(split):
    return LDA(n_components=3, max_iter=10, random_state=0).fit(split.train)


def test_perplexity_is_that_of_a_token():
    done = Completed(np.log([1 / 8, 1 / 4, 1 / 2]), np.array([3.0, 2.0, 1.0]))
    assert done.perplexity == pytest.approx(2)
    assert (done.n_docs, done.n_tokens) == (3, 6)
    assert done.log_perplexity == pytest.approx(np.log(2))
    assert done.standard_error == pytest.approx(0)  # no document differs from another


def test_the_standard_error_of_two_documents_is_what_it_is_by_hand():
    done = Completed(np.array([-1.0, -3.0]), np.array([1.0, 1.0]))
    # Mean 2 of the values 1 and 3, whose variance is 2: the error of the mean is sqrt(2 / 2).
    assert done.standard_error == pytest.approx(np.exp(2) * 1)


def test_the_standard_error_is_what_resampling_of_documents_gives():
    done, _ = documents()
    drawn = resampled(len(done.tokens))
    perplexities = np.exp(-done.log_likelihood[drawn].sum(axis=1) / done.tokens[drawn].sum(axis=1))
    assert done.standard_error == pytest.approx(perplexities.std(), rel=0.07)


def test_the_standard_error_of_a_difference_is_what_resampling_of_documents_gives():
    first, second = documents()
    found, drawn = compare_completions(first, second), resampled(len(first.tokens))
    apart = -(first.log_likelihood - second.log_likelihood)[drawn].sum(axis=1) / first.tokens[drawn].sum(axis=1)
    assert found.value == pytest.approx(first.log_perplexity - second.log_perplexity)
    assert found.standard_error == pytest.approx(apart.std(), rel=0.07)


def test_documents_one_by_one_tell_what_two_perplexities_do_not():
    first, second = documents()
    assert abs(first.perplexity - second.perplexity) < first.standard_error
    assert compare_completions(first, second).better == "first"
    assert compare_completions(second, first).better == "second"
    assert compare_completions(first, second).ratio == pytest.approx(first.perplexity / second.perplexity)
    same = compare_completions(first, first)
    assert (same.value, same.standard_error, same.better) == (0, 0, None)


def test_few_documents_must_differ_by_more():
    """Of models that are alike, one in twenty is called better than the other, however few documents there are."""
    rng, wrong = np.random.default_rng(5), 0
    for _ in range(2000):
        one, two = (Completed(rng.normal(-5, 1, 4), np.ones(4)) for _ in range(2))
        wrong += compare_completions(one, two).better is not None
    assert wrong / 2000 == pytest.approx(0.05, abs=0.015)


def test_chance_is_of_students_t_with_the_degrees_of_freedom_of_the_largest_part():
    assert by_chance([(4.0, 1)]) == pytest.approx(2 * 12.706, rel=1e-4)
    assert by_chance([(1.0, 10**6)]) == pytest.approx(1.95996, rel=1e-4)
    assert by_chance([(1.0, 1), (1.0, 1)]) == pytest.approx(np.sqrt(2) * 4.3027, rel=1e-4)
    assert by_chance([(1.0, 4), (1e-12, 1)]) == pytest.approx(by_chance([(1.0, 4)]), rel=1e-6)
    assert by_chance([(0.0, 3), (0.0, 1)]) == 0


def test_documents_without_held_out_tokens_say_nothing():
    done, other = documents(50)
    longer = [Completed(*(np.append(part, [0.0] * 30) for part in (d.log_likelihood, d.tokens))) for d in (done, other)]
    assert longer[0].to_json() == done.to_json()
    assert compare_completions(*longer) == compare_completions(done, other)


def test_one_document_has_no_standard_error():
    done = Completed(np.array([-2.0, 0.0]), np.array([2.0, 0.0]))
    assert (done.n_docs, done.standard_error) == (1, None)
    found = compare_completions(done, Completed(np.array([-9.0, 0.0]), np.array([2.0, 0.0])))
    assert (found.standard_error, found.better) == (None, None)
    assert done.to_json()["standard_error"] is None


def test_a_model_completes_as_its_perplexity_says(lda, split):
    done = complete(lda, split.observed, split.held_out)
    assert done.perplexity == pytest.approx(lda.perplexity(split.observed, split.held_out), rel=1e-12)
    assert done.n_tokens == split.held_out.sum()
    theta = lda.transform(split.observed)
    by_hand = (split.held_out.toarray() * np.log(theta @ lda.topic_word_)).sum(axis=1)
    assert done.log_likelihood == pytest.approx(by_hand, rel=1e-5)


def test_an_estimator_is_as_good_as_what_it_holds(lda, split):
    done, again = (complete(one, split.observed, split.held_out).log_likelihood for one in (lda, lda.fitted_))
    assert np.array_equal(done, again)


def test_neither_threads_nor_parts_change_a_bit(lda, split, monkeypatch):
    done = complete(lda, split.observed, split.held_out)
    monkeypatch.setattr(counts, "PART", 7)
    again = complete(lda, split.observed, split.held_out, n_jobs=2)
    assert np.array_equal(done.log_likelihood, again.log_likelihood)


def test_halves_and_proportions_are_the_same_in_parts_of_any_size(lda, split, monkeypatch):
    rows = counts.CorpusRows(split.test)
    with Threads(2) as threads:
        whole = complete_halves(lda.fitted_, rows, 3, threads)
        monkeypatch.setattr(counts, "PART", 7)
        parts = complete_halves(lda.fitted_, rows, 3, threads)
    assert np.array_equal(whole.log_likelihood, parts.log_likelihood)
    assert whole.perplexity == pytest.approx(lda.perplexity(split.test, seed=3), rel=1e-12)
    with Threads(1) as threads:
        some = list(lda.fitted_.transformed(rows, threads))
    assert [part.last for part in some] == [*range(7, rows.n_docs, 7), rows.n_docs]
    assert np.array_equal(np.concatenate([part.tokens for part in some]), split.test.doc_lengths)
    assert np.array_equal(np.concatenate([part.proportions for part in some]), lda.transform(split.test))


def test_draws_are_those_of_the_models_perplexity(split):
    hdp = HDP(n_components=4, max_iter=8, inference=Sampling(keep_states=3), random_state=0).fit(split.train)
    drawn = complete(hdp, split.observed, split.held_out, n_draws=2)
    expected = hdp.perplexity(split.observed, split.held_out, method="draws", n_draws=2)
    assert drawn.perplexity == pytest.approx(expected, rel=1e-12)


def test_counts_that_do_not_belong_together_are_refused(lda, split):
    with pytest.raises(ValueError, match="have 3 columns but the model knows 12 terms"):
        complete(lda, split.observed, split.held_out[:, :3])
    with pytest.raises(ValueError, match="25 documents are observed and 4 held out"):
        complete(lda, split.observed, split.held_out[:4])
    with pytest.raises(ValueError, match="no token to predict"):
        complete(lda, split.observed, split.held_out * 0)
    done = complete(lda, split.observed, split.held_out)
    with pytest.raises(ValueError, match="different documents"):
        compare_completions(done, Completed(done.log_likelihood, done.tokens + 1))


def test_what_is_no_fitted_model_is_refused(split):
    with pytest.raises(ValueError, match="this LDA is not fitted yet; call fit first"):
        complete(LDA(), split.observed, split.held_out)
    with pytest.raises(TypeError, match="a str was given as a model"):
        complete("model", split.observed, split.held_out)
    with pytest.raises(TypeError, match="a SimpleNamespace was given"):
        complete(SimpleNamespace(fitted_=None), split.observed, split.held_out)
