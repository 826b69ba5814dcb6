"""Topics and weights after some documents, and the sweep that takes documents in."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array
from scipy.special import digamma, gammaln

from diln.engine.threads import Threads, cut
from diln.inference.data import Array, TermCounts
from diln.inference.emissions.multinomial import expected_topics, gather_statistics, topic_term
from diln.inference.posterior import Inferred, OnlineStep, Posterior
from diln.inference.variational.documents import Documents, Summary, Visit, whole_like
from diln.inference.weights.base import Weights

TERMS_AT_ONCE = 512
LARGEST = 80.0  # exponent that float32 can take, of an empty topic with next to no prior
SLAB = 8192  # documents whose token steps are kept until the topics have gathered from them


@dataclass
class VariationalPosterior(Posterior):
    """What is known of the corpus: q(eta_k) = Dirichlet(prior + statistics_k), and the weights."""

    statistics: Array  # (n_terms, n_topics) expected tokens of each term in each topic
    prior: float  # gamma_0
    weights: Weights
    expected: Array = field(init=False)  # (n_terms, n_topics) exp E ln eta

    def __post_init__(self) -> None:
        self.expected = np.empty_like(self.statistics)

    @property
    def a0(self) -> Array:
        """What a document's weight of a topic is before its tokens are seen (n_topics,)."""
        return self.weights.a0

    @property
    def locations(self) -> Array:
        """Topic locations (n_topics, d)."""
        return self.weights.locations

    @property
    def covariance(self) -> Array | None:
        """Covariance of the topics' log weights (n_topics, n_topics), of a model that has it."""
        return self.weights.covariance

    @property
    def alpha(self) -> float | None:
        """Top-level concentration, of a model that has it."""
        return self.weights.alpha

    @property
    def beta(self) -> float | None:
        """Second-level concentration, of a model that has it."""
        return self.weights.beta

    def tensors(self) -> dict[str, Array]:
        """All arrays, by name."""
        return {"statistics": self.statistics, **self.weights.tensors()}

    def refresh(self, threads: Threads) -> None:
        """Bring exp E ln eta up to date."""
        scale = np.exp(np.minimum(-digamma(self.n_terms * self.prior + self.topic_tokens), LARGEST))
        whole = whole_like(self.statistics)

        def step(number: int, first: int, last: int) -> None:
            expected_topics(self.statistics, self.prior, scale, first, last, self.expected, whole)

        threads.run(step, cut(self.n_terms, TERMS_AT_ONCE))

    def topic_term(self, threads: Threads) -> float:
        """E ln p(eta) + H[q(eta)]."""  # B4
        pieces = cut(self.n_terms, TERMS_AT_ONCE)
        sums = np.zeros((len(pieces), self.n_topics))

        def step(number: int, first: int, last: int) -> None:
            topic_term(self.statistics, self.prior, first, last, sums[number])

        threads.run(step, pieces)
        base, tokens = self.n_terms * self.prior, self.topic_tokens
        whole = gammaln(base) - self.n_terms * gammaln(self.prior) - gammaln(base + tokens)
        return float((whole + sums.sum(axis=0) + tokens * digamma(base + tokens)).sum())

    def visit(
        self, counts: TermCounts | csr_array, documents: Documents, most: int, tolerance: float, threads: Threads
    ) -> "Visited":
        """The document step of all documents of ``counts``, each starting from ``documents``, which it changes."""
        return visit_documents(self.expected, self.weights, TermCounts.of(counts), documents, most, tolerance, threads)

    def gather(
        self, counts: TermCounts | csr_array, visited: "Visited", keep: float, share: float, threads: Threads
    ) -> None:
        """Statistics <- keep * statistics + share * expected tokens of the visited documents."""
        by_term = TermCounts.of(counts).by_term
        ratio, theta = visited.ratio, visited.theta

        def step(number: int, first: int, last: int) -> None:
            gather_statistics(
                by_term.indptr, by_term.indices, by_term.data, ratio, theta, self.expected,
                first, last, share, keep, self.statistics,
            )  # fmt: skip

        threads.run(step, cut(self.n_terms, TERMS_AT_ONCE))

    def learn(self, counts: csr_array, step: OnlineStep, threads: Threads) -> None:
        """One step of Algorithm 2: visit these documents as if new, then move the corpus by rho towards them."""
        self.refresh(threads)
        batch = TermCounts.of(counts)
        documents = self.weights.start(batch.lengths, self.statistics.dtype)
        visited = self.visit(batch, documents, step.most, step.tolerance, threads)
        self.gather(batch, visited, 1 - step.rho, step.rho * step.scale, threads)  # S2
        self.weights.update(visited.summary, documents, step.rho, step.scale, threads)  # S3, S4

    def settled(self, counts: TermCounts | csr_array, most: int, tolerance: float, threads: Threads) -> Documents:
        """The document step of documents seen for the first time; the expectations must be up to date."""
        return settled_documents(self.expected, self.weights, TermCounts.of(counts), most, tolerance, threads)

    def infer(self, counts: TermCounts | csr_array, most: int, tolerance: float, threads: Threads) -> Inferred:
        """Documents seen for the first time, each as if alone; an empty one gets the proportions of the prior."""
        documents = self.settled(counts, most, tolerance, threads)
        return Inferred(self.weights.proportions(documents), documents.locations)

    def draws(
        self, counts: csr_array, most: int, tolerance: float, number: int, rng: np.random.Generator, threads: Threads
    ) -> Iterator[tuple[Array, Array]]:
        """Draws from q: topics (n_terms, n_topics) and the documents' proportions (n_docs, n_topics)."""  # P1
        documents = self.settled(counts, most, tolerance, threads)
        lam = self.statistics.astype(np.float64) + self.prior
        draw = self.weights.drawing(documents, rng)
        for _ in range(number):
            eta = rng.standard_gamma(lam) + np.finfo(float).tiny
            weights = draw()
            yield eta / eta.sum(axis=0), weights / weights.sum(axis=1, keepdims=True)


