"""A chain of states of all documents and the corpus, sweep by sweep."""

from dataclasses import dataclass

import numpy as np

from diln.engine.base import Engine
from diln.inference.data import Array
from diln.inference.sampling.state import SampledDocuments, State
from diln.inference.sampling.token_step import TokenSums, draw_tokens
from diln.inference.stats import Stats
from diln.inference.weights.draws import Sweep, WeightDraws
from diln.prob.streams import key_of

PRIOR_EVERY = 5  # sweeps from one draw of gamma_0 to the next: it hardly moves, and reads the whole table
SETTLING = 3  # first sweeps, in which it stays as it is

TOKENS, WEIGHTS, PLACES, OPENING, ENTERING = range(5)  # what a stream is for
LAST = 21  # what the streams of the last draw are for


@dataclass(slots=True)
class Chain:
    """Documents, corpus, and how many sweeps were made; what comes next is a function of these and the seed."""

    state: State
    everything: SampledDocuments
    weights: WeightDraws
    seed: int
    size: int  # documents that are in play: the first so many
    prunes: bool = True  # whether topics that nobody uses may be dropped
    learned_prior: tuple[float, float] | None = None  # gamma prior of gamma_0 as (shape, rate); None: it is given
    number: int = 0  # sweeps made
    opened: int | None = None  # the sweep before which the weights were opened, if by ``open``

    def open(self) -> None:
        """Bring in what the weights leave out while topics take shape."""
        self.opened = self.number
        self.weights.open(self.state, self.everything, self.size, self._rng(OPENING))

    def let_in(self, size: int) -> None:
        """Have the first so many documents in play."""
        if size > self.size:
            self.weights.enter(self.state, self.everything, self.size, size, self._rng(ENTERING))
        self.size = size

    @property
    def closed(self) -> bool:
        """Whether there is more to the weights than is in play yet."""
        return self.weights.closed(self.state)

    @property
    def docs(self) -> SampledDocuments:
        """The documents in play."""
        return self.everything.first(self.size)

    def sweep(self, engine: Engine) -> TokenSums:
        """Draw everything once: tokens, then weights of documents and topics, then the topics' prior."""
        docs, rng = self.docs, self._rng(WEIGHTS)
        sums = draw_tokens(self.state, docs, key_of(self.seed, self.number, TOKENS), engine)
        key = key_of(self.seed, self.number, PLACES)
        self.weights.draw(self.state, docs, sums, Sweep(self.number, self.opened, self.seed, key, rng, engine))
        if self.number % PRIOR_EVERY == 0 and self.number >= SETTLING:
            self.state.counts.draw_prior(self.state.n_topics, self.learned_prior, rng)
        self.number += 1
        return sums

    def gather(self, engine: Engine) -> Stats:
        """The sums that a stream goes on from: those of one more draw of all documents."""
        docs, keys = self.docs, [key_of(self.seed, self.number, LAST, number) for number in range(2)]
        sums = draw_tokens(self.state, docs, keys[0], engine)
        sweep = Sweep(self.number, self.opened, self.seed, keys[1], self._rng(WEIGHTS), engine)
        return self.weights.gather(self.state, docs, sums, sweep)

    def _rng(self, purpose: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, self.number, purpose])

    def keep(self, topics: Array) -> None:
        """Go on with these topics alone; tokens of others are drawn anew in the next sweep."""
        self.state = self.state.chosen(topics)
        self.everything.renamed(topics)

    def recount(self) -> None:
        """Set the corpus' counts to those of the documents in play."""
        docs = self.docs
        self.state.counts.recount(docs.tokens, docs.topics)
