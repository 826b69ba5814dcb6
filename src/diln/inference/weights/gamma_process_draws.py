"""HDP in sampling: a document's weights are Gamma(a0_k, 1), and a0_k is Gamma(alpha / T, rate).

With a gate that is the same for all topics, sigma(s), a document's tokens by topic are negative binomial, and its s is
drawn given Polya-Gamma variables. DILN's topics have a gate each; LDA's a0 is given. All three share what is here.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from scipy.special import digamma

from diln.engine.base import Engine
from diln.engine.threads import cut
from diln.inference.data import Array, TermCounts
from diln.inference.emissions.multinomial_draws import LONGEST, tables_beyond
from diln.inference.posterior import Inferred
from diln.inference.sampling.average import follow_products, turned
from diln.inference.sampling.documents import TOGETHER, HeldDocuments
from diln.inference.sampling.fold_in import fold_in
from diln.inference.sampling.state import SampledDocuments, State
from diln.inference.sampling.token_step import TokenSums, added, beyond
from diln.inference.sampling.tokens import SampledShard, TopicTable
from diln.inference.stats import Stats, TopicColumns, TopicRows, padded
from diln.inference.variational.documents import Limits
from diln.inference.weights.draws import Sweep, Visited, WeightDraws, WeightState
from diln.inference.weights.place_kernels import (
    PLACES_EVERY,
    GatedWeights,
    PlaceRoom,
    Places,
    PlaceSums,
    draw_omega,
    draw_places,
    gather_places,
    place_documents,
    visit_documents,
)
from diln.prob.polya_gamma import draw_polya_gamma
from diln.prob.streams import key_of
from diln.prob.tables import draw_tables, expected_tables

SETTLING = 3  # first sweeps, in which the weights stay as they are
START_WEIGHT = 0.1  # a0 of every topic, before it is learned
LEAST_WEIGHT = 1e-20  # that float32 products still hold
IN_A_CALL = 4 * TOGETHER  # documents of a shard of a visit
EXACT = 2  # what a stream of exact Polya-Gamma draws is for


@dataclass(slots=True)
class GatedState(WeightState):
    """What is known of the topics' weights, and of their locations where they have any."""

    turns: ClassVar[bool] = True  # whether the space of locations may turn from state to state
    a0: TopicColumns  # (width,) float64: beta p
    ells: TopicColumns  # (d, width) float32: locations; d is 0 while the gate is closed, and without locations
    alpha: float  # mass of the gamma process that a0 is drawn from
    variance: float  # c
    truncation: int  # T: a0_k is from Gamma(alpha / T, rate)

    @property
    def n_dims(self) -> int:
        """Dimensions of the locations: 0 while the gate is closed."""
        return len(self.ells)

    @property
    def beta(self) -> float:
        """Concentration of a document's weights."""
        return float(self.a0.sum())

    def record(self, width: int) -> GatedWeights:
        """For compiled loops."""
        return GatedWeights.of(self.a0, self.ells)

    def joined(self, groups: Array, first: Array) -> "GatedState":
        """With the weights of a group added up."""
        joined = self.chosen(first)
        joined.a0[: len(first)] = np.bincount(groups, self.a0[: len(groups)])[first]
        joined.truncation = len(first)
        return joined

    def halved(self, topics: Array, n_topics: int) -> None:
        """Halve the weights; a0 is of so many topics now."""
        self.a0[topics] /= 2
        self.truncation = max(self.truncation, n_topics)

    def fitted(self, name: str, array: Array, like: Array | None) -> Array:
        """An array of this name, for a mean: locations are turned to fit others, if there are any."""
        if name != "ells":
            return array
        wide = array.astype(np.float64)
        return wide if like is None else turned(wide, like.astype(np.float64))

    def follow(self, n_topics: int, number: int, mean: Array, squares: Array) -> bool:
        """Take the covariances into their mean and squared deviations, as the ``number``-th; False if none."""
        if self.n_dims:
            follow_products(np.ascontiguousarray(self.ells[:, :n_topics]), number, mean, squares)
        return self.n_dims > 0


