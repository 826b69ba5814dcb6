"""Topics and weights after some documents, and the sweep that takes documents in."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import digamma, gammaln

from diln.engine.base import Engine, run
from diln.engine.threads import cut
from diln.inference.data import Array, Batch, BatchPart, CountedBatch, TermCounts, piece_size
from diln.inference.emissions.multinomial import (
    TermShard,
    TokenSteps,
    TopicPrior,
    TopicRows,
    step_expected,
    step_statistics,
    step_topic_terms,
)
from diln.inference.posterior import FoldIn, Inferred, OnlineStep, Posterior
from diln.inference.variational.documents import DocumentBeliefs, DocumentShard, DocumentSums, Limits, integers_like
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

    def log_lift(self, covariance: Array) -> Array:
        """Log lifts of pairs of topics (n_topics, n_topics) if their log weights have this covariance."""
        return self.weights.log_lift(covariance)

    @property
    def alpha(self) -> float | None:
        """Top-level concentration, of a model that has it."""
        return self.weights.alpha

    @property
    def beta(self) -> float | None:
        """Second-level concentration, of a model that has it."""
        return self.weights.beta

    def grow_terms(self, n_terms: int) -> None:
        """Have so many terms; the expectations are then to be brought up to date."""
        self.statistics = np.pad(self.statistics, ((0, n_terms - self.n_terms), (0, 0)))
        self.expected = np.empty_like(self.statistics)

    def tensors(self) -> dict[str, Array]:
        """All arrays, by name."""
        return {"statistics": self.statistics, **self.weights.tensors()}

    @property
    def _pieces(self) -> list[tuple[int, int]]:
        return cut(self.n_terms, TERMS_AT_ONCE)

    def refresh(self, engine: Engine) -> None:
        """Bring exp E ln eta up to date."""
        scale = np.exp(np.minimum(-digamma(self.n_terms * self.prior + self.topic_tokens), LARGEST))
        shards = [TopicRows(self.statistics[first:last], self.expected[first:last]) for first, last in self._pieces]
        run(engine, step_expected, shards, TopicPrior(self.prior, scale, integers_like(self.statistics)))

    def topic_term(self, engine: Engine) -> float:
        """E ln p(eta) + H[q(eta)]."""  # B4
        shards = [self.statistics[first:last] for first, last in self._pieces]
        sums = sum(engine.map(step_topic_terms, shards, self.prior), start=np.zeros(self.n_topics))
        base, tokens = self.n_terms * self.prior, self.topic_tokens
        whole = gammaln(base) - self.n_terms * gammaln(self.prior) - gammaln(base + tokens)
        return float((whole + sums + tokens * digamma(base + tokens)).sum())

    def visit(
        self, counts: TermCounts | csr_array, beliefs: DocumentBeliefs, limits: Limits, engine: Engine
    ) -> "VisitedDocuments":
        """The document step of all documents of ``counts``, each starting from ``beliefs``, which it changes."""
        return visit_documents(self.expected, self.weights, TermCounts.of(counts), beliefs, limits, engine)

    def gather(
        self, counts: TermCounts | csr_array, visited: "VisitedDocuments", keep: float, share: float, engine: Engine
    ) -> None:
        """Statistics <- keep * statistics + share * expected tokens of the visited documents."""
        by_term = TermCounts.of(counts).by_term

        def shard(first: int, last: int) -> TermShard:
            indptr = by_term.indptr[first : last + 1]
            entries = slice(indptr[0], indptr[-1])
            places = by_term.indices[entries], by_term.data[entries]
            return TermShard(indptr - indptr[0], *places, self.expected[first:last], self.statistics[first:last])

        steps = TokenSteps(visited.ratio, visited.theta, share, keep)
        run(engine, step_statistics, [shard(*piece) for piece in self._pieces], steps)

    def learn(self, documents: Batch | csr_array, step: OnlineStep, engine: Engine) -> None:
        """Algorithm 2: visit these documents as if new, then move the corpus by rho towards them."""
        self.refresh(engine)
        batch, rho = CountedBatch.of(documents).loaded(), step.rho
        counts, limits = TermCounts.of(batch.counts()), Limits(step.most, step.tolerance)
        visited, beliefs = self._visit_new(batch, counts.lengths, limits, engine)
        self.gather(counts, visited, 1 - rho, rho * step.scale, engine)  # S2
        self.weights.update(visited.sums, beliefs, rho, step.scale, engine)  # S3, S4

    def _visit_new(
        self, batch: Batch, lengths: Array, limits: Limits, engine: Engine
    ) -> tuple["VisitedDocuments", DocumentBeliefs]:
        """The document step of documents seen for the first time."""
        given = VisitGiven(VariationalFoldIn(self.expected, self.weights, limits), lengths)
        pairs = list(engine.each(step_visit, batch.parts(piece_size(batch.n_docs), engine.ways), given))
        beliefs = DocumentBeliefs(*map(np.concatenate, zip(*(one for _, one in pairs), strict=True)))
        found = DocumentsFound(*map(np.concatenate, zip(*(one for one, _ in pairs), strict=True)))
        return visited_documents(found, self.weights, beliefs, lengths), beliefs

    def fold_in(self, most: int, tolerance: float) -> "VariationalFoldIn":
        """The expectations, which must be up to date, and the weights."""
        _ = self.weights.a0  # which may not have been asked for yet
        return VariationalFoldIn(self.expected, self.weights, Limits(most, tolerance))

    def first_beliefs(self, counts: TermCounts | csr_array, limits: Limits, engine: Engine) -> DocumentBeliefs:
        """The document step of documents seen for the first time; the expectations must be up to date."""
        return first_beliefs(self.expected, self.weights, TermCounts.of(counts), limits, engine)

    def draws(
        self, counts: csr_array, most: int, tolerance: float, number: int, rng: np.random.Generator, engine: Engine
    ) -> Iterator[tuple[Array, Array]]:
        """Draws from q: topics (n_terms, n_topics) and the documents' proportions (n_docs, n_topics)."""  # P1
        beliefs = self.first_beliefs(counts, Limits(most, tolerance), engine)
        lam = self.statistics.astype(np.float64) + self.prior
        draw = self.weights.drawing(beliefs, rng)
        for _ in range(number):
            eta = rng.standard_gamma(lam) + np.finfo(float).tiny
            weights = draw()
            yield eta / eta.sum(axis=0), weights / weights.sum(axis=1, keepdims=True)


