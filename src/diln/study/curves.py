"""Studies that are curves: perplexity against the topics' prior, against documents seen, and against time."""

from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np

from diln.analysis.completion import Completed
from diln.study.base import Study
from diln.study.choice import choose, trials
from diln.study.folder import ResultsFolder
from diln.study.measure import restored
from diln.study.runs import Run, run_of
from diln.study.settings import Settings, needs_topics
from diln.study.streams import JUDGED

PRIOR_SPLITS = 5
DECAYS = (0.6, 0.75, 0.9)  # kappa
BATCH_SIZES = (250, 750, 1250)
ENOUGH_STEPS = 10  # of the largest size in a pass; a corpus with fewer documents gets smaller mini-batches
FEWEST_IN_BATCH = 5
PASSES = (10, 20, 40, 80, 150)  # of batch learning
STREAM_PASSES = 6  # of mini-batches beside it
FOLLOWED = "DILN"  # the model that streams and passes are about


@dataclass(frozen=True, slots=True)
class Curve:
    """Perplexities of a model.

    Attributes
    ----------
    model, label : str
        The model, and the name of the curve.
    x : tuple of float
        Priors, documents seen or CPU seconds.
    perplexity : tuple of float
        A perplexity for each ``x``.
    standard_error : tuple of float
        Standard errors, if the perplexities are means over splits; otherwise empty.
    """

    model: str
    label: str
    x: tuple[float, ...]
    perplexity: tuple[float, ...]
    standard_error: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Panel:
    """Curves of the same steps.

    Attributes
    ----------
    decay : float
        kappa, the rate at which steps get smaller.
    batch_size : int
        Number of documents in a step.
    curves : tuple of Curve
        One for each model.
    """

    decay: float
    batch_size: int
    curves: tuple[Curve, ...]


@dataclass(frozen=True, slots=True)
class CurvesView:
    """The study "prior" or "time": curves on the same axes.

    Attributes
    ----------
    curves : tuple of Curve
        For "prior", perplexity against gamma_0, one curve for each model. For "time", perplexity of one model against
        CPU seconds, one curve for mini-batches and one for batch learning.
    n_splits : int
        Number of splits that the curves are means over.
    """

    curves: tuple[Curve, ...]
    n_splits: int = 1

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class PanelsView:
    """The study "steps": perplexity against documents seen.

    Attributes
    ----------
    panels : tuple of Panel
        One for each decay and each mini-batch size, with curves of the same models.
    """

    panels: tuple[Panel, ...]

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class PassView:
    """The study "pass": how DILN changes over one pass. Tuples have an entry for each point of the pass.

    Attributes
    ----------
    model : str
        "DILN".
    batch_size : int
        Number of documents in a step.
    documents : tuple of int
        Number of documents seen.
    alpha, beta : tuple of float
        Concentrations of the topic weights in the corpus and in documents.
    topics_in_use : tuple of int
        Topics that hold at least one in 500 tokens.
    correlations : tuple of tuples of float
        Correlations of the same pairs of topics, at most 100.
    shares : tuple of tuples of float
        Share of the tokens that each topic holds.
    """

    model: str
    batch_size: int
    documents: tuple[int, ...]
    alpha: tuple[float, ...]
    beta: tuple[float, ...]
    topics_in_use: tuple[int, ...]
    correlations: tuple[tuple[float, ...], ...]
    shares: tuple[tuple[float, ...], ...]

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


class Prior(Study):
    """Perplexity against gamma_0, over five splits; numbers of topics are chosen for each on validation documents."""

    name: ClassVar[str] = "prior"

    def first(self, settings: Settings) -> list[Run]:
        """What numbers of topics are chosen from."""
        return [run for split, model, prior in self._cells(settings) for run in trials(settings, model, split, prior)]

    def then(self, settings: Settings, folder: ResultsFolder) -> list[Run]:
        """A fit for each split, model and prior."""
        return [self._run(settings, folder, *cell) for cell in self._cells(settings)]

    def n_then(self, settings: Settings) -> int:
        """How many there will be."""
        return len(self._cells(settings))

    def view(self, settings: Settings, folder: ResultsFolder) -> CurvesView:
        """A curve for each model, the mean over splits."""
        return CurvesView(tuple(self._curve(settings, folder, model) for model in settings.models), n_splits(settings))

    def _curve(self, settings: Settings, folder: ResultsFolder, model: str) -> Curve:
        values = np.array([
            [folder.read(self._run(settings, folder, split, model, prior))["perplexity"] for prior in settings.priors]
            for split in range(n_splits(settings))
        ])  # fmt: skip
        errors = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        return Curve(model, model, settings.priors, tuple(values.mean(axis=0).tolist()), tuple(errors.tolist()))

    def _cells(self, settings: Settings) -> list[tuple[int, str, float]]:
        return list(product(range(n_splits(settings)), settings.models, settings.priors))

    def _run(self, settings: Settings, folder: ResultsFolder, split: int, model: str, prior: float) -> Run:
        values = choose(settings, folder, model, split, prior)
        return run_of("fit", model, values, split, n_draws=settings.n_draws)


