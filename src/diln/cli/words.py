"""``diln words`` and ``diln read``: topics of words, words of topics, and what a text is about."""

import codecs
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from diln.cli.answers import in_parts
from diln.cli.console import OUT, bar, say_json
from diln.cli.opening import open_atlas
from diln.cli.options import FileOption, ForExcelOption, JsonOption, ModelArg
from diln.cli.source import TokenizerOption
from diln.cli.table_files import check_target, write_table
from diln.cli.table_formats import Column, FileContent
from diln.cli.tables import fit_line, joined, say_written, shown_lift
from diln.errors import SourceError, inert

if TYPE_CHECKING:
    from diln.analysis import Atlas, Reading

app = typer.Typer()

TOP = 10  # topics of a word
WORDS = 30  # of a topic
FEW = 5  # words beside a label
BAR_WIDTH = 12
SHOWN = 3000  # characters of a text
CLEAR = 0.3  # how likely a topic is of which a word is marked
STYLES = ("cyan", "yellow", "green", "magenta", "red", "dark_orange")


@app.command(
    "words",
    epilog="Examples:\n\ndiln words model court judge\n\ndiln words model --topic 12 --relevance 0.3",
)
def words_command(
    model: ModelArg,
    words: Annotated[list[str] | None, typer.Argument(metavar="WORD...", help="Words to look up.")] = None,
    topic: Annotated[int | None, typer.Option("--topic", min=0, help="Show the words of this topic.")] = None,
    relevance: Annotated[
        float,
        typer.Option(
            "--relevance", min=0, max=1, help="Which words of a topic: 1 the most probable, 0 the rarest elsewhere."
        ),
    ] = 0.6,
    top: Annotated[
        int | None,
        typer.Option("--top", "-n", min=1, help="How many to show.", show_default=f"{TOP} topics, {WORDS} words"),
    ] = None,
    output: FileOption = None,
    for_excel: ForExcelOption = False,
    json: JsonOption = False,
) -> None:
    """Show the topics of some words, or the words of a topic.

    A word's share of a topic is the share of its tokens that are of this topic. A word's lift in a topic is how many
    times as often as in the corpus it is there.
    """
    if bool(words) == (topic is not None):
        raise typer.BadParameter("give words, or a topic with --topic")
    if output is not None:
        check_target(output, directories=[model])
    atlas = open_atlas(model, None, quiet=json)
    found = _topics_of(atlas, words, top or TOP) if words else _words_of(atlas, topic, relevance, top or WORDS)
    if output is not None:
        written = write_table(output, *_as_table(found), for_excel=for_excel)
        say_written(output, written, {}, {}, json=json)
    elif json:
        say_json({"directory": str(model), "words" if words else "topic": found})
    elif words:
        _show_topics(atlas, found)
    else:
        _show_words(atlas, topic or 0, found)


def _topics_of(atlas: "Atlas", words: Sequence[str], n: int) -> list[dict[str, Any]]:
    return [{"word": word, **one.to_json()} for word in words for one in atlas.word(word, n)]


def _words_of(atlas: "Atlas", topic: int | None, relevance: float, n: int) -> list[dict[str, Any]]:
    return [{"topic": topic, **one.to_json()} for one in atlas.words(topic or 0, relevance, n)]


def _as_table(found: list[dict[str, Any]]) -> FileContent:
    kinds: dict[str, Any] = {"topic": "whole", "word": "text", "label": "text", "term": "text"}
    columns = [Column(name, kinds.get(name, "number")) for name in found[0]]
    return columns, in_parts(tuple(row.values()) for row in found)


