"""Whole corpora from the models, together with the truth that a fit should find again."""

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array

from diln.corpus import Corpus
from diln.errors import brief
from diln.simulate.checks import FloatArray, Rng, check_room, distributions, generator, numbers, positive, whole
from diln.simulate.kernels import Kernel
from diln.simulate.priors import (
    Construction,
    Weights,
    ctm_weights,
    diln_weights,
    hdp_weights,
    lda_weights,
    stick_weights,
)

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Poisson:
    """Document lengths that are Poisson; some may be 0.

    Attributes
    ----------
    mean : float
        Tokens of a document on average.
    """

    mean: float


DocLength = int | Poisson | ArrayLike  # the same for all, drawn, or one for each document


@dataclass(frozen=True, slots=True)
class Simulated:
    """A corpus and the truth that it was drawn from.

    Attributes
    ----------
    corpus : Corpus
        The counts; terms are named by their columns, "w0000" on.
    topics : (n_components, n_terms)
        P(term v | topic k).
    doc_topics : (n_docs, n_components)
        theta[m, k] = P(topic k | document m).
    topic_counts : (n_docs, n_components)
        Tokens of document m that were drawn from topic k; a row's sum is the document's length.
    log_weights : (n_docs, n_components)
        Logarithm of the weights that ``doc_topics`` are proportional to; ``Weights`` and the functions that draw
        those say more.
    topic_weights : (n_components,) or None
        Top-level weights p[k] of DILN and the HDP, which all documents share.
    topic_locations : (n_components, n_dims) or None
        DILN's topic locations, each ~ N(0, location_variance I).
    log_scales : (n_docs, n_components) or None
        DILN's Gaussian process W[m, k].
    doc_locations : (n_docs, n_dims) or None
        DILN's document locations ~ N(0, I), with the linear kernel.
    """

    corpus: Corpus
    topics: FloatArray
    doc_topics: FloatArray
    topic_counts: IntArray
    log_weights: FloatArray
    topic_weights: FloatArray | None = None
    topic_locations: FloatArray | None = None
    log_scales: FloatArray | None = None
    doc_locations: FloatArray | None = None


def diln_corpus(  # a parameter for each of the model
    n_docs: int,
    n_terms: int,
    n_components: int,
    *,
    n_dims: int = 2,
    alpha: float = 5.0,
    beta: float = 5.0,
    topic_prior: float = 0.1,
    location_variance: float | None = None,
    doc_length: DocLength = 100,
    construction: Construction = "gamma",
    kernel: Kernel | None = None,
    rng: Rng,
) -> Simulated:
    """A corpus from the discrete infinite logistic normal, truncated to ``n_components`` topics.

    Parameters
    ----------
    n_docs, n_terms, n_components : int
        Number of documents, terms and topics.
    n_dims : int
        Dimensions of the space of topic and document locations.
    alpha : float
        Concentration of the top level: the larger, the more topics are in use.
    beta : float
        Concentration of documents around the top level.
    topic_prior : float
        Of the topics' symmetric Dirichlet: the smaller, the fewer terms have most of a topic.
    location_variance : float or None
        Of each coordinate of a topic's location. None is 1 / n_dims, for which the linear kernel makes the log scales'
        variance 1 on average.
    doc_length : int, Poisson or (n_docs,)
        Tokens of every document, of each, or their law: ``Poisson(120)``.
    construction : "gamma" or "scaled"
        As ``diln_weights`` has it.
    kernel : function or None
        As ``diln_weights`` has it.
    rng : int or numpy.random.Generator
        Seed or generator.
    """
    rng = generator(rng)
    n_dims = whole("n_dims", n_dims)
    spread = np.sqrt(1 / n_dims if location_variance is None else positive("location_variance", location_variance))
    p = stick_weights(alpha, n_components, rng)
    check_room(n_components, n_dims)
    locations = spread * rng.standard_normal((n_components, n_dims))
    topics = draw_topics(n_components, n_terms, topic_prior, rng=rng)
    weights = diln_weights(p, locations, n_docs, beta=beta, construction=construction, kernel=kernel, rng=rng)
    return _simulated(topics, weights, doc_length, rng, topic_weights=p, topic_locations=locations)


def hdp_corpus(
    n_docs: int,
    n_terms: int,
    n_components: int,
    *,
    alpha: float = 5.0,
    beta: float = 5.0,
    topic_prior: float = 0.1,
    doc_length: DocLength = 100,
    rng: Rng,
) -> Simulated:
    """A corpus from the hierarchical Dirichlet process: ``diln_corpus`` with every topic in the same place, 0.

    Parameters are as ``diln_corpus`` has them.
    """
    rng = generator(rng)
    p = stick_weights(alpha, n_components, rng)
    topics = draw_topics(n_components, n_terms, topic_prior, rng=rng)
    return _simulated(topics, hdp_weights(p, n_docs, beta=beta, rng=rng), doc_length, rng, topic_weights=p)


def ctm_corpus(
    n_docs: int,
    n_terms: int,
    n_components: int,
    *,
    mean: ArrayLike | None = None,
    covariance_matrix: ArrayLike | None = None,
    topic_prior: float = 0.1,
    doc_length: DocLength = 100,
    rng: Rng,
) -> Simulated:
    """A corpus from the correlated topic model, whose log weights are N(mean, covariance_matrix).

    The other parameters are as ``diln_corpus`` has them.

    Parameters
    ----------
    mean : (n_components,), optional
        Default: 0.
    covariance_matrix : (n_components, n_components), optional
        Default: the identity.
    """
    rng = generator(rng)
    topics = draw_topics(n_components, n_terms, topic_prior, rng=rng)
    mean = np.zeros(n_components) if mean is None else _one_for_each_topic("mean", mean, n_components)
    check_room(n_components, n_components)
    matrix = np.eye(n_components) if covariance_matrix is None else covariance_matrix
    return _simulated(topics, ctm_weights(mean, matrix, n_docs, rng=rng), doc_length, rng)


