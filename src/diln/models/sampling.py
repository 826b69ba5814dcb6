"""Fitting by sampling: a chain over all documents, or over some of them and then steps over the rest."""

import time
from dataclasses import asdict, replace
from typing import Any, cast

import numpy as np
from scipy.sparse import csr_array

from diln.engine.base import Engine
from diln.engine.threads import even_cut
from diln.inference.data import Array, Tokens
from diln.inference.emissions.multinomial_draws import TopicCounts
from diln.inference.progress import Look, Progress, topics_in_use
from diln.inference.sampling import loops
from diln.inference.sampling.chain import Chain
from diln.inference.sampling.loops import Plan, Run
from diln.inference.sampling.posterior import SampledPosterior
from diln.inference.sampling.state import SampledDocuments, State
from diln.inference.sampling.token_step import draw_given, let_go
from diln.models import start
from diln.models.checkpoints import Checkpoints
from diln.models.counts import MOST_TOKENS, Rows, whole
from diln.models.files import StoredModel
from diln.models.fitted import Fitted
from diln.models.parameters import Parameters
from diln.prob.streams import key_of

STARTED = 20_000  # documents of the chain that stochastic learning starts from
EPOCHS = 1  # of stochastic learning, unless told otherwise
FEWEST, MOST = 16, 800  # topics that a chain starts with, where their number is not given
WIDEST = 300  # topics that a chain starts with where fewer are asked for, at most
BEGINNING = 20  # what a stream is for


def fit(
    parameters: Parameters, rows: Rows, vocabulary: list[str], seed: int, engine: Engine, look: Look | None,
    keeper: "Keeper",
) -> Fitted:  # fmt: skip
    """Fit one chain, or go on with one that was stopped."""
    method, found = parameters.method(rows.n_docs, rows.n_tokens), keeper.found()
    if found is not None and seed_in(found) != seed:  # left by a fit that was begun with a seed drawn for it
        found = None
    if found is not None and look is not None:
        for entry in found.content.get("fitted", found.content)["history"]:
            look.look(Progress(**entry))
    if found is not None and found.content["phase"] == "online":
        fitted = Fitted.restored(found.content["fitted"], dict(found.tensors), vocabulary)
        fitted.parameters = parameters  # those that do not matter to the result may be others
    else:
        population = float(parameters.total_samples or rows.n_docs) if method == "online" else float(rows.n_docs)
        fitted = begin(parameters, rows, vocabulary, seed, method, population, engine, look, keeper, found)
    if method == "online":
        pass_over(fitted, rows, engine, look, keeper)
    return fitted


def begin(
    parameters: Parameters, rows: Rows, vocabulary: list[str], seed: int, method: str, population: float,
    engine: Engine, look: Look | None = None, keeper: "Keeper | None" = None, found: StoredModel | None = None,
) -> Fitted:  # fmt: skip
    """A model after a chain of all documents, or of some where the rest is left to steps, that stands for so many."""
    order = documents_of(rows, seed, method)
    tokens = Tokens.of(whole(rows.everything() if method == "batch" else rows.take(order)))
    plan = planned(parameters, method, tokens.size)
    run = new_run(parameters, tokens, order, vocabulary, seed, method, plan, engine)
    history: list[dict[str, Any]] = []
    if found is not None:
        loops.restore(run, found.content["run"], dict(found.tensors))
        history = found.content["history"]

    def note(progress: Progress) -> None:
        history.append(asdict(progress))
        if look is not None:
            look.look(progress)

    def keep(run: Run) -> None:
        if keeper is not None:
            keeper.chain(run, seed, history)

    loops.run(run, plan, engine, note, keep)
    posterior = finished(run, engine, population / run.chain.size)
    passes = run.chain.number if method != "online" else 0
    return Fitted(
        parameters, posterior, vocabulary, seed, seen=run.visited, population=population, passes=passes,
        method=method, history=history, rule=rows.rule,
    )  # fmt: skip


def first(
    parameters: Parameters, rows: Rows, n_docs: int, vocabulary: list[str], seed: int, engine: Engine,
    look: Look | None,
) -> Fitted:  # fmt: skip
    """A model after a chain of these documents, the first of the ``n_docs`` that a stream begins with."""
    method = "online" if parameters.learning_method == "online" else "batch"
    return begin(parameters, rows, vocabulary, seed, method, float(parameters.total_samples or n_docs), engine, look)


def planned(parameters: Parameters, method: str, n_tokens: float) -> Plan:
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
    return np.sort(order[:STARTED]) if method == "online" else order


def new_run(
    parameters: Parameters, tokens: Tokens, order: Array, vocabulary: list[str], seed: int, method: str, plan: Plan,
    engine: Engine,
) -> Run:  # fmt: skip
    """A chain before its first sweep."""
    if not tokens.size:
        raise ValueError("no document has a token; give counts that are not all 0")
    check_terms_fit(tokens)
    size, weights = start_size(parameters, tokens.size), parameters.draws()
    widens = plan.merges is not None and weights.learned and parameters.init in (None, "draws")
    wide = wider(size) if widens else size
    counts = TopicCounts.empty(tokens.n_terms, wide, parameters.topic_prior(method, size))
    state = State(counts, weights.start(size, wide), wide)
    docs = SampledDocuments.new(tokens, weights.documents(state, tokens.n_docs), order)
    chain = Chain(
        state, docs, weights, seed, plan.size(0, len(docs)), not parameters.keeps_all, parameters.learned_prior
    )  # fmt: skip
    if parameters.init not in (None, "draws"):
        begin_from(chain, *start.of_model(parameters.init, vocabulary), engine)
    return Run(chain)


