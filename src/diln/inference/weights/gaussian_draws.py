"""The CTM in sampling: documents' log weights are N(mu, Sigma), and mu and Sigma normal-inverse-Wishart.

Before log weights come in, topics take shape with a Dirichlet's even weights.
"""

from collections.abc import Iterable
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
from diln.inference.sampling.documents import TOGETHER, HeldDocuments, Share
from diln.inference.sampling.state import SampledDocuments, State
from diln.inference.sampling.token_step import TokenDrawing, TokenSums, draw_shard
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
    draw_entering,
    draw_log_weights,
    gather_moments,
    lay_out,
    spread_out,
)
from diln.inference.weights.place_kernels import Places
from diln.prob.streams import key_of

UNSEEN = 0.1  # tokens of a topic that a document has none of, where its log weights begin
LIFT = 0.5  # of the variance that is added to a log weight: new documents' tokens see the mean of its exponential
FIRST = Limits(20, 1e-2)  # of a document that was never seen, where its log weights begin
IN_MEMORY = 4096  # documents whose log weights are in memory in double precision at once


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


class Opening(NamedTuple):
    """What documents' first log weights are made of, beside their tokens' topics."""

    share: Share  # of the documents in play
    n_topics: int
    width: int
    seed: tuple[int, ...]


class Entering(NamedTuple):
    """What log weights of documents that come into play are drawn from."""

    before: Share
    after: Share
    mean: Array
    root: Array  # of the covariance: lower triangular
    key: np.uint64


class FirstWeights(NamedTuple):
    """What the first log weights of documents that are visited are drawn from."""

    topics: Array  # (n_terms, n_topics) expected
    weights: GaussianWeights
    key: np.uint64
    width: int


class LogWeightVisiting(NamedTuple):
    """What a visit of documents is given."""

    first: FirstWeights
    tokens: TokenDrawing
    weights: LogWeightDrawing
    keys: list[tuple[np.uint64, np.uint64]]  # of each draw, of tokens and of log weights
    burn: int


class WeighedPiece(NamedTuple):
    """What a visit finds of some documents, in each of the draws that count."""

    late: list[Array]  # (n_tokens,) topics of the tokens
    scores: list[float]
    moments: list[Array]  # sums of (1, eta)(1, eta)'

    def add(self, shard: SampledShard, drawn: TokenSums, moments: Array) -> None:
        """One more draw."""
        self.late.append(shard.topics.copy())
        self.scores.append(drawn.score)
        self.moments.append(moments)


@dataclass(frozen=True, slots=True)
class GaussianDraws(WeightDraws):
    """The CTM."""

    states: ClassVar[tuple[type[WeightState], ...]] = (GaussianState, *DirichletDraws.states)
    places: ClassVar[tuple[type[Any], ...]] = (LogWeights, Places)
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

    def open(self, state: State, docs: HeldDocuments, seed: tuple[int, ...]) -> None:
        """Give the documents in play log weights, by their tokens' topics; others get theirs when they come in."""
        size = state.n_topics
        docs.place(first_log_weights, Opening(docs.share, size, state.width, seed))
        moments = added_moments(docs.map(moments_of, size))
        state.weights = GaussianState(*best_gaussian(moments, self.prior))

    def enter(self, state: State, docs: HeldDocuments, before: Share, seed: tuple[int, ...]) -> None:
        """Log weights of documents that come into play: from N(mu, Sigma), since nobody knows their topics yet."""
        if not self.closed(state):
            known = log_weighted(state)
            root = np.linalg.cholesky(known.covariance)
            docs.place(let_in, Entering(before, docs.share, known.mean, root, key_of(*seed)))

    def draw(self, state: State, docs: HeldDocuments, found: TokenSums, sweep: Sweep) -> None:
        """Documents' log weights, then their mean and covariance."""
        if not self.closed(state):
            moments = draw_held_log_weights(state, docs, sweep.key)
            state.weights = GaussianState(*draw_gaussian(moments, self.prior, AT_ZERO, sweep.rng))

    def gather(self, state: State, docs: HeldDocuments, found: TokenSums, sweep: Sweep) -> GaussianSums:
        """Moments of log weights."""
        return GaussianSums(draw_held_log_weights(state, docs, sweep.key))

    def visiting(self, state: State, key: tuple[int, ...], draws: int, burn: int) -> LogWeightVisiting:
        """Keys of all draws, and the corpus."""
        tokens = TokenDrawing(state.weights.record(state.width), state.counts.record, np.uint64(0))
        weights = log_weight_drawing(state, np.uint64(0))
        keys = [(key_of(*key, time, 0), key_of(*key, time, 1)) for time in range(draws)]
        first = FirstWeights(state.expected_topics, self.weights(state), key_of(*key, draws, 1), state.width)
        return LogWeightVisiting(first, tokens, weights, keys, burn)

    def visit(self, given: LogWeightVisiting, docs: SampledDocuments, size: int, engine: Engine) -> list[WeighedPiece]:
        """Tokens and log weights in turn, all documents at once."""
        draw_first_log_weights(given.first, docs, engine)
        shards = [docs.shard(*one) for one in cut(len(docs), size)]
        found: list[WeighedPiece] = [WeighedPiece([], [], []) for _ in shards]
        for time, (token_key, weight_key) in enumerate(given.keys):
            drawn = list(engine.map(draw_shard, shards, given.tokens._replace(key=token_key)))
            moments = list(engine.map(weigh_shard, shards, given.weights._replace(key=weight_key)))
            if time >= given.burn:
                for piece, shard, sums, moment in zip(found, shards, drawn, moments, strict=True):
                    piece.add(shard, sums, moment)
        return found

    def visited(self, state: State, found: list[WeighedPiece]) -> Visited:
        """The sums over pieces, in order, then over draws."""
        score, moments = 0.0, np.zeros((1 + state.n_topics, 1 + state.n_topics))
        late = np.hstack([np.array(one.late) for one in found])
        for time in range(len(late)):
            moments += added_moments([one.moments[time] for one in found])
            score += sum(one.scores[time] for one in found)
        return Visited(late, score, GaussianSums(moments))

    def learn(self, state: State, sums: Stats) -> None:
        """Mean and covariance at their optimum."""  # G11
        state.weights = GaussianState(*best_gaussian(cast(GaussianSums, sums).moments, self.prior))

    def weights(self, state: State) -> GaussianWeights:
        """The same for variational inference of documents."""
        known = log_weighted(state)
        return GaussianWeights(known.mean, known.covariance, self.prior, lift=LIFT)

    def folding(self, state: State) -> GaussianWeights:
        """What variational inference has of it, to the last number that a document may need."""
        weights = self.weights(state)
        _ = weights.a0
        return weights

    def fold_in(
        self, given: GaussianWeights, topics: Array, counts: TermCounts, most: int, tolerance: float, engine: Engine
    ) -> Inferred:
        """By variational inference."""
        beliefs = first_beliefs(topics, given, counts, Limits(most, tolerance), engine)
        return Inferred(given.proportions(beliefs), beliefs.locations)

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


