"""Fitting: from counts and parameters to a fitted model, in one go or documents at a time."""

import time
from collections.abc import Callable
from typing import Any
from warnings import warn

import numpy as np
from scipy.sparse import csr_array

from diln.engine.threads import Threads
from diln.errors import DilnWarning
from diln.inference import loops, start
from diln.inference.documents import Array
from diln.inference.loops import Look, Progress
from diln.inference.posterior import Posterior
from diln.models.counts import Rows, as_rows, in_halves
from diln.models.fitted import Fitted, check_terms
from diln.models.parameters import Parameters

EVALUATED = 1000  # documents that the perplexity shown while fitting is of, at most
STARTED = 10_000  # documents that stochastic inference reads to start from


def fit(parameters: Parameters, rows: Rows, vocabulary: list[str], look: Look | None = None) -> Fitted:
    """Fit a model to documents."""
    with Threads(parameters.jobs) as threads:
        fitted = begin(parameters, rows, vocabulary, threads)
        run = _batch if parameters.learning_method == "batch" else _online
        run(fitted, rows, threads, look)
        fitted.refresh(threads)
    if parameters.kind != "LDA" and fitted.n_topics == parameters.n_components > 1:
        warn(
            f"all {parameters.n_components} topics are in use, so there may be more; fit again with a larger "
            "n_components",
            DilnWarning,
            stacklevel=3,
        )
    return fitted


def begin(parameters: Parameters, rows: Rows, vocabulary: list[str], threads: Threads) -> Fitted:
    """A model that has seen nothing but what its start is made from."""
    seed = seed_of(parameters.random_state)
    rng = np.random.default_rng([seed, 0])
    if parameters.learning_method == "batch" or rows.n_docs <= STARTED:
        counts = rows.everything()
    else:
        counts = rows.take(np.sort(rng.choice(rows.n_docs, STARTED, replace=False)))
    tokens = counts.data.sum(dtype=np.float64) * rows.n_docs / counts.shape[0]
    if not tokens:
        raise ValueError("no document has a token; give counts that are not all 0")
    statistics = _start(parameters, counts, vocabulary, tokens, rng, threads)
    posterior = Posterior(
        np.ascontiguousarray(statistics, np.float32), float(parameters.topic_word_prior), parameters.weights(rng)
    )
    population = parameters.total_samples or rows.n_docs
    return Fitted(parameters, posterior, vocabulary, seed, population=population, rule=rows.rule)


def _start(
    parameters: Parameters,
    counts: csr_array,
    vocabulary: list[str],
    tokens: float,
    rng: np.random.Generator,
    threads: Threads,
) -> Array:
    size, n_terms, init = parameters.n_components, counts.shape[1], parameters.init
    if init == "kmeans":
        return start.smoothed(start.clusters(counts, size, rng, threads), tokens, rng)
    if init == "random":
        return start.random_topics(n_terms, size, tokens, rng)
    topics = getattr(init, "topic_word_", getattr(init, "topic_word", None))
    weights = getattr(init, "topic_weights_", getattr(init, "topic_weights", None))
    if topics is None or weights is None:
        raise ValueError(
            f"init is a {type(init).__name__} that is not fitted; give 'kmeans', 'random' or a fitted model (its "
            "fitted_ where scikit-learn clones, which forgets the fitting)"
        )
    if topics.shape[1] != n_terms:
        raise ValueError(
            f"init is a model of {topics.shape[1]:,} terms but the documents have {n_terms:,}; fit both on the same "
            "vocabulary"
        )
    known = getattr(init, "vocabulary_", getattr(init, "vocabulary", None))
    if list(known or []) != vocabulary:
        raise ValueError("init is a model of other terms than the documents have; fit both on the same vocabulary")
    return start.fitted_topics(topics[np.argsort(-weights, kind="stable")], size, tokens, rng)


def _batch(fitted: Fitted, rows: Rows, threads: Threads, look: Look | None) -> None:
    plan, counts = fitted.parameters.plan(), rows.everything()
    perplexity = _perplexity(fitted, counts, threads)
    fitted.passes = loops.batch(fitted.posterior, counts, plan, threads, _noting(fitted, look), perplexity)
    fitted.seen += fitted.passes * rows.n_docs


def _online(fitted: Fitted, rows: Rows, threads: Threads, look: Look | None) -> None:
    plan, note = fitted.parameters.plan(), _noting(fitted, look)
    begun = time.perf_counter()
    for epoch in range(plan.max_iter):
        order = np.random.default_rng([fitted.seed, 1, epoch]).permutation(rows.n_docs)
        for first in range(0, rows.n_docs, plan.batch_size):
            counts = rows.take(order[first : first + plan.batch_size])
            due = plan.evaluate_every > 0 and fitted.steps % plan.evaluate_every == 0
            value = _perplexity(fitted, counts, threads)() if due else None
            learn(fitted, counts, threads)
            progress = loops.describe(fitted.posterior, epoch + 1, fitted.seen, time.perf_counter() - begun)
            progress.perplexity = value
            note(progress)
        fitted.passes = epoch + 1


def learn(fitted: Fitted, counts: csr_array, threads: Threads) -> None:
    """One stochastic step with these documents."""
    check_terms(counts, fitted.posterior)
    plan = fitted.parameters.plan()
    scale = fitted.population / counts.shape[0]
    loops.step(fitted.posterior, counts, plan.rho(fitted.steps), scale, plan, threads)
    fitted.steps += 1
    fitted.seen += counts.shape[0]


def more(fitted: Fitted, rows: Rows) -> None:
    """Learn from more documents, in steps of the batch size, in the order given.

    Unless told how many there are in total, a model that has seen others then stands for so many more.
    """
    if fitted.parameters.total_samples is not None:
        fitted.population = fitted.parameters.total_samples
    elif fitted.seen:
        fitted.population += rows.n_docs
    with Threads(fitted.parameters.jobs) as threads:
        for counts in rows.parts(fitted.parameters.batch_size):
            learn(fitted, counts, threads)
        fitted.refresh(threads)


def _noting(fitted: Fitted, look: Look | None) -> Callable[[Progress], None]:
    def note(progress: Progress) -> None:
        fitted.note(progress)
        if look is not None:
            look.look(progress)

    return note


def _perplexity(fitted: Fitted, counts: csr_array, threads: Threads) -> Callable[[], float | None]:
    """The perplexity of some of these documents, each completed from half its tokens; None if there are no tokens."""
    some = as_rows(counts[:EVALUATED])

    def perplexity() -> float | None:
        fitted.refresh(threads)
        observed, held_out = in_halves(some, fitted.seed)
        return fitted.perplexity(observed, held_out, threads) if held_out.nnz else None

    return perplexity


def seed_of(random_state: Any) -> int:
    """A number for every random choice: the one given, or one drawn from the generator given, or a new one."""
    if random_state is None:
        return int(np.random.SeedSequence().entropy) % 2**63  # type: ignore[arg-type]
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63 - 1))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    raise ValueError(f"random_state is {random_state!r}; give a whole number from 0 on, a generator, or None")
