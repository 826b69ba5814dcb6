"""A chain of states of all documents and the corpus, sweep by sweep."""

from dataclasses import dataclass

import numpy as np

from diln.engine.threads import Threads
from diln.inference.data import Array
from diln.inference.sampling.corpus_step import (
    Places,
    Prior,
    Sums,
    draw_locations,
    draw_topic_prior,
    draw_variance,
    draw_weights,
)
from diln.inference.sampling.log_weights import draw_all_log_weights, draw_entering, draw_gaussian, open_log_weights
from diln.inference.sampling.state import SampledDocuments, State
from diln.inference.sampling.sweep import draw_documents, draw_tokens
from diln.inference.weights.gaussian import AT_ZERO
from diln.prob.polya_gamma import draw_polya_gamma
from diln.prob.streams import key_of

SETTLING = 3  # first sweeps, in which the weights stay as they are
PRIOR_EVERY = 5  # sweeps from one draw of gamma_0 to the next: it hardly moves, and reads the whole table
SPREADING = 20  # sweeps in which topics leave the origin before c follows them: it would hold them there
NEAR = 0.3  # of a location's prior deviation: how far from the origin topics are put when the gate opens

TOKENS, WEIGHTS, PLACES, OPENING, ENTERING = range(5)  # what a stream is for


@dataclass(slots=True)
class Chain:
    """SampledDocuments, corpus, and how many sweeps were made; what comes next is a function of these and the seed."""

    state: State
    everything: SampledDocuments
    prior: Prior
    seed: int
    size: int  # documents that are in play: the first so many
    number: int = 0  # sweeps made
    opened: int | None = None  # the sweep before which the gate was opened, if by ``open``
    exact: bool = False  # whether Polya-Gamma variables are drawn exactly, or with the right mean and variance

    def open(self) -> None:
        """Let locations in, topics near the origin and documents at it; or log weights, as the tokens' topics are."""
        self.opened = self.number
        rng = np.random.default_rng([self.seed, self.number, OPENING])
        if self.prior.covariance is not None:
            open_log_weights(self.state, self.everything, self.size, self.prior.covariance, rng)
            return
        self.state.open(self.prior.n_dims, NEAR * np.sqrt(self.state.variance), rng)
        self.everything.u = np.zeros((len(self.everything), self.prior.n_dims), np.float32)

    def let_in(self, size: int) -> None:
        """Have the first so many documents in play."""
        if self.state.weighed and size > self.size:
            rng = np.random.default_rng([self.seed, self.number, ENTERING])
            draw_entering(self.state, self.everything, self.size, size, rng)
        self.size = size

    @property
    def closed(self) -> bool:
        """Whether the model has locations, or log weights, and they are not in play yet."""
        has_log_weights = self.prior.covariance is not None
        return not self.state.weighed if has_log_weights else self.prior.n_dims > 0 and self.state.n_dims == 0

    @property
    def docs(self) -> SampledDocuments:
        """The documents in play."""
        return self.everything.first(self.size)

    def sweep(self, threads: Threads) -> Sums:
        """Draw everything once: tokens, weights, documents' places, topics' locations, priors."""
        rng = np.random.default_rng([self.seed, self.number, WEIGHTS])
        sums = draw_tokens(self.state, self.docs, key_of(self.seed, self.number, TOKENS), threads)
        if self.prior.learn_weights and self.number >= SETTLING:
            draw_weights(self.state, sums, self.prior, rng)
        if self.prior.learn_weights:
            self.draw_places(threads, rng)
        if self.state.weighed:
            self.draw_log_weights(threads, rng)
        if self.number % PRIOR_EVERY == 0 and self.number >= SETTLING:
            draw_topic_prior(self.state, self.prior, rng)
        self.number += 1
        return sums

    def draw_places(self, threads: Threads, rng: np.random.Generator) -> None:
        """Draw documents' places, then topics' locations."""
        key = key_of(self.seed, self.number, PLACES)
        found = self.draw_documents(key, threads)
        if self.state.n_dims:
            draw_locations(self.state, found, rng)
            if self.opened is None or self.number >= self.opened + SPREADING:
                draw_variance(self.state, self.prior, rng)

    def draw_documents(self, key: np.uint64, threads: Threads) -> Places:
        """Draw documents' places."""
        return draw_documents(self.state, self.docs, key, threads, self._omega if self.exact else None)

    def draw_log_weights(self, threads: Threads, rng: np.random.Generator) -> None:
        """Draw documents' log weights, then their mean and covariance."""
        key = key_of(self.seed, self.number, PLACES)
        found = draw_all_log_weights(self.state, self.docs, key, threads)
        self.state.mean, self.state.covariance = draw_gaussian(found, self.prior.covariance or 0.0, AT_ZERO, rng)

    def _omega(self, shape: Array, psi: Array, start: int) -> Array:
        rng = np.random.default_rng([self.seed, self.number, PLACES, start + 1])
        return draw_polya_gamma(shape, psi, rng)

    def keep(self, topics: Array) -> None:
        """Go on with these topics alone; tokens of others are drawn anew in the next sweep."""
        self.state = self.state.chosen(topics)
        self.everything.renamed(topics)
