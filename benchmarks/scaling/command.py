"""The program: measures, simulates and prints.

python benchmarks/scaling measure                     # what a sweep costs on one thread, by topics, terms and length
python benchmarks/scaling cluster COUNTS.npz          # exchanges and sweeps with 1, 2 and 4 worker processes
python benchmarks/scaling delays FOLDER [FOLDER ...]  # perplexity where shards see counts of some sweeps ago
python benchmarks/scaling predict                     # the tables of docs/scaling.md, and its figure

Each keeps what it finds in benchmarks/results/scaling.json; the last needs the first three. A FOLDER has counts.npz and
vocab.txt. Times are the least of several rounds.
"""

import argparse
import json
import platform
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numba
import numpy as np
from scipy.sparse import csr_array, load_npz

RESULTS = Path(__file__).parents[1] / "results" / "scaling.json"
TOPICS, TERMS, LENGTHS = (100, 200, 400, 800), (10_000, 100_000), (60, 400)
DELAYS = (0, 1, 2, 4)


def kept() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    return found


def keep(**found: Any) -> None:
    machine = {"python": platform.python_version(), "numba": numba.__version__, "machine": platform.machine()}
    content = {**kept(), **machine, **found}
    RESULTS.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def best(rows: list[dict[str, Any]], name: str, good: Callable[[dict[str, Any]], float]) -> list[dict[str, Any]]:
    """The best of what is measured now and was before: whatever disturbs makes it slower."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in sorted([*kept().get(name, []), *rows], key=good):
        found[row["topics"], row["terms"], row.get("length")] = row
    return [found[key] for key in sorted(found, key=lambda key: tuple(size or 0 for size in key))]


def least(rows: list[dict[str, Any]], before: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every row with the least of its seconds now and before, of the clock and of processors."""
    out = []
    for row in rows:
        same = {name: value for name, value in row.items() if "seconds" not in name}
        every = [row, *(one for one in before if same.items() <= one.items())]
        out.append({**same, **{name: min(one[name] for one in every) for name in row if "seconds" in name}})
    return out


def measure(topics_of: list[int]) -> None:
    from scaling.constants import corpus_step, memory_speed
    from scaling.constants import measure as measured

    rows = []
    for topics, terms, length in product(topics_of, TERMS, LENGTHS):
        rows.append(measured(topics, terms, length))
        print(f"{topics} topics, {terms:,} terms, {length} tokens: {rows[-1]['tokens_per_second']:,.0f}/s", flush=True)
    steps = []
    for topics, terms in product(topics_of, TERMS):
        steps.append({"topics": topics, "terms": terms, "seconds": corpus_step(topics, terms)})
        print(f"corpus step, {topics} topics, {terms:,} terms: {steps[-1]['seconds']:.3f} s", flush=True)
    keep(
        constants=best(rows, "constants", lambda row: row["tokens_per_second"]),
        corpus_steps=best(steps, "corpus_steps", lambda row: -row["seconds"]),
        memory=memory_speed(),
    )


def on_cluster(counts: Path, topics: int) -> None:
    from scaling.loopback import measured

    found, before = measured(csr_array(load_npz(counts)).astype(np.int32), topics), kept().get("cluster", {})
    for name in ("exchanges", "sweeps"):
        found[name] = least(found[name], before.get(name, []))
    keep(cluster=found)


def delays(folders: list[Path], topics: int, sweeps: list[int], seeds: int, jobs: int) -> None:
    from scaling.staleness import measure as measured

    rows = kept().get("delays", [])
    for seed, number, folder, delay in product(range(seeds), sweeps, folders, DELAYS):
        told = {"corpus": folder.name, "topics": topics, "sweeps": number, "delay": delay, "seed": seed}
        if any(told.items() <= row.items() for row in rows):
            continue
        rows.append(measured(folder, topics, number, delay, seed, jobs))
        print(f"{told}: {rows[-1]['perplexity']:,.1f}, {rows[-1]['changed'][-1]:.0%} change", flush=True)
        keep(delays=rows)


def predict() -> None:
    from scaling.prediction import figure, print_all

    print_all(kept())
    figure(kept())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stage", choices=["measure", "cluster", "delays", "predict"])
    parser.add_argument("data", nargs="*", type=Path)
    parser.add_argument("--topics", type=int, nargs="+", help="default: measure 100 to 800, else 100")
    parser.add_argument("--sweeps", type=int, nargs="+", default=[30, 90])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    if given.stage == "measure":
        measure(given.topics or list(TOPICS))
    elif given.stage == "cluster":
        on_cluster(given.data[0], (given.topics or [100])[0])
    elif given.stage == "delays":
        delays(given.data, (given.topics or [100])[0], given.sweeps, given.seeds, given.jobs)
    else:
        predict()
