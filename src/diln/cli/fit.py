"""``diln fit``: a model of the documents in a corpus, or in anything that a corpus is built from."""

import re
import time
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from diln.cli.console import OUT, facts, plain_warnings, say_json, told_of_interrupts
from diln.cli.fitline import FitLine
from diln.cli.options import (
    OUTPUT,
    ForceOption,
    Given,
    JobsOption,
    JsonOption,
    Options,
    QuietOption,
    flag,
    takes,
)
from diln.cli.source import READING, TERMS, TOKENS, SourceArg, read_corpus
from diln.cli.tables import counted, last, summary, topic_json, topic_table
from diln.errors import DilnError, SourceError, StoreError

if TYPE_CHECKING:
    from diln.corpus import Corpus
    from diln.models.fitted import Fitted
    from diln.models.parameters import Parameters

app = typer.Typer()

MODEL, LEARNING = "Model", "Learning"
LARGEST = 10  # topics that are shown of a model just fitted
STARTS = ("kmeans", "random")


class Model(Enum):
    """Which model."""

    diln = "diln"
    hdp = "hdp"
    lda = "lda"


class Learning(Enum):
    """How a model learns."""

    batch = "batch"
    online = "online"


def _doc_prior(value: str | None) -> float | str | None:
    if value is None or value == "auto":
        return value
    try:
        return float(value)
    except ValueError:
        raise typer.BadParameter(f"{value!r} is neither a number nor auto") from None


def _model(*flags: str, **settings: Any) -> Any:
    return typer.Option(*flags, rich_help_panel=MODEL, **settings)


def _learning(*flags: str, **settings: Any) -> Any:
    return typer.Option(*flags, rich_help_panel=LEARNING, **settings)


PARAMETERS: Options = {
    "n_components": Annotated[
        int | None,
        _model("--topics", help="Most topics there can be; LDA uses them all.", show_default="200, LDA 100"),
    ],
    "topic_word_prior": Annotated[
        float | None,
        _model("--topic-prior", help="Prior of a topic's terms: less for sharper topics.", show_default="0.1"),
    ],
    "n_dims": Annotated[
        int | None,
        _model("--dims", help="DILN: dimensions of the space that topics are placed in.", show_default="20"),
    ],
    "location_variance": Annotated[
        float | None,
        _model("--location-variance", help="DILN: prior variance of locations.", show_default="1 / dims"),
    ],
    "doc_topic_prior": Annotated[
        str | None,
        _model(
            "--doc-prior",
            callback=_doc_prior,
            help="LDA: prior of a document's topics, a number or auto to learn it.",
            show_default="1 / topics",
        ),
    ],
    "learning_method": Annotated[
        Learning | None,
        _learning("--learning", help="All documents before each update, or some at a time.", show_default="batch"),
    ],
    "max_iter": Annotated[
        int | None,
        _learning("--passes", help="Passes over the documents at most.", show_default="100, online 5"),
    ],
    "tol": Annotated[
        float | None,
        _learning("--tol", help="Batch: relative change of the bound that ends it.", show_default="0.001"),
    ],
    "batch_size": Annotated[
        int | None, _learning("--batch-size", help="Online: documents of a step.", show_default="250")
    ],
    "learning_decay": Annotated[
        float | None,
        _learning("--decay", help="Online: how fast steps shrink, in (0.5, 1].", show_default="0.6"),
    ],
    "learning_offset": Annotated[
        float | None, _learning("--offset", help="Online: how much the first steps are held back.", show_default="25")
    ],
    "init": Annotated[
        str | None,
        _learning("--init", help="Where topics start: kmeans, random, or a model's directory.", show_default="kmeans"),
    ],
    "evaluate_every": Annotated[
        int | None,
        _learning(
            "--evaluate-every",
            help="Compute the perplexity every so many passes (batch) or steps (online).",
            show_default="0: never",
        ),
    ],
}
FLAGS = {name: flag(kind) for name, kind in PARAMETERS.items()} | {"random_state": "--seed"}


