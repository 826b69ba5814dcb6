"""The parameters of a fit: checked options of a model and its inference, and what follows from them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from diln.inference.sampling.run import ChainPlan
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
from diln.models.checks import ParameterError, bytes_of, check_choice
from diln.models.declared import about_of, checked
from diln.models.options import INFERENCES, MODELS, misplaced, options_of

STAGES = ((20_000, 60), (60_000, 20))  # documents, sweeps with up to MANY topics
GROWN_SWEEPS, GROWN_STATES = 25, 10  # over all documents, once they are in play
PASSES = 100  # of variational inference at most, in batch, unless told otherwise
EPOCHS = {"sampling": 1, "variational": 5}  # of online learning
SWEEPS, STATES = 150, 50  # of sampling at most, with MANY topics, and of them averaged
MANY, LEAST_SWEEPS, MOST_SWEEPS = 400, 60, 250  # with more topics there are fewer sweeps, for each takes longer
SHORTENING = 0.6  # power of the number of topics that sweeps fall with: it keeps their product with time about the same
MANY_PRIOR, SHARPENING = 0.015, 0.7  # gamma_0 of MANY topics, and the power of their number that it falls with
WIDEST_PRIOR = 0.2  # gamma_0 at most
LEARNED_PRIOR = (1.0, 1.0)  # shape and rate of what is learned on request: gamma_0, 1 / c
TIMES = {"batch": 1.0, "grow": 2.0, "online": 2.5}  # gamma_0 of a way to learn, in terms of batch
VARIATIONAL_TOPICS = 200  # at most, where n_components is "auto"


def prior_of(n_topics: int, method: str = "batch") -> float:
    """gamma_0 that suits so many topics: the fewer there are, the more terms each has to have room for.

    0.015 (400 / n_topics)^0.7, at most 0.2: within 1.5% of the least perplexity of validation documents among half,
    once and twice as much, from 10 to 800 topics, on five corpora in batch. With "grow" it is twice and online 2.5
    times as much: their chains start on a part of the documents, and have few sweeps over all of them.
    """
    return min(WIDEST_PRIOR, TIMES[method] * MANY_PRIOR * float((MANY / n_topics) ** SHARPENING))


KINDS: dict[str, type["Parameters"]] = {}  # by kind; a class comes in by itself


@dataclass(frozen=True)
class Parameters(ABC):
    """What a fit is made by: every option of the model and of its inference, by name."""

    kind: ClassVar[str]

    values: Mapping[str, Any]

    def __init_subclass__(cls) -> None:
        KINDS[cls.kind] = cls

    @property
    def keeps_all(self) -> bool:
        """Whether n_components is the number of topics, not the most there can be."""
        return MODELS[self.kind].keeps_all

    def __getattr__(self, name: str) -> Any:
        if name != "values" and name in self.values:
            return self.values[name]
        raise AttributeError(f"{type(self).__name__} has no {name!r}")

    def check(self) -> None:
        """Raise if values make no sense, by themselves or beside each other."""
        bytes_of(self.values.get("memory", "auto"))
        if self.inference == "variational":
            if self.learning_method == "grow":
                raise ParameterError("learning_method", "is 'grow', which is for sampling; give 'batch' or 'online'")
            for name in ("topic_word_prior", "location_variance"):
                if self.values.get(name) == "auto":
                    raise ParameterError(name, "is 'auto', which only sampling can learn; give a number")

    def settled(self, name: str) -> Any:
        """A parameter's value, or what stands for None."""
        value = self.values[name]
        return self._chosen(name) if value is None else value

    def _chosen(self, name: str) -> Any:
        """What the inference chooses."""
        known = about_of(options_of(self.kind, self.inference)[name]).by_inference
        return None if known is None else known[list(INFERENCES).index(self.inference)]

    def but(self, **others: Any) -> Self:
        """The same parameters, some with other values."""
        return type(self)({**self.values, **others})

    @property
    def n_components(self) -> int | str:
        """The most topics there can be, or "auto"."""
        value: int | str = self.values["n_components"]
        return value

    @property
    def n_chains(self) -> int:
        """Chains over the same documents."""
        return int(self.values.get("n_chains", 1))

    @property
    def max_time(self) -> float | None:
        """Seconds that a fit may take, where there is a limit."""
        return self.values.get("max_time")

    @property
    def topic_numbers(self) -> int:
        """Numbers that are known of a topic beside its terms."""
        return 0

    @property
    def document_numbers(self) -> int:
        """Numbers that are known of a document beside its tokens."""
        return 0

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
        return VARIATIONAL_TOPICS if isinstance(self.n_components, str) else int(self.n_components)

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
        return self.values.get("omega") == "exact"

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
            given = self._chosen("topic_word_prior")
            return prior_of(n_topics, method) if given is None else float(given)
        return float(self.topic_word_prior)

    @abstractmethod
    def weights(self, rng: np.random.Generator) -> Weights:
        """The weights that inference starts from."""

    def after(self, before: "Parameters") -> Self:
        """These parameters, for a model that was begun with others; raise if that cannot be."""
        every = {**options_of(before.kind, before.inference), **options_of(self.kind, self.inference)}
        for name in (name for name, one in every.items() if about_of(one).built_in):
            old, new = before.values.get(name), self.values.get(name)
            if old != new:
                raise ParameterError(
                    name, f"is {new!r} but the model was begun with {old!r}; set it back, or begin again with fit"
                )
        return self

    def to_json(self) -> dict[str, Any]:
        """As JSON; a model or a generator among the values is only named."""
        return {name: plain(value) for name, value in self.values.items()}


