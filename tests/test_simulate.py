"""Draws from the priors have the moments and the laws that the formulas say; corpora are what was asked for."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import softmax, xlogy

from diln import Corpus, simulate

P = np.array([0.4, 0.3, 0.2, 0.1])
LOCATIONS = np.array([[0.6, 0.0], [0.5, 0.2], [-0.5, 0.1], [0.0, -0.6]])
BETA = 3.0
GAUSSIAN = simulate.gaussian_kernel(width=0.7, variance=0.3)
KERNELS = {"document locations": None, "linear": simulate.linear_kernel, "gaussian": GAUSSIAN}
MODELS = {
    "diln": simulate.diln_corpus,
    "hdp": simulate.hdp_corpus,
    "ctm": simulate.ctm_corpus,
    "lda": simulate.lda_corpus,
}
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
every_model = pytest.mark.parametrize("model_corpus", MODELS.values(), ids=MODELS)


def standard_errors(samples, exact):
    """How many standard errors the means over the first axis are from what they should be, at most."""
    error = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    return np.max(np.abs(samples.mean(axis=0) - exact) / error)


def products(samples, mean):
    """Of each row the products of all pairs of deviations, whose mean is the covariance."""
    off = samples - mean
    return off[..., :, None] * off[..., None, :]


def matrix_of(kernel):
    return (kernel or simulate.linear_kernel)(LOCATIONS, LOCATIONS)


def draw(n_docs, seed, **options):
    return simulate.diln_weights(P, LOCATIONS, n_docs, **{"beta": BETA, **options}, rng=seed)


# Top level


def test_sticks_have_their_moments():
    exact, exact_both = simulate.stick_moments(1.7, 5)
    rng = np.random.default_rng(1)
    p = np.array([simulate.stick_weights(1.7, 6, rng)[:5] for _ in range(40_000)])
    assert standard_errors(p, exact) < 4
    assert standard_errors(p[:, :, None] * p[:, None, :], exact_both) < 4
    assert standard_errors(p, simulate.stick_moments(1.8, 5)[0]) > 6


def test_moments_of_sticks_are_those_of_the_stick_breaking_recursion():
    # E p_i p_j by running the sticks: what is left, and its square, before each of them
    alpha, n = 0.6, 6
    share, left, left_of_both = 1 / (1 + alpha), alpha / (1 + alpha), alpha / (2 + alpha)
    both = np.empty((n, n))
    for i in range(n):
        both[i, i] = left_of_both**i * 2 / ((1 + alpha) * (2 + alpha))
        rest = left_of_both**i * alpha / ((1 + alpha) * (2 + alpha))
        for j in range(i + 1, n):
            both[i, j] = both[j, i] = rest * share
            rest *= left
    mean, second = simulate.stick_moments(alpha, n)
    np.testing.assert_allclose(mean, share * left ** np.arange(n), rtol=1e-12)
    np.testing.assert_allclose(second, both, rtol=1e-12)


def test_moments_of_all_sticks_add_up_to_one():
    mean, second = simulate.stick_moments(2.0, 200)
    assert mean.sum() == pytest.approx(1)
    assert second.sum() == pytest.approx(1)


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 5.0, 1e3])
@pytest.mark.parametrize("n_components", [1, 2, 300])
def test_the_last_stick_takes_what_is_left(alpha, n_components):
    p = simulate.stick_weights(alpha, n_components, 2)
    assert p.shape == (n_components,)
    assert (p >= 0).all()
    assert p.sum() == pytest.approx(1, abs=1e-12)


# Moments of the weights


@every_kernel
def test_weights_have_their_moments_given_the_top_level(kernel):
    mean, covariance = simulate.weight_moments(P, BETA, matrix_of(kernel))
    Z = np.exp(draw(200_000, 3, kernel=kernel).log_weights)
    assert standard_errors(Z, mean) < 4
    assert standard_errors(products(Z, mean), covariance) < 4


def test_the_check_of_moments_sees_another_kernel():
    mean, covariance = simulate.weight_moments(P, BETA, matrix_of(GAUSSIAN))
    Z = np.exp(draw(200_000, 3).log_weights)
    assert standard_errors(Z, mean) > 6
    assert standard_errors(products(Z, Z.mean(axis=0)), covariance) > 6


@pytest.mark.parametrize("kernel", [None, GAUSSIAN], ids=["linear", "gaussian"])
def test_weights_have_their_moments_with_the_top_level_integrated_out(kernel):
    alpha, n = 1.3, len(LOCATIONS) - 1  # the last of the truncated sticks is not one of the infinitely many
    K = matrix_of(kernel)[:n, :n]
    mean, covariance = simulate.weight_moments_marginal(alpha, BETA, K)
    rng = np.random.default_rng(4)
    groups = np.array([_weights_of_a_top_level(alpha, kernel, rng) for _ in range(6_000)])[..., :n]
    assert standard_errors(groups.mean(axis=1), mean) < 4
    assert standard_errors(products(groups, mean).mean(axis=1), covariance) < 4
    given_mean_sticks = simulate.weight_moments(simulate.stick_moments(alpha, n)[0], BETA, K)[1]
    assert standard_errors(products(groups, mean).mean(axis=1), given_mean_sticks) > 6


def _weights_of_a_top_level(alpha, kernel, rng, n_docs=10):
    p = simulate.stick_weights(alpha, len(LOCATIONS), rng)
    return np.exp(simulate.diln_weights(p, LOCATIONS, n_docs, beta=BETA, kernel=kernel, rng=rng).log_weights)


def test_weights_covary_even_without_a_kernel_when_sticks_are_shared():
    given = simulate.weight_moments(P, BETA, np.zeros((4, 4)))[1]
    marginal = simulate.weight_moments_marginal(1.0, BETA, np.zeros((4, 4)))[1]
    off = ~np.eye(4, dtype=bool)
    assert (given[off] == 0).all()
    assert (marginal[off] != 0).all()


def test_two_topics_of_weights_covary_with_the_sign_of_the_inner_product():
    K = matrix_of(None)
    Z = np.exp(draw(200_000, 5).log_weights)
    exact = simulate.weight_moments(P, BETA, K)[1]
    assert (K[0, 1] > 0) and (K[0, 2] < 0) and (K[0, 3] == 0)
    np.testing.assert_array_equal(np.sign(exact), np.sign(K))
    sample = np.corrcoef(Z.T)
    assert sample[0, 1] > 0.05 and sample[0, 2] < -0.05 and abs(sample[0, 3]) < 0.01


def test_a_gaussian_kernel_gives_no_negative_covariance_but_the_linear_one_does():
    locations = np.random.default_rng(6).normal(size=(30, 3))
    p = np.full(30, 1 / 30)
    gaussian = simulate.weight_moments(p, BETA, simulate.gaussian_kernel(0.5)(locations, locations))[1]
    linear = simulate.weight_moments(p, BETA, simulate.linear_kernel(locations, locations))[1]
    assert gaussian.min() >= 0
    assert linear.min() < 0


def test_kernels_are_the_functions_they_say():
    here, there = np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([[1.0, 1.0], [0.0, 0.0], [2.0, 0.0]])
    np.testing.assert_allclose(simulate.linear_kernel(here, there), [[1, 0, 0], [2, 0, 4]])
    squares = np.array([[1, 1, 5], [2, 4, 0]])
    np.testing.assert_allclose(simulate.gaussian_kernel(1.5, 2.0)(here, there), 2 * np.exp(-squares / 4.5))


def test_log_scales_have_the_covariance_of_a_singular_kernel():
    locations = np.random.default_rng(7).normal(size=(6, 2))  # six topics in two dimensions
    weights = simulate.diln_weights(
        np.full(6, 1 / 6), locations, 50_000, beta=1.0, kernel=simulate.linear_kernel, rng=8
    )
    assert standard_errors(products(weights.log_scales, 0), locations @ locations.T) < 4
    assert weights.doc_locations is None


# Two constructions, one law


FUNCTIONALS = {
    "first": lambda theta: theta[:, 0],
    "last": lambda theta: theta[:, -1],
    "largest": lambda theta: theta.max(axis=1),
    "entropy": lambda theta: -xlogy(theta, theta).sum(axis=1),
    "first two": lambda theta: theta[:, 0] * theta[:, 1],
    "first and third": lambda theta: theta[:, 0] * theta[:, 2],
}
APART = 2.5 * LOCATIONS  # a Gaussian process of more than unit variance, as a wrong one is then plain to see


def least_p_value(one, other):
    """The least p-value of the two-sample Kolmogorov-Smirnov tests of all functionals."""
    return min(stats.ks_2samp(of(one), of(other), method="asymp").pvalue for of in FUNCTIONALS.values())


def by_gamma(seed, **options):
    options = {"beta": BETA, "construction": "gamma", **options}
    return simulate.diln_weights(P, APART, 20_000, **options, rng=seed).doc_topics


@every_kernel
@pytest.mark.parametrize("beta", [0.3, 3.0])
def test_scaling_a_dirichlet_process_and_normalising_gammas_give_one_law(kernel, beta):
    scaled = by_gamma(10, beta=beta, kernel=kernel, construction="scaled")
    assert least_p_value(by_gamma(9, beta=beta, kernel=kernel), scaled) > 1e-3


def test_document_locations_and_the_linear_kernel_give_one_law():
    assert least_p_value(by_gamma(11), by_gamma(12, kernel=simulate.linear_kernel)) > 1e-3


def test_the_test_of_one_law_rejects_wrong_constructions():
    right = by_gamma(13)
    rng = np.random.default_rng(14)
    groups = rng.dirichlet(BETA * P, 20_000)
    log_scales = rng.standard_normal((20_000, 2)) @ APART.T
    independent = np.column_stack([rng.permutation(column) for column in log_scales.T])
    wrong = {
        "without scaling": groups,
        "of independent topics": softmax(np.log(groups) + independent, axis=1),
        "scaled too little": softmax(np.log(groups) + 0.8 * log_scales, axis=1),
        "of another beta": by_gamma(15, beta=0.8 * BETA),
        "in another order": right[:, [1, 0, 2, 3]],
    }
    for what, theta in wrong.items():
        assert least_p_value(right, theta) < 1e-6, what


def test_hdp_is_diln_with_zero_locations():
    nowhere = simulate.diln_weights(P, np.zeros((4, 0)), 500, beta=BETA, rng=16)
    hdp = simulate.hdp_weights(P, 500, beta=BETA, rng=16)
    np.testing.assert_array_equal(nowhere.doc_topics, hdp.doc_topics)
    at_zero = simulate.diln_weights(P, np.zeros((4, 2)), 20_000, beta=BETA, rng=17).doc_topics
    assert least_p_value(at_zero, simulate.hdp_weights(P, 20_000, beta=BETA, rng=18).doc_topics) > 1e-3


def test_hdp_has_the_moments_of_gammas_and_of_a_dirichlet():
    weights = simulate.hdp_weights(P, 100_000, beta=BETA, rng=19)
    mean, covariance = simulate.weight_moments(P, BETA, np.zeros((4, 4)))
    np.testing.assert_allclose(mean, BETA * P)
    np.testing.assert_allclose(covariance, np.diag(BETA * P))
    assert standard_errors(np.exp(weights.log_weights), mean) < 4
    assert standard_errors(products(np.exp(weights.log_weights), mean), covariance) < 4
    assert standard_errors(weights.doc_topics, P) < 4
    assert standard_errors((weights.doc_topics - P) ** 2, P * (1 - P) / (BETA + 1)) < 4


# The other two models


def test_ctm_has_the_mean_and_covariance_it_is_given():
    mean = np.array([1.0, 0.0, -1.0])
    covariance = np.array([[1.0, 0.8, 0.0], [0.8, 1.0, -0.3], [0.0, -0.3, 0.5]])
    weights = simulate.ctm_weights(mean, covariance, 50_000, rng=20)
    logs = np.log(weights.doc_topics)
    contrast = np.array([[1, -1, 0], [0, 1, -1]])
    assert standard_errors(weights.log_weights, mean) < 4
    assert standard_errors(products(weights.log_weights, mean), covariance) < 4
    assert standard_errors(logs @ contrast.T, contrast @ mean) < 4
    assert standard_errors(products(logs @ contrast.T, contrast @ mean), contrast @ covariance @ contrast.T) < 4


def test_lda_has_the_moments_of_a_dirichlet():
    prior = np.array([0.05, 0.5, 2.0])
    theta = simulate.lda_weights(prior, 50_000, rng=21).doc_topics
    mean = prior / prior.sum()
    assert standard_errors(theta, mean) < 4
    assert standard_errors(products(theta, mean), (np.diag(mean) - np.outer(mean, mean)) / (1 + prior.sum())) < 4


@pytest.mark.parametrize("topic_prior", [0.02, 1.5])
def test_topics_have_the_moments_of_a_dirichlet(topic_prior):
    topics = simulate.draw_topics(20_000, 8, topic_prior, rng=22)
    assert standard_errors(topics[:, :-1], 1 / 8) < 4
    assert standard_errors(topics**2, (topic_prior + 1) / (8 * (8 * topic_prior + 1))) < 4


# Small weights


@pytest.mark.parametrize("beta", [0.01, 1e-6, 1e-100])
@pytest.mark.parametrize("construction", ["gamma", "scaled"])
def test_topics_of_a_document_sum_to_one_however_small_beta(construction, beta):
    p = simulate.stick_weights(5.0, 100, 23)
    locations = np.random.default_rng(24).normal(size=(100, 5))
    weights = simulate.diln_weights(p, locations, 2_000, beta=beta, construction=construction, rng=25)
    np.testing.assert_allclose(weights.doc_topics.sum(axis=1), 1, atol=1e-12)
    assert (weights.doc_topics >= 0).all()


def test_a_tiny_beta_gives_a_document_one_topic_as_often_as_the_top_level_says():
    theta = simulate.hdp_weights(P, 20_000, beta=1e-5, rng=26).doc_topics
    assert np.quantile(theta.max(axis=1), 0.01) > 0.999
    assert standard_errors(theta, P) < 4


def test_topics_with_no_weight_at_the_top_level_have_none_in_documents():
    p = simulate.stick_weights(1e-3, 50, 27)  # most of these underflow to 0
    assert (p == 0).any()
    for construction in ("gamma", "scaled"):
        theta = simulate.diln_weights(p, np.ones((50, 1)), 200, beta=2.0, construction=construction, rng=28).doc_topics
        assert (theta[:, p == 0] == 0).all()
        np.testing.assert_allclose(theta.sum(axis=1), 1)


def test_logarithms_of_gammas_have_the_law_of_gammas():
    shapes = np.array([0.05, 0.7, 30.0])
    Z = np.exp(simulate.lda_weights(shapes, 20_000, rng=29).log_weights)
    for column, shape in zip(Z.T, shapes, strict=True):
        assert stats.kstest(column, stats.gamma(shape).cdf).pvalue > 1e-3
        assert stats.kstest(column, stats.gamma(1.1 * shape).cdf).pvalue < 1e-6


# Corpora


@every_model
def test_a_corpus_has_what_was_asked_for(model_corpus):
    made = model_corpus(40, 60, 7, doc_length=25, rng=30)
    assert isinstance(made.corpus, Corpus)
    assert made.corpus.counts.shape == (40, 60)
    assert (made.corpus.doc_lengths == 25).all()
    assert made.corpus.vocabulary[:2] == ["w0000", "w0001"] and made.corpus.vocabulary[-1] == "w0059"
    assert made.topics.shape == (7, 60)
    assert made.doc_topics.shape == made.topic_counts.shape == made.log_weights.shape == (40, 7)
    np.testing.assert_allclose(made.topics.sum(axis=1), 1)
    np.testing.assert_allclose(made.doc_topics, softmax(made.log_weights, axis=1))
    assert (made.topic_counts.sum(axis=1) == 25).all()


def test_a_diln_corpus_keeps_the_truth():
    made = simulate.diln_corpus(30, 20, 6, n_dims=3, rng=31)
    assert made.topic_weights.sum() == pytest.approx(1)
    assert made.topic_locations.shape == (6, 3)
    assert made.doc_locations.shape == (30, 3)
    np.testing.assert_allclose(made.log_scales, made.doc_locations @ made.topic_locations.T)
    other = simulate.diln_corpus(30, 20, 6, n_dims=3, kernel=GAUSSIAN, construction="scaled", rng=31)
    assert other.doc_locations is None
    np.testing.assert_array_equal(other.topic_locations, made.topic_locations)
    assert (other.log_scales != made.log_scales).all()


@pytest.mark.parametrize("given, variance", [(None, 0.25), (3.0, 3.0)])
def test_topic_locations_have_the_variance_asked_for(given, variance):
    locations = simulate.diln_corpus(1, 2, 5_000, n_dims=4, location_variance=given, rng=32).topic_locations
    assert standard_errors(locations, 0) < 4
    assert standard_errors(locations**2, variance) < 4


def test_documents_can_have_lengths_of_their_own():
    lengths = np.array([0, 3, 50, 1])
    made = simulate.hdp_corpus(4, 30, 5, doc_length=lengths, rng=33)
    np.testing.assert_array_equal(made.corpus.doc_lengths, lengths)


def test_lengths_can_be_poisson():
    lengths = simulate.lda_corpus(4_000, 5, 2, doc_length=simulate.Poisson(6.5), rng=34).corpus.doc_lengths
    assert standard_errors(lengths, 6.5) < 4
    assert standard_errors((lengths - 6.5) ** 2, 6.5) < 4


@every_model
def test_words_are_as_frequent_as_topics_and_documents_say(model_corpus):
    made = model_corpus(50, 20, 5, topic_prior=1.0, doc_length=4_000, rng=35)
    assert 1e-3 < _fit(made.corpus.counts.toarray(), made.doc_topics @ made.topics) < 1 - 1e-3
    assert _fit(made.corpus.counts.toarray(), made.doc_topics[::-1] @ made.topics) < 1e-6


def _fit(counts, probabilities):
    """The p-value of Pearson's chi-square test of all documents' words."""
    expected = counts.sum(axis=1, keepdims=True) * probabilities
    statistic = ((counts - expected) ** 2 / expected).sum()
    return stats.chi2.sf(statistic, counts.shape[0] * (counts.shape[1] - 1))


def test_words_of_a_document_come_from_the_topics_counted_in_it():
    topics = np.kron(np.eye(3), np.full(4, 0.25))  # each topic has four terms of its own
    corpus, topic_counts = simulate.draw_corpus(topics, np.full((20, 3), 1 / 3), 30, rng=36)
    by_topic = corpus.counts.toarray().reshape(20, 3, 4).sum(axis=2)
    np.testing.assert_array_equal(by_topic, topic_counts)


def test_topics_that_sum_to_one_only_in_single_precision_will_do():
    topics = simulate.draw_topics(4, 500, rng=37)
    theta = simulate.lda_weights(np.ones(4), 10, rng=37).doc_topics
    corpus, _ = simulate.draw_corpus(topics * (1 + 5e-6), theta * (1 + 5e-6), 200, rng=38)
    assert corpus.n_tokens == 2_000


def test_names_of_terms_are_unique_and_sorted_beyond_four_digits():
    vocabulary = simulate.lda_corpus(2, 10_001, 2, rng=39).corpus.vocabulary
    assert vocabulary[0] == "w00000" and vocabulary[-1] == "w10000"
    assert vocabulary == sorted(set(vocabulary))


@every_model
def test_the_same_seed_gives_the_same_draws(model_corpus):
    made, again, other = (model_corpus(20, 30, 4, rng=seed) for seed in (40, np.random.default_rng(40), 41))
    np.testing.assert_array_equal(made.corpus.counts.toarray(), again.corpus.counts.toarray())
    np.testing.assert_array_equal(made.doc_topics, again.doc_topics)
    np.testing.assert_array_equal(made.topics, again.topics)
    assert (made.topics != other.topics).any()
    assert (made.corpus.counts != other.corpus.counts).nnz


def test_a_generator_moves_on_between_draws():
    rng = np.random.default_rng(42)
    assert (simulate.stick_weights(1.0, 5, rng) != simulate.stick_weights(1.0, 5, rng)).any()


# What cannot be drawn


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: simulate.stick_weights(-1.0, 5, 0), "alpha is -1.0; give a number above 0"),
        (lambda: simulate.stick_weights(np.nan, 5, 0), "alpha is nan"),
        (lambda: simulate.stick_weights("1", 5, 0), "alpha is '1'"),
        (lambda: simulate.stick_weights(1.0, 0, 0), "n_components is 0; give a whole number of at least 1"),
        (lambda: simulate.stick_weights(1.0, 2.5, 0), "n_components is 2.5"),
        (lambda: simulate.stick_moments(0.0, 3), "alpha is 0.0"),
        (lambda: simulate.stick_moments(1.0, 0), "n is 0"),
        (lambda: simulate.gaussian_kernel(width=0), "width is 0"),
        (lambda: simulate.gaussian_kernel(variance=-1), "variance is -1"),
        (lambda: simulate.weight_moments(P[None], 1.0, np.eye(4)), r"topic_weights has 2 dimensions, shape \(1, 4\)"),
        (lambda: simulate.weight_moments(2 * P, 1.0, np.eye(4)), "with the sum 2; give probabilities"),
        (lambda: simulate.weight_moments([-0.5, 0.9], 1.0, np.eye(2)), "values from -0.5 on"),
        (lambda: simulate.weight_moments([], 1.0, np.eye(2)), "topic_weights has 0 values"),
        (lambda: simulate.weight_moments(P, -1.0, np.eye(4)), "beta is -1.0"),
        (lambda: simulate.weight_moments(P, 1.0, np.eye(3)), r"shape \(3, 3\); give \(4, 4\)"),
        (lambda: simulate.weight_moments(P, 1.0, np.full((4, 4), np.inf)), "kernel_matrix has a value that is NaN or"),
        (lambda: simulate.weight_moments_marginal(1.0, 1.0, np.ones((2, 3))), r"shape \(2, 3\); give \(2, 2\)"),
        (lambda: simulate.weight_moments_marginal(1.0, 1.0, np.ones((0, 0))), r"shape \(0, 0\); give \(1, 1\)"),
        (lambda: simulate.weight_moments_marginal(1.0, 1.0, [[1, 0.5], [0, 1]]), "kernel_matrix is not symmetric"),
        (lambda: simulate.weight_moments_marginal(1.0, 1.0, [[1, 2], [2, 1]]), "negative eigenvalue -1"),
        (lambda: draw(10, 0, beta=0), "beta is 0"),
        (lambda: draw(0, 0), "n_docs is 0"),
        (lambda: draw(10, 0, construction="sticks"), "construction is 'sticks'; give 'gamma' or 'scaled'"),
        (lambda: draw(10, 0, kernel=lambda a, b: a), r"the kernel's matrix has the shape \(4, 2\); give \(4, 4\)"),
        (lambda: draw(10, 0, kernel=lambda a, b: -a @ b.T), "the kernel's matrix has the negative eigenvalue"),
        (lambda: simulate.diln_weights(P, LOCATIONS[:3], 5, beta=1.0, rng=0), "4 topic_weights but 3 topic_locations"),
        (lambda: simulate.hdp_weights(P, 5, beta=np.inf, rng=0), "beta is inf"),
        (lambda: simulate.ctm_weights(np.zeros(2), np.eye(3), 5, rng=0), r"covariance_matrix has the shape \(3, 3\)"),
        (lambda: simulate.ctm_weights([], np.eye(1), 5, rng=0), "the size of mean is 0"),
        (lambda: simulate.lda_weights([0.1, 0.0], 5, rng=0), "the least doc_topic_prior is 0.0"),
        (lambda: simulate.lda_weights([], 5, rng=0), "the size of doc_topic_prior is 0"),
        (lambda: simulate.draw_topics(2, 0, rng=0), "n_terms is 0"),
        (lambda: simulate.draw_topics(2, 5, 0.0, rng=0), "topic_prior is 0.0"),
        (lambda: simulate.draw_corpus(np.eye(3), np.eye(2), rng=0), "doc_topics has 2 columns for 3 topics"),
        (lambda: simulate.draw_corpus(2 * np.eye(3), np.eye(3), rng=0), "topics, shape .* has a row that is no dist"),
        (lambda: simulate.diln_corpus(5, 5, 5, n_dims=0, rng=0), "n_dims is 0"),
        (lambda: simulate.diln_corpus(5, 5, 5, location_variance=0.0, rng=0), "location_variance is 0.0"),
        (lambda: simulate.hdp_corpus(5, 5, 5, doc_length=-1, rng=0), "doc_length is -1; give a whole number"),
        (lambda: simulate.hdp_corpus(5, 5, 5, doc_length=9.5, rng=0), r"doc_length is 9.5; .* or Poisson\(mean\)"),
        (lambda: simulate.hdp_corpus(5, 5, 5, doc_length=[1, 2], rng=0), "one for each of the 5 documents"),
        (lambda: simulate.hdp_corpus(5, 5, 5, doc_length=simulate.Poisson(0), rng=0), "the mean of Poisson is 0"),
        (lambda: simulate.ctm_corpus(5, 5, 5, mean=[0, 1], rng=0), r"mean has the shape \(2,\)"),
        (lambda: simulate.lda_corpus(5, 5, 5, doc_topic_prior=[1, 1], rng=0), "one for each of 5 topics"),
    ],
)
def test_what_cannot_be_drawn_is_said_plainly(call, message):
    with pytest.raises(ValueError, match=message):
        call()