def n_splits(settings: Settings) -> int:
    """Splits that curves are means over: five, or more if more were asked for."""
    return max(PRIOR_SPLITS, settings.splits)


class Steps(Study):
    """Perplexity against documents seen, for several decays of the steps and several sizes of the mini-batches."""

    name: ClassVar[str] = "steps"

    def first(self, settings: Settings) -> list[Run]:
        """A stream for each."""
        return [self._run(settings, *cell) for cell in product(settings.models, DECAYS, batch_sizes(settings.n_train))]

    def view(self, settings: Settings, folder: ResultsFolder) -> PanelsView:
        """A panel for each decay and size, with a curve for each model."""
        panels = [
            Panel(decay, size, tuple(self._curve(settings, folder, model, decay, size) for model in settings.models))
            for decay, size in product(DECAYS, batch_sizes(settings.n_train))
        ]
        return PanelsView(tuple(panels))

    def _curve(self, settings: Settings, folder: ResultsFolder, model: str, decay: float, size: int) -> Curve:
        found = folder.read(self._run(settings, model, decay, size))
        return Curve(model, model, tuple(found["documents"]), tuple(found["perplexities"]))

    def _run(self, settings: Settings, model: str, decay: float, size: int) -> Run:
        return stream("stream", settings, model, learning_decay=decay, batch_size=size)


class Time(Study):
    """Perplexity against CPU time, of mini-batches and of fits to all documents with more and more sweeps."""

    name: ClassVar[str] = "time"

    def first(self, settings: Settings) -> list[Run]:
        """A stream, and fits."""
        return [self._stream(settings), *self._fits(settings)]

    def view(self, settings: Settings, folder: ResultsFolder) -> CurvesView:
        """A curve for each of the two."""
        found, model = folder.read(self._stream(settings)), followed(settings)
        online = Curve(model, "mini-batches", tuple(found["cpu_seconds"]), tuple(found["perplexities"]))
        fits = [folder.read(run) for run in self._fits(settings)]
        values = tuple(_of_some(restored(fit)).perplexity for fit in fits)
        return CurvesView((online, Curve(model, "batch", tuple(fit["cpu_seconds"] for fit in fits), values)))

    def _stream(self, settings: Settings) -> Run:
        return stream("stream", settings, followed(settings), max_iter=STREAM_PASSES)

    def _fits(self, settings: Settings) -> list[Run]:
        to_the_end = {"tol": 0.0} if settings.inference == "variational" else {}  # which converges after few passes
        model = followed(settings)
        values = settings.values(model, _size(settings, model), None, learning_method="batch", **to_the_end)
        return [run_of("fit", model, {**values, "max_iter": n}, 0, n_draws=settings.n_draws) for n in PASSES]


class Pass(Study):
    """What becomes of DILN's parameters, correlations and topics over one pass of mini-batches."""

    name: ClassVar[str] = "pass"

    def first(self, settings: Settings) -> list[Run]:
        """The one stream."""
        return [self._run(settings)]

    def view(self, settings: Settings, folder: ResultsFolder) -> PassView:
        """All that was put down."""
        run = self._run(settings)
        found = folder.read(run)
        return PassView(
            model=run.model,
            batch_size=run.parameters["batch_size"],
            correlations=tuple(map(tuple, found["correlations"])),
            shares=tuple(map(tuple, found["shares"])),
            **{name: tuple(found[name]) for name in ("documents", "alpha", "beta", "topics_in_use")},
        )

    def _run(self, settings: Settings) -> Run:
        return stream("pass", settings, FOLLOWED, batch_size=_middle(batch_sizes(settings.n_train)))


def stream(way: Any, settings: Settings, model: str, **others: Any) -> Run:
    """A run along a stream, with the model's own prior; a model that needs one gets a middling number of topics."""
    judged = None if way == "pass" else settings.n_draws
    if judged is not None and settings.inference == "sampling":
        raise ValueError(
            "mini-batches by sampling keep no states, which the studies steps and time would be judged by; use "
            "variational inference, or no n_draws (--draws)"
        )
    values = settings.values(model, _size(settings, model), None, **{"max_iter": None, **others})
    return run_of(way, model, values, 0, n_draws=judged)


def _size(settings: Settings, model: str) -> int | None:
    return _middle(settings.topics) if needs_topics(model) else None


def _middle(values: tuple[int, ...]) -> int:
    return values[len(values) // 2]


def followed(settings: Settings) -> str:
    """The model that time is measured of: DILN, unless it is not among those asked for."""
    return FOLLOWED if FOLLOWED in settings.models else settings.models[0]


def batch_sizes(n_train: int) -> tuple[int, ...]:
    """Sizes of mini-batches: those of the paper, or smaller so that there are some steps in a pass."""
    scale = min(1.0, n_train / (ENOUGH_STEPS * BATCH_SIZES[-1]))
    return tuple(sorted({max(FEWEST_IN_BATCH, round(size * scale)) for size in BATCH_SIZES}))


def _of_some(completed: Completed) -> Completed:
    """Of the documents that judge streams, too."""
    return Completed(completed.log_likelihood[:JUDGED], completed.tokens[:JUDGED])
