"""Fitting: from counts and parameters to a fitted model, in one go or documents at a time."""

import time
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from scipy.sparse import csr_array

from diln.engine.threads import Threads, even_cut
from diln.inference.data import Array
from diln.inference.progress import Look, Progress
from diln.inference.sampling.posterior import SampledPosterior
from diln.inference.variational import loops, start
from diln.inference.variational.documents import Limits
from diln.inference.variational.posterior import VariationalPosterior
from diln.models import chains, sampling
from diln.models.checkpoints import Checkpoints
from diln.models.counts import HeadRows, Rows, as_rows, in_halves
from diln.models.fitted import Fitted, check_terms
from diln.models.parameters import Parameters
from diln.models.start import of_model

EVALUATED = 1000  # documents that the perplexity shown while fitting is of, at most
STARTED = 10_000  # documents that stochastic inference reads to start from
NOTED = 10_000  # sweeps, passes and steps, the last ones, that the history of a stream is of


def fit(
    parameters: Parameters,
    rows: Rows,
    vocabulary: list[str],
    look: Look | None = None,
    checkpoints: Checkpoints | None = None,
) -> Fitted:
    """Fit a model to documents."""
    seed = seed_of(parameters.random_state)
    with Threads(parameters.jobs) as threads:
        if parameters.inference == "sampling":
            fitted = chains.fit(parameters, rows, vocabulary, seed, threads, look, checkpoints)
        else:
            if checkpoints is not None:
                raise ValueError("checkpoints are for inference='sampling'; fit without them")
            fitted = begin(parameters, rows, vocabulary, seed, threads)
            run = _online if parameters.learning_method == "online" else _batch
            run(fitted, rows, threads, look)
        fitted.refresh(threads)
    return fitted


def begin(parameters: Parameters, rows: Rows, vocabulary: list[str], seed: int, threads: Threads) -> Fitted:
    """A model of variational inference that has seen nothing but what its start is made from."""
    rng = np.random.default_rng([seed, 0])
    if parameters.learning_method != "online" or rows.n_docs <= STARTED:
        counts = rows.everything()
    else:
        counts = rows.take(np.sort(rng.choice(rows.n_docs, STARTED, replace=False)))
    tokens = counts.data.sum(dtype=np.float64) * rows.n_docs / counts.shape[0]
    if not tokens:
        raise ValueError("no document has a token; give counts that are not all 0")
    statistics = _start(parameters, counts, vocabulary, tokens, rng, threads)
    prior = parameters.topic_prior("batch", parameters.truncation)
    posterior = VariationalPosterior(np.ascontiguousarray(statistics, np.float32), prior, parameters.weights(rng))
    population = parameters.total_samples or rows.n_docs
    method = parameters.method(rows.n_docs, tokens)
    return Fitted(parameters, posterior, vocabulary, seed, population=population, method=method, rule=rows.rule)


def _start(
    parameters: Parameters,
    counts: csr_array,
    vocabulary: list[str],
    tokens: float,
    rng: np.random.Generator,
    threads: Threads,
) -> Array:
    size, n_terms, init = parameters.truncation, counts.shape[1], parameters.settled("init")
    if init == "kmeans":
        return start.smoothed(start.clusters(counts, size, rng, threads), tokens, rng)
    if init == "random":
        return start.random_topics(n_terms, size, tokens, rng)
    topics, weights = of_model(init, vocabulary)
    return start.fitted_topics(topics[np.argsort(-weights, kind="stable")], size, tokens, rng)


def _batch(fitted: Fitted, rows: Rows, threads: Threads, look: Look | None) -> None:
    plan, counts = fitted.parameters.plan(), rows.everything()
    perplexity = _perplexity(fitted, counts, threads)
    fitted.passes = loops.batch(variational(fitted), counts, plan, threads, _noting(fitted, look), perplexity)
    fitted.seen += fitted.passes * rows.n_docs


