"""Where a fit by variational inference begins, and its passes over all documents."""

from typing import cast

import numpy as np
from scipy.sparse import csr_array

from diln.engine.base import Engine
from diln.inference import loops
from diln.inference.data import Array
from diln.inference.variational import start
from diln.inference.variational.posterior import VariationalPosterior
from diln.inference.variational.run import VariationalRun
from diln.models.files import StoredModel
from diln.models.fitted import Fitted
from diln.models.job import Job
from diln.models.start import of_model
from diln.models.trained import TrainingSketch

START_DOCS = 10_000  # documents that online learning reads to start from


def begin(job: Job, engine: Engine, found: StoredModel | None = None) -> Fitted:
    """A model after passes over all documents; of online learning, one that knows nothing but its start."""
    fitted = started(job, engine)
    if job.method != "online":
        counts, posterior = job.rows.everything(), cast(VariationalPosterior, fitted.posterior)
        run = VariationalRun(posterior, counts, job.parameters.plan(), fitted.evaluation(counts, engine))
        watch = job.watch(fitted.history, "fitted", fitted.stored, lambda _: run.done, posterior.sight)
        loops.sweeps(run, engine, watch)
        fitted.stopped = "sweeps" if watch.stopped else None
        fitted.passes = run.number
        fitted.seen += run.number * job.rows.n_docs
    return fitted


def first(job: Job, engine: Engine) -> tuple[Fitted, int]:
    """A model at the beginning of a stream, and how many of its documents it has learned from."""
    return started(job, engine), 0


def started(job: Job, engine: Engine) -> Fitted:
    """A model that has seen nothing but what its start is made from."""
    rng, rows, parameters = np.random.default_rng([job.seed, 0]), job.rows, job.parameters
    if job.method != "online" or rows.n_docs <= START_DOCS:
        counts = rows.everything()
    else:
        counts = rows.take(np.sort(rng.choice(rows.n_docs, START_DOCS, replace=False)))
    tokens = counts.data.sum(dtype=np.float64) * rows.n_docs / counts.shape[0]
    if not tokens:
        raise ValueError("no document has a token; give counts that are not all 0")
    statistics = first_topics(job, counts, tokens, rng, engine)
    prior = parameters.topic_prior("batch", parameters.truncation)
    posterior = VariationalPosterior(np.ascontiguousarray(statistics, np.float32), prior, parameters.weights(rng))
    return Fitted(
        parameters, posterior, job.vocabulary, job.seed, population=job.population, method=job.method, rule=rows.rule,
        trained=TrainingSketch.of(counts),
    )  # fmt: skip


def first_topics(job: Job, counts: csr_array, tokens: float, rng: np.random.Generator, engine: Engine) -> Array:
    """Statistics (n_terms, n_topics) to start from."""
    size, n_terms, init = job.parameters.truncation, counts.shape[1], job.parameters.settled("init")
    if init == "kmeans":
        return start.smoothed(start.clusters(counts, size, rng, engine), tokens, rng)
    if init == "random":
        return start.random_topics(n_terms, size, tokens, rng)
    topics, weights = of_model(init, job.vocabulary)
    return start.fitted_topics(topics[np.argsort(-weights, kind="stable")], size, tokens, rng)
