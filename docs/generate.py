"""Make the generated parts of the documentation: the reference of the command line, and the picture of its output.

python docs/generate.py

A test compares the reference with what this makes.
"""

import io
from pathlib import Path
from tempfile import TemporaryDirectory

import typer
from rich.console import Console
from typer.cli import get_docs_for_click

from diln.cli import corpus
from diln.cli.main import app
from diln.corpus import build, summarise
from diln.datasets import docs_source

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
    context = typer.Context(command, info_name="diln")
    text = get_docs_for_click(obj=command, ctx=context, name="diln", title="Command line")
    return f"{text.strip()}\n"


def picture() -> str:
    """What ``diln corpus info`` prints for the built-in documents, as SVG."""
    screen = Console(record=True, width=74, file=io.StringIO(), highlight=False, force_terminal=True)
    corpus.OUT = screen
    with TemporaryDirectory() as folder:
        stored = build(docs_source(), Path(folder) / "corpus")
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        screen.print("[green]$[/] diln corpus info build/demo/corpus")
        corpus.show(summarise(stored), "build/demo/corpus", size, full=True)
    return screen.export_svg(title="", code_format=SVG, unique_id="diln")


if __name__ == "__main__":
    (HERE / "cli.md").write_text(command_reference(), encoding="utf-8")
    (HERE / "images").mkdir(exist_ok=True)
    (HERE / "images" / "corpus-info.svg").write_text(picture(), encoding="utf-8")
