"""What a model can be told on the command line: its parameters as options, read, and checked before any work."""

import re
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diln.cli.options import Given, Options, flag
from diln.errors import DilnError

if TYPE_CHECKING:
    from diln.models.parameters import Parameters

MODEL, LEARNING = "Model", "Learning"
STARTS = ("kmeans", "random")  # of variational inference, beside a model's directory
ONLY = {
    "sampling": ("weight_rate", "max_time", "n_states", "keep_states", "n_chains", "warm_up"),
    "variational": ("evaluate_every",),
}  # parameters of one inference alone


class Inference(Enum):
    """How the posterior is found."""

    sampling = "sampling"
    variational = "variational"


class Learning(Enum):
    """How a model learns."""

    auto = "auto"
    batch = "batch"
    grow = "grow"
    online = "online"


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


_WHOLE, _NUMBER = _or_auto(int, "whole number"), _or_auto(float, "number")


def _model(*flags: str, **settings: Any) -> Any:
    return typer.Option(*flags, rich_help_panel=MODEL, **settings)


def _learning(*flags: str, **settings: Any) -> Any:
    return typer.Option(*flags, rich_help_panel=LEARNING, **settings)


PARAMETERS: Options = {
    "n_components": Annotated[
        str | None,
        _model(
            "--topics",
            metavar="NUMBER|auto",
            callback=_WHOLE,
            help="Most topics there can be, or auto for as many as it takes; LDA and CTM need a number, and keep all.",
            show_default="auto, LDA and CTM 100",
        ),
    ],
    "topic_word_prior": Annotated[
        str | None,
        _model(
            "--topic-prior",
            metavar="NUMBER|auto",
            callback=_NUMBER,
            help="Prior of a topic's terms: less for sharper topics. Sampling can learn it: auto.",
            show_default="by the number of topics; variational 0.1",
        ),
    ],
    "n_dims": Annotated[
        int | None,
        _model(
            "--dims",
            help="DILN: dimensions of the space that topics are placed in.",
            show_default="10; variational 20",
        ),
    ],
    "location_variance": Annotated[
        str | None,
        _model(
            "--location-variance",
            metavar="NUMBER|auto",
            callback=_NUMBER,
            help="DILN: prior variance of locations. Sampling can learn it: auto.",
            show_default="0.5; variational 1 / dims",
        ),
    ],
    "weight_rate": Annotated[
        float | None,
        _model("--weight-rate", help="DILN, HDP, sampling: rate of the topics' weights.", show_default="10"),
    ],
    "doc_topic_prior": Annotated[
        str | None,
        _model(
            "--doc-prior",
            metavar="NUMBER|auto",
            callback=_NUMBER,
            help="LDA: prior of a document's topics, a number or auto to learn it.",
            show_default="1 / topics",
        ),
    ],
    "covariance_prior": Annotated[
        float | None,
        _model(
            "--covariance-prior",
            help="CTM: documents that the prior of topics' correlations counts as: more for weaker ones.",
            show_default="topics",
        ),
    ],
    "inference": Annotated[
        Inference | None,
        _learning(
            "--inference", help="How the posterior is found: draws from it, or a bound.", show_default="sampling"
        ),
    ],
    "learning_method": Annotated[
        Learning | None,
        _learning(
            "--learning",
            help="All documents before each update (batch), sampling of more and more of them (grow), some at a time "
            "(online), or what suits their number (auto).",
            show_default="auto",
        ),
    ],
    "max_iter": Annotated[
        int | None,
        _learning(
            "--passes",
            "--max-iter",
            help="Sweeps or passes over the documents at most.",
            show_default="60 to 250 by the number of topics, grow 105, online 1; variational 100, online 5",
        ),
    ],
    "max_time": Annotated[
        float | None,
        _learning("--max-time", metavar="SECONDS", help="Sampling: seconds at most.", show_default="no limit"),
    ],
    "tol": Annotated[
        float | None,
        _learning(
            "--tol",
            help="What ends it before. Sampling: gain of the score in 10 sweeps. Variational, batch: relative change "
            "of the bound.",
            show_default="0.002; variational 0.001",
        ),
    ],
    "n_states": Annotated[
        int | None,
        _learning("--states", help="Sampling: last sweeps whose mean is the model.", show_default="50 to 83, grow 10"),
    ],
    "keep_states": Annotated[
        int | None,
        _learning("--keep-states", help="Sampling: of these, so many are kept one by one.", show_default="0"),
    ],
    "n_chains": Annotated[
        int | None,
        _learning(
            "--chains",
            help="Sampling: chains over the same documents, the first of which is the model. The others tell which "
            "topics and correlations another run finds again; 4 are enough for most.",
            show_default="1",
        ),
    ],
    "warm_up": Annotated[
        int | None,
        _learning("--warm-up", help="DILN, CTM, sampling: sweeps before topics go together.", show_default="20"),
    ],
    "batch_size": Annotated[
        int | None,
        _learning("--batch-size", help="Online: documents of a step.", show_default="500; variational 250"),
    ],
    "learning_decay": Annotated[
        float | None,
        _learning("--decay", help="Online: how fast steps shrink, from 0.5 to 1.", show_default="0.6"),
    ],
    "learning_offset": Annotated[
        float | None,
        _learning(
            "--offset", help="Online: how much the first steps are held back.", show_default="20; variational 25"
        ),
    ],
    "init": Annotated[
        str | None,
        _learning(
            "--init",
            help="Where topics start: a model's directory; variational, also kmeans or random.",
            show_default="at random; variational kmeans",
        ),
    ],
    "evaluate_every": Annotated[
        int | None,
        _learning(
            "--evaluate-every",
            help="Variational: compute the perplexity every so many passes (batch) or steps (online).",
            show_default="0: never",
        ),
    ],
}
FLAGS = {name: flag(kind) for name, kind in PARAMETERS.items()} | {"random_state": "--seed"}


def checked_parameters(kind: str, given: Given) -> "Parameters":
    """The parameters, checked; where ``init`` names a model, it is read."""
    from diln.models.fitted import Fitted
    from diln.models.parameters import DEFAULTS, parameters_of

    inference = given.get("inference", DEFAULTS[kind]["inference"])
    for name in given:
        if name not in DEFAULTS[kind]:
            others = " and ".join(other for other in DEFAULTS if name in DEFAULTS[other])
            raise DilnError(f"{FLAGS[name]} is for {others}, and the model is {kind}; leave it out, or choose --model")
        for other, names in ONLY.items():
            if name in names and inference != other:
                raise DilnError(f"{FLAGS[name]} is for --inference {other}, and it is {inference}; leave it out")
    check_start(given.get("init"), inference)
    try:
        start = {"init": Fitted.load(given["init"])} if given.get("init", STARTS[0]) not in STARTS else {}
        checked = parameters_of(kind, {**given, **start})
    except ValueError as error:
        raise DilnError(in_options(str(error))) from None
    if given["random_state"] < 0:
        raise DilnError(f"--seed is {given['random_state']}; give a whole number from 0 on")
    return checked


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


def in_options(text: str) -> str:
    """What is said of parameters, said of options."""
    return re.sub(rf"\b({'|'.join(FLAGS)})\b", lambda found: FLAGS[found[0]], text)
