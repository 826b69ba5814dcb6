"""The table: how well each model does with what was chosen for it, on test documents, over several seeds."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from diln.analysis.completion import Completed, by_chance, compare_completions
from diln.analysis.repeats import stability
from diln.corpus.splits import completion_rows
from diln.study.base import Study
from diln.study.choice import at_the_edge, choose, trials
from diln.study.folder import ResultsFolder
from diln.study.measure import restored
from diln.study.runs import Run, run_of
from diln.study.settings import Settings

EDGE = "chosen at the end of what was tried, beyond which there may be better"
SAME = 1e-9  # percent of a perplexity, below which a difference is one of rounding
ALONE = "one chain of each model (--seeds 1): what another seed would change is not in the standard errors"


@dataclass(frozen=True, slots=True)
class Score:
    """The results of one chain.

    Attributes
    ----------
    split, seed : int
        Numbers of the split and of the seed, from 0.
    perplexity : float
        Perplexity of the held-out halves of the test documents.
    standard_error : float or None
        Standard error of the perplexity, for other documents like these.
    topics_in_use : int
        Topics that hold at least one in 500 tokens.
    npmi : float or None
        Coherence of the topics in all documents of the corpus, from ``quality``; None if no topic has two words that
        are in the documents.
    diversity, exclusivity : float
        From ``quality``.
    cpu_seconds : float
        CPU time of fitting.
    """

    split: int
    seed: int
    perplexity: float
    standard_error: float | None
    topics_in_use: int
    npmi: float | None
    diversity: float
    exclusivity: float
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class Against:
    """A model compared with the best other model, document by document.

    Attributes
    ----------
    other : str
        The best other model.
    percent : float
        Difference of the perplexities in percent of the other's: below 0 if the model is better.
    standard_error : float or None
        Standard error of ``percent``, over documents and, if there are several, seeds.
    clear : bool
        Whether the difference is larger than chance explains.
    """

    other: str
    percent: float
    standard_error: float | None
    clear: bool


@dataclass(frozen=True, slots=True)
class Repeated:
    """How much of a model other seeds find again: means over pairs of chains.

    Attributes
    ----------
    affinity : float
        Mean affinity of matched topics; 1 for the same.
    share : float
        Share of topics that are in both chains.
    correlation : float or None
        Correlation between the topic correlations of the two chains; None if it is not defined.
    """

    affinity: float
    share: float
    correlation: float | None


@dataclass(frozen=True, slots=True)
class Row:
    """A model in the table. The perplexity is over all tokens; the other numbers are means over chains.

    Attributes
    ----------
    model : str
        "DILN", "HDP", "LDA" or "CTM".
    chosen : tuple of dict
        The parameters that did best on the validation documents of each split.
    perplexity : float
        Perplexity of the held-out halves of the test documents of all splits; its log is the mean over seeds.
    standard_error : float or None
        Standard error of the perplexity, for other documents like these.
    spread : float or None
        Standard deviation of the perplexity over seeds; None with one seed.
    against : Against or None
        Comparison with the best other model; None if there is no other.
    topics_in_use, diversity, exclusivity, cpu_seconds : float
        See ``Score``.
    npmi : float or None
        Mean over the chains that have one; None if none has.
    stability : Repeated or None
        How much other seeds find again; None with one seed.
    scores : tuple of Score
        The chains.
    """

    model: str
    chosen: tuple[dict[str, Any], ...]
    perplexity: float
    standard_error: float | None
    spread: float | None
    against: Against | None
    topics_in_use: float
    npmi: float | None
    diversity: float
    exclusivity: float
    stability: Repeated | None
    cpu_seconds: float
    scores: tuple[Score, ...]


@dataclass(frozen=True, slots=True)
class TableView:
    """The study "table": how well each model predicts new documents.

    Attributes
    ----------
    rows : tuple of Row
        One for each model, in the order of the settings.
    notes : tuple of str
        Remarks on the results.
    """

    rows: tuple[Row, ...]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    @property
    def verdict(self) -> str:
        """The result in one sentence."""
        best = min(self.rows, key=lambda row: row.perplexity)
        if best.against is None:
            return f"{best.model} alone was tried: there is nothing to compare it with."
        alone = ", of one chain each" if len({score.seed for score in best.scores}) == 1 else ""
        known = best.against.standard_error
        error = "" if known is None else f" (standard error {known:.1f}%{alone})"
        ahead = f"{_amount(-best.against.percent)} below that of {best.against.other}{error}"
        if abs(best.against.percent) < SAME:
            return f"No model is the best: the perplexity of {best.model} is the same as that of {best.against.other}."
        if best.against.clear:
            return f"{best.model} predicts new documents best: its perplexity is {ahead}."
        return f"No model is clearly the best: the perplexity of {best.model} is {ahead}, which may be chance."


class Table(Study):
    """Choose settings on validation documents, then fit and judge every model over seeds."""

    name: ClassVar[str] = "table"

    def first(self, settings: Settings) -> list[Run]:
        """What is chosen from."""
        return [
            run
            for split in range(settings.splits)
            for model in settings.models
            for run in trials(settings, model, split)
        ]

    def then(self, settings: Settings, folder: ResultsFolder) -> list[Run]:
        """The chains of what was chosen."""
        return [
            run
            for seed in range(settings.seeds)
            for split in range(settings.splits)
            for model in settings.models
            for run in [run_of("model", model, choose(settings, folder, model, split), split, seed, settings.n_draws)]
        ]

    def n_then(self, settings: Settings) -> int:
        """How many there will be."""
        return settings.seeds * settings.splits * len(settings.models)

    def view(self, settings: Settings, folder: ResultsFolder) -> TableView:
        """The table."""
        chains = {model: self._of(model, settings, folder) for model in settings.models}
        means = {model: over_seeds(runs, folder, settings.n_docs) for model, runs in chains.items()}
        logs = {model: seed_logs(runs, folder, settings.n_docs) for model, runs in chains.items()}
        rows = tuple(self._row(model, settings, folder, runs, means, logs) for model, runs in chains.items())
        edges = [edge for row in rows for chosen in row.chosen for edge in at_the_edge(settings, row.model, chosen)]
        notes = [f"{EDGE}: {', '.join(dict.fromkeys(edges))}"] if edges else []
        return TableView(rows, (*notes, *([ALONE] if settings.seeds == 1 else [])))

    def _of(self, model: str, settings: Settings, folder: ResultsFolder) -> list[Run]:
        return [run for run in self.then(settings, folder) if run.model == model]

    def _row(
        self,
        model: str,
        settings: Settings,
        folder: ResultsFolder,
        runs: list[Run],
        means: dict[str, Completed],
        logs: dict[str, list[float]],
    ) -> Row:
        scores = tuple(_score(run, folder.read(run)) for run in runs)
        coherent = [score for score in scores if score.npmi is not None]
        return Row(
            model=model,
            chosen=tuple(choose(settings, folder, model, split) for split in range(settings.splits)),
            perplexity=means[model].perplexity,
            standard_error=means[model].standard_error,
            spread=float(np.std(np.exp(logs[model]), ddof=1)) if len(logs[model]) > 1 else None,
            against=beside_the_best(model, means, logs),
            topics_in_use=_mean(scores, "topics_in_use"),
            npmi=_mean(coherent, "npmi") if coherent else None,
            diversity=_mean(scores, "diversity"),
            exclusivity=_mean(scores, "exclusivity"),
            stability=repeated(runs, folder),
            cpu_seconds=_mean(scores, "cpu_seconds"),
            scores=scores,
        )


def _score(run: Run, result: dict[str, Any]) -> Score:
    names = set(Score.__slots__) - {"split", "seed"}
    return Score(split=run.split, seed=run.seed, **{name: result[name] for name in names})


def _amount(percent: float) -> str:
    return f"{percent:.1f}%" if percent >= 0.05 else "less than 0.1%"


def _mean(scores: Sequence[Score], name: str) -> float:
    return float(np.mean([getattr(score, name) for score in scores]))


def over_seeds(runs: list[Run], folder: ResultsFolder, n_docs: int) -> Completed:
    """The documents of the corpus, each with its tokens in all splits and the mean over seeds of their log probability.

    A document that is a test document of several splits is still one document: its parts go together, and the
    standard errors are over documents.
    """
    values, tokens = np.zeros(n_docs), np.zeros(n_docs)
    for split in sorted({run.split for run in runs}):
        chains = [restored(folder.read(run)) for run in runs if run.split == split]
        rows = completion_rows(n_docs, split)[1]
        values[rows] += np.mean([one.log_likelihood for one in chains], axis=0)
        tokens[rows] += chains[0].tokens
    return Completed(values, tokens)


def seed_logs(runs: list[Run], folder: ResultsFolder, n_docs: int) -> list[float]:
    """The log perplexity of each seed, over the documents of all splits."""
    seeds = sorted({run.seed for run in runs})
    return [over_seeds([run for run in runs if run.seed == seed], folder, n_docs).log_perplexity for seed in seeds]


def beside_the_best(model: str, means: dict[str, Completed], logs: dict[str, list[float]]) -> Against | None:
    """A model beside the best of the others; None if there is no other."""
    others = [other for other in means if other != model]
    if not others:
        return None
    best = min(others, key=lambda other: means[other].log_perplexity)
    difference = compare_completions(means[model], means[best])
    ratio, error, clear = difference.ratio, None, False
    if difference.standard_error is not None:
        parts = [(difference.standard_error**2, difference.n_docs - 1)]
        parts += [_of_seeds(logs[one]) for one in (model, best) if len(logs[one]) > 1]
        error = 100 * ratio * sqrt(sum(part for part, _ in parts))
        clear = abs(difference.value) > max(by_chance(parts), SAME / 100)
    return Against(best, 100 * (ratio - 1), error, clear)


def _of_seeds(logs: list[float]) -> tuple[float, int]:
    """The variance of a mean over seeds, and its degrees of freedom."""
    return float(np.var(logs, ddof=1)) / len(logs), len(logs) - 1


def repeated(runs: list[Run], folder: ResultsFolder) -> Repeated | None:
    """How much is the same in chains with other seeds on the same split, here the first; None with one seed."""
    same = [run for run in runs if run.split == runs[0].split]
    if len(same) < 2:
        return None
    found = stability([folder.load(run) for run in same])
    return Repeated(found.mean, found.share, found.correlation)
