"""A chain of states of all documents and the corpus, sweep by sweep."""

from dataclasses import dataclass, field

import numpy as np

from diln.inference.data import Array
from diln.inference.emissions.multinomial_draws import TopicTally, count_table
from diln.inference.followed import Followed
from diln.inference.sampling.documents import HeldDocuments
from diln.inference.sampling.state import State
from diln.inference.sampling.token_step import TokenSums, draw_tokens
from diln.inference.sampling.tokens import NO_TOPIC, SampledShard
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
    docs: HeldDocuments
    weights: WeightDraws
    seed: int
    prunes: bool = True  # whether topics that nobody uses may be dropped
    learned_prior: tuple[float, float] | None = None  # gamma prior of gamma_0 as (shape, rate); None: it is given
    number: int = 0  # sweeps made
    n_tokens: int = 0  # in play in the last sweep
    opened: int | None = None  # the sweep before which the weights were opened, if by ``open``
    followed: Followed = field(default_factory=Followed.none)  # pairs of topics

    def open(self) -> None:
        """Bring in what the weights leave out while topics take shape."""
        self.opened = self.number
        self.weights.open(self.state, self.docs, self._seed(OPENING))

    def let_in(self, size: int) -> None:
        """Have so many documents in play, of every shard as large a part."""
        if size > self.docs.size:
            before, self.docs.size = self.docs.share, size
            self.weights.enter(self.state, self.docs, before, self._seed(ENTERING))

    @property
    def closed(self) -> bool:
        """Whether there is more to the weights than is in play yet."""
        return self.weights.closed(self.state)

    def sweep(self) -> TokenSums:
        """Draw everything once: tokens, then weights of documents and topics, then the topics' prior."""
        rng = self._rng(WEIGHTS)
        sums = draw_tokens(self.state, self.docs, key_of(self.seed, self.number, TOKENS))
        key = key_of(self.seed, self.number, PLACES)
        self.weights.draw(self.state, self.docs, sums, Sweep(self.number, self.opened, self.seed, key, rng))
        if self.number % PRIOR_EVERY == 0 and self.number >= SETTLING:
            self.state.counts.draw_prior(self.state.n_topics, self.learned_prior, rng)
        self.number += 1
        self.n_tokens = sums.n_tokens
        return sums

    def gather(self) -> Stats:
        """The sums that a stream goes on from: those of one more draw of all documents."""
        keys = [key_of(self.seed, self.number, LAST, number) for number in range(2)]
        sums = draw_tokens(self.state, self.docs, keys[0])
        sweep = Sweep(self.number, self.opened, self.seed, keys[1], self._rng(WEIGHTS))
        return self.weights.gather(self.state, self.docs, sums, sweep)

    def _seed(self, purpose: int) -> tuple[int, ...]:
        return self.seed, self.number, purpose

    def _rng(self, purpose: int) -> np.random.Generator:
        return np.random.default_rng(self._seed(purpose))

    def keep(self, topics: Array) -> None:
        """Go on with these topics alone; tokens of others are drawn anew in the next sweep."""
        self.state = self.state.chosen(topics)
        names = np.full(NO_TOPIC + 1, NO_TOPIC, np.uint16)
        names[topics] = np.arange(len(topics))
        self.rename(names)

    def rename(self, names: Array) -> None:
        """Give every token's topic the name that stands in its place (NO_TOPIC + 1,)."""
        self.followed = self.followed.renamed(names, NO_TOPIC)
        self.docs.map(rename_topics, names)

    def recount(self) -> None:
        """Set the corpus' counts to those of the documents in play."""
        self.state.counts.set_to(counted(self.docs, self.state))


def counted(docs: HeldDocuments, state: State) -> TopicTally:
    """Counts of the documents in play, for a corpus like this."""
    return docs.total(count_shard, state.counts.table.shape, TopicTally.of)[1]


def rename_topics(shard: SampledShard, names: Array) -> None:
    """Give topics other names."""
    shard.topics[:] = names[shard.topics]


def count_shard(shard: SampledShard, shape: tuple[int, int], tally: TopicTally) -> None:
    """Count the tokens of documents."""
    count_table(shard.tokens, shard.topics, tally.table, tally.totals)
