"""Where a fit by sampling begins: a chain over all documents, or over some of them where the rest is left to steps."""

from dataclasses import replace
from typing import Any

import numpy as np

from diln.engine.base import Engine
from diln.inference import loops
from diln.inference.data import Array, Tokens
from diln.inference.emissions.multinomial_draws import TopicCounts
from diln.inference.sampling.chain import Chain
from diln.inference.sampling.merge import merge
from diln.inference.sampling.posterior import SampledPosterior
from diln.inference.sampling.run import ChainPlan, ChainRun
from diln.inference.sampling.state import SampledDocuments, State
from diln.inference.sampling.token_step import draw_given, let_go
from diln.models import start
from diln.models.counts import MOST_TOKENS, HeadRows, Rows, check_drawn, whole
from diln.models.files import StoredModel
from diln.models.fitted import Fitted
from diln.models.job import History, Job
from diln.models.parameters import Parameters
from diln.models.reading import check_run
from diln.models.trained import TrainingSketch
from diln.prob.streams import key_of

CHAIN_DOCS = 20_000  # documents of the chain that online learning starts from
FEWEST, MOST = 16, 800  # topics that a chain starts with, where their number is not given
WIDEST = 300  # topics that a chain starts with where fewer are asked for, at most
BEGINNING = 20  # what a stream is for


def begin(job: Job, engine: Engine, found: StoredModel | None = None) -> Fitted:
    """A model after a chain, or after one that was stopped and goes on."""
    order = documents_of(job.rows, job.seed, job.method)
    counts = job.rows.everything() if job.method == "batch" else job.rows.take(order)
    tokens, trained = Tokens.of(whole(counts)), TrainingSketch.of(counts)
    del counts
    run, history = new_run(job, tokens, order, engine), History()
    if found is not None:
        with found.checking():
            check_run(run, found.content["chain"]["run"], found.tensors)
        run.restore(found.content["chain"]["run"], dict(found.tensors))
        history = found.content["chain"]["history"]

    def stored() -> tuple[dict[str, Any], dict[str, Array]]:
        numbers, tensors = run.stored()
        return {"run": numbers, "history": history}, tensors

    watch = job.watch(history, "chain", stored, lambda _: run.done)
    loops.sweeps(run, engine, watch)
    passes = run.chain.number if job.method != "online" else 0
    if watch.stopped:
        cut_short(run, engine)
    posterior = finished(run, engine, job.population / run.chain.size)
    return Fitted(
        job.parameters, posterior, job.vocabulary, job.seed, seen=run.visited, population=job.population,
        passes=passes, method=job.method, history=history, rule=job.rows.rule,
        stopped="sweeps" if watch.stopped else None, trained=trained,
    )  # fmt: skip


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


def documents_of(rows: Rows, seed: int, method: str) -> Array:
    """The documents of a chain in the order that they come into play, which is random where some come in later."""
    order = np.arange(rows.n_docs)
    if method != "batch":
        order = np.random.default_rng([seed, 0]).permutation(rows.n_docs)
    return np.sort(order[:CHAIN_DOCS]) if method == "online" else order


def new_run(job: Job, tokens: Tokens, order: Array, engine: Engine) -> ChainRun:
    """A chain before its first sweep."""
    if not tokens.size:
        raise ValueError("no document has a token; give counts that are not all 0")
    check_terms_fit(tokens)
    parameters, plan = job.parameters, planned(job.parameters, job.method, tokens.size)
    size, weights, drawn = start_size(parameters, tokens.size), parameters.draws(), parameters.init in (None, "draws")
    wide = wider(size) if plan.merges is not None and weights.learned and drawn else size
    counts = TopicCounts.empty(tokens.n_terms, wide, parameters.topic_prior(job.method, size))
    state = State(counts, weights.start(size, wide), wide)
    docs = SampledDocuments.new(tokens, weights.documents(state, tokens.n_docs), order)
    in_play = plan.size(0, len(docs))
    chain = Chain(state, docs, weights, job.seed, in_play, not parameters.keeps_all, parameters.learned_prior)
    if not drawn:
        begin_from(chain, *start.of_model(parameters.init, job.vocabulary), engine)
    return ChainRun(chain, plan)


def check_terms_fit(tokens: Tokens) -> None:
    """Raise if a term has more tokens than single precision counts one by one, or counts are no counts of words."""
    most = np.bincount(tokens.indices, tokens.counts).max(initial=0)
    if most > MOST_TOKENS:
        raise ValueError(
            f"a term has {most:,.0f} tokens; sampling counts up to {MOST_TOKENS:,}: leave out the most frequent terms "
            "(max_df), or use learning_method='online'"
        )
    check_drawn(tokens.size, len(tokens.indices))


def start_size(parameters: Parameters, n_tokens: float) -> int:
    """Topics to start with: as told, or more the more tokens there are."""
    if not isinstance(parameters.n_components, str):
        return parameters.n_components
    return int(np.clip(1.2 * np.sqrt(n_tokens), FEWEST, MOST))


def wider(n_topics: int) -> int:
    """Topics to start with if this many are asked for: more of them, of which the most alike are joined."""
    return max(n_topics, min(2 * n_topics, WIDEST))


def begin_from(chain: Chain, topics: Array, weights: Array, engine: Engine) -> None:
    """Draw the first topics of all tokens given another model's topics and their weights."""
    size = min(len(weights), chain.state.n_topics)
    largest = np.argsort(-weights, kind="stable")[:size]
    given = chain.state.copy()
    given.counts.totals[:size] = weights[largest] * chain.everything.tokens.size
    given.counts.table[:, :size] = topics[largest].T * given.counts.totals[:size]
    given.weights.a0[size:] = 0
    draw_given(given, chain.docs, key_of(chain.seed, 0, BEGINNING), engine)
    chain.recount()


def cut_short(run: ChainRun, engine: Engine) -> None:
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
        chain.sweep(engine)
    run.average.add(chain.state)
    run.kept = [chain.state.copy()] if plan.keep_states else []


def finished(run: ChainRun, engine: Engine, scale: float) -> SampledPosterior:
    """The mean of the late states, largest topics first, for ``scale`` times as many documents."""
    chain = run.chain
    state = run.average.state(chain.state)
    order = np.argsort(-state.tokens, kind="stable")
    found = (run.average.products(chain.state), run.average.spread)
    sums = chain.gather(engine).chosen(order)
    let_go()
    sums.scale(scale)
    state = state.chosen(order)
    state.counts.scale(scale)
    kept, pairs = [one.chosen(order) for one in run.kept], np.ix_(order, order)
    products, spread = (None if one is None else one[pairs] for one in found)
    return SampledPosterior(state, sums, chain.weights, chain.seed, run.average.n_states, kept, products, spread)
