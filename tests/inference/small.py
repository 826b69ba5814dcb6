"""Small problems for the sampler, and the memory that its kernels want."""

from copy import deepcopy
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from diln.engine.base import Home
from diln.engine.threads import Threads
from diln.inference.data import Tokens
from diln.inference.emissions.multinomial_draws import LONGEST, TopicCounts
from diln.inference.sampling.chain import Chain
from diln.inference.sampling.documents import HeldDocuments, shard_ranges
from diln.inference.sampling.state import SampledDocuments, State
from diln.inference.sampling.tokens import Histograms, Room, draw_topics
from diln.inference.weights.gamma_process_draws import GatedState
from diln.inference.weights.place_kernels import Places


def room_for(width):
    """Memory for loops over topics; what is in it must not count."""
    bits = np.full(width + 16, -1, np.int32)
    return Room(np.full((8, width), np.nan, np.float32), bits, bits.view(np.float32))


def some_counts(rng, n_docs, n_terms, mean=2.0, empty=()):
    counts = rng.poisson(mean, (n_docs, n_terms)) * (rng.random((n_docs, n_terms)) < 0.4)
    counts[list(empty)] = 0
    return csr_array(counts)


def some_documents(rng, counts, n_topics, n_dims=0, spread=1.0):
    """Documents anywhere, each token with a topic."""
    n_docs = counts.shape[0]
    places = Places(np.zeros((n_docs, n_dims), np.float32), np.zeros(n_docs, np.float32))
    docs = SampledDocuments.new(Tokens.of(counts), places, np.arange(n_docs) + 7)
    docs.topics[:] = rng.integers(n_topics, size=len(docs.topics))
    places.u[:] = rng.normal(size=places.u.shape) * spread
    places.s[:] = rng.normal(size=places.s.shape) * spread
    return docs


def empty_state(n_terms, n_topics, a0=0.5, prior=0.1, alpha=1.0, variance=1.0, n_dims=0):
    """A corpus without a token, its topics at the origin."""
    counts = TopicCounts.empty(n_terms, n_topics, prior)
    ells = np.zeros((n_dims, counts.width), np.float32)
    weights = GatedState(np.zeros(counts.width), ells, alpha, variance, n_topics)
    weights.a0[:n_topics] = a0
    return State(counts, weights, n_topics)


def some_state(rng, docs, n_topics, n_dims=0, prior=0.1, spread=1.0, a0=None):
    """A corpus whose counts are those of the documents."""
    weights = rng.gamma(0.5, size=n_topics) + 1e-3 if a0 is None else a0
    state = empty_state(docs.tokens.n_terms, n_topics, weights, prior, n_dims=n_dims)
    state.weights.ells[:, :n_topics] = rng.normal(size=(n_dims, n_topics)) * spread
    tell(state, docs)
    return state


@dataclass
class ReadyHome(Home):
    """Documents that are there already."""

    number: int
    docs: SampledDocuments
    weight: float = 1.0

    def make(self):
        return self.docs

    def write(self, shard, path):
        np.savez(path.with_suffix(".npz"), shard.topics, *shard.places)
        return {"places": type(shard.places)}

    def read(self, path, note):
        topics, *places = np.load(path.with_suffix(".npz")).values()
        return self.docs.restored(topics, note["places"](*places))


def part_of(docs, first, last):
    """Some of the documents, sharing memory."""
    tokens, topics, names, places, start = docs.shard(first, last)
    return SampledDocuments(tokens, topics, places, names, start)


def held(docs, engine=None, size=None):
    """Documents in shards, which share their memory where steps run in this process; all are in play."""
    ranges = shard_ranges(lambda: [np.diff(docs.tokens.starts)])
    homes = [ReadyHome(i, part_of(docs, first, last)) for i, (first, last, _) in enumerate(ranges)]
    if len(homes) == 1:
        homes = [ReadyHome(0, docs)]
    engine = Threads(1) if engine is None else engine
    return HeldDocuments(engine.hold(homes), ranges, len(docs) if size is None else size)


def everything(chain):
    """The documents of a chain that is held in one shard of this process."""
    (docs,) = chain.docs.held.shards
    return docs


def saved(run):
    """All that a run goes on from, its documents too."""
    return deepcopy((*run.stored(), everything(run.chain)))


def go_on(run, kept):
    """Bring a run to where another was saved."""
    numbers, tensors, docs = deepcopy(kept)
    run.restore(numbers, tensors)
    run.chain.docs.held.shards = [docs]


def new_chain(weights, counts, n_topics, prior=0.05, seed=0, engine=None, **given):
    """A chain of all documents before its first sweep."""
    tokens = Tokens.of(counts)
    state = State(TopicCounts.empty(tokens.n_terms, n_topics, prior), weights.start(n_topics, n_topics), n_topics)
    docs = SampledDocuments.new(tokens, weights.documents(state, tokens.n_docs), np.arange(tokens.n_docs))
    return Chain(state, held(docs, engine), weights, seed, **given)


def tell(state, docs):
    """Let a corpus know the topics of its documents' tokens."""
    state.counts.table[:], state.counts.totals[:] = counted(docs, state.width)


def whole(docs):
    """All documents for a kernel, sharing memory."""
    return docs.shard(0, len(docs))


def record(state):
    """The weights for a kernel."""
    return state.weights.record(state.width)


def terms_of(tokens):
    """Term (n_tokens,) of each token."""
    return np.repeat(tokens.indices, tokens.counts)


def docs_of(tokens):
    """Document (n_tokens,) of each token."""
    return np.repeat(np.arange(tokens.n_docs), np.diff(tokens.starts))


def counted(docs, width):
    """Counts (n_terms, width) of the documents' tokens, and their totals (width,)."""
    table = np.zeros((docs.tokens.n_terms, width))
    np.add.at(table, (terms_of(docs.tokens), docs.topics), 1)
    return table, table.sum(axis=0)


def counts_by_document(docs, width):
    """n (n_docs, width)."""
    n = np.zeros((len(docs), width))
    np.add.at(n, (docs_of(docs.tokens), docs.topics), 1)
    return n


def gates(state, docs):
    """psi (n_docs, width) in double precision."""
    u, s = docs.places.u.astype(float), docs.places.s.astype(float)
    return u @ state.weights.ells.astype(float) + s[:, None]


def draw(state, docs, key, learning=True, first=0, last=None, columns=LONGEST):
    """Draw topics by the kernel itself: histogram, softs and score; the arrays of state and docs follow."""
    width, last = state.width, len(docs) if last is None else last
    sums = Histograms(np.zeros((width, columns), np.int64), np.zeros(width))
    given = (record(state), state.counts.record, learning, key, sums, room_for(width))
    score = draw_topics(whole(docs), first, last, *given)
    return sums.tokens, sums.softs, score