class LDAParameters(Parameters):
    """The parameters of LDA."""

    kind = "LDA"

    def weights(self, rng: np.random.Generator) -> Weights:
        """A symmetric Dirichlet, by default of 1 / n_components; "auto" learns from there."""
        value = 1 / self.truncation if self.doc_topic_prior in (None, "auto") else self.doc_topic_prior
        return DirichletWeights(np.full(self.truncation, value), learned=self.doc_topic_prior == "auto")

    def draws(self) -> WeightDraws:
        """Given weights, or learned ones as the HDP has them."""
        if self.doc_topic_prior == "auto":
            return GammaProcessDraws(exact=self.exact)
        given = self.doc_topic_prior
        return DirichletDraws(exact=self.exact, weight=None if given is None else float(given))


class HDPParameters(Parameters):
    """The parameters of the HDP."""

    kind = "HDP"

    def sticks(self) -> StickWeights:
        """Even sticks."""
        return StickWeights(self.truncation, self.settled("alpha_prior"), self.beta_prior)

    def weights(self, rng: np.random.Generator) -> Weights:
        """Even sticks."""
        return self.sticks()

    def draws(self) -> WeightDraws:
        """Weights of a gamma process."""
        return GammaProcessDraws(float(self.weight_rate), self.settled("alpha_prior"), self.exact)


class DILNParameters(HDPParameters):
    """The parameters of DILN."""

    kind = "DILN"

    @property
    def variance(self) -> float:
        """c, or where it starts."""
        value = self._chosen("location_variance") if self.location_variance == "auto" else None
        value = self.settled("location_variance") if value is None else value
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

    @property
    def topic_numbers(self) -> int:
        """A location, and the moments that it is found from."""
        dims = int(self.settled("n_dims"))
        return dims * (dims + 3) // 2

    @property
    def document_numbers(self) -> int:
        """A location."""
        return int(self.settled("n_dims"))


class CTMParameters(Parameters):
    """The parameters of the CTM."""

    kind = "CTM"

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

    @property
    def topic_numbers(self) -> int:
        """A covariance with every topic."""
        return self.truncation

    @property
    def document_numbers(self) -> int:
        """A log weight for every topic."""
        return self.truncation


def defaults(kind: str, inference: str = "sampling") -> dict[str, Any]:
    """The defaults of all options of a model that is fitted in this way."""
    return {name: one.default for name, one in options_of(kind, inference).items()} | {"inference": inference}


def parameters_of(kind: str, given: Mapping[str, Any]) -> Parameters:
    """The checked parameters of a fit: what is given, by name, and defaults for the rest."""
    check_choice("inference", inference := given.get("inference", "sampling"), tuple(INFERENCES))
    known = options_of(kind, inference)
    for name in given:
        if name not in known:
            raise misplaced(name, kind, inference)
    values = {**defaults(kind, inference), **given}
    made = KINDS[kind]({name: checked(one, values[name]) for name, one in known.items()})
    made.check()
    return made


def plain(value: Any) -> Any:
    """A value that JSON knows."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    if value is None or isinstance(value, bool | int | float | str | list):
        return value
    return f"<{type(value).__name__}>"
