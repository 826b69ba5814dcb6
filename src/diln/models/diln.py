"""The Discrete Infinite Logistic Normal distribution: topics that go together or avoid each other."""

from typing import Any, ClassVar, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from diln.models.base import TopicModel
from diln.models.counts import PART
from diln.models.fitted import Floats


class DILN(TopicModel):
    """A topic model that learns topics, as many as help, and which go together.

    Every topic has a location; a document, by its own location, lifts the topics that lie its way. The HDP is the case
    without locations.

    Parameters
    ----------
    n_components : int or "auto"
        The most topics there can be. With "auto" a chain starts with 1.2 sqrt(tokens) topics, 16 to 800, drops those
        that nobody uses, and splits topics when most are in use. Variational inference: "auto" is 200.
    n_dims : int, optional
        Dimensions of the space that topics and documents are placed in; 10 unless given, 20 of variational inference.
    location_variance : float or "auto", optional
        c, the prior variance of a topic's location in each dimension; 0.5 unless given, 1 / n_dims of variational
        inference. "auto" learns it (sampling alone).
    alpha_prior : (shape, rate), optional
        Gamma prior of the concentration of the topics' weights in the corpus; (1, 1) unless given, (1, 0.001) of
        variational inference.
    beta_prior : (shape, rate), optional
        Gamma prior of the concentration of the topics' weights in documents, of variational inference alone;
        (1, 0.001) unless given.
    weight_rate : float
        Rate of the gamma prior of the topics' weights, which takes the place of ``beta_prior`` in sampling: the larger,
        the smaller are the weights, and with them beta.
    topic_word_prior : float or "auto", optional
        gamma_0, the parameter of the topics' symmetric Dirichlet prior; smaller values give sharper topics. By
        default it follows the number of topics that a fit starts with: 0.015 (400 / topics)^0.7, at most 0.2, and 2.5
        times as much with learning_method="online". Variational inference: 0.1. "auto" learns it (sampling only).
    inference : "sampling" or "variational"
        How the posterior is found: by Gibbs sampling with Polya-Gamma variables, or by mean-field variational inference
        as in the paper.
    learning_method : "auto", "batch", "grow" or "online"
        "batch" has all documents in every sweep; "grow" begins with 20,000 documents, goes on with 60,000, then with
        all; "online" learns from ``batch_size`` documents at a time, and need not have the others in memory. "auto" is
        "batch" up to 20,000 documents, then "grow" up to 200 million tokens, then "online"; "batch" where inference is
        variational, which knows no "grow".
    learning_decay, learning_offset : float, optional
        Step t of online learning has length ``(learning_offset + t) ** -learning_decay``, t from 0; 0.6 and 20 unless
        given, 0.6 and 25 of variational inference.
    max_iter : int, optional
        Sweeps at most. Default: 150 (400 / topics)^0.6, from 60 to 250; with "grow" 105, and fewer beyond 400 topics;
        with "online" 1 pass over the documents. Variational inference: 100 passes in batch, 5 online.
    max_time : float, optional
        Seconds after which sampling ends, with what it has by then. Of sampling alone.
    tol : float, optional
        Batch learning is at rest when the score gains less than this in 10 sweeps, in nats a token: 0.002 unless given.
        Of variational inference the relative change of the bound between two passes that ends it, 0.001 unless given.
    batch_size : int, optional
        Documents of a step of online learning; 500 unless given, 250 of variational inference.
    total_samples : int, optional
        Number of documents of the stream that ``partial_fit`` sees; unless given, those seen so far.
    evaluate_every : int
        Compute the perplexity every so many passes (batch) or steps (online); 0 for never. Of variational inference
        alone: sampling shows its score.
    mean_change_tol : float
        A new document is settled when its topics' expected tokens change by less than this: on average, or, of
        sampling, in all, as a share of its tokens.
    max_doc_update_iter : int, optional
        Updates of a new document at most; 50 unless given, 100 of variational inference.
    n_states : int, optional
        Late states of the chain that the model is the mean of. Default: a third of the sweeps, at least 50; with "grow"
        10. No more than half the sweeps. Sampling only, as are the next four.
    keep_states : int
        How many of these are kept for ``perplexity(method="draws")``, the last ones; online learning keeps none.
    n_chains : int
        Chains over the same documents. The first is the model, with the same bits for any number of chains; chain i,
        from 0 on, has the bits of a fit with ``random_state + i``. The others tell which topics, and which
        correlations, another run finds again: see ``diln.analysis``. As many run side by side as there are threads.
        ``partial_fit`` uses one chain, and forgets what others told.
    warm_up : int
        Sweeps before topics and documents get locations: topics should take shape first.
    polya_gamma : "matched" or "exact"
        How Polya-Gamma variables are drawn: with their mean and variance right, which is fast and cannot be told from
        exact draws in practice, or exactly, which takes several times as long.
    init : str or a fitted model, optional
        Where the topics start. Of sampling "draws", from draws of every token's topic, or a model, from draws given its
        topics. Of variational inference "kmeans", from three rounds of k-means on documents with L1 distance, "random",
        from noise, or a model. The first of each unless given.
    n_jobs : int, optional
        Threads, 1 unless given; -1 for all cores. The result does not depend on it.
    random_state : int, Generator, RandomState, optional
        For the same bits again.
    verbose : int
        1 to write a line for each sweep, pass or step to the standard error stream.

    Attributes
    ----------
    components_, topic_word_ : ndarray (n_topics, n_terms)
        The topics' Dirichlet parameters, and the topics they expect; rows of the latter sum to 1. n_topics is here the
        number of topics that there are, in use or not, ``len(topic_weights_)``: sampling drops those that nobody uses
        and, with "auto", splits others. It is ``n_components`` at most where that is a number, and no less of
        variational inference.
    topic_weights_ : ndarray (n_topics,)
        Share of the tokens that each topic holds.
    n_topics_ : int
        Topics in use: those that hold at least one in 500 tokens. It says how finely a model of this size tells the
        corpus apart, and is not a property of the corpus.
    topic_locations_ : ndarray (n_topics, n_dims)
        Where the topics are: the mean over states, each turned as a whole to fit the others.
    topic_correlation_, topic_covariance_ : ndarray (n_topics, n_topics)
        Cosine and inner product of the topics' locations, mean over states of the latter: above 0 topics go together,
        below they avoid each other.
    topic_lift_ : ndarray (n_topics, n_topics)
        e^covariance: how many times as often as by chance two topics are together.
    alpha_, beta_ : float
        Concentrations of the weights in the corpus and in documents.
    history_ : list of dict
        What was seen of every sweep, pass or step (of a stream the last 10,000): among others the ``score`` of
        sampling, the mean log probability of a token given all others, or the ``bound`` of variational inference.
    bound_, n_iter_, learning_method_
        The last bound, if any, the number of sweeps or passes, and how the model was learned: what "auto" has chosen.
    vocabulary_ : list of str
        The terms.
    """

    kind: ClassVar[str] = "DILN"

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        n_dims: int | None = None,
        location_variance: float | str | None = None,
        alpha_prior: tuple[float, float] | None = None,
        beta_prior: tuple[float, float] | None = None,
        weight_rate: float = 10.0,
        topic_word_prior: float | str | None = None,
        inference: str = "sampling",
        learning_method: str = "auto",
        learning_decay: float | None = None,
        learning_offset: float | None = None,
        max_iter: int | None = None,
        max_time: float | None = None,
        tol: float | None = None,
        batch_size: int | None = None,
        total_samples: float | None = None,
        evaluate_every: int = 0,
        mean_change_tol: float = 1e-3,
        max_doc_update_iter: int | None = None,
        n_states: int | None = None,
        keep_states: int = 0,
        n_chains: int = 1,
        warm_up: int = 20,
        polya_gamma: str = "matched",
        init: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_dims = n_dims
        self.location_variance = location_variance
        self.alpha_prior = alpha_prior
        self.beta_prior = beta_prior
        self.weight_rate = weight_rate
        self.topic_word_prior = topic_word_prior
        self.inference = inference
        self.learning_method = learning_method
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.max_iter = max_iter
        self.max_time = max_time
        self.tol = tol
        self.batch_size = batch_size
        self.total_samples = total_samples
        self.evaluate_every = evaluate_every
        self.mean_change_tol = mean_change_tol
        self.max_doc_update_iter = max_doc_update_iter
        self.n_states = n_states
        self.keep_states = keep_states
        self.n_chains = n_chains
        self.warm_up = warm_up
        self.polya_gamma = polya_gamma
        self.init = init
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def alpha_(self) -> float:
        """Concentration of the topics' weights in the corpus."""
        return cast(float, self._known().alpha)

    @property
    def beta_(self) -> float:
        """Concentration of the topics' weights in a document around those in the corpus."""
        return cast(float, self._known().beta)

    @property
    def topic_locations_(self) -> Floats:
        """Topic locations ell (n_topics, n_dims)."""
        return cast(Floats, self._known().locations)

    @property
    def topic_covariance_(self) -> Floats:
        """ell_i . ell_j (n_topics, n_topics): the covariance of two topics' log weights over documents.

        Of sampling in batch or grow it is the mean over states: the inner products of ``topic_locations_``, which are a
        mean themselves, are smaller.
        """
        return cast(Floats, self._known().covariance)

    @property
    def topic_lift_(self) -> Floats:
        """E[Z_i Z_j] / (E Z_i E Z_j) of two topics' weights in a document: e^covariance.

        3 where a document with much of the one has three times as much of the other as by chance, 0.3 where it has less
        than a third.
        """
        return cast(Floats, self._known().lift)

    @property
    def topic_correlation_(self) -> Floats:
        """Covariance over the deviations that its diagonal has (n_topics, n_topics), from -1 to 1.

        It is the cosine of two topics' locations where these are known for sure, and near 0 beside a topic whose
        location is now here, now there.
        """
        return cast(Floats, self._known().correlation)

    def document_locations(self, X: Any) -> Floats:
        """Where documents are among the topics.

        Parameters
        ----------
        X : documents
            As ``transform`` takes them.

        Returns
        -------
        ndarray (n_docs, n_dims)
            u, so that a topic at ell is lifted by ell . u; the origin for a document without a known term.
        """
        check_is_fitted(self)
        rows = self._rows(X, reset=False)[0]
        with self._threads() as threads:
            return np.vstack([self._known().infer(part, threads).locations for part in rows.parts(PART)])
