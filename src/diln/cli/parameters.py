"""What a model can be told on the command line: its options as flags, read, and checked before any work."""

from collections.abc import Callable
from dataclasses import Field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diln.cli.options import Given, Options
from diln.errors import DilnError
from diln.models.checks import ParameterError, check_choice, check_whole
from diln.models.declared import about_of, parts, said
from diln.models.options import INFERENCES, MODELS, options_of

if TYPE_CHECKING:
    from diln.models.parameters import Parameters

MODEL, LEARNING = "Model", "Learning"
PANELS: dict[str, dict[str, tuple[str, ...]]] = {  # the flags of options, in the order of --help
    MODEL: {
        "n_components": ("--topics",),
        "topic_word_prior": ("--topic-prior",),
        "n_dims": ("--dims",),
        "location_variance": ("--location-variance",),
        "weight_rate": ("--weight-rate",),
        "doc_topic_prior": ("--doc-prior",),
        "covariance_prior": ("--covariance-prior",),
    },
    LEARNING: {
        "inference": ("--inference",),
        "learning_method": ("--learning",),
        "max_iter": ("--passes", "--max-iter"),
        "max_time": ("--max-time",),
        "memory": ("--memory",),
        "tol": ("--tol",),
        "n_states": ("--states",),
        "keep_states": ("--keep-states",),
        "n_chains": ("--chains",),
        "warm_up": ("--warm-up",),
        "batch_size": ("--batch-size",),
        "learning_decay": ("--decay",),
        "learning_offset": ("--offset",),
        "init": ("--init",),
        "evaluate_every": ("--evaluate-every",),
    },
}
FLAGS = {name: flags[0] for panel in PANELS.values() for name, flags in panel.items()} | {"random_state": "--seed"}
EVERY = {(kind, way): options_of(kind, way) for kind in MODELS for way in INFERENCES}
STARTS = ("kmeans", "random")  # of variational inference, beside a model's directory
TEXTS = {
    "n_components": "Maximum number of topics, or auto for as many as it takes. LDA and CTM: the number of topics.",
    "init": "Where the topics start: a model's directory. Variational: also kmeans or random.",
}  # where a command says it in other words


class Inference(Enum):
    """How the posterior is found."""

    sampling = "sampling"
    variational = "variational"


def _or_auto(number: Callable[[str], float], what: str) -> Callable[[str | None], float | str | None]:
    """Reads a number, or "auto"."""

    def read(value: str | None) -> float | str | None:
        if value is None or value == "auto":
            return value
        try:
            return number(value)
        except ValueError:
            raise typer.BadParameter(f"{value!r} is neither a {what} nor auto") from None

    return read


def _declared(name: str) -> dict[tuple[str, str], Field[Any]]:
    """An option as models and inferences have it."""
    return {where: known[name] for where, known in EVERY.items() if name in known}


def help_text(name: str) -> str:
    """What an option does, and for which models and which inference if not for all."""
    if name in TEXTS:
        return TEXTS[name]
    found = _declared(name)
    texts = {way: about_of(one).text for (_, way), one in found.items()}
    if len(set(texts.values())) > 1:
        return " ".join(_only([way.capitalize()], text) for way, text in texts.items())
    kinds = list(dict.fromkeys(kind for kind, _ in found))
    only = kinds if len(kinds) < len(MODELS) else []
    if len(texts) < len(INFERENCES):
        only = [*only, *(texts if only else map(str.capitalize, texts))]
    return _only(only, *set(texts.values()))


def _only(those: list[str], text: str) -> str:
    """What an option does for these alone, without Python's quotes."""
    text = text.replace('"', "")
    return f"{', '.join(those)}: {text[0].lower()}{text[1:]}" if those else text


def default_text(name: str) -> str:
    """The default of an option, in words, with that of other models and of variational inference if they differ."""
    shown = {}
    for (kind, way), one in _declared(name).items():
        words = about_of(one).defaults
        shown[kind, way] = said(one.default) if words is None else words[list(INFERENCES).index(way)]
    (kind, way), first = next(iter(shown.items()))
    others = [other for other in MODELS if shown.get((other, way), first) != first]
    by_kind = f", {' and '.join(others)} {shown[others[0], way]}" if others else ""
    bound = shown.get((kind, "variational"), first)
    return f"{first}{by_kind}" + (f"; variational {bound}" if bound != first else "")


def _option(panel: str, name: str, flags: tuple[str, ...]) -> Any:
    """An option of the command, from where it is declared."""
    words, types = parts(next(iter(_declared(name).values())))
    number = next((one for one in types if one in (int, float)), None)
    settings: dict[str, Any] = {"help": help_text(name), "show_default": default_text(name)}
    taken: Any = number or str
    if number and words:
        taken, settings["metavar"] = str, "NUMBER|auto"
        settings["callback"] = _or_auto(number, "whole number" if number is int else "number")
    elif words and name != "init":
        taken = Enum(name, {word: word for word in words})  # type: ignore[misc,no-redef]
    taken = taken | None
    return Annotated[taken, typer.Option(*flags, rich_help_panel=panel, **settings)]


PARAMETERS: Options = {
    name: _option(panel, name, flags) for panel, every in PANELS.items() for name, flags in every.items()
}


def in_flags(error: ParameterError) -> str:
    """What is wrong with a parameter, said of its flag."""
    return f"{FLAGS.get(error.name, error.name)} {error.problem}"


def checked_parameters(kind: str, given: Given) -> "Parameters":
    """The parameters, checked; where ``init`` names a model, it is read."""
    from diln.models.fitted import Fitted
    from diln.models.parameters import parameters_of

    check_choice("--model", kind.lower(), tuple(map(str.lower, MODELS)))
    check_start(given.get("init"), given.get("inference", "sampling"))
    check_whole("random_state", given["random_state"], 0)
    start = {"init": Fitted.load(given["init"])} if given.get("init", STARTS[0]) not in STARTS else {}
    return parameters_of(kind, {**given, **start})


def check_start(start: str | None, inference: str) -> None:
    """Raise unless it is a start for this inference."""
    if start in STARTS and inference != "variational":
        raise DilnError(
            f"--init {start} is for --inference variational, and it is {inference}; give a model's directory, or leave "
            "it out"
        )
    if start is not None and start not in STARTS and not Path(start).is_dir():
        others = ", kmeans or random" if inference == "variational" else ""
        raise DilnError(f"--init is {start!r}, and there is no such directory; give a model's{others}")
