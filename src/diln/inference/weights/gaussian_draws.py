"""The CTM in sampling: documents' log weights are N(mu, Sigma), and mu and Sigma normal-inverse-Wishart.

Before log weights come in, topics take shape with a Dirichlet's even weights.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from diln.engine.base import Engine
from diln.engine.threads import cut
from diln.inference.data import Array, TermCounts
from diln.inference.posterior import Inferred
from diln.inference.sampling.average import follow
from diln.inference.sampling.state import SampledDocuments, State
from diln.inference.sampling.token_step import TOGETHER, TokenSums, draw_given, pieces
from diln.inference.sampling.tokens import SampledShard
from diln.inference.stats import Stats, TopicPairs, TopicVector
from diln.inference.variational.documents import Limits
from diln.inference.variational.posterior import first_beliefs
from diln.inference.weights.dirichlet_draws import DirichletDraws
from diln.inference.weights.draws import Sweep, Visited, WeightDraws, WeightState
from diln.inference.weights.gaussian import AT_ZERO, GaussianWeights, best_gaussian, centred
from diln.inference.weights.log_weight_kernels import (
    AT_ONCE,
    Gaussian,
    LogWeightRecord,
    LogWeightRoom,
    LogWeights,
    draw_log_weights,
    gather_moments,
    lay_out,
    spread_out,
)
from diln.prob.streams import key_of

UNSEEN = 0.1  # tokens of a topic that a document has none of, where its log weights begin
LIFT = 0.5  # of the variance that is added to a log weight: new documents' tokens see the mean of its exponential
FIRST = Limits(20, 1e-2)  # of a document that was never seen, where its log weights begin
ENTER_AT_ONCE = 4096  # documents that are drawn at once as they come in


@dataclass(slots=True)
class GaussianState(WeightState):
    """Mean and covariance of documents' log weights."""

    mean: TopicVector  # (n_topics,)
    covariance: TopicPairs  # (n_topics, n_topics)

    def record(self, width: int) -> LogWeightRecord:
        """For the token step."""
        return LogWeightRecord((np.arange(width) < len(self.mean)).astype(np.float32))

    def follow(self, n_topics: int, number: int, mean: Array, squares: Array) -> bool:
        """Take the covariances into their mean and squared deviations, as the ``number``-th."""
        follow(centred(self.covariance).astype(np.float32), number, mean, squares)
        return True


@dataclass(slots=True)
class GaussianSums(Stats):
    """Sums over as many documents as the model stands for."""

    moments: TopicPairs  # (1 + n_topics, 1 + n_topics) of (1, eta)(1, eta)'

    def chosen(self, topics: Array) -> "GaussianSums":
        """The same of these topics, in this order."""
        places = np.append(0, np.asarray(topics) + 1)
        return GaussianSums(self.moments[np.ix_(places, places)])


class LogWeightDrawing(NamedTuple):
    """What a step of documents' log weights is given."""

    gaussian: Gaussian
    key: np.uint64
    width: int


