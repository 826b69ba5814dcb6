"""``diln themes``: a few groups of topics, and the topics in them."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from diln.cli.answers import in_parts
from diln.cli.console import OUT, bar, say_json
from diln.cli.opening import CorpusOption, open_atlas
from diln.cli.options import FileOption, ForExcelOption, JobsOption, JsonOption, ModelArg, QuietOption
from diln.cli.table_files import check_target, write_table
from diln.cli.table_formats import Column, FileContent
from diln.cli.tables import BAR_WIDTH, joined, listed, say_written
from diln.models.checks import ParameterError

if TYPE_CHECKING:
    from diln.analysis import Theme, Themes, TopicInfo

app = typer.Typer()

TOP = 5  # topics of a theme that are listed by default
WIDE = 100  # characters of a line that has room for bars
BESIDE_WORDS = 18  # characters that the columns before a topic's words take

NumberOption = Annotated[
    int | None, typer.Option("--number", "-n", min=1, help="Number of themes. Default: chosen, usually 5 to 15.")
]


@app.command(
    "themes",
    epilog="Examples:\n\ndiln themes model\n\ndiln themes model -n 12 --top 3\n\ndiln themes model -o themes.csv",
)
def themes_command(
    model: ModelArg,
    number: NumberOption = None,
    top: Annotated[
        int | None,
        typer.Option(
            "--top", min=0, help="Maximum number of topics to list of each theme.", show_default=f"{TOP}; all in a file"
        ),
    ] = None,
    corpus: CorpusOption = None,
    output: FileOption = None,
    for_excel: ForExcelOption = False,
    jobs: JobsOption = -1,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Show the themes: groups of topics that are found in the same documents, the largest first.

    Every topic is in one theme. For any number of themes they are cut from one tree: with more of them, some fall into
    parts, and the others stay as they are. A file has a row for each topic.
    """
    if output is not None:
        check_target(output, directories=[model])
    atlas = open_atlas(model, corpus, jobs, quiet=quiet or json)
    try:
        found = atlas.themes(number or "auto")
    except ParameterError as error:  # more themes than topics
        raise ParameterError("--number", error.problem) from None
    topics = {topic.id: topic for topic in atlas.topics()}
    if output is not None:
        written = write_table(output, *themes_table(found, topics), for_excel=for_excel)
        say_written(output, written, {"themes": found.n, "topics": len(topics)}, _told(found), json=json)
        return
    if json:
        say_json({"directory": str(model), **_json(found, topics)})
        return
    show_themes(found, topics, TOP if top is None else top)
    if atlas.index is None:
        OUT.print(
            "\n[dim]these themes are of the model alone; with its documents (--corpus DIR, or diln index first) they "
            "are better[/]"
        )


def _told(found: "Themes") -> dict[str, str]:
    return {"themes": f"{found.n:,}{', chosen by the rule' if found.auto else ''}"}


def _json(found: "Themes", topics: dict[int, "TopicInfo"]) -> dict[str, object]:
    """Themes for machines, with the label, share and words of each topic."""
    listed_topics = [
        {"id": one.id, "theme": found.topic_theme[one.id], "label": one.label, "share": one.share, "words": one.words}
        for one in topics.values()
        if one.id in found.topic_theme
    ]
    return {**found.to_json(), "topics": listed_topics}


def themes_table(found: "Themes", topics: dict[int, "TopicInfo"]) -> FileContent:
    """A row for each topic, with its theme."""
    columns = [Column("theme", "whole"), Column("theme_label", "text"), Column("theme_share", "number")]
    columns += [Column("theme_documents", "whole")] if found.document_theme is not None else []
    columns += [Column("topic", "whole"), Column("label", "text"), Column("share", "number"), Column("words", "text")]

    def row(theme: "Theme", topic: "TopicInfo") -> tuple[object, ...]:
        documents = () if found.document_theme is None else (theme.n_docs,)
        mine = (topic.id, topic.label, topic.share, joined(topic.words))
        return (theme.id, theme.label, theme.share, *documents, *mine)

    return columns, in_parts(row(theme, topics[one]) for theme in found.themes for one in theme.topics if one in topics)


def show_themes(found: "Themes", topics: dict[int, "TopicInfo"], top: int) -> None:
    """Print the themes, then some topics of each."""
    how = "; -n gives another number" if found.auto else ""
    OUT.print(f"[bold]themes[/] ({found.n} of {len(found.topic_theme)} topics{how})")
    table = Table(box=None, pad_edge=False, header_style="dim")
    known, wide = found.document_theme is not None, OUT.width >= WIDE
    for name in ("theme", "share", *([""] if wide else []), *(["documents"] if known else []), "topics"):
        table.add_column(name, justify="left" if not name else "right", style="bold" if name == "theme" else "")
    table.add_column("words")
    most = max(theme.share for theme in found.themes)
    for theme in found.themes:
        documents = [f"{theme.n_docs:,}"] if known else []
        marks = [bar(theme.share / most, BAR_WIDTH)] if wide else []
        cells = [f"{theme.share:.1%}", *marks, *documents, str(len(theme.topics)), escape(_named(theme))]
        table.add_row(str(theme.id), *cells)
    OUT.print(table)
    whole = sum(topics[one].share for one in found.topic_theme if one in topics)
    OUT.print(f"[dim]shares are of all words; these topics have {whole:.0%} of them[/]")
    for theme in found.themes if top else ():
        _show_topics(theme, topics, top)


def _named(theme: "Theme") -> str:
    """A theme's words, after the name that its user gave it."""
    words = ", ".join(theme.words)
    return words if theme.label == words else f"{theme.label}: {words}"


def _show_topics(theme: "Theme", topics: dict[int, "TopicInfo"], top: int) -> None:
    """Print the largest topics of a theme."""
    OUT.print(f"\n[bold]{theme.id}  {escape(theme.label)}[/]  [dim]{theme.share:.1%}[/]")
    table = Table(box=None, pad_edge=False, show_header=False)
    for style in ("bold", "", ""):
        table.add_column(justify="right" if style or not table.columns[1:] else "left", style=style, no_wrap=True)
    mine = [topics[one] for one in theme.topics if one in topics]
    for topic in mine[:top]:
        name = f"{topic.label}: " if topic.named else ""
        words = listed(topic.telling or topic.words, None, OUT.width - BESIDE_WORDS - len(name))
        table.add_row(f"{topic.id:>7}", f"{topic.share:>6.1%}", escape(name + words))
    OUT.print(table)
    left = len(mine) - top
    if left > 0:
        share = sum(topic.share for topic in mine[top:])
        OUT.print(f"[dim]         and {left:,} smaller topic{'s' * (left > 1)}, together {share:.1%}[/]")