@dataclass(slots=True)
class GatedSums(Stats):
    """Sums over as many documents as the model stands for, beside the corpus' counts."""

    tables: TopicRows  # (width,) expected tables
    softs: TopicRows  # (width,) ln(1 + e^psi)
    precision: TopicRows  # (width, d(d+1)/2)
    linear: TopicColumns  # (d, width)

    @property
    def places(self) -> PlaceSums:
        """Those that locations follow from."""
        return PlaceSums(self.precision, self.linear)


class PlaceDrawing(NamedTuple):
    """What a step of documents' places is given."""

    weights: GatedWeights
    key: np.uint64
    a0: Array  # (n_topics,) in double precision, for exact draws of Polya-Gamma variables
    seed: tuple[int, ...]  # of these


class Visiting(NamedTuple):
    """What a visit of documents is given."""

    weights: GatedWeights
    known: TopicTable
    keys: Array  # (n_draws, 2)
    burn: int


class VisitedPiece(NamedTuple):
    """What a visit finds of some documents."""

    late: Array  # (n_draws, n_tokens) topics of the tokens in the draws that count
    sums: TokenSums
    places: PlaceSums
    placed: int  # draws of places that count
    beyond: list[list[tuple[int, int]]]  # of each draw, what ``TokenSums`` has


@dataclass(frozen=True, slots=True)
class GatedDraws(WeightDraws):
    """What HDP, DILN and LDA have in common in sampling."""

    states: ClassVar[tuple[type[WeightState], ...]] = (GatedState,)
    places: ClassVar[tuple[type[Any], ...]] = (Places,)
    sums: ClassVar[type[Stats]] = GatedSums

    rate: float = 10.0  # of a0_k, whose shape is alpha / T
    alpha: tuple[float, float] | None = (1.0, 1.0)  # gamma prior of alpha as (shape, rate); None: given
    exact: bool = False  # whether Polya-Gamma variables are drawn exactly, or with the right mean and variance

    def start_weight(self, n_topics: int) -> float:
        """a0 of each topic to start with."""
        return START_WEIGHT

    def start(self, n_topics: int, width: int) -> GatedState:
        """Topics all alike, without locations. ``n_topics`` is what is asked for, of a width for more at first."""
        a0 = np.zeros(padded(width))
        a0[:width] = self.start_weight(n_topics)
        return GatedState(a0, np.zeros((0, padded(width)), np.float32), 1.0, self.start_variance, width)

    @property
    def start_variance(self) -> float:
        """c, of a model without locations."""
        return 1.0

    def documents(self, state: State, n_docs: int) -> Places:
        """At the origin."""
        dims = gated(state).n_dims
        return Places(np.zeros((n_docs, dims), np.float32), np.zeros(n_docs, np.float32))

    def place(self, state: State, docs: HeldDocuments, sweep: Sweep) -> PlaceSums:
        """Draw every document's place given its tokens' topics; returns what the topics' locations need of them."""
        seed = (sweep.seed, sweep.number, EXACT)
        given = PlaceDrawing(gated(state).record(state.width), sweep.key, self.prior_weights(state), seed)
        return docs.by_piece(place_exactly if self.exact else place_shard, given, added_places)

    def gather(self, state: State, docs: HeldDocuments, found: TokenSums, sweep: Sweep) -> GatedSums:
        """Expected tables, and sums over documents' places."""
        places = self.place(state, docs, sweep)
        return GatedSums(expect_tables(found, gated(state).a0), found.softs, *places)

    def piece_size(self, n_docs: int) -> int:
        """A few."""
        return IN_A_CALL

    def visiting(self, state: State, key: tuple[int, ...], draws: int, burn: int) -> Visiting:
        """Keys of all draws, and the corpus."""
        keys = np.array([[key_of(*key, time, 0), key_of(*key, time, 1)] for time in range(draws)], np.uint64)
        return Visiting(gated(state).record(state.width), state.counts.record, keys, burn)

    def visit(self, given: Visiting, docs: SampledDocuments, size: int, engine: Engine) -> list[VisitedPiece]:
        """Tokens and places in turn, a few documents at a time."""
        return list(engine.map(visit_shard, [docs.shard(*one) for one in cut(len(docs), size)], given))

    def visited(self, state: State, found: list[VisitedPiece]) -> Visited:
        """The sums over pieces, in order."""
        late = np.hstack([one.late for one in found])
        total, places = added([one.sums for one in found]), added_places([one.places for one in found])
        for array in places:  # as if places were drawn as often
            array *= len(late) / found[0].placed
        total.beyond = [
            pair for rows in zip(*(one.beyond for one in found), strict=True) for row in rows for pair in row
        ]
        tables = expect_tables(total, gated(state).a0)
        return Visited(late, total.score, GatedSums(tables, total.softs, *places))

    def bear(self, state: State, sums: Stats, tables: float) -> tuple[State, Stats]:
        """A topic at the origin, whose gate documents have as they have others'."""
        size, known = state.n_topics, cast(GatedSums, sums.widened(state.n_topics, 1))
        known.tables[size], known.softs[size] = tables, known.softs[:size].mean()
        weights = gated(state).widened(size, 1)
        weights.truncation = max(weights.truncation, size + 1)
        weights.a0[size] = (weights.alpha / weights.truncation + tables) / (self.rate + known.softs[size])  # G11
        return State(state.counts.widened(size, 1), weights, size + 1), known

    def fold_in(
        self, given: State, topics: Array, counts: TermCounts, most: int, tolerance: float, engine: Engine
    ) -> Inferred:
        """Each document settled by itself."""
        limits = Limits(most, tolerance)
        return Inferred(*fold_in(topics, self.prior_weights(given), self.locations(given), counts, limits, engine))

    def prior_weights(self, state: State) -> Array:
        """a0 (n_topics,)."""
        return gated(state).a0[: state.n_topics]

    def locations(self, state: State) -> Array:
        """Topic locations (n_topics, d)."""
        return gated(state).ells[:, : state.n_topics].T.astype(np.float64)


