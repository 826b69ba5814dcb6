"""Topics that are born: a theme that late documents share, and that the topics there are cannot explain.

Of documents that the model explains badly the latest are kept. A new topic is the part of a mixture that is theirs
together, p(w | m) = (1 - pi_m) p_old(w | m) + pi_m phi(w), where p_old is what the model says of the document. It is
born if what every other document says of phi explains the others, and no topic says nearly the same.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.engine.base import Engine
from diln.inference import predict
from diln.inference.data import BatchPart, CountedBatch, piece_size
from diln.inference.posterior import FoldIn
from diln.inference.sampling.posterior import SampledPosterior
from diln.models.fitted import Fitted
from diln.models.inferring import tokens_of
from diln.models.stream import Stream

Floats = NDArray[np.float64]

FAR = 2.0  # deviations below the mean that a document's score must be to count as badly explained
SHORT = 10  # tokens of a document whose score says something
MEMORY = 5000  # documents that the mean is of, about
FEWEST = 20  # documents that are badly explained, before a topic is looked for
OWN = 0.2  # share of a document's tokens from which on it is one of the new topic
ENOUGH = 5  # such documents in each half of the pool
LEAST_GAIN = 0.1  # nats a token by which these must be better explained, after what a share costs each
SAME = 0.7  # affinity with a topic from which on a new one is that topic again
ROUNDS = 30  # of expectation and maximisation
AT_ONCE = 4096  # entries
ROOM = 50  # topics that may be born in any case


def scores(fitted: Fitted, counts: csr_array, engine: Engine) -> Floats:
    """Mean of ln p(a token's term) of each document, given its topics; NaN of those that are too short to say."""
    parts = CountedBatch(counts).parts(piece_size(counts.shape[0]), engine.ways)
    return np.concatenate(list(engine.each(step_score, parts, (fitted.fold_in(), topics_of(fitted)))))


def step_score(part: BatchPart, given: tuple[FoldIn, NDArray[np.float32]], engine: Engine) -> Floats:
    """The same of some documents."""
    counts, (fold_in, topics) = part.batch.counts(), given
    tokens, proportions = tokens_of(counts), fold_in.infer(counts, engine).proportions
    found = predict.log_likelihood(topics, proportions, counts, engine)
    return np.where(tokens >= SHORT, found / np.maximum(tokens, 1), np.nan)


def topics_of(fitted: Fitted) -> NDArray[np.float32]:
    """Expected topics (n_terms, n_topics) in single precision."""
    posterior = fitted.posterior
    return posterior.topics if isinstance(posterior, SampledPosterior) else fitted.topic_word.T.astype(np.float32)


def note(stream: Stream, counts: csr_array, found: Floats) -> int:
    """Keep the documents whose scores are far below the mean, and have that follow; returns how many they are."""
    known = found[~np.isnan(found)]
    if not len(known):
        return 0
    if not stream.scored:  # the first say themselves what is usual
        middle = float(np.median(known))
        stream.score, stream.variance = middle, float((1.4826 * np.median(np.abs(known - middle))) ** 2)
    far = np.flatnonzero(found < stream.score - FAR * np.sqrt(stream.variance))  # NaN is not
    stream.pooled(counts[far])
    usual = np.maximum(known, stream.score - 2 * FAR * np.sqrt(stream.variance))  # none moves the mean by much
    rate = len(known) / min(stream.scored + len(known), MEMORY)
    gap = float(usual.mean()) - stream.score
    spread = float(((usual - stream.score) ** 2).mean())
    stream.score += min(rate, 1.0) * gap
    stream.variance += min(rate, 1.0) * (spread - stream.variance)
    stream.scored += len(known)
    return len(far)


def born(fitted: Fitted, stream: Stream, engine: Engine) -> int | None:
    """The number of the topic that was born of the documents that are kept, if one was."""
    posterior = fitted.posterior
    most = max(2 * stream.first_topics, stream.first_topics + ROOM)
    if stream.pool.shape[0] < FEWEST or not isinstance(posterior, SampledPosterior) or posterior.n_topics >= most:
        return None
    pool = Pool.of(fitted, stream.pool, engine)
    halves = np.arange(pool.n_docs) % 2 == 0
    for half in (halves, ~halves):
        if not explains(pool, pool.theme(half, posterior.prior), ~half):
            return None
    theme = pool.theme(np.ones(pool.n_docs, bool), posterior.prior)
    if affinity(posterior.topics, theme) > SAME:
        return None
    shares, tokens = pool.shares(theme)
    own = shares >= OWN
    counts = np.bincount(pool.terms, tokens * own[pool.docs], pool.n_terms)
    if counts.sum() < 1:
        return None
    number = posterior.bear(counts.astype(np.float32), float(own.sum()))
    fitted.refresh(engine)
    fitted.agreement = None
    stream.pool = csr_array(stream.pool[np.flatnonzero(~own)])
    stream.born.append({"topic": number, "documents": stream.documents})
    return number


@dataclass(frozen=True, slots=True)
class Pool:
    """Entries of documents, and how probable the model takes each to be."""

    docs: NDArray[np.int64]  # (n_entries,)
    terms: NDArray[np.int64]  # (n_entries,)
    counts: Floats  # (n_entries,)
    old: Floats  # (n_entries,) p_old
    n_docs: int
    n_terms: int

    @classmethod
    def of(cls, fitted: Fitted, counts: csr_array, engine: Engine) -> "Pool":
        """Documents as a model sees them."""
        docs = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        terms, topics = counts.indices.astype(np.int64), topics_of(fitted)
        theta, old = fitted.infer(counts, engine).proportions, np.empty(len(terms))
        for first in range(0, len(terms), AT_ONCE):
            part = slice(first, first + AT_ONCE)
            old[part] = np.einsum("ek,ek->e", theta[docs[part]], topics[terms[part]])
        return cls(docs, terms, counts.data.astype(np.float64), old, *counts.shape)

    def theme(self, chosen: NDArray[np.bool_], prior: float) -> Floats:
        """What these documents have more of than the model says, as probabilities of terms (n_terms,)."""
        inside = chosen[self.docs]
        lengths = np.bincount(self.docs, self.counts, self.n_docs)
        seen = np.bincount(self.terms, self.counts * inside, self.n_terms)
        said = np.bincount(self.terms, lengths[self.docs] * self.old * inside, self.n_terms)
        phi = np.maximum(seen - said, 0) + prior
        phi /= phi.sum()
        for _ in range(ROUNDS):
            tokens = self.shares(phi)[1]
            phi = np.bincount(self.terms, tokens * inside, self.n_terms) + prior
            phi /= phi.sum()
        return np.asarray(phi)

    def shares(self, phi: Floats) -> tuple[Floats, Floats]:
        """The share of each document (n_docs,) that is best taken for the theme's, and its tokens of each entry."""
        lengths = np.maximum(np.bincount(self.docs, self.counts, self.n_docs), 1)
        shares, new = np.full(self.n_docs, 0.5), phi[self.terms]
        for _ in range(ROUNDS):
            mine = shares[self.docs] * new
            tokens = self.counts * mine / (mine + (1 - shares[self.docs]) * self.old)
            shares = np.bincount(self.docs, tokens, self.n_docs) / lengths
        return shares, tokens


def explains(pool: Pool, phi: Floats, others: NDArray[np.bool_]) -> bool:
    """Whether a theme explains documents that had no part in it: enough of them, and well enough."""
    shares = pool.shares(phi)[0]
    own = others & (shares >= OWN)
    if own.sum() < ENOUGH:
        return False
    mixed = shares[pool.docs] * phi[pool.terms] + (1 - shares[pool.docs]) * pool.old
    gains = np.bincount(pool.docs, pool.counts * (np.log(mixed) - np.log(pool.old)), pool.n_docs)
    lengths = np.maximum(np.bincount(pool.docs, pool.counts, pool.n_docs), 1)
    gain = (gains[own] - np.log(lengths[own]) / 2).sum()
    return bool(gain > LEAST_GAIN * lengths[own].sum())


def affinity(topics: NDArray[np.float32], phi: Floats) -> float:
    """How near the nearest of the topics (n_terms, n_topics) is: 1 for the same words, 0 for no word in common."""
    return float((np.sqrt(topics).T @ np.sqrt(phi)).max())
