"""Fitting: from counts and parameters to a fitted model, in one go or documents at a time."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from warnings import warn

import numpy as np

from diln.engine.base import Engine
from diln.engine.freed import give_back_large
from diln.engine.threads import engine_or_threads, even_cut
from diln.errors import DilnWarning, brief
from diln.inference import loops
from diln.inference.data import Batch
from diln.inference.posterior import OnlineStep
from diln.inference.progress import Look, Progress, See
from diln.models import chains, sampling, variational
from diln.models.batches import RowsBatch
from diln.models.checkpoints import Checkpoints
from diln.models.checks import ParameterError
from diln.models.choice import chosen
from diln.models.counts import Rows, check_drawn, permuted
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
    see: See | None = None,
    engine: Engine | None = None,
    scratch: Path | None = None,
) -> Fitted:
    """Fit a model to documents; ``stop`` is asked after every sweep or step whether to end with what there is.

    ``see`` is offered a sight of the topics after each. It runs on threads of this process unless an engine is given.
    ``scratch`` is a folder for documents that are too many for memory.
    """
    if checkpoints is not None and parameters.inference != "sampling":
        raise ValueError("checkpoints are for inference='sampling'; fit without them")
    check_size(parameters, rows)
    choice = chosen(parameters, rows.n_docs, rows.n_tokens, here=engine is None)
    if choice.warns:
        warn(choice.sentence, DilnWarning, stacklevel=2)
    job = Job.of(parameters, rows, vocabulary, seed_of(parameters.random_state), choice.method)
    job = replace(job, look=look, stop=stop, see=see, on_disk=choice.on_disk, scratch=scratch)
    if job.on_disk or job.method == "online":  # memory is short, or documents come without end
        give_back_large()
    with engine_or_threads(engine, parameters.jobs) as running:
        fitted = chains.fit(job, running, checkpoints, fit_one)
        fitted.refresh(running)
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

    watch = job.watch(fitted.history, "online", fitted.stored, ends, fitted.posterior.sight)
    while fitted.steps < epochs * each and not watch.over:
        epoch, done = divmod(fitted.steps, each)
        before = fitted.history[-1]["seconds"] if fitted.history else 0.0
        batches = shuffled(job.rows, (job.seed, 1, epoch), size, done)
        loops.steps(OnlinePass(fitted, epoch + 1), batches, engine, watch, before)
    fitted.stopped = "steps" if watch.stopped else None


def shuffled(rows: Rows, seed: tuple[int, ...], size: int, skip: int = 0) -> Iterator[Batch]:
    """Mini-batches of about so many documents in random order, without the first ``skip`` of them."""
    order = permuted(rows.n_docs, seed)
    for first, last in even_cut(rows.n_docs, size)[skip:]:
        yield RowsBatch(rows, np.sort(order[first:last]))


@dataclass(frozen=True, slots=True)
class OnlinePass:
    """A pass over documents, for ``loops.steps``; those of a stream count as none."""

    fitted: Fitted
    number: int
    streams: bool = False
    length: float | None = None  # of the step; None: as the parameters say
    scale: float | None = None  # documents that each document stands for; None: as many as the model has of each

    def learn(self, documents: Batch, engine: Engine) -> Progress:
        """One stochastic step with these documents; how far it has come, but for the time it took."""
        fitted, parameters, batch = self.fitted, self.fitted.parameters, documents.loaded()
        counts = batch.counts()
        check_terms(counts, fitted.posterior)
        if parameters.inference == "sampling":
            check_drawn(counts.data.sum(dtype=np.float64), counts.nnz)
        score = 0.0 if parameters.inference == "sampling" else None
        every = parameters.evaluate_every if score is None else 0
        perplexity = fitted.evaluation(counts, engine)() if every > 0 and fitted.steps % every == 0 else None
        if counts.nnz:  # else there is nothing to learn, and old documents are not to be forgotten for it
            rho = step_length(parameters, fitted.steps) if self.length is None else self.length
            scale = fitted.population / counts.shape[0] if self.scale is None else self.scale
            step = OnlineStep(fitted.steps, rho, scale, parameters.document_steps, parameters.mean_change_tol)
            score = fitted.posterior.learn(batch, step, engine)
            fitted.agreement = None  # which knows nothing of these documents
            fitted.trained = None if fitted.trained is None else fitted.trained.with_documents(counts)
        fitted.steps += 1
        fitted.seen += counts.shape[0]
        fitted.passes = fitted.passes if self.streams else self.number
        return fitted.described(self.number, score, perplexity)


def step_length(parameters: Parameters, number: float) -> float:
    """How far a step goes towards its documents, after so many others."""
    return float((parameters.settled("learning_offset") + number) ** -parameters.settled("learning_decay"))  # S1


def first(
    parameters: Parameters, rows: Rows, vocabulary: list[str], look: Look | None = None, engine: Engine | None = None
) -> Fitted:
    """A model of the first documents of a stream: of sampling a chain over them, and steps over what is too much."""
    check_size(parameters, rows, streams=True)
    population = float(parameters.total_samples or rows.n_docs)
    job = Job(parameters, rows, vocabulary, seed_of(parameters.random_state), "online", population, look)
    with engine_or_threads(engine, parameters.jobs) as running:
        fitted, known = BEGIN_STREAM[parameters.inference](job, running)
        fitted.method, fitted.passes = "online", 0
        _steps(fitted, rows, known, running, look)
    return fitted


def more(fitted: Fitted, rows: Rows, look: Look | None = None, engine: Engine | None = None) -> None:
    """Learn from more documents, in steps of the batch size, in the order given.

    Unless told how many there are in total, a model that has seen others then stands for so many more.
    """
    if fitted.parameters.total_samples is not None:
        fitted.population = fitted.parameters.total_samples
    elif fitted.seen:
        fitted.population += rows.n_docs
    with engine_or_threads(engine, fitted.parameters.jobs) as running:
        _steps(fitted, rows, 0, running, look)


def _steps(fitted: Fitted, rows: Rows, known: int, engine: Engine, look: Look | None) -> None:
    """Steps over all documents but those known, in the order given."""
    ranges = even_cut(rows.n_docs - known, int(fitted.parameters.settled("batch_size")))
    batches = (RowsBatch(rows, range(known + first, known + last)) for first, last in ranges)
    stream_steps(OnlinePass(fitted, fitted.passes + 1, streams=True), batches, engine, look)


def stream_steps(learner: OnlinePass, batches: Iterable[Batch], engine: Engine, look: Look | None) -> None:
    """Steps with documents of a stream; the last ones are noted."""
    fitted = learner.fitted
    before = fitted.history[-1]["seconds"] if fitted.history else 0.0

    def watch(progress: Progress) -> bool:
        fitted.note(progress)
        if look is not None:
            look.look(progress)
        return False

    loops.steps(learner, batches, engine, watch, before)
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