@dataclass(frozen=True, slots=True)
class GammaProcessDraws(GatedDraws):
    """HDP, and LDA whose a0 is learned."""

    bears: ClassVar[bool] = True

    def draw(self, state: State, docs: HeldDocuments, found: TokenSums, sweep: Sweep) -> None:
        """Weights given tokens, then documents' intercepts."""
        if sweep.number >= SETTLING:
            draw_weights(state, found, self, sweep.rng)
        self.place(state, docs, sweep)

    def learn(self, state: State, sums: Stats) -> None:
        """Alpha and a0 at their means."""
        expect_weights(state, cast(GatedSums, sums), self)

    def concentrations(self, state: State) -> tuple[float | None, float | None]:
        """Mass of the gamma process, and concentration of a document's weights."""
        return gated(state).alpha, gated(state).beta


def gated(state: State) -> GatedState:
    """The weights of a state of such a model."""
    return cast(GatedState, state.weights)


def place_shard(shard: SampledShard, given: PlaceDrawing) -> PlaceSums:
    """Draw documents' places, omega with the right mean and variance."""
    dims, width = given.weights.ells.shape
    sums = PlaceSums.of(width, dims)
    place_documents(shard, given.weights, given.key, PlaceRoom.of(width, dims), sums)
    return sums


def place_exactly(shard: SampledShard, given: PlaceDrawing) -> PlaceSums:
    """Draw documents' places, omega exactly."""
    dims, width = given.weights.ells.shape
    size, room, sums = len(given.a0), PlaceRoom.of(width, dims), PlaceSums.of(width, dims)
    for first, last in cut(shard.tokens.n_docs, TOGETHER):
        draw_omega(shard, first, last, given.weights, given.key, room)
        rng = np.random.default_rng([*given.seed, shard.first + first + 1])
        shape = given.a0 + room.n[: last - first, :size]
        room.omega[: last - first, :size] = draw_polya_gamma(shape, room.psi[: last - first, :size], rng)
        draw_places(shard, first, last, given.weights, given.key, room)
        gather_places(shard, first, last, given.weights.a0, room, sums)
    return sums


