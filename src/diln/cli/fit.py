"""``diln fit``: a model of the documents in a corpus, or in anything that a corpus is built from."""

import math
import time
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from diln.addresses import shown
from diln.cli.ahead import Ahead
from diln.cli.cluster import SchedulerOption, WorkerTimeoutOption, cluster_of, pace_of_workers
from diln.cli.console import ERR, OUT, complain, facts, say_json, told_of_interrupts
from diln.cli.fitline import Course, FitLine, Passes, Steps, Sweeps
from diln.cli.interrupts import StopSign
from diln.cli.keeping import forget_corpus, forget_index, keep_corpus, keep_index
from diln.cli.options import OUTPUT, ForceOption, Given, JobsOption, JsonOption, QuietOption, new_directory, takes
from diln.cli.parameters import FLAGS, LEARNING, MODEL, PARAMETERS, checked_parameters
from diln.cli.source import READING, TERMS, TOKENS, SourceArg, read_corpus
from diln.cli.tables import counted, found_json, stopped, summary, topic_json, topic_table
from diln.cli.watching import Beside, watched
from diln.errors import DilnError, SourceError, StoreError
from diln.models.options import MODELS

if TYPE_CHECKING:
    from diln.corpus import Corpus
    from diln.engine.base import Engine
    from diln.engine.dask.engine import Dask
    from diln.files import Held
    from diln.models.checkpoints import Checkpoints
    from diln.models.fitted import Fitted
    from diln.models.parameters import Parameters

app = typer.Typer()

LARGEST = 10  # topics that are shown of a model just fitted
FIRST, EVERY = 60.0, 600.0  # seconds of a fit before its first checkpoint, and from one to the next
NEVER = "never"


def _seconds(value: str) -> float:
    """A number of seconds; infinite for never."""
    try:
        seconds = math.inf if value == NEVER else float(value)
    except ValueError:
        seconds = -1.0
    if not seconds >= 0:
        raise typer.BadParameter(
            f"{value!r} is neither a number of seconds from 0 on nor {NEVER!r}", param_hint="--checkpoint-every"
        )
    return seconds


