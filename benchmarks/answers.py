"""Whether a change of the code moves an answer: all that people see of three models, stored, and compared.

python benchmarks/answers.py store FOLDER        fit the models there, and store every answer in FOLDER/answers
python benchmarks/answers.py compare OLD NEW     show where two such folders differ; exit code 1 if they do

The models are a DILN of two chains with edits, an HDP and a CTM of the same 240 made documents, which have texts,
titles, dates and labels. The answers are what each command prints for a terminal and with --json, every table that is
exported, each figure as SVG, the report, the help of all commands, and what every address of the server answers. Only
commands and addresses are used, so that files and names inside may change. What differs from run to run (seconds,
ports, paths) is blotted out. Fitted numbers hold on one kind of processor with the same numba: store both folders on
the same machine.
"""

import argparse
import difflib
import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np

FIELDS = {
    "farm": "apple pear plum cherry orchard fruit harvest barley wheat tractor",
    "road": "brake wheel engine gear motor fuel driver lane bridge tunnel",
    "stage": "violin flute drum horn concert music orchestra opera ballet choir",
    "state": "vote party senate election minister law budget treaty court tax",
    "sea": "harbour sail anchor fish tide storm wave captain island coast",
    "clinic": "nurse doctor patient vaccine surgery trial dose fever lung heart",
}
N_DOCS, LENGTH = 240, 60
MODELS = {
    "diln": "--topics 12 --dims 3 --chains 2 --passes 60 --keep-states 5 --seed 1",
    "hdp": "--model hdp --topics 12 --passes 60 --seed 2",
    "ctm": "--model ctm --topics 8 --passes 60 --seed 3",
    "other": "--topics 10 --dims 3 --passes 50 --seed 4",
    "bound": "--topics 8 --dims 4 --inference variational --passes 20 --seed 5",
}
ASKED = ("diln", "hdp", "ctm")
EDITS = ("label {m} 1 Crops", "merge {m} 2 5", "hide {m} 4", "label {m} 0 Countryside --theme")
ANSWERS = {  # of each model: what is asked, on a terminal and with --json
    "topics": "topics {m}", "topics-all": "topics {m} --all-topics --words 4", "correlations": "correlations {m}",
    "correlations-all": "correlations {m} --all --pairs 5", "info": "info {m}", "themes": "themes {m}",
    "themes-3": "themes {m} --themes 3", "documents": "documents {m} -n 12",
    "documents-topic": "documents {m} --topic 1",
    "similar": "similar {m} doc-7", "outliers": "outliers {m} -n 6", "duplicates": "duplicates {m} --least 0.2",
    "trends": "trends {m}", "trends-topic": "trends {m} --by topic --granularity quarter", "groups": "groups {m}",
    "groups-topic": "groups {m} --by topic", "words": "words {m} apple wheel", "words-topic": "words {m} --topic 1",
    "read": "read {m} new.txt", "metrics": "metrics {m} corpus", "evaluate": "evaluate {m} more.jsonl",
    "diff": "diff {m} other", "corpus": "corpus info corpus",
}  # fmt: skip
TABLES = {
    "topics": "topics {m}", "terms": "topics {m} --terms 5", "correlations": "correlations {m} --all",
    "documents": "documents {m}", "outliers": "outliers {m}", "duplicates": "duplicates {m} --least 0.2",
    "trends": "trends {m}", "groups": "groups {m} --by topic", "proportions": "transform {m} more.jsonl",
    "proportions-long": "transform {m} more.jsonl --long",
}  # fmt: skip
FIGURES = {
    "map": "", "network": "--all", "matrix": "", "words": "--words 6", "themes": "", "usage": "",
    "trends": "--by topic",
    "labels": "", "similar": "--document doc-7", "training": "", "score": "", "pairs": "", "states": "",
    "match": "--other other",
}  # fmt: skip
TEXT = "The orchard had a good harvest of apple and pear, but the party lost its vote on the budget."
ADDRESSES = (
    "model", "topics", "names", "topics/1", "topics/1/words?relevance=0.3&n=8", "themes", "themes?n=3", "map",
    "map?n=3",
    "pairs", "pairs?unsure=true", "matrix", "matrix?n=5&n_themes=3", "trends", "trends?by=theme&n_themes=3",
    "trends?granularity=quarter&label=farm", "groups", "groups?by=theme", "labels", "words?prefix=a", "words/apple",
    "compare", "documents", "documents?q=apple&n=3", "documents?topic=1&since=2021", "documents?theme=0&n_themes=3",
    "documents?label=sea&until=2021-03", "documents/7", "shares?label=sea", "map/documents?x0=-1&y0=-1&x1=1&y1=1",
    "export/documents.csv?label=sea", "edits", "training", "topics/999", "themes?n=0", "documents?since=never",
)  # fmt: skip
VOLATILE = re.compile(
    r'(?P<key>"(?:seconds?|elapsed|created|written|time|times|path|directory|source|version|host|machine|when|rate'
    r'|checkpoint_seconds|sweep_seconds|finished|started|per_second)": )(?:"[^"]*"|[-\d.e+]+|\[[-\d.e+,\s]*\])'
)
TIMES = re.compile(r"\b\d+(?:\.\d+)? ?(?:s|ms|seconds?|minutes?|min)\b|\b\d+:\d\d\b|\b[\d.]+ (?:KB|MB|GB)\b")
PORT = re.compile(r"127\.0\.0\.1:\d+|localhost:\d+")


