"""Make the generated parts of the documentation: the reference of the command line, and pictures of its output.

python docs/generate.py

A test compares the reference with what this makes.
"""

import io
import os
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer
from rich.console import Console
from typer.cli import get_docs_for_click

from diln.cli import corpus, fit, model
from diln.cli.main import app

HERE = Path(__file__).parent
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


def pictures() -> dict[str, str]:
    """Pictures, by name, of what the commands of ``make demo`` print."""
    with TemporaryDirectory() as folder, chdir(folder):
        Path("build/demo").mkdir(parents=True)
        picture("corpus build builtin:docs -o build/demo/corpus")
        picture("fit build/demo/corpus -o build/demo/model --seed 1 --chains 4")
        return {
            "corpus-info": picture("corpus info build/demo/corpus", width=74),
            "topics": picture("topics build/demo/model --top 20", width=90),
            "correlations": picture("correlations build/demo/model", width=110),
        }


if __name__ == "__main__":
    os.environ.pop("COLUMNS", None)
    (HERE / "cli.md").write_text(command_reference(), encoding="utf-8")
    (HERE / "images").mkdir(exist_ok=True)
    for name, drawing in pictures().items():
        (HERE / "images" / f"{name}.svg").write_text(drawing, encoding="utf-8")