@app.command(
    "fit",
    epilog="Examples:\n\n"
    "diln fit corpus -o model\n\n"
    "diln fit articles.jsonl.gz -o model --text title --text body --checkpoint-every 600\n\n"
    "diln fit corpus -o lda --model lda --topics 50 --doc-prior auto\n\n"
    "diln fit corpus -o model --scheduler tcp://10.0.0.1:8786",
)
@takes(parameters=PARAMETERS, reading=READING, text={**TOKENS, **TERMS})
def fit_command(  # a parameter for each option
    source: SourceArg,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            parser=new_directory,
            metavar="MODEL",
            help="Where to write the model.",
            rich_help_panel=OUTPUT,
        ),
    ],
    *,
    model: Annotated[
        str,
        typer.Option("--model", metavar="|".join(map(str.lower, MODELS)), help="Which model.", rich_help_panel=MODEL),
    ] = "diln",
    parameters: Given,
    reading: Given,
    text: Given,
    seed: Annotated[
        int, typer.Option("--seed", help="The same seed gives the same model.", rich_help_panel=LEARNING)
    ] = 0,
    checkpoint_every: Annotated[
        str | None,
        typer.Option(
            "--checkpoint-every",
            metavar=f"SECONDS|{NEVER}",
            help="Sampling: how often to save progress to MODEL.checkpoint, beside the model; 0 for after every sweep "
            "or step. The checkpoint is removed when the fit is complete and its model written.",
            show_default="600, and first after 60",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue from the checkpoint of an earlier fit of the same documents with the same options, to the "
            "same model as if it had never been stopped; start anew if there is none. Without --resume a checkpoint "
            "is an error, or with --force ignored.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch",
            help="Show the fit in the browser while it goes on, and then the model, until Ctrl-C: diln explore beside "
            "it, which reads what the fit writes to MODEL.training. That is removed when the fit is over.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    index: Annotated[
        bool,
        typer.Option(
            "--index/--no-index",
            help="Whether to keep what the model says of each document in MODEL/documents, for diln explore, similar "
            "and others. diln index makes it later.",
            rich_help_panel=OUTPUT,
        ),
    ] = True,
    keep_documents: Annotated[
        bool,
        typer.Option(
            "--corpus/--no-corpus",
            help="Whether to keep the documents, counted and with their texts, in MODEL/corpus. A corpus directory is "
            "not copied: the model remembers where it is.",
            rich_help_panel=OUTPUT,
        ),
    ] = True,
    scratch: Annotated[
        Path | None,
        typer.Option(
            "--scratch",
            metavar="FOLDER",
            help="Where to keep documents that do not fit into memory (--memory) until the fit is over: a new or empty "
            "folder.",
            show_default="MODEL.scratch, beside the model",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    force: ForceOption = False,
    scheduler: SchedulerOption = None,
    worker_timeout: WorkerTimeoutOption = None,
    jobs: JobsOption = -1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Fit a model to documents.

    The first Ctrl-C, or SIGTERM, ends the fit after the sweep, pass or step under way, and the model is written as it
    is then: not converged. With --resume the same command goes on from there. The second abandons the fit, and nothing
    is written. The exit code is 130 (SIGTERM: 143) in both cases.
    """
    from diln.engine.threads import engine_or_threads

    begun, stop = time.perf_counter(), StopSign()
    kept = _checkpoints(output, checkpoint_every, resume)
    checked = checked_parameters(model.upper(), {**parameters, "random_state": seed, "n_jobs": jobs})
    holding = held_output(output, kept, force)  # to the end: a second fit is told at once, not after its hour
    with holding as held, watched(output, watch) as page, ExitStack() as stack:
        with told_of_interrupts(lambda: f"no model was written{_left(kept)}"):
            check_checkpoint(kept, checked, checkpoint_every is not None, force)
            check_model(output, kept, force)
            ahead = stack.enter_context(Ahead(checked, wanted=scheduler is None, index=index))
            corpus = read_corpus(source, reading, text, jobs, quiet or json)
            if resume and not (quiet or json):
                ERR.print(f"[dim]{escape(_taken_up(kept))}[/]", soft_wrap=True)
            room = scratch or beside(output, "scratch")
            engine = stack.enter_context(cluster_of(scheduler, worker_timeout, jobs))
            fitted = _fit(checked, corpus, source, kept, stop, engine, room, ahead, quiet=quiet or json, page=page)
        with told_of_interrupts(lambda: f"{output} has the new model, or what it had{_left(kept)}"):
            try:
                fitted.save(output, held)
            except StoreError as error:
                raise StoreError(f"{error}{_left(kept)}") from None
            kept.remove(stale=fitted.stopped is not None)
        with told_of_interrupts(f"{output} has the model, without its documents; diln index {output} adds them"):
            where = stack.enter_context(engine_or_threads(engine, jobs))
            _keep(fitted, corpus, output, index, keep_documents, where, quiet or json)
    with told_of_interrupts(f"{output} has the model"):
        _report(fitted, corpus, output, time.perf_counter() - begun, json)
    if page is not None:
        page.stay(wait=stop.number is None)
    if fitted.stopped is not None and stop.number is not None:
        how = _left(kept) or f"; --init {output}, with another --output, begins another fit with its topics"
        complain("warning", f"stopped {stopped(fitted)}: {output} has the model as it is{how}")
        raise typer.Exit(128 + stop.number)


def _keep(
    fitted: "Fitted", corpus: "Corpus", output: Path, index: bool, texts: bool, engine: "Engine", quiet: bool
) -> None:
    """Keep documents beside their model, and remove those of another; the model is what matters."""
    try:
        if texts:
            corpus = keep_corpus(corpus, output)
        else:
            forget_corpus(corpus, output)
        if index:
            keep_index(fitted, corpus, output, engine, quiet)
        else:
            forget_index(output)
    except (DilnError, OSError, MemoryError) as error:
        complain(
            "warning",
            f"{output} has the model, but its documents could not be kept beside it ({error}); mend that, then: diln "
            f"index {output} SOURCE",
        )


def _checkpoints(output: Path, given: str | None, resume: bool) -> "Checkpoints":
    from diln.models.checkpoints import Checkpoints

    first, every = (FIRST, EVERY) if given is None else (None, _seconds(given))
    return Checkpoints(beside(output), every, first=first, resume=resume, name=lambda name: FLAGS.get(name, name))


def beside(output: Path, what: str = "checkpoint") -> Path:
    """Where the checkpoint of a model is, or what else a fit keeps."""
    output = output if output.name not in ("", "..") else output.resolve()
    if not output.name:
        raise StoreError(f"{output}: is the root of all files; name another directory")
    return output.with_name(f"{output.name}.{what}")


def _left(kept: "Checkpoints") -> str:
    return f"; the same command with --resume goes on from {kept.directory}" if kept.usable else ""


def _taken_up(kept: "Checkpoints") -> str:
    return f"going on from {kept.directory}" if kept.there else f"there is no {kept.directory} to go on from; beginning"


def held_output(directory: Path, kept: "Checkpoints", force: bool) -> "AbstractContextManager[Held]":
    """Hold the directory for a model; raises if none can be written: better known before fitting than after."""
    from diln.files import writing
    from diln.models.files import MODEL as KIND

    return writing(directory, KIND, "replace" if force or kept.there else "new")


def check_model(directory: Path, kept: "Checkpoints", force: bool) -> None:
    """Raise if there is a model that is not to be replaced: any but the one that this fit was stopped at."""
    from diln.files import MANIFEST
    from diln.models.fitted import Fitted

    if force or not (directory / MANIFEST).exists():
        return
    if not (kept.resume and kept.there) or Fitted.load(directory).stopped is None:
        raise StoreError(f"{directory}: there is a model already; pass --force to replace it")


def check_checkpoint(kept: "Checkpoints", parameters: "Parameters", asked: bool, force: bool) -> None:
    """Raise if there can be no checkpoint that was asked for, or if there is one of which nothing was said."""
    if (asked or kept.resume) and parameters.inference != "sampling":
        option = "--resume" if kept.resume else "--checkpoint-every"
        raise DilnError(f"{option} is for --inference sampling, and it is {parameters.inference}; leave it out")
    if kept.there and not kept.resume and not force:
        raise StoreError(
            f"{kept.directory}: a fit that was stopped has left its checkpoint here; go on from it with --resume, or "
            "begin anew with --force"
        )
    if (asked or kept.resume) and kept.every < math.inf:
        kept.check()


def _fit(
    parameters: "Parameters",
    corpus: "Corpus",
    name: str,
    checkpoints: "Checkpoints",
    stop: StopSign,
    engine: "Dask | None",
    scratch: Path,
    ahead: Ahead,
    quiet: bool,
    page: Beside | None = None,
) -> "Fitted":
    from diln.models.choice import chosen
    from diln.models.counts import CorpusRows
    from diln.models.fitting import fit

    if not corpus.n_tokens:
        raise SourceError(f"{shown(name)}: the {len(corpus):,} documents have no token; give documents with text")
    start = getattr(parameters.init, "vocabulary", corpus.vocabulary)
    if start != corpus.vocabulary:
        raise DilnError(
            f"--init is a model of {len(start):,} terms that are not the {corpus.n_terms:,} of the documents; count "
            "them with --vocabulary, or fit both on one corpus"
        )
    kept = checkpoints if parameters.inference == "sampling" else None
    if page is not None:
        page.announce()
    choice = chosen(parameters, len(corpus), corpus.n_tokens, here=engine is None)
    if choice.line and not quiet:
        ERR.print(f"[dim]{escape(choice.line)}[/]", soft_wrap=True)
    way, pace = course(parameters, choice.method, corpus), pace_of_workers(engine, corpus.n_tokens / len(corpus))
    with stop, FitLine(way, quiet=quiet, stop=stop, workers=pace, ahead=ahead) as line:
        ahead.wait()
        look, see = (line, None) if page is None else page.looks(line, corpus.vocabulary)
        return fit(parameters, CorpusRows(corpus), corpus.vocabulary, look, kept, stop, see, engine, scratch)


def course(parameters: "Parameters", method: str, corpus: "Corpus") -> Course:
    """What lies before a fit by a learning method."""
    from diln.models import sampling

    n_docs, n_tokens = len(corpus), corpus.n_tokens
    if parameters.inference == "variational":
        passes = parameters.epochs if method == "online" else parameters.plan().max_iter
        return Passes(passes, n_docs, at_most=method == "batch")
    plan = sampling.planned(parameters, method, n_tokens)
    if method == "online":
        return Steps(plan, n_docs, parameters.epochs, chains=parameters.n_chains)
    return Sweeps(plan, n_docs, method, parameters.n_chains)


def _report(fitted: "Fitted", corpus: "Corpus", output: Path, seconds: float, json: bool) -> None:
    from diln.analysis import largest_topics

    largest = largest_topics(fitted, LARGEST)
    if json:
        numbers = {
            "directory": str(output), "model": fitted.kind, "documents": len(corpus), "terms": corpus.n_terms,
            "tokens": corpus.n_tokens, **found_json(fitted), "seconds": seconds,
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
