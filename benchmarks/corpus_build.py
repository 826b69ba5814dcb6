"""How fast text becomes a corpus on disk, beside scikit-learn's CountVectorizer, and in how much memory.

python benchmarks/corpus_build.py [FILE.jsonl.gz] [--rounds 3]

FILE has objects with "text" and, perhaps, "title"; without it the built-in documents, several times over, are used.
Every figure comes from a process of its own, with imports and compiled code loaded before the clock starts; rounds are
interleaved so that a slow spell of the machine meets all alike, and the median is reported. The rule is the same for
both: lower case, [a-z]{3,}, scikit-learn's stop words, min_df 10, max_df 0.5, 10,000 terms.
"""

import argparse
import gzip
import json
import multiprocessing
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

STEPS = ("sklearn", "diln -j1", "diln -j2", "two diln -j1 at once")


def columns(file: Path) -> list[str]:
    with gzip.open(file) as lines:
        return ["title", "text"] if "title" in json.loads(next(lines)) else ["text"]


def run_sklearn(file: Path, out: Path) -> float:
    """Read the documents and count them in memory; nothing is written."""
    from sklearn.feature_extraction.text import CountVectorizer

    wanted = columns(file)
    start = time.perf_counter()
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        records = map(json.loads, lines)
        texts = (" ".join(record[name] for name in wanted) for record in records)
        CountVectorizer(
            token_pattern="[a-z]{3,}", stop_words="english", min_df=10, max_df=0.5, max_features=10_000
        ).fit_transform(texts)
    return time.perf_counter() - start


def run_diln(file: Path, out: Path, n_jobs: int, numbered: bool = False) -> float:
    """Read the documents, count them, and write counts, fields and texts to disk with checksums."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    from diln.corpus import Corpus, CorpusOptions, build

    Corpus.from_texts(["load the compiled code first"])
    options = CorpusOptions(
        text=columns(file), id="none" if numbered else None,
        alphabet="ascii", stop_words=ENGLISH_STOP_WORDS, min_df=10, max_df=0.5, max_terms=10_000,
    )  # fmt: skip
    start = time.perf_counter()
    build(file, out, n_jobs=n_jobs, overwrite=True, **options)
    return time.perf_counter() - start


def run_gather(file: Path, out: Path) -> float:
    """Gather 1,000 random documents' counts from a corpus that has been touched before."""
    from diln.corpus import Corpus

    corpus = Corpus.open(out)
    rng = np.random.default_rng(0)
    times = []
    for _ in range(21):
        rows = rng.choice(len(corpus), min(1000, len(corpus)), replace=False)
        start = time.perf_counter()
        corpus.rows(rows)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def child(task: str, file: Path, out: Path) -> None:
    """Do one task in this process and print what it took."""
    tasks = {
        "sklearn": lambda: run_sklearn(file, out),
        "diln -j1": lambda: run_diln(file, out, 1),
        "diln -j2": lambda: run_diln(file, out, 2),
        "numbered -j1": lambda: run_diln(file, out, 1, numbered=True),
        "numbered -j2": lambda: run_diln(file, out, 2, numbered=True),
        "gather": lambda: run_gather(file, out),
    }
    seconds = tasks[task]()
    for worker in multiprocessing.active_children():
        worker.join()
    own, workers = (
        resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    print(json.dumps({"seconds": seconds, "own_mb": own, "worker_mb": workers}))


def start(task: str, file: Path, out: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, __file__, "--child", task, "--out", str(out), str(file)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def finish(process: "subprocess.Popen[str]") -> dict[str, float]:
    printed, _ = process.communicate()
    result: dict[str, float] = json.loads(printed)
    return result


def measure(step: str, file: Path, out: Path) -> dict[str, float]:
    if step != "two diln -j1 at once":
        return finish(start(step, file, out / step.replace(" ", "")))
    both = [start("diln -j1", file, out / f"at-once-{number}") for number in range(2)]
    return max((finish(process) for process in both), key=lambda result: result["seconds"])


def builtin_file(folder: Path) -> Path:
    """The built-in documents eight times over, as a file."""
    from diln.datasets import load_docs

    path, documents = folder / "docs.jsonl.gz", list(load_docs().documents)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for copy in range(8):
            for document in documents:
                file.write(json.dumps({"id": f"{document.id}-{copy}", "text": document.text}) + "\n")
    return path


def report(file: Path, rounds: int, folder: Path) -> dict[str, Any]:
    runs: dict[str, list[dict[str, float]]] = {step: [] for step in STEPS}
    for number in range(rounds):
        for step in STEPS:
            runs[step].append(measure(step, file, folder))
            print(f"  round {number + 1}, {step}: {runs[step][-1]['seconds']:.2f} s", file=sys.stderr)
    seconds = {step: statistics.median(run["seconds"] for run in results) for step, results in runs.items()}
    five = folder / "five.jsonl.gz"
    with five.open("wb") as target:
        for _ in range(5):
            with file.open("rb") as source:
                shutil.copyfileobj(source, target)
    once = finish(start("numbered -j1", file, folder / "numbered"))
    fivefold = [finish(start(f"numbered -j{n_jobs}", five, folder / "numbered")) for n_jobs in (1, 2)]
    trees = [
        {path.relative_to(folder / name): path.read_bytes() for path in (folder / name).rglob("*") if path.is_file()}
        for name in ("diln-j1", "diln-j2")
    ]
    return {
        "file": file.name,
        "seconds (all rounds)": {step: [round(run["seconds"], 2) for run in results] for step, results in runs.items()},
        "seconds (median)": {step: round(value, 2) for step, value in seconds.items()},
        "diln -j1 : sklearn, throughput": round(seconds["sklearn"] / seconds["diln -j1"], 2),
        "diln -j2 : diln -j1, throughput": round(seconds["diln -j1"] / seconds["diln -j2"], 2),
        "limit of the machine for two processes": round(2 * seconds["diln -j1"] / seconds["two diln -j1 at once"], 2),
        "MB/s of text, -j1 and -j2": [round(unpacked_mb(file) / seconds[step], 1) for step in ("diln -j1", "diln -j2")],
        "same bytes with one and two processes": trees[0] == trees[1],
        "peak MB, -j1": round(max(run["own_mb"] for run in runs["diln -j1"])),
        "peak MB, -j2 (this process, worker)": [
            round(max(run[key] for run in runs["diln -j2"])) for key in ("own_mb", "worker_mb")
        ],
        "peak MB, numbered documents, once and five times": [round(once["own_mb"]), round(fivefold[0]["own_mb"])],
        "seconds for five times the file, -j1 and -j2": [round(run["seconds"], 2) for run in fivefold],
        "ms for 1,000 random documents": round(1000 * finish(start("gather", file, folder / "diln-j1"))["seconds"], 2),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "versions": {name: version(name) for name in ("diln", "scikit-learn", "numba", "numpy")},
    }


def unpacked_mb(file: Path) -> float:
    with gzip.open(file) as content:
        return sum(len(piece) for piece in iter(lambda: content.read(1 << 20), b"")) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.child, given.file, given.out)
        return
    with tempfile.TemporaryDirectory() as folder:
        file = given.file or builtin_file(Path(folder))
        print(json.dumps(report(file, given.rounds, Path(folder)), indent=1))


if __name__ == "__main__":
    main()
