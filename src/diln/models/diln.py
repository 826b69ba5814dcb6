"""The Discrete Infinite Logistic Normal distribution: topics that go together or avoid each other."""

from typing import Any, ClassVar, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from diln.models.base import TopicModel
from diln.models.counts import PART
from diln.models.fitted import Floats


class DILN(TopicModel):
    """A topic model that learns how many topics there are and which go together.

    Every topic has a location; a document, by its own location, lifts the topics that lie its way. The HDP is the case
    without locations.

    Parameters
    ----------
    n_components : int
        The most topics there can be; the model uses as many as it needs.
    topic_word_prior : float
        gamma_0, the parameter of the topics' symmetric Dirichlet prior; smaller values give sharper topics.
    n_dims : int
        Dimensions of the space that topics and documents are placed in.
    location_variance : float, optional
        c, the prior variance of a topic's location in each dimension; 1 / n_dims unless given.
    alpha_prior, beta_prior : (shape, rate)
        Gamma priors of the concentrations of the corpus' and of the documents' weights.
    inference : "variational"
        How the posterior is found: mean-field variational inference, as in the paper.
    learning_method : "batch" or "online"
        All documents before each update of the topics, or mini-batches of them.
    learning_decay, learning_offset : float
        Step t of online learning has length ``(learning_offset + t) ** -learning_decay``, t from 0.
    max_iter : int, optional
        Passes over the documents; 100 at most in batch, 5 online.
    tol : float
        Relative change of the bound between two passes that ends batch learning.
    batch_size : int
        Documents in a mini-batch.
    total_samples : int, optional
        Number of documents of the stream that ``partial_fit`` sees; unless given, those seen so far.
    evaluate_every : int
        Compute the perplexity every so many passes (batch) or steps (online); 0 for never.
    mean_change_tol : float
        A new document is settled when its topics' expected tokens change by less than this on average.
    max_doc_update_iter : int
        Updates of a new document at most.
    init : "kmeans", "random" or a fitted model
        Where the topics start: three rounds of k-means on documents with L1 distance, noise, or that model's topics.
    n_jobs : int, optional
        Threads; -1 for all cores. The result does not depend on it.
    random_state : int, Generator, RandomState, optional
        For the same bits again.
    verbose : int
        1 to write a line for each pass (batch) or step (online) to the standard error stream.

    Attributes
    ----------
    components_, topic_word_ : ndarray (n_components, n_terms)
        The topics' Dirichlet parameters, and the topics they expect; rows of the latter sum to 1.
    topic_weights_ : ndarray (n_components,)
        Share of the tokens that each topic holds.
    n_topics_ : int
        Topics in use: those that hold at least a thousandth of the tokens.
    topic_locations_ : ndarray (n_components, n_dims)
        Where the topics are.
    topic_correlation_, topic_covariance_ : ndarray (n_components, n_components)
        Cosine and inner product of the topics' locations: above 0 topics go together, below they avoid each other.
    alpha_, beta_ : float
        Concentrations of the weights in the corpus and in documents.
    bound_, history_, n_iter_
        The last bound, what was seen of every pass, and the number of passes.
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
        warm_up: int = 20,
        polya_gamma: str = "mean",
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
        """Topic locations ell (n_components, n_dims)."""
        return cast(Floats, self._known().locations)

    @property
    def topic_covariance_(self) -> Floats:
        """ell_i . ell_j (n_components, n_components): the covariance of two topics' log weights over documents."""
        return cast(Floats, self._known().covariance)

    @property
    def topic_correlation_(self) -> Floats:
        """Cosine of two topics' locations (n_components, n_components), from -1 to 1."""
        return cast(Floats, self._known().correlation)

    def document_locations(self, X: Any) -> Floats:
        """Where documents are among the topics: u (n_docs, n_dims), the origin for one without a known term."""
        check_is_fitted(self)
        rows = self._rows(X, reset=False)[0]
        with self._threads() as threads:
            return np.vstack([self._known().infer(part, threads).locations for part in rows.parts(PART)])