def draw_first_log_weights(given: FirstWeights, docs: SampledDocuments, engine: Engine) -> None:
    """Log weights of documents that are visited for some draws alone: from what variational inference makes of them.

    From the mean, so few draws would not come to where a document's log weights are, and Sigma would shrink.
    """
    tokens = docs.tokens
    counts = TermCounts(tokens.indptr, tokens.indices, tokens.counts.astype(np.float32), tokens.n_terms)
    found = first_beliefs(given.topics, given.weights, counts, FIRST, engine)
    docs.places = LogWeights(np.zeros((len(docs), given.width), np.float32))
    spread_out(found.locations, found.spreads, given.key, docs.names, docs.places.eta)


def draw_held_log_weights(state: State, docs: HeldDocuments, key: np.uint64) -> Array:
    """The same of documents that are held."""
    return docs.by_piece(weigh_shard, log_weight_drawing(state, key), added_moments)


def log_weight_drawing(state: State, key: np.uint64) -> LogWeightDrawing:
    """What documents' log weights are drawn from."""
    known = log_weighted(state)
    inverse = np.linalg.inv(known.covariance)
    return LogWeightDrawing(Gaussian(known.mean, np.ascontiguousarray((inverse + inverse.T) / 2)), key, state.width)


def added_moments(moments: Iterable[Array]) -> Array:
    """The sum, in this order."""
    every = iter(moments)
    total = next(every).copy()
    for one in every:
        total += one
    return total


def first_log_weights(shard: SampledShard, given: Opening) -> LogWeights:
    """Log weights of the documents in play by their tokens' topics, and room for those of others.

    What all of a document's log weights have in common no token tells. It is spread as the prior has it: were it the
    same of all documents, Sigma would hold each log weight where the others of its document are.
    """
    starts, n_topics, n_docs = shard.tokens.starts, given.n_topics, shard.tokens.n_docs
    eta, size = np.zeros((n_docs, given.width), np.float32), given.share.of(n_docs)
    own = (shard.first,) if shard.first else ()
    levels = np.random.default_rng([*given.seed, *own]).standard_normal(size) / sqrt(n_topics)
    for m, (start, stop) in enumerate(pairwise(starts[: size + 1])):
        n = np.bincount(shard.topics[start:stop], minlength=n_topics)[:n_topics]
        logs = np.log(n + UNSEEN)
        eta[m, :n_topics] = logs - logs.mean() + levels[m]
    return LogWeights(eta)


def moments_of(shard: SampledShard, n_topics: int) -> Array:
    """The sum of (1, eta)(1, eta)' over documents."""
    moments = np.zeros((1 + n_topics, 1 + n_topics))
    for first, last in cut(shard.tokens.n_docs, IN_MEMORY):
        known = np.ascontiguousarray(shard.places.eta[first:last, :n_topics], np.float64)
        whole = np.vstack([known, np.zeros((-len(known) % AT_ONCE, n_topics))])
        gather_moments(shard.tokens.starts, first, last, whole, moments)
    return moments


def let_in(shard: SampledShard, given: Entering) -> LogWeights:
    """Draw log weights of the documents that come into play."""
    first, last = (share.of(shard.tokens.n_docs) for share in (given.before, given.after))
    eta = shard.places.eta[first:last]
    draw_entering(given.mean, given.root, given.key, shard.names[first:last], eta)
    return LogWeights(shard.places.eta)


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
