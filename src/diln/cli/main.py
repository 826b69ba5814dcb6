"""The command's entrance: its sub-commands, and what becomes of errors."""

import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from diln import __version__
from diln.cli.compare import app as compare_app
from diln.cli.console import complain, plain_warnings
from diln.cli.corpus import app as corpus_app
from diln.cli.documents import app as documents_app
from diln.cli.fit import app as fit_app
from diln.cli.metrics import app as metrics_app
from diln.cli.model import app as model_app
from diln.cli.parameters import in_flags
from diln.cli.predict import app as predict_app
from diln.engine.interrupts import true_interrupts
from diln.errors import DilnError, WorkerError
from diln.models.checks import ParameterError

EXIT_CODES = "Exit codes: 0 done, 1 a fault of the machine or of diln, 2 bad input or usage, 130 interrupted."
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
for commands in (fit_app, model_app, documents_app, predict_app, metrics_app, compare_app):
    app.add_typer(commands)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"diln {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Find the themes in many documents, and which go together."""


def main() -> None:
    """Run the command; whatever is wrong with the input is one sentence and exit code 2.

    The message of a plain ValueError is made for whoever gave the value. What is left shows where it came from.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal or pipe may not have every character
    try:
        with plain_warnings(), true_interrupts():
            app()
    except KeyboardInterrupt:
        sys.exit(130)
    except DilnError as error:
        complain("error", str(error))
        sys.exit(1 if isinstance(error, WorkerError) else 2)
    except ParameterError as error:
        complain("error", in_flags(error))
        sys.exit(2)
    except ValueError as error:
        if type(error) is not ValueError:  # of a library, such as a matrix without inverse: a fault of diln
            raise
        complain("error", str(error))
        sys.exit(2)
    except MemoryError as error:
        complain("error", f"there is not enough memory{f' ({error})' if str(error) else ''}; {LESS}")
        sys.exit(1)
    except OSError as error:
        complain(
            "error", f"{error.filename or 'the machine'}: {error.strerror or error}; make room or mend it, try again"
        )
        sys.exit(1)