def lda_corpus(
    n_docs: int,
    n_terms: int,
    n_components: int,
    *,
    doc_topic_prior: ArrayLike = 0.1,
    topic_prior: float = 0.1,
    doc_length: DocLength = 100,
    rng: Rng,
) -> Simulated:
    """A corpus from latent Dirichlet allocation.

    The other parameters are as ``diln_corpus`` has them.

    Parameters
    ----------
    doc_topic_prior : float or (n_components,)
        Of the documents' Dirichlet: the smaller, the fewer topics have most of a document.
    """
    rng = generator(rng)
    topics = draw_topics(n_components, n_terms, topic_prior, rng=rng)
    prior = _one_for_each_topic("doc_topic_prior", doc_topic_prior, n_components)
    return _simulated(topics, lda_weights(prior, n_docs, rng=rng), doc_length, rng)


def draw_topics(n_components: int, n_terms: int, topic_prior: float = 0.1, *, rng: Rng) -> FloatArray:
    """Topics (n_components, n_terms), each ~ Dirichlet(topic_prior, ..., topic_prior)."""
    check_room(whole("n_components", n_components), whole("n_terms", n_terms))
    return generator(rng).dirichlet(np.full(n_terms, positive("topic_prior", topic_prior)), n_components)


def draw_corpus(
    topics: ArrayLike, doc_topics: ArrayLike, doc_length: DocLength = 100, *, rng: Rng
) -> tuple[Corpus, IntArray]:
    """Documents of given topics in given proportions.

    Parameters
    ----------
    topics : (n_components, n_terms)
        P(term | topic); rows have the sum 1.
    doc_topics : (n_docs, n_components)
        P(topic | document); rows have the sum 1.
    doc_length : int, Poisson or (n_docs,)
        As ``diln_corpus`` has it.
    rng : int or numpy.random.Generator
        Seed or generator.

    Returns
    -------
    corpus : Corpus
        The counts.
    topic_counts : (n_docs, n_components)
        How many tokens of each document are of each topic.
    """
    topics, doc_topics = distributions("topics", topics), distributions("doc_topics", doc_topics)
    if doc_topics.shape[1] != len(topics):
        raise ValueError(f"doc_topics has {doc_topics.shape[1]} columns for {len(topics)} topics; give one for each")
    rng = generator(rng)
    lengths = _lengths(doc_length, len(doc_topics), rng)
    check_room(int(lengths.sum(dtype=np.float64)))
    topic_counts = rng.multinomial(lengths, doc_topics)
    return _draw_terms(topics, topic_counts, rng), topic_counts


def _simulated(
    topics: FloatArray,
    weights: Weights,
    doc_length: DocLength,
    rng: np.random.Generator,
    topic_weights: FloatArray | None = None,
    topic_locations: FloatArray | None = None,
) -> Simulated:
    corpus, topic_counts = draw_corpus(topics, weights.doc_topics, doc_length, rng=rng)
    return Simulated(
        corpus,
        topics,
        weights.doc_topics,
        topic_counts,
        weights.log_weights,
        topic_weights,
        topic_locations,
        weights.log_scales,
        weights.doc_locations,
    )


def _draw_terms(topics: FloatArray, topic_counts: IntArray, rng: np.random.Generator) -> Corpus:
    """The corpus in which ``topic_counts`` tokens of each document are drawn from each topic."""
    n_docs, n_terms = len(topic_counts), topics.shape[1]
    documents, terms = [], []
    for topic, counts in zip(topics, topic_counts.T, strict=True):
        # how often each term comes, then in which order: the same as token by token, at the cost of a shuffle
        tokens = np.repeat(np.arange(n_terms), rng.multinomial(counts.sum(), topic))
        rng.shuffle(tokens)
        documents.append(np.repeat(np.arange(n_docs), counts))
        terms.append(tokens)
    places = np.concatenate(documents), np.concatenate(terms)
    counts = coo_array((np.ones(len(places[0]), np.int64), places), shape=(n_docs, n_terms))
    digits = max(4, len(str(n_terms - 1)))
    return Corpus.from_matrix(counts, [f"w{column:0{digits}d}" for column in range(n_terms)])


def _lengths(doc_length: DocLength, n_docs: int, rng: np.random.Generator) -> IntArray:
    """The documents' lengths (n_docs,)."""
    if isinstance(doc_length, Poisson):
        mean = positive("the mean of Poisson", doc_length.mean)
        check_room(ceil(mean), n_docs)
        return rng.poisson(mean, n_docs)
    try:
        lengths = np.asarray(doc_length)
    except ValueError:
        lengths = np.zeros(0)
    if lengths.dtype.kind not in "iu" or lengths.shape not in ((), (n_docs,)) or lengths.min(initial=0) < 0:
        raise ValueError(
            f"doc_length is {brief(doc_length)}; give a whole number from 0 on, one for each of the {n_docs} "
            "documents, or Poisson(mean)"
        )
    return np.broadcast_to(lengths.astype(np.int64), n_docs)


def _one_for_each_topic(name: str, values: ArrayLike, n_components: int) -> FloatArray:
    array = numbers(name, values)
    if array.shape not in ((), (n_components,)):
        raise ValueError(f"{name} has the shape {array.shape}; give a number, or one for each of {n_components} topics")
    return np.broadcast_to(array, n_components)
