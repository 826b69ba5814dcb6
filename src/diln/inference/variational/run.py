"""A fit by variational inference: passes over all documents until the bound gains nothing."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from scipy.sparse import csr_array

from diln.engine.base import Engine
from diln.engine.threads import cut
from diln.inference.data import TermCounts
from diln.inference.followed import Correlations, Followed, follow
from diln.inference.progress import Progress, topics_in_use
from diln.inference.variational.documents import DocumentSums, Limits
from diln.inference.variational.posterior import SLAB, VariationalPosterior

TURNS = 3  # of a document in a batch pass: it goes on from where it was, and early topics are not worth more


@dataclass(frozen=True, slots=True)
class VariationalPlan:
    """How long to go on."""

    max_iter: int  # passes at most
    tol: float  # relative change of the bound between two passes that ends it
    mean_change_tol: float  # change of a document's tokens by topic that is taken for none
    evaluate_every: int  # passes from one perplexity to the next; 0 for none


class VariationalRun:
    """Algorithm 1: visit all documents, then update the corpus, until the bound gains nothing."""

    def __init__(
        self,
        posterior: VariationalPosterior,
        counts: TermCounts | csr_array,
        plan: VariationalPlan,
        perplexity: Callable[[], float | None],
    ) -> None:
        self.posterior, self.plan, self.perplexity = posterior, plan, perplexity
        everything = TermCounts.of(counts)
        self.beliefs = posterior.weights.start(everything.lengths, posterior.statistics.dtype)
        self.slabs = [(everything.cut(*piece), self.beliefs.cut(*piece)) for piece in cut(len(everything), SLAB)]
        self.begun, self.bound = time.perf_counter(), -np.inf
        self.number, self.done = 0, False
        self.followed = Followed.none()

    def sweep(self, engine: Engine) -> Progress:
        """One pass over all documents."""
        posterior, plan = self.posterior, self.plan
        posterior.refresh(engine)
        terms = {"topics": posterior.topic_term(engine), **posterior.weights.terms()}
        sums = self._visit(engine)
        terms |= {"words": sums.words, "weights": sums.weights, "doc_locations": sums.locations}
        posterior.weights.update(sums, self.beliefs, 1.0, 1.0, engine)
        before, self.bound, self.number = self.bound, sum(terms.values()), self.number + 1
        self.done = abs(self.bound - before) < plan.tol * abs(self.bound) or self.number == plan.max_iter
        due = plan.evaluate_every > 0 and (self.done or self.number % plan.evaluate_every == 0)
        return Progress(
            self.number, self.number * self.beliefs.n_docs, time.perf_counter() - self.begun,
            topics_in_use(posterior.topic_tokens), self.bound, terms, self.perplexity() if due else None,
            posterior.alpha, posterior.beta, correlations=self._correlations(),
        )  # fmt: skip

    def _correlations(self) -> Correlations:
        """Those of a few pairs of topics, of a model that has them."""
        known = self.posterior
        self.followed, found = follow(
            self.followed, 0, known.topic_tokens, known.locations, lambda: known.covariance
        )  # fmt: skip
        return found

    def _visit(self, engine: Engine) -> DocumentSums:
        """Visit all documents; the topics' statistics become theirs."""
        found: list[DocumentSums] = []
        for counts, beliefs in self.slabs:
            visited = self.posterior.visit(counts, beliefs, Limits(TURNS, self.plan.mean_change_tol), engine)
            self.posterior.gather(counts, visited, 1.0 if found else 0.0, 1.0, engine)
            found.append(visited.sums)
        return reduce(add, found)