def _show_topics(atlas: "Atlas", found: list[dict[str, Any]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("word", "topic", "share", "", "label", "words"):
        _add_column(table, name)
    before = ""
    for row in found:
        word, before = "" if row["word"] == before else row["word"], row["word"]
        table.add_row(
            f"[bold]{escape(word)}[/]", str(row["topic"]), f"{row['share']:.1%}", bar(row["share"], BAR_WIDTH),
            escape(row["label"]), escape(joined([word.term for word in atlas.words(row["topic"], 1.0, FEW)])),
        )  # fmt: skip
    OUT.print(fit_line(table, OUT))


def _add_column(table: Table, name: str) -> None:
    right, text = name in ("topic", "share"), name in ("label", "words")
    table.add_column(name, justify="right" if right else "left", no_wrap=True, ratio=1 if text else None)


def _show_words(atlas: "Atlas", topic: int, found: list[dict[str, Any]]) -> None:
    OUT.print(f"[bold]topic {atlas.topic(topic).id}[/]: {escape(atlas.label(topic))}")
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("word", "probability", "", "lift"):
        table.add_column(name, justify="right" if name in ("probability", "lift") else "left", no_wrap=True)
    most = max(row["probability"] for row in found) or 1.0
    for row in found:
        share = row["probability"]
        table.add_row(
            f"[bold]{escape(row['term'])}[/]", f"{share:.2%}", bar(share / most, BAR_WIDTH), shown_lift(row["lift"])
        )
    OUT.print(table)


@app.command("read", epilog="Examples:\n\ndiln read model article.txt\n\npbpaste | diln read model -")
def read_command(
    model: ModelArg,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A text file; - is the standard input.")] = "-",
    topics: Annotated[int, typer.Option("--topics", min=1, help="Number of topics.")] = len(STYLES),
    encoding: Annotated[str, typer.Option("--encoding", help="Encoding of the text.")] = "utf-8",
    every: Annotated[bool, typer.Option("--all", help=f"Show the whole text, not only {SHOWN:,} characters.")] = False,
    tokenizer: TokenizerOption = None,
    json: JsonOption = False,
) -> None:
    """Show what a new text is about, with each word in the colour of its topic.

    Where there are no colours, a word is followed by the number of its topic.
    """
    text = text_of(file, encoding)
    atlas = open_atlas(model, None, quiet=json)
    reading = atlas.read_text(text, topics)
    if json:
        say_json({"model": str(model), **reading.to_json()})
        return
    _show_reading(atlas, reading, len(text) if every else SHOWN, len(text))


def text_of(file: str, encoding: str) -> str:
    """The text of a file, or of the standard input."""
    try:
        codecs.lookup(encoding)
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return data.decode(encoding)
    except LookupError:
        raise SourceError(f"there is no encoding {encoding!r}; give one such as utf-8 or latin-1") from None
    except UnicodeDecodeError as error:
        raise SourceError(
            f"{file}: byte {error.start:,} is not {encoding}; name the encoding with --encoding"
        ) from None
    except OSError as error:
        raise SourceError(f"{file}: cannot be read ({error.strerror}); name a text file") from None


def _show_reading(atlas: "Atlas", reading: "Reading", most: int, size: int) -> None:
    if not reading.n_known:
        OUT.print("the text has no word that the model knows")
        return
    colours = {topic.id: STYLES[at] for at, topic in enumerate(reading.topics[: len(STYLES)])}
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("topic", "share", "", "label", "words"):
        _add_column(table, name)
    for topic in reading.topics:
        style = colours.get(topic.id, "default")
        table.add_row(
            f"[bold {style}]{topic.id}[/]", f"{topic.share:.1%}", bar(topic.share, BAR_WIDTH),
            f"[{style}]{escape(atlas.label(topic.id))}[/]", escape(joined(topic.words)),
        )  # fmt: skip
    OUT.print(fit_line(table, OUT))
    OUT.print()
    OUT.print(_coloured(reading, colours, most), soft_wrap=not OUT.is_terminal)
    known = f"{reading.n_known:,} words that the model knows, {reading.n_unknown:,} that it does not"
    cut = f"; {most:,} of {size:,} characters are shown, --all shows the rest" if size > most else ""
    OUT.print(f"\n[dim]{known}{cut}[/]")


def _coloured(reading: "Reading", colours: dict[int, str], most: int) -> Text:
    """The text, each word in the colour of its topic, or with its number where there are no colours."""
    shown, plain, left = Text(), not OUT.is_terminal or OUT.no_color, most
    for token in reading.tokens:
        marked = token.topic in colours and token.weight >= CLEAR
        style = (
            f"bold {colours[token.topic]}"
            if marked and token.topic is not None
            else "dim"
            if token.topic is None
            else ""
        )
        shown.append(inert(token.text[:left]), "" if plain else style)
        if marked and plain:
            shown.append(f"[{token.topic}]")
        left -= len(token.text)
        if left <= 0:
            break
    shown.rstrip()
    return shown
