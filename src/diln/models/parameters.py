"""What a model can be told, with what is taken if it is not told, checked before any work begins."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np

from diln.inference.sampling.run import ChainPlan
from diln.inference.sampling.tokens import MOST_TOPICS
from diln.inference.variational.run import VariationalPlan
from diln.inference.weights.base import Weights
from diln.inference.weights.dirichlet import DirichletWeights
from diln.inference.weights.dirichlet_draws import DirichletDraws
from diln.inference.weights.draws import WeightDraws
from diln.inference.weights.gamma_process import StickWeights
from diln.inference.weights.gamma_process_draws import GammaProcessDraws
from diln.inference.weights.gaussian import GaussianWeights
from diln.inference.weights.gaussian_draws import GaussianDraws
from diln.inference.weights.located import LocatedWeights
from diln.inference.weights.located_draws import LocatedDraws
from diln.models.checks import as_pair, check_choice, check_number, check_whole

GROWN = 20_000  # documents from which on sampling begins with some of them
STAGES = ((20_000, 60), (60_000, 20))  # documents, sweeps with up to MANY topics
GROWN_SWEEPS, GROWN_STATES = 25, 10  # over all documents, once they are in play
IN_MEMORY = 200_000_000  # tokens whose topics are kept in memory, unless told otherwise
INFERENCES = ("sampling", "variational")
METHODS = ("auto", "batch", "grow", "online")

# What is taken where a parameter is None, by inference.
SETTLED: dict[str, dict[str, Any]] = {
    "sampling": {
        "topic_word_prior": None, "n_dims": 10, "location_variance": 0.5, "alpha_prior": (1.0, 1.0),
        "beta_prior": (1.0, 1e-3), "learning_decay": 0.6, "learning_offset": 20.0, "tol": 0.002, "batch_size": 500,
        "max_doc_update_iter": 50, "init": "draws",
    },
    "variational": {
        "topic_word_prior": 0.1, "n_dims": 20, "location_variance": None, "alpha_prior": (1.0, 1e-3),
        "beta_prior": (1.0, 1e-3), "learning_decay": 0.6, "learning_offset": 25.0, "tol": 1e-3, "batch_size": 250,
        "max_doc_update_iter": 100, "init": "kmeans",
    },
}  # fmt: skip
PASSES = 100  # of variational inference at most, in batch, unless told otherwise
EPOCHS = {"sampling": 1, "variational": 5}  # of online learning
SWEEPS, STATES = 150, 50  # of sampling at most, with MANY topics, and of them averaged
MANY, LEAST_SWEEPS, MOST_SWEEPS = 400, 60, 250  # with more topics there are fewer sweeps, for each takes longer
SHORTENING = 0.6  # power of the number of topics that sweeps fall with: it keeps their product with time about the same
MANY_PRIOR, SHARPENING = 0.015, 0.7  # gamma_0 of MANY topics, and the power of their number that it falls with
WIDEST_PRIOR = 0.2  # gamma_0 at most
LEARNED_PRIOR = (1.0, 1.0)  # shape and rate of what is learned on request: gamma_0, 1 / c
ONLINE_TIMES = 2.5  # gamma_0 of learning_method="online" in terms of batch: its chain is short, and steps do the rest
LEAST_PRIOR = 1e-3  # documents that the prior of a covariance counts as: with fewer it may have no inverse
VARIATIONAL_TOPICS = 200  # at most, where n_components is "auto"


def prior_of(n_topics: int, *, online: bool = False) -> float:
    """gamma_0 that suits so many topics: the fewer there are, the more terms each has to have room for.

    0.015 (400 / n_topics)^0.7, at most 0.2: within about 1% of the least perplexity of validation documents among half,
    once and twice as much, from 25 to 800 topics, on two corpora of news. Online 2.5 times as much.
    """
    times = ONLINE_TIMES if online else 1.0
    return min(WIDEST_PRIOR, times * MANY_PRIOR * float((MANY / n_topics) ** SHARPENING))


@dataclass(frozen=True, kw_only=True)
class Parameters(ABC):
    """What all models can be told."""

    kind: ClassVar[str]
    keeps_all: ClassVar[bool] = False  # whether n_components is the number of topics, not the most there can be

    n_components: int | str
    topic_word_prior: float | str | None
    inference: str
    learning_method: str
    learning_decay: float | None
    learning_offset: float | None
    max_iter: int | None
    max_time: float | None
    tol: float | None
    batch_size: int | None
    total_samples: float | None
    evaluate_every: int
    mean_change_tol: float
    max_doc_update_iter: int | None
    n_states: int | None
    keep_states: int
    n_chains: int
    warm_up: int
    polya_gamma: str
    init: Any
    n_jobs: int | None
    random_state: Any
    verbose: int

    def check(self) -> None:
        """Raise if a value makes no sense."""
        check_choice("inference", self.inference, INFERENCES)
        check_choice("learning_method", self.learning_method, METHODS)
        if self.learning_method == "grow" and self.inference == "variational":
            raise ValueError("learning_method is 'grow', which is for inference='sampling'; give 'batch' or 'online'")
        if isinstance(self.n_components, str) and not self.keeps_all:
            check_choice("n_components", self.n_components, ("auto",))
        else:
            check_whole("n_components", self.n_components, 1)
        if not isinstance(self.n_components, str) and self.inference == "sampling" and self.n_components > MOST_TOPICS:
            raise ValueError(f"n_components is {self.n_components:,}; sampling takes {MOST_TOPICS:,} at most")
        for name in ("batch_size", "max_doc_update_iter", "max_iter", "n_states"):
            if getattr(self, name) is not None:
                check_whole(name, getattr(self, name), 1)
        check_whole("keep_states", self.keep_states, 0)
        check_whole("n_chains", self.n_chains, 1)
        if self.n_chains > 1 and self.inference != "sampling":
            raise ValueError(
                f"n_chains is {self.n_chains}, and chains are of inference='sampling'; leave it out, or fit by sampling"
            )
        check_whole("warm_up", self.warm_up, 0)
        check_choice("polya_gamma", self.polya_gamma, ("matched", "exact"))
        self.check_learned("topic_word_prior", self.topic_word_prior)
        if self.max_time is not None:
            check_number("max_time", self.max_time)
        check_number("learning_offset", self.settled("learning_offset"))
        if self.settled("learning_offset") < 1:
            raise ValueError(f"learning_offset is {self.learning_offset!r}; give 1 or more, or steps go too far")
        check_number("learning_decay", self.settled("learning_decay"))
        if not 0.5 <= self.settled("learning_decay") <= 1:
            raise ValueError(f"learning_decay is {self.learning_decay!r}; steps shrink as they must in [0.5, 1]")
        check_number("tol", self.settled("tol"), zero=True)
        check_number("mean_change_tol", self.mean_change_tol, zero=True)
        check_whole("evaluate_every", self.evaluate_every, -1)
        if self.total_samples is not None:
            check_number("total_samples", self.total_samples)
        if isinstance(self.init, str):
            starts = {"sampling": ("draws",), "variational": ("kmeans", "random")}
            check_choice("init", self.init, starts[self.inference])

    def check_learned(self, name: str, value: Any) -> None:
        """Raise unless the value is None, a positive number, or "auto" where that can be learned."""
        if isinstance(value, str):
            check_choice(name, value, ("auto",))
            if self.inference != "sampling":
                raise ValueError(f"{name} is 'auto', which is learned by inference='sampling' alone; give a number")
        elif value is not None:
            check_number(name, value)

    def settled(self, name: str) -> Any:
        """A parameter's value, or what stands for None."""
        value = getattr(self, name)
        return SETTLED[self.inference][name] if value is None else value

    @property
    def jobs(self) -> int:
        """Threads asked for, one unless told otherwise."""
        return 1 if self.n_jobs is None else self.n_jobs

    @property
    def document_steps(self) -> int:
        """Updates of a new document at most."""
        return int(self.settled("max_doc_update_iter"))

    @property
    def truncation(self) -> int:
        """Most topics that variational inference can use."""
        return VARIATIONAL_TOPICS if isinstance(self.n_components, str) else self.n_components

    def method(self, n_docs: int, n_tokens: float) -> str:
        """How to learn from so many documents: as told, or as they fit into memory."""
        if self.learning_method != "auto":
            return self.learning_method
        if self.inference == "variational" or n_docs <= GROWN:
            return "batch"
        return "grow" if n_tokens <= IN_MEMORY else "online"

    @property
    def epochs(self) -> int:
        """Passes of online learning."""
        return EPOCHS[self.inference] if self.max_iter is None else self.max_iter

    def plan(self) -> VariationalPlan:
        """How long variational inference is to go on, in batch."""
        return VariationalPlan(
            max_iter=PASSES if self.max_iter is None else self.max_iter,
            tol=self.settled("tol"),
            mean_change_tol=self.mean_change_tol,
            evaluate_every=self.evaluate_every,
        )

    def sampling_plan(self, method: str, n_topics: int) -> ChainPlan:
        """How long sampling of so many topics is to go on, and in what steps."""
        most_share = 1.0 if method == "grow" else MOST_SWEEPS / SWEEPS
        share = min(most_share, max((MANY / n_topics) ** SHORTENING, LEAST_SWEEPS / SWEEPS))
        stages = tuple((size, round(share * sweeps)) for size, sweeps in STAGES) if method == "grow" else ()
        default = sum(sweeps for _, sweeps in stages) + round(share * (GROWN_SWEEPS if stages else SWEEPS))
        most = default if self.max_iter is None else self.max_iter
        if most < default:  # as much of it with few documents as there would be
            stages = tuple((size, sweeps * most // default) for size, sweeps in stages)
        default_states = GROWN_STATES if stages else round(max(1.0, share) * STATES)
        states = default_states if self.n_states is None else self.n_states
        left = most - sum(sweeps for _, sweeps in stages)  # over all documents
        return ChainPlan(
            max_iter=most,
            n_states=min(states, max(1, left // 2)),
            keep_states=self.keep_states,
            warm_up=self.warm_up,
            tol=self.settled("tol"),
            stages=stages,
            max_time=self.max_time,
        )

    @abstractmethod
    def draws(self) -> WeightDraws:
        """The weights that sampling draws, and the priors of them."""

    @property
    def exact(self) -> bool:
        """Whether Polya-Gamma variables are drawn exactly."""
        return self.polya_gamma == "exact"

    @property
    def learned_prior(self) -> tuple[float, float] | None:
        """Gamma prior of gamma_0 where sampling learns it."""
        return LEARNED_PRIOR if self.topic_word_prior == "auto" else None

    @property
    def variance(self) -> float:
        """c, or where it starts, of a model with locations."""
        return 1.0

    def topic_prior(self, method: str, n_topics: int) -> float:
        """gamma_0 of so many topics, or where it starts."""
        if isinstance(self.topic_word_prior, str) or self.topic_word_prior is None:
            given = SETTLED[self.inference]["topic_word_prior"]
            return prior_of(n_topics, online=method == "online") if given is None else float(given)
        return float(self.topic_word_prior)

    @abstractmethod
    def weights(self, rng: np.random.Generator) -> Weights:
        """The weights that inference starts from."""

    def after(self, before: "Parameters") -> Self:
        """These parameters, for a model that was begun with others; raise if that cannot be."""
        for name in BUILT_IN:
            old, new = getattr(before, name, None), getattr(self, name, None)
            if old != new:
                raise ValueError(
                    f"{name} is {new!r} but the model was begun with {old!r}; set it back, or begin again with fit"
                )
        return self

    def to_json(self) -> dict[str, Any]:
        """As JSON; a model or a generator among the values is only named."""
        return {name: plain(value) for name, value in asdict_shallow(self).items()}


@dataclass(frozen=True, kw_only=True)
class LDAParameters(Parameters):
    """What LDA can be told."""

    kind: ClassVar[str] = "LDA"
    keeps_all: ClassVar[bool] = True
    doc_topic_prior: float | str | None

    def check(self) -> None:
        """Raise if a value makes no sense."""
        super().check()
        if isinstance(self.doc_topic_prior, str):
            check_choice("doc_topic_prior", self.doc_topic_prior, ("auto",))
        elif self.doc_topic_prior is not None:
            check_number("doc_topic_prior", self.doc_topic_prior)

    def weights(self, rng: np.random.Generator) -> Weights:
        """A symmetric Dirichlet, 1 / n_components unless given; "auto" learns from there."""
        given = None if isinstance(self.doc_topic_prior, str) else self.doc_topic_prior
        value = 1 / self.truncation if given is None else given
        return DirichletWeights(np.full(self.truncation, value), learned=self.doc_topic_prior == "auto")

    def draws(self) -> WeightDraws:
        """Given weights, or learned ones as the HDP has them."""
        if self.doc_topic_prior == "auto":
            return GammaProcessDraws(exact=self.exact)
        given = self.doc_topic_prior
        return DirichletDraws(exact=self.exact, weight=None if given is None else float(given))


@dataclass(frozen=True, kw_only=True)
class HDPParameters(Parameters):
    """What the HDP can be told."""

    kind: ClassVar[str] = "HDP"
    alpha_prior: tuple[float, float] | None
    beta_prior: tuple[float, float] | None
    weight_rate: float

    def check(self) -> None:
        """Raise if a value makes no sense."""
        super().check()
        check_number("weight_rate", self.weight_rate)

    def sticks(self) -> StickWeights:
        """Even sticks."""
        return StickWeights(self.truncation, self.settled("alpha_prior"), self.settled("beta_prior"))

    def weights(self, rng: np.random.Generator) -> Weights:
        """Even sticks."""
        return self.sticks()

    def draws(self) -> WeightDraws:
        """Weights of a gamma process."""
        return GammaProcessDraws(float(self.weight_rate), self.settled("alpha_prior"), self.exact)


@dataclass(frozen=True, kw_only=True)
class DILNParameters(HDPParameters):
    """What DILN can be told."""

    kind: ClassVar[str] = "DILN"
    n_dims: int | None
    location_variance: float | str | None

    def check(self) -> None:
        """Raise if a value makes no sense."""
        super().check()
        if self.n_dims == 0:
            raise ValueError("n_dims is 0; topics need at least one dimension to be placed in: HDP is DILN without any")
        check_whole("n_dims", self.settled("n_dims"), 1)
        self.check_learned("location_variance", self.location_variance)

    @property
    def variance(self) -> float:
        """c, or where it starts."""
        given = SETTLED[self.inference]["location_variance"] if self.location_variance == "auto" else None
        value = self.settled("location_variance") if given is None else given
        return 1 / self.settled("n_dims") if value is None else float(value)

    def weights(self, rng: np.random.Generator) -> Weights:
        """Even sticks, and locations drawn from their prior: at the origin all gradients would vanish."""
        locations = np.sqrt(self.variance) * rng.standard_normal((self.truncation, self.settled("n_dims")))
        return LocatedWeights(self.sticks(), locations, self.variance)

    def draws(self) -> WeightDraws:
        """Weights of a gamma process, and locations."""
        precision = LEARNED_PRIOR if self.location_variance == "auto" else None
        process = (float(self.weight_rate), self.settled("alpha_prior"), self.exact)
        return LocatedDraws(*process, self.settled("n_dims"), self.variance, precision)


@dataclass(frozen=True, kw_only=True)
class CTMParameters(Parameters):
    """What the CTM can be told."""

    kind: ClassVar[str] = "CTM"
    keeps_all: ClassVar[bool] = True
    covariance_prior: float | None

    def check(self) -> None:
        """Raise if a value makes no sense."""
        super().check()
        if self.covariance_prior is not None:
            check_number("covariance_prior", self.covariance_prior)
            if self.covariance_prior < LEAST_PRIOR:
                raise ValueError(
                    f"covariance_prior is {self.covariance_prior!r}; give {LEAST_PRIOR} or more, or the covariance may "
                    "have no inverse"
                )

    @property
    def prior_documents(self) -> float:
        """c, the documents that the prior of the covariance counts as."""
        return float(self.truncation if self.covariance_prior is None else self.covariance_prior)

    def weights(self, rng: np.random.Generator) -> Weights:
        """Log weights that are independent of each other, as the prior has them."""
        return GaussianWeights(np.zeros(self.truncation), np.eye(self.truncation), self.prior_documents)

    def draws(self) -> WeightDraws:
        """Log weights."""
        return GaussianDraws(self.prior_documents)


# What a model is made of, and cannot be changed as it goes on learning.
BUILT_IN = (
    "n_components", "topic_word_prior", "inference", "n_dims", "location_variance", "alpha_prior", "beta_prior",
    "doc_topic_prior", "weight_rate", "covariance_prior",
)  # fmt: skip
KINDS: dict[str, type[Parameters]] = {
    one.kind: one for one in (DILNParameters, HDPParameters, LDAParameters, CTMParameters)
}

COMMON: dict[str, Any] = {
    "n_components": "auto",
    "topic_word_prior": None,
    "inference": "sampling",
    "learning_method": "auto",
    "learning_decay": None,
    "learning_offset": None,
    "max_iter": None,
    "max_time": None,
    "tol": None,
    "batch_size": None,
    "total_samples": None,
    "evaluate_every": 0,
    "mean_change_tol": 1e-3,
    "max_doc_update_iter": None,
    "n_states": None,
    "keep_states": 0,
    "n_chains": 1,
    "warm_up": 20,
    "polya_gamma": "matched",
    "init": None,
    "n_jobs": None,
    "random_state": None,
    "verbose": 0,
}
WEIGHTS: dict[str, Any] = {"alpha_prior": None, "beta_prior": None, "weight_rate": 10.0}
PAIRS = ("alpha_prior", "beta_prior")
DEFAULTS: dict[str, dict[str, Any]] = {
    "DILN": {**COMMON, **WEIGHTS, "n_dims": None, "location_variance": None},
    "HDP": {**COMMON, **WEIGHTS},
    "LDA": {**COMMON, "n_components": 100, "doc_topic_prior": None},
    "CTM": {**COMMON, "n_components": 100, "covariance_prior": None},
}


def parameters_of(kind: str, given: dict[str, Any]) -> Parameters:
    """The checked parameters of a model: what is given, and defaults for the rest."""
    values = {**DEFAULTS[kind], **given}
    for name in PAIRS:
        if values.get(name) is not None:
            values[name] = as_pair(name, values[name])
    made = KINDS[kind](**values)
    made.check()
    return made


def asdict_shallow(parameters: Parameters) -> dict[str, Any]:
    """The values by name, not copied."""
    return {field.name: getattr(parameters, field.name) for field in fields(parameters)}


def plain(value: Any) -> Any:
    """A value that JSON knows."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    if value is None or isinstance(value, bool | int | float | str | list):
        return value
    return f"<{type(value).__name__}>"
