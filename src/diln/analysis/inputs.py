"""Models as they are given to the analysis: fitted ones, or estimators that hold one."""

from contextlib import AbstractContextManager
from typing import Protocol
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from diln.engine.base import Engine
from diln.engine.threads import engine_or_threads
from diln.errors import DilnWarning
from diln.inference import progress
from diln.models.fitted import Fitted


class Estimator(Protocol):
    """A model of scikit-learn's kind, such as DILN, after ``fit``."""

    fitted_: Fitted


Model = Fitted | Estimator


def fitted_of(model: Model) -> Fitted:
    """The fitted model that this is or holds."""
    if isinstance(model, Fitted):
        return model
    found = getattr(model, "fitted_", None)
    if isinstance(found, Fitted):
        return found
    kind = type(model).__name__
    if hasattr(model, "fit"):
        raise ValueError(f"this {kind} is not fitted yet; call fit first")
    raise TypeError(f"a {kind} was given as a model; give a fitted estimator, or what diln.load reads")


def running(model: Model, n_jobs: int, engine: Engine | None = None) -> AbstractContextManager[Engine]:
    """Where what is asked of a model runs: on the engine given, on that of an estimator, or else on threads."""
    return engine_or_threads(getattr(model, "engine", None) if engine is None else engine, n_jobs)


def in_use(model: Model) -> NDArray[np.bool_]:
    """For each topic whether it is in use: whether it holds at least one in 500 tokens."""
    return progress.in_use(fitted_of(model).posterior.topic_tokens)


def used_topics(fitted: Fitted) -> NDArray[np.int64]:
    """Numbers of the topics in use; at least one."""
    used = np.flatnonzero(in_use(fitted))
    if not len(used):
        raise ValueError(
            f"none of the model's {len(fitted.topic_weights):,} topics holds one in 500 tokens, so none is in use; fit "
            "one with fewer topics"
        )
    return used


def hint_at_names(fitted: Fitted) -> None:
    """Warn that a model's terms have numbers for names, where they do, and say what gives them names."""
    terms = fitted.vocabulary
    if terms == [f"x{number}" for number in range(len(terms))]:
        warn(
            "the model's terms are shown as x0, x1, ...: it was fitted to counts without the terms; set "
            "model.vocabulary_ = vectorizer.get_feature_names_out(), or fit it to a Corpus",
            DilnWarning,
            stacklevel=3,
        )