def visit_shard(shard: SampledShard, given: Visiting) -> VisitedPiece:
    """Draw documents some times: the tokens' topics that count, and sums over documents and these draws."""
    dims, width = given.weights.ells.shape
    late = np.zeros((len(given.keys) - given.burn, shard.tokens.size), np.uint16)
    sums = TokenSums.of(width, int(np.diff(shard.tokens.starts).max(initial=0)))
    places = PlaceSums.of(width, dims)
    sums.score = visit_documents(
        shard, given.weights, given.known, given.keys, given.burn, late, sums.record, places, PlaceRoom.of(width, dims)
    )
    placed = sum(time % PLACES_EVERY != 0 for time in range(given.burn, len(given.keys)))
    return VisitedPiece(late, sums, places, placed, [beyond(shard.tokens.starts, topics) for topics in late])


def added_places(places: Iterable[PlaceSums]) -> PlaceSums:
    """The sum, in this order and in double precision."""
    every = iter(places)
    first = next(every)
    return reduce(_with, chain([first], every), PlaceSums(*(np.zeros(array.shape) for array in first)))


def _with(total: PlaceSums, one: PlaceSums) -> PlaceSums:
    for array, more in zip(total, one, strict=True):
        array += more
    return total


def draw_weights(state: State, found: TokenSums, prior: GatedDraws, rng: np.random.Generator) -> None:
    """a0 given the documents' tables, and before it alpha with a0 integrated out."""
    size, weights = state.n_topics, gated(state)
    tables = draw_tables(found.histogram[:size], weights.a0[:size], rng)
    for k, n in found.beyond:
        tables[k] += rng.poisson(tables_beyond(weights.a0[k], n))
    weights.alpha = draw_alpha(weights, tables, found.softs[:size], prior, rng)
    shape = weights.alpha / weights.truncation + tables  # G5
    weights.a0[:size] = np.maximum(rng.standard_gamma(shape) / (prior.rate + found.softs[:size]), LEAST_WEIGHT)


def expect_weights(state: State, sums: GatedSums, prior: GatedDraws) -> None:
    """Alpha, then a0, at their means given sums over documents."""  # G11
    size, weights = state.n_topics, gated(state)
    tables, softs = sums.tables[:size], sums.softs[:size]
    weights.alpha = expect_alpha(weights, tables, softs, prior)
    shape = weights.alpha / weights.truncation + tables
    weights.a0[:size] = np.maximum(shape / (prior.rate + softs), LEAST_WEIGHT)


def expect_tables(sums: TokenSums, a0: Array) -> Array:
    """Expected tables of each topic (width,)."""
    tables = expected_tables(sums.histogram, a0)
    for k, n in sums.beyond:
        tables[k] += tables_beyond(a0[k], n)
    return tables


def draw_alpha(weights: GatedState, tables: Array, softs: Array, prior: GatedDraws, rng: np.random.Generator) -> float:
    """Mass of the gamma process, given tables: t_k is negative binomial with shape alpha/T once a0_k is gone."""  # G6
    if prior.alpha is None:
        return weights.alpha
    each = weights.alpha / weights.truncation
    histogram = np.bincount(np.minimum(tables, LONGEST - 1), minlength=LONGEST)[np.newaxis]
    used = draw_tables(histogram, np.array([each]), rng)[0]
    many = tables[tables >= LONGEST]
    used += rng.poisson(tables_beyond(each, many)).sum()
    return float(rng.gamma(prior.alpha[0] + used) / alpha_rate(weights, softs, prior.rate, prior.alpha[1]))


def expect_alpha(weights: GatedState, tables: Array, softs: Array, prior: GatedDraws) -> float:
    """Mean of ``draw_alpha``, for expected tables too."""
    if prior.alpha is None:
        return weights.alpha
    each = weights.alpha / weights.truncation
    used = float((each * (digamma(each + tables) - digamma(each))).sum())
    return (prior.alpha[0] + used) / alpha_rate(weights, softs, prior.rate, prior.alpha[1])


def alpha_rate(weights: GatedState, softs: Array, weight_rate: float, prior_rate: float) -> float:
    """Rate of alpha's gamma distribution, given tables of tables."""
    gone = weights.truncation - len(softs)  # topics that were dropped, which have no table
    rest = np.log1p(softs / weight_rate).sum() + gone * np.log1p(softs.mean() / weight_rate)
    return float(prior_rate + rest / weights.truncation)
