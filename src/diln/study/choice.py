"""Settings of each model, chosen on validation documents: test documents do not influence the choice."""

from typing import Any

from diln.study.folder import ResultsFolder
from diln.study.runs import Run, run_of
from diln.study.settings import Settings

ASKED = {"n_components": "--topics", "topic_word_prior": "--prior"}


def trials(settings: Settings, model: str, split: int, prior: float | None = None) -> list[Run]:
    """A run for everything that a model is tried with, or for that with this prior; none if there is no choice."""
    tried, draws = _candidates(settings, model, prior), settings.n_draws
    return [run_of("choose", model, values, split, n_draws=draws) for values in tried] if len(tried) > 1 else []


def choose(
    settings: Settings, folder: ResultsFolder, model: str, split: int, prior: float | None = None
) -> dict[str, Any]:
    """What a model did best with on the validation documents of a split."""
    runs = trials(settings, model, split, prior)
    if not runs:
        return _candidates(settings, model, prior)[0]
    return min(runs, key=lambda run: float(folder.read(run)["perplexity"])).parameters


def _candidates(settings: Settings, model: str, prior: float | None) -> list[dict[str, Any]]:
    every = settings.candidates(model)
    return [values for values in every if prior is None or values["topic_word_prior"] == prior]


def at_the_edge(settings: Settings, model: str, chosen: dict[str, Any]) -> list[str]:
    """What was best at the end of what was tried, beyond which there may be better, as in "LDA --topics 200"."""
    found = []
    for name, option in ASKED.items():
        tried = sorted({values[name] for values in settings.candidates(model) if values[name] is not None})
        if len(tried) > 1 and chosen[name] in (tried[0], tried[-1]):
            found.append(f"{model} {option} {chosen[name]:g}")
    return found