@app.command(
    "fit",
    epilog="Examples:\n\n"
    "diln fit corpus -o model\n\n"
    "diln fit articles.jsonl.gz -o model --text title --text body --topics 300 --learning online\n\n"
    "diln fit corpus -o lda --model lda --topics 50 --doc-prior auto",
)
@takes(parameters=PARAMETERS, reading=READING, text={**TOKENS, **TERMS})
def fit_command(
    source: SourceArg,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="MODEL", help="Where to put the model.", rich_help_panel=OUTPUT)
    ],
    *,
    model: Annotated[Model, typer.Option("--model", help="Which model.", rich_help_panel=MODEL)] = Model.diln,
    parameters: Given,
    reading: Given,
    text: Given,
    seed: Annotated[
        int, typer.Option("--seed", help="The same seed gives the same model.", rich_help_panel=LEARNING)
    ] = 0,
    force: ForceOption = False,
    jobs: JobsOption = -1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Fit a model to documents."""
    begun = time.perf_counter()
    with told_of_interrupts("no model was written"), plain_warnings(_in_options):
        checked = _parameters(model.value.upper(), {**parameters, "random_state": seed, "n_jobs": jobs})
        check_output(output, force)
        corpus = read_corpus(source, reading, text, jobs, quiet or json)
        fitted = _fit(checked, corpus, source, quiet=quiet or json)
    with told_of_interrupts(f"{output} has the new model, or what it had"):
        fitted.save(output)
    _report(fitted, corpus, output, time.perf_counter() - begun, json)


def _parameters(kind: str, given: Given) -> "Parameters":
    """The parameters, checked; where ``init`` names a model, it is read."""
    from diln.models.fitted import Fitted
    from diln.models.parameters import DEFAULTS, parameters_of

    for name in given:
        if name not in DEFAULTS[kind]:
            others = " and ".join(other for other in DEFAULTS if name in DEFAULTS[other])
            raise DilnError(f"{FLAGS[name]} is for {others}, and the model is {kind}; leave it out, or choose --model")
    start = given.get("init", STARTS[0])
    if start not in STARTS and not Path(start).is_dir():
        raise DilnError(f"--init is {start!r}, and there is no such directory; give kmeans, random or a model")
    try:
        checked = parameters_of(kind, given if start in STARTS else {**given, "init": Fitted.load(start)})
    except ValueError as error:
        raise DilnError(_in_options(str(error))) from None
    if given["random_state"] < 0:
        raise DilnError(f"--seed is {given['random_state']}; give a whole number from 0 on")
    return checked


def _in_options(text: str) -> str:
    """What is said of parameters, said of options."""
    return re.sub(rf"\b({'|'.join(FLAGS)})\b", lambda found: FLAGS[found[0]], text)


def check_output(directory: Path, force: bool) -> None:
    """Raise if no model can be written there: better known before fitting than after."""
    from diln.files import writing
    from diln.models.files import MODEL as KIND

    try:
        with writing(directory, KIND, "replace" if force else "new"):
            pass
    except OSError as error:
        raise StoreError(f"{directory}: cannot be written ({error.strerror}); name another directory") from None


def _fit(parameters: "Parameters", corpus: "Corpus", name: str, quiet: bool) -> "Fitted":
    from diln.models.counts import CorpusRows
    from diln.models.fitting import fit

    if not corpus.n_tokens:
        raise SourceError(f"{name}: the {len(corpus):,} documents have no token; give documents with text")
    start = getattr(parameters.init, "vocabulary", corpus.vocabulary)
    if start != corpus.vocabulary:
        raise DilnError(
            f"--init is a model of {len(start):,} terms that are not the {corpus.n_terms:,} of the documents; count "
            "them with --vocabulary, or fit both on one corpus"
        )
    _check_memory(parameters, corpus.n_terms)
    most = parameters.plan().max_iter
    with FitLine(most, len(corpus), at_most=parameters.learning_method == "batch", quiet=quiet) as line:
        return fit(parameters, CorpusRows(corpus), corpus.vocabulary, line)


def _check_memory(parameters: "Parameters", n_terms: int) -> None:
    """Raise if there is no room for the topics' terms and locations: better known before the search for a start."""
    import numpy as np

    try:
        np.empty(parameters.truncation * (n_terms + (getattr(parameters, "n_dims", 0) or 0)))
    except (ValueError, OverflowError):  # more than any machine has
        raise MemoryError from None


def _report(fitted: "Fitted", corpus: "Corpus", output: Path, seconds: float, json: bool) -> None:
    from diln.analysis import largest_topics

    largest = largest_topics(fitted, LARGEST)
    if json:
        numbers = {
            "directory": str(output), "model": fitted.kind, "documents": len(corpus), "terms": corpus.n_terms,
            "tokens": corpus.n_tokens, "topics_in_use": fitted.n_topics, "truncation": fitted.posterior.n_topics,
            "bound": fitted.bound, "perplexity": last(fitted, "perplexity"), "passes": fitted.passes,
            "steps": fitted.steps, "seconds": seconds, "seed": fitted.seed,
        }  # fmt: skip
        say_json({**numbers, "topics": [topic_json(topic) for topic in largest]})
        return
    OUT.print(f"[bold]{escape(str(output))}[/]", soft_wrap=True)
    OUT.print(facts({**summary(fitted), "documents": described(corpus), "time": f"{seconds:,.1f} s"}))
    OUT.print(f"\n[bold]topics[/] ({counted(len(largest), fitted.n_topics)})")
    OUT.print(topic_table(largest, OUT, None))


def described(corpus: "Corpus") -> str:
    """A corpus in numbers."""
    return f"{len(corpus):,}, of {corpus.n_terms:,} terms and {corpus.n_tokens:,} tokens"
