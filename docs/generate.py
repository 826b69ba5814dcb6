"""Make the generated parts of the documentation: the reference of the command line, and pictures.

python docs/generate.py                   fits the model of ``make demo`` for them
python docs/generate.py build/demo        takes the one that ``make demo`` has left there

Pictures are of what commands print, of figures, and of the explorer in the Chromium of this machine (``diln[dev]`` has
what drives it). A test compares the reference with what this makes.
"""

import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer
from rich.console import Console
from typer.cli import get_docs_for_click

from diln import Corpus
from diln.cli import corpus, fit, model
from diln.cli.main import app

HERE = Path(__file__).parent
FIGURES = {"map": "--top 50", "network": "--top 20", "matrix": "--top 12", "themes": "--top 24"}  # with what options
# Of the explorer: which page, and what is moved into view first.
SCREENS = {
    "map": ("view=map", None), "matrix": ("view=matrix", None), "topic": ("view=map&topic=11", None),
    "document": ("view=documents&q=fourier&document={document}", None), "labels": ("view=trends", "By label"),
    "training": ("view=training", None),
}  # fmt: skip
READ = "scipy.fft._basic:fft"  # id of the document that is read in a picture
TITLE = "Documentation of Python and its scientific packages"
WIDTH, HEIGHT = 1280, 800
# As rich's own, without the fonts that it loads from the network.
SVG = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; font-size: {char_height}px;
line-height: {line_height}px; font-variant-east-asian: full-width; }}
{styles}</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>{lines}</defs>
{chrome}<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g></svg>
"""


def command_reference() -> str:
    """Every command with its options, as Markdown."""
    command = typer.main.get_command(app)
    _tell_all(command)
    context = typer.Context(command, info_name="diln")
    text = get_docs_for_click(obj=command, ctx=context, name="diln", title="Command line")
    return f"{text.strip()}\n"


def _tell_all(command: Any) -> None:
    """Have a list of commands say what each does in whole sentences."""
    for part in getattr(command, "commands", {}).values():
        part.short_help = " ".join(part.help.split("\n\n")[0].split())
        _tell_all(part)


def picture(command: str, width: int = 80) -> str:
    """What a command prints, as SVG."""
    screen = Console(record=True, width=width, file=io.StringIO(), highlight=False, force_terminal=True)
    corpus.OUT = fit.OUT = model.OUT = screen
    screen.print(f"[green]$[/] diln {command}")
    app(command.split(), standalone_mode=False)
    return screen.export_svg(title="", code_format=SVG, unique_id="diln")


def figures() -> dict[str, str]:
    """Figures, by name, of the model in this folder, as SVG."""
    for name, options in FIGURES.items():
        app(f"plot build/demo/model {name} -o build/{name}.svg -q {options}".split(), standalone_mode=False)
    return {f"figure-{name}": Path(f"build/{name}.svg").read_text(encoding="utf-8") for name in FIGURES}


@contextmanager
def explored() -> Iterator[str]:
    """The address of the explorer of the model in this folder."""
    command = [sys.executable, "-m", "diln", "explore", "build/demo/model", "--no-browser", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603
    try:
        found = (re.search(r"http://\S+", line) for line in server.stdout or ())
        yield next(one[0] for one in found if one)
    finally:
        server.terminate()
        server.wait(30)


def screens() -> dict[str, bytes]:
    """Pictures of the explorer and of a report, by name, as PNG."""
    from playwright.sync_api import sync_playwright

    app(["report", "build/demo/model", "-o", "build/report.html", "--title", TITLE, "-q"], standalone_mode=False)
    row = Corpus.open("build/demo/corpus").documents.ids.index(READ)
    shots = {}
    with explored() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        for name, (query, heading) in SCREENS.items():
            page.goto(f"{address}?{query.format(document=row)}")
            page.wait_for_load_state("networkidle")
            if heading:
                page.get_by_role("heading", name=heading).scroll_into_view_if_needed()
            page.wait_for_timeout(1500)  # what moves comes to rest
            shots[f"explorer-{name}"] = page.screenshot()
        page.goto(Path("build/report.html").resolve().as_uri())
        page.wait_for_timeout(1500)
        shots["report"] = page.screenshot()
        browser.close()
    return shots


def pictures(demo: Path | None) -> dict[str, str | bytes]:
    """Pictures, by name, of what the commands of ``make demo`` print, of figures and of the explorer."""
    with TemporaryDirectory() as folder, chdir(folder):
        Path("build").mkdir()
        if demo is None:
            Path("build/demo").mkdir()
            picture("corpus build builtin:docs -o build/demo/corpus")
            picture("fit build/demo/corpus -o build/demo/model --seed 1 --chains 4")
        else:
            shutil.copytree(demo, "build/demo")
        return {
            "corpus-info": picture("corpus info build/demo/corpus", width=74),
            "topics": picture("topics build/demo/model --top 20", width=90),
            "correlations": picture("correlations build/demo/model", width=110),
            **figures(),
            **screens(),
        }


if __name__ == "__main__":
    os.environ.pop("COLUMNS", None)
    (HERE / "cli.md").write_text(command_reference(), encoding="utf-8")
    (HERE / "images").mkdir(exist_ok=True)
    for name, drawing in pictures(Path(sys.argv[1]).resolve() if sys.argv[1:] else None).items():
        if isinstance(drawing, bytes):
            (HERE / "images" / f"{name}.png").write_bytes(drawing)
        else:
            (HERE / "images" / f"{name}.svg").write_text(drawing, encoding="utf-8")