@dataclass(slots=True)
class Visited:
    """What a document step leaves behind."""

    summary: Summary
    theta: Array  # (n_docs, n_topics) proportional to exp E ln Z, as in the last token step
    ratio: Array  # (n_entries,) count / normaliser of each term of each document


def shares(n_docs: int) -> list[tuple[int, int]]:
    """Documents of each call of a thread, whose sums are added in this order: some sixty calls, of 16 to 256 each."""
    return cut(n_docs, min(256, max(16, n_docs // 64)))


def visit_documents(
    topics: Array,
    weights: Weights,
    batch: TermCounts,
    documents: Documents,
    most: int,
    tolerance: float,
    threads: Threads,
) -> Visited:
    """The document step given topics (n_terms, n_topics), each document starting from ``documents``, which change."""
    n_topics, pieces = topics.shape[1], shares(len(documents))
    theta, ratio = np.empty_like(documents.tokens), np.empty(len(batch.indices), topics.dtype)
    terms, (tables, lifts) = np.zeros((len(documents), 4)), np.zeros((2, len(pieces), n_topics))
    step = weights.step(Visit(batch, topics, documents, most, tolerance, theta, ratio, terms, tables, lifts))
    threads.run(step, pieces)
    words, weighed, places, profile = (float(value) for value in terms.sum(axis=0))
    summary = Summary(tables.sum(axis=0), lifts.sum(axis=0), words, weighed, places, profile)
    return Visited(weights.completed(summary, documents, batch.lengths), theta, ratio)


def settled_documents(
    topics: Array, weights: Weights, batch: TermCounts, most: int, tolerance: float, threads: Threads
) -> Documents:
    """The document step of documents seen for the first time."""
    documents = weights.start(batch.lengths, topics.dtype)
    visit_documents(topics, weights, batch, documents, most, tolerance, threads)
    return documents
