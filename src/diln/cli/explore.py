"""``diln explore`` and ``diln serve``: a model in the browser, and the JSON API behind it."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from diln.cli.console import ERR, OUT, ProgressLine
from diln.cli.opening import CorpusOption
from diln.cli.options import JobsOption, ModelArg, QuietOption
from diln.cli.source import TokenizerOption
from diln.errors import DilnError

if TYPE_CHECKING:
    from diln.show.explorer.settings import Settings

app = typer.Typer()

SERVER = "Server"
NEEDED = ("fastapi", "uvicorn")

CompareOption = Annotated[
    Path | None, typer.Option("--compare", metavar="OTHER", help="A second model of the same terms, to compare with.")
]
HostOption = Annotated[
    str,
    typer.Option(
        "--host",
        metavar="ADDRESS",
        help="Address to listen at. With any other than the default, others can reach the server, and need the token "
        "that it prints.",
        rich_help_panel=SERVER,
    ),
]
PortOption = Annotated[
    int | None,
    typer.Option(
        "--port",
        min=0,
        max=65535,
        help="Port to listen at; 0 for any that is free.",
        show_default="8642, or the next free one",
        rich_help_panel=SERVER,
    ),
]
NamesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host",
        metavar="NAME",
        help="A name by which browsers know this machine. Repeat for several.",
        rich_help_panel=SERVER,
    ),
]
ReadOnlyOption = Annotated[
    bool,
    typer.Option("--read-only", help="Allow no changes, and write nothing into the model.", rich_help_panel=SERVER),
]


EofOption = Annotated[
    bool, typer.Option("--until-eof", hidden=True, help="End when the standard input does: for diln fit --watch.")
]


@app.command("explore", epilog="Examples:\n\ndiln explore model\n\ndiln explore model --compare other --port 9000")
def explore_command(
    model: ModelArg,
    corpus: CorpusOption = None,
    *,
    compare: CompareOption = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = None,
    allow_host: NamesOption = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Whether to open a browser.", rich_help_panel=SERVER)
    ] = True,
    read_only: ReadOnlyOption = False,
    tokenizer: TokenizerOption = None,
    until_eof: EofOption = False,
    jobs: JobsOption = -1,
    quiet: QuietOption = False,
) -> None:
    """Explore a model in the browser: map, topics, documents, search, trends.

    The page is served from this machine and loads nothing from the network. A model that diln fit --watch is still
    fitting is shown on its way. Ctrl-C ends it.
    """
    where = Where(host, port, tuple(allow_host or ()), page=True, browser=browser, until_eof=until_eof)
    serve(model, corpus, compare, where, read_only=read_only, jobs=jobs, quiet=quiet)


@app.command("serve", epilog="Examples:\n\ndiln serve model\n\ncurl http://127.0.0.1:8642/api/topics")
def serve_command(
    model: ModelArg,
    corpus: CorpusOption = None,
    *,
    compare: CompareOption = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = None,
    allow_host: NamesOption = None,
    read_only: ReadOnlyOption = False,
    tokenizer: TokenizerOption = None,
    jobs: JobsOption = -1,
    quiet: QuietOption = False,
) -> None:
    """Serve a model as a JSON API, without the page; /docs describes it. Ctrl-C ends it."""
    where = Where(host, port, tuple(allow_host or ()), page=False)
    serve(model, corpus, compare, where, read_only=read_only, jobs=jobs, quiet=quiet)


@dataclass(frozen=True)
class Where:
    """At which address to serve, and what."""

    host: str
    port: int | None
    names: tuple[str, ...]
    page: bool
    browser: bool = False
    until_eof: bool = False


def check_installed() -> None:
    """Raise, in one sentence, if the extra packages are missing."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise DilnError(f"{' and '.join(missing)} must be installed for this; run: pip install 'diln[explore]'")


def serve(
    model: Path, corpus: Path | None, compare: Path | None, where: Where, *, read_only: bool, jobs: int, quiet: bool
) -> None:
    """Open a model and answer requests until Ctrl-C."""
    check_installed()
    from diln.show.explorer.app import make_app
    from diln.show.explorer.serve import address_of, listen, open_browser, run
    from diln.show.explorer.settings import Settings
    from diln.show.explorer.start import open_desk

    sock = listen(where.host, where.port)
    with sock:
        with ProgressLine("opening", quiet=quiet) as watch:
            desk = open_desk(model, corpus, compare, where.until_eof, read_only=read_only, jobs=jobs, watch=watch)
        taken = sock.getsockname()[1]
        settings = Settings.of(where.host, taken, read_only=read_only, page=where.page, names=where.names)
        address = address_of(sock, settings.token)
        _announce(address, settings, where, quiet)
        if where.browser:
            open_browser(address)
        try:
            run(make_app(desk, settings), sock, until_eof=where.until_eof)
        finally:
            desk.close()


def _announce(address: str, settings: "Settings", where: Where, quiet: bool) -> None:
    from diln.show.explorer.settings import PORT

    if where.port is None and settings.port != PORT and not quiet:
        ERR.print(f"[dim]port {PORT} is in use; taking {settings.port}[/]")
    what = "explore the model at" if settings.page else "the API is at"
    OUT.print(f"{what} [bold]{escape(address)}[/] (Ctrl-C ends it)", soft_wrap=True)
    OUT.file.flush()
    if settings.token is not None:
        ERR.print("[dim]others can reach this server: whoever has the token in this address can use it[/]")