def check_terms_fit(tokens: Tokens) -> None:
    """Raise if a term has more tokens than single precision counts one by one."""
    most = np.bincount(tokens.indices, tokens.counts).max(initial=0)
    if most > MOST_TOKENS:
        raise ValueError(
            f"a term has {most:,.0f} tokens; sampling counts up to {MOST_TOKENS:,}: leave out the most frequent terms "
            "(max_df), or use learning_method='online'"
        )


def start_size(parameters: Parameters, n_tokens: float) -> int:
    """Topics to start with: as told, or more the more tokens there are."""
    if not isinstance(parameters.n_components, str):
        return parameters.n_components
    return int(np.clip(1.2 * np.sqrt(n_tokens), FEWEST, MOST))


def wider(n_topics: int) -> int:
    """Topics to start with where so many are asked for: more of them, of which the most alike become one."""
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


def finished(run: Run, engine: Engine, scale: float) -> SampledPosterior:
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


def pass_over(fitted: Fitted, rows: Rows, engine: Engine, look: Look | None, keeper: "Keeper") -> None:
    """Steps over all documents in random order, as often as asked for; goes on where a fit was stopped."""
    parameters, begun = fitted.parameters, time.perf_counter()
    size = int(parameters.settled("batch_size"))
    epochs = EPOCHS if parameters.max_iter is None else parameters.max_iter
    batches = even_cut(rows.n_docs, size)
    before, ordered = fitted.history[-1]["seconds"], -1
    while fitted.steps < epochs * len(batches):
        epoch, number = divmod(fitted.steps, len(batches))
        if epoch != ordered:
            order, ordered = np.random.default_rng([fitted.seed, 1, epoch]).permutation(rows.n_docs), epoch
        progress = learn(fitted, rows.take(np.sort(order[slice(*batches[number])])), epoch + 1, engine)
        seconds = progress.seconds = before + time.perf_counter() - begun
        fitted.passes = epoch + 1
        fitted.note(progress)
        if look is not None:
            look.look(progress)
        late = parameters.max_time is not None and seconds >= parameters.max_time
        keeper.steps(fitted, done=late or fitted.steps == epochs * len(batches))
        if late:
            break


def learn(fitted: Fitted, counts: csr_array, iteration: int, engine: Engine) -> Progress:
    """One stochastic step with these documents, in this pass; how far it has come, but for the time it took.

    Its score is the mean of ln p of a token given its document's others.
    """
    posterior, parameters = cast(SampledPosterior, fitted.posterior), fitted.parameters
    rho = (parameters.settled("learning_offset") + fitted.steps) ** -parameters.settled("learning_decay")
    score = 0.0
    if counts.nnz:  # else there is nothing to learn, and old documents are not to be forgotten for it
        score = posterior.learn(whole(counts), fitted.steps, rho, fitted.population / counts.shape[0], engine)
        fitted.agreement = None  # which knows nothing of these documents
    fitted.steps += 1
    fitted.seen += counts.shape[0]
    return Progress(
        iteration, fitted.seen, 0.0, topics_in_use(posterior.topic_tokens), score=score, alpha=fitted.alpha,
        beta=fitted.beta, topic_word_prior=posterior.prior, n_components=posterior.n_topics,
    )  # fmt: skip


def seed_in(found: StoredModel) -> int:
    """The seed of a chain that was stopped."""
    content = found.content
    return int(content["fitted"]["state"]["seed"] if content["phase"] == "online" else content["seed"])


class Keeper:
    """Writes a chain down when it is time to, and where ``last`` says so when it is done."""

    def __init__(
        self, checkpoints: Checkpoints | None, fingerprint: dict[str, Any], vocabulary: list[str], *, last: bool = False
    ) -> None:
        self.checkpoints, self.fingerprint, self.vocabulary, self.last = checkpoints, fingerprint, vocabulary, last

    def found(self) -> StoredModel | None:
        """What an earlier fit has left, if it is to be taken up."""
        return None if self.checkpoints is None else self.checkpoints.found(self.fingerprint)

    def chain(self, run: Run, seed: int, history: list[dict[str, Any]]) -> None:
        """A sweep is done."""
        if self.checkpoints is not None and (self.checkpoints.due or (self.last and run.done)):
            numbers, tensors = loops.stored(run)
            self._write({"phase": "chain", "seed": seed, "run": numbers, "history": history}, tensors)

    def steps(self, fitted: Fitted, *, done: bool) -> None:
        """A step is done, or all are."""
        if self.checkpoints is not None and (self.checkpoints.due or (self.last and done)):
            content, tensors = fitted.stored()
            self._write({"phase": "online", "fitted": content}, tensors)

    def _write(self, content: dict[str, Any], tensors: dict[str, Array]) -> None:
        if self.checkpoints is not None:
            self.checkpoints.write({**content, "fingerprint": self.fingerprint}, tensors, self.vocabulary)
