"""One run: a model fitted on one thread to the documents of a split, and how well it does on others."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from diln.analysis.assess import quality
from diln.analysis.completion import Completed, complete
from diln.corpus import Corpus
from diln.corpus.splits import Completion
from diln.errors import DilnError, DilnWarning, StoreError
from diln.inference.progress import Progress
from diln.models.checks import ParameterError
from diln.models.counts import CorpusRows, MatrixRows, as_rows
from diln.models.fitted import Fitted
from diln.models.fitting import first, fit, more
from diln.models.parameters import Parameters
from diln.study.folder import ResultsFolder, digest_of
from diln.study.runs import Run
from diln.study.settings import checked
from diln.study.streams import along_a_stream, over_a_pass

WORDS = 10  # of a topic, which are measured


class StoppedError(DilnError):
    """A run was told to end before it was done."""


@dataclass(frozen=True)
class RunContext:
    """Where the documents are, which they are, and where results go: all that a process needs for any run.

    ``digest`` is ``digest_of`` the documents: there may be other documents in the same directory later.
    """

    corpus: Path
    digest: str
    results: Path

    def documents(self) -> Corpus:
        """The corpus, opened once in a process."""
        return _opened(self.corpus, self.digest)

    def parts(self, run: Run) -> Completion:
        """The documents that a run is fitted to, and the halves of those that judge it."""
        return _parts(self.corpus, self.digest, run.split, run.validation)


@lru_cache(maxsize=1)
def _opened(directory: Path, digest: str) -> Corpus:
    corpus = Corpus.open(directory)
    if digest_of(corpus) != digest:
        raise StoreError(
            f"{directory}: has other documents than when the comparison began; restore them, and the same command goes "
            "on, or compare anew with another --output"
        )
    return corpus


@lru_cache(maxsize=2)
def _parts(directory: Path, digest: str, split: int, validation: bool) -> Completion:
    return _opened(directory, digest).completion(split, validation=validation)


class StopCheck:
    """Ends a fit when it is told to."""

    def __init__(self, folder: ResultsFolder) -> None:
        self.folder = folder

    def look(self, progress: Progress | None = None) -> None:
        """A sweep, a pass or a step is done."""
        if self.folder.stopped:
            raise StoppedError("the comparison was stopped; the same command goes on with it")


def perform(context: RunContext, run: Run) -> str:
    """Do a run and write down what came of it; returns its name. For worker processes, too."""
    from threadpoolctl import threadpool_limits

    folder, result = ResultsFolder(context.results), None
    check = StopCheck(folder)
    check.look()
    try:
        folder.begin(run)
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore", DilnWarning)
            result = WAYS[run.way](context, run, check)
    except ValueError as error:
        if type(error) not in (ValueError, ParameterError):  # of a library: a fault of diln
            raise
        raise DilnError(f"{run.label}: {error}") from error
    finally:
        folder.end(run, result)
    return run.name


def _fit(context: RunContext, run: Run, check: StopCheck) -> dict[str, Any]:
    return _fitted(context, run, check)[1]


def _model(context: RunContext, run: Run, check: StopCheck) -> dict[str, Any]:
    """A fit whose topics are measured and whose model is kept."""
    fitted, result = _fitted(context, run, check)
    found = quality(fitted, context.documents(), WORDS)
    fitted.save(ResultsFolder(context.results).model(run))
    measured = {name: getattr(found, name) for name in ("diversity", "exclusivity", "effective_topics")}
    return {**result, **measured, "npmi": found.npmi if found.n_scored else None}


def _fitted(context: RunContext, run: Run, check: StopCheck) -> tuple[Fitted, dict[str, Any]]:
    parts, parameters = context.parts(run), _parameters(run)
    compiled(run.model, parameters.inference)
    begun = time.thread_time()
    fitted = fit(parameters, CorpusRows(parts.train), parts.train.vocabulary, check)
    seconds = time.thread_time() - begun
    completed = complete(fitted, parts.observed, parts.held_out, n_draws=run.n_draws)
    return fitted, {
        "perplexity": completed.perplexity, "standard_error": completed.standard_error,
        "topics": fitted.posterior.n_topics, "topics_in_use": fitted.n_topics, "alpha": fitted.alpha,
        "beta": fitted.beta, "passes": fitted.passes, "learning": fitted.method, "cpu_seconds": seconds,
        **stored(completed),
    }  # fmt: skip


def stored(completed: Completed) -> dict[str, list[float]]:
    """Each document's part in the perplexity, for comparing models document by document."""
    return {"log_likelihood": completed.log_likelihood.tolist(), "tokens": completed.tokens.tolist()}


def restored(result: dict[str, Any]) -> Completed:
    """What ``stored`` has put down."""
    return Completed(np.array(result["log_likelihood"]), np.array(result["tokens"]))


def _stream(context: RunContext, run: Run, check: StopCheck) -> dict[str, Any]:
    compiled(run.model, _parameters(run).inference)
    return along_a_stream(_parameters(run), context.parts(run), run.seed, check.look, run.n_draws)


def _pass(context: RunContext, run: Run, check: StopCheck) -> dict[str, Any]:
    return over_a_pass(_parameters(run), context.parts(run), run.seed, check.look)


WAYS: dict[str, Callable[[RunContext, Run, StopCheck], dict[str, Any]]] = {
    "choose": _fit, "fit": _fit, "model": _model, "stream": _stream, "pass": _pass,
}  # fmt: skip


def _parameters(run: Run) -> Parameters:
    parameters = checked(run.model, {**run.parameters, "random_state": run.seed})
    judged_by_states = run.n_draws is not None and parameters.inference == "sampling"
    return parameters.but(keep_states=run.n_draws) if judged_by_states else parameters


@cache
def compiled(model: str, inference: str) -> None:
    """Have the inner loops compiled, or read from their cache, before a clock runs."""
    counts = as_rows(csr_array(np.random.default_rng(0).poisson(1.0, (12, 20))))
    terms = [f"t{column}" for column in range(counts.shape[1])]
    told = {"n_components": 3, "inference": inference, "max_iter": 3, "random_state": 0}
    fit(checked(model, told), MatrixRows(counts), terms)
    fitted = first(checked(model, {**told, "learning_method": "online"}), MatrixRows(counts), terms)
    more(fitted, MatrixRows(counts))