class VisitedDocuments(NamedTuple):
    """What a document step leaves behind."""

    sums: DocumentSums
    theta: Array  # (n_docs, n_topics) proportional to exp E ln Z, as in the last token step
    ratio: Array  # (n_entries,) count / normaliser of each term of each document


class DocumentsFound(NamedTuple):
    """What a document step finds of documents, before it is added up."""

    theta: Array  # of ``VisitedDocuments``
    ratio: Array
    terms: Array  # (n_docs, 4) of the bound
    tables: Array  # (n_pieces, n_topics)
    lifts: Array  # (n_pieces, n_topics)


def visit_documents(
    topics: Array, weights: Weights, batch: TermCounts, beliefs: DocumentBeliefs, limits: Limits, engine: Engine
) -> VisitedDocuments:
    """The document step given topics (n_terms, n_topics), each document starting from ``beliefs``, which change."""
    found = visit_pieces(topics, weights, batch, beliefs, batch.pieces, limits, engine)
    return visited_documents(found, weights, beliefs, batch.lengths)


def visit_pieces(
    topics: Array, weights: Weights, batch: TermCounts, beliefs: DocumentBeliefs, pieces: list[tuple[int, int]],
    limits: Limits, engine: Engine,
) -> DocumentsFound:  # fmt: skip
    """The same before it is added up, in these pieces."""
    entries = batch.indptr
    theta, ratio = np.empty_like(beliefs.tokens), np.empty(len(batch.indices), topics.dtype)
    terms, (tables, lifts) = np.zeros((len(batch), 4)), np.zeros((2, len(pieces), topics.shape[1]))

    def shard(number: int, first: int, last: int) -> DocumentShard:
        found = theta[first:last], ratio[entries[first] : entries[last]], terms[first:last]
        return DocumentShard(
            batch.entries(first, last), beliefs.cut(first, last), *found, tables[number], lifts[number]
        )  # fmt: skip

    step, corpus = weights.document_step(topics, limits)
    run(engine, step, [shard(number, *piece) for number, piece in enumerate(pieces)], corpus)
    return DocumentsFound(theta, ratio, terms, tables, lifts)


def visited_documents(
    found: DocumentsFound, weights: Weights, beliefs: DocumentBeliefs, lengths: Array
) -> VisitedDocuments:
    """What was found, added up."""
    sums = DocumentSums(found.tables.sum(axis=0), found.lifts.sum(axis=0), *found.terms.sum(axis=0).tolist())
    return VisitedDocuments(weights.completed(sums, beliefs, lengths), found.theta, found.ratio)


@dataclass(frozen=True, slots=True)
class VariationalFoldIn(FoldIn):
    """What documents seen for the first time are inferred from."""

    topics: Array  # (n_terms, n_topics) exp E ln eta
    weights: Weights
    limits: Limits

    def infer(self, counts: TermCounts | csr_array, engine: Engine) -> Inferred:
        """Each document as if alone; an empty one gets the proportions of the prior."""
        beliefs = first_beliefs(self.topics, self.weights, TermCounts.of(counts), self.limits, engine)
        return Inferred(self.weights.proportions(beliefs), beliefs.locations)

    @property
    def known(self) -> tuple[Array, Weights, Limits]:
        """All of it."""
        return self.topics, self.weights, self.limits


class VisitGiven(NamedTuple):
    """What a visit of documents is given."""

    fold_in: VariationalFoldIn
    lengths: Array  # tokens of all documents of the batch


def step_visit(part: BatchPart, given: VisitGiven, engine: Engine) -> tuple[DocumentsFound, DocumentBeliefs]:
    """The document step of documents seen for the first time."""
    batch, (topics, weights, limits) = TermCounts.of(part.batch.counts()), given.fold_in.known
    beliefs = weights.start(given.lengths[part.first : part.first + len(batch)], topics.dtype)
    return visit_pieces(topics, weights, batch, beliefs, cut(len(batch), part.size), limits, engine), beliefs


def first_beliefs(
    topics: Array, weights: Weights, batch: TermCounts, limits: Limits, engine: Engine
) -> DocumentBeliefs:
    """The document step of documents seen for the first time."""
    beliefs = weights.start(batch.lengths, topics.dtype)
    visit_documents(topics, weights, batch, beliefs, limits, engine)
    return beliefs
