"""A fifth model in one file: weights for sampling, their record, and three short classes; nothing else knows of it.

A document's proportions are from a symmetric Dirichlet with a given parameter, which is LDA written once more.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numba.extending import overload

from diln.engine.compile import OPTIONS
from diln.engine.threads import cut
from diln.inference.posterior import Inferred
from diln.inference.sampling.fold_in import fold_in
from diln.inference.sampling.token_step import TokenDrawing, draw_shard
from diln.inference.sampling.tokens import count_topics, open_document
from diln.inference.stats import Stats, TopicColumns, padded
from diln.inference.variational.documents import Limits
from diln.inference.weights.dirichlet import DirichletWeights
from diln.inference.weights.draws import Visited, WeightDraws, WeightState
from diln.models.base import TopicModel
from diln.models.options import FixedOptions
from diln.models.parameters import Parameters
from diln.prob.streams import key_of


class EvenRecord(NamedTuple):
    a0: np.ndarray


class Nowhere(NamedTuple):
    unused: np.ndarray  # (n_docs,)


@overload(open_document, jit_options=OPTIONS)
def open_even(weights, docs, m, n, sigma, softs, room):
    if getattr(weights, "instance_class", None) is not EvenRecord:
        return None

    def opened(weights, docs, m, n, sigma, softs, room):
        sigma[:] = np.float32(1)
        count_topics(docs.topics, docs.tokens.starts[m], docs.tokens.starts[m + 1], n)
        return np.float32(1)

    return opened


@dataclass(slots=True)
class EvenState(WeightState):
    a0: TopicColumns

    def record(self, width):
        return EvenRecord(self.a0.astype(np.float32))


@dataclass(frozen=True, slots=True)
class EvenDraws(WeightDraws):
    states: ClassVar = (EvenState,)
    places: ClassVar = (Nowhere,)
    learned: ClassVar[bool] = False

    def start(self, n_topics, width):
        return EvenState(np.where(np.arange(padded(width)) < width, 1 / n_topics, 0.0))

    def documents(self, state, n_docs):
        return Nowhere(np.zeros(n_docs, np.float32))

    def draw(self, state, docs, found, sweep):
        pass

    def gather(self, state, docs, found, sweep):
        return Stats()

    def visiting(self, state, key, draws, burn):
        known = state.weights.record(state.width), state.counts.record
        return [TokenDrawing(*known, key_of(*key, i)) for i in range(draws)], burn

    def visit(self, given, docs, size, engine):
        shards, (draws, burn) = [docs.shard(*one) for one in cut(len(docs), size)], given
        drawn = []
        for draw in draws:
            scores = [one.score for one in engine.map(draw_shard, shards, draw)]
            drawn.append([(shard.topics.copy(), score) for shard, score in zip(shards, scores, strict=True)])
        return list(zip(*drawn[burn:], strict=True))

    def visited(self, state, found):
        late = np.hstack([np.array([topics for topics, _ in piece]) for piece in found])
        return Visited(late, sum(score for piece in found for _, score in piece), Stats())

    def learn(self, state, sums):
        pass

    def fold_in(self, state, topics, counts, most, tolerance, engine):
        given = (topics, self.prior_weights(state), self.locations(state), counts, Limits(most, tolerance), engine)
        return Inferred(*fold_in(*given))

    def prior_weights(self, state):
        return state.weights.a0[: state.n_topics]


@dataclass(kw_only=True, repr=False, eq=False)
class EvenOptions(FixedOptions):
    kind: ClassVar[str] = "EVEN"


class EvenParameters(Parameters):
    kind = "EVEN"

    def weights(self, rng):
        return DirichletWeights(np.full(self.truncation, 1 / self.truncation), learned=False)

    def draws(self):
        return EvenDraws()


@dataclass(kw_only=True, repr=False, eq=False)
class Even(EvenOptions, TopicModel):
    pass