@dataclass(frozen=True, slots=True)
class GaussianDraws(WeightDraws):
    """The CTM."""

    states: ClassVar[tuple[type[WeightState], ...]] = (GaussianState, *DirichletDraws.states)
    sums: ClassVar[type[Stats]] = GaussianSums
    learned: ClassVar[bool] = False
    start_sweeps: ClassVar[int] = 100  # the covariance takes longer
    start_whole: ClassVar[bool] = True

    prior: float = 1.0  # documents that the prior of the covariance counts as

    def start(self, n_topics: int, width: int) -> WeightState:
        """A Dirichlet's weights."""
        return DirichletDraws().start(n_topics, width)

    def documents(self, state: State, n_docs: int) -> Any:
        """Of a Dirichlet's weights nothing, before log weights come in; after, room for them."""
        if self.closed(state):
            return DirichletDraws().documents(state, n_docs)
        return LogWeights(np.zeros((n_docs, state.width), np.float32))

    def closed(self, state: State) -> bool:
        """Whether documents have no log weights yet."""
        return not isinstance(state.weights, GaussianState)

    def open(self, state: State, docs: SampledDocuments, size: int, rng: np.random.Generator) -> None:
        """Give the first ``size`` documents log weights, by their tokens' topics; others get theirs when they come in.

        What all of a document's log weights have in common no token tells. It is spread as the prior has it: were it
        the same of all documents, Sigma would hold each log weight where the others of its document are.
        """
        eta = np.zeros((len(docs), state.width), np.float32)
        some, moments = docs.first(size), np.zeros((1 + state.n_topics, 1 + state.n_topics))
        levels = rng.standard_normal(size) / sqrt(state.n_topics)
        for m, (start, stop) in enumerate(pairwise(some.tokens.starts)):
            n = np.bincount(some.topics[start:stop], minlength=state.n_topics)[: state.n_topics]
            logs = np.log(n + UNSEEN)
            eta[m, : state.n_topics] = logs - logs.mean() + levels[m]
        known = np.ascontiguousarray(eta[:size, : state.n_topics], np.float64)
        whole = np.vstack([known, np.zeros((-size % AT_ONCE, state.n_topics))])
        gather_moments(some.tokens.starts, 0, size, whole, moments)
        state.weights, docs.places = GaussianState(*best_gaussian(moments, self.prior)), LogWeights(eta)

    def enter(self, state: State, docs: SampledDocuments, first: int, last: int, rng: np.random.Generator) -> None:
        """Log weights of documents that come into play: from N(mu, Sigma), since nobody knows their topics yet."""
        if self.closed(state):
            return
        known = log_weighted(state)
        root = np.linalg.cholesky(known.covariance)
        for start, stop in cut(last - first, ENTER_AT_ONCE):
            normals = rng.standard_normal((stop - start, state.n_topics))
            docs.places.eta[first + start : first + stop, : state.n_topics] = known.mean + normals @ root.T

    def draw(self, state: State, docs: SampledDocuments, found: TokenSums, sweep: Sweep) -> None:
        """Documents' log weights, then their mean and covariance."""
        if not self.closed(state):
            moments = draw_all_log_weights(state, docs, sweep.key, sweep.engine)
            state.weights = GaussianState(*draw_gaussian(moments, self.prior, AT_ZERO, sweep.rng))

    def gather(self, state: State, docs: SampledDocuments, found: TokenSums, sweep: Sweep) -> GaussianSums:
        """Moments of log weights."""
        return GaussianSums(draw_all_log_weights(state, docs, sweep.key, sweep.engine))

    def visit(
        self, state: State, docs: SampledDocuments, key: tuple[int, ...], draws: int, burn: int, engine: Engine
    ) -> Visited:
        """Tokens and log weights in turn, all documents at once."""
        draw_first_log_weights(state, docs, key_of(*key, draws, 1), engine)
        late = np.zeros((draws - burn, docs.tokens.size), np.uint16)
        score, moments = 0.0, np.zeros((1 + state.n_topics, 1 + state.n_topics))
        for time in range(draws):
            drawn = draw_given(state, docs, key_of(*key, time, 0), engine)
            found = draw_all_log_weights(state, docs, key_of(*key, time, 1), engine)
            if time >= burn:
                late[time - burn] = docs.topics
                moments += found
                score += drawn.score
        return Visited(late, score, GaussianSums(moments))

    def learn(self, state: State, sums: Stats) -> None:
        """Mean and covariance at their optimum."""  # G11
        state.weights = GaussianState(*best_gaussian(cast(GaussianSums, sums).moments, self.prior))

    def weights(self, state: State) -> GaussianWeights:
        """The same for variational inference of documents."""
        known = log_weighted(state)
        return GaussianWeights(known.mean, known.covariance, self.prior, lift=LIFT)

    def fold_in(
        self, state: State, topics: Array, counts: TermCounts, most: int, tolerance: float, engine: Engine
    ) -> Inferred:
        """By variational inference."""
        weights = self.weights(state)
        beliefs = first_beliefs(topics, weights, counts, Limits(most, tolerance), engine)
        return Inferred(weights.proportions(beliefs), beliefs.locations)

    def prior_weights(self, state: State) -> Array:
        """Expected proportions of a document of which nothing is known (n_topics,)."""
        return self.weights(state).a0

    def covariance(self, state: State) -> Array | None:
        """Of log weights less their mean over a document's topics."""
        return centred(log_weighted(state).covariance)

    def log_lift(self, state: State, covariance: Array) -> Array:
        """Log lifts of pairs of topics (n_topics, n_topics) if their log weights have this covariance."""
        return self.weights(state).log_lift(covariance)

    def expected_spread(self, state: State, sums: Stats) -> Array | None:
        """That of so many Gaussian documents."""
        covariance = centred(log_weighted(state).covariance)
        return spread_of_scatter(covariance, float(cast(GaussianSums, sums).moments[0, 0]))

    def spread(self, state: State) -> float | None:
        """Ln of the variance of a document's log weights about their mean, summed over topics."""
        if self.closed(state):
            return None
        covariance = log_weighted(state).covariance
        about = np.trace(covariance) - covariance.sum() / state.n_topics
        return float(np.log(max(about, np.finfo(float).tiny)))


