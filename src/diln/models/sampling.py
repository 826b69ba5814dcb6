"""Where a fit by sampling begins: a chain over all documents, or over some of them where the rest is left to steps."""

from collections.abc import Callable
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from diln.engine.base import Engine
from diln.fields import MismatchError
from diln.inference.data import Array
from diln.inference.emissions.multinomial_draws import TopicCounts
from diln.inference.followed import rename_pairs
from diln.inference.sampling.chain import Chain
from diln.inference.sampling.documents import HeldDocuments, shard_ranges
from diln.inference.sampling.merge import merge
from diln.inference.sampling.posterior import SampledPosterior
from diln.inference.sampling.run import ChainPlan, ChainRun
from diln.inference.sampling.state import State
from diln.inference.sampling.token_step import draw_held_given, let_go
from diln.models import start
from diln.models.counts import MOST_TOKENS, PART, HeadRows, Rows, SomeRows, check_drawn, permuted, whole
from diln.models.disk import DiskHome, scratch_folder
from diln.models.files import StoredModel
from diln.models.fitted import Fitted
from diln.models.homes import RowsHome, apart, homes_of, take_documents
from diln.models.job import History, Job
from diln.models.parameters import Parameters
from diln.models.reading import check_documents, check_run
from diln.models.recovery import Recovery
from diln.models.trained import TrainingSketch
from diln.prob.streams import key_of

CHAIN_DOCS = 20_000  # documents of the chain that online learning starts from
FEWEST, MOST = 16, 800  # topics that a chain starts with, where their number is not given
WIDEST = 300  # topics that a chain starts with where fewer are asked for, at most
BEGINNING = 20  # what a stream is for


def begin(job: Job, engine: Engine, found: StoredModel | None = None) -> Fitted:
    """A model after a chain, or after one that was stopped and goes on."""
    rows, shuffled = documents_of(job.rows, job.seed, job.method)
    trained = checked(rows)
    with scratch_folder(job.scratch) if job.on_disk else nullcontext() as folder:
        home = RowsHome if folder is None else partial(DiskHome, folder=folder)
        run = new_run(job, rows, shuffled, engine, home)
        with closing(run.chain.docs):
            return fitted_by(job, run, engine, trained, found)


def fitted_by(job: Job, run: ChainRun, engine: Engine, trained: TrainingSketch, found: StoredModel | None) -> Fitted:
    """A model after a run, which begins or goes on from where it was stopped."""
    history = History()

    def start_chain() -> None:
        if found is not None:
            history[:] = restored(run, found, job.method)
        elif job.parameters.init not in (None, "draws"):
            begin_from(run.chain, *start.of_model(job.parameters.init, job.vocabulary))

    def stored() -> tuple[dict[str, Any], dict[str, Array]]:
        numbers, tensors = run.stored()
        return {"run": numbers, "history": history}, tensors

    recovery = Recovery(run, history, engine, start_chain)
    watch = job.watch(history, "chain", stored, lambda _: run.done, run.sight, recovery.write)

    def finish() -> SampledPosterior:
        if watch.stopped:
            cut_short(run)
        return finished(run, job.population / run.chain.docs.size)

    posterior = recovery.completed(watch, finish)
    passes = len(history) if job.method != "online" else 0
    rename_pairs(history, run.chain.followed)
    return Fitted(
        job.parameters, posterior, job.vocabulary, job.seed, seen=run.visited, population=job.population,
        passes=passes, method=job.method, history=history, rule=job.rows.rule,
        stopped="sweeps" if watch.stopped else None, trained=trained,
    )  # fmt: skip


def restored(run: ChainRun, found: StoredModel, method: str) -> History:
    """Bring a run to where a fit of the same documents was stopped; returns its history."""
    chain, numbers = found.content["chain"], found.content["chain"]["run"]
    with found.checking():
        tensors, docs = apart(found.tensors, run.chain.weights)
        check_run(run, numbers, tensors, run.chain.state.counts.n_terms)
        run.restore(numbers, tensors)
        if found.shards is not None:
            read_documents(run.chain.docs, found)
        else:
            if method == "grow" and len(run.chain.docs.ranges) > 1:
                raise MismatchError("is of a former version, which grew by documents in another order")
            take_documents(run.chain.docs, docs, run.chain.weights)
        check_documents(run.chain)
    return list(chain["history"])


def read_documents(docs: HeldDocuments, found: StoredModel) -> None:
    """Bring documents to where they were; a file of another size or with another checksum is named."""
    if len(found.notes) != len(docs.ranges):
        raise MismatchError(f"has {len(found.notes)} shards of documents in place of {len(docs.ranges)}")
    docs.read(found.shards, found.notes)


def first(job: Job, engine: Engine) -> tuple[Fitted, int]:
    """A model after a chain of the first documents of a stream, and how many these are."""
    head = HeadRows(job.rows, min(job.rows.n_docs, CHAIN_DOCS))
    method = "online" if job.parameters.learning_method == "online" else "batch"
    return begin(replace(job, rows=head, method=method), engine), head.n_docs