def documents(n_docs: int, seed: int) -> Iterator[dict[str, str]]:
    """Draw documents of one field or two, with what a file of articles has."""
    rng, names = np.random.default_rng(seed), list(FIELDS)
    for number in range(n_docs):
        chosen = rng.choice(len(names), 1 + number % 2, replace=False)
        words = rng.choice(" ".join(FIELDS[names[field]] for field in chosen).split(), LENGTH)
        day = date(2020, 1, 1) + timedelta(days=3 * number)
        text = " ".join(word if place % 12 else f"{word}." for place, word in enumerate(words, 1))
        yield {"id": f"doc-{number}", "title": f"About {words[0]} {number}", "date": str(day),
               "label": names[chosen[0]], "text": text}  # fmt: skip


class Store:
    """A folder with models, and what they answer."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.answers = folder, folder / "answers"
        self.environment = dict(os.environ, COLUMNS="110", SOURCE_DATE_EPOCH="0", NO_COLOR="1", TERM="dumb")

    def run(self, words: str | list[str]) -> str:
        """What a command prints, and its exit code."""
        words = words.split() if isinstance(words, str) else words
        done = subprocess.run(
            [sys.executable, "-m", "diln", *words], cwd=self.folder, env=self.environment, capture_output=True,
            text=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        errors = f"\n--- stderr\n{done.stderr}" if done.stderr else ""
        return f"$ diln {' '.join(words)}\n{done.stdout}{errors}--- exit {done.returncode}\n"

    def make(self, words: str) -> None:
        """Run a command that must succeed."""
        text = self.run(words)
        if not text.endswith("--- exit 0\n"):
            raise SystemExit(f"cannot go on:\n{text}")

    def keep(self, name: str, text: str) -> None:
        """Write an answer, without what differs from run to run."""
        file = self.answers / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(self.blotted(text))
        print(name, flush=True)

    def blotted(self, text: str) -> str:
        """A text without seconds, sizes, ports and paths."""
        text = text.replace(str(self.folder.resolve()), "FOLDER")
        return TIMES.sub("TIME", PORT.sub("HOST", VOLATILE.sub(r"\g<key>VOLATILE", text)))

    def all(self) -> None:
        """Make the models, and ask everything."""
        self.folder.mkdir(parents=True)
        for name, n_docs, seed in (("articles", N_DOCS, 0), ("more", 40, 1)):
            lines = [json.dumps(document) + "\n" for document in documents(n_docs, seed)]
            (self.folder / f"{name}.jsonl").write_text("".join(lines))
        (self.folder / "new.txt").write_text(TEXT)
        self.make("corpus build articles.jsonl -o corpus --label label --min-df 1 --max-df 1.0")
        for model, options in MODELS.items():
            self.make(f"fit corpus -o {model} {options} --jobs 1")
        for edit in EDITS:
            self.make(edit.format(m="diln"))
        self.keep("help.txt", "".join(self.help([])))
        for model in ASKED:
            self.ask(model)
        self.keep("bound/info.json", self.run("info bound --json"))
        self.keep("bound/topics.txt", self.run("topics bound"))

    def help(self, command: list[str]) -> Iterator[str]:
        """The help of a command and of all below it."""
        text = self.run([*command, "--help"])
        yield text
        for below in re.findall(r"^│ ([a-z][a-z-]*)  +", text.partition("─ Commands ─")[2], re.MULTILINE):
            yield from self.help([*command, below])

    def ask(self, model: str) -> None:
        """All answers of a model."""
        for name, words in ANSWERS.items():
            self.keep(f"{model}/{name}.txt", self.run(words.format(m=model)))
            self.keep(f"{model}/{name}.json", self.run(f"{words.format(m=model)} --json"))
        for name, words in TABLES.items():
            self.keep_file(f"{model}/tables/{name}", "table.csv", words.format(m=model))
        for name, options in FIGURES.items():
            self.keep_file(f"{model}/figures/{name}", "figure.svg", f"plot {model} {name} {options} --quiet")
        self.keep_file(f"{model}/report", "report.html", f"report {model} --quiet")
        self.serve(model)

    def keep_file(self, name: str, file: str, words: str) -> None:
        """Keep what a command writes to a file, or what it says where it does not."""
        path = self.folder / file
        text = self.run(f"{words} -o {file}")
        self.keep(f"{name}{path.suffix}", path.read_text() if path.exists() else text)
        path.unlink(missing_ok=True)

    def serve(self, model: str) -> None:
        """Keep what every address of a server answers."""
        port = 20000 + os.getpid() % 20000
        command = [
            sys.executable,
            "-m",
            "diln",
            "serve",
            model,
            "--compare",
            "other",
            "--port",
            str(port),
            "--read-only",
        ]
        server = subprocess.Popen(command, cwd=self.folder, env=self.environment, stdout=subprocess.DEVNULL)
        try:
            base = f"http://127.0.0.1:{port}"
            until_ready(base)
            self.keep(f"{model}/routes/openapi.json", pretty(fetch(f"{base}/openapi.json")))
            for address in ADDRESSES:
                name = re.sub(r"[^a-z0-9=-]+", "_", address)
                self.keep(f"{model}/routes/{name}.json", pretty(fetch(f"{base}/api/{address}")))
            self.keep(f"{model}/routes/read.json", pretty(fetch(f"{base}/api/read", {"text": TEXT})))
        finally:
            server.terminate()
            server.wait()


def until_ready(base: str) -> None:
    """Wait until a server has its model and its search."""
    for _ in range(600):
        try:
            state = json.loads(fetch(f"{base}/api/model"))
            if state.get("ready") and (state.get("search") or {}).get("ready", True):
                return
        except (OSError, ValueError):
            pass
        time.sleep(0.1)
    raise SystemExit("the server is not ready after a minute")


def fetch(url: str, body: dict[str, str] | None = None) -> str:
    """What an address answers, errors too."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            return str(reply.read().decode())
    except urllib.error.HTTPError as error:
        return json.dumps({"status": error.code, "answer": error.read().decode()})