def log_weighted(state: State) -> GaussianState:
    """The weights of a state of such a model, once they are open."""
    return cast(GaussianState, state.weights)


def draw_first_log_weights(state: State, docs: SampledDocuments, key: np.uint64, engine: Engine) -> None:
    """Log weights of documents that are visited for some draws alone: from what variational inference makes of them.

    From the mean, so few draws would not come to where a document's log weights are, and Sigma would shrink.
    """
    tokens, known = docs.tokens, log_weighted(state)
    counts = TermCounts(tokens.indptr, tokens.indices, tokens.counts.astype(np.float32), tokens.n_terms)
    weights = GaussianWeights(known.mean, known.covariance, 1.0, lift=LIFT)
    found = first_beliefs(state.expected_topics, weights, counts, FIRST, engine)
    docs.places = LogWeights(np.zeros((len(docs), state.width), np.float32))
    spread_out(found.locations, found.spreads, key, docs.names, docs.places.eta)


def draw_all_log_weights(state: State, docs: SampledDocuments, key: np.uint64, engine: Engine) -> Array:
    """Draw every document's log weights given its tokens' topics; returns the sum of (1, eta)(1, eta)'."""
    known = log_weighted(state)
    inverse = np.linalg.inv(known.covariance)
    given = LogWeightDrawing(Gaussian(known.mean, np.ascontiguousarray((inverse + inverse.T) / 2)), key, state.width)
    shards = [docs.shard(*one) for one in pieces(len(docs))]
    return np.asarray(np.array(list(engine.map(weigh_shard, shards, given))).sum(axis=0))


def weigh_shard(shard: SampledShard, given: LogWeightDrawing) -> Array:
    """Draw documents' log weights; returns the sum of (1, eta)(1, eta)'."""
    size, starts = len(given.gaussian.mean), shard.tokens.starts
    room, moments = LogWeightRoom.of(given.width, size), np.zeros((1 + size, 1 + size))
    for first, last in cut(shard.tokens.n_docs, TOGETHER):
        lay_out(shard, first, last, given.gaussian, given.key, room)
        draw_log_weights(starts, first, last, given.gaussian.precision, room)
        shard.places.eta[first:last, :size] = room.eta[: last - first]
        gather_moments(starts, first, last, room.eta, moments)
    return moments


def draw_gaussian(moments: Array, prior: float, at_zero: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Mean and covariance of log weights from their normal-inverse-Wishart distribution given all documents'.  # G15"""
    number, total, size = moments[0, 0], moments[0, 1:], len(moments) - 1
    counted = number + at_zero
    scale = moments[1:, 1:] - np.outer(total, total) / counted + prior * np.eye(size)
    root = np.linalg.cholesky((scale + scale.T) / 2)
    chances = np.tril(rng.standard_normal((size, size)), -1)
    chances[np.diag_indices(size)] = np.sqrt(rng.chisquare(size + 1 + prior + number - np.arange(size)))
    factor = np.linalg.solve(chances, root.T).T
    return total / counted + factor @ rng.standard_normal(size) / np.sqrt(counted), factor @ factor.T


def spread_of_scatter(covariance: Array, n_docs: float) -> Array:
    """Deviation of a covariance (n_topics, n_topics) that is learned from so many Gaussian documents."""
    variances = np.diag(covariance)
    return np.asarray(np.sqrt((np.outer(variances, variances) + covariance**2) / max(n_docs, 1.0)), np.float32)
