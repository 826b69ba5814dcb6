"""A fitted model: all that is known after fitting, and all that can be asked of it. Knows nothing of scikit-learn."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from diln.engine.base import Engine
from diln.engine.threads import Threads
from diln.files import Held
from diln.inference import predict
from diln.inference.data import CountedBatch
from diln.inference.followed import Followed, follow
from diln.inference.posterior import FoldIn, Inferred, Posterior
from diln.inference.progress import Progress, in_use, topics_in_use
from diln.inference.sampling.posterior import SampledPosterior
from diln.inference.variational.posterior import VariationalPosterior
from diln.models.agreement import ChainAgreement, Judged, shrinkage
from diln.models.batches import HalvesPart, PairedPart, in_parts
from diln.models.counts import Rows, as_rows, in_halves
from diln.models.files import StoredModel, read_model, write_model
from diln.models.inferring import (
    Completing,
    added,
    check_columns,
    checked_halves,
    step_complete,
    step_complete_sums,
    step_locate,
    step_transform,
    tokens_of,
)
from diln.models.layout import STATE
from diln.models.parameters import Parameters
from diln.models.reading import check_model, model_content, parameters_from
from diln.models.stream import Stream
from diln.models.trained import TrainingSketch

Floats = NDArray[np.float64]
DRAWS = 20
MOST_DRAWS = 100_000  # that a document's probability is averaged over
MOST_LOG_LIFT = 700.0  # of which the exponential is a number
EVALUATED = 1000  # documents that the perplexity shown while fitting is of, at most


class Transformed(NamedTuple):
    """Some documents, from the ``first`` to before the ``last``, and their proportions of topics."""

    first: int
    last: int
    tokens: Floats  # (n_docs,) of terms that the model knows
    proportions: Floats  # (n_docs, n_topics)


@dataclass
class Fitted:
    """A model after fitting."""

    parameters: Parameters
    posterior: VariationalPosterior | SampledPosterior  # with its expectations up to date
    vocabulary: list[str]
    seed: int
    steps: int = 0  # stochastic steps made
    seen: int = 0  # documents visited, each as often as it was
    population: float = 0  # documents that the model stands for
    passes: int = 0  # passes over the documents that ``fit`` was given
    method: str = "batch"  # how it was learned: batch, grow or online
    history: list[dict[str, Any]] = field(default_factory=list)
    rule: dict[str, Any] | None = None  # how text was made into counts, where that is known
    named: bool = False  # whether the counts came with the names of their columns
    stopped: str | None = None  # what was under way when the user ended the fit: its sweeps, steps or further chains
    agreement: ChainAgreement | None = None  # with further chains over the same documents, where there were some
    trained: TrainingSketch | None = None  # of the documents that it was trained on, where they are known
    stream: Stream | None = None  # how far updates have come, where there were some
    _topics: Floats | None = field(default=None, init=False, repr=False)
    _log_lift: Floats | None = field(default=None, init=False, repr=False)
    _judged: Judged | None = field(default=None, init=False, repr=False)

    @property
    def kind(self) -> str:
        """DILN, HDP, LDA or CTM."""
        return self.parameters.kind

    @property
    def inference(self) -> str:
        """How it was fitted: "sampling" or "variational"."""
        return str(self.parameters.inference)

    @property
    def n_chains(self) -> int | None:
        """Chains over the same documents, of which the model is the first; None for variational inference."""
        if self.agreement is not None:
            return self.agreement.n_chains
        return 1 if self.inference == "sampling" else None

    @property
    def states_averaged(self) -> int | None:
        """States of a chain that the model is the mean of; None for variational inference."""
        return self.posterior.n_states if isinstance(self.posterior, SampledPosterior) else None

    @property
    def states_kept(self) -> int | None:
        """States of a chain that are kept beside their mean; None for variational inference."""
        return len(self.posterior.states) if isinstance(self.posterior, SampledPosterior) else None

    @property
    def location_variance(self) -> float | None:
        """Prior variance of the topics' locations, given or learned, of a model that has them."""
        if self.locations is None:
            return None
        if isinstance(self.posterior, SampledPosterior):
            return cast(float, self.posterior.weights.described(self.posterior.state)["location_variance"])
        return self.parameters.variance

    @property
    def components(self) -> Floats:
        """Parameters of the topics' Dirichlet distributions (n_topics, n_terms)."""
        return np.asarray(self.posterior.statistics.T, np.float64) + self.posterior.prior

    @property
    def topic_word(self) -> Floats:
        """Expected topics (n_topics, n_terms); rows sum to 1."""
        if self._topics is None:
            self._topics = np.asarray(self.posterior.topic_word().T)
            self._topics.flags.writeable = False
        return self._topics

    def refresh(self, engine: Engine) -> None:
        """Bring up to date what follows from the posterior."""
        self.posterior.refresh(engine)
        self._topics = self._log_lift = self._judged = None

    @property
    def topic_weights(self) -> Floats:
        """Share of the tokens that each topic holds (n_topics,)."""
        tokens = self.posterior.topic_tokens
        return np.asarray(tokens / tokens.sum())

    @property
    def n_topics(self) -> int:
        """Topics that hold at least one in 500 tokens: how finely a model of this size tells the corpus apart."""
        return topics_in_use(self.posterior.topic_tokens)

    @property
    def locations(self) -> Floats | None:
        """Topic locations (n_topics, n_dims), of a model that has them."""
        locations = self.posterior.locations
        return locations.copy() if locations.shape[1] else None

    @property
    def covariance(self) -> Floats | None:
        """Covariance of the topics' log weights over documents (n_topics, n_topics), of a model that has it.

        DILN's are ell_i . ell_j, the mean over states where these are known; the CTM's are of log weights less their
        mean in the document.
        """
        known = self.posterior.covariance
        return None if known is None else known.copy()

    @property
    def correlation(self) -> Floats | None:
        """Correlation of the topics' log weights (n_topics, n_topics); 0 beside a topic that does not vary.

        The covariance, over the deviations that its diagonal has: DILN's are near 0 beside a topic whose location is
        now here, now there.
        """
        known = self.posterior.covariance
        if known is None:
            return None
        deviations = np.maximum(np.sqrt(np.diag(known)), np.finfo(float).tiny)
        scaled = np.clip(known / deviations / deviations[:, np.newaxis], -1, 1)
        np.fill_diagonal(scaled, 1)
        return np.asarray(scaled)

    @property
    def log_lift(self) -> Floats | None:
        """Logarithm of how many times as often as by chance two topics are together in a document.

        (n_topics, n_topics), of a model that has correlations.
        """
        known = self.posterior.covariance
        if self._log_lift is None and known is not None:
            self._log_lift = self.posterior.log_lift(known)
            self._log_lift.flags.writeable = False
        return self._log_lift

    @property
    def lift(self) -> Floats | None:
        """How many times as often as by chance two topics are together in a document (n_topics, n_topics)."""
        known = self.log_lift
        return None if known is None else np.exp(np.minimum(known, MOST_LOG_LIFT))

    @property
    def paired(self) -> NDArray[np.bool_]:
        """For each topic whether it takes part in pairs: whether it is in use, and told from the origin."""
        return np.asarray(in_use(self.posterior.topic_tokens) & self.posterior.placed)

    @property
    def log_lift_spread(self) -> Floats | None:
        """How far log lifts are from state to state (n_topics, n_topics), where that is known."""
        spread, lifts, known = self.posterior.spread, self.log_lift, self.posterior.covariance
        if spread is None or lifts is None or known is None:
            return None
        return np.asarray(spread * shrinkage(lifts, known, self.paired), np.float64)

    def judged(self) -> Judged | None:
        """How sure the lifts of pairs of topics are, of a model with correlations that was fitted with several chains.

        Topics take part that are in use and whose location is told from the origin.
        """
        if self.agreement is None:
            return None
        if self._judged is None:
            self._judged = self.agreement.judged(self.paired, self.posterior.log_lift)
        return self._judged

    @property
    def alpha(self) -> float | None:
        """Concentration of the topics' weights in the corpus, of a model that has it."""
        return self.posterior.alpha

    @property
    def beta(self) -> float | None:
        """Concentration of the topics' weights in a document, of a model that has it."""
        return self.posterior.beta

    @property
    def bound(self) -> float | None:
        """The last lower bound on ln p(documents and point estimates), where it was computed."""
        known = [entry["bound"] for entry in self.history if entry.get("bound") is not None]
        return known[-1] if known else None

    def note(self, progress: Progress) -> None:
        """Keep what was seen of a pass."""
        self.history.append(asdict(progress))

    def described(self, iteration: int, score: float | None, perplexity: float | None) -> Progress:
        """How far a stream has come, but for the time it took."""
        posterior, sampled = self.posterior, score is not None
        before = Followed.named(self.history[-1]["correlations"] if self.history else {})
        _, correlations = follow(
            before, self.seed, posterior.topic_tokens, posterior.locations, lambda: posterior.covariance
        )
        return Progress(
            iteration, self.seen, 0.0, topics_in_use(posterior.topic_tokens), perplexity=perplexity, alpha=self.alpha,
            beta=self.beta, score=score, topic_word_prior=posterior.prior if sampled else None,
            n_components=posterior.n_topics if sampled else None, correlations=correlations,
        )  # fmt: skip

    def evaluation(self, counts: csr_array, engine: Engine) -> Callable[[], float | None]:
        """The perplexity of some of these documents, each completed from half its tokens; None without tokens."""
        some = as_rows(counts[:EVALUATED])

        def perplexity() -> float | None:
            self.refresh(engine)
            observed, held_out = in_halves(some, self.seed)
            return self.perplexity(observed, held_out, engine) if held_out.nnz else None

        return perplexity

    def fold_in(self) -> FoldIn:
        """What documents are inferred from, for whoever is to infer them."""
        return self.posterior.fold_in(self.parameters.document_steps, self.parameters.mean_change_tol)

    def infer(self, counts: csr_array, engine: Engine) -> Inferred:
        """What is known of documents given their counts (n_docs, n_terms), each as if it were alone."""
        check_terms(counts, self.posterior)
        return self.fold_in().infer(counts, engine)

    def transformed(self, rows: Rows, engine: Engine) -> Iterator[Transformed]:
        """The proportions of all documents, a part of them at a time."""
        check_columns(rows.n_terms, self.posterior.n_terms)
        parts, last = in_parts(rows), 0
        for part, found in zip(parts, engine.each(step_transform, parts, self.fold_in()), strict=True):
            first, last = last, last + part.n_docs
            yield Transformed(first, last, *found)

    def located(self, rows: Rows, engine: Engine) -> Floats:
        """The locations of all documents (n_docs, d)."""
        check_columns(rows.n_terms, self.posterior.n_terms)
        return np.vstack(list(engine.each(step_locate, in_parts(rows), self.fold_in())))

    def perplexity(self, observed: csr_array, held_out: csr_array, engine: Engine, draws: int | None = None) -> float:
        """Exp of minus the mean log probability of a held-out token."""
        return self.perplexity_of([PairedPart(CountedBatch(observed), CountedBatch(held_out))], engine, draws)

    def completed(
        self, parts: Iterable[HalvesPart], engine: Engine, draws: int | None = None
    ) -> Iterator[tuple[Floats, Floats]]:
        """The log probability of each document's held-out tokens, and their number, a part of the documents at a time.

        With the expected topics and proportions, or averaged over draws of them. ``halves_in_parts`` and
        ``pairs_in_parts`` make such parts.
        """
        if draws is not None and not isinstance(self.posterior, SampledPosterior):
            return (self._drawn(part, engine, draws) for part in parts)
        return engine.each(step_complete, parts, self._completing(draws))

    def perplexity_of(self, parts: Iterable[HalvesPart], engine: Engine, draws: int | None = None) -> float:
        """The perplexity of documents that come in parts."""
        sums: Iterable[tuple[float, float]]
        if draws is not None and not isinstance(self.posterior, SampledPosterior):
            sums = (added(*self._drawn(part, engine, draws)) for part in parts)
        else:
            sums = engine.each(step_complete_sums, parts, self._completing(draws))
        total, tokens = 0.0, 0.0
        for value, size in sums:
            total += value
            tokens += size
        if not tokens:
            raise ValueError("there is no token to predict; give documents with at least one known term")
        return float(np.exp(-total / tokens))

    def _completing(self, draws: int | None) -> Completing:
        if draws is None or not isinstance(self.posterior, SampledPosterior):
            return Completing([(self.fold_in(), np.ascontiguousarray(self.topic_word.T, np.float32))])
        p = self.parameters
        every = self.posterior.fold_ins(p.document_steps, p.mean_change_tol, draws)
        return Completing([(one, one.topics) for one in every])

    def _drawn(self, part: HalvesPart, engine: Engine, draws: int) -> tuple[Floats, Floats]:
        """The same with draws from the variational posterior."""
        observed, held_out = checked_halves(part, self.posterior.n_terms)
        rng, p = np.random.default_rng([self.seed, 2]), self.parameters
        drawn = self.posterior.draws(observed, p.document_steps, p.mean_change_tol, draws, rng, engine)
        return predict.mean_log_likelihood(drawn, held_out, engine), tokens_of(held_out)

    def save(self, directory: str | Path, held: Held | None = None) -> None:
        """Write the model to a directory, which this process may have held for writing since before."""
        write_model(Path(directory), *self.stored(), self.vocabulary, held=held)

    def stored(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """All but the vocabulary, as JSON and as tensors."""
        content = {
            "class": self.kind,
            "parameters": self.parameters.to_json(),
            "prior": self.posterior.prior,
            "state": {one.name: getattr(self, one.name) for one in STATE},
            "history": self.history,
            "rule": self.rule,
            "named": self.named,
        }
        if isinstance(self.posterior, SampledPosterior):
            content["sampled"] = self.posterior.numbers()
        tensors = self.posterior.tensors()
        if self.agreement is not None:
            content["n_chains"] = self.agreement.n_chains
            tensors |= self.agreement.tensors()
        if self.trained is not None:
            tensors |= self.trained.tensors()
        if self.stream is not None:
            content["stream"] = self.stream.numbers()
            tensors |= self.stream.tensors()
        return content, tensors

    @classmethod
    def load(cls, directory: str | Path, n_jobs: int = 1) -> "Fitted":
        """Read a model from a directory."""
        stored = read_model(Path(directory))
        fitted = cls.restored(stored, stored.content)
        with Threads(n_jobs) as engine:
            fitted.posterior.refresh(engine)
        return fitted

    @classmethod
    def restored(cls, stored: StoredModel, content: Any, parameters: Parameters | None = None) -> "Fitted":
        """Take back what ``stored`` gave, if it is sound; with these parameters, or those that it was stored with."""
        with stored.checking():
            content = model_content(content)
            seed = content["state"]["seed"]
            parameters = parameters or parameters_from(content["class"], content["parameters"], seed)
            check_model(content, parameters, stored.tensors, len(stored.vocabulary))
        tensors = dict(stored.tensors)
        posterior: VariationalPosterior | SampledPosterior
        if content["sampled"] is not None:
            posterior = SampledPosterior.restored(tensors, content["sampled"], parameters.draws(), seed)
        else:
            weights = parameters.weights(np.random.default_rng(0))
            statistics = tensors.pop("statistics")
            weights.restore(tensors)
            posterior = VariationalPosterior(statistics, content["prior"], weights)
        known = {name: content[name] for name in ("history", "rule", "named")}
        if content["n_chains"] is not None:
            known["agreement"] = ChainAgreement.restored(tensors, content["n_chains"])
        known["trained"] = TrainingSketch.restored(stored.tensors)
        if content["stream"] is not None:
            known["stream"] = Stream.restored(content["stream"], tensors, len(stored.vocabulary))
        return cls(parameters, posterior, stored.vocabulary, **content["state"], **known)


def check_terms(counts: csr_array, posterior: Posterior) -> None:
    """Raise unless the counts are over the model's terms."""
    check_columns(counts.shape[1], posterior.n_terms)
