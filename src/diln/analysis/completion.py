"""How well a model completes documents it has not seen, how sure that is, and whether another does it better."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from diln.analysis.inputs import Model, fitted_of, running
from diln.corpus.sound import sound_rows
from diln.engine.base import Engine
from diln.errors import check_kind
from diln.models.batches import HalvesPart, halves_in_parts, pairs_in_parts
from diln.models.checks import check_whole
from diln.models.counts import MatrixRows, Rows, as_rows, check_smallest
from diln.models.fitted import MOST_DRAWS, Fitted

Floats = NDArray[np.float64]
CHANCE = 0.05  # of models that do not differ, those that are told apart all the same


@dataclass(frozen=True)
class Completed:
    """Documents of which a model saw one part and predicted the other.

    Attributes
    ----------
    log_likelihood : (n_docs,)
        Log probability of each document's held-out tokens.
    tokens : (n_docs,)
        Number of these tokens.
    """

    log_likelihood: Floats
    tokens: Floats

    @cached_property
    def log_perplexity(self) -> float:
        """Minus the mean log probability of a held-out token."""
        return -float(self.log_likelihood.sum()) / self.n_tokens

    @property
    def perplexity(self) -> float:
        """Exp of minus the mean log probability of a held-out token: lower is better, 1 would be perfect."""
        return exp(self.log_perplexity)

    @property
    def standard_error(self) -> float | None:
        """Of the perplexity, for other documents like these; None for one document, which shows no spread."""
        error = _ratio_error(-self.log_likelihood, self.tokens)
        return None if error is None else self.perplexity * error

    @property
    def n_docs(self) -> int:
        """Number of documents with a held-out token; the others do not count."""
        return int((self.tokens > 0).sum())

    @property
    def n_tokens(self) -> float:
        """Held-out tokens."""
        return float(self.tokens.sum())

    def to_json(self) -> dict[str, Any]:
        """As plain numbers."""
        names = ("perplexity", "standard_error", "log_perplexity", "n_docs", "n_tokens")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class Difference:
    """Two models on the same documents: how far apart their log perplexities are.

    Attributes
    ----------
    value : float
        Log perplexity of the first minus that of the second: below 0 if the first is better.
    standard_error : float or None
        Of the value, over documents; None for one document.
    n_docs : int
        Documents with a held-out token.
    """

    value: float
    standard_error: float | None
    n_docs: int

    @property
    def ratio(self) -> float:
        """Perplexity of the first over that of the second."""
        return exp(self.value)

    @property
    def better(self) -> str | None:
        """The better one, "first" or "second"; None if the difference may be due to chance."""
        if self.standard_error is None or abs(self.value) <= by_chance([(self.standard_error**2, self.n_docs - 1)]):
            return None
        return "first" if self.value < 0 else "second"

    def to_json(self) -> dict[str, Any]:
        """As plain numbers."""
        names = ("value", "standard_error", "n_docs", "ratio", "better")
        return {name: getattr(self, name) for name in names}


def complete(
    model: Model,
    observed: Any,
    held_out: Any,
    n_jobs: int = 1,
    n_draws: int | None = None,
    engine: Engine | None = None,
) -> Completed:
    """Have a model predict documents' held-out counts, given their observed ones.

    Parameters
    ----------
    model : DILN, HDP, LDA or CTM
        A fitted estimator, or a model read by ``diln.load``.
    observed, held_out : counts (n_docs, n_terms), sparse or not
        Two parts of each document, as ``Corpus.completion`` makes them, over the terms of the model.
    n_jobs : int
        Number of threads; -1 uses all cores. The result is the same for any number.
    n_draws : int, optional
        Average each document's probability over this many draws from the posterior, instead of using the expected
        topics and proportions. For a model fitted by sampling, the draws are the states that were kept.
    engine : Dask, optional
        Where to do it, if not on threads. Default: where the model's fits run.

    Returns
    -------
    Completed
        The ``perplexity``, its ``standard_error``, and the numbers of each document.
    """
    fitted = fitted_of(model)
    if n_draws is not None:
        check_whole("n_draws", n_draws, 1, most=MOST_DRAWS)
    parts = [as_rows(sound_rows(X, name)) for name, X in (("observed", observed), ("held_out", held_out))]
    for part in parts:
        check_smallest(part, fitted.kind)
    with running(model, n_jobs, engine) as where:
        return _completed(fitted, pairs_in_parts(*map(MatrixRows, parts)), where, n_draws)


def complete_halves(
    fitted: Fitted,
    rows: Rows,
    seed: int,
    engine: Engine,
    n_draws: int | None = None,
    step: Callable[[int], None] = lambda _: None,
) -> Completed:
    """Have a model predict half the tokens of each document, drawn at random, given the others.

    ``step`` is told now and then how many documents are done.
    """
    return _completed(fitted, halves_in_parts(rows, seed), engine, n_draws, step)


def _completed(
    fitted: Fitted,
    parts: Iterable[HalvesPart],
    engine: Engine,
    n_draws: int | None,
    step: Callable[[int], None] = lambda _: None,
) -> Completed:
    found, done = [], 0
    for part in fitted.completed(parts, engine, n_draws):
        found.append(part)
        done += len(part[1])
        step(done)
    values = np.concatenate([np.zeros(0), *(values for values, _ in found)])
    tokens = np.concatenate([np.zeros(0), *(tokens for _, tokens in found)])
    if not tokens.any():
        raise ValueError("there is no token to predict; give documents with at least one known term")
    return Completed(values, tokens)


def compare_completions(first: Completed, second: Completed) -> Difference:
    """Compare how well two models predict the same documents, and how sure that is.

    Documents that are hard for one model are hard for the other: document by document, models differ far less than
    documents do. This shows differences that the standard errors of two perplexities would hide.

    Parameters
    ----------
    first, second : Completed
        Results of ``complete`` for two models and the same counts.

    Returns
    -------
    Difference
        ``better`` names the model that is better by more than chance.
    """
    check_kind("first", first, Completed)
    check_kind("second", second, Completed)
    if not np.array_equal(first.tokens, second.tokens):
        raise ValueError(
            "the two models were given different documents to complete; give both the same observed and held-out counts"
        )
    value = first.log_perplexity - second.log_perplexity
    return Difference(value, _ratio_error(second.log_likelihood - first.log_likelihood, first.tokens), first.n_docs)


def by_chance(parts: Sequence[tuple[float, int]]) -> float:
    """How far from 0 a difference is by chance in 19 of 20 cases, by Student's t.

    Its variance is the sum of independent parts, each given with its degrees of freedom; those of the sum are Welch's
    and Satterthwaite's.
    """
    variance = sum(part for part, _ in parts)
    if not variance:
        return 0.0
    freedom = 1 / sum((part / variance) ** 2 / degrees for part, degrees in parts)
    return float(stdtrit(freedom, 1 - CHANCE / 2)) * sqrt(variance)


def _ratio_error(totals: Floats, sizes: Floats) -> float | None:
    """Standard error of sum(totals) / sum(sizes) over documents, by the delta method.

    With M documents of size above 0 and R the ratio, M / (M - 1) * sum_m (total_m - R size_m)^2 / (sum_m size_m)^2 is
    its square.
    """
    some = sizes > 0
    n_docs = int(some.sum())
    if n_docs < 2:
        return None
    totals, sizes = totals[some], sizes[some]
    residuals = totals - totals.sum() / sizes.sum() * sizes
    return sqrt(n_docs / (n_docs - 1) * float(residuals @ residuals)) / float(sizes.sum())
