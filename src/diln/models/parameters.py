"""What a model can be told, with what is taken if it is not told, checked before any work begins."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from math import isfinite
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from diln.inference.loops import Plan
from diln.inference.weights import DirichletWeights, LocatedWeights, StickWeights, Weights

PASSES = 100  # of batch inference at most, unless told otherwise
EPOCHS = 5  # of stochastic inference


@dataclass(frozen=True, kw_only=True)
class Parameters(ABC):
    """What all models can be told."""

    kind: ClassVar[str]

    n_components: int
    topic_word_prior: float
    inference: str
    learning_method: str
    learning_decay: float
    learning_offset: float
    max_iter: int | None
    tol: float
    batch_size: int
    total_samples: float | None
    evaluate_every: int
    mean_change_tol: float
    max_doc_update_iter: int
    init: Any
    n_jobs: int | None
    random_state: Any
    verbose: int

    def check(self) -> None:
        """Raise if a value makes no sense."""
        for name in ("n_components", "batch_size", "max_doc_update_iter"):
            check_whole(name, getattr(self, name), 1)
        if self.max_iter is not None:
            check_whole("max_iter", self.max_iter, 1)
        check_number("topic_word_prior", self.topic_word_prior)
        check_number("learning_offset", self.learning_offset)
        check_choice("inference", self.inference, ("variational",))
        check_choice("learning_method", self.learning_method, ("batch", "online"))
        check_number("learning_decay", self.learning_decay)
        if not 0.5 < self.learning_decay <= 1:
            raise ValueError(f"learning_decay is {self.learning_decay!r}; steps shrink as they must in (0.5, 1]")
        for name in ("tol", "mean_change_tol"):
            check_number(name, getattr(self, name), zero=True)
        check_whole("evaluate_every", self.evaluate_every, -1)
        if self.total_samples is not None:
            check_number("total_samples", self.total_samples)
        if isinstance(self.init, str):
            check_choice("init", self.init, ("kmeans", "random"))

    @property
    def jobs(self) -> int:
        """Threads asked for, one unless told otherwise."""
        return 1 if self.n_jobs is None else self.n_jobs

    def plan(self) -> Plan:
        """How long to go on, and in what steps."""
        default = PASSES if self.learning_method == "batch" else EPOCHS
        return Plan(
            max_iter=default if self.max_iter is None else self.max_iter,
            tol=self.tol,
            batch_size=self.batch_size,
            decay=self.learning_decay,
            offset=self.learning_offset,
            max_doc_update_iter=self.max_doc_update_iter,
            mean_change_tol=self.mean_change_tol,
            evaluate_every=self.evaluate_every,
        )

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
        value = 1 / self.n_components if given is None else given
        return DirichletWeights(np.full(self.n_components, value), learned=self.doc_topic_prior == "auto")


@dataclass(frozen=True, kw_only=True)
class HDPParameters(Parameters):
    """What the HDP can be told."""

    kind: ClassVar[str] = "HDP"
    alpha_prior: tuple[float, float]
    beta_prior: tuple[float, float]

    def sticks(self) -> StickWeights:
        """Even sticks."""
        return StickWeights(self.n_components, self.alpha_prior, self.beta_prior)

    def weights(self, rng: np.random.Generator) -> Weights:
        """Even sticks."""
        return self.sticks()


@dataclass(frozen=True, kw_only=True)
class DILNParameters(HDPParameters):
    """What DILN can be told."""

    kind: ClassVar[str] = "DILN"
    n_dims: int
    location_variance: float | None

    def check(self) -> None:
        """Raise if a value makes no sense."""
        super().check()
        if self.n_dims == 0:
            raise ValueError("n_dims is 0; topics need at least one dimension to be placed in: HDP is DILN without any")
        check_whole("n_dims", self.n_dims, 1)
        if self.location_variance is not None:
            check_number("location_variance", self.location_variance)

    def weights(self, rng: np.random.Generator) -> Weights:
        """Even sticks, and locations drawn from their prior: at the origin all gradients would vanish."""
        variance = 1 / self.n_dims if self.location_variance is None else float(self.location_variance)
        locations = np.sqrt(variance) * rng.standard_normal((self.n_components, self.n_dims))
        return LocatedWeights(self.sticks(), locations, variance)


# What a model is made of, and cannot be changed as it goes on learning.
BUILT_IN = (
    "n_components", "topic_word_prior", "inference", "n_dims", "location_variance", "alpha_prior", "beta_prior",
    "doc_topic_prior",
)  # fmt: skip
KINDS: dict[str, type[Parameters]] = {one.kind: one for one in (DILNParameters, HDPParameters, LDAParameters)}

COMMON: dict[str, Any] = {
    "n_components": 200,
    "topic_word_prior": 0.1,
    "inference": "variational",
    "learning_method": "batch",
    "learning_decay": 0.6,
    "learning_offset": 25.0,
    "max_iter": None,
    "tol": 1e-3,
    "batch_size": 250,
    "total_samples": None,
    "evaluate_every": 0,
    "mean_change_tol": 1e-3,
    "max_doc_update_iter": 100,
    "init": "kmeans",
    "n_jobs": None,
    "random_state": None,
    "verbose": 0,
}
STICKS: dict[str, Any] = {"alpha_prior": (1.0, 1e-3), "beta_prior": (1.0, 1e-3)}
DEFAULTS: dict[str, dict[str, Any]] = {
    "DILN": {**COMMON, **STICKS, "n_dims": 20, "location_variance": None},
    "HDP": {**COMMON, **STICKS},
    "LDA": {**COMMON, "n_components": 100, "doc_topic_prior": None},
}


def parameters_of(kind: str, given: dict[str, Any]) -> Parameters:
    """The checked parameters of a model: what is given, and defaults for the rest."""
    values = {**DEFAULTS[kind], **given}
    for name in STICKS.keys() & values.keys():
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


def check_whole(name: str, value: Any, least: int) -> None:
    """Raise unless the value is a whole number from ``least`` on."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} is {value!r}; give a whole number from {least} on")


def check_number(name: str, value: Any, zero: bool = False) -> None:
    """Raise unless the value is a positive number (or zero, where that makes sense)."""
    if (
        isinstance(value, bool)
        or not isinstance(value, Real)
        or not isfinite(value)
        or value < 0
        or not (value or zero)
    ):
        raise ValueError(f"{name} is {value!r}; give a number {'from 0 on' if zero else 'above 0'}")


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise unless the value is one of these."""
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; give {' or '.join(repr(one) for one in choices)}")


def as_pair(name: str, value: Any) -> tuple[float, float]:
    """Shape and rate of a gamma distribution; raise unless they are positive numbers."""
    try:
        shape, rate = value
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}; give (shape, rate) of a gamma distribution") from None
    check_number(f"{name}'s shape", shape)
    check_number(f"{name}'s rate", rate)
    return float(shape), float(rate)