def _online(fitted: Fitted, rows: Rows, threads: Threads, look: Look | None) -> None:
    plan, note = fitted.parameters.plan(), _noting(fitted, look)
    begun = time.perf_counter()
    for epoch in range(plan.max_iter):
        order = np.random.default_rng([fitted.seed, 1, epoch]).permutation(rows.n_docs)
        for first in range(0, rows.n_docs, plan.batch_size):
            progress = learn(fitted, rows.take(order[first : first + plan.batch_size]), epoch + 1, threads)
            progress.seconds = time.perf_counter() - begun
            note(progress)
        fitted.passes = epoch + 1


def learn(fitted: Fitted, counts: csr_array, iteration: int, threads: Threads) -> Progress:
    """One stochastic step with these documents, in this pass; how far it has come, but for the time it took."""
    check_terms(counts, fitted.posterior)
    if isinstance(fitted.posterior, SampledPosterior):
        return sampling.learn(fitted, counts, iteration, threads)
    plan = fitted.parameters.plan()
    due = plan.evaluate_every > 0 and fitted.steps % plan.evaluate_every == 0
    perplexity = _perplexity(fitted, counts, threads)() if due else None
    if counts.nnz:  # else there is nothing to learn, and old documents are not to be forgotten for it
        scale = fitted.population / counts.shape[0]
        posterior = variational(fitted)
        posterior.limits = Limits(plan.max_doc_update_iter, plan.mean_change_tol)
        posterior.learn(counts, fitted.steps, plan.rho(fitted.steps), scale, threads)
    fitted.steps += 1
    fitted.seen += counts.shape[0]
    progress = loops.describe(fitted.posterior, iteration, fitted.seen, 0.0)
    progress.perplexity = perplexity
    return progress


def first(parameters: Parameters, rows: Rows, vocabulary: list[str], look: Look | None = None) -> Fitted:
    """A model of the first documents of a stream: of sampling a chain over them, and steps over what is too much."""
    seed = seed_of(parameters.random_state)
    with Threads(parameters.jobs) as threads:
        if parameters.inference == "sampling":
            head = HeadRows(rows, min(rows.n_docs, sampling.STARTED))
            fitted, known = sampling.first(parameters, head, rows.n_docs, vocabulary, seed, threads, look), head.n_docs
        else:
            fitted, known = begin(parameters, rows, vocabulary, seed, threads), 0
        fitted.method, fitted.passes = "online", 0
        _steps(fitted, rows, known, threads, look)
        fitted.refresh(threads)
    return fitted


def more(fitted: Fitted, rows: Rows, look: Look | None = None) -> None:
    """Learn from more documents, in steps of the batch size, in the order given.

    Unless told how many there are in total, a model that has seen others then stands for so many more.
    """
    if fitted.parameters.total_samples is not None:
        fitted.population = fitted.parameters.total_samples
    elif fitted.seen:
        fitted.population += rows.n_docs
    with Threads(fitted.parameters.jobs) as threads:
        _steps(fitted, rows, 0, threads, look)
        fitted.refresh(threads)


def _steps(fitted: Fitted, rows: Rows, known: int, threads: Threads, look: Look | None) -> None:
    """Steps over all documents but those known, in the order given."""
    note, begun = _noting(fitted, look), time.perf_counter()
    before = fitted.history[-1]["seconds"] if fitted.history else 0.0
    for first, last in even_cut(rows.n_docs - known, fitted.parameters.settled("batch_size")):
        progress = learn(fitted, rows.take(np.arange(known + first, known + last)), fitted.passes + 1, threads)
        progress.seconds = before + time.perf_counter() - begun
        note(progress)
    del fitted.history[:-NOTED]


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


def variational(fitted: Fitted) -> VariationalPosterior:
    """The posterior of a model that is fitted by variational inference."""
    return cast(VariationalPosterior, fitted.posterior)


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
