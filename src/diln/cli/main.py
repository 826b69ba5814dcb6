"""The command's entrance: its sub-commands, and what becomes of errors."""

import signal
import sys
from errno import ENAMETOOLONG
from typing import Annotated

import typer

from diln import __version__
from diln.cli.compare import app as compare_app
from diln.cli.console import OUT, complain, flush, have_streams, plain_warnings, print_anything
from diln.cli.corpus import app as corpus_app
from diln.cli.diff import app as diff_app
from diln.cli.documents import app as documents_app
from diln.cli.edits import app as edits_app
from diln.cli.explore import app as explore_app
from diln.cli.fit import app as fit_app
from diln.cli.index import app as index_app
from diln.cli.interrupts import interruptible, repeated, terminable
from diln.cli.metrics import app as metrics_app
from diln.cli.model import app as model_app
from diln.cli.parameters import in_flags
from diln.cli.plot import app as plot_app
from diln.cli.predict import app as predict_app
from diln.cli.report import app as report_app
from diln.cli.similar import app as similar_app
from diln.cli.themes import app as themes_app
from diln.cli.trends import app as trends_app
from diln.cli.update import app as update_app
from diln.cli.words import app as words_app
from diln.engine.interrupts import true_interrupts
from diln.errors import TOO_LONG, DilnError, WorkerError
from diln.models.checks import ParameterError

EXIT_CODES = (
    "Exit codes: 0 done, 1 a fault of the machine or of diln, 2 bad input or usage, 130 interrupted by Ctrl-C, 143 "
    "ended by SIGTERM."
)
INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM
UNEXPECTED = "this is a fault of diln: please report it with what diln --debug and the same command show"
LESS = "use fewer topics (--topics), dimensions (--dims), terms (--max-terms) or documents at a time (--batch-size)"

app = typer.Typer(
    name="diln",
    help="Find the themes in many documents, and which go together.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(corpus_app, name="corpus")
for commands in (
    fit_app,
    update_app,
    diff_app,
    index_app,
    similar_app,
    model_app,
    themes_app,
    edits_app,
    trends_app,
    words_app,
    documents_app,
    predict_app,
    metrics_app,
    compare_app,
    explore_app,
    report_app,
    plot_app,
):
    app.add_typer(commands)


def _version(wanted: bool) -> None:
    if wanted:
        OUT.print(f"diln {__version__}")
        raise typer.Exit


_debug = False  # whether errors show where they come from


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="If something goes wrong, show where in the code.")] = False,
) -> None:
    """Find the themes in many documents, and which go together."""
    global _debug
    _debug = debug


def main() -> None:
    """Run the command; whatever goes wrong is one sentence, and the exit code says whose fault it is.

    If nobody reads what it prints (``| head``), it prints no more, and ends as it would have.
    """
    have_streams()
    print_anything()
    with terminable() as came:
        code = _run()
    exec("")  # noqa: S102  (else an interrupt that has hit another exec of a string ends Python by SIGINT, not by a code)
    flush()
    sys.exit(TERMINATED if came and code else code)


def _run() -> int:
    """Run the command; returns the exit code."""
    try:
        with interruptible(), plain_warnings(), true_interrupts(), repeated():
            app()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if _debug:
            raise
        return _told(error)
    return 0


def _told(error: Exception) -> int:
    """Say in a sentence what is wrong; returns the exit code.

    The message of a plain ValueError is made for whoever gave the value; other errors of Python and of libraries are
    faults of diln.
    """
    text, code = str(error), 2
    if isinstance(error, WorkerError):
        code = 1
    elif isinstance(error, ParameterError):
        text = in_flags(error)
    elif isinstance(error, MemoryError):
        text, code = f"there is not enough memory{f' ({error})' if text else ''}; {LESS}", 1
    elif isinstance(error, OSError) and error.errno == ENAMETOOLONG:
        text = f"{error.filename}: {TOO_LONG}"
    elif isinstance(error, OSError):
        text, code = f"{error.filename or 'the machine'}: {error.strerror or error}; make room or mend it, try again", 1
    elif not isinstance(error, DilnError) and type(error) is not ValueError:
        text, code = f"{type(error).__name__}: {' '.join(text.split())}; {UNEXPECTED}", 1
    complain("error", text)
    return code
