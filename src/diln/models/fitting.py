"""Fitting: from counts and parameters to a fitted model, in one go or documents at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from diln.engine.base import Engine
from diln.engine.threads import Threads, even_cut
from diln.errors import brief
from diln.inference import loops
from diln.inference.posterior import OnlineStep
from diln.inference.progress import Look, Progress
from diln.models import chains, sampling, variational
from diln.models.checkpoints import Checkpoints
from diln.models.checks import ParameterError
from diln.models.counts import Rows, check_drawn
from diln.models.fitted import Fitted, check_terms
from diln.models.job import Job, Stop, never
from diln.models.parameters import Parameters
from diln.models.size import check_size

BEGIN = {"sampling": sampling.begin, "variational": variational.begin}
BEGIN_STREAM = {"sampling": sampling.first, "variational": variational.first}
MOST_SEEDS = 2**128
NOTED = 10_000  # sweeps, passes and steps, the last ones, that the history of a stream is of


def fit(
    parameters: Parameters,
    rows: Rows,
    vocabulary: list[str],
    look: Look | None = None,
    checkpoints: Checkpoints | None = None,
    stop: Stop = never,
) -> Fitted:
    """Fit a model to documents; ``stop`` is asked after every sweep or step whether to end with what there is."""
    if checkpoints is not None and parameters.inference != "sampling":
        raise ValueError("checkpoints are for inference='sampling'; fit without them")
    check_size(parameters, rows)
    job = Job.of(parameters, rows, vocabulary, seed_of(parameters.random_state), look, stop)
    with Threads(parameters.jobs) as engine:
        fitted = chains.fit(job, engine, checkpoints, fit_one)
        fitted.refresh(engine)
    return fitted


def fit_one(job: Job, engine: Engine) -> Fitted:
    """Fit one chain, or by passes; goes on with what was stopped."""
    found = job.keeper.found(job.seed)
    if found is not None:
        for entry in found.content[found.content["phase"]]["history"]:
            job.show(Progress(**entry))
    if found is not None and found.content["phase"] == "online":
        fitted = Fitted.restored(found, found.content["online"], job.parameters)
    else:
        fitted = BEGIN[job.parameters.inference](job, engine, found)
    if job.method == "online" and fitted.stopped is None:
        passes(job, fitted, engine)
    return fitted


def passes(job: Job, fitted: Fitted, engine: Engine) -> None:
    """Steps over all documents in random order, pass after pass; goes on where a fit was stopped."""
    epochs, size = job.parameters.epochs, int(job.parameters.settled("batch_size"))
    each = len(even_cut(job.rows.n_docs, size))

    def ends(progress: Progress) -> bool:
        return job.late(progress) or fitted.steps == epochs * each

    watch = job.watch(fitted.history, "online", fitted.stored, ends)
    while fitted.steps < epochs * each and not watch.over:
        epoch, done = divmod(fitted.steps, each)
        before = fitted.history[-1]["seconds"] if fitted.history else 0.0
        batches = shuffled(job.rows, (job.seed, 1, epoch), size, done)
        loops.steps(OnlinePass(fitted, epoch + 1), batches, engine, watch, before)
    fitted.stopped = "steps" if watch.stopped else None


def shuffled(rows: Rows, seed: tuple[int, ...], size: int, skip: int = 0) -> Iterator[csr_array]:
    """Mini-batches of about so many documents in random order, without the first ``skip`` of them."""
    order = np.random.default_rng(seed).permutation(rows.n_docs)
    for first, last in even_cut(rows.n_docs, size)[skip:]:
        yield rows.take(np.sort(order[first:last]))


@dataclass(frozen=True, slots=True)
class OnlinePass:
    """A pass over documents, for ``loops.steps``; those of a stream count as none."""

    fitted: Fitted
    number: int
    streams: bool = False

    def learn(self, counts: csr_array, engine: Engine) -> Progress:
        """One stochastic step with these documents; how far it has come, but for the time it took."""
        fitted, parameters = self.fitted, self.fitted.parameters
        check_terms(counts, fitted.posterior)
        if parameters.inference == "sampling":
            check_drawn(counts.data.sum(dtype=np.float64), counts.nnz)
        score = 0.0 if parameters.inference == "sampling" else None
        every = parameters.evaluate_every if score is None else 0
        perplexity = fitted.evaluation(counts, engine)() if every > 0 and fitted.steps % every == 0 else None
        if counts.nnz:  # else there is nothing to learn, and old documents are not to be forgotten for it
            rho = (parameters.settled("learning_offset") + fitted.steps) ** -parameters.settled("learning_decay")  # S1
            limits = (parameters.document_steps, parameters.mean_change_tol)
            step = OnlineStep(fitted.steps, rho, fitted.population / counts.shape[0], *limits)
            score = fitted.posterior.learn(counts, step, engine)
            fitted.agreement = None  # which knows nothing of these documents
            fitted.trained = None if fitted.trained is None else fitted.trained.with_documents(counts)
        fitted.steps += 1
        fitted.seen += counts.shape[0]
        fitted.passes = fitted.passes if self.streams else self.number
        return fitted.described(self.number, score, perplexity)


def first(parameters: Parameters, rows: Rows, vocabulary: list[str], look: Look | None = None) -> Fitted:
    """A model of the first documents of a stream: of sampling a chain over them, and steps over what is too much."""
    check_size(parameters, rows, streams=True)
    population = float(parameters.total_samples or rows.n_docs)
    job = Job(parameters, rows, vocabulary, seed_of(parameters.random_state), "online", population, look)
    with Threads(parameters.jobs) as engine:
        fitted, known = BEGIN_STREAM[parameters.inference](job, engine)
        fitted.method, fitted.passes = "online", 0
        _steps(fitted, rows, known, engine, look)
    return fitted


def more(fitted: Fitted, rows: Rows, look: Look | None = None) -> None:
    """Learn from more documents, in steps of the batch size, in the order given.

    Unless told how many there are in total, a model that has seen others then stands for so many more.
    """
    if fitted.parameters.total_samples is not None:
        fitted.population = fitted.parameters.total_samples
    elif fitted.seen:
        fitted.population += rows.n_docs
    with Threads(fitted.parameters.jobs) as engine:
        _steps(fitted, rows, 0, engine, look)


def _steps(fitted: Fitted, rows: Rows, known: int, engine: Engine, look: Look | None) -> None:
    """Steps over all documents but those known, in the order given."""
    before = fitted.history[-1]["seconds"] if fitted.history else 0.0

    def watch(progress: Progress) -> bool:
        fitted.note(progress)
        if look is not None:
            look.look(progress)
        return False

    ranges = even_cut(rows.n_docs - known, int(fitted.parameters.settled("batch_size")))
    batches = (rows.take(np.arange(known + first, known + last)) for first, last in ranges)
    loops.steps(OnlinePass(fitted, fitted.passes + 1, streams=True), batches, engine, watch, before)
    del fitted.history[:-NOTED]
    fitted.refresh(engine)


def seed_of(random_state: Any) -> int:
    """A number for every random choice: the one given, or one drawn from the generator given, or a new one."""
    if random_state is None:
        return int(np.random.SeedSequence().entropy) % 2**63  # type: ignore[arg-type]
    if isinstance(random_state, int | np.integer) and 0 <= random_state < MOST_SEEDS:
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63 - 1))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    raise ParameterError(
        "random_state",
        f"is {brief(random_state)}; give a whole number from 0 on, of 128 bits at most, a generator, or None",
    )