def pretty(text: str) -> str:
    """JSON in lines; other texts as they are."""
    try:
        value: Any = json.loads(text)
    except ValueError:
        return text
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def compare(old: Path, new: Path, most: int) -> int:
    """Print the answers that differ, with their first lines; return how many."""
    sides = [{str(file.relative_to(side)): file for file in sorted(side.rglob("*")) if file.is_file()}
             for side in (old / "answers", new / "answers")]  # fmt: skip
    differing = 0
    for name in sorted({*sides[0], *sides[1]}):
        before, after = (side[name].read_text().splitlines() if name in side else [] for side in sides)
        if before != after:
            differing += 1
            lines = list(difflib.unified_diff(before, after, f"old/{name}", f"new/{name}", lineterm="", n=0))
            print("\n".join(line[:200] for line in lines[:most]))
    print(f"{differing} of {len({*sides[0], *sides[1]})} answers differ")
    return differing


def main() -> None:
    """Store answers, or compare two stores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=12, help="most lines of an answer that are shown")
    parser.add_argument("task", choices=("store", "compare"))
    parser.add_argument("folders", type=Path, nargs="+")
    given = parser.parse_args()
    if given.task == "store":
        Store(given.folders[0].resolve()).all()
    elif compare(given.folders[0], given.folders[1], given.lines):
        sys.exit(1)


if __name__ == "__main__":
    main()
