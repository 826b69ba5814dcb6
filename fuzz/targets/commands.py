"""The command: exports of models and documents, with odd arguments, spoilt sources and spoilt folders."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from importlib import import_module
from typing import Any
from unittest.mock import patch

import typer

from diln.errors import ACTS, DilnError
from fuzz import folders
from fuzz.case import Case, Run, target
from fuzz.judge import LONGEST, WrongError
from fuzz.mutate import octets
from fuzz.seeds import SOURCES, read, seeds, write
from fuzz.targets.folders import unchanged

cli = import_module("diln.cli.main")  # the room shows a function of this name
WORDS = [
    "", "-", "--", "-1", "0", "1", "2", "3", "nan", "1e9", "99999999999999999999", "a", "text", "none", "\0", "\udcff",
    "../beside/victim.txt", "/", ".", "..", "latin-1", "csv", "[red]x[/]", "--json", "-q", "--help", "=", "--words=2",
    "\u00e9" * 50, "n" * 300, "\x1b]0;x\x07\x9b2J\u202e",
]  # fmt: skip
OUTPUTS = [
    "out.csv",
    "out.tsv",
    "out.jsonl",
    "out.npz",
    "out.parquet",
    "out.txt",
    "out",
    "model/out.csv",
    "corpus/o.csv",
    "no/out.csv",
    "/",
    ".",
    "old.csv",
    f"{'n' * 300}.csv",
]
COMMANDS = {
    "topics": ["--words", "--top", "--json"],
    "correlations": ["--pairs", "--words", "--all", "--json"],
    "info": ["--json"],
    "documents": ["--top", "--topic", "--json"],
    "transform": ["--text", "--id", "--format", "--encoding", "--errors", "--delimiter", "--json", "--quiet"],
    "evaluate": ["--method", "--draws", "--seed", "--text", "--json", "--quiet"],
}


@cache
def command() -> Any:
    """The command, put together once."""
    return typer.main.get_command(cli.app)


def called(*args: str) -> str:
    """What the command prints; an error where it ends with one, and wrong where it ends otherwise."""
    out, err, code = io.StringIO(), io.StringIO(), None
    with (
        patch.object(sys, "argv", ["diln", *args]),
        patch.object(cli, "app", command()),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            cli.main()
        except SystemExit as ended:
            code = ended.code
    said = err.getvalue()
    if acts := ACTS.findall((out.getvalue() + said).replace("\r\n", "")):
        raise WrongError(f"prints what acts on a terminal: {acts!r:.100}")
    if code in (0, None):
        return out.getvalue()
    if code != 2 or not said:
        raise WrongError(f"exit code {code}: {said}")
    if "Usage:" not in said and (said.count("\n") > 4 or len(said) > 2 * LONGEST):
        raise WrongError(f"an error of {said.count(chr(10))} lines: {said}")
    raise DilnError(said.replace("\n", " ")[:500])


@target(1)
def command_line(case: Case) -> Run:
    """What a model says, in every form, of sound and of spoilt folders and documents."""
    rng, name = case.rng, case.rng.choice(sorted(COMMANDS))
    model, source = rng.choice(sorted(seeds().models)), rng.choice([*sorted(SOURCES), "corpus", "corpus"])
    files, known = seeds().models[model], list(seeds().models.values())
    write(
        folders.spoilt(case.spoiling, files, case.rounds, known) if rng.random() < 0.3 else files, case.folder / "model"
    )
    args = [name, str(case.folder / "model")]
    if name in ("transform", "evaluate", "documents"):
        if source == "corpus":
            corpora = seeds().corpora
            sound = corpora[rng.choice(sorted(corpora))]
            spoil = rng.random() < 0.5
            write(
                folders.spoilt(case.spoiling, sound, 1, list(corpora.values())) if spoil else sound,
                case.folder / "corpus",
            )
        else:
            case.write(source, octets.spoilt(case.spoiling, SOURCES[source], rng.choice((0, 0, 1, 3))))
        args += [str(case.folder / source), *(() if name == "documents" else ("--jobs", "1"))]
    case.write("old.csv", b"what was there\n")
    if name == "transform":
        args += ["-o", str(case.folder / rng.choice(OUTPUTS))]
    for _ in range(rng.choice((0, 0, 1, 1, 2, 3))):
        args += [rng.choice(COMMANDS[name])] + [rng.choice(WORDS)] * (rng.random() < 0.8)
    return lambda: _left_alone(case, args)


def _left_alone(case: Case, args: list[str]) -> str:
    """Run the command; where it fails, all files are as they were."""
    before = read(case.folder)
    try:
        return called(*args)
    except DilnError:
        unchanged(before, read(case.folder))
        raise