def planned(parameters: Parameters, method: str, n_tokens: float) -> ChainPlan:
    """How long the chain over so many tokens is to be."""
    plan = parameters.sampling_plan(method, start_size(parameters, n_tokens))
    grows = parameters.n_components == "auto"
    if method == "online":
        weights = parameters.draws()
        plan = replace(plan, max_iter=weights.start_sweeps, n_states=1, keep_states=0)
        if weights.start_whole:
            plan = replace(plan, tol=-np.inf)  # no end before
    return replace(plan, grows=grows, merges=None if grows else parameters.truncation)


def documents_of(rows: Rows, seed: int, method: str) -> tuple[Rows, tuple[int, ...] | None]:
    """The documents of a chain, and the seed of their order, which is random where some come into play later."""
    if method == "online":
        return SomeRows(rows, np.sort(permuted(rows.n_docs, (seed, 0))[:CHAIN_DOCS])), None
    return rows, (seed, 0) if method == "grow" else None


def checked(rows: Rows) -> TrainingSketch:
    """The sketch of documents; raise if they have no token, or more of a term than single precision counts one by one.

    Nor may their counts be such as are none of words.
    """
    sketch, tokens, entries = TrainingSketch.of(), np.zeros(rows.n_terms), 0
    for part in rows.parts(PART):
        counts = whole(part)
        tokens += np.bincount(counts.indices, counts.data, rows.n_terms)
        entries += counts.nnz
        sketch = sketch.with_documents(part)
    if not tokens.any():
        raise ValueError("no document has a token; give counts that are not all 0")
    if (most := tokens.max()) > MOST_TOKENS:
        raise ValueError(
            f"a term has {most:,.0f} tokens; sampling counts up to {MOST_TOKENS:,}: leave out the most frequent terms "
            "(max_df), or use learning_method='online'"
        )
    check_drawn(tokens.sum(), entries)
    return sketch


def new_run(
    job: Job, rows: Rows, shuffled: tuple[int, ...] | None, engine: Engine, home: Callable[..., RowsHome]
) -> ChainRun:
    """A chain before its first sweep; ``home`` makes the homes of its documents."""
    ranges = shard_ranges(rows.lengths)
    n_tokens = sum(one.n_tokens for one in ranges)
    parameters, plan = job.parameters, planned(job.parameters, job.method, n_tokens)
    size, weights, drawn = start_size(parameters, n_tokens), parameters.draws(), parameters.init in (None, "draws")
    wide = wider(size) if plan.merges is not None and weights.learned and drawn else size
    counts = TopicCounts.empty(rows.n_terms, wide, parameters.topic_prior(job.method, size))
    state = State(counts, weights.start(size, wide), wide)
    homes = homes_of(rows, ranges, weights, state, shuffled, home)
    docs = HeldDocuments(engine.hold(homes), ranges, plan.size(0, rows.n_docs))
    chain = Chain(state, docs, weights, job.seed, not parameters.keeps_all, parameters.learned_prior)
    return ChainRun(chain, plan)


def start_size(parameters: Parameters, n_tokens: float) -> int:
    """Topics to start with: as told, or more the more tokens there are."""
    if not isinstance(parameters.n_components, str):
        return parameters.n_components
    return int(np.clip(1.2 * np.sqrt(n_tokens), FEWEST, MOST))


def wider(n_topics: int) -> int:
    """Topics to start with if this many are asked for: more of them, of which the most alike are joined."""
    return max(n_topics, min(2 * n_topics, WIDEST))


def begin_from(chain: Chain, topics: Array, weights: Array) -> None:
    """Draw the first topics of all tokens given another model's topics and their weights."""
    size = min(len(weights), chain.state.n_topics)
    largest = np.argsort(-weights, kind="stable")[:size]
    given = chain.state.copy()
    given.counts.totals[:size] = weights[largest] * chain.docs.n_tokens
    given.counts.table[:, :size] = topics[largest].T * given.counts.totals[:size]
    given.weights.a0[size:] = 0
    draw_held_given(given, chain.docs, key_of(chain.seed, 0, BEGINNING))
    chain.recount()


def cut_short(run: ChainRun) -> None:
    """Have a chain that was stopped end in a model: the mean of its late states so far, or else its last state.

    A model has as many topics as were asked for, and its weights. While topics take shape a chain may have neither: it
    gets them, and one more sweep.
    """
    chain, plan = run.chain, run.plan
    if run.average.n_states:
        return
    size = chain.state.n_topics
    topics = size if plan.merges is None else min(plan.merges, size)
    shapeless = chain.closed or topics < size
    if topics < size:
        merge(chain, topics)
    if chain.closed:
        chain.open()
    if shapeless:
        chain.sweep()
    run.average.add(chain.state)
    run.kept = [chain.state.copy()] if plan.keep_states else []


def finished(run: ChainRun, scale: float) -> SampledPosterior:
    """The mean of the late states, largest topics first, for ``scale`` times as many documents."""
    chain = run.chain
    state = run.average.state(chain.state)
    order = np.argsort(-state.tokens, kind="stable")
    found = (run.average.products(chain.state), run.average.spread)
    sums = chain.gather().chosen(order)
    let_go()
    sums.scale(scale)
    state = state.chosen(order)
    chain.followed = chain.followed.kept(order)
    state.counts.scale(scale)
    kept, pairs = [one.chosen(order) for one in run.kept], np.ix_(order, order)
    products, spread = (None if one is None else one[pairs] for one in found)
    return SampledPosterior(state, sums, chain.weights, chain.seed, run.average.n_states, kept, products, spread)
